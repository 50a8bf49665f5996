"""The public matrix product."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from glla.array import arithmetic
from glla.array.array import Array
from glla.array.convert import Float32, finite_result
from glla.array.value import from_array, packs
from glla.errors import DTypeError, OptionError, OptionTypeError, ShapeError
from glla.gl import Device, DeviceLike
from glla.linalg import tiling
from glla.linalg.caller import Caller
from glla.linalg.execution import run
from glla.linalg.operands import column, device_of, known_variant, on_a_device, operand, row, taken
from glla.operations.product import tiles
from glla.operations.product.matmul import MATMUL, is_symmetric, most_batched
from glla.passes import forms_of
from glla.registry import public


@public()
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Matrix product with the semantics of `numpy.matmul`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.matmul([[1, 2], [3, 4]], [[5], [6]])
    array([[17.],
           [39.]], dtype=float32)

    Parameters
    ----------
    a, b : array_like or Array, shapes (..., m, k) and (..., k, n)
        Real numbers. A 1-D `a` counts as a row, a 1-D `b` as a column, and that dimension is dropped from the result.
        Leading dimensions broadcast. Arrays of the host may be larger than the device's memory, and mapped from files
        (`numpy.memmap`): they are cut into tiles, see `glla.linalg.tiling`. Other types are converted to float32 first.
    out : ndarray of float32, optional
        Where the result goes, of its shape; it may be mapped from a file. Not beside an Array.
    variant : str, optional
        For example ``inner_product``; `glla variants matmul` lists them. The products of a stack are then made one by
        one. By default `glla.operations.product.matmul.choose` decides.
    device : Device, str or int, optional
        A device, or its name (see `glla.gl.named_device`). By default that of an Array among the operands, or the
        default device.
    check_finite : bool
        Refuse NaN and infinity, in the operands and in the result.

    Returns
    -------
    ndarray of float32, shape (..., m, n), or Array
        An array synchronises, an Array does not.

    Raises
    ------
    ShapeError
        Inner dimensions differ, leading ones do not broadcast, or an operand is a scalar; `out` has another shape.
    DTypeError, NonFiniteError
        Complex or object operands; NaN, infinity, or an overflow of float32 (`out`, if given, holds it then). `out` is
        not float32.
    OptionError
        No such variant; `out` is no array that can be written, or is given beside an Array.
    LimitError, OutOfMemoryError
        The variant needs more than this device has; an Array is larger than a texture; no tile fits the memory.
    """
    known_variant("matmul", MATMUL, variant)
    left = taken("matmul", "A", a, check_finite)
    right = left.T if not on_a_device(b) and is_symmetric(a, b) else taken("matmul", "B", b, check_finite)
    for name, one in (("A", left), ("B", right)):
        if one.ndim == 0:
            raise ShapeError(f"matmul: {name} must have at least one dimension, got a scalar; use * to scale")
    if on_a_device(left, right):
        if out is not None:
            raise OptionError("matmul: out must be None beside an Array, the result is an Array too; use its numpy()")
        return beside_an_array(left, right, variant, device)
    return finite_result("matmul", _of_arrays(left, right, out, variant, device), check_finite)


def beside_an_array(
    a: Float32 | Array, b: Float32 | Array, variant: str | None, device: DeviceLike | None, **options: Any
) -> Array:
    """Multiply on a device: matrices and vectors that fit it by one plan, uploads included; all else as values."""
    target = device_of("matmul", device, a, b)
    if a.dtype != b.dtype and "float32" in (a.dtype, b.dtype):  # both may be integers
        a, b = (operand("matmul", "", one, False) for one in (a, b))
    stacks = max(a.ndim, b.ndim) > 2
    left, right = (a, b) if stacks else (row(a), column(b))
    matrices = all(
        one.value.packed if isinstance(one, Array) else packs(one.shape, "float32", target) for one in (left, right)
    )
    if not matrices or 0 in (*a.shape, *b.shape) or left.shape[1] != right.shape[0]:
        first, second = (  # a matrix of the host beside a stack is a stack of one, which is not packed
            one.value
            if isinstance(one, Array)
            else from_array(one[np.newaxis] if stacks and one.ndim == 2 else one, target)
            for one in (a, b)
        )
        return Array._of(arithmetic.product("matmul", first, second, variant=variant))
    product: Array = _run(target, left, right, variant, **options)
    return product if a.ndim == b.ndim == 2 else product.reshape((*a.shape[:-1], *b.shape[1:]))


