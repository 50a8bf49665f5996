"""Plans for stacks: right in every matrix, whatever stands in the cells around it, in as many passes as one takes."""

import numpy as np
import pytest
import scipy.linalg

from glla.errors import LimitError
from glla.operations import stack
from glla.operations.host.scaling import both
from glla.passes import Form, Limits
from glla.testing import (
    assert_exact,
    assert_inverse,
    assert_plu,
    assert_product,
    assert_solve,
    conditioned,
    integers,
    normal,
    permutation_from_piv,
    unpack_lu,
)

pytestmark = pytest.mark.threaded

COUNTS = [1, 2, 3, 7]
ORDERS = [1, 2, 3, 7, 8, 9, 16, 17, 33]  # about the blocks of 8 rows that a substitution takes

every_count = pytest.mark.parametrize("count", COUNTS)
every_order = pytest.mark.parametrize("n", ORDERS)


def forms(count, *shapes):
    """Of stacks with this number of matrices each, of these shapes."""
    return tuple(Form((count, *shape)) for shape in shapes)


def product(count, m, k, n, **limits):
    return stack.matmul(forms(count, (m, k), (k, n)), Limits(**limits))


def solve(count, n, columns, texture_size=16384, **options):
    return stack.solve(forms(count, (n, n), (n, columns)), Limits(texture_size=texture_size), **options)


def inverse(count, n):
    return stack.solve(forms(count, (n, n)))


def factor(count, shape):
    return stack.factor(forms(count, shape))


def determinant(count, n):
    return stack.determinant(forms(count, (n, n)))


def substitute(count, n, columns, transposed=False):
    return stack.substitute(forms(count, (n, n), (n, columns)), transposed=transposed)


def matrices(make, count, *arguments):
    return np.stack([make(*arguments) for _ in range(count)])


@pytest.fixture
def records(run):
    """Run a plan on stacks; give a row of figures for each matrix. What is no record must not be read, or is zero."""

    def records(plan, *operands):
        storage = plan.slots["raw"]
        raw = np.full(storage.height * storage.width, np.nan, dtype=np.float32)
        flat = np.concatenate([operand.reshape(-1) for operand in operands])
        raw[: flat.size] = flat
        result = run(plan, raw=raw.reshape(storage.height, storage.width, 1))["records"].reshape(-1)
        count = len(operands[0])
        length = next(step for step in plan.steps if step.shader == "stack/unpack").uniforms["record"][2]
        assert not result[count * length :].any()
        return result[: count * length].reshape(count, length)

    return records


# Layout ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("texture_size", [2, 7, 64])
@pytest.mark.parametrize("tile", [(1, 1), (1, 2), (2, 1), (3, 7), (16, 20)], ids=str)
@pytest.mark.parametrize("share", [1, 4])
def test_every_stack_that_has_room_fits(tile, texture_size, share):
    elements = -(-tile[0] * tile[1] * share // 4)  # more than the texels of a matrix may hold, or less
    most = stack.capacity(tile, elements, texture_size)
    assert most == 0 or most * elements <= texture_size**2
    if max(tile) > texture_size:
        assert most == 0
    for count in range(1, most + 1):
        cells = stack.Stack.of(count, tile, texture_size)
        assert cells.across * cells.down >= count > (cells.down - 1) * cells.across
        storage, raw = cells.storage(*tile), cells.raw(elements)
        assert max(storage.height, storage.width, raw.height, raw.width) <= texture_size
        assert raw.height * raw.width >= count * elements


def test_a_stack_that_has_no_room_is_refused():
    with pytest.raises(LimitError, match=r"^stack\[matmul\]: a texture may have 4 texels a side on this device"):
        product(1, 20, 20, 20, texture_size=4).check(Limits(texture_size=4))


def test_a_huge_stack_is_cut():
    assert stack.capacity((4, 4), 64, 16384) == stack.MOST_TEXELS // 16
    assert stack.capacity((4096, 2048), 64, 16384) == 1


# Values ------------------------------------------------------------------------------------------------------------


@every_count
@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (2, 3, 4), (5, 7, 3), (16, 17, 15), (3, 40, 1)])
def test_products_of_integers_are_exact(records, rng, count, m, k, n):
    a, b = matrices(integers, count, m, k, rng), matrices(integers, count, k, n, rng)
    c = records(product(count, m, k, n), a, b).reshape(count, m, n)
    assert_exact(c, a @ b)


