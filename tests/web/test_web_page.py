"""The page of an exported operation, driven by keys and edits in headless Chromium; and where it cannot run."""

import json
import re
from base64 import a85decode, b64decode, b64encode
from html import escape, unescape

import numpy as np
import pytest

import glla
from glla.errors import OptionError
from glla.lab import operations
from glla.operations import OPERATIONS, elementwise
from glla.web import documents, scripts
from glla.web.page import digits, document_in, page
from glla.web.scripts import FOLDER

from .conftest import PERFORMANCE, SWIFTSHADER, script
from .conftest import told as told_by

HELPERS = script("helpers")


# A document that is open keeps the one around it from having loaded, and so from being told, until it is closed.
OPEN = """<iframe id="open" hidden></iframe><script>
    const open = document.getElementById("open").contentDocument;
    open.open();
</script>"""
READY = f"{OPEN}<script>ready.then(() => open.close());</script></body>"
COLLECT = f"""{OPEN}<script>
    const told = new Map();
    async function tell(frame, found) {{
        told.set(frame, found);
        if (told.size < COUNT) return;
        const all = await Promise.all([...document.querySelectorAll("iframe[srcdoc]")].map((one) => told.get(one)));
        document.getElementById("told").textContent = JSON.stringify(all);
        open.close();
    }}
</script>"""
TELL = """<script>parent.tell(frameElement, (async () => {{
    await ready;
    {}
    {}
}})().catch((error) => error.stack));</script>"""


def framed(browser, path, parts):
    """Open pages side by side, each in a frame, with a script before and one after; give what the latter returns."""
    inner = []
    for text, before, after, width in parts:
        text = text.replace("<script type=", f"<script>{before}</script><script type=", 1)
        text = text.replace("</body>", f"{TELL.format(HELPERS, after)}</body>")
        inner.append(f'<iframe width="{width}" height="900" srcdoc="{escape(text)}"></iframe>')
    collect = COLLECT.replace("COUNT", str(len(inner)))
    return told_by(browser, path, f"{collect}{''.join(inner)}")


def by_glla(name, variant, *arrays):
    """What the plan of an operation gives, as the bytes of each result that is a matrix."""
    device, found = glla.default_device(), OPERATIONS[name]
    plan = found.device_plan(operations.forms(arrays), documents.LIMITS, variant=variant)
    results = device.run(plan, **operations.uploaded(device, found, plan, arrays))
    value = operations.fetched(device, found, operations.forms(arrays), plan, results)
    for texture in results.values():
        texture.release()
    return value


def matrix(text, shape):
    return np.frombuffer(b64decode(text), "<f4").reshape(shape)


# ---- what is there -----------------------------------------------------------------------------


def test_the_page_holds_all_it_needs():
    made = documents.document("rref", 8)
    text = page(made)
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert not re.search(
        r"\bfetch\(|XMLHttpRequest|import\s*\(|https?://", re.sub(r"<script type=.*?</script>", "", text)
    )
    pictures = json.loads(re.search(r'id="pictures">(.*?)</script>', text)[1])
    assert {**document_in(text), "picture": pictures} == json.loads(json.dumps(made))


MOST_BYTES = {8: 100_000, 128: 200_000}
"""Of a page, by the order of its operands."""


@pytest.mark.parametrize("size", MOST_BYTES)
@pytest.mark.parametrize(("name", "variant"), [("inv", "blocked"), ("solve", "blocked"), ("matmul", "panel_broadcast")])
def test_the_largest_pages_are_small(name, variant, size):
    assert len(page(documents.document(name, size, variant)).encode()) < MOST_BYTES[size]


@pytest.mark.sweep
@pytest.mark.parametrize("name", OPERATIONS)
def test_all_pages_are_small(name):
    """Those of order 128; of order 8 the test of the course looks at all."""
    for variant in [*OPERATIONS[name].variants] or [None]:
        try:
            made = documents.document(name, 128, variant)
        except OptionError as error:
            assert re.search("up to 500 passes|up to order 128|WebGL 2 lacks|has a step of the host", str(error))
        else:
            assert len(page(made).encode()) < MOST_BYTES[128], variant


