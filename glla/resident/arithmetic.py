"""Element-wise functions of values on a device. None of them synchronises."""

from __future__ import annotations

from glla.errors import DeviceMismatchError, ShapeError
from glla.kernels import elementwise
from glla.layout import Shape
from glla.resident.value import Resident


def unary(name: str, a: Resident) -> Resident:
    """Apply a function of `glla.kernels.elementwise.UNARY`."""
    return spread(a, a.shape, name)


def spread(a: Resident, shape: Shape, name: str = "positive") -> Resident:
    """Broadcast a value to a shape that it broadcasts to, applying a function on the way."""
    if 0 in shape:
        return Resident(a.device, None, shape)
    plan = elementwise.unary(shape, name, a.lies_over(shape))
    return Resident(a.device, a.device.run(plan, A=a.texture)["result"], shape)


def binary(name: str, a: Resident, b: Resident) -> Resident:
    """Apply a function of `glla.kernels.elementwise.BINARY`, with broadcasting."""
    same_device(name, a, b)
    shape = broadcast_shape(name, a.shape, b.shape)
    if 0 in shape:
        return Resident(a.device, None, shape)
    plan = elementwise.binary(shape, name, a.lies_over(shape), b.lies_over(shape))
    return Resident(a.device, a.device.run(plan, A=a.texture, B=b.texture)["result"], shape)


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
