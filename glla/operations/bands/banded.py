"""Tridiagonal systems A X = B by bands: the plans of calls, the acceptance of solutions, and the record.

A solution is checked on the device: the componentwise backward error of each system, the smallest ratio of a pivot to
the terms that it is the sum of, and the sizes of right sides and unknowns. A rejected system is solved again with a
step of refinement, and then on the host, in float64 with partial pivoting, which also detects singular ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import GllaError, NotPositiveDefiniteError, ShapeError, SingularMatrixError
from glla.operations.acceptance import Continue, Done, Values, Verdict, in_float32
from glla.operations.bands.pentadiagonal import BlockSystems
from glla.operations.bands.tridiagonal import DIAGNOSTICS, FOUR, REDUNDANT_UP_TO, VARIANTS, Bands, Lines, Systems
from glla.operations.batches.stack import Stack, capacity, raw
from glla.operations.host.bands import pivoted
from glla.operations.host.scaling import Float64
from glla.operations.layouts.crossing import at_home, bring_in, read_back, read_texels
from glla.operations.layouts.shapes import aligned
from glla.operations.linear import move
from glla.operations.linear.view import View
from glla.operations.record import Batch, Choice, Filter, Float32, Function, Layout, Operation, Taken, Way, resolved
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, Uniform, matrix, resident
from glla.passes.cache import cached_plan

REFINE, PIVOTING = "refine", "partial pivoting in float64"
"""Stages, and work of the host, by their names in plans and traces."""

MOST_ERROR = 16 * 2.0**-24
"""Largest componentwise backward error of an accepted solution; that of cyclic reduction is below 7 u on definite
matrices (design measurements with n = 16384)."""

LEAST_LEFT = 2.0**-12, 2.0**-5
"""Range of the least ratio of a pivot to the terms that it is the sum of, see `least_left`."""

DOMINANT = 0.0624
"""Above this ratio no pivot suffered cancellation, so a large solution is not a sign of singularity."""

LARGEST_RATIO = 2.0**12
"""Ratio of largest unknown to largest right side, with scaled rows, from which a system may be singular to float32."""

SINGLE = 2**14
"""Largest order of a single matrix that is solved as a batch of one, which saves the packing pass; a guess."""

NORMAL = 2.0**-60, 2.0**60
"""Range of the largest right side, with scaled rows, in which all numbers are far from float32's limits."""


def check(forms: Forms, function: str = "tridiagonal", most_rows: int = 3) -> None:
    """Raise ShapeError unless the bands are few enough, of as many columns as B has rows."""
    ab, b = (form.shape for form in forms)
    if not 1 <= ab[-2] <= most_rows:
        raise ShapeError(f"{function}: the bands must be 1 to {most_rows} rows, got A {ab}")
    if ab[-1] != b[-2]:
        raise ShapeError(f"{function}: b must have as many rows as A has columns, got A {ab} and b {b}")


