"""The array API standard (https://data-apis.org/array-api) on `glla.Array`.

``A.__array_namespace__()`` returns this module, so that a library written for the standard finds its functions here.
Names and signatures are the standard's, version 2025.12. Every function returns Arrays, which every function takes.

Differences from the standard, and what is not there: docs/guide/interop.md.

Examples
--------
>>> import glla
>>> A = glla.asarray([[2, 1], [1, 3]])
>>> xp = A.__array_namespace__()
>>> xp.linalg.solve(A, xp.eye(2)).shape
(2, 2)
>>> float(xp.sqrt(xp.sum(A * A) + 1))
4.0
"""

from __future__ import annotations

import sys
from typing import Any

from glla import registry
from glla.interop import functions
from glla.interop.namespace import creation, datatypes, elementwise, linalg, shapes, statistics
from glla.interop.namespace.datatypes import __array_namespace_info__
from glla.interop.namespace.linalg import matmul, matrix_transpose

__array_api_version__ = "2025.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
newaxis: Any = None

CREATION = (
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "zeros", "zeros_like",
)  # fmt: skip
DATATYPES = ("astype", "bool", "can_cast", "finfo", "float32", "iinfo", "int32", "isdtype", "result_type")
COMMON = (
    "broadcast_to", "concat", "count_nonzero", "diff", "expand_dims", "flip", "moveaxis", "repeat", "roll",
    "searchsorted", "stack", "tensordot", "tile", "tril", "triu", "unstack", "vecdot", "where",
)  # fmt: skip
SHAPES = ("broadcast_arrays", "broadcast_shapes", "permute_dims", "reshape", "squeeze")
STATISTICS = (
    "all", "any", "argmax", "argmin", "argsort", "cumulative_prod", "cumulative_sum", "isin", "max",
    "mean", "min", "nonzero", "prod", "sort", "std", "sum", "take", "take_along_axis", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "var",
)  # fmt: skip

for _module, _names in (
    (creation, CREATION),
    (datatypes, DATATYPES),
    (elementwise, elementwise.__all__),
    (functions, COMMON),
    (shapes, SHAPES),
    (statistics, STATISTICS),
):
    globals().update({_name: functions.of_arrays(getattr(_module, _name)) for _name in _names})

__all__ = [  # the names above
    "__array_api_version__",
    "__array_namespace_info__",
    "e",
    "inf",
    "linalg",
    "matmul",
    "matrix_transpose",
    "nan",
    "newaxis",
    "pi",
    *COMMON,
    *CREATION,
    *DATATYPES,
    *SHAPES,
    *STATISTICS,
    *elementwise.__all__,
]


def __getattr__(name: str) -> Any:
    """Raise an AttributeError with the reason why a name of the standard is missing."""
    if name in datatypes.WIDE:
        return datatypes.WIDE[name]
    if name in datatypes.LEFT_OUT:
        raise AttributeError(f"array API: {name} is not there: an Array is float32, int32 or bool")
    if name == "fft":
        raise AttributeError("array API: fft is not there: glla has no Fourier transforms; use NumPy's on A.numpy()")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


registry.announce("namespace", sys.modules[__name__])
