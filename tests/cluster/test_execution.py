"""Products, factors and solutions of distributed matrices, on ranks that are threads of this process."""

import os
import subprocess
import sys
import threading
import time
from itertools import product

import numpy as np
import pytest

from tests.beside import spied

pytest.importorskip("scipy", reason="panels are factored by SciPy's LAPACK")

import glla
from glla import cluster, testing
from glla.cluster import DistributedMatrix, columns, engines, factoring, resident
from glla.cluster.lapack import permutation
from glla.errors import (
    ClusterError,
    DeviceMismatchError,
    DTypeError,
    GrowthWarning,
    NonFiniteError,
    OptionError,
    OptionTypeError,
    ShapeError,
    SingularMatrixError,
)
from glla.gl import runner
from glla.gl.egl import EGLDevice
from glla.testing.adversaries import growing

from .conftest import forced, uniform

GRIDS = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (3, 1)]
UNIT = 2.0**-24


def factored(grid, a, nb, variant="tournament"):
    """Packed factors as a whole, exchanges, and what was sent."""
    whole = DistributedMatrix.load(grid, a, nb)
    before = grid.sent
    lu, piv = cluster.lu_factor(whole, variant=variant)
    sent = tuple(after - start for after, start in zip(grid.sent, before, strict=True))
    return lu.gather(), piv, sent


def ratio(a, lu, piv):
    """LAPACK's test ratio of P L U = A."""
    m, k = len(a), min(a.shape)
    lower = np.tril(lu[:, :k].astype(float), -1) + np.eye(m, k)
    return testing.residual_plu(a, np.eye(m)[:, permutation(piv, m)], lower, np.triu(lu[:k]))


def hpl(a, x, b):
    """HPL's residual."""
    a, x = a.astype(float), x.astype(float)
    size = np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
    return np.abs(a @ x - b).max() / (UNIT * size * len(a))


# -- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", GRIDS)
def test_exact_factors_do_not_depend_on_the_grid(grid, on_grid):
    for n, nb, variant in product((24, 37), (4, 10), ("tournament", "partial")):
        a, p, lower, upper = forced(n, n)
        for lu, piv, _ in on_grid(grid, factored, a, nb, variant):
            assert (np.tril(lu, -1) + np.eye(n) == lower).all()
            assert (np.triu(lu) == upper).all()
            assert (np.eye(n)[:, permutation(piv, n)] == p).all()


def test_exact_on_the_device(on_grid):
    """The engine of glla, on llvmpipe contexts in threads of their own."""
    a, p, lower, upper = forced(37, 5)

    def work(grid):
        whole = DistributedMatrix.scatter(grid, a if grid.rank == 0 else None, 8)
        found = cluster.plu(whole)
        return [one.gather() for one in (*found, cluster.matmul(whole, whole))]

    for found in (*on_grid((2, 2), work, engine="glla"), *on_grid((1, 1), work, engine="glla")):
        for one, expected in zip(found, (p, lower, upper, a @ a), strict=True):
            assert (one == expected).all()


@pytest.mark.mesa
def test_blocks_of_any_size_are_exact(monkeypatch):
    """On a GPU large blocks of U are products with an inverse, which is exact for no such matrix."""
    monkeypatch.setattr(resident, "INVERTED", 16)
    a, _, lower, upper = forced(150, 5)
    with cluster.grid(engine="glla", device="software") as alone:
        lu, _, _ = factored(alone, a, 64)
    assert (lu == np.tril(lower, -1) + upper).all()


@pytest.mark.mesa
@pytest.mark.parametrize("grid", [(1, 1), (1, 3), (2, 1)])
def test_columns_behind_a_last_panel_of_odd_width(grid, on_grid):
    """A texel of the device holds two columns: those that are done with may end in the middle of one."""

    def work(grid, *each):
        return [factored(grid, a, nb) for a, nb in each]

    each = [(uniform(m, n, m), nb) for m, n, nb in ((3, 7, 2), (9, 29, 4), (9, 10, 4))]
    for found in on_grid(grid, work, *each, engine="glla", device="software"):
        for (a, _), (lu, piv, _) in zip(each, found, strict=True):
            assert ratio(a, lu, piv) < 30


@pytest.fixture(scope="module")
def gpu():
    made = engines.Gpu("software")
    yield made
    made.close()