@every_count
def test_products_are_within_the_bound(records, rng, count):
    a, b = matrices(normal, count, 13, 37, rng), matrices(normal, count, 37, 6, rng)
    for left, right, c in zip(a, b, records(product(count, 13, 37, 6), a, b).reshape(count, 13, 6), strict=True):
        assert_product(c, left, right)


@every_count
@every_order
@pytest.mark.parametrize("equilibrate", [True, False])
def test_solutions_are_within_the_bound(records, rng, count, n, equilibrate):
    a, b = matrices(conditioned, count, n, n, rng), matrices(normal, count, n, 3, rng)
    result = records(solve(count, n, 3, equilibrate=equilibrate), a, b)
    for i in range(count):
        assert_solve(a[i], result[i, : 3 * n].reshape(n, 3), b[i])


@every_count
@every_order
def test_inverses_are_within_the_bound(records, rng, count, n):
    a = matrices(conditioned, count, n, n, rng)
    result = records(inverse(count, n), a)
    for i in range(count):
        assert_inverse(a[i], result[i, : n * n].reshape(n, n))


@every_count
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_permutations_are_solved_exactly(records, rng, count, n):
    a = np.stack([np.eye(n, dtype=np.float32)[rng.permutation(n)] * 2.0 ** rng.integers(-9, 9) for _ in range(count)])
    b = matrices(integers, count, n, 2, rng)
    result = records(solve(count, n, 2), a.astype(np.float32), b)
    assert_exact(result[:, : 2 * n].reshape(count, n, 2), np.linalg.solve(a, b))
    assert_exact(result[:, 2 * n : 3 * n], np.ones((count, n)))  # pivots of what was scaled to ones
    assert_exact(result[:, 3 * n : 4 * n], np.ones((count, n)))
    squares = result[:, 4 * n :].sum(axis=1)  # of the probes in another order
    np.testing.assert_allclose(squares, np.full(count, squares[0]), rtol=1e-5)


@every_count
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (8, 8), (17, 17), (9, 4), (4, 9), (7, 1), (1, 7), (33, 20)])
def test_factors_are_lapacks(records, rng, count, shape):
    a = matrices(normal, count, *shape, rng)
    m, n = shape
    order = min(shape)
    result = records(factor(count, shape), a)
    for i in range(count):
        packed, figures = result[i, : m * n].reshape(m, n), result[i, m * n :].reshape(3, order)
        piv = figures[2].astype(int)
        np.testing.assert_array_equal(piv, scipy.linalg.lu_factor(a[i])[1])
        assert_plu(a[i], permutation_from_piv(piv, m), *unpack_lu(packed))
        assert_exact(figures[0], np.diagonal(packed))
        assert_exact(figures[1], np.abs(np.triu(packed)).max(axis=0)[:order])


@every_count
def test_pivots_of_equals_are_the_first(records, count):
    a = np.stack([np.ones((6, 6), dtype=np.float32)] * count)
    result = records(factor(count, (6, 6)), a)
    assert_exact(result[:, 48:], np.tile(np.arange(6), (count, 1)))


@every_count
@every_order
def test_what_determinants_are_made_of(records, rng, count, n):
    a = matrices(conditioned, count, n, n, rng) * 2.0 ** rng.integers(-60, 60, (count, n, 1)).astype(np.float32)
    u, largest, pivots, exponents = records(determinant(count, n), a).reshape(count, 4, n).transpose(1, 0, 2)
    exchanges = np.count_nonzero(pivots != np.arange(n), axis=1)
    expected = np.linalg.slogdet(a.astype(np.float64))
    np.testing.assert_array_equal(np.prod(np.sign(u), axis=1) * (-1) ** exchanges, expected.sign)
    logarithm = np.log(np.abs(u, dtype=np.float64)).sum(axis=1) + np.log(2) * exponents.sum(axis=1)
    np.testing.assert_allclose(logarithm, expected.logabsdet, rtol=0, atol=1e-4 * n)
    assert (largest >= np.abs(u)).all()


@every_count
@every_order
@pytest.mark.parametrize("transposed", [False, True])
def test_factors_are_solved_with(records, rng, count, n, transposed):
    lu = matrices(normal, count, n, n, rng) / n + 2 * np.eye(n, dtype=np.float32)
    b = matrices(normal, count, n, 5, rng)
    x = records(substitute(count, n, 5, transposed), lu, b).reshape(count, n, 5)
    for i in range(count):
        lower, upper = unpack_lu(lu[i])
        a = lower.astype(np.float64) @ upper
        assert_solve(a.T if transposed else a, x[i], b[i])


