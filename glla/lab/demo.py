"""`glla demo`: the operations of the library, judged, timed beside NumPy and SciPy, and drawn.

The matrix is that of the thesis's experiment: A uniform in [0, 10) and b the sums of its rows, so that A x = b has the
solution x = 1. The photograph is real data: a matrix that nobody made to be easy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import linalg, testing
from glla.gl import Device
from glla.lab import operations, peers, photograph, picture
from glla.lab.measurement import Measurement, judged
from glla.lab.restoration import square_error
from glla.lab.study import Report, Run, Study, clock
from glla.lab.table import aligned, digits, milliseconds
from glla.testing import JUDGES, Verdict

REPEATS = 3
MOST = 0.3
"""Seconds of the repeats of an operation, after which there is no further one."""

SIZES = {True: 256, False: 512}
"""Order of the matrices by default, in software and on a GPU: all takes ten seconds at most."""

REFINED_BOUND = 1e-14
"""Largest componentwise backward error of a refined solution."""

HALF_A_GREY_LEVEL = 0.5

SOFTWARE = "a software rasteriser: right, not fast; the CPU's times are left out"

NEXT = """\
next: glla compare matmul     every variant of an operation, beside the CPU at its best
      glla explain rref       its render passes in words; glla trace rref --out rref.gif: as a film
      glla demo elimination   an elimination in pictures; also life, stencil, restoration, windows, water"""


@dataclass(frozen=True)
class Case:
    """An operation, the work that does it, the judge of its result, and the usual call on the CPU, if there is one."""

    operation: str
    formula: str
    work: Callable[[], Any]
    judge: Callable[[Any], Verdict]
    usual: str = ""
    usual_work: Callable[[], Any] | None = None


Outcome = tuple[Measurement, Any, Verdict]
"""Of a case that was run: its measurement, of the variant that is its formula; result and verdict."""


@dataclass(frozen=True)
class Problem:
    """Input data: A, b = its row sums in float64, a positive definite matrix, and the photograph, see `blurred`."""

    a: NDArray[np.float32]
    b: NDArray[np.float64]
    definite: NDArray[np.float32]
    picture: NDArray[np.float64]
    blur: NDArray[np.float32]
    seen: NDArray[np.float64]


def problem(size: int, seed: int) -> Problem:
    """Make the matrices."""
    rng = np.random.default_rng(seed)
    a = testing.uniform(size, size, rng)
    photo = photograph.blurred(min(size, photograph.SIDE))
    return Problem(a, a.sum(axis=1, dtype=np.float64), testing.spd(size, rng), *photo)


def cases(device: Device, made: Problem) -> list[Case]:
    """List the cases: a line an operation."""
    a, b, single, s = made.a, made.b, made.b.astype(np.float32), made.definite
    augmented, tall = np.column_stack([a, single]), np.ascontiguousarray(a[:, ::2])
    of = partial(_case, device)
    return [
        of("matmul", "A A", a, a),
        *_solve_cases(device, "A x = b", a, b),
        of("inv", "A", a),
        of("plu", "A = P L U", a),
        of("rref", "[A | b]", augmented),
        of("qr", "A = Q R", a),
        of("cholesky", "S = L L'", s),
        of("lstsq", "min |T x - b|", tall, single),
        of("eigh", "S = V D V'", s),
        of("svd", "A = U D V'", a),
        *_solve_cases(device, "B X = photo", made.blur, made.seen),
    ]


def _case(device: Device, name: str, formula: str, *arrays: NDArray[np.float32]) -> Case:
    """A public function, its judge, and the usual call on the CPU."""
    operation = operations.find(name)
    peer = peers.peer_of(operation)
    assert peer is not None
    work = partial(operations.public(operation), *arrays, device=device)
    theirs = partial(peer.usual.bind(), *peer.usual.operands(*peer.given(*arrays)))
    return Case(name, formula, work, partial(JUDGES[name].verdict, arrays), peer.usual.label, theirs)


def _solve_cases(device: Device, name: str, a: NDArray[np.float32], b: NDArray[np.float64]) -> list[Case]:
    """A system solved in float32, and refined to float64."""
    single, double = b.astype(np.float32), a.astype(np.float64)
    return [
        Case("solve", name, partial(linalg.solve, a, single, device=device),
             lambda x: testing.judge_solve(a, x, single), "numpy.linalg.solve", lambda: np.linalg.solve(a, single)),
        Case("refined", name, partial(linalg.solve, a, b, refine=True, device=device),
             lambda x: Verdict("solve, refined", testing.backward_error(a, np.asarray(x), b).componentwise,
                               REFINED_BOUND), "the same, float64", lambda: np.linalg.solve(double, b)),
    ]  # fmt: skip


def measure(device: Device, case: Case, size: int) -> Outcome:
    """Run a case: once, which is judged, and then against the clock, from NumPy to NumPy."""
    before = device.stats().passes
    result = case.work()
    cost, verdict = {"passes": device.stats().passes - before}, case.judge(result)
    ours = clock(case.work, REPEATS, most=MOST, warm=True)
    timed = {"ours": ours, "whole": ours}
    if not device.limits.software and case.usual_work is not None:
        timed["usual"] = clock(case.usual_work, REPEATS, most=MOST)
    known: dict[str, Any] = {"timed": timed, "ways": {"usual": case.usual}, "cost": cost}
    return Measurement(case.operation, case.formula, size, **known, **judged(verdict)), result, verdict


def run(run: Run) -> Report:
    """Run all cases, and report them."""
    device = run.device
    software = bool(device.limits.software)
    made = problem(run.options.size or SIZES[software], run.options.seed)
    todo, outcomes = cases(device, made), list[Outcome]()
    for number, case in enumerate(todo):
        run.say(f"{number} of {len(todo)}, {case.operation} {case.formula}")
        outcomes.append(measure(device, case, len(made.a)))
    recovered = [np.asarray(result, dtype=np.float64) for _, result, _ in outcomes[-2:]]
    recovery = Verdict("photograph", float(np.max(np.abs(recovered[1] - made.picture))), HALF_A_GREY_LEVEL)
    failed = [verdict for verdict in (*(verdict for _, _, verdict in outcomes), recovery) if not verdict.ok]
    head = ("operation", "of", "passes", "ms", *(() if software else ("CPU ms", "usual call")), "error", "bound", "")
    lines = [
        *([SOFTWARE] if software else []),
        f"order {len(made.a)}; times from NumPy to NumPy, medians of up to {REPEATS} after a first run",
        aligned(head, [_cells(one, verdict, software) for one, _, verdict in outcomes]),
        f"photograph, blurred by B: every pixel recovered to half a grey level: {'yes' if recovery.ok else 'NO'}",
        *map(str, failed),
        f"{len(failed)} of {len(outcomes) + 1} verdicts FAILED" if failed else "every verdict is ok",
        NEXT,
    ]
    data = {"size": len(made.a), "outcomes": [one.as_dict() for one, _, _ in outcomes], "recovered": recovery.ok}
    return Report("\n".join(lines), data, not failed, lambda path: _draw(device, made, recovered, path))


def _cells(one: Measurement, verdict: Verdict, software: bool) -> tuple[str, ...]:
    word = "FAILED" if not verdict.ok else "ok, but unusual" if verdict.suspicious else "ok"
    beside = () if software else (milliseconds(one.usual_seconds), one.usual or "-")
    return (
        one.operation, one.variant, str(one.passes), milliseconds(one.seconds), *beside, digits(one.error),
        digits(one.bound), word,
    )  # fmt: skip


def _draw(device: Device, made: Problem, recovered: list[NDArray[np.float64]], path: Any) -> None:
    seen, *solved = (f"off by {square_error(image, made.picture) ** 0.5:.2g}" for image in (made.seen, *recovered))
    photographs = [
        ("X", made.picture),
        (f"Y = B X, {seen} grey levels (rms)", made.seen),
        (f"solved (float32), {solved[0]}", recovered[0]),
        (f"solved (refined), {solved[1]}", recovered[1]),
    ]
    stages = picture.factorisation(device, made.picture.astype(np.float32))
    picture.draw(path, device.info.renderer, stages, photographs)


STUDY = Study(
    "demo", "every operation, a line each, and a photograph factored and recovered", run,
    size=(0, "order of the matrices (512; 256 in software)"), least=8, seed=True, needs=("pywt", "scipy"),
    out="demo.png", endings=(".png",),
)  # fmt: skip
