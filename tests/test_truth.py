"""What `glla.plan` shows is what runs, and whatever an operation's `settle` decides is among what is shown to come.

For operands on the device `glla.plan` carries out the call itself, on a device that runs nothing; for operands of the
host it shows the route that the call takes. So two properties are tested: a call that is accepted at once runs the
steps that are shown, no more and no less; and all stages, errors and warnings that are shown can come, and no others.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glla
from glla.errors import GllaError, PlanError
from glla.gl.recorder import TracedPass
from glla.linalg import batches
from glla.operations import OPERATIONS
from glla.operations.acceptance import BATCHED, Continue
from glla.operations.batches import retry
from glla.operations.host.refinement import Refinement
from glla.passes import Call, Dispatch, Host, Pass, Plan, Transfer, Tuned, forms_of, stages
from glla.testing.adversaries import growing, hidden_singular

Signature = tuple[Any, ...]

Step = tuple[str, str]
"""A stage, and what came after it: the next stage, or the class of an error or a warning."""

WAY_IN_AND_OUT = {
    "tiles that a texture holds", "tiles put together", "tile of A", "tile of B", "columns of B", "columns of I",
}  # fmt: skip
"""Work of the host that belongs to uploads and read-backs, which are not compared."""


# -- signatures -------------------------------------------------------------------------------------------------------


def signature(plan: Plan, step: Any) -> Signature | None:
    """All that makes a step what it is, but for the names of its slots; None for a step that is not compared."""
    assert not isinstance(step, Call)
    if isinstance(step, Host):
        return None if step.name in WAY_IN_AND_OUT else ("host", step.name)
    if isinstance(step, Transfer):
        ends = plan.slots[step.source], plan.slots[step.target]
        return None if any(end.host for end in ends) else ("transfer", *ends)
    assert isinstance(step, Pass | Dispatch)
    return (
        step.shader,
        tuple(sorted(step.defines.items())),
        tuple(sorted(step.uniforms.items())),
        tuple((sampler, plan.slots[slot]) for sampler, slot in step.inputs.items()),
        tuple((plan.slots[slot], plan.slots[slot].channels) for slot in step.outputs),
        plan.drawn(step),
        step.accumulate,
        step.step,
        tuple((name, block.first, block.count) for name, block in step.blocks.items()),
    )


def signatures(plan: Plan) -> list[Signature]:
    """Steps of a plan that are compared."""
    flat = plan.flat
    return [one for one in (signature(flat, step) for step in flat.steps) if one is not None]


def recorded(passes: Sequence[TracedPass]) -> list[Signature]:
    """The same of what ran; of a loop its first turn, without the latch behind it."""
    found, loop, turn = list[Signature](), None, 0
    for one in passes:
        loops = any(getattr(step, "shader", "") == "iterate/latch" for step in one.plan.steps)
        if loops and one.plan is loop and one.run != turn:
            continue
        loop, turn = one.plan if loops else None, one.run
        own = signature(one.plan, one.step)
        found += [own] if own is not None and own[0] != "iterate/latch" else []
    return found


# -- operands ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class On:
    """An operand on the device; `transposed`: as the transpose of the stored one; `sliced`: as a part."""

    array: Any
    transposed: bool = False
    sliced: bool = False

    def placed(self, device: glla.Device) -> glla.Array:
        dtype = "float32" if self.array.dtype.kind == "f" else self.array.dtype.name
        array = np.pad(self.array, [(0, 0)] * (self.array.ndim - 1) + [(2, 1)]) if self.sliced else self.array
        placed = glla.asarray(array.T if self.transposed else array, device, dtype=dtype, check_finite=False)
        placed = placed.T if self.transposed else placed
        return placed[..., 2:-1] if self.sliced else placed


@dataclass(frozen=True)
class Case:
    """A call: its operands, its options, and the options of the plan where they are called otherwise."""

    operands: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    device: str = "any"


def normal(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def regular(n: int, *stack: int) -> np.ndarray:
    return normal(*stack, n, n) + 4 * np.sqrt(np.float32(n)) * np.eye(n, dtype=np.float32)


def singular(n: int) -> np.ndarray:
    a = normal(n, n)
    a[-1] = a[0]
    return a


def graded(n: int, decades: float = 20) -> np.ndarray:
    return (regular(n) * np.logspace(0, -decades, n)[:, np.newaxis]).astype(np.float32)


def with_nan(n: int) -> np.ndarray:
    a = regular(n)
    a[0, 1] = np.nan
    return a


def placements(*operands: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """The same operands in every place: C order, Fortran's, on the device, and transposed there."""
    yield operands
    yield tuple(np.asfortranarray(one) for one in operands)
    for transposed in (False, True):
        yield tuple(On(one, transposed) for one in operands)


