"""Matrix: a float32 matrix that lives on a device."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.device import Device, Texture, default_device
from glla.dispatch import overrides
from glla.errors import DeviceMismatchError, DTypeError, NonFiniteError, ReleasedError, ShapeError
from glla.kernels import matmul as matmul_kernel
from glla.kernels import packing
from glla.layout import ELEMENT_BYTES, Shape

Array = NDArray[np.float32]

LARGEST = float(np.finfo(np.float32).max)


def as_float32(function: str, name: str, value: Any, check_finite: bool = True) -> Array:
    """Turn what NumPy takes for an array into float32, or say why not.

    Parameters
    ----------
    function, name : str
        For the message: who asks, for which operand.
    value : array_like
        bool, integer or float of any width, order and strides.
    check_finite : bool
        Refuse NaN and infinity.

    Returns
    -------
    ndarray of float32
        The array itself where it is float32 in native byte order already.

    Raises
    ------
    DTypeError
        Complex, object, text, dates.
    NonFiniteError
        NaN or infinity in the input; or a finite value that float32 cannot hold.
    ShapeError
        Nested sequences of unequal length.

    Examples
    --------
    >>> as_float32("doc", "a", [[1, 2]]).dtype
    dtype('float32')
    """
    array = as_real(function, name, value)
    with np.errstate(over="ignore", under="ignore"):
        result = array.astype(np.float32, copy=False)
    if check_finite and not all_finite(result):
        refuse_nonfinite(function, name, array)
        raise NonFiniteError(
            f"{function}: {name} must fit float32 (largest {LARGEST:.4g}), got {_first_bad(result, array)}; scale it"
        )
    return result


def as_real(function: str, name: str, value: Any) -> NDArray[Any]:
    """Turn what NumPy takes for an array into one of real numbers, in the precision that it has.

    Examples
    --------
    >>> as_real("doc", "a", [[1, 2]]).tolist()
    [[1, 2]]
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{function}: {name} must be a rectangular array; NumPy says: {error}") from None
    if array.dtype.kind not in "biuf":
        raise DTypeError(
            f"{function}: {name} must be real numbers (bool, integer or float), got dtype {array.dtype}; "
            + ("pass its real and imaginary parts by themselves" if array.dtype.kind == "c" else "convert it first")
        )
    if np.ma.is_masked(value):
        raise DTypeError(f"{function}: {name} must have no masked entries, got a masked array; pass its filled()")
    return array


def refuse_nonfinite(function: str, name: str, array: NDArray[Any]) -> None:
    """Raise if an array holds NaN or infinity."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise NonFiniteError(
            f"{function}: {name} must not hold NaN or infinity, got {_first_bad(array)}; "
            "clean it, or pass check_finite=False to let it through"
        )


def all_finite(array: Array) -> bool:
    """Tell whether all entries are finite. One sum decides nearly always: NaN and infinity survive it."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(array)
    return bool(np.isfinite(total)) or bool(np.isfinite(array).all())


def finite_result(function: str, result: Array, check_finite: bool) -> Array:
    """Refuse a result that left float32's range: an error, not an infinity."""
    if check_finite and not all_finite(result):
        raise NonFiniteError(
            f"{function}: the result does not fit float32 (largest 3.403e+38); scale the operands, "
            "or pass check_finite=False to get the infinities"
        )
    return result


def _first_bad(array: NDArray[Any], shown: NDArray[Any] | None = None) -> str:
    where = np.argwhere(~np.isfinite(array))[0]
    position = tuple(int(i) for i in where)
    return f"{(array if shown is None else shown)[position]!s} at {position}"


