"""The product of a sparse matrix and a vector: every format, exactly, and where the vector is not finite."""

import math
from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.errors import LimitError, OptionError, ShapeError
from glla.lab import fetches
from glla.operations import OPERATIONS
from glla.operations.sparse import krylov, model, sell, spmv
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.diagonals import TERMS
from glla.operations.sparse.formats import FORMATS, chosen
from glla.operations.sparse.layout import filled, vector
from glla.operations.sparse.spmv import VARIANTS
from glla.operations.sparse.stencil import Stencil
from glla.passes import Draft, Form, Limits, Tuned
from tests.beside import run_python


def scattered(rng, shape, entries):
    """Integers at random places, some of them several times."""
    rows, columns = (rng.integers(0, side, entries) for side in shape)
    return Compressed.of_triplets(shape, rows, columns, rng.integers(-8, 9, entries))


def product(device, rows, name, x, limits=None):
    """A x on the device, with the padding of y seen to be zero."""
    limits = limits or device.limits
    structure = FORMATS[name](rows, limits)
    forms = (Form(rows.shape, resident=True, view=structure), Form((len(x), 1), resident=True))
    plan = spmv.plan(forms, limits)
    given = structure.texels(rows, limits) | {"x": filled(x, vector(len(x), limits))}
    textures = {operand: device.write_texels(texels) for operand, texels in given.items()}
    y = device.read(device.run(plan, **textures)["y"]).reshape(-1)
    assert not y[rows.shape[0] :].any()
    return y[: rows.shape[0]]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("order", [4095, 4096, 4097])
def test_rows_of_several_lines_of_texels(device, name, order, rng):
    offsets = [-order + 1, -65, -2, 0, 1, 64, 1000]
    rows = np.concatenate([np.arange(max(0, -o), min(order, order - o)) for o in offsets])
    columns = np.concatenate([np.arange(max(0, o), min(order, order + o)) for o in offsets])
    matrix = Compressed.of_triplets((order, order), rows, columns, rng.integers(1, 9, len(rows)))
    x = rng.integers(-8, 9, order).astype(np.float32)
    assert (product(device, matrix, name, x) == matrix @ x).all()


@pytest.mark.parametrize("software", [False, True], ids=["GPU", "software"])
def test_the_layout_of_diagonals_is_that_of_the_device(device, software, rng):
    """One behind the other; in software side by side, unless a texture is too narrow."""
    offsets = [-66, -3, 0, 1, 2, 64, 65]
    pairs = [(np.arange(max(0, -o), min(90, 90 - o)), np.arange(max(0, o), min(90, 90 + o))) for o in offsets]
    rows, columns = np.concatenate(pairs, axis=1)
    matrix = Compressed.of_triplets((90, 90), rows, columns, rng.integers(1, 9, len(rows)))
    x = rng.integers(-8, 9, (90, 8)).astype(np.float32)
    for size in (16384, 32):
        limits = replace(device.limits, software=software, texture_size=size)
        structure = FORMATS["diagonals"](matrix, limits)
        assert structure.beside == (software and size > 32)
        assert (product(device, matrix, "diagonals", x[:, 0], limits) == matrix @ x[:, 0]).all()
        plan = spmv.rows(Form(matrix.shape, resident=True, view=structure), 2, limits)
        given = structure.texels(matrix, limits) | {"X": filled(x, plan.slots["X"])}
        y = device.read(device.run(plan, **{name: device.write_texels(one) for name, one in given.items()})["Y"])
        assert (y.reshape(-1)[:720].reshape(90, 8) == matrix.dense() @ x).all()


def test_rows_are_sorted_where_it_pays(device, rng):
    lengths = np.where(np.arange(500) % 9 == 0, 40, 1)
    rows = np.repeat(np.arange(500), lengths)
    columns = np.concatenate([rng.choice(300, length, replace=False) for length in lengths])
    matrix = Compressed.of_triplets((500, 300), rows, columns, rng.integers(1, 9, len(rows)))
    structure = sell.Sell.of(matrix, device.limits)
    assert structure.sorted
    assert 4 * math.prod(structure.tiles.tile) * structure.tiles.blocks <= sell.WASTE * matrix.entries
    x = rng.integers(-8, 9, 300).astype(np.float32)
    assert (product(device, matrix, "sell", x) == matrix.dense() @ x).all()


