"""Substitution with a triangle on the host, in float64: for numbers too near float32's limits for a device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from glla.errors import GllaError
from glla.operations.acceptance import BATCHED, NORMAL, Continue, Done, Settle, Values, Verdict, underflow, unless_error
from glla.passes import Forms

Float64 = NDArray[np.float64]

ROWS = 64
"""Rows that the host checks, or substitutes, at a time."""


def substituted(
    t: NDArray[np.float32],
    b: Float64,
    *,
    lower: bool,
    unit_diagonal: bool,
    transposed: bool = False,
    rounded: bool = False,
) -> Float64:
    """Substitute in float64, batched; if `rounded`, each row of X is rounded to float32 before it is used."""
    left, x = (np.swapaxes(t, -1, -2) if transposed else t), b
    backward = lower == transposed
    if backward:  # upside down an upper triangle is a lower one
        left, x = left[..., ::-1, ::-1], x[..., ::-1, :]
    x = x.copy()
    for top in range(0, left.shape[-1], ROWS):
        part = left[..., top : top + ROWS, : top + ROWS].astype(np.float64)
        x[..., top : top + ROWS, :] -= part[..., :top] @ x[..., :top, :]
        for i in range(top, top + part.shape[-2]):
            row, own = part[..., i - top, np.newaxis, :], x[..., i : i + 1, :]
            own -= row[..., top:i] @ x[..., top:i, :]
            if not unit_diagonal:
                own /= row[..., i : i + 1]
            if rounded:
                short = own.astype(np.float32)
                own[...] = np.where(np.isfinite(short), short, own)
    return np.ascontiguousarray(x[..., ::-1, :] if backward else x)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def in_rounded_rows(
    function: str,
    t: NDArray[np.float32],
    b: Float64,
    *,
    lower: bool = False,
    unit_diagonal: bool = False,
    transposed: bool = False,
) -> NDArray[np.float32]:
    """Substitute in float64, batched; each row of the solution is rounded to float32 before it is used.

    Raises NonFiniteError: so little of a column is left that the bound of `solve` is missed, see
    `glla.operations.acceptance.underflow`.
    """
    x = substituted(t, b, lower=lower, unit_diagonal=unit_diagonal, transposed=transposed, rounded=True)
    short = x.astype(np.float32)
    small = np.asarray((np.abs(x) < NORMAL).any(axis=-1))
    rows = np.flatnonzero(small.any(axis=tuple(range(small.ndim - 1))))
    if len(rows):  # what rounding took from them is left in the residual
        half = (np.tril if lower else np.triu)(t, (-1 if lower else 1) if unit_diagonal else 0)
        some = (np.swapaxes(half, -1, -2) if transposed else half)[..., rows, :].astype(np.float64)
        left = b[..., rows, :] - some @ x - (x[..., rows, :] if unit_diagonal else 0.0)
        left = left if unit_diagonal else left / np.diagonal(t, 0, -2, -1)[..., rows, np.newaxis]
        x[..., rows, :] += np.where(small[..., rows, np.newaxis], left, 0.0)
    unless_error(underflow(function, x, short))
    return short


def of_given_factors(
    singular: Callable[[Forms, Values], GllaError | None], lost: Callable[[Forms, Values], bool], scaled: bool = False
) -> Settle:
    """Make the `settle` of a substitution: an error for a zero on the diagonal, the fallback on the host, or done.

    `singular`: the error, if there is one. `lost`: whether numbers came near float32's limits, once ``X`` is there.
    `scaled`: the fallback finds the diagonal, scaled, and so is asked for the error, in place of the matrix of a batch.
    """

    def decide(forms: Forms, stage: str, values: Values) -> Verdict:
        last = stage not in ("", BATCHED)
        error = singular(forms, values) if stage == "" or scaled == last else None
        if error is not None:
            return error
        again = stage == BATCHED or (not last and "X" in values and lost(forms, values))
        return Continue("fallback") if again else Done()

    return decide
