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
from glla.operations import blocks, care, triangular, trust
from glla.operations.alignment import aligned
from glla.operations.crossing import at_home, bring_in, bring_in_watched, read_back, upload, watch
from glla.operations.elimination import cholesky, stack_definite
from glla.operations.host import scaling
from glla.operations.host.refinement import Refinement
from glla.operations.host.scaling import Float64, Integers, scaled_back
from glla.operations.record import Array, Operation, Way
from glla.operations.shapes import by_factors, system
from glla.operations.verdict import BATCHED, Done, Go, Values, Verdict
from glla.passes import PLAIN, Draft, Forms, HostArray, Limits, Next, Plan, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

SCALE, BACK = "scale rows and columns by powers of two, where need be", "scale X back"
"""Work of the host, by the words that a plan and a trace have for it."""

CARE, REFINE = "care", "refine"
"""Names of the stages."""

FAR = "the diagonal of L is zero, or it or right-hand sides are beyond 2^-40 to 2^40, or X is not finite"
FAR_FROM_ONE = "the diagonal of L or right-hand sides are beyond 2^-40 to 2^40, or X is not finite"
SMALL = Next("X is too small", error="NonFiniteError: the solution must fit float32")
ZERO = Next("the factor has a zero on its diagonal", error="SingularMatrixError: names the place")
DIVERGED = Next(
    "it does not come down", error="ConvergenceError: the matrix is too ill-conditioned for float32 factors"
)


def substitute(draft: Draft, c: str, b: str, shape: Shape, limits: Limits, lower: bool = True) -> str:
    """Add the two substitutions with a factor, L or U = L^T; give the slot of the solution."""
    forms = resident((shape[0], shape[0]), shape)
    first = triangular.plan(forms, limits, transposed=not lower)
    second = triangular.plan(forms, limits, upper=True, transposed=lower)
    y = draft.call("forward", first, T=c, B=b)["X"]
    return draft.call("backward", second, T=c, B=y)["X"]


def diagonal(draft: Draft, c: str, n: int, limits: Limits, name: str = "diagonal of L") -> str:
    """Add the read-back of the diagonal of a factor, or of another matrix."""
    made = draft.call("diagonal", blocks.gather((n, n), (n, 1), down=(1, 1)), A=c)["block"]
    return read_back(draft, made, (n, 1), limits, name)


# -- by factors that are there ----------------------------------------------------------------------------------------


