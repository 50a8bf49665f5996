"""What direct methods must meet, of all sizes, conditions and gradings; the long ones are a sweep.

Every check, and the tests that make it. "Here" is this file, a name without a folder lies in tests/operations; those
marked (sweep) run with ``pytest -m sweep``, those marked (GPU) on a GPU alone.

1. Cholesky: norm(A - L L^T) for every size, condition, grading and variant: here
   test_every_size_condition_and_grading (sweep), test_a_few_of_them, test_the_size_of_the_source (sweep, GPU);
   bcsstk13: test_a_real_matrix_of_condition_1e10 (sweep). Integers: test_cholesky.py test_integers_are_exact, here
   test_integers_are_exact_for_the_author. NaN above the diagonal, inputs unchanged, zeros above: here
   test_no_input_is_changed_and_nan_above_the_diagonal_is_harmless. Mean difference to float64 beside the author's:
   here test_the_mean_difference_is_below_the_authors, test_the_size_of_the_source (sweep, GPU).
2. Solutions: tests/test_definite.py test_solutions_keep_their_bound, test_graded_tiny_and_huge_systems; triangles by
   components: test_triangular.py, test_solve_triangular.py test_the_bound_holds. SciPy's factors:
   tests/test_definite.py test_factors_mix_with_scipy_s.
3. Inverses: test_definite_inverse.py test_inverses_keep_their_bound_and_are_symmetric; test_triangular_inverse.py
   test_error_is_that_of_substitution, test_integers_are_exact; test_gauss_jordan.py
   test_positive_definite_matrices_keep_the_bound; here test_the_inverses_at_the_size_of_the_source (sweep, GPU).
4. Passes: test_cholesky.py test_the_passes_are_those_that_are_stated; test_triangular_inverse.py
   test_gets_takes_a_pass_for_each_column; test_gauss_jordan.py test_three_passes_a_column_over_all_of_both_halves;
   the author's launches: here test_explain_tells_the_authors_launches.
5. Breakdown: here test_blurs_without_a_weight_are_refused_as_lapack_does,
   test_an_indefinite_real_matrix_is_refused, test_conditions_beyond_float32_raise_or_keep_their_bound,
   test_the_minor_is_lapacks; small ones: test_cholesky.py test_the_leading_minor_is_named.
6. M M^T: test_syrk.py test_every_small_shape (sweep), test_integers_are_exact, test_the_example_of_the_source,
   test_flops_are_those_of_half, test_stripes_of_every_width_are_the_same_in_every_run; no columns: test_symmetric.py
   test_nothing.
7. 3 x 3: test_inv3.py test_the_formula_loses_what_elimination_keeps, test_integers_are_exact,
   test_determinants_out_of_range_do_no_harm, test_a_singular_member_is_named; test_stack_small.py test_one_pass,
   test_stacks_of_every_shape, test_singular_members_are_named; here test_a_million_inverses (sweep).
8. Restoration: tests/applications/test_restoration.py test_the_sources_table, test_it_is_the_least_squares_solution,
   test_a_band_goes_along_the_shorter_side, test_the_order_of_the_source_is_wrong_for_one_sided_blurs,
   test_the_border_is_where_fourier_fails; test_restoration.py test_the_model_is_that_of_scipy,
   test_the_system_its_products_and_its_normal_equations.
9. Window squares: test_window_squares.py test_ones, test_integers_are_exact, test_windows_of_any_size,
   test_all_levels_of_16_bits_are_exact_under_the_limit (60 images, five ranges), test_variants_agree. Its time beside
   the author's: ``python -m benchmarks.sources window_squares`` and the README's table of the sources.
10. Commands: tests/lab/test_collection.py, tests/lab/test_compare_command.py test_every_operation,
   tests/test_cliffs.py, tests/test_benchmarks_sources.py, tests/test_readme.py; here
   test_every_authors_variant_names_its_source. Queue and hybrid: tests/queue/test_coprocessor.py, tests/test_hybrid.py
   test_other_operations_are_shared. Leaks: every test, by tests/conftest.py.
"""

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
from glla.operations.elimination.cholesky import VARIANTS
from glla.testing import JUDGES

