"""NumPy's functions on a `glla.Array`: implementations for calls such as `numpy.linalg.solve` on the device.

NumPy passes a call with an Array among its arguments to ``Array.__array_function__`` (NEP 18), which asks here for an
`implementation`. A function without one raises `glla.errors.UnsupportedError`, a TypeError; nothing is silently copied
to the host. Universal functions (`numpy.add`, `numpy.matmul`, ...) go through ``Array.__array_ufunc__`` (NEP 13).

A public function that names its counterpart in NumPy (see `glla.registry.public`) needs nothing here. Functions whose
arguments differ from NumPy's are written out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable
from functools import reduce
from math import prod
from typing import Any, TypeVar

import numpy as np

from glla import lazily, linalg, registry
from glla.array import arithmetic, comparisons, operators, reductions, shaping
from glla.array.array import Array, value_of
from glla.errors import OptionError, ShapeError, UnsupportedError, integer
from glla.interop import functions

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Implementations that are written out, by NumPy's functions; `implements` fills it."""


Function = TypeVar("Function", bound=Callable[..., Any])


def implements(*numpys: Any) -> Callable[[Function], Function]:
    """Register an implementation of functions of NumPy for Arrays; options that it lacks are refused in its name."""

    def register(implementation: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(numpys, implementation))
        return implementation

    return register


def implementation(function: Any) -> Callable[..., Any] | None:
    """Find the implementation of one of NumPy's functions: one that is written out, else a public function of glla."""
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    return next((public.function for public in tuple(registry.PUBLIC.values()) if public.implements(function)), None)


lazily.load(linalg)
registry.announce("numpy", implementation)


