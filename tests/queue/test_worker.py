"""The queue without OpenGL: order, bound, results, failures, ends."""

import asyncio
import concurrent.futures
import gc
import re
import weakref
from concurrent.futures import CancelledError

import numpy as np
import pytest

from glla.errors import CoprocessorError, DeviceMismatchError, LimitError, ShapeError, ThreadError
from glla.queue import Coprocessor
from tests.beside import PATIENCE, started, wait_until

from .conftest import Gate, HostEngine, Lost

pytestmark = pytest.mark.timeout(60)  # a deadlock fails, with the stacks of all threads


def fail(error):
    raise error


def blocked(gpu):
    """Threads that wait for room."""
    return len(gpu._worker._entering)


def fill(gpu, gate):
    """Have one call run, up to the gate, and as many wait as may."""
    before = gate.arrived
    calls = [gpu.submit(int, 0)]
    gate.wait_for(before + 1)
    return calls + [gpu.submit(int, place + 1) for place in range(gpu._worker.capacity)]


# ---- results -----------------------------------------------------------------------------------------------------


def test_truth_is_the_values_and_identity_is_that_of_a_future(host, gate):
    gate.open()
    gpu = host()
    p, q = gpu.submit(int, 3), gpu.submit(int, 3)
    assert (p == q) and not (p == 4) and not (p != q)  # noqa: SIM201, SIM202
    assert {p: 1, q: 2} == {q: 2, p: 1} and len({p, q, p}) == 2 and p in {p} and q not in {p}
    assert concurrent.futures.wait([p, q], PATIENCE).done == set(concurrent.futures.as_completed([p, q])) == {p, q}
    assert gpu.submit(int, 0) == 0 and not gpu.submit(int, 0)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(gpu.submit(np.array, [1, 2]) == 1)


def test_numpys_functions_are_queued(host, gate):
    gpu = host()
    p = gpu.submit(np.array, [[2, 0], [0, 4]])
    added, inverse = np.add(1, p), np.linalg.inv(p)
    assert not (added.done() or inverse.done())
    gate.open()
    assert added.result(PATIENCE).tolist() == [[3, 1], [1, 5]]
    assert inverse.result(PATIENCE).tolist() == [[0.5, 0], [0, 0.25]]
    with pytest.raises(TypeError):
        np.add(1, p, out=np.zeros((2, 2)))


def test_arrays_and_nested_values_out_of_results(host, gate):
    gate.open()
    gpu = host()
    p = gpu.submit(np.array, [[1, 2]])
    assert p.shape == (1, 2) and p.ndim == 2
    assert np.asarray(p, dtype=float).dtype == float
    assert p.numpy() is p.result()
    with pytest.raises(ValueError, match="reading back always copies"):
        np.array(p, copy=False)
    pair = gpu.submit(divmod, 7, 2)
    with pytest.raises(TypeError, match=r"numpy: operation \d+ \(divmod, .*\) gives tuple, not an array; take a part"):
        pair.numpy()
    assert pair[1].result(PATIENCE) == 1
    with pytest.raises(TypeError, match="cannot be taken apart before it is there; iterate over its result"):
        list(pair)
    gate.open()
    gpu = host()
    p = gpu.submit(int, 4)
    assert gpu.submit(max, (1, p)).result(PATIENCE) == 4
    assert gpu.submit(np.concatenate, [[p, 2], (3, [p][0])]).result(PATIENCE).tolist() == [4, 2, 3, 4]
    assert gpu.submit(int, "11", base=p).result(PATIENCE) == 5
    kept = []
    gpu.submit(kept.append, 1).result(PATIENCE)
    gpu.submit(list.append, kept, 2).result(PATIENCE)
    assert kept == [1, 2]  # the list itself, where nothing had to be put in place


def test_arrays_may_change_after_the_call(host, gate):
    gpu, careless = host(), host(copy=False)
    array, rows = np.ones(2), [np.ones(2)]
    kept = gpu.submit(int, 0) + array
    stacked = np.stack([gpu.submit(np.ones, 2), array])
    nested = kept + rows
    shared = careless.submit(int, 0) + array
    array[:] = 7
    rows[0][:] = 7
    gate.open()
    assert kept.result(PATIENCE).tolist() == [1, 1]
    assert stacked.result(PATIENCE).tolist() == [[1, 1], [1, 1]]
    assert nested.result(PATIENCE).tolist() == [[2, 2]]
    assert shared.result(PATIENCE).tolist() == [7, 7]


