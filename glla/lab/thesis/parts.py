"""What a section is made of: tables, drawings, and sentences; as text, and as a part of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np

from glla.lab import plots

Cell = str | float | int

SIDE = 64
"""Rows and columns of a picture of a matrix at most: more are averaged."""

MARKED = {"holds": "good", "does not hold": "bad"}
"""Words of cells that stand out."""


@dataclass(frozen=True)
class Table:
    """Rows below headings."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> str:
        """Write it in columns."""
        rows = [self.headings, *(tuple(map(written, row)) for row in self.rows)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.headings))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])

    def html(self) -> str:
        """Write it as an element."""
        head = "".join(f"<th>{escape(one)}</th>" for one in self.headings)
        rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        caption = f"<caption>{escape(self.title)}</caption>"
        return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(cell: Cell) -> str:
    kind = MARKED.get(cell, "") if isinstance(cell, str) else "number"
    return f'<td class="{kind}">{escape(written(cell))}</td>' if kind else f"<td>{escape(written(cell))}</td>"


@dataclass(frozen=True)
class Series:
    """Marks of a drawing, and a line through them; `line` has y at places of its own."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    line: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())


@dataclass(frozen=True)
class Drawing:
    """Curves on axes, logarithmic or not; or a picture of a matrix, if there is an `image`."""

    title: str
    x: str = "n"
    y: str = "seconds"
    series: tuple[Series, ...] = ()
    logarithmic: bool = True
    image: tuple[tuple[float, ...], ...] = ()

    def html(self) -> str:
        """Draw it by matplotlib, as a figure of the page in the page's own colours."""
        return _drawn(self)


@lru_cache(maxsize=64)
def _drawn(drawing: Drawing) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), facecolor="none")
    figure.subplots_adjust(0.12, 0.12, 0.97, 0.97)
    ax = figure.subplots()
    ax.set_facecolor("none")
    parts: list[Any] = [ax]
    if drawing.image:
        picture = ax.imshow(drawing.image, cmap="viridis", interpolation="nearest", extent=(0, 1, 1, 0))
        bar = figure.colorbar(picture, ax=ax)
        bar.set_label(drawing.y, color=plots.INK)
        parts.append(bar.ax)
        ax.set(xticks=(), yticks=())
    for one, colour in zip(drawing.series, plots.COLOURS, strict=False):
        label = one.label.replace("$", r"\$")
        ax.plot(one.x, one.y, "x" if one.line[0] else "x--", color=colour, label=label)
        if one.line[0]:
            ax.plot(*one.line, color=colour)
    if drawing.series:
        ax.legend(frameon=False, fontsize=9, labelcolor=plots.INK)
        ax.set_ylabel(drawing.y, color=plots.INK)
        ax.set_xlabel(drawing.x, color=plots.INK)
        ax.grid(alpha=0.2)
        if drawing.logarithmic:
            ax.set_xscale("log")
            ax.set_yscale("log")
    for part in parts:
        part.tick_params(which="both", colors=plots.INK)
        for spine in part.spines.values():
            spine.set_color(plots.INK)
    name = re.sub(r"[^a-z0-9]+", "-", drawing.title.lower()).strip("-")
    caption = f"<figcaption>{escape(drawing.title)}</figcaption>"
    return f"<figure>{caption}{plots.element(figure, name)}</figure>"


def coarse(values: Any) -> tuple[tuple[float, ...], ...]:
    """Average a matrix over blocks until it is `SIDE` wide at most, to three digits: what a picture of it needs.

    >>> coarse([[1, 2], [3, 4]])
    ((1.0, 2.0), (3.0, 4.0))
    """
    array = np.asarray(values, dtype=np.float64)
    step = -(-max(array.shape) // SIDE)
    starts = [np.arange(0, side, step) for side in array.shape]
    sums = np.add.reduceat(np.add.reduceat(array, starts[0], axis=0), starts[1], axis=1)
    counts = [np.diff(np.append(first, side)) for first, side in zip(starts, array.shape, strict=True)]
    return tuple(tuple(float(f"{value:.3g}") for value in row) for row in sums / np.outer(*counts))


@dataclass
class Section:
    """One figure or group of tables of the thesis, done again.

    Attributes
    ----------
    name, title : str
        What ``--section`` calls it, and its heading.
    places : str
        Figures, tables and sections of the thesis that it stands for.
    tables, drawings, notes : lists
        What it shows.
    values : dict
        Figures that other sections take from it; they are not kept in files.
    seconds : float
        What it took.
    """

    name: str
    title: str
    places: str
    tables: list[Table] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def text(self) -> str:
        """Write it for a terminal."""
        head = f"{self.title} ({self.places})"
        return "\n\n".join([head + "\n" + "=" * len(head), *(one.text() for one in self.tables), *self.notes])

    def html(self) -> str:
        """Write it as a part of a page."""
        parts = [f'<section id="{self.name}"><h2>{escape(self.title)} <small>{escape(self.places)}</small></h2>']
        parts += ['<div class="drawings">', *(one.html() for one in self.drawings), "</div>"] if self.drawings else []
        parts += [one.html() for one in self.tables]
        return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in self.notes), "</section>"])

    def plain(self) -> dict[str, Any]:
        """Give it as plain data, as `of` takes it."""
        return {name: value for name, value in asdict(self).items() if name != "values"}

    @staticmethod
    def of(data: Mapping[str, Any]) -> Section:
        """Make it of plain data.

        >>> section = Section("norms", "Norms", "4.5", [Table("t", ("n",), ((1,),))], [Drawing("d", image=((1.0,),))])
        >>> Section.of(section.plain()) == section
        True
        """
        tables = [Table(one["title"], tuple(one["headings"]), _rows(one["rows"])) for one in data["tables"]]
        drawings = [
            Drawing(**{**one, "series": tuple(map(_series, one["series"])), "image": _rows(one["image"])})
            for one in data["drawings"]
        ]
        kept = {name: data[name] for name in ("name", "title", "places", "notes", "seconds")}
        return Section(**kept, tables=tables, drawings=drawings)


def _rows(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, rows))


def _series(data: Mapping[str, Any]) -> Series:
    x, y = data["line"]
    return Series(data["label"], tuple(data["x"]), tuple(data["y"]), (tuple(x), tuple(y)))


def written(cell: Cell) -> str:
    """Write a cell: numbers with three digits, or as many as stand before the point.

    >>> written(0.000123456), written(2055.3), written("-")
    ('0.000123', '2055', '-')
    """
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if 1000 <= abs(cell) < 1e7 else f"{cell:.3g}"
