"""A comparison as one HTML file that can be mailed: plots, tables and shaders, with nothing loaded from elsewhere.

The page is ``report.html.j2`` beside this file. All that comes from outside, names, reasons, the command, is escaped by
Jinja2; plots are SVG elements, whose text is drawn as outlines; shaders are highlighted by Pygments, which escapes.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glla.lab import machine, mistakes, plots, show
from glla.lab.comparison import Comparison, Source
from glla.lab.extra import require
from glla.lab.measurement import Measurement
from glla.lab.mistakes import Mistake
from glla.lab.table import digits, milliseconds

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATE = "report.html.j2"
LIGHT, DARK = "friendly", "github-dark"
"""Styles of Pygments."""


def save(comparison: Comparison, path: Path) -> None:
    """Write the page."""
    path.write_text(render(comparison), encoding="utf-8")


def render(comparison: Comparison) -> str:
    """Make the page.

    HTML, complete. `comparison`: with its ceilings and environment.
    Raises MissingPackageError: Jinja2, Pygments or matplotlib is not installed.
    """
    require("compare: a report", "jinja2", "pygments", "matplotlib")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    engine = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    engine.filters |= {
        "ms": milliseconds,
        "figure": digits,
        "share": show.share,
        "spread": show.spread,
        "whole": show.whole,
        "breakable": lambda name: escape(name).replace("_", Markup("_<wbr>")).replace(":", Markup(":<wbr>")),
    }
    last = max((record.size for record in comparison.records), default=0)
    return engine.get_template(TEMPLATE).render(
        result=comparison,
        place=comparison.environment,
        plots={name: Markup(plots.svg(comparison, draw, name)) for name, draw in plots.PLOTS.items()},
        colours={name: plots.colour(comparison, name) for name in comparison.names},
        last=last,
        largest=[record for record in comparison.records if record.size == last],
        best=best(comparison),
        troubles=[*show.warnings(comparison), *show.reasons(comparison)],
        peer_lines=show.peer_lines(comparison)[1:],
        machine=machine.written(comparison.environment["machine"]) if "machine" in comparison.environment else "",
        no_fit=show.NO_FIT,
        wrong=sum(record.status == "wrong" for record in comparison.records),
        unfinished=sum(record.status in ("failed", "skipped") for record in comparison.records),
        summaries=[
            (summary, show.crossing(summary, comparison.baseline)) for summary in comparison.summaries() if summary.fit
        ],
        sizes=sorted({record.size for record in comparison.records}),
        listings=listings(comparison),
        mistakes=[(one.words, picture(one)) for one in comparison.mistakes],
        styles=Markup(styles()),
    )


def picture(mistake: Mistake) -> str:
    """Draw where a result is wrong, as the address of an image; '' where the elements are not known any more."""
    if mistake.ratios is None:
        return ""
    return "data:image/png;base64," + b64encode(mistakes.png(mistake)).decode()


def best(comparison: Comparison) -> Measurement | None:
    """Find the fastest right record of the largest size that has one."""
    right = [record for record in comparison.records if record.ok and record.seconds is not None]
    return min(right, key=lambda record: (-record.size, record.seconds or 0.0), default=None)


def listings(comparison: Comparison) -> dict[str, list[dict[str, Any]]]:
    """Highlight the shaders of each variant: a list of shaders, each of a name, a number of lines, and its parts.

    A part is what stands together in a file: its name, its first line, and for each line its number and its markup.
    """
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in comparison.variants}
    for source in comparison.sources:
        found.setdefault(source.variant, []).append(_listing(source))
    for name, about in comparison.variants.items():
        if not found[name] and about["text"]:  # it never came to a plan
            found[name].append(_listing(Source(name, name, ((name, 1, about["text"]),))))
    return {name: shaders for name, shaders in found.items() if shaders}


def _listing(source: Source) -> dict[str, Any]:
    lines = iter(_highlighted(source.text))
    parts = []
    for file, first, text in source.parts:
        count = text.count("\n") + 1
        markup = [(first + i, next(lines)) for i in range(count)]
        kind = "generated" if file.startswith("(") else "own" if file == source.shader else "included"
        parts.append({"file": file, "kind": kind, "lines": markup})
    return {"name": source.shader, "parts": parts, "count": sum(len(part["lines"]) for part in parts)}


def _highlighted(text: str) -> list[Markup]:
    """Highlight GLSL, line by line: no element spans two lines."""
    from markupsafe import Markup
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import GLShaderLexer

    html = highlight(text, GLShaderLexer(stripnl=False), HtmlFormatter(nowrap=True))
    lines = html.split("\n")
    wanted = text.count("\n") + 1
    return [Markup(line) for line in (lines + [""] * wanted)[:wanted]]


def styles() -> str:
    """CSS of the highlighting: for light pages, for dark ones, and light again on paper."""
    from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        wanted = (rule for rule in HtmlFormatter(style=style).get_style_defs(".code").splitlines())
        return "\n".join(rule for rule in wanted if rule.startswith(".code .") and "linenos" not in rule)

    return f"{rules(LIGHT)}\n@media screen and (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}"
