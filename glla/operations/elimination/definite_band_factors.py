"""Systems with a positive definite band with a given Cholesky factor: two substitutions."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np

from glla.operations.alignment import aligned
from glla.operations.crossing import at_home, bring_in, bring_in_watched, read_back, upload, watch
from glla.operations.elimination import stack_banded
from glla.operations.elimination.band_columns import Band
from glla.operations.elimination.definite import (
    BACK,
    CARE,
    FAR_FROM_ONE,
    SCALE,
    SMALL,
    ZERO,
    settle_solve,
)
from glla.operations.elimination.definite_band import check, example, places, shifted, substituted
from glla.operations.host.scaling import Integers, factor_system, scaled_back
from glla.operations.record import Array, Operation, Way
from glla.passes import PLAIN, Draft, Forms, HostArray, Limits, Next, Plan, matrix, resident
from glla.passes.cache import cached_plan


def flops(forms: Forms) -> int:
    """Additions and multiplications: about 4 n w for each right-hand side."""
    (rows, n), (_, columns) = (form.matrix for form in forms)
    return forms[0].count * 4 * n * min(rows, n) * columns


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of the solution of L L^T X = B on the device.

    Operands ``C`` and ``B``. Results ``X``, and ``diagonal``, that of L, 1 x n. Passes: 2 ceil(n / 16) + 4.

    Parameters
    ----------
    forms : (Form, Form)
        Of the factor as LAPACK stores it, (w + 1) x n, and of B, n x columns.
    lower : bool
        C holds L; otherwise U = L^T.
    """
    shape, (n, columns) = (form.matrix for form in forms)
    draft = Draft("cho_solve_banded")
    band = Band(draft, shape)
    c, b = draft.operand("C", matrix(shape)), draft.operand("B", matrix((n, columns)))
    factor = draft.slot("L by columns", band.storage)
    band.lay(c, factor, not lower)
    results = {"X": substituted(band, factor, b, columns), "diagonal": band.diagonals(factor, "diagonal", 1, False)}
    return draft.plan(results, flops(forms))


@cached_plan
def whole(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call: scaled on the host where both operands are there; the diagonal of the factor; the solution."""
    if not any(form.resident for form in forms):
        return careful(forms, limits, lower=lower)
    shape, (n, columns) = (form.matrix for form in forms)
    draft, results = Draft("cho_solve_banded"), dict[str, str]()
    core = plan(resident(shape, (n, columns)), limits, lower=lower)
    c = bring_in(draft, "C", forms[0], limits)
    found = draft.call("solution", core, C=c, B=bring_in_watched(draft, "B", forms[1], limits, results))
    results["X"] = found["X"]
    watch(draft, "X", found["X"], (n, columns), results)
    results["diagonal"] = read_back(draft, found["diagonal"], (1, n), limits, "diagonal of L")
    return draft.plan(results, after=(Next(FAR_FROM_ONE, CARE, partial(careful, forms, limits, lower=lower)), ZERO))


@cached_plan
def careful(forms: Forms, limits: Limits, *, lower: bool) -> Plan:
    """Plan of a solution scaled on the host, where need be; operands on the device are read back."""
    shape, (n, columns) = (form.matrix for form in forms)
    draft, results = Draft("cho_solve_banded"), dict[str, str]()
    core = plan(resident(shape, (n, columns)), limits, lower=lower)
    given = tuple(at_home(draft, name, form, limits) for name, form in zip("CB", forms, strict=True))
    shapes = {"scaled C": shape, "scaled B": (n, columns), "row exponents": (n, 1), "sizes": (columns,)}
    made = {name: draft.slot(name, HostArray(one)) for name, one in shapes.items()}
    draft.host(SCALE, partial(scaled, lower=lower), given, tuple(made.values()))
    c, b = upload(draft, made["scaled C"], shape, limits), upload(draft, made["scaled B"], (n, columns), limits)
    found = draft.call("solution", core, C=c, B=b)
    x = read_back(draft, found["X"], (n, columns), limits, "scaled X")
    results["X"] = draft.slot("X", HostArray((n, columns)))
    work = partial(scaled_back, "cho_solve_banded")
    draft.host(BACK, work, (x, made["sizes"], made["row exponents"]), (results["X"],))
    results["diagonal"] = read_back(draft, found["diagonal"], (1, n), limits, "diagonal of L")
    return draft.plan(results, after=(ZERO, SMALL))


def scaled(c: Array, b: Array, lower: bool) -> tuple[Array, Array, Integers, Integers]:
    """Scale a factor by rows of L, and right-hand sides by rows and then by columns; give the exponents of both."""
    largest = np.zeros((c.shape[1], 1), dtype=np.float32)
    for row, end, distance in places(c.shape, lower):
        largest[distance:, 0] = np.maximum(largest[distance:, 0], np.abs(c[row, end]))
    return factor_system(largest, lambda e: shifted(c, lower, e), c, b)


def alone(forms: Forms, limits: Limits, lower: bool) -> Plan:
    """Plan of a member of a stack that must be scaled."""
    return whole(forms, limits, lower=lower)


def example_of_factor(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A factor in the upper storage, U = L^T, and a right-hand side."""
    return (*example(n, rng), rng.standard_normal((n, 1)).astype(np.float32))


CHO_SOLVE_BANDED = Operation(
    name="cho_solve_banded",
    formula="L L^T X = B, L banded",
    summary="two substitutions with the band of Cholesky's factor, 16 rows at a time",
    source="LAPACK pbtrs",
    operands=("C", "B"),
    results=("X",),
    check=partial(check, function="cho_solve_banded"),
    flops=flops,
    core=plan,
    whole=whole,
    example=example_of_factor,
    values=lambda forms, results: results["X"],
    settle=settle_solve,
    batch=stack_banded.batch(stack_banded.substitute, alone, CARE, ZERO),
    arguments=lambda c, b: ((c, False), b),
    aligned=aligned,
    vectors={"B": 1},
    fits=True,
)
"""The public solution with the Cholesky factor of a band."""