@pytest.mark.mesa
@pytest.mark.parametrize("seed", range(6))
def test_both_engines_hold_the_same(seed, gpu):
    """Whatever rows move, come and go: those of the own part, and those of others."""
    rng = np.random.default_rng(seed)
    m, n = (int(one) for one in rng.integers(1, 50, 2))
    start = rng.integers(-9, 10, (m, n)).astype(np.float32)
    both = engines.Host().trailing(start), gpu.trailing(start)
    while m and n:
        b = min(2 * int(rng.integers(1, 5)), n)  # even, but for the last columns
        drop = min(b, m) if rng.random() < 0.7 else 0
        places = drop + rng.permutation(m - drop)[: int(rng.integers(0, b + 1))]
        top = both[0].rows(np.arange(min(b, m))).result()
        own = rng.integers(0, len(top), len(places)) if drop else None
        values = top[own] if own is not None else rng.integers(-9, 10, (len(places), n)).astype(np.float32)
        for one in both:
            one.replace(places, values, drop, own)
        m -= drop
        lower, upper = rng.integers(-2, 3, (m, b)), rng.integers(-2, 3, (b, n))
        lower, upper = lower.astype(np.float32), upper.astype(np.float32)
        first = b if rng.random() < 0.6 else 0
        if first:
            expected, found = (one.split(lower, upper[:, :first]).result() for one in both)
            assert (expected == found).all()
            n -= first
        for one in both:
            one.update(lower, upper[:, first:])
        wanted = rng.permutation(m)[: b + 1]
        expected, found = (one.rows(wanted).result() for one in both)
        assert expected.shape == found.shape == (len(wanted), n)
        assert (expected == found).all()
        if not drop and not first:
            break


@pytest.mark.mesa
@pytest.mark.parametrize(("seed", "inverted"), [*product(range(3), (2, 128))])
def test_both_engines_hold_the_same_columns(seed, inverted, gpu, monkeypatch):
    """Whatever rows are exchanged, whether U is a product with an inverse or not."""
    monkeypatch.setattr(resident, "INVERTED", inverted)
    rng = np.random.default_rng(seed)

    def integers(*shape):
        return rng.integers(-1, 2, shape).astype(np.float32)

    m, n = (int(one) for one in rng.integers(20, 60, 2))
    start = integers(m, n)
    both = engines.Host().columns(start), gpu.columns(start)
    for b in (6, 2, 4, min(5, n)):
        order, lower = rng.permutation(m), integers(b, m - b)
        block = (np.tril(integers(b, b), -1) + np.eye(b, dtype=np.float32) + np.triu(np.full((b, b), 7), 1)).T  # U is 7
        found = [one.exchange(order, block, lower) for one in both]
        m -= b
        first = min(2 * int(rng.integers(1, 4)), n) if rng.random() < 0.6 else 0
        parts = [one.split(np.empty((first, m), np.float32)) for one in both] if first else []
        n -= first
        for one in both:
            one.update().result()
        for expected, got in (found, parts) if parts else (found,):
            assert expected.result(5).shape == got.result(5).shape
            assert (expected.result() == got.result()).all()
            assert np.abs(expected.result()).max(initial=0) < 2**24


@pytest.mark.mesa
def test_an_engine_that_fails_says_what_was_first_wrong(gpu, monkeypatch):
    """Whoever waits for what comes later is told, and does not wait for ever."""
    monkeypatch.setattr(resident, "gathered", lambda *_: 1 / 0)
    held = gpu.columns(uniform(8, 8, 1))
    upper = held.exchange(np.arange(8), np.eye(2, dtype=np.float32), uniform(2, 6, 1))
    first = held.split(np.empty((2, 6), np.float32))
    held.update()
    for one in (upper, first):
        with pytest.raises(ZeroDivisionError):
            one.result(5)


@pytest.mark.mesa
@pytest.mark.parametrize("step", ["_load", "_append", "_compact", "_update", "_split", "_rows"])
def test_no_step_of_an_engine_fails_silently(step, gpu, monkeypatch):
    """A step whose result nobody waits for is not skipped: what comes after it raises its error."""
    monkeypatch.setattr(engines._GpuTrailing, step, lambda *_: 1 / 0)
    left = gpu.trailing(uniform(8, 8, 1))
    left.replace(np.arange(2, 4), uniform(2, 8, 1), 2)
    steps = [left.update(uniform(6, 2, 1), uniform(2, 8, 1)), left.split(uniform(6, 2, 1), uniform(2, 2, 1))]
    with pytest.raises(ZeroDivisionError):
        [one.result(5) for one in (*steps, left.rows(np.arange(2)))]


