"""C = A A^T: recognised, exact where integers are, symmetric bit by bit, half of it computed."""

import numpy as np
import pytest

import glla
from glla.errors import OptionError, ShapeError
from glla.operations import OPERATIONS
from glla.operations.product import matmul, syrk
from glla.operations.product.syrk import VARIANTS
from glla.passes import PLAIN, Form, Limits, resident
from glla.testing import JUDGES, assert_exact, assert_product, integers, normal

SOFTWARE = Limits(software=True)


def every_variant(test):
    """Run a test with every variant; with those that need more than OpenGL 3.3 where that is there."""
    return pytest.mark.newer_gl(pytest.mark.parametrize("variant", VARIANTS)(test))


def product(run, a, variant, parameters=(), lies_transposed=False):
    """A A^T; of a matrix that is stored transposed too."""
    form = Form(a.shape, resident=True, transposed=lies_transposed)
    if variant == "symmetric_panels":
        parameters = (("DEPTH", 16),)  # its text is long, and another one for every depth
    plan = syrk.plan((form,), SOFTWARE, variant=variant, parameters=parameters)
    return run(plan, A=a.T if lies_transposed else a).matrix("C", (len(a),) * 2)


def is_bitwise_symmetric(c):
    return np.array_equal(c.view(np.int32), np.ascontiguousarray(c.T).view(np.int32))


@every_variant
@pytest.mark.parametrize("lies_transposed", [False, True])
def test_integers_are_exact(run, rng, variant, lies_transposed):
    for shape in ((1, 1), (2, 3), (5, 4), (7, 7), (9, 33), (33, 9), (1, 500), (500, 1), (66, 130)):
        a = integers(*shape, rng)
        c = product(run, a, variant, lies_transposed=lies_transposed)
        assert (c == a.astype(np.float64) @ a.T).all()
        assert is_bitwise_symmetric(c)


@pytest.mark.parametrize("rows, columns", [(4, 2), (8, 1), (1, 8), (2, 4), (4, 1)])
def test_blocks_on_the_diagonal_are_fetched_once_or_twice_for_the_same_bits(run, rng, rows, columns):
    """v006 against v005: of a block that is wider than high ONCE changes nothing."""
    a = normal(45, 31, rng)
    sides = (("ROWS", rows), ("COLUMNS", columns))
    for unroll in (1, 8):
        once, twice = (product(run, a, "symmetric", (*sides, ("UNROLL", unroll), ("ONCE", one))) for one in (1, 0))
        assert np.array_equal(once.view(np.int32), twice.view(np.int32))
        assert JUDGES["syrk"].verdict((a,), once).ok


def test_a_block_on_the_diagonal_is_fetched_once(device, rng):
    from glla.lab import fetches

    a = normal(64, 64, rng)
    counts = []
    for once in (0, 1):
        plan = syrk.plan(resident((64, 64)), SOFTWARE, variant="symmetric", parameters=(("ONCE", once),))
        operand = device.upload(a)
        counts.append(fetches.count(device, plan, {"A": operand}))
        operand.release()
    assert counts[1] == counts[0] - 8 * 2 * 2 * 32  # of 8 blocks of 4 rows, 2 fragments save 2 columns in 32 trips


def test_half_fetches_at_most_six_tenths_of_the_whole(device, rng):
    """What the product is bound by where nothing is cached; times are measured by benchmarks.sources."""
    from glla.lab import fetches

    a = device.upload(normal(192, 192, rng))
    half = syrk.plan(resident((192, 192)), SOFTWARE, variant="symmetric")
    forms = resident((192, 192), (192, 192))
    whole = OPERATIONS["matmul"].device_plan(forms, SOFTWARE, variant="register_blocked")
    counted = fetches.count(device, half, {"A": a}), fetches.count(device, whole, {"A": a, "B": a})
    a.release()
    assert counted[0] <= 0.6 * counted[1]


@pytest.mark.parametrize("variant", ["stripes", "stripes_transposed"])
@pytest.mark.parametrize("width", syrk.WIDTH)
def test_stripes_of_every_width_are_the_same_in_every_run(run, rng, variant, width):
    a = normal(21, 75, rng)
    first, *others = (product(run, a, variant, (("WIDTH", width),)) for _ in range(5))
    assert JUDGES["syrk"].verdict((a,), first).ok
    assert all(np.array_equal(first.view(np.int32), other.view(np.int32)) for other in others)


@every_variant
def test_nan_fills_its_row_and_its_column(run, rng, variant):
    a = integers(19, 23, rng)
    expected = a @ a.T
    a[10, 4] = np.nan
    c = product(run, a, variant)
    assert np.isnan(c[10]).all() and np.isnan(c[:, 10]).all()
    others = np.arange(19) != 10
    assert (c[np.ix_(others, others)] == expected[np.ix_(others, others)]).all()


# ---- plans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [PLAIN, SOFTWARE], ids=["GPU", "software"])
@pytest.mark.parametrize("shape", [(3, 40), (40, 60), (400, 300), (2000, 2000)])
def test_a_product_of_a_matrix_and_its_transpose_is_this(limits, shape):
    plain, turned = Form(shape, resident=True), Form(shape[::-1], resident=True, transposed=True)
    for one, other in ((plain, turned), (turned, plain)):
        shown = OPERATIONS["matmul"].device_plan((one, other), limits, symmetric=True)
        assert str(shown) == str(syrk.plan((one,), limits))


def test_blocks_that_are_too_large_are_refused():
    with pytest.raises(OptionError, match=r"ROWS \* COLUMNS must not exceed 8"):
        syrk.plan(resident((4, 4)), PLAIN, variant="symmetric", parameters=(("ROWS", 8), ("COLUMNS", 8)))


