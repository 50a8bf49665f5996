"""Functions of Arrays that are not methods, with the arguments that NumPy and the array API have in common.

`glla.interop.numpy` and `glla.interop.namespace` offer them under their own names.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Container, Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from glla import linalg
from glla.array import arithmetic, comparisons, layouts, operators, reductions, shaping
from glla.array.array import DTYPES, Array, asarray, value_of
from glla.array.convert import as_dtype, dtype_of
from glla.array.value import Resident, from_array
from glla.errors import DTypeError, OptionError, ShapeError, UnsupportedError, integer, real
from glla.gl import DeviceLike, named_device
from glla.operations.linear import create
from glla.passes import Plan


def values(function: str, *operands: Any) -> list[Resident]:
    """Return operands as values on the device of the first Array among them."""
    return operators.beside_each_other(function, *with_an_array(function, *operands))


def with_an_array(function: str, *operands: Any) -> list[Any]:
    """Replace Arrays by their values; at least one operand must be an Array."""
    if not any(isinstance(one, Array) for one in operands):
        kinds = ", ".join(type(one).__name__ for one in operands) or "nothing"
        raise DTypeError(f"{function}: needs an Array among its operands, got {kinds}; make one with asarray")
    return [value_of(one) for one in operands]


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: raise if an argument that it declares as an Array, the first or all of them, is none."""
    first = next(iter(inspect.signature(function).parameters.values()), None) if callable(function) else None
    if first is None or first.annotation != "Array":
        return function
    count = None if first.kind is first.VAR_POSITIONAL else 1

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for one in args[:count]:
            with_an_array(function.__name__, one)
        return function(*args, **options)

    return checked


def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """Elements of the first operand where the condition holds, else of the second."""
    choice = condition
    beside = next((one for one in (condition, x1, x2) if isinstance(one, Array)), None)
    if beside is None:
        values("where", condition, x1, x2)
    assert beside is not None
    if not isinstance(choice, Array):
        choice = Array._of(from_array(as_dtype("where", "condition", choice, "bool"), beside.device))
    one, other = operators.beside_each_other("where", *map(value_of, (x1, x2)), device=beside.device)
    return Array._of(arithmetic.where(choice.value, one, other))


def clip(x: Any, low: Any, high: Any) -> Any:
    """Elements between two bounds, which broadcast; None for no bound."""
    if isinstance(x, Array):
        return x.clip(low, high)
    result = x if low is None else np.maximum(x, low)
    return result if high is None else np.minimum(result, high)


# -- joining ----------------------------------------------------------------------------------------------------------


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Array:
    """Arrays joined along a dimension; flattened first if it is None."""
    return Array._of(shaping.concat("concat", values("concat", *arrays), axis))


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Array:
    """Arrays of one shape joined along a new dimension."""
    return Array._of(shaping.stack("stack", values("stack", *arrays), axis))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Slices along a dimension."""
    at = reductions.place("unstack", axis, x.ndim)
    return tuple(x[(*(slice(None),) * at, number)] for number in range(x.shape[at]))


def raised(arrays: Sequence[Any], ndim: int) -> list[Any]:
    """Arrays with at least as many dimensions, new ones in front, as `numpy.atleast_2d` has it."""
    found = [one if hasattr(one, "reshape") else np.asarray(one) for one in arrays]
    return [one if one.ndim >= ndim else one.reshape((1,) * (ndim - one.ndim) + one.shape) for one in found]


# -- moving -----------------------------------------------------------------------------------------------------------


def broadcast_to(x: Array, /, shape: Any) -> Array:
    """An array broadcast to a shape."""
    lengths = _lengths("broadcast_to", shape)
    return Array._of(arithmetic.broadcast(x.value, lengths))


def expand_dims(x: Array, /, axis: Any) -> Array:
    """Add dimensions of length 1."""
    return Array._of(shaping.expand_dims(x.value, axis))


def flip(x: Array, /, *, axis: Any = None) -> Array:
    """Some dimensions reversed, all by default."""
    return Array._of(shaping.flip(x.value, axis))


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Dimensions moved to other positions, the others in order."""
    start, end = (reductions.places("moveaxis", axes, x.ndim) for axes in (source, destination))
    if len(start) != len(end):
        raise OptionError(f"moveaxis: as many places as dimensions are needed, got {source!r} and {destination!r}")
    order = [axis for axis in range(x.ndim) if axis not in start]
    for to, axis in sorted(zip(end, start, strict=True)):
        order.insert(to, axis)
    return x.transpose(tuple(order)) if x.ndim else x.copy()


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Elements moved along dimensions, cyclically."""
    if axis is None:
        return roll(x.reshape(-1), shift, axis=0).reshape(x.shape)
    axes, shifts = (tuple(one) if isinstance(one, tuple | list) else (one,) for one in (axis, shift))
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ShapeError(f"roll: as many shifts as axes are needed, got {shift!r} and {axis!r}")
    result = x
    for by, one in zip(shifts, axes, strict=True):
        at = reductions.place("roll", one, x.ndim)
        places = integer("roll", "shift", by) % max(x.shape[at], 1)
        if places:
            result = Array._of(shaping.roll(result.value, places, at))
    return result.copy() if result is x else result


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element along a dimension several times."""
    if not isinstance(x, Array):  # then the repeats are an Array
        return np.repeat(x, np.asarray(repeats), axis)
    if axis is None:
        x, axis = x.reshape(-1), 0
    at = reductions.place("repeat", axis, x.ndim)
    counts = np.asarray(repeats)
    if counts.dtype.kind not in "iu" or counts.min(initial=0) < 0 or counts.ndim > 1:
        raise OptionError(f"repeat: repeats must be whole numbers, 0 or more, got {counts.dtype} {counts}")
    if counts.size not in (1, x.shape[at]):
        raise ShapeError(f"repeat: as many repeats as slices are needed, {x.shape[at]}, or one; got {counts.size}")
    return x.take(np.repeat(np.arange(x.shape[at]), counts), at)