def beside_each_other(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """A matrix and right-hand sides as vectors and stacks, on the device and not, without elements too."""
    vector, stack, systems = b[:, 0], np.stack([b] * 3), np.stack([a] * 3)
    for left in (a, On(a), On(a, True)):
        yield left, On(vector)
        yield left, On(stack)
    for right in (vector, stack, stack.reshape(3, 1, *b.shape)):
        yield On(a), right
    for left in (systems, On(systems), On(systems, True)):
        yield left, On(vector)
        yield left, On(b)
        yield left, On(stack[:1], True)
    yield systems, vector
    yield On(systems), vector
    yield On(systems), b
    for right in (On(vector), On(b), On(stack), vector, b, stack):
        yield On(systems[:1]), right
    for left, right in ((a[:0, :0], b[:0]), (a, b[:, :0]), (systems[:0], stack[:0]), (systems, stack[..., :0])):
        yield left, right
        yield On(left), On(right)


SMALL = (1, 2, 5, 16)
WAYS = ("streamed", "memory")
"""Devices on which operands do not fit: small textures, little memory."""


def accepted(name: str) -> Iterator[Case]:
    """Calls with operands that are accepted at once: in all places, as batches and vectors, without elements."""
    record = OPERATIONS[name]
    for n in (*SMALL, 70):
        for operands in placements(*record.example(n, np.random.default_rng(n))):
            yield Case(operands)
    example = record.example(5, np.random.default_rng(5))
    empty = tuple(one[:0, :0] for one in example)
    yield Case(empty)
    yield Case(tuple(map(On, empty)))
    if record.batch is not None:
        batch = tuple(np.stack([one] * 3) for one in example)
        for operands in placements(*batch):
            yield Case(operands)
        yield Case(tuple(On(np.stack([one] * 2)) for one in batch))
    if len(example) == 2 and name != "matmul":
        for operands in beside_each_other(*example) if name != "lstsq" else ():
            yield Case(operands)
        yield Case((On(example[0]), example[1]))
        yield Case((example[0], On(example[1])))
    yield from PECULIAR.get(name, list)()


def in_every_place(*operands: np.ndarray, **named: Any) -> Iterator[Case]:
    """On the host and on the device, and one operand of two there."""
    yield Case(operands, **named)
    yield Case(tuple(map(On, operands)), **named)
    if len(operands) == 2:
        yield Case((On(operands[0]), operands[1]), **named)
        yield Case((operands[0], On(operands[1])), **named)


def _products() -> Iterator[Case]:
    for operands in beside_each_other(normal(5, 5), normal(5, 2)):
        yield Case(operands)
    for left, right in (
        (normal(5), normal(5, 5)), (normal(5), normal(5)), (normal(5, 5), normal(5, 1)[:, 0]),
        (normal(7, 5, 6), normal(6, 3)), (normal(2, 1, 5, 6), normal(3, 6, 3)),
    ):  # fmt: skip
        yield from in_every_place(left, right)
    yield Case((normal(300, 300), normal(300, 270)))
    for variant in OPERATIONS["matmul"].tunable():
        yield from in_every_place(normal(20, 30), normal(30, 40), options={"variant": variant})
    for way in WAYS:
        for options in ({}, {"variant": "inner_product"}):
            yield Case((normal(300, 290), normal(290, 270)), options, device=way)


def _streamed() -> Iterator[Case]:
    for way in WAYS:
        yield Case((regular(100), normal(100, 700)), device=way)
    yield Case((regular(300, 2), normal(2, 300, 2)))


def _refined() -> Iterator[Case]:
    yield from _streamed()
    for b in (normal(20), normal(20, 2)):
        yield from in_every_place(regular(20), b, options={"refine": True})
        yield Case((On(regular(20), True), b), {"refine": True})
    yield Case((regular(100), normal(100, 700)), {"equilibrate": False}, device="streamed")


def _substituted() -> Iterator[Case]:
    yield from _streamed()
    for operands in (*placements(regular(16), normal(16, 3)), *beside_each_other(regular(5), normal(5, 2))):
        yield Case(operands, {"trans": 1}, {"transposed": True})


def _halves() -> Iterator[Case]:
    batch = np.stack([OPERATIONS["cholesky"].example(5, np.random.default_rng(n))[0] for n in range(3)])
    for one in (batch, batch[:, :2, :2], batch[0], On(batch), On(batch, True), On(batch[:, :2, :2])):
        for lower in (False, True):
            yield Case((one,), {"lower": lower}, {"lower": lower})


def _orthogonal() -> Iterator[Case]:
    for mode in ("reduced", "complete", "r", "raw"):
        for shape in ((5, 3), (3, 5), (4, 6, 3), (2, 2, 3, 6)):
            yield from in_every_place(normal(*shape), options={"mode": mode})
    for mode in ("reduced", "r"):
        for shape in ((300, 2), (140, 60)):  # taller than a texture; the triangles of the latter are, too
            yield from in_every_place(normal(*shape), options={"mode": mode}, device="streamed")


def _least_squares() -> Iterator[Case]:
    for right in (normal(300, 3), normal(300)):
        yield from in_every_place(normal(300, 2), right, device="streamed")


def _pivoted() -> Iterator[Case]:
    for pivoting in PIVOTINGS_OF:
        for variant in ("rank2", "blocked"):
            yield Case((normal(40, 40),), {**pivoting, "variant": variant})


PIVOTINGS_OF = [{"pivoting": norm} for norm in ("harmonic", "geometric", "partial")]
PECULIAR: dict[str, Any] = {
    "matmul": _products,
    "solve": _refined,
    "lu_solve": _substituted,
    "solve_triangular": _streamed,
    "cho_factor": _halves,
    "qr": _orthogonal,
    "lstsq": _least_squares,
    "lu_factor": _pivoted,
    "plu": _pivoted,
    "rref": _pivoted,
}


# -- operands that are not accepted at once ---------------------------------------------------------------------------

ILL = np.float32(
    np.linalg.qr(normal(270, 270))[0] * np.logspace(0, -5, 270) @ np.linalg.qr(normal(270, 270))[0]
)  # fmt: skip
DEFINITE = np.float32(np.diag([4, 1, 2]) + 0.5)
FAR = [np.float32(factor * one) for one in (DEFINITE, regular(9), normal(40, 40)) for factor in (2.0**60, 2.0**-60, -1)]


def bad(n: int) -> list[np.ndarray]:
    """Matrices that `settle` looks at."""
    noisy = hidden_singular(n, np.random.default_rng(n)).astype(np.float32)
    return [singular(n), noisy, graded(n), graded(n, 35), growing(n), growing(n, -0.9), with_nan(n)]


def undecided(name: str) -> Iterator[np.ndarray]:
    """Matrices, and batches of them, that are not accepted at once."""
    yield from (one for n in (16, 40) for one in bad(n))
    yield from FAR
    yield from (growing(32, -0.9), growing(40, -0.9)[:, ::-1].copy(), growing(140), growing(140)[::-1].copy())
    yield from (np.zeros((4, 4), np.float32), np.ldexp(growing(140), -60), ILL[:100, :100].copy())
    near = regular(40)
    near[-1] = near[0] + np.float32(1e-3) * normal(40)
    yield from (near, *(normal(20, 20, seed=seed) for seed in range(4)))
    if name in ("solve", "inv", "det", "slogdet"):
        yield from (*bad(270), growing(257), ILL)
    if name not in ("rref", "plu"):
        yield np.stack([regular(40), growing(40), graded(40)])
        yield np.stack([np.float32(2.0**70) * regular(32), growing(32, -0.9)])
        yield from (sign * np.stack([DEFINITE, *FAR[:2]]) for sign in (1, -1))


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "rref": [*PIVOTINGS_OF, {"tol": 1e-3}],
    "plu": PIVOTINGS_OF,
    "lu_factor": PIVOTINGS_OF,
    "solve": [{}, {"equilibrate": False}, {"refine": True}],
}


