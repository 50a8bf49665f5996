"""What commands print on standard output: lines and tables of rich's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glla._version import __version__
from glla.gl import Device

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 132
"""Columns of what does not go to a terminal, at least: tables must not be cut off in a file."""


def console(width: int = WIDTH) -> Console:
    """Open standard output; `width` is the least where it is no terminal."""
    from rich.console import Console

    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, width)
    return made


def headed(device: Device) -> Console:
    """Open standard output, and print which glla runs on what."""
    made = console()
    made.print(f"glla {__version__} on {device.info.renderer}, {device.info.backend}", markup=False)
    return made


def columned(title: str, *columns: str, left: int = 1) -> Table:
    """Make a table with a title, if there is one; the first column to the left, or as many as `left` says."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right", no_wrap=number >= left)
    return table
