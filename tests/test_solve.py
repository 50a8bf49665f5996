"""solve and inv: every type of matrix and any scaling, what is singular and what is not, and refinement."""

from itertools import product

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import ConvergenceError, GllaError, SingularMatrixError

# Singular matrices -------------------------------------------------------------------------------------------------

SINGULAR = {
    "ones": np.ones((2, 2)),
    "ones 5 x 5": np.ones((5, 5)),
    "large ones": np.full((2, 2), 123456789),
    "zero": [[0]],
    "zeros": np.zeros((3, 3)),
    "counting": np.arange(1, 10).reshape(3, 3),
    "counting 8 x 8": np.arange(64).reshape(8, 8),
    "thirds": [[1 / 3, 2 / 3], [1, 2]],
    "tenths": [[0.1, 0.3], [0.2, 0.6]],
    "sevenths": np.outer([1, 3, 7], [1 / 7, 1 / 3, 1]).astype(np.float32),
    "zero row": [[1, 2, 3], [0, 0, 0], [4, 5, 7]],
    "zero column": [[1, 0, 3], [2, 0, 5], [4, 0, 7]],
    "last column zero": [[1, 2, 0], [2, 5, 0], [4, 7, 0]],
    "equal rows": [[1, 2, 3], [4, 5, 6], [1, 2, 3]],
    "equal columns": [[1, 2, 1], [4, 5, 4], [7, 9, 7]],
    "laplacian": 2 * np.eye(9) - np.roll(np.eye(9), 1, 0) - np.roll(np.eye(9), -1, 0),
    "nilpotent": np.triu(np.ones((6, 6)), 1),
    "projection, rounded": np.eye(7) - np.ones((7, 7)) / 7,
    "magic": [[16, 2, 3, 13], [5, 11, 10, 8], [9, 7, 6, 12], [4, 14, 15, 1]],
}


@pytest.mark.parametrize("equilibrate", [True, False])
def test_singular(equilibrate):
    for name, factor in product(SINGULAR, (1, 1e-30, 1e30)):
        a = np.array(SINGULAR[name], dtype=np.float32)
        a = a * np.float32(factor if np.abs(a).max() < 1e6 else 1)
        with pytest.raises(
            SingularMatrixError, match=r"^solve: Singular matrix: pivot \d+ of \d+ is .*find them with rref$"
        ):
            glla.solve(a, np.ones(len(a)), equilibrate=equilibrate)
        with pytest.raises(np.linalg.LinAlgError, match=r"^inv: Singular matrix: "):
            glla.inv(a)


# Refinement --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uniform", "normal", "conditioned", "spd", "graded", "tiny", "huge", "permutation"])
@pytest.mark.parametrize("equilibrate", [True, False])
def test_refined_solutions_are_float64_grade(kind, equilibrate, rng):
    a = testing.MATRICES[kind](20, 20, rng).astype(np.float64)
    b = rng.standard_normal((20, 3)) * np.abs(a).max()
    x = glla.solve(a, b, refine=True, equilibrate=equilibrate)
    assert isinstance(x, glla.RefinedSolution)
    assert x.dtype == np.float64
    assert testing.backward_error(a, x, b).componentwise < 1e-14
    assert x.backward_error == pytest.approx(testing.backward_error(a, x, b).componentwise, abs=1e-15)
    assert 1 <= x.iterations <= 10


def test_refinement_sees_what_float32_rounds_away(rng):
    """The matrix itself is float64: rounding it to float32 would put 1e-8 into the solution."""
    a = rng.standard_normal((30, 30)) + 10 * np.eye(30)
    x = rng.standard_normal(30)
    refined = glla.solve(a, a @ x, refine=True)
    assert np.abs(refined - x).max() < 1e-13
    assert np.abs(glla.solve(a, a @ x) - x).max() > 1e-9


@pytest.mark.parametrize("n", [12, 15])
def test_hilbert_of_order_twelve_is_too_much(n):
    a = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1)
    with pytest.raises(np.linalg.LinAlgError) as caught:
        glla.solve(a, a.sum(axis=1), refine=True)
    assert isinstance(caught.value, ConvergenceError | SingularMatrixError)
    assert isinstance(caught.value, GllaError)


