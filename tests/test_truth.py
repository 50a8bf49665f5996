"""What `glla.plan` shows is what runs, step by step: for every operation, on every route, whatever the values ask for.

A call is recorded. What was recorded must be the steps of the plan that is shown, or these and then those of a plan
that may come after it, and so on: a path through the stages.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import glla
from glla.errors import GllaError, PlanError
from glla.gl.recorder import TracedPass
from glla.operations import OPERATIONS
from glla.operations.again import AGAIN
from glla.operations.host.refinement import Refinement
from glla.operations.verdict import BATCHED, Go
from glla.passes import Call, Dispatch, Host, Next, Pass, Plan, Transfer, Tuned, forms_of, stages
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
    """The same of what ran."""
    return [found for found in (signature(one.plan, one.step) for one in passes) if found is not None]


# -- paths ------------------------------------------------------------------------------------------------------------


class Matcher:
    """Finds a path through the stages of a plan whose steps are those that ran."""

    def __init__(self, shown: Plan, ran: list[Signature], times: int, members: int, uploads: bool) -> None:
        self.shown, self.ran = shown, ran
        self.times, self.members = times, members
        self.uploads = uploads  # what was found on the host goes to the device in the end, where an Array was given
        self.furthest, self.there = 0, "the first plan"
        self._failed: set[Any] = set()
        self._plans: dict[Any, tuple[Plan, list[Signature]]] = {}

    def path(self) -> list[str] | None:
        """Stages that were taken; None if there is no such path."""
        found = self._from("", self.shown, 0, self.times - 1, self.members)
        last = [one for one in self.shown.steps if isinstance(one, Call) and one.name.startswith("solution")]
        if found is not None or not last:
            return found
        # what gives the solution its shape comes behind the plans that come after, and not at all behind an error
        flat, count = self.shown.flat, len(last)
        self.shown = replace(flat, steps=flat.steps[:-count])
        if self.ran[-count:] == signatures(flat)[-count:]:
            self.ran = self.ran[:-count]
        return self._from("", self.shown, 0, self.times - 1, self.members)

    def _from(self, name: str, plan: Plan, at: int, times: int, members: int) -> list[str] | None:
        """Take a plan, then what may come after it; `times` more from the beginning, `members` more from the stack."""
        key = (name, id(plan), at, times, members)
        if key in self._failed:
            return None
        steps = self._steps(plan)
        same = next((i for i, (a, b) in enumerate(zip(steps, self.ran[at:], strict=False)) if a != b), None)
        reached = at + (min(len(steps), len(self.ran) - at) if same is None else same)
        if reached > self.furthest:
            self.furthest, self.there = reached, f"step {reached - at} of {name or 'the first plan'}"
        end = at + len(steps)
        if same is None and end <= len(self.ran):
            while self.uploads and end < len(self.ran) and self.ran[end][0] in ("wrapped/take", "wrapped/unary"):
                end += 1  # members of a stack that need care are gathered, to be read
            if end == len(self.ran) or (self.uploads and all(one[0] == "packing/pack" for one in self.ran[end:])):
                return [name]
            ways: list[tuple[str, Plan, int, int]] = [
                (then.stage, one, times, members) for then in plan.after for one in self._plans_of(then)
            ]
            if times:
                ways.append(("", self.shown, times - 1, members))
            if members:
                ways += [
                    (then.stage, one, times, members - 1) for then in self.shown.after for one in self._plans_of(then)
                ]
            for stage, following, more, others in ways:
                rest = self._from(stage, following, end, more, others)
                if rest is not None:
                    return [name, *rest]
        self._failed.add(key)
        return None

    def _steps(self, plan: Plan) -> list[Signature]:
        if id(plan) not in self._plans:
            self._plans[id(plan)] = (plan, signatures(plan))
        return self._plans[id(plan)][1]

    def _plans_of(self, then: Next) -> list[Plan]:
        """The next plan; where doubtful members of a stack go together, one for each number of them."""
        if then.plan is None:
            return []
        plans = [self._plan(then)]
        if then.stage == AGAIN:
            batch, forms, *others = then.plan.args
            for size in range(2, 9):
                some = tuple(replace(form, shape=(size, *form.matrix)) for form in forms)
                plans.append(
                    self._plan(replace(then, plan=partial(then.plan.func, batch, some, *others, **then.plan.keywords)))
                )
        return plans

    def _plan(self, then: Next) -> Plan:
        """Make the next plan once, so that it is the same object in every turn of a loop of stages."""
        function: Any = then.plan
        key = (then.stage, getattr(function, "func", function), getattr(function, "args", ()),
               tuple(sorted(getattr(function, "keywords", {}).items())))  # fmt: skip
        if key not in self._plans:
            plan = function()
            self._plans[key] = (plan, [])
        return self._plans[key][0]


def differences(shown: Plan, ran: list[Signature], furthest: int, there: str) -> str:
    """Say where the longest path ends."""
    got = ran[furthest] if furthest < len(ran) else "nothing"
    return f"{len(ran)} steps ran, the longest path has {furthest} of them and ends at {there}; then ran {got}"


# -- cases ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class On:
    """An operand that lies on the device; `transposed`: as the transpose of what lies there; `sliced`: as a part."""

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
    note: str = ""


def normal(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def regular(n: int, *stack: int) -> np.ndarray:
    return normal(*stack, n, n) + 4 * np.sqrt(np.float32(n)) * np.eye(n, dtype=np.float32)


def singular(n: int) -> np.ndarray:
    a = normal(n, n)
    a[-1] = a[0]
    return a


def noisy(n: int) -> np.ndarray:
    return hidden_singular(n, np.random.default_rng(n)).astype(np.float32)


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


def without_elements(*shapes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Matrices and stacks of them without elements."""
    for shape in shapes:
        yield (np.zeros(shape, np.float32),)
        yield (On(np.zeros(shape, np.float32)),)


