"""Progress of a long command on a terminal: one line, redrawn, and cleared in the end.

It is drawn only between measurements, never beside them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def shown(purpose: str, console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step; without a terminal or rich it shows nothing.

    `purpose`: what all of it is. `console`: by default standard error's.

    >>> with shown("counting fetches") as say:
    ...     say("matmul rank_one")
    """
    if find_spec("rich") is None or not (console.is_terminal if console else sys.stderr.isatty()):
        yield lambda what: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn(), TextColumn("Ctrl-C ends it"))
    with Progress(*columns, console=console or Console(stderr=True), transient=True, auto_refresh=False) as progress:
        line = progress.add_task(purpose)

        def say(what: str) -> None:
            progress.update(line, description=f"{purpose}: {what}")
            progress.refresh()

        say("...")
        yield say