def flops(forms: Forms, each: int = 8) -> int:
    """Additions and multiplications: as many for each unknown."""
    return each * forms[1].count * forms[1].shape[-1] * forms[1].shape[-2]


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else one pass for a few equations.

    Longer systems take partition, which writes less: 1.86 ms for 1024 systems of order 1024, cyclic reduction, which is
    the same with P = 2, 2.26 (nvidia-h200-pcie-sse2/experiments/2026-11-23-banded.json). With P = 4 resident stacks of
    one right side each are solved straight from their bands, see `in_fours`: 0.80 ms (2026-11-23-fours.json there).
    """
    n = forms[0].shape[-1]
    tuned = limits.tuning("tridiagonal", n, n)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    if n <= REDUNDANT_UP_TO:
        return "redundant", ()
    return "partition", () if limits.software else (("P", 4), ("TOP", 16))


Given = Lines | int
"""Row of the bands for each of three diagonals; or, with up to five, their number above the main one."""

FULL: Lines = ((2, -1), (1, 0), (0, 1))
"""Of (1, 1) bands as SciPy has them: upper, diagonal, lower."""


class Options(Way, total=False):
    """Options of every plan of a solution by bands."""

    lines: Given  # which row of the bands is which diagonal, by default `FULL`
    definite: bool  # A is to be positive definite: a pivot that is not above zero rejects it
    refine: bool  # correct the solution once, by the residual in float32


@dataclass(frozen=True)
class _Way:
    """How systems are solved: by which variant, and which bands are given."""

    lines: Given
    definite: bool
    refine: bool
    variant: str = ""  # of three bands
    values: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(
        forms: Forms, limits: Limits, lines: Given = FULL, definite: bool = False, refine: bool = False, **way: Any
    ) -> _Way:
        """Resolve the variant, of three bands. Raises OptionError: there is no such one."""
        chosen = resolved("tridiagonal", VARIANTS, choose, forms, limits, **way)
        return _Way(lines, definite, refine, *(() if isinstance(lines, int) else chosen))

    @property
    def name(self) -> str:
        """Of the operation."""
        return "pentadiagonal" if isinstance(self.lines, int) else "tridiagonal"

    def solve(self, draft: Draft, stack: Stack, given: Bands) -> tuple[Systems, str, str]:
        """Add all of it; give the systems, and the slots of unknowns and diagnostics."""
        n = given.shape[1]
        if isinstance(self.lines, int):
            blocks = BlockSystems(draft, stack, n)
            equations_ = blocks.equations(given, self.lines)
            pairs, left = blocks.refined(equations_) if self.refine else blocks.solve(equations_)
            diagnostics = blocks.check(equations_, pairs, left)
            return blocks.plain, blocks.unknowns(pairs), diagnostics
        systems = Systems(draft, stack, n, definite=self.definite)
        equations = systems.equations(given, self.lines)
        again = self.refine or self.variant == "parallel_cyclic_reduction"
        x, left, rows_left = (systems.refined if again else systems.solve)(equations, self.variant, self.values)
        return systems, x, systems.check(equations, x, left, rows_left)


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, **options: Unpack[Options]) -> Plan:
    """Plan of the solution of A X = B on the device, n, columns > 0.

    Operands ``A`` and ``B``, results ``X``, all packed, and ``diagnostics``, a texel for each right side. Passes, with
    L = log2(n): ``cyclic_reduction`` 2 L + 1, ``partition`` 2 L / log2(P) + 1, ``parallel_cyclic_reduction`` 2 L + 4,
    ``thomas`` 2 n, ``redundant`` 1; and 3 or 4 more. `refine` doubles them.

    `forms`: of the bands of A, rows x n, and of B, n x columns.
    """
    (rows, n), columns = forms[0].matrix, forms[1].matrix[1]
    chosen = _Way.of(forms, limits, **options)
    draft = Draft(f"{chosen.name}[{chosen.variant}]" if chosen.variant else chosen.name)
    operands = {"A": draft.operand("A", matrix((rows, n))), "B": draft.operand("B", matrix((n, columns)))}
    stack = Stack.of(columns, (n, 1), limits.texture_size)
    systems, x, diagnostics = chosen.solve(draft, stack, Bands(operands, (rows, n, columns)))
    result = systems.solution("packed", x, columns, limits.texture_size)
    work = flops(forms, 19 if isinstance(chosen.lines, int) else 8)
    return draft.plan({"X": result, "diagnostics": diagnostics}, work)


# -- plans of a call --------------------------------------------------------------------------------------------------

_SINGULAR = Transition(
    "a pivot is zero, or nothing but rounding error", error="SingularMatrixError: names the equation"
)
_NOT_DEFINITE = Transition("a pivot is not above zero", error="NotPositiveDefiniteError: names the leading minor")


def _after(builder: Callable[..., Plan], forms: Forms, limits: Limits, options: Mapping[str, Any]) -> tuple[Transition]:
    """Stage after a plan with rejected systems: the same with refinement, or else the host."""
    if not options.get("refine"):
        return (
            Transition("a system is rejected", REFINE, partial(builder, forms, limits, **{**options, "refine": True})),
        )
    known = {name: options[name] for name in ("lines", "definite") if name in options}
    at_home = partial(pivoting, tuple(form.single for form in forms), limits, **known)
    return (Transition("a system is still rejected", PIVOTING, at_home),)


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, **options: Unpack[Options]) -> Plan:
    """Plan of a call for one matrix: upload host operands, solve, and read back diagnostics and a host result."""
    a_form, b_form = forms
    draft, results = Draft("tridiagonal"), dict[str, str]()
    a = bring_in(draft, "A", a_form, limits, results)
    b = bring_in(draft, "B", b_form, limits, results)
    made = draft.call("solution", plan(resident(a_form.matrix, b_form.matrix), limits, **options), A=a, B=b)
    results["diagnostics"] = read_texels(draft, made["diagnostics"], "diagnostics of the systems")
    at_home = not (a_form.resident or b_form.resident)
    results["X"] = read_back(draft, made["X"], b_form.matrix, limits, "X") if at_home else made["X"]
    return draft.plan(results, after=_after(call_plan, forms, limits, options))


@cached_plan
def pivoting(forms: Forms, limits: Limits, *, lines: Given = FULL, definite: bool = False) -> Plan:
    """Plan of the solution on the host, in float64: with partial pivoting, or of definite systems without."""
    a_form, b_form = forms
    draft = Draft(PIVOTING)
    a, b = at_home(draft, "A", a_form, limits), at_home(draft, "B", b_form, limits)

    def solved(a: Float32, b: Float32) -> tuple[Any, ...]:
        wide, flaws = on_host_in_stacks(a[np.newaxis], b[np.newaxis], lines, definite)
        return wide[0], flaws

    made = draft.host(PIVOTING, solved, (a, b), {"X": b_form.matrix, "flaw": (1,)})
    return draft.plan(made, flops(forms), after=(_NOT_DEFINITE if definite else _SINGULAR,))


def on_host_in_stacks(
    ab: Float32, b: Float32, lines: Given = FULL, definite: bool = False
) -> tuple[Float64, NDArray[np.intp]]:
    """Solve batches of systems on the CPU; give X in float64, and the flaw of each matrix as `pivoted` does."""
    count, _, n = ab.shape
    if isinstance(lines, int):
        return pivoted(ab.astype(np.float64), ab.shape[1] - 1 - lines, lines, b.astype(np.float64), definite)
    full = np.zeros((count, 3, n))
    for target, (row, shift) in zip((2, 1, 0), lines, strict=True):
        if row >= 0:
            first, last = (1 if target == 2 else 0), (n - 1 if target == 0 else n)  # equations that have this entry
            place = slice(first + FULL[2 - target][1], last + FULL[2 - target][1])
            full[:, target, place] = ab[:, row, first + shift : last + shift]
    return pivoted(full, 1, 1, b.astype(np.float64), definite)


def rounded(function: str, wide: Float64, place: int, definite: bool, which: str) -> Float32:
    """Round a solution to float32, of a system with this flaw, -1 for none.

    Raises SingularMatrixError, NotPositiveDefiniteError: it has one. Raises NonFiniteError: too little is left, see
    `glla.operations.acceptance.underflow`.
    """
    if place >= 0 and definite:
        raise NotPositiveDefiniteError(
            f"{function}: Matrix is not positive definite{which}: its leading minor of order {place + 1} is not; "
            "solve_banded solves indefinite systems"
        )
    if place >= 0:
        raise SingularMatrixError(
            f"{function}: singular matrix{which}: pivot {place} is zero, or nothing but rounding error; look at its "
            "equations, which depend on each other"
        )
    return in_float32(function, wide, which)


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Decide from the diagnostics: the solution is accepted, refined, or found by the host, which may find a flaw.

    `values` has ``function`` and ``which`` for messages, and ``definite``. `Done` has ``X`` where the host found it.
    """
    if stage == PIVOTING:
        place, names = int(values["flaw"][0]), (values["definite"], values["which"])
        try:
            return Done({"X": rounded(values["function"], values["X"], place, *names)})
        except GllaError as error:
            return error
    if not fails(values["diagnostics"], forms[0].shape[-1]).any():
        return Done()
    return Continue(PIVOTING if stage == REFINE else REFINE)


