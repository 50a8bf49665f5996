"""`glla demo`: the operations of the library run, verified, timed beside NumPy and SciPy, and drawn.

The matrix is that of the thesis's experiment: A uniform in [0, 10) and b the sums of its rows, so that A x = b has the
solution x = 1. The photograph is real data: a matrix that nobody made to be easy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla import linalg, testing
from glla.gl import Device
from glla.lab import photograph, picture, progress, terminal
from glla.lab.extra import check_writable, require
from glla.lab.table import columned, digits
from glla.operations import matmul
from glla.testing import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REPEATS = 3
REFINED_BOUND = 1e-14
"""Largest componentwise backward error of a refined solution."""

HALF_A_GREY_LEVEL = 0.5

LEGEND = """\
passes: with those that pack and unpack the arrays
times: median of 3 after a warm-up, end to end, from NumPy array to NumPy array; the CPU's is that of the usual call,
which is not its fastest: glla compare tells both
errors: matmul, of the worst entry; refined, componentwise backward error; else LAPACK's normalised residual
photo: a photograph; photo': its transpose; B: a blur of columns; Y = B photo
"""


@dataclass(frozen=True)
class Case:
    """Something to run.

    Attributes
    ----------
    operation, variant, matrix, shape : str
        For the table.
    work : callable
        Runs it.
    judge : callable
        Judges what `work` returned.
    peer : str
        The usual call that does the same on the CPU, '' for none.
    peer_work : callable or None
        Runs that.
    """

    operation: str
    variant: str
    matrix: str
    shape: str
    work: Callable[[], Any]
    judge: Callable[[Any], Verdict]
    peer: str = ""
    peer_work: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case: result and verdict, render passes of one run, milliseconds."""

    case: Case
    result: Any
    verdict: Verdict
    passes: int
    milliseconds: float
    peer_milliseconds: float | None


@dataclass(frozen=True)
class Problem:
    """Input data: A, b = its row sums in float64, and the photograph."""

    a: NDArray[np.float32]
    b: NDArray[np.float64]
    photo: photograph.Blurred

    @property
    def augmented(self) -> NDArray[np.float32]:
        """[A | b]."""
        return np.column_stack([self.a, self.b.astype(np.float32)])


def check(output: Path) -> None:
    """Check early that packages are installed and that the picture can be written.

    Raises
    ------
    MissingPackageError, OSError
        Which, and what mends it.
    """
    require("demo", "matplotlib", "pywt", "rich", "scipy")
    check_writable(output)


def run(device: Device, size: int, output: Path, seed: int) -> bool:
    """Run the demo.

    Parameters
    ----------
    device : Device
        Where.
    size : int
        Order of the matrices; the photograph has at most 512 rows.
    output : Path
        The picture to write.
    seed : int
        Of the random matrix.

    Returns
    -------
    bool
        Whether every verdict is ok.
    """
    console = terminal.headed(device)
    made = problem(size, seed)
    outcomes = _run_all(device, cases(device, made), made, output)
    console.print(_table(outcomes))
    console.print(LEGEND, markup=False, soft_wrap=True)
    recovery = _judge_recovery(made, outcomes)
    _print_notes(console, made, outcomes, recovery)
    failed = [verdict for verdict in (*(outcome.verdict for outcome in outcomes), recovery) if not verdict.ok]
    for verdict in failed:
        console.print(str(verdict), markup=False)
    console.print(f"{len(failed)} of {len(outcomes) + 1} verdicts FAILED" if failed else "every verdict is ok")
    console.print(f"the picture is in {output}", markup=False, soft_wrap=True)
    return not failed


def problem(size: int, seed: int) -> Problem:
    """Make the matrices."""
    a = testing.uniform(size, size, np.random.default_rng(seed))
    return Problem(a, a.sum(axis=1, dtype=np.float64), photograph.blurred(min(size, photograph.SIDE)))


