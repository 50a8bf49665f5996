"""Resident stacks of tridiagonal systems straight from their bands: as good as by equations, and what is refused."""

import numpy as np
import pytest

from glla.operations.bands import banded as kernel
from glla.operations.linear.view import View
from glla.passes import Form, resident

PARAMETERS = (("P", 4), ("TOP", 4))
LINES = {
    # name: (which row is which diagonal, rows of a full matrix's bands that are given)
    "full": (kernel.FULL, slice(0, 3)),
    "lower": (((1, -1), (0, 0), (1, 0)), slice(1, 3)),
    "upper": (((0, 0), (1, 0), (0, 1)), slice(0, 2)),
    "above": (((-1, 0), (1, 0), (0, 1)), slice(0, 2)),
    "below": (((1, -1), (0, 0), (-1, 0)), slice(1, 3)),
}


def bands(n, count, rng):
    """Symmetric, dominant, rows of very different sizes; corners are zero."""
    ab = np.zeros((count, 3, n), np.float32)
    ab[:, 0, 1:] = -rng.uniform(0.5, 1.5, (count, n - 1))
    ab[:, 2, :-1] = ab[:, 0, 1:]
    ab[:, 1] = 0.5 + np.abs(ab[:, 0]) + np.abs(ab[:, 2])
    return ab * np.exp2(rng.integers(-20, 20, (count, 1, 1))).astype(np.float32)


def backward(ab, b, x, lines):
    """Componentwise backward error of a stack, in float64."""
    ab, b, x = (one.astype(np.float64) for one in (ab, b[..., 0], x[..., 0]))
    n = x.shape[1]
    rest, size = b.copy(), np.abs(b)
    for (row, shift), offset in zip(lines, (-1, 0, 1), strict=True):
        own = slice(max(-offset, 0), n + min(-offset, 0))  # equations that have this entry
        if row >= 0:
            term = ab[:, row, own.start + shift : own.stop + shift] * x[:, own.start + offset : own.stop + offset]
            rest[:, own] -= term
            size[:, own] += np.abs(term)
    return np.max(np.abs(rest) / size)


def wrapped(device, a):
    storage = View.of(a.shape).storage(device.limits.texture_size)
    texels = np.zeros(storage.height * storage.width * 4, np.float32)
    texels[: a.size] = a.ravel()
    return device.write_texels(texels.reshape(storage.height, storage.width, 4))


def run(device, ab, b, lines=kernel.FULL, definite=False, check_finite=False):
    forms = Form(ab.shape, resident=True), Form(b.shape, resident=True)
    options = {"variant": "partition", "parameters": PARAMETERS}
    plan = kernel.resident_stack(
        forms, device.limits, lines=lines, definite=definite, check_finite=check_finite, **options
    )
    shaders = {one.shader for one in plan.flat.passes if hasattr(one, "shader")}
    assert "tridiagonal/reduce_fours" in shaders and "tridiagonal/equations" not in shaders
    found = device.run(plan, A=wrapped(device, ab), B=wrapped(device, b))
    diagnostics = device.read(found["diagnostics"]).reshape(-1, 4)[: len(ab)]
    assert found["verdict"].ravel()[0] == kernel.fails(diagnostics, ab.shape[-1]).sum()
    return device.read(found["matrices"]).ravel()[: b.size].reshape(b.shape), diagnostics


CASES = [("full", n) for n in (5, 16, 17, 18, 19, 131)] + [(name, n) for name in [*LINES][1:] for n in (64, 67)]


@pytest.mark.parametrize(("name", "n"), CASES)
def test_they_are_as_good_as_by_equations(device, n, name, rng):
    """Whether a system begins a texel or not, and with empty cells behind the last system.

    The same bits on a software rasteriser; compilers of GPUs join other products and sums in each shader.
    """
    lines, rows = LINES[name]
    ab, b = bands(n, 3, rng)[:, rows].copy(), rng.standard_normal((3, n, 1)).astype(np.float32)
    x, diagnostics = run(device, ab, b, lines)
    assert not kernel.fails(diagnostics, n).any()
    assert backward(ab, b, x, lines) <= kernel.MOST_ERROR
    assert (diagnostics[:, 3] == np.abs(x).max((1, 2))).all()
    options = {"lines": lines, "variant": "partition", "parameters": PARAMETERS}
    plan = kernel.plan(resident(ab.shape[1:], (n, 1)), device.limits, **options)
    for matrix in range(3):
        one = device.run(plan, A=device.upload(ab[matrix]), B=device.upload(b[matrix]))
        solution, others = device.download(one["X"], (n, 1)), device.read(one["diagnostics"]).ravel()
        assert others[2] == diagnostics[matrix, 2]  # what scaling makes of right sides is exact
        if device.limits.software:
            assert (solution == x[matrix]).all()
            assert (others == diagnostics[matrix]).all()


@pytest.mark.parametrize("n", [12, 18])
def test_what_scaling_loses_is_refused(device, n, rng):
    """NaN, infinity, and rows from which an entry or the right side leaves the normal range; others are accepted."""
    flaws = [(row, i, flaw) for row in range(4) for i in (1, 4, n - 2) for flaw in (np.nan, -np.inf, 1e-41)]
    flaws += [(1, i, 2.0**127) for i in (0, 4, n - 1)] + [(1, i, 2.0**120) for i in (3, n - 1)]
    ab, b = bands(n, 2 * len(flaws) + 1, rng), rng.standard_normal((2 * len(flaws) + 1, n, 1)).astype(np.float32)
    for matrix, (row, i, flaw) in enumerate(flaws):
        if row == 3:
            b[2 * matrix + 1, i] = flaw
        else:
            ab[2 * matrix + 1, row, i] = flaw
            b[2 * matrix + 1, i] = 1e-3 if flaw == 2.0**120 else b[2 * matrix + 1, i]
    x, diagnostics = run(device, ab, b)
    assert kernel.fails(diagnostics, n).tolist() == len(flaws) * [False, True] + [False]
    assert np.isfinite(x[::2]).all()


@pytest.mark.parametrize("name", ["full", "upper", "below"])
@pytest.mark.parametrize("n", [12, 17])
def test_corners_count_where_they_are_watched(device, n, name, rng):
    lines, rows = LINES[name]
    good, b = bands(n, 4, rng), rng.standard_normal((4, n, 1)).astype(np.float32)
    for row, corner in ((0, 0), (2, n - 1)):
        if not rows.start <= row < rows.stop:
            continue
        ab = good.copy()
        ab[1, row, corner] = np.nan
        for watched in (False, True):
            diagnostics = run(device, ab[:, rows].copy(), b, lines, check_finite=watched)[1]
            assert kernel.fails(diagnostics, n).tolist() == [False, watched, False, False]


def test_pivots_of_definite_systems_are_above_zero(device, rng):
    ab, b = bands(21, 5, rng)[:, 1:].copy(), rng.standard_normal((5, 21, 1)).astype(np.float32)
    ab[3, 0, 6] *= -1
    diagnostics = run(device, ab, b, LINES["lower"][0], definite=True)[1]
    assert (diagnostics[:, 1] < 0).tolist() == [False, False, False, True, False]
