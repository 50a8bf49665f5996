"""The certificate of A V = V Lambda, V^T V = I: two norms estimated by four vectors of +-1, on the device.

    x --> V x, V (Lambda x) --> A (V x) - V (Lambda x), V^T (V x) - x --> squares of their norms, max |lambda|

The mean over such vectors is the square of the Frobenius norm; four of them were within a factor of 2 of it. Three
passes, of which one texel is read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError, NonFiniteError
from glla.operations.acceptance import BATCHED, Continue, Done, Values, Verdict, not_finite
from glla.operations.batches.stack import SINGLE, Cells
from glla.operations.host.scaling import exponent_of
from glla.operations.record import Filter, Float32
from glla.operations.spectral.symmetric import Subset
from glla.passes import Draft, Plan, Slot, Storage, matrix
from glla.passes.cache import cached_plan

VECTORS = 4
"""Vectors of +-1."""

ALARM = 10.0
"""Largest residual and loss of orthogonality, in n u, that are accepted: a third of the bound."""


EXCEEDS = "residual or loss of orthogonality exceeds 10 n u"


AGAIN = "by another variant"
"""Name of the stage after a rejected result."""


def verdict(stage: str, values: Values, n: int, words: tuple[str, str, str], repeated: bool = True) -> Verdict | None:
    """Judge a result by its certificate: an error, the stage that comes again, if it was not this one, or None.

    `n`: order. `words`: for the vectors, a value, and a function that is left. `repeated`: whether there is another
    variant.
    """
    if stage == BATCHED and not values["check_finite"]:
        return Done()
    if stage == BATCHED and np.isfinite(values["A"]).all():
        return Continue(AGAIN)
    if stage == BATCHED:
        return not_finite(values["function"], "A", values["which"])
    if "certificate" not in values:
        return None
    judged, (vectors, value, instead) = of(values["certificate"], values["largest_A"], n), words
    if not judged.ok and repeated and stage != AGAIN:
        return Continue(AGAIN)
    if not judged.ok:
        return ConvergenceError(
            f"{values['function']}: the {vectors}{values['which']} are not accepted: {judged}, where {ALARM:g} n u "
            f"are; use {instead}"
        )
    if judged.overflows:
        return NonFiniteError(
            f"{values['function']}: {value}{values['which']} does not fit float32; divide A by a power of two"
        )
    return None


def enough(n: int) -> float:
    """The same, not in n u."""
    return ALARM * n * 2.0**-24


# -- batches: the first row of a record, the values, is not finite where a matrix is rejected


def _rejected(operands: tuple[Float32, ...], records: Float32, *_: object, **options: object) -> NDArray[np.intp]:
    if np.isfinite(records).all():  # far faster than to look at the rows
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(~np.isfinite(records[:, 0]).all(axis=-1))


def _lost(numbers: Mapping[str, Float32], **options: object) -> NDArray[np.bool_]:
    return ~np.isfinite(numbers["largest"][:, 0])


MARKED = Filter(_rejected, lost=_lost, marked=1)
"""Filter of batches whose plans judge the matrices themselves."""


@cached_plan
def plan(n: int, subset: Subset, tridiagonal: bool = False) -> Plan:
    """Plan of the certificate of some of the pairs of A, or of a `tridiagonal` T.

    Operands ``A``, packed, or ``T``, a line of texels, ``V``, whose columns are those of the subset, and ``L``, a line
    of n texels. Result ``certificate``, one texel.
    """
    draft, line = Draft("certificate"), Storage(1, n)
    given: dict[str, Slot] = {"T": line} if tridiagonal else {"A": matrix((n, n))}
    given |= {"V": matrix((n, subset.count)), "L": line}
    inputs = {name: draft.operand(name, slot) for name, slot in given.items()}
    return draft.plan({"certificate": add(draft, inputs, n, subset, SINGLE)}, 24 * n * n)


def add(draft: Draft, inputs: dict[str, str], n: int, subset: Subset, cells: Cells) -> str:
    """Add the passes of the certificate, of each matrix of a stack; give its slot. Inputs: A or tridiagonal T; V, L."""
    line, chosen, kind = cells.storage(1, n), {**subset.uniforms, **cells.grid}, {"TRIDIAGONAL": int("T" in inputs)}
    products, rows, result = (draft.slot("Y", line), draft.slot("W", line)), draft.slot("R", line), cells.storage(1, 1)
    draft.draw("spectral/eigh/applied", {one: inputs[one] for one in "VL"}, products, chosen, cells.defines)
    inputs = {**inputs, "Y": "Y", "W": "W"}
    draft.draw("spectral/eigh/residual", inputs, rows, {"n": n, **chosen}, kind | cells.defines)
    found = draft.slot("certificate", result)
    draft.draw("spectral/eigh/judge", {"R": rows}, found, {"n": n, **cells.grid}, cells.defines)
    return found


class Certificate(NamedTuple):
    """Estimates of the errors of a result, in n u."""

    residual: float  # norm(A V - V Lambda) / norm(A)
    orthogonality: float  # norm(V^T V - I)
    overflows: bool  # an eigenvalue does not fit float32

    @property
    def ok(self) -> bool:
        """Whether the result is accepted; NaN is not."""
        return self.residual <= ALARM and self.orthogonality <= ALARM

    def __str__(self) -> str:
        return f"its residual is {self.residual:.3g} n u and its loss of orthogonality {self.orthogonality:.3g} n u"


def of(texel: Float32, largest: Float32, n: int) -> Certificate:
    """Read a certificate, and the largest entry of A.

    >>> of(np.float32([0, 0, 9, 3]), np.float32([8]), 2)
    Certificate(residual=0.0, orthogonality=0.0, overflows=False)
    """
    residual, orthogonality, square, most = texel.reshape(-1)[:4].astype(np.float64)
    unit = n * 2.0**-24
    relative = np.sqrt(residual / VECTORS / square) if square else np.sqrt(residual)
    value = np.ldexp(most, exponent_of(float(largest.reshape(-1)[0])) - 1)
    overflows = bool(value > np.finfo(np.float32).max)
    return Certificate(float(relative / unit), float(np.sqrt(orthogonality / VECTORS) / unit), overflows)
