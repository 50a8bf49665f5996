"""Dask arrays: any chunks, any scheduler; what Dask itself does with Arrays of the device."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("dask", reason="dask is not installed: pip install 'glla[dask]'")
pytest.importorskip("scipy", reason="scipy is not installed: pip install 'glla[dask]'")

import dask
import dask.array as da

import glla
import glla.dask
from glla.dask import worker
from glla.dask.factors import splits
from glla.errors import (
    DTypeError,
    NonFiniteError,
    OptionError,
    ShapeError,
    SingularMatrixError,
    ThreadError,
    UnsupportedError,
)
from glla.testing import residual_plu

UNIT = 2.0**-24
SCHEDULERS = ["synchronous", "threads"]


@pytest.fixture(autouse=True)
def released():
    """The coprocessor that tasks share is released after each test."""
    with dask.config.set(scheduler="synchronous"):
        yield
    worker.close()


# -- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_products_of_integers_are_exact_for_any_chunks(scheduler, rng):
    a, b = rng.integers(-9, 10, (31, 23)), rng.integers(-9, 10, (23, 17))
    for rows, inner, columns in [(31, 23, 17), ((7, 24), (1, 20, 2), 5), (4, 6, (17,))]:
        left, right = da.from_array(a, chunks=(rows, inner)), da.from_array(b, chunks=(9, columns))
        found = glla.dask.matmul(left, right)
        assert found.dtype == np.float32
        assert found.chunks == (left.chunks[0], right.chunks[1])
        assert (found.compute(scheduler=scheduler) == a @ b).all()
    for shapes in [((0, 3), (3, 2)), ((2, 0), (0, 3))]:
        zeros = [da.zeros(shape) for shape in shapes]
        assert (glla.dask.matmul(*zeros).compute() == zeros[0].compute() @ zeros[1].compute()).all()


def test_operands_stay_on_the_device_within_a_bound(rng, monkeypatch):
    monkeypatch.setenv("GLLA_DASK_CACHE_BYTES", str(3 * 4 * 16 * 16))
    a = rng.integers(-9, 10, (64, 64))
    whole = da.from_array(a, chunks=16)
    assert (glla.dask.matmul(whole, whole).compute() == a @ a).all()
    assert 0 < worker._WORKER.residents.nbytes <= 3 * 4 * 16 * 16


# -- factors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (2, 9), (9, 2), (30, 30), (37, 20), (20, 37)])
def test_factors_of_every_shape(shape, rng):
    a = rng.uniform(-1, 1, shape)
    for chunks, nb in [((13, 9), None), ((4, 50), 8), (5, 7)]:
        found = dask.compute(*glla.dask.lu(da.from_array(a, chunks=chunks), nb=nb))
        p, lower, upper = found
        k = min(shape)
        assert [one.shape for one in found] == [(shape[0], shape[0]), (shape[0], k), (k, shape[1])]
        assert (p.sum(axis=0) == 1).all()
        assert (np.triu(lower, 1) == 0).all()
        assert (np.diagonal(lower) == 1).all()
        assert (np.tril(upper, -1) == 0).all()
        assert np.abs(lower).max(initial=0) <= 4
        assert residual_plu(a, p, lower, upper) < 30


def test_splits_have_square_blocks_on_the_diagonal():
    for m, n, nb in [(7, 7, 3), (10, 4, 3), (4, 10, 3), (1, 5, 8), (0, 4, 2)]:
        rows, columns = splits(m, n, nb)
        assert (sum(rows), sum(columns)) == (m, n)
        for height, width in zip(rows, columns, strict=False):
            assert height == width or min(m, n) <= sum(rows[: rows.index(height)])


def test_what_dask_s_own_lu_cannot_factor(rng):
    """It looks for pivots in the block of the diagonal alone, as appendix A of the thesis does."""
    a = np.kron([[0, 1], [1, 0]], np.eye(8))
    chunked = da.from_array(a, chunks=8)
    with pytest.raises(Exception, match="singular"):
        dask.compute(*da.linalg.lu(chunked))
    p, lower, upper = dask.compute(*glla.dask.lu(chunked))
    assert (p @ lower @ upper == a).all()
    assert (glla.dask.solve(chunked, np.arange(16)).compute() == np.roll(np.arange(16), 8)).all()
    with pytest.raises(ValueError, match="chunk"):
        da.linalg.lu(da.from_array(rng.random((16, 16)), chunks=(8, 4)))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_solutions_keep_the_bound_for_ragged_chunks(scheduler, rng):
    for n, columns in [(1, 1), (33, 1), (40, 3)]:
        a, b = rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, (n, columns))
        left, right = da.from_array(a, chunks=(13, 7)), da.from_array(b, chunks=(5, 1))
        x = glla.dask.solve(left, right, nb=8).compute(scheduler=scheduler)
        size = np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
        assert x.dtype == np.float32
        assert np.abs(a.astype(np.float32) @ x.astype(float) - b).max() < 16 * n * UNIT * size
        vector = glla.dask.solve(left, right[:, 0], nb=8).compute(scheduler=scheduler)
        assert vector.shape == (n,)


@pytest.mark.parametrize("shape", [(40, 5), (7, 7), (5, 9), (1, 1), (0, 3)])
def test_qr_of_chunks_of_rows(shape, rng):
    a = rng.uniform(-1, 1, shape)
    q, r = dask.compute(*glla.dask.tsqr(da.from_array(a, chunks=(9, 3))))
    k = min(shape)
    assert (q.shape, r.shape) == ((shape[0], k), (k, shape[1]))
    assert np.abs(q @ r - a).max(initial=0) <= 30 * max(shape) * UNIT * np.abs(a).sum(axis=1).max(initial=0)
    assert np.abs(q.T @ q - np.eye(k)).max(initial=0) <= 30 * max(shape) * UNIT
    assert (np.tril(r, -1) == 0).all()


def cut(n, rng):
    """Chunks of any lengths."""
    found = []
    while n:
        found.append(int(rng.integers(1, n + 1)))
        n -= found[-1]
    return tuple(found)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(2, 30))])
def test_chunks_of_any_shape(seed):
    """And views of them; each function with chunks of its own."""
    rng = np.random.default_rng(seed)
    m, k = (int(one) for one in rng.integers(2, 24, 2))

    def chunked(a):
        return da.from_array(a, chunks=tuple(cut(length, rng) for length in a.shape))

    a, b = rng.integers(-5, 6, (m, k)), rng.integers(-5, 6, (k, m))
    assert (glla.dask.matmul(chunked(a), chunked(b)).compute() == a @ b).all()
    assert (glla.dask.matmul(chunked(a)[::-1, ::2], chunked(b)[::2]).compute() == a[::-1, ::2] @ b[::2]).all()
    p = np.eye(m)[rng.permutation(m)]
    x = glla.dask.solve(chunked(p), chunked(np.arange(m)), nb=int(rng.integers(1, 9))).compute()
    assert (p @ x == np.arange(m)).all()
    u = rng.uniform(-1, 1, (m, k))
    found = dask.compute(*glla.dask.lu(chunked(u), nb=int(rng.integers(1, 9))))
    assert residual_plu(u, *found) < 30


# -- refusals ---------------------------------------------------------------------------------------------------------


UNKNOWN = da.ones((4, 4), chunks=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: glla.dask.matmul(da.ones((2, 3)), da.ones((2, 3))), ShapeError, "inner dimensions must agree"),
        (lambda: glla.dask.matmul(da.ones(3), da.ones((3, 3))), ShapeError, "must have 2 dimensions"),
        (lambda: glla.dask.lu(da.ones((3, 3)) * 1j), DTypeError, "real numbers"),
        (lambda: glla.dask.lu(da.ones((3, 3)), nb=0), OptionError, "nb must be at least 1"),
        (lambda: glla.dask.solve(da.ones((3, 4)), np.ones(3)), ShapeError, "square"),
        (lambda: glla.dask.solve(da.ones((3, 3)), np.ones(4)), ShapeError, "b must have 3 rows"),
        (lambda: glla.dask.solve(da.ones((3, 3)), np.ones(3)).compute(), SingularMatrixError, "singular"),
        (lambda: glla.dask.solve(da.zeros((3, 3)), np.ones(3)).compute(), SingularMatrixError, "column 0 is zero"),
        (lambda: glla.dask.solve(da.eye(3), [np.nan] * 3).compute(), NonFiniteError, "b must be finite"),
        (lambda: glla.dask.matmul(da.full((3, 3), np.inf), da.eye(3)).compute(), NonFiniteError, "finite"),
        (lambda: glla.dask.matmul(da.eye(3) * 3e38, da.eye(3) * 3e38).compute(), NonFiniteError, "does not fit"),
        (lambda: glla.dask.lu(da.eye(3) * 1e300)[2].compute(), NonFiniteError, "fit float32"),
        (lambda: glla.dask.lu(UNKNOWN[UNKNOWN.sum(axis=1) > 0]), ShapeError, "compute_chunk_sizes"),
    ],
)
def test_wrong_calls_say_what_is_right(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_dependent_rows_are_refused(rng):
    a = rng.integers(-9, 10, (30, 30)).astype(float)
    a[-1] = a[:-1].sum(axis=0)
    with pytest.raises((SingularMatrixError, NonFiniteError)):
        glla.dask.solve(da.from_array(a, chunks=8), np.ones(30)).compute()


# -- chunks on the device: what Dask does with them -------------------------------------------------------------------


@pytest.fixture
def chunked(rng):
    """Array of integers, and a Dask array whose chunks are on a device: one of its own, as Dask keeps arrays."""
    a = rng.integers(-4, 5, (24, 24)).astype(np.float32)
    with glla.Device() as device:
        yield a, da.from_array(glla.asarray(a, device=device), chunks=(8, 8), asarray=False)


def test_chunks_on_the_device_pass(chunked):
    a, on_device = chunked
    assert (np.asarray((on_device + on_device.T).compute()) == a + a.T).all()
    assert float(on_device.sum().compute()) == a.sum()
    assert dask.base.tokenize(glla.asarray(a))
    for product in (on_device @ on_device, da.tensordot(on_device, on_device, 1)):
        assert (np.asarray(product.compute()) == a @ a).all()
    R = np.asarray(da.linalg.tsqr(on_device.rechunk((8, 24)))[1].compute())
    assert np.abs(R.T @ R - a.T @ a).max() <= 24 * 2.0**-24 * (np.abs(R.T) @ np.abs(R)).max() * 4
    # glla.dask takes them as well: it makes NumPy arrays of them
    assert (glla.dask.matmul(on_device, on_device).compute() == a @ a).all()


def test_chunks_on_the_device_that_are_refused_say_so(chunked):
    _, on_device = chunked
    with pytest.raises(UnsupportedError, match=r"use A.numpy\(\)"):
        da.linalg.solve(on_device, on_device).compute()
    parts = on_device.map_blocks(lambda x: x @ x).map_blocks(np.asarray)
    with pytest.raises(ThreadError, match="belongs to the thread"):
        parts.compute(scheduler="threads", optimize_graph=False)


def test_the_example_of_the_guide():
    guide = Path(__file__).parents[2] / "docs" / "guide" / "dask.md"
    (example,) = re.findall(r"```python\n(import dask\.array.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    exec(example, {})
    a = da.from_array(np.eye(4), chunks=2)
    for _ in range(2):
        assert (glla.dask.matmul(a, a).compute() == np.eye(4)).all()
        worker.close()


# -- worker processes -------------------------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("default")  # of distributed's own, when its workers end
def test_a_killed_worker_changes_nothing(rng, tmp_path):
    """Two processes; one is killed in the middle, its tasks are done again."""
    distributed = pytest.importorskip("distributed")
    n = 192
    a, b = rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, n)
    chunked = da.from_array(a, chunks=24)
    expected = glla.dask.solve(chunked, b).compute()
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        assert (glla.dask.solve(chunked, b).compute(scheduler=client) == expected).all()
        future = client.compute(glla.dask.solve(chunked + 0.0, b))
        pids = client.run(lambda: __import__("os").getpid())
        __import__("time").sleep(0.3)
        __import__("os").kill(next(iter(pids.values())), 9)
        assert (future.result(timeout=120) == expected).all()
