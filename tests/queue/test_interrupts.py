"""Leaving at once: an exception in the block, Ctrl-C, the end of the program. What runs is left between two passes.

How soon is measured by the draws that follow, not by the time.
"""

import functools
import signal
import threading

import numpy as np
import pytest

import glla
from glla.errors import CoprocessorError
from glla.testing import assert_exact, integers
from tests.beside import PATIENCE, run_python, started

pytestmark = pytest.mark.timeout(100)
ABANDONED = r"^operation \d+ \(\w+, .*\) was abandoned between two passes, as an exception, or the end of the"


class Halt:
    """Stops the worker in the midst of an operation, at a draw of its device, until it is interrupted.

    Parameters
    ----------
    gpu : Coprocessor
        That has drawn nothing yet.
    at : int
        Draws that are made before.
    """

    def __init__(self, gpu, at):
        self.at, self.draws = at, 0
        self.reached, self.device = threading.Event(), None
        gpu.submit(self.install).result(PATIENCE)

    def install(self):
        self.device = glla.default_device()
        for name in ("draw", "draw_large"):
            setattr(self.device.calls, name, functools.partial(self.draw, getattr(self.device.calls, name)))

    def draw(self, draw, *args):
        draw(*args)
        self.draws += 1
        if self.draws == self.at:
            self.reached.set()
            for _ in range(int(PATIENCE / 0.01)):
                if self.device._runner.interrupted:
                    break
                threading.Event().wait(0.01)


def matrix(n=64):
    return integers(n, n, np.random.default_rng(3)) + 40 * np.eye(n, dtype=np.float32)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_exception_in_the_block_ends_what_runs_between_two_passes(error):
    with pytest.raises(error), glla.coprocessor() as gpu:
        done = gpu.asarray(np.eye(3)).prefetch()
        done.result(PATIENCE)
        halt = Halt(gpu, at=7)
        running = gpu.plu(matrix())
        waiting = running[0]
        assert halt.reached.wait(PATIENCE)
        raise error
    assert halt.draws == 7
    assert gpu.closed and not gpu._worker.thread.is_alive() and gpu._worker.cause is None
    with pytest.raises(CoprocessorError, match=ABANDONED):
        running.result(0)
    assert waiting.cancelled()
    assert_exact(done.result(0), np.eye(3, dtype=np.float32))


def test_ctrl_c_while_a_result_is_awaited():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), glla.coprocessor() as gpu:
            value = gpu.asarray(matrix())
            gpu.finish(PATIENCE)
            halt = Halt(gpu, at=4)
            running = gpu.plu(matrix())
            assert halt.reached.wait(PATIENCE)
            value.prefetch()  # by threads that wait already: a read takes a pass
            signal.raise_signal(signal.SIGINT)
            running.result(PATIENCE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert halt.draws == 5 and isinstance(running.exception(0), CoprocessorError)
    assert_exact(value.result(0), matrix())


def test_ctrl_c_while_the_block_is_worked_off(monkeypatch):
    """At its end, where it waits for the queue."""
    with pytest.raises(KeyboardInterrupt), glla.coprocessor() as gpu:
        halt = Halt(gpu, at=5)
        running, waiting = gpu.plu(matrix()), gpu.asarray(np.eye(2))
        worker = gpu._worker
        join = worker.join

        def interrupted(timeout=None):
            assert halt.reached.wait(PATIENCE)
            monkeypatch.setattr(worker, "join", join)
            raise KeyboardInterrupt

        monkeypatch.setattr(worker, "join", interrupted)
    assert halt.draws == 5 and not worker.thread.is_alive()
    assert isinstance(running.exception(0), CoprocessorError) and waiting.cancelled()


def test_closing_by_hand_waits_for_what_runs():
    """`close(cancel=True)` as it says: what runs is done, and can be had."""
    gpu = glla.coprocessor()
    reached, going = threading.Event(), threading.Event()

    def work():
        reached.set()
        assert going.wait(PATIENCE)
        return glla.asarray(np.eye(2)) @ np.ones((2, 2))

    running = gpu.submit(work).prefetch()
    assert reached.wait(PATIENCE)
    gpu._worker.close(cancel=True)
    going.set()
    gpu.close(cancel=True, timeout=PATIENCE)
    assert_exact(running.result(0), np.ones((2, 2), np.float32))


def test_the_program_ends_in_the_midst_of_an_operation():
    """Without a block, and with results that were asked for: nobody is there to take them."""
    script = """
        import atexit, functools, threading
        import numpy as np, glla
        gpu = glla.coprocessor()
        draws, reached, going = [], threading.Event(), threading.Event()
        def install():
            device = glla.default_device()
            def counted(draw, *args):
                draw(*args)
                draws.append(draw)
                if len(draws) == 6:
                    reached.set()
                    for _ in range(2000):
                        if device._runner.interrupted:
                            break
                        threading.Event().wait(0.01)
            device.calls.draw = functools.partial(counted, device.calls.draw)
            device.calls.draw_large = functools.partial(counted, device.calls.draw_large)
        gpu.submit(install).result()
        running = gpu.plu(np.eye(64)).prefetch()
        assert reached.wait(20)
        atexit._run_exitfuncs()
        print(len(draws), gpu._worker.thread.is_alive(), type(running.exception(0)).__name__)
    """
    assert run_python(script, "-X", "faulthandler") == "6 False CoprocessorError\n"


# ---- the ends, from several sides at once ----------------------------------------------------------------------------


def test_many_threads_close():
    for _ in range(5):
        gpu = glla.coprocessor()
        results = [gpu.matmul(matrix(8), matrix(8)) for _ in range(20)]
        start = threading.Barrier(6)

        def close(cancel, gpu=gpu, start=start):
            start.wait(PATIENCE)
            gpu.close(cancel=cancel, timeout=PATIENCE)

        for closing in [started(close, place % 3 == 2) for place in range(6)]:
            assert closing.exception(PATIENCE) is None
        assert gpu.closed and gpu._worker.cause is None
        assert all(result.done() for result in results)


def left_by_an_exception(gpu):
    with gpu:
        raise ValueError("left")


@pytest.mark.parametrize(
    ("leave", "cancel"),
    [
        (lambda gpu: gpu.close(cancel=False), False),
        (lambda gpu: gpu.close(cancel=True), True),
        (left_by_an_exception, True),
    ],
    ids=["close", "cancel", "exception"],
)
def test_a_callback_closes(leave, cancel):
    """In the worker's own thread, which cannot wait for itself."""
    gpu = glla.coprocessor()
    held = threading.Event()
    gpu.submit(held.wait, PATIENCE)
    first = gpu.asarray(matrix(4))
    first.add_done_callback(lambda p: leave(gpu))
    last = first + 1
    held.set()
    gpu._worker.thread.join(PATIENCE)
    assert not gpu._worker.thread.is_alive() and gpu._worker.cause is None
    gpu.close()
    assert last.cancelled() if cancel else np.array_equal(last.result(0), matrix(4) + 1)


@pytest.mark.filterwarnings("ignore:.* was dropped without close:ResourceWarning")
def test_a_coprocessor_goes_while_its_calls_run():
    """Its last reference is the worker's: the call that runs."""
    gpu = glla.coprocessor()
    thread, held, seen = gpu._worker.thread, threading.Event(), []
    gpu.submit(held.wait, PATIENCE)
    for _ in range(3):
        gpu.submit(lambda: seen.append(glla.det(np.eye(3))))
    del gpu
    held.set()
    thread.join(PATIENCE)
    assert not thread.is_alive() and seen == [1.0] * 3