def test_a_result_is_read_once_and_only_if_asked_for(host, gate):
    gate.open()
    gpu = host()
    p = gpu.submit(int, 1)
    q = p + 1
    assert q.result(PATIENCE) == q.result(PATIENCE) == 2
    assert q.exception(PATIENCE) is None
    assert gpu._worker.engine.reads == ["add"]
    assert p.prefetch() is p
    wait_until(lambda: gpu._worker.engine.reads == ["add", "int"])


def test_reads_go_ahead_of_calls_that_wait(host, gate):
    gpu = host()
    first = gpu.submit(int, 5)
    gate.wait_for(1)
    _second, *rest = [gpu.submit(int, 6) for _ in range(10)]
    gate.allow()
    gate.wait_for(2)
    first.prefetch()  # while the second one runs
    gate.allow()
    assert first.result(PATIENCE) == 5  # though all others wait still
    assert not any(p.done() for p in rest)


def test_results_are_futures(host, gate):
    gpu = host()
    p, q, r = gpu.submit(int, 1), gpu.submit(int, 2), gpu.submit(int, 3)
    gate.wait_for(1)
    r.set_result(7)  # anybody may do so; the worker keeps out of it
    assert p.running() and not q.running()
    done, waiting = concurrent.futures.wait([p, q], timeout=0.01)
    assert not done and waiting == {p, q}
    gate.open()
    assert {f.result() for f in concurrent.futures.as_completed([p, q], timeout=PATIENCE)} == {1, 2}
    assert "done>" in repr(p) and r.result(PATIENCE) == 7
    assert gpu.submit(int, 4).result(PATIENCE) == 4


def test_a_result_names_its_operation_and_the_line(host, gate):
    gpu = host()
    p = gpu.submit(int, 1)
    gate.wait_for(1)
    line = p._site.rpartition(":")[2]
    assert repr(p) == f"<glla.Pending operation 1 (int, test_worker.py:{line}): running>"
    assert repr(gpu) == "<glla.coprocessor: 0 calls wait>"
    assert "waiting" in repr(gpu.submit(int, 2))
    assert gpu.waiting == 1


# ---- time --------------------------------------------------------------------------------------------------------


def test_a_result_that_is_late_is_not_lost(host, gate):
    gpu = host()
    p = gpu.submit(int, 1)
    text = r"result: operation 1 \(int, test_worker.py:\d+\) is not there after 0.01 s; wait again, or cancel\(\) it"
    for wait in (p.result, p.exception):
        with pytest.raises(TimeoutError, match=text):
            wait(0.01)
    gate.open()
    assert p.result(PATIENCE) == 1
    assert (p + 1).result(PATIENCE) == 2
    with pytest.raises(TimeoutError, match="the operation's own"):  # which is raised as it is
        gpu.submit(fail, TimeoutError("the operation's own")).result(PATIENCE)


def test_a_full_queue_holds_back_and_times_out(host, gate):
    gpu = host(capacity=2)
    calls = fill(gpu, gate)
    late = started(gpu.submit, int, 9)
    wait_until(lambda: blocked(gpu) == 1)
    assert gpu.waiting == 2 and not late.done()
    gate.allow()
    assert late.result(PATIENCE)._number == 4 and blocked(gpu) == 0
    gpu._worker.timeout = 0.01
    text = (
        r"^int: the coprocessor's queue is full since 0.01 s \(2 calls wait\); call again later, cancel some, or raise"
    )
    with pytest.raises(TimeoutError, match=text):
        gpu.submit(int, 10)
    assert calls[-1].cancel()  # which makes room
    last = gpu.submit(int, 11)
    gate.open()
    assert [p.result(PATIENCE) for p in (*calls[:-1], late.result(), last)] == [0, 1, 9, 11]


# ---- the worker waits for nobody -----------------------------------------------------------------------------------


