"""Systems with factors that are there already: L U X = P^T B."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from glla.errors import ShapeError
from glla.operations import factors, stack, streams
from glla.operations.alignment import aligned
from glla.operations.crossing import bring_in_watched, read_back
from glla.operations.elimination.counts import steps
from glla.operations.record import Array, Batch, Operation
from glla.passes import PLAIN, Draft, Forms, Limits, Parameters, Plan

SCALE = "scale U and the columns of B by powers of two"
"""Work of the host, by the words that a plan and a trace have for it."""


def check(forms: Forms) -> None:
    """Raise ShapeError unless the factors are square and B has as many rows."""
    lu, b = (form.shape for form in forms)
    if lu[-1] != lu[-2]:
        raise ShapeError(f"lu_solve: the last two dimensions of lu must be square, got shape {lu}")
    if b[-2] != lu[-1]:
        n = lu[-1]
        raise ShapeError(f"lu_solve: b must have shape ({n},) or (..., {n}, k) for lu {lu}, got {b}")


def flops(forms: Forms) -> int:
    """Additions and multiplications: 2 n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return prod(forms[1].stack) * 2 * n * n * columns


@lru_cache(maxsize=64)
def core(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    transposed: bool = False,
    equilibrated: bool = False,
    variant: None = None,
    parameters: Parameters = (),
) -> Plan:
    """Plan of the solution on the device: operands ``LU``, ``pivots`` (records), ``B``."""
    n, columns = forms[1].matrix
    return factors.solution((n, n), columns, limits, transposed=transposed, equilibrated=equilibrated)


@lru_cache(maxsize=64)
def whole(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    transposed: bool = False,
    variant: None = None,
    parameters: Parameters = (),
) -> Plan:
    """Plan of a call: upload, U's diagonal, substitution, read-back."""
    lu_form, b_form = forms
    n, columns = b_form.matrix
    draft = Draft("lu_solve")
    results: dict[str, str] = {}
    named = zip(("LU", "B"), forms, strict=True)
    slots = {name: bring_in_watched(draft, name, form, limits, results) for name, form in named}
    records = factors.upload_records(draft, "pivots", steps((n, n)))
    made = factors.FactorSlots((n, n), slots["LU"], records)
    results["diagonal"] = factors.read_diagonal(draft, made)
    x = factors.substitute(draft, made, slots["B"], columns, limits, transposed=transposed)
    at_home = not (lu_form.resident or b_form.resident)
    results["X"] = read_back(draft, x, (n, columns), limits, "X") if at_home else x
    return draft.plan(results)


@lru_cache(maxsize=64)
def batched(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of a stack of systems."""
    return stack.substitute(forms, limits, transposed=transposed)


def example(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """Factors of a well-conditioned matrix without row exchanges, and a right-hand side."""
    lu = rng.uniform(-1, 1, (n, n)) / n + np.diag(rng.uniform(1, 2, n))
    return lu.astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


def _no_exchanges(forms: Forms) -> dict[str, Array]:
    """Pivot records that exchange nothing: those of the example."""
    count = steps(forms[0].matrix)
    records = np.zeros((1, count, 4), dtype=np.float32)
    records[0, :, :2] = np.arange(2 * count).reshape(count, 2)
    return {"pivots": records}


LU_SOLVE = Operation(
    name="lu_solve",
    formula="L U X = B",
    operands=("lu", "B"),
    results=("X",),
    check=check,
    flops=flops,
    core=core,
    whole=whole,
    example=example,
    values=lambda forms, results: results["X"],
    aside=_no_exchanges,
    arguments=lambda lu, b: ((lu, np.arange(len(lu))), b),
    aligned=aligned,
    batch=Batch(stack.most_systems, batched),
    tiles=streams.substitution,
)
