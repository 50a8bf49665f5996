"""One place where a call is handed over to an operand that wants to do it itself.

A class that stands above `glla.linalg`, such as a result that is not computed yet, gives itself a static or class
method ``__glla_function__(name, function, args, kwargs)``. A public function of glla that finds such an operand among
its arguments calls that method in place of itself, and the operators of a `Matrix` return NotImplemented beside one, so
that its reflected operator runs. It is what NumPy's ``__array_function__`` is to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def overrides(operand: object) -> Callable[..., Any] | None:
    """Give the ``__glla_function__`` of an operand, None for those that have none (arrays, matrices, numbers).

    Examples
    --------
    >>> overrides(1.0) is None
    True
    """
    return getattr(type(operand), "__glla_function__", None)


def delegating(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a public function hand its call to the first operand that overrides it.

    Operands are the arguments, and the members of an argument that is a tuple (such as ``(lu, piv)``). The override
    gets the function's name, the function itself without this decoration, and the arguments as they came.

    Examples
    --------
    >>> class Pending:
    ...     @staticmethod
    ...     def __glla_function__(name, function, args, kwargs):
    ...         return f"{name} later"
    >>> @delegating
    ... def double(a):
    ...     return 2 * a
    >>> double(4), double(Pending())
    (8, 'double later')
    """

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for argument in (*args, *kwargs.values()):
            for operand in argument if isinstance(argument, tuple) else (argument,):
                override = overrides(operand)
                if override is not None:
                    result: Result = override(function.__name__, function, args, kwargs)
                    return result
        return function(*args, **kwargs)

    return call