def flops_of_solve(forms: Forms) -> int:
    """Additions and multiplications: 2 n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return forms[1].count * 2 * n * n * columns


@cached_plan
def solution(forms: Forms, limits: Limits = PLAIN, *, lower: bool = True, **way: Unpack[Way]) -> Plan:
    """Plan of the solution on the device: operands ``C``, of which one triangle is read, and ``B``."""
    n, columns = forms[1].matrix
    draft = Draft("cho_solve")
    c, b = draft.operand("C", matrix((n, n))), draft.operand("B", matrix((n, columns)))
    return draft.plan({"X": substitute(draft, c, b, (n, columns), limits, lower)}, flops_of_solve(forms))


@cached_plan
def whole_solution(forms: Forms, limits: Limits = PLAIN, *, lower: bool = True, **way: Unpack[Way]) -> Plan:
    """Plan of a call: scaled on the host where both operands are there; the diagonal of the factor; the solution."""
    c_form, b_form = forms
    n, columns = b_form.matrix
    draft = Draft("cho_solve")
    results: dict[str, str] = {}
    if c_form.resident or b_form.resident:
        far = Next(FAR_FROM_ONE, CARE, partial(careful_solution, forms, limits, lower=lower))
        lying = c_form.resident and c_form.transposed
        lower = lower is not lying
        c = bring_in(draft, "C", c_form, limits, as_it_lies=True)
        b = bring_in_watched(draft, "B", b_form, limits, results)
        results["diagonal"] = diagonal(draft, c, n, limits)
        results["X"] = substitute(draft, c, b, (n, columns), limits, lower)
        watch(draft, "X", results["X"], (n, columns), results)
        return draft.plan(results, after=(far, ZERO))
    return careful_solution(forms, limits, lower=lower)


@cached_plan
def careful_solution(forms: Forms, limits: Limits, *, lower: bool) -> Plan:
    """Plan of a solution scaled on the host, where need be; operands on the device are read back."""
    n, columns = forms[1].matrix
    draft, results = Draft("cho_solve"), dict[str, str]()
    given = tuple(at_home(draft, name, form, limits) for name, form in zip("CB", forms, strict=True))
    shapes = {"scaled C": (n, n), "scaled B": (n, columns), "row exponents": (n, 1), "sizes": (columns,)}
    made = {name: draft.slot(name, HostArray(shape)) for name, shape in shapes.items()}
    draft.host(SCALE, partial(scaled_factor, lower=lower), given, tuple(made.values()))
    lying = [form.transposed and not form.resident for form in forms]
    c = upload(draft, made["scaled C"], (n, n), limits, lying[0])
    b = upload(draft, made["scaled B"], (n, columns), limits, lying[1])
    results["diagonal"] = diagonal(draft, c, n, limits)
    x = read_back(draft, substitute(draft, c, b, (n, columns), limits, lower), (n, columns), limits, "scaled X")
    results["X"] = draft.slot("X", HostArray((n, columns)))
    draft.host(BACK, partial(scaled_back, "cho_solve"), (x, made["sizes"], made["row exponents"]), (results["X"],))
    return draft.plan(results, after=(ZERO, SMALL))


def scaled_factor(c: Array, b: Array, lower: bool) -> tuple[Array, Array, Integers, Integers]:
    """Scale a factor by rows of L, and right-hand sides by rows and then by columns; give the exponents of both."""
    triangle = np.tril(c) if lower else np.triu(c).T
    largest = np.max(np.abs(triangle), axis=1, keepdims=True)

    def by_rows(e: Integers) -> Array:
        scaled: Array = np.ldexp(triangle, e)
        return scaled if lower else scaled.T

    return scaling.factor_system(largest, by_rows, c, b)


def settle_solve(forms: Forms, stage: str, values: Values) -> Verdict:
    """Raise if the factor has a zero on its diagonal, or a denormal, which a GPU may take for one.

    What was not scaled on the host, as it is on the device, is solved again if it comes near float32's limits.
    """
    if stage == BATCHED:
        return Go(CARE)
    bad = np.flatnonzero(np.abs(values["diagonal"]) < trust.NORMAL)
    if not len(bad):
        unscaled_ = not stage and "largest_X" in values
        return Go(CARE) if unscaled_ and _comes_near_limits(values) else Done()
    function = values.get("function", "cho_solve")
    return SingularMatrixError(
        f"{function}: Singular matrix{values['member']}: the factor is zero at place {bad[0]} of its diagonal; "
        "the system has no unique solution"
    )


def _comes_near_limits(values: Values) -> bool:
    """Whether a solution on the device may have lost numbers near float32's limits."""
    sizes = [values["diagonal"], *(values[name] for name in ("largest_B",) if name in values)]
    near = all(trust.near_one(size) for size in sizes)
    if "largest_B" not in values:
        near = near and trust.largest_near_one(values["B"])
    return not near or not np.isfinite(values["largest_X"]).all()


