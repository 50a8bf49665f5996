"""Batches of positive definite bands: factors and solutions of all of them by the passes of one.

    raw --> pack --> LAPACK's storage, interleaved --> columns of blocks --> L --> substitutions --> unpack --> raw

As `glla.operations.batches.stack` has it; the steps are those of a single band in variant ``block16``, see
`band_columns`, and so are the bits. A record ends in a line of diagnostics, the diagonal of L. A matrix whose diagonal
or right-hand sides are far from 1 must be scaled: systems with new factors are then batched again, others are looped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations.acceptance import FALLBACK
from glla.operations.bands.band_columns import BLOCK16, Band
from glla.operations.batches.stack import Passes, Stack, capacity
from glla.operations.definite.cholesky_blocks import SIDE
from glla.operations.definite.stack_definite import FAR, rejected_definite
from glla.operations.record import Batch, Filter, Float32, Layout
from glla.passes import PLAIN, Form, Forms, Limits, Plan, Transition
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels


def most_batched(forms: Forms, limits: Limits) -> int:
    """Matrices of a stack that one plan may do at once; 0: they are looped, as a single band does."""
    if not forms[0].stack:
        return 0
    (rows, n), elements = forms[0].matrix, _elements(forms)
    return capacity(_tile(forms), max(elements, n * (forms[-1].matrix[1] + 1), (rows + 1) * n), limits.texture_size)


def _elements(forms: Forms) -> int:
    """Of a matrix, as it comes in."""
    sides = (form.matrix for form in forms)
    return sum(rows * columns for rows, columns in sides)


def _tile(forms: Forms) -> Shape:
    """Texels of the widest and the highest texture of a matrix."""
    (rows, n), side = forms[0].matrix, max(texels(forms[0].matrix[1]), SIDE)  # of a block on the diagonal at least
    height = max(texels(rows), SIDE * (-(-(min(rows, n) - 1) // (2 * SIDE)) + 1))
    return (height, side) if len(forms) == 1 else (max(height, side), max(side, texels(forms[1].matrix[1])))


def _begin(name: str, forms: Forms, limits: Limits) -> tuple[Passes, Band, str]:
    """Begin a plan: bring the bands in; give the slot where they are as they came."""
    shape = forms[0].matrix
    own = Stack.of(forms[0].count, _tile(forms), limits.texture_size)
    passes = Passes(f"stack[{name}]", own, _elements(forms))
    return passes, Band(passes.draft, shape, own), passes.bring_in("ab", shape)


@cached_plan
def factor(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
    """Plan of the factors of a stack of bands in LAPACK's storage, (w + 1) x n.

    Operand ``raw``: the bands. Result ``records``: for each of them the factor in the same storage, and the diagonal of
    L. Passes: those of a single band, and 2.

    `lower`: as in `glla.operations.bands.definite_band.plan`.
    """
    passes, band, ab = _begin("cholesky_banded", forms, limits)
    made = band.factor(ab, not lower, BLOCK16)
    shape = rows, n = forms[0].matrix
    result = passes.unpack(band.diagonals(made, "L", rows, not lower), shape, n, _diagonal(band, made), line=True)
    return passes.draft.plan({"records": result}, forms[0].count * n * min(rows, n) ** 2)


@cached_plan
def solve(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
    """Plan of the solutions of a stack of banded systems.

    Operand ``raw``: all bands, then all B. Result ``records``: for each system X, and the diagonal of L.
    """
    passes, band, ab = _begin("solve_pos_banded", forms, limits)
    return _solved(passes, band, band.factor(ab, not lower, BLOCK16), forms)


@cached_plan
def substitute(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
    """Plan of the solutions of a stack of systems whose banded factors are there; otherwise as `solve`."""
    passes, band, ab = _begin("cho_solve_banded", forms, limits)
    made = passes.draft.slot("L by columns", band.storage)
    band.lay(ab, made, not lower)
    return _solved(passes, band, made, forms)


def _diagonal(band: Band, made: str) -> str:
    return band.diagonals(made, "diagonal", 1, False)


def _solved(passes: Passes, band: Band, made: str, forms: Forms) -> Plan:
    (rows, n), (_, columns), count = forms[0].matrix, forms[1].matrix, forms[0].count
    x = band.substitute(made, columns, partial(passes.pack, shape=(n, columns), start=count * rows * n))
    result = passes.unpack(x, (n, columns), n, _diagonal(band, made), line=True)
    return passes.draft.plan({"records": result}, count * n * min(rows, n) * (min(rows, n) + 4 * columns))


def batch(
    made: Callable[..., Plan], again: Callable[..., Plan], error: Transition, scaled: Callable[..., Any] | None = None
) -> Batch:
    """Batch record of an operation.

    `made`: (forms, limits, lower=) -> one of the plans above. `again`: (forms of a matrix, limits, lower=) -> plan of
    the stage that comes next for a matrix that is far from 1. `error`: error of a matrix without a factor. `scaled`:
    as `Filter.scaled`.
    """

    @cached_plan
    def plan(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
        singles = tuple(Form(form.matrix) for form in forms)
        after = Transition(FAR, FALLBACK, partial(again, singles, limits, lower=lower))
        return replace(made(forms, limits, lower=lower), after=(after, error))

    def rejects(
        operands: tuple[Float32, ...], matrices: Float32, diagnostics: Float32, **options: object
    ) -> NDArray[np.intp]:
        return rejected_definite(operands, matrices, diagnostics, operands[0] if made is substitute else None)

    return Batch(
        most_batched,
        plan,
        Layout(lambda forms: forms[-1].matrix, 1, lambda forms: forms[0].matrix[1]),
        Filter(rejects, extras=("least", *["norms"] * (made is not factor)), scaled=scaled),
    )
