"""Inverses of many 3 x 3 matrices by the adjugate formula: its own bound, its failures, beside elimination."""

from itertools import permutations

import numpy as np
import pytest

import glla
from glla.errors import NonFiniteError, SingularMatrixError
from glla.operations.batches import stack
from glla.operations.systems import inv3
from glla.operations.systems.inv3 import VARIANTS
from glla.passes import Form, Limits
from glla.testing import JUDGES, ROUNDOFF, integers

SOFTWARE = Limits(software=True)
FORMULAS = ("adjugate", "adjugate_fused")

every_formula = pytest.mark.parametrize("variant", FORMULAS)


def cofactors(a):
    """P: cofactors of |A| with all terms positive, transposed as an adjugate is."""
    size, p = np.abs(a.astype(np.float64)), np.empty(a.shape)
    for i in range(3):
        for j in range(3):
            (r, s), (c, d) = ([k for k in range(3) if k != one] for one in (j, i))
            p[:, i, j] = size[:, r, c] * size[:, s, d] + size[:, r, d] * size[:, s, c]
    return p


def unimodular(count, rng):
    lower, upper = (np.tril(rng.integers(-3, 4, (count, 3, 3)), -1) + np.eye(3) for _ in range(2))
    return (lower @ np.swapaxes(upper, 1, 2)).astype(np.float32)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("count", [1, 2, 7, 50])
@pytest.mark.parametrize("transposed", [False, True])
def test_the_device_plan_is_right_in_either_layout_of_the_rows(run, rng, variant, count, transposed):
    (a,) = inv3.example(count, rng)
    form = Form(a.shape, resident=True, transposed=transposed)
    plan = inv3.device_plan((form,), SOFTWARE, variant=variant)
    x = run(plan, A=a.T if transposed else a).matrix("X", a.shape)
    verdict = JUDGES["inv3"].verdict((a,), x)
    assert verdict.ok, verdict


@every_formula
@pytest.mark.parametrize("spectrum", [(1, 1, 1), (1, 1, 1e-6), (1, 1e-2, 1e-2), (1, 1e-3, 1e-3)], ids=str)
def test_the_bound_of_the_formula(rng, variant, spectrum):
    left, right = (np.linalg.qr(rng.standard_normal((2000, 3, 3)))[0] for _ in range(2))
    scale = 2.0 ** rng.integers(-20, 20, (2000, 3, 1))
    a = (left * np.array(spectrum) @ right * scale).astype(np.float32)
    x = glla.inv(a, variant=variant).astype(np.float64)
    wide = a.astype(np.float64)
    bound = 12 * ROUNDOFF * (np.abs(wide) @ cofactors(a)) / np.abs(np.linalg.det(wide))[:, np.newaxis, np.newaxis]
    error = np.abs(wide @ x - np.eye(3))
    # rows and columns of adj(A) scale like those of A: the bound holds for the matrix as it was
    assert (error <= bound).all()


def test_the_formula_loses_what_elimination_keeps(device):
    """Two small singular values: the share beyond the bound of an inverse, as measured before in NumPy."""
    from glla.lab import covariances

    found = {}
    for spectrum in ((1, 1, 1e-6), (1, 1e-3, 1e-3)):
        a = covariances.with_singular_values(spectrum, 4000, np.random.default_rng(7))
        for way in covariances.WAYS:
            found[spectrum[1], way] = covariances._record("", a, way, device)
    assert found[1, "adjugate"]["beyond"] == 0 and found[1, "adjugate"]["worst"] < 2
    for way in FORMULAS:
        one = found[1e-3, way]
        assert 0.005 < one["beyond"] < 0.06 and one["worst"] > 40  # fused, a GPU rounds less often
    assert all(found[one, "pivoted_small"]["worst"] < 2 for one in (1, 1e-3))


def test_the_formula_on_covariances_of_a_photograph(device):
    pytest.importorskip("pywt")
    from glla.lab import covariances

    records = [covariances._record("", covariances.covariances(1e-5, 128), way, device) for way in covariances.WAYS]
    by_way = {one["way"]: one for one in records}
    assert all(by_way[way]["worst"] > 30 and by_way[way]["beyond"] > 0 for way in FORMULAS)
    assert by_way["pivoted_small"]["worst"] < 5 and by_way["pivoted_small"]["beyond"] == 0
    assert len(covariances.table(records).splitlines()) == 2 and records[0]["count"] == 125**2