def test_message_when_it_does_not_converge(rng, monkeypatch):
    monkeypatch.setattr("glla.operations.host.refinement.MOST_ROUNDS", 2)
    a = testing.conditioned(40, 40, rng, cond=1e6).astype(np.float64)
    with pytest.raises(
        ConvergenceError,
        match=r"^solve: refinement stopped at a backward error of \S+ after \d+ corrections \(aim 1e-14\); "
        r"the matrix is too ill-conditioned for float32 factors: use numpy\.linalg\.solve$",
    ):
        glla.solve(a, rng.standard_normal(40), refine=True)


def test_refinement_makes_up_for_growth(rng):
    """Factors that grow by 2^39 leave a few components right at first, and each correction some more."""
    a, b = testing.wilkinson_growth(40, 40, order=40).astype(np.float64), rng.standard_normal(40)
    assert testing.backward_error(a, np.asarray(glla.solve(a, b, refine=True)), b).componentwise < 1e-14


def test_iterations_and_backward_error():
    x = glla.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0], refine=True)
    assert (x.iterations, x.backward_error) == (0, 0.0)
    np.testing.assert_array_equal(x, [1.0, 0.5])
    x = glla.solve([[3.0, 1.0], [1.0, 2.0]], [0.0, 0.0], refine=True)
    assert (x.iterations, x.backward_error) == (0, 0.0)
    np.testing.assert_array_equal(x, [0.0, 0.0])


def test_of_a_stack_the_worst_is_reported():
    a = np.stack([np.diag([2.0, 4.0]), [[3.0, 1.1], [1.2, 2.7]]])
    x = glla.solve(a, np.array([1.0, 0.1]), refine=True)
    each = [glla.solve(matrix, np.array([1.0, 0.1]), refine=True) for matrix in a]
    assert x.iterations == max(one.iterations for one in each)
    assert x.backward_error == max(one.backward_error for one in each)
    assert (glla.solve(np.zeros((0, 2, 2)), np.ones(2), refine=True).iterations) == 0


@pytest.mark.parametrize("factor", [1e-300, 1e-60, 1e-40, 1e39, 1e60, 1e300])
def test_refined_matrices_may_leave_float32(factor, rng):
    a, b = testing.conditioned(9, 9, rng).astype(np.float64), rng.standard_normal(9)
    for rhs in (b, b * factor):
        x = glla.solve(a * factor, rhs, refine=True)
        expected = np.linalg.solve(a * factor, rhs)
        assert np.abs(x - expected).max() <= 1e-12 * np.abs(expected).max()
        assert x.backward_error < 1e-14


@pytest.mark.parametrize("spread", [60, 200, 400])
def test_refined_rows_and_columns_of_wildly_different_size(spread, rng):
    """Scaling by powers of two undone: bit for bit the solution of the matrix as it was, but for its exponents."""
    for _ in range(5):
        a, b = testing.conditioned(8, 8, rng).astype(np.float64), rng.standard_normal((8, 2))
        rows, columns = rng.integers(-spread, spread + 1, (8, 1)), rng.integers(-spread, spread + 1, (1, 8))
        x = glla.solve(np.ldexp(a, rows), np.ldexp(b, rows), refine=True)
        np.testing.assert_array_equal(x, glla.solve(a, b, refine=True))
        x = np.ldexp(glla.solve(np.ldexp(a, rows + columns), np.ldexp(b, rows), refine=True), columns.T)
        assert testing.backward_error(a, np.asarray(x), b).componentwise < 1e-14


def test_refined_singular_matrices_outside_float32():
    for factor in (1e-60, 1e60):
        with pytest.raises(SingularMatrixError):
            glla.solve(np.arange(1.0, 10).reshape(3, 3) * factor, np.ones(3), refine=True)


