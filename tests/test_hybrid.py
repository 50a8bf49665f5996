"""glla.hybrid: who does what, what is remembered, and that results are right whoever made them."""

import copy
import gc
import itertools
import json
import math
import os
import threading
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import CoprocessorError, LimitError, NonFiniteError, OptionError, ShapeError, SingularMatrixError
from glla.hybrid import host, memory
from glla.hybrid.memory import DAYS, Memory
from glla.hybrid.share import GAIN, MOST_AHEAD, Pace
from glla.hybrid.stream import Stream
from glla.hybrid.tasks import SHARED, Cpu, Outcome, Task, measure_pace
from glla.operations import OPERATIONS
from tests.matrix import CALLS, FAMILIES, cases, verdict

INFINITE = math.inf


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("GLLA_HYBRID", raising=False)
    monkeypatch.setattr(memory, "_in_process", {})
    return tmp_path


@pytest.fixture(scope="module")
def gpu():
    """One coprocessor for all."""
    with glla.coprocessor() as coprocessor:
        yield coprocessor


# -- sides that only pretend, in a time of their own ------------------------------------------------------------------


class World:
    """A clock, and two sides that take as long as is asked for: seconds(place among that side's systems)."""

    def __init__(self, gpu, cpu, hindrance=1.0, capable=True):
        self.now = 0.0
        self.seconds = {side: value if callable(value) else lambda _, s=value: s for side, value in
                        (("gpu", gpu), ("cpu", cpu))}  # fmt: skip
        self.hindrance = hindrance
        self.gpu_free = 0.0
        self.did = []  # (side, index, end)
        self.cancelled = []
        self.capable = capable

    def clock(self):
        return self.now

    def count(self, side):
        return sum(1 for who, _, _ in self.did if who == side)

    def can(self, operation):
        return self.capable

    def run(self, task):
        slower = self.hindrance if self.gpu_free > self.now else 1.0
        seconds = slower * self.seconds["cpu"](self.count("cpu"))
        self.now += seconds
        self.did.append(("cpu", task.index, self.now))
        return self.result(task, seconds, self.now, "cpu")

    def start(self, task):
        seconds = self.seconds["gpu"](self.count("gpu"))
        self.gpu_free = max(self.gpu_free, self.now) + seconds
        self.did.append(("gpu", task.index, self.gpu_free))
        return FakeTicket(self, task, self.gpu_free, seconds)

    def result(self, task, seconds, end, side):
        return Outcome(float(task.arrays[0][0, 0]), None, seconds, end, side)


class FakeTicket:
    def __init__(self, world, task, end, seconds):
        self.world, self.task, self.end, self.seconds = world, task, end, seconds

    def done(self):
        return self.world.now >= self.end

    def outcome(self):
        self.world.now = max(self.world.now, self.end)
        return self.world.result(self.task, self.seconds, self.end, "gpu")

    def cancel(self):
        self.world.cancelled.append(self.task.index)
        return False


def numbers(count):
    """Systems that are their own number."""
    return [np.full((1, 1), index, dtype=np.float32) for index in range(count)]


def shared(world, systems, memory=None, **options):
    return Stream("det", systems, world, world, memory, clock=world.clock, **options)


class Known(dict):
    """A memory that knows a pace for everything."""

    def __init__(self, pace):
        super().__init__()
        self.pace = pace

    def get(self, key):
        return self.pace

    def put(self, paces):
        self.update(paces)


def known(gpu, cpu):
    return Known(Pace(gpu, cpu, gpu, cpu))


def best(count, gpu, cpu):
    """When `count` systems can be done at the earliest."""
    return min(max(k * gpu, (count - k) * cpu) for k in range(count + 1))


