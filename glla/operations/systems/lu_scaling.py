"""Fallback of `lu_solve` near float32's limits, on the host: scaling, or substitution in float64.

Powers of two are taken out of U and out of the columns of B, and applied to the solution. Factors on the device are not
scaled. If sizes differ too much within U, or are far from 1 on the device, no single power of two helps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.operations.acceptance import each_near_one, largest_near_one, largest_of_columns, near_one
from glla.operations.host import scaling
from glla.operations.host.scaling import Integers
from glla.operations.host.substitution import in_rounded_rows, substituted
from glla.operations.record import Float32
from glla.passes import Draft, Forms, HostArray

SCALE, BACK = "scale U and the columns of B by powers of two, where need be", "scale X back"
IN_FLOAT64 = "substitute in float64"
"""Work of the host, by its name in plans and traces."""


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def scaled(lu: Float32, b: Float32) -> tuple[Float32, Float32, Integers]:
    """Scale packed factors and right-hand sides, one system or a stack; give the exponents of the solution's columns.

    Where all entries are near 1 they stay as they are.
    """
    if largest_near_one(np.triu(lu)) and largest_near_one(b):
        return lu, b, np.zeros((*b.shape[:-2], 1, b.shape[-1]), dtype=np.int32)
    upper = np.triu(np.ones(lu.shape[-2:], dtype=bool))
    of_factors = scaling.exponents(np.max(np.abs(np.triu(lu)), axis=(-2, -1), keepdims=True))
    rhs, sizes = scaling.right_sides(b)
    return np.ldexp(lu, np.where(upper, -of_factors, 0)), rhs.astype(np.float32), sizes - of_factors


def safe(diagonal: NDArray[np.floating], largest: NDArray[np.floating]) -> bool:
    """Whether no quotient of a substitution comes near float32's limits, by U's diagonal and its columns' largest.

    >>> safe(np.array([1, 1e-30]), np.array([1, 1]))
    False
    """
    return bool(diagonal.all()) and near_one(diagonal) and near_one(largest)


def each_safe(lu: Float32) -> NDArray[np.bool_]:
    """As `safe`, of the packed factors of each matrix of a stack."""
    diagonals = np.diagonal(lu, 0, -2, -1)
    near: NDArray[np.bool_] = each_near_one(diagonals) & each_near_one(largest_of_columns(np.triu(lu)))
    return near & diagonals.all(axis=-1)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def in_float64(lu: Float32, b: Float32, order: NDArray[np.intp], transposed: bool) -> Float32:
    """Solve on the host, in float64, batched: (L U)[i] is row order[i] of A.

    >>> in_float64(np.float32([[2, 4], [0.5, 1e-40]]), np.float32([[6], [3]]), np.arange(2), False).tolist()
    [[3.0], [0.0]]
    """
    lower, upper = {"lower": True, "unit_diagonal": True}, {"lower": False, "unit_diagonal": False}
    if not transposed:
        y = substituted(lu, b[..., order, :].astype(np.float64), **lower)
        return in_rounded_rows("lu_solve", lu, y, **upper)
    y = substituted(lu, b.astype(np.float64), **upper, transposed=True)
    return in_rounded_rows("lu_solve", lu, y, **lower, transposed=True)[..., np.argsort(order), :]


def scaled_back(x: Float32, exponents: Integers) -> tuple[Float32]:
    """Scale a solution back."""
    which = " of a matrix of the stack" if x.ndim > 2 and len(x) > 1 else ""  # its piece begins anywhere
    return scaling.scaled_back("lu_solve", x, exponents, which=which)


def add_scaled(draft: Draft, forms: Forms) -> str:
    """Add operands ``LU`` and ``B``, and slots ``scaled LU`` and ``scaled B``; give the slot of the exponents."""
    given = tuple(draft.operand(name, HostArray(form.matrix)) for name, form in zip(("LU", "B"), forms, strict=True))
    made = {f"scaled {name}": draft.slots[name] for name in given}
    return draft.host(SCALE, scaled, given, {**made, "exponents": (1, forms[1].matrix[1])})["exponents"]


def add_scaled_back(draft: Draft, x: str, exponents: str) -> str:
    """Add the scaling of the solution; give its slot."""
    return draft.host(BACK, scaled_back, (x, exponents), {"X scaled back": draft.slots[x]})["X scaled back"]