LET = {"check_finite": False}
NOTHING = "nothing runs: the host sees the answer"
SMALL = (1, 2, 5, 16)
WAYS = ("streamed", "memory")
"""Devices on which operands do not fit: small textures, little memory."""


def _products() -> Iterator[Case]:
    for n in (*SMALL, 70):
        for operands in placements(normal(n, n + 1), normal(n + 1, 2)):
            yield Case(operands)
    yield Case((On(normal(5, 6)), normal(6, 3)))
    for operands in beside_each_other(normal(5, 5), normal(5, 2)):
        yield Case(operands)
    for left, right in ((normal(5), normal(5, 5)), (normal(5), normal(5)), (normal(5, 5), normal(5, 1)[:, 0])):
        for operands in ((On(left), On(right)), (On(left), right), (left, On(right)), (left, right)):
            yield Case(operands)
    yield Case((normal(7, 5, 6), normal(7, 6, 3)))
    yield Case((normal(7, 5, 6), normal(6, 3)))
    yield Case((normal(2, 1, 5, 6), normal(3, 6, 3)))
    yield Case((normal(2, 70, 80), normal(2, 80, 70)))
    yield Case((On(normal(7, 5, 6)), On(normal(7, 6, 3))))
    yield Case((On(normal(2, 1, 5, 6)), On(normal(3, 6, 3))))
    yield Case((normal(300, 300), normal(300, 270)))
    for variant in OPERATIONS["matmul"].tunable():
        yield Case((normal(20, 30), normal(30, 40)), {"variant": variant})
        yield Case((On(normal(20, 30)), On(normal(30, 40))), {"variant": variant})
    for way in WAYS:
        yield Case((normal(300, 290), normal(290, 270)), device=way)
        yield Case((normal(300, 290), normal(290, 270)), {"variant": "inner_product"}, device=way)


def _echelons() -> Iterator[Case]:
    for n in (*SMALL, 70):
        for operands in placements(normal(n, n + 1)):
            yield Case(operands)
    for shape in ((5, 9), (9, 5), (40, 33), (33, 70)):
        yield Case((normal(*shape),))
    for operands in without_elements((0, 0), (0, 3), (3, 0)):
        yield Case(operands)
    for pivoting in ("harmonic", "geometric", "partial"):
        for variant in (None, "rank2", "blocked"):
            options = {"pivoting": pivoting} | ({"variant": variant} if variant else {})
            yield Case((normal(40, 41),), options)
            yield Case((singular(40),), options)
            yield Case((normal(6, 7),), {**options, "tol": 1e-3}, {"tol": True})
    for n in (9, 40):
        for a in (singular(n), noisy(n), graded(n), growing(n), np.zeros((n, n), np.float32)):
            yield Case((a,))
            yield Case((On(a),))
            yield Case((a,), {"tol": 1e-3}, {"tol": True})
        yield Case((with_nan(n),), LET)
        yield Case((On(with_nan(n)),), LET)
        yield Case((with_nan(n),), {**LET, "tol": 0.5}, {"tol": True})
    near = regular(40)
    near[-1] = near[0] + np.float32(1e-3) * normal(40)
    yield Case((near,), note="a small pivot that stands")


