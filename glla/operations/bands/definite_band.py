"""Bands of symmetric positive definite matrices: the Cholesky factor, and systems, in n w^2 instead of n^3 / 3 flop.

What matters is where a band lies. LAPACK's storage has its diagonals as rows; here it lies by columns of 16 x 16
blocks (``cholesky/banded.glsl``): the columns that a step finishes, and what it changes of the rest, are rectangles.
A step is that of a whole matrix, `glla.operations.definite.cholesky_blocks`: 16 columns, and w more columns beside.
The products that are subtracted, and their order, are the same, and so are the bits.

Others call `solution` for a plan (operands ``A``, the band as LAPACK stores it, packed, and ``B``), or
`glla.linalg.definite.solve_definite_band` with arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from glla.errors import ShapeError
from glla.operations.bands import stack_banded
from glla.operations.bands.band_columns import BLOCK16, SIXTEEN, Band
from glla.operations.definite import cholesky
from glla.operations.definite.cholesky import Kind
from glla.operations.definite.definite import ZERO, fallback_with_factors, settle, settle_solve, whole_solution
from glla.operations.host.scaling import Float64, Integers, Scaled, factor_system, symmetric
from glla.operations.layouts.crossing import read_back
from glla.operations.layouts.shapes import aligned
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder, unvaried
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Uniform, Variant, matrix, resident
from glla.passes.layout import Shape

VARIANTS = {
    BLOCK16: Variant(
        "16 columns a step: the block on the diagonal, the strip below it, what remains within reach; three passes",
        f"{cholesky.SEED}; LAPACK pbtrf",
    ),
    SIXTEEN: Variant("16 columns a step in one pass, whose fragments repeat the block on the diagonal", "LAPACK pbtrf"),
}

NARROW = 64
"""Widest band for which a GPU takes `sixteen`, which saves a pass but repeats work of a few hundred fragments. A guess.
A software rasteriser never takes it: its passes cost little."""


def choose(forms: Forms, limits: Limits, name: str = "cholesky_banded") -> Choice:
    """Pick the variant: the tuned one, else by the band's width, see `NARROW`.

    Tuning holds for bands about an eighth as wide as the matrix, as those of `example` are.
    """
    rows, n = forms[0].matrix
    tuned = limits.tuning(name, 8 * rows, n)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    width = rows - 1
    return (BLOCK16 if limits.software or width > NARROW else SIXTEEN), ()


choose_solution = partial(choose, name="solve_pos_banded")
"""As `choose`, with the tuning results of solutions."""


def check(forms: Forms, function: str = "cholesky_banded") -> None:
    """Raise ShapeError unless B has a row for each of A's columns."""
    if len(forms) > 1 and forms[1].matrix[0] != forms[0].matrix[1]:
        raise ShapeError(f"{function}: b must have as many rows as ab has columns, got ab {forms[0].shape} and b "
                         f"{forms[1].shape}")  # fmt: skip


def flops(forms: Forms) -> int:
    """Additions and multiplications: about n w^2, of a band that is no wider than the matrix."""
    rows, n = forms[0].matrix
    return forms[0].count * n * min(rows, n) ** 2


# -- the factor -------------------------------------------------------------------------------------------------------


@builder("cholesky_banded", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen, lower: bool = False) -> Plan:
    """Plan of the factor of an n x n band of w diagonals beside its own, on the device.

    Operand ``A``. Results ``L``, the factor in the same storage (L, or U = L^T), and ``diagonal``, 1 x n; packed.
    Passes: ``block16`` 3 ceil(n / 16) + 3, ``sixteen`` ceil(n / 16) + 4.

    `forms`: of A, the band as LAPACK stores it, (w + 1) x n, both > 0. `lower`: A holds the diagonals on and below the
    main one, a_ij at [i - j, j]; otherwise those on and above, a_ij at [w + i - j, j].
    """
    shape = forms[0].matrix
    draft = Draft(chosen.title)
    band = Band(draft, shape)
    factor = band.factor(draft.operand("A", matrix(shape)), not lower, chosen.variant)
    results = {
        "L": band.diagonals(factor, "L", shape[0], not lower),
        "diagonal": band.diagonals(factor, "diagonal", 1, False),
    }
    return draft.plan(results, flops(forms))


def _factored(draft: Draft, a: str, forms: Forms, limits: Limits, lower: bool, **way: Unpack[Way]) -> dict[str, str]:
    """Add the factorisation, and the read-back of the diagonal."""
    shape = forms[0].matrix
    made = draft.call("factor", plan(resident(shape), limits, **way, lower=lower), A=a)
    return {"L": made["L"], "diagonal": read_back(draft, made["diagonal"], (1, shape[1]), limits, "diagonal of L")}


