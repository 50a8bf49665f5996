"""solve_banded, solveh_banded, solve by structure: SciPy's semantics, rejected systems, stacks, resident arrays."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

import glla
from glla.errors import NonFiniteError, NotPositiveDefiniteError, SingularMatrixError
from glla.linalg import device_stacks as there
from glla.operations.bands import banded as kernel
from glla.operations.bands import tridiagonal
from glla.operations.batches.stack import Stack
from glla.passes import Draft, forms_of
from tests.beside import spied

LIMIT = 30 * 2.0**-24
PLACES = [np.asarray, glla.asarray]


def dense(ab, lower, upper):
    n = ab.shape[-1]
    a = np.zeros((*ab.shape[:-2], n, n))
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            a[..., i, j] = ab[..., upper + i - j, j]
    return a


def backward(a, x, b):
    """Largest componentwise backward error."""
    a, x, b = (np.asarray(one, np.float64) for one in (a, x, b))
    size = np.abs(a) @ np.abs(x) + np.abs(b)
    error = np.abs(a @ x - b)
    return np.max(np.where(error == 0, 0, error / np.where(size == 0, 1, size)), initial=0)


def case(n, rng, lower=1, upper=1, stack=(), columns=1):
    ab = rng.standard_normal((*stack, lower + upper + 1, n)).astype(np.float32)
    ab[..., upper, :] += np.where(ab[..., upper, :] < 0, -3, 3)
    return ab, rng.standard_normal((*stack, n, columns)).astype(np.float32)


@pytest.mark.parametrize("bands", [(1, 1), (0, 0), (1, 0), (0, 1), (2, 2), (2, 0), (0, 2), (1, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_up_to_five_diagonals(bands, place, rng):
    lower, upper = bands
    for n in (1, 2, 3, 4, 17, 33):
        ab, b = case(n, rng, lower, upper, (3,), 2)
        ab[:, upper] += np.where(ab[:, upper] < 0, -4, 4)
        x = np.asarray(glla.solve_banded(bands, place(ab), b))
        assert x.dtype == np.float32 and backward(dense(ab, lower, upper), x, b) < LIMIT
        one = np.asarray(glla.solve_banded(bands, place(ab[0]), b[0, :, 0]))
        assert one.shape == (n,) and backward(dense(ab[0], lower, upper), one, b[0, :, 0]) < LIMIT


@pytest.mark.parametrize("n", [4, 7, 20])
def test_free_beams_are_singular(device, n):
    """Every row sums to zero, in integers: alone, in a stack, and with a right side that has solutions."""
    a = np.diff(np.eye(n), 2, axis=0)
    a = a.T @ a
    ab = np.zeros((5, n))
    for offset in range(-2, 3):
        ab[2 - offset, max(offset, 0) : n + min(offset, 0)] = np.diag(a, offset)
    for b in (np.ones(n), a @ np.arange(n) ** 2):
        with pytest.raises(SingularMatrixError, match="solve_banded: singular matrix: pivot"):
            glla.solve_banded((2, 2), ab, b, device=device)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("width", "n"), [(0, 1), (0, 5), (1, 2), (1, 40), (3, 20)])
def test_half_bands_are_those_of_scipy(device, place, lower, width, n, rng):
    ab = rng.standard_normal((2, width + 1, n)).astype(np.float32)
    ab[:, 0 if lower else width] = 12
    b = rng.standard_normal((2, n, 2)).astype(np.float32)
    x = np.asarray(glla.solveh_banded(place(ab), b, lower=lower))
    one = np.asarray(glla.solveh_banded(place(ab[1]), b[1, :, 0], lower=lower))
    assert x.shape == b.shape and np.abs(one - x[1, :, 0]).max() < 1e-5
    for a, right, found in zip(ab, b, x, strict=True):
        assert np.abs(found - scipy.linalg.solveh_banded(a, right, lower=lower)).max() < 1e-5


@pytest.mark.parametrize("place", PLACES)
def test_solve_takes_the_diagonal_of_a_dense_matrix(device, place, rng):
    for n in (1, 2, 9):
        a, b = rng.uniform(1, 2, (2, n, n)).astype(np.float32), rng.standard_normal((2, n, 2)).astype(np.float32)
        x = np.asarray(glla.solve(place(a), b, assume_a="diagonal", device=device))
        assert backward(a * np.eye(n), x, b) < LIMIT


@pytest.mark.parametrize("variant", [None, "thomas", "parallel_cyclic_reduction"])
def test_general_systems_are_refined_or_pivoted(device, variant, rng):
    """Neither dominant nor definite: the backward error stays small all the same."""
    ab = rng.standard_normal((20, 3, 60)).astype(np.float32)
    b = rng.standard_normal((20, 60, 1)).astype(np.float32)
    if variant is not None:
        ab, b = ab[:3], b[:3]
    for place in PLACES:
        x = np.asarray(glla.solve_banded((1, 1), place(ab), b, variant=variant))
        assert backward(dense(ab, 1, 1), x, b) < LIMIT
    zeros = np.float32([[9, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 9]])  # every pivot is zero without exchanges
    assert (
        np.asarray(glla.solve_banded((1, 1), zeros, [1, 2, 3, 4], device=device, variant=variant)) == [-2, 1, 4, 2]
    ).all()
    assert (np.asarray(glla.solve_banded((1, 1), glla.asarray(zeros), [1, 2, 3, 4])) == [-2, 1, 4, 2]).all()


def dependent(n, rng):
    """A tridiagonal matrix of integers that is exactly singular, found by exact elimination."""
    while True:
        ab = rng.integers(-4, 5, (3, n))
        ab[0, 0] = ab[2, -1] = 0
        before, d = Fraction(1), Fraction(int(ab[1, 0]))  # leading minors
        for i in range(1, n - 1):
            before, d = d, int(ab[1, i]) * d - int(ab[0, i] * ab[2, i - 1]) * before
        lower, upper = int(ab[2, n - 2]), int(ab[0, n - 1])
        if d and lower and upper and (lower * upper * before) % d == 0:
            last = lower * upper * before / d
            if last.denominator == 1 and abs(last) < 2**20:
                ab[1, -1] = int(last)
                return ab.astype(np.float32)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
def test_dependent_integers_are_singular(device, n, rng):
    for _ in range(4):
        ab = dependent(n, rng)
        for b in (rng.integers(-5, 6, n), dense(ab, 1, 1) @ np.ones(n)):
            with pytest.raises(SingularMatrixError, match=r"solve_banded: singular matrix: pivot .*rounding error"):
                glla.solve_banded((1, 1), ab, b, device=device)


@pytest.mark.parametrize("n", [5, 64, 300])
def test_a_floating_chain_is_singular(device, n):
    """The second difference with free ends: every row sums to zero."""
    weights = np.arange(1, n) % 7 + 1.0
    ab = np.zeros((3, n), np.float32)
    ab[0, 1:] = ab[2, :-1] = -weights
    ab[1] = np.append(weights, 0) + np.append(0, weights)
    b = np.zeros(n)
    b[0], b[-1] = 1, -1
    for rhs in (np.ones(n), b):
        with pytest.raises(SingularMatrixError):
            glla.solve_banded((1, 1), ab, rhs, device=device)
        with pytest.raises(NotPositiveDefiniteError, match=f"leading minor of order {n} is not"):
            glla.solveh_banded(ab[:2], rhs, device=device)
    stack = np.stack([ab, np.float32([[0] * n, [1] * n, [0] * n])])
    with pytest.raises(SingularMatrixError, match=r"singular matrix at index \(0\) of the stack: pivot"):
        glla.solve_banded((1, 1), stack, np.ones((2, n, 1)), device=device)


def test_graded_triangles_are_regular(device):
    """Where nothing is subtracted no pivot is rounding error, however large the unknowns are beside scaled rows."""
    ab = np.float32([[0, 2.0**38], [-(2.0**-41), -(2.0**41)]])
    x = glla.solve_banded((0, 1), ab, np.float32([-(2.0**-40), 0]), device=device)
    assert x.tolist() == [2, 0]
    x = glla.solve_banded((1, 0), np.ascontiguousarray(ab[::-1, ::-1]), np.float32([0, -(2.0**-40)]), device=device)
    assert x.tolist() == [0, 2]


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("power", [2.0**20, 1e12])
def test_unknowns_may_differ_in_unit(device, side, power, rng):
    """Columns scaled: what an unknown is in its unit says nothing of a singular matrix."""
    for turn in range(60):
        n = int(rng.integers(4, 30))
        ab = rng.standard_normal((2 * side + 1, n)) * power ** rng.choice([-1, 1], n)
        b = rng.standard_normal(n) if turn % 2 else np.eye(n)[rng.integers(n)]
        ab, b = np.float32(ab), np.float32(b)
        x = glla.solve_banded((side, side), ab, b)
        assert backward(dense(ab, side, side), x, b) <= LIMIT


def test_unknowns_that_are_zero_come_as_rounding_errors_of_float64(device, rng):
    """Componentwise such an equation may be wrong by all of it; beside the largest one it is 2^-40 at most."""
    beyond = 0
    for _ in range(60):
        n = int(rng.integers(4, 30))
        ab = rng.integers(-3, 4, (5, n)).astype(np.float32)
        a = dense(ab, 2, 2)
        b = (a @ (rng.integers(-3, 4, n) * (rng.random(n) < 0.5))).astype(np.float32)
        if np.linalg.matrix_rank(a) < n:
            continue
        x = glla.solve_banded((2, 2), ab, b).astype(np.float64)
        error, size = np.abs(b - a @ x), np.abs(a) @ np.abs(x) + np.abs(b)
        assert (error <= 17 * 2.0**-24 * size + 2.0**-40 * size.max()).all()
        beyond += (error > 17 * 2.0**-24 * size).any()
    assert beyond


@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1e30, 1e38])
def test_the_ends_of_the_range(device, scale, rng):
    ab, b = case(20, rng)
    ab, b = ab / 8, b / 4
    for left, right in ((scale, 1), (1, scale), (scale, scale)):
        scaled, rhs = (ab * np.float32(left)), (b * np.float32(right))
        exact = np.linalg.solve(dense(scaled, 1, 1), rhs.astype(float))
        for place in PLACES:
            if np.abs(exact).max() > np.finfo(np.float32).max:
                with pytest.raises(NonFiniteError, match="the result does not fit float32"):
                    glla.solve_banded((1, 1), place(scaled), rhs, device=device)
            elif np.abs(exact).max() > 1e-36:
                x = np.asarray(glla.solve_banded((1, 1), place(scaled), rhs, device=device))
                assert np.abs(x - exact).max() < 1e-5 * np.abs(exact).max()


def test_systems_of_one_equation(device):
    for bands_ in ((0, 0), (1, 1), (3, 2), (0, 4)):
        ab = np.full((sum(bands_) + 1, 1), 4)
        assert glla.solve_banded(bands_, ab, [8], device=device) == [2]
    assert glla.solveh_banded(np.full((3, 1), 4), [8], device=device) == [2]
    with pytest.raises(SingularMatrixError):
        glla.solve_banded((0, 0), [[0]], [1], device=device)


def test_the_host_decides_by_the_diagnostics():
    good = np.float32([1e-7, 0.5, 1, 1])
    for diagnostics, rejected in (
        (good, False), ([2e-6, 0.5, 1, 1], True), ([np.nan, 0.5, 1, 1], True), ([1e-7, 1e-5, 1, 1], True),
        ([1e-7, -1, 1, 1], True), ([1e-7, 0.06, 1, 1e5], True), ([1e-7, 0.06, 1, 1e3], False),
        ([1e-7, 0.5, 1e-30, 1], True), ([1e-7, 0.5, 1e30, 1], True), ([0, 1, 0, 0], False),
    ):  # fmt: skip
        assert kernel.fails(np.float32(diagnostics), 10) == rejected


@pytest.mark.parametrize("lower", [1, 2])
def test_a_stack_on_the_device_reads_sixteen_bytes_back(device, rng, lower):
    """No pass brings it into another layout, and the host waits for one texel."""
    ab, b = np.tile(np.float32([[9] * 5, [1] * 5, [1] * 5][: lower + 1]), (6, 1, 1)), rng.standard_normal((6, 5, 2))
    full = np.concatenate([ab[:, :0:-1], ab], axis=1)
    given = glla.asarray(full, device), glla.asarray(b, device)
    glla.solve_banded((lower, lower), *given)
    with glla.trace(device=device) as trace:
        x = glla.solve_banded((lower, lower), *given)
    shaders = [one.step.shader for one in trace.passes if hasattr(one.step, "shader")]
    assert not [shader for shader in shaders if shader.startswith("wrapped/")]
    (verdict,) = (one.step for one in trace.passes if not hasattr(one.step, "shader"))
    plan = kernel.resident_stack(forms_of((full, b)), device.limits, lines=kernel.FULL if lower == 1 else 2)
    assert plan.slots[verdict.target].nbytes == 16
    for a, right, found in zip(full, b, x.numpy(), strict=True):
        assert backward(dense(a, lower, lower), found, right) <= LIMIT


@pytest.mark.parametrize("check_finite", [True, False])
def test_nan_and_infinity_in_a_stack_on_the_device(device, rng, check_finite):
    """They are refused in the corners too, which no equation has; or else reach their own matrix alone."""
    for lower, upper in ((1, 1), (1, 0), (0, 2), (2, 2)):
        count, n = lower + upper + 1, 6
        full = rng.uniform(-1, 1, (4, count, n)).astype(np.float32) / 8
        full[:, upper] = 2
        b = rng.standard_normal((4, n, 1)).astype(np.float32)
        for bad in (np.nan, -np.inf):
            for name, row, place in (("ab", 0, 0), ("ab", count - 1, n - 1), ("ab", upper, 2), ("b", n - 1, 0)):
                operands = {"ab": full.copy(), "b": b.copy()}
                operands[name][2, row, place] = bad
                given = [glla.asarray(one, device, check_finite=False) for one in operands.values()]
                inside = name == "b" or row == upper

                def solve(given=given, bands=(lower, upper)):
                    return glla.solve_banded(bands, *given, check_finite=check_finite).numpy(check_finite=False)

                if check_finite:
                    with pytest.raises(NonFiniteError, match=f"{name} must not hold NaN.*matrix at index .2. of the"):
                        solve()
                    continue
                x = solve()
                assert np.isfinite(x[[0, 1, 3]]).all() and np.isfinite(x[2]).all() == (not inside)


def test_the_device_decides_as_the_host(device, rng):
    diagnostics = np.exp2(rng.uniform(-30, 2, (1100, 4))).astype(np.float32)
    diagnostics[:, 0] = np.exp2(rng.uniform(-26, -18, 1100))
    diagnostics[::7, 1] = rng.choice([kernel.least_left(10), 0.0, -1.0, 1.0], 158)
    diagnostics[::5, 2] = rng.choice([0, 1e-30, 1e30, *kernel.NORMAL], 220)
    diagnostics[::3, 3] = 4096 * diagnostics[::3, 2]
    for count in (1, 31, 32, 33, 1024, 1100):
        draft, stack = Draft("verdict"), Stack.of(count, (1, 1), device.limits.texture_size)
        slot = draft.operand("F", stack.storage(1, 1))
        systems = tridiagonal.Systems(draft, stack, 10)
        plan = draft.plan({"made": systems.verdict(slot, kernel._bounds(10), device.limits.texture_size)}, 0)
        storage = plan.slots["F"]
        texels = np.zeros((storage.height * storage.width, 4), dtype=np.float32)
        texels[:count] = diagnostics[:count]
        given = device.write_texels(texels.reshape(storage.height, storage.width, 4))
        found = device.read(device.run(plan, F=given)["made"])
        assert found[0, 0, 0] == kernel.fails(diagnostics[:count], 10).sum()


def test_rejected_matrices_of_a_stack_are_refined_on_the_device(device, rng, monkeypatch):
    """Of systems that nothing dominates every other one takes another step, and few the host, which reads these."""
    ab = rng.standard_normal((64, 3, 60)).astype(np.float32)
    b = rng.standard_normal((64, 60, 1)).astype(np.float32)
    given = glla.asarray(ab, device), glla.asarray(b, device)
    read = spied(monkeypatch, there, "read_matrices", lambda *given: len(given[1]))
    with glla.trace(device=device) as trace:
        x = glla.solve_banded((1, 1), *given)
    assert sum(read) <= 12
    assert any(getattr(one.step, "shader", "") == "elementwise/sum" for one in trace.passes)
    for a, right, found in zip(ab, b, x.numpy(), strict=True):
        assert backward(dense(a, 1, 1), found, right) <= LIMIT


def test_rows_that_differ_by_more_than_the_range(device):
    ab = np.float32([[0, 1e-38, 1], [1, 1e38, 1e-30], [1e38, 1e-30, 0]])
    b = np.float32([1, 1e38, 1])
    x = glla.solve_banded((1, 1), ab, b, device=device)
    assert np.allclose(x, np.linalg.solve(dense(ab.astype(float), 1, 1), b), rtol=1e-5)


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("place", PLACES)
def test_entries_outside_of_the_matrix_are_not_read_by_the_host_either(lower, upper, place, device, rng):
    """Of a stack whose second matrix needs pivots, whose third has a NaN, and whose last right side has one."""
    n = 6
    ab, b = case(n, rng, lower, upper, stack=(4,))
    ab[1, upper] = 0
    ab[2, upper, 3] = np.nan
    b[3, 2] = np.nan
    expected = glla.solve_banded((lower, upper), ab[1], b[1], device=device)
    for row in range(lower + upper + 1):
        for j in range(n):
            if not 0 <= row - upper + j < n:
                ab[:, row, j] = np.nan
    assert np.isnan(ab[0]).sum() == lower * (lower + 1) // 2 + upper * (upper + 1) // 2
    operands = (place(one, **({} if place is np.asarray else {"check_finite": False})) for one in (ab, b))
    x = np.asarray(glla.solve_banded((lower, upper), *operands, check_finite=False, device=device))
    assert np.isnan(x[2]).all() and np.isnan(x[3, 2:]).any()
    for i in (0, 1):
        assert backward(dense(ab[i], lower, upper), x[i], b[i]) < LIMIT
    assert (x[1] == expected).all()


@pytest.mark.sweep
def test_ten_thousand_systems_of_three_hundred(device, rng):
    ab, b = case(300, rng, stack=(10000,))
    x = glla.solve_banded((1, 1), ab, b, device=device)[..., 0].astype(float)
    rest = ab[:, 1] * x - b[..., 0]
    rest[:, :-1] += ab[:, 0, 1:] * x[:, 1:]
    rest[:, 1:] += ab[:, 2, :-1] * x[:, :-1]
    assert np.abs(rest).max() < 1e-4