def example_of_factor(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A factor of a well-conditioned matrix, with numbers in its other triangle, and a right-hand side."""
    c = rng.uniform(-1, 1, (n, n)) / n + np.diag(rng.uniform(1, 2, n))
    return c.astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


# -- by new factors ---------------------------------------------------------------------------------------------------


def flops(forms: Forms) -> int:
    """Additions and multiplications: those of the factor, and 2 n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return forms[0].count * (n**3 // 3 + 2 * n * n * columns)


@cached_plan
def core(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of the solution on the device: factor, then substitution. `variant` is one of `cholesky`."""
    n, columns = forms[1].matrix
    draft = Draft("solve_pos")
    a, b = draft.operand("A", matrix((n, n))), draft.operand("B", matrix((n, columns)))
    made = cholesky.plan(resident((n, n)), limits, **way)
    factor = draft.call("factor", made, A=a)["L"]
    return draft.plan({"X": substitute(draft, factor, b, (n, columns), limits)}, flops(forms))


@cached_plan
def whole(forms: Forms, limits: Limits = PLAIN, *, refine: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call. With `refine` A is scaled in float64 on the host, and corrections follow."""
    if refine:
        return _factored(forms, limits, **way)
    n, columns = forms[1].matrix
    draft = Draft("solve_pos")
    results: dict[str, str] = {}
    a, b = (bring_in_watched(draft, name, form, limits, results) for name, form in zip("AB", forms, strict=True))
    made = cholesky.plan(resident((n, n)), limits, **way)
    factor = draft.call("factor", made, A=a)["L"]
    results["diagonal"] = diagonal(draft, factor, n, limits)
    x = substitute(draft, factor, b, (n, columns), limits)
    if any(form.resident for form in forms):
        results["X"] = x
        watch(draft, "X", x, (n, columns), results)
    else:
        results["X"] = read_back(draft, x, (n, columns), limits, "X")
    far = Next(FAR, CARE, partial(careful, forms, limits, **way))
    return draft.plan(results, after=(far, cholesky.NOT_DEFINITE))


@cached_plan
def careful(forms: Forms, limits: Limits, **way: Unpack[Way]) -> Plan:
    """Plan of a system scaled on the host first; operands on the device are read back."""
    n, columns = forms[1].matrix
    draft = Draft(CARE)
    given = tuple(at_home(draft, name, form, limits) for name, form in zip("AB", forms, strict=True))
    shapes = {"scaled A": (n, n), "scaled B": (n, columns), "column exponents": (n, 1), "sizes": (columns,)}
    made = {name: draft.slot(name, HostArray(shape)) for name, shape in shapes.items()}
    draft.host(SCALE, partial(scaling.definite_system, scaling.of_definite), given, tuple(made.values()))
    a, b = upload(draft, made["scaled A"], (n, n), limits), upload(draft, made["scaled B"], (n, columns), limits)
    plan = cholesky.plan(resident((n, n)), limits, **way)
    factor = draft.call("factor", plan, A=a)["L"]
    results = {"diagonal": diagonal(draft, factor, n, limits)}
    results["X"] = read_back(draft, substitute(draft, factor, b, (n, columns), limits), (n, columns), limits, "X")
    results |= {name: made[name] for name in ("column exponents", "sizes")}
    small = Next("X is too small", error="NonFiniteError: the solution must fit float32")
    return draft.plan(results, after=(cholesky.NOT_DEFINITE, small))


def _factored(forms: Forms, limits: Limits, **way: Unpack[Way]) -> Plan:
    """Plan of the factor that corrections are made with: of A, scaled in float64 on the host."""
    n, columns = forms[1].matrix
    draft = Draft("solve_pos, refined")
    a = draft.operand("A", HostArray((n, n)))
    scaled, exponents = draft.slot("scaled A", HostArray((n, n))), draft.slot("exponents", HostArray((n, 1)))
    draft.host(cholesky.SCALED, cholesky.equilibrated, (a,), (scaled, exponents))
    plan = cholesky.plan(resident((n, n)), limits, **way)
    factor = draft.call("factor", plan, A=upload(draft, scaled, (n, n), limits))["L"]
    results = {"C": factor, "diagonal": diagonal(draft, factor, n, limits), "exponents": exponents}
    after = Next("the factor stands", REFINE, partial(correction, n, columns, limits))
    return draft.plan(results, after=(cholesky.NOT_DEFINITE, after))


@cached_plan
def correction(n: int, columns: int, limits: Limits) -> Plan:
    """Plan of one correction, by a factor that is there, and of the residual that is left."""
    draft = Draft(REFINE)

    def solution(residual: str) -> str:
        c, b = draft.operand("C", matrix((n, n))), upload(draft, residual, (n, columns), limits)
        return read_back(draft, substitute(draft, c, b, (n, columns), limits), (n, columns), limits, "correction")

    made = care.add_correction(draft, n, columns, solution)
    again = Next("the backward error went down, at most 40 times", REFINE, partial(correction, n, columns, limits))
    return draft.plan(made, after=(again, DIVERGED))


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Verdict from the diagonal of L, and with `refine` from the backward error.

    `values` has ``function`` and ``member``, for messages, ``refine``, and ``A`` and ``B``. `Done` has ``X`` where it
    was found on the host; of a refined solution also ``iterations`` and ``backward_error``.
    """
    if stage == BATCHED:
        return Go(CARE)
    refine = values.get("refine")
    if stage == REFINE:
        return _turn(values, {}, values["refinement"], values["corrected X"], values["residual left"])
    if not stage and not refine and (cholesky.is_far(values["diagonal"]) or not _right_near_one(forms, values)):
        return Go(CARE)
    exponents = values.get("exponents", values.get("column exponents", 0))
    flaw = cholesky.flaw(values["function"], values["diagonal"][:, 0], values["member"], exponents)
    if flaw is not None:
        return flaw
    if refine:
        a, b = (values[name].astype(np.float64) for name in "AB")
        given = {"A in float64": a, "B in float64": b, "e": values["exponents"], "f": values["exponents"].T}
        return _turn({**values, **given}, given, Refinement(), np.zeros_like(b), b)
    if stage == CARE:
        return care.scaled_back(values, values["X"].astype(np.float64))
    return Done() if trust.finite(values, "X") else Go(CARE)


def _right_near_one(forms: Forms, values: Values) -> bool:
    """Whether the right-hand sides need no scaling."""
    b = values["largest_B"] if forms[1].resident else values["B"]
    return trust.largest_near_one(b)


def _turn(values: Values, given: Values, so_far: Refinement, x: Float64, residual: Float64) -> Verdict:
    """After a solution of a refinement: another correction comes, or that is all."""
    now = care.turn(values, given, so_far, x, residual)
    return now if isinstance(now, Go) else care.refined(values, now, now.best)


def example(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A positive definite matrix, and a right-hand side."""
    return (*cholesky.example(n, rng), rng.standard_normal((n, 1)).astype(np.float32))


def solution_alone(forms: Forms, limits: Limits) -> Plan:
    """Plan of a member of a stack of systems with factors that must be scaled."""
    return whole_solution(forms, limits, lower=True)


def alone(forms: Forms, limits: Limits) -> Plan:
    """Plan of a member of a stack of systems that must be scaled."""
    return careful(forms, limits)


CHO_SOLVE = Operation(
    name="cho_solve",
    formula="L L^T X = B",
    summary="two substitutions with Cholesky's factor: L Y = B, then L^T X = Y",
    source="LAPACK potrs; Higham 2002, section 10.1",
    operands=("C", "B"),
    results=("X",),
    check=partial(by_factors, "cho_solve", name="c"),
    flops=flops_of_solve,
    core=solution,
    whole=whole_solution,
    example=example_of_factor,
    values=lambda forms, results: results["X"],
    settle=settle_solve,
    batch=stack_definite.batch(stack_definite.substitute, solution_alone, CARE, ZERO),
    arguments=lambda c, b: ((c, True), b),
    aligned=aligned,
    vectors={"B": 1},
    fits=True,
)
"""The public solution with a Cholesky factor."""

SOLVE_POS = Operation(
    name="solve_pos",
    formula="A X = B, A = L L^T",
    operands=("A", "B"),
    results=("X",),
    check=partial(system, "solve_pos"),
    flops=flops,
    core=core,
    whole=whole,
    example=example,
    values=lambda forms, results: results["X"],
    settle=settle,
    batch=stack_definite.batch(stack_definite.solve, alone, CARE, cholesky.NOT_DEFINITE),
    variants={name: cholesky.VARIANTS[name] for name in ("rank2", "blocked")},
    aligned=aligned,
    vectors={"B": 1},
    fits=True,
    thesis="rank2",
    public=False,
)
"""`solve` with ``assume_a="pos"``."""