@every_formula
def test_integers_are_exact(rng, variant):
    """The determinant is, below 2^24; so unimodular matrices have their inverses."""
    a = unimodular(3000, rng)
    assert (glla.inv(a, variant=variant) == np.linalg.inv(a.astype(np.float64)).round()).all()
    a = integers(3 * 100_000, 3, rng).reshape(-1, 3, 3)
    plan = inv3.call_plan((Form((len(a), 9)),), SOFTWARE, variant=variant)
    diagnostics = glla.run(plan, A=a.reshape(-1, 9))["diagnostics"]
    scaled = np.array([[a[:, i, p[i]] for i in range(3)] for p in permutations(range(3))])  # 6 x 3 x count
    signs = np.array([1, -1, -1, 1, 1, -1])[:, np.newaxis]
    exact = (signs * scaled.astype(np.float64).prod(axis=1)).sum(axis=0)
    quotient = np.divide(exact, diagnostics[:, 0], out=np.ones(len(a)), where=diagnostics[:, 0] != 0)
    assert ((diagnostics[:, 0] == 0) == (exact == 0)).all()
    assert (np.frexp(quotient)[0] == 0.5)[exact != 0].all()  # powers of two: what rows and columns were scaled by


@every_formula
@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.arange(1, 10).reshape(3, 3), np.ones((3, 3))], ids=str)
def test_a_singular_matrix_of_a_stack_is_named(rng, variant, matrix):
    a = unimodular(1000, rng)
    a[777] = matrix
    with pytest.raises(SingularMatrixError, match=r"^inv: Singular matrix at index \(777\) of the stack: its determ"):
        glla.inv(a, variant=variant)
    with pytest.raises(SingularMatrixError, match=r"at index \(7, 77\) of"):
        glla.inv(a.reshape(10, 100, 3, 3), variant=variant)
    with pytest.raises(SingularMatrixError, match=r"^inv: Singular matrix: "):
        glla.inv(matrix, variant=variant)


@every_formula
def test_noise_in_place_of_a_determinant_is_refused(rng, variant):
    """A row that depends on the others but for its rounding: most determinants are not zero, and tell nothing."""
    a = rng.uniform(-1, 1, (500, 3, 3)).astype(np.float32)
    a[:, 2] = np.float32(0.1) * a[:, 0] + np.float32(0.3) * a[:, 1]
    diagnostics = glla.run(inv3.call_plan((Form((500, 9)),), SOFTWARE, variant=variant), A=a.reshape(-1, 9))[
        "diagnostics"
    ]
    assert (diagnostics[:, 0] != 0).mean() > 0.5
    assert inv3.indefinite(diagnostics).all()
    with pytest.raises(SingularMatrixError, match=r"at index \(0\) of the stack"):
        glla.inv(a, variant=variant)


def test_stacks_go_in_pieces(rng, monkeypatch):
    a = unimodular(25, rng)
    whole = glla.inv(a, variant="adjugate")
    monkeypatch.setattr(inv3, "most_batched", lambda limits: 7)
    assert np.array_equal(glla.inv(a, variant="adjugate"), whole)
    a[20] = 1
    with pytest.raises(SingularMatrixError, match=r"at index \(20\)"):
        glla.inv(a, variant="adjugate")
    assert inv3.most_batched(Limits()) * inv3.RECORD <= 4 * 5 * stack.MOST_TEXELS


@every_formula
@pytest.mark.parametrize("scale", [1e-13, 1e13, 3.6e27])
def test_determinants_out_of_range_do_no_harm(rng, variant, scale):
    """The source's would overflow, or be zero."""
    (a,) = inv3.example(20, rng)
    a = (a * scale).astype(np.float32).reshape(-1, 3, 3)
    assert JUDGES["inv3"].verdict((a.reshape(-1, 9),), glla.inv(a, variant=variant).reshape(-1, 9)).ok


@every_formula
def test_what_is_not_finite_stays_in_its_matrix(rng, variant):
    a = unimodular(5, rng)
    a[3, 0, 1] = np.nan
    with pytest.raises(NonFiniteError):
        glla.inv(a, variant=variant)
    x = glla.inv(a, variant=variant, check_finite=False)
    assert np.isnan(x[3]).any()
    others = np.arange(5) != 3
    assert (x[others] == np.linalg.inv(a[others].astype(np.float64)).round()).all()