def method(name: str) -> Callable[..., Any]:
    """Implementation by the method of an Array that takes the same arguments."""
    own = getattr(Array, name)

    def implementation(a: Array, *args: Any, **options: Any) -> Any:
        return own(a, *args, **options)

    signature = inspect.signature(own)
    _, *others = signature.parameters.values()
    first = inspect.Parameter("a", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Array")
    implementation.__signature__ = signature.replace(parameters=[first, *others])  # type: ignore[attr-defined]
    implementation.__name__, implementation.__doc__ = name, f"See `Array.{name}`."
    return implementation


for _name in (
    "all", "any", "argmax", "argmin", "astype", "copy", "cumsum", "diagonal", "max", "mean", "min", "prod", "ravel",
    "round", "squeeze", "sum", "swapaxes", "take", "trace",
):  # fmt: skip
    implements(getattr(np, _name))(method(_name))
implements(np.amax)(method("max"))
implements(np.amin)(method("min"))
implements(np.around)(method("round"))
implements(np.linalg.norm)(method("norm"))

for _name in (
    "broadcast_to", "count_nonzero", "diff", "expand_dims", "flip", "moveaxis", "repeat", "roll",
    "searchsorted", "stack", "tensordot", "tile", "tril", "triu", "unstack",
):  # fmt: skip
    implements(getattr(np, _name))(getattr(functions, _name))
for _name in (
    "cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "outer", "tensordot", "trace",
    "vecdot", "vector_norm",
):  # fmt: skip
    implements(getattr(np.linalg, _name))(getattr(functions, _name))
implements(np.matrix_transpose)(functions.matrix_transpose)
implements(np.outer)(functions.outer_of_all)

# -- products -------------------------------------------------------------------------------------------------------


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    """See `Array.dot`."""
    left, right = (Array._of(one) for one in functions.values("dot", a, b))
    return left.dot(right)


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


# -- reductions -----------------------------------------------------------------------------------------------------


def _spread(name: str) -> Callable[..., Any]:
    def spread(
        a: Array, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
    ) -> Any:
        return getattr(a, name)(axis, ddof=ddof if correction is None else correction, keepdims=keepdims)

    return spread


implements(np.var)(_spread("var"))
implements(np.std)(_spread("std"))


@implements(np.cumprod)
def cumprod(a: Array, axis: int | None = None) -> Array:
    """Cumulative products."""
    return Array._of(reductions.cumulative("prod", a.value, axis))


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


implements(np.shape)(lambda a: a.shape)
implements(np.ndim)(lambda a: a.ndim)


@implements(np.size)
def size(a: Array, axis: Any = None) -> int:
    """Number of elements, or the length of dimensions."""
    return int(np.prod([a.shape[one] for one in reductions.places("size", axis, a.ndim)], dtype=np.int64))


@implements(np.transpose)
def transpose(a: Array, axes: Any = None) -> Array:
    """Permute the dimensions; reverse them by default."""
    return a.transpose() if axes is None else a.transpose(axes)


@implements(np.reshape)
def reshape(a: Array, /, shape: Any) -> Array:
    """Change the shape, in C order."""
    return a.reshape(shape)


def _at_least(ndim: int) -> Callable[..., Any]:
    def at_least(*arrays: Any) -> Any:
        """Add dimensions in front."""
        found = functions.raised(arrays, ndim)
        return found[0] if len(found) == 1 else tuple(found)

    return at_least


implements(np.atleast_1d)(_at_least(1))
implements(np.atleast_2d)(_at_least(2))


@implements(np.atleast_3d)
def atleast_3d(*arrays: Any) -> Any:
    """Add dimensions up to three; those of a matrix come first."""
    found = [
        one if one.ndim > 2 else one.reshape((1,) * (one.ndim < 2) + one.shape + (1,))
        for one in functions.raised(arrays, 1)
    ]
    return found[0] if len(found) == 1 else tuple(found)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """Broadcast to the common shape; each array keeps its type."""
    found = functions.with_an_array("broadcast_arrays", *args)
    device = next(one.device for one in args if isinstance(one, Array))
    own = [operators.beside_each_other("broadcast_arrays", one, device=device)[0] for one in found]
    shape = arithmetic.broadcast_shape("broadcast_arrays", *(one.shape for one in own))
    return tuple(functions.broadcast_to(Array._of(one), shape) for one in own)


implements(np.flipud)(lambda m: functions.flip(m, axis=0))
implements(np.fliplr)(lambda m: functions.flip(m, axis=1))


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


# -- joining and choosing ---------------------------------------------------------------------------------------------


@implements(np.concatenate)
def concatenate(arrays: Any, /, axis: int | None = 0) -> Array:
    """Join along a dimension."""
    return functions.concat(list(arrays), axis=axis)


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


# -- making -----------------------------------------------------------------------------------------------------------


def _like(number: int) -> Callable[..., Array]:
    def like(a: Array, dtype: Any = None, *, shape: Any = None) -> Array:
        """Make an array of one number of its shape, on its device."""
        return full_like(a, number, dtype, shape=shape)

    return like


implements(np.zeros_like, np.empty_like)(_like(0))
implements(np.ones_like)(_like(1))


@implements(np.full_like)
def full_like(a: Array, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """Make an array of one number, of its shape, on its device."""
    kind = functions.checked_dtype("full_like", dtype) or a.dtype.name
    return functions.full(a.shape if shape is None else shape, fill_value, kind, a.device)


# -- to the host ------------------------------------------------------------------------------------------------------


def _saving(save: Callable[..., None]) -> Callable[..., None]:
    def saved(file: Any, *args: Any, **options: Any) -> None:
        """Write arrays to a file. Synchronises."""
        save(file, *map(_on_host, args), **{name: _on_host(one) for name, one in options.items()})

    return saved


for _save in (np.save, np.savetxt, np.savez, np.savez_compressed):
    implements(_save)(_saving(_save))


def _on_host(value: Any) -> Any:
    return value.numpy() if isinstance(value, Array) else value


implements(np.iscomplexobj)(lambda x: False)
implements(np.isrealobj)(lambda x: True)
implements(np.array_repr)(lambda arr: repr(arr))
implements(np.array_str, np.array2string)(lambda a: np.array_str(a.numpy()))


@implements(np.may_share_memory, np.shares_memory)
def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Whether both share a texture; a change of one never changes the other."""
    return isinstance(a, Array) and isinstance(b, Array) and a.value.stored is b.value.stored is not None


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """NumPy's rule, by the types alone."""
    return np.result_type(*(one.dtype if isinstance(one, Array) else one for one in arrays_and_dtypes))


# -- from functions above ---------------------------------------------------------------------------------------------


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any) -> Any:
    """Product of several matrices, from the left."""
    if len(arrays) < 2:
        raise OptionError(f"multi_dot: two matrices at least are needed, got {len(arrays)}")
    first, *inner, last = shapes = [np.shape(one) for one in arrays]
    if not {len(first), len(last)} <= {1, 2} or any(len(one) != 2 for one in inner):
        raise ShapeError(f"multi_dot: all must be matrices, the first and the last vectors or matrices, got {shapes}")
    return reduce(np.matmul, arrays)


@implements(np.einsum)
def einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products, operand by operand from the left: an index that the result lacks is summed over.

    One operand is transposed, summed, or reduced to a diagonal: ``ij->ji``, ``ij->i``, ``ii->i``, ``ii``.
    """
    if not isinstance(subscripts, str) or "." in subscripts:
        given = repr(subscripts) if isinstance(subscripts, str) else type(subscripts).__name__
        raise UnsupportedError(f"einsum: indices are letters in a string, got {given}; use A.numpy()")
    inputs, arrow, kept = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        kept = "".join(sorted(index for index in inputs if inputs.count(index) == 1 and index != ","))
    if not f"{inputs}{kept}i".replace(",", "").isalpha() or len({*kept}) < len(kept) or not {*kept} <= {*inputs}:
        raise OptionError(f"einsum: the result has letters of the operands, each once: ij,jk->ik; got {subscripts!r}")
    arrays = [Array._of(one) for one in functions.values("einsum", *operands)]
    if [len(term) for term in terms] != [one.ndim for one in arrays]:
        raise ShapeError(f"einsum: {subscripts!r} needs as many dimensions, got {[one.shape for one in arrays]}")
    size: dict[str, int] = {}
    for index, length in zip("".join(terms), (length for one in arrays for length in one.shape), strict=True):
        if size.setdefault(index, length) != length:
            raise ShapeError(f"einsum: index {index} has lengths {size[index]} and {length} in {subscripts!r}")
    later = [kept + "".join(terms[number:]) for number in range(1, len(terms) + 1)]
    result, names = _summed(arrays[0], terms[0], later[0])
    for array, term, needed in zip(arrays[1:], terms[1:], later[1:], strict=True):
        right = _summed(array, term, [*needed, *names])
        result, names = functions.contraction(*_summed(result, names, [*needed, *term]), *right, needed)
    return result.transpose([names.index(index) for index in kept])


def _summed(array: Array, indices: Iterable[str], needed: Container[str]) -> tuple[Array, list[str]]:
    """Take diagonals of indices that are repeated, and sum over those that are not needed."""
    names, kind = list(indices), array.dtype
    for index in sorted({*names}):
        while names.count(index) > 1:
            one, other = [place for place, name in enumerate(names) if name == index][:2]
            array = array.diagonal(0, one, other)
            names = [*names[:one], *names[one + 1 : other], *names[other + 1 :], index]
    axes = tuple(place for place, index in enumerate(names) if index not in needed)
    return array.sum(axes).astype(kind) if axes else array, [index for index in names if index in needed]


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Kronecker product."""
    left, right = functions.raised((a, b), max(np.ndim(a), np.ndim(b)))
    places = np.arange(left.ndim)
    product = np.expand_dims(left, tuple(2 * places + 1)) * np.expand_dims(right, tuple(2 * places))
    return product.reshape([m * n for m, n in zip(left.shape, right.shape, strict=True)])


@implements(np.quantile)
def quantile(a: Array, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Quantiles of all elements or along dimensions, between two neighbours by linear interpolation."""
    parts = np.asarray(q, dtype=np.float64)
    if not ((parts >= 0) & (parts <= 1)).all():
        raise OptionError(f"quantile: q must be from 0 to 1, got {q!r}")
    axes = reductions.places("quantile", axis, a.ndim)
    others = [place for place in range(a.ndim) if place not in axes]
    shape = [a.shape[place] for place in others]
    count = prod(a.shape[place] for place in axes)
    if count == 0:
        raise ShapeError(f"quantile: an empty dimension has none, got shape {a.shape}")
    ordered = np.sort((a.transpose([*others, *axes]) if a.ndim else a).reshape([*shape, count]))
    places = parts.reshape(-1) * (count - 1)
    below, above = (ordered.take(rounded(places).astype(int), axis=-1) for rounded in (np.floor, np.ceil))
    between = np.where(below == above, below, below + (above - below) * (places % 1))  # infinities less themselves: NaN
    found, last = np.moveaxis(between, -1, 0), ordered[..., -1]
    found = np.where(np.isnan(last), last, found)  # NaN is sorted to the end
    return found.reshape(parts.shape + (reductions.kept(a.shape, axes) if keepdims else tuple(shape)))


@implements(np.median)
def median(a: Array, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Medians, see `quantile`."""
    return quantile(a, 0.5, axis, keepdims=keepdims)


@implements(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Any:
    """Covariances of rows, or of columns."""
    given = [one for one in (m, y) if one is not None]
    if max(map(np.ndim, given)) > 2:
        raise ShapeError(f"cov: takes two dimensions at most, got {[np.shape(one) for one in given]}")
    parts = zip(functions.raised(given, 2), given, strict=True)
    x = functions.concat([one if rowvar or np.ndim(of) < 2 else one.T for one, of in parts], axis=0)
    x = x - x.mean(axis=1, keepdims=True)
    return (x @ x.T / max(x.shape[1] - (1 - bias if ddof is None else ddof), 0)).squeeze()


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Correlations of rows, or of columns."""
    c = np.atleast_2d(cov(x, y, rowvar))
    spread = np.sqrt(c.diagonal())
    return np.clip(c / spread / spread[:, np.newaxis], -1, 1).squeeze()
