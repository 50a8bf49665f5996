"""Element-wise functions and products of values on a device. None of them synchronises.

A float32 matrix stays packed, and so do operands that broadcast to it; everything else has the linear layout.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from glla.array import layouts
from glla.array.convert import promoted
from glla.array.value import NUMBER, Resident, Shape, from_array, packs, run
from glla.errors import DeviceMismatchError, DTypeError, ShapeError
from glla.operations import elementwise
from glla.operations.linear import elementwise as strided
from glla.operations.linear import product as products
from glla.operations.product import matmul
from glla.operations.record import Way

COUNTS = frozenset(("power", "floor_divide", "remainder", "square", "bitwise_left_shift", "bitwise_right_shift"))
"""Functions that convert bool to the integers 0 and 1: NumPy returns int8, to which int32 is the nearest type here."""

OF_TRUTHS = {"add": "logical_or", "multiply": "logical_and"}
"""Functions and their equivalents for bool, as in NumPy."""

NOT_OF_TRUTHS = frozenset(("subtract", "negative", "positive", "sign"))
"""Functions that are undefined for bool, as in NumPy."""

PLAIN = frozenset(elementwise.BINARY) - elementwise.TRUTHS
"""Functions of two packed matrices whose result is a packed matrix."""


def operand_dtype(name: str, *dtypes: str) -> str:
    """Type in which a function computes.

    >>> operand_dtype("sqrt", "int32"), operand_dtype("add", "bool", "bool")
    ('float32', 'bool')
    """
    common = promoted(*dtypes)
    if common == "bool" and name in NOT_OF_TRUTHS:
        raise DTypeError(
            f"{name}: is not there of bool; use ^ for a difference, ~ for the opposite, or astype('int32')"
        )
    if common == "bool" and name == "rint":
        return "float32"
    if name in strided.FLOATS:
        return "float32"
    if name in strided.BITS and common == "float32":
        raise DTypeError(f"{name}: operands must be int32 or bool, got {' and '.join(dtypes)}; use astype first")
    if name.startswith("logical"):
        return "bool"
    return "int32" if common == "bool" and name in COUNTS else common


def unary(name: str, a: Resident) -> Resident:
    """Apply a function of `glla.operations.elementwise.UNARY` or `glla.operations.linear.elementwise.SINGLE`."""
    if a.packed and name in elementwise.UNARY and name not in elementwise.TRUTHS:
        return spread(a, a.shape, name)
    a = layouts.as_type(a, operand_dtype(name, a.dtype))
    dtype = strided.result_dtype(name, a.dtype)
    return layouts.computed(lambda view, size: strided.unary(view, name, size), a.shape, dtype, A=a)


def spread(a: Resident, shape: Shape, name: str = "positive") -> Resident:
    """Apply a function to a packed matrix, and broadcast its result to the shape of a packed matrix."""
    if 0 in shape:
        return Resident(a.device, None, shape)
    plan = elementwise.unary((shape[0], shape[1]), name, a.placement_over(shape))
    return run(a.device, plan, A=a)["result"]


def broadcast(a: Resident, shape: Shape) -> Resident:
    """Broadcast a value: a view in the linear layout, one pass for a packed matrix."""
    broadcast_shape("broadcast_to", a.shape, shape)
    if len(a.shape) > len(shape) or broadcast_shape("broadcast_to", a.shape, shape) != shape:
        raise ShapeError(f"broadcast_to: {a.shape} does not broadcast to {shape}")
    if a.shape == shape:
        return a
    if a.packed and packs(shape, a.dtype, a.device):
        return spread(a, shape)
    source, view = layouts.view_of(a)
    return layouts.best(source.seen(view.broadcast_to(shape)))


def binary(name: str, a: Resident, b: Resident) -> Resident:
    """Apply a function of two operands, with broadcasting."""
    same_device(name, a, b)
    if a.dtype == b.dtype == "bool":
        name = OF_TRUTHS.get(name, name)
    if a.view is None and b.view is None and a.shape == b.shape and name in PLAIN and a.stored is not None:
        plan = elementwise.binary(a.matrix, name, (1, 1, int(a.transposed)), (1, 1, int(b.transposed)))
        return run(a.device, plan, A=a, B=b)["result"]
    shape = broadcast_shape(name, a.shape, b.shape)
    device, dtype = a.device, operand_dtype(name, a.dtype, b.dtype)
    if dtype == "float32" and name in PLAIN and packs(shape, dtype, device):
        left, right = _as_matrix(a), _as_matrix(b)
        if 0 in shape:
            return Resident(device, None, shape)
        matrix = (shape[0], shape[1])
        plan = elementwise.binary(matrix, name, left.placement_over(shape), right.placement_over(shape))
        return run(device, plan, A=left, B=right)["result"]
    made = strided.result_dtype(name, dtype)
    left, right = (layouts.as_type(one, dtype) for one in (a, b))
    return layouts.computed(
        lambda one, other, size: strided.binary(one, other, name, size), shape, made, A=left, B=right
    )


def where(condition: Resident, a: Resident, b: Resident) -> Resident:
    """Select elements: of `a` where the condition holds, else of `b`."""
    same_device("where", condition, a, b)
    shape = broadcast_shape("where", condition.shape, a.shape, b.shape)
    dtype = promoted(a.dtype, b.dtype)
    left, right, choice = layouts.as_type(a, dtype), layouts.as_type(b, dtype), layouts.as_type(condition, "bool")
    return layouts.computed(
        lambda one, other, seen, size: strided.where(seen, one, other, size), shape, dtype, A=left, B=right, C=choice
    )


def _as_matrix(a: Resident) -> Resident:
    """Return an operand of at most two dimensions as a packed matrix: a vector is a row."""
    if a.view is None:
        return a
    if a.view is NUMBER:  # a single element has the same texel in both layouts
        return Resident(a.device, a.stored, (1, 1))
    return layouts.packed("array", layouts.reshaped(a, (1,) * (2 - a.ndim) + a.shape))


def product(function: str, a: Resident, b: Resident, onto: Resident | None = None, **way: Unpack[Way]) -> Resident:
    """Multiply matrices, vectors or batches, as `numpy.matmul` does: for bool an or of ands.

    `function`: name of the public function, for the messages. `a`, `b`: shapes (..., m, k) and (..., k, n); a vector
    counts as a row of the first, as a column of the second. `onto`: packed, m x n; the product is added to it. `way`:
    variant of `glla.operations.product.matmul`, and parameters, for packed matrices; by default its `choose` decides.
    """
    same_device(function, a, b)
    if a.view is None and b.view is None and a.shape[1] == b.shape[0]:
        return _packed_product(a, b, onto, **way)
    if 0 in (a.ndim, b.ndim):
        raise ShapeError(f"{function}: operands must have at least one dimension, got {a.shape} and {b.shape}; use *")
    left = layouts.reshaped(a, (1, *a.shape)) if a.ndim == 1 else a
    right = layouts.reshaped(b, (*b.shape, 1)) if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(f"{function}: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    stack = broadcast_shape(function, left.shape[:-2], right.shape[:-2])
    shape = (*stack, left.shape[-2], right.shape[-1])
    dtype = promoted("int32", a.dtype, b.dtype)
    matrices = all(packs(one, dtype, a.device) for one in (left.shape, right.shape, shape))
    if matrices:
        result = _packed_product(layouts.packed(function, left), layouts.packed(function, right), onto, **way)
    else:
        result = _products(left, right, shape, dtype)
    if a.dtype == b.dtype == "bool":
        result = layouts.as_type(result, "bool")
    kept = (*stack, *(shape[-2:-1] if a.ndim > 1 else ()), *(shape[-1:] if b.ndim > 1 else ()))
    return result if kept == shape else layouts.reshaped(result, kept)


def _packed_product(a: Resident, b: Resident, onto: Resident | None, **way: Unpack[Way]) -> Resident:
    device = a.device
    if a.stored is None or b.stored is None:
        shape = a.shape[0], b.shape[1]
        return from_array(np.zeros(shape, dtype=np.float32), device) if onto is None else onto
    forms, symmetric = (a.form, b.form), onto is None and matmul.is_symmetric(a, b)
    plan = matmul.plan(forms, device.limits, **way, onto=onto is not None, symmetric=symmetric)
    values = (a, b) if onto is None else (a, b, onto.settled())
    return run(device, plan, **dict(zip(plan.operands, values, strict=not symmetric)))["C"]  # one operand: both are it


def _products(a: Resident, b: Resident, shape: Shape, dtype: str) -> Resident:
    """Multiply batches, integers, and matrices that are longer than a texture."""
    if 0 in shape or not a.shape[-1]:
        return from_array(np.zeros(shape, dtype=dtype), a.device)
    return layouts.computed(products.product, shape, dtype, A=layouts.as_type(a, dtype), B=layouts.as_type(b, dtype))


def same_device(function: str, *values: Resident) -> None:
    """Raise unless all values are on one device."""
    first = values[0].device
    if any(value.device is not first for value in values):
        raise DeviceMismatchError(f"{function}: operands must live on one device; pass numpy() of one of them")


def broadcast_shape(function: str, *shapes: Shape) -> Shape:
    """Shape to which arrays broadcast.

    >>> broadcast_shape("add", (3, 1), (1, 4))
    (3, 4)
    """
    try:
        return np.broadcast_shapes(*shapes)
    except (ValueError, RuntimeError):  # the latter for more than 32 dimensions
        raise ShapeError(
            f"{function}: shapes must be equal, or 1 where they differ, got "
            + " and ".join(f"{name} {shape}" for name, shape in zip("ABC", shapes, strict=False))
        ) from None
