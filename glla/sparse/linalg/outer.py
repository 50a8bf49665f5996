"""The outer loop of every solver: an iteration on the device, then the true residual, then, if need be, once more.

The residual of an iteration's recurrence in float32 drifts away from the true one, b - A x. It only triggers a
computation of the true one: if that is not small enough, the iteration starts again, with the true residual as its
right-hand side (residual replacement; with x in float64, iterative refinement). Everything is scaled by powers of two,
which is exact, so that no square leaves float32's range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glla.array.array import Array, upload
from glla.array.convert import checked_device
from glla.array.value import Resident
from glla.errors import DeviceMismatchError, OptionError, OptionTypeError
from glla.gl import Device, DeviceLike
from glla.operations.sparse.cg import BREAKDOWN
from glla.passes import Limits, Plan, iterate
from glla.sparse.linalg import vectors
from glla.sparse.linalg.operators import Operator, operator

RESTARTS, ROUNDS = 5, 12
"""Restarts at most: in float32, and with refinement."""

INNER = 1e-4
"""Factor by which the inner iteration of a refinement reduces the residual."""

LOWER = 0.5
"""Fraction of the goal that a restart aims at, because the recurrence ended too early before it."""

GAIN = 0.5
"""If a restart leaves more than this fraction of the residual, it is the last one."""

ENDLESS = 2**31 - 1
"""Iterations at most, whatever `maxiter` is: they are counted in 32 bits."""


@dataclass(frozen=True)
class Method:
    """A Krylov method: builders of plans for (a, m, n, limits)."""

    # initialisation: operands ``b``, ``bound``; results `carried`, and ``state``
    begin: Callable[[Plan, Plan | None, int, Limits], Plan]
    turn: Callable[[Plan, Plan | None, int, Limits], Plan]  # one iteration
    carried: tuple[str, ...]  # vectors passed from one iteration to the next; ``x`` is one of them

    def __call__(self, asked: Task, state: Any, goal: float, before: int) -> Ended:
        """Iterate on the device from the current residual, scaled, until its norm is small enough."""
        goal = max(goal, INNER * state.residual) if asked.refine else goal
        a, m, device, most = asked.a, asked.m, asked.a.device, asked.maxiter - before
        assert a.plan is not None
        n, plans = a.shape[0], (a.plan, None if m is None else m.plan)
        r, e = state.scaled()
        square = min(np.ldexp(goal, -e) ** 2, 1e30)
        bound = device.write_texels(np.full((1, 1, 4), square, dtype=np.float32))
        fixed = {f"A.{name}": texture for name, texture in a.textures.items()} | {"bound": bound}
        if m is not None:
            fixed |= {f"M.{name}": texture for name, texture in m.textures.items()}
        begins, turn = self.begin(*plans, n, device.limits), self.turn(*plans, n, device.limits)
        given = {name: texture for name, texture in fixed.items() if name in begins.operands}
        carried = device.run(begins, b=r.value.texture, **given)
        names, exponent, done, stop = self.carried, e - a.exponent, 0, 0.0
        often = asked.check_every or (NOTED if asked.progress is not None else most)
        every = 1 if asked.callback is not None else often
        fixed |= {name: one for name, one in carried.items() if name not in names}  # the same in every iteration
        needed = {name: texture for name, texture in fixed.items() if name in turn.operands}
        while done < most and not stop:
            loop = iterate(turn, carry={name: name for name in names}, until="state", most=min(every, most - done))
            found = device.run(loop, **needed, **{name: carried[name] for name in names})
            carried, done, stop = found, done + found.iterations, float(found.stop) if found.stopped else 0.0
            if asked.progress is not None:
                square = float(device.read(found["state"])[0, 0, 1])
                asked.progress(before + done, float(np.ldexp(np.sqrt(max(square, 0.0)), e)) / state.size)
            if asked.callback is not None:
                asked.callback(state.moved(_vector(device, carried["x"], n), exponent).result)
        return Ended(_vector(device, carried["x"], n), exponent, done, stop)


@dataclass(frozen=True)
class Task:
    """The arguments of a solver."""

    function: str  # name of the solver, for messages
    a: Operator  # A, and the preconditioner if there is one
    m: Operator | None
    b: Any  # the right-hand side, and the initial guess if it is not 0
    x0: Any
    rtol: float  # tolerances of the residual, relative to the norm of b, and absolute
    atol: float
    maxiter: int  # total number of iterations
    callback: Callable[[Any], object] | None = None  # called with x after each iteration, which synchronises each time
    check_every: int | None = None  # iterations between checks for convergence; None to read the state late
    refine: bool = False  # refine x in float64
    # called every `NOTED` iterations with their number and the residual over the norm of b, by the recurrence
    progress: Callable[[int, float], object] | None = None


NOTED = 64
"""Iterations between calls of `progress`."""


def task(
    function: str,
    A: Any,
    b: Any,
    x0: Any,
    rtol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    callback: Callable[[Any], object] | None,
    check_every: int | None,
    refine: bool,
    device: DeviceLike | None,
    progress: Callable[[int, float], object] | None = None,
) -> Task:
    """Check the arguments of a solver."""
    place = checked_device(function, device) or (b.device if isinstance(b, Array) else None)
    a = operator(function, "A", A, place)
    m = None if M is None else operator(function, "M", M, a.device)
    n = a.shape[0]
    if m is not None and m.shape != a.shape:
        raise OptionError(f"{function}: matrix and preconditioner have different shapes, {a.shape} and {m.shape}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, int | float | np.number) or not float(value) >= 0:
            raise OptionError(f"{function}: {name} must be a number from 0, got {value!r}")
    for name, called in (("callback", callback), ("progress", progress)):
        if called is not None and not callable(called):
            raise OptionTypeError(f"{function}: {name} must be a function, or None, got {called!r}")
    for name, count in (("maxiter", maxiter), ("check_every", check_every)):
        if count is not None and (not isinstance(count, int | np.integer) or count < 1):
            raise OptionError(f"{function}: {name} must be a number of iterations from 1, got {count!r}")
    right = vectors.elements(function, "b", b, n)
    if isinstance(x0, str) and x0 == "Mb":
        x0 = right if m is None else m.applied(right)
    start = None if x0 is None else vectors.elements(function, "x0", x0, n)
    if isinstance(right, Array) and right.device is not a.device:
        raise DeviceMismatchError(f"{function}: A and b must live on one device; use to_device")
    if refine and isinstance(right, Array):
        raise OptionError(f"{function}: refine computes residuals in float64 on the host; pass b.numpy()")
    most = min(10 * n * rounds(refine) if maxiter is None else int(maxiter), ENDLESS)
    return Task(function, a, m, right, start, float(rtol), float(atol), most, callback, check_every, refine, progress)


def rounds(refine: bool) -> int:
    """Factor of the default of `maxiter`: the iterations of a refinement start anew in each round."""
    return ROUNDS if refine else 1


@dataclass(frozen=True)
class Ended:
    """Result of an inner iteration: x 2^exponent, and its stopping reason."""

    x: Any
    exponent: int
    iterations: int
    stop: float


Inner = Callable[[Task, Any, float, int], Ended]
"""A round of the outer loop: finds d with norm(r - A d) <= goal, r the residual of the state, after some iterations."""


def solve(asked: Task, method: Inner, steadier: Inner | None = None) -> tuple[Any, int]:
    """Solve; return x, and 0, or the number of iterations without convergence, or -1 for a breakdown.

    After a breakdown of `method`, `steadier` continues, if there is one.
    """
    if asked.a.shape[0] == 0:
        return asked.b if isinstance(asked.b, Array) else asked.b.astype(np.float64 if asked.refine else np.float32), 0
    resident = isinstance(asked.b, Array)
    state: Any = (
        vectors.OnDevice(asked.function, asked.a, asked.b, asked.x0, asked.rtol, asked.atol)
        if resident
        else vectors.OnHost(asked.a, asked.b, asked.x0, asked.refine)
    )
    if state.size == 0 and resident and (b := asked.b.numpy()).any():  # denormals, which the device flushes to zero
        x, info = solve(replace(asked, b=b.astype(np.float64)), method, steadier)
        return upload(x, asked.a.device), info
    if state.size == 0:
        return (asked.b * 0 if resident else state.result * 0), 0
    wanted = max(asked.rtol * state.size, asked.atol)  # infinite where any x is accepted
    iterations = 0
    for number in range((ROUNDS if asked.refine else RESTARTS) + 1):
        if state.residual <= wanted:
            return state.result, 0
        if iterations >= asked.maxiter:
            break
        ended = method(asked, state, wanted if number == 0 else LOWER * wanted, iterations)
        iterations += ended.iterations
        moved = state.added(ended.x, ended.exponent)
        broken = ended.stop == BREAKDOWN
        if not moved.finite:
            return state.result, -1
        before, better = state.residual, moved.residual < state.residual
        if broken and moved.residual > wanted and steadier is not None:
            state, method, steadier = (moved if better else state), steadier, None
            continue
        if better or number == 0:
            state = moved
        if moved.residual > wanted and (broken and ended.iterations <= 1):
            return state.result, -1
        if moved.residual > max(wanted, GAIN * before):
            if broken:
                return state.result, -1
            break
    return state.result, 0 if state.residual <= wanted else max(iterations, 1)


def _vector(device: Device, texture: Any, n: int) -> Array:
    return Array._of(Resident.wrapped(device, texture, (n,), "float32"))
