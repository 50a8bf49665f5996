"""`glla trace` and `glla explain`: films, pages, time lines and tables, looked at as their readers would."""

import json
import re
from dataclasses import replace
from html import unescape
from io import BytesIO
from itertools import islice

import numpy as np
import pytest

import glla
from glla import linalg
from glla.cli import main
from glla.errors import OptionError, TraceError
from glla.gl.recorder import TracedPass
from glla.lab import chrome, frames, page
from glla.lab import trace as lab
from glla.operations import OPERATIONS
from glla.passes import Draft, Region, Storage, Transfer, matrix
from glla.passes.glsl import find as shaders
from tests.markup import Page

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def traced():
    """PLU of a small matrix, with values."""
    a = np.arange(16.0).reshape(4, 4) % 7
    device = glla.default_device()
    texture = device.upload(a.astype(np.float32))
    with glla.trace(values=True) as t:
        device.run(lab.plan("plu", 4, "rank2"), A=texture)
    return t


def loaded(browser, page, at=""):
    """A page as a browser has made it."""
    return browser(page, "--virtual-time-budget=10000", "--dump-dom", at=at)[0]


def shown(dom, tag):
    """Text of the element with an id."""
    return re.search(rf'id="{tag}"[^>]*>([^<]*)<', dom)[1]


# ---- the command, format by format -----------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_table_by_default(device, capsys, operation):
    assert main(["trace", operation, "--size", "4", "--all"]) == 0
    output, errors = capsys.readouterr()
    assert errors == "" and output.startswith("operation") and output.count("\n") >= 2
    steps = [one for one in lab.plan(operation, 4, limits=device.limits).passes if not isinstance(one, Transfer)]
    assert all(step.shader in output for step in steps)


@pytest.mark.parametrize(
    ("operation", "size", "variant"),
    [("plu", 4, "rank2"), *(("matmul", 5, one) for one in ("virtual_cube", "panel_broadcast", "register_blocked"))],
)
def test_gif(tmp_path, capsys, operation, size, variant):
    path = tmp_path / "trace.GIF"
    asked = ["trace", operation, "--size", str(size), "--variant", variant, "--out", str(path), "--seed", "3"]
    assert main(asked) == 0
    count = len(lab.plan(operation, size, variant).steps)
    renderer = glla.default_device().info.renderer
    of = "4x4" if operation == "plu" else "5x5 and 5x5"
    assert capsys.readouterr().out == f"{path}: {count} passes of {operation}, of {of}, on {renderer}\n"
    with Image.open(path) as image:
        assert image.n_frames == count
        assert image.size == tuple(round(inches * frames.DPI) for inches in frames.SIZE)
        durations = [image.seek(number) or image.info["duration"] for number in range(count)]
    assert durations == [lab.FRAME] * (count - 1) + [lab.LAST_FRAME]


def test_json_is_a_chrome_trace(tmp_path):
    path = tmp_path / "trace.json"
    assert main(["trace", "solve", "--size", "6", "--out", str(path)]) == 0
    document = json.loads(path.read_text())
    check_chrome(document)
    metadata = document["metadata"]
    passes = [event for event in document["traceEvents"] if event.get("cat") == "pass" and event["tid"] == chrome.CPU]
    assert len(passes) == metadata["passes"] > 5
    assert metadata["dropped"] == 0
    assert metadata["renderers"] == [glla.default_device().info.renderer]
    assert "wall time" in metadata["timing"]
    eliminate = next(event for event in passes if event["name"] == "plu/rank2/search_and_eliminate")
    assert eliminate["args"]["operation"].startswith("stack")
    assert eliminate["args"]["reads"]["A"] == "augmented"
    assert eliminate["args"]["region"] == "x 0:5 y 0:3"  # the matrix, its right-hand side, and the probes


def check_chrome(document):
    """The rules of the trace event format, for complete events and metadata."""
    assert set(document) == {"traceEvents", "displayTimeUnit", "metadata"}
    named, slack = set(), 1e-3
    for event in document["traceEvents"]:
        assert {"name", "ph", "ts", "pid", "tid", "args"} <= set(event)
        place = event["pid"], event["tid"]
        assert all(isinstance(number, int) for number in place)
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name"}
            named.add(place)
        else:
            assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0 and place in named
    plans = [event for event in document["traceEvents"] if event.get("cat") == "plan"]
    for event in document["traceEvents"]:
        if event.get("cat") == "pass" and event["tid"] == chrome.CPU:
            first, last = event["ts"] + slack, event["ts"] + event["dur"] - slack
            assert any(plan["ts"] <= first and last <= plan["ts"] + plan["dur"] for plan in plans)