def _factorisations(stacks: bool) -> Iterator[Case]:
    for n in (*SMALL, 130, 270):
        for operands in placements(normal(n, n)):
            yield Case(operands)
    for shape in ((5, 9), (9, 5), (130, 30)):
        yield Case((normal(*shape),))
    for operands in without_elements((0, 0), (0, 3), (3, 0)):
        yield Case(operands)
    for pivoting in ("harmonic", "geometric", "partial"):
        for variant in (None, "rank2", "blocked"):
            for a in (normal(40, 40), singular(40), growing(40), 2.0**60 * normal(40, 40)):
                yield Case((a,), {"pivoting": pivoting} | ({"variant": variant} if variant else {}))
    for variant in ("row_operations", "row_vectors", "column_vectors", "extra_column"):
        yield Case((normal(9, 9),), {"variant": variant})
    for a in (growing(32, -0.9), growing(140), 2.0**-60 * normal(9, 9), np.zeros((5, 5), np.float32), graded(20)):
        yield Case((np.float32(a),))
        yield Case((On(np.float32(a)),))
    yield Case((growing(40, -0.9)[:, ::-1].copy(),), note="the block norms do better")
    yield Case((with_nan(9),), LET)
    yield Case((On(with_nan(9)),), LET)
    if stacks:
        yield Case((normal(5, 8, 8),))
        yield Case((normal(2, 3, 8, 6),))
        yield Case((On(normal(2, 3, 8, 6)),))
        yield Case((np.stack([normal(32, 32), growing(32, -0.9), 2.0**60 * normal(32, 32)]).astype(np.float32),))
        yield Case((normal(2, 300, 20),))


def _systems(inverse: bool) -> Iterator[Case]:
    def case(a: Any, b: Any = None, *more: Any, **options: Any) -> Case:
        if inverse:
            return Case((a,), *more, **options)
        n = np.shape(a.array if isinstance(a, On) else a)[-1]
        rhs = normal(n, 2) if b is None else b
        return Case((a, On(rhs) if isinstance(a, On) and isinstance(rhs, np.ndarray) else rhs), *more, **options)

    for n in (*SMALL, 70, 270):
        for (a,) in placements(regular(n)):
            yield case(a)
    yield case(regular(8, 5), normal(5, 8, 2))
    yield case(On(regular(8, 5)), On(normal(5, 8, 2)))
    yield case(On(regular(8, 2, 3)), On(normal(3, 8, 2)))
    yield case(regular(300, 2), normal(2, 300, 2))
    for (a,) in without_elements((0, 0), (0, 3, 3), (2, 0, 0)) if inverse else ():
        yield Case((a,))
    if not inverse:
        for operands in beside_each_other(regular(5), normal(5, 2)):
            yield Case(operands)
        yield case(regular(8), normal(5, 8, 2))
        yield case(regular(8, 2, 1), normal(3, 8, 2))
        yield case(regular(100), normal(100, 300))
        yield Case((On(regular(20)), normal(20, 3)))
        yield Case((regular(20), On(normal(20, 3))))
        for n in (16, 270):
            yield case(regular(n), None, {"equilibrate": False})
            yield case(growing(n), None, {"equilibrate": False})
            yield case(regular(n), 2.0**60 * normal(n, 2))
            yield case(regular(n), np.float32([[1], [1e-38]] + [[1e30]] * (n - 2)), note="part of b is lost")
            yield case(regular(n), np.float32([[1e-30, 1]] * n))
            for a in (regular(n), growing(n), singular(n)):
                yield case(a, None, {"refine": True})
            yield case(with_nan(n), None, {**LET, "refine": True}, {"refine": True})
        yield case(On(regular(20)), None, {"refine": True})
        yield Case((On(regular(20)), On(normal(20))), {"refine": True})
        yield Case((regular(20), On(normal(20))), {"refine": True})
        yield case(regular(20), None, {"refine": True, "equilibrate": False})
        yield case(regular(100), normal(100, 700), device="memory")
        yield case(regular(100), normal(100, 700), {"equilibrate": False}, device="streamed")
    ill = np.float32(np.linalg.qr(normal(270, 270))[0] * np.logspace(0, -5, 270) @ np.linalg.qr(normal(270, 270))[0])
    for on in (False, True):
        place = On if on else np.asarray
        for n in (16, 40, 270):
            for a in (singular(n), noisy(n), graded(n), graded(n, 35), growing(n), growing(n, -0.9)):
                yield case(place(a))
        for a in (growing(140), growing(257), ill, ill[:100, :100], np.zeros((4, 4), np.float32)):
            yield case(place(a))
        yield case(place(with_nan(9)), None, LET)
        yield case(place(with_nan(270)), None, LET)
    yield case(np.stack([regular(40), growing(40), graded(40)]), normal(3, 40, 2))


