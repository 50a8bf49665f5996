"""A comparison in a notebook: its plots if Matplotlib is installed, its table, and its warnings."""

from __future__ import annotations

from importlib.util import find_spec

from glla import registry
from glla.display.html import MOST_LINES, folded, left_out, line, table
from glla.lab import plots, show
from glla.lab.comparison import Comparison


def of_comparison(comparison: Comparison) -> str:
    """Show a comparison: the plot of the times, the others folded, the table folded beside plots."""
    renderer = comparison.environment.get("renderer", "")
    parts = [line(f"{comparison.operation}: {comparison.formula}{f', on {renderer}' if renderer else ''}")]
    drawn = _plots(comparison) if any(record.ok for record in comparison.records) else []
    parts += drawn
    records = table(*show.laid_out(comparison.records[:MOST_LINES]))
    records += left_out(max(0, len(comparison) - MOST_LINES), "records")
    parts.append(folded(f"{len(comparison)} records", records, unfolded=len(drawn) < 2))
    parts += [line(text) for text in (*show.warnings(comparison), *show.reasons(comparison))]
    return "".join(parts)


def _plots(comparison: Comparison) -> list[str]:
    if find_spec("matplotlib") is None:
        return [line("plots need Matplotlib: pip install 'glla[lab]'")]
    first, *others = (name for name in plots.PLOTS if name != "roofline" or comparison.ceilings)
    drawn = {name: plots.svg(comparison, plots.PLOTS[name], name) for name in (first, *others)}
    return [drawn.pop(first), *(folded(name, text) for name, text in drawn.items())]


registry.announce("html of a comparison", of_comparison)
