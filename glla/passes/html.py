"""What a notebook shows: elements of HTML; and a plan as a table that folds at its scopes.

All text is escaped, there is no script, and every element says by itself how it looks, as a notebook keeps no style
sheet of ours. How long the markup gets is bounded, whatever is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from glla import registry
from glla.passes.plan import Plan, stages, step_cells
from glla.passes.scopes import Scope, shortened
from glla.passes.steps import Step

MOST_LINES = 200
"""Steps, slots, passes or records that are shown at most; the others are counted."""

FEWEST_LINES = 4
"""Lines that a scope gets at least where not all scopes can be shown."""

OPEN_STEPS = 40
"""Steps of a plan that is unfolded as a whole, at most; of a longer one the scopes are folded."""

HEAD = ("pass", "shader", "reads", "draws", "region (texels)", "uniforms")

_LEFT = ' style="text-align: left"'
_INDENT = ' style="margin-left: 1.5em"'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    """Make a table of texts, to the left, or of numbers, to the right; without a head where that is empty.

    Examples
    --------
    >>> table(["a"], [["<b>"]])
    '<table><tr><th style="text-align: left">a</th></tr><tr><td style="text-align: left">&lt;b&gt;</td></tr></table>'
    """
    side = ' style="text-align: right"' if numbers else _LEFT
    lines = [_line("th", head, side)] if head else []
    return f"<table>{''.join(lines)}{''.join(_line('td', row, side) for row in rows)}</table>"


def _line(cell: str, texts: Sequence[str], look: str) -> str:
    return f"<tr>{''.join(f'<{cell}{look}>{escape(text)}</{cell}>' for text in texts)}</tr>"


def folded(summary: str, body: str, unfolded: bool = False) -> str:
    """Let markup fold below a line of text.

    Examples
    --------
    >>> folded("R & D", "<p>text</p>")
    '<details><summary>R &amp; D</summary><div style="margin-left: 1.5em"><p>text</p></div></details>'
    """
    state = " open" if unfolded else ""
    return f"<details{state}><summary>{escape(summary)}</summary><div{_INDENT}>{body}</div></details>"


def line(text: str) -> str:
    """Make a line of text.

    Examples
    --------
    >>> line("1 < 2")
    '<div>1 &lt; 2</div>'
    """
    return f"<div>{escape(text)}</div>"


def left_out(count: int, what: str) -> str:
    """Say how many lines are not shown.

    Examples
    --------
    >>> left_out(3, "steps"), left_out(0, "steps")
    ('<div>... 3 more steps</div>', '')
    """
    return line(f"... {count} more {what}") if count else ""


# -- plans ------------------------------------------------------------------------------------------------------------


def of_plan(plan: Plan) -> str:
    """Show a plan as a table that folds at its scopes, and below it what may come after.

    Of many turns of a loop the first ones are shown, and each with its share of lines: a plan of 10 000 passes has
    some hundred lines. ``print(plan)`` has them all.
    """
    parts = [line(f"for {plan.target}")] if plan.target else []
    for stage, one in stages(plan):
        whole = _Folding(one).markup()
        parts.append(folded(stage, whole) if stage else whole)
        parts += [line(f"if {then.when}: then {then.stage or then.error}") for then in one.after]
    return "".join(parts)


@dataclass(frozen=True)
class _Group:
    """Steps in a row that lie in no scope (None), or in this one."""

    scope: Scope | None
    first: int
    end: int


class _Folding:
    """Writes the table of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.flat = plan, plan.flat
        self.steps = [step for step in self.flat.steps if isinstance(step, Step)]

    def markup(self) -> str:
        plan, cost = self.plan, self.plan.cost
        often = f"{plan.often}: " if plan.often else ""
        head = f"{often}{plan.operation}: {cost.passes} passes, {cost.flops} flop, {cost.nbytes} bytes written"
        roles = [(role, name, str(self.flat.slots[slot])) for role, name, slot in plan.roles()]
        slots = table((), roles[:MOST_LINES]) + left_out(max(0, len(roles) - MOST_LINES), "slots")
        body = folded(f"{len(roles)} slots", slots) + self._level(self.flat.scopes, 0, len(self.steps), MOST_LINES)
        return folded(head, body, unfolded=True)

    def _level(self, scopes: Sequence[Scope], first: int, end: int, lines: int) -> str:
        """Write the steps from `first` to `end`, in which these scopes lie, on no more lines than these.

        If they do not fit, the first scopes are shown, with equal shares of the lines; what one leaves, others get.
        """
        groups = list(_groups(scopes, first, end))
        fits = end - first <= lines
        shown = groups if fits else groups[: max(1, lines // FEWEST_LINES)]
        parts = []
        for place, group in enumerate(shown):
            share = lines if fits else lines // (len(shown) - place)
            parts.append(self._group(scopes, group, share))
            lines -= min(share, group.end - group.first)
        return "".join(parts) + left_out(sum(one.end - one.first for one in groups[len(shown) :]), "steps")

    def _group(self, scopes: Sequence[Scope], group: _Group, lines: int) -> str:
        """Write a scope, folded, or steps in none, as a table."""
        if group.scope is None:
            return self._table(group, lines)
        inside = [one for one in scopes if group.first <= one.first and one.end <= group.end]
        inside.remove(group.scope)
        name = group.scope.name if group.scope.number is None else f"{group.scope.name} {group.scope.number}"
        title = f"{name}: {_count(group.end - group.first)}, from {group.first}"
        return folded(title, self._level(inside, group.first, group.end, lines), self._short)

    @property
    def _short(self) -> bool:
        return len(self.steps) <= OPEN_STEPS

    def _table(self, group: _Group, lines: int) -> str:
        """Write steps that lie in no further scope."""
        end = min(group.end, group.first + lines)
        around = [one for one in self.flat.scopes if one.first <= group.first and group.end <= one.end]
        own = self.steps[group.first : end]
        within = [Scope(one.name, one.number, 0, len(own)) for one in around]
        cells = zip(own, shortened(own, within, self.flat.slots), strict=True)
        rows = [(str(group.first + k), *step_cells(self.flat, *pair)) for k, pair in enumerate(cells)]
        return table(HEAD, rows) + left_out(group.end - end, "steps")


def _groups(scopes: Sequence[Scope], first: int, end: int) -> Iterator[_Group]:
    """Part steps into the outermost scopes, in order, and what lies between them."""
    for scope in scopes:
        if scope.first < first or scope.first == scope.end:
            continue  # within the one before
        if first < scope.first:
            yield _Group(None, first, scope.first)
        yield _Group(scope, scope.first, scope.end)
        first = scope.end
    if first < end:
        yield _Group(None, first, end)


def _count(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"


registry.announce("html of a plan", of_plan)