class Matrix:
    """A float32 matrix in a packed texture of a device (see `glla.layout`).

    Make one with `asarray`. Functions of glla take it wherever they take an array, and give a Matrix back, so that a
    chain of operations stays on the device. Dropping the last reference gives the texture back, from any thread.

    Parameters
    ----------
    device : Device
        Where it lives.
    texture : Texture or None
        Its packed storage; None for an empty matrix.
    shape : tuple of int
        Rows and columns.
    """

    __slots__ = ("_released", "_texture", "device", "shape")
    __array_priority__ = 1000.0

    def __init__(self, device: Device, texture: Texture | None, shape: Shape) -> None:
        self.device = device
        self.shape = shape
        self._texture = texture
        self._released = False

    @property
    def texture(self) -> Texture:
        """Packed storage, for `Device.run`."""
        if self._released:
            raise ReleasedError("Matrix: is used after it was released; keep it until its last use is done")
        if self._texture is None:
            raise ShapeError(f"Matrix: an empty matrix has no texture, got shape {self.shape}")
        return self._texture

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """Always float32."""
        return np.dtype(np.float32)

    @property
    def size(self) -> int:
        """Elements."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of its elements (the texture also holds the padding of an odd side)."""
        return self.size * ELEMENT_BYTES

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        state = "released" if self._released else f"on {self.device.info.renderer}"
        return f"<glla.Matrix {self.shape[0]} x {self.shape[1]} float32, {state}>"

    def numpy(self) -> Array:
        """Read it back as a C-contiguous array. Synchronises."""
        if 0 in self.shape and not self._released:
            return np.empty(self.shape, dtype=np.float32)
        return self.device.download(self.texture, self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Matrix: reading back always copies; use copy=None or copy=True")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def release(self) -> None:
        """Give the texture back now; a second call does nothing."""
        self._released = True
        if self._texture is not None:
            self._texture.release()

    def __enter__(self) -> Matrix:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __matmul__(self, other: Any) -> Any:
        if overrides(other):
            return NotImplemented
        array = _beside("B", other)
        if isinstance(array, Matrix) or array.ndim == 2:
            return product("matmul", self, array if isinstance(array, Matrix) else upload(array, self.device))
        vector = product("matmul", self, upload(array[:, np.newaxis], self.device))
        return finite_result("matmul", vector.numpy()[:, 0], check_finite=True)

    def __rmatmul__(self, other: Any) -> Any:
        array = _beside("A", other)
        if isinstance(array, Matrix) or array.ndim == 2:
            return product("matmul", array if isinstance(array, Matrix) else upload(array, self.device), self)
        vector = product("matmul", upload(array[np.newaxis], self.device), self)
        return finite_result("matmul", vector.numpy()[0], check_finite=True)


def _beside(name: str, other: Any) -> Array | Matrix:
    """Check the other operand of an operator."""
    if isinstance(other, Matrix):
        return other
    array = as_float32("matmul", name, other)
    if array.ndim not in (1, 2):
        raise ShapeError(f"matmul: {name} must be two-dimensional, got shape {array.shape}; reshape it")
    return array


def asarray(value: Any, device: Device | None = None, *, check_finite: bool = True) -> Matrix:
    """Put a 2-D array onto a device.

    Parameters
    ----------
    value : array_like, shape (m, n)
        Real numbers; a `Matrix` is returned as it is.
    device : Device, optional
        By default the default device of this thread.
    check_finite : bool
        Refuse NaN and infinity.

    Returns
    -------
    Matrix
        Does not synchronise.

    Raises
    ------
    ShapeError
        Not two-dimensional.
    DTypeError, NonFiniteError
        See `as_float32`.

    Examples
    --------
    >>> A = asarray([[1, 2], [3, 4]])
    >>> (A @ A).numpy()
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)
    """
    if isinstance(value, Matrix):
        if device is not None and value.device is not device:
            raise DeviceMismatchError("asarray: the matrix lives on another device; pass its numpy() instead")
        return value
    array = as_float32("asarray", "value", value, check_finite)
    if array.ndim != 2:
        raise ShapeError(f"asarray: a matrix has two dimensions, got shape {array.shape}; reshape it")
    return upload(array, device or default_device())


def upload(array: Array, device: Device) -> Matrix:
    """Put a 2-D float32 array onto a device, unchecked."""
    shape = (array.shape[0], array.shape[1])
    return Matrix(device, None if 0 in shape else device.upload(array), shape)


def identity(shape: Shape, device: Device) -> Matrix:
    """Make an identity matrix on a device; both sides > 0."""
    return Matrix(device, device.run(packing.identity(shape))["I"], shape)


def product(function: str, a: Matrix, b: Matrix, variant: str | None = None, onto: Matrix | None = None) -> Matrix:
    """Multiply two matrices on their device.

    Parameters
    ----------
    function : str
        For the messages.
    a, b : Matrix
        m x k and k x n.
    variant : str, optional
        A key of `glla.kernels.matmul.VARIANTS`; by default `glla.kernels.matmul.choose` decides.
    onto : Matrix, optional
        m x n; the product is added to it, in a new matrix.
    """
    if a.device is not b.device:
        raise DeviceMismatchError(f"{function}: operands must live on one device; pass numpy() of one of them")
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"{function}: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    device = a.device
    if m * k * n == 0:
        zeros = np.zeros((m, n), dtype=np.float32)
        return upload(zeros, device) if onto is None else onto
    limits = device.limits
    plan = matmul_kernel.plan(m, k, n, variant or matmul_kernel.choose(m, k, n, limits), limits, onto is not None)
    operands = {"A": a.texture, "B": b.texture} | ({} if onto is None else {"C0": onto.texture})
    return Matrix(device, device.run(plan, **operands)["C"], (m, n))