@pytest.mark.parametrize("grid", GRIDS)
def test_products_of_integers_are_exact(grid, on_grid, rng):
    for (m, k, n), nb in product([(7, 9, 5), (32, 16, 40), (1, 33, 1), (0, 3, 2), (3, 0, 2)], (2, 8)):
        a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))

        def work(grid, a=a, b=b, nb=nb):
            left, right = (DistributedMatrix.load(grid, one, nb) for one in (a, b))
            return cluster.matmul(left, right).gather()

        for found in on_grid(grid, work):
            assert found.dtype == np.float32
            assert (found == a @ b).all()


@pytest.mark.parametrize("grid", GRIDS)
def test_every_shape_and_rank_is_factored(grid, on_grid, rng):
    shapes = [(0, 0), (0, 3), (3, 0), (1, 1), (5, 3), (3, 5), (7, 20), (20, 7), (16, 16)]
    for (m, n), rank in product(shapes, (0, 1, 3, 99)):
        rank = min(rank, m, n)
        a = rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n))
        for lu, piv, _ in on_grid(grid, factored, a, 4, "partial"):
            assert ratio(a, lu, piv) < 30
            assert piv.shape == (min(m, n),)


@pytest.mark.parametrize("grid", [(2, 1), (3, 2)])
def test_tournaments_of_singular_matrices_are_right_or_refused(grid, on_grid, rng):
    refused = 0
    for _ in range(30):
        rank = int(rng.integers(0, 12))
        a = rng.integers(-1, 2, (12, rank)) @ rng.integers(-1, 2, (rank, 12))
        try:
            found = on_grid(grid, factored, a, 4)
        except SingularMatrixError as error:
            assert "take variant='partial'" in str(error)
            refused += 1
        else:
            assert all(ratio(a, lu, piv) < 30 for lu, piv, _ in found)
    assert refused < 10


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", GRIDS)
def test_partial_pivoting_has_the_pivots_of_lapack(grid, on_grid):
    import scipy.linalg

    a = uniform(60, 60, 3)
    expected = scipy.linalg.lu_factor(a)[1]
    for lu, piv, _ in on_grid(grid, factored, a, 8, "partial"):
        assert (piv == expected).all()
        assert np.abs(np.tril(lu, -1)).max() <= 1
        assert ratio(a, lu, piv) < 30


@pytest.mark.parametrize(("grid", "variant"), [*product(GRIDS, ("tournament", "partial"))])
def test_what_is_sent_is_what_is_planned(grid, variant, on_grid):
    n, nb = 37, 4
    schedule = cluster.plan("plu", n, nb, grid, variant=variant, look_ahead=False)
    found = on_grid(grid, factored, uniform(n, n, 1), nb, variant)
    plain = on_grid(grid, factored, np.zeros((0, 0)), nb, variant)  # what all operations send: sums over all ranks
    for rank, (one, none) in enumerate(zip(found, plain, strict=True)):
        planned = schedule.totals(rank)
        assert (one[2][0] - none[2][0], one[2][1] - none[2][1]) == (planned.sent, planned.sent_bytes)


def solved(grid, a, b, refine=False, variant="tournament", nb=8):
    return cluster.solve(DistributedMatrix.load(grid, a, nb), b, refine, variant=variant)


@pytest.mark.parametrize("grid", GRIDS)
def test_solutions_keep_the_bound(grid, on_grid):
    for n, variant in product((1, 2, 45), ("tournament", "partial")[: 1 + (grid[0] > 1)]):  # the same with one row
        a, b = uniform(n, n, n), uniform(n, 3, n + 1)
        for x in on_grid(grid, solved, a, b, False, variant):
            assert x.dtype == np.float32
            assert hpl(a, x, b) < 16
        before, vector = (a.copy(), b.copy()), on_grid(grid, solved, a, b[:, 0], False, variant)[0]
        assert vector.shape == (n,)
        for x in on_grid(grid, solved, a, b[:, 0], True, variant):
            assert (a == before[0]).all() and (b == before[1]).all()
            error = np.abs(a.astype(float) @ x - b[:, 0]) / (np.abs(a) @ np.abs(x) + np.abs(b[:, 0]))
            assert error.max() < 1e-14
            assert x.backward_error < 1e-14
            assert x.iterations > 0 or n == 1


