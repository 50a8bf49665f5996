"""HTML for notebooks: elements, and a plan as a table that folds at its scopes.

All text is escaped, there is no script, and every element says by itself how it looks, as a notebook keeps no style
sheet of ours. How long the markup gets is bounded, whatever is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from glla import registry
from glla.display.scopes import Node, core, shortened, tree
from glla.display.table import HEAD, step_cells, title
from glla.passes.plan import Plan, Scope, stages
from glla.passes.steps import Step

MOST_LINES = 200
"""Steps, slots, passes or records that are shown at most; the others are counted."""

FEWEST_LINES = 4
"""Lines that a scope gets at least where not all scopes can be shown."""

OPEN_STEPS = 12
"""Steps of a plan that is unfolded as a whole, at most; of a longer one the scopes are folded."""

_TEXT = "text-align:left;padding:0 .6em"
_NUMBER = "text-align:right;padding:.1em .5em;font-variant-numeric:tabular-nums"
_INDENT = ' style="margin-left: 1.5em"'


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Make a table of texts; without a head where that is empty. A wide one scrolls.

    >>> table([], [["<b>"]]).removeprefix('<div style="overflow-x:auto">')
    '<table><tr><td style="text-align:left;padding:0 .6em">&lt;b&gt;</td></tr></table></div>'
    """
    lines = ["".join(_cell("th", text, _TEXT) for text in head)] if head else []
    lines += ["".join(_cell("td", text, _TEXT) for text in row) for row in rows]
    return _scrolled(lines)


def numbers(rows: Sequence[Sequence[str]], tints: Sequence[Sequence[str]] | None = None) -> str:
    """Make a table of numbers, to the right, each with the CSS of its tint."""
    looks = tints or [[""] * len(row) for row in rows]
    lines = [
        "".join(_cell("td", text, _NUMBER + tint) for text, tint in zip(row, own, strict=True))
        for row, own in zip(rows, looks, strict=True)
    ]
    return _scrolled(lines)


def _cell(tag: str, text: str, look: str) -> str:
    return f'<{tag} style="{look}">{escape(text)}</{tag}>'


def _scrolled(lines: Sequence[str]) -> str:
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div style="overflow-x:auto"><table>{rows}</table></div>'


def folded(summary: str, body: str, unfolded: bool = False) -> str:
    """Let markup fold below a line of text.

    >>> folded("R & D", "<p>text</p>")
    '<details><summary>R &amp; D</summary><div style="margin-left: 1.5em"><p>text</p></div></details>'
    """
    state = " open" if unfolded else ""
    return f"<details{state}><summary>{escape(summary)}</summary><div{_INDENT}>{body}</div></details>"


def line(text: str) -> str:
    """Make a line of text.

    >>> line("1 < 2")
    '<div>1 &lt; 2</div>'
    """
    return f"<div>{escape(text)}</div>"


def facts(title: str, named: Mapping[str, object]) -> str:
    """Show facts about something: its title, and a line for each."""
    return line(title) + table((), [(name, str(fact)) for name, fact in named.items()])


def source(title: str, text: str) -> str:
    """Show a shader, its comments paler."""
    pale = re.sub(r"//.*", r'<span style="opacity:.6">\g<0></span>', escape(text, quote=False))
    return f"{line(title)}<pre>{pale}</pre>"


def left_out(count: int, what: str) -> str:
    """Say how many lines are not shown.

    >>> left_out(3, "steps"), left_out(0, "steps")
    ('<div>... 3 more steps</div>', '')
    """
    return line(f"... {count} more {what}") if count else ""


# -- plans ------------------------------------------------------------------------------------------------------------


def of_plan(plan: Plan) -> str:
    """Show a plan as a table that folds at its scopes, and below it the later stages.

    Of many turns of a loop the first ones are shown, and each with its share of lines: a plan of 10 000 passes has
    some hundred lines. ``print(plan)`` has them all.
    """
    parts = [line(f"for {plan.target}")] if plan.target else []
    for stage, one in stages(plan):
        whole = _Folding(one).markup()
        parts.append(folded(stage, whole) if stage else whole)
        parts += [line(str(then)) for then in one.after]
    return "".join(parts)


class _Folding:
    """Writes the table of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.flat = plan, plan.flat
        self.steps = [step for step in self.flat.steps if isinstance(step, Step)]

    def markup(self) -> str:
        roles = [(role, name, str(self.flat.slots[slot])) for role, name, slot in self.plan.roles()]
        slots = table((), roles[:MOST_LINES]) + left_out(max(0, len(roles) - MOST_LINES), "slots")
        slots = folded(f"{len(roles)} slots", slots)
        own, end = core(self.plan), len(self.steps)
        if own is None:
            return folded(title(self.plan), self._part(0, end, MOST_LINES) + slots, unfolded=True)
        first = folded(_head(own), self._part(own.first, own.end, MOST_LINES // 2, own), unfolded=True)
        before, after = (self._part(*one, MOST_LINES // 4) for one in ((0, own.first), (own.end, end)))
        others = f"the call around it: {end - own.end + own.first} steps that scale, check and transfer"
        return folded(title(self.plan), first + folded(others, before + after) + slots, unfolded=True)

    def _part(self, first: int, end: int, lines: int, own: Scope | None = None) -> str:
        scopes = [one for one in self.flat.scopes if first <= one.first < one.end <= end and one != own]
        return self._level(tuple(tree(scopes, first, end)), (own,) if own else (), lines)

    def _level(self, nodes: Sequence[Node], around: tuple[Scope, ...], lines: int) -> str:
        """Write nodes that are in these scopes on no more lines than these.

        If they do not fit, the first ones are shown, with equal shares of the lines; what one leaves, others get.
        """
        fits = _steps(nodes) <= lines
        shown = nodes if fits else nodes[: max(1, lines // FEWEST_LINES)]
        parts = []
        for place, node in enumerate(shown):
            share = lines if fits else lines // (len(shown) - place)
            parts.append(self._node(node, around, share))
            lines -= min(share, node.end - node.first)
        return "".join(parts) + left_out(_steps(nodes[len(shown) :]), "steps")

    def _node(self, node: Node, around: tuple[Scope, ...], lines: int) -> str:
        """Write a scope, folded, or steps in none, as a table."""
        scope = node.scope
        if scope is None:
            return self._table(node, around, lines)
        return folded(_head(scope), self._level(node.inner, (*around, scope), lines), len(self.steps) <= OPEN_STEPS)

    def _table(self, node: Node, around: tuple[Scope, ...], lines: int) -> str:
        """Write steps that are in no further scope."""
        own = self.steps[node.first : min(node.end, node.first + lines)]
        within = [Scope(one.name, one.number, 0, len(own)) for one in around]
        cells = zip(own, shortened(own, within, self.flat.slots), strict=True)
        rows = [(str(node.first + k), *step_cells(self.flat, *pair)) for k, pair in enumerate(cells)]
        return table(HEAD, rows) + left_out(node.end - node.first - len(own), "steps")


def _head(scope: Scope) -> str:
    name, count = scope.name if scope.number is None else f"{scope.name} {scope.number}", scope.end - scope.first
    return f"{name}: {'1 step' if count == 1 else f'{count} steps'}, from {scope.first}"


def _steps(nodes: Sequence[Node]) -> int:
    return sum(one.end - one.first for one in nodes)


registry.announce("html of a plan", of_plan)