def _substitutions() -> Iterator[Case]:
    def factors(n: int, *stack: int) -> np.ndarray:
        return normal(*stack, n, n) / n + 2 * np.eye(n, dtype=np.float32)

    for trans in (0, 1):
        options, shown = {"trans": trans}, {"transposed": bool(trans)}
        for n in (*SMALL, 70, 270):
            for operands in placements(factors(n), normal(n, 3)):
                yield Case(operands, options, shown)
        for operands in beside_each_other(factors(5), normal(5, 2)) if trans else ():
            yield Case(operands, options, shown)
        yield Case((factors(8, 5), normal(5, 8, 2)), options, shown)
        yield Case((factors(8), normal(5, 8, 2)), options, shown)
        yield Case((factors(300, 2), normal(2, 300, 2)), options, shown)
        yield Case((On(factors(20)), normal(20, 3)), options, shown)
        yield Case((factors(20), On(normal(20, 3))), options, shown)
        yield Case((factors(20), 2.0**60 * normal(20, 3)), options, shown)
        yield Case((factors(270), 2.0**60 * normal(270, 3)), options, shown)
        yield Case((On(np.diag(np.float32([2, 0, 1]))), On(normal(3, 3))), options, shown)
        yield Case((2.0**60 * factors(8, 5), normal(5, 8, 2)), options, shown)
        for operands in placements(np.diag(np.float32([2, 2.0**-100, 1])), normal(3, 3)):
            yield Case(operands, options, shown)
    yield Case((regular(100), 2.0**60 * normal(100, 700)), {"trans": 1}, {"transposed": True}, device="memory")
    yield Case((regular(100), normal(100, 700)), device="streamed")


def _triangles() -> Iterator[Case]:
    def triangle(n: int, *stack: int) -> np.ndarray:
        return normal(*stack, n, n) / n + 2 * np.eye(n, dtype=np.float32)

    for trans, lower, unit in ((0, False, False), ("T", True, False), ("N", True, True)):
        options = {"trans": trans, "lower": lower, "unit_diagonal": unit}
        shown = {"transposed": trans == "T"}
        for n in (1, 5, 70) if unit else (16, 270):
            for operands in placements(triangle(n), normal(n, 3)):
                yield Case(operands, options, shown)
        for operands in beside_each_other(triangle(5), normal(5, 2)) if trans == "T" else ():
            yield Case(operands, options, shown)
        yield Case((triangle(8, 2, 3), normal(3, 8, 2)), options, shown)
        yield Case((triangle(8), normal(5, 8, 2)), options, shown)
        yield Case((triangle(300, 2), normal(2, 300, 2)), options, shown)
        yield Case((On(triangle(20)), normal(20, 3)), options, shown)
        for scale in (2.0**-120, 2.0**100):
            far = (np.float32(scale) * triangle(20), normal(20, 3))
            for operands in (far, (On(far[0]), On(far[1])), (far[0], On(far[1]))):
                yield Case(operands, options, shown)
        yield Case((On(np.diag(np.float32([2, 0, 1]))), On(normal(3, 3))), options, shown)
        yield Case((np.diag(np.float32([2, 0, 1])), normal(3, 3)), options, shown, note="" if unit else NOTHING)
        yield Case((triangle(100), normal(100, 700)), options, shown, device="memory")
        yield Case((np.float32(2.0**-70) * triangle(100), normal(100, 700)), options, shown, device="streamed")
    yield Case((triangle(20), normal(20, 5)), {"variant": "rank2"})


