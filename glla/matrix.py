"""Matrix: a float32 matrix that lives on a device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from numbers import Number
from types import ModuleType, TracebackType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.device import Device, Texture, default_device
from glla.dispatch import delegating, overrides
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    GllaError,
    NonFiniteError,
    OptionError,
    OptionTypeError,
    ReleasedError,
    ShapeError,
    UnsupportedError,
)
from glla.kernels import matmul as matmul_kernel
from glla.kernels import packing
from glla.kernels.elementwise import BINARY, TRUTHS, UNARY
from glla.layout import ELEMENT_BYTES, Shape
from glla.resident import Resident, arithmetic, blocks, reductions
from glla.resident.value import from_array, from_scalar

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
        got = _unfit(name, value, array)
        raise DTypeError(f"{function}: {name} must be real numbers (bool, integer or float), got {got}")
    if np.ma.is_masked(value):
        raise DTypeError(f"{function}: {name} must have no masked entries, got a masked array; pass its filled()")
    return array


def _unfit(name: str, value: Any, array: NDArray[Any]) -> str:
    """Say what came in place of real numbers, and what to do."""
    if array.dtype.kind == "c":
        return f"dtype {array.dtype}; pass its real and imaginary parts by themselves"
    if array.dtype.kind != "O":
        return f"dtype {array.dtype}; convert it first"
    if array.ndim == 0:
        return f"{_kind(value)}{', ' if isinstance(value, Set) else '; '}{_remedy(name, value)}"
    strange = ((place, entry) for place, entry in np.ndenumerate(array) if not isinstance(entry, Number))
    place, entry = next(strange, (None, None))
    found = "" if place is None else f", with {_kind(entry)} at {place}"
    return f"dtype object{found}; convert it first"


def _kind(value: Any) -> str:
    """Name the type of a value that is no number: "a dict"."""
    if value is None:
        return "None"
    name = f"{'sparse ' if hasattr(value, 'toarray') else ''}{type(value).__name__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _remedy(name: str, value: Any) -> str:
    if hasattr(value, "toarray"):  # SciPy's sparse matrices and arrays, and others that follow them
        return f"pass {name}.toarray()"
    if isinstance(value, Mapping):
        return f"pass its values as an array: list({name}.values())"
    if isinstance(value, Iterator):
        return f"make a list of it first: list({name})"
    if isinstance(value, Set):
        return "which has no order; pass a list"
    return "pass an array, or a list of rows"


def is_one_of(value: Any, names: Iterable[str]) -> bool:
    """Tell whether an option is one of some names; what cannot be one, such as a list, is none of them."""
    return isinstance(value, str) and value in names


def checked_device(function: str, device: Any) -> Device | None:
    """Give the device that was asked for, None for none, or say that it is no device.

    Raises
    ------
    OptionTypeError
        It is something else.
    """
    if device is not None and not isinstance(device, Device):
        raise OptionTypeError(f"{function}: device must be a glla.Device, or None, got {device!r}")
    return device


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


CPU = (1, 0)
"""DLPack's name for the host."""

UFUNCS: dict[np.ufunc, str] = {getattr(np, name): name for name in (*UNARY, *BINARY, "matmul")}
"""NumPy's universal functions that run on the device."""

FOLDS: dict[np.ufunc, str] = {np.add: "sum", np.maximum: "max", np.minimum: "min"}
"""Universal functions whose ``reduce`` runs on the device."""

