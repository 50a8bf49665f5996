"""Watching plans run, and the GPU's clock."""

import ctypes
from time import perf_counter

import numpy as np
import pytest

import glla
from glla.gl import GPUClock
from glla.gl.recorder import BY_THE_GPU
from glla.passes import resident


@pytest.fixture
def clock(device):
    with device.current():
        clock = GPUClock(device.calls)
        if not clock.bits:
            pytest.skip("this driver keeps no timestamps")
        yield clock
        clock.clear()


def test_a_software_rasteriser_has_no_clock_worth_reading(device):
    assert (device.gpu_clock() is None) == device.info.software


def test_timestamps(device, clock):
    clock.start()
    for _ in range(3):
        clock.stamp()
    device.finish()
    times = clock.read()
    assert len(times) == 3 and times == sorted(times) and clock.read() == []
    is_query = ctypes.CFUNCTYPE(ctypes.c_ubyte, ctypes.c_uint)(device._loader.load_opengl_function("glIsQuery"))
    clock.stamp()
    query = clock._queries[0]
    assert is_query(query)
    clock.clear()
    assert not is_query(query)


def test_both_clocks_are_lined_up(clock, monkeypatch):
    """A GPU counts from where it likes."""
    for name, seconds in (("get_integer", 5), ("get_query_object", 7)):
        told = lambda *given, seconds=seconds: setattr(given[-1]._obj, "value", seconds * 10**9)  # noqa: E731
        monkeypatch.setattr(clock._calls, name, told)
    began = perf_counter()
    clock.start()
    ended = perf_counter()
    clock.stamp()
    (time,) = clock.read()
    assert began + 1.999 <= time <= ended + 2.001


def test_a_trace_by_the_gpus_clock(device, clock, monkeypatch):
    """As on a GPU; only that a software rasteriser's figures are of no use."""
    monkeypatch.setattr(device, "gpu_clock", lambda: clock)
    a = np.eye(5) + 1
    plain = glla.solve(a, np.ones(5))
    with glla.trace() as t:
        x = glla.solve(a, np.ones(5))
    assert x.tobytes() == plain.tobytes()
    assert all(one.gpu is not None and one.gpu >= 0 for one in t.passes)
    starts = [one.gpu_start for one in t.passes]
    assert abs(starts[-1] - t.passes[-1].start) < 60  # the clocks are lined up: both count from the trace's beginning
    assert t.timing == BY_THE_GPU
    assert all(one.seconds == one.gpu for one in t.passes)
    assert "-" not in {line.split()[-1] for line in str(t).splitlines()[1:]}
    assert clock._queries == []


def test_a_failing_run_forgets_its_timestamps(device, clock, monkeypatch):
    monkeypatch.setattr(device, "gpu_clock", lambda: clock)
    stamp, calls = clock.stamp, []

    def fail():
        calls.append(None)
        if len(calls) == 4:
            raise KeyboardInterrupt
        stamp()

    monkeypatch.setattr(clock, "stamp", fail)
    before = device.stats().textures
    a, plan = device.upload(np.eye(4, dtype=np.float32)), glla.plan("plu", *resident((4, 4)))
    with pytest.raises(KeyboardInterrupt), glla.trace() as t:
        device.run(plan, A=a)
    assert clock._queries == []
    assert [one.gpu for one in t.passes] == [None]
    a.release()
    assert device.stats().textures == before
