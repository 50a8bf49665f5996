"""Scaling by powers of two: no digit changes, and the largest entries come near one."""

from itertools import product

import numpy as np
import pytest

from glla.operations.elimination.equilibrate import plan, scale
from glla.operations.host.scaling import both
from glla.testing import MATRICES, assert_exact, normal


def exponents(texels, count):
    """The exponents in a column of texels; those behind the last must be zero."""
    flat = texels[:, 0, :2].reshape(-1)
    assert not flat[count:].any() and not texels[:, 0, 2:].any()
    assert (flat == np.rint(flat)).all()
    return flat[:count].astype(int)


def equilibrated(run, a):
    results = run(plan(a.shape), A=a)
    e, f = exponents(results["row_exponents"], a.shape[0]), exponents(results["column_exponents"], a.shape[1])
    return results, results.matrix("scaled", a.shape), e, f


def exponent_model(values):
    """floor(log2(max |value|)) of each row; 0 for a row of zeros."""
    most = np.abs(values.astype(np.float64)).max(axis=1)
    return np.where(most > 0, np.frexp(most)[1] - 1, 0)


def check(run, a):
    _, scaled, e, f = equilibrated(run, a)
    wide = a.astype(np.float64)
    np.testing.assert_array_equal(e, exponent_model(wide))
    np.testing.assert_array_equal(f, exponent_model(np.ldexp(wide, -e[:, None]).T))
    assert_exact(scaled, np.ldexp(wide, -e[:, None] - f))
    columns = np.abs(scaled).max(axis=0)
    assert ((columns >= 1) | (columns == 0)).all() and (columns < 2).all()


@pytest.mark.parametrize("name", MATRICES)
def test_every_kind_of_matrix(run, rng, name):
    check(run, MATRICES[name](17, 13, rng))


@pytest.mark.parametrize("value", [1e-40, -1e-45, 2.0**-126, 2.0**-149, 3.4e38, -(2.0**127), 1.0, 1.9999999])
def test_any_magnitude_comes_near_one(run, value):
    a = np.zeros((3, 5), dtype=np.float32)
    a[1, 3] = a[2, 4] = value
    check(run, a)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 3), (17, 16), (13, 29)], ids=str)
@pytest.mark.parametrize("name", ["normal", "graded", "tiny", "huge", "zeros"])
def test_undone_exactly(run, rng, shape, name):
    a = MATRICES[name](*shape, rng)
    results, scaled, _, _ = equilibrated(run, a)
    kept = {key: results[key] for key in ("row_exponents", "column_exponents")}
    assert_exact(run(scale(shape, 1, 1), A=scaled, **kept).matrix("scaled", shape), a)
    assert_exact(run(scale(shape, -1, -1), A=a, **kept).matrix("scaled", shape), scaled)


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)])
def test_scale_by_either_side_alone(run, rng, rows, columns):
    a = normal(5, 3, rng)
    e, f = np.array([3, -2, 0, 5, 1]), np.array([-4, 2, 7])
    texels = {name: np.zeros((count, 1, 4)) for name, count in (("row_exponents", 3), ("column_exponents", 2))}
    texels["row_exponents"][:, 0, :2] = np.append(e, 0).reshape(3, 2)
    texels["column_exponents"][:, 0, :2] = np.append(f, 0).reshape(2, 2)
    used = {name: texels[name] for name, sign in (("row_exponents", rows), ("column_exponents", columns)) if sign}
    scaled = run(scale(a.shape, rows, columns), A=a, **used).matrix("scaled", a.shape)
    assert_exact(scaled, np.ldexp(a, rows * e[:, None] + columns * f))


@pytest.mark.parametrize("exponent", [200, 253, 300, 999])
def test_what_leaves_the_range_is_infinite_or_zero(run, exponent):
    a = np.array([[1, -1], [2.0**-126, -(2.0**127)]], dtype=np.float32)
    for sign in (1, -1):
        texels = np.full((1, 1, 4), sign * exponent)
        with np.errstate(over="ignore", under="ignore"):
            expected = np.ldexp(a.astype(np.float64), sign * exponent).astype(np.float32)
        assert_exact(run(scale((2, 2), 1), A=a, row_exponents=texels).matrix("scaled", (2, 2)), expected)


def mean_exponents(exponents):
    """The mean of each row, rounded half up; NaN stands for an entry that is zero, and 0 for a row of zeros."""
    return np.array([np.floor(np.mean(kept) + 0.5) if len(kept := row[~np.isnan(row)]) else 0 for row in exponents])


@pytest.mark.parametrize("name", ["normal", "graded", "tiny", "huge", "zeros", "integers", "permutation"])
def test_sweeps_of_the_geometric_mean(rng, name):
    for shape, sweeps in product(((1, 1), (2, 3), (17, 13), (13, 29)), (1, 2, 5)):
        a = MATRICES[name](*shape, rng)
        own = np.where(a != 0, np.frexp(a.astype(np.float64))[1] - 1.0, np.nan)
        f = np.zeros(shape[1])
        for _ in range(sweeps):
            e = mean_exponents(own - f)
            f = mean_exponents((own - e[:, None]).T)
        e = exponent_model(np.ldexp(a.astype(np.float64), -f.astype(int)))
        f = exponent_model(np.ldexp(a.astype(np.float64), -e[:, None]).T)
        rows, columns = both(a, sweeps)
        np.testing.assert_array_equal(rows[:, 0], e)
        np.testing.assert_array_equal(columns[0], f)


@pytest.mark.parametrize("spread", [10, 50])
def test_without_zeros_one_sweep_undoes_any_scaling(rng, spread):
    a = rng.integers(1, 2, (7, 10)) * np.float32(1.5)
    graded = np.ldexp(a, rng.integers(-spread, spread, (7, 1)) + rng.integers(-spread, spread, 10))
    np.testing.assert_array_equal(np.ldexp(graded, -sum(both(graded, 1))), a)


def test_denormal_and_huge_side_by_side(run):
    check(run, np.array([[1e-40, 0, 0], [0, 3e38, 0], [0, 0, -3e-45]], dtype=np.float32))


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 2), (4, 6)])
def test_zero_row_and_column_stay(run, rng, row, column):
    a = normal(5, 7, rng)
    a[row], a[:, column] = 0, 0
    _, scaled, e, f = equilibrated(run, a)
    assert e[row] == f[column] == 0
    assert not scaled[row].any() and not scaled[:, column].any()
    check(run, a)


def test_denormals_come_back(run):
    a = np.array([[1e-40, 1], [-3e-45, 2e38], [0, 1.1754942e-38]], dtype=np.float32)
    results, scaled, _, _ = equilibrated(run, a)
    kept = {key: results[key] for key in ("row_exponents", "column_exponents")}
    assert run(scale((3, 2), 1, 1), A=scaled, **kept).matrix("scaled", (3, 2)).tobytes() == a.tobytes()
