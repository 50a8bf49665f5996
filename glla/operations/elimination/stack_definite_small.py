"""Batches of positive definite matrices of order 4 at most: one pass, in which a fragment factors a whole matrix.

    raw --> stack/definite_small --> records, four elements to a texel

It relates to `stack_definite` as `glla.operations.stack_small` to `glla.operations.stack`: records, diagnostics and all
numbers are those of the longer plan, so the same acceptance tests apply.
"""

from __future__ import annotations

from glla.operations.stack_small import LARGEST, most, one_pass
from glla.passes import PLAIN, Forms, Limits, Plan, Uniform
from glla.passes.cache import cached_plan

FACTOR, SOLUTION, INVERSE = range(3)
"""Requested results, by the shader's numbers."""


def is_small(forms: Forms) -> bool:
    """Whether members are small enough, see `glla.operations.stack_small.LARGEST`."""
    return forms[0].shape[-1] <= LARGEST


def most_together(forms: Forms, limits: Limits) -> int:
    """Small members that one plan may do at once."""
    n, columns = forms[-1].matrix
    return most(n * (columns + 2), n * n + (0 if len(forms) == 1 else n * columns), limits)


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, *, result: int, given: bool = False) -> Plan:
    """Plan of a stack of small matrices. One pass.

    Operand ``raw``: the matrices, of which the lower half is read, then all B. Result ``records``: for each matrix L or
    X, the diagonal of L, and once more that or the diagonal of the inverse. They have four elements to a texel and
    begin with one.

    Parameters
    ----------
    result : int
        `FACTOR`, `SOLUTION` or `INVERSE`.
    given : bool
        The stack holds factors, not matrices.
    """
    (n, columns), count = forms[-1].matrix, forms[0].count
    own: dict[str, Uniform] = {"start": count * n * n} if result == SOLUTION else {}
    work = {FACTOR: 0, SOLUTION: 2 * n * n * columns, INVERSE: 2 * n**3 // 3}[result]
    return one_pass(
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
