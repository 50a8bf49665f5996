"""The way that operands take: together in one plan, as a whole, one by one, or streamed through the device in tiles.

batched    small matrices of the host, alone or in a stack, go through one plan for all of them
whole      one matrix at a time, if it fits
streamed   one matrix at a time in tiles, if the operation can do that and it does not fit
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from glla.errors import ShapeError
from glla.operations.record import Operation
from glla.passes import Draft, Forms, Limits, Plan, forms_of


@dataclass(frozen=True, eq=False)
class Route:
    """A way, and what runs on it.

    Attributes
    ----------
    kind : {"batched", "whole", "streamed"}
        Which way.
    plan : Plan
        Of a whole matrix, of its tiles, or of a piece of the stack.
    times : int
        Matrices that go one by one.
    piece : int
        Members of the stack that go at once on the batched way.
    """

    kind: Literal["batched", "whole", "streamed"]
    plan: Plan
    times: int = 1
    piece: int = 1


def route(
    operation: Operation,
    forms: Forms,
    limits: Limits,
    room: int | None = None,
    variant: str | None = None,
    **options: Any,
) -> Route:
    """Choose the way of some operands.

    Parameters
    ----------
    operation : Operation
        Which.
    forms : tuple of Form
        Aligned, see `Operation.aligned`: all of them stacks of as many members, or none of them.
    limits : Limits
        Of the device.
    room : int, optional
        Bytes that are left on the device; None without a cap on them.
    variant : str, optional
        That was asked for; the members of a stack go one by one then.
    **options
        Of the operation, ``parameters`` among them.
    """
    at_home = not any(form.resident for form in forms)
    usual = operation.pivotings(operation.thesis)[0] if operation.pivotings is not None else None
    plain = variant is None and options.get("pivoting") in (None, usual) and not options.get("refine")
    if operation.batch is not None and at_home and plain:
        most, count = operation.batch.most(forms, limits), forms[0].count
        others = {name: value for name, value in options.items() if name not in ("pivoting", "refine")}
        while most:
            piece = -(-count // -(-count // most))  # pieces of one size share a plan
            plan = batch_plan(operation, forms, limits, piece, **others)
            if room is None or sum(storage.nbytes for storage in plan.slots.values()) <= room:
                return Route("batched", plan, piece=piece)
            most = piece // 2
    member, times = tuple(form.member for form in forms), forms[0].count
    if operation.tiles is not None and at_home:
        streamed = operation.tiles(member, limits, room, variant=variant, **options)
        if streamed is not None:
            return Route("streamed", streamed, times)
    return Route("whole", operation.whole(member, limits, variant=variant, **options), times)


def batch_plan(operation: Operation, forms: Forms, limits: Limits, piece: int, **options: Any) -> Plan:
    """Plan of `piece` members of a stack."""
    assert operation.batch is not None
    pieces = tuple(replace(form, shape=(piece, *form.matrix)) for form in forms)
    return operation.batch.plan(pieces, limits, **options)


def pieces(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut a stack into as few pieces as possible, about equal: where each begins and ends.

    >>> list(pieces(7, 3))
    [(0, 3), (3, 5), (5, 7)]
    """
    first = 0
    while first < count:
        left = -(-(count - first) // most)
        end = first - (first - count) // left
        yield first, end
        first = end


def shown(
    operation: Operation,
    values: tuple[Any, ...],
    limits: Limits,
    target: str = "",
    room: int | None = None,
    **options: Any,
) -> Plan:
    """Plan of a call, as it is shown: what the public function would run for operands like these.

    Raises
    ------
    ShapeError
        There are not as many operands as the operation has, or they do not fit together.
    """
    if len(values) != len(operation.operands):
        raise ShapeError(
            f"plan: {operation.name} takes {len(operation.operands)} shape(s) ({', '.join(operation.operands)}), got "
            f"{len(values)}"
        )
    forms = forms_of(values)
    operation.check(forms)
    operation.known(options.get("variant"))
    aligned = operation.aligned(forms)
    way = route(operation, aligned, limits, room, **options)
    if way.kind != "batched":
        return replace(way.plan, times=way.times, target=target)
    count = aligned[0].count
    if way.piece == count:
        return replace(way.plan, target=target)
    draft = Draft(way.plan.operation)
    assert operation.batch is not None
    for number, (first, end) in enumerate(pieces(count, way.piece)):
        part = batch_plan(operation, aligned, limits, end - first, **options)
        with draft.scope("piece of the stack", number):
            raw = draft.operand(f"raw_{number}", part.slots["raw"])
            draft.call(f"piece {number}", part, raw=raw)
    return replace(draft.plan({}, after=way.plan.after), target=target)
