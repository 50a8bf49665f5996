"""What notebooks show: well-formed, escaped, short, and right."""

import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest

import glla
from glla.display.array import of_array, of_host
from glla.display.colours import picture
from glla.display.html import MOST_LINES, OPEN_STEPS
from glla.display.scopes import core
from glla.display.trace import STATES
from glla.lab import show
from glla.lab.comparison import Comparison
from glla.lab.measurement import Measurement
from glla.lab.samples import Samples
from glla.passes import Limits, Plan, Scope
from tests.beside import in_thread, spied
from tests.markup import Page

PLAIN = Limits()


class Shown(Page):
    """What an object shows; fails where it would run or fetch something."""

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "iframe", "object", "link", "style"} or (tag != "script" and "svg" in self.open)
        assert not any(name.startswith("on") for name, _ in attributes)
        super().handle_starttag(tag, attributes)
        assert tag != "img" or all(value.startswith("data:image/") for name, value in attributes if name == "src")


def read(shown):
    """Parse what an object shows."""
    markup = shown if isinstance(shown, str) else shown._repr_html_()
    return Shown(re.sub(r'<details class="player">.*</details>$', "", markup, flags=re.DOTALL))  # a frame of its own


def test_the_reader_fails():
    for wrong in ("<div><p></div></p>", "<div>", "<script></script>", "<p onclick='x()'></p>", "<img src='http://x'>"):
        with pytest.raises(AssertionError):
            read(wrong)


# Arrays --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 3), (12, 12), (13, 12), (12, 13), (13, 13), (1, 100), (100, 1), (33, 65)]
)
def test_corners(shape, rng):
    values = rng.integers(-99, 99, shape).astype(np.float32)
    for array in (glla.asarray(values), glla.asarray(values.T.copy()).T):
        shown = read(array)
        assert shown.cells == expected(values)
        assert f"{shape[0]} x {shape[1]} float32" in shown.text
        assert array.device.info.renderer in shown.text


def expected(values):
    """The frame, element by element: another way than slices."""
    rows, columns = (list(range(n)) if n <= 12 else [0, 1, 2, None, n - 3, n - 2, n - 1] for n in values.shape)
    return [["⋮" if i is None else "⋯" if j is None else f"{values[i, j]:.0f}." for j in columns] for i in rows]


def test_only_the_corners_are_read(device, monkeypatch):
    array = glla.asarray(np.ones((400, 300)))
    sizes = spied(monkeypatch, type(device), "download", lambda self, texture, shape: shape)
    before = device.stats().textures
    read(array)
    assert sizes == [(3, 3)] * 4
    assert device.stats().textures == before


def test_numbers_that_are_none():
    array = glla.asarray([[np.nan, np.inf, -np.inf, -0.0, 1e-30, 0.1]], check_finite=False)
    assert read(array).cells == [["nan", "inf", "-inf", "-0.", "1e-30", "0.1"]]


def test_arrays_without_elements():
    for shape in ((0, 0), (0, 5), (5, 0)):
        shown = read(glla.asarray(np.empty(shape)))
        assert f"no elements, shape {shape}" in shown.text
        assert not shown.cells


def test_arrays_that_cannot_be_read():
    released = glla.asarray([[1]])
    released.release()
    assert "released" in read(released).text
    with glla.Device() as device:
        orphan = glla.asarray([[1]], device)
    assert "is used after it was released; make another Device" in read(orphan).text
    shown = in_thread(read, glla.asarray([[1]]))
    assert "belongs to the thread that made it" in shown.text
    assert not shown.cells


def test_a_name_is_escaped():
    class Named:
        shape = (1, 1)

        dtype = SimpleNamespace(name="<script>alert(1)</script> & 'more'")
        device = SimpleNamespace(info=SimpleNamespace(renderer="<llvmpipe>"))

        def __getitem__(self, index):
            return np.array([["<b>"]], dtype=object)

    shown = read(of_array(Named()))
    assert "1 x 1 <script>alert(1)</script> & 'more', on <llvmpipe>" in shown.text
    assert shown.cells == [["<b>"]]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (9,), (2, 3, 4), (3, 1, 2, 8)])