@pytest.mark.parametrize("length_is_known", [True, False])
@pytest.mark.parametrize("gpu_seconds, cpu_seconds", [(1, 1), (3, 1), (1, 3), (2.4, 1), (1, 2.4), (7, 1), (1, 9.5)])
def test_both_end_together(gpu_seconds, cpu_seconds, length_is_known):
    """As the best split does; where the end comes unforeseen, it may take a system of the faster side longer."""
    for count in (*range(1, 12), 25, 60):
        world = World(gpu_seconds, cpu_seconds)
        systems = numbers(count) if length_is_known else iter(numbers(count))
        stream = shared(world, systems, known(gpu_seconds, cpu_seconds))
        assert list(stream) == list(range(count))
        least = best(count, gpu_seconds, cpu_seconds)
        assert least <= world.now + 1e-9
        allowed = least + (0 if length_is_known else min(gpu_seconds, cpu_seconds)) + 1e-9
        assert world.now <= allowed, (count, world.did)
        assert world.now <= count * min(gpu_seconds, cpu_seconds) + 1e-9, "slower than one side alone"


@pytest.mark.parametrize(
    ("world", "count", "memory", "options", "by_gpu", "seconds", "ratio", "source"),
    [
        (World(3, 1), 9, known(3, 1), {}, {2}, 7, 3, "remembered"),  # a slow GPU does not get the last system: 2 and 7
        (World(50, 1), 30, known(50, 1), {}, {0}, 30, INFINITE, "remembered"),  # a hopeless side stays idle
        (World(1, 50), 30, known(1, 50), {}, {30}, 30, 0, "remembered"),
        # Both at once would be at 1/1.9 + 1/2.2 a second, the CPU alone at 1.
        (World(1.2, 1), 10, Known(Pace(1.2, 1, 1.9, 2.2)), {}, {0}, 10, INFINITE, "remembered"),
        # The first one on the GPU compiles and counts for nothing.
        (World(lambda place: 1 + 7 * (place == 0), 1), 40, known(1, 1), {}, {*range(10, 21)}, None, 1, "remembered"),
        (World(10, 1), 24, Known(None), {"ratio": 1}, {*range(3, 25)}, None, 1, "given"),  # is not corrected
        (World(1, 1), 5, Known(None), {"software": True}, {0}, 5, INFINITE, "software"),
        (World(5, 1, capable=False), 5, Known(None), {}, {5}, 25, 0, "one side"),
    ],
)  # fmt: skip
def test_who_does_what(world, count, memory, options, by_gpu, seconds, ratio, source):
    before = dict(memory)
    systems = iter(numbers(count)) if count == 9 else numbers(count)
    stream = shared(world, systems, memory, **options)
    assert list(stream) == list(range(count))
    assert world.count("gpu") in by_gpu and seconds in (None, world.now)
    assert (stream.report.ratio, stream.report.source) == (ratio, source)
    if source == "given":
        assert stream.report.measuring_seconds == 0 and memory == before
    if seconds == 7:
        assert world.did[-1][0] == "cpu"


def test_wrong_memory_is_corrected():
    """The GPU is remembered three times faster than it is now; what is learnt is remembered instead."""
    world = World(3, 1)
    memory = known(1, 1)
    stream = shared(world, numbers(200), memory)
    assert list(stream) == list(range(200))
    assert stream.report.ratio_at_start == 1 and stream.report.source == "remembered"
    assert stream.report.ratio == pytest.approx(3, rel=0.02)
    assert memory["det 1 x 1"].ratio == stream.report.ratio
    assert world.now <= 1.03 * best(200, 3, 1)


def test_one_hiccup_decides_nothing():
    world = World(1, lambda place: 1000 if place == 3 else 1)
    stream = shared(world, itertools.islice(itertools.cycle(numbers(1)), 12), known(1, 1))
    with stream:
        for _ in stream:
            assert 0.5 < stream.report.ratio < 2


def test_the_ratio_is_measured_where_nothing_is_known():
    world = World(lambda place: 100 if place == 0 else 4, 2, hindrance=1.5)
    memory = Known(None)
    stream = shared(world, numbers(10), memory)
    assert next(stream) == 0
    assert stream.report.source == "measured" and stream.report.measuring_seconds > 100
    assert stream.report.ratio_at_start == pytest.approx(4 / 3, rel=0.2)
    stream.close()
    (pace,) = memory.values()
    assert (pace.gpu_alone, pace.cpu_alone, pace.gpu) == (4, 2, 4)


