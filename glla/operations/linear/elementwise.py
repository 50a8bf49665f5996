"""Elementwise functions of arrays in the linear layout: result[i] = f(A[i]), f(A[i], B[i]) or f(A[i], B[i], C[i]).

Operands are broadcast as NumPy's are. Operands of a function have one type (see `cast`); results are in C order.

Error bounds are in units roundoff, 2^-24, relative to the result: `BOUNDS`. Special values are those of the array API
standard; denormals may count as zero.
"""

from __future__ import annotations

from glla.errors import PlanError
from glla.operations import elementwise
from glla.operations.linear.view import Over, View, broadcast_shapes, integer, laid, operands
from glla.passes import Draft, Plan
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

SINGLE = elementwise.UNARY | {
    "reciprocal": 1, "expm1": 1, "log1p": 1, "log2": 1, "log10": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1,
    "atan": 1, "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1, "signbit": 0, "logical_not": 0,
    "bitwise_invert": 0,
}  # fmt: skip
"""Functions of one operand, each with its cost in flops per element."""

PAIR = elementwise.BINARY | {
    "floor_divide": 1, "remainder": 1, "hypot": 1, "atan2": 1, "logaddexp": 1, "copysign": 0, "nextafter": 0,
    "scaled_root": 1, "logical_and": 0, "logical_or": 0, "logical_xor": 0, "bitwise_and": 0, "bitwise_or": 0,
    "bitwise_xor": 0, "bitwise_left_shift": 0, "bitwise_right_shift": 0,
}  # fmt: skip
"""Functions of two operands, each with its cost in flops per element."""

TRUTHS = elementwise.TRUTHS | {"signbit", "logical_not", "logical_and", "logical_or", "logical_xor"}
"""Functions whose results are bool."""

FLOATS = frozenset(
    ("sqrt", "reciprocal", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
     "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "divide", "hypot", "atan2", "logaddexp", "copysign",
     "nextafter", "scaled_root")
)  # fmt: skip
"""Functions of float32 only."""

BITS = frozenset(name for name in (*SINGLE, *PAIR) if name.startswith("bitwise_"))
"""Functions of int32 and bool only."""

BOUNDS = {
    "sqrt": 5, "reciprocal": 5, "divide": 5, "hypot": 5, "exp": 4, "log": 4, "expm1": 6, "log1p": 6, "log2": 8,
    "log10": 8, "sin": 4, "cos": 4, "tan": 8, "asin": 8, "acos": 8, "atan": 8, "atan2": 12, "sinh": 10, "cosh": 10,
    "tanh": 10, "asinh": 12, "acosh": 12, "atanh": 12, "floor_divide": 5, "remainder": 1,
}  # fmt: skip
"""Errors of functions that round more than once, or whose rounding GLSL 3.30 leaves open, in units roundoff."""


FAMILIES = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), 1),
    **dict.fromkeys(
        ("expm1", "log1p", "log2", "log10", "logaddexp", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 2
    ),
}
"""Functions with files of their own in the shader, and their numbers there: less text to compile."""


def result_dtype(operation: str, dtype: str) -> str:
    """Type of a function's results.

    Raises PlanError: there is no such function of this type.

    >>> result_dtype("less", "float32"), result_dtype("add", "int32")
    ('bool', 'int32')
    """
    wrong = (operation in FLOATS and dtype != "float32") or (operation in BITS and dtype == "float32")
    if wrong or (operation not in SINGLE and operation not in PAIR):
        raise PlanError(f"{operation}: no such function of {dtype}; cast the operands first")
    return "bool" if operation in TRUTHS else dtype


@cached_plan
def unary(a: View, operation: str, texture_size: int) -> Plan:
    """Plan of a function of one operand.

    Operand ``A``, result ``result``, of `a.shape` in C order. One pass. `operation`: a key of `SINGLE`.
    """
    dtype = result_dtype(operation, a.dtype)
    function = "logical_not" if (operation, a.dtype) == ("bitwise_invert", "bool") else operation
    return _one(operation, function, a, dtype, texture_size, SINGLE[operation])


@cached_plan
def cast(a: View, dtype: str, texture_size: int) -> Plan:
    """Plan that gives an array another type; operand ``A``, result ``result``. One pass.

    A float is cut off towards zero to be an int32, and -2^31 where it does not fit, NaN among them; all but zero is
    true.
    """
    return _one(f"as {dtype}", f"as_{dtype}", a, dtype, texture_size, 0)


def _one(name: str, function: str, a: View, dtype: str, texture_size: int, flops: int) -> Plan:
    draft = Draft(name)
    result = _draw_one(draft, "result", function, a, operands(draft, texture_size, A=a)["A"], dtype, texture_size)
    return draft.plan({"result": result}, flops=flops * a.count)


def draw_copy(draft: Draft, name: str, a: View, source: str, texture_size: int) -> str:
    """Add a pass that writes a view out in C order; give the slot that it makes."""
    return _draw_one(draft, name, "positive", a, source, a.dtype, texture_size)


def _draw_one(draft: Draft, name: str, function: str, a: View, source: str, dtype: str, texture_size: int) -> str:
    over, made = Over(a.shape, texture_size, A=a), {name: laid(a.shape, dtype, texture_size)}
    defines: dict[str, Define] = {"OPERATION": f"{function}_of", "INTEGER": integer(a), **over.defines}
    defines |= {"RESULT_INTEGER": int(dtype != "float32"), "FAMILY": FAMILIES.get(function, 0)}
    return draft.draw("wrapped/unary", {"A": source}, made, over.uniforms, defines)[name]


@cached_plan
def binary(a: View, b: View, operation: str, texture_size: int) -> Plan:
    """Plan of a function of two operands of one type, which spread over each other.

    Operands ``A`` and ``B``, result ``result``. One pass.
    `operation`: a key of `PAIR`. Of int32, `divide` is not there, a division by zero gives 0, and shifts of 32 or more
    leave nothing but the sign.
    """
    _agree(operation, a, b)
    over, dtype = Over(broadcast_shapes(a.shape, b.shape), texture_size, A=a, B=b), result_dtype(operation, a.dtype)
    defines: dict[str, Define] = {"OPERATION": f"{operation}_of", "RESULT_INTEGER": int(dtype != "float32")}
    defines["FAMILY"] = FAMILIES.get(operation, 0)
    return over.plan(operation, "wrapped/binary", dtype, defines, flops=PAIR[operation] * over.elements)


@cached_plan
def where(condition: View, a: View, b: View, texture_size: int) -> Plan:
    """Plan that chooses: a where the condition holds, else b.

    Operands ``C`` (the condition, bool or int32), ``A`` and ``B``, result ``result``. One pass.
    """
    _agree("where", a, b)
    if condition.dtype == "float32":
        raise PlanError("where: a condition is bool or int32, got float32; compare it with something")
    shape = broadcast_shapes(a.shape, b.shape, condition.shape)
    return Over(shape, texture_size, A=a, B=b, C=condition).plan("where", "wrapped/ternary", a.dtype)


def _agree(operation: str, *views: View) -> None:
    """Raise unless operands have one type."""
    found = list(dict.fromkeys(view.dtype for view in views))
    if len(found) > 1:
        raise PlanError(f"{operation}: operands have one dtype, got {' and '.join(found)}; cast one of them")
