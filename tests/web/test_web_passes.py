"""Exported operations in a browser: every pass gives the texels that glla's gives."""

import base64
import http.server
import json
import os
import queue
import re
import shutil
import subprocess
import threading
from html import escape

import numpy as np
import pytest

import glla
from glla.errors import GllaError
from glla.gl.recorder import Recorder, unpacked
from glla.lab import custom, operations
from glla.operations import OPERATIONS
from glla.passes import Host, Pass, Storage
from glla.passes.glsl import find as shader
from glla.web import documents as web
from glla.web import scripts, stages
from glla.web.page import in_script
from tests.gl.test_iterate import CARRY, counter

from .conftest import SWIFTSHADER, script, told

FILES = [scripts.FOLDER / f"{name}.js" for name in (*scripts.FIRST, "loops")]
PLAYER = "".join(map(scripts.read, [*FILES, *scripts.of("plu")]))  # a pass reads what the host makes in plu alone
MESA = ("--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist")  # the rasteriser that glla has here

# Operations whose passes have the same bits on every software rasteriser that was tried. GLSL promises it of none: it
# lets compilers regroup sums and fuse products with them, so others, and a user's own, may be off by rounding errors.
EXACT = {
    "matmul", "plu", "lu_factor", "lu_solve", "rref", "triangular", "solve_triangular", "solve", "inv", "det",
    "slogdet",
}  # fmt: skip

HARNESS = script("shared") + script("passes")


def in_a_browser(browser, path, documents, player=PLAYER, rasteriser=SWIFTSHADER):
    """What a browser's passes draw: for each document a list of passes, each a list of base64."""
    data = f'<script type="application/json" id="data">{in_script(documents)}</script>'
    return told(browser, path, f"{data}<script>{player}{HARNESS}</script>", rasteriser)[0]


def exportable(size, beside=True):
    """Every operation and variant that can be exported: name, variant, document, plan, plan of a call, operands.

    Without `beside` what a call does beside the passes is left out of all variants but the first.
    """
    known = set()
    for name, found in OPERATIONS.items():
        arrays = web._operands(found, size, web.SEED, None)
        for variant in [*found.variants] or [None]:
            try:
                _, plan, whole = web._plans(found, arrays, variant, None)
                document = web.document(name, size, variant)
                if not beside and variant not in (None, next(iter(found.variants), None)):
                    del document["plans"][1:]
                same = json.dumps([document[part] for part in ("plans", "texts", "operands")])
                if same not in known:  # det and slogdet are the same passes, and so are others
                    known.add(same)
                    yield name, variant, document, plan, whole, arrays
            except GllaError as error:
                assert str(error).startswith("export: "), error  # says what a browser cannot do


# A product whose output is indexed by what is no number, which browsers refuse: the second rule of translation.
COMPUTED = """#include "lib/block_product.glsl"
uniform sampler2D A;
uniform sampler2D B;
uniform int count;
layout(location = 0) out vec4 result;
void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = vec4(0.0);
    for (int k = 0; k < count; ++k) {
        vec4 next = add_block_product(result, texelFetch(A, ivec2(k, texel.y), 0), texelFetch(B, ivec2(texel.x, k), 0));
        for (int channel = 0; channel < 4; ++channel) result[channel] = next[channel];
    }
}
"""


def own_shaders(size, folder):
    """Documents with shaders of a user's in the place of glla's: the gallery's, and one that must be rewritten."""
    (folder / "computed.frag").write_text(COMPUTED, encoding="utf-8")
    exhibits = [(custom.operation_of(path), path) for path in custom.exhibits()]
    for name, path in [*exhibits, ("matmul", folder / "computed.frag")]:
        arrays = web._operands(OPERATIONS[name], size, web.SEED, None)
        _, plan, _ = web._plans(OPERATIONS[name], arrays, None, path)
        yield name, path.name, web.document(name, size, shader=path), plan, None, arrays


