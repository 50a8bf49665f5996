"""Factors within a plan: computed from A, and used for right-hand sides.

    A --> equilibrate --> PLU --> LU, pivots            B --> scale, permute, substitute twice, scale --> X

Both halves are plans of plans: `factor` and `substitute` add them to a draft.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from glla.operations.elimination import equilibrate, pivot, plu
from glla.operations.layouts.crossing import read_back, read_texels, texels_of, upload, write_texels
from glla.operations.triangles import triangular
from glla.passes import Draft, Limits, Parameters, Plan, Storage, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

PROBES = 4
"""Random right-hand sides that estimate the norm of the inverse. A singular matrix is missed only if all of them are
nearly orthogonal to its null vector."""


@dataclass(frozen=True)
class FactorSlots:
    """Slots of A = P L U, and of the scaling of A before."""

    shape: Shape  # rows and columns of A
    # the packed factors; the pivot records and their health, a texel for each step. Without records rows stay where
    # they are
    lu: str
    records: str
    health: str = ""
    row_exponents: str = ""  # powers of two; "" if A was not scaled
    column_exponents: str = ""

    @property
    def results(self) -> dict[str, str]:
        """All of them as results of a plan."""
        named = {"LU": self.lu, "pivots": self.records, "health": self.health}
        scaled = {"row_exponents": self.row_exponents, "column_exponents": self.column_exponents}
        return {name: slot for name, slot in (named | scaled).items() if slot}


def factor(
    draft: Draft,
    a: str,
    shape: Shape,
    limits: Limits,
    *,
    equilibrated: bool = False,
    pivoting: str = "partial",
    variant: str | None = None,
    parameters: Parameters = (),
) -> FactorSlots:
    """Add the factorisation of the matrix in slot `a`."""
    scales: dict[str, str] = {}
    if equilibrated:
        scales = draft.call("equilibrate", equilibrate.plan(shape), A=a)
        a = scales.pop("scaled")
    plan = plu.plan(resident(shape), limits, variant=variant, parameters=parameters, pivoting=pivoting)
    made = draft.call("factor", plan, A=a)
    return FactorSlots(shape, made["LU"], made["pivots"], made["health"], **scales)


def operands(draft: Draft, shape: Shape, equilibrated: bool) -> FactorSlots:
    """Add factors that are there already, as operands of a plan."""
    steps = pivot.steps(shape)
    lu, records = draft.operand("LU", matrix(shape)), draft.operand("pivots", Storage(1, steps))
    scales = {}
    if equilibrated:
        for name, count in zip(("row_exponents", "column_exponents"), shape, strict=True):
            scales[name] = draft.operand(name, Storage(texels(count), 1))
    return FactorSlots(shape, lu, records, **scales)


def substitute(
    draft: Draft, factors: FactorSlots, b: str, columns: int, limits: Limits, *, transposed: bool = False
) -> str:
    """Add the solution of A X = B, or with the transpose of A; give the slot of X."""
    n = factors.shape[0]
    shape = (n, columns)

    def scaled(slot: str, exponents: str, name: str) -> str:
        if not exponents:
            return slot
        return draft.call(name, equilibrate.scale(shape, rows=-1), A=slot, row_exponents=exponents)["scaled"]

    def permuted(slot: str) -> str:
        trace = pivot.trace(n, pivot.steps((n, n)), transposed)
        rows = draft.call("permutation", trace, pivots=factors.records)["rows"]
        return draft.call("permute", pivot.gather(shape), A=slot, rows=rows)["B"]

    def substituted(slot: str, upper: bool) -> str:
        plan = triangular.plan(
            resident((n, n), shape), limits, upper=upper, unit=upper == transposed, transposed=transposed
        )
        return draft.call("back substitution" if upper else "forward substitution", plan, T=factors.lu, B=slot)["X"]

    before, after = factors.row_exponents, factors.column_exponents
    if transposed:
        before, after = after, before
    b = scaled(b, before, "scale B")
    if not transposed and factors.records:
        b = permuted(b)
    b = substituted(substituted(b, upper=False), upper=True)
    if transposed:
        b = permuted(b)
    return scaled(b, after, "scale X")


@cached_plan
def solution(
    shape: Shape, columns: int, limits: Limits, *, transposed: bool = False, equilibrated: bool = False
) -> Plan:
    """Plan of the solution on the device, by factors that are there: operands ``LU``, ``pivots`` (records), ``B``."""
    draft = Draft("lu_solve")
    made = operands(draft, shape, equilibrated)
    b = draft.operand("B", matrix((shape[0], columns)))
    x = substitute(draft, made, b, columns, limits, transposed=transposed)
    return draft.plan({"X": x}, 2 * shape[0] ** 2 * columns)


def read_diagonal(draft: Draft, factors: FactorSlots) -> str:
    """Add the read-back of U's diagonal and of the largest entries in U's columns; give the slot of the texels."""
    slot = draft.call("diagonal of U", plu.diagonal(min(factors.shape)), LU=factors.lu)["diagonal"]
    return read_texels(draft, slot, "diagonal")


def read_exponents(draft: Draft, factors: FactorSlots) -> dict[str, str]:
    """Add the read-back of the powers of two that A was scaled by; give the slots, by name."""
    named = {"row_exponents": factors.row_exponents, "column_exponents": factors.column_exponents}
    return {f"{name}_read": read_texels(draft, slot, f"{name}_read") for name, slot in named.items() if slot}


@lru_cache(maxsize=8)
def probes(n: int) -> NDArray[np.float32]:
    """Random right-hand sides of variance 1, the same for every matrix of an order; read-only, the last eight are kept.

    The expected square of a solution is the sum of all squares of the inverse. Random signs would have that, too, but
    may be orthogonal to a null vector like (1, -1, 0).
    """
    found = np.random.default_rng(n).uniform(-np.sqrt(3), np.sqrt(3), (n, PROBES)).astype(np.float32)
    found.flags.writeable = False
    return found


def probe(draft: Draft, factors: FactorSlots, limits: Limits) -> str:
    """Add the solution for `probes`, with A as it was scaled; give the slot of the array that is read back."""
    n = factors.shape[0]
    (made,) = draft.host("random right-hand sides", lambda: (probes(n),), (), {"probes": (n, PROBES)})
    b = upload(draft, made, (n, PROBES), limits)
    x = substitute(draft, replace(factors, row_exponents="", column_exponents=""), b, PROBES, limits)
    return read_back(draft, x, (n, PROBES), limits, "probe solutions")


def upload_records(draft: Draft, steps: int) -> str:
    """Add the operand ``pivots``, records that come from the host; give the slot of the texture."""
    storage = Storage(1, steps)
    return write_texels(draft, draft.operand("pivots", texels_of(storage)), storage)