def _determinants() -> Iterator[Case]:
    for n in (*SMALL, 70, 270):
        for operands in placements(regular(n) / np.float32(n)):
            yield Case(operands, LET)
    yield Case((regular(6, 5),))
    yield Case((regular(270, 2),), LET)
    for operands in without_elements((0, 0), (0, 3, 3), (2, 0, 0)):
        yield Case(operands)
    for on in (False, True):
        place = On if on else np.asarray
        for n in (16, 40, 270):
            for a in (singular(n), graded(n), growing(n), growing(n, -0.9), with_nan(n)):
                yield Case((place(a),), LET)
        yield Case((place(growing(140)),), LET)
    yield Case((np.stack([regular(40), growing(40), graded(40)]),), LET)


def _condition_numbers() -> Iterator[Case]:
    for n in (*SMALL, 70, 270):
        for operands in placements(regular(n)):
            yield Case(operands)
    yield Case((regular(6, 3),))
    for n in (16, 40):
        for a in (singular(n), noisy(n), growing(n), growing(n, -0.9), graded(n)):
            yield Case((a,))
            yield Case((On(a),))
    for one in (regular(9), growing(140)):
        yield Case((On(np.ldexp(one, -60)),))
    yield Case((np.zeros((4, 4), np.float32),), note=NOTHING)
    yield Case((np.stack([regular(6), growing(6), graded(6)]),))
    yield Case((np.stack([regular(40), growing(40), graded(40)]),))
    yield Case((On(regular(40, 3)),))
    yield Case((growing(140),))
    yield Case((growing(140)[::-1].copy(),))
    yield Case((with_nan(9),), LET, note=NOTHING)
    for seed in range(4):
        yield Case((normal(20, 20, seed=seed),))


def _definite() -> Iterator[Case]:
    for n in (*SMALL, 70):
        for operands in placements(*OPERATIONS["cholesky"].example(n, np.random.default_rng(n))):
            yield Case(operands)
    a = np.float32(np.diag([4, 1, 2]) + 0.5)
    for one in (a, np.float32(2.0**60) * a, -a, -np.float32(2.0**60) * a):
        yield Case((one,))
        yield Case((On(one),))
        yield Case((On(one, True),))
    stack = np.stack([a, np.float32(2.0**60) * a, a, np.float32(2.0**-60) * a])
    for one in (stack[::2], stack, -stack, stack.reshape(2, 2, 3, 3)):
        yield Case((one,))
        yield Case((On(one),))


def _halves() -> Iterator[Case]:
    yield from _examples("cho_factor")
    stack = np.stack([OPERATIONS["cholesky"].example(5, np.random.default_rng(n))[0] for n in range(3)])
    for one in (stack, stack[:, :2, :2], On(stack), On(stack, True), On(stack[:, :2, :2])):
        for lower in (False, True):
            yield Case((one,), {"lower": lower}, {"lower": lower})


def _orthogonal() -> Iterator[Case]:
    yield from _examples("qr")
    for mode in ("reduced", "complete", "r", "raw"):
        for shape in ((5, 3), (3, 5), (4, 6, 3), (2, 2, 3, 6)):
            yield Case((normal(*shape),), {"mode": mode})
            yield Case((On(normal(*shape)),), {"mode": mode})
    for operands in without_elements((0, 3), (3, 0), (2, 0, 0)):
        yield Case(operands)
    for mode in ("reduced", "r"):
        for shape in ((300, 2), (140, 60)):  # taller than a texture; the triangles of the latter are, too
            yield Case((normal(*shape),), {"mode": mode}, device="streamed")
            yield Case((On(normal(*shape)),), {"mode": mode}, device="streamed")


def _least_squares() -> Iterator[Case]:
    yield from _examples("lstsq")
    for left in (normal(300, 2), On(normal(300, 2))):
        for right in (normal(300, 3), On(normal(300, 3)), normal(300), On(normal(300))):
            yield Case((left, right), device="streamed")


