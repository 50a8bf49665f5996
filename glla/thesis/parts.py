"""Parts of a section: tables, drawings, and sentences; as text, and as a part of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np

from glla.lab import plots
from glla.lab.fits import Fit
from glla.lab.table import aligned, digits

Cell = str | float | int

SIDE = 64
"""Rows and columns of a picture of a matrix at most: more are averaged."""

LENGTH = 1.8
"""Length of the longest arrow on a picture, in distances between arrows."""

MARKED = {"holds": "good", "does not hold": "bad"}
"""Words of cells that stand out."""


@dataclass(frozen=True)
class Table:
    """Rows below headings; as `cards`, each row stands by itself on a narrow page, and its command below it."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    cards: bool = False

    def text(self) -> str:
        """Write it in columns."""
        rows = [tuple(map(written, row)) for row in self.rows]
        return "\n  ".join([self.title, *aligned(self.headings, rows).splitlines()])

    def html(self) -> str:
        """Write it as an element."""
        kinds = ["number" if _numeric([row[i] for row in self.rows]) else "" for i in self._columns]
        labels = [f' data-label="{escape(name.partition(" (")[0])}"' if self.cards else "" for name in self.headings]
        head = "".join(_element("th", kinds[i], labels[i], self.headings[i]) for i in self._columns)
        rows = "".join(
            f"<tr>{''.join(_element('td', kinds[i], labels[i], row[i]) for i in self._columns)}</tr>"
            for row in self.rows
        )
        kind = ' class="cards"' if self.cards else ""
        table = f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="table"><h3>{typeset(self.title)}</h3><div class="wide">{table}</div></div>'

    @property
    def _columns(self) -> range:
        return range(len(self.headings))


def _numeric(column: Sequence[Cell]) -> bool:
    """Whether a column has numbers, or nothing at all."""
    return any(not isinstance(cell, str) for cell in column) or set(column) == {"-"}


def _element(tag: str, kind: str, label: str, cell: Cell) -> str:
    kind = MARKED.get(cell, kind) if isinstance(cell, str) else kind
    named = f' class="{kind}"' if kind else ""
    return f"<{tag}{named}{label}>{typeset(written(cell))}</{tag}>"


def typeset(text: str) -> str:
    """Write text for a page, with powers of n raised, and code between backticks.

    >>> typeset("a + b n^3 < c, `glla`")
    'a + b n<sup>3</sup> &lt; c, <code>glla</code>'
    """
    raised = re.sub(r"n\^([\d.]+\d|\d)", r"n<sup>\1</sup>", escape(text))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", raised)


@dataclass(frozen=True)
class Series:
    """Marks of a drawing, and a line through them; `line` has y at places of its own. `theirs` are drawn faintly."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    line: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    theirs: bool = False


@dataclass(frozen=True)
class Drawing:
    """Curves on axes, logarithmic or not; or a picture of a matrix, if there is an `image`, and `arrows` on it.

    The arrows are two matrices: to the right, and down.
    """

    title: str
    x: str = "n"
    y: str = "seconds"
    series: tuple[Series, ...] = ()
    logarithmic: bool = True
    image: tuple[tuple[float, ...], ...] = ()
    arrows: tuple[tuple[tuple[float, ...], ...], ...] = ()

    def html(self) -> str:
        """Draw it by matplotlib, as a figure of the page in the page's own colours."""
        return _drawn(self)


@lru_cache(maxsize=64)
def _drawn(drawing: Drawing) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.8), facecolor="none")
    rows = -(-len(drawing.series) // 2)
    figure.subplots_adjust(0.14, 0.13, 0.9 if drawing.image else 0.97, 0.97 - 0.06 * rows if rows > 1 else 0.9)
    ax = figure.subplots()
    ax.set_facecolor("none")
    parts: list[Any] = [ax]
    if drawing.image:
        parts.append(_picture(figure, ax, drawing))
    for one, colour in zip(drawing.series, plots.COLOURS, strict=False):
        _curve(ax, one, colour)
    if drawing.series:
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.1, 1.0), "ncols": 2} if rows > 1 else {}
        ax.legend(frameon=False, fontsize=9, labelcolor=plots.INK, **place)
        ax.set_ylabel(drawing.y, color=plots.INK)
        ax.set_xlabel(drawing.x, color=plots.INK)
        ax.grid(alpha=0.2)
        if drawing.logarithmic:
            _logarithmic(ax, [n for one in drawing.series for n in one.x])
        else:
            ax.ticklabel_format(axis="y", scilimits=(-2, 3))
            ax.yaxis.offsetText.set_color(plots.INK)
    for part in parts:
        part.tick_params(which="both", colors=plots.INK)
        for spine in part.spines.values():
            spine.set_color(plots.INK)
    name = re.sub(r"[^a-z0-9]+", "-", drawing.title.lower()).strip("-")
    caption = f"<figcaption>{typeset(drawing.title)}</figcaption>"
    return f"<figure>{caption}{plots.element(figure, name)}</figure>"


