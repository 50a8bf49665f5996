"""The certificate of A V = V Lambda, V^T V = I: two norms estimated by four vectors of +-1, on the device.

    x --> V x, V (Lambda x) --> A (V x) - V (Lambda x), V^T (V x) - x --> squares of their norms, max |lambda|

The mean over such vectors is the square of the Frobenius norm; four of them were within a factor of 2 of it. Three
passes, of which one texel is read back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glla.operations.host.scaling import exponent_of
from glla.operations.record import Array
from glla.operations.spectral.symmetric import Subset
from glla.passes import Draft, Plan, Storage, matrix
from glla.passes.cache import cached_plan

VECTORS = 4
"""Vectors of +-1."""

ALARM = 10.0
"""Largest residual and loss of orthogonality, in n u, that are accepted: a third of the bound."""


@cached_plan
def plan(n: int, subset: Subset) -> Plan:
    """Plan of the certificate of some of the pairs of A.

    Operands ``A``, ``V``, whose columns are those of the subset, and ``L``, a line of n texels. Result
    ``certificate``, one texel.
    """
    draft, line = Draft("certificate"), Storage(1, n)
    a, v = draft.operand("A", matrix((n, n))), draft.operand("V", matrix((n, subset.count)))
    values, chosen = draft.operand("L", line), subset.uniforms
    products, rows, result = (draft.slot("Y", line), draft.slot("W", line)), draft.slot("R", line), Storage(1, 1)
    draft.draw("spectral/eigh/applied", {"V": v, "L": values}, products, chosen)
    inputs = {"A": a, "V": v, "L": values, "Y": "Y", "W": "W"}
    draft.draw("spectral/eigh/residual", inputs, rows, {"n": n, **chosen})
    draft.draw("spectral/eigh/judge", {"R": rows}, draft.slot("certificate", result), {"n": n})
    return draft.plan({"certificate": "certificate"}, 24 * n * n)


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


def of(texel: Array, largest: Array, n: int) -> Certificate:
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
