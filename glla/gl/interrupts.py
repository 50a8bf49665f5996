"""Ctrl-C during a call into moderngl.

``Context.program`` calls back into Python for each uniform and attribute of a program, and ignores exceptions there: a
KeyboardInterrupt ends the process with a segmentation fault. So Ctrl-C waits until it has returned.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def put_off() -> Iterator[None]:
    """Defer Ctrl-C until the block is left; then the handler that was set before runs.

    Python runs handlers in the main thread of the main interpreter only, so other threads have nothing to defer. A
    handler that is not Python's raises nothing, and stays.
    """
    handler = signal.getsignal(signal.SIGINT)
    came = list[bool]()
    taken = callable(handler) and _set(lambda *_: came.append(True))
    try:
        yield
    finally:
        if taken:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def _set(handler: Callable[..., object]) -> bool:
    """Set the handler of Ctrl-C; False where Python takes none, as in the main thread of a subinterpreter."""
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True
