"""Conversion of user arguments to arrays that a device can take; and messages about unfit values.

This module knows no device memory: `glla.array.value` uploads the arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import DTypeError, NonFiniteError, ShapeError
from glla.gl import Device, DeviceLike, named_device
from glla.operations.record import Float32 as Float32

LARGEST = float(np.finfo(np.float32).max)
"""Largest finite float32, about 3.4e38."""

RANK = {"bool": 0, "int32": 1, "float32": 2}
"""Order of the types: of two, the later one holds the result."""


def promoted(*dtypes: str) -> str:
    """Type that holds the elements of all types.

    >>> promoted("int32", "bool"), promoted("int32", "float32")
    ('int32', 'float32')
    """
    return max(dtypes, key=RANK.__getitem__)


def dtype_of(function: str, name: str, value: Any) -> str:
    """Default type of a host value on a device: bool, int32 for integers of any width, else float32.

    >>> dtype_of("doc", "a", 2**70), dtype_of("doc", "a", True), dtype_of("doc", "a", [0.5])
    ('int32', 'bool', 'float32')
    """
    kind = "i" if type(value) is int else as_real(function, name, value).dtype.kind
    return {"b": "bool", "i": "int32", "u": "int32"}.get(kind, "float32")


def as_dtype(function: str, name: str, value: Any, dtype: str) -> NDArray[Any]:
    """Convert an array_like to a device's type, as NumPy's assignment does: a float is truncated to an int32.

    Raises DTypeError: not real numbers; or a number outside int32, as NaN and infinity are. Raises NonFiniteError: a
    finite number does not fit float32. Raises ShapeError: nested sequences of unequal length.

    >>> as_dtype("doc", "a", [1.5, -2.5], "int32")
    array([ 1, -2], dtype=int32)
    """
    if type(value) is int and not -(2**63) <= value < 2**63:  # NumPy makes objects of such
        value = _as_float(function, name, value)
    if dtype == "float32":
        return within_float32(function, name, value)
    array = as_real(function, name, value)
    if dtype == "int32" and not np.can_cast(array.dtype, np.int32):
        bound = np.float64(2**31)  # a wide type, so that float16 is compared in it
        fits = (array > -bound - 1) & (array < bound)
        if not fits.all():
            raise DTypeError(
                f"{function}: {name} must fit int32, got {array[~fits].flat[0]}; take float32, for example by astype"
            )
    return array.astype(dtype, copy=False)


def _as_float(function: str, name: str, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _too_large(function, name, f"an integer of {value.bit_length()} bits") from None


def as_float32(function: str, name: str, value: Any, check_finite: bool = True) -> Float32:
    """Convert an array_like to float32, or raise with the reason.

    The array itself if it is float32 in native byte order.
    `function`, `name`: for the messages: the public function, and the operand's name in it. `value`: bool, integer or
    float of any width, order and strides. `check_finite`: refuse NaN and infinity.
    Raises DTypeError: complex, object, text, dates. Raises NonFiniteError: NaN or infinity in the input; or a finite
    value that float32 cannot hold. Raises ShapeError: nested sequences of unequal length.

    >>> as_float32("doc", "a", [[1, 2]]).dtype
    dtype('float32')
    """
    array = as_real(function, name, value)
    result = float32_of(array)
    if check_finite and not all_finite(result):
        refuse_nonfinite(function, name, array)
        raise _too_large(function, name, _first_bad(result, array))
    return result


def within_float32(function: str, name: str, value: Any) -> Float32:
    """Convert like `as_float32`, but accept NaN and infinity in the input.

    >>> within_float32("doc", "a", [np.inf, 1])
    array([inf,  1.], dtype=float32)
    """
    array = as_real(function, name, value)
    result = float32_of(array)
    if result is not array and not all_finite(result):
        new = np.isinf(result) & np.isfinite(array)
        if new.any():
            raise _too_large(function, name, array[new].flat[0])
    return result


def _too_large(function: str, name: str, found: object) -> NonFiniteError:
    return NonFiniteError(f"{function}: {name} must fit float32 (largest {LARGEST:.4g}), got {found}; scale it")


def float32_of(array: NDArray[Any]) -> Float32:
    """Round to float32; numbers beyond its range become infinite.

    >>> float32_of(np.array([0.5, 1e300]))
    array([0.5, inf], dtype=float32)
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return array.astype(np.float32, copy=False)


