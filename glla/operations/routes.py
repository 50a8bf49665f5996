"""How a call is executed: batched, looped, or streamed through the device in tiles; for showing and for running.

batched    one plan for all matrices of a batch of small ones, or for a small matrix of the host
whole      one matrix at a time, if it fits
streamed   one matrix at a time in tiles, if the operation can do that and it does not fit
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from glla.errors import LimitError, OptionError, ShapeError
from glla.operations import again, residents
from glla.operations.record import Batch, Operation
from glla.operations.surrounding import converted, surrounded
from glla.operations.wrapped.view import View
from glla.passes import Draft, Form, Forms, Limits, Plan, forms_of
from glla.passes.layout import Shape

SINGLE_ONLY = ("pivoting", "refine", "symmetric", "watched")
"""Options that the plan of a batch lacks: a call that sets one to more than its default runs matrix by matrix."""


@dataclass(frozen=True, eq=False)
class Route:
    """A way of execution, and its plan.

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
    batch = operation.batch_of(options)
    if batch is not None and at_home and plain:
        most, count = batch.most(forms, limits), forms[0].count
        others = {name: value for name, value in options.items() if name not in SINGLE_ONLY}
        while most:
            piece = -(-count // -(-count // most))  # pieces of one size share a plan
            plan = batch_plan(operation, forms, limits, piece, **others)
            if room is None or sum(one.nbytes for one in plan.flat.slots.values() if not one.host) <= room:
                return Route("batched", plan, piece=piece)
            most = piece // 2
    integers = any(form.dtype != "float32" for form in forms)
    if batch is not None and not at_home and (integers or any(form.stack for form in forms)):
        together = _residents(batch, forms, limits, plain, options)
        if together is not None:
            return together
    member, times = tuple(form.member for form in forms), forms[0].count
    if operation.tiles is not None and at_home:
        streamed = operation.tiles(member, limits, room, variant=variant, **options)
        if streamed is not None:
            return Route("streamed", streamed, times)
    return Route("whole", operation.whole(member, limits, variant=variant, **options), times)


def _residents(batch: Batch, forms: Forms, limits: Limits, plain: bool, options: dict[str, Any]) -> Route | None:
    """Choose the way of stacks on the device: together, or None if the members go one by one."""
    count = max(form.count for form in forms)
    if batch.on_device is not None:
        return Route("batched", batch.on_device(forms, limits), piece=count)
    together = batch.doubtful is not None or batch.unjudged or batch.stacked is not None
    most = batch.most(forms, limits) if plain and together else 0
    if not most:
        return None
    piece = -(-count // -(-count // most))
    pieces_ = forms if piece == count else tuple(Form((piece, *form.matrix), resident=True) for form in forms)
    others = {name: value for name, value in options.items() if name not in (*SINGLE_ONLY, "mode")}
    plan = partial(residents.plan, batch) if batch.stacked is None else batch.stacked
    return Route("batched", plan(pieces_, limits, **others), -(-count // piece), piece)


def batch_plan(operation: Operation, forms: Forms, limits: Limits, piece: int, **options: Any) -> Plan:
    """Plan of `piece` members of a stack."""
    batch = operation.batch_of(options)
    assert batch is not None
    if any(form.shape[:-2] != (piece,) for form in forms):
        forms = tuple(replace(form, shape=(piece, *form.matrix)) for form in forms)
    options.pop("mode", None)
    return again.batched(batch, forms, limits, **options)


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
    if shape[0] > most:
        raise LimitError(
            f"{function}: A must fit a texture, so be of order {most} at most on this device, got {shape}; only "
            "right-hand sides are cut into blocks",
            shape[0],
            most,
        )


def _with_a_variant(operation: Operation, forms: Forms, limits: Limits, options: dict[str, Any]) -> dict[str, Any]:
    """Find the variant that parameters are for, where none is named: the one that is chosen, or one that has them."""
    parameters = options.get("parameters")
    if not parameters or options.get("variant") is not None:
        return options
    if not operation.variants:
        raise OptionError(f"{operation.name}: has no parameters, got {parameters!r}; leave them out")
    chosen = operation.choose(tuple(form.member for form in forms), limits)[0]
    names = [chosen, *operation.variants] if chosen else list(operation.variants)
    wanted = {name for name, _ in parameters}
    having = (name for name in names if wanted <= set(operation.variants[name].parameters))
    return {**options, "variant": next(having, names[0])}


def _as_called(operation: Operation, values: tuple[Any, ...]) -> Iterator[Any]:
    """See vectors as the call does: as rows or columns."""
    stacks = any(len(_form(value).shape) > 2 for value in values)
    for name, value in zip(operation.operands, values, strict=True):
        axis = operation.vectors.get(name)
        if axis is None:
            yield value
        elif isinstance(value, tuple | list) and len(value) == 1:
            yield (1, *value) if axis == 0 else (*value, 1)
        elif isinstance(value, np.ndarray) and value.ndim == 1:
            yield np.expand_dims(value, axis)
        else:
            yield _beside(value, axis, stacks)


def _beside(value: Any, axis: int, stacks: bool) -> Any:
    """See a vector on the device as a row or a column; anything else as it is. Beside stacks it stays where it lies."""
    form = value if isinstance(value, Form) else getattr(value, "form", None)
    if not isinstance(form, Form) or len(form.shape) != 1:
        return value
    shape = (1, *form.shape) if axis == 0 else (*form.shape, 1)
    if not isinstance(form.view, View) or (form.dtype == "float32" and not stacks):
        return Form(shape, resident=True)
    return replace(form, shape=shape, view=form.view.reshape(shape))


def _aligned(operation: Operation, forms: Forms) -> Forms:
    """Make stacks alike, see `Operation.aligned`."""
    try:
        np.broadcast_shapes(*(form.stack for form in forms))
    except ValueError:
        shapes = " and ".join(f"{name} {form.shape}" for name, form in zip(operation.operands, forms, strict=True))
        raise ShapeError(f"plan: {operation.name}: leading dimensions must broadcast, got {shapes}") from None
    return operation.aligned(forms)


def _surrounded(
    operation: Operation, values: tuple[Any, ...], casts: list[list[Plan]], way: Route, limits: Limits
) -> Plan:
    """Plan with the passes that bring operands on the device into its layouts, and the solution back."""
    given = tuple(_form(value) for value in values)
    return surrounded(operation, given, casts, way.plan, way.kind == "whole", limits.texture_size)


def _converted(
    operation: Operation, values: tuple[Any, ...], limits: Limits
) -> tuple[tuple[Any, ...], list[list[Plan]]]:
    """See Arrays of other types as they are once the call has converted them; and the passes that do it."""
    dtypes = [_form(value).dtype for value in values]
    if all(dtype == "float32" for dtype in dtypes):
        return values, [[] for _ in values]
    forms = [_form(value) for value in values]
    made = [converted(form, operation.dtype(dtypes), limits.texture_size) for form in forms]
    others = (form if steps else value for value, (steps, form) in zip(values, made, strict=True))
    return tuple(others), [steps for steps, _ in made]


def _form(value: Any) -> Form:
    """Form of an operand, of a vector too."""
    if isinstance(value, tuple | list):
        return Form(tuple(value))
    form = value if isinstance(value, Form) else getattr(value, "form", None)
    if isinstance(form, Form):
        return form
    return Form(value.shape) if hasattr(value, "shape") else Form.of(value)  # which says what an operand may be


def shown(
    operation: Operation,
    values: tuple[Any, ...],
    limits: Limits,
    target: str = "",
    room: int | None = None,
    **options: Any,
) -> Plan:
    """Plan that the public function would run for operands like these, as it is shown.

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
    options = {**operation.noticed(*values), **options}
    casts: list[list[Plan]] = [[] for _ in values]
    if not options.get("refine"):
        values, casts = _converted(operation, values, limits)
    forms = forms_of(_as_called(operation, values))
    if options.get("refine"):  # operands are read back first, those that lie wrapped as they are
        forms = tuple(
            form if len(_form(one).shape) == 2 and form.dtype == "float32" else Form(form.shape)
            for form, one in zip(forms, values, strict=True)
        )
    operation.check(forms)
    operation.known(options.get("variant"))
    if operation.fits and not forms[0].resident:
        must_fit_a_texture(operation.name, forms[0].matrix, limits)
    options = _with_a_variant(operation, forms, limits, options)
    if options.get("stop") is not None:
        return replace(operation.core(tuple(form.on_device for form in forms), limits, **options), target=target)
    aligned = _aligned(operation, forms)
    if any(0 in form.shape for form in aligned):
        return replace(Draft(operation.name).plan({}), target=target)  # without elements nothing runs
    way = route(operation, aligned, limits, room, **options)
    if way.times == 1 and not options.get("refine") and any(form.resident for form in forms):
        way = replace(way, plan=_surrounded(operation, values, casts, way, limits))
    if way.kind != "batched":
        return replace(way.plan, times=way.times, target=target)
    count = aligned[0].count
    if way.piece == count or any(form.resident for form in aligned):
        return replace(way.plan, times=way.times, target=target)
    draft = Draft(way.plan.operation)
    for number, (first, end) in enumerate(pieces(count, way.piece)):
        part = batch_plan(operation, aligned, limits, end - first, **options)
        with draft.scope("piece of the stack", number):
            raw = draft.operand(f"raw_{number}", part.slots["raw"])
            draft.call(f"piece {number}", part, raw=raw)
    return replace(draft.plan({}, after=way.plan.after), target=target)
