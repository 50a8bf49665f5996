"""Standard output of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 132
"""Columns of what does not go to a terminal, at least: tables must not be cut off in a file."""


def console(width: int = WIDTH) -> Console:
    """Open standard output; `width` is the least where it is no terminal."""
    from rich.console import Console

    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, width)
    return made