def drawn_by_glla(name, plan, arrays):
    """What each pass of a plan draws, as texels."""
    device = glla.default_device()
    textures = operations.uploaded(device, OPERATIONS[name], plan.flat, arrays)
    with Recorder(values=True) as recorded:
        for result in device.run(plan, **textures).values():
            if not isinstance(result, np.ndarray):
                result.release()
    assert not recorded.dropped
    for texture in textures.values():
        texture.release()
    passes = [one for one in recorded.passes if not one.shader.startswith(("(read back)", "(upload)", "(host)"))]
    return [(one, [one.values[slot] for slot in one.outputs]) for one in passes]


def drawn_in_turn(name, document, plan, whole, arrays):
    """What each pass of a page draws: those of the operation, then what a call does beside them, where a page does."""
    if [one.get("stage") for one in document["plans"][:2]] != [None, ""] or document["aside"]:
        return drawn_by_glla(name, plan, arrays)
    beside = stages.beside(plan.flat, whole.flat)
    steps = enumerate(whole.flat.steps)
    places = [place for place, step in steps if not isinstance(step, Host) and not whole.flat._crosses(step)]
    drawn = drawn_by_glla(name, whole, arrays)[-len(places) :]  # of a loop all turns are drawn; it is not compared
    own = {*beside.places}
    order = [*beside.places, *(place for place in places if place not in own)]
    return [drawn[places.index(place)] for place in order if place in places]


def texels(text, storage):
    """Texels that a browser has told, as the recorder shows them."""
    flat = np.frombuffer(base64.b64decode(text), "<f4")
    if not isinstance(storage, Storage):
        return flat
    return unpacked(flat.reshape(storage.height, storage.width, storage.channels), storage)


def is_open(plan):
    """Whether rasterisers may differ in a plan: GLSL leaves the order of `dot` open, and the last bit of `sqrt`."""
    steps = [step for step in plan.flat.steps if isinstance(step, Pass)]
    texts = {shader.active_text(shader.resolve(step.shader, step.defines).fragment) for step in steps}
    return any(re.search(r"\b(dot|sqrt|inversesqrt|length)\s*\(", text) for text in texts)


def alike(got, array, slack, least=0.0):
    """Whether texels are the same bit by bit, or, with slack, to this many units of the largest, or of `least`.

    NaN is in no operand: it is what glla's tests put where nothing was drawn, and a panel may copy that.
    """
    if got.shape != array.shape:
        return False
    if not slack:
        return np.array_equal(got, array, equal_nan=True)
    allowed = slack * 2.0**-24 * np.max(np.abs(array), initial=least, where=np.isfinite(array))
    same = (got == array) | np.isnan(array)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        return bool((same | (np.abs(got.astype(np.float64) - array) <= allowed)).all())


BEYOND = "matmul/register_blocked"
"""Draws texels beyond the matrix, too, of fetches that GLSL leaves open; the next pass drops them."""


def compared(label, passes, expected, slack=0, own=None):
    """Differences between the passes of a browser and those of glla, in words.

    Behind the `own` passes come figures, such as residuals, which are differences of what is larger: a unit is one of
    the largest of them so far.
    """
    largest = 0.0
    if len(passes) != len(expected):
        yield f"{label}: {len(passes)} passes, glla has {len(expected)}"
    for number, (texts, (one, arrays)) in enumerate(zip(passes, expected, strict=False)):
        for slot, text, array in zip(one.outputs, texts, arrays, strict=True):
            storage = one.plan.slots[slot]
            got = texels(text, storage)
            if not isinstance(storage, Storage):
                array = array.ravel()
            same = alike(got, array, slack, largest)
            if own is not None and number >= own:
                largest = float(np.max(np.abs(array), initial=largest, where=np.isfinite(array)))
            if not same and one.shader != BEYOND:
                yield f"{label}: pass {number + 1} ({one.shader}) draws {slot} differently"


def counted():
    """A loop, its operands, and what it gives: x -> 1.5 x - 1, until the count is 7."""
    numbers = {"half": 1.5, "n": 0, "one": 1, "goal": 7}
    given = {"x": np.arange(15, dtype=np.float32).reshape(5, 3)}
    given |= {name: np.full((1, 1), value, np.float32) for name, value in numbers.items()}
    loop = glla.iterate(counter(), carry=CARRY, until="stop", most=200)
    return loop, given, loop(**given)