def test_pages_have_the_scripts_that_they_need():
    """For matrices and textures of one channel that are large, for loops, and for the judge of the operation."""
    plain, body = page(documents.document("rref", 8)), elementwise.binary((1, 2), "add")
    for name in ("tridiagonal", "spmv"):
        assert "function picture(" in page(documents.document(name, 9))
    assert ".turns=" in page(documents.of_plan(glla.iterate(body, carry={"result": "A"}, most=3)))
    assert "function picture(" not in plain and ".turns=" not in plain


DECLARED = r"^(?:async )?(?:function\*?|const|let|class) (\w+)"


def test_a_page_has_the_judge_of_its_operation():
    """Every operation has one, and what decides as its `settle` does; a page has no other."""
    for name, operation in OPERATIONS.items():
        text = scripts.joined(name)
        assert f"JUDGES.{name}=" in text
        assert operation.settle is None or f"SETTLE.{name}=" in text
        files = [*(FOLDER / f"{one}.js" for one in (*scripts.FIRST, *scripts.OTHERS, *scripts.LAST)), *scripts.of(name)]
        declared = re.findall(DECLARED, "\n".join(map(scripts.read, files)), re.MULTILINE)
        assert len(declared) == len({*declared}), f"{name}: a name is declared twice, which stops a page"
    everywhere = "".join(scripts.read(path) for path in [*FOLDER.glob("judges/*.js"), *FOLDER.glob("after/*.js")])
    assert {*re.findall(r"(?:JUDGES|SETTLE)\.(\w+) =", everywhere)} == {*OPERATIONS}
    assert "function cholesky(" not in scripts.joined("rref")


# ---- driven --------------------------------------------------------------------------------------

STEPS = script("steps")

LABELS = script("labels")


GROWTH = """at("kind").value = "growth"; at("make").click();
    const told = { ...end(), plans: player.timeline.map((one) => one.plan) };"""

# To every sixth pass forward, and back to it from the end: the same in all textures, of all plans.
REPLAY = """
    const first = player.timeline.findIndex((one) => one.because);
    const state = () => [...player.store.keys()].map((key) => {
        const one = player.read(...splitOnce(key));
        return one.values.map((value, k) => (one.drawn[Math.floor(k / one.c)] ? value : NaN)).join();
    }).join(";");
    const some = player.timeline.map((_, k) => k).filter((k) => k % 6 === 5);
    player.go(0);
    const forward = some.map((k) => { player.go(k); return state(); });
    const again = (k) => { player.go(player.timeline.length); player.go(k); return state(); };
    told.replay = some.every((k, place) => again(k) === forward[place]);
    go(first + 1);
    told.said = [at("because").textContent, at("status").textContent];"""

# Of every length that a last group may have, and with what Ascii85 shortens or a script may not have.
BYTES = [b"", b"a", b"ab", b"abc", bytes(9), bytes(range(256)), b"\xff" * 7, a85decode(b"<" * 12)]

WITHOUT = {
    "WebGL 2": "HTMLCanvasElement.prototype.getContext = () => null;",
    "DecompressionStream": "delete window.DecompressionStream;",
    "EXT_color_buffer_float": "EXT_color_buffer_float",
    "EXT_float_blend": "EXT_float_blend",
    "8 targets": "const asked = gl.getParameter; gl.getParameter = function (p) "
    "{ return p === this.MAX_DRAW_BUFFERS ? 4 : asked.call(this, p); };",
}


def taken_away(what):
    """Script that takes something away from a browser."""
    given = WITHOUT[what]
    if given.startswith("EXT"):
        given = (
            "const asked = gl.getExtension; gl.getExtension = function (name) "
            f"{{ return name === '{given}' ? null : asked.call(this, name); }};"
        )
    return given if given.startswith(("HTML", "delete")) else f"const gl = WebGL2RenderingContext.prototype; {given}"


