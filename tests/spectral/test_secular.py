"""Divide and conquer of tridiagonal matrices alone, and Sturm counts beside it: hostile matrices, clusters, holes."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.operations.spectral import secular, sturm
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN
from glla.testing.spectral import errors, judge_values
from tests.spectral.matrices import glued, hostile, normal, tridiagonal, wilkinson, with_values


def line(d, e):
    texels = np.zeros((1, len(d), 4), np.float32)
    texels[0, :, 0], texels[0, :-1, 1] = d, e
    return texels


def solved(device, d, e, limits=None):
    """Values and vectors of T, by passes."""
    n = len(d)
    t = device.write_texels(line(d, e))
    found = device.run(secular.plan(n, limits or device.limits), T=t)
    values, texels = (np.asarray(device.read(found[name])) for name in "LQ")
    for texture in (t, *found.values()):
        texture.release()
    height, width, _ = texels.shape
    vectors = texels.reshape(height, width, 2, 2).transpose(0, 2, 1, 3).reshape(2 * height, 2 * width)
    assert not vectors[n:].any() and not vectors[:, n:].any(), "padding"
    return values[0, :, 0], vectors[:n, :n]


def judged(device, d, e):
    """As `solved`, after scaling as `eigh` does, judged."""
    d, e = np.asarray(d, np.float64), np.asarray(e, np.float64)
    largest = max(np.abs(d).max(), np.abs(e).max(initial=0))
    exponent = -int(np.floor(np.log2(largest))) if largest else 0
    d, e = (np.float32(np.ldexp(part, exponent)) for part in (d, e))
    w, v = solved(device, d, e)
    t = np.float32(tridiagonal(d, e))
    verdict = judge_values(t, w)
    assert verdict.ok, verdict
    residual, apart = errors(t, w, v)
    assert max(residual, apart) < 10, (residual, apart)
    return d, e, w


def test_hostile_matrices(device):
    for seed in range(80):
        name, d, e = hostile(np.random.default_rng(seed), 40 if seed % 10 else 129)
        try:
            judged(device, d, e)
        except AssertionError as error:
            raise AssertionError(f"{name}, seed {seed}, order {len(d)}") from error


@pytest.mark.sweep
def test_many_hostile_matrices(device):
    for seed in range(1000, 1600):
        judged(device, *hostile(np.random.default_rng(seed), 129)[1:])


@pytest.mark.sweep
@pytest.mark.parametrize("n", [50, 256, 512, 1000])
def test_tridiagonal_forms(n, device, rng):
    """Of normal matrices, of low rank, of clusters; and T itself random, three times."""
    reduced = pytest.importorskip("scipy.linalg").hessenberg
    b = rng.standard_normal((n, 3))
    values = (np.repeat([1.0, 2.0], n // 2), np.geomspace(1, 1e-7, n))
    for a in (normal(n, rng), b @ b.T, *(with_values(one, rng) for one in values)):
        judged(device, *diagonals(reduced(a)))
    judged(device, rng.standard_normal(3 * n // 2), rng.standard_normal(3 * n // 2 - 1))


def diagonals(t):
    return np.diag(t), np.diag(t, 1)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-9, 0])
def test_clusters_keep_their_vectors_orthogonal(gap, device):
    """The distance of a root from a pole must not be rounded: a driver that takes (d + mu) - d' for it fails here."""
    judged(device, *diagonals(glued(gap)))
    judged(device, *diagonals(wilkinson(41)))


@pytest.mark.parametrize("n", [2, 9, 16, 30])
def test_the_last_root_is_within_its_bracket(n, device):
    """Sums of its bracket are rounded: one that is too narrow by a rounding costs ten in the largest value."""
    w, _ = solved(device, np.zeros(n), np.ones(n - 1))
    assert np.abs(w + 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))).max() <= 8 * 2.0**-24 * w[-1]


@pytest.mark.parametrize(
    "n", [2, 3, 5, 31, 33, 100, 255, 256, 257, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(1, 41))]
)
def test_orders(n, device, rng):
    judged(device, 2 * np.ones(n), np.ones(n - 1))
    judged(device, rng.standard_normal(n), rng.standard_normal(n - 1))
    judged(device, rng.standard_normal(n), np.full(n - 1, 1e-30))