def test_callbacks_may_enqueue_though_the_queue_is_full(host, gate):
    """And ask for what is done, and close."""
    gpu = host(capacity=1)
    first, _ = calls = fill(gpu, gate)
    for p in calls:
        p.prefetch()  # read-backs are not bound
    added, seen = [], []
    first.add_done_callback(lambda p: added.extend([p + 1, p + 2, p + 3]))
    first.add_done_callback(lambda p: seen.append((p.result(), p.exception(), p.shape, np.asarray(p).tolist())))
    gate.open()
    wait_until(lambda: len(added) == 3)
    assert [p.result(PATIENCE) for p in added] == [1, 2, 3] and seen == [(0, None, (), 0)]
    last = gpu.submit(int, 4)
    last.add_done_callback(lambda p: gpu.close())
    assert last.result(PATIENCE) == 4
    gpu._worker.thread.join(PATIENCE)
    assert gpu.closed


def test_the_worker_does_not_wait_for_itself(host, gate):
    gate.open()
    gpu = host()
    raised = []

    def careless():
        later = gpu.submit(int, 1)
        for wait in (later.result, later.exception, lambda: later.shape):
            try:
                wait()
            except ThreadError as error:
                raised.append(str(error))
        return later.prefetch()

    later = gpu.submit(careless).result(PATIENCE)
    assert later.result(PATIENCE) == 1
    assert len(raised) == 3 and raised[0].startswith("result: operation 2 (int, test_worker.py:")
    assert raised[0].endswith(
        "is awaited in the coprocessor's own thread, which would wait for itself; "
        "pass it to the next call as it is, or use add_done_callback"
    )
    assert gpu.submit(lambda: later.result() + 1).result(PATIENCE) == 2  # what is done may be read there


# ---- failures ----------------------------------------------------------------------------------------------------


def test_a_failure_surfaces_where_its_result_is_needed(host, gate):
    gate.open()
    gpu = host()
    bad = gpu.submit(fail, ShapeError("matmul: inner dimensions must agree"))
    needs = bad + 1
    too = gpu.submit(max, [needs, 2])
    assert gpu.submit(int, 3).result(PATIENCE) == 3  # later work goes on
    for pending, notes in ((bad, 1), (needs, 2), (too, 3)):
        with pytest.raises(ShapeError, match="matmul: inner dimensions must agree") as caught:
            pending.result(PATIENCE)
        assert pending.exception() is caught.value
        assert len(caught.value.__notes__) == notes
        assert "failed>" in repr(pending)
    first, second, third = caught.value.__notes__
    assert first.startswith("raised by operation 1 (fail, test_worker.py:")
    assert second == f"{needs.label} needed {bad.label}, which failed"
    assert third == f"{too.label} needed {needs.label}, which failed"
    assert caught.value.__cause__.__cause__ is bad.exception()


class Stubborn(Exception):
    def __new__(cls, first, second):
        return super().__new__(cls, first)

    def __init__(self, first, second):
        super().__init__(first)


def test_failures_of_any_class_are_passed_on(host, gate):
    gate.open()
    gpu = host()
    limit = gpu.submit(fail, LimitError("too much", 5, 4)) + 1
    with pytest.raises(LimitError, match="too much") as caught:
        limit.result(PATIENCE)
    assert (caught.value.asked, caught.value.allowed) == (5, 4)
    with pytest.raises(CoprocessorError, match="Stubborn: first") as other:
        (gpu.submit(fail, Stubborn("first", "second")) + 1).result(PATIENCE)
    assert isinstance(other.value.__cause__, Stubborn)
    assert isinstance(gpu.submit(fail, SystemExit(3)).exception(PATIENCE), SystemExit)  # and the worker lives
    assert gpu.submit(int, 3).result(PATIENCE) == 3


class Value:
    """Something that can be seen to go."""

    def __add__(self, other):
        return Value()


@pytest.fixture
def make():
    """A function that makes values, which are gone at the end."""
    values = []

    def make():
        values.append(weakref.ref(value := Value()))
        return value

    yield make
    wait_until(lambda: values and all(value() is None for value in values))


def test_a_failure_lets_go_of_what_it_worked_on(host, gate, make):
    def work():
        thing = make()
        raise ValueError(f"bad {bool(thing)}")

    gate.open()
    p = host().submit(work)
    assert isinstance(p.exception(PATIENCE), ValueError)


