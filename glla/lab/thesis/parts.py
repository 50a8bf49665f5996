"""What a section is made of: tables, drawings, and sentences; as text, and as a part of a page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from io import BytesIO
from typing import Any

from glla.lab.plots import COLOURS

Cell = str | float | int


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
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(written(cell))}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        caption = f"<caption>{escape(self.title)}</caption>"
        return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


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
        """Draw it by matplotlib, as a picture in the page."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        ax = figure.subplots()
        if self.image:
            figure.colorbar(ax.imshow(self.image, cmap="viridis", interpolation="nearest"), ax=ax, label=self.y)
        for one, colour in zip(self.series, COLOURS, strict=False):
            marks = "x" if one.line[0] else "x--"
            ax.plot(one.x, one.y, marks, color=colour, label=one.label.replace("$", r"\$"))
            if one.line[0]:
                ax.plot(*one.line, color=colour)
        if self.series:
            ax.legend(frameon=False, fontsize=8)
            ax.set_ylabel(self.y)
            ax.set_xlabel(self.x)
            ax.grid(alpha=0.2)
            if self.logarithmic:
                ax.set_xscale("log")
                ax.set_yscale("log")
        ax.set_title(self.title, fontsize=10)
        file = BytesIO()
        figure.savefig(file, format="png", dpi=110)
        data = b64encode(file.getvalue()).decode()
        return f'<img alt="{escape(self.title)}" src="data:image/png;base64,{data}">'


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
        Figures that other sections take from it.
    """

    name: str
    title: str
    places: str
    tables: list[Table] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Write it for a terminal."""
        head = f"{self.title} ({self.places})"
        return "\n\n".join([head + "\n" + "=" * len(head), *(one.text() for one in self.tables), *self.notes])

    def html(self) -> str:
        """Write it as a part of a page."""
        parts = [f'<section id="{self.name}"><h2>{escape(self.title)} <small>{escape(self.places)}</small></h2>']
        parts += [*(one.html() for one in self.drawings), *(one.html() for one in self.tables)]
        return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in self.notes), "</section>"])

    def plain(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


def written(cell: Cell) -> str:
    """Write a cell: numbers with three digits, or as many as stand before the point.

    >>> written(0.000123456), written(2055.3), written("-")
    ('0.000123', '2055', '-')
    """
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if 1000 <= abs(cell) < 1e7 else f"{cell:.3g}"


def page(sections: Sequence[Section], title: str, about: Sequence[str]) -> str:
    """Make one page of all sections; it asks for nothing from anywhere."""
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
        "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}"
        "caption{text-align:left;font-weight:600;white-space:nowrap}"
        "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
        ".wide{overflow-x:auto}img{max-width:100%}small{color:#666;font-weight:400;font-size:.6em}"
    )
    links = " &middot; ".join(f'<a href="#{one.name}">{escape(one.title)}</a>' for one in sections)
    lines = "".join(f"<p>{escape(line)}</p>" for line in about)
    body = "".join(one.html() for one in sections)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f"<body><h1>{escape(title)}</h1>{lines}<nav>{links}</nav>{body}</body></html>\n"
    )