def test_json_has_the_gpus_times_on_a_thread_of_their_own(traced):
    one = traced.passes[0]
    made = glla.trace()
    made.passes = [TracedPass(one.plan, 0, 0, "a GPU", 0.5, 0.001, gpu_start=0.75, gpu=0.002)]
    document = chrome.document(made)
    check_chrome(document)
    event = document["traceEvents"][-1]
    assert (event["tid"], event["ts"], event["dur"]) == (chrome.GPU, 750000.0, 2000.0)
    assert "GPU time" in document["metadata"]["timing"]


def test_html_asks_for_nothing(tmp_path, traced, monkeypatch):
    text = page.document(traced)
    assert Page(text).links == ["data:,"]
    assert "@import" not in text
    assert "url(" not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert len(data["pictures"]) == len(data["passes"]) == len(traced)
    assert all(picture.startswith("data:image/png;base64,") for picture in data["pictures"])
    assert "texelFetch" in text
    monkeypatch.setattr(frames, "pictures", lambda trace: [b""] * len(trace))
    monkeypatch.setattr(frames, "words", lambda one: "</script>")  # nothing breaks out of it
    data = json.loads(re.search(r'id="data">([^<]*)</script>', page.document(traced))[1])
    assert data["passes"][0]["words"] == "</script>."


@pytest.mark.browser
def test_html_in_a_browser(tmp_path, browser):
    path = tmp_path / "trace.html"
    assert main(["trace", "plu", "--size", "4", "--variant", "rank2", "--out", str(path)]) == 0
    dom = loaded(browser, path)
    assert shown(dom, "title") == "plu[rank2, partial]   pass 1 of 7:  pivot/first_column"
    assert (shown(dom, "count"), shown(dom, "file")) == ("1 / 7", "shaders/pivot/first_column.frag")
    assert re.search(r'<img id="picture"[^>]* src="data:image/png;base64,', dom)
    dom = loaded(browser, path, "#3")
    assert shown(dom, "title") == "plu[rank2, partial]   pass 3 of 7:  plu/rank2/eliminate"
    assert shown(dom, "words") == shaders.summary("plu/rank2/eliminate") + "."
    assert re.findall(r'class="source on" data-shader="([^"]*)"', dom) == ["plu/rank2/eliminate"]
    assert dom.count('class="source on"') == 1 and "<td>A, candidates</td>" in dom


STEPS = [
    ("at('next').click(); at('next').click()", "3 / 7"),
    ("at('previous').click()", "2 / 7"),
    ("press('ArrowRight')", "3 / 7"),
    ("press('ArrowLeft'); press('ArrowLeft'); press('ArrowLeft')", "1 / 7"),
    ("press('End'); press('ArrowRight')", "7 / 7"),
    ("press('ArrowLeft')", "6 / 7"),
    ("press('Home')", "1 / 7"),
    ("at('slider').value = 5; at('slider').dispatchEvent(new Event('input'))", "5 / 7"),
    ("press(' ')", "5 / 7"),
]


@pytest.mark.browser
def test_html_can_be_stepped_through(tmp_path, traced, browser):
    """By buttons, keys and slider; the last step begins to play, and virtual time runs to the end of the film."""
    path = tmp_path / "trace.html"
    traced.save(path)
    script = "".join(f"{step}; log.push([at('count').textContent, at('play').textContent]);\n" for step, _ in STEPS)
    press = "const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key }));"
    log = f"const log = []; {press}\n{script}at('words').dataset.log = JSON.stringify(log);"
    path.write_text(path.read_text().replace("</body>", f"<script>{log}</script></body>"))
    dom = loaded(browser, path)
    seen = json.loads(unescape(re.search(r'data-log="([^"]*)"', dom)[1]))
    assert [count for count, _ in seen] == [count for _, count in STEPS]
    assert [play for _, play in seen] == ["play"] * (len(STEPS) - 1) + ["pause"]
    assert (shown(dom, "count"), shown(dom, "title")) == ("7 / 7", frames.title(traced.passes[6]))
    assert re.search(r'<button id="play"[^>]*>play<', dom)