def least_left(n: int) -> float:
    """Smallest accepted abs(pivot) / sum(abs(terms)); below, a pivot may be rounding error alone.

    The second difference of n points has a condition number of order n^2, so that the rounding error in place of the
    last pivot of a singular one grows as n^2 u. Regular systems whose rows are dominant keep about a fifth.

    >>> least_left(10) == 2.0**-12, least_left(5000) == 2.0**-5
    (True, True)
    """
    return min(LEAST_LEFT[1], max(LEAST_LEFT[0], 8 * n * n * 2.0**-24))


def fails(diagnostics: NDArray[np.float32], n: int) -> NDArray[np.bool_]:
    """Whether systems of n equations are rejected, by their diagnostics (..., error, left, rhs, x)."""
    error, left, rhs, x = np.moveaxis(diagnostics.astype(np.float64), -1, 0)
    accepted = (error <= MOST_ERROR) & (left >= least_left(n))
    accepted &= (rhs == 0) | ((rhs >= NORMAL[0]) & (rhs <= NORMAL[1]))
    accepted &= (left > DOMINANT) | (x <= LARGEST_RATIO * rhs)
    return np.asarray(~accepted)


# -- stacks -----------------------------------------------------------------------------------------------------------


def most(forms: Forms, limits: Limits) -> int:
    """Matrices of a stack that one plan takes at once; 0 if they are looped."""
    n, columns = forms[1].matrix
    return 0 if forms[0].count == 1 and n * columns > SINGLE else room(forms, limits)


