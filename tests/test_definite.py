"""Systems with a positive definite matrix: cho_factor, cho_solve, and solve with assume_a."""

import inspect

import numpy as np
import pytest
import scipy.linalg

import glla
from glla import testing
from glla.errors import NonFiniteError, NotPositiveDefiniteError, SingularMatrixError
from glla.testing import JUDGES, spd

SHAPES = [(1, 1), (2, 3), (3, 1), (5, 2), (15, 1), (16, 4), (17, 3), (67, 5), (170, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lower", [False, True])
def test_factors_mix_with_scipy_s(shape, lower, device, rng):
    n, _ = shape
    a, b = spd(n, rng), rng.standard_normal(shape).astype(np.float32)
    ours, theirs = glla.cho_factor(a, lower, device=device), scipy.linalg.cho_factor(a, lower)
    assert ours[1] is lower and ours[0].dtype == np.float32
    assert JUDGES["cho_factor"].verdict((a,), ours).ok
    for factor in (ours, theirs):
        x = glla.cho_solve(factor, b, device=device)
        assert JUDGES["cho_solve"].verdict((*factor, b), x).ok
    assert testing.judge_solve(a, scipy.linalg.cho_solve(ours, b), b).ok
    A, B = glla.asarray(a, device), glla.asarray(b, device)
    on_device = glla.cho_factor(A, lower)
    assert (on_device[0].numpy() == ours[0]).all()
    for mixed in ((on_device, B), (on_device, b), (ours, B)):
        x = glla.cho_solve(*mixed)
        assert isinstance(x, glla.Array) and JUDGES["cho_solve"].verdict((*ours, b), x.numpy()).ok


def test_a_refined_solution_has_float64_grade(device, rng):
    for condition in (10.0, 1e5):
        a, b = spd(31, rng, condition).astype(np.float64) * 1e60, rng.standard_normal((31, 2))
        a[0] *= 1e10
        a[:, 0] *= 1e10
        x = glla.solve(a, b, refine=True, assume_a="pos", device=device)
        assert x.dtype == np.float64 and x.backward_error < 1e-14 and 0 < x.iterations < 20
        assert np.abs(b - a @ x).max() <= 1e-13 * (np.abs(a) @ np.abs(x)).max()
    a = spd(8, rng).astype(np.float64)
    stack = glla.solve(np.stack([a, 2 * a]), np.ones((2, 8, 1)), True, assume_a="pos", device=device)
    assert np.abs(np.stack([a, 2 * a]) @ stack - 1).max() < 1e-13
    half = glla.solve([[4, 2], [-50, 5]], [8, 12], True, assume_a="pos", device=device)  # of which one is used
    assert np.abs(half - [1, 2]).max() < 1e-15


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize(
    ("a", "order"), [([[0]], 1), ([[1, 1], [1, 1]], 2), (np.diag([1, 1, -1e-7, 1]), 3), (np.diag([2.0**-100, -1]), 2)]
)
def test_what_is_not_definite_by_a_hair_is_refused(a, order, refine, device):
    a = np.asarray(a, dtype=np.float32)
    with pytest.raises(NotPositiveDefiniteError, match=rf"^solve: .* its leading minor of order {order} is not"):
        glla.solve(a, np.ones(len(a)), refine, assume_a="pos", device=device)
    with pytest.raises(NotPositiveDefiniteError, match=rf"^cho_factor: .* its leading minor of order {order} is not"):
        glla.cho_factor(a, device=device)
    if not refine:
        for given in (a, glla.asarray(a, device)):
            with pytest.raises(NotPositiveDefiniteError, match=rf"^inv: .* its leading minor of order {order} is not"):
                glla.inv(given, assume_a="pos")


def test_a_factor_with_a_denormal_on_its_diagonal_is_singular(device):
    """A GPU takes it for zero, beside the 1 in its row; the solution would be 2^260."""
    c, b = np.float32([[1, 0], [1, 2.0**-130]]), np.float32([1, 1.5])
    for way in (np.asarray, lambda one: glla.asarray(one, device)):
        for factor, right in ((c, b), (np.stack([np.eye(2, dtype=np.float32), c]), np.stack([b, b])[..., None])):
            with pytest.raises((SingularMatrixError, NonFiniteError), match=r"^cho_solve: "):
                glla.cho_solve((way(factor), True), way(right), device=device)
    assert glla.cho_solve((c[1:, 1:], True), [1.0], device=device, check_finite=False) == np.inf


@pytest.mark.parametrize("name", ["gen", "sym", "her"])
def test_symmetric_systems_may_be_inspd(name, device):
    assert (glla.solve([[0, 1], [1, 0]], [2, 3], assume_a=name, device=device) == [3, 2]).all()


SCIPYS = ("cho_factor", "cho_solve", "cholesky_banded", "cho_solve_banded", "solve_triangular", "solveh_banded",
          "solve_banded")  # fmt: skip


@pytest.mark.parametrize("name", SCIPYS)
def test_arguments_come_in_scipy_s_order(name):
    """What is given by position means the same; options of glla's own follow."""
    ours, theirs = (list(inspect.signature(getattr(one, name)).parameters) for one in (glla, scipy.linalg))
    assert ours[: len(theirs)] == theirs


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("assume_a", ["sym", "symmetric", "her", "hermitian", "pos", "positive definite"])
def test_one_half_of_a_symmetric_matrix_is_used(assume_a, on_device, rng):
    """The other half may hold anything: SciPy gives the same."""
    a = testing.conditioned(9, 9, rng)
    a = a @ a.T if assume_a.startswith("pos") else a + a.T
    for shape, lower in (((), False), ((), True), ((2,), True)):
        half = np.tril if lower else np.triu
        given = np.broadcast_to(np.where(half(np.ones((9, 9))) > 0, a, np.float32(7)), (*shape, 9, 9))
        b = np.broadcast_to(testing.normal(9, 2, rng), (*shape, 9, 2))
        options = {"assume_a": assume_a, "lower": lower}
        at = glla.asarray(given.copy()) if on_device else given
        x, inverse = (np.asarray(one) for one in (glla.solve(at, b, **options), glla.inv(at, **options)))
        for index in np.ndindex(shape):
            testing.assert_solve(a, x[index], b[index])
            testing.assert_inverse(a, inverse[index])
        assert np.allclose(
            glla.solve(at, b, refine=True, **options), scipy.linalg.solve(given.astype(float), b, **options)
        )


def test_what_a_is_may_be_left_open(rng):
    a, b = testing.conditioned(6, 6, rng), testing.normal(6, 1, rng)
    for name in (None, "general"):
        assert (glla.solve(a, b, assume_a=name) == glla.solve(a, b)).all()
        assert (glla.inv(a, assume_a=name) == glla.inv(a)).all()
