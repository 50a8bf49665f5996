"""Systems with a symmetric positive definite matrix: by given factors, or by new ones.

The entries of Cholesky factors do not grow, so that a factorisation without a breakdown is accurate: a solution needs
no pivot check, and has the error bound of `solve` whatever the condition (Higham 2002, theorem 10.4). What remains are
float32's limits: a system beyond 2^-40 to 2^40 is scaled by powers of two on the host, symmetrically, and solved again.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np

from glla.errors import SingularMatrixError
from glla.operations import acceptance
from glla.operations.acceptance import FALLBACK, Continue, Done, Values, Verdict
from glla.operations.definite import cholesky, stack_definite
from glla.operations.definite.cholesky import Kind
from glla.operations.elimination import fallback
from glla.operations.host import scaling
from glla.operations.host.refinement import Refinement
from glla.operations.host.scaling import Float64, Integers, scaled_back
from glla.operations.host.substitution import of_given_factors
from glla.operations.layouts.blocks import read_diagonal
from glla.operations.layouts.crossing import at_home, bring_in, read_back, upload, watch
from glla.operations.layouts.shapes import aligned, by_factors, system
from glla.operations.record import Float32, Function, Operation, Taken, Way, unvaried
from glla.operations.triangles import triangular
from glla.passes import PLAIN, Draft, Forms, HostArray, Limits, Plan, Transition, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

SCALE, BACK = "scale rows and columns by powers of two, where need be", "scale X back"
"""Work of the host, by the words that a plan and a trace have for it."""

REFINE = "refine"
"""Name of the stage."""

FAR_FROM_ONE = "the diagonal of L or right-hand sides are beyond 2^-40 to 2^40, or X is not finite"
ZERO = Transition("the factor has a zero on its diagonal", error="SingularMatrixError: names the place")
DIVERGED = Transition(
    "it does not come down", error="ConvergenceError: the matrix is too ill-conditioned for float32 factors"
)


def substitute(draft: Draft, c: str, b: str, shape: Shape, limits: Limits, lower: bool = True) -> str:
    """Add the two substitutions with a factor, L or U = L^T; give the slot of the solution."""
    forms = resident((shape[0], shape[0]), shape)
    first = triangular.plan(forms, limits, transposed=not lower)
    second = triangular.plan(forms, limits, upper=True, transposed=lower)
    y = draft.call("forward", first, T=c, B=b)["X"]
    return draft.call("backward", second, T=c, B=y)["X"]


# -- by factors that are there ----------------------------------------------------------------------------------------


@unvaried
def solution(forms: Forms, limits: Limits = PLAIN, *, lower: bool = True) -> Plan:
    """Plan of the solution on the device: operands ``C``, of which one triangle is read, and ``B``."""
    n, columns = forms[1].matrix
    draft = Draft("cho_solve")
    c, b = draft.operand("C", matrix((n, n))), draft.operand("B", matrix((n, columns)))
    return draft.plan({"X": substitute(draft, c, b, (n, columns), limits, lower)}, triangular.flops_of_both(forms))


@unvaried
def whole_solution(kind: Kind, forms: Forms, limits: Limits = PLAIN, *, lower: bool = False) -> Plan:
    """Plan of a call: scaled on the host where both operands are there; the diagonal of the factor; the solution."""
    c_form, b_form = forms
    if not (c_form.resident or b_form.resident):
        return fallback_with_factors(kind, forms, limits, lower=lower)
    draft, results = Draft(kind.name), dict[str, str]()
    c = bring_in(draft, "C", c_form, limits, as_stored=kind.as_stored)
    b = bring_in(draft, "B", b_form, limits, results)
    turned = kind.as_stored and c_form.resident and c_form.transposed
    results |= kind.add(draft, c, b, forms, limits, lower=lower is not turned)
    watch(draft, "X", results["X"], b_form.matrix, results)
    far = Transition(FAR_FROM_ONE, FALLBACK, partial(fallback_with_factors, kind, forms, limits, lower=lower))
    return draft.plan(results, after=(far, ZERO))


@cached_plan
def fallback_with_factors(kind: Kind, forms: Forms, limits: Limits, *, lower: bool) -> Plan:
    """Plan of a solution scaled on the host, where need be; operands on the device are read back."""
    draft, (shape, (n, columns)) = Draft(kind.name), (form.matrix for form in forms)
    given = tuple(at_home(draft, name, form, limits) for name, form in zip("CB", forms, strict=True))
    shapes = {"scaled C": shape, "scaled B": (n, columns), "row exponents": (n, 1), "sizes": (columns,)}
    made = draft.host(SCALE, partial(kind.scale, lower=lower), given, shapes)
    lying = [kind.as_stored and form.transposed and not form.resident for form in forms]
    c = upload(draft, made["scaled C"], shape, limits, lying[0])
    b = upload(draft, made["scaled B"], (n, columns), limits, lying[1])
    results = kind.add(draft, c, b, forms, limits, lower=lower)
    x = read_back(draft, results["X"], (n, columns), limits, "scaled X")
    back = (x, made["sizes"], made["row exponents"])
    results |= draft.host(BACK, partial(scaled_back, kind.name), back, {"X": (n, columns)})
    return draft.plan(results, after=(ZERO, cholesky.SMALL))


def _by_factors(draft: Draft, c: str, b: str, forms: Forms, limits: Limits, lower: bool) -> dict[str, str]:
    """Add the diagonal of the factor, read back, and both substitutions."""
    n, columns = forms[1].matrix
    diagonal = read_diagonal(draft, c, n, limits, "diagonal of L")
    return {"diagonal": diagonal, "X": substitute(draft, c, b, (n, columns), limits, lower)}


def scaled_factor(c: Float32, b: Float32, lower: bool) -> tuple[Float32, Float32, Integers, Integers]:
    """Scale a factor by rows of L, and right-hand sides by rows and then by columns; give the exponents of both."""
    triangle = np.tril(c) if lower else np.triu(c).T
    largest = np.max(np.abs(triangle), axis=1, keepdims=True)

    def by_rows(e: Integers) -> Float32:
        scaled: Float32 = np.ldexp(triangle, e)
        return scaled if lower else scaled.T

    return scaling.factor_system(largest, by_rows, c, b)


def _singular(forms: Forms, values: Values) -> SingularMatrixError | None:
    """Error if the factor has a zero on its diagonal, or a denormal, which a GPU may take for one."""
    bad = np.flatnonzero(np.abs(values["diagonal"]) < acceptance.NORMAL)
    if not len(bad):
        return None
    function = values.get("function", "cho_solve")
    return SingularMatrixError(
        f"{function}: Singular matrix{values['which']}: the factor is zero at place {bad[0]} of its diagonal; "
        "the system has no unique solution"
    )


def _comes_near_limits(forms: Forms, values: Values) -> bool:
    """Whether a solution on the device may have lost numbers near float32's limits; others were scaled on the host."""
    if "largest_X" not in values:
        return False
    right = values["largest_B"] if "largest_B" in values else values["B"]
    near = acceptance.near_one(values["diagonal"]) and acceptance.largest_near_one(right)
    return not near or not np.isfinite(values["largest_X"]).all()