UFUNC_DEFAULTS: dict[str, Any] = {"dtype": None, "where": True}
"""Options that a caller may spell out although they change nothing."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's other functions that run on the device; `implements` fills it."""


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what NumPy's functions do with a Matrix among their arguments.

    Options that the implementation does not take are refused in its name.

    Examples
    --------
    >>> @implements(np.ndim)
    ... def ndim(a):
    ...     return 2
    >>> np.ndim(asarray([[1, 2]]))
    2
    """

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return register


NEW = "make a new Matrix with glla.asarray"
DESCRIPTION = {
    "shape": "glla.asarray(A.numpy().reshape(...)) is a Matrix of another shape",
    "dtype": "a Matrix is float32; A.numpy().astype(...) is an array of another type",
    "device": "glla.asarray(A.numpy(), device) is a Matrix on another device",
    **dict.fromkeys(("T", "mT", "ndim", "size", "itemsize", "nbytes", "value", "texture"), NEW),
}
"""Attributes that describe a Matrix, and what gives one with others."""


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

    namespace: ClassVar[ModuleType | None] = None
    """What ``__array_namespace__`` gives; the array API's module puts itself here."""

    def __init__(self, device: Device, texture: Texture | None, shape: Shape) -> None:
        object.__setattr__(self, "device", device)
        object.__setattr__(self, "shape", shape)
        self._value: Resident | None = Resident(device, texture, shape)

    @classmethod
    def _of(cls, value: Resident) -> Matrix:
        """Make a Matrix of a value."""
        matrix = cls(value.device, None, value.shape)
        matrix._value = value
        return matrix

    @property
    def value(self) -> Resident:
        """Its value now; never changes, even if the Matrix does."""
        if self._value is None:
            raise ReleasedError("Matrix: is used after it was released; keep it until its last use is done")
        return self._value

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
        if copy is False:
            raise BufferError("Matrix: DLPack gets a copy on the host; use copy=None or copy=True")
        if stream is not None:
            raise BufferError(f"Matrix: DLPack gets a copy on the host, which has no stream, got stream {stream!r}")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"Matrix: DLPack gets a copy on the CPU, device (1, 0), got {tuple(dl_device)}")
        return self.numpy().__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Say where the export lies: on the CPU, (1, 0)."""
        return CPU

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
        operand = as_resident("Matrix", "what is assigned", value, self.device, column=block[1].single)
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
        Error: abs(S - S^) <= d u sum(abs(a)), u = 2^-24, d = `glla.kernels.reduce.depth`, 34 for up to 32 x 32
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
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __iadd__(self, other: Any) -> Any:
        return self._become("add", other)

    def __sub__(self, other: Any) -> Any:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("subtract", other, self)

    def __isub__(self, other: Any) -> Any:
        return self._become("subtract", other)

    def __mul__(self, other: Any) -> Any:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("multiply", other, self)

    def __imul__(self, other: Any) -> Any:
        return self._become("multiply", other)

    def __truediv__(self, other: Any) -> Any:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("divide", other, self)

    def __itruediv__(self, other: Any) -> Any:
        return self._become("divide", other)

    def __pow__(self, other: Any) -> Any:
        return _binary("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("power", other, self)

    def __ipow__(self, other: Any) -> Any:
        return self._become("power", other)

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def __imatmul__(self, other: Any) -> Any:
        return self._become("matmul", other)

    def __neg__(self) -> Any:
        return _unary("negative", self)

    def __pos__(self) -> Matrix:
        return self.copy()

    def __abs__(self) -> Any:
        return _unary("absolute", self)

    def __eq__(self, other: object) -> Any:
        return _comparison("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return _comparison("not_equal", self, other)

    def __lt__(self, other: Any) -> Any:
        return _binary("less", self, other)

    def __le__(self, other: Any) -> Any:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary("greater_equal", self, other)

    __hash__ = None  # type: ignore[assignment]  # == goes element by element

    def _become(self, name: str, other: Any) -> Any:
        """Compute in place: take over the result's value."""
        result = _product(self, other) if name == "matmul" else _binary(name, self, other)
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

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if any(overrides(operand) for operand in inputs):
            return NotImplemented
        name, targets = f"numpy.{ufunc.__name__}", options.pop("out", ())
        defaults = {key for key in options.keys() & UFUNC_DEFAULTS if options[key] is UFUNC_DEFAULTS[key]}
        options = {key: value for key, value in options.items() if key not in defaults}
        if any(not isinstance(target, Matrix) for target in targets):
            raise UnsupportedError(f"{name}: out must be a Matrix where an operand is one; use A.numpy() for an array")
        if method == "reduce" and ufunc in FOLDS and not targets and options.keys() <= {"axis", "keepdims"}:
            return inputs[0]._reduced(FOLDS[ufunc], options.get("axis", 0), options.get("keepdims", False))
        if method != "__call__" or ufunc not in UFUNCS:
            call = name if method == "__call__" else f"{name}.{method}"
            raise UnsupportedError(f"{call}: does not run on the device; use A.numpy()")
        if options:
            raise UnsupportedError(f"{name}: takes no {', '.join(sorted(options))} on a Matrix; use A.numpy()")
        function = UFUNCS[ufunc]
        if targets and function in TRUTHS:
            raise UnsupportedError(f"{name}: out must hold bool, which a Matrix cannot; use A.numpy()")
        if function == "matmul":
            result = _product(*inputs)
        else:
            result = _unary(function, *inputs) if function in UNARY else _binary(function, *inputs)
        return targets[0]._take_over(function, result) if targets else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, (Matrix, np.ndarray)) for kind in types):
            return NotImplemented
        name = f"{function.__module__}.{function.__name__}"
        implementation = FUNCTIONS.get(function)
        if implementation is None:
            raise UnsupportedError(f"{name}: does not run on the device; use A.numpy()")
        signature = inspect.signature(implementation)
        try:
            bound = _bound(signature, function, args, kwargs)
        except TypeError as error:
            raise UnsupportedError(f"{name}: takes {signature} on a Matrix, {error}; use A.numpy()") from None
        return implementation(*bound.args, **bound.kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Give the namespace of the array API, `glla.array_api`."""
        if self.namespace is None:
            raise UnsupportedError("Matrix: the array API's namespace is not loaded; import glla.array_api")
        known = self.namespace.__array_api_version__
        if api_version is not None and api_version > known:
            raise OptionError(f"Matrix: the array API is offered up to version {known}, got {api_version!r}")
        return self.namespace

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


def _bound(signature: inspect.Signature, function: Any, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """Match a call of NumPy's function to a signature that has fewer options: those left at their defaults may go."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        try:
            theirs = inspect.signature(function)
        except ValueError:  # before 2.4 NumPy's functions in C did not say
            raise error from None
    given = theirs.bind(*args, **kwargs)
    for name in given.arguments.keys() - signature.parameters.keys():
        if given.arguments[name] is theirs.parameters[name].default:
            del given.arguments[name]
    return signature.bind(*given.args, **given.kwargs)


def _from_pickle(array: Array) -> Matrix:
    return asarray(array, check_finite=False)


# -- operands of operators ------------------------------------------------------------------------------------------


def as_resident(
    function: str, name: str, other: Any, device: Device, check_finite: bool = True, column: bool = False
) -> Resident:
    """Check the other operand and put it onto the device; 1-D arrays as a row, or as a column."""
    if isinstance(other, Matrix):
        return other.value
    array = as_float32(function, name, _float_if_int(other), check_finite)
    if array.ndim == 0:
        return from_scalar(float(array), device)
    if array.ndim > 2:
        raise ShapeError(f"{function}: {name} must have two dimensions at most, got shape {array.shape}; reshape it")
    if array.ndim == 1:
        array = array[:, np.newaxis] if column else array[np.newaxis]
    return from_array(array, device)


def _float_if_int(value: Any) -> Any:
    """Take a Python int for the float that it is nearest to: NumPy makes objects of large ones."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        return value


def _brings_operators(operand: Any) -> bool:
    """Whether it wants its own operators: a result that is not there yet, or a class apart from NumPy (NEP 13)."""
    return overrides(operand) is not None or getattr(type(operand), "__array_ufunc__", ...) is None


def _unary(name: str, a: Matrix) -> Any:
    result = arithmetic.unary(name, a.value)
    return result.numpy() != 0 if name in TRUTHS else Matrix._of(result)


def _binary(name: str, a: Any, b: Any) -> Any:
    """Apply an element-wise function to two operands, one of which is a Matrix."""
    if _brings_operators(a) or _brings_operators(b):
        return NotImplemented
    device = a.device if isinstance(a, Matrix) else b.device
    check_finite = name not in TRUTHS  # to compare with infinity makes sense
    left = as_resident(name, "A", a, device, check_finite)
    result = arithmetic.binary(name, left, as_resident(name, "B", b, device, check_finite))
    return result.numpy() != 0 if name in TRUTHS else Matrix._of(result)


def _comparison(name: str, a: Matrix, b: Any) -> Any:
    """Compare; what is no number is left to Python, which compares identities."""
    try:
        return _binary(name, a, b)
    except DTypeError:
        return NotImplemented


def _product(a: Any, b: Any) -> Any:
    """Multiply two operands, one of which is a Matrix; beside a vector the result is a vector, on the host."""
    if _brings_operators(a) or _brings_operators(b):
        return NotImplemented
    if isinstance(a, Matrix):
        array = _factor("B", b)
        if isinstance(array, Matrix) or array.ndim == 2:
            return product("matmul", a, array if isinstance(array, Matrix) else upload(array, a.device))
        vector = product("matmul", a, upload(array[:, np.newaxis], a.device))
        return finite_result("matmul", vector.numpy()[:, 0], check_finite=True)
    array = _factor("A", a)
    if isinstance(array, Matrix) or array.ndim == 2:
        return product("matmul", array if isinstance(array, Matrix) else upload(array, b.device), b)
    vector = product("matmul", upload(array[np.newaxis], b.device), b)
    return finite_result("matmul", vector.numpy()[0], check_finite=True)


def _factor(name: str, other: Any) -> Array | Matrix:
    if isinstance(other, Matrix):
        return other
    array = as_float32("matmul", name, other)
    if array.ndim not in (1, 2):
        raise ShapeError(f"matmul: {name} must be two-dimensional, got shape {array.shape}; reshape it")
    return array


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
    return upload(array, checked_device("asarray", device) or default_device())


def from_dlpack(value: Any, device: Device | None = None, *, check_finite: bool = True) -> Matrix:
    """Put a 2-D tensor of another library onto a device, through the DLPack protocol.

    Parameters
    ----------
    value : object with ``__dlpack__``
        On the CPU; real numbers. It is copied.
    device, check_finite
        As in `asarray`.

    Returns
    -------
    Matrix
        Does not synchronise, unless `value` is a Matrix itself, which comes back as it is.

    Raises
    ------
    UnsupportedError
        It does not speak DLPack.
    DeviceMismatchError
        It lies on a device that is not the CPU.
    ShapeError, DTypeError, NonFiniteError
        As `asarray`.

    Examples
    --------
    >>> from_dlpack(np.ones((2, 3))).shape
    (2, 3)
    """
    if isinstance(value, Matrix):
        return asarray(value, device)
    if not hasattr(value, "__dlpack__"):
        raise UnsupportedError(
            f"from_dlpack: value must have __dlpack__, got {type(value).__name__}; use asarray for arrays"
        )
    try:
        array = np.from_dlpack(value)
    except GllaError:
        raise
    except (BufferError, RuntimeError) as error:
        if value.__dlpack_device__()[0] != CPU[0]:
            raise DeviceMismatchError(
                f"from_dlpack: value must lie on the CPU; NumPy says: {error}; copy it to the CPU first"
            ) from None
        raise DTypeError(
            f"from_dlpack: value must hold what NumPy can; NumPy says: {error}; convert it to float32 first"
        ) from None
    return asarray(array, device, check_finite=check_finite)


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
    limits, left, right = device.limits, a.value, b.value
    variant, parameters = (variant, ()) if variant else matmul_kernel.choice(m, k, n, limits)
    turned = {"transpose_a": left.transposed, "transpose_b": right.transposed}
    plan = matmul_kernel.plan(m, k, n, variant, limits, onto is not None, parameters, **turned)
    textures = [left.texture, right.texture, *(() if onto is None else (onto.texture,))]
    operands = dict(zip(plan.operands, textures, strict=True))
    return Matrix(device, device.run(plan, **operands)["C"], (m, n))


Device.make_matrix = staticmethod(asarray)  # Device stands below, and so cannot import it