@pytest.fixture(scope="module")
def told(browser, tmp_path_factory):
    """What pages tell that are driven by scripts, all in one browser; and its console."""
    rref, solve, other = (page(documents.document(*of)) for of in (("rref", 8, "rank2"), ("solve", 3), ("plu", 9)))
    plu = documents.document("plu", 8, "rank2")
    short = {**plu, "plans": [one for one in plu["plans"] if not one.get("stage")]}
    dark = other.replace("system.matches", "true")
    products = ("virtual_cube", "register_blocked", "virtual_cube_ping_pong")
    cube, blocked, ping_pong = (page(documents.document("matmul", 4, name)) for name in products)
    factor, lacks = page(documents.document("cholesky", 2, "rank2")), script("lacks")
    texts = json.dumps([digits(one) for one in BYTES])
    unpacked = f"return {{ bytes: {texts}.map((one) => btoa(String.fromCharCode(...new Uint8Array(bytesOf(one))))) }};"
    parts = {
        "bytes": (factor, "", unpacked, 1200),
        "steps": (rref, "", STEPS, 1200),
        "labels": (rref, "", LABELS, 1200),
        "growth": (page(plu), "", f"{GROWTH}{REPLAY} return told;", 1200),
        "growth in a page without fallback": (page(short), "", f"{GROWTH} return told;", 1200),
        "operands": (solve, "", script("operands"), 1200),
        "phone": (other, "", LABELS, 360),
        "dark phone": (dark, "", LABELS, 360),
        "part": (page(documents.document("plu", 33)), "", script("part"), 1200),
        "no address": (factor, 'location.hash = "pass=0&A=AAAA";', script("address"), 1200),
        "odd addresses": (factor, "", script("addresses"), 1200),
        "no unpacking": (cube, taken_away("DecompressionStream"), lacks, 1200),
        "no WebGL 2": (cube, taken_away("WebGL 2"), lacks, 1200),
        "no float targets": (cube, taken_away("EXT_color_buffer_float"), lacks, 1200),
        "no blending": (cube, taken_away("EXT_float_blend"), lacks, 1200),
        "four targets": (blocked, taken_away("8 targets"), lacks, 1200),
        "runs without blending": (ping_pong, taken_away("EXT_float_blend"), lacks, 1200),
    }
    found, console = framed(browser, tmp_path_factory.mktemp("pages") / "pages.html", parts.values())
    assert all(isinstance(one, dict) for one in found), found
    return {**dict(zip(parts, found, strict=True)), "console": console}


@pytest.mark.browser
@pytest.mark.mesa
def test_the_page_is_driven(told):
    """By keys, buttons and edits; the result of an edited matrix has the bits of glla's."""
    labels, grown, console, told = told["labels"], told["growth"], told["console"], told["steps"]
    assert told["begin"] == "1 / 12"
    assert told["home"] == ["0 / 12", "Before the first pass", True]
    assert told["third"][:2] == ["3 / 12", "Pass 3: rref/eliminate"]
    assert told["third"][2].startswith("One step of Gauss-Jordan elimination")
    assert told["third"][3] == f"{told['third'][1]}. {told['third'][2]}"  # what a screen reader says
    assert [one.split()[0] for one in told["diagnostics"]] == ["reads", "draws", "reads"]
    assert told["changed"] > 0
    assert told["frames"] == 9 + 8 - 1
    assert re.fullmatch(r"row 1, column 0: \S+   texel \(0, 0\), channel b", told["pointed"][0])
    assert (told["pointed"][1], told["left"]) == (2, 0)  # read and drawn
    assert told["stages"] == ["vertex stage: rref/eliminate.vert", "fragment stage: rref/eliminate.frag"]
    assert told["sent"] == "#version 300 es"
    assert (told["back"], told["slid"], told["inside"]) == ("2 / 12", "5 / 12", "5 / 12")
    assert told["moved"] == "A, row 1, column 0"
    assert told["refused"] == ["true", "A, row 0, column 0: a float32 is wanted, such as 2.5, -1e3 or 1/3."]
    assert told["edited"] == ["0.33333334", "5 / 12"]
    a = matrix(told["A"], (8, 9))
    assert a[0, 0] == np.float32(1 / 3)
    r, _ = by_glla("rref", "rank2", a)
    assert np.array_equal(matrix(told["R"], (8, 9)), r)
    assert told["right"]["mark"] == "✓ right"
    assert told["replay"]
    print(f"a step takes {told['step']:.1f} ms")
    assert told["hilbert"][0]
    assert told["singular"]["because"]
    assert told["singular"]["mark"] == "✓ right"
    assert "The rank found is 7." in told["singular"]["outcome"]
    assert "All entries are zero." in told["zero"]["outcome"]
    assert "beyond 2^-40 to 2^40" in told["large"]["outcome"]
    assert "NonFiniteError" in told["nan"]["outcome"]
    assert told["nan"]["mark"] == "✗ not right"
    assert told["example"]["because"] == []
    assert told["pasted"] == "A: 8 rows of 9 numbers are wanted: this plan is for that size."
    assert told["lack"]
    assert (labels["nameless"], labels["twice"], labels["lone"], labels["lang"]) == ([], 0, 0, "en")
    assert labels["levels"] == [1, *[2] * (len(labels["levels"]) - 1)]
    assert min(labels["least"], labels["words"]) >= 4.5
    assert labels["count"] > 100
    assert labels["small"] == 0
    assert set(grown["plans"]) == {0, 1, 2}  # what a call reads back, then another try
    assert grown["because"] == ["entries grew 128 times, more than the 27.3 of random matrices"]
    assert grown["mark"] == "✓ right"
    assert grown["replay"]  # forward and back, through all plans
    assert grown["said"][0] == f"The second plan, “fallback”, because {grown['because'][0]}."
    assert grown["said"][0] in grown["said"][1]
    assert not console
    assert b64encode(a.tobytes()).decode() == told["A"]


