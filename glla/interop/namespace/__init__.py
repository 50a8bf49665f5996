"""The array API standard (https://data-apis.org/array-api) on `glla.Matrix`: linear algebra, and what it needs.

``A.__array_namespace__()`` gives this module, so that a library written for the standard finds here what it calls.
Names and signatures are the standard's, version 2025.12. It is a part of it, not all:

* Arrays are matrices: float32, two dimensions. A result of fewer dimensions (a determinant, a sum, the solution for one
  vector) is a NumPy array on the host, and so is a result of bool. Vectors go in as NumPy arrays.
* A Matrix lacks the operators ``// % & | ^ << >> ~``, the conversions ``float() int() complex()``, which the standard
  has for arrays of no dimensions only, and indexing by None, masks and arrays. Its transpose is not a view: changing
  one does not change the other.
* `from_dlpack` and `asarray` always copy to the device.
* Numbers follow `glla.Matrix`: what goes in must be finite, denormals may count as zero.

Left out are, of creation: ``arange linspace meshgrid tril triu``; of data types: ``can_cast iinfo result_type int8
int16 int32 int64 uint8 uint16 uint32 uint64 float64 complex64 complex128``; of element-wise functions: ``acos acosh
asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor
conj copysign cos cosh expm1 floor_divide hypot imag log1p log2 log10 logaddexp logical_and logical_not logical_or
logical_xor nextafter real remainder signbit sin sinh tan tanh``; of indexing: ``take take_along_axis``; of
manipulation: ``concat expand_dims moveaxis repeat reshape roll squeeze stack tile unstack``; of searching, sets and
sorting: ``argmax argmin nonzero count_nonzero searchsorted where unique_all unique_counts unique_inverse
unique_values isin argsort sort``; of statistics and utilities: ``cumulative_sum cumulative_prod prod std var all any
diff``; the extension ``fft``; and of the extension ``linalg`` what ``linalg.LEFT_OUT`` names.

Examples
--------
>>> import glla
>>> A = glla.asarray([[2, 1], [1, 3]])
>>> xp = A.__array_namespace__()
>>> xp.linalg.solve(A, xp.eye(2)).shape
(2, 2)
>>> xp.linalg.trace(A)
array(5., dtype=float32)
"""

from __future__ import annotations

import sys
from typing import Any

from glla import registry
from glla.interop.namespace import linalg
from glla.interop.namespace.creation import (
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from glla.interop.namespace.datatypes import __array_namespace_info__, astype, bool, finfo, float32, isdtype
from glla.interop.namespace.elementwise import (
    abs,
    add,
    ceil,
    clip,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    positive,
    pow,
    reciprocal,
    round,
    sign,
    sqrt,
    square,
    subtract,
    trunc,
)
from glla.interop.namespace.linalg import matmul, matrix_transpose, tensordot, vecdot
from glla.interop.namespace.shapes import broadcast_arrays, broadcast_shapes, broadcast_to, flip, permute_dims
from glla.interop.namespace.statistics import max, mean, min, sum

__array_api_version__ = "2025.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
newaxis: Any = None

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "abs",
    "add",
    "asarray",
    "astype",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "ceil",
    "clip",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "eye",
    "finfo",
    "flip",
    "float32",
    "floor",
    "from_dlpack",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "inf",
    "isdtype",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "log",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "not_equal",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "reciprocal",
    "round",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tensordot",
    "trunc",
    "vecdot",
    "zeros",
    "zeros_like",
]

registry.announce("namespace", sys.modules[__name__])
