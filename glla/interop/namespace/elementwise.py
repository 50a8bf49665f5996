"""Element-wise functions of the array API, with broadcasting. None of them synchronises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glla.array import arithmetic, operators
from glla.array.array import Array
from glla.interop import functions
from glla.operations.linear.elementwise import PAIR, SINGLE

NAMES = {"abs": "absolute", "round": "rint", "pow": "power", "bitwise_invert": "bitwise_invert"}
"""Functions that have another name in `glla.operations.linear.elementwise`."""

ONE = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "cos", "cosh", "exp", "expm1",
    "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "negative", "positive",
    "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions of one operand."""

TWO = (
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal",
    "logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter",
    "not_equal", "pow", "remainder", "subtract",
)  # fmt: skip
"""Functions of two operands, one of which may be a number."""


def _unary(name: str) -> Callable[[Array], Array]:
    own = NAMES.get(name, name)
    assert own in SINGLE, own

    def function(x: Array, /) -> Array:
        (value,) = functions.values(name, x)
        return Array._of(arithmetic.unary(own, value))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}`, element by element."
    return function


def _binary(name: str) -> Callable[[Any, Any], Array]:
    own = NAMES.get(name, name)
    assert own in PAIR, own

    def function(x1: Any, x2: Any, /) -> Array:
        return Array._of(operators.apply(own, *functions.with_an_array(name, x1, x2)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}`, element by element."
    return function


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Elements between two bounds, in the type of x; None for no bound."""
    functions.values("clip", x)
    result: Array = functions.clip(x, min, max)
    return result.astype(x.dtype, copy=False)


def real(x: Array, /) -> Array:
    """The real part: itself."""
    return x.copy()


def conj(x: Array, /) -> Array:
    """The conjugate: itself."""
    return x.copy()


globals().update({name: _unary(name) for name in ONE})
globals().update({name: _binary(name) for name in TWO})

__all__ = [*ONE, *TWO, "clip", "conj", "real"]  # the names above