settle_solve = of_given_factors(_singular, _comes_near_limits, scaled=True)


def example_of_factor(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A factor of a well-conditioned matrix, with numbers in its other triangle, and a right-hand side."""
    c = rng.uniform(-1, 1, (n, n)) / n + np.diag(rng.uniform(1, 2, n))
    return c.astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


# -- by new factors ---------------------------------------------------------------------------------------------------


def flops(forms: Forms) -> int:
    """Additions and multiplications: those of the factor, and 2 n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return forms[0].count * (n**3 // 3 + 2 * n * n * columns)


@cached_plan
def device_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of the solution on the device: factor, then substitution. `variant` is one of `cholesky`."""
    n, columns = forms[1].matrix
    draft = Draft("solve_pos")
    a, b = draft.operand("A", matrix((n, n))), draft.operand("B", matrix((n, columns)))
    made = cholesky.plan(resident((n, n)), limits, **way)
    factor = draft.call("factor", made, A=a)["L"]
    return draft.plan({"X": substitute(draft, factor, b, (n, columns), limits)}, flops(forms))


def _solved(
    draft: Draft, a: str, b: str, forms: Forms, limits: Limits, lower: bool, **way: Unpack[Way]
) -> dict[str, str]:
    """Add the factor, its diagonal, read back, and both substitutions."""
    factor = draft.call("factor", cholesky.plan(resident(forms[0].matrix), limits, **way), A=a)["L"]
    return _by_factors(draft, factor, b, forms, limits, True)


SYSTEM = Kind("solve_pos", _solved, scaling.of_definite, SCALE)
"""Systems with a matrix as it is."""


def call_plan(forms: Forms, limits: Limits = PLAIN, *, refine: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call. With `refine` A is scaled in float64 on the host, and corrections follow."""
    return _factored(forms, limits, **way) if refine else cholesky.call_plan(SYSTEM, forms, limits, **way)


@cached_plan
def _factored(forms: Forms, limits: Limits, **way: Unpack[Way]) -> Plan:
    """Plan of the factor that corrections are made with: of A, scaled in float64 on the host."""
    n, columns = forms[1].matrix
    draft = Draft("solve_pos, refined")
    a = draft.operand("A", HostArray((n, n)))
    shapes = {"scaled A": (n, n), "exponents": (n, 1)}
    scaled, exponents = draft.host(cholesky.SCALED, scaling.equilibrated, (a,), shapes)
    made = cholesky.DENSE.add(draft, upload(draft, scaled, (n, n), limits), forms, limits, **way)
    results = {"C": made["L"], "diagonal": made["diagonal"], "exponents": exponents}
    after = Transition("the factor is accepted", REFINE, partial(correction, n, columns, limits))
    return draft.plan(results, after=(cholesky.NOT_DEFINITE, after))


@cached_plan
def correction(n: int, columns: int, limits: Limits) -> Plan:
    """Plan of one correction, by a factor that is there, and of the residual that is left."""
    draft = Draft(REFINE)

    def solution(residual: str) -> str:
        c, b = draft.operand("C", matrix((n, n))), upload(draft, residual, (n, columns), limits)
        return read_back(draft, substitute(draft, c, b, (n, columns), limits), (n, columns), limits, "correction")

    made = fallback.add_correction(draft, n, columns, solution)
    again = Transition(
        "the backward error went down, at most 40 times", REFINE, partial(correction, n, columns, limits)
    )
    return draft.plan(made, after=(again, DIVERGED))


def _is_far(forms: Forms, values: Values) -> bool:
    b = values["largest_B"] if forms[1].resident else values["B"]
    return not values.get("refine") and (cholesky.is_far(values["diagonal"]) or not acceptance.largest_near_one(b))


def _factored_well(forms: Forms, stage: str, values: Values) -> Verdict:
    """Once the factor is there: with `refine` the backward error decides.

    `Done` has ``X`` where it was found on the host; of a refined solution also ``iterations`` and ``backward_error``.
    """
    if stage == REFINE:
        return _turn(values, {}, values["refinement"], values["corrected X"], values["residual left"])
    if values.get("refine"):
        a, b = (values[name].astype(np.float64) for name in "AB")
        given = {"A in float64": a, "B in float64": b, "e": values["exponents"], "f": values["exponents"].T}
        return _turn({**values, **given}, given, Refinement(), np.zeros_like(b), b)
    if stage == FALLBACK:
        return fallback.scaled_back(values, values["X"].astype(np.float64))
    return Done() if acceptance.finite(values, "X") else Continue(FALLBACK)


settle = cholesky.ladder(_is_far, _factored_well)


def _turn(values: Values, given: Values, so_far: Refinement, x: Float64, residual: Float64) -> Verdict:
    """After a solution of a refinement: another correction comes, or that is all."""
    now = fallback.turn(values, given, so_far, x, residual)
    return now if isinstance(now, Continue) else fallback.refined(values, now, now.best)


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A positive definite matrix, and a right-hand side."""
    return (*cholesky.example(n, rng), rng.standard_normal((n, 1)).astype(np.float32))


BY_FACTORS = Kind("cho_solve", _by_factors, scaled_factor, as_stored=True)
"""Systems with a factor as it is."""

CHO_SOLVE = Operation(
    name="cho_solve",
    formula="L L^T X = B",
    about=Variant(
        "two substitutions with Cholesky's factor: L Y = B, then L^T X = Y", "LAPACK potrs; Higham 2002, section 10.1"
    ),
    operands=("C", "B"),
    results=("X",),
    check=partial(by_factors, "cho_solve", name="c"),
    flops=triangular.flops_of_both,
    device_plan=solution,
    call_plan=partial(whole_solution, BY_FACTORS, lower=True),
    example=example_of_factor,
    settle=settle_solve,
    batch=stack_definite.batch(stack_definite.substitute, partial(fallback_with_factors, BY_FACTORS, lower=True), ZERO),
    function=Function(arguments=lambda c, b: ((c, True), b), vectors={"B": 1}),
    taken=Taken(aligned=aligned, fits=True),
)
"""The public solution with a Cholesky factor."""

SOLVE_POS = Operation(
    name="solve_pos",
    formula="A X = B, A = L L^T",
    operands=("A", "B"),
    results=("X",),
    check=partial(system, "solve_pos"),
    flops=flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    batch=stack_definite.batch(stack_definite.solve, partial(cholesky.fallback_plan, SYSTEM), cholesky.NOT_DEFINITE),
    variants={name: cholesky.VARIANTS[name] for name in ("rank2", "blocked")},
    taken=Taken(aligned=aligned, fits=True),
    function=Function(vectors={"B": 1}, public=False),
    thesis="rank2",
)
"""`solve` with ``assume_a="pos"``."""