def test_measuring_a_hopeless_gpu_is_short():
    world = World(100, 1)
    pace = measure_pace(Task(0, "det", (np.ones((1, 1), np.float32),)), world, world, world.clock)
    assert pace.workers == "cpu" and world.count("gpu") == 2
    assert GAIN == 1.1  # what the other figures here rest on


def test_what_the_gpu_has_no_room_for_is_the_cpus():
    world = World(1, 1)
    failed = Outcome(None, LimitError("too large", 2, 1), 1.0, 1.0, "gpu")
    world.result = lambda task, seconds, end, side: failed if side == "gpu" else Outcome(7, None, seconds, end, side)
    memory = Known(None)
    assert list(shared(world, numbers(3), memory)) == [7, 7, 7]
    assert world.count("gpu") == 1 and not memory  # another time there may be room


@pytest.mark.parametrize("ratio", [0, 0.01, 0.3, 1, 3, 100, INFINITE])
def test_systems_are_taken_a_few_ahead_only(ratio):
    taken = 0
    ahead = {0: 4, 0.01: MOST_AHEAD, 0.3: 9, 1: 6, 3: 9, 100: MOST_AHEAD, INFINITE: 4}[ratio]

    def endless():
        nonlocal taken
        for system in itertools.cycle(numbers(1)):
            taken += 1
            yield system

    world = World(1, 1)
    with shared(world, endless(), None, ratio=ratio) as stream:
        for given in range(60):
            assert taken - given <= ahead
            next(stream)
    assert taken >= 60
    sides = {"gpu"} if ratio < 0.1 else {"cpu"} if ratio > 10 else {"gpu", "cpu"}
    assert {side for side, _, _ in world.did} == sides


def test_sizes_have_paces_of_their_own():
    """One size is remembered, the other is measured."""
    world = World(2, 1)
    memory = Known(None)
    memory.get = lambda key: Pace(1, 1, 1, 1) if key == "det 1 x 1" else None
    systems = [np.eye(size, dtype=np.float32) for size in (1, 64, 1, 64, 70, 1)]
    list(shared(world, systems, memory))
    assert set(memory) == {"det 1 x 1", "det 64 x 64"}


# -- what is remembered -----------------------------------------------------------------------------------------------


PACE = Pace(1.0, 2.0, 1.5, 2.5)


def test_memory_round_trip(device, cache):
    memory = Memory(device.info, True)
    assert memory.get("solve 64 x 64 x 1") is None
    memory.put({"solve 64 x 64 x 1": PACE})
    Memory(device.info, True).put({"inv 64 x 64": PACE})
    again = Memory(device.info, True)
    assert again.get("solve 64 x 64 x 1") == again.get("inv 64 x 64") == PACE
    (path,) = [path for path in cache.rglob("*") if path.is_file()]
    assert path.parent == cache / "glla" / "hybrid" and path == again.path


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: "",
        lambda record: json.dumps(record)[:-9],
        lambda record: "[]",
        lambda record: "\x00\xff",
        lambda record: json.dumps({**record, "format": 0}),
        lambda record: json.dumps({**record, "paces": {"k": [1, 2, 3]}}),
        lambda record: json.dumps({**record, "paces": {"k": [1, 2, 3, -4]}}),
        lambda record: json.dumps({**record, "paces": {"k": [1, 2, 3, float("nan")]}}),
        lambda record: json.dumps({**record, "paces": 3}),
        lambda record: json.dumps({**record, "conditions": {**record["conditions"], "driver": "another"}}),
    ],
)
def test_a_file_that_is_wrong_counts_as_none(device, spoil):
    memory = Memory(device.info, True)
    memory.put({"k": PACE})
    memory.path.write_text(spoil(json.loads(memory.path.read_text())), encoding="utf-8")
    spoilt = Memory(device.info, True)
    assert spoilt.get("k") is None
    spoilt.put({"k": PACE})
    assert Memory(device.info, True).get("k") == PACE


def test_an_old_file_counts_as_none(device):
    memory = Memory(device.info, True)
    memory.put({"k": PACE})
    age = memory.path.stat().st_mtime - 86400 * (DAYS + 1)
    os.utime(memory.path, (age, age))
    assert Memory(device.info, True).get("k") is None


