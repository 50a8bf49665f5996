"""Eigenvalues of a symmetric tridiagonal matrix by bisection: a fragment for each counts by Sturm's sequence."""

from __future__ import annotations

from glla.operations.spectral.symmetric import Subset
from glla.passes import Draft, Limits, Plan, Storage, Uniform
from glla.passes.cache import cached_plan

HALVINGS = 28
"""Halvings of the interval of Gershgorin, at most 4 norm(T) wide: 2^-26 norm(T) is left."""

TRIPS = 512
"""Trips of a fragment for which several halvings share a pass; a guess."""


@cached_plan
def plan(n: int, subset: Subset, limits: Limits) -> Plan:
    """Plan of some eigenvalues of T, of order n, in ascending order.

    Operand ``T``, a line of texels (d_i, e_i, 0, 0). Result ``L``, a line of texels (lambda, ...). 1 + 28 passes, fewer
    for small n.
    """
    draft, most = Draft("bisection"), max(1, min(HALVINGS, TRIPS // n))
    draft.operand("T", Storage(1, n))
    found = draft.slot("interval", Storage(1, 1))
    draft.draw("spectral/sturm/bounds", {"T": "T"}, found, {"n": n})
    numbers: dict[str, Uniform] = {"n": n, "first": subset.first}
    pair = [draft.slot(name, Storage(1, subset.count)) for name in ("intervals", "other intervals")]
    for turn, start in enumerate(range(0, HALVINGS, most)):
        with draft.scope("halving", turn):
            defines = {"HALVINGS": min(most, HALVINGS - start), "START": int(turn == 0)}
            draft.draw("spectral/sturm/halve", {"T": "T", "B": found}, pair[turn % 2], numbers, defines)
            found = pair[turn % 2]
    return draft.plan({"L": found}, HALVINGS * 5 * n * subset.count)
