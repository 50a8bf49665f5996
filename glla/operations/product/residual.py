"""The residual of an inverse on the device, R = A X - I: of A, X and R three norms are read back, no matrix.

R is a product in float32, whose own error may be n u norm(A) norm(X). So the ratio found here,

    norm(R) / (n norm(A) norm(X) u), in the 1-norm

is off by about 1: a ratio well below the limit is accepted, for any other the residual is computed again in float64 on
the host. `ACCEPTED` leaves room for that, and for sums of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.operations import elementwise, reduce
from glla.operations.acceptance import PROMISED, UNIT_ROUNDOFF, Values
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import read_texels
from glla.operations.product import matmul
from glla.passes import Draft, Limits, resident
from glla.passes.layout import Shape

ACCEPTED = PROMISED - 2
"""Ratio up to which the residual in float32 settles it."""


def add_norm(draft: Draft, slot: str, shape: Shape, name: str) -> str:
    """Add the 1-norm of a packed matrix, the largest sum of a column's magnitudes, read back; give its slot."""
    sums = draft.call("sums of columns", reduce.fold(shape, "sum_magnitudes", 0), A=slot)["total"]
    norm = draft.call("norm", reduce.fold((1, shape[1]), "max"), A=sums)["total"]
    return read_texels(draft, norm, name)


def add_residual(draft: Draft, a: str, x: str, shape: Shape, limits: Limits) -> dict[str, str]:
    """Add R = A X - I of packed matrices; give the results ``norm_A``, ``norm_X`` and ``norm_R``."""
    product = draft.call("A X", matmul.plan(resident(shape, shape), limits), A=a, B=x)["C"]
    identity = draft.call("I", packing.identity(shape))["I"]
    r = draft.call("A X - I", elementwise.binary(shape, "subtract"), A=product, B=identity)["result"]
    return {
        f"norm_{name}": add_norm(draft, slot, shape, f"norm_{name}") for name, slot in (("A", a), ("X", x), ("R", r))
    }


def ratio(values: Values, n: int) -> float:
    """norm(R) / (n norm(A) norm(X) u), from results of `add_residual`; NaN or infinite where a norm is of no use."""
    with np.errstate(all="ignore"):
        return float(np.float64(norm(values, "R")) / size(values, n))


def size(values: Values, n: int) -> Any:
    """N norm(A) norm(X) u: where it is above 1, an inverse may come of noise in place of a pivot."""
    return np.float64(n) * norm(values, "A") * norm(values, "X") * UNIT_ROUNDOFF


def norm(values: Values, name: str) -> float:
    """A norm that was read."""
    return float(values[f"norm_{name}"].flat[0])