def tile(x: Array, repetitions: Any, /) -> Array:
    """An array repeated along its dimensions."""
    times = tuple(
        integer("tile", "repetitions", one) for one in (repetitions if np.ndim(repetitions) else (repetitions,))
    )
    rank = max(len(times), x.ndim)
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - x.ndim) + x.shape
    apart = x.reshape([one for length in shape for one in (1, length)])
    spread = broadcast_to(apart, [one for pair in zip(times, shape, strict=True) for one in pair])
    return spread.reshape([count * length for count, length in zip(times, shape, strict=True)])


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along a dimension, n times."""
    at = reductions.place("diff", axis, x.ndim)
    if integer("diff", "n", n) < 0:
        raise OptionError(f"diff: n must be at least 0, got {n}")
    parts = [one for one in (prepend, x, append) if one is not None]
    result = concat(parts, axis=at) if len(parts) > 1 else x
    before = (slice(None),) * at
    for _ in range(n):
        later, sooner = result[(*before, slice(1, None))], result[(*before, slice(None, -1))]
        result = later != sooner if result.dtype == np.bool_ else later - sooner
    return result.copy() if result is x else result


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Insertion indices of numbers in a sorted vector; int32."""
    line, numbers = with_an_array("searchsorted", x1, x2)
    if side not in ("left", "right"):
        raise OptionError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if sorter is not None and isinstance(line, Resident):
        line = shaping.take(line, value_of(sorter), 0)
    elif sorter is not None:
        line = np.asarray(line)[shaping.host_places("searchsorted", sorter, len(line))]
    return Array._of(comparisons.search(line, numbers, side == "right"))


# -- making -----------------------------------------------------------------------------------------------------------


def full(shape: Any, number: Any, dtype: str | None = None, device: DeviceLike | None = None) -> Array:
    """Make an array of equal elements: one element is uploaded and broadcast by a view."""
    lengths = _lengths("full", shape)
    target = named_device("full", device)
    if isinstance(number, Array):
        kind, value = dtype or number.dtype.name, number.value
    else:
        kind = dtype or dtype_of("full", "fill_value", number)
        value = from_array(as_dtype("full", "fill_value", number, kind), target)
    return Array._of(arithmetic.broadcast(layouts.as_type(value, kind), lengths))


def _lengths(function: str, shape: Any) -> tuple[int, ...]:
    lengths = tuple(integer(function, "a length", one) for one in (shape if np.ndim(shape) else (shape,)))
    if any(length < 0 for length in lengths):
        raise ShapeError(f"{function}: lengths must be at least 0, got {lengths}")
    return lengths


def checked_dtype(function: str, dtype: Any) -> str | None:
    """Name of an Array's dtype for a given one; None for none. int64 becomes int32."""
    if dtype is None:
        return None
    name: str = np.dtype(dtype).name
    if name == "int64":
        return "int32"
    if name not in DTYPES:
        raise UnsupportedError(
            f"{function}: an Array is float32, int32 or bool, got dtype {name}; use NumPy for others"
        )
    return name


