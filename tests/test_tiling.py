"""Products and systems that exceed a texture or the memory allowed: right, within the cap, and overlapped."""

import gc
import itertools
import tracemalloc
from collections import Counter
from dataclasses import replace
from math import inf

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import LimitError, NonFiniteError, OutOfMemoryError, SingularMatrixError
from glla.gl import Device, Download
from glla.linalg import streaming, tiling
from glla.linalg.caller import Caller
from glla.operations import OPERATIONS
from glla.operations.layouts import packing
from glla.operations.product import tiles
from glla.operations.systems import streams
from glla.passes import Limits, forms_of
from glla.passes.rates import HARDWARE
from tests.beside import spied

SIDE, CAP = 24, 40_000
"""Texels on a side, and bytes, that these tests allow."""


@pytest.fixture(scope="module")
def small():
    """A device that holds little."""
    with glla.Device(max_texture_size=SIDE, max_bytes=CAP) as device:
        yield device
        assert device.stats().peak_bytes <= CAP
        assert device.stats().textures == 0


def whole_numbers(rng, *shape):
    return rng.integers(-9, 10, shape).astype(np.float32)


# -- sizes ------------------------------------------------------------------------------------------------------------

SHAPES = [(1, 1, 1), (100, 10, 1000), (1000, 300, 7), (3, 5000, 2), (333, 777, 555), (5000, 1, 5000)]


@pytest.mark.parametrize("room", [30_000, 10**6, 10**9, None])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("side", [16, 100, 32768])
def test_tiles_cover_a_product_and_keep_to_the_limits(shape, side, room):
    limits = Limits(texture_size=side)
    made = tiles.choose(*shape, limits, room)
    assert room is None or 0 < made.nbytes <= room
    assert max(made.rows, made.inner, made.columns) <= side
    made.plan(limits).check(limits)
    covered = [np.zeros(length, bool) for length in (shape[0], shape[2])]
    places = set()
    for top, left in made.order():
        assert 0 <= top <= shape[0] - made.rows and 0 <= left <= shape[2] - made.columns
        covered[0][top : top + made.rows] = covered[1][left : left + made.columns] = True
        places.add((top, left))
    assert covered[0].all() and covered[1].all()
    assert len(places) == made.counts[0] * made.counts[2]
    assert made.counts[1] * made.inner >= shape[1] > (made.counts[1] - 1) * made.inner


def test_more_room_never_moves_more():
    efforts = [tiles.choose(333, 777, 555, Limits(), room).effort for room in (30_000, 10**5, 10**6, 10**7, None)]
    assert efforts == sorted(efforts, reverse=True)
    assert efforts[0] > efforts[-1] == 4 * (333 * 777 + 777 * 555 + 333 * 555)


@pytest.mark.parametrize(("m", "n", "a", "b"), [(90, 170, 4, 1), (170, 90, 1, 4)])
def test_the_smaller_operand_travels_once(m, n, a, b, monkeypatch, small, rng):
    """Told by what is uploaded, not by the figures."""
    loads = Counter()
    real = tiling._Operand.at

    def at(operand, top, left, tile):
        before = operand._held
        result = real(operand, top, left, tile)
        loads[operand._array.shape] += operand._held is not before
        return result

    monkeypatch.setattr(tiling._Operand, "at", at)
    x, y = whole_numbers(rng, m, 10), whole_numbers(rng, 10, n)
    out = np.empty((m, n), np.float32)
    made = tiling.matmul(small, x, y, out)
    assert (loads[(m, 10)], loads[(10, n)]) == made.uploads[:2]
    assert made.counts[1] == 1
    assert loads[(m, 10)] == made.counts[0] or loads[(10, n)] == made.counts[2]
    testing.assert_exact(out, testing.product(x, y))