def _run_all(device: Device, todo: Sequence[Case], made: Problem, output: Path) -> list[Outcome]:
    """Run the cases and draw the picture, and say how far it is."""
    outcomes = []
    with progress.shown("demo") as say:
        for number, case in enumerate(todo):
            say(f"{number} of {len(todo)}, {case.operation} {case.variant}")
            outcomes.append(measure(device, case))
        say("picture")
        _draw(device, made, outcomes, output)
    return outcomes


# -- cases ------------------------------------------------------------------------------------------------------------


def cases(device: Device, made: Problem) -> list[Case]:
    """List the cases."""
    return [
        *_products(device, made),
        *_eliminations(device, made),
        *_systems(device, made),
        *_photographs(device, made),
    ]


def _shape(a: NDArray[Any]) -> str:
    return f"{a.shape[0]} x {a.shape[1]}"


def _products(device: Device, made: Problem) -> list[Case]:
    a = made.a
    return [
        Case(
            "matmul", variant, "A A", _shape(a),
            partial(linalg.matmul, a, a, variant=variant, device=device),
            lambda c: testing.judge_product(c, a, a),
            "a @ a", lambda: a @ a,
        )
        for variant, what in matmul.VARIANTS.items()
        if not what.lacks(device.limits)
    ]  # fmt: skip


def _eliminations(device: Device, made: Problem) -> list[Case]:
    a, augmented = made.a, made.augmented
    return [
        Case(
            "rref", "harmonic", "[A | b]", _shape(augmented),
            lambda: linalg.rref(augmented, device=device),
            lambda result: testing.judge_rref(augmented, result.matrix, result.pivots),
        ),
        _plu_case(device, "A", a),
        Case(
            "inv", "", "A", _shape(a),
            lambda: linalg.inv(a, device=device),
            lambda x: testing.judge_inverse(a, x),
            "np.linalg.inv", lambda: np.linalg.inv(a),
        ),
    ]  # fmt: skip


def _plu_case(device: Device, name: str, a: NDArray[np.float32]) -> Case:
    import scipy.linalg

    return Case(
        "plu", "partial", name, _shape(a),
        lambda: linalg.plu(a, device=device),
        lambda factors: testing.judge_plu(a, *factors),
        "scipy.linalg.lu", lambda: scipy.linalg.lu(a),
    )  # fmt: skip


def _systems(device: Device, made: Problem) -> list[Case]:
    return _solve_cases(device, "A x = b", made.a, made.b)


def _photographs(device: Device, made: Problem) -> list[Case]:
    image = made.photo.picture.astype(np.float32)
    return [
        Case(
            "matmul", "inner_product", "photo photo'", _shape(image),
            lambda: linalg.matmul(image, image.T, variant="inner_product", device=device),
            lambda c: testing.judge_product(c, image, image.T),
            "a @ a.T", lambda: image @ image.T,
        ),
        _plu_case(device, "photo", image),
        *_solve_cases(device, "B X = Y", made.photo.blur, made.photo.seen),
    ]  # fmt: skip


def _solve_cases(device: Device, name: str, a: NDArray[np.float32], b: NDArray[np.float64]) -> list[Case]:
    """A system solved in float32, and refined to float64."""
    single, double = b.astype(np.float32), a.astype(np.float64)
    return [
        Case(
            "solve", "float32", name, _shape(a),
            lambda: linalg.solve(a, single, device=device),
            lambda x: testing.judge_solve(a, x, single),
            "np.linalg.solve", lambda: np.linalg.solve(a, single),
        ),
        Case(
            "solve", "refined", name, _shape(a),
            lambda: linalg.solve(a, b, refine=True, device=device),
            lambda x: _judge_refined(a, np.asarray(x), b),
            "the same, float64", lambda: np.linalg.solve(double, b),
        ),
    ]  # fmt: skip


def _judge_refined(a: NDArray[np.float32], x: NDArray[Any], b: NDArray[np.float64]) -> Verdict:
    return Verdict("solve, refined", testing.backward_error(a, x, b).componentwise, REFINED_BOUND)