def test_a_folder_that_cannot_be_written_is_no_error(device, cache):
    (cache / "glla").write_text("in the way")
    memory = Memory(device.info, True)
    memory.put({"k": PACE})
    assert memory.get("k") == PACE and Memory(device.info, True).get("k") is None


@pytest.mark.parametrize("variable", ["off", None])
def test_nothing_is_written_unasked(device, cache, monkeypatch, variable):
    Memory(device.info, True).put({"k": PACE})
    if variable:
        monkeypatch.setenv("GLLA_HYBRID", variable)
    before = sorted(cache.rglob("*"))
    memory = Memory(device.info, variable == "off")
    assert memory.get("k") is None and memory.path is None
    memory.put({"l": PACE})
    assert memory.get("l") == Memory(device.info).get("l") == PACE  # the process knows it
    assert sorted(cache.rglob("*")) == before


def test_the_environment_asks_for_a_file(device, cache, monkeypatch):
    monkeypatch.setenv("GLLA_HYBRID", "on")
    Memory(device.info).put({"k": PACE})
    assert Memory(device.info).path.is_file()
    monkeypatch.setenv("GLLA_HYBRID", "maybe")
    with pytest.raises(OptionError, match="GLLA_HYBRID: must be on or off, got 'maybe'; or leave it out, and ask by"):
        glla.hybrid.map("det", [])


@pytest.mark.parametrize("remember", [True, False])
def test_what_was_measured_on_a_device_is_remembered(gpu, cache, monkeypatch, remember):
    """The whole way, as if the rasteriser were hardware."""
    monkeypatch.setattr(type(gpu), "info", replace(gpu.info, software=False))
    systems = [np.eye(8, dtype=np.float32)] * 3
    for source in ("measured", "remembered"):
        stream = glla.hybrid.map("det", systems, gpu=gpu, remember=remember)
        assert list(stream) == [1, 1, 1]
        assert stream.report.source == source
    assert Memory(gpu.info, remember).get("det 8 x 8") is not None
    assert any(path.is_file() for path in cache.rglob("*")) == remember


# -- results ----------------------------------------------------------------------------------------------------------


def system(operation, n, rng):
    given = OPERATIONS[operation].example(n, rng)
    return given if len(given) > 1 else given[0]


def judge(operation, given, result):
    verdict = testing.JUDGES[operation].verdict(given if isinstance(given, tuple) else (given,), result)
    assert verdict.ok, verdict


ANY_MATRIX = ("solve", "lu_factor", "plu", "inv", "det")
"""Operations that take any regular matrix."""


@pytest.mark.parametrize("operation", SHARED)
def test_results_are_right_and_in_order_whoever_made_them(operation, gpu):
    systems = [system(operation, n, np.random.default_rng(n)) for n in (5, 1, 8, 13, 2, 3, 17, 4)]
    before = copy.deepcopy(systems)
    stream = glla.hybrid.map(operation, systems, gpu=gpu, ratio=1)
    for given, result in zip(systems, stream, strict=True):
        judge(operation, given, result)
    assert stream.report.gpu_systems >= 2 and stream.report.cpu_systems >= 2
    assert stream.report.gpu_seconds > 0 and stream.report.cpu_seconds > 0
    for given, unchanged in zip(systems, before, strict=True):
        np.testing.assert_array_equal(given[0], unchanged[0])
        np.testing.assert_array_equal(given[-1], unchanged[-1])
    assert not gpu.closed


@pytest.mark.parametrize("ratio", [0, INFINITE])
@pytest.mark.parametrize("operation", [name for name in SHARED if name in CALLS])
def test_every_type_of_matrix_keeps_the_bound_on_either_side(operation, ratio, gpu, rng):
    family = FAMILIES[CALLS[operation].family]
    systems = [family.make(kind, n, rng) for kind, n in cases(family, (1, 2, 5, 17))]
    given = [one if len(one) > 1 else one[0] for one in systems]
    for operands, result in zip(systems, glla.hybrid.map(operation, given, gpu=gpu, ratio=ratio), strict=True):
        found = verdict(operation, operands, result)
        assert found.ok, found