CASES = {
    "cholesky": _definite,
    "matmul": _products,
    "rref": _echelons,
    "plu": lambda: _factorisations(False),
    "lu_factor": lambda: _factorisations(True),
    "lu_solve": _substitutions,
    "solve_triangular": _triangles,
    "solve": lambda: _systems(False),
    "inv": lambda: _systems(True),
    "det": _determinants,
    "slogdet": _determinants,
    "rcond": _condition_numbers,
    "cho_factor": _halves,
    "qr": _orthogonal,
    "lstsq": _least_squares,
}

OWN_INPUTS = tuple(name for name in CASES if name not in ("cho_factor", "qr", "lstsq"))
"""Operations whose inputs here take every stage; others are tried with their examples, their stages elsewhere."""


def _examples(name: str) -> Iterator[Case]:
    for n in (*SMALL, 70):
        for operands in placements(*OPERATIONS[name].example(n, np.random.default_rng(n))):
            yield Case(operands)
    example = OPERATIONS[name].example(5, np.random.default_rng(5))
    nothing = tuple(np.zeros(0, np.float32).reshape(0, 0) for _ in example)
    yield Case(nothing)
    yield Case(tuple(map(On, nothing)))
    if len(example) == 2:
        for operands in beside_each_other(*example) if example[0].shape[0] == 5 else ():
            yield Case(operands)


for _name, _operation in OPERATIONS.items():
    if _operation.public and _name not in CASES:
        CASES[_name] = partial(_examples, _name)


def system(diagonal: Any, **more: Any) -> dict[str, Any]:
    """What `settle` is given for a system of order 2 that went up the ladder: U's diagonal, largest entries 1."""
    one, row = np.ones((2, 1)), np.zeros((1, 2), np.int32)
    a = {"A": np.eye(2), "B": one, "scaled A": np.eye(2, dtype=np.float32), "scaled B": one}
    e = {"row exponents": row.T, "column exponents": row, "sizes": np.zeros(1, np.int32)}
    texels = {"diagonal": np.float32([[*diagonal, 1, 1]])}
    return {**a, **e, **texels, "function": "solve", "member": "", "grew": True, "last": False, "least": 99.0, **more}


def refining(turns: int, x: float, **more: Any) -> dict[str, Any]:
    """The same within a refinement, that came to this solution."""
    so_far = Refinement(turns, np.ones((2, 1)), 1.0)
    given = {"A in float64": np.eye(2), "B in float64": np.ones((2, 1)), "corrected X": np.full((2, 1), x)}
    left = {"residual left": 1 - given["corrected X"], "fallback": None, "order": np.arange(2)}
    return system((1, 1), refinement=so_far, **given, **left, **more)


def factored(*turns: str, u: float = 2.0) -> dict[str, Any]:
    """What `settle` is given for factors of the identity, with these on U's diagonal; and the pivotings to try."""
    lu, one = np.diag(np.float32([u, u])), np.ones((1, 4), np.float32)
    figures = {"exchanges": np.float32([[0, 1, 0, 0]]), "health_read": one, "largest_A": one, "exponent": np.int32([0])}
    given = {"scaled A": np.eye(2, dtype=np.float32), "packed LU": lu, "turns": turns, "check_finite": True}
    return {**figures, **given, "function": "plu", "pivoting": turns[0]}


