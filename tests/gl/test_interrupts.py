"""Tests of Ctrl-C in the middle of a call into moderngl."""

import signal
import sys

import pytest

from glla.gl import interrupts
from tests.beside import in_thread, run_python

COMPILE = """
import os, random, threading, time
import glla
from glla.passes.glsl import find as shader

uniforms = [f"u{i}" for i in range(150)]  # moderngl calls Python back for each
text = "".join(f"uniform float {name};\\n" for name in uniforms)
device, done, stopped, made = glla.default_device(), threading.Event(), 0, 0

def interrupt():
    while not done.wait(0.02 * random.random()):
        os.kill(os.getpid(), 2)

def compile(many):
    global made
    for _ in range(many):
        made += 1
        name = f"test/interrupted_{made}.frag"
        body = f"X = vec4({'+'.join(uniforms)} + {made}.0);"
        shader.adopt(name, f"{text}out vec4 X;\\nvoid main() {{ {body} }}\\n", keep=True)
        with device.current():
            device._programs.get(name, {})

thread = threading.Thread(target=interrupt)
try:
    compile(1)
    thread.start()
except KeyboardInterrupt:
    stopped += 1
end = time.monotonic() + 2
while time.monotonic() < end:
    try:
        compile(50)
    except KeyboardInterrupt:
        stopped += 1
    except Exception:
        pass  # whatever a KeyboardInterrupt left behind
while True:
    try:
        done.set()
        thread.join()
        print(stopped > 3)
        break
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_ctrl_c_while_a_shader_compiles_is_no_crash():
    """It was one: moderngl goes on with what a callback that raised did not give."""
    assert run_python(COMPILE) == "True\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGALRM"])
def test_a_signal_waits_for_the_end_of_the_block(name):
    number, reached = getattr(signal, name, signal.SIGINT), []
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.put_off():
            signal.raise_signal(number)
            reached.append(True)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert reached


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_handler_that_is_not_pythons_stays(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        with interrupts.put_off():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
    made = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    made = interpreters.create(isolated=False)
problem = interpreters.run_string(made, '''
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # NumPy says that it is not made for them
    import glla
print(glla.matmul([[2]], [[3]]).tolist(), flush=True)
''')
assert problem is None, problem
import os
os._exit(0)  # Python 3.11.2 hangs at its exit where a subinterpreter has imported NumPy
"""


def test_a_subinterpreter_has_nothing_to_put_off():
    """Its main thread is one by name, and may set no handler."""
    assert run_python(SUBINTERPRETER, quiet=False) == "[[6.0]]\n"


def test_another_thread_has_nothing_to_put_off():
    def work():
        with interrupts.put_off():
            return signal.getsignal(signal.SIGINT)

    assert in_thread(work) is signal.getsignal(signal.SIGINT)