def test_too_little_for_the_smallest_tile(rng):
    a = np.ones((200, 200), np.float32)
    message = (
        r"^matmul: the smallest tile, 16 x 16 times 16 x 16, takes (\d+) bytes on the device, 5000 are left; "
        "raise its max_bytes, or release matrices$"
    )
    with glla.Device(max_bytes=5000) as tiny:
        with pytest.raises(OutOfMemoryError, match=message) as caught:
            glla.matmul(a, a, device=tiny)
        assert tiny.stats().peak_bytes == 0
    needed = int(str(caught.value).split(" bytes")[0].rsplit(" ", 1)[1])
    with glla.Device(max_bytes=needed) as enough:
        testing.assert_exact(glla.matmul(a, a, device=enough), np.full((200, 200), 200))
        assert enough.stats().peak_bytes == needed


def test_a_variant_whose_textures_are_too_large(small):
    a = np.ones((100, 100), np.float32)
    with pytest.raises(LimitError, match=rf"a texture may have {SIDE} texels a side on this device, slot panels needs"):
        glla.matmul(a, a, variant="panel_broadcast", device=small)


# -- products ---------------------------------------------------------------------------------------------------------

LENGTHS = (1, 2, SIDE - 1, SIDE, SIDE + 1, 2 * SIDE, 67)


def test_products_of_integers_are_exact(small, rng):
    for m, k, n in itertools.product(LENGTHS, repeat=3):
        a, b = whole_numbers(rng, m, k), whole_numbers(rng, k, n)
        before = a.copy(), b.copy()
        out = np.full((m, n), np.nan, np.float32)
        tiling.matmul(small, a, b, out)
        testing.assert_exact(out, testing.product(a, b))
        testing.assert_exact(a, before[0])
        testing.assert_exact(b, before[1])


@pytest.mark.parametrize("shape", [(300, 257, 201), (65, 1000, 3), (1, 400, 400), (500, 3, 499)], ids=str)
@pytest.mark.parametrize(("side", "cap"), [(256, 2_000_000), (64, 200_000), (256, 60_000), (32, None), (24, 12_000)])
def test_the_public_product_under_caps(rng, shape, side, cap):
    m, k, n = shape
    a, b = whole_numbers(rng, m, k), whole_numbers(rng, k, n)
    with glla.Device(max_texture_size=side, max_bytes=cap) as capped:
        testing.assert_exact(glla.matmul(a, b, device=capped), testing.product(a, b))
        stats = capped.stats()
        assert stats.textures == 0
        assert cap is None or stats.peak_bytes <= cap


@pytest.mark.parametrize("k", [100, 200])
def test_panels_in_tiles(rng, monkeypatch, k):
    monkeypatch.setenv("GLLA_BARRIER", "off")  # with barriers sums are in place, and take less
    """The variant of large products on a GPU, whose many textures count too."""
    a, b = whole_numbers(rng, 450, k), whole_numbers(rng, k, 430)
    out = np.empty((450, 430), np.float32)
    with glla.Device(max_texture_size=400, max_bytes=8_000_000) as capped:
        made = tiling.matmul(capped, a, b, out, "panel_broadcast")
        assert made.counts[1] == k // 100
        peak = capped.stats().peak_bytes
        assert 0.9 * made.nbytes <= peak <= made.nbytes  # behind barriers sums are drawn in place
    testing.assert_exact(out, testing.product(a, b))


def test_what_fits_is_not_cut(small, rng, monkeypatch):
    def refuse(*arguments, **named):
        raise AssertionError("cut without need")

    monkeypatch.setattr(tiling, "matmul", refuse)
    monkeypatch.setattr(tiling, "solve", refuse)
    a = whole_numbers(rng, 90, 90)
    testing.assert_exact(glla.matmul(a, a), testing.product(a, a))
    testing.assert_exact(glla.matmul(a, a, variant="virtual_cube"), testing.product(a, a))
    testing.assert_exact(glla.matmul(a[:20, :40], a[:40, :30], device=small), testing.product(a[:20, :40], a[:40, :30]))
    testing.assert_solve(*(lambda a, b: (a, glla.solve(a, b), b))(testing.conditioned(90, 90, rng), a))