@pytest.mark.mesa
def test_blas_is_limited_once_beside_a_gpu(monkeypatch):
    """OpenBLAS may wake its threads whenever their number is set, and each spins for a while."""
    control = pytest.importorskip("threadpoolctl").ThreadpoolController
    asked = spied(monkeypatch, control, "limit")
    with cluster.grid(engine="glla", device="software") as alone:
        whole = DistributedMatrix.load(alone, uniform(300, 300, 1), 32)
        asked.clear()
        cluster.lu_factor(whole)
    assert 0 < len(asked) <= 2  # its cores, and then one of them


@pytest.mark.mesa
def test_a_message_s_memory_waits_until_its_panel_is_stored(on_grid, monkeypatch):
    """The thread that stores may be the slowest; panels are factored in memory that it has read."""
    put = columns.ColumnFactoring._put_lower

    def late(self, panel, *given):
        time.sleep(0.5 * (panel in (6, 7)))
        put(self, panel, *given)

    monkeypatch.setattr(columns.ColumnFactoring, "_put_lower", late)
    a = uniform(64, 64, 1)
    expected = pytest.importorskip("scipy.linalg").lu_factor(a)

    def work(grid):
        lu, piv = cluster.lu_factor(DistributedMatrix.load(grid, a, 4))
        return lu.gather(), piv

    for lu, piv in on_grid((1, 2), work, engine="glla", device="software"):
        assert (piv == expected[1]).all()
        assert np.abs(lu - expected[0]).max() < 1e-3


@pytest.mark.mesa
def test_a_second_factorisation_makes_nothing_ready_anew(monkeypatch):
    """Whatever is left of the matrix: sizes are few, and their plans are kept."""
    made = spied(monkeypatch, runner, "prepare")
    with cluster.grid(engine="glla", device="software") as alone:
        whole = DistributedMatrix.load(alone, uniform(200, 200, 1), 16)
        before = factored(alone, whole.gather(), 16)
        assert made
        made.clear()
        after = factored(alone, whole.gather(), 16)
    assert not made
    assert all((one == other).all() for one, other in zip(before[:2], after[:2], strict=True))


def test_matrices_beyond_float32_and_ill_conditioned_ones(on_grid, rng):
    """Refinement takes the former; condition 10^6: beside rounding errors their pivots are accepted."""
    scales = 10.0 ** rng.integers(-60, 60, (20, 1)), 10.0 ** rng.integers(-60, 60, (1, 20))
    a, b = rng.uniform(-1, 1, (20, 20)) * scales[0] * scales[1], rng.uniform(-1, 1, 20) * scales[0][:, 0]
    for x in on_grid((2, 2), solved, a, b, True, "tournament", 4):
        assert (np.abs(a @ x - b) <= 1e-14 * (np.abs(a) @ np.abs(x) + np.abs(b))).all()
    a = testing.conditioned(40, 40, rng, 1e6).astype(np.float32)
    expected = glla.solve(a, np.ones(40))
    for x in on_grid((2, 2), lambda grid: solved(grid, a, np.ones(40))):
        assert hpl(a, x, np.ones(40)) < 30 and hpl(a, expected, np.ones(40)) < 30


@pytest.mark.parametrize("size", [1e-38, 1e30, 3e37])
def test_the_ends_of_float32_are_scaled(size, on_grid):
    a = np.float32(size) * uniform(20, 20, 2) * np.float32(0.5)
    for lu, piv, _ in on_grid((2, 1), factored, a, 4):
        assert ratio(a.astype(float) / size, np.where(np.tri(20, k=-1, dtype=bool), lu, lu / size), piv) < 30
    b = a.astype(float).sum(axis=1)
    for x in on_grid((2, 1), solved, a, b, False, "tournament", 4):
        assert hpl(a.astype(float) / size, x, b / size) < 16


@pytest.mark.parametrize("grid", [(2, 1), (2, 2)])
def test_the_local_variant_of_appendix_a_breaks_down_by_name(grid, on_grid):
    a, b = np.kron([[0, 1], [1, 0]], np.eye(8)).astype(np.float32), np.arange(16.0)
    for variant in ("tournament", "partial"):
        for x in on_grid(grid, solved, a, b, False, variant):
            assert (x == np.roll(b, 8)).all()
    with pytest.raises(SingularMatrixError, match=r"'local' breaks down: process row 0 .* \(block 0\)"):
        on_grid(grid, solved, a, b, False, "local")
    lucky = uniform(16, 16, 4) + 4 * np.eye(16, dtype=np.float32)
    for x in on_grid(grid, solved, lucky, b, False, "local"):
        assert hpl(lucky, x, b) < 16


