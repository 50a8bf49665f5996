"""Ctrl-C in the middle of a call into moderngl.

``Context.program`` calls Python back for each uniform and attribute of a program, and does not look whether that
raised: a KeyboardInterrupt there ends the process with a segmentation fault. So Ctrl-C waits until it has returned.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def put_off() -> Iterator[None]:
    """Let Ctrl-C wait until the block is left; then the handler that was set before runs.

    Python runs handlers in the main thread alone, so that another thread has nothing to put off. A handler that is not
    Python's raises nothing, and stays.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)