def test_failures_of_the_engine_are_raised_where_they_matter(host, gate, monkeypatch):
    """Of reading with the result, of closing with the end."""
    gate.open()
    gpu = host()
    monkeypatch.setattr(gpu._worker.engine, "read", lambda value, name, check: fail(ValueError("unreadable")))
    p = gpu.submit(int, 1)
    with pytest.raises(ValueError, match="unreadable") as caught:
        p.result(PATIENCE)
    assert caught.value.__notes__[0].startswith("raised when operation 1 (int, test_worker.py:")
    assert p.shape == ()  # the value is there
    monkeypatch.setattr(gpu._worker.engine, "close", lambda: fail(OSError("stuck")))
    with pytest.raises(CoprocessorError, match=r"close: the coprocessor's thread has ended \(OSError: stuck\)"):
        gpu.close()


def test_operands_of_another_queue_are_refused(host):
    text = r"^add: operands must belong to one coprocessor; pass the result\(\)"
    with pytest.raises(DeviceMismatchError, match=text):
        host().submit(int, 1) + host().submit(int, 2)


def test_an_engine_that_does_not_open_says_why():
    with pytest.raises(OSError, match="no such device"):
        Coprocessor(lambda: fail(OSError("no such device")))


# ---- cancelling --------------------------------------------------------------------------------------------------


def test_what_waits_can_be_cancelled(host, gate):
    gpu = host()
    first, second = gpu.submit(int, 1), gpu.submit(int, 2)
    needs = second + 1
    second.prefetch()
    gate.wait_for(1)
    seen = []
    second.add_done_callback(seen.append)
    assert not first.cancel()  # it runs
    assert second.cancel() and second.cancel()
    assert second.cancelled() and second.done() and seen == [second]
    assert gpu.waiting == 1
    assert concurrent.futures.wait([second], timeout=PATIENCE).done == {second}
    for wait in (second.result, second.exception):
        with pytest.raises(CancelledError, match=r"operation 2 \(int, test_worker.py:\d+\) was cancelled"):
            wait(PATIENCE)
    gate.open()
    with pytest.raises(CoprocessorError) as caught:
        needs.result(PATIENCE)
    assert str(caught.value) == f"{needs.label} needs {second.label}, which was cancelled"
    assert first.result(PATIENCE) == 1
    assert "cancelled" in repr(second)


def test_cancelling_between_queue_and_start(host, gate):
    """The worker has taken the call already, but not begun it: it notices, and goes on."""
    gpu = host()
    gpu.submit(int, 0)
    gate.wait_for(1)
    p = gpu.submit(int, 1)
    waiting = p.prefetch()._host
    with gpu._worker._lock:
        del gpu._worker._waiting[p]
    assert p.cancel() and not waiting.done()
    gpu._worker._reads.append(p)  # as `_next` gives it out
    gate.open()
    with pytest.raises(CancelledError):
        p.result(PATIENCE)
    assert gpu.submit(int, 2).result(PATIENCE) == 2


# ---- event loops -------------------------------------------------------------------------------------------------


def test_results_can_be_awaited(host, gate):
    """And giving up an await leaves the operation alone."""
    gpu = host()
    p = gpu.submit(int, 1)

    async def work():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(p, 0.01)
        assert not p.cancelled()
        gate.open()
        both = await asyncio.gather(gpu.submit(int, 2), gpu.submit(int, 3) + 1)
        with pytest.raises(ValueError, match="bad"):
            await gpu.submit(fail, ValueError("bad"))
        return [await p, await p, *both]

    assert asyncio.run(work()) == [1, 1, 2, 4]
    assert p.result(PATIENCE) == 1


# ---- the end -----------------------------------------------------------------------------------------------------


def test_closing_drains(host, gate):
    with host() as gpu:
        p = gpu.submit(int, 1)
        q = p + 1
        engine = gpu._worker.engine
        del p
        gate.open()
        gpu.submit(int, 0).result(PATIENCE)
        engine.reads.clear()
    assert q.result(0) == 2 and engine.reads == ["add"]  # read before the device went: what is referred to, and no more
    assert engine.closed and gpu.closed and not gpu._worker.thread.is_alive()
    with pytest.raises(CoprocessorError, match=r"^add: the coprocessor is closed; make another one$"):
        q + 1
    with pytest.raises(CoprocessorError, match=r"^coprocessor: the coprocessor is closed; make another one$"), gpu:
        pass
    gpu.close()
    assert repr(gpu) == "<glla.coprocessor: closed>"