def test_seeds_make_the_matrices(device, monkeypatch):
    taken = []
    monkeypatch.setattr(linalg, "inv", lambda a, device: taken.append(a))
    for seed in (1, 1, 2):
        lab.run(device, "inv", 3, seed=seed)
    first, _, again, _, other, _ = taken  # each is run twice
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# ---- the pictures ----------------------------------------------------------------------------


def test_a_picture_shows_where_it_is_drawn(traced):
    """The outline is where the region is; it is in no other picture there."""
    pictures = [np.asarray(Image.open(BytesIO(png)).convert("RGB")) for png in frames.pictures(traced)]
    colour = np.array([int(frames.DRAWN[i : i + 2], 16) for i in (1, 3, 5)])
    half = pictures[0].shape[1] * frames.LEFT[1]
    for one, picture in zip(traced.passes, pictures, strict=True):
        _, columns = np.nonzero((picture == colour).all(axis=2))
        assert columns.size > 100, one.shader
        assert columns.min() > half - 10  # what is read is on the left


@pytest.mark.parametrize(
    ("storage", "array", "region", "outline"),
    [
        (matrix((5, 5)), np.zeros((5, 5)), Region(1, 0, 2, 2), (1.5, -0.5, 3, 4)),  # columns 2 to 4, rows 0 to 3
        (Storage(4, 4, 1), np.zeros((4, 4)), Region(1, 2, 3, 1), (0.5, 1.5, 3, 1)),
        (Storage(1, 5), np.zeros((1, 5, 4)), Region(2, 0, 1, 1), (-0.5, 1.5, 4, 1)),  # turned: a texel to a line
        (Storage(3, 2), np.zeros((3, 2, 4)), Region(1, 0, 1, 2), (3.5, -0.5, 4, 2)),
    ],
)
def test_outlines(storage, array, region, outline):
    assert frames._Panel("X", storage, array.astype(np.float32), region).outline == outline


def test_the_scale_leaves_records_out(traced):
    """Row numbers and norms are no entries of a matrix."""
    records = {"candidates": np.full((1, 2, 4), 1000, dtype=np.float32)}
    one = replace(traced.passes[1], values=records)
    assert one.outputs == tuple(records)
    most = max(np.max(np.abs(array)) for array in one.reads.values() if array.shape == (4, 4))
    assert 0 < frames._scale([one]).vmax <= most
    assert frames._scale([one]).vmin == -frames._scale([one]).vmax


def test_words_of_a_transfer():
    plan = glla.plan("matmul", (20, 6), (6, 20), variant="panel_broadcast")
    assert frames.words(TracedPass(plan, 0, 2, "", 0.0, 0.0)).startswith("A texture, copied")


def test_a_texture_nothing_was_drawn_to_can_be_shown(device):
    draft = Draft("one texel of many")
    source = draft.operand("A", Storage(2, 2, 1))
    draft.draw("ceilings/increment", {"before": source}, draft.slot("X", Storage(2, 2, 1)), region=Region(0, 0, 1, 1))
    with glla.trace(values=True) as t:
        device.run(draft.plan({"X": "X"}), A=device.write_texels(np.full((2, 2, 1), np.inf, np.float32)))
    assert len(list(frames.pictures(t))) == 1


# ---- what goes wrong -------------------------------------------------------------------------


def test_pictures_need_values_and_passes(tmp_path, traced, monkeypatch):
    with glla.trace() as t:
        glla.matmul([[1]], [[1]])
    with pytest.raises(TraceError, match=r"^trace: has no values to draw; make it with glla\.trace\(values=True\), or"):
        t.save(tmp_path / "t.gif")
    t.save(str(tmp_path / "t.json"))
    with glla.trace(values=True) as empty:
        pass
    with pytest.raises(TraceError, match=r"^trace: has no passes to draw; run something in its with block$"):
        empty.save(tmp_path / "t.html")
    monkeypatch.setattr(frames, "MOST", 6)
    with pytest.raises(TraceError, match=r"^trace: at most 6 passes can be drawn, got 7; take a smaller matrix, or"):
        traced.save(tmp_path / "t.gif")
    with pytest.raises(OptionError, match=r"^trace: a file must end in \.gif, \.html, \.json, got 't\.png'$"):
        traced.save(tmp_path / "t.png")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


