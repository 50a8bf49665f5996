"""NumPy's protocols: the functions of NumPy that run on the device, and their arguments.

``Array.__array_ufunc__`` (NEP 13) asks `universal` for glla's counterpart of a universal function.
``Array.__array_function__`` (NEP 18) passes other calls to `call`. Their implementations are in `glla.interop.numpy`,
which registers them. A function or an option that does not run on the device raises UnsupportedError: nothing is
silently copied to the host.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from glla import registry
from glla.errors import UnsupportedError
from glla.operations.linear.elementwise import PAIR, SINGLE

NUMPYS = {
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh",
}  # fmt: skip
"""NumPy's names of functions that have another name here."""

UFUNCS: dict[np.ufunc, str] = {
    found: name
    for name in (*SINGLE, *PAIR, "matmul")
    if isinstance(found := getattr(np, NUMPYS.get(name, name), None), np.ufunc)
}
"""NumPy's universal functions that run on the device, by their names in glla."""

FOLDS: dict[np.ufunc, str] = {
    np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min", np.logical_and: "all",
    np.logical_or: "any",
}  # fmt: skip
"""Universal functions whose ``reduce`` runs on the device, by the names of the reductions."""

UFUNC_DEFAULTS: dict[str, Any] = {"dtype": None, "where": True}
"""Options of universal functions that are accepted with these values only, their defaults."""


def universal(ufunc: np.ufunc, method: str, options: Mapping[str, Any], out: bool) -> str:
    """Name of glla's function, or reduction, for a call of a universal function.

    `ufunc`, `method`: as passed to ``__array_ufunc__``. `options`: keyword arguments other than ``out``. `out`: the
    result is written to an Array.
    Raises UnsupportedError: it does not run on the device.

    >>> universal(np.add, "__call__", {}, out=False), universal(np.add, "reduce", {"axis": 1}, out=False)
    ('add', 'sum')
    """
    name = f"numpy.{ufunc.__name__}"
    changed = {key for key, value in options.items() if key not in UFUNC_DEFAULTS or value is not UFUNC_DEFAULTS[key]}
    if method == "reduce" and ufunc in FOLDS and not out and changed <= {"axis", "keepdims"}:
        return FOLDS[ufunc]
    if method != "__call__" or ufunc not in UFUNCS:
        called = name if method == "__call__" else f"{name}.{method}"
        raise UnsupportedError(f"{called}: does not run on the device; use A.numpy()")
    if changed:
        raise UnsupportedError(f"{name}: takes no {', '.join(sorted(changed))} on an Array; use A.numpy()")
    return UFUNCS[ufunc]


def call(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call the implementation of one of NumPy's functions.

    Options that the implementation lacks are accepted with NumPy's default.

    Raises UnsupportedError: no implementation, or not with these arguments.
    """
    name = f"{function.__module__}.{function.__name__}"
    implementation = registry.announced("numpy")(function)
    if implementation is None:
        instead = "; for symmetric A use eigh" if name in ("numpy.linalg.eig", "numpy.linalg.eigvals") else ""
        raise UnsupportedError(f"{name}: does not run on the device; use A.numpy(){instead}")
    signature = inspect.signature(implementation)
    try:
        bound = _bound(signature, function, args, kwargs)
    except TypeError as error:
        raise UnsupportedError(f"{name}: takes {signature} on an Array, {error}; use A.numpy()") from None
    return implementation(*bound.args, **bound.kwargs)


def _bound(
    signature: inspect.Signature, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Bind a call of NumPy's function to a signature that has fewer options: operands in order, the others by name."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        try:
            theirs = inspect.signature(function)
        except ValueError:  # before 2.4 NumPy's functions in C have no signature
            raise error from None
    given = theirs.bind(*args, **kwargs).arguments
    unnamed = sum(part.kind is part.POSITIONAL_ONLY for part in signature.parameters.values()) or 1
    first, rest = list(given)[:unnamed], list(given)[unnamed:]
    ours, defaults = signature.parameters, theirs.parameters
    known = [name for name in rest if name in ours or given[name] is not defaults[name].default]
    return signature.bind(*(given[name] for name in first), **{name: given[name] for name in known})
