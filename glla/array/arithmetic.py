"""Element-wise functions and products of values on a device. None of them synchronises."""

from __future__ import annotations

import numpy as np

from glla.array.value import Resident, from_array
from glla.errors import DeviceMismatchError, ShapeError
from glla.operations import elementwise, matmul
from glla.passes.layout import Shape


def unary(name: str, a: Resident) -> Resident:
    """Apply a function of `glla.operations.elementwise.UNARY`."""
    return spread(a, a.shape, name)


def spread(a: Resident, shape: Shape, name: str = "positive") -> Resident:
    """Apply a function, and broadcast its result to a shape."""
    if 0 in shape:
        return Resident(a.device, None, shape)
    plan = elementwise.unary(shape, name, a.placement_over(shape))
    return Resident(a.device, a.device.run(plan, A=a.texture)["result"], shape)


def binary(name: str, a: Resident, b: Resident) -> Resident:
    """Apply a function of `glla.operations.elementwise.BINARY`, with broadcasting."""
    same_device(name, a, b)
    shape = broadcast_shape(name, a.shape, b.shape)
    if 0 in shape:
        return Resident(a.device, None, shape)
    plan = elementwise.binary(shape, name, a.placement_over(shape), b.placement_over(shape))
    return Resident(a.device, a.device.run(plan, A=a.texture, B=b.texture)["result"], shape)


def product(
    function: str, a: Resident, b: Resident, variant: str | None = None, onto: Resident | None = None
) -> Resident:
    """Multiply two matrices, see `glla.array.array.product`."""
    same_device(function, a, b)
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"{function}: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    device = a.device
    if m * k * n == 0:
        return from_array(np.zeros((m, n), dtype=np.float32), device) if onto is None else onto
    plan = matmul.plan((a.form, b.form), device.limits, variant=variant, onto=onto is not None)
    textures = [a.texture, b.texture, *(() if onto is None else (onto.settled().texture,))]
    operands = dict(zip(plan.operands, textures, strict=True))
    return Resident(device, device.run(plan, **operands)["C"], (m, n))


def same_device(function: str, a: Resident, b: Resident) -> None:
    """Raise unless both live on one device."""
    if a.device is not b.device:
        raise DeviceMismatchError(f"{function}: operands must live on one device; pass numpy() of one of them")


def broadcast_shape(function: str, a: Shape, b: Shape) -> Shape:
    """Shape that two matrices broadcast to.

    >>> broadcast_shape("add", (3, 1), (1, 4))
    (3, 4)
    """
    if any(p != q and 1 not in (p, q) for p, q in zip(a, b, strict=True)):
        raise ShapeError(f"{function}: shapes must be equal, or 1 where they differ, got A {a} and B {b}")
    rows, columns = (q if p == 1 else p for p, q in zip(a, b, strict=True))
    return rows, columns