# ---- explain ---------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
def test_explain(capsys, operation):
    assert main(["explain", operation, "--size", "9", "--all"]) == 0
    output = capsys.readouterr().out
    assert output == f"{glla.explain(lab.plan(operation, 9))}\n" and "In all " in output
    assert main(["explain", operation, "--size", "9"]) == 0
    assert capsys.readouterr().out.count("\n") <= output.count("\n")
    assert main(["explain", "matmul", "--size", "9", "--variant", "virtual_cube"]) == 0
    assert "one layer of the virtual cube of processors" in " ".join(capsys.readouterr().out.split())


def test_the_operation_comes_first(capsys):
    """The steps of the call around it are named in three lines of `explain`, and in one for each plan of `trace`."""
    assert main(["explain", "rref", "--size", "9"]) == 0
    first, *around = capsys.readouterr().out.split("The call around it, ")
    assert (
        "rref/eliminate" in first
        and "equilibrate" not in first
        and "before: (upload), pack A, equilibrate" in around[0]
    )
    assert main(["trace", "rref", "--size", "9"]) == 0
    first, *others = capsys.readouterr().out.split("the other plans:")
    assert "rref/eliminate" in first and "packing/pack" not in first and "pack: 1 pass, " in others[0]
    shown = repr(glla.plan("rref", (9, 9)))
    assert "rref/eliminate" in shown and "packing/pack" not in shown and len(shown.splitlines()) <= 24


@pytest.mark.parametrize("scale", [1.0, 12345678.0])
def test_nothing_of_a_picture_is_cut_off(device, rng, scale, monkeypatch):
    """The colour bar with its numbers and its label, and all other axes."""
    from matplotlib.figure import Figure

    figures = []
    saved = Figure.savefig

    def kept(self, *arguments, **options):
        figures.append(self)
        saved(self, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", kept)
    with glla.trace(values=True) as trace:
        glla.plu(device.matrix(scale * rng.uniform(-1, 1, (3, 3)).astype(np.float32)), variant="rank2")
    assert all(islice(frames.pictures(trace), 3))
    third = figures[2]
    for ax in third.axes:
        box = ax.get_tightbbox()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= third.bbox.x1 and box.y1 <= third.bbox.y1


def test_each_search_has_its_title(device, rng):
    a = rng.uniform(-1, 1, (5, 5)).astype(np.float32)
    with glla.trace(values=False) as trace:
        for pivoting in ("partial", "harmonic", "geometric"):
            glla.plu(device.matrix(a), pivoting=pivoting, variant="rank2")
    titles = {(one.shader, one.defines.get("GEOMETRIC")): frames.words(one) for one in trace.passes}
    assert titles["pivot/first_column", None].startswith("Pivot search, first of two: the largest")
    assert titles["pivot/second_column", None].startswith("Pivot search, second of two: the largest entry")
    assert "by the harmonic norm" in titles["pivot/block_norm", 0]
    assert "by the geometric norm" in titles["pivot/block_norm", 1]
    explained = glla.explain(glla.plan("plu", (5, 5), pivoting="partial", variant="rank2"))
    assert "second of two" in str(explained)


@pytest.mark.parametrize("command", ["explain", "trace"])
def test_a_matrix_of_the_users_own(command, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("1 2 3\n2 4 7\n", encoding="utf-8")
    asked = [command, "rref", "--data", str(tmp_path / "a.txt")]
    assert main(asked) == 0
    assert ("2 x 3" if command == "explain" else "rref/") in capsys.readouterr().out
    assert main([*asked, *asked[2:]]) == 2
    assert capsys.readouterr().err == f"glla: {command}: rref has 1 operands, got 2 files\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\ufeff1, 2, # a, b\r\n\r\n3, 4,\r\n", ""),
        ("1\t2\n3 4\n", ""),
        ("1,,2\n3,,4\n", "a value is missing between commas"),
        ("2,5 1,5\n", "a comma is within a number"),
        ("# nothing\n\n", "no numbers"),
    ],
)
def test_matrices_as_text(tmp_path, capsys, text, message):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    assert main(["explain", "rref", "--data", str(tmp_path / "a.csv")]) == (2 if message else 0)
    out, err = capsys.readouterr()
    assert message in err if message else "2 x 2" in out


def test_a_file_without_a_byte(tmp_path, capsys):
    (tmp_path / "a.npy").touch()
    assert main(["trace", "plu", "--data", str(tmp_path / "a.npy")]) == 2
    assert "a.npy must hold a matrix" in capsys.readouterr().err