def test_wilkinsons_matrix_is_solved(on_grid, rng):
    """Entries grow 2^(n - 1) times with partial pivoting; the solution is refined."""
    n = 40
    a = growing(n).astype(float)
    b = np.column_stack([a @ np.arange(1.0, n + 1), rng.uniform(-1, 1, n)])
    for variant in ("tournament", "partial"):
        for x in on_grid((2, 2), solved, a, b, False, variant):
            assert (x[:, 0] == np.arange(1, n + 1)).all()
            assert hpl(a, x[:, 1], b[:, 1]) < 16
    with pytest.warns(GrowthWarning, match="entries grew"):
        on_grid((1, 1), factored, a, 8)


def grown(grid, a, variant):
    """Growth, and the largest multiplier; LAPACK's test ratio is looked at."""
    lu, piv, _ = factored(grid, a, 32, variant)
    assert ratio(a, lu, piv) < 30
    return np.abs(np.triu(lu)).max() / np.abs(a).max(), np.abs(np.tril(lu, -1)).max()


@pytest.mark.parametrize("count", [4, pytest.param(40, marks=pytest.mark.sweep)])
def test_tournaments_grow_little_more_than_partial_pivoting(count, on_grid):
    for seed in range(count):
        a = uniform(256, 256, seed)
        (tournament, largest), (partial, _) = (on_grid((4, 1), grown, a, one)[0] for one in ("tournament", "partial"))
        assert tournament <= 2.5 * partial
        assert largest <= 4


# -- matrices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", GRIDS)
def test_what_is_dealt_out_comes_back(grid, on_grid, tmp_path, rng):
    a = rng.integers(0, 2**40, (13, 9)).astype(np.float64)
    np.save(tmp_path / "a.npy", a)

    def work(grid):
        makers = DistributedMatrix.load(grid, a, 4), DistributedMatrix.load(grid, tmp_path / "a.npy", 4)
        dealt = DistributedMatrix.scatter(grid, a if grid.rank == 0 else None, 4)
        made = DistributedMatrix.from_function(grid, lambda i, j: a[i, j], a.shape, 4)
        for one in (*makers, dealt, made):
            assert one.shape == (13, 9)
            assert one.dtype == np.float64
            assert one.descriptor[2:6] == (13, 9, 4, 4)
            whole = one.gather(root=0)
            assert (whole is not None) == (grid.rank == 0)
            assert (one.gather() == a).all()
        return makers[0].local.shape

    shapes = on_grid(grid, work)
    assert sum(m * n for m, n in shapes) == a.size


@pytest.mark.parametrize("shape", GRIDS)
def test_solve_takes_an_array_that_is_the_same_on_all_ranks(shape, on_grid, rng):
    a, b = rng.standard_normal((30, 30)), rng.standard_normal((30, 2))

    def work(grid):
        dealt = DistributedMatrix.load(grid, a)
        for given in (a, a.tolist(), np.asfortranarray(a), np.longdouble(a)):
            assert np.array_equal(cluster.solve(given, b, grid=grid), cluster.solve(dealt, b))
        x = cluster.solve(a, b[:, 0], refine=True, variant="partial", grid=grid)
        assert x.backward_error < 1e-14
        refused = [
            (a[:, :3], ShapeError, "must be square"),
            (a + 1j, DTypeError, "hold real numbers"),
            ("a", DTypeError, "hold real numbers"),
            (a * np.inf, NonFiniteError, "finite"),
        ]
        if grid.size > 1:
            refused += [
                (a + grid.rank, ShapeError, "A must be the same on all ranks"),
                (np.eye(30 + grid.rank), ShapeError, "A must be the same on all ranks"),
            ]
        for wrong, error, message in refused:
            with pytest.raises(error, match=message):
                cluster.solve(wrong, b, grid=grid)
        return True

    assert all(on_grid(shape, work))


@pytest.mark.parametrize("refine", [False, True])
def test_systems_without_unknowns(refine, on_grid):
    for shape in ((0,), (0, 0), (0, 3)):
        assert {x.shape for x in on_grid((2, 1), solved, np.ones((0, 0)), np.ones(shape), refine)} == {shape}