def test_arrays_of_other_dimensions(shape):
    values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    first = values.reshape((1, 1, *shape))[(0,) * len(shape)] if len(shape) < 2 else values[(0,) * (len(shape) - 2)]
    frame = [[text.rstrip(".") for text in row] for row in expected(first.reshape((1, 1, *shape)[-2:]))]
    for shown in (read(of_host(values)), read(glla.asarray(values, dtype="int32"))):
        assert shown.cells == frame
        assert (f"of shape {shape}" in shown.text) == (len(shape) > 2)
    assert read(glla.asarray(values > 0, dtype="bool")).cells[0][0] == "False"


# Results -------------------------------------------------------------------------------------------------------------

A = np.float32([[2, 1], [4, 5]])


@pytest.mark.parametrize("make", [np.asarray, glla.asarray])
def test_results(make):
    shown = read(glla.plu(make(A)))
    for name in ("P: permutation", "L: unit lower", "U: upper"):
        assert name in shown.text
    assert shown.cells == [["0.", "1."], ["1.", "0."], ["1.0", "0."], ["0.5", "1."], ["4.", "5.0"], ["0.", "-1.5"]]
    shown = read(glla.rref(make(A[:1])))
    assert shown.cells == [["1.", "0.5"]]
    assert "rank 1, pivots: 0" in shown.text
    assert "rank 0, pivots: none" in read(glla.rref(make(0 * A))).text


def test_many_pivots_are_counted():
    assert "rank 30, pivots: 0, 1, 2," in read(glla.rref(np.eye(30))).text
    assert "19 ... 10 more" in read(glla.rref(np.eye(30))).text


# Plans ---------------------------------------------------------------------------------------------------------------


def test_a_short_plan_is_whole():
    plan = glla.plan("matmul", (4, 6), (6, 2), limits=PLAIN)
    shown = read(plan)
    assert [row[1] for row in shown.cells if len(row) == 6][1:] == [
        "stack/pack", "stack/pack", "matmul/inner_product", "stack/unpack",
    ]  # fmt: skip
    assert f"4 passes, {plan.flops} flop" in shown.text
    assert "more" not in shown.text


@pytest.mark.parametrize("operation", ["plu", "rref", "solve", "inv", "det", "cholesky"])
def test_all_steps_of_a_plan_are_there_once(operation):
    """What folds is what is printed, the operation itself first, then the steps of its call, if none are left out."""
    operands = [(13, 13), (13, 1)][: 2 if operation == "solve" else 1]
    plan = glla.plan(operation, *operands, limits=PLAIN)
    plan = replace(plan, after=())
    shown = read(plan)
    rows = [row for row in shown.cells if len(row) == 6 and row[0] != "pass"]
    assert len(rows) <= MOST_LINES
    printed = [line.split() for line in str(plan).splitlines()]
    printed = [words for words in printed if words and words[0].isdigit()]
    own = core(plan)
    if own is not None:
        printed = printed[own.first : own.end] + printed[: own.first] + printed[own.end :]
    assert [row[:1] + row[1].split() for row in rows] == [
        words[: 1 + len(row[1].split())] for words, row in zip(printed, rows, strict=True)
    ]
    assert [row[3] for row in rows if row[3] not in str(plan)] == []


def test_scopes_fold_and_long_plans_stay_short():
    plan = replace(glla.plan("rref", (5000, 5000), limits=PLAIN), after=())
    assert len(plan.passes) > 10_000
    markup = plan._repr_html_()
    shown = read(markup)
    assert len(markup) < 150_000
    assert shown.tags["tr"] < 4 * MOST_LINES
    assert "step 0" in shown.text or "panel 0" in shown.text
    assert markup.count("<details open>") == 2  # the plan, and in it the operation
    left = [int(count) for count in re.findall(r"<div>\.\.\. (\d+) more steps</div>", markup)]
    steps = sum(len(row) == 6 and row[0] != "pass" for row in shown.cells)
    assert 20 < steps <= MOST_LINES
    assert steps + sum(left) == len(plan.flat.steps)


