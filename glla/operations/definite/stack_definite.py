"""Batches of small positive definite matrices: factors, solutions and inverses of all of them by the passes of one.

    raw --> pack --> A, interleaved --> rank-2 steps --> L --> substitutions, or a product --> unpack --> raw

As `glla.operations.batches.stack` has it; the step is that of a single matrix (``cholesky/rank2``, with the define
``STACK``), and so are the bits of a factor. The lower half of A is read: for the upper one the caller passes the
transpose. A record ends in two lines of diagnostics, of which the first is the diagonal of L. A matrix whose diagonal
or right-hand sides are far from 1 is solved alone, scaled. Matrices of order 4 at most take a single pass, see `small`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.acceptance import FALLBACK
from glla.operations.batches import stack
from glla.operations.batches.stack import Passes, Stack
from glla.operations.definite.cholesky_blocks import rank2
from glla.operations.host import scaling
from glla.operations.record import Batch, Filter, Float32, Layout
from glla.passes import PLAIN, Form, Forms, Limits, Plan, Transition, Uniform
from glla.passes.cache import cached_plan
from glla.passes.layout import texels

LARGEST, LARGEST_IN_SOFTWARE = 256, 128
"""Largest order of matrices that go as a stack. On a GPU that of other stacks, a guess. In software a single matrix is
faster in blocks from 128 on (llvmpipe-llvm-15-0-6-256-bits/experiments/2026-11-23-cholesky.json)."""


def most_batched(forms: Forms, limits: Limits) -> int:
    """Matrices of a stack that one plan may do at once; 0: they are looped, as a single matrix does."""
    (n, columns), own = forms[-1].matrix, forms[0]
    widest = max(n, columns)
    if own.stack and stack.is_small(forms):
        return stack.most_small(n * (columns + 2), n * n + (0 if len(forms) == 1 else n * columns), limits)
    if not own.stack or widest > (LARGEST_IN_SOFTWARE if limits.software else LARGEST):
        return 0
    elements = n * n + (0 if len(forms) == 1 else n * columns)
    return stack.capacity((texels(n), texels(widest)), max(elements, n * (columns + 2)), limits.texture_size)


def _factor(passes: Passes, n: int) -> str:
    """Add the way in, and the factorisation; give the slot of L."""
    return rank2(passes.draft, passes.bring_in("A", (n, n)), n, passes.stack)


def _passes(name: str, forms: Forms, limits: Limits) -> tuple[Passes, int, int, int]:
    """Begin a plan; give it, the order, the columns of the result, and how many matrices there are."""
    (n, columns), count = forms[-1].matrix, forms[0].count
    own = Stack.of(count, (texels(n), texels(max(n, columns))), limits.texture_size)
    return Passes(f"stack[{name}]", own, n * n + (0 if len(forms) == 1 else n * columns)), n, columns, count


@cached_plan
def factor(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the Cholesky factors of a stack of n x n matrices, n > 0.

    Operand ``raw``: the matrices. Result ``records``: for each matrix L, its diagonal, and a spare line: n^2 + 2 n
    elements. ceil(n / 2) + 2 passes.
    """
    passes, n, _, count = _passes("cholesky", forms, limits)
    made = _factor(passes, n)
    return passes.draft.plan({"records": passes.unpack(made, (n, n), n, made)}, count * (n**3 // 3))


@cached_plan
def solve(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the solution of a stack of systems A X = B with new factors.

    Operand ``raw``: all A, then all B. Result ``records``: for each system X, the diagonal of L, and a spare line.
    ceil(n / 2) + 2 ceil(n / 8) + 3 passes.
    """
    passes, n, columns, count = _passes("solve_pos", forms, limits)
    made = _factor(passes, n)
    x = _substituted(passes, made, n, columns, count)
    result = passes.unpack(x, (n, columns), n, made)
    return passes.draft.plan({"records": result}, count * (n**3 // 3 + 2 * n * n * columns))


@cached_plan
def substitute(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the solution of a stack of systems with factors L that are there.

    Operand ``raw``: all L, of which the lower half is read, then all B. Result ``records``: as `solve`. 2 ceil(n / 8) +
    3 passes.
    """
    passes, n, columns, count = _passes("cho_solve", forms, limits)
    made = passes.bring_in("L", (n, n))
    x = _substituted(passes, made, n, columns, count)
    return passes.draft.plan({"records": passes.unpack(x, (n, columns), n, made)}, 2 * count * n * n * columns)


def _substituted(passes: Passes, made: str, n: int, columns: int, count: int) -> str:
    """Add the right-hand sides, which come behind the matrices, and both substitutions."""
    start = passes.bring_in("B", (n, columns), count * n * n)
    y = passes.substitute(made, start, (n, columns), upper=False)
    return passes.substitute(made, y, (n, columns), upper=True, transposed=True)


@cached_plan
def invert(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the inverses of a stack, as `glla.operations.definite.definite_inverse` makes them: U U^T, mirrored.

    Operand ``raw``: the matrices. Result ``records``: for each matrix X, the diagonal of L, and that of X. Passes:
    ceil(n / 2) + ceil(n / 8) + 4.
    """
    passes, n, _, count = _passes("inv_pos", forms, limits)
    made = _factor(passes, n)
    start, x = passes.bring_in("I", (n, n), identity=True), passes.matrices("X", (n, n))
    upper = passes.substitute(made, start, (n, n), upper=True, transposed=True)
    uniforms: dict[str, Uniform] = {"first": 0, "count": texels(n), "shape": (n, n), **passes.stack.grid}
    defines = {"CONTINUE": 0, "STACK": 1, "TRANSPOSE_B": 1}
    passes.draft.draw("matmul/inner_product", {"A": upper, "B": upper}, x, uniforms, dict(defines))
    return passes.draft.plan({"records": passes.unpack(x, (n, n), n, made, mirrored=True)}, count * n**3)


# -- matrices of order 4 at most: one pass, in which a fragment factors a whole matrix ---------------------------------

FACTOR, SOLUTION, INVERSE = range(3)
"""Requested results, by the shader's numbers."""


@cached_plan
def small(forms: Forms, limits: Limits = PLAIN, *, result: int, given: bool = False) -> Plan:
    """Plan of a stack of small matrices. One pass.

    Operand ``raw``: the matrices, of which the lower half is read, then all B. Result ``records``: for each matrix L or
    X, the diagonal of L, and once more that or the diagonal of the inverse. They have four elements to a texel and
    begin with one.

    `result`: `FACTOR`, `SOLUTION` or `INVERSE`. `given`: the stack holds factors, not matrices.
    """
    (n, columns), count = forms[-1].matrix, forms[0].count
    own: dict[str, Uniform] = {"start": count * n * n} if result == SOLUTION else {}
    work = {FACTOR: 0, SOLUTION: 2 * n * n * columns, INVERSE: 2 * n**3 // 3}[result]
    return stack.one_pass(
        "stack/definite_small",
        f"stack[{'cholesky' if not given else 'cho_solve'}, {('factor', 'solution', 'inverse')[result]}, small]",
        count,
        n * n + (n * columns if result == SOLUTION else 0),
        (columns, n * (columns + 2)),
        own,
        {"ORDER": n, "GIVEN": int(given), "RESULT": result},
        (0 if given else n**3 // 3) + work,
        limits,
    )


# -- what an operation says of its stacks -----------------------------------------------------------------------------

FAR = "the diagonal of L is zero, or it or right-hand sides are beyond 2^-40 to 2^40, or X is not finite"


def batch(made: Callable[..., Plan], again: Callable[..., Plan], error: Transition) -> Batch:
    """Batch record of an operation.

    `made`: (forms, limits) -> one of the plans above. `again`: (forms of a matrix, limits) -> plan of the stage that
    comes next for a matrix that is far from 1. `error`: error of a matrix without a factor.
    """

    @cached_plan
    def plan(forms: Forms, limits: Limits = PLAIN, **options: object) -> Plan:
        after = Transition(FAR, FALLBACK, partial(again, tuple(Form(form.matrix) for form in forms), limits))
        return replace(_way(made, forms)(forms, limits), after=(after, error))

    rejects, kind = (rejected_definite_factors, "factors") if made is substitute else (rejected_definite, "definite")
    scale = scaling.of_factor if made is substitute else scaling.of_definite
    scaled = scaling.for_factor if made is factor else scale
    extras = ("least", *["norms"] * (made in (solve, substitute)))
    return Batch(
        most_batched,
        plan,
        Layout(lambda forms: forms[-1].matrix, 2, lower_half=True),
        Filter(rejects, kind, extras, scaled=scaled),
    )


def _way(made: Callable[..., Plan], forms: Forms) -> Callable[..., Plan]:
    """That plan, or the one pass of small matrices in its place."""
    if not stack.is_small(forms):
        return made
    result = FACTOR if made is factor else INVERSE if made is invert else SOLUTION
    return partial(small, result=result, given=made is substitute)


def rejected_definite(
    operands: tuple[Float32, ...], matrices: Float32, diagnostics: Float32, sizes: Float32 | None = None, **options: Any
) -> NDArray[np.intp]:
    """Matrices that are not accepted: a pivot is not above zero, a pivot or B is far from 1, or a number not finite.

    `sizes`: others that must be near 1.
    """
    far = ~acceptance.each_near_one(diagnostics[:, 0]) | ~np.isfinite(diagnostics[:, 1:]).all(axis=(1, 2))
    if len(matrices) == len(diagnostics):  # of a stack on the device the norms tell
        far |= ~np.isfinite(matrices).all(axis=(1, 2))
    far |= ~(diagnostics[:, 0] > 0).all(axis=1)  # a GPU may take denormals for zero
    for b in operands[1:]:
        sides = b if b.shape[1] == 1 else acceptance.largest_of_columns(b)  # a stand-in has a line of extremes
        far |= ~acceptance.each_near_one(sides)
    return np.flatnonzero(far if sizes is None else far | ~acceptance.each_near_one(sizes))


def rejected_definite_factors(
    operands: tuple[Float32, ...], matrices: Float32, diagnostics: Float32, **options: object
) -> NDArray[np.intp]:
    """As `rejected`, of factors that are given, and may have rows of any size, and a negative diagonal."""
    sizes = operands[0]
    if sizes.shape[-2] == sizes.shape[-1]:  # of a stand-in no rows are known
        sizes = np.max(np.abs(np.tril(sizes)), axis=-1)
    return rejected_definite(operands, matrices, np.abs(diagnostics), sizes)