SWEEP = [*range(1, 71), 127, 128, 129, 255, 256, 257, 1024]
KERNELS = {
    "mean of 3 x 3": np.full((3, 3), 1 / 9),
    "mean of 5 x 5": np.full((5, 5), 1 / 25),
}


def definite(n, rng, condition=10.0):
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    a = (q * np.geomspace(1, 1 / condition, n)) @ q.T
    return ((a + a.T) / 2).astype(np.float32)


def graded(n, rng, spread=20):
    d = np.ldexp(1.0, np.linspace(-spread, spread, n).astype(int))
    return (definite(n, rng) * np.outer(d, d)).astype(np.float32)


def blurring(side, kernel):
    """The normal matrix of a blur of side x side pixels, zero beyond the border."""
    rows, columns = kernel.shape
    h = np.zeros((side, side, side, side))
    for y in range(side):
        for x in range(side):
            for i in range(rows):
                for j in range(columns):
                    v, u = y + i - rows // 2, x + j - columns // 2
                    if 0 <= v < side and 0 <= u < side:
                        h[y, x, v, u] = kernel[i, j]
    h = h.reshape(side * side, side * side)
    return h.T @ h


def kept(a, variant=None):
    """Whether factor, solution and inverse of a matrix keep their bounds."""
    ones = np.ones((len(a), 1), np.float32)
    assert JUDGES["cholesky"].verdict((a,), glla.cholesky(a, variant=variant)).ok
    if variant is None:
        assert JUDGES["solve_pos"].verdict((a, ones), glla.solve(a, ones, assume_a="pos")).ok
        x = glla.inv(a, assume_a="pos")
        assert JUDGES["inv_pos"].verdict((a,), x).ok
        assert (x.view(np.int32) == np.ascontiguousarray(x.T).view(np.int32)).all()
    return True


@pytest.mark.sweep
@pytest.mark.parametrize("variant", [*VARIANTS, None])
@pytest.mark.parametrize("n", SWEEP)
def test_every_size_condition_and_grading(n, variant, rng):
    for condition in (1.0, 1e3, 1e6) if n < 1024 else (1e3,):
        assert kept(definite(n, rng, condition), variant)
    assert kept(graded(n, rng), variant)


@pytest.mark.parametrize("n", [70, 129])
def test_a_few_of_them(n, rng):
    assert kept(definite(n, rng, 1e6))
    assert kept(graded(n, rng))


@pytest.mark.parametrize("n", [200, pytest.param(1024, marks=pytest.mark.sweep)])
def test_the_mean_difference_is_below_the_authors(n, rng):
    """Theirs is 5.71e-6 at n = 4096, relative to MATLAB's in double precision."""
    a = definite(n, rng)
    exact = np.linalg.cholesky(a.astype(np.float64))
    half = np.tril_indices(n)
    found = glla.cholesky(a)[half]
    assert np.mean(np.abs(found - exact[half])) / np.mean(np.abs(exact[half])) < 1e-6


@pytest.fixture(scope="module")
def large(device):
    """A matrix of the order that the author's figures are for, and its factor in float64."""
    if device.limits.software:
        pytest.skip("a software rasteriser takes minutes")
    rng = np.random.default_rng(4096)
    a = definite(4096, rng)
    return a, scipy.linalg.cholesky(a.astype(np.float64), lower=True)


@pytest.mark.sweep
@pytest.mark.parametrize("variant", [*VARIANTS, None])
def test_the_size_of_the_source(large, variant):
    """Order 4096: norm(A - L L^T), and the mean difference, of which theirs is 5.71e-6; LAPACK's are printed too."""
    a, exact = large
    half = np.tril_indices(len(a))
    for name, factor in ((variant, glla.cholesky(a, variant=variant)), ("LAPACK", spotrf(a, lower=1)[0])):
        factor = np.tril(factor)
        verdict = JUDGES["cholesky"].verdict((a,), factor)
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
    assert verdict.ok, verdict
    assert (x == x.T).all()
    t = factor.astype(np.float32)
    verdict = JUDGES["inv"].verdict((t,), glla.inv(t, assume_a="lower triangular"))
    assert verdict.ok, verdict