@pytest.mark.parametrize("ratio", [0, INFINITE])
def test_nothing_vectors_and_integers_on_either_side(ratio, gpu):
    def mapped(operation, *systems):
        return list(glla.hybrid.map(operation, systems, gpu=gpu, ratio=ratio))

    a = np.array([[2, 1], [4, 4]])
    empty, x = mapped("solve", (np.ones((0, 0)), np.ones((0, 3))), (a, a.sum(axis=1)))
    assert empty.shape == (0, 3) and x.tolist() == [1, 1]
    for operation in ("lu_factor", "plu", "inv"):
        (empty,) = mapped(operation, np.ones((0, 0)))
        assert all(np.size(part) == 0 for part in (empty if isinstance(empty, tuple) else (empty,)))
    assert mapped("det", np.ones((0, 0)), a) == [1, 4]


@pytest.mark.parametrize("ratio", [0, INFINITE])
def test_bad_scaling_is_mended_on_either_side(ratio, gpu):
    """As it stands, the first row would lend the pivot, and lose the first unknown; entries also reach denormals."""
    a = np.array([[2.0**30, 2.0**60], [1, 1]])
    tiny = np.array([[2.0**-130, 0], [0, 2.0**-100]])
    x, y = glla.hybrid.map("solve", [(a, a.sum(axis=1)), (tiny, tiny.sum(axis=1))], gpu=gpu, ratio=ratio)
    assert x.tolist() == [1, 1] and (y[1] == 1 if ratio == 0 else y.tolist() == [1, 1])
    (scaled,) = glla.hybrid.map("det", [a * 2.0**-50], gpu=gpu, ratio=ratio)
    assert scaled == pytest.approx((2.0**30 - 2.0**60) * 2.0**-100)


@pytest.mark.parametrize("ratio", [0, INFINITE])
def test_products_on_either_side(ratio, gpu, rng):
    a, b = rng.integers(-9, 10, (5, 7)), rng.integers(-9, 10, (7, 3))
    pairs = [(a, b), (a, b[:, 0]), (np.full((1, 2), 3e38), np.ones((2, 1))), (b.T, a.T)]
    with glla.hybrid.map("matmul", pairs, gpu=gpu, ratio=ratio) as stream:
        assert (next(stream) == a @ b).all() and next(stream).tolist() == (a @ b[:, 0]).tolist()
        with pytest.raises(NonFiniteError, match="matmul"):
            next(stream)
        assert (next(stream) == (a @ b).T).all()


def test_without_scipy(gpu, rng, monkeypatch):
    """NumPy solves and inverts; the rest is the GPU's."""
    monkeypatch.setattr(host, "has_lapack", lambda: False)
    assert set(ANY_MATRIX) <= set(SHARED)
    for operation in ANY_MATRIX:
        systems = [system(operation, n, rng) for n in (4, 7, 3, 6)]
        stream = glla.hybrid.map(operation, systems, gpu=gpu, ratio=1)
        for given, result in zip(systems, stream, strict=True):
            judge(operation, given, result)
        assert (stream.report.cpu_systems > 0) == (operation in ("solve", "inv"))
    with pytest.raises(SingularMatrixError, match="solve: Singular matrix: a pivot is zero"):
        next(glla.hybrid.map("solve", [(np.ones((2, 2)), np.ones(2))], gpu=gpu, ratio=INFINITE))


def test_one_array_may_be_used_again(gpu):
    """What comes from a generator is copied when it is taken."""

    def systems():
        a = np.zeros((2, 2), dtype=np.float32)
        for number in range(1, 9):
            a[...] = number * np.eye(2)
            yield a

    assert list(glla.hybrid.map("det", systems(), gpu=gpu, ratio=1)) == [n * n for n in range(1, 9)]


def test_a_stack_is_a_stream(gpu):
    stack = np.arange(1, 5, dtype=np.float32)[:, np.newaxis, np.newaxis] * np.eye(3, dtype=np.float32)
    assert list(glla.hybrid.map("det", stack, gpu=gpu, ratio=1)) == [1, 8, 27, 64]


