"""Solutions of which float32 keeps too little: every solver refuses them, as `solve` does; denormals that fit stay."""

import re
from functools import partial

import numpy as np
import pytest

import glla

HUGE, TINY = 2.0**100, 2.0**-100
"""The matrix and the right-hand sides: solutions are near 2^-200, below the smallest float32."""


def tridiagonal(scale, n=5):
    bands = np.full((3, n), scale, dtype=np.float32)
    bands[1] *= 4
    return bands


def system(scale, n=5):
    return (scale * (4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1))).astype(np.float32)


def factor(scale, n=5):
    """Cholesky's factor of a matrix of size scale^2."""
    return (scale * (2 * np.eye(n) + np.eye(n, k=-1))).astype(np.float32)


SOLVERS = {
    "solve": lambda lay, a, b: glla.solve(lay(system(a)), lay(b)),
    "solve_triangular": lambda lay, a, b: glla.solve_triangular(lay(system(a)), lay(b)),
    "transposed": lambda lay, a, b: glla.solve_triangular(lay(system(a)), lay(b), trans=1, lower=True),
    "lu_solve": lambda lay, a, b: glla.lu_solve(glla.lu_factor(lay(system(a))), lay(b)),
    "lu_solve, transposed": lambda lay, a, b: glla.lu_solve(glla.lu_factor(lay(system(a))), lay(b), trans=1),
    "cho_solve": lambda lay, a, b: glla.cho_solve((lay(factor(a**0.5)), True), lay(b)),
    "cho_solve_banded": lambda lay, a, b: glla.cho_solve_banded(
        (lay(np.float32([[2 * a**0.5] * 5, [a**0.5] * 5])), True), lay(b)
    ),
    "lstsq": lambda lay, a, b: glla.lstsq(lay(system(a)), lay(b))[0],
    "solve_banded": lambda lay, a, b: glla.solve_banded((1, 1), lay(tridiagonal(a)), lay(b)),
    "solveh_banded": lambda lay, a, b: glla.solveh_banded(lay(tridiagonal(a)[:2]), lay(b)),
    "a stack": lambda lay, a, b: glla.solve_triangular(lay(np.stack([system(a)] * 2)), lay(np.stack([b] * 2))),
    "a stack of bands": lambda lay, a, b: glla.solve_banded((1, 1), lay(np.stack([tridiagonal(a)] * 2)), lay(b)),
    "a stack of factors": lambda lay, a, b: glla.cho_solve((lay(np.stack([factor(a**0.5)] * 2)), True), lay(b)),
}


@pytest.mark.parametrize("lay", [np.asarray, glla.asarray])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solution_below_the_smallest_float32_is_an_error(name, lay):
    b = np.full((5, 1), TINY, dtype=np.float32)
    with pytest.raises(glla.errors.NonFiniteError, match="the solution must fit float32"):
        SOLVERS[name](lay, HUGE, b)


@pytest.mark.parametrize("lay", [np.asarray, glla.asarray])
@pytest.mark.parametrize("shape", [(), (4,), (2, 2)])
@pytest.mark.parametrize("name", ["solve", "solve_banded", "solveh_banded"])
def test_the_error_names_the_solution_that_is_lost(name, shape, lay):
    """A matrix that fits, if only just, comes before it; the largest entry is above the smallest float32."""
    bands, place = tridiagonal(1.0), -2
    own = {"solve": system(1.0), "solve_banded": bands, "solveh_banded": bands[:2]}[name]
    a, b = np.stack([own] * 4), np.stack([np.ones((5, 1), np.float32)] * 4)
    a[place] *= np.float32(2.0**70)
    b[place], b[1] = 2.0**-64, 2.0**-106
    a, b = (one[place] if not shape else one.reshape(*shape, *one.shape[1:]) for one in (a, b))
    call = partial(glla.solve_banded, (1, 1)) if name == "solve_banded" else getattr(glla, name)
    where = {(): "", (4,): r" at index \(2\) of the stack", (2, 2): r" at index \(1, 0\) of the stack"}[shape]
    with pytest.raises(glla.errors.NonFiniteError) as caught:
        call(lay(a), lay(b))
    words = rf"{name}: the solution must fit float32, .* entry of column 0{where} is \S*e-4[0-3], and too few of"
    assert re.match(words, str(caught.value))


@pytest.mark.parametrize("lay", [np.asarray, glla.asarray])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solution_of_few_denormals_is_kept(name, lay):
    """Of size 2^-130 its digits that are left keep the bound."""
    b = np.full((5, 1), 2.0**-70, dtype=np.float32)
    x = SOLVERS[name](lay, 2.0**58, b)
    x = (x if isinstance(x, np.ndarray) else x.numpy()).astype(np.float64)
    near = SOLVERS[name](np.asarray, 1.0, np.ones((5, 1), dtype=np.float32)).astype(np.float64) * 2.0**-128
    assert (near != 0).all()
    assert np.abs(x - near).max() <= 1e-5 * np.abs(near).max()


def test_denormal_factors_of_which_too_little_is_left_are_an_error():
    a = np.random.default_rng(0).uniform(-1, 1, (5, 5)) * 2.0**-145
    for function in (glla.plu, glla.lu_factor):
        with pytest.raises(glla.errors.NonFiniteError, match=f"{function.__name__}: U must fit float32"):
            function(a)
    _, _, u = glla.plu(np.float32([[0, 2.0**-149], [2.0**-148, 2.0**-149]]))
    assert (u == np.float32([[2.0**-148, 2.0**-149], [0, 2.0**-149]])).all()


def test_squared_residuals_may_be_large():
    a, b = np.float32([[1], [1]]), np.float32([1, -1])
    assert glla.lstsq(a, 2.0**60 * b)[1] == pytest.approx(2.0**121, rel=1e-5)