def test_turns_within_turns():
    """Scopes within scopes, one that begins where another does, steps between them, and empty ones."""
    copy = glla.plan("matmul", (4, 4), (4, 4), limits=PLAIN).flat
    steps = copy.steps * 3
    scopes = (Scope("outer", 0, 0, 8), Scope("inner", 0, 0, 3), Scope("empty", None, 5, 5), Scope("inner", 1, 6, 8))
    shown = read(replace(copy, steps=steps, scopes=scopes, operation="a<b>"))
    assert [row[0] for row in shown.cells if len(row) == 6 and row[0] != "pass"] == [str(k) for k in range(12)]
    assert [text for text in ("outer 0: 8 steps, from 0", "inner 0: 3 steps, from 0", "inner 1: 2 steps, from 6")
            if text not in shown.text] == []  # fmt: skip
    assert "a<b>" in shown.text


def test_lines_are_shared():
    """Scopes get equal shares of the lines; what small ones leave, later ones get; a few lines each at least."""
    step = glla.plan("matmul", (4, 4), (4, 4), limits=PLAIN).flat
    sizes = {10: [1] * 9 + [991], 40: [25] * 40, 1000: [1] * 1000, 2: [100, 101]}
    for count, lengths in sizes.items():
        ends = np.cumsum(lengths)
        scopes = tuple(
            Scope("turn", k, int(end - n), int(end)) for k, (n, end) in enumerate(zip(lengths, ends, strict=True))
        )
        plan = replace(step, steps=step.steps[:1] * int(ends[-1]), scopes=scopes, results={})
        shown = read(plan)
        steps = sum(len(row) == 6 and row[0] != "pass" for row in shown.cells)
        assert steps == (50 if count == 1000 else MOST_LINES), count
        assert f"turn {min(count, 50) - 1}:" in shown.text
        assert "turn 50:" not in shown.text


def test_what_comes_after_is_shown():
    plan = glla.plan("plu", (20, 20), pivoting="harmonic", limits=PLAIN)
    shown = read(plan)
    for then in plan.after:
        assert f"if {then.when}: then {then.stage or then.error}" in shown.text
    assert plan.after
    assert len(plan.flat.steps) <= OPEN_STEPS or shown.tags["details"] > 3


def test_a_plan_without_steps():
    assert "nothing: 0 passes" in read(Plan("nothing", {}, (), {}, ())).text


# Traces --------------------------------------------------------------------------------------------------------------


def test_traces():
    with glla.trace() as traced:
        glla.solve(A, A)
        glla.matmul(A, A)
    shown = read(traced)
    rows = [row for row in shown.cells if row[0] != "pass"]
    first = [one for one in traced.passes if one.operation == "stack[matmul]"]
    others = [one for one in traced.passes if one not in first]
    assert [row[1] for row in rows] == [one.shader for one in (*first, *others)]
    assert shown.text.index("stack[matmul]: ") < shown.text.index("stack[solve, pivoted_small]: ")
    assert shown.tags["details"] == len({one.run for one in traced.passes}) + 1
    assert not shown.tags["img"]


def test_a_trace_with_values_is_a_strip_of_pictures():
    with glla.trace(values=True) as traced:
        glla.rref(np.arange(400).reshape(20, 20) % 7, variant="rank2")
    shown = read(traced)
    assert shown.tags["img"] == STATES
    assert shown.text.index("rref[rank2, harmonic]: ") < shown.text.index("equilibrate")