def test_diagonal_matrices_are_exact(device, rng):
    for d in (np.zeros(64), np.ones(33), rng.integers(-9, 10, 40) / 8.0):
        w, v = solved(device, np.float32(d), np.zeros(len(d) - 1))
        assert (w == np.sort(d)).all() and (v == v.astype(bool)).all() and (v.sum(axis=0) == 1).all()


def test_turns_of_the_root_finder_may_be_split(device, rng):
    """A driver that bounds loops gets several passes, which find the same roots."""
    d, e = rng.standard_normal(60), rng.standard_normal(59)
    few = replace(device.limits, loop_trips=60 * 9)
    assert secular.plan(60, few).cost.passes == secular.plan(60, device.limits).cost.passes + 3 + 1
    whole, parts = solved(device, d, e), solved(device, d, e, few)
    assert np.abs(whole[0] - parts[0]).max() <= 2.0**-22
    assert max(errors(np.float32(tridiagonal(d, e)), *parts)) < 10


def test_nine_passes_a_level():
    for n in (1, 2, 3, 64, 65, 256):
        assert secular.plan(n, PLAIN).cost.passes == 3 + 9 * (n - 1).bit_length()
    parts = 4 + 2  # two passes for each, in place of one for a level
    assert secular.plan(1000, PLAIN).cost.passes == 3 + 9 * 10 + 2 * parts - 2


def test_parts_are_multiplied_by_blocks(device, monkeypatch, rng):
    monkeypatch.setattr(secular, "BLOCKED_FROM", 8)
    gpu = replace(device.limits, software=False, loop_trips=59990)  # of no plan before
    for n in (7, 8, 9, 33, 50, 66):
        d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
        w, v = solved(device, d, e, gpu)
        expected = solved(device, d, e)
        assert (w == expected[0]).all() and np.abs(v - expected[1]).max() <= 2.0**-20


def test_sturm_counts_find_the_same_values(device):
    for seed in range(40):
        d, e, w = judged(device, *hostile(np.random.default_rng(seed))[1:])
        n, t = len(d), device.write_texels(line(d, e))
        found = device.run(sturm.plan(n, Subset(0, n), device.limits), T=t)["L"]
        values = np.asarray(device.read(found))[0, :, 0]
        t.release()
        found.release()
        assert (np.diff(values) >= 0).all()
        assert np.abs(values - w).max() <= 4 * n * 2.0**-24 * np.abs(w).max() + 2.0**-126


RASTERISERS = {
    "softpipe": {"GALLIUM_DRIVER": "softpipe"},
    "zink": {"GALLIUM_DRIVER": "zink", "MESA_LOADER_DRIVER_OVERRIDE": "zink"},
}
GLUED = """
import glla
from tests.spectral.test_secular import diagonals, glued, judged
device = glla.Device()
judged(device, *diagonals(glued(1e-6, 3)))
print("renderer:", device.info.renderer)
"""


@pytest.mark.parametrize("name", ["softpipe", pytest.param("zink", marks=pytest.mark.sweep)])
def test_close_roots_on_other_rasterisers(name, device):
    if "llvmpipe" not in device.info.renderer:
        pytest.skip("they come with Mesa")
    environment = {**os.environ, **RASTERISERS[name], "LIBGL_ALWAYS_SOFTWARE": "1"}
    done = subprocess.run([sys.executable, "-c", GLUED], env=environment, capture_output=True, text=True, timeout=60)
    if name == "zink" and "no OpenGL 3.3 core context" in done.stderr:
        pytest.skip("there is no Vulkan for it")
    assert done.stdout.startswith(f"renderer: {name}"), done.stderr


def test_the_roots_of_two_parts_interlace(device):
    """One level on two parts of order 1: the values are on both sides of the diagonal's."""
    for d, e in (((1, 3), 2), ((0, 0), 1), ((-1, 1), 1e-3), ((5, 5), -1e-6)):
        w, _ = solved(device, np.float32(d), np.float32([e]))
        slack = 2.0**-21 * max(map(abs, d))  # of deflation
        assert w[0] - slack <= min(d) <= max(d) <= w[1] + slack
        assert glla.eigh(np.float32([[d[0], e], [e, d[1]]])).eigenvalues == pytest.approx(w, abs=1e-6)