def _picture(figure: Any, ax: Any, drawing: Drawing) -> Any:
    """Draw a matrix, and give the axes of its bar."""
    picture = ax.imshow(
        drawing.image, **plots.values(np.asarray(drawing.image)), interpolation="nearest", extent=(0, 1, 1, 0)
    )
    if drawing.arrows:
        right, down = map(np.asarray, drawing.arrows)
        y, x = ((np.arange(side) + 0.5) / side for side in right.shape)
        longest = float(np.hypot(right, down).max()) or 1.0
        scale = longest * len(x) / LENGTH
        ax.quiver(x, y, right, down, color="#555555", angles="xy", scale_units="xy", scale=scale, width=0.004)
    bar = figure.colorbar(picture, ax=ax)
    bar.set_label(drawing.y, color=plots.INK)
    bar.formatter.set_powerlimits((-2, 3))
    bar.ax.yaxis.offsetText.set_color(plots.INK)
    ax.set(xticks=(), yticks=())
    return bar.ax


def _curve(ax: Any, one: Series, colour: str) -> None:
    mark, alpha = (".", 0.5) if one.theirs else ("x", 1.0)
    joined = "" if one.line[0] else ":" if one.theirs else "--"
    ax.plot(one.x, one.y, mark + joined, color=colour, alpha=alpha, label=one.label.replace("$", r"\$"))
    if one.line[0]:
        ax.plot(*one.line, color=colour, alpha=alpha)


def _logarithmic(ax: Any, sizes: Sequence[float]) -> None:
    """Scale both axes, and mark powers of two among the sizes."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    powers = [2**i for i in range(20) if min(sizes) <= 2**i <= max(sizes)]
    if len(powers) > 1:
        ax.set_xticks(powers, [str(n) for n in powers])
        ax.set_xticks([], minor=True)


def coarse(values: Any, side: int = SIDE) -> tuple[tuple[float, ...], ...]:
    """Average a matrix over blocks, for a picture of it: at most `side` wide, to three digits.

    >>> coarse([[1, 2], [3, 4]])
    ((1.0, 2.0), (3.0, 4.0))
    """
    array = np.asarray(values, dtype=np.float64)
    step = -(-max(array.shape) // side)
    starts = [np.arange(0, size, step) for size in array.shape]
    sums = np.add.reduceat(np.add.reduceat(array, starts[0], axis=0), starts[1], axis=1)
    counts = [np.diff(np.append(first, size)) for first, size in zip(starts, array.shape, strict=True)]
    return tuple(tuple(float(f"{value:.3g}") for value in row) for row in sums / np.outer(*counts))


@dataclass
class Section:
    """One figure or group of tables of the thesis, done again."""

    name: str  # what ``--section`` calls it, and its heading
    title: str
    places: str  # figures, tables and sections of the thesis that it stands for
    tables: list[Table] = field(default_factory=list)  # what it shows
    drawings: list[Drawing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # figures that other sections and claims take from it
    seconds: float = 0.0  # what it took

    def text(self) -> str:
        """Write it for a terminal."""
        head = f"{self.title} ({self.places})"
        return "\n\n".join([head + "\n" + "=" * len(head), *(one.text() for one in self.tables), *self.notes])

    def html(self) -> str:
        """Write it as a part of a page."""
        parts = [f'<section id="{self.name}"><h2>{escape(self.title)} <small>{escape(self.places)}</small></h2>']
        parts += ['<div class="drawings">', *(one.html() for one in self.drawings), "</div>"] if self.drawings else []
        parts += ['<div class="tables">', *(one.html() for one in self.tables), "</div>"]
        return "".join([*parts, *(f"<p>{typeset(note)}</p>" for note in self.notes), "</section>"])

    def plain(self) -> dict[str, Any]:
        """Give it as plain data, as `of` takes it."""
        return asdict(self)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Section:
        """Make it of plain data.

        >>> section = Section("norms", "Norms", "4.5", [Table("t", ("n",), ((1,),))], [Drawing("d", image=((1.0,),))])
        >>> Section.of(section.plain()) == section
        True
        """
        kept = {name: data[name] for name in ("name", "title", "places", "notes", "seconds")}
        tables = [Table(**_frozen(one)) for one in data["tables"]]
        drawings = [
            Drawing(**{**_frozen(one), "series": tuple(Series(**_frozen(part)) for part in one["series"])})
            for one in data["drawings"]
        ]
        values = dict(data.get("values", {}))
        if "fits" in values:
            values["fits"] = {name: line and Fit(**line) for name, line in values["fits"].items()}
        return Section(**kept, tables=tables, drawings=drawings, values=values)


def _frozen(data: Any) -> Any:
    """Make the lists of a file tuples, as the frozen classes have them."""
    if isinstance(data, dict):
        return {name: _frozen(value) for name, value in data.items()}
    return tuple(map(_frozen, data)) if isinstance(data, list) else data


def written(cell: Cell) -> str:
    """Write a cell: of a number that is no count, three digits, or as many as stand before the point."""
    return digits(cell) if isinstance(cell, float) else str(cell)
