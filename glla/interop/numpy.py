"""NumPy's functions on a `glla.Array`: implementations for calls such as `numpy.linalg.solve` on the device.

NumPy passes a call with an Array among its arguments to ``Array.__array_function__`` (NEP 18), which asks here for an
`implementation`. A function without one raises `glla.errors.UnsupportedError`, a TypeError; nothing is silently copied
to the host. Universal functions (`numpy.add`, `numpy.matmul`, ...) go through ``Array.__array_ufunc__`` (NEP 13).

A public function that names its counterpart in NumPy (see `glla.registry.public`) needs nothing here. Functions whose
arguments differ from NumPy's are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from glla import lazily, linalg, registry
from glla.array import arithmetic, comparisons, operators, reductions, shaping
from glla.array.array import Array, asarray, value_of
from glla.errors import OptionError, ShapeError, integer
from glla.gl import DeviceLike
from glla.interop import functions

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Implementations that are written out, by NumPy's functions; `implements` fills it."""


Function = TypeVar("Function", bound=Callable[..., Any])


def implements(*numpys: Any) -> Callable[[Function], Function]:
    """Register an implementation of functions of NumPy for calls with an Array.

    Options that the implementation lacks are refused in its name.

    Examples
    --------
    >>> @implements(np.ndim)
    ... def ndim(a):
    ...     return a.ndim
    >>> np.ndim(asarray([[1, 2]]))
    2
    """

    def register(implementation: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(numpys, implementation))
        return implementation

    return register


def implementation(function: Any) -> Callable[..., Any] | None:
    """Find the implementation of one of NumPy's functions: one that is written out, else a public function of glla."""
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    return next((public.function for public in registry.PUBLIC.values() if public.implements(function)), None)


lazily.load(linalg)
registry.announce("numpy", implementation)

FUNCTIONS |= {np.linalg.vecdot: functions.vecdot, np.unstack: functions.unstack}  # same arguments

# -- products -------------------------------------------------------------------------------------------------------


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    """See `Array.dot`."""
    left, right = (Array._of(one) for one in functions.values("dot", a, b))
    return left.dot(right)


