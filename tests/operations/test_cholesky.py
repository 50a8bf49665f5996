"""Cholesky: what parameters change and what not, passes, pivots near zero. What holds of all is in tests/matrix.py."""

import re

import numpy as np
import pytest
import scipy.io
import scipy.linalg
from scipy.linalg.lapack import spotrf

import glla
from glla.applications import restoration
from glla.cli import main
from glla.errors import NotPositiveDefiniteError
from glla.operations import OPERATIONS
from glla.operations.definite import cholesky as kernel
from glla.operations.definite.cholesky import VARIANTS
from glla.passes import resident
from glla.testing import JUDGES, spd

JUDGE = JUDGES["cholesky"]


def blocked(device, a, variant="blocked", **parameters):
    """A plan with these parameters, and the factor that it gives."""
    shape = a.shape
    plan = kernel.plan(resident(shape), device.limits, variant=variant, parameters=tuple(parameters.items()))
    plan.check()
    return plan, glla.Array(device, device.run(plan, A=device.upload(a))["L"], shape).numpy()


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [47, 113])
def test_all_variants_subtract_the_same_products_in_the_same_order(n, device, rng):
    a = spd(n, rng)
    _, expected = blocked(device, a, "rank2")
    a[np.triu_indices(n, 1)] = np.nan
    for variant, parameters in [(name, {}) for name in VARIANTS] + [
        ("blocked", {"UPDATE": 0}),
        ("blocked", {"PANEL": 32, "UPDATE": 0}),
        ("blocked", {"FUSED": 256}),
    ]:
        found = blocked(device, a, variant, **parameters)[1]
        exact = device.limits.software and (variant, parameters) != ("blocked", {})  # which sums products up first
        close = found == expected if exact else np.abs(found - expected) < 1e-5
        assert close.all(), (variant, parameters)


# -- the call ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1e-44, 1e-38, 3e38])
def test_no_entry_leaves_the_range(number, device):
    assert glla.cholesky([[number]], device=device) == np.float32(np.sqrt(np.float64(np.float32(number))))


# -- the sizes and the words of the source ----------------------------------------------------------------------------


def kept(a, variant=None):
    """Whether factor, solution and inverse of a matrix keep their bounds; an inverse is symmetric bit by bit."""
    ones = np.ones((len(a), 1), np.float32)
    assert JUDGE.verdict((a,), glla.cholesky(a, variant=variant)).ok
    if variant is None:
        assert JUDGES["solve_pos"].verdict((a, ones), glla.solve(a, ones, assume_a="pos")).ok
        x = glla.inv(a, assume_a="pos")
        assert JUDGES["inv_pos"].verdict((a,), x).ok
        assert (x.view(np.int32) == np.ascontiguousarray(x.T).view(np.int32)).all()


def graded(n, rng, spread=20):
    d = np.ldexp(1.0, np.linspace(-spread, spread, n).astype(int))
    return (spd(n, rng) * np.outer(d, d)).astype(np.float32)


@pytest.mark.parametrize("n", [70, 129])
def test_a_few_of_them(n, rng):
    kept(spd(n, rng, 1e6))
    kept(graded(n, rng))


@pytest.mark.parametrize("n", [200, pytest.param(1024, marks=pytest.mark.sweep)])
def test_the_mean_difference_is_below_the_authors(n, rng):
    """Theirs is 5.71e-6 at n = 4096, relative to MATLAB's in double precision."""
    a = spd(n, rng)
    exact = np.linalg.cholesky(a.astype(np.float64))
    half = np.tril_indices(n)
    assert np.mean(np.abs(glla.cholesky(a)[half] - exact[half])) / np.mean(np.abs(exact[half])) < 1e-6


@pytest.fixture(scope="module")
def large(device):
    """A matrix of the order that the author's figures are for, and its factor in float64."""
    if device.limits.software:
        pytest.skip("a software rasteriser takes minutes")
    a = spd(4096, np.random.default_rng(4096))
    return a, scipy.linalg.cholesky(a.astype(np.float64), lower=True)


