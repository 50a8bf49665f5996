"""Element-wise functions of the array API, with broadcasting. Those that give bool synchronise, see `glla.Matrix`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glla.array.array import Matrix
from glla.errors import DTypeError


def _checked(function: str, *values: Any) -> None:
    if not any(isinstance(value, Matrix) for value in values):
        kinds = ", ".join(type(value).__name__ for value in values)
        raise DTypeError(f"{function}: needs a Matrix among its operands, got {kinds}; make one with asarray")


def _unary(name: str, ufunc: np.ufunc, summary: str) -> Callable[[Matrix], Any]:
    def function(x: Matrix, /) -> Any:
        _checked(name, x)
        return ufunc(x)

    function.__name__, function.__qualname__, function.__doc__ = name, name, summary
    return function


def _binary(name: str, ufunc: np.ufunc, summary: str) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any, /) -> Any:
        _checked(name, x1, x2)
        return ufunc(x1, x2)

    function.__name__, function.__qualname__, function.__doc__ = name, name, summary
    return function


abs = _unary("abs", np.absolute, "Magnitude.")
ceil = _unary("ceil", np.ceil, "Smallest whole number that is not below.")
exp = _unary("exp", np.exp, "Exponential.")
floor = _unary("floor", np.floor, "Largest whole number that is not above.")
isfinite = _unary("isfinite", np.isfinite, "Whether it is neither NaN nor infinite, on the host.")
isinf = _unary("isinf", np.isinf, "Whether it is infinite, on the host.")
isnan = _unary("isnan", np.isnan, "Whether it is NaN, on the host.")
log = _unary("log", np.log, "Natural logarithm.")
negative = _unary("negative", np.negative, "Its opposite.")
positive = _unary("positive", np.positive, "Itself, copied.")
round = _unary("round", np.rint, "Nearest whole number, the even one of two.")
sign = _unary("sign", np.sign, "-1, 0 or 1; NaN of NaN.")
sqrt = _unary("sqrt", np.sqrt, "Square root; NaN of what is negative.")
square = _unary("square", np.square, "Square.")
trunc = _unary("trunc", np.trunc, "Whole number next to it, towards zero.")

add = _binary("add", np.add, "Sum.")
divide = _binary("divide", np.divide, "Quotient.")
equal = _binary("equal", np.equal, "Whether they are equal, on the host.")
greater = _binary("greater", np.greater, "Whether the first is greater, on the host.")
greater_equal = _binary("greater_equal", np.greater_equal, "Whether the first is not less, on the host.")
less = _binary("less", np.less, "Whether the first is less, on the host.")
less_equal = _binary("less_equal", np.less_equal, "Whether the first is not greater, on the host.")
maximum = _binary("maximum", np.maximum, "Larger of two; NaN if one is.")
minimum = _binary("minimum", np.minimum, "Smaller of two; NaN if one is.")
multiply = _binary("multiply", np.multiply, "Product, element by element.")
not_equal = _binary("not_equal", np.not_equal, "Whether they differ, on the host.")
pow = _binary("pow", np.power, "Power.")
subtract = _binary("subtract", np.subtract, "Difference.")


def reciprocal(x: Matrix, /) -> Any:
    """Reciprocal."""
    _checked("reciprocal", x)
    return 1 / x


def clip(x: Matrix, /, min: Any = None, max: Any = None) -> Any:
    """Keep elements between two bounds."""
    _checked("clip", x)
    return np.clip(x, min, max)
