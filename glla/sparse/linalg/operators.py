"""Linear operators of solvers, on the device or, for SciPy's, on the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts, shaping
from glla.array.array import Array, upload
from glla.array.convert import as_float32
from glla.errors import DeviceMismatchError, DTypeError, ShapeError
from glla.gl import Device, Texture, default_device
from glla.operations.host.scaling import by_one, exponent_of
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.layout import vector
from glla.passes import Plan
from glla.passes.layout import Shape
from glla.sparse.convert import compressed, is_scipy
from glla.sparse.matrix import SparseMatrix, applied

Floats = NDArray[np.float64]


class LinearOperator:
    """A product computed by a plan: a stencil, a transform, any shader. The solvers take it as A or M.

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> A = glla.sparse.asarray(np.diag([1.0, 2.0]))
    >>> twice = LinearOperator((2, 2), A.plan, **A.operands)
    >>> twice @ np.array([1.0, 1.0])
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.
    plan : Plan
        With an operand ``x`` and a result ``y``, vectors in the linear layout; without steps of the host.
    device : Device, optional
        By default the device of the first operand that has one, else the default device.
    **operands : array_like or glla.Array
        The other operands of the plan, by name, vectors and arrays in the linear layout.

    Raises
    ------
    ShapeError
        The plan lacks these operands, or has vectors of another length.
    """

    def __init__(self, shape: Shape, plan: Plan, device: Device | None = None, **operands: Any) -> None:
        self.shape, self.plan = (int(shape[0]), int(shape[1])), plan
        owners = [one.device for one in operands.values() if isinstance(one, Array)]
        self.device = device or (owners[0] if owners else default_device())
        given = {name: _as_texture(name, value, self.device) for name, value in operands.items()}
        limits = self.device.limits
        sizes = plan.slots.get("x"), plan.slots.get(plan.results.get("y", ""))
        if {*plan.operands} != {*given, "x"} or sizes != (vector(self.shape[1], limits), vector(self.shape[0], limits)):
            raise ShapeError(
                f"LinearOperator: the plan takes x, a vector of {self.shape[1]}, and {sorted(given)}, and gives y, a "
                f"vector of {self.shape[0]}; got one of {sorted(plan.operands)} that gives {sorted(plan.results)}"
            )
        self.textures: Mapping[str, Texture] = given

    def __matmul__(self, x: Any) -> Any:
        array: Any = x if isinstance(x, Array) else upload(as_float32("LinearOperator", "x", x, False), self.device)
        if array.ndim not in (1, 2) or array.shape[0] != self.shape[1] or 0 in array.shape:
            raise ShapeError(f"LinearOperator: shapes of A {self.shape} and x {array.shape} are incompatible")
        if array.ndim == 2:
            columns = [(self @ array[:, column]).value for column in range(array.shape[1])]
            together = Array._of(layouts.best(shaping.stack("LinearOperator", columns, 1)))
            return together if isinstance(x, Array) else together.numpy()
        made = applied(self.device, self.plan, self.textures, array.value, self.shape[0])
        return made if isinstance(x, Array) else made.numpy()


def _as_texture(name: str, value: Any, device: Device) -> Texture:
    if isinstance(value, Texture):
        return value
    array: Any = value if isinstance(value, Array) else upload(as_float32("LinearOperator", name, value), device)
    if array.device is not device:
        raise DeviceMismatchError(f"LinearOperator: {name} lives on another device; use to_device")
    return layouts.whole(array.value).texture


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator in the form that solvers use."""

    shape: Shape
    device: Device  # the device that it runs on
    plan: Plan | None  # operand ``x`` and others, result ``y``; None for an operator of the host
    textures: Mapping[str, Texture]  # the other operands
    host: Callable[[Floats], Any] | None = None  # multiplies arrays of float64 on the host; None if nothing does
    exponent: int = 0  # the plan multiplies by A 2^-exponent, whose largest entry is near 1
    rows: Compressed | None = None  # the entries of a matrix, if known
    shift: float = 0.0  # subtracted from the diagonal in residuals; not by the plan

    def times(self, x: Floats) -> Floats:
        """(A - shift I) x in float64, with the original entries; by the device where there are none."""
        y = self._times(x)
        return y - self.shift * x if self.shift else y

    def _times(self, x: Floats) -> Floats:
        if self.host is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                return np.asarray(self.host(x), dtype=np.float64).reshape(-1)
        scaled, e = by_one(x)
        y = self.run(upload(scaled.astype(np.float32), self.device))
        return np.ldexp(y.numpy().astype(np.float64), e + self.exponent)

    def applied(self, b: Any) -> Any:
        """A b: on the device if both are there, else in float64."""
        if isinstance(b, Array):
            if self.plan is not None:
                return self.run(b) * 2.0**self.exponent
            b = b.numpy().astype(np.float64)
        return self.times(b)

    def run(self, x: Array) -> Array:
        """A x 2^-exponent on the device."""
        assert self.plan is not None
        return applied(self.device, self.plan, self.textures, x.value, self.shape[0])


def operator(function: str, name: str, value: Any, device: Device | None, check_finite: bool = True) -> Operator:
    """Convert a matrix, dense or sparse, or an operator, ours or SciPy's.

    Raises ShapeError, DTypeError, NonFiniteError, LimitError, DeviceMismatchError: not square, not real, not finite,
    too large, or on another device.
    """
    if isinstance(value, SparseMatrix | LinearOperator | Array):
        if device is not None and value.device is not device:
            raise DeviceMismatchError(f"{function}: {name} lives on another device than asked for; use to_device")
        device = value.device
    device = device or default_device()
    shape = tuple(np.shape(value)) if not hasattr(value, "shape") else tuple(value.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ShapeError(f"{function}: expected square matrix, but got shape={shape}")
    if isinstance(value, LinearOperator):
        return Operator(value.shape, device, value.plan, value.textures)
    if hasattr(value, "matvec") and not is_scipy(value):
        if np.dtype(value.dtype or float).kind == "c":
            raise DTypeError(f"{function}: {name} must be real, got dtype {value.dtype}")
        return Operator(shape, device, None, {}, value.matvec)
    matrix = value if isinstance(value, SparseMatrix) else None
    rows = matrix.rows if matrix is not None else compressed(value, check_finite)
    host: Any = rows
    if is_scipy(value) and value.dtype.kind != "b":
        host = value.tocsr().astype(np.float64)
    elif isinstance(value, np.ndarray) and value.dtype == np.float64:
        host = value
    return _matrix(rows, matrix, device, host.__matmul__)


NEAR = 20
"""A matrix is scaled if its largest entry is outside [2^-NEAR, 2^NEAR]."""


def _matrix(rows: Compressed, matrix: SparseMatrix | None, device: Device, host: Callable[[Floats], Any]) -> Operator:
    largest = float(np.abs(rows.values).max(initial=0.0))
    exponent = exponent_of(largest, NEAR)
    if exponent or matrix is None:
        values = np.ldexp(rows.values, -exponent)
        matrix = SparseMatrix(Compressed(rows.shape, rows.starts, rows.columns, values), device)
    return Operator(rows.shape, device, matrix.plan, matrix.textures, host, exponent, rows)