def test_every_version_of_the_source_is_named():
    sources = " ".join(variant.source for variant in VARIANTS.values())
    assert all(f"v00{version}" in sources for version in (1, 2, 4, 5, 6, 7, 8, 9))
    assert "2013" in sources


def test_a_version_runs_by_its_name(rng, device):
    a = normal(20, 9, rng)
    c = glla.run(glla.plan("syrk", a, variant="stripes", device=device), A=a)["C"]
    assert JUDGES["syrk"].verdict((a,), np.asarray(c)).ok
    A = glla.asarray(a, device=device)
    c = glla.run(glla.plan("syrk", A.T, variant="stripes_transposed", device=device), A=A)["C"].numpy()
    assert JUDGES["syrk"].verdict((a.T,), c).ok


@pytest.mark.parametrize("software", [True, False])
@pytest.mark.parametrize("m", [255, 256, 257])
def test_the_half_that_is_drawn_is_folded_into_a_rectangle(m, software):
    """Its fragments are few more than those on and below the diagonal, so threads of a rasteriser share it evenly."""
    plan = syrk.plan(resident((m, 40)), Limits(software=software), variant="symmetric")
    (step,) = [one for one in plan.steps if one.shader == "matmul/register_blocked"]
    target = plan.slots[step.outputs[0]]
    across, down = step.uniforms["blocks"]
    reach = [min(across, 2 * (y + 1)) for y in range(down)]
    assert sum(reach) <= target.width * target.height <= 1.1 * sum(reach)


# ---- of the product that a call recognises ------------------------------------------------------------------------

every_half = pytest.mark.parametrize("variant", matmul.HALVES)


def pairs(a):
    """A A^T and A^T A, by the places of the operands."""
    return (a, a.T), (a.T, a)


# ---- what is recognised ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_arrays_are_recognised_by_their_memory(dtype):
    a = np.arange(60).reshape(6, 10).astype(dtype)
    for one in (a, a.T, a[1:4, 2:], a[::2, ::-1], np.asfortranarray(a), a[:, :1]):
        assert matmul.is_symmetric(one, one.T)
        assert matmul.is_symmetric(one.T, one)
        assert not matmul.is_symmetric(one, one.T.copy())


def test_what_is_something_else_is_not():
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    cut = a[:4, :4]
    others = [
        (a, a),
        (cut, a[:4, 1:5].T),
        (cut, a.reshape(16, 4)[:4].T),
        (a, a.T.view(np.int32)),
        (a[:0], a[:0].T),
        (a[0], a[0]),
        (a.reshape(1, 8, 8), a.T),
        ([[1, 2]], [[1], [2]]),
        (a[::-1], a.T),
        (np.broadcast_to(a[0], (8, 8)), a.T),
    ]
    for left, right in others:
        assert not matmul.is_symmetric(left, right)


def test_values_on_the_device_are_recognised_by_their_texture(rng):
    a = normal(6, 6, rng)
    A, B = glla.asarray(a), glla.asarray(a)
    assert matmul.is_symmetric(A, A.T)
    assert matmul.is_symmetric(A.T, A)
    assert matmul.is_symmetric(A.value, A.T.value)
    for left, right in ((A, A), (A.T, A.T), (A, B.T), (A, a.T), (a, A.T), (A, A[:5].T), (A, A.astype("int32").T)):
        assert not matmul.is_symmetric(left, right)


# ---- its values ------------------------------------------------------------------------------------------------------


@pytest.mark.threaded
@every_half
@pytest.mark.parametrize("shape", [(130, 97), (97, 131)])
def test_half_has_the_bits_of_the_whole(rng, variant, shape):
    a = normal(*shape, rng)
    for left, right in pairs(glla.asarray(a)):
        c = glla.matmul(left, right, variant=variant).numpy()
        whole = glla.matmul(left, glla.asarray(right.numpy()), variant=variant).numpy()
        assert np.array_equal(np.tril(c).view(np.int32), np.tril(whole).view(np.int32))
        assert is_bitwise_symmetric(c)
        assert_product(c, left.numpy(), right.numpy())


def test_a_sum_in_slices(device, rng):
    a = integers(21, 90, rng)
    made = matmul.plan(
        resident((21, 90), (90, 21)), variant="register_blocked", parameters=(("PASSES", 4),), symmetric=True
    )
    assert made.cost.passes == 8 and made.operands == ("A",)
    made.check(Limits())
    result = device.run(made, A=glla.asarray(a, device=device).texture)["C"]
    assert_exact(device.download(result, (21, 21)), a @ a.T)


# ---- its plans -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("software", [True, False])
def test_what_is_shown_is_what_a_call_takes(rng, software):
    limits = Limits(software=software)
    a = normal(400, 300, rng)
    for one in (a, glla.asarray(a)):
        for left, right in pairs(one):
            half, whole = (
                glla.plan("matmul", left, right, limits=limits),
                glla.plan("matmul", left, right + 0, limits=limits),
            )
            m, k = left.shape
            assert half.operands == ("A",) and len(whole.operands) == 2
            assert (half.cost.flops, whole.cost.flops) == (m * (m + 1) * k, 2 * m * m * k)
    assert "LOWER=1" in str(half) and "MIRROR=1" in str(half)


def test_variants_without_halves_take_no_notice():
    forms = resident((50, 60), (60, 50))
    for variant in ("inner_product", "packed_4x1", "compute_tiled"):
        made = matmul.plan(forms, Limits(opengl=430), variant=variant, symmetric=True)
        assert made.operands == ("A", "B")


def test_shapes_must_be_those_of_a_transpose():
    with pytest.raises(ShapeError, match=r"^matmul: a symmetric product must have as many rows as columns, got 5 x 7$"):
        matmul.plan(resident((5, 6), (6, 7)), symmetric=True)