def room(forms: Forms, limits: Limits) -> int:
    """Matrices of which all systems fit the textures of one plan; 0 if not even one does."""
    rows, n = forms[0].matrix
    columns = forms[1].matrix[1]
    if n > limits.texture_size:
        return 0
    return capacity((n, columns), max(rows * n + n * columns, n * columns + DIAGNOSTICS), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN, **options: Unpack[Options]) -> Plan:
    """Plan of a stack of matrices from the host.

    Operand ``raw``: the bands of all, then all B. Result ``records``: for each matrix X, and the worst diagnostics of
    its systems.
    """
    (rows, n), (_, columns), count = forms[0].matrix, forms[1].matrix, forms[0].count
    chosen = _Way.of(forms, limits, **options)
    draft = Draft(f"stack[{chosen.name}]")
    operand = draft.operand("raw", raw(count * n * (rows + columns), limits.texture_size))
    stack = Stack.of(count * columns, (n, 1), limits.texture_size)
    given = Bands({"A": operand}, (rows, n, columns), "raw", count * rows * n)
    systems, x, diagnostics = chosen.solve(draft, stack, given)
    records = systems.solution("raw", x, columns, limits.texture_size, diagnostics)
    one = tuple(replace(form, shape=(1, *form.matrix)) for form in forms)
    return draft.plan({"records": records}, flops(forms), after=_after(batched, one, limits, options))


@cached_plan
def resident_stack(
    forms: Forms, limits: Limits = PLAIN, *, check_finite: bool = True, **options: Unpack[Options]
) -> Plan:
    """Plan of a batch on the device: linear operands become equations, and the unknowns become linear again.

    Operands ``A`` and ``B``. Results ``matrices``, the solutions, linear; ``diagnostics``, a texel for each system;
    ``verdict``, read back: how many systems are rejected, the only thing that the host waits for.
    `forms`: of the bands and of B, with their views; in C order without. `check_finite`: NaN and infinity anywhere
    reject a system, in corners of the bands too, which no equation has.
    """
    draft = Draft("stack[pentadiagonal]" if isinstance(options.get("lines"), int) else "stack[tridiagonal]")
    inner = _resident_core(tuple(Form(form.shape) for form in forms), limits, check_finite, **options)
    operands = {name: _in_order(draft, name, form, limits) for name, form in zip("AB", forms, strict=True)}
    made = draft.call("systems", inner, **operands)
    results = {"matrices": made["matrices"], "diagnostics": made["diagnostics"]}
    results["verdict"] = read_texels(draft, made["verdict"], "verdict of the host")
    one = tuple(Form((1, *form.matrix), resident=True) for form in forms)
    again = partial(resident_stack, check_finite=check_finite)
    return draft.plan(results, flops(forms), after=_after(again, one, limits, options))


def _in_order(draft: Draft, name: str, form: Form, limits: Limits) -> str:
    """Add an operand, and a pass that writes it out in C order if it is in another order."""
    view = View.of_form(form)
    slot = draft.operand(name, view.storage(limits.texture_size))
    if view == View.of(form.shape):
        return slot
    return draft.call(f"{name} in order", move.copy(view, limits.texture_size), A=slot)["result"]


