"""How a call is executed: batched, looped, or streamed through the device in tiles; for showing and for running.

batched    one plan for all matrices of a batch of small ones, or for a small matrix of the host
looped     one matrix at a time, if it fits
streamed   one matrix at a time in tiles, if the operation can do that and it does not fit
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from glla.errors import LimitError
from glla.operations.batches import linear_batches, retry
from glla.operations.record import Batch, Operation
from glla.passes import Form, Forms, Limits, Plan
from glla.passes.layout import Shape

SINGLE_ONLY = ("pivoting", "refine", "subset", "symmetric", "watched", "certified")
"""Options that the plan of a batch lacks: a call that sets one to more than its default runs matrix by matrix."""


def of_batches(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a call that plans of batches take; ``mode`` has told which batch."""
    return {name: one for name, one in options.items() if name not in SINGLE_ONLY and name != "mode"}


@dataclass(frozen=True, eq=False)
class Route:
    """How a call is executed, and the plan."""

    kind: Literal["batched", "looped", "streamed"]
    plan: Plan  # of one matrix, of its tiles, or of a piece of the stack
    times: int = 1  # matrices that are looped
    piece: int = 1  # matrices of the stack that go at once if batched


def route(
    operation: Operation,
    forms: Forms,
    limits: Limits,
    room: int | None = None,
    variant: str | None = None,
    **options: Any,
) -> Route:
    """Choose the route of some operands.

    `operation`: which. `forms`: aligned, see `Taken.aligned`: all of them stacks of as many matrices, or none of
    them. `room`: bytes that are left on the device; None without a cap on them. `variant`: that was asked for; the
    matrices of a batch are looped then, unless its plan is that one. `options`: of the operation, ``parameters`` among
    them.
    """
    at_home = not any(form.resident for form in forms)
    usual = operation.pivotings(operation.thesis)[0] if operation.pivotings is not None else None
    plain = options.get("pivoting") in (None, usual) and not (options.get("refine") or options.get("subset"))
    batch, own = operation.batch_of(options), of_batches(options)
    fit = batch is not None and plain and variant in (None, batch.variant) and not options.get("parameters")
    most, count = batch.most(forms, limits) if batch is not None and fit else 0, max(form.count for form in forms)
    while at_home and batch is not None and most:
        piece = -(-count // -(-count // most))  # pieces of one size share a plan
        plan = host_batch_plan(batch, forms, limits, piece, **own)
        if room is None or sum(one.nbytes for one in plan.flat.slots.values() if not one.host) <= room:
            return Route("batched", plan, piece=piece)
        most = piece // 2
    if batch is not None and most and any(form.stack for form in forms):
        piece = -(-count // -(-count // most))
        parts = forms if piece == count else tuple(Form((piece, *form.matrix), resident=True) for form in forms)
        plan = linear_batches.plan(batch, parts, limits, **own)
        return Route("batched", plan, -(-count // piece), piece)
    one, times = tuple(form.single for form in forms), forms[0].count
    if operation.tiles is not None and at_home:
        streamed = operation.tiles(one, limits, room, variant=variant, **options)
        if streamed is not None:
            return Route("streamed", streamed, times)
    return Route("looped", operation.call_plan(one, limits, variant=variant, **options), times)


def host_batch_plan(batch: Batch, forms: Forms, limits: Limits, piece: int, **options: Any) -> Plan:
    """Plan of `piece` matrices of a stack."""
    if any(form.shape[:-2] != (piece,) for form in forms):
        forms = tuple(replace(form, shape=(piece, *form.matrix)) for form in forms)
    return retry.with_retry(batch, forms, limits, **options)


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


def must_fit_a_texture(function: str, shape: Shape, limits: Limits) -> None:
    """Raise LimitError for a matrix that is larger than a texture: only right-hand sides are streamed."""
    most = 2 * limits.texture_size
    if max(shape) > most:
        raise LimitError(
            f"{function}: A must fit a texture, so have {most} rows and columns at most on this device, got {shape}; "
            "only right-hand sides are cut into blocks",
            max(shape),
            most,
        )