def decided(name: str) -> Iterator[Case]:
    """Calls for which operations decide otherwise than "done"."""
    if name in ("lu_solve", "solve_triangular"):
        yield from _substitutions()
        return
    for a in undecided(name):
        sides = [normal(*a.shape[:-1], 2)] if name == "solve" else []
        for options in OPTIONS.get(name, [{}])[: 1 if a.shape[-1] > 256 else None]:
            let = {"check_finite": False} if np.isnan(a).any() else {}
            shown = {"tol": True} if "tol" in options else {}
            yield Case((a, *sides), {**let, **options}, shown)
        if name in ("rcond", "cholesky") and not np.isnan(a).any():
            yield Case((On(a),))
    if name == "solve":  # the right-hand side is far from one; part of it is lost
        yield Case((regular(16), 2.0**60 * normal(16, 2)))
        yield Case((regular(270), np.float32([[1], [1e-38]] + [[1e30]] * 268)))


def _substitutions() -> Iterator[Case]:
    for factor in (2.0**60, 2.0**100, 2.0**-120):
        yield from in_every_place(np.float32(factor * regular(20)), normal(20, 3))
    for diagonal in ([2, 0, 1], [2, 2.0**-100, 1]):
        yield from in_every_place(np.diag(np.float32(diagonal)), normal(3, 3))
    yield Case((np.float32(2.0**60) * regular(8, 5), normal(5, 8, 2)))
    yield Case((np.float32(2.0**-70) * regular(100), normal(100, 700)), device="streamed")


