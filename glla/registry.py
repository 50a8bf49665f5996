"""Registration from rooms above for rooms below, which cannot import them; and the list of public functions.

* A room above registers a function under a name, a room below requests it by that name: `announce`, `announced`.
* A class of a room above can override public functions for its instances: `delegating`, `overrides`.
* A public function is added to NumPy, the array API and the coprocessor by its decorator: `public`, `PUBLIC`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from operator import attrgetter
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from glla.errors import GllaError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Given = TypeVar("Given", covariant=True)

# -- announcements ----------------------------------------------------------------------------------------------------

ANNOUNCEMENTS = {
    "matrix": "glla.array.array",
    "loop": "glla.array.loops",
    "numpy": "glla.interop.numpy",
    "namespace": "glla.interop.namespace",
    "text of a plan": "glla.display.table",
    "html of a plan": "glla.display.html",
    "player of a plan": "glla.web.frame",
    "html of a comparison": "glla.lab.show",
    "text of a comparison": "glla.lab.show",
    "text of a trace": "glla.display.trace",
    "html of a trace": "glla.display.trace",
}
"""Names of announcements, each with the module that makes it.

``matrix`` is `glla.asarray`, for `glla.Device.matrix`; ``loop`` runs a `glla.passes.Loop` on arrays; ``numpy`` gives
the implementation of a function of NumPy's, or None; ``namespace`` is the array API's module. The texts are those of
``print``, the others of ``_repr_html_``.
"""

_announced: dict[str, Any] = {}


def announce(name: str, thing: Any) -> None:
    """Register a function, or a module, for the rooms below.

    `name`: a key of `ANNOUNCEMENTS`. `thing`: returned by `announced` from now on.
    """
    _announced[name] = thing


def announced(name: str) -> Any:
    """Return a registered function or module; its module is imported if need be.

    Raises RuntimeError: there is no such announcement.

    >>> announced("weather")
    Traceback (most recent call last):
    RuntimeError: registry: nothing is announced as 'weather'; import the module that announces it
    """
    if name in ANNOUNCEMENTS:
        import_module(ANNOUNCEMENTS[name])  # waits where another thread is about to import it: half of it is not enough
    if name not in _announced:
        raise RuntimeError(f"registry: nothing is announced as {name!r}; import the module that announces it")
    return _announced[name]


# -- operands that override calls -------------------------------------------------------------------------------------


class Overriding(Protocol[Given]):
    """An operand that overrides calls, for type checkers: the call returns the result of its ``__glla_function__``."""

    def __glla_function__(self, name: str, function: Any, args: Any, kwargs: Any, /) -> Given:
        """Implement a call of a public function."""


def overrides(operand: object) -> Callable[..., Any] | None:
    """Return the ``__glla_function__`` of an operand, None for those that have none (arrays, matrices, numbers).

    >>> overrides(1.0) is None
    True
    """
    return getattr(type(operand), "__glla_function__", None)


def delegating(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Wrap a public function: its call is passed to the first operand that overrides it; errors have its name.

    As NumPy's ``__array_function__``: a class above `glla.linalg`, such as a pending result, has a static method
    ``__glla_function__(name, function, args, kwargs)``, which is called with the undecorated function. Operands are the
    arguments, and the members of a tuple such as ``(lu, piv)``. Operators of a `glla.Array` return NotImplemented.
    Messages of errors of public functions that it calls begin with its own name.

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
        try:
            return function(*args, **kwargs)
        except GllaError as error:
            inner, _, rule = str(error).partition(": ")
            error.args = (f"{function.__name__}: {rule}",) if inner in PUBLIC else error.args
            raise

    return call


# -- public functions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Public:
    """A public function, and its other names besides that in `glla` itself."""

    function: Callable[..., Any]  # the function for users: `delegating`
    numpy: str | None = None  # NumPy's function that it implements for a `glla.Array`: ``"linalg.cholesky"``
    namespace: str | None = None  # its name in the extension ``linalg`` of the array API
    options: tuple[str, ...] = ()  # options that the array API's function has too
    coprocessor: bool = True  # `glla.Coprocessor` has a method of its name

    def implements(self, function: Any) -> bool:
        """Whether it implements this function of NumPy."""
        return self.numpy is not None and attrgetter(self.numpy)(np) is function


PUBLIC: dict[str, Public] = {}
"""The public functions that `public` decorates, by their names."""


def public(
    *, numpy: str | None = None, namespace: str | None = None, options: tuple[str, ...] = (), coprocessor: bool = True
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a public function: one decorator in place of an entry in each room above.

    `numpy`: NumPy's function that it implements: ``"linalg.inv"`` makes ``numpy.linalg.inv(A)`` of an Array call it.
    Options of NumPy's that it lacks are accepted with their defaults. `namespace`: its name in the extension ``linalg``
    of the array API, where operands become positional-only ``x``, or ``x1, x2``, and numbers arrays. A function in
    `glla.interop.namespace.linalg` takes precedence. `options`: its options that the array API's function has too;
    keyword-only there. `coprocessor`: `glla.Coprocessor` has a method of its name.

    In `glla.linalg` a new operation's function begins like this::

        @public(numpy="linalg.cholesky", namespace="cholesky", options=("upper",))
        def cholesky(a: Any, *, upper: bool = False, device: Device | None = None) -> Any:

    A function of a test, or of a program:

    >>> @public(coprocessor=False)
    ... def trebled(a):
    ...     return 3 * a
    >>> trebled(2), PUBLIC.pop("trebled").coprocessor
    (6, False)
    """
    if numpy is not None:
        attrgetter(numpy)(np)  # raises for a misspelt name at once, not in a later call

    def register(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        call = delegating(function)
        PUBLIC[function.__name__] = Public(call, numpy, namespace, options, coprocessor)
        return call

    return register