@pytest.mark.parametrize("software", [False, True], ids=["GPU", "software"])
@pytest.mark.parametrize("short", [True, False], ids=["16 bits", "32 bits"])
@pytest.mark.parametrize("shape", [(900, 700), (1300, 1300), (129, 4000)])
def test_tiles_of_rows(device, software, short, shape, rng):
    """Whole tiles and cut ones, for the product with a vector and with a matrix."""
    limits = replace(device.limits, software=software)
    rows, columns = np.nonzero(rng.random(shape) < 0.01)
    matrix = Compressed.of_triplets(shape, rows, columns, rng.integers(1, 9, len(rows)))
    structure = sell.Sell.of(matrix, limits)
    structure = replace(structure, tiles=replace(structure.tiles, short=short))
    assert structure.tiles.tile != (1, 1)
    x = rng.integers(-8, 9, (shape[1], 4)).astype(np.float32)
    exact = matrix.dense() @ x
    for plan, given in (
        (spmv.plan((Form(shape, resident=True, view=structure), Form((shape[1], 1), resident=True)), limits), x[:, :1]),
        (spmv.rows(Form(shape, resident=True, view=structure), 1, limits), x),
    ):
        name = plan.operands[-1]
        texels = structure.texels(matrix, limits) | {name: filled(given, plan.slots[name])}
        textures = {operand: device.write_texels(one) for operand, one in texels.items()}
        assert not fetches.count(device, plan, textures, fetches.OUTSIDE)
        (y,) = device.run(plan, **textures).values()
        columns = given.shape[1]
        assert (device.read(y).reshape(-1)[: shape[0] * columns].reshape(-1, columns) == exact[:, :columns]).all()