DECIDED = ("cholesky", "rref", "plu", "lu_factor", "lu_solve", "solve_triangular", "solve", "inv", "det", "slogdet",
           "rcond")  # fmt: skip


def system(diagonal: Any, **more: Any) -> dict[str, Any]:
    """What `settle` is given for a system of order 2 that went up the ladder: U's diagonal, largest entries 1."""
    one, row = np.ones((2, 1)), np.zeros((1, 2), np.int32)
    a = {"A": np.eye(2), "B": one, "scaled A": np.eye(2, dtype=np.float32), "scaled B": one}
    e = {"row exponents": row.T, "column exponents": row, "sizes": np.zeros(1, np.int32)}
    texels = {"diagonal": np.float32([[*diagonal, 1, 1]])}
    return {**a, **e, **texels, "function": "solve", "which": "", "grew": True, "last": False, "least": 99.0, **more}


def refining(turns: int, x: float, **more: Any) -> dict[str, Any]:
    """The same within a refinement, that came to this solution."""
    so_far = Refinement(turns, np.ones((2, 1)), 1.0)
    given = {"A in float64": np.eye(2), "B in float64": np.ones((2, 1)), "corrected X": np.full((2, 1), x)}
    left = {"residual left": 1 - given["corrected X"], "fallback": None, "order": np.arange(2)}
    return system((1, 1), refinement=so_far, **given, **left, **more)


