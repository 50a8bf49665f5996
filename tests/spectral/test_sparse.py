"""A few eigenvalues and singular values of sparse matrices, against SciPy's in float64."""

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError
from glla.operations.spectral import filter as filters
from glla.sparse.linalg import eigsh, svds
from glla.sparse.spectral import subspace

sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")

U = 2.0**-24


def membrane(m):
    """Five-point Laplacian of the L-shaped membrane of three unit squares, mesh width 1 / m, times its square."""
    inside = np.ones((2 * m - 1, 2 * m - 1), bool)
    inside[m - 1 :, m - 1 :] = False
    line = sparse.diags([-1.0, -1.0], [-1, 1], shape=(2 * m - 1, 2 * m - 1))
    whole = sparse.kronsum(line, line) + 4 * sparse.eye((2 * m - 1) ** 2)
    kept = np.flatnonzero(inside)
    return whole.tocsr()[kept][:, kept]


def check(a, w, v, expected):
    """Values near SciPy's, orthonormal vectors, small residuals, the largest entry of each vector positive."""
    a = np.asarray(a.todense(), dtype=np.float64)
    norm = np.abs(a).sum(axis=1).max()
    v = v.astype(np.float64)
    assert np.all(np.diff(w) >= 0)
    np.testing.assert_allclose(w, np.sort(expected), rtol=0, atol=40 * U * norm)
    assert np.abs(v.T @ v - np.eye(len(w))).max() < 30 * U * len(w)
    assert np.linalg.norm(a @ v - v * w, axis=0).max() < 64 * U * norm
    assert np.all(np.take_along_axis(v, np.abs(v).argmax(axis=0)[None], axis=0) > 0)


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE", "SM"])
def test_ends_of_the_spectrum_of_a_membrane(which):
    a = membrane(10)
    expected = scipy_linalg.eigsh(a, 5, which="SA" if which == "SM" else which, return_eigenvectors=False)
    check(a, *eigsh(a, 5, which=which), expected)
    values = eigsh(a, 5, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(values, np.sort(expected), atol=40 * U * 8)


@pytest.mark.sweep
def test_the_membrane_of_cleve_moler():
    """9.63972 is the first value of the exact shape; five points at mesh width 1 / 64 give 9.6470."""
    a = glla.sparse.asarray(membrane(64))
    before = a.device.stats().passes
    w, v = eigsh(a, 6, which="SA")
    most = 1500 if a.device.info.software else 1750  # where qr takes blocks of rows: more passes, and shorter ones
    assert a.device.stats().passes - before <= most
    assert round(float(w[0]) * 64**2, 4) == pytest.approx(9.6470, abs=1e-4)
    expected = np.sort(scipy_linalg.eigsh(membrane(64), 6, sigma=0, return_eigenvectors=False))
    np.testing.assert_allclose(w, expected, rtol=1e-5)
    assert v[:, 0].min() > 0  # the first mode has no node


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30])
def test_eigenvalues_of_both_signs_of_any_size(rng, scale):
    a = sparse.random(150, 150, density=0.05, random_state=1)
    a = (a + a.T - 0.5 * sparse.eye(150)).tocsr()
    expected = scipy_linalg.eigsh(a, 4, return_eigenvectors=False)
    w, v = eigsh(scale * a, 4)
    check(a, np.sort(w / np.float32(scale)), v, expected)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_values_near_a_number(n):
    """Matrices that are smaller than the block of columns, too."""
    a = membrane(n)
    expected = scipy_linalg.eigsh(a, 4, sigma=3.1, return_eigenvectors=False)
    check(a, *eigsh(a, 4, sigma=3.1), expected)


def test_multiple_values_take_wide_blocks():
    a = sparse.diags([np.repeat(np.arange(1.0, 21.0), 8)], [0]).tocsr()
    w, v = eigsh(a, 8, ncv=16)
    check(a, w, v, np.full(8, 20.0))


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
def test_more_equal_values_than_the_block_has_columns(which):
    a = sparse.diags([np.r_[5.0, -4.0, 3.0, np.zeros(97)]], [0]).tocsr()
    check(a, *eigsh(a, 3, which=which), {"LA": [0, 3, 5], "SA": [-4, 0, 0], "LM": [-4, 3, 5]}[which])