@cached_plan
def _resident_core(forms: Forms, limits: Limits, check_finite: bool, **options: Unpack[Options]) -> Plan:
    """The passes of `resident_stack`, operands in C order; ``verdict`` is a texel."""
    (band_rows, n), (_, columns), size = forms[0].matrix, forms[1].matrix, limits.texture_size
    chosen, draft = _Way.of(forms, limits, **options), Draft("systems")
    operands = {
        name: draft.operand(name, View.of(form.shape).storage(size)) for name, form in zip("AB", forms, strict=True)
    }
    stack = Stack.of(forms[0].count * columns, (n, 1), size)
    given = Bands(operands, (band_rows, n, columns), "wrapped", watch=check_finite)
    lines = chosen.lines
    if not isinstance(lines, int) and in_fours(forms, chosen.variant, chosen.values) and not chosen.refine:
        systems = Systems(draft, stack, n, definite=chosen.definite)
        matrices, diagnostics = systems.in_fours(given, lines, chosen.values["TOP"], size)
    else:
        systems, x, diagnostics = chosen.solve(draft, stack, given)
        matrices = systems.solution("wrapped", x, columns, size)
    results = {"matrices": matrices, "diagnostics": diagnostics}
    return draft.plan(results | {"verdict": systems.verdict(diagnostics, _bounds(n), size)}, flops(forms))


def in_fours(forms: Forms, variant: str, values: Mapping[str, int]) -> bool:
    """Whether resident stacks of three bands are solved straight from them: one right side, P = 4."""
    if variant != "partition" or values["P"] != FOUR:
        return False
    return forms[1].matrix[1] == 1 and forms[0].matrix[1] > max(values["TOP"], 3)


def _bounds(n: int) -> dict[str, Uniform]:
    """Bounds of the diagnostics, as uniforms of ``tridiagonal/verdict.frag``."""
    return {"bounds": (MOST_ERROR, least_left(n)), "normal": NORMAL, "regular": (DOMINANT, LARGEST_RATIO)}


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Bands of a positive definite matrix, as an implicit step of a diffusion has them, and n right-hand sides."""
    beside = np.zeros(n + 1)
    beside[1:n] = rng.uniform(0.5, 1.5, max(n - 1, 0))
    ab = np.stack([-beside[:n], 0.5 + beside[:n] + beside[1:], -beside[1:]])
    return ab.astype(np.float32), rng.standard_normal((n, n)).astype(np.float32)


_BATCH = Batch(
    most,
    batched,
    Layout(lambda forms: forms[1].matrix, 1, lambda forms: DIAGNOSTICS),
    Filter(lambda operands, x, diagnostics, **options: np.flatnonzero(fails(diagnostics[:, 0], x.shape[-2]))),
    resident_stack,
)

TRIDIAGONAL = Operation(
    name="tridiagonal",
    formula="A X = B, A in three bands",
    operands=("A", "B"),
    results=("X",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    variants=VARIANTS,
    choose=choose,
    taken=Taken(aligned=aligned),
    batch=_BATCH,
    function=Function(vectors={"B": 1}, public=False),
    thesis="cyclic_reduction",
)
"""One diagonal on either side, in `solve_banded` and `solveh_banded`."""


# -- five diagonals ---------------------------------------------------------------------------------------------------


def example_of_five(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Bands of a positive definite matrix, as a stiff beam has them, and n right-hand sides."""
    first, second = rng.uniform(0.5, 1.5, (2, n + 2))
    first[n - 1 :], second[max(n - 2, 0) :] = 0, 0
    sides = first[:n] + second[:n] + np.append(0, first[: n - 1]) + np.concatenate(([0, 0], second))[:n]
    ab = np.zeros((5, n))
    ab[2] = 0.5 + sides
    ab[1, 1:], ab[3, : n - 1] = -first[: n - 1], -first[: n - 1]
    ab[0, 2:], ab[4, : max(n - 2, 0)] = -second[: max(n - 2, 0)], -second[: max(n - 2, 0)]
    return ab.astype(np.float32), rng.standard_normal((n, n)).astype(np.float32)


PENTADIAGONAL = replace(
    TRIDIAGONAL,
    name="pentadiagonal",
    formula="A X = B, A in five bands",
    about=replace(
        TRIDIAGONAL.about,
        summary="two equations make a block row; cyclic reduction with 2 x 2 blocks",
        source="Hockney 1965; Heller 1976",
    ),
    check=partial(check, function="pentadiagonal", most_rows=5),
    flops=partial(flops, each=19),
    device_plan=partial(plan, lines=2),
    call_plan=partial(call_plan, lines=2),
    example=example_of_five,
    variants={},
    choose=Operation.choose,
    batch=replace(_BATCH, records_plan=partial(batched, lines=2)),
    thesis="",
)
"""Two diagonals on either side, in `solve_banded`."""