def test_solve_makes_a_grid_of_all_ranks_for_an_array():
    """One rank needs no launcher."""
    assert cluster.solve([[2, 1], [0, 2]], [4, 2]).tolist() == [1.5, 1]
    with cluster.grid(engine="numpy") as one, cluster.grid(engine="numpy") as other:
        dealt = DistributedMatrix.load(one, np.eye(2))
        assert cluster.solve(dealt, [1, 2], grid=one).tolist() == [1, 2]
        with pytest.raises(DeviceMismatchError, match="grid must be that of A"):
            cluster.solve(dealt, [1, 2], grid=other)
    with cluster.grid(engine="numpy") as grid:
        a = uniform(30, 30, 1)
        x = cluster.solve(DistributedMatrix.load(grid, a), a.sum(axis=1))
        assert hpl(a, x, a.sum(axis=1)) < 16
        assert grid.sent == (0, 0)
        with pytest.raises(SingularMatrixError, match=r"^solve: "):
            solved(grid, np.zeros((3, 3)), np.ones(3))


# -- wrong calls, failures --------------------------------------------------------------------------------------------


def errors_of(on_grid, shape, function, **options):
    """What every rank raises."""

    def attempt(grid):
        try:
            function(grid)
        except Exception as error:
            return type(error), str(error)
        return None

    return on_grid(shape, attempt, **options)


def lu_solved(grid, change):
    lu, piv = cluster.lu_factor(DistributedMatrix.load(grid, np.eye(6), 2))
    return cluster.lu_solve((lu, change(piv)), np.ones(6))


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda g: solved(g, np.ones((6, 6)), np.ones(6)), SingularMatrixError, "pivot 1 of 6 is 0"),
        (lambda g: solved(g, np.zeros((6, 6)), np.ones(6)), SingularMatrixError, "pivot 0 of 6 is 0"),
        (lambda g: solved(g, np.ones((6, 5)), np.ones(6)), ShapeError, "A must be square"),
        (lambda g: solved(g, np.ones((0, 0)), np.ones(6)), ShapeError, "b must have shape"),
        (lambda g: solved(g, np.eye(6), np.ones(5)), ShapeError, "b must have shape"),
        (lambda g: solved(g, np.eye(6), np.full(6, g.rank)), ShapeError, "the same on all ranks"),
        (lambda g: solved(g, np.eye(6), [np.nan] * 6), NonFiniteError, "finite"),
        (lambda g: solved(g, np.full((6, 6), np.inf), np.ones(6)), NonFiniteError, "finite"),
        (lambda g: factored(g, np.eye(6) * 1e300, 4), NonFiniteError, "does not fit float32"),
        (lambda g: solved(g, np.eye(6) * 1j, np.ones(6)), DTypeError, "real numbers"),
        (lambda g: factored(g, np.eye(6), 4, "best"), OptionError, "variant must be one of"),
        (lambda g: factored(g, np.eye(6), 3), OptionError, "even"),
        (lambda g: cluster.matmul(np.eye(2), np.eye(2)), DTypeError, "DistributedMatrix"),
        (lambda g: DistributedMatrix.load(g, np.eye(4), 4.0), OptionTypeError, "nb must be an integer, got 4.0"),
        (lambda g: DistributedMatrix.load(g, np.eye(4 + g.rank), 4), ShapeError, "same shape and nb"),
        (lambda g: DistributedMatrix.load(g, np.eye(4), 4 + 2 * (g.rank == 3)), ShapeError, "same shape and nb"),
        (lambda g: DistributedMatrix.from_function(g, np.add, 4), ShapeError, "two sizes, got 4"),
        (lambda g: DistributedMatrix.from_function(g, lambda i, j: 1 / (3 - g.rank), (4, 4)), ClusterError,
         "rank 3: Zero"),
        (lambda g: DistributedMatrix.scatter(g, np.eye(4) if g.rank else None), DTypeError,
         "rank 0 must have the array"),
        (lambda g: DistributedMatrix.scatter(g, None, root=4), OptionError, "a rank from 0 to 3, got 4"),
        (lambda g: DistributedMatrix.load(g, np.eye(4)).gather(root=-1), OptionError, "a rank from 0 to 3, got -1"),
        (lambda g: lu_solved(g, lambda piv: piv[:3]), ShapeError, "6 integers from 0 to 5"),
        (lambda g: lu_solved(g, lambda piv: piv + 1), ShapeError, "6 integers from 0 to 5"),
    ],
)  # fmt: skip
def test_all_ranks_refuse_alike(function, error, message, on_grid):
    found = errors_of(on_grid, (2, 2), function)
    assert {kind for kind, _ in found} == {error}
    assert len({text for _, text in found}) == 1
    assert message in found[0][1]


