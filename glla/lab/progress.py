"""Progress of a long command on a terminal: one line on stderr, redrawn, and cleared in the end.

It is drawn only between measurements, never beside them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def shown(purpose: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step; without a terminal or rich it shows nothing.

    `purpose`: what all of it is.

    >>> with shown("counting fetches") as say:
    ...     say("matmul rank_one")
    """
    if not sys.stderr.isatty() or find_spec("rich") is None:
        yield lambda what: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn(), TextColumn("Ctrl-C ends it"))
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        line = progress.add_task(purpose)

        def say(what: str) -> None:
            progress.update(line, description=f"{purpose}: {what}")
            progress.refresh()

        say("...")
        yield say
