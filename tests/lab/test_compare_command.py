"""`glla compare`, the whole command line at small sizes."""

import io
import json
import signal
from functools import partial

import pytest

import glla
from glla.cli import comparing, main
from glla.lab import operations, show
from glla.lab.comparison import Comparison, Experiment, Summary
from glla.lab.fits import Fit
from glla.lab.measurement import Measurement
from glla.operations.product import matmul

pytest.importorskip("matplotlib")
pytest.importorskip("rich")
pytest.importorskip("scipy")


def run(*arguments):
    return main(["compare", *map(str, arguments)])


def test_the_whole_command(quick, tmp_path, capsys, load):
    """Every kind of file."""
    files = {name: tmp_path / f"c.{name}" for name in ("json", "csv", "html", "png")}
    options = [part for file in files.values() for part in ("--out", file)]
    asked = ("matmul", "--size", "8:32:log4", "--repeats", "2", "--variants", "register_blocked,inner_product")
    assert run(*asked, "--quick", *options) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert output.startswith("matmul: C = A B; ")
    assert glla.default_device().info.renderer in output
    assert sum(line.startswith("register_blocked ") for line in output.splitlines()) == 4
    assert "speed-up" in output
    assert f"written: {files['json']}, {files['csv']}, {files['html']}, {files['png']}" in output
    result = load(files["json"])
    assert result.complete
    assert [(r.size, r.variant) for r in result][:2] == [(8, "inner_product"), (8, "register_blocked")]
    assert result.environment["command"].startswith("glla compare matmul --size 8:32:log4 --repeats 2 --variants")
    assert result.environment["command"] in files["html"].read_text(encoding="utf-8")
    assert files["csv"].read_text().count("\n") == 9
    assert files["png"].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("operation", [name for name in operations.OPERATIONS if name != "matmul"])
def test_every_operation(quick, capsys, operation):
    assert run(operation, "--size", "9", "--repeats", "1") == 0
    output = capsys.readouterr().out
    assert operations.OPERATIONS[operation].thesis in output
    assert "FAILED" not in output


def test_no_baseline(quick, capsys):
    assert run("matmul", "--size", "4,6,8,10", "--variants", "inner_product", "--baseline", "none") == 0
    output = capsys.readouterr().out
    assert "beside no baseline" in output
    assert "seconds as a + b n^3" in output
    assert "speed-up" not in output