def test_nearly_singular_systems_are_refused(on_grid, rng):
    """Integers with a dependent row; pivots of float32 are noise there, seldom zeros."""
    for order in (10, 50, *[13] * 20):
        a = rng.integers(-9, 10, (order, order)).astype(float)
        one, other = rng.choice(order, 2, replace=False)
        a[one] = a[other] if order == 13 else a.sum(axis=0) - a[one]
        with pytest.raises(SingularMatrixError):
            glla.solve(a, np.ones(order))
        for grid in ((1, 1), (2, 2)):
            found = errors_of(on_grid, grid, lambda grid, a=a: solved(grid, a, np.ones(len(a))))
            assert {one and one[0] for one in found} == {SingularMatrixError}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cluster.run(2, lambda one: cluster.grid(one, engine="numpy", timeout=5 + one.rank, grace=5)),
         ClusterError, "ranks differ in glla's version or in options"),
        (lambda: cluster.run(3, lambda one: cluster.grid(one, (2, 2), engine="numpy")), OptionError, "2 x 2 for 3"),
        (lambda: cluster.grid(engine="numpy", timeout="long"), OptionError, "timeout must be a number, got 'long'"),
        (lambda: cluster.grid(3, engine="numpy"), OptionError, "comm must be a communicator of mpi4py, got 3"),
        (lambda: cluster.grid(engine="cupy"), OptionError, "engine must be one of glla, numpy"),
    ],
)  # fmt: skip
def test_ranks_must_be_called_alike(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("where", [(1, 0), (2, 3), (0, 5)])
def test_a_rank_that_raises_ends_the_operation_on_all(where, on_grid, monkeypatch):
    rank, panel = where
    real = factoring.Factoring.put_rows

    def failing(self, at):
        if (self.at.rank, at) == (rank, panel):
            raise ZeroDivisionError("made to fail")
        real(self, at)

    def work(grid):
        a = uniform(24, 24, 1)
        whole = DistributedMatrix.load(grid, a, 4)
        before = whole.local.copy()
        said = []
        for failing_put in (failing, real, failing, real):
            with grid.operation():
                monkeypatch.setattr(factoring.Factoring, "put_rows", failing_put)
            try:
                said.append(ratio(a, (found := cluster.lu_factor(whole))[0].gather(), found[1]) < 30)
            except ClusterError as error:
                said.append(str(error))
            assert (whole.local == before).all()
        return said

    told = f"rank {rank}: ZeroDivisionError: made to fail"
    assert on_grid((2, 2), work) == [[told, True, told, True]] * 4


def test_a_rank_that_hangs_is_named_in_time(on_grid, monkeypatch):
    real, goes_on = factoring.Factoring.put_rows, threading.Event()

    def hanging(self, at):
        if (self.at.rank, at) == (1, 2):
            goes_on.wait(20)
        real(self, at)

    monkeypatch.setattr(factoring.Factoring, "put_rows", hanging)
    done = threading.Semaphore(0)

    def attempt(grid):
        whole = DistributedMatrix.load(grid, uniform(24, 24, 1), 4)
        start, said = time.monotonic(), []
        for _ in range(2):
            try:
                cluster.lu_factor(whole)
            except ClusterError as error:
                said.append((str(error), time.monotonic() - start))
        done.release()
        if grid.rank == 0:
            for _ in range(3):
                done.acquire()
            goes_on.set()
        return said

    found = on_grid((2, 2), attempt, timeout=1.2, grace=0.8)
    for rank, ((first, seconds), (second, _)) in enumerate(found):
        assert "rank 1 did not answer within 0.8 s" in first
        assert "this grid can do no more" in second
        assert seconds < 5 or rank == 1


@pytest.fixture
def mpi():
    pytest.importorskip("mpi4py.MPI", reason="mpi4py is not installed: pip install 'glla[cluster]'")
    from glla.cluster import mpi

    return mpi


def test_a_launcher_of_another_mpi_is_found_out(mpi, monkeypatch):
    """And MPICH's library under Open MPI's launcher, which would end the process."""
    monkeypatch.setenv("PMI_SIZE", "4")
    with pytest.raises(ClusterError, match="has started 4 ranks, but mpi4py works with"):
        mpi.check_launcher(1)
    with pytest.raises(ClusterError, match=r"mpi4py is missing; pip install 'glla\[cluster\]'"):
        mpi.check_launcher(None)
    mpi.check_launcher(4)
    monkeypatch.delenv("PMI_SIZE")
    library = sys.modules["mpi4py.MPI"]
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setattr(library, "Get_library_version", lambda: "MPICH Version:      5.0.2\nMPICH ...")
    with pytest.raises(ClusterError, match=r"Open MPI's mpiexec has started 2 ranks.* with MPICH Version: 5.0.2; call"):
        mpi.world()
    monkeypatch.setattr(library, "Get_library_version", lambda: "Open MPI v5.0")
    assert mpi.world().size == 1


def test_no_library_of_mpi_is_told(mpi):
    program = "from glla.cluster import mpi; mpi.world()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MPI4PY_LIBMPI": "/nowhere.so"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert "ClusterError: grid: mpi4py finds no MPI library" in done.stderr
    assert "pip install mpich" in done.stderr


@pytest.mark.mesa
def test_a_rank_without_a_device_ends_it_on_all():
    """Not after a minute of waiting."""
    start = time.monotonic()
    with pytest.raises(OptionError, match="rank 1: coprocessor: device must be"):
        cluster.run(2, lambda one: cluster.grid(one, device=99 if one.rank else "software"))
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("visible", "expected"), [("", [3, 1, 3, 1]), ("1,0", [1, 3, 1, 3]), ("0", [3, 3, 3, 3]), ("9", [3, 1, 3, 1])]
)
def test_gpus_are_dealt_out_to_ranks(visible, expected, monkeypatch):
    """EGL's order is not CUDA's, and its list has software in it."""
    places = ((0, True, None), (3, False, 0), (1, False, 1))
    listed = [EGLDevice(index, "", software, None, cuda) for index, software, cuda in places]
    monkeypatch.setattr(engines, "list_egl_devices", lambda: listed)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [engines.device_of_rank(number) for number in range(4)] == expected
    monkeypatch.setattr(engines, "list_egl_devices", lambda: listed[:1])
    assert engines.device_of_rank(0) is None