@implements(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    """Product."""
    return x1 @ x2


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Inner products of the last dimensions of both; with numbers too."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return functions.tensordot(a, b, axes=([-1], [-1]))


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """Inner product of all elements."""
    return functions.vecdot(*(one.reshape(-1) for one in functions.raised((a, b), 1)))


@implements(np.outer, np.linalg.outer)
def outer(a: Any, b: Any) -> Array:
    """Products of all elements of two arrays."""
    return functions.outer(a, b)


@implements(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Sums of products over pairs of dimensions."""
    return functions.tensordot(a, b, axes=axes)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Array:
    """Raise square matrices to an integer power: by squaring, of their inverses if n is negative.

    Parameters
    ----------
    a : Array
        A square matrix, or a batch of them.
    n : int
        Any integer; 0 gives the identity.

    Returns
    -------
    Array
        Synchronises only for n < 0. At most 2 log2(n) products.
    """
    matrix = asarray(a)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ShapeError(f"matrix_power: A must be square, got shape {matrix.shape}")
    exponent = integer("matrix_power", "n", n)
    if matrix.size == 0:
        return matrix.copy()
    if exponent == 0:
        one = functions.eye(matrix.shape[-1], dtype=matrix.dtype.name, device=matrix.device)
        return functions.broadcast_to(one, matrix.shape)
    square: Array = linalg.inv(matrix) if exponent < 0 else matrix
    exponent, result = abs(exponent), None
    while True:
        if exponent & 1:
            result = square if result is None else result @ square
        exponent >>= 1
        if exponent == 0:
            assert result is not None
            return result.copy()
        square = square @ square


# -- reductions -----------------------------------------------------------------------------------------------------


@implements(np.sum)
def sum(a: Array, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """See `Array.sum`."""
    return a.sum(axis, dtype=dtype, keepdims=keepdims)


@implements(np.prod)
def prod(a: Array, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """See `Array.prod`."""
    return a.prod(axis, dtype=dtype, keepdims=keepdims)


def _reduction(name: str) -> Callable[..., Array]:
    def reduction(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
        result: Array = getattr(a, name)(axis, keepdims=keepdims)
        return result

    reduction.__name__, reduction.__doc__ = name, f"See `Array.{name}`."
    return reduction


for _name in ("max", "min", "mean", "any", "all", "argmax", "argmin"):
    implements(getattr(np, _name))(_reduction(_name))
implements(np.amax)(_reduction("max"))
implements(np.amin)(_reduction("min"))


@implements(np.var)
def var(
    a: Array, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
) -> Array:
    """See `Array.var`."""
    return a.var(axis, ddof=ddof if correction is None else correction, keepdims=keepdims)


@implements(np.std)
def std(
    a: Array, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
) -> Array:
    """See `Array.std`."""
    return a.std(axis, ddof=ddof if correction is None else correction, keepdims=keepdims)


@implements(np.count_nonzero)
def count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Number of elements that are not zero, as int32."""
    return a._reduced("count_nonzero", axis, keepdims)


@implements(np.cumsum)
def cumsum(a: Array, axis: int | None = None) -> Array:
    """See `Array.cumsum`."""
    return a.cumsum(axis)


@implements(np.cumprod)
def cumprod(a: Array, axis: int | None = None) -> Array:
    """Cumulative products."""
    return Array._of(reductions.cumulative("prod", a.value, axis))


@implements(np.linalg.norm)
def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """See `Array.norm`."""
    return x.norm(ord, axis, keepdims=keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norms of the matrices of a batch, see `Array.norm`."""
    return x.norm(ord, (-2, -1), keepdims=keepdims)


@implements(np.linalg.vector_norm)
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norm of all elements as one vector, or along dimensions, see `Array.norm`."""
    return x.vector_norm(ord, axis, keepdims=keepdims)


@implements(np.trace)
def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """See `Array.trace`."""
    return a.trace(offset, axis1, axis2)


@implements(np.linalg.trace)
def linalg_trace(x: Array, /, *, offset: int = 0) -> Array:
    """See `Array.trace`."""
    return x.trace(offset, -2, -1)


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal. Synchronises."""
    return np.shape(a1) == np.shape(a2) and bool(_equal(a1, a2, equal_nan).all())


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, see `isclose`. Synchronises."""
    return bool(_close("allclose", a, b, rtol, atol, equal_nan).all())


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    """Whether elements are close: abs(a - b) <= atol + rtol abs(b), or equal infinities."""
    return _close("isclose", a, b, rtol, atol, equal_nan)


def _close(function: str, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Array:
    gap, size = map(Array._of, comparisons.distance(function, *functions.with_an_array(function, a, b)))
    close = (gap <= atol + rtol * size) & (size < np.inf)  # any gap is within an infinite tolerance
    result: Array = close | _equal(a, b, equal_nan)
    return result


def _equal(a: Any, b: Any, equal_nan: bool) -> Any:
    equal = np.equal(a, b)
    return equal | (_isnan(a) & _isnan(b)) if equal_nan else equal


def _isnan(a: Any) -> Any:
    return np.isnan(a if isinstance(a, Array) else comparisons.host("isnan", "A", a))


# -- shapes and copies ----------------------------------------------------------------------------------------------


@implements(np.shape)
def shape(a: Array) -> tuple[int, ...]:
    """Lengths of the dimensions."""
    return a.shape


@implements(np.ndim)
def ndim(a: Array) -> int:
    """Number of dimensions."""
    return a.ndim


@implements(np.size)
def size(a: Array, axis: Any = None) -> int:
    """Number of elements, or the length of dimensions."""
    return int(np.prod([a.shape[one] for one in reductions.places("size", axis, a.ndim)], dtype=np.int64))


@implements(np.transpose)
def transpose(a: Array, axes: Any = None) -> Array:
    """Permute the dimensions; reverse them by default."""
    return a.transpose() if axes is None else a.transpose(axes)


@implements(np.permute_dims)
def permute_dims(a: Array, axes: Any = None) -> Array:
    """Permute the dimensions."""
    return transpose(a, axes)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Array, /) -> Array:
    """Transpose of each matrix of a batch."""
    return x.mT


@implements(np.swapaxes)
def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    """Exchange two dimensions."""
    return a.swapaxes(axis1, axis2)


@implements(np.moveaxis)
def moveaxis(a: Array, source: Any, destination: Any) -> Array:
    """Move dimensions to other positions."""
    return functions.moveaxis(a, source, destination)


@implements(np.reshape)
def reshape(a: Array, /, shape: Any) -> Array:
    """Change the shape, in C order."""
    return a.reshape(shape)


@implements(np.ravel)
def ravel(a: Array) -> Array:
    """All elements as a vector."""
    return a.ravel()


@implements(np.squeeze)
def squeeze(a: Array, axis: Any = None) -> Array:
    """Remove dimensions of length 1."""
    return a.squeeze(axis)


@implements(np.expand_dims)
def expand_dims(a: Array, axis: Any) -> Array:
    """Add dimensions of length 1."""
    return Array._of(shaping.expand_dims(a.value, axis))


@implements(np.atleast_1d)
def atleast_1d(*arrays: Any) -> Any:
    """Add dimensions up to one."""
    found = functions.raised(arrays, 1)
    return found[0] if len(found) == 1 else tuple(found)


@implements(np.atleast_2d)
def atleast_2d(*arrays: Any) -> Any:
    """Add dimensions up to two."""
    found = functions.raised(arrays, 2)
    return found[0] if len(found) == 1 else tuple(found)


@implements(np.atleast_3d)
def atleast_3d(*arrays: Any) -> Any:
    """Add dimensions up to three; those of a matrix come first."""
    found = [
        one if one.ndim > 2 else one.reshape((1,) * (one.ndim < 2) + one.shape + (1,))
        for one in functions.raised(arrays, 1)
    ]
    return found[0] if len(found) == 1 else tuple(found)


@implements(np.broadcast_to)
def broadcast_to(array: Array, shape: Any) -> Array:
    """Broadcast to a shape."""
    return functions.broadcast_to(array, shape)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """Broadcast to the common shape; each array keeps its type."""
    found = functions.with_an_array("broadcast_arrays", *args)
    device = next(one.device for one in args if isinstance(one, Array))
    own = [operators.beside_each_other("broadcast_arrays", one, device=device)[0] for one in found]
    shape = arithmetic.broadcast_shape("broadcast_arrays", *(one.shape for one in own))
    return tuple(functions.broadcast_to(Array._of(one), shape) for one in own)


@implements(np.flip)
def flip(m: Array, axis: Any = None) -> Array:
    """Some dimensions reversed, all by default."""
    return Array._of(shaping.flip(m.value, axis))


@implements(np.flipud)
def flipud(m: Array) -> Array:
    """Reverse the rows."""
    return flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Array) -> Array:
    """Reverse the columns."""
    return flip(m, 1)


@implements(np.roll)
def roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """Move elements along dimensions, cyclically."""
    return functions.roll(a, shift, axis=axis)


@implements(np.repeat)
def repeat(a: Array, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element."""
    return functions.repeat(a, repeats, axis=axis)


@implements(np.tile)
def tile(A: Array, reps: Any) -> Array:
    """Repeat the array along its dimensions."""
    return functions.tile(A, reps)


@implements(np.diff)
def diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours."""
    return functions.diff(a, axis=axis, n=n, prepend=prepend, append=append)


@implements(np.diagonal)
def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """See `Array.diagonal`."""
    return a.diagonal(offset, axis1, axis2)


@implements(np.linalg.diagonal)
def linalg_diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """See `Array.diagonal`."""
    return x.diagonal(offset, -2, -1)


@implements(np.diag)
def diag(v: Array, k: int = 0) -> Array:
    """The diagonal of a matrix, or a matrix with this diagonal."""
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ShapeError(f"diag: v must have one or two dimensions, got shape {v.shape}")
    count = v.size + abs(k)
    line = np.arange(v.size)
    result = functions.full((count, count), 0, v.dtype.name, v.device)
    result[line + max(-k, 0), line + max(k, 0)] = v
    return result


@implements(np.tril)
def tril(m: Array, k: int = 0) -> Array:
    """Lower triangle."""
    return functions.triangle(m, False, k)


@implements(np.triu)
def triu(m: Array, k: int = 0) -> Array:
    """Upper triangle."""
    return functions.triangle(m, True, k)


@implements(np.copy)
def copy(a: Array) -> Array:
    """See `Array.copy`."""
    return a.copy()


@implements(np.astype)
def astype(x: Array, dtype: Any, /, *, copy: bool = True) -> Array:
    """See `Array.astype`."""
    return x.astype(dtype, copy=copy)


# -- joining and choosing ---------------------------------------------------------------------------------------------


@implements(np.concatenate)
def concatenate(arrays: Any, /, axis: int | None = 0) -> Array:
    """Join along a dimension."""
    return functions.concat(list(arrays), axis=axis)


@implements(np.stack)
def stack(arrays: Any, axis: int = 0) -> Array:
    """Join along a new dimension."""
    return functions.stack(list(arrays), axis=axis)


@implements(np.vstack)
def vstack(tup: Any) -> Array:
    """Join vertically."""
    return functions.concat(functions.raised(list(tup), 2), axis=0)


@implements(np.hstack)
def hstack(tup: Any) -> Array:
    """Join horizontally."""
    arrays = functions.raised(list(tup), 1)
    return functions.concat(arrays, axis=0 if arrays[0].ndim == 1 else 1)


@implements(np.column_stack)
def column_stack(tup: Any) -> Array:
    """Join horizontally, vectors as columns."""
    arrays = functions.raised(list(tup), 1)
    return functions.concat([one.reshape(-1, 1) if one.ndim < 2 else one for one in arrays], axis=1)


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Append elements; both arrays are flattened without an axis."""
    return functions.concat([arr, values], axis=axis)


@implements(np.array_split)
def array_split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split along a dimension, at indices or into parts of nearly equal length; they share the texture."""
    along = ary.swapaxes(0, axis)
    if np.ndim(indices_or_sections) == 0:
        count = integer("array_split", "sections", indices_or_sections)
        if count < 1:
            raise OptionError(f"array_split: sections must be at least 1, got {count}")
        longer = len(along) % count
        ends = np.cumsum([len(along) // count + (part < longer) for part in range(count)])[:-1].tolist()
    else:
        ends = list(indices_or_sections)
    return [along[first:end].swapaxes(0, axis) for first, end in zip([None, *ends], [*ends, None], strict=True)]


@implements(np.split)
def split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split along a dimension, at indices or into parts of equal length; they share the texture."""
    length = ary.swapaxes(0, axis).shape[0]
    if np.ndim(indices_or_sections) == 0 and length % max(indices_or_sections, 1):
        raise ShapeError(f"split: parts must have one length, got {length} elements for {indices_or_sections} parts")
    return array_split(ary, indices_or_sections, axis)


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition holds, else of y; without them, indices on the host."""
    if x is None and y is None:
        return np.nonzero(condition.numpy())
    if x is None or y is None:
        raise OptionError("where: x and y must be given both, or neither")
    return functions.where(condition, x, y)


@implements(np.nonzero)
def nonzero(a: Array) -> Any:
    """Indices, on the host, of elements that are not zero. Synchronises."""
    return np.nonzero(a.numpy())


@implements(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Clip elements to two bounds, which broadcast; each has two names."""
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise OptionError("clip: each bound must be given once; leave out a_min and a_max beside min and max")
    return functions.clip(a, a_min if min is None else min, a_max if max is None else max)


@implements(np.round, np.around)
def round_(a: Array, decimals: int = 0) -> Array:
    """See `Array.round`."""
    return a.round(decimals)


@implements(np.take)
def take(a: Array, indices: Any, axis: int | None = None) -> Array:
    """See `Array.take`."""
    return a.take(value_of(indices), axis)


@implements(np.take_along_axis)
def take_along_axis(arr: Array, indices: Any, axis: int = -1) -> Array:
    """Elements at indices along a dimension, for each line of the others."""
    beside = arr if isinstance(arr, Array) else indices
    (array,) = operators.beside_each_other("take_along_axis", value_of(arr), device=beside.device)
    return Array._of(shaping.take_along_axis(array, value_of(indices), axis))


@implements(np.sort)
def sort(a: Array, axis: int = -1, *, kind: Any = None, stable: Any = None) -> Array:
    """Elements sorted along a dimension; NaN last."""
    return Array._of(shaping.sort(a.value, axis, descending=False, numbers=False))


@implements(np.argsort)
def argsort(a: Array, axis: int = -1, *, kind: Any = None, stable: Any = None) -> Array:
    """Indices of the elements in sorted order, int32; the sort is stable."""
    return Array._of(shaping.sort(a.value, axis, descending=False, numbers=True))


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Insertion indices in a sorted vector."""
    return functions.searchsorted(a, v, side=side, sorter=sorter)


# -- making -----------------------------------------------------------------------------------------------------------


@implements(np.zeros_like)
def zeros_like(a: Array, dtype: Any = None, *, shape: Any = None) -> Array:
    """Make zeros of its shape, on its device."""
    return full_like(a, 0, dtype, shape=shape)


@implements(np.ones_like)
def ones_like(a: Array, dtype: Any = None, *, shape: Any = None) -> Array:
    """Make ones of its shape, on its device."""
    return full_like(a, 1, dtype, shape=shape)


@implements(np.empty_like)
def empty_like(prototype: Array, dtype: Any = None, *, shape: Any = None) -> Array:
    """Make zeros of its shape, on its device."""
    return full_like(prototype, 0, dtype, shape=shape)


@implements(np.full_like)
def full_like(a: Array, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """Make an array of one number, of its shape, on its device."""
    kind = functions.checked_dtype("full_like", dtype) or a.dtype.name
    return functions.full(a.shape if shape is None else shape, fill_value, kind, a.device)


# -- to the host ------------------------------------------------------------------------------------------------------


@implements(np.save)
def save(file: Any, arr: Array, allow_pickle: bool = True) -> None:
    """Write an array to a file. Synchronises."""
    np.save(file, arr.numpy(), allow_pickle=allow_pickle)


@implements(np.savez)
def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write arrays to a file. Synchronises."""
    given = {name: _on_host(one) for name, one in kwds.items()}
    np.savez(file, *map(_on_host, args), allow_pickle=allow_pickle, **given)


@implements(np.savez_compressed)
def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write arrays to a file. Synchronises."""
    given = {name: _on_host(one) for name, one in kwds.items()}
    np.savez_compressed(file, *map(_on_host, args), allow_pickle=allow_pickle, **given)


@implements(np.savetxt)
def savetxt(fname: Any, X: Array, *args: Any, **options: Any) -> None:
    """Write an array to a file as text. Synchronises."""
    np.savetxt(fname, X.numpy(), *args, **options)


def _on_host(value: Any) -> Any:
    return value.numpy() if isinstance(value, Array) else value


@implements(np.iscomplexobj)
def iscomplexobj(x: Array) -> bool:
    """False."""
    return False


@implements(np.isrealobj)
def isrealobj(x: Array) -> bool:
    """True."""
    return True


@implements(np.may_share_memory, np.shares_memory)
def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Whether both share a texture; a change of one never changes the other."""
    return isinstance(a, Array) and isinstance(b, Array) and a.value.stored is b.value.stored is not None


@implements(np.array_repr)
def array_repr(arr: Array) -> str:
    """Representation of an array."""
    return repr(arr)


@implements(np.array_str, np.array2string)
def array_str(a: Array) -> str:
    """Elements as text. Synchronises."""
    return np.array_str(a.numpy())


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """NumPy's rule, by the types alone."""
    return np.result_type(*(one.dtype if isinstance(one, Array) else one for one in arrays_and_dtypes))


@implements(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of three elements."""
    left, right = (Array._of(one) for one in functions.values("cross", x1, x2))
    a, b = (functions.unstack(functions.moveaxis(one, axis, 0)) for one in (left, right))
    if len(a) != 3 or len(b) != 3:
        raise ShapeError(f"cross: vectors must have three elements along axis {axis}, got {left.shape}, {right.shape}")
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return functions.stack(parts, axis=axis)


def filled(shape: Any, number: float, device: DeviceLike | None = None) -> Array:
    """Make a float32 array of equal elements.

    Examples
    --------
    >>> float(filled((2, 3), 7).sum())
    42.0
    """
    return functions.full(shape, number, "float32", device)
