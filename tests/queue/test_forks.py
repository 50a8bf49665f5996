"""A process that is forked beside a coprocessor: it learns what it cannot use, and it ends, whatever the worker does.

A child that does not end is killed, and says where it was: Python's stack after half of the time; at its end, when
Python may be gone already, the libraries whose code lies on the C stack. By hand, on a new driver::

    pytest -m sweep -s tests/queue/test_forks.py
"""

import os
import sys
import textwrap

import pytest

from tests.beside import run_python

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"), pytest.mark.timeout(100)]

HARNESS = """
import contextlib, faulthandler, os, signal, struct, sys, threading, time, warnings
import numpy as np
import glla
from glla.errors import CoprocessorError, ThreadError

warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
LIMIT = 20.0  # seconds that a child may take


def where(pid):
    "What a process waits for, as far as Linux tells: its system call, and whose code its stack leads back to."
    try:
        number, *_, stack, place = open(f"/proc/{pid}/syscall").read().split()
        code = []  # (first, end, name) of what can be executed
        for line in open(f"/proc/{pid}/maps"):
            span, rights, *_, name = (line + " ?").split()
            if "x" in rights:
                code.append((*(int(end, 16) for end in span.split("-")), line.split()[-1]))
        words = [int(place, 16)]
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        with contextlib.suppress(OSError):  # the stack's end
            for offset in range(0, 2**15, 64):
                words += struct.unpack("8Q", os.pread(memory, 64, int(stack, 16) // 64 * 64 + offset))
        os.close(memory)
    except (OSError, ValueError) as error:
        return f"nothing is known ({error})"
    calls = [f"{name}+{word - first:#x}" for word in words for first, end, name in code if first <= word < end]
    return f"system call {number}, called by (innermost first, with false ones among them) " + "; ".join(calls[:80])


def wait(child):
    "Exit status of a child; one that hangs is killed, and says where it was."
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    print(f"the child {child} hangs in {where(child)}", file=sys.stderr)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


def fork(work):
    "Fork; the child does something, and ends as a program does."
    child = os.fork()
    if child:
        return wait(child)
    signal.alarm(int(2 * LIMIT))  # ends it, should its parent be gone by then
    faulthandler.dump_traceback_later(LIMIT / 2)
    work()
    sys.exit(0)


@contextlib.contextmanager
def busy(gpu):
    "Keep a coprocessor at work."
    going = True

    def work():
        a = gpu.asarray(np.eye(64))
        while going:
            a = gpu.matmul(a, a)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        going = False
        thread.join()


def try_all(calls):
    for call in calls:
        try:
            call()
        except ThreadError as error:
            print("refused", flush=True)
"""


def run(script, limit=60):
    """Words that a program behind the harness prints, which ends by itself."""
    return run_python(HARNESS + textwrap.dedent(script), "-X", "faulthandler", limit=limit).split()


def test_a_fork_is_refused():
    output = run("""
        gpu = glla.coprocessor()
        p = gpu.asarray([[1]])
        p.result()
        def child():
            global p, gpu
            try_all([p.result, p.exception, lambda: p + 1, p.prefetch, p.cancel, lambda: p.add_done_callback(print),
                     gpu.close, gpu.__enter__, glla.coprocessor])
            del p, gpu
        print(fork(child), (p + 1).result()[0, 0])
    """)
    assert output == ["refused"] * 9 + ["0", "2.0"]


def test_a_block_may_end_in_a_forked_child():
    """However it is left there; the parent's coprocessor goes on."""
    output = run("""
        def leave():
            sys.exit(3)
        with glla.coprocessor() as gpu:
            print(fork(lambda: None), fork(leave))
            print(gpu.asarray([[1]]).result()[0, 0], flush=True)
            child = os.fork()
        if not child:
            print("child", flush=True)
            sys.exit(4)
        print(wait(child))
    """)
    assert output == ["0", "3", "1.0", "child", "4"]


def test_what_a_coprocessor_has_set_is_set_back_in_a_forked_child():
    output = run("""
        from glla.queue.turns import PR_GET_TIMERSLACK, PR_SET_TIMERSLACK, _control
        _control(PR_SET_TIMERSLACK, 40_000)
        def show():
            print(round(1e6 * sys.getswitchinterval()), _control(PR_GET_TIMERSLACK, 0), flush=True)
        with glla.coprocessor(punctual=True), glla.coprocessor(punctual=True):
            fork(show)
            show()
            sys.setswitchinterval(0.007)
            fork(show)
        show()
    """)
    slack = "40000" if sys.platform.startswith("linux") else "-1"
    assert output == ["5000", slack, "10", slack, "7000", slack, "7000", slack]


def test_a_fork_in_a_thread_and_one_of_multiprocessing():
    output = run("""
        import multiprocessing
        gpu = glla.coprocessor()
        with busy(gpu):
            # Its own thread is the last but faulthandler's, which would keep the process for a while.
            thread = threading.Thread(target=lambda: print(fork(faulthandler.cancel_dump_traceback_later)))
            thread.start()
            thread.join()
            process = multiprocessing.get_context("fork").Process(target=print, args=("process",))
            process.start()
            process.join(LIMIT)
            print(process.exitcode)
        gpu.close(cancel=True)
    """)
    assert output == ["0", "process", "0"]


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only glibc's exit() can be kept from calling the driver's"
)
def test_the_drivers_part_of_exit_is_left_out():
    """Here a function of C stands for it that never returns; what the child itself registers is called."""
    output = run("""
        import atexit, ctypes
        libc = ctypes.CDLL(None)
        libc.strdup.restype, libc.strdup.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
        def at_exit(function, argument=None):
            libc.__cxa_atexit(ctypes.cast(function, ctypes.c_void_p), argument, None)
        at_exit(libc.pause)
        gpu = glla.coprocessor()
        def child():
            atexit.register(print, "python", flush=True)
            at_exit(libc.puts, libc.strdup(b"registered"))
            libc.printf(b"buffered\\n")
            sys.exit(7)
        print(fork(child))
        gpu.close()
        sys.stdout.flush()
        os._exit(0)
    """)
    assert sorted(output) == ["7", "buffered", "python", "registered"]


FORKS = """
    def come_and_go():  # others are opened and closed meanwhile
        while going:
            with contextlib.suppress(CoprocessorError), glla.coprocessor() as other:
                other.asarray([[1]])
    going = True
    thread = threading.Thread(target=come_and_go)
    thread.start()
    with glla.coprocessor() as gpu, busy(gpu):
        p = gpu.asarray([[1]])
        for place in range({forks}):
            status = fork(lambda: try_all([p.result]))
            if status:
                print("fork", place, "of {forks}:", status, file=sys.stderr)
                break
        going = False
    thread.join()
    assert p.result() == 1
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("forks", [10, pytest.param(200, marks=pytest.mark.sweep)])
def test_forks_beside_a_busy_coprocessor(forks):
    assert run(FORKS.format(forks=forks), limit=500) == ["refused"] * forks