def _run(device: Device, a: Float32 | Array, b: Float32 | Array, variant: str | None, **options: Any) -> Any:
    """Multiply two matrices that fit the device, wherever they are."""
    plan = MATMUL.call_plan(
        forms_of((a, b)), device.limits, variant=variant, **{**MATMUL.taken.noticed(a, b), **options}
    )
    return run(device, plan, dict(zip(plan.operands, (a, b), strict=False)))["C"]  # one operand: both are it


def _of_arrays(a: Float32, b: Float32, out: Any, variant: str | None, device: DeviceLike | None) -> Any:
    left, right = row(a), column(b)
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(f"matmul: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    try:
        stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ShapeError(f"matmul: leading dimensions must broadcast, got A {a.shape} and B {b.shape}") from None
    full = (*stack, left.shape[-2], right.shape[-1])
    shape = (*stack, *(full[-2:-1] if a.ndim > 1 else ()), *(full[-1:] if b.ndim > 1 else ()))
    one = right.size == right.shape[-2] * right.shape[-1]  # one B for all: the rows of all A are those of one matrix
    flat = (1, prod(full[:-1]), full[-1]) if one else (prod(stack), *full[-2:])
    result = _target("matmul", out, shape, flat, (a, b))
    if result.size and left.shape[-1] == 0:
        result[...] = 0
    elif result.size:
        if one:
            pair = left.reshape(1, -1, left.shape[-1]), right.reshape(1, *right.shape[-2:])
        else:
            lefts, rights = (np.broadcast_to(part, (*stack, *part.shape[-2:])) for part in (left, right))
            pair = lefts.reshape(-1, *left.shape[-2:]), rights.reshape(-1, *right.shape[-2:])
        _products(*pair, variant, device_of("matmul", device), result)
    if out is None:
        return result.reshape(shape)[()]
    if not np.may_share_memory(result, out):
        out[...] = result.reshape(shape)
    return out


def _target(
    function: str, out: Any, shape: tuple[int, ...], flat: tuple[int, ...], operands: tuple[Float32, ...]
) -> Float32:
    """Array of shape `flat` to compute into: `out` itself where it can be seen so and is none of the operands."""
    if out is None:
        return np.empty(flat, dtype=np.float32)
    rule = f"{function}: out must be a NumPy array that can be written"
    if not isinstance(out, np.ndarray):
        raise OptionTypeError(f"{rule}, got {type(out).__name__}")
    if not out.flags.writeable:
        raise OptionError(f"{rule}, got one that is read-only")
    if out.dtype != np.float32:
        raise DTypeError(f"{function}: out must be float32, got {out.dtype}; results are float32")
    if out.shape != shape:
        raise ShapeError(f"{function}: out must have the shape of the result, {shape}, got {out.shape}")
    if any(np.may_share_memory(out, operand) for operand in operands):
        return np.empty(flat, dtype=np.float32)
    return np.asarray(out).reshape(flat)


def _products(a: Float32, b: Float32, variant: str | None, device: Device, out: Float32) -> None:
    """Multiply two stacks of as many matrices."""
    m, k, n = out.shape[1], a.shape[2], out.shape[2]
    call = Caller("matmul", "matmul", device, False, ("A", "B"))
    forms = forms_of((a, b))
    records = None if variant is not None else call.host_records((a, b), most_batched(forms, device.limits))
    if records is not None:
        out[...] = records[0]
        return
    for left, right, result in zip(a, b, out, strict=True):
        if tiles.fits_whole(m, k, n, device.limits, device.room, variant, is_symmetric(left, right)):
            result[...] = _run(device, left, right, variant)
        else:
            tiling.matmul(device, left, right, result, variant)