@pytest.mark.parametrize("grid", [(1, 3), (3, 1), (2, 2)])
def test_operands_of_any_kind_and_order_of_memory(grid, on_grid, rng):
    base = rng.integers(-5, 6, (40, 60))
    square = base[:20, :20]
    kinds = [
        np.asfortranarray(square.astype(np.float32)), base[::-2, ::-3], square.T, square > 0, square.astype(np.float16),
        np.abs(square).astype(np.uint8), square.astype(">f4"), square.astype(np.longdouble),
        np.broadcast_to(base[0, :20], (20, 20)),
    ]  # fmt: skip

    def work(grid):
        for a in kinds:
            loaded, dealt = DistributedMatrix.load(grid, a, 4), DistributedMatrix.scatter(grid, a, 4)
            assert (loaded.gather() == a).all()
            assert (cluster.matmul(loaded, dealt).gather() == a.astype(int) @ a.astype(int)).all()
        a = square + 40 * np.eye(20)
        for b in (list(range(20)), np.arange(20)[::-1], base[::2, ::30], np.zeros((20, 0)), np.ones(20, bool)):
            x = cluster.solve(DistributedMatrix.load(grid, a, 6), b)
            assert x.shape == np.shape(b)
            assert x.size == 0 or hpl(a, x, np.asarray(b)) < 16
        return True

    assert all(on_grid(grid, work))


@pytest.mark.parametrize("grid", [(1, 3), (3, 1), (3, 2)])
def test_permutations_are_exact(grid, on_grid, rng):
    """Any n: below a block, below the ranks, and none that blocks divide."""
    for n, nb in product((1, 2, 5, 23), (2, 8, 64)):
        p = np.eye(n)[rng.permutation(n)]

        def work(grid, p=p, nb=nb):
            a = DistributedMatrix.load(grid, p, nb)
            lu, piv = cluster.lu_factor(a)
            assert (lu.gather() == np.eye(len(p))).all()
            assert (p[permutation(piv, len(p))] == np.eye(len(p))).all()
            return (p @ cluster.solve(a, np.arange(len(p))) == np.arange(len(p))).all()

        assert all(on_grid(grid, work))
