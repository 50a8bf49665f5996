"""Random schedules: whatever is enqueued, cancelled, dropped, waited for and closed, and in which order, is right.

The order of events is given, not left to the machine: a gate lets the worker through one call at a time, threads that
wait for room come one after the other, and a model says after each step what must have happened. So each schedule runs
the same way every time, and one that fails can be run again. The matrices are permutations with signs, which products
and negation never leave: every result is exact.
"""

import contextlib
import gc
import random
import threading
import time
from collections import deque
from concurrent.futures import CancelledError
from functools import partial

import numpy as np
import pytest

import glla
from glla.errors import CoprocessorError
from glla.queue import Coprocessor
from glla.testing import assert_exact
from tests.beside import PATIENCE, started, wait_until

from .conftest import Gate, GatedDeviceEngine, HostEngine

CAPACITY = 3
MATRICES = [np.array(rows, dtype=np.float32) for rows in ([[0, 1], [1, 0]], [[1, 0], [0, -1]], [[0, -1], [1, 0]])]

PLACES = range(101)


def rule(when=lambda self: True, **choices):
    """Mark what may happen next, where `when` holds, with arguments out of sequences."""

    def mark(function):
        function.when, function.choices = when, choices
        return function

    return mark


def run_schedules(machine, count, steps):
    """Run random schedules, the same in every run; one that fails says what happened.

    Each has rules of its own that are likely, and others that are not: what fills the queue, and what closes it, would
    hardly come to extremes if all were alike.
    """
    rules = [one for one in vars(Schedule).values() if hasattr(one, "choices")]
    for seed in range(count):
        rng, schedule, happened = random.Random(seed), machine(), []
        likely = {one: rng.choice((1, 4, 16)) for one in rules}
        try:
            schedule.begin()
            for _ in range(steps):
                schedule.check_bound()
                enabled = [one for one in rules if one.when(schedule)]
                (chosen,) = rng.choices(enabled, [likely[one] for one in enabled])
                arguments = {name: rng.choice(values) for name, values in chosen.choices.items()}
                happened.append(f"{chosen.__name__}({', '.join(f'{name}={one}' for name, one in arguments.items())})")
                chosen(schedule, **arguments)
            schedule.check_bound()
            schedule.teardown()
        except BaseException as error:
            error.add_note(f"schedule {seed}: {', '.join(happened)}")
            raise


class Refused(ValueError):
    """What calls fail with that are made to."""


def refuse():
    raise Refused("refused")


def upload(value):
    """Give a matrix of the device that the worker has; without one, the array."""
    return glla.asarray(value)


class Node:
    """What the model knows of one call."""

    def __init__(self, operands=(), value=None, failing=False):
        self.operands = operands
        self.own_value = value
        self.failing = failing
        self.state = "blocked"
        self.pending = None
        self.thread = None
        self.follows = []  # what its callbacks enqueue
        self.kept = True  # whether the test has a reference to the Pending

    @property
    def doomed(self):
        return any(operand.state in ("failed", "cancelled") for operand in self.operands)

    @property
    def value(self):
        """Of a call that succeeds: exact."""
        if self.own_value is not None:
            return self.own_value
        values = [operand.value for operand in self.operands]
        return -values[0] if len(values) == 1 else values[0] @ values[1]