def factored(*turns: str, u: float = 2.0) -> dict[str, Any]:
    """What `settle` is given for factors of the identity, with these on U's diagonal; and the pivotings to try."""
    lu, one = np.diag(np.float32([u, u])), np.ones((1, 4), np.float32)
    diagnostics = {"health_read": one, "largest_A": one, "exponent": np.int32([0])}
    diagnostics["exchanges"] = np.float32([[0, 1, 0, 0]])
    given = {"scaled A": np.eye(2, dtype=np.float32), "packed LU": lu, "turns": turns, "check_finite": True}
    return {**diagnostics, **given, "function": "plu", "pivoting": turns[0]}


NOISE, TINY = {"errors": np.float32([1, 1])}, {"sizes": np.int32([-170])}
INSTEAD = "partial pivoting instead of"
LADDER: dict[Step, dict[str, Any]] = {
    ("complete pivoting", "ConvergenceError"): system((np.inf, 1)),
    ("complete pivoting", "NonFiniteError"): system((np.inf, 1), least=np.inf),
    ("complete pivoting", "SingularMatrixError"): system((1, 0)),
    ("complete pivoting", "pivot check"): system((1, 1e-6)),
    ("pivot check", "substitute"): system((1, 1e-6), errors=np.zeros(2)),
    ("refine", "ConvergenceError"): refining(5, np.nan, last=True),
    ("refine", "complete pivoting"): refining(5, np.nan),
    ("refine", "NonFiniteError"): refining(1, 1, **TINY),
    ("substitute", "NonFiniteError"): system((1, 1), X=np.ones((2, 1)), **TINY),
}
PIVOTINGS: dict[Step, dict[str, Any]] = {
    ("fallback", "fallback, partial pivoting"): factored("harmonic", "partial"),
    **{(f"fallback, {one} pivoting", "GrowthWarning"): factored(one) for one in ("harmonic", "geometric")},
    **{(f"fallback, {one} pivoting", "NonFiniteError"): factored(one, u=np.inf) for one in ("harmonic", "geometric")},
    ("fallback, harmonic pivoting", "fallback, geometric pivoting"): factored("harmonic", "geometric"),
    ("fallback, partial pivoting", "fallback, geometric pivoting"): factored("partial", "geometric"),
    ("fallback, partial pivoting", "fallback, harmonic pivoting"): factored("partial", "harmonic"),
    (f"{INSTEAD} geometric", "fallback, partial pivoting"): factored("geometric", "partial"),
    (f"{INSTEAD} harmonic", "fallback, partial pivoting"): factored("harmonic", "partial"),
    (f"{INSTEAD} harmonic", "GrowthWarning"): factored("harmonic"),
    (f"{INSTEAD} harmonic", "NonFiniteError"): factored("harmonic", u=np.inf),
}
SETTLED: dict[str, dict[Step, dict[str, Any]]] = {
    "solve": {**LADDER, ("pivot check", "refine"): system((1, 1e-6), errors=np.zeros(2), refine=True)},
    "inv": LADDER,
    "rref": {
        ("pivot check", "partial pivoting"): {
            "A": np.full((2, 2), np.nan), "tol": None, **NOISE, "diagonal": np.float32([[1, 1, 1, 1]]),
        },
    },
    "rcond": {
        ("step of Hager's method", "alternating signs"): {"X": np.ones((2, 1)), "estimate": 3.0, "steps": 1},
    },
    "plu": PIVOTINGS,
    "lu_factor": PIVOTINGS,
}  # fmt: skip
"""What comes after a stage for no input above, and diagnostics for which it does."""


TUNED = (Tuned("triangular", 300, "panel_broadcast", (("UNROLL", 0),)),)
"""What was tuned is part of the truth; and without it llvmpipe would compile long loops, written out, for minutes."""