def places(shape: Shape, lower: bool) -> list[tuple[int, slice, int]]:
    """Rows of LAPACK's storage: number, where there are elements, and how far from the main diagonal."""
    rows, n = shape
    distances = range(rows) if lower else range(rows - 1, -1, -1)
    ends = (slice(None, n - one) if lower else slice(one, None) for one in distances)
    return [(row, end, one) for row, (end, one) in enumerate(zip(ends, distances, strict=True)) if one < n]


def shifted(ab: Float32, lower: bool, e: Integers, f: Integers | None = None) -> Float64:
    """Multiply the entries of the lower half of a band, or of L, by 2^(e_i + f_j); of a stack those of each."""
    found, n = np.zeros(ab.shape), ab.shape[-1]
    for row, end, distance in places(ab.shape[-2:], lower):
        powers = e[..., distance:, 0] + (0 if f is None else f[..., 0, : n - distance])
        found[..., row, end] = np.ldexp(ab[..., row, end].astype(np.float64), powers)
    return found


def of_band(ab: Float32, lower: bool = False) -> Scaled:
    """As `glla.operations.host.scaling.of_definite`, of a band, or of each of a stack."""
    d = symmetric(ab[..., 0 if lower else -1, :])
    e, f = d[..., np.newaxis], d[..., np.newaxis, :]
    return shifted(ab, lower, -e, -f), e, f


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A band of n / 8 + 1 diagonals above the main one, which dominates it."""
    width = min(n // 8 + 1, n - 1)
    ab = rng.uniform(-1, 1, (width + 1, n)) / (2 * width + 1)
    ab[-1] = rng.uniform(1, 2, n)
    for row in range(width):
        ab[row, : width - row] = 0
    return (ab.astype(np.float32),)


FACTOR = Kind("cholesky_banded", _factored, of_band)
"""The factor of a band."""

CHOLESKY_BANDED = Operation(
    name="cholesky_banded",
    formula="A = L L^T, A banded",
    operands=("A",),
    results=("L",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=partial(cholesky.call_plan, FACTOR),
    example=example,
    settle=cholesky.of_factors(shifted),
    batch=stack_banded.batch(stack_banded.factor, partial(cholesky.fallback_plan, FACTOR), cholesky.NOT_DEFINITE),
    taken=Taken(fits=True),
    variants=VARIANTS,
    choose=choose,
    thesis=BLOCK16,
)
"""The public factorisation of a band."""


# -- systems ----------------------------------------------------------------------------------------------------------


def flops_of_solution(forms: Forms) -> int:
    """Additions and multiplications: those of the factor, and about 4 n w for each right-hand side."""
    (rows, n), (_, columns) = (form.matrix for form in forms)
    return flops(forms) + forms[0].count * 4 * n * min(rows, n) * columns


@builder("solve_pos_banded", VARIANTS, choose_solution)
def solution(forms: Forms, limits: Limits, chosen: Chosen, lower: bool = False) -> Plan:
    """Plan of the solution of A X = B on the device, A a band.

    Forms, and `lower`, as of `plan`; B is n x columns. Operands ``A`` and ``B``. Results ``X``, and ``diagonal``, that
    of L, 1 x n: all must be above zero. Passes: those of the factor but two, 2 ceil(n / 16) for both substitutions, and
    2.
    """
    (shape, (n, columns)) = (form.matrix for form in forms)
    draft = Draft(chosen.title)
    band = Band(draft, shape)
    a, b = draft.operand("A", matrix(shape)), draft.operand("B", matrix((n, columns)))
    factor = band.factor(a, not lower, chosen.variant)
    x = substituted(band, factor, b, columns)
    results = {"X": x, "diagonal": band.diagonals(factor, "diagonal", 1, False)}
    return draft.plan(results, flops_of_solution(forms))


def substituted(band: Band, factor: str, b: str, columns: int) -> str:
    """Add both substitutions for right-hand sides that are packed; give the slot of the solution."""
    copy: dict[str, Uniform] = {"placement": (1, 1, 0), "shape": (band.n, columns)}

    def copied(target: str) -> None:
        band.draft.draw("elementwise/unary", {"A": b}, target, copy, {"OPERATION": "positive_of"})

    return band.substitute(factor, columns, copied)


VARIANTS_OF_SOLUTION = {
    name: replace(one, summary=f"{one.summary}; then substitution") for name, one in VARIANTS.items()
}
"""Variants of the factorisation, each followed by substitutions."""


def _solved(
    draft: Draft, a: str, b: str, forms: Forms, limits: Limits, lower: bool, **way: Unpack[Way]
) -> dict[str, str]:
    """Add the solution, and the read-back of the diagonal."""
    device_plan = solution(resident(*(form.matrix for form in forms)), limits, **way, lower=lower)
    return _read(draft, draft.call("solution", device_plan, A=a, B=b), forms, limits)


def _read(draft: Draft, made: Mapping[str, str], forms: Forms, limits: Limits) -> dict[str, str]:
    n = forms[1].matrix[0]
    return {"X": made["X"], "diagonal": read_back(draft, made["diagonal"], (1, n), limits, "diagonal of L")}


def example_of_system(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A band, or a factor U = L^T in the upper storage, and a right-hand side."""
    return (*example(n, rng), rng.standard_normal((n, 1)).astype(np.float32))