def test_a_picture_is_a_png_with_the_colours():
    """Blue positive, orange negative, grey not drawn; every third row where there are too many."""
    from PIL import Image

    values = np.zeros((300, 3))
    values[[0, 297], [0, 1]], values[150, 2] = (-4, 1), np.nan
    image = Image.open(BytesIO(b64decode(re.search(r"base64,([^\"]+)", picture(values))[1])))
    assert image.size == (3, 100)
    assert [image.getpixel(at) for at in ((0, 0), (1, 99), (2, 50), (2, 0))] == [
        (0xE8, 0x83, 0x3A, 255), (0x2F, 0x6F, 0xE0, 127), (0xC8, 0xC8, 0xC8, 128), (0x2F, 0x6F, 0xE0, 0),
    ]  # fmt: skip


def test_devices():
    with glla.Device() as device:
        cells = dict(read(device).cells)
        assert cells["renderer"] == device.info.renderer and cells["in use"] == "0 textures, 0 bytes"
    assert read(device).text == "glla.Device released"


def test_queues_and_their_calls():
    with glla.coprocessor() as gpu:
        good, bad = gpu.det([[2, 0], [0, 3]]), gpu.det([["<b>", 1]])
        assert good.result() == 6 and bad.exception() is not None
        assert read(gpu).cells == [["device", gpu.info.renderer]] and "0 calls wait" in read(gpu).text
        assert "(det, test_html.py:" in read(good).text and read(good).text.endswith("): done")
        assert read(bad).cells == [["error", str(bad.exception())]] and "failed" in read(bad).text
    assert read(gpu).text.startswith("glla.coprocessor: closed")


def test_sparse_matrices_and_kernels():
    A = glla.sparse.asarray(np.diag([1.0, -2.0, 3.0]))
    assert repr(A) == f"<SparseMatrix 3 x 3 of float32, 3 entries, format {A.format}>\n{np.diag([1.0, -2.0, 3.0])}"
    assert read(A).tags["img"] == 1
    large = np.zeros((40, 50))
    large[[0, 20, 39], [0, 20, 49]] = 1, 2, 3
    assert repr(glla.sparse.asarray(large)).partition("\n")[2] == np.array2string(large, threshold=0)
    assert "no elements" not in read(glla.sparse.asarray(np.zeros((0, 3)))).text
    assert "each_element(life)" in read(glla.kernel("examples/life")).text


def test_an_empty_trace_and_a_long_one(monkeypatch):
    assert "0 passes" in read(glla.trace()).text
    with glla.trace() as traced:
        glla.rref(np.eye(40))
    traced.passes *= 100
    traced.dropped = 7
    shown = read(traced)
    assert shown.tags["tr"] < 3 * MOST_LINES
    assert "more passes" in shown.text
    assert "7 more passes ran beyond the limit" in shown.text


# Comparisons ---------------------------------------------------------------------------------------------------------


def comparison():
    """A comparison of two variants; one has failed at the second size."""
    records = [
        Measurement("matmul", name, size, timed={"ours": Samples((1e-9 * size**3 * factor,))}, mean_error=1e-7)
        for factor, name in ((1, "inner_<b>product"), (2, "virtual_cube"))
        for size in (64, 128, 256)
    ]
    records[4] = replace(records[4], timed={}, status="failed", reason="<script>alert(1)</script>")
    return Comparison("matmul", "C = A B", records=records, environment={"renderer": "a & b"})


def test_comparisons_show_their_plots():
    shown = read(comparison())
    assert shown.tags["svg"] == 3  # no ceilings were measured, so there is no roofline
    assert shown.cells[1][:3] == ["inner_<b>product", "64", "0.262"]
    assert len(shown.cells) == 7
    assert "a & b" in shown.text
    assert "<script>alert(1)</script>" in shown.text
    assert "6 records" in shown.text


def test_comparisons_without_matplotlib(monkeypatch):
    monkeypatch.setattr(show, "find_spec", lambda name: None)
    markup = comparison()._repr_html_()
    shown = read(markup)
    assert "plots need Matplotlib: pip install 'glla[lab]'" in shown.text
    assert not shown.tags["svg"]
    assert len(shown.cells) == 7
    assert "<details open>" in markup


def test_an_empty_comparison():
    assert "0 records" in read(Comparison("matmul", "C = A B")).text
