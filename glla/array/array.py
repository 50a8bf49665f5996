"""Array: numbers on a device; and `asarray`, which makes one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from glla import registry
from glla.array import arithmetic, blocks, dispatch, dlpack, layouts, operators, reductions, shaping
from glla.array.convert import as_dtype, as_float32, as_real, checked_device, dtype_of, finite_result, promoted
from glla.array.value import Resident, Shape, from_array, run
from glla.display import array as display
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    OptionError,
    ReleasedError,
    ShapeError,
    UnsupportedError,
    integer,
)
from glla.gl import Device, DeviceLike, Texture, default_device, named_device
from glla.operations.layouts import packing
from glla.operations.record import Way
from glla.passes import Form
from glla.passes.layout import ELEMENT_BYTES
from glla.passes.layout import Shape as MatrixShape
from glla.registry import delegating, overrides

DTYPES = ("float32", "int32", "bool")
"""Types of the elements of an Array."""

NEW = "make a new Array with glla.asarray"
DESCRIPTION = {
    "shape": "A.reshape(...) is an Array of another shape",
    "dtype": "A.astype(...) is an Array of another type",
    "device": "A.to_device(device) is an Array on another device",
    **dict.fromkeys(("T", "mT", "ndim", "size", "itemsize", "nbytes", "value", "form", "texture"), NEW),
}
"""Attributes that describe an Array and cannot be changed, each with a way to obtain an Array that differs in it."""

_set = object.__setattr__

Operator = Callable[["Array", Any], "Array"]


def _operators(name: str) -> tuple[Operator, Operator, Operator]:
    """Operator of two operands, with the operands exchanged, and in place."""

    def forward(self: Array, other: Any) -> Array:
        return _apply(name, self, other)

    def backward(self: Array, other: Any) -> Array:
        return _apply(name, other, self)

    def in_place(self: Array, other: Any) -> Array:
        result = _apply(name, self, other)
        return result if result is NotImplemented else self._take_over(name, result)

    return forward, backward, in_place


class Array:
    """An array on a device, of any number of dimensions: float32, int32 or bool.

    Make one with `asarray`. Functions of glla take it in place of any array, and then return Arrays, so that a chain of
    operations stays on the device. Dropping the last reference releases the texture, from any thread. Layouts, types,
    rounding and infinities: docs/guide/arrays.md.

    Examples
    --------
    >>> A = asarray([[1, 2], [3, 4]])
    >>> (2 * A - A.T).numpy()
    array([[1., 1.],
           [4., 4.]], dtype=float32)
    >>> A.sum(axis=0).numpy(), float(A.sum())
    (array([4., 6.], dtype=float32), 10.0)

    Parameters
    ----------
    device, texture, shape : Device, Texture or None, tuple of int
        Of a packed matrix: the device, its texture (None for an empty matrix), rows and columns.
    """

    __slots__ = ("__weakref__", "_value", "device", "shape")

    device: Device
    shape: Shape
    _value: Resident | None

    def __init__(self, device: Device, texture: Texture | None, shape: Shape) -> None:
        self._hold(Resident(device, texture, shape))

    @classmethod
    def _of(cls, value: Resident) -> Array:
        """Make an Array from a value."""
        array = cls.__new__(cls)
        array._hold(value)
        return array

    def _hold(self, value: Resident) -> None:
        """Set the first value; past `__setattr__`, which refuses to change descriptive attributes."""
        _set(self, "device", value.device)
        _set(self, "shape", value.shape)
        _set(self, "_value", value)

    @property
    def value(self) -> Resident:
        """Its current value, which never changes, even if the Array does."""
        if self._value is None:
            raise ReleasedError("Array: is used after it was released; keep it until its last use is done")
        return self._value

    @property
    def form(self) -> Form:
        """Its shape, dtype and layout, for which plans are made."""
        return self.value.form

    @property
    def texture(self) -> Texture:
        """Texture with all elements in order, for `Device.run`; another layout or view is converted first, once."""
        value = self.value
        self._value = value.settled() if value.packed else layouts.whole(value)
        return self._value.texture

    # -- what it is ---------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change descriptive attributes: the texture would not follow."""
        self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        object.__delattr__(self, name)

    def _refuse_change(self, name: str) -> None:
        if name in DESCRIPTION:
            raise AttributeError(f"Array: {name} cannot be changed; {DESCRIPTION[name]}")

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of its elements: float32, int32 or bool."""
        return np.dtype(self.value.dtype)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of an element on the device; bool takes as many as int32."""
        return ELEMENT_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes of its elements (the texture also holds padding)."""
        return self.size * ELEMENT_BYTES

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Array: a number has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        """Show it as NumPy does: of a large one the corners alone. Reads them back: synchronises."""
        return display.text(self, ", ", "Array(")

    def __str__(self) -> str:
        return display.text(self, " ")

    def __format__(self, how: str) -> str:
        return format(self.item(), how) if how and not self.shape else format(str(self), how)

    def _repr_html_(self) -> str:
        """Show its corners in a notebook. Reads back a few texels: synchronises."""
        return display.of_array(self)

    # -- life ---------------------------------------------------------------------------------------------------

    def release(self) -> None:
        """Release the texture now; a second call does nothing.

        The texture stays alive if another Array, such as a transpose or a copy, shares it.
        """
        self._value = None

    def __enter__(self) -> Array:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def copy(self) -> Array:
        """Return another Array of the same value. They share a texture until one of them is changed."""
        return Array._of(self.value)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle through the host: it is loaded onto the default device of the thread that loads it. Synchronises."""
        return _from_pickle, (self.numpy(),)

    # -- to the host --------------------------------------------------------------------------------------------

    def numpy(self, *, check_finite: bool = False) -> NDArray[Any]:
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
        array = self.value.numpy()
        return finite_result("numpy", array, check_finite) if array.dtype.kind == "f" else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Array: reading back always copies; use copy=None or copy=True")
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
        """Return DLPack's device of the export: the CPU, (1, 0)."""
        return dlpack.CPU

    def tolist(self) -> Any:
        """Read back as nested lists, or as a number. Synchronises."""
        return self.numpy().tolist()

    def item(self, *place: int) -> Any:
        """Read one element as a Python number: the only one, or the one at an index. Synchronises.

        Examples
        --------
        >>> asarray([[1, 2]]).item(0, 1)
        2.0
        """
        if not place and self.size == 1:
            place = (0,) * self.ndim
        if len(place) != self.ndim:
            raise OptionError(
                f"item: needs an index for each dimension unless there is one element, got {place} of {self.shape}"
            )
        return blocks.basic(self.value, place).numpy().item() if place else self.numpy().item()

    def _only(self, kind: str) -> Any:
        if self.ndim:
            raise TypeError(f"Array: only a number converts to {kind}, got shape {self.shape}; use item() or numpy()")
        return self.item()

    def __float__(self) -> float:
        return float(self._only("float"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __complex__(self) -> complex:
        return complex(self._only("complex"))

    def __index__(self) -> int:
        if self.dtype != np.int32:
            raise TypeError(f"Array: an index must be int32, got {self.dtype.name}; use astype")
        return operator.index(self._only("an index"))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("Array: the truth of more or less than one element is ambiguous; use any() or all()")
        return bool(self.item())

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension.

        The matrices of a batch are Arrays on the device; the rows of a matrix are NumPy's, and so are the numbers of a
        vector: all are read back at once.
        """
        if not self.shape:
            raise TypeError("Array: a number cannot be iterated over")
        return (self[index] for index in range(len(self))) if self.ndim > 2 else iter(self.numpy())

    def __contains__(self, number: object) -> bool:
        found = self.__eq__(number)
        return found is not NotImplemented and bool(found.any())

    # -- type, shape and order of the elements --------------------------------------------------------------------

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        """Convert to another type. One pass, or none.

        Parameters
        ----------
        dtype : dtype
            float32, int32 or bool. A float is truncated towards zero to an int32, and becomes -2^31 where it does not
            fit.
        copy : bool
            Return another Array even if nothing changes.

        Raises
        ------
        UnsupportedError
            Another dtype.

        Examples
        --------
        >>> asarray([1.5, -2.7]).astype("int32").numpy()
        array([ 1, -2], dtype=int32)
        """
        name = np.dtype(dtype).name
        if name not in DTYPES:
            raise UnsupportedError(
                f"astype: an Array is float32, int32 or bool, got {name}; use A.numpy().astype({name!r})"
            )
        if name == self.value.dtype and not copy:
            return self
        return Array._of(layouts.best(layouts.as_type(self.value, name)))

    @property
    def T(self) -> Array:
        """Its transpose, with the dimensions in the opposite order, on the same texture.

        Element-wise functions, reductions, blocks and the product ``inner_product`` read it directly. Other functions
        have it written out first, by one pass.
        """
        return Array._of(self.value.transpose)

    @property
    def mT(self) -> Array:
        """Transpose of each matrix of a batch; it shares the texture."""
        if self.ndim < 2:
            raise ShapeError(f"mT: a matrix has two dimensions at least, got shape {self.shape}")
        return self.swapaxes(-1, -2)

    def transpose(self, *axes: Any) -> Array:
        """Permute the dimensions, as `numpy.ndarray.transpose`; reverse them by default."""
        if not axes or axes[0] is None:
            return self.T
        order = axes if len(axes) > 1 or np.ndim(axes[0]) == 0 else axes[0]
        return Array._of(shaping.permute("transpose", self.value, tuple(order)))

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """Exchange two dimensions."""
        one, other = (reductions.place("swapaxes", axis, self.ndim) for axis in (axis1, axis2))
        order = list(range(self.ndim))
        order[one], order[other] = order[other], order[one]
        return Array._of(shaping.permute("swapaxes", self.value, tuple(order)))

    def reshape(self, *shape: Any) -> Array:
        """Return an array of another shape, in C order; -1 means the remaining length. One pass at most.

        Examples
        --------
        >>> asarray([1, 2, 3, 4]).reshape(2, -1).numpy()
        array([[1., 2.],
               [3., 4.]], dtype=float32)
        """
        lengths = shape if len(shape) != 1 or np.ndim(shape[0]) == 0 else tuple(shape[0])
        return Array._of(shaping.reshape(self.value, lengths))

    def ravel(self) -> Array:
        """Return all elements as a vector, in C order."""
        return self.reshape(-1)

    flatten = ravel

    def squeeze(self, axis: Any = None) -> Array:
        """Remove dimensions of length 1: all of them, or the given ones."""
        return Array._of(shaping.squeeze(self.value, axis))

    def __getitem__(self, index: Any) -> Array:
        """Return elements, as NumPy's indexing does.

        Integers, slices, None and ``...`` return an Array by one pass at most, without synchronising. Arrays of bool
        and of integers select elements; a mask is read back first, because it decides the shape.
        """
        return Array._of(blocks.take(self.value, blocks.plain(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Assign a number, an array or an Array, which broadcasts, to elements. One pass over the whole array.

        A float is truncated to an int32. A number of the host that does not fit raises DTypeError for int32, as NaN and
        infinity do, and NonFiniteError for float32.
        """
        operand = value_of(value)
        if not isinstance(operand, Resident):
            operand = from_array(as_dtype("Array", "what is assigned", value, self.value.dtype), self.device)
        self._value = blocks.put(self.value, blocks.plain(index), operand)

    def take(self, indices: Any, axis: int | None = None) -> Array:
        """Return slices at indices along a dimension, or elements of the flat array, as `numpy.take`.

        Synchronises if the indices are on the device: their range is read back.
        """
        return Array._of(shaping.take(self.value, value_of(indices), axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """Diagonals of the matrices of two dimensions, as `numpy.diagonal`: along the last dimension.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).diagonal().numpy()
        array([1., 4.], dtype=float32)
        """
        return Array._of(blocks.diagonal(shaping.to_the_end("diagonal", self.value, axis1, axis2), offset))

    # -- reductions ---------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Array:
        """Sum of all elements, or over some dimensions, as `numpy.sum`.

        Parameters
        ----------
        axis : None, int or tuple of int
            Dimensions to sum over; negative ones count from the end.
        dtype : dtype, optional
            float32 or int32. By default the type of the elements; bool counts as int32, and int32 wraps around.
        keepdims : bool
            Keep the summed dimensions, with length 1.

        Returns
        -------
        Array
            Does not synchronise.

        Notes
        -----
        Error: abs(S - S^) <= d u sum(abs(a)), u = 2^-24, d = `glla.operations.reduce.depth`, 34 for up to 32 x 32
        elements and 32 more for every factor of 16 in the longer side: the sum is a tree, 16 texels to a branch.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).sum(axis=1).numpy()
        array([3., 7.], dtype=float32)
        """
        source = self if dtype is None else self.astype(dtype, copy=False)
        return source._reduced("sum", axis, keepdims)

    def prod(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Array:
        """Product of all elements, or over some dimensions, as `numpy.prod`; see `sum`.

        Error: relative (count - 1) u.
        """
        source = self if dtype is None else self.astype(dtype, copy=False)
        return source._reduced("prod", axis, keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Largest element of all, or over some dimensions, as `numpy.max`; see `sum`.

        Exact. NaN if an element is NaN. An empty array raises ShapeError.

        Examples
        --------
        >>> float(asarray([[1, 2], [3, 4]]).max())
        4.0
        """
        return self._reduced("max", axis, keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Smallest element of all, or over some dimensions, as `numpy.min`; see `max`.

        Examples
        --------
        >>> float(asarray([[1, 2], [3, 4]]).min())
        1.0
        """
        return self._reduced("min", axis, keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Whether all elements are true (not zero)."""
        return self._reduced("all", axis, keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Whether any element is true (not zero)."""
        return self._reduced("any", axis, keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Index of the first largest element, of all in C order or along a dimension; NaN is the largest. int32."""
        return self._reduced("argmax", axis, keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Index of the first smallest element, see `argmax`; NaN is the smallest."""
        return self._reduced("argmin", axis, keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Mean of all elements, or over some dimensions, as `numpy.mean`; float32, see `sum`. NaN if there are none.

        Examples
        --------
        >>> asarray([[1, 2], [3, 4]]).mean(axis=0).numpy()
        array([2., 3.], dtype=float32)
        """
        return Array._of(reductions.mean(self.value, axis, keepdims))

    def var(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
        """Variance of all elements, or over some dimensions, as `numpy.var`.

        Parameters
        ----------
        axis, keepdims
            As in `sum`.
        ddof : float
            The sum of squared differences from the mean is divided by the count less this number.

        Notes
        -----
        The mean is subtracted first. Error: relative (2 d + 4) u where the mean is exact, d as in `sum`.
        """
        return Array._of(reductions.variance(self.value, axis, ddof, keepdims))

    def std(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
        """Root of the variance, see `var`.

        Examples
        --------
        >>> float(asarray([1, 3]).std())
        1.0
        """
        return Array._of(arithmetic.unary("sqrt", reductions.variance(self.value, axis, ddof, keepdims)))

    def cumsum(self, axis: int | None = None) -> Array:
        """Cumulative sums along a dimension, as `numpy.cumsum`."""
        return Array._of(reductions.cumulative("sum", self.value, axis))

    @delegating
    def norm(self, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Norm of a matrix, of a vector, or of lines along a dimension, as `numpy.linalg.norm`.

        Parameters
        ----------
        ord : {None, 'fro', 1, -1, inf, -inf, 2, -2, 'nuc'}, or {None, 0, 1, 2, inf, -inf} of vectors
            Default: Frobenius norm; otherwise largest (smallest) column sum, row sum, singular value; their sum.
        axis : None, int or pair of int
            One dimension for norms of vectors, Euclidean by default; two for norms of matrices.
        keepdims : bool
            Keep the dimensions, with length 1.

        Returns
        -------
        Array
            Does not synchronise.

        Notes
        -----
        Elements are scaled by a power of two before they are squared, so that the norm overflows only if it does not
        fit. Error: relative (d + 8) u, d as in `sum`.

        Examples
        --------
        >>> float(asarray([[3, 0], [0, 4]]).norm())
        5.0
        """
        if ord in (2, -2, "nuc") and len(axes := reductions.places("norm", axis, self.ndim)) == 2:
            one: Any = self
            values = np.linalg.svdvals(np.moveaxis(one, axes, (-2, -1)))
            empty = ord == 2 and not values.shape[-1]
            found: Any = values.sum(-1) if ord == "nuc" or empty else values[..., 0 if ord == 2 else -1]
            found = np.expand_dims(found, axes) if keepdims else found
            return found  # type: ignore[no-any-return]
        return Array._of(reductions.norm(self.value, ord, axis, keepdims))

    def vector_norm(self, ord: Any = None, axis: Any = None, *, keepdims: bool = False) -> Array:
        """Norm of all elements as one vector, or of vectors along dimensions; see `norm`.

        Parameters
        ----------
        ord : None or number
            Euclidean by default; inf and -inf are the largest and the smallest magnitude. Any number but 0, 1, 2, inf
            and -inf uses powers, which GPUs round to some 1e-6.
        axis, keepdims
            As in `sum`.

        Examples
        --------
        >>> float(asarray([[3, -4]]).vector_norm(1))
        7.0
        """
        return Array._of(reductions.vector_norm(self.value, ord, axis, keepdims))

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """Sums of the diagonals of the matrices of two dimensions, as `numpy.trace`. Error as in `sum`.

        Examples
        --------
        >>> float(asarray([[1, 2], [3, 4]]).trace())
        5.0
        """
        return Array._of(reductions.reduced("sum", self.diagonal(offset, axis1, axis2).value, -1, False))

    def dot(self, other: Any) -> Array:
        """Product, as `numpy.dot`: over the last dimension and the last but one of `other`; with numbers too."""
        if self.ndim == 0 or np.ndim(other) == 0:
            scaled: Array = self * other
            return scaled
        if np.ndim(other) <= 2:
            product: Array = self @ other
            return product
        right = Array._of(operators.beside_each_other("dot", self.value, value_of(other))[1])
        first = right.transpose((right.ndim - 2, *range(right.ndim - 2), right.ndim - 1))  # the summed dimension
        rows, columns = prod(self.shape[:-1]), prod(first.shape[1:])
        flat: Array = self.reshape(rows, self.shape[-1]) @ first.reshape(first.shape[0], columns)
        return flat.reshape((*self.shape[:-1], *first.shape[1:]))

    def round(self, decimals: int = 0) -> Array:
        """Round to decimal places, ties to even: scaled in float32, as `numpy.round`.

        Examples
        --------
        >>> asarray([0.5, 1.25, 17.5]).round().tolist(), asarray([0.5, 1.25, 17.5]).round(-1).tolist()
        ([0.0, 1.0, 18.0], [0.0, 0.0, 20.0])
        """
        places = integer("round", "decimals", decimals)
        if self.dtype != np.float32 and places > 0:
            return self.copy()
        if self.dtype != np.float32 and places < 0:
            raise OptionError(f"round: decimals must not be below 0 for {self.dtype}, got {places}; use astype first")
        scale = 10.0 ** min(abs(places), 38)
        there = self if places == 0 else self * scale if places > 0 else self / scale
        whole = Array._of(arithmetic.unary("rint", there.value))
        return whole if places == 0 else whole / scale if places > 0 else whole * scale

    __round__ = round

    def clip(self, min: Any = None, max: Any = None) -> Array:
        """Clip elements to two bounds, which broadcast; for integers a bound may be an int beyond int32."""
        whole = self.value.dtype == "int32"
        lower = min is not None and not (whole and type(min) is int and min < -(2**31))
        upper = max is not None and not (whole and type(max) is int and max >= 2**31)
        raised = _apply("maximum", self, min) if lower else self.copy()
        return _apply("minimum", raised, max) if upper else raised

    def _reduced(self, operation: str, axis: Any, keepdims: bool) -> Array:
        return Array._of(reductions.reduced(operation, self.value, axis, keepdims))

    # -- operators ----------------------------------------------------------------------------------------------

    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("subtract")
    __mul__, __rmul__, __imul__ = _operators("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _operators("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floor_divide")
    __mod__, __rmod__, __imod__ = _operators("remainder")
    __pow__, __rpow__, __ipow__ = _operators("power")
    __matmul__, __rmatmul__, __imatmul__ = _operators("matmul")
    __and__, __rand__, __iand__ = _operators("bitwise_and")
    __or__, __ror__, __ior__ = _operators("bitwise_or")
    __xor__, __rxor__, __ixor__ = _operators("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _operators("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = _operators("bitwise_right_shift")
    __lt__, __le__ = _operators("less")[0], _operators("less_equal")[0]
    __gt__, __ge__ = _operators("greater")[0], _operators("greater_equal")[0]

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return other // self, other % self

    def __invert__(self) -> Array:
        return _apply("bitwise_invert", self)

    def __neg__(self) -> Array:
        return _apply("negative", self)

    def __pos__(self) -> Array:
        arithmetic.operand_dtype("positive", self.value.dtype)  # raises of bool
        return self.copy()

    def __abs__(self) -> Array:
        return _apply("absolute", self)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return _comparison("equal", self, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return _comparison("not_equal", self, other)

    __hash__ = None  # type: ignore[assignment]  # == goes element by element

    def _take_over(self, name: str, result: Array) -> Array:
        value = self.value  # raises if it was released
        if result.shape != self.shape:
            raise ShapeError(f"{name}: the result has shape {result.shape} and does not fit in place of {self.shape}")
        if result.device is not self.device:
            raise DeviceMismatchError(f"{name}: the result lives on another device and cannot go in place")
        if promoted(result.value.dtype, value.dtype) != value.dtype:
            raise DTypeError(f"{name}: the result is {result.dtype.name} and does not fit in place of {value.dtype}")
        self._value = layouts.best(layouts.as_type(result.value, value.dtype))
        return self

    # -- NumPy's protocols --------------------------------------------------------------------------------------

    __array_priority__ = 100
    """Dask asks for it where it chooses among implementations; to NumPy it is nothing beside ``__array_ufunc__``."""

    __pandas_priority__ = 5000
    """Above a DataFrame's, which leaves its operators to an Array then: pandas would take it for a list of rows."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if any(overrides(operand) for operand in inputs):
            return NotImplemented
        if any(not isinstance(target, Array) for target in out):
            raise UnsupportedError(
                f"numpy.{ufunc.__name__}: out must be an Array where an operand is one; use A.numpy() for an array"
            )
        wanted = options.pop("dtype", None) if method == "__call__" else None
        name = dispatch.universal(ufunc, method, options, bool(out))
        if method == "reduce":
            return inputs[0]._reduced(name, options.get("axis", 0), options.get("keepdims", False))
        if out and not any(isinstance(operand, Array) for operand in inputs):
            inputs = tuple(map(Array._of, operators.beside_each_other(name, *inputs, device=out[0].device)))
        result = _apply(name, *inputs)
        if wanted is not None and result.dtype != np.dtype(wanted):
            raise UnsupportedError(
                f"numpy.{ufunc.__name__}: the result on an Array is {result.dtype.name}, not {np.dtype(wanted).name}; "
                "use A.numpy()"
            )
        return out[0]._take_over(name, result) if out else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, (Array, np.ndarray)) for kind in types):
            return NotImplemented
        return dispatch.call(function, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the namespace of the array API, `glla.array_api`."""
        namespace = registry.announced("namespace")
        known = namespace.__array_api_version__
        if api_version is not None and api_version > known:
            raise OptionError(f"Array: the array API is offered up to version {known}, got {api_version!r}")
        return namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Copy to another device, through the host; to its own, return itself. The array API's name for it.

        Parameters
        ----------
        device : Device, str or int
            The target, or its name (see `glla.gl.named_device`).
        stream : None
            Must be None.
        """
        if stream is not None:
            raise OptionError(f"to_device: there are no streams, got {stream!r}")
        target = named_device("to_device", device)
        return self if target is self.device else upload(self.numpy(), target)


def value_of(operand: Any) -> Any:
    """Return the value of an Array; anything else as it is."""
    return operand.value if isinstance(operand, Array) else operand


def _apply(name: str, *operands: Any) -> Array:
    """Apply a function of `glla.array.operators` to operands, one of which is an Array."""
    for operand in operands:
        opted_out = getattr(type(operand), "__array_ufunc__", ...) is None  # as NEP 13 has it
        if not isinstance(operand, Array) and (opted_out or overrides(operand) is not None):
            return cast(Array, NotImplemented)
    return Array._of(operators.apply(name, *map(value_of, operands)))


def _comparison(name: str, a: Array, b: Any) -> Array:
    """Compare; an operand without numbers is left to Python, which compares identities."""
    try:
        return _apply(name, a, b)
    except DTypeError:
        return cast(Array, NotImplemented)


def _from_pickle(array: NDArray[Any]) -> Array:
    return asarray(array, dtype=array.dtype, check_finite=False)


# -- making them ----------------------------------------------------------------------------------------------------


@delegating
def asarray(value: Any, device: DeviceLike | None = None, *, dtype: Any = None, check_finite: bool = True) -> Array:
    """Copy an array to a device.

    Examples
    --------
    >>> A = asarray([[1, 2], [3, 4]])
    >>> (A @ A).numpy()
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)
    >>> asarray([1, 2, 3], dtype="int32").sum().item()
    6

    Parameters
    ----------
    value : array_like
        Real numbers, of any number of dimensions; an `Array` is returned as it is.
    device : Device, str or int, optional
        The target, or its name, see `glla.gl.named_device`. By default the default device of this thread.
    dtype : dtype, optional
        float32 by default, whatever the type of `value`; int32; or bool.
    check_finite : bool
        Refuse NaN and infinity.

    Returns
    -------
    Array
        Does not synchronise.

    Raises
    ------
    DTypeError, NonFiniteError
        See `glla.array.convert.as_float32`; a number does not fit int32.
    UnsupportedError
        Another dtype.
    LimitError
        More elements than a texture holds.
    """
    device = checked_device("asarray", device)
    if isinstance(value, Array):
        if device is not None and value.device is not device:
            raise DeviceMismatchError("asarray: the array lives on another device; use its to_device")
        return value if dtype is None else value.astype(dtype, copy=False)
    kind = "float32" if dtype is None else np.dtype(dtype).name
    if kind not in DTYPES:
        raise UnsupportedError(f"asarray: an Array is float32, int32 or bool, got {kind}")
    if kind == "float32":
        array: Any = as_float32("asarray", "value", value, check_finite)
    else:
        array = value if type(value) is int else as_real("asarray", "value", value)
        if kind == "int32" and dtype_of("asarray", "value", array) == "float32" and np.size(array):
            raise DTypeError(f"asarray: value must be whole numbers for dtype int32, got {array.dtype}; take float32")
        array = as_dtype("asarray", "value", array, kind)
    return upload(array, device or default_device())


def device_of(function: str, device: DeviceLike | None, *values: Any) -> Device:
    """Device to work on: that of the matrices among the operands, the one asked for, or the default one."""
    found = checked_device(function, device)
    for value in values:
        if isinstance(value, Array):
            if found is not None and value.device is not found:
                raise DeviceMismatchError(f"{function}: operands must live on one device; pass numpy() of one of them")
            found = value.device
    return found or default_device()


def upload(array: NDArray[Any], device: Device) -> Array:
    """Copy an array of float32, int32 or bool to a device, unchecked."""
    return Array._of(from_array(array, device))


def identity(shape: MatrixShape, device: Device) -> Array:
    """Make an identity matrix on a device; both sides > 0."""
    return Array._of(run(device, packing.identity(shape))["I"])


def product(function: str, a: Array, b: Array, onto: Array | None = None, **way: Unpack[Way]) -> Array:
    """Multiply two arrays on their device, see `glla.array.arithmetic.product`.

    `function`: name of the public function, for the messages. `a`, `b`: m x k and k x n, or any shapes of
    `numpy.matmul`. `onto`: m x n; the product is added to it, in a new array. `way`: variant and parameters of
    `glla.operations.product.matmul`; by default its `choose` decides.
    """
    start = None if onto is None else onto.value
    return Array._of(arithmetic.product(function, a.value, b.value, start, **way))


registry.announce("matrix", asarray)