# Character ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_what_is_not_finite_stays_in_its_matrix(records, rng, n, bad):
    a, b = matrices(conditioned, 6, n, n, rng), matrices(normal, 6, n, 2, rng)
    for plan, operands in (
        (solve(6, n, 2), (a, b)),
        (inverse(6, n), (a,)),
        (factor(6, (n, n)), (a,)),
        (determinant(6, n), (a,)),
        (substitute(6, n, 2), (a, b)),
        (product(6, n, n, 2), (a, b)),
    ):
        expected = records(plan, *operands)
        spoilt = a.copy()
        spoilt[4, 0, n - 1] = bad
        result = records(plan, spoilt, *operands[1:])
        assert not np.isfinite(result[4]).all()
        assert_exact(np.delete(result, 4, axis=0), np.delete(expected, 4, axis=0))


def test_nan_stays_in_its_right_hand_side(records, rng):
    a, b = matrices(conditioned, 3, 7, 7, rng), matrices(normal, 3, 7, 4, rng)
    plan = solve(3, 7, 4)
    expected = records(plan, a, b)
    b[1, 2, 2] = np.nan
    result = records(plan, a, b)
    column = np.zeros(7 * 4 + 21, dtype=bool)
    column[2:28:4] = True
    assert np.isnan(result[1, column]).all()
    assert_exact(result[1, ~column], expected[1, ~column])
    assert_exact(result[[0, 2]], expected[[0, 2]])


@pytest.mark.parametrize("texture_size", [14, 64, 16384])
def test_the_grid_does_not_matter(records, rng, texture_size):
    a, b = matrices(conditioned, 7, 5, 5, rng), matrices(normal, 7, 5, 2, rng)
    whole = records(solve(7, 5, 2, texture_size=texture_size), a, b)
    for i in (2, 5):
        assert_exact(records(solve(2, 5, 2), a[i : i + 2], b[i : i + 2]), whole[i : i + 2])


@every_count
@pytest.mark.parametrize("equilibrate", [True, False])
@pytest.mark.parametrize(("n", "columns"), [(1, 1), (2, 3), (5, 4), (33, 1)])
def test_probes_tell_the_size_of_the_inverse(records, rng, count, equilibrate, n, columns):
    """The mean of the sums of squares is near the square of the inverse's Frobenius norm."""
    a = matrices(conditioned, count, n, n, rng)
    result = records(solve(count, n, columns, equilibrate=equilibrate), a, matrices(normal, count, n, columns, rng))
    squares = result[:, n * (columns + 2) :].sum(axis=1) / stack.PROBES
    for i in range(count):
        rows, shares = both(a[i].astype(np.float64)) if equilibrate else (0, 0)
        norm = np.linalg.norm(np.linalg.inv(np.ldexp(a[i].astype(np.float64), -rows - shares)))
        assert norm / 8 <= np.sqrt(squares[i]) <= norm * np.sqrt(3 * n)


# Passes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 50, 1000])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 64])
def test_passes_depend_on_the_order_alone(count, n):
    half, blocks = -(-n // 2), -(-n // 8)
    for plan, passes in (
        (solve(count, n, 1), 2 * half + blocks + 7),
        (solve(count, n, 1, equilibrate=False), 2 * half + blocks + 4),
        (inverse(count, n), 2 * half + blocks + 7),
        (factor(count, (n, n)), 2 * half + 2),
        (determinant(count, n), 2 * half + 5),
        (substitute(count, n, 1), 2 * blocks + 3),
        (product(count, n, n, n), 4),
    ):
        plan.check()
        assert len(plan.steps) == passes, plan.operation


def test_a_single_system_takes_fewer():
    assert len(solve(1, 64, 1).steps) == len(solve(2, 64, 1).steps) - 32


@every_order
def test_a_single_system_searches_the_same_pivots(records, rng, n):
    """In the vertex stage, where those of a stack have a pass."""
    a, b = matrices(normal, 1, n, n, rng), matrices(normal, 1, n, 1, rng)
    alone = records(solve(1, n, 1), a, b)
    beside = records(solve(2, n, 1), np.concatenate([a, a]), np.concatenate([b, b]))
    np.testing.assert_allclose(alone[0, n:], beside[0, n:], rtol=1e-4)
    assert_solve(a[0], alone[0, :n].reshape(n, 1), b[0])