def faulty(arrays):
    """A document, and three of its like: without a pass, with an operand off by one bit, with another shader."""
    good = web.document("rref", 6, "rank2")
    dropped, changed, other = (json.loads(json.dumps(good)) for _ in range(3))
    del dropped["plans"][0]["steps"][-1]
    moved = arrays[0].copy()
    moved[5, 6] = np.nextafter(moved[5, 6], np.float32(np.inf))
    changed["operands"]["A"] = web._data(moved)
    source = other["sources"]["rref/eliminate.frag"]
    other["sources"]["rref/eliminate.frag"] = source.replace("row -= l1 * low", "row += l1 * low")
    return [good, dropped, changed, other]


def check_faults(arrays, drawn):
    """The comparison sees each of them."""
    plan = OPERATIONS["rref"].device_plan(operations.forms(arrays), web.LIMITS, variant="rank2")
    expected = drawn_by_glla("rref", plan, arrays)
    found = [list(compared("rref", one["passes"], expected)) for one in drawn]
    assert not found[0]
    assert [one[0] for one in found[1:]] == [
        "rref: 8 passes, glla has 9",
        "rref: pass 3 (rref/eliminate) draws R_ping differently",
        "rref: pass 3 (rref/eliminate) draws R_ping differently",
    ]


def check_loop(loop, expected, looped):
    """The body again and again until a texel says stop; carried textures take turns, operands stay as they were."""
    assert expected.stopped
    assert expected.iterations == 7
    assert "error" not in looped
    assert len(looped["passes"]) == expected.iterations * len(loop.flat.steps)
    slots, last = loop.flat.slots, looped["passes"][-len(loop.flat.steps) :]
    drawn = {step.outputs[0]: text for step, (text,) in zip(loop.flat.steps, last, strict=True)}
    for name in CARRY:
        slot = loop.flat.results[name]
        got = texels(drawn[slot], slots[slot])
        assert np.array_equal(got, expected[name].numpy().reshape(got.shape))


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.parametrize(
    "size", [8, pytest.param(9, marks=pytest.mark.sweep), pytest.param(33, marks=pytest.mark.sweep)]
)
def test_every_pass_has_the_same_bits(browser, tmp_path, size):
    """Of every operation and variant that can be exported, and of a loop; the comparison sees faults.

    All of it in one page, which compiles a program once.
    """
    if not glla.default_device().limits.software:
        pytest.skip("pages are planned for software, whose layout of diagonals is another")
    found = [*exportable(size, beside=size > 8), *own_shaders(size, tmp_path)]
    loop, given, iterated = counted()
    arrays = operations.inputs(OPERATIONS["rref"], 6)
    documents = [document for _, _, document, *_ in found]
    *drawn, looped, good, dropped, changed, other = in_a_browser(
        browser, tmp_path / "passes.html", [*documents, web.of_plan(loop, given), *faulty(arrays)]
    )
    check_loop(loop, iterated, looped)
    check_faults(arrays, [good, dropped, changed, other])
    differences = []
    for (name, variant, document, plan, whole, operands), one in zip(found, drawn, strict=True):
        if re.search(r"^Error: This plan needs \d targets of a pass, this browser has [4-7]\.", one.get("error", "")):
            continue  # older browsers have 6 in software
        assert "error" not in one, (name, variant, one["error"])
        expected = drawn_in_turn(name, document, plan, whole, operands)
        passes = one["passes"]
        loops = [scope.end for scope in plan.flat.scopes if scope.often]
        if loops:  # glla looks late whether one has ended, a page at once: what comes after them is the same
            after = len(plan.flat.steps) - max(loops)
            passes, expected = passes[len(passes) - after :], expected[len(expected) - after :]
        exact = name in EXACT and not str(variant).endswith(".frag") and not is_open(plan)
        slack = 0 if exact else 64 * size
        differences += compared(f"{name} {variant}", passes, expected, slack, len(plan.flat.steps))
    assert not differences


# ---- bad numbers -------------------------------------------------------------------------------


