"""Ctrl-C, and other signals with a handler of Python's, during a call into moderngl.

``Context.program`` calls back into Python for each uniform and attribute of a program, and ignores exceptions there: a
KeyboardInterrupt, or what a handler of SIGALRM raises, ends the process with a segmentation fault. So they wait until
it has returned.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def put_off() -> Iterator[None]:
    """Defer signals until the block is left; then the handlers that were set before run.

    Python runs handlers in the main thread of the main interpreter only, so other threads have nothing to defer. A
    handler that is not Python's raises nothing, and stays.
    """
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    came = list[int]()
    taken = [number for number in handlers if callable(handlers[number]) and _set(number, lambda n, _: came.append(n))]
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, handlers[number])
        with ExitStack() as stack:  # each one's handler runs, whatever another one's raises
            for one in came:
                stack.callback(signal.raise_signal, one)


def _set(number: int, handler: Callable[..., object]) -> bool:
    """Set the handler of a signal; False where Python takes none, as in the main thread of a subinterpreter."""
    try:
        signal.signal(number, handler)
    except ValueError:
        return False
    return True