class Schedule:
    """One schedule."""

    make_constant = staticmethod(np.array)

    def open_engine(self):
        return HostEngine(self.gate)

    def __init__(self):
        self.gate = Gate(open=False)
        self.gpu = Coprocessor(self.open_engine, CAPACITY)
        self.worker = self.gpu._worker
        self.engine = self.worker.engine
        self.nodes = []  # all
        self.blocked, self.waiting, self.running = deque(), deque(), None
        self.arrivals = 0
        self.closed = False

    # -- the model

    def settle(self):
        """Let the model come to rest, and the worker with it."""
        while True:
            if self.blocked and len(self.waiting) < CAPACITY:
                node = self.blocked.popleft()
                node.state = "waiting"
                self.waiting.append(node)
            elif self.running is None and self.waiting:
                node = self.waiting.popleft()
                if node.doomed:
                    self.finish(node, "failed")
                else:
                    node.state, self.running = "running", node
                    self.arrivals += 1
            else:
                break
        self.gate.wait_for(self.arrivals)
        wait_until(self.at_rest)
        for node in self.nodes:
            if node.thread is not None and node.state != "blocked":
                node.pending, node.thread = node.thread.result(PATIENCE), None

    def at_rest(self):
        """Whether the queue is as long as it must be, and callbacks have run."""
        called_back = all(node.pending is not None for node in self.nodes if node.kept and node.thread is None)
        as_long = (len(self.worker._entering), self.worker.length) == (len(self.blocked), len(self.waiting))
        return called_back and as_long

    def finish(self, node, state):
        node.state = state
        for follower in node.follows:
            follower.state = "waiting"
            self.waiting.append(follower)
            self.nodes.append(follower)
        node.follows = []

    def enqueue(self, node, call):
        """Enqueue, from a thread of its own where there is no room."""
        self.nodes.append(node)
        if len(self.waiting) < CAPACITY:
            node.state = "waiting"
            self.waiting.append(node)
            node.pending = call()
        else:
            self.blocked.append(node)
            node.thread = started(call)
        self.settle()

    def pick(self, place, wanted=lambda node: True):
        """One of the calls that the test has a reference to."""
        there = [node for node in self.nodes if node.kept and node.pending is not None and wanted(node)]
        return there[place % len(there)] if there else None

    def check(self, node):
        """A call that is over has the outcome it must have."""
        if node.state == "done":
            assert node.pending.exception(PATIENCE) is None
            assert_exact(node.pending.result(0), node.value)
        elif node.state == "cancelled":
            with pytest.raises(CancelledError):
                node.pending.result(PATIENCE)
        elif node.state == "failed":
            error = node.pending.exception(PATIENCE)
            assert isinstance(error, (Refused, CoprocessorError))
            assert node.pending.done() and not node.pending.cancelled()

    # -- what may happen

    def busy(self):
        """Whether calls may be enqueued: the model does not know whether they or those of callbacks come first."""
        return not self.closed and len(self.blocked) < 3 and not any(node.follows for node in self.nodes)

    def quiet(self):
        return not self.closed and not self.blocked

    def begin(self):
        """So that there is something to pick."""
        self.constant(0)

    @rule(busy, which=range(len(MATRICES)))
    def constant(self, which):
        self.enqueue(Node(value=MATRICES[which]), lambda: self.gpu.submit(type(self).make_constant, MATRICES[which]))

    @rule(busy, first=PLACES, second=PLACES)
    def product(self, first, second):
        a, b = self.pick(first), self.pick(second)
        if a is not None:
            left, right = a.pending, b.pending
            self.enqueue(Node((a, b)), lambda: left @ right)

    @rule(busy, which=PLACES)
    def negative(self, which):
        a = self.pick(which)
        if a is not None:
            operand = a.pending
            self.enqueue(Node((a,)), lambda: -operand)

    @rule(busy)
    def failure(self):
        self.enqueue(Node(failing=True), lambda: self.gpu.submit(refuse))

    @rule(quiet, which=PLACES)
    def callback(self, which):
        """When the call is over, another one is enqueued by the worker."""
        a = self.pick(which, lambda node: node.state in ("waiting", "running") and not node.follows)
        if a is None:
            return
        follower = Node((a,))
        a.follows.append(follower)

        def follow(pending):
            with contextlib.suppress(CoprocessorError):  # closed in the meantime
                follower.pending = -pending

        a.pending.add_done_callback(follow)

    @rule(lambda self: self.running is not None, calls=range(1, 5))
    def let_through(self, calls):
        for _ in range(calls):
            if self.running is not None:
                node, self.running = self.running, None
                self.gate.allow()
                self.finish(node, "failed" if node.failing else "done")
                self.settle()

    @rule(which=PLACES)
    def cancel(self, which):
        node = self.pick(which)
        if node is None:
            return
        could = node.state in ("waiting", "cancelled")
        if node.state == "waiting":
            self.waiting.remove(node)
            self.finish(node, "cancelled")
        assert node.pending.cancel() is could
        self.settle()

    @rule(which=PLACES)
    def prefetch(self, which):
        node = self.pick(which)
        if node is not None:
            node.pending.prefetch()

    @rule(which=PLACES)
    def look(self, which):
        node = self.pick(which)
        if node is None:
            return
        if node.state in ("waiting", "running"):
            with pytest.raises(TimeoutError):
                node.pending.result(0)
        elif node.state == "done" and self.running is not None:
            node.pending.prefetch()  # it is read when the worker comes away from the gate
        else:
            self.check(node)

    @rule(which=PLACES)
    def drop(self, which):
        node = self.pick(which)
        if node is not None:
            node.pending, node.kept = None, False

    @rule(quiet, cancel=(False, True))
    def close(self, cancel):
        self.closed = True
        for node in self.nodes:  # a callback cannot enqueue any more
            node.follows = []
        self.worker.close(cancel)
        if cancel:
            for node in self.waiting:
                node.state = "cancelled"
            self.waiting.clear()
            for node in self.nodes:  # what is not asked for is not read
                if node.kept and node.state in ("done", "running"):
                    node.pending.prefetch()
        with pytest.raises(CoprocessorError):
            self.gpu.submit(refuse)

    def check_bound(self):
        assert self.closed or self.worker.length == len(self.waiting)
        assert len(self.worker._entering) == len(self.blocked)

    def teardown(self):
        while self.running is not None:
            self.let_through(1)
        if not self.closed:
            self.leaves_nothing()
        self.gpu.close(timeout=PATIENCE)
        for node in self.nodes:
            if node.kept:
                self.check(node)

    def leaves_nothing(self):
        """For an engine that can tell."""