@pytest.mark.browser
@pytest.mark.mesa
def test_parts_of_pages(told):
    """Packed bytes, operands one at a time, a plan that a page has not, a phone in the dark, odd addresses."""
    assert [b64decode(one) for one in told["bytes"]["bytes"]] == BYTES
    assert not any("<" in digits(one) for one in BYTES)
    found = told["operands"]
    assert found["pasted"] == [b64encode(np.float32([1, 2, 3]).tobytes()).decode(), True, True]
    assert (found["made"], found["mark"]) == ([True, True, True], "✓ right")
    found = told["growth in a page without fallback"]  # a page holds plans up to 500 passes
    assert found["mark"] == "not decided"
    assert found["words"].startswith("A call would go on with “fallback”, because entries grew 128 times")
    phone, night = told["phone"], told["dark phone"]  # nothing but a matrix scrolls to the side
    assert (phone["width"], phone["wide"] <= 0, phone["small"], night["small"]) == (360, True, 0, 0)
    assert min(one[kind] for one in (phone, night) for kind in ("least", "words")) >= 4.5
    # Names that every object of JavaScript has, and parts of a pass.
    assert told["odd addresses"]["kinds"] == [["0 / 4", "example", True]] * 3
    assert told["odd addresses"]["passes"] == ["1 / 4", "0 / 4", "0 / 4", "4 / 4"]
    assert told["odd addresses"]["typed"] == [None, None, None, "Infinity", "-Infinity", "3.4028234663852886e+38"]


@pytest.mark.browser
@pytest.mark.mesa
def test_a_large_matrix_is_looked_at_in_parts(told):
    """By fields, which keep the focus when they are made anew, and by a click into its picture."""
    found = told["part"]
    assert found["moved"] == [["9", "10"], True, "9"]
    assert found["most"] == ["25", "26"]
    assert re.match(r"row 0, column 16: \S+   texel \(8, 0\), channel r", found["read"])
    assert (found["clicked"], found["row"]) == (["12", "13"], "0")


@pytest.mark.browser
@pytest.mark.mesa
def test_a_notebook_runs_the_passes(browser, tmp_path):
    """In its frame, which has no address and no origin."""
    markup = glla.plan("rref", (4, 5), limits=glla.Limits())._repr_html_()
    said = "at('count').textContent, at('mark').textContent, at('lack').hidden"
    tell = f"ready.then(() => go(6)).then(() => parent.postMessage([{said}], '*'))"
    frame = re.search(r"<iframe.*?</iframe>", markup, re.DOTALL)[0]
    frame = frame.replace("&lt;/body&gt;", escape(f"<script>{tell}</script></body>"))
    listen = """<script>addEventListener("message", ({ data }) => {
        document.getElementById("told").textContent = JSON.stringify(data);
        open.close();
    });</script>"""
    found, _ = told_by(browser, tmp_path / "notebook.html", f"{OPEN}{listen}{frame}")
    assert found == ["6 / 6", "✓ right", True]


# ---- where it cannot run -------------------------------------------------------------------------


