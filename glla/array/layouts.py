"""Conversion between layouts: packed to linear and back, and copies of views. None synchronises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from glla.array.value import Resident, Shape, packs, run
from glla.errors import LimitError
from glla.operations.linear import elementwise, move
from glla.operations.linear.view import View
from glla.passes import Plan


def view_of(a: Resident) -> tuple[Resident, View]:
    """Return a value in the linear layout, and its view; a packed matrix is converted by one pass."""
    linear = wrapped(a)
    assert linear.view is not None
    return linear, linear.view


def wrapped(a: Resident) -> Resident:
    """Return a value in the linear layout."""
    if a.view is not None:
        return a
    if a.stored is None or a.size == 1:  # a single element has the same texel in both layouts
        return Resident.wrapped(a.device, a.stored, a.shape, "float32")
    return taken(a, a.matrix)


def taken(
    a: Resident,
    shape: tuple[int, int],
    origin: tuple[int, int] = (0, 0),
    down: tuple[int, int] = (1, 0),
    right: tuple[int, int] = (0, 1),
) -> Resident:
    """Copy a block of a packed matrix to the linear layout: result[i, j] = A[origin + i down + j right]."""
    source = a.matrix
    if a.transposed:  # places in the texture are those of the matrix, turned round
        source, origin, down, right = source[::-1], origin[::-1], down[::-1], right[::-1]
    plan = move.unpack(source, shape, a.device.limits.texture_size, origin, down, right)
    return made(a, plan, shape, "float32", M=a)


def whole(a: Resident) -> Resident:
    """Return a linear value that is its whole texture, in C order: itself, or a copy by one pass."""
    linear, view = view_of(a)
    if view.whole or linear.stored is None:
        return linear
    return made(linear, move.copy(view, a.device.limits.texture_size), a.shape, a.dtype, A=linear)


def packed(function: str, a: Resident) -> Resident:
    """Return a matrix in the packed layout: float32, with its own texture or converted by one pass.

    Raises LimitError: it is longer than a texture.
    """
    if a.packed:
        return a
    a = as_type(a, "float32")
    assert a.view is not None
    if not packs(a.shape, "float32", a.device):
        most = 2 * a.device.limits.texture_size
        raise LimitError(
            f"{function}: a matrix must fit a texture, {most} rows and columns at most on this device, got {a.shape}; "
            "cut it into blocks",
            max(a.shape),
            most,
        )
    if a.stored is None or (a.size == 1 and a.view.whole):  # a single element has the same texel in both layouts
        return Resident(a.device, a.stored, a.shape)
    return run(a.device, move.pack(a.view, a.device.limits.texture_size), A=a)["packed"]


def as_type(a: Resident, dtype: str) -> Resident:
    """Return a value with elements of another type: itself, or a copy by one pass."""
    if a.dtype == dtype:
        return a
    linear, view = view_of(a)
    if linear.stored is None:
        return Resident.wrapped(a.device, None, a.shape, dtype)
    return made(linear, elementwise.cast(view, dtype, a.device.limits.texture_size), a.shape, dtype, A=linear)


def best(a: Resident) -> Resident:
    """Return a value in the default layout of its shape and type: packed, if it can be."""
    return packed("array", a) if not a.packed and packs(a.shape, a.dtype, a.device) else a


def made(beside: Resident, plan: Plan, shape: Shape, dtype: str, **operands: Resident) -> Resident:
    """Run a plan that has one result, a whole linear array of this shape and type."""
    (texture,) = beside.device.run(plan, **{name: value.texture for name, value in operands.items()}).values()
    return Resident.wrapped(beside.device, texture, shape, dtype)


def computed(make: Callable[..., Plan], shape: Shape, dtype: str, **operands: Resident) -> Resident:
    """Value that a plan of the linear layout computes, in its default layout; nothing runs for an empty one.

    `make`: makes the plan of the operands' views, in order, and of the size of a texture.
    """
    device = next(iter(operands.values())).device
    if 0 in shape:
        return best(Resident.wrapped(device, None, shape, dtype))
    seen = {name: view_of(one) for name, one in operands.items()}
    plan = make(*(view for _, view in seen.values()), device.limits.texture_size)
    values = {name: value for name, (value, _) in seen.items()}
    return best(made(next(iter(values.values())), plan, shape, dtype, **values))


def reshaped(a: Resident, shape: Shape) -> Resident:
    """Reshape a value, in C order; one pass where its elements are in another order."""
    if shape == a.shape:
        return a
    linear, view = view_of(a)
    if a.size == 0:
        return Resident.wrapped(a.device, None, shape, a.dtype)
    seen = view.reshape(shape)
    if seen is not None:
        return linear.seen(seen)
    copied = whole(linear)
    assert copied.view is not None
    return replace(copied, shape=shape, view=View.of(shape, a.dtype))