@pytest.mark.parametrize("others", [[], [-2.0, 3.0], [3.0], [1 + 1e-7, 1 - 1e-7]], ids=str)
@pytest.mark.parametrize("k", [4, 7])
def test_an_eigenvalue_at_both_ends(others, k):
    values = np.r_[others, np.ones(150 - len(others))]
    a = sparse.diags([values], [0]).tocsr()
    check(a, *eigsh(a, k, which="BE"), np.sort(values)[np.r_[: k // 2, k // 2 - k : 0]])


@pytest.mark.parametrize("near", [0.0, 1e-4])
@pytest.mark.parametrize("k", [1, 5])
def test_more_values_of_both_signs_and_one_magnitude_than_the_block_has_columns(rng, near, k):
    """A filter of A^2 leaves sums of eigenvectors of w and of -w, which are not eigenvectors."""
    values = np.r_[np.ones(60), -np.ones(60)] + near * rng.random(120)
    q = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    a = sparse.csr_matrix((q * values) @ q.T)
    w, v = eigsh(a, k)
    check(a, w, v, w)
    np.testing.assert_allclose(np.sort(np.abs(w)), np.sort(np.abs(values))[-k:], atol=100 * U)


def test_more_values_on_both_sides_of_a_number_than_the_block_has_columns(rng):
    values = np.repeat(np.arange(-3.0, 5.0), 20)
    q = np.linalg.qr(rng.standard_normal((160, 160)))[0]
    a = sparse.csr_matrix((q * values) @ q.T)
    w, v = eigsh(a, 5, sigma=0.5)
    check(a, w, v, np.round(w))
    assert set(np.round(w)) <= {0.0, 1.0}


def test_one_large_value_beside_small_ones(rng):
    """A filter of a high degree would leave nothing of the others but rounding."""
    values = np.concatenate([[50.0], 1 + 0.01 * np.arange(199)])
    a = sparse.diags([values], [0]).tocsr()
    check(a, *eigsh(a, 4, which="LA"), np.sort(values)[-4:])


@pytest.mark.parametrize(("n", "which"), [(2000, "SA"), (800, "LA")])
def test_rounding_errors_of_a_filter_that_gains_little_are_damped(n, which):
    """Gaps of a long chain are 1e-6 of its norm: 150 products gain less than ten."""
    a = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)).tocsr()
    places = np.arange(1, 4) if which == "SA" else np.arange(n - 2, n + 1)
    check(a, *eigsh(a, 3, which=which, maxiter=10), 4 * np.sin(np.pi / 2 * places / (n + 1)) ** 2)


@pytest.mark.parametrize("n", [5, 20, 64, 65])
def test_small_matrices_and_empty_ones(n):
    a = sparse.diags([np.arange(1.0, n + 1)], [0]).tocsr()
    check(a, *eigsh(a, 3, which="BE"), [1.0, n - 1, n])
    for which in ("LM", "BE"):
        w, v = eigsh(sparse.csr_matrix((n, n)), 2, which=which)
        assert w.tolist() == [0, 0] and np.abs(v.T @ v - np.eye(2)).max() < 1e-5


@pytest.mark.parametrize("format", ["diagonals", "sell", "points", "pointers", "blocks", "circular", "stencil"])
def test_every_format(format):
    a = 2 * np.eye(100) - np.eye(100, k=1) - np.eye(100, k=-1)
    w = eigsh(glla.sparse.asarray(a, format), 3, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, 2 - 2 * np.cos(np.pi * np.arange(98, 101) / 101), atol=1e-5)


def test_the_filter_is_the_polynomial(rng, device):
    a = 2 * np.eye(70) - np.eye(70, k=1) - np.eye(70, k=-1)
    x = rng.standard_normal((70, 4)).astype(np.float32)
    b = subspace.Symmetric((glla.sparse.asarray(a, device=device),), (-4.0, 4.0))
    wanted, w = subspace.Wanted(2, "SA"), np.array([0.5, 0.6, 0.7, 1.0])
    got = b.filtered(glla.asarray(x, device=device), wanted, w, 5).numpy()
    nodes = np.polynomial.chebyshev.Chebyshev.basis(5, domain=(1.0, 4.0))
    values, vectors = np.linalg.eigh(a)
    expected = vectors @ ((nodes(values) / nodes(0.5))[:, None] * (vectors.T @ x))
    np.testing.assert_allclose(got, expected, atol=1e-4 * np.abs(expected).max())
    assert filters.weights(5, (1.0, 4.0), 0.5).shape == (5, 3)


def test_reproducible_and_from_a_vector(rng):
    a = membrane(8)
    (w, v), (again, same) = eigsh(a, 3, which="SA"), eigsh(a, 3, which="SA")
    assert w.tobytes() == again.tobytes() and v.tobytes() == same.tobytes()
    for first, second in ((7, 7), (np.random.default_rng(7), 7)):
        values, vectors = eigsh(a, 3, which="SA", rng=first)
        assert vectors.tobytes() == eigsh(a, 3, which="SA", rng=second)[1].tobytes() != v.tobytes()
        np.testing.assert_allclose(values, w, atol=1e-5)
    started, _ = eigsh(a, 3, which="SA", v0=rng.standard_normal(a.shape[0]))
    np.testing.assert_allclose(started, w, atol=1e-5)


def test_too_few_filters():
    with pytest.raises(ConvergenceError, match=r"after 1 filters a residual is .* times as large as asked for"):
        eigsh(membrane(10), 5, which="SA", maxiter=1)


# -- singular values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 4, 9])
def test_singular_values_of_a_matrix_of_low_rank(rng, rank):
    a = rng.standard_normal((150, rank)) @ rng.standard_normal((rank, 120))
    u, s, vh = svds(a, 4)
    expected = np.linalg.svd(a, compute_uv=False)[3::-1]
    np.testing.assert_allclose(s, expected, atol=100 * U * expected[-1])
    assert max(np.abs(one @ one.T - np.eye(4)).max() for one in (u.T, vh)) < 1e-5


@pytest.mark.parametrize("shape", [(200, 120), (120, 200), (150, 150), (30, 20), (20, 30)], ids=str)
def test_the_largest_singular_values(shape):
    a = sparse.random(*shape, density=0.1, random_state=1, format="csr")
    dense = a.toarray()
    u, s, vh = svds(a, 4)
    assert u.shape == (shape[0], 4) and vh.shape == (4, shape[1])
    expected = np.linalg.svd(dense, compute_uv=False)[3::-1]
    np.testing.assert_allclose(s, expected, rtol=3e-6)
    assert np.abs(u.T @ u - np.eye(4)).max() < 1e-5 and np.abs(vh @ vh.T - np.eye(4)).max() < 1e-5
    assert np.linalg.norm(dense @ vh.T - u * s) < 1e-4 * expected[-1]
    assert svds(a, 4, return_singular_vectors=False).tobytes() == s.tobytes()
    assert svds(a, 4, return_singular_vectors="u")[2] is None and svds(a, 4, return_singular_vectors="vh")[0] is None


def test_a_random_block_finds_values_that_fall_off(rng):
    left, right = (np.linalg.qr(rng.standard_normal((n, 100)))[0] for n in (180, 120))
    a = (left * 2.0 ** -np.arange(100.0)) @ right.T
    expected = 2.0 ** -np.arange(4.0, -1, -1)
    found = [svds(a, 5, solver="randomized", rng=seed)[1] for seed in (None, 3, np.random.default_rng(3))]
    assert found[0].tobytes() != found[1].tobytes() == found[2].tobytes()
    np.testing.assert_allclose(found, [expected] * 3, rtol=1e-5)