@pytest.mark.browser
def test_what_lacks_is_said(told):
    """WebGL 2, float targets, blending and eight targets, each taken away; and a plan that does not need them runs."""
    cannot = "This browser cannot "
    for name, words in {
        "no unpacking": f"{cannot}unpack the page (DecompressionStream); those of 2023 and later can.",
        "no WebGL 2": "This browser has no WebGL 2, or it is switched off.",
        "no float targets": f"{cannot}draw into textures of float32 (EXT_color_buffer_float).",
        "no blending": f"{cannot}add to textures of float32 (EXT_float_blend); another variant does without.",
        "four targets": "This plan needs 8 targets of a pass, this browser has 4.",
    }.items():
        one = told[name]
        assert one["words"] == words
        assert (one["hidden"], one["alert"], one["shown"]) == (False, "alert", ["lack", "figure"])
        assert len(one["cells"]) == 16
    assert told["runs without blending"]["hidden"] and "main" in told["runs without blending"]["shown"]


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.sweep
@pytest.mark.parametrize("size", [6, 9, 17])
def test_every_operation_is_right_on_its_page(browser, tmp_path, size):
    """All passes are shown; the judge finds the result of the example right, and none accepts a wrong one."""
    names = list(OPERATIONS)
    parts = [(page(documents.document(name, size)), "", script("spoilt"), 1200) for name in names]
    found = []
    for first in range(0, len(parts), 12):  # a browser keeps sixteen contexts alive
        found += framed(browser, tmp_path / "p.html", parts[first : first + 12])[0]
    for name, told in zip(names, found, strict=True):
        assert isinstance(told, dict), (name, told)
        assert told["good"]["mark"] == "✓ right", (name, told)
        assert told["bad"] == "✗ not right", (name, told)


@pytest.mark.browser
def test_the_address_holds_pass_and_matrix(browser, tmp_path, told):
    """A link to pass 4 of a matrix shows that; one that holds no matrix of this size says so."""
    document = documents.document("cholesky", 2, "rank2")
    a = np.array([[4, 2], [2, 0.5]], np.float32)
    text = b64encode(a.tobytes()).decode().replace("+", "-").replace("/", "_").rstrip("=")
    path = tmp_path / "page.html"
    path.write_text(page(document).replace("</body>", READY), encoding="utf-8")
    dom, errors = browser(path, "--dump-dom", *SWIFTSHADER, at=f"#pass=4&A={text}")
    assert re.search(r'id="count"[^>]*>4 / 4<', dom)
    assert re.findall(r'aria-label="A, row \d, column \d"', dom) == [
        f'aria-label="A, row {i}, column {j}"' for i in (0, 1) for j in (0, 1)
    ]
    assert re.findall(r'<input value="([^"]*)"', dom) == ["4", "2", "2", "0.5"]
    assert "NotPositiveDefiniteError: the leading minor of order 2 is not positive, as pivot 1 is -0.5" in dom
    assert [line for line in errors.splitlines() if "CONSOLE" in line and PERFORMANCE not in line] == []
    wrong = told["no address"]
    assert wrong["complaint"] == "The address holds no matrix A of this size; the example is shown."
    assert (wrong["title"], wrong["count"]) == ("Before the first pass", "0 / 4")


@pytest.mark.browser
@pytest.mark.sweep
def test_a_lost_context_comes_back(browser, tmp_path):
    """The page makes it anew, at the same pass and with the same bits."""
    script_ = """
        press("Home"); for (let k = 0; k < 6; k++) press("ArrowRight");
        const before = bits(player.read(0, "R_pong").values);
        const context = player.gl.getExtension("WEBGL_lose_context");
        context.loseContext();
        setTimeout(() => context.restoreContext(), 100);
        setTimeout(() => {
            const same = before === bits(player.read(0, "R_pong").values);
            document.title = JSON.stringify([at("count").textContent, same, player.gl.isContextLost()]);
        }, 2000);
    """
    path = tmp_path / "page.html"
    text = page(documents.document("rref", 8, "rank2"))
    path.write_text(
        text.replace("</body>", f"<script>{HELPERS}\nready.then(() => {{{script_}}});</script></body>"),
        encoding="utf-8",
    )
    dom, _ = browser(path, "--dump-dom", "--timeout=6000", "--virtual-time-budget=8000", *SWIFTSHADER)
    assert json.loads(unescape(re.search(r"<title>(.*?)</title>", dom)[1])) == ["6 / 12", True, False]