@pytest.mark.sweep
@pytest.mark.parametrize("variant", [*VARIANTS, None])
def test_the_size_of_the_source(large, variant):
    """Order 4096: norm(A - L L^T), and the mean difference, of which theirs is 5.71e-6; LAPACK's are printed too."""
    a, exact = large
    half = np.tril_indices(len(a))
    for name, factor in ((variant, glla.cholesky(a, variant=variant)), ("LAPACK", spotrf(a, lower=1)[0])):
        factor = np.tril(factor)
        verdict = JUDGE.verdict((a,), factor)
        mean = np.mean(np.abs(factor[half] - exact[half])) / np.mean(np.abs(exact[half]))
        print(f"cholesky[{name}], n = {len(a)}: {verdict}; mean difference {mean:.3g}")
        assert name == "LAPACK" or (verdict.ok and mean < 5.71e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("variant", ["potri", "cholesky_gets_product"])
def test_the_inverses_at_the_size_of_the_source(large, variant):
    a, factor = large
    x = glla.inv(a, assume_a="pos", variant=variant)
    verdict = JUDGES["inv_pos"].verdict((a,), x)
    print(f"inv_pos[{variant}], n = {len(a)}: {verdict}")
    assert verdict.ok and (x == x.T).all(), verdict
    t = factor.astype(np.float32)
    verdict = JUDGES["inv"].verdict((t,), glla.inv(t, assume_a="lower triangular"))
    assert verdict.ok, verdict


@pytest.mark.sweep
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_million_inverses(n, rng, device):
    """More than one texture of small size holds; each matrix is judged."""
    a = rng.standard_normal((10**6, n, n)).astype(np.float32)
    a += 4 * np.sign(np.einsum("kii->ki", a))[:, :, np.newaxis] * np.eye(n, dtype=np.float32)
    for given in (a, glla.asarray(a, device)):
        wide = np.asarray(glla.inv(given)).astype(np.float64)
        size = np.abs(a).sum(axis=1).max(axis=1) * np.abs(wide).sum(axis=1).max(axis=1)
        ratio = np.abs(a @ wide - np.eye(n)).sum(axis=1).max(axis=1) / (n * size * 2.0**-24)
        print(f"10^6 inverses, n = {n}: worst ratio {ratio.max():.3g}")
        assert ratio.max() < 30


def test_explain_tells_the_authors_launches(capsys):
    assert main(["explain", "cholesky", "--size", "80", "--variant", "block16"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("cholesky[block16]: 14 passes")
    assert "3 N - 1 passes for N steps, of which the author made 4 N - 4 launches\nsource: " in text


AUTHORS = {
    r"image restoration. \(2012\), section 5": {
        "cholesky": ("block16", "block16_rows"),
        "triangular_inverse": ("gets",),
        "inv_pos": ("cholesky_gets_product",),
        "gauss_jordan": ("gauss_jordan",),
        "matmul": ("single_component", "compute_tiled"),
    },
    r"PA2.*2013.*v00": {"syrk": ("single_component", "symmetric", "stripes", "stripes_transposed", "compute_tiled")},
    r"3x3 matrixes.*forum answer": {"inv3": ("adjugate",)},
    r"Dense matrix multiplication.*Designing": {"window_squares": ("frames",)},
}
"""What tells title, year where it is known, and section -> operations -> the author's own variants."""


def test_every_authors_variant_names_its_source():
    for words, operations in AUTHORS.items():
        for name, variants in operations.items():
            for variant in variants:
                assert re.search(words, OPERATIONS[name].variants[variant].source), (name, variant)
    assert re.search(r"\(2012\), chapter 6", restoration.VARIANTS["inverse"].source)


# -- what is hardly definite ------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.sweep
def test_a_real_matrix_of_condition_1e10(data):
    kept(np.float32(scipy.io.mmread(data / "bcsstk13.mtx.gz").toarray()))


@pytest.mark.data
def test_an_indefinite_real_matrix_is_refused(data):
    a = np.float32(scipy.io.mmread(data / "can_144.mtx").toarray())
    assert np.linalg.eigvalsh(a.astype(float))[0] < -2
    _, minor = spotrf(a, lower=1)
    for call in (glla.cholesky, lambda one: glla.inv(one, assume_a="pos")):
        with pytest.raises(NotPositiveDefiniteError, match=rf"its leading minor of order {minor} is not"):
            call(a)


@pytest.mark.parametrize(("width", "side"), [(3, 17), (5, 14)])
def test_blurs_without_a_weight_are_refused_as_lapack_does(width, side):
    """Normal equations of a mean of pixels, singular to float32: where the first bad pivot lies is rounding."""
    line = sum(np.eye(side, k=k) for k in range(-(width // 2), width // 2 + 1)) / width
    h = np.kron(line, line)
    a = (h.T @ h).astype(np.float32)
    _, minor = spotrf(a, lower=1)
    for call in (glla.cholesky, lambda one: glla.solve(one, one[0], assume_a="pos")):
        if minor:
            with pytest.raises(NotPositiveDefiniteError, match="its leading minor of order"):
                call(a)
        else:
            assert np.isfinite(call(a)).all()


def test_conditions_beyond_float32_raise_or_keep_their_bound(rng):
    """Never NaN: what passes is as good as the bound says."""
    refused = 0
    for n in (8, 33, 64):
        for condition in (1e8, 1e9, 1e10, 1e12):
            try:
                kept(spd(n, rng, condition))
            except NotPositiveDefiniteError as error:
                assert "its leading minor of order" in str(error)
                refused += 1
    assert refused >= 3


@pytest.mark.sweep
@pytest.mark.parametrize("variant", [*VARIANTS, None])
@pytest.mark.parametrize("n", [*range(1, 71), 127, 128, 129, 255, 256, 257, 1024])
def test_every_size_condition_and_grading(n, variant, rng):
    for condition in (1.0, 1e3, 1e6) if n < 1024 else (1e3,):
        kept(spd(n, rng, condition), variant)
    kept(graded(n, rng), variant)