@pytest.mark.parametrize("variant", VARIANTS)
def test_integers_are_exact_for_the_author(variant, rng):
    """With powers of two on the diagonal his reciprocal roots are exact, too, whatever the device rounds."""
    for n in (1, 2, 16, 17, 33, 40):
        b = np.tril(rng.integers(-9, 10, (n, n)), -1) + np.diag(2 ** rng.integers(0, 4, n))
        found = glla.cholesky((b @ b.T).astype(np.float32), variant=variant)
        assert (found == b).all(), n


@pytest.mark.sweep
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_million_inverses(n, rng, device):
    """More than one texture of small size holds; each member is judged. Also without any."""
    a = rng.standard_normal((10**6, n, n)).astype(np.float32)
    a += 4 * np.sign(np.einsum("kii->ki", a))[:, :, np.newaxis] * np.eye(n, dtype=np.float32)
    for given in (a, glla.asarray(a, device)):
        x = np.asarray(glla.inv(given))
        wide = x.astype(np.float64)
        size = np.abs(a).sum(axis=1).max(axis=1) * np.abs(wide).sum(axis=1).max(axis=1)
        ratio = np.abs(a @ wide - np.eye(n)).sum(axis=1).max(axis=1) / (n * size * 2.0**-24)
        print(f"10^6 inverses, n = {n}: worst ratio {ratio.max():.3g}")
        assert ratio.max() < 30
    assert glla.inv(a[:0]).shape == (0, n, n)


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


@pytest.mark.data
@pytest.mark.sweep
def test_a_real_matrix_of_condition_1e10(data):
    a = np.float32(scipy.io.mmread(data / "bcsstk13.mtx.gz").toarray())
    assert kept(a)


@pytest.mark.data
def test_an_indefinite_real_matrix_is_refused(data):
    a = np.float32(scipy.io.mmread(data / "can_144.mtx").toarray())
    assert np.linalg.eigvalsh(a.astype(float))[0] < -2
    _, minor = spotrf(a, lower=1)
    for call in (glla.cholesky, lambda one: glla.inv(one, assume_a="pos")):
        with pytest.raises(NotPositiveDefiniteError, match=rf"its leading minor of order {minor} is not"):
            call(a)


@pytest.mark.parametrize("name", KERNELS)
def test_blurs_without_a_weight_are_refused_as_lapack_does(name):
    """Singular to float32: where the first bad pivot lies is rounding, that there is one is not."""
    a = blurring(17 if name == "mean of 3 x 3" else 14, KERNELS[name]).astype(np.float32)
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
            a = definite(n, rng, condition)
            try:
                kept(a)
            except NotPositiveDefiniteError as error:
                assert "its leading minor of order" in str(error)
                refused += 1
    assert refused >= 3


@pytest.mark.parametrize("order", [1, 2, 3, 40])
def test_the_minor_is_lapacks(order, rng):
    a = definite(40, rng)
    a[order - 1, order - 1] = -0.5
    _, minor = spotrf(a, lower=1)
    assert minor == order
    for variant in (*VARIANTS, None):
        with pytest.raises(NotPositiveDefiniteError, match=rf"its leading minor of order {order} is not, as pivot"):
            glla.cholesky(a, variant=variant)


def test_no_input_is_changed_and_nan_above_the_diagonal_is_harmless(rng):
    a = definite(33, rng)
    before = a.copy()
    expected = glla.cholesky(a)
    glla.inv(a, assume_a="pos")
    glla.solve(a, a, assume_a="pos")
    assert (a == before).all() and not np.triu(expected, 1).any()
    a[np.triu_indices(33, 1)] = np.nan
    for variant in VARIANTS:
        found = glla.cholesky(a, variant=variant, check_finite=False)
        assert np.abs(found - expected).max() < 1e-5