# -- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0, 1, INFINITE])
def test_an_error_is_raised_in_its_turn_and_names_its_system(ratio, gpu):
    good = (2 * np.eye(2), np.ones(2))
    systems = [
        good,
        (np.ones((2, 2)), np.ones(2)),
        (np.array([[np.nan, 1], [1, 1]]), np.ones(2)),
        good,
        (np.ones((2, 3)), np.ones(2)),
        (np.ones((2, 2)), np.ones(3)),
        (np.ones((1, 2, 2)), np.ones(2)),
        np.eye(3),
        (np.array([[1e-30]]), np.array([1e30])),
        good,
    ]
    expected = {
        1: (SingularMatrixError, "solve: Singular matrix: pivot 1 of 2 is"),
        2: (NonFiniteError, "solve: A must not hold NaN or infinity, got nan at"),
        4: (ShapeError, r"solve: the last two dimensions of A must be square, got shape \(2, 3\)"),
        5: (ShapeError, r"solve: b must have as many rows as A, got A \(2, 2\) and b \(3, 1\)"),
        6: (ShapeError, r"solve: A must be one matrix, two-dimensional, got shape \(1, 2, 2\); iterate over a stack"),
        7: (ShapeError, r"solve: a system must be a pair \(A, B\)"),
        8: (NonFiniteError, "solve: the result does not fit float32"),
    }
    stream = glla.hybrid.map("solve", systems, gpu=gpu, ratio=ratio)
    for index in range(len(systems)):
        if index in expected:
            kind, text = expected[index]
            with pytest.raises(kind, match=text) as caught:
                next(stream)
            assert f"raised by system {index} of hybrid.map" in caught.value.__notes__
        else:
            assert next(stream).tolist() == [0.5, 0.5]
    with pytest.raises(StopIteration):
        next(stream)


def test_both_sides_call_the_same_matrices_singular(gpu, rng):
    kinds = [testing.singular(n, n, rng) for n in (3, 8, 20, 33)]
    kinds += [testing.conditioned(12, 12, rng, cond) for cond in (1e2, 1e4, 1e5)] + [testing.graded(9, 9, rng)]
    verdicts = []
    for ratio in (0, INFINITE):
        stream = glla.hybrid.map("inv", kinds, gpu=gpu, ratio=ratio)
        verdicts.append([])
        for _ in kinds:
            try:
                next(stream)
                verdicts[-1].append("regular")
            except SingularMatrixError:
                verdicts[-1].append("singular")
    assert verdicts[0] == verdicts[1] == ["singular"] * 4 + ["regular"] * 4


@pytest.mark.parametrize("ratio", [0, INFINITE])
def test_a_determinant_that_does_not_fit(ratio, gpu):
    with pytest.raises(NonFiniteError, match="det: the determinant does not fit float32, log"):
        next(glla.hybrid.map("det", [np.eye(2) * 1e30], gpu=gpu, ratio=ratio))


def test_an_error_of_the_stream_comes_behind_the_results(gpu):
    def systems():
        yield from [np.eye(2)] * 3
        raise KeyError("no more data")

    stream = glla.hybrid.map("det", systems(), gpu=gpu, ratio=1)
    assert [next(stream) for _ in range(3)] == [1, 1, 1]
    with pytest.raises(KeyError, match="no more data"):
        next(stream)
    assert list(stream) == []


# -- the end ----------------------------------------------------------------------------------------------------------


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "glla"]


def test_closing_early_leaves_nothing(gpu):
    before = workers()
    calls = gpu.stats().textures
    with glla.hybrid.map("inv", itertools.repeat(np.eye(4)), gpu=gpu, ratio=0.25) as stream:
        next(stream)
    assert gpu.waiting == 0 and not gpu.closed
    assert list(stream) == [] and stream.report.gpu_systems >= 0
    stream.close()
    assert gpu.stats().textures == calls
    with glla.hybrid.map("inv", itertools.repeat(np.eye(4)), ratio=0.25) as stream:
        next(stream)
        assert len(workers()) == len(before) + 1
    assert workers() == before