def test_closing_cancels(host, gate):
    gpu = host(capacity=2)
    done = gpu.submit(int, 7)
    gate.wait_for(1)
    gate.allow()
    running, *waiting = fill(gpu, gate)
    wanted = waiting[1].prefetch()._host
    late = started(gpu.submit, int, 9)
    wait_until(lambda: blocked(gpu) == 1)
    closing = started(gpu.close, True)
    wait_until(lambda: all(p.cancelled() for p in waiting))
    assert wanted.cancelled()
    assert isinstance(late.exception(PATIENCE), CoprocessorError)  # who waits for room is woken
    assert not closing.done()
    gate.open()
    closing.result(PATIENCE)
    text = r"result: operation \d \(int, .*\) was not read before the coprocessor was closed with cancel"
    for pending in (done, running):
        with pytest.raises(CoprocessorError, match=text):
            pending.result(PATIENCE)


def test_closing_serves_who_waits_already(host, gate):
    gpu = host()
    p = gpu.submit(int, 1)
    gate.wait_for(1)
    value = started(p.result)
    wait_until(lambda: p._host is not None)
    closing = started(gpu.close, True)
    wait_until(lambda: gpu.closed)
    gate.open()
    closing.result(PATIENCE)
    assert value.result(PATIENCE) == 1


def test_closing_takes_its_time(host, gate):
    gpu = host()
    calls = [gpu.submit(int, place) for place in range(3)]
    gate.wait_for(1)
    text = r"^close: 2 calls wait still after 0.01 s; close again, or with cancel=True$"
    with pytest.raises(TimeoutError, match=text):
        gpu.close(timeout=0.01)
    gate.open()
    gpu.close()
    assert [p.result(0) for p in calls] == [0, 1, 2]


def test_a_dead_worker_is_reported(host, gate):
    gpu = host(capacity=3)
    before = gpu.submit(int, 1)
    gate.wait_for(1)
    gate.allow()
    assert before.result(PATIENCE) == 1
    done = gpu.submit(int, 2)
    killer = gpu.submit(fail, Lost("the context is gone"))
    waiting = [gpu.submit(int, 3), killer + 1]
    value = started(waiting[0].result)
    late = started(gpu.submit, int, 4)
    gate.wait_for(2)
    wait_until(lambda: waiting[0]._host is not None)
    gate.allow()
    gate.wait_for(3)
    done.prefetch()  # while the one runs that ends it all
    gate.open()
    assert isinstance(killer.exception(PATIENCE), Lost)
    assert isinstance(waiting[1].exception(PATIENCE), CoprocessorError)
    error, ended = value.exception(PATIENCE), "the coprocessor's thread has ended (Lost: the context is gone); "
    assert isinstance(error, CoprocessorError) and isinstance(error.__cause__, Lost)
    assert str(error) == f"{waiting[0].label} was not done: {ended}make another one"
    late.exception(PATIENCE)  # it got in before the end, or it failed
    for begin, call in (
        ("^int: ", lambda: gpu.submit(int, 5)),
        (r"^result: operation 2 \(int, .*\) is lost: ", lambda: done.result(PATIENCE)),
        ("^close: ", gpu.close),
    ):
        with pytest.raises(CoprocessorError, match=begin + re.escape(ended)):
            call()
    assert before.result(PATIENCE) == 1  # it was read before
    assert gpu._engine.closed and repr(gpu) == "<glla.coprocessor: dead>"
    with pytest.raises(Lost), host() as other:  # the error of the block hides the death
        other.submit(fail, Lost()).result(PATIENCE)


# ---- whatever is raised ------------------------------------------------------------------------------------------


ENDS = [SystemExit("enough"), KeyboardInterrupt(), GeneratorExit(), MemoryError(), ValueError("bad")]


@pytest.mark.parametrize("error", ENDS, ids=lambda error: type(error).__name__)
def test_a_callback_that_raises_is_logged_and_the_queue_goes_on(host, gate, caplog, error):
    """As a callback's Exception is by concurrent.futures, whose own threads end of the others."""
    gpu = host()
    seen = []
    p = gpu.submit(int, 1)
    p.add_done_callback(lambda p: fail(error))
    p.add_done_callback(seen.append)  # is called all the same
    after = p + 1
    gate.open()
    assert after.result(PATIENCE) == 2
    assert p.result(PATIENCE) == 1 and seen == [p]
    assert [record.exc_info[1] for record in caplog.records] == [error]
    assert "exception calling callback for <glla.Pending operation 1" in caplog.text