@pytest.mark.parametrize("shape", [(40, 30, 50), (40, 300, 5), (4, 300, 50), (70, 3, 70)], ids=str)
def test_fits_whole_is_neither_too_strict_nor_too_lenient(rng, shape):
    """What it lets through has room, and takes all of it."""
    m, k, n = shape

    def fits(room):
        return tiles.fits_whole(m, k, n, Limits(), room, "inner_product")

    least = next(room for room in itertools.count(16, 4) if fits(room))
    a, b = whole_numbers(rng, m, k), whole_numbers(rng, k, n)
    with glla.Device(max_bytes=least) as capped, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiling, "matmul", lambda *arguments: pytest.fail("cut without need"))
        testing.assert_exact(glla.matmul(a, b, variant="inner_product", device=capped), testing.product(a, b))
        assert capped.stats().peak_bytes == least


# -- files, and out ---------------------------------------------------------------------------------------------------


def test_operands_and_result_in_files(small, rng, tmp_path):
    a, b = whole_numbers(rng, 100, 61), whole_numbers(rng, 61, 90)
    files = []
    for name, array in (("a", a), ("b", b)):
        array.tofile(tmp_path / name)
        files.append(np.memmap(tmp_path / name, np.float32, "r", shape=array.shape))
    out = np.memmap(tmp_path / "c", np.float32, "w+", shape=(100, 90))
    assert glla.matmul(*files, out=out, device=small) is out
    out.flush()
    testing.assert_exact(np.fromfile(tmp_path / "c", np.float32).reshape(100, 90), testing.product(a, b))


def test_nothing_as_large_as_the_result_is_made(rng, tmp_path):
    """Operands and result in files: the host needs little more than a tile."""
    for name, shape in (("a", (2000, 8)), ("b", (8, 1500))):
        whole_numbers(rng, *shape).tofile(tmp_path / name)
    a = np.memmap(tmp_path / "a", np.float32, "r", shape=(2000, 8))
    b = np.memmap(tmp_path / "b", np.float32, "r", shape=(8, 1500))
    out = np.memmap(tmp_path / "c", np.float32, "w+", shape=(2000, 1500))
    with glla.Device(max_bytes=2_000_000, max_texture_size=512) as capped:
        glla.matmul(a[:20], b, out=out[:20], device=capped)  # whatever is made once
        tracemalloc.start()
        try:
            glla.matmul(a, b, out=out, device=capped)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    testing.assert_exact(np.array(out), testing.product(a, b))
    assert peak < out.nbytes / 4


@pytest.mark.parametrize("capped", [False, True])
def test_out_is_where_the_result_goes(small, rng, capped):
    device = small if capped else None
    a, b = whole_numbers(rng, 67, 50), whole_numbers(rng, 50, 55)
    expected = testing.product(a, b).astype(np.float32)
    whole = np.zeros((140, 60), np.float32)
    for out in (np.empty((67, 55), np.float32), np.empty((67, 55), np.float32, order="F"), whole[3:137:2, 2:57]):
        assert glla.matmul(a, b, out=out, device=device) is out
        testing.assert_exact(np.array(out, order="C"), expected)
    assert np.count_nonzero(whole) == np.count_nonzero(expected)