@pytest.fixture(scope="module")
def devices() -> Iterator[dict[tuple[bool, str], glla.Device]]:
    """A device as it is, and one that takes itself for a GPU: with room, with small textures, with little memory."""
    made = {}
    for software in (True, False):
        for way in ("any", *WAYS):
            device = glla.Device(max_bytes=2**20) if way == "memory" else glla.Device()
            size = {"texture_size": 128} if way == "streamed" else {}
            device.limits = replace(device.limits, software=software, tuned=() if software else TUNED, **size)
            made[software, way] = device
    yield made
    for device in made.values():
        device.release()


@contextmanager
def settling(name: str) -> Iterator[set[Step]]:
    """Note what an operation's `settle` decides, and the stages of batches, which are decided for all matrices."""
    record, taken, expected = OPERATIONS[name], set[Step](), [""]
    settle = record.settle

    def noted(forms: Any, stage: str, values: Any) -> Any:
        verdict = settle(forms, stage, values)
        if stage == BATCHED:  # the plan of the batch is shown first
            stage = expected[0] = ""
        if stage != expected[0]:
            taken.add(("", stage))  # a matrix of a batch begins with what comes after the plan of all
        expected[0] = verdict.stage if isinstance(verdict, Continue) else ""
        word = expected[0] or type(getattr(verdict, "warning", None) or verdict).__name__
        taken.add((stage, word))
        return verdict

    def noting(step: Step, make: Callable[..., Plan]) -> Callable[..., Plan]:
        return lambda *args, **options: (taken.add(step), make(*args, **options))[1]

    steps = {"scaled_plan": ("", retry.RETRY), "pivot_check": (retry.RETRY, retry.PIVOT_CHECK)}
    makers = {name: noting(step, getattr(retry, name)) for name, step in steps.items()}
    object.__setattr__(record, "settle", noted if settle is not None else None)
    batches.retry = SimpleNamespace(**{**vars(retry), **makers})
    try:
        yield taken
    finally:
        object.__setattr__(record, "settle", settle)
        batches.retry = retry


def steps_shown(plan: Plan) -> set[Step]:
    """All that may come after a plan, and after the plans that come."""
    return {(stage, then.stage or re.split("[:,]", then.error)[0]) for stage, one in stages(plan) for then in one.after}


def call(name: str, case: Case, device: glla.Device) -> tuple[Plan, list[Signature], bool]:
    """Show a call, make it, and give what ran; and whether it ended in an error."""
    operands = [one.placed(device) if isinstance(one, On) else one for one in case.operands]
    shown_options = {k: v for k, v in case.options.items() if k not in ("check_finite", "tol", "trans")} | case.shown
    shown = glla.plan(name, *operands, device=device, **shown_options)
    if name == "lu_solve":
        lu, b = operands
        piv = np.zeros(lu.shape[:-1], dtype=np.int32) + np.arange(lu.shape[-1], dtype=np.int32)
        operands = [(lu, piv), b]
    if name in ("cho_solve", "cho_solve_banded"):
        operands = [(operands[0], name == "cho_solve"), operands[1]]
    failed = True
    with glla.trace() as trace, suppress(GllaError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(glla, name)(*operands, device=device, **case.options)
        except PlanError as error:  # no stage that is shown
            raise AssertionError(f"{name}: {described(case)}") from error
        failed = False
    assert not trace.dropped
    return shown, recorded(trace.passes), failed


def described(case: Case) -> str:
    def one(operand: Any) -> str:
        if isinstance(operand, On):
            return f"{'transposed ' if operand.transposed else ''}Matrix {operand.array.shape}"
        return f"{'Fortran ' if operand.flags.f_contiguous and not operand.flags.c_contiguous else ''}{operand.shape}"

    return f"{', '.join(map(one, case.operands))} {case.options} {case.device}"


def difference(name: str, case: Case, device: glla.Device) -> str:
    """Say where a call and its plan part; "" if they are the same up to where the operation decides otherwise."""
    with settling(name) as settled:
        shown, ran, failed = call(name, case, device)
    steps = signatures(shown) * shown.times
    beyond = failed or any(word != "Done" for _, word in settled)
    same = next((i for i, (a, b) in enumerate(zip(steps, ran, strict=False)) if a != b), min(len(steps), len(ran)))
    to_the_device = all(one[0] == "packing/pack" for one in ran[same:])  # results that were found on the host
    if same == len(steps) and (beyond or to_the_device):
        return ""
    got, expected = (one[same] if same < len(one) else "nothing" for one in (ran, steps))
    return f"{described(case)}: step {same} of {len(steps)}, {len(ran)} ran: {got} for {expected}"


@pytest.mark.parametrize("software", [True, False], ids=["software", "GPU"])
@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.function.public])
def test_what_is_shown_is_what_runs(name, software, devices):
    wrong = [found for case in accepted(name) if (found := difference(name, case, devices[software, case.device]))]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", DECIDED)
