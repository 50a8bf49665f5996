"""Adapters around the plan of a call: conversions of layout and dtype for operands on the device.

A plan takes packed matrices, and batches in the linear layout. Vectors have the linear layout, so they are packed
before, and the solution becomes a vector afterwards; right-hand sides that share one matrix are joined. `glla.plan`
shows these passes; a call makes them by functions of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from glla.operations.record import Operation
from glla.operations.wrapped import elementwise, move
from glla.operations.wrapped.view import View
from glla.passes import Draft, Form, Forms, Plan, Storage
from glla.passes.layout import Packed, Wrapped

Before = dict[str, list[Plan]]
"""Plans of one pass each, in sequence, by the operand of the plan that they convert."""


def converted(form: Form, dtype: str, texture_size: int) -> tuple[list[Plan], Form]:
    """Passes that give an operand on the device another type of elements, none if it has it; and its form then."""
    if not form.resident or form.dtype == dtype:
        return [], form
    view = form.view if isinstance(form.view, View) else View.of(form.shape, form.dtype)
    steps, whole = [elementwise.cast(view, dtype, texture_size)], View.of(form.shape, dtype)
    if len(form.shape) != 2 or dtype != "float32" or max(form.shape) > 2 * texture_size:
        return steps, Form(form.shape, resident=True, dtype=dtype, view=whole)
    alike = whole.count == 1  # a single element lies alike
    return [*steps, *([] if alike else [move.pack(whole, texture_size)])], Form(form.shape, resident=True)


def surrounded(
    operation: Operation, given: Forms, casts: Sequence[list[Plan]], plan: Plan, one: bool, texture_size: int
) -> Plan:
    """Put the passes around a plan that its operands and its solution need.

    Parameters
    ----------
    operation : Operation
        Which.
    given : tuple of Form
        Of the operands as they lie, vectors with their one dimension; converted.
    casts : sequence of lists of Plan
        Passes that convert them, see `converted`; all of them come first.
    plan : Plan
        Of one matrix, or of stacks on the device; it has taken their forms as `Operation.aligned` has made them.
    one : bool
        The plan is of one matrix.
    texture_size : int
        Largest side of a texture.
    """
    before = {name: steps for name, steps in _before(operation, given, plan, one, texture_size) if steps}
    solution, behind = _behind(operation, given, plan, one, texture_size)
    if not before and not behind and not any(casts):
        return plan
    draft, operands = Draft(plan.operation), dict[str, str]()
    converting = {_named(operation, plan, number): steps for number, steps in enumerate(casts) if steps}
    for name in plan.operands:
        steps = converting.get(name) or before.get(name)
        operands[name] = draft.operand(name, steps[0].slots[steps[0].operands[0]] if steps else plan.slots[name])
    for words, steps_of in (("in the type of the plan", converting), ("as the plan takes it", before)):
        for name in plan.operands:
            for step in steps_of.get(name, ()):
                made = draft.call(f"{name} {words}", step, **{step.operands[0]: operands[name]})
                (operands[name],) = made.values()
    results = draft.call("as planned", plan, **operands)
    for step in behind:
        (results[solution],) = draft.call("solution", step, **{step.operands[0]: results[solution]}).values()
    return draft.plan(results, plan.flops, after=plan.after)


def _before(
    operation: Operation, given: Forms, plan: Plan, one: bool, texture_size: int
) -> Iterator[tuple[str, list[Plan]]]:
    stack = _stack(given)
    for number, form in enumerate(given[: len(plan.operands)]):
        own, name = operation.operands[number], _named(operation, plan, number)
        right_sides = one and stack != () and number > 0
        if form.dtype != "float32" or not (form.resident or right_sides):
            continue
        steps, view = _wrapped(form, operation.vectors.get(own), texture_size)
        if one and len(form.shape) == 1 and isinstance(getattr(plan.slots[name], "layout", None), Wrapped):
            if not view.whole:  # a sparse matrix takes a vector as it lies
                steps.append(move.copy(view, texture_size))
        elif right_sides:  # side by side: (n, members of the stack, columns)
            view = view.broadcast_to((*stack, *view.shape[-2:])).moved(-2, 0)
            steps += _packed(view, texture_size)
        elif one and len(form.shape) == 2:
            continue  # a packed matrix
        elif one:
            matrix = view if view.ndim == 2 else view.reshape(view.shape[-2:])  # of a vector, or of a stack of one
            assert matrix is not None
            steps += _packed(matrix, texture_size)
        yield name, steps


def _named(operation: Operation, plan: Plan, number: int) -> str:
    """Name of an operand in a plan."""
    own = operation.operands[number]
    return own if own in plan.operands else plan.operands[number]


def _stack(given: Forms) -> tuple[int, ...]:
    """Dimensions of the stack that operands broadcast to."""
    return np.broadcast_shapes(*(form.stack for form in given if len(form.shape) > 2), ())


def _wrapped(form: Form, axis: int | None, texture_size: int) -> tuple[list[Plan], View]:
    """See an operand as it lies wrapped, a vector as a row or a column; with the pass that unpacks a packed matrix."""
    view = form.view if isinstance(form.view, View) else View.of(form.shape)
    if len(form.shape) == 1:
        (count,), (stride,) = view.shape, view.strides
        shape, strides = ((count, 1), (stride, 0)) if axis == 1 else ((1, count), (0, stride))
        return [], replace(view, shape=shape, strides=strides)
    alike = form.matrix == (1, 1)  # a single element lies alike
    if not form.resident or form.view is not None or len(form.shape) > 2 or alike:
        return [], view
    source = form.matrix[::-1] if form.transposed else form.matrix
    down, right = ((0, 1), (1, 0)) if form.transposed else ((1, 0), (0, 1))
    return [move.unpack(source, form.matrix, texture_size, (0, 0), down, right)], view


def _packed(view: View, texture_size: int) -> list[Plan]:
    """Passes that pack a view as a matrix; a stack of more than two dimensions becomes (first, all others)."""
    shape = view.shape[0], prod(view.shape[1:])
    seen, steps = view if view.shape == shape else view.reshape(shape), list[Plan]()
    if seen is None:
        steps.append(move.copy(view, texture_size))
        seen = View.of(shape)
    alike = seen.count == 1 and seen.whole  # a single element lies alike
    return steps if alike else [*steps, move.pack(seen, texture_size)]


def _behind(operation: Operation, given: Forms, plan: Plan, one: bool, texture_size: int) -> tuple[str, list[Plan]]:
    """Passes that give the solution the shape of the call: which result, and the passes."""
    vector, stack = any(len(form.shape) == 1 for form in given), _stack(given)
    name = operation.results[0] if one else "matrices"
    slot = plan.slots.get(plan.results.get(name, ""))
    layout = slot.layout if isinstance(slot, Storage) else None
    if layout is None or not (vector or (one and stack)):
        return name, []
    matrix = vector and len(stack) == 1  # solutions (members, n) are one, and lie packed
    if not one:
        return name, [move.pack(View.of(layout.shape[:2]), texture_size)] if matrix else []
    if layout.shape == (1, 1) or not isinstance(layout, Packed):
        return name, []
    row = View.of((layout.shape[0],)).reshape((1, layout.shape[0])) if matrix else None
    steps = [move.unpack(layout.shape, layout.shape, texture_size)]
    return name, steps if row is None else [*steps, move.pack(row, texture_size)]
