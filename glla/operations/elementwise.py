"""Element by element: result[i, j] = f(A[i, j]) or f(A[i, j], B[i, j]), with NumPy's broadcasting.

An operand may be broadcast over the result in several ways, see `Placement`. So a row, a column or a single element
needs no copy of its own, and a transpose needs no pass.
"""

from __future__ import annotations

from glla.passes import Plan, Storage, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

Placement = tuple[int, int, int]
"""Placement of an operand over the result: 1 or 0 for has all rows, has all columns, texture holds the transpose.

An operand without all rows has a single one, which is used for every row of the result; columns likewise.
"""

WHOLE: Placement = (1, 1, 0)
"""Placement of an operand that has the shape of the result."""

UNARY = {
    "positive": 0, "negative": 0, "absolute": 0, "square": 1, "sqrt": 1, "exp": 1, "log": 1, "sign": 0, "floor": 0,
    "ceil": 0, "trunc": 0, "rint": 0, "isnan": 0, "isinf": 0, "isfinite": 0,
}  # fmt: skip
"""Functions of one operand by their names in NumPy, each with its cost in flops per element."""

BINARY = {
    "add": 1, "subtract": 1, "multiply": 1, "divide": 1, "power": 1, "maximum": 0, "minimum": 0, "less": 0,
    "less_equal": 0, "greater": 0, "greater_equal": 0, "equal": 0, "not_equal": 0,
}  # fmt: skip
"""Functions of two operands by their names in NumPy, each with its cost in flops per element."""

TRUTHS = frozenset(
    ("isnan", "isinf", "isfinite", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
)
"""Functions whose results are 1 for true and 0 for false."""


@cached_plan
def unary(shape: Shape, operation: str = "positive", placement: Placement = WHOLE) -> Plan:
    """Plan of a function of one operand.

    Operand ``A``, result ``result``. One pass.
    `shape`: of the result. `operation`: a key of `UNARY`. `placement`: placement of the operand over the result.
    """
    uniforms: dict[str, Uniform] = {"placement": placement, "shape": shape}
    flops, defines = UNARY[operation] * shape[0] * shape[1], {"OPERATION": f"{operation}_of"}
    given, made = {"A": spread(shape, placement)}, {"result": matrix(shape)}
    return single_pass(operation, "elementwise/unary", given, made, uniforms, defines, flops)


@cached_plan
def binary(shape: Shape, operation: str = "add", left: Placement = WHOLE, right: Placement = WHOLE) -> Plan:
    """Plan of a function of two operands.

    Operands ``A`` and ``B``, result ``result``. One pass.
    `shape`: of the result. `operation`: a key of `BINARY`. `left`, `right`: placements of the operands over the result.
    """
    uniforms: dict[str, Uniform] = {"A_placement": left, "B_placement": right, "shape": shape}
    flops, defines = BINARY[operation] * shape[0] * shape[1], {"OPERATION": f"{operation}_of"}
    given, made = {"A": spread(shape, left), "B": spread(shape, right)}, {"result": matrix(shape)}
    return single_pass(operation, "elementwise/binary", given, made, uniforms, defines, flops)


def spread(shape: Shape, placement: Placement) -> Storage:
    """Storage of an operand with this placement over a result.

    >>> spread((6, 4), (1, 0, 0)), spread((6, 4), (1, 0, 1))
    (Storage(height=3, width=1, channels=4), Storage(height=1, width=3, channels=4))
    """
    rows, columns = (count if has_all else 1 for count, has_all in zip(shape, placement[:2], strict=True))
    return matrix((columns, rows) if placement[2] else (rows, columns))
