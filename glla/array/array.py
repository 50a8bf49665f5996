"""Matrix: a float32 matrix that lives on a device; and how one is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import registry
from glla.array import arithmetic, blocks, dispatch, dlpack, operators, reductions
from glla.array.convert import Array, as_float32, checked_device, finite_result
from glla.array.value import Resident, as_resident, from_array
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    OptionError,
    ReleasedError,
    ShapeError,
    UnsupportedError,
)
from glla.gl import Device, Texture, default_device
from glla.operations import packing
from glla.passes import Form
from glla.passes.layout import ELEMENT_BYTES, Shape
from glla.registry import delegating, overrides

NEW = "make a new Matrix with glla.asarray"
DESCRIPTION = {
    "shape": "glla.asarray(A.numpy().reshape(...)) is a Matrix of another shape",
    "dtype": "a Matrix is float32; A.numpy().astype(...) is an array of another type",
    "device": "glla.asarray(A.numpy(), device) is a Matrix on another device",
    **dict.fromkeys(("T", "mT", "ndim", "size", "itemsize", "nbytes", "value", "form", "texture"), NEW),
}
"""Attributes that describe a Matrix and cannot be changed, each with the way to a Matrix that has another."""

_set = object.__setattr__


class Matrix:
    """A float32 matrix in a packed texture of a device (see `glla.passes.layout`).

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

    Notes
    -----
    *Dimensions.* A Matrix has two. What has fewer comes back to the host: the sum of a column, ``A[0]``, the diagonal
    are NumPy arrays, ``A[0, 0]`` and ``A.sum()`` are numbers. Reading them back synchronises; ``keepdims=True`` and
    slices (``A[0:1]``) give a Matrix and do not.

    *Operators.* ``+ - * / **`` and comparisons go element by element, with NumPy's broadcasting, beside matrices,
    numbers and arrays of up to two dimensions; ``@`` is the product. Comparisons give arrays of bool on the host, as
    masks are used there, and synchronise; so a Matrix has no hash. Beside NumPy's arrays a Matrix wins: the result is
    a Matrix. float64 operands are rounded to float32 first.

    *Values.* A texture that holds a result is never drawn to again. ``A.T`` and ``A.copy()`` cost nothing, as they
    share the texture, and what changes a Matrix (``A += B``, ``A[1:3] = B``) draws a new texture and keeps it: no
    other Matrix changes, neither ``A.T`` nor a copy made before. That is where it differs from NumPy's views.

    *Overflow.* Nothing waits for the device just to look at the result: as in IEEE arithmetic, a value that leaves
    float32's range becomes infinite, and 0 / 0 is NaN. ``numpy(check_finite=True)`` and the functions of glla that
    give arrays raise NonFiniteError then, and so do those that factor or solve. Numbers and arrays that go in must be
    finite; `asarray` can let others in.

    *Errors.* ``+ - *`` round once: u = 2^-24 relative. ``/`` and sqrt are the driver's, for which GLSL 3.30 promises
    nothing; ``glla info`` shows what was measured. exp and log stay within 4 u where the compiler keeps the order of
    operations. Powers with whole exponents up to 256 are products: abs(b) u, and exact where the products are; others
    6 u + 4 u abs(b log(a)). Sums: see `sum`. Denormals may count as zero.

    Examples
    --------
    >>> A = asarray([[1, 2], [3, 4]])
    >>> (2 * A - A.T).numpy()
    array([[1., 1.],
           [4., 4.]], dtype=float32)
    >>> A[:, 1:].numpy()
    array([[2.],
           [4.]], dtype=float32)
    >>> A.sum(axis=0)
    array([4., 6.], dtype=float32)
    """

    __slots__ = ("__weakref__", "_value", "device", "shape")

    device: Device
    shape: Shape
    _value: Resident | None

    def __init__(self, device: Device, texture: Texture | None, shape: Shape) -> None:
        self._hold(Resident(device, texture, shape))

    @classmethod
    def _of(cls, value: Resident) -> Matrix:
        """Make a Matrix of a value."""
        matrix = cls.__new__(cls)
        matrix._hold(value)
        return matrix

    def _hold(self, value: Resident) -> None:
        """Begin with a value; past `__setattr__`, which refuses to change what describes it."""
        _set(self, "device", value.device)
        _set(self, "shape", value.shape)
        _set(self, "_value", value)

    @property
    def value(self) -> Resident:
        """Its value now; never changes, even if the Matrix does."""
        if self._value is None:
            raise ReleasedError("Matrix: is used after it was released; keep it until its last use is done")
        return self._value

    @property
    def form(self) -> Form:
        """What is known of it without its values; plans are made for it."""
        return self.value.form

    @property
    def texture(self) -> Texture:
        """Packed storage, for `Device.run`. A transpose is written out first, once."""
        self._value = self.value.settled()
        return self._value.texture

    # -- what it is ---------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what describes the matrix: its texture would not follow."""
        self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        object.__delattr__(self, name)

    def _refuse_change(self, name: str) -> None:
        if name in DESCRIPTION:
            raise AttributeError(f"Matrix: {name} cannot be changed; {DESCRIPTION[name]}")

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
    def itemsize(self) -> int:
        """Bytes of an element."""
        return ELEMENT_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes of its elements (the texture also holds the padding of an odd side)."""
        return self.size * ELEMENT_BYTES

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        state = "released" if self._value is None else f"on {self.device.info.renderer}"
        return f"<glla.Matrix {self.shape[0]} x {self.shape[1]} float32, {state}>"

    # -- life ---------------------------------------------------------------------------------------------------

    def release(self) -> None:
        """Let go of the texture now; a second call does nothing.

        The texture goes back unless another Matrix, such as a transpose or a copy, shares it.
        """
        self._value = None

    def __enter__(self) -> Matrix:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def copy(self) -> Matrix:
        """Make another Matrix of the same value. They share a texture until one of them is changed."""
        return Matrix._of(self.value)

    def __copy__(self) -> Matrix:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Matrix:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle through the host: it is loaded onto the default device of the thread that loads it. Synchronises."""
        return _from_pickle, (self.numpy(),)

    # -- to the host --------------------------------------------------------------------------------------------

    def numpy(self, *, check_finite: bool = False) -> Array:
        """Read it back as a C-contiguous array. Synchronises.

        Parameters
        ----------
        check_finite : bool
            Raise NonFiniteError if it holds NaN or infinity, for example because an operator has overflowed.

        Examples
        --------
        >>> (asarray([[3e38]]) * 2).numpy()
        array([[inf]], dtype=float32)
        """
        return finite_result("numpy", self.value.numpy(), check_finite)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Matrix: reading back always copies; use copy=None or copy=True")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export a copy on the host. Synchronises."""
        return dlpack.export(self.numpy, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Say where the export is: on the CPU, (1, 0)."""
        return dlpack.CPU

    def tolist(self) -> list[list[float]]:
        """Read it back as a list of rows. Synchronises."""
        rows: list[list[float]] = self.numpy().tolist()
        return rows

    def item(self, *place: int) -> float:
        """Read one element as a float: the only one, or that at (row, column). Synchronises.

        Examples
        --------
        >>> asarray([[1, 2]]).item(0, 1)
        2.0
        """
        if not place and self.size == 1:
            place = (0, 0)
        if len(place) != 2:
            raise OptionError(
                f"item: needs a row and a column unless there is one element, got {place} of {self.shape}"
            )
        return float(self[place])

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("Matrix: the truth of more or less than one element is ambiguous; use (A != 0).any()")
        return self.item() != 0

    def __iter__(self) -> Iterator[Array]:
        """Iterate over the rows, as 1-D arrays; all are read back at once."""
        return iter(self.numpy())

    def __contains__(self, number: object) -> bool:
        return bool(np.any(self == number))

    def astype(self, dtype: Any, *, copy: bool = True) -> Matrix:
        """Give a Matrix of float32, as there is no other.

        Raises
        ------
        UnsupportedError
            Another dtype.
        """
        if np.dtype(dtype) != self.dtype:
            raise UnsupportedError(
                f"astype: a Matrix is float32, got {np.dtype(dtype)}; use A.numpy().astype({np.dtype(dtype).name!r})"
            )
        return self.copy() if copy else self

    # -- transpose and blocks -----------------------------------------------------------------------------------

    @property
    def T(self) -> Matrix:
        """Its transpose, which shares the texture.

        Element-wise functions, reductions, blocks and the product ``inner_product`` read it as it is. Others have it
        written out first, by one pass.
        """
        return Matrix._of(self.value.transpose)

    @property
    def mT(self) -> Matrix:
        """The same as `T`, by the array API's name."""
        return self.T

    def transpose(self, *axes: Any) -> Matrix:
        """Give `T`, or a copy for the axes (0, 1), as `numpy.ndarray.transpose`."""
        if not axes or axes[0] is None:
            return self.T
        order = axes if len(axes) > 1 or np.ndim(axes[0]) == 0 else axes[0]
        chosen = tuple(reductions.as_axis("transpose", axis) for axis in order)
        if chosen not in ((1, 0), (0, 1)):
            raise OptionError(f"transpose: axes must be (1, 0) or (0, 1), got {order!r}")
        return self.T if chosen == (1, 0) else self.copy()

    def __getitem__(self, index: Any) -> Any:
        """Take a block: slices, with steps of either sign, and integers.

        Two slices give a Matrix, by one pass, without synchronising. An integer drops its dimension, so ``A[i]`` is a
        1-D array and ``A[i, j]`` a number, read back.
        """
        block = blocks.parsed(index, self.shape)
        taken = blocks.take(self.value, block)
        singles = [line.single for line in block]
        if not any(singles):
            return Matrix._of(taken)
        array = taken.numpy()
        return array[0, 0] if all(singles) else array.reshape(-1)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put a number, an array or a Matrix into a block, to which it broadcasts.

        A dimension that an integer picks counts as 1, and a 1-D array lies along the other one. One pass over the
        whole matrix.
        """
        block = blocks.parsed(index, self.shape)
        operand = as_resident("Matrix", "what is assigned", value_of(value), self.device, column=block[1].single)
        self._value = blocks.put(self.value, block, operand)

    def diagonal(self, offset: int = 0) -> Array:
        """Read a diagonal, as `numpy.diagonal`. Synchronises.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).diagonal()
        array([1., 4.], dtype=float32)
        """
        return blocks.diagonal(self.value, offset).numpy().reshape(-1)

    # -- reductions ---------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Sum of all elements, of the columns (axis 0) or of the rows (axis 1), as `numpy.sum`.

        Parameters
        ----------
        axis : {None, 0, 1}
            What is summed over; counting from the end, (0, 1) for both.
        keepdims : bool
            Give a Matrix of 1 x 1, 1 x n or m x 1, without synchronising.

        Returns
        -------
        float32, ndarray of float32 or Matrix
            Numbers and arrays synchronise.

        Notes
        -----
        Error: abs(S - S^) <= d u sum(abs(a)), u = 2^-24, d = `glla.operations.reduce.depth`, 34 for up to 32 x 32
        elements and 32 more for every factor of 16 in the longer side: the sum is a tree, 16 texels to a branch.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).sum(axis=1)
        array([3., 7.], dtype=float32)
        """
        return self._reduced("sum", axis, keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Largest element of all, of the columns (axis 0) or of the rows (axis 1), as `numpy.max`; see `sum`.

        Exact. NaN if one of them is. An empty matrix raises ShapeError.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).max()
        np.float32(4.0)
        """
        return self._reduced("max", axis, keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Smallest element of all, of the columns (axis 0) or of the rows (axis 1), as `numpy.min`; see `max`.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).min()
        np.float32(1.0)
        """
        return self._reduced("min", axis, keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Mean of all elements, of the columns (axis 0) or of the rows (axis 1), as `numpy.mean`; see `sum`.

        An empty matrix raises ShapeError.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).mean(axis=0)
        array([2., 3.], dtype=float32)
        """
        over = reductions.as_axis("mean", axis)
        count = self.size if over is None else self.shape[over]
        if count == 0:
            raise ShapeError(f"mean: {reductions.LINES[over]} without elements has no mean, got shape {self.shape}")
        return self._reduced("sum", axis, keepdims) / np.float32(count)

    def norm(self, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Norm of the matrix, or of its columns (axis 0) or rows (axis 1), as `numpy.linalg.norm`.

        Parameters
        ----------
        ord : {None, 'fro', 1, -1, inf, -inf}, or {None, 1, 2, inf, -inf} with an axis
            Frobenius' norm by default; largest (smallest) column sum, row sum. Others need singular values.
        axis : {None, 0, 1}
            Norms of vectors along it, Euclidean ones by default.
        keepdims : bool
            Give a Matrix of 1 x 1, 1 x n or m x 1.

        Returns
        -------
        float32, ndarray of float32 or Matrix
            Synchronises.

        Notes
        -----
        Squares are summed of elements scaled by a power of two, so that the norm overflows only if it does not fit.
        Error: relative (d + 3) u, d as in `sum`.

        Examples
        --------
        >>> asarray([[3, 0], [0, 4]]).norm()
        np.float32(5.0)
        """
        if reductions.as_axis("norm", axis) is not None:
            return self.vector_norm(ord, axis, keepdims=keepdims)
        turned = axis is not None and axis[0] % 2 == 1  # (1, 0): columns are its rows
        result = reductions.matrix_norm(self.value.transpose if turned else self.value, ord)
        return upload(np.full((1, 1), result), self.device) if keepdims else result

    def vector_norm(self, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Norm of all elements as one vector, of the columns (axis 0) or of the rows (axis 1); see `norm`.

        Parameters
        ----------
        ord : {None, 1, 2, inf, -inf}
            Euclidean by default.
        axis, keepdims
            As in `norm`.

        Examples
        --------
        >>> asarray([[3, -4]]).vector_norm(1)
        np.float32(7.0)
        """
        over = reductions.as_axis("norm", axis)
        result = reductions.vector_norms(self.value, ord, over)
        return upload(result, self.device) if keepdims else reductions.dropped(result, over)

    def trace(self, offset: int = 0) -> np.float32:
        """Sum of a diagonal, as `numpy.trace`. Synchronises. Error as of `sum`.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).trace()
        np.float32(5.0)
        """
        result: np.float32 = reductions.reduced("sum", blocks.diagonal(self.value, offset)).numpy()[0, 0]
        return result

    def _reduced(self, operation: str, axis: Any, keepdims: bool) -> Any:
        over = reductions.as_axis(operation, axis)
        result = reductions.reduced(operation, self.value, over)
        return Matrix._of(result) if keepdims else reductions.dropped(result.numpy(), over)

    # -- operators ----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("add", other, self)

    def __iadd__(self, other: Any) -> Any:
        return self._become("add", other)

    def __sub__(self, other: Any) -> Any:
        return _apply("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("subtract", other, self)

    def __isub__(self, other: Any) -> Any:
        return self._become("subtract", other)

    def __mul__(self, other: Any) -> Any:
        return _apply("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("multiply", other, self)

    def __imul__(self, other: Any) -> Any:
        return self._become("multiply", other)

    def __truediv__(self, other: Any) -> Any:
        return _apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("divide", other, self)

    def __itruediv__(self, other: Any) -> Any:
        return self._become("divide", other)

    def __pow__(self, other: Any) -> Any:
        return _apply("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply("power", other, self)

    def __ipow__(self, other: Any) -> Any:
        return self._become("power", other)

    def __matmul__(self, other: Any) -> Any:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("matmul", other, self)

    def __imatmul__(self, other: Any) -> Any:
        return self._become("matmul", other)

    def __neg__(self) -> Any:
        return _apply("negative", self)

    def __pos__(self) -> Matrix:
        return self.copy()

    def __abs__(self) -> Any:
        return _apply("absolute", self)

    def __eq__(self, other: object) -> Any:
        return _comparison("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return _comparison("not_equal", self, other)

    def __lt__(self, other: Any) -> Any:
        return _apply("less", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply("greater_equal", self, other)

    __hash__ = None  # type: ignore[assignment]  # == goes element by element

    def _become(self, name: str, other: Any) -> Any:
        """Compute in place: take over the result's value."""
        result = _apply(name, self, other)
        return result if result is NotImplemented else self._take_over(name, result)

    def _take_over(self, name: str, result: Any) -> Matrix:
        _ = self.value  # raises if it was released
        if result.shape != self.shape or not isinstance(result, Matrix):
            raise ShapeError(f"{name}: the result has shape {result.shape} and does not fit in place of {self.shape}")
        if result.device is not self.device:
            raise DeviceMismatchError(f"{name}: the result lives on another device and cannot go in place")
        self._value = result.value
        return self

    # -- NumPy's protocols --------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if any(overrides(operand) for operand in inputs):
            return NotImplemented
        if any(not isinstance(target, Matrix) for target in out):
            raise UnsupportedError(
                f"numpy.{ufunc.__name__}: out must be a Matrix where an operand is one; use A.numpy() for an array"
            )
        name = dispatch.universal(ufunc, method, options, bool(out))
        if method == "reduce":
            return inputs[0]._reduced(name, options.get("axis", 0), options.get("keepdims", False))
        result = _apply(name, *inputs)
        return out[0]._take_over(name, result) if out else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, (Matrix, np.ndarray)) for kind in types):
            return NotImplemented
        return dispatch.call(function, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Give the namespace of the array API, `glla.array_api`."""
        namespace = registry.announced("namespace")
        known = namespace.__array_api_version__
        if api_version is not None and api_version > known:
            raise OptionError(f"Matrix: the array API is offered up to version {known}, got {api_version!r}")
        return namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Copy it to another device, through the host; to its own, give itself. The array API's name for it.

        Parameters
        ----------
        device : Device
            Where to.
        stream : None
            There are none.
        """
        if stream is not None:
            raise OptionError(f"to_device: there are no streams, got {stream!r}")
        return self if device is self.device else upload(self.numpy(), device)


def value_of(operand: Any) -> Any:
    """Give the value of a Matrix; anything else as it is."""
    return operand.value if isinstance(operand, Matrix) else operand


def _apply(name: str, *operands: Any) -> Any:
    """Apply a function of `glla.array.operators` to operands, one of which is a Matrix."""
    for operand in operands:
        if not isinstance(operand, Matrix) and operators.brings_operators(operand):
            return NotImplemented
    result = operators.apply(name, *map(value_of, operands))
    return Matrix._of(result) if isinstance(result, Resident) else result


def _comparison(name: str, a: Matrix, b: Any) -> Any:
    """Compare; an operand that is not of numbers is left to Python, which compares identities."""
    try:
        return _apply(name, a, b)
    except DTypeError:
        return NotImplemented


def _from_pickle(array: Array) -> Matrix:
    return asarray(array, check_finite=False)


# -- making them ----------------------------------------------------------------------------------------------------


@delegating
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
        See `glla.array.convert.as_float32`.

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
    return upload(array, checked_device("asarray", device) or default_device())


def upload(array: Array, device: Device) -> Matrix:
    """Put a 2-D float32 array onto a device, unchecked."""
    return Matrix._of(from_array(array, device))


def identity(shape: Shape, device: Device) -> Matrix:
    """Make an identity matrix on a device; both sides > 0."""
    return Matrix(device, device.run(packing.identity(shape))["I"], shape)


def product(function: str, a: Matrix, b: Matrix, variant: str | None = None, onto: Matrix | None = None) -> Matrix:
    """Multiply two matrices on their device.

    Parameters
    ----------
    function : str
        Name of the public function, for the messages.
    a, b : Matrix
        m x k and k x n.
    variant : str, optional
        A key of `glla.operations.matmul.VARIANTS`; by default `glla.operations.matmul.choose` decides.
    onto : Matrix, optional
        m x n; the product is added to it, in a new matrix.
    """
    start = None if onto is None else onto.value
    return Matrix._of(arithmetic.product(function, a.value, b.value, variant, start))


registry.announce("matrix", asarray)