def as_real(function: str, name: str, value: Any) -> NDArray[Any]:
    """Convert an array_like to an array of real numbers, in its own precision.

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
    if "numpy.ma" in sys.modules and np.ma.is_masked(value):  # to import it takes 6 ms
        raise DTypeError(f"{function}: {name} must have no masked entries, got a masked array; pass its filled()")
    return array


def _unfit(name: str, value: Any, array: NDArray[Any]) -> str:
    """Describe a value that has no real numbers, with a remedy."""
    if array.dtype.kind == "c":
        return f"dtype {array.dtype}; pass its real and imaginary parts by themselves"
    if array.dtype.kind != "O":
        return f"dtype {array.dtype}; convert it first"
    if isinstance(value, int):
        return "an int beyond 64 bits; make a float of it"
    if array.ndim == 0:
        return f"{_kind(value)}{', ' if isinstance(value, Set) else '; '}{_remedy(name, value)}"
    strange = ((place, entry) for place, entry in np.ndenumerate(array) if not isinstance(entry, Number))
    place, entry = next(strange, (None, None))
    found = "" if place is None else f", with {_kind(entry)} at {place}"
    return f"dtype object{found}; convert it first"


def _kind(value: Any) -> str:
    """Name the type of a value that is not a number: "a dict"."""
    if value is None:
        return "None"
    name = f"{'sparse ' if hasattr(value, 'toarray') else ''}{type(value).__name__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _remedy(name: str, value: Any) -> str:
    """Suggest an argument in place of a value that NumPy takes for an object."""
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
    """Whether an option is one of some names; a value that is not a string is not."""
    return isinstance(value, str) and value in names


def checked_device(function: str, device: DeviceLike | None) -> Device | None:
    """Return the device that the argument ``device`` of a public function means; None stays None.

    Raises OptionError, ContextError: see `glla.gl.named_device`.
    """
    return None if device is None else named_device(function, device)


def refuse_nonfinite(function: str, name: str, array: NDArray[Any]) -> None:
    """Raise if an array holds NaN or infinity."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise NonFiniteError(
            f"{function}: {name} must not hold NaN or infinity, got {_first_bad(array)}; "
            "clean it, or pass check_finite=False to let it through"
        )


FINITE_AT_ONCE = 2**20
"""Bytes of an array that are looked at together: it may be mapped from a file, and larger than the host's memory."""


def all_finite(array: Float32) -> bool:
    """Whether all entries are finite.

    >>> [all_finite(np.array([3e38, last], dtype=np.float32)) for last in (3e38, np.inf, np.nan)]
    [True, False, False]
    """
    if array.nbytes > FINITE_AT_ONCE:
        return all(np.isfinite(part).all() for part in np.array_split(array, array.nbytes // FINITE_AT_ONCE))
    return bool(np.isfinite(array).all())


def finite_result(function: str, result: Float32, check_finite: bool) -> Float32:
    """Return a result, or raise NonFiniteError if it left the range of float32."""
    if check_finite and not all_finite(result):
        raise NonFiniteError(
            f"{function}: the result does not fit float32 (largest {LARGEST:.4g}); scale the operands, "
            "or pass check_finite=False to get the infinities"
        )
    return result


def _first_bad(array: NDArray[Any], shown: NDArray[Any] | None = None) -> str:
    """Describe the first entry that is not finite, with its index; its value is taken from `shown`."""
    where = np.argwhere(~np.isfinite(array))[0]
    position = tuple(int(i) for i in where)
    return f"{(array if shown is None else shown)[position]!s} at {position}"