@pytest.mark.parametrize("software", [False, True], ids=["GPU", "software"])
def test_long_rows_are_cut_and_summed_up(device, software, rng, monkeypatch):
    """Pieces of pieces, of rows with as many entries as a piece and one more, beside empty ones."""
    monkeypatch.setattr(sell, "PIECE", 4)
    limits, shape = replace(device.limits, software=software), (90, 80)
    lengths = rng.permutation([0, 0, 1, 3, 4, 5, 8, 9, 16, 17, 64, 65, 80] * 7)[:90]
    rows = np.repeat(np.arange(90), lengths)
    columns = np.concatenate([rng.choice(80, length, replace=False) for length in lengths])
    matrix = Compressed.of_triplets(shape, rows, columns, rng.integers(1, 9, len(rows)))
    structure = sell.Sell.of(matrix, limits)
    assert structure.tiles.longest == 4 and structure.tallest == structure.tiles.shape[0] == (-(-lengths // 4)).sum()
    assert structure.sums is not None and structure.sums.sums is not None and structure.sums.tiles.longest == 4
    x = rng.integers(-8, 9, 80).astype(np.float32)
    assert (product(device, matrix, "sell", x, limits) == matrix.dense() @ x).all()
    x[17] = np.nan
    assert (np.isnan(product(device, matrix, "sell", x, limits)) == (matrix.dense()[:, 17] != 0)).all()
    plan = spmv.rows(Form(shape, resident=True, view=structure), 2, limits)
    X = rng.integers(-8, 9, (80, 8)).astype(np.float32)
    given = structure.texels(matrix, limits) | {"X": filled(X, plan.slots["X"])}
    Y = device.read(device.run(plan, **{name: device.write_texels(one) for name, one in given.items()})["Y"])
    assert (Y.reshape(-1)[:720].reshape(90, 8) == matrix.dense() @ X).all()


def test_columns_are_batched_as_far_as_pieces_of_rows_allow(monkeypatch):
    monkeypatch.setattr(sell, "PIECE", 4)
    assert sell.Sell.of(Compressed.of_triplets((2, 3), [0], [0], np.ones(1)), Limits()).tallest == 3
    full = Compressed.of_triplets((40, 40), *np.indices((40, 40)).reshape(2, -1), np.ones(1600))
    assert sell.Sell.of(full, Limits()).tallest == 400
    monkeypatch.setattr(spmv, "MOST_AT_ONCE", 400 * 8)
    A, X = glla.sparse.asarray(full.dense(), "sell"), np.arange(480.0).reshape(40, 12)
    assert "y from 8" in glla.plan("spmv", A, X.shape).slots
    assert (full.dense() @ X == A @ X).all() and ((A @ glla.asarray(X)).numpy() == full.dense() @ X).all()


@pytest.mark.parametrize("away", [-(1 << 15) - 1, -(1 << 15), (1 << 15) - 1, 1 << 15])
def test_columns_far_from_their_rows(device, away):
    """16 bits count them as far as they go."""
    shape = (40000, 40000)
    row = max(0, -away) + 5
    places = np.array([(0, 0), (row, row + away), (row + 1, row), (39999, 39999)])
    matrix = Compressed.of_triplets(shape, *places.T, np.array([1, 3, 5, 7]))
    assert sell.Sell.of(matrix, device.limits).tiles.short == (-(1 << 15) <= away < 1 << 15)
    x = np.arange(1.0, 40001, dtype=np.float32)
    assert (product(device, matrix, "sell", x) == matrix @ x).all()


def test_zeros_of_short_rows_are_fetched_from_x(device):
    """Where a row has ended, its own place may be behind the end of x."""
    shape = (12, 3)
    matrix = Compressed.of_triplets(shape, [8, 8, 10], [0, 2, 1], np.array([1, 2, 3]))
    x = np.arange(1.0, shape[1] + 1, dtype=np.float32)
    assert (product(device, matrix, "sell", x) == matrix @ x).all()
    structure = sell.Sell.of(matrix, device.limits)
    plan = spmv.plan((Form(shape, resident=True, view=structure), Form((shape[1], 1), resident=True)), device.limits)
    given = structure.texels(matrix, device.limits) | {"x": filled(x, vector(shape[1], device.limits))}
    textures = {operand: device.write_texels(texels) for operand, texels in given.items()}
    assert not fetches.count(device, plan, textures, fetches.OUTSIDE)


@pytest.mark.parametrize("name", VARIANTS)
def test_floats_stay_within_the_bound(device, name, rng):
    rows, columns = rng.integers(0, 20, 200), rng.integers(0, 20, 200)
    if name == "stencil":
        columns = np.clip(rows + columns % 9 - 4, 0, 19)
    values = rng.standard_normal(200) * 10.0 ** rng.integers(-9, 9, 200)
    matrix = Compressed.of_triplets((20, 20), rows, columns, values)
    x = rng.standard_normal(20).astype(np.float32)
    magnitude = np.abs(matrix.dense()).astype(float) @ np.abs(x)
    bound = (matrix.lengths + 2) * 2.0**-24 * magnitude
    assert (np.abs(product(device, matrix, name, x) - matrix @ x) <= bound).all()


def of_constants(rng, shape, offsets, period=1, others=()):
    """Integers that repeat after `period` rows, but for some rows, and for what leaves the matrix."""
    values = rng.integers(1, 9, (period, len(offsets)))
    if period > 1:
        values[0, -1] = values[-1, 0] = 0
    row, number = (one.ravel() for one in np.indices((shape[0], len(offsets))))
    column = row + np.array(offsets)[number]
    found = values[row % period, number] * np.where(np.isin(row, others), rng.integers(2, 5, len(row)), 1)
    inside = (column >= 0) & (column < shape[1])
    return Compressed.of_triplets(shape, row[inside], column[inside], found[inside])


SHAPES_OF_STENCILS = [(64, 64), (61, 61), (130, 130), (97, 60), (60, 97), (3, 3), (1, 1), (2, 9), (257, 1000)]


@pytest.mark.parametrize("software", [False, True], ids=["GPU", "software"])
@pytest.mark.parametrize("period", [1, 2, 4, 3])
def test_a_stencil_gives_the_bits_of_diagonals(device, software, period, rng):
    """Far diagonals, rows unlike others, a period of rows, NaN, infinity and signed zeros in x."""
    limits = replace(device.limits, software=software)
    for shape in SHAPES_OF_STENCILS:
        far = max(shape) - 1
        offsets = sorted({-min(far, 40), -5, -1, 0, 2, 4, far} & set(range(1 - shape[0], shape[1])))
        matrix = of_constants(rng, shape, offsets, period, others=(shape[0] // 2, 33))
        if matrix.entries:
            matrix = replace(matrix, values=(matrix.values * np.float32(0.3)))
        x = rng.standard_normal(shape[1]).astype(np.float32)
        x[rng.integers(0, shape[1], 3)] = np.nan, -0.0, np.inf
        structure = Stencil.of(matrix, limits)
        assert structure.others < 40 or period == 3, shape
        same, found = (product(device, matrix, layout, x, limits) for layout in ("diagonals", "stencil"))
        if device.limits.software:
            assert (found.view(np.int32) == same.view(np.int32)).all(), shape
        else:  # a driver may contract a product and a sum of one text, and not of the other
            assert (np.isfinite(found) == np.isfinite(same)).all(), shape
            kept, spread = np.isfinite(same), np.where(np.isfinite(x), np.abs(x), np.float32(0))
            sizes = replace(matrix, values=np.abs(matrix.values)) @ spread
            bound = 2 * (len(offsets) + 1) * np.finfo(np.float32).eps / 2 * sizes
            assert (np.abs(found[kept] - same[kept]) <= bound[kept]).all(), shape


def test_a_stencil_lists_the_rows_unlike_the_usual_ones(rng):
    limits, offsets = Limits(), (-1, 0, 1)
    ring = of_constants(rng, (400, 400), offsets)
    made = Stencil.of(ring, limits)
    assert (made.others, len(made.usual)) == (2, 12)  # the first four rows, and the last
    values = ring.values.copy()
    values[600] = np.inf
    assert Stencil.of(replace(ring, values=values), limits).others == 3
    assert Stencil.of(replace(ring, values=np.full_like(values, np.nan)), limits).usual == ()  # no uniforms
    empty = Compressed.of_triplets((400, 400), [7], [7], np.ones(1))
    assert Stencil.of(empty, limits).others == 1
    assert Stencil.of(Compressed.of_triplets((0, 3), [], [], np.zeros(0)), limits).others == 1
    with pytest.raises(OptionError, match="a stencil has 16 diagonals at most, the matrix has 17; use diagonals"):
        Stencil.of(of_constants(rng, (90, 90), tuple(range(17)), others=(0, 89)), limits)


def test_a_matrix_of_constants_is_stored_as_a_stencil(rng):
    limits, offsets = Limits(software=True), (-1, 0, 1)
    for n, others, name in (
        (1 << 15, (), "stencil"), ((1 << 15) - 4, (), "diagonals"), (1 << 15, range(0, 2000), "diagonals"),
        (1 << 15, range(9, 99), "stencil"),
    ):  # fmt: skip
        assert chosen(of_constants(rng, (n, n), offsets, 1, tuple(others)), limits) == name, (n, others)
    assert chosen(of_constants(rng, (1 << 15, 1 << 15), offsets), Limits()) == "diagonals"  # not measured on GPUs
    many = of_constants(rng, (1 << 15, 1 << 15), tuple(range(-9, 9)))
    assert chosen(many, limits) == "diagonals"


POINTS = """
import numpy as np, glla
A = glla.sparse.asarray(np.ones((100, 50)), "points")
y = A @ np.arange(50)
print(A.device.info.renderer, (y == 1225).all())
"""


def test_points_of_another_rasteriser(device):
    """Softpipe numbers 4096 points of a draw at most."""
    if "llvmpipe" not in device.info.renderer:
        pytest.skip("it comes with Mesa's other one")
    printed = run_python(POINTS, quiet=False, GALLIUM_DRIVER="softpipe", LIBGL_ALWAYS_SOFTWARE="1")
    assert printed.split() == ["softpipe", "True"]


def test_duplicates_are_summed_in_float64():
    made = Compressed.of_triplets((1, 2), [0, 0, 0, 0], [1, 1, 1, 0], np.array([1e8, 1, -1e8, 0]))
    assert (made.columns.tolist(), made.values.tolist()) == ([1], [1.0])


def test_the_format_follows_the_diagonals(rng):
    limits = Limits()
    assert chosen(model.pattern(9), limits) == "diagonals"
    assert chosen(scattered(rng, (90, 90), 200), limits) == "sell"
    tuned = Limits(tuned=(Tuned("spmv", 64, "sell"),))
    assert chosen(model.pattern(64), tuned) == "sell"
    assert spmv.choose((Form((5, 64**2)), Form((64**2, 1))), tuned)[0] == "sell"


def test_the_host_agrees_with_scipy(rng):
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scattered(rng, (20, 31), 150)
    theirs = scipy.csr_array((matrix.values, matrix.columns, matrix.starts), shape=matrix.shape)
    assert (matrix.dense() == theirs.toarray()).all()
    assert (matrix.transpose().dense() == theirs.T.toarray()).all()
    assert (matrix.diagonal() == theirs.diagonal()).all()
    x = rng.standard_normal(31)
    np.testing.assert_array_equal(matrix @ x == 0, np.diff(theirs.indptr) == 0)
    assert np.abs(matrix @ x - theirs.astype(float) @ x).max() < 1e-13


def test_what_does_not_fit_is_refused():
    rows = model.pattern(3)
    with pytest.raises(ShapeError, match=r"spmv: shapes of A \(9, 9\) and x \(8, 1\) are incompatible"):
        OPERATIONS["spmv"].check((Form((5, 9)), Form((8, 1))))
    with pytest.raises(OptionError, match=r"A lies in the format sell, got variant='blocks'; lay it out anew"):
        form = Form(rows.shape, resident=True, view=sell.Sell.of(rows, Limits()))
        spmv.plan((form, Form((9, 1))), variant="blocks")
    with pytest.raises(LimitError, match=r"a vector may have 64 elements on this device, this one needs 100"):
        vector(100, Limits(texture_size=4))
    with pytest.raises(LimitError, match="a matrix may have 16 elements on this device, this one needs 80"):
        FORMATS["sell"](model.pattern(8), Limits(texture_size=4)).slots(Limits(texture_size=4))
    wide = Compressed((1, 1 << 25), np.array([0, 0]), np.array([], int), np.array([], np.float32))
    with pytest.raises(LimitError, match="use sell"):
        FORMATS["pointers"](wide, Limits())


@pytest.mark.parametrize("name", ["sell", "pointers", "points"])
def test_a_row_longer_than_the_trips_of_a_loop(device, name):
    rows = Compressed.of_triplets((3, 60001), np.ones(60001, int), np.arange(60001), np.ones(60001))
    assert product(device, rows, name, np.ones(60001, np.float32)).tolist() == [0, 60001, 0]


@pytest.mark.parametrize("limits", [Limits(), Limits(software=True)], ids=["GPU", "software"])
@pytest.mark.parametrize("count", [1, 1023, 70001, 300001])  # the last in small blocks, in software
def test_inner_products(device, limits, count, rng):
    draft, storage = Draft("inner products"), vector(count, limits)
    u, v = draft.operand("u", storage), draft.operand("v", storage)
    plan = draft.plan({"sums": krylov.dots(draft, "uv", [(u, v), (v, v), (u, u)], limits)}, 0)
    left = krylov.LEFT_IN_SOFTWARE if limits.software else krylov.LEFT
    assert max(plan.slots[plan.results["sums"]].height, plan.slots[plan.results["sums"]].width) <= left
    values = rng.integers(-8, 9, (2, count)).astype(np.float32)
    given = {name: device.write_texels(filled(x, storage)) for name, x in zip("uv", values, strict=True)}
    sums = device.read(device.run(plan, **given)["sums"]).sum(axis=(0, 1))
    assert sums.tolist() == [values[0] @ values[1], values[1] @ values[1], values[0] @ values[0], 0]


@pytest.mark.sweep
@pytest.mark.timeout(1200)  # each size is a program of its own for some formats
@pytest.mark.parametrize("name", VARIANTS)
def test_every_size_and_number_of_diagonals(device, name, rng):
    for order in (*range(1, 131), 4095, 4096, 4097):
        count = int(rng.integers(1, min(TERMS if name == "stencil" else 64, 2 * order - 1) + 1))
        offsets = rng.choice(np.arange(1 - order, order), count, replace=False)
        rows = np.concatenate([np.arange(max(0, -o), min(order, order - o)) for o in offsets])
        columns = np.concatenate([np.arange(max(0, o), min(order, order + o)) for o in offsets])
        matrix = Compressed.of_triplets((order, order), rows, columns, rng.integers(-8, 9, len(rows)))
        x = rng.integers(-8, 9, order).astype(np.float32)
        assert (product(device, matrix, name, x) == matrix @ x).all(), order