def test_what_is_computed_from_a_refined_solution_is_none():
    """Its attributes belong to the solution, and to parts of it."""
    x = glla.solve([[3.0, 1.0], [1.0, 2.0]], [1.0, 2.0], refine=True)
    for scalar in (np.sqrt(np.mean((x - 1) ** 2)), x.sum(), x.max(), np.mean(x), x @ x, x[0], np.linalg.norm(x)):
        assert type(scalar) is np.float64
    for array in (x - 1, 2 * x, -x, np.sqrt(x), np.eye(2) @ x, np.add.outer(x, x), x == x, np.cumsum(x[None], axis=1)):
        assert type(array) is np.ndarray
    assert isinstance(x[:1], glla.RefinedSolution)
    assert x.copy().backward_error == x.backward_error
    same = x
    same += 1
    assert same is x
    np.testing.assert_allclose(np.asarray(x), [1.0, 2.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [7, 9, 12])
def test_hilbert_of_order_seven_is_singular_in_float32(n):
    a = testing.hilbert(n, n)
    assert np.linalg.cond(a.astype(np.float64)) > 2.0**24
    with pytest.raises(SingularMatrixError):
        glla.solve(a, np.ones(n))


@pytest.mark.parametrize("factor", [2.0**-126, 1e-37, 1e-30, 1e30, 1e37, 3e38])
def test_values_near_the_limits(factor, rng):
    """Near the largest values reciprocals are denormal, and sums overflow; near the smallest, products vanish."""
    a = np.clip(testing.normal(9, 9, rng), -1, 1) + 3 * testing.swapped_pairs(9, 9)
    a = (a / np.abs(a).max() * factor).astype(np.float32)
    a[0, 0] = factor
    x = testing.normal(9, 2, rng)
    b = (a.astype(np.float64) @ x / 16).astype(np.float32)
    testing.assert_solve(a, glla.solve(a, b), b)
    if 1e-37 < factor < 1e37:
        testing.assert_inverse(a, glla.inv(a))


@pytest.mark.parametrize(
    "a",
    [
        np.diag([1e30, 1.0, 1e-30]),
        testing.hilbert(6, 6),
        np.diag([1e-38, 1e38]),
        [[1.0, 1.0], [1.0, 1.0 + 2.0**-20]],
        [[1e20, 1.0], [0.0, 1e-20]],
        [[1.0, 1e20], [1e-20, 2.0]],
        np.triu(np.ones((30, 30))),
        testing.toeplitz(50, 50),
        [[0, 1], [1, 0]],
        np.eye(4)[[0, 2, 1, 3]],
        np.eye(30)[::-1],
    ],
    ids=str,
)
def test_these_are_not_singular(a):
    a = np.array(a, dtype=np.float32)
    b = (a.astype(np.float64) @ np.ones(len(a))).astype(np.float32)
    for equilibrate in (True, False) if np.abs(a).max() < 1e19 else (True,):
        testing.assert_solve(a, glla.solve(a, b, equilibrate=equilibrate), b)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 33, 64])
@pytest.mark.parametrize("equilibrate", [True, False])
def test_rank_deficient_integers_are_singular(n, equilibrate, rng):
    for rank in sorted({0, 1, n // 2, n - 1}):
        for _ in range(5):
            a = testing.singular(n, n, rng, rank)
            with pytest.raises(SingularMatrixError):
                glla.solve(a, np.ones(n), equilibrate=equilibrate)


@pytest.mark.parametrize("cond", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("n", [2, 3, 12, 40, 100])
def test_ill_conditioned_is_not_singular(n, cond, rng):
    for _ in range(5):
        a, b = testing.conditioned(n, n, rng, cond), testing.normal(n, 2, rng)
        for equilibrate in (True, False):
            testing.assert_solve(a, glla.solve(a, b, equilibrate=equilibrate), b)


@pytest.mark.parametrize("spread", [5, 20])
def test_rank_deficient_and_graded(spread, rng):
    for _ in range(20):
        n = int(rng.integers(2, 12))
        a = testing.singular(n, n, rng, n - 1)
        scaled = np.ldexp(a, rng.integers(-spread, spread + 1, (n, 1)) + rng.integers(-spread, spread + 1, n))
        with pytest.raises(SingularMatrixError):
            glla.solve(scaled, np.ones(n))


def test_refined_right_hand_sides_may_leave_float32():
    x = glla.solve([[3.0, 1.0], [1.0, 2.0]], np.array([[1e100, 1e-100], [3e100, 2e-100]]), refine=True)
    expected = np.array([[-1e100 / 5, 0], [8e100 / 5, 1e-100]])
    assert (np.abs(x - expected) <= 1e-15 * np.abs(expected).max(axis=0)).all()


def test_refined_components_of_wildly_different_size():
    """A correction in float32 sees 38 decades of a residual; those below have their turn when these are done."""
    for a in (np.diag([1e60, 1.0, 1e-60]), np.diag([1e-100, 1e50, 1.0, 1e100]), [[4, 1, 2], [1, 5, 3], [1e39, 0, 7]]):
        a = np.array(a)
        x = glla.solve(a, np.ones(len(a)), refine=True)
        assert testing.backward_error(a, np.asarray(x), np.ones(len(a))).componentwise < 1e-14
        assert x.backward_error < 1e-14