def test_an_interrupt_loses_nothing():
    world = World(5, 1)
    stream = shared(world, numbers(6), None, ratio=5)
    run = world.run

    def interrupted(task):
        world.run = run
        stream._cpu = world
        raise KeyboardInterrupt

    world.run = interrupted
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert list(stream) == list(range(6))


def test_waiting_systems_are_cancelled():
    world = World(5, 5)
    stream = shared(world, numbers(20), None, ratio=0.5)
    next(stream)
    held = [ticket.task.index for ticket in stream._tickets]
    stream.close()
    assert len(held) >= 2 and world.cancelled == held[::-1] and not stream._tickets


def test_a_stream_that_is_dropped_ends_its_coprocessor():
    before = workers()
    stream = glla.hybrid.map("det", itertools.repeat(np.eye(2)), ratio=1)
    next(stream)
    (worker,) = [thread for thread in workers() if thread not in before]
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    worker.join(20)
    assert gone() is None and not worker.is_alive()


def test_a_closed_coprocessor():
    gpu = glla.coprocessor()
    stream = glla.hybrid.map("det", itertools.repeat(np.eye(2)), gpu=gpu, ratio=0)
    assert next(stream) == 1
    gpu.close()
    with pytest.raises(CoprocessorError, match="the coprocessor is closed"):
        for _ in range(20):
            assert next(stream) == 1
    assert list(stream) == []
    with pytest.raises(CoprocessorError, match=r"hybrid.map: the coprocessor is closed; make another one"):
        glla.hybrid.map("det", [], gpu=gpu)


@pytest.mark.parametrize("busy", [False, True])
def test_a_core_is_left_to_the_thread_that_drives_the_gpu(busy, monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    pytest.importorskip("scipy.linalg")  # its BLAS is limited, too
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    used = [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    monkeypatch.setattr(host, "counterpart", lambda operation: threadpoolctl.threadpool_info)
    side = Cpu(time.perf_counter, lambda: busy)
    outcome = side.run(Task(0, "threads", ()))
    seen = [library["num_threads"] for library in outcome.value if library["user_api"] == "blas"]
    assert seen == ([min(threads, max(1, cores - 1)) for threads in used] if busy else used)


# -- the CPU's side: LAPACK at its best -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 33), (16, 16), (7,), (0, 4)])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_a_conversion_to_fortran_order_is_a_copy(shape, order, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    given = {"C": a, "F": np.asfortranarray(a), "strided": np.repeat(a, 2, axis=0)[::2]}[order]
    found = host.fortran(given)
    np.testing.assert_array_equal(found, a)
    assert found.flags.f_contiguous and not np.shares_memory(found, given)


def test_lapack_works_in_place_on_fortran_order(monkeypatch, rng):
    """Else it makes a conversion that takes as long as the factorisation."""
    lapack = pytest.importorskip("scipy.linalg.lapack")
    seen = []

    def spied(name, right):
        def spy(*arrays, **options):
            overwritten = options.get("overwrite_a" if name == "sgetrf" else "overwrite_b")
            orders = [array.flags.f_contiguous for array in arrays if array.dtype == np.float32]
            seen.append((name, overwritten, orders))
            return right(*arrays, **options)

        return spy

    for name in ("sgetrf", "sgetrs"):
        monkeypatch.setattr(lapack, name, spied(name, getattr(lapack, name)))
    a, b = testing.uniform(20, 20, rng), testing.normal(20, 3, rng)
    graded = a * np.logspace(-9, 9, 20, dtype=np.float32)  # which is scaled first
    for matrix in (a, graded):
        copies = matrix.copy(), b.copy()
        assert testing.judge_solve(matrix, host.solve(matrix, b), b).ok
        assert testing.judge_inverse(matrix, host.inv(matrix)).ok
        np.testing.assert_array_equal(matrix, copies[0])
        np.testing.assert_array_equal(b, copies[1])
    host.lu_factor(a)
    host.det(a)
    assert {name for name, _, _ in seen} == {"sgetrf", "sgetrs"}
    for name, overwritten, orders in seen:
        assert overwritten and all(orders), name
    assert host.solve(a, b).flags.c_contiguous and host.inv(a).flags.c_contiguous
    assert host.solve(a, b[:, 0]).shape == (20,)