NOISE, TINY = {"errors": np.float32([1, 1])}, {"sizes": np.int32([-170])}
INSTEAD = "partial pivoting instead of"
LADDER: dict[Step, dict[str, Any]] = {
    ("complete pivoting", "ConvergenceError"): system((np.inf, 1)),
    ("complete pivoting", "NonFiniteError"): system((np.inf, 1), least=np.inf),
    ("complete pivoting", "SingularMatrixError"): system((1, 0)),
    ("complete pivoting", "look at the pivots"): system((1, 1e-6)),
    ("look at the pivots", "substitute"): system((1, 1e-6), errors=np.zeros(2)),
    ("refine", "ConvergenceError"): refining(5, np.nan, last=True),
    ("refine", "complete pivoting"): refining(5, np.nan),
    ("refine", "NonFiniteError"): refining(1, 1, **TINY),
    ("substitute", "NonFiniteError"): system((1, 1), X=np.ones((2, 1)), **TINY),
}
PIVOTINGS: dict[Step, dict[str, Any]] = {
    ("care", "care, partial pivoting"): factored("harmonic", "partial"),
    **{(f"care, {one} pivoting", "GrowthWarning"): factored(one) for one in ("harmonic", "geometric")},
    **{(f"care, {one} pivoting", "NonFiniteError"): factored(one, u=np.inf) for one in ("harmonic", "geometric")},
    ("care, harmonic pivoting", "care, geometric pivoting"): factored("harmonic", "geometric"),
    ("care, partial pivoting", "care, geometric pivoting"): factored("partial", "geometric"),
    ("care, partial pivoting", "care, harmonic pivoting"): factored("partial", "harmonic"),
    (f"{INSTEAD} geometric", "care, partial pivoting"): factored("geometric", "partial"),
    (f"{INSTEAD} harmonic", "care, partial pivoting"): factored("harmonic", "partial"),
    (f"{INSTEAD} harmonic", "GrowthWarning"): factored("harmonic"),
    (f"{INSTEAD} harmonic", "NonFiniteError"): factored("harmonic", u=np.inf),
}
SETTLED: dict[str, dict[Step, dict[str, Any]]] = {
    "solve": {**LADDER, ("look at the pivots", "refine"): system((1, 1e-6), errors=np.zeros(2), refine=True)},
    "inv": LADDER,
    "rref": {
        ("look at the pivots", "partial pivoting"): {
            "A": np.full((2, 2), np.nan), "tol": None, **NOISE, "diagonal": np.float32([[1, 1, 1, 1]]),
        },
    },
    "rcond": {
        ("step of Hager's method", "alternating signs"): {"X": np.ones((2, 1)), "estimate": 3.0, "steps": 1},
    },
    "plu": PIVOTINGS,
    "lu_factor": PIVOTINGS,
}  # fmt: skip
"""What comes after a stage for no input above, and figures for which it does."""


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
    """Note what an operation's `settle` decides."""
    record, taken, expected = OPERATIONS[name], set[Step](), [""]
    settle = record.settle

    def noted(forms: Any, stage: str, values: Any) -> Any:
        verdict = settle(forms, stage, values)
        if stage == BATCHED:  # the plan of the batch is shown first
            stage = expected[0] = ""
        if stage != expected[0]:
            taken.add(("", stage))  # a member of a stack begins with what comes after the plan of all
        expected[0] = verdict.stage if isinstance(verdict, Go) else ""
        word = expected[0] or type(getattr(verdict, "warning", None) or verdict).__name__
        taken.add((stage, word))
        return verdict

    object.__setattr__(record, "settle", noted if settle is not None else None)
    try:
        yield taken
    finally:
        object.__setattr__(record, "settle", settle)


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


def path(name: str, case: Case, device: glla.Device) -> tuple[Plan, list[str] | None, str]:
    """Path of a call through the stages of the plan that is shown for it; None, and where it ends, if there is none."""
    shown, ran, failed = call(name, case, device)
    together = "matrices" in shown.results or any(name.startswith("raw") for name in shown.operands)
    matcher = Matcher(shown, ran, shown.times, 10 if together else 0, any(isinstance(one, On) for one in case.operands))
    taken = [] if case.note == NOTHING and not ran else matcher.path()
    if taken and not failed and taken.count("") != shown.times:
        return shown, None, f"{shown.times} times was shown, {taken.count('')} times it ran"
    return shown, taken, differences(shown, ran, matcher.furthest, matcher.there)


def described(case: Case) -> str:
    def one(operand: Any) -> str:
        if isinstance(operand, On):
            return f"{'transposed ' if operand.transposed else ''}Matrix {operand.array.shape}"
        return f"{'Fortran ' if operand.flags.f_contiguous and not operand.flags.c_contiguous else ''}{operand.shape}"

    return f"{', '.join(map(one, case.operands))} {case.options} {case.device} {case.note}"