@pytest.mark.parametrize(
    ("a", "b"), [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 6)),
                 ((2, 4, 0), (0, 3)), ((0, 4), (4, 3)), ((2, 70, 80), (80, 70))],
)  # fmt: skip
def test_out_of_every_shape(rng, a, b):
    a, b = whole_numbers(rng, *a), whole_numbers(rng, *b)
    expected = np.matmul(a, b)
    for order in "CF":
        out = np.full(expected.shape, np.nan, np.float32, order=order)
        assert glla.matmul(a, b, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_out_may_be_an_operand(small, rng):
    a, b = whole_numbers(rng, 70, 70), whole_numbers(rng, 70, 70)
    expected = testing.product(a, b).astype(np.float32)
    for device in (small, None):
        c = a.copy()
        assert glla.matmul(c, b, out=c, device=device) is c
        testing.assert_exact(c, expected)
        c = b.copy()
        glla.matmul(a.T, c.T, out=c.T, device=device)
        testing.assert_exact(np.ascontiguousarray(c.T), testing.product(a.T, b.T).astype(np.float32))


# -- systems ----------------------------------------------------------------------------------------------------------


def factored(a, device):
    """Factors that stay on the device."""
    made = device.run(streams.factored(forms_of((a,)), device.limits, equilibrate=False), A=a)
    return streaming.held_factors(device, {name: made[name] for name in streams.FACTORS}, len(a))


def width(factors, columns):
    """Right-hand sides that go at a time."""
    device, held = factors.device, factors.operands["LU"].storage
    return tiles.columns_at_once((2 * held.height, columns), device.limits, device.room, factors.solution, held)


@pytest.mark.parametrize("n", [1, 2, 23, 40])
@pytest.mark.parametrize("columns", [1, 47, 48, 49, 333])
def test_many_right_hand_sides(rng, n, columns):
    a, b = testing.conditioned(n, n, rng), testing.normal(n, columns, rng)
    cap = 90_000
    with glla.Device(max_texture_size=SIDE, max_bytes=cap) as capped:
        testing.assert_solve(a, glla.solve(a, b, device=capped), b)
        factors = glla.lu_factor(a, device=capped)
        testing.assert_solve(a, glla.lu_solve(factors, b, device=capped), b)
        testing.assert_solve(a.T.copy(), glla.lu_solve(factors, b, trans=1, device=capped), b)
        assert capped.stats().peak_bytes <= cap
        assert capped.stats().textures == 0


@pytest.mark.parametrize("n", [3, 30, 48])
def test_inverses_block_by_block(rng, n):
    a = testing.conditioned(n, n, rng)
    with glla.Device(max_texture_size=SIDE, max_bytes=85_000) as capped, pytest.MonkeyPatch.context() as patch:
        blocks = spied(patch, Device, "download_later")
        testing.assert_inverse(a, glla.inv(a, device=capped))
        assert capped.stats().peak_bytes <= 85_000
    assert n < 48 or len(blocks) > 1


def test_right_hand_sides_that_are_not_finite(small, rng):
    a, b = testing.conditioned(10, 10, rng), testing.normal(10, 300, rng)
    expected = glla.solve(a, b, device=small)
    b[3, 200] = np.nan
    with pytest.raises(NonFiniteError, match=r"^solve: b must not hold NaN or infinity, got nan at \(3, 200\)"):
        glla.solve(a, b, device=small)
    x = glla.solve(a, b, device=small, check_finite=False)
    assert np.isnan(x[:, 200]).any()
    testing.assert_exact(np.delete(x, 200, axis=1), np.delete(expected, 200, axis=1))
    assert np.isnan(glla.solve(np.full_like(a, np.nan), b, device=small, check_finite=False)).all()


def test_singular_systems_in_blocks(small):
    with pytest.raises(SingularMatrixError, match=r"^solve: Singular matrix: pivot 1 of 2"):
        glla.solve(np.ones((2, 2)), np.ones((2, 200)), device=small)
    with pytest.raises(SingularMatrixError, match=r"^lu_solve: Singular matrix: U is zero at place 1"):
        glla.lu_solve((np.ones((2, 2)) * [[1, 1], [1, 0]], np.array([0, 1])), np.ones((2, 200)), device=small)
    assert small.stats().textures == 0  # no reference cycle of an error and its frames keeps them


def test_a_matrix_that_must_fit_and_does_not(rng):
    n = 2 * SIDE + 1
    a, b = np.eye(n), np.ones((n, 1))
    with glla.Device(max_texture_size=SIDE) as capped:
        for name, call in (
            ("solve", lambda: glla.solve(a, b, device=capped)),
            ("inv", lambda: glla.inv(a, device=capped)),
            ("lu_solve", lambda: glla.lu_solve((a, np.arange(n)), b, device=capped)),
            ("lu_factor", lambda: glla.lu_factor(a, device=capped)),
            ("det", lambda: glla.det(a, device=capped)),
            ("slogdet", lambda: glla.slogdet(a, device=capped)),
            ("plu", lambda: glla.plu(a, device=capped)),
            ("rref", lambda: glla.rref(a, device=capped)),
            ("rref", lambda: glla.plan("rref", (n, n), device=capped)),
        ):
            message = rf"^{name}: A must fit a texture, so have {n - 1} rows and columns at most on this device, "
            rest = rf"got \({n}, {n}\); only right-hand sides are cut into blocks$"
            with pytest.raises(LimitError, match=message + rest) as caught:
                call()
            assert (caught.value.asked, caught.value.allowed) == (n, n - 1)


def test_the_error_of_a_triangle_whose_right_hand_sides_are_streamed(device):
    call = Caller(*["solve_triangular"] * 2, device, True, ("a", "b"), options={"lower": True, "unit_diagonal": False})
    with pytest.raises(SingularMatrixError, match="zero at place 0"):  # a public call looks before it streams
        streaming.solve_triangular(call, (), np.zeros((2, 2), np.float32), np.ones((2, 3), np.float32))


def batched(device, operation, operands):
    most = operation.batch.most(forms_of(operands), device.limits)
    return Caller(operation.name, operation.name, device, True, operation.operands).host_records(operands, most)


def test_small_systems_and_products_that_do_not_fit_at_once(device, rng):
    """What goes as a stack otherwise needs the most memory."""
    a, b = whole_numbers(rng, 64, 64), whole_numbers(rng, 64, 64)
    with glla.Device(max_bytes=50_000) as capped:
        stacks = a[np.newaxis], b[np.newaxis]
        assert batched(capped, OPERATIONS["matmul"], stacks) is None
        assert batched(device, OPERATIONS["matmul"], stacks) is not None
        testing.assert_exact(glla.matmul(a, b, device=capped), testing.product(a, b))
    a, b = testing.conditioned(40, 40, rng), testing.normal(40, 100, rng)
    lu = glla.lu_factor(a)
    with glla.Device(max_bytes=62_000) as capped:
        for name, left in (("solve", a), ("lu_solve", lu[0])):
            stacks = left[np.newaxis], b[np.newaxis]
            assert batched(capped, OPERATIONS[name], stacks) is None
            assert batched(device, OPERATIONS[name], stacks) is not None
        testing.assert_solve(a, glla.solve(a, b, device=capped), b)
        testing.assert_solve(a, glla.lu_solve(lu, b, device=capped), b)
        testing.assert_inverse(a, glla.inv(a, device=capped))


@pytest.mark.parametrize("function", ["solve", "inv", "lu_factor", "det", "slogdet"])
def test_memory_for_the_factors(function, rng):
    a = testing.conditioned(30, 30, rng)
    arguments = (a, testing.normal(30, 100, rng)) if function == "solve" else (a,)
    message = rf"^{function}: A \(30, 30\) must fit the device's memory with its factors, only right-hand sides are cut"
    with glla.Device(max_bytes=8_000) as capped:
        with pytest.raises(OutOfMemoryError, match=message):
            getattr(glla, function)(*arguments, device=capped)
        assert capped.stats().textures == 0


def test_memory_for_a_right_hand_side():
    with glla.Device(max_bytes=64) as capped:
        with pytest.raises(
            OutOfMemoryError,
            match=r"^lu_solve: beside its factors, of order 1, a single right-hand side takes \d+ bytes on the device, "
            r"32 are left; raise its max_bytes, or release matrices$",
        ):
            glla.lu_solve((np.ones((1, 1)), np.array([0])), np.ones((1, 100)), device=capped)
        gc.collect()
        assert capped.stats().textures == 0


# -- order, and failures ----------------------------------------------------------------------------------------------


def events(run):
    """What happens, in order: the steps that are reported, and waits for the GPU that are not."""
    log = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("finish", "read", "download"):
            patch.setattr(Device, name, lambda *a, name=name, **k: pytest.fail(f"waits for the GPU: {name}"))
        real = Download.result
        patch.setattr(Download, "result", lambda self, out: (log.append(("wait", None)), real(self, out))[1])
        patch.setattr(tiling, "seen", lambda what, tile: log.append((what, tile)))
        run()
    return log


def check_overlap(log, tiles):
    waits = [place for place, (what, _) in enumerate(log) if what == "wait"]
    assert len(waits) == tiles > 2
    for tile, place in enumerate(waits):
        assert log[place + 1] == ("fetch", tile)
        assert log.index(("read back", tile)) < place
        if tile + 1 < tiles:  # the GPU has the next tile to compute, and to send, while the host waits for this one
            for what in ("upload", "compute", "read back"):
                last = max((p for p, event in enumerate(log) if event == (what, tile + 1)), default=0)
                assert last < place, f"{what} of tile {tile + 1} comes after the wait for tile {tile}"
        if tile + 2 < tiles:  # no more than one tile ahead: there are two buffers
            assert log.index(("compute", tile + 2)) > place


@pytest.mark.parametrize("shape", [(67, 20, 50), (67, 200, 50)], ids=["panels", "slabs"])
def test_tiles_of_a_product_overlap(small, rng, shape):
    m, k, n = shape
    a, b, out = whole_numbers(rng, m, k), whole_numbers(rng, k, n), np.empty((m, n), np.float32)
    made = []
    log = events(lambda: made.append(tiling.matmul(small, a, b, out)))
    check_overlap(log, made[0].counts[0] * made[0].counts[2])
    assert sum(made[0].uploads[:2]) == sum(what == "upload" for what, _ in log)
    testing.assert_exact(out, testing.product(a, b))


def test_blocks_of_right_hand_sides_overlap(small, rng):
    a, b = testing.conditioned(10, 10, rng), testing.normal(10, 300, rng)
    x = np.empty_like(b)
    factors = factored(a, small)
    size = width(factors, 300)
    log = events(lambda: tiling.solve(factors, b, x))
    check_overlap(log, -(-300 // size))
    testing.assert_solve(a, x, b)


class Stop(Exception):
    pass


@pytest.mark.parametrize("what", ["upload", "compute", "read back", "fetch"])
@pytest.mark.parametrize("tile", [0, 1, 2])
def test_a_failure_in_the_middle_leaves_nothing(small, rng, what, tile, monkeypatch):
    a, b = whole_numbers(rng, 67, 60), whole_numbers(rng, 60, 50)
    out = np.empty((67, 50), np.float32)

    def watch(*event):
        if event == (what, tile):
            raise Stop

    with pytest.raises(Stop), monkeypatch.context() as patch:
        patch.setattr(tiling, "seen", watch)
        tiling.matmul(small, a, b, out)
    assert small.stats().textures == 0
    tiling.matmul(small, a, b, out)
    testing.assert_exact(out, testing.product(a, b))
    x, system = np.empty((10, 300), np.float32), testing.conditioned(10, 10, rng)
    factors = factored(system, small)
    before = small.stats().textures
    monkeypatch.setattr(tiling, "seen", watch)
    with pytest.raises(Stop):
        tiling.solve(factors, np.ones((10, 300), np.float32), x)
    assert small.stats().textures == before


def test_a_failure_gives_the_results_on_their_way_back(device):
    """Even while somebody looks at the exception, and at what it holds."""
    a = glla.asarray(np.ones((4, 4)), device)
    before = device.stats().textures
    with pytest.raises(Stop), tiling._Results(device) as results:
        results.queue(0, a, np.empty((4, 4), np.float32))
        assert device.stats().textures == before + 1
        raise Stop
    assert device.stats().textures == before
    assert results is not None


def test_memory_that_ends_before_its_cap(rng, monkeypatch):
    """The driver may have less than is allowed, or than it says: smaller tiles, and narrower blocks, are tried."""
    a, b = whole_numbers(rng, 100, 90), whole_numbers(rng, 90, 110)
    out = np.empty((100, 110), np.float32)
    with glla.Device(max_texture_size=64) as device:
        first = tiles.choose(100, 90, 110, device.limits)
    monkeypatch.setattr(Device, "room", None)
    with glla.Device(max_texture_size=64, max_bytes=first.nbytes // 2) as capped:
        made = tiling.matmul(capped, a, b, out)
        assert made.nbytes < first.nbytes
        testing.assert_exact(out, testing.product(a, b))
    with glla.Device(max_texture_size=64, max_bytes=80_000) as capped:
        matrix = testing.conditioned(40, 40, rng)
        factors = factored(matrix, capped)
        x, rhs = np.empty((40, 400), np.float32), testing.normal(40, 400, rng)
        widths, real = [], tiling.some_columns
        monkeypatch.setattr(
            tiling, "some_columns", lambda b, n, one: (widths.append(one.stop - one.start), real(b, n, one))[1]
        )
        tiling.solve(factors, rhs, x)
        assert widths[0] == width(factors, 400)
        if capped.limits.software:  # elsewhere the width is chosen for a plan that takes more than the one that runs
            assert widths[0] > min(widths)
        testing.assert_solve(matrix, x, rhs)


def test_memory_that_is_never_enough(rng, monkeypatch):
    a = whole_numbers(rng, 100, 100)
    with glla.Device(max_texture_size=64, max_bytes=3_000) as capped:
        monkeypatch.setattr(Device, "room", None)
        message = r"^device: no memory for a (texture|buffer) of .* of the 3000 allowed"
        with pytest.raises(OutOfMemoryError, match=message):
            tiling.matmul(capped, a, a, np.empty((100, 100), np.float32))
        assert capped.stats().textures == 0


@pytest.mark.parametrize("turned", [False, True], ids=["C order", "Fortran order"])
def test_a_large_product_on_a_gpu_travels_in_panels(device, rng, monkeypatch, turned):
    """B stays, panels of A and C pass by, each in pieces of the staging buffer; the plan shown does the same."""
    monkeypatch.setattr(tiles, "PANEL", 240)
    monkeypatch.setattr(packing, "PIECE", 1 << 16)
    panels = HARDWARE._replace(issue=0.0, latency=0.0, write=inf)  # they pay even for matrices that are this small
    monkeypatch.setattr(device, "limits", replace(device.limits, software=False, rates=panels))
    a, b = whole_numbers(rng, 1100, 997), whole_numbers(rng, 997, 991)
    if turned:
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    calls = spied(monkeypatch, tiling, "_stream", lambda *given: given[4])
    testing.assert_exact(glla.matmul(a, b, device=device), testing.product(a, b))
    assert [one.counts for one in calls] == [(5, 1, 1)] and calls[0].variant == "panel_broadcast"
    shown = glla.plan("matmul", a, b, device=device)
    drawn = Counter(step.shader for step in shown.flat.steps if hasattr(step, "shader"))
    assert drawn["packing/pack"] == 5 * 4 + 16 and drawn["packing/unpack"] == 5
    calls.clear()
    testing.assert_exact(glla.matmul(a, a.T, device=device), testing.product(a, a.T))
    assert not calls, "half of a symmetric product is computed, as a whole"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (66, 89), (30, 45), (40, 24)])
def test_nonfinite_reaches_exactly_its_row_or_column(small, bad, place):
    a, b = np.ones((67, 90), np.float32), np.full((90, 70), 2, np.float32)
    expected = np.full((67, 70), 180, np.float32)
    a[place] = expected[place[0]] = bad
    np.testing.assert_array_equal(glla.matmul(a, b, device=small, check_finite=False), expected)
    np.testing.assert_array_equal(glla.matmul(b.T, a.T, device=small, check_finite=False), expected.T)
    with pytest.raises(NonFiniteError, match=r"^matmul: A must not hold NaN or infinity, got .*; clean it"):
        glla.matmul(a, b, device=small)


def test_overflow_of_a_result_in_tiles(small):
    a = np.full((70, 70), 1e30, np.float32)
    with pytest.raises(NonFiniteError, match=r"^matmul: the result does not fit float32 \(largest 3\.403e\+38\)"):
        glla.matmul(a, a, device=small)
    assert (glla.matmul(a, a, device=small, check_finite=False) == np.inf).all()
