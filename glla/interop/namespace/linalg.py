"""The extension ``linalg`` of the array API, as far as it goes; `LEFT_OUT` names the rest.

A public function that names its counterpart in the standard (see `glla.registry.public`) is `offered` here
automatically. Functions whose arguments or results differ from the standard's are written out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from glla import lazily, linalg, registry
from glla.array.array import Array, upload
from glla.interop import functions
from glla.linalg import determinants

lazily.load(linalg)


def det(x: Any, /) -> Any:
    """Determinants, as `glla.det`; outside float32's range one is infinite, or zero."""
    return on_device(determinants.det_or_infinity(x), x)


def on_device(result: Any, beside: Any) -> Any:
    """Copy a number or an array of the host to the device of an operand; an Array stays as it is."""
    if isinstance(result, Array) or not isinstance(beside, Array):
        return result
    array = np.asarray(result)
    if array.dtype.kind not in "biuf":
        return result
    return upload(array.astype("float32" if array.dtype.kind == "f" else "int32"), beside.device)


STANDARD = frozenset((
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
))  # fmt: skip
"""Functions of the standard's extension, version 2025.12."""


NEEDS = {
    **dict.fromkeys(("eig", "eigvals"), "complex numbers"),
}
"""Missing prerequisites of the standard's functions that are not implemented."""


@cache
def offered(public: registry.Public) -> Callable[..., Any]:
    """Wrap a public function as the standard wants it: operands positional only, options by name, no bare numbers.

    >>> def solve(a, b, *, refine=False, device=None):
    ...     return linalg.solve(a, b)
    >>> inspect.signature(offered(registry.Public(solve, namespace="solve")))
    <Signature (x1, x2, /)>
    """
    given = inspect.signature(public.function).parameters.values()
    operands = [parameter for parameter in given if parameter.default is parameter.empty]
    names = ["x"] if len(operands) == 1 else [f"x{place + 1}" for place in range(len(operands))]
    signature = inspect.Signature(
        [
            *(inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names),
            *(
                part.replace(kind=part.KEYWORD_ONLY, annotation=part.empty)
                for part in given
                if part.name in public.options
            ),
        ]
    )

    def function(*args: Any, **options: Any) -> Any:
        signature.bind(*args, **options)  # raises a TypeError for arguments that the standard has not
        result = public.function(*args, **options)
        beside = next((one for one in args if isinstance(one, Array)), None)
        if hasattr(result, "_fields"):
            return result._make(on_device(one, beside) for one in result)
        return on_device(result, beside)

    name = public.function.__name__
    summary = (inspect.getdoc(public.function) or "").split("\n")[0]
    function.__name__ = function.__qualname__ = public.namespace or name
    function.__doc__ = f"{summary} See `glla.{name}`."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    """Return a public function that names its counterpart here."""
    for public in registry.PUBLIC.values():
        if public.namespace == name:
            return offered(public)
    if name in NEEDS:
        raise AttributeError(
            f"array API: linalg.{name} is not there yet: it needs {NEEDS[name]}; numpy.linalg.{name}(A.numpy()) "
            f"computes it on the host{'; for symmetric A use eigh' if name[:3] == 'eig' else ''}"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


COMMON = (
    "cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "matrix_transpose", "outer", "tensordot", "trace",
    "vecdot", "vector_norm",
)  # fmt: skip
globals().update({_name: functions.of_arrays(getattr(functions, _name)) for _name in COMMON})
__all__ = ["det", *COMMON]
__all__ += sorted({public.namespace for public in registry.PUBLIC.values() if public.namespace} - {*__all__})

LEFT_OUT = sorted(STANDARD.difference(__all__))
"""Functions of the standard's extension that are not implemented."""