def measure(device: Device, case: Case) -> Outcome:
    """Run a case: once to warm up, which is judged, and then against the clock."""
    before = device.stats().passes
    result = case.work()
    passes = device.stats().passes - before
    peer = None
    if case.peer_work is not None:
        case.peer_work()
        peer = _milliseconds(case.peer_work)
    return Outcome(case, result, case.judge(result), passes, _milliseconds(case.work), peer)


def _milliseconds(work: Callable[[], Any]) -> float:
    """Time some work that ends in NumPy arrays, and so waits for the device by itself."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * median(times)


# -- what is shown ----------------------------------------------------------------------------------------------------


def _table(outcomes: Sequence[Outcome]) -> Table:
    head = ("operation", "variant", "of", "shape", "passes", "glla ms", "CPU ms", "usual call", "error", "bound")
    return columned("", (*head, "verdict"), list(map(_cells, outcomes)))


def _cells(outcome: Outcome) -> tuple[str, ...]:
    case, verdict = outcome.case, outcome.verdict
    word = "FAILED" if not verdict.ok else "ok, but unusual" if verdict.suspicious else "ok"
    return (
        case.operation, case.variant, case.matrix, case.shape, str(outcome.passes), digits(outcome.milliseconds),
        digits(outcome.peer_milliseconds), case.peer or "-", digits(verdict.error), digits(verdict.bound), word,
    )  # fmt: skip


def _result(outcomes: Sequence[Outcome], operation: str, variant: str, matrix: str) -> Any:
    return next(
        outcome.result
        for outcome in outcomes
        if (outcome.case.operation, outcome.case.variant, outcome.case.matrix) == (operation, variant, matrix)
    )


def _recovered(outcomes: Sequence[Outcome], variant: str) -> NDArray[np.float64]:
    return np.asarray(_result(outcomes, "solve", variant, "B X = Y"), dtype=np.float64)


def _judge_recovery(made: Problem, outcomes: Sequence[Outcome]) -> Verdict:
    """Judge the refined photograph: every pixel must round to its original."""
    worst = float(np.max(np.abs(_recovered(outcomes, "refined") - made.photo.picture)))
    return Verdict("photograph, recovered", worst, HALF_A_GREY_LEVEL)


def _print_notes(console: Console, made: Problem, outcomes: Sequence[Outcome], recovery: Verdict) -> None:
    solutions = {
        "rref": _result(outcomes, "rref", "harmonic", "[A | b]").matrix[:, -1],
        "solve": _result(outcomes, "solve", "float32", "A x = b"),
        "refined": _result(outcomes, "solve", "refined", "A x = b"),
    }
    errors = ", ".join(f"{name} {np.max(np.abs(np.asarray(x) - 1)):.2g}" for name, x in solutions.items())
    photo = made.photo
    recovered = [f"{variant} {photo.error(_recovered(outcomes, variant)):.2g}" for variant in ("float32", "refined")]
    console.print(f"A x = b, whose solution is x = 1: largest error of an entry: {errors}", soft_wrap=True)
    console.print(
        f"photograph, root mean square error in grey levels (0 to 255): blurred {photo.error(photo.seen):.3g}, "
        f"{', '.join(recovered)}; every pixel within half a level: {'yes' if recovery.ok else 'NO'}",
        soft_wrap=True,
    )


def _draw(device: Device, made: Problem, outcomes: Sequence[Outcome], output: Path) -> None:
    photo = made.photo
    recovered = {variant: _recovered(outcomes, variant) for variant in ("float32", "refined")}
    photographs = [
        ("X", photo.picture),
        (f"Y = B X, off by {photo.error(photo.seen):.2g} grey levels (rms)", photo.seen),
        *((f"solved ({name}), off by {photo.error(image):.2g}", image) for name, image in recovered.items()),
    ]
    stages = picture.factorisation(device, photo.picture.astype(np.float32))
    picture.draw(output, device.info.renderer, stages, photographs)