def test_a_wrong_variant_fails_the_command(quick, add, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where its picture goes
    add("short_sum")
    asked = ("matmul", "--size", "8,16", "--variants", "short_sum,inner_product", "--repeats", "1")
    assert run(*asked, "--out", "c.html") == 1
    output = capsys.readouterr().out
    assert "wrong: short_sum, n = 8: product: error " in output
    assert sum("WRONG" in line for line in output.splitlines()) == 2
    assert "2 of 4 results are wrong" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_a_failing_variant_fails_the_command_a_skipped_one_does_not(quick, add, capsys):
    add("broken", "newest")
    assert run("matmul", "--size", "8,16", "--variants", "newest", "--baseline", "none") == 0
    assert "skipped: newest, n = 8, 16: needs OpenGL 9.9" in capsys.readouterr().out
    assert run("matmul", "--size", "8", "--variants", "broken", "--baseline", "none") == 1
    assert "failed: broken, n = 8: RuntimeError: out of luck" in capsys.readouterr().out


def test_json_is_one_document(quick, capsys):
    assert run("matmul", "--size", "4", "--variants", "inner_product", "--repeats", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"].startswith("glla compare matmul") and found["device"]
    assert [record["variant"] for record in found["records"]] == ["inner_product"]


@pytest.fixture
def interrupted(monkeypatch):
    """A function that lets somebody press Ctrl-C before the measurement of a number."""

    def at(number):
        measure, calls = Experiment._measure, []

        def counted(self, *arguments):
            calls.append(arguments)
            if len(calls) == number:
                raise KeyboardInterrupt
            return measure(self, *arguments)

        monkeypatch.setattr(Experiment, "_measure", counted)

    return at


def test_ctrl_c_leaves_what_was_measured(quick, tmp_path, capsys, interrupted):
    interrupted(3)
    json_file, html_file = tmp_path / "\udcff.json", tmp_path / "\udcff.html"  # no UTF-8: the command is kept
    asked = ("matmul", "--size", "4,8", "--variants", "inner_product,virtual_cube", "--repeats", "1")
    assert run(*asked, "--out", json_file, "--out", html_file) == 130
    assert capsys.readouterr().err == "glla: interrupted after 2 of 4 measurements\n"
    report = json.loads(json_file.read_text(encoding="utf-8"))
    assert report["complete"] is False and [record["size"] for record in report["records"]] == [4, 4]
    assert "Interrupted" in html_file.read_text(encoding="utf-8")


def test_ctrl_c_before_the_first_measurement(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Experiment, "run", lambda self: iter(partial(signal.raise_signal, signal.SIGINT), None))
    path = tmp_path / "c.json"
    assert run("matmul", "--size", "4", "--out", path) == 130
    assert capsys.readouterr().err == f"glla: interrupted after 0 of {len(matmul.VARIANTS)} measurements\n"
    assert not path.exists()


# ---- what is shown ---------------------------------------------------------------------------


def terminal(width=160, height=40):
    from rich.console import Console

    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, highlight=False)


@pytest.mark.parametrize(("width", "seen"), [(160, True), (90, False)])
def test_lines_on_a_terminal(quick, width, seen):
    console = terminal(width)
    experiment = Experiment("matmul", ["inner_product", "register_blocked"], [4, 8], baseline="none", repeats=1)
    show.watch(experiment, console)
    text = console.file.getvalue()
    assert "measuring the ceilings of the device" in text
    assert "3 of 4 measured" in text and "Ctrl-C ends it" in text
    assert text.count("inner_product") == text.count("register_blocked") == 2
    assert ("draws" in text) is seen
    assert max(map(len, text.splitlines()[2:])) <= width + 20  # with the codes of the terminal


def test_lines_that_are_interrupted_stay(quick, interrupted):
    interrupted(2)
    console = terminal()
    with pytest.raises(KeyboardInterrupt):
        show.watch(Experiment("matmul", ["virtual_cube"], [4, 8], baseline="none", repeats=1), console)
    assert console.file.getvalue().count("virtual_cube") == 1


def test_reasons_are_reported_once():
    states = {4: ("skipped", "needs x"), 8: ("skipped", "needs x"), 16: ("failed", "y")}
    records = [Measurement("matmul", "a", n, *state) for n, state in states.items()] + [Measurement("matmul", "b", 4)]
    shown = show.reasons(Comparison("matmul", records=records))
    assert shown == ["skipped: a, n = 4, 8: needs x", "failed: a, n = 16: y"]


def test_crossings_in_words():
    line = Fit(0.0, 1.0, 64, 512)
    for crossover, words in (
        (None, "line never below that of CPU"),
        (0.0, "line everywhere below that of CPU"),
        (100.0, "faster than CPU from n = 100 on"),
        (513.4, "faster than CPU from n = 513 on (beyond what was measured)"),
    ):
        summary = Summary("ours", line, 2.0, crossover)
        assert (show.crossing(summary, "CPU"), show.crossing(summary, "")) == (words, "")
    assert show.crossing(Summary("ours", None), "CPU") == ""
    flat = Summary("ours", Fit(1.0, -1.0, 64, 512))
    assert show.crossing(flat, "CPU") == "nothing to be said: a fitted time does not grow with n"


@pytest.mark.parametrize(("states", "status"), [("ok skipped", 0), ("ok wrong", 1), ("failed ok", 1)])
def test_exit_status(states, status):
    assert comparing.verdict([Measurement("matmul", "a", 4, state) for state in states.split()]) == status