def test_what_a_callback_raises_in_the_callers_thread_is_the_callers(host, gate):
    gpu = host()
    running, waiting, last = [gpu.submit(int, place) for place in range(3)]
    gate.wait_for(1)
    waiting.add_done_callback(lambda p: fail(SystemExit("enough")))
    with pytest.raises(SystemExit, match="enough"):
        gpu.close(cancel=True)
    assert waiting.cancelled() and last.cancelled() and gpu.waiting == 0
    gate.open()
    gpu.close(timeout=PATIENCE)
    assert running.done()


class Unspeakable(Exception):
    """Raises where it is looked at."""

    def __init__(self, *_):
        super().__init__()

    def __new__(cls, *args):
        if args == ("again",):
            return super().__new__(cls)
        raise ValueError("cannot be made so")

    def __str__(self):
        raise ValueError("has no words")

    def add_note(self, note):
        raise ValueError("takes no notes")


def test_an_exception_that_raises_settles_its_call(host, gate):
    """Its own, and those of the calls that need it."""
    gate.open()
    gpu = host()
    p = gpu.submit(fail, Unspeakable("again"))
    needs = p + 1
    assert isinstance(p.exception(PATIENCE), ValueError)
    assert isinstance(needs.exception(PATIENCE), ValueError)
    assert gpu.submit(int, 1).result(PATIENCE) == 1


@pytest.mark.parametrize("place", ["failure_of_operand", "value_of"])
def test_a_mistake_of_ours_settles_the_call(host, gate, monkeypatch, place):
    gpu = host()
    gpu.submit(int, 0)
    gate.wait_for(1)
    with monkeypatch.context() as patch:
        patch.setattr(f"glla.queue.worker.{place}", lambda *_: fail(RuntimeError("a mistake")))
        p = gpu.submit(int, 1)
        gate.open()
        assert isinstance(p.exception(PATIENCE), RuntimeError)
    assert gpu.submit(int, 2).result(PATIENCE) == 2


@pytest.mark.parametrize("fails", ["call", "read"])
@pytest.mark.parametrize("asked", ["before", "after"])
def test_a_failure_keeps_nothing_alive(host, gate, monkeypatch, fails, asked):
    """No cycle leads from an exception to its call, whose operands may be textures."""
    gpu = host()
    if fails == "read":
        monkeypatch.setattr(gpu._worker.engine, "read", lambda value, *_: fail(value) if value else None)
    gc.collect()
    gc.disable()
    try:
        p = gpu.submit(fail if fails == "call" else lambda error: error, ValueError("bad"))
        if asked == "before":
            p.prefetch()
        gate.open()
        wait_until(p.done)
        assert isinstance(p.exception(PATIENCE), ValueError)
        gone = weakref.ref(p)
        gpu.submit(int, 0).result(PATIENCE)  # the worker has come away from it
        del p
        wait_until(lambda: gone() is None)
    finally:
        gc.enable()


# ---- references --------------------------------------------------------------------------------------------------


def test_a_value_goes_with_its_last_reference_in_any_thread(host, gate, make):
    gpu = host()
    gate.open()
    boxes = [[gpu.submit(make)] for _ in range(10)]
    concurrent.futures.wait([box[0] for box in boxes], timeout=PATIENCE)
    for box in boxes:
        started(box.clear).result(PATIENCE)


@pytest.mark.filterwarnings("ignore:.* was dropped without close:ResourceWarning")
def test_a_coprocessor_that_is_dropped_ends_its_thread():
    """When its results are gone, and calls nobody waits for are done."""
    gate, seen, engine = Gate(open=False), [], []
    gpu = Coprocessor(lambda: engine.append(HostEngine(gate)) or engine[0])
    for place in range(3):
        gpu.submit(seen.append, place)
    p = gpu.submit(int, 1)
    thread = gpu._worker.thread
    del gpu
    gate.open()
    assert (p + 1).result(PATIENCE) == 2  # its results keep it
    del p
    gc.collect()
    thread.join(PATIENCE)
    assert not thread.is_alive() and engine[0].closed and seen == [0, 1, 2]


def test_the_collector_may_end_a_coprocessor_anywhere(host, gate):
    """Even where the lock of its own queue is held: its finalizer takes none."""
    gpu = host()
    with gpu._worker._lock:
        started(gpu._worker.abandon).result(PATIENCE)
    gpu._worker.thread.join(PATIENCE)
    assert not gpu._worker.thread.is_alive()