class DeviceSchedule(Schedule):
    """The same on a device."""

    make_constant = staticmethod(upload)

    def open_engine(self):
        return GatedDeviceEngine(self.gate, {})

    def leaves_nothing(self):
        kept = [node for node in self.nodes if node.kept]
        for node in kept:
            self.check(node)
        for node in self.nodes:
            node.pending, node.kept = None, False
        gc.collect()
        self.gate.open()
        assert self.gpu.stats(PATIENCE).textures == 0


@pytest.mark.timeout(100)
def test_more_than_a_thousand_schedules():
    run_schedules(Schedule, 1400, 20)


@pytest.mark.timeout(100)
def test_schedules_on_a_device():
    run_schedules(DeviceSchedule, 25, 15)


# ---- threads that run free -----------------------------------------------------------------------------------------


def free_thread(gpu, make_constant, seed, steps):
    """Enqueue, cancel, time out, drop and wait at random; whatever comes out must be right."""
    rng = np.random.default_rng(seed)
    mine = []  # (Pending, value)
    for _ in range(steps):
        what = rng.integers(8)
        if what < 2 or not mine:
            value = MATRICES[rng.integers(len(MATRICES))]
            mine.append((gpu.submit(make_constant, value), value))
            continue
        (a, x), (b, y) = mine[rng.integers(len(mine))], mine[rng.integers(len(mine))]
        if what < 5:
            mine.append((a @ b, x @ y))
        elif what == 5:
            a.cancel()
        elif what == 6:
            mine.pop(0)
        else:
            try:
                assert_exact(a.result(float(rng.random()) * 1e-3), x)
            except TimeoutError:
                a.prefetch()
            except (CancelledError, CoprocessorError):  # cancelled, or what it needed was
                pass
    for a, x in mine:
        with contextlib.suppress(CancelledError, CoprocessorError):
            assert_exact(a.result(PATIENCE), x)


@pytest.mark.parametrize("kind", ["host", "device"])
@pytest.mark.timeout(120)
def test_threads_that_run_free(kind):
    """Many threads, a small queue: no schedule is given here, so that races may show that no model thought of."""
    opened = {"host": HostEngine, "device": partial(GatedDeviceEngine, Gate(), {})}[kind]
    constant = {"host": np.array, "device": upload}[kind]
    with Coprocessor(opened, capacity=4) as gpu:
        for outcome in [started(free_thread, gpu, constant, seed, 150) for seed in range(8)]:
            outcome.result(60)
        gc.collect()
        if kind == "device":
            assert gpu.stats(PATIENCE).textures == 0


@pytest.mark.parametrize("cancel", [False, True])
@pytest.mark.timeout(60)
def test_closing_while_threads_enqueue(cancel):
    """Each call is done, cancelled or refused; no thread is left waiting."""
    gpu = Coprocessor(HostEngine, capacity=2)
    together = threading.Barrier(7)

    def work():
        calls = []
        together.wait(PATIENCE)
        with contextlib.suppress(CoprocessorError):
            while True:
                calls.append(gpu.submit(int, len(calls)))
        return calls

    outcomes = [started(work) for _ in range(6)]
    together.wait(PATIENCE)
    time.sleep(0.02)
    gpu.close(cancel=cancel, timeout=PATIENCE)
    for outcome in outcomes:
        calls = outcome.result(PATIENCE)
        assert all(call.done() for call in calls)
        if not cancel:
            assert [call.result(0) for call in calls] == list(range(len(calls)))
