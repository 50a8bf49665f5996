"""Cancelling what others need: by hand, and by closing. The worker outlives it, and every result is settled.

A call leaves the queue and becomes cancelled in one step, or the worker meets an operand that is neither. The first
tests force each order of the two sides; the others let threads run free.
"""

import concurrent.futures
import sys
import threading
from concurrent.futures import CancelledError, Future

import pytest

from glla.errors import CoprocessorError
from glla.queue import Coprocessor
from tests.beside import PATIENCE, wait_until

from .conftest import HostEngine

pytestmark = pytest.mark.timeout(60)


def check_operand_and_what_needs_it(operand, needs):
    """Either both are done, or the one was cancelled and the other says so; never anything between."""
    if operand.cancelled():
        with pytest.raises(CancelledError):
            operand.result(PATIENCE)
        error = needs.exception(PATIENCE)
        assert isinstance(error, CoprocessorError)
        assert str(error) == f"{needs.label} needs {operand.label}, which was cancelled"
    else:
        assert (operand.result(PATIENCE), needs.result(PATIENCE)) == (1, 2)


@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize("moment", ["before it is cancelled", "after it is cancelled"])
def test_the_worker_comes_by_while_an_operand_is_cancelled(host, gate, monkeypatch, close, moment):
    """Whoever cancels is held up just before, or just after, the future's own change of state."""
    gpu = host()
    worker = gpu._worker
    running = gpu.submit(int, 0)
    gate.wait_for(1)
    operand = gpu.submit(int, 1)
    needs = operand + 1
    mark = Future.cancel

    def let_the_worker_by():
        gate.open()
        wait_until(lambda: needs.done() or not worker.thread.is_alive())

    def mark_slowly(pending):
        if pending is not operand or threading.current_thread() is worker.thread:
            return mark(pending)
        if moment == "before it is cancelled":
            let_the_worker_by()
            return mark(pending)
        marked = mark(pending)
        let_the_worker_by()
        return marked

    with monkeypatch.context() as patch:
        patch.setattr(Future, "cancel", mark_slowly)
        worker.close(cancel=True) if close else operand.cancel()
    assert worker.cause is None, f"the worker died: {worker.cause!r}"
    wait_until(lambda: operand.done() and needs.done())
    if not close:
        check_operand_and_what_needs_it(operand, needs)
        assert running.result(PATIENCE) == 0
        assert gpu.submit(int, 3).result(PATIENCE) == 3


@pytest.mark.parametrize("cancels", [1, 2])
def test_two_threads_cancel_one_call(host, gate, monkeypatch, cancels):
    """Those who wait are woken once, whoever was first."""
    gpu = host()
    gpu.submit(int, 0)
    gate.wait_for(1)
    operand = gpu.submit(int, 1)
    barrier = threading.Barrier(cancels)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = [pool.submit(lambda: (barrier.wait(PATIENCE), operand.cancel())[1]) for _ in range(cancels)]
        assert all(answer.result(PATIENCE) for answer in answers)
    assert concurrent.futures.wait([operand], PATIENCE).done == {operand}
    assert gpu.waiting == 0


# ---- threads that run free -------------------------------------------------------------------------------------------


@pytest.fixture
def hasty():
    """Have threads take turns as often as they can, so that each race has its chance."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def cancel_operands(gpu, cancels):
    """Cancel calls that others need, while the worker comes to them; each pair must agree."""
    for _ in range(cancels):
        operand = gpu.submit(int, 1)
        needs = operand + 1
        operand.cancel()
        check_operand_and_what_needs_it(operand, needs)


def died_while_operands_were_cancelled(cancels, threads=4):
    """Whether a coprocessor died while threads cancelled what they needed themselves."""
    gpu = Coprocessor(HostEngine, capacity=8)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        work = [pool.submit(cancel_operands, gpu, cancels // threads) for _ in range(threads)]
    try:
        gpu.close()
    except CoprocessorError:
        return True
    for outcome in work:
        outcome.result()
    return False


def died_in_closing():
    """Whether a coprocessor died while it was closed with cancel=True; its results are all settled."""
    gpu = Coprocessor(HostEngine)
    chain = [gpu.submit(int, 1)]
    for _ in range(30):
        chain.append(chain[-1] + 1)
    try:
        gpu.close(cancel=True, timeout=PATIENCE)
    except CoprocessorError:
        return True
    finally:
        assert all(pending.done() for pending in chain)
    return False


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("cancels", "closings"), [(4000, 50), pytest.param(200_000, 600, marks=pytest.mark.sweep)])
def test_a_race_of_cancels(hasty, cancels, closings):
    for _ in range(cancels // 4000):
        assert not died_while_operands_were_cancelled(4000)
    assert not any(died_in_closing() for _ in range(closings))