def awkward(name, order):
    """Operands of other shapes than the example's: a vector's, wide and tall ones."""
    rng = np.random.default_rng(order)
    shapes = {
        "matmul": [((order, order + 2), (order + 2, 1)), ((1, order), (order, order + 5))],
        "solve": [((order, order), (order, order + 2))],
        "lstsq": [((order + 5, order), (order + 5, 2))],
        **{one: [((order, order + 3),), ((order + 4, order),)] for one in ("plu", "lu_factor", "rref", "qr")},
    }
    for one in shapes.get(name, []):
        yield tuple(rng.uniform(-9, 9, shape).astype(np.float32) for shape in one)


def spoilt(arrays):
    """Operands, and the same with what is no number, what is too large, too small, or nothing in the first of them."""
    a, *others = arrays
    yield arrays
    for value, place in ((np.nan, tuple(side // 2 for side in a.shape)), (np.inf, (0, 0))):
        b = a.copy()
        b[place] = value
        yield (b, *others)
    powers = 10.0 ** np.random.default_rng(1).integers(-37, 37, a.shape)
    with np.errstate(over="ignore", under="ignore"):
        for factor in (3e37, 1e-42, powers, 0.0, -0.0):
            yield ((a * factor).astype(np.float32), *others)


def same_bits(got, array):
    """Whether texels are the same bit by bit, but for the payloads of what is no number."""
    one, other = (np.ascontiguousarray(texels, np.float32) for texels in (got, array))
    return ((one.view(np.uint32) == other.view(np.uint32)) | (np.isnan(one) & np.isnan(other))).all()


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.sweep
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name in EXACT])
def test_bad_numbers_go_the_same_way(browser, tmp_path, name, order):
    """Of all passes on the rasteriser that glla has: GLSL leaves open what max(NaN, x) is, and whether 1e-42 is 0."""
    found, work = OPERATIONS[name], []
    for variant in [*found.variants] or [None]:
        for operands in (operations.inputs(found, order), *awkward(name, order)):
            for data in spoilt(operands):
                try:
                    _, plan, whole = web._plans(found, data, variant, None)
                    work.append((variant, web.document(name, order, variant, data=data), plan, whole, data))
                except GllaError as error:
                    assert str(error).startswith("export: "), error
    for first in range(0, len(work), 40):
        some = work[first : first + 40]
        drawn = in_a_browser(browser, tmp_path / "p.html", [one[1] for one in some], rasteriser=MESA)
        for (variant, document, plan, whole, data), one in zip(some, drawn, strict=True):
            assert "error" not in one, (variant, one.get("error"))
            expected = drawn_in_turn(name, document, plan, whole, data)
            for texts, (by, arrays) in zip(one["passes"], expected, strict=True):
                for slot, text, array in zip(by.outputs, texts, arrays, strict=True):
                    storage = by.plan.slots[slot]
                    array = array if isinstance(storage, Storage) else array.ravel()
                    same = by.shader == BEYOND or same_bits(texels(text, storage), array)
                    assert same, (variant, data, by.shader, slot)


# ---- another browser ---------------------------------------------------------------------------

POSTED = 'fetch("/told", { method: "POST", body: document.getElementById("told").textContent });'


@pytest.fixture
def firefox(tmp_path, request):
    """As `browser`, Firefox on a screen of Xvfb: headless it has no WebGL. Its page posts what it tells to a server."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        pytest.skip("Firefox is not installed (apt install firefox-esr)")
    display, told = request.getfixturevalue("display"), queue.Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=tmp_path)

        def do_POST(self):
            told.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    def look(path, *options):
        page = path.read_text(encoding="utf-8")
        path.write_text(f"{page}<script>{POSTED}</script>", encoding="utf-8")
        url = f"http://127.0.0.1:{server.server_address[1]}/{path.name}"
        shown = {**os.environ, "DISPLAY": display, "HOME": str(profile)}
        command = [found, "--no-remote", "--profile", str(profile), url]
        with subprocess.Popen(command, env=shown, stderr=subprocess.DEVNULL) as run:
            try:
                text = told.get(timeout=100)
            finally:
                run.terminate()
        return f'<pre id="told">{escape(text)}</pre>', ""

    profile = tmp_path / "profile"
    profile.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield look
        server.shutdown()


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.sweep
@pytest.mark.xvfb
def test_every_pass_in_firefox(firefox, tmp_path):
    test_every_pass_has_the_same_bits(firefox, tmp_path, 8)
