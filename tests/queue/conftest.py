"""Engines for tests: without OpenGL, and with a gate before each call."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from glla.queue import Coprocessor
from glla.queue.engine import DeviceEngine
from tests.beside import PATIENCE


class Gate:
    """Lets calls through one by one, and tells how many have come to it."""

    def __init__(self, open=True):
        self.changed = threading.Condition()
        self.permits = float("inf") if open else 0
        self.arrived = 0

    def pass_through(self):
        with self.changed:
            self.arrived += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.permits > 0)
            self.permits -= 1

    def allow(self, calls=1):
        with self.changed:
            self.permits += calls
            self.changed.notify_all()

    def open(self):
        self.allow(float("inf"))

    def wait_for(self, arrived):
        with self.changed:
            assert self.changed.wait_for(lambda: self.arrived >= arrived, PATIENCE), "the worker does not come"
            assert self.arrived == arrived


class Lost(Exception):
    """What an engine cannot go on after."""


class HostEngine:
    """Runs calls with NumPy."""

    def __init__(self, gate=None):
        self.gate = gate or Gate()
        self.thread = threading.get_ident()
        self.reads = []
        self.closed = False
        self.interrupted = False

    def run(self, call):
        assert threading.get_ident() == self.thread and not self.closed
        self.gate.pass_through()
        args, kwargs = call.resolved()
        return call.function(*args, **kwargs)

    def read(self, value, name, check_finite):
        assert threading.get_ident() == self.thread and not self.closed
        self.reads.append(name)
        return value

    def check(self, error):
        if isinstance(error, Lost):
            raise error

    def interrupt(self):
        self.interrupted = True

    def close(self):
        self.closed = True


class GatedDeviceEngine(DeviceEngine):
    """A device, with a gate before each call."""

    def __init__(self, gate, options):
        super().__init__(options)
        self.gate = gate

    def run(self, call):
        self.gate.pass_through()
        return super().run(call)


@pytest.fixture
def gate():
    """A gate that is shut."""
    return Gate(open=False)


@pytest.fixture
def host(gate):
    """Make a coprocessor without OpenGL, behind the gate; it is closed at the end."""
    made = []

    def make(**options):
        made.append(Coprocessor(partial(HostEngine, gate), **options))
        return made[-1]

    yield make
    gate.open()
    for coprocessor in made:
        coprocessor._worker.close(cancel=True)
        coprocessor._worker.thread.join(PATIENCE)
        assert not coprocessor._worker.thread.is_alive(), "the worker does not end"