SYSTEM = Kind("solve_pos_banded", _solved, of_band)
"""Systems with a band."""

SOLVE_POS_BANDED = Operation(
    name="solve_pos_banded",
    formula="A X = B, A = L L^T banded",
    operands=("A", "B"),
    results=("X",),
    check=partial(check, function="solve_pos_banded"),
    flops=flops_of_solution,
    device_plan=solution,
    call_plan=partial(cholesky.call_plan, SYSTEM),
    example=example_of_system,
    settle=settle,
    batch=stack_banded.batch(
        stack_banded.solve, partial(cholesky.fallback_plan, SYSTEM), cholesky.NOT_DEFINITE, of_band
    ),
    variants=VARIANTS_OF_SOLUTION,
    choose=choose_solution,
    taken=Taken(aligned=aligned, fits=True),
    function=Function(vectors={"B": 1}, public=False),
    thesis=BLOCK16,
)
"""Systems with a band, by `glla.linalg.definite.solve_definite_band`."""


# -- systems with a given factor --------------------------------------------------------------------------------------


def flops_of_substitution(forms: Forms) -> int:
    """Additions and multiplications: about 4 n w for each right-hand side."""
    (rows, n), (_, columns) = (form.matrix for form in forms)
    return forms[0].count * 4 * n * min(rows, n) * columns


@unvaried
def substitution(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
    """Plan of the solution of L L^T X = B on the device.

    Operands ``C`` and ``B``. Results ``X``, and ``diagonal``, that of L, 1 x n. Passes: 2 ceil(n / 16) + 4.
    """
    shape, (n, columns) = (form.matrix for form in forms)
    draft = Draft("cho_solve_banded")
    band = Band(draft, shape)
    c, b = draft.operand("C", matrix(shape)), draft.operand("B", matrix((n, columns)))
    factor = draft.slot("L by columns", band.storage)
    band.lay(c, factor, not lower)
    results = {"X": substituted(band, factor, b, columns), "diagonal": band.diagonals(factor, "diagonal", 1, False)}
    return draft.plan(results, flops_of_substitution(forms))


def _by_factors(draft: Draft, c: str, b: str, forms: Forms, limits: Limits, lower: bool) -> dict[str, str]:
    """Add the substitutions, and the read-back of the factor's diagonal."""
    device_plan = substitution(resident(*(form.matrix for form in forms)), limits, lower=lower)
    return _read(draft, draft.call("solution", device_plan, C=c, B=b), forms, limits)


def scaled_factor(c: Float32, b: Float32, lower: bool) -> tuple[Float32, Float32, Integers, Integers]:
    """Scale a factor by rows of L, and right-hand sides by rows and then by columns; give the exponents of both."""
    largest = np.zeros((c.shape[1], 1), dtype=np.float32)
    for row, end, distance in places(c.shape, lower):
        largest[distance:, 0] = np.maximum(largest[distance:, 0], np.abs(c[row, end]))
    return factor_system(largest, lambda e: shifted(c, lower, e), c, b)


BY_FACTORS = Kind("cho_solve_banded", _by_factors, scaled_factor)
"""Systems with the factor of a band."""

CHO_SOLVE_BANDED = Operation(
    name="cho_solve_banded",
    formula="L L^T X = B, L banded",
    about=Variant("two substitutions with the band of Cholesky's factor, 16 rows at a time", "LAPACK pbtrs"),
    operands=("C", "B"),
    results=("X",),
    check=partial(check, function="cho_solve_banded"),
    flops=flops_of_substitution,
    device_plan=substitution,
    call_plan=partial(whole_solution, BY_FACTORS),
    example=example_of_system,
    settle=settle_solve,
    batch=stack_banded.batch(stack_banded.substitute, partial(fallback_with_factors, BY_FACTORS), ZERO),
    function=Function(arguments=lambda c, b: ((c, False), b), vectors={"B": 1}),
    taken=Taken(aligned=aligned, fits=True),
)
"""The public solution with the Cholesky factor of a band."""