def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: str | None = None, device: DeviceLike | None = None
) -> Array:
    """Evenly spaced numbers from a start up to a stop, exclusive."""
    given = (0, start, step) if stop is None else (start, stop, step)
    first, last, by = (one.item() if hasattr(one, "item") else one for one in given)  # Python's, which do not wrap
    for name, one in (("start", first), ("stop", last), ("step", by)):
        _finite("arange", name, one)
    if by == 0:
        raise OptionError("arange: step must not be 0")
    whole = all(isinstance(one, int) for one in (first, last, by))
    count = max(0, -((first - last) // by) if whole else int(np.ceil((last - first) / by)))
    kind = dtype or ("int32" if whole else "float32")
    for one in (first, first + (count - 1) * by, by) if count else ():
        as_dtype("arange", "numbers", one, kind)
    return _made(lambda size: create.arange(first, by, count, kind, size), (count,), kind, device)


def _finite(function: str, name: str, value: Any) -> float:
    number = real(function, name, value)
    if not math.isfinite(number):
        raise OptionError(f"{function}: {name} must be finite, got {value!r}")
    return number


def linspace(
    start: Any, stop: Any, num: int, endpoint: bool = True, dtype: str | None = None, device: DeviceLike | None = None
) -> Array:
    """Given number of evenly spaced numbers from a start to a stop; integers are rounded down on the host."""
    count, kind = integer("linspace", "num", num), dtype or "float32"
    first, last = (_finite("linspace", name, one) for name, one in (("start", start), ("stop", stop)))
    if count < 0:
        raise OptionError(f"linspace: num must be at least 0, got {count}")
    for name, one in (("start", first), ("stop", last)):
        as_dtype("linspace", name, one, "float32")
    if kind != "float32":
        line = np.linspace(first, last, count, endpoint=endpoint)
        line = np.floor(line) if kind == "int32" else line
        return Array._of(from_array(as_dtype("linspace", "stop", line, kind), named_device("linspace", device)))
    return _made(lambda size: create.linspace(first, last, count, size, endpoint, kind), (count,), kind, device)


def eye(
    rows: int, columns: int | None = None, k: int = 0, dtype: str | None = None, device: DeviceLike | None = None
) -> Array:
    """A matrix with ones on a diagonal, the `k`-th to the right of the main one."""
    shape = (integer("eye", "rows", rows), integer("eye", "columns", rows if columns is None else columns))
    if min(shape) < 0:
        raise ShapeError(f"eye: rows and columns must be at least 0, got {shape[0]} and {shape[1]}")
    kind, diagonal = dtype or "float32", max(-shape[0], min(integer("eye", "k", k), shape[1]))
    return _made(lambda size: create.eye(shape, kind, size, diagonal), shape, kind, device)


def _made(plan: Callable[[int], Plan], shape: tuple[int, ...], dtype: str, device: DeviceLike | None) -> Array:
    target = named_device("array", device)
    if 0 in shape:
        return Array._of(from_array(np.empty(shape, dtype=dtype), target))
    texture = target.run(plan(target.limits.texture_size))["result"]
    return Array._of(layouts.best(Resident.wrapped(target, texture, shape, dtype)))


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Lower triangle of each matrix, up to a diagonal; zeros elsewhere."""
    return Array._of(shaping.triangle(x.value, False, integer("tril", "k", k)))


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Upper triangle of each matrix, from a diagonal on; zeros elsewhere."""
    return Array._of(shaping.triangle(x.value, True, integer("triu", "k", k)))


# -- products ---------------------------------------------------------------------------------------------------------


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Inner products of vectors along a dimension."""
    left, right = (Array._of(one) for one in values("vecdot", x1, x2))
    reductions.place("vecdot", axis, min(left.ndim, right.ndim))
    if left.shape[axis] != right.shape[axis]:
        raise ShapeError(f"vecdot: the axis must have one length in both, got shapes {left.shape} and {right.shape}")
    rows = moveaxis(left, axis, -1).reshape((*moveaxis(left, axis, -1).shape[:-1], 1, left.shape[axis]))
    turned = moveaxis(right, axis, -1)
    product: Array = rows @ turned.reshape((*turned.shape, 1))
    return product.reshape(product.shape[:-2])


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Array:
    """Sums of products over pairs of dimensions: one product of matrices."""
    left, right = (Array._of(one) for one in values("tensordot", x1, x2))
    if isinstance(axes, int | np.integer):
        pairs: Any = (range(left.ndim - int(axes), left.ndim), range(int(axes)))
    else:
        pairs = [one if np.ndim(one) else (one,) for one in axes]
    over = [reductions.places("tensordot", tuple(one), x.ndim) for one, x in zip(pairs, (left, right), strict=True)]
    if [left.shape[axis] for axis in over[0]] != [right.shape[axis] for axis in over[1]]:
        raise ShapeError(
            f"tensordot: dimensions that are summed over must agree, got {left.shape} and {right.shape}, axes {axes!r}"
        )
    names: list[int] = [*range(-right.ndim, 0)]
    for one, other in zip(*over, strict=True):
        names[other] = one
    return contraction(left, range(left.ndim), right, names, ())[0]


def contraction(
    a: Array, left: Sequence[Any], b: Array, right: Sequence[Any], kept: Container[Any]
) -> tuple[Array, list[Any]]:
    """Multiply arrays with named dimensions; return the product and its names.

    Names of both are summed over, as one product of matrices; those of them that are kept come first.
    """
    size = dict(zip((*left, *right), (*a.shape, *b.shape), strict=True))
    both = [name for name in left if name in right]
    batch, summed = ([name for name in both if (name in kept) is wanted] for wanted in (True, False))
    rows, columns = ([name for name in names if name not in both] for names in (left, right))

    def lengths(names: Sequence[Any]) -> list[int]:
        return [size[name] for name in names]

    a = a.transpose([left.index(name) for name in (*batch, *rows, *summed)])
    b = b.transpose([right.index(name) for name in (*batch, *summed, *columns)])
    if summed:
        height, inner, width = (prod(lengths(names)) for names in (rows, summed, columns))
        product = a.reshape([*lengths(batch), height, inner]) @ b.reshape([*lengths(batch), inner, width])
    else:
        product = a.reshape([*a.shape, *[1] * len(columns)]) * b.reshape(
            lengths(batch) + [1] * len(rows) + lengths(columns)
        )
    names = [*batch, *rows, *columns]
    return product.reshape(lengths(names)), names


def outer(x1: Any, x2: Any, /) -> Array:
    """Outer product of two vectors."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ShapeError(f"outer: x1 and x2 must be vectors, got shapes {np.shape(x1)} and {np.shape(x2)}")
    return outer_of_all(x1, x2)


def outer_of_all(a: Any, b: Any) -> Array:
    """Products of all elements of two arrays, flattened to vectors."""
    left, right = (Array._of(one) for one in values("outer", a, b))
    return left.reshape(-1, 1) * right.reshape(1, -1)


def matmul(x1: Any, x2: Any, /) -> Array:
    """Product of matrices, vectors or batches."""
    left, right = values("matmul", x1, x2)
    return Array._of(arithmetic.product("matmul", left, right))


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of three elements."""
    left, right = (Array._of(one) for one in values("cross", x1, x2))
    a, b = (unstack(moveaxis(one, axis, 0)) for one in (left, right))
    if len(a) != 3 or len(b) != 3:
        raise ShapeError(f"cross: vectors must have three elements along axis {axis}, got {left.shape}, {right.shape}")
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return stack(parts, axis=axis)


def matrix_power(x: Any, n: Any, /) -> Array:
    """Raise square matrices to an integer power: by squaring, of their inverses if n is negative.

    Synchronises only for n < 0. At most 2 log2(n) products.
    `x`: a square matrix, or a batch of them. `n`: any integer; 0 gives the identity.
    """
    matrix = asarray(x)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ShapeError(f"matrix_power: A must be square, got shape {matrix.shape}")
    exponent = integer("matrix_power", "n", n)
    if matrix.size == 0:
        return matrix.copy()
    if exponent == 0:
        one = eye(matrix.shape[-1], dtype=matrix.dtype.name, device=matrix.device)
        return broadcast_to(one, matrix.shape)
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


# -- batches of matrices ----------------------------------------------------------------------------------------------


def matrix_transpose(x: Array, /) -> Array:
    """Transpose of each matrix of a batch."""
    return x.mT


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Diagonal of each matrix of a batch."""
    return x.diagonal(offset, -2, -1)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum of the diagonal of each matrix of a batch."""
    return diagonal(x, offset=offset).sum(-1, dtype=checked_dtype("trace", dtype))


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norm of each matrix of a batch: 'fro', 1, -1, inf, -inf, or 2, -2 and 'nuc' by singular values."""
    return x.norm(ord, (-2, -1), keepdims=keepdims)


# -- reductions -------------------------------------------------------------------------------------------------------


def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norm of all elements as one vector, or of vectors along dimensions."""
    return x.vector_norm(ord, axis, keepdims=keepdims)


def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Number of elements that are not zero, as int32."""
    return x._reduced("count_nonzero", axis, keepdims)