def test_what_may_come_is_what_comes(name, devices):
    """Each stage, error and warning that is shown comes for some operands, or by the diagnostics in `SETTLED`."""
    wrong, known, reached = [], set(), set()
    for case in decided(name):
        with settling(name) as settled:
            shown, _, _ = call(name, case, devices[True, case.device])
        possible = steps_shown(shown)
        known |= possible
        reached |= settled
        hidden = {step for step in settled - possible if step[1] != "Done"}
        if hidden and shown.times == 1 and case.device == "any":
            wrong.append(f"{described(case)}: not shown: {sorted(hidden)}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
    missing = known - reached - SETTLED.get(name, {}).keys()
    assert not missing, f"no input takes {sorted(missing)}"
    assert SETTLED.get(name, {}).keys() <= known


@pytest.mark.parametrize(("name", "step"), [(name, step) for name, steps in SETTLED.items() for step in steps])
def test_diagnostics_decide_the_next_stage(name, step):
    record = OPERATIONS[name]
    with np.errstate(all="ignore"), settling(name) as taken:
        record.settle(forms_of([(2, 2)] * len(record.operands)), step[0], SETTLED[name][step])
    assert step in taken


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.function.public])
def test_conversions_are_shown(name, devices):
    """Of integers, of bools, and of those that are not in order: matrices, vectors, stacks of up to two matrices."""
    arrays = [np.round(3 * one).astype(np.int32) for one in OPERATIONS[name].example(5, np.random.default_rng(5))]
    first, *others = arrays
    forms = [(On(first), *map(On, others)), (On(first, True), *others)]
    forms += [(On(first != 0), *(On(b, False, True) for b in others))]
    forms += [(On(np.stack([first] * count)), *(On(np.stack([b] * count)) for b in others)) for count in (1, 2)]
    if OPERATIONS[name].function.vectors:
        forms += [(On(np.float32(first)), *(On(b[:, 0], False, sliced) for b in others)) for sliced in (False, True)]
        forms += [(np.float32(first), *(On(b != 0) for b in others))]
    if OPERATIONS[name].batch is None:
        forms = [one for one in forms if np.ndim(getattr(one[0], "array", one[0])) == 2]
    wrong = [found for operands in forms if (found := difference(name, Case(operands), devices[True, "any"]))]
    assert not wrong, "\n".join(wrong)


# -- the test itself --------------------------------------------------------------------------------------------------


def test_a_pass_that_differs_is_found_out(devices, monkeypatch):
    """A step that is left out, one too many, and another way."""
    device, case, plan = devices[True, "any"], Case((regular(70),)), glla.plan
    assert not difference("plu", case, device)
    shown = plan("plu", (70, 70), device=device).flat
    for other in (
        replace(shown, steps=shown.steps[:40] + shown.steps[41:]),
        replace(shown, steps=(*shown.steps[:41], *shown.steps[40:])),
        plan("plu", (70, 70), pivoting="harmonic", device=device),
    ):
        monkeypatch.setattr(glla, "plan", lambda *forms, other=other, **options: other)
        assert "step" in difference("plu", case, device)