@pytest.mark.parametrize("software", [True, False], ids=["software", "GPU"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_shown_is_what_runs(name, software, devices):
    wrong, known, reached = [], set(), set()
    for number, case in enumerate(CASES[name]()):
        with settling(name) as settled:
            shown, taken, where = path(name, case, devices[software, case.device])
        possible = steps_shown(shown)
        known |= possible
        reached |= settled | set(zip(taken or (), (taken or ())[1:], strict=False))
        if taken is None:
            wrong.append(f"case {number}: {described(case)}: {where}")
        hidden = {step for step in settled - possible if step[1] != "Done"}
        if hidden and "one by one" not in (taken or ()) and shown.times == 1 and case.device == "any":
            wrong.append(f"case {number}: {described(case)}: not shown: {sorted(hidden)}")
    assert not wrong, f"{len(wrong)} of {number + 1}:\n" + "\n".join(wrong)
    missing = known - reached - SETTLED.get(name, {}).keys()
    assert name not in OWN_INPUTS or not missing, f"no input takes {sorted(missing)}"
    assert SETTLED.get(name, {}).keys() <= known


@pytest.mark.parametrize(("name", "step"), [(name, step) for name, steps in SETTLED.items() for step in steps])
def test_figures_decide_what_comes_next(name, step):
    record = OPERATIONS[name]
    with np.errstate(all="ignore"), settling(name) as taken:
        record.settle(forms_of([(2, 2)] * len(record.operands)), step[0], SETTLED[name][step])
    assert step in taken


@pytest.mark.parametrize("name", CASES)
def test_conversions_are_shown(name, devices):
    """Of integers, of bools, and of those that do not lie in order: matrices, vectors, stacks of up to two members."""
    arrays = [np.round(3 * one).astype(np.int32) for one in OPERATIONS[name].example(5, np.random.default_rng(5))]
    first, *others = arrays
    forms = [
        (On(first), *map(On, others)),
        (On(first, True), *others),
        (On(first != 0), *(On(b, False, True) for b in others)),
    ]
    forms += [(On(np.stack([first] * count)), *(On(np.stack([b] * count)) for b in others)) for count in (1, 2)]
    if OPERATIONS[name].vectors:
        forms += [(On(np.float32(first)), *(On(b[:, 0], False, sliced) for b in others)) for sliced in (False, True)]
        forms += [(np.float32(first), *(On(b != 0) for b in others))]
    if name in ("rref", "plu", "lstsq"):
        forms = [one for one in forms if np.ndim(getattr(one[0], "array", one[0])) == 2]
    for operands in forms:
        _, taken, where = path(name, Case(operands), devices[True, "any"])
        assert taken is not None, f"{described(Case(operands))}: {where}"


def test_every_public_operation_is_tried():
    assert set(CASES) == {name for name, operation in OPERATIONS.items() if operation.public}


# -- the test itself --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(devices) -> tuple[Plan, list[Signature]]:
    """A call that takes a second stage: what is shown, and what ran."""
    shown, ran, _ = call("rref", Case((singular(40),)), devices[True, "any"])
    return shown, ran


def found(shown: Plan, ran: list[Signature]) -> list[str] | None:
    return Matcher(shown, ran, 1, 0, False).path()


def test_the_matcher_finds_the_stages(seen):
    assert found(*seen) == ["", "float64"]


def test_another_variant_is_found_out(seen, devices):
    assert found(glla.plan("rref", (40, 40), device=devices[True, "any"], variant="rank2"), seen[1]) is None


def test_a_missing_stage_is_found_out(seen):
    shown, ran = seen
    assert found(replace(shown, after=tuple(then for then in shown.after if then.stage != "float64")), ran) is None


def test_a_step_too_many_or_too_few_is_found_out(seen):
    shown, ran = seen
    assert found(shown, ran[:-2]) is None
    assert found(shown, [*ran, ran[0]]) is None
    assert found(shown, ran[1:]) is None


def test_steps_in_another_order_are_found_out(seen):
    shown, ran = seen
    flat = shown.flat
    place = next(
        i for i in range(len(flat.steps)) if isinstance(flat.steps[i], Pass) and flat.steps[i] != flat.steps[i + 1]
    )
    steps = [*flat.steps[:place], flat.steps[place + 1], flat.steps[place], *flat.steps[place + 2 :]]
    assert found(replace(flat, steps=tuple(steps)), ran) is None


@pytest.mark.parametrize("change", [{"step": 999}, {"uniforms": {}}, {"defines": {"X": 1}}, {"accumulate": True}])
def test_a_pass_that_differs_is_found_out(seen, change):
    shown, ran = seen
    flat = shown.flat
    place = max(i for i, step in enumerate(flat.steps) if isinstance(step, Pass) and step.uniforms)
    steps = [*flat.steps[:place], replace(flat.steps[place], **change), *flat.steps[place + 1 :]]
    assert found(replace(flat, steps=tuple(steps)), ran) is None
