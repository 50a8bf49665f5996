"""Search for cliffs: sizes at which an operation is suddenly slow.

The rule: no size within 15 % of a neighbour, in every dimension, may be less than half as fast per flop. What users
call is timed, with operands and result on the device and the variant that `choose` picks: at square sizes all the way
up, some of them prime, around every threshold of the kernels, and around multiples of 16, 64 and 96; and for tall, wide
and thin shapes. What looks like a cliff is measured again, in turns with its neighbours, and the fastest counts: only
noise makes a time longer that was shorter before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks.study import QUICK, SIZES, listed, some
from glla import Array, Device
from glla.applications import window_squares
from glla.gl.recorder import Recorder
from glla.lab.study import Report, Run, Say, at_least, clock, option
from glla.lab.table import aligned
from glla.operations import OPERATIONS
from glla.operations.bands import definite_band
from glla.operations.definite import cholesky
from glla.operations.elimination import plu, rref
from glla.operations.orthogonal import qr
from glla.operations.triangles import solved_blocks
from glla.operations.window_squares import WINDOW
from glla.passes import resident

Float32 = NDArray[np.float32]

NEIGHBOURS = 15
"""Per cent by which a dimension of two neighbours may differ."""

CLIFF = 0.5
"""Least ratio of flop per second between two neighbours."""

STEP = 1.07
"""Ratio of a square size to the one before, between thresholds; sizes two steps apart are neighbours, too."""

ROUNDS = 10
"""Times, at most, that a suspected cliff is measured again: the CPU's clock changes the times of small sizes."""

THIN = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33)
"""Short sides, of tall, wide and thin shapes."""

LARGEST = {(False, False): 4096, (False, True): 640, (True, False): 448, (True, True): 64}
"""(software, quick): largest side."""

BROADCAST = 256
"""Right-hand sides near which a substitution has another variant."""

CROSSED = (64, 128, 256, 1024)
"""Orders near which a product has another variant, by the rates of the devices that were measured."""

THRESHOLDS = {
    "matmul": CROSSED,
    "plu": (plu.BLOCKED_FROM, plu.BLOCKED_FROM_IN_SOFTWARE, plu.BUFFERED_FROM),
    "rref": (rref.BLOCKED_FROM,),
    "solve": (plu.BLOCKED_FROM, plu.BLOCKED_FROM_IN_SOFTWARE, plu.BUFFERED_FROM, *solved_blocks.BLOCKS),
    "cholesky": (cholesky.BLOCKED_FROM, cholesky.BLOCKED_FROM_IN_SOFTWARE, cholesky.FUSED),
    "inv_pos": (cholesky.BLOCKED_FROM_IN_SOFTWARE, cholesky.FUSED, BROADCAST, *CROSSED),
    "solve_pos": (cholesky.BLOCKED_FROM, cholesky.BLOCKED_FROM_IN_SOFTWARE, cholesky.FUSED, *solved_blocks.BLOCKS),
    "solve_triangular": solved_blocks.BLOCKS,
    "triangular_inverse": (*solved_blocks.BLOCKS, BROADCAST),
    "syrk": CROSSED,
    "qr": (qr.BLOCKED_FROM, qr.BLOCKED_FROM_IN_SOFTWARE, qr.TALL_FROM),
    "lstsq": (qr.BLOCKED_FROM, qr.BLOCKED_FROM_IN_SOFTWARE, qr.TALL_FROM),
    "cholesky_banded": (8 * (definite_band.NARROW + 1),),
    "solve_pos_banded": (8 * (definite_band.NARROW + 1),),
    "stacks": (),
    "window_squares": (),
}  # fmt: skip
"""Sizes that `choose` compares with, by operation: another variant or another block begins there."""

Shape = tuple[int, ...]
Work = Callable[[], object]


@dataclass(frozen=True)
class Subject:
    """An operation to search."""

    run: Callable[..., object]  # the public function, with an array on the device for each operand
    operation: str  # a key of `glla.operations.OPERATIONS`, which knows the additions and multiplications
    square: Callable[[int], Shape] = lambda n: (n, n)  # order -> shape; largest side -> shapes that are not square
    others: Callable[[int], Iterable[Shape]] = lambda largest: ()
    operands: Callable[[Shape], Sequence[Shape]] = lambda shape: (shape,)  # shape -> shapes of the operands
    # of the first operand, where that is made large: half of a matrix is read, and must be positive definite or well
    # conditioned
    diagonal: Callable[[Array], Array] | None = None
    # (shape, random numbers) -> operands, where they are not uniform ones of these shapes
    example: Callable[[Shape, np.random.Generator], Sequence[Array]] | None = None

    def flops(self, shape: Shape) -> int:
        """Additions and multiplications."""
        return max(1, OPERATIONS[self.operation].flops(resident(*self.operands(shape))))


Row = dict[str, Any]
"""What was measured of a shape: ``operation``, ``shape``, ``flops``, ``seconds``, and the ``plans`` that ran with all
their ``passes``."""


def rate(row: Row) -> float:
    """Flop per second."""
    return float(row["flops"] / row["seconds"])


# -- which shapes -----------------------------------------------------------------------------------------------------


def squares(thresholds: Sequence[int], largest: int) -> list[int]:
    """Orders to try.

    >>> squares((), 20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    """
    sizes, n, odd = set(range(1, 17)), 16.0, False
    while n < largest:
        n, odd = n * STEP, not odd
        sizes.add(_prime(int(n)) if odd else int(n))
    multiples = (factor << power for factor in (16, 64, 96) for power in range(6))
    for special in (*thresholds, *multiples):
        sizes |= {special - 1, special, special + 1}
    return sorted(n for n in sizes | {largest} if 1 <= n <= largest)


def _prime(n: int) -> int:
    """Largest prime up to n."""
    return next(p for p in range(n, 1, -1) if all(p % d for d in range(2, int(p**0.5) + 1)))


def _long(largest: int) -> tuple[int, ...]:
    """Long sides, two of them neighbours."""
    return tuple(dict.fromkeys(n for n in (largest // 4, largest // 4 + 1, largest) if n > max(THIN)))


def _slim(largest: int) -> list[Shape]:
    """Tall and wide shapes, from a single row or column on."""
    return [shape for n in _long(largest) for thin in THIN for shape in ((n, thin), (thin, n))]


def _products(largest: int) -> list[Shape]:
    """One or two short sides of three; and oblong ones of the work at which another variant begins."""
    found = [
        shape for n in _long(largest) for thin in THIN for sides in ((n, n, thin), (n, thin, thin))
        for shape in permutations(sides)
    ]  # fmt: skip
    for threshold in THRESHOLDS["matmul"]:
        half = threshold // 2
        found += [shape for n in (half - 1, half, half + 1) for shape in permutations((n, threshold, 2 * threshold))]
    return [shape for shape in dict.fromkeys(found) if max(shape) <= largest and min(shape) > 0]


def _wide_bands(largest: int) -> list[Shape]:
    """Bands (w + 1, n) of a few diagonals, up to as wide as the matrix."""
    return [(rows, n) for n in _long(largest) for rows in THIN if rows > 3]


def _stacks(largest: int) -> list[Shape]:
    """(count, order) of stacks, of those members, too, that go in one pass."""
    return [(count, n) for count in _long(largest) for n in (*THIN, 4, 5)]


def _diagonal(a: Float32) -> Float32:
    """View the diagonals of a stack of matrices."""
    return np.einsum("...ii->...i", a)


def _many(largest: int) -> list[Shape]:
    """Systems with more than one right-hand side, around where another way to substitute begins."""
    start = BROADCAST
    columns = (*THIN[1:], start - 1, start, start + 1)
    return [(n, k) for n in _long(largest) for k in columns if k <= largest]


def of_example(name: str) -> Subject:
    """An operation by its record alone: what users call, with operands as its example has them, of every order."""
    record = OPERATIONS[name]

    def example(shape: Shape, rng: np.random.Generator) -> Sequence[Float32]:
        return record.example(shape[0], rng)

    return Subject(
        lambda *arrays: getattr(glla, name)(*record.function.arguments(*arrays)),
        name,
        square=lambda n: (n,),
        operands=lambda shape: [array.shape for array in example(shape, np.random.default_rng(0))],
        example=example,
    )


def _system(shape: Shape) -> Sequence[Shape]:
    """Shapes of A and B for right-hand sides of a shape."""
    return (shape[0], shape[0]), shape


def _band(n: int) -> Shape:
    """Diagonals, of an eighth of the columns, and columns."""
    return -(-n // 8), n


solved = partial(Subject, square=lambda n: (n, 1), others=_many, operands=_system)
definite = partial(Subject, diagonal=_diagonal)
banded = partial(Subject, square=_band, others=_wide_bands, diagonal=lambda ab: ab[0])
slim = partial(Subject, others=_slim)

OWN: Mapping[str, Subject] = {
    "matmul": Subject(
        glla.matmul, "matmul", lambda n: (n, n, n), _products, operands=lambda shape: (shape[:2], shape[1:])
    ),
    "plu": slim(glla.lu_factor, "lu_factor"),
    "solve": solved(glla.solve, "solve"),
    "rref": slim(glla.rref, "rref", square=lambda n: (n, n + 1)),
    "cholesky": definite(glla.cholesky, "cholesky"),
    "inv_pos": definite(partial(glla.inv, assume_a="pos"), "inv_pos"),
    "solve_pos": solved(partial(glla.solve, assume_a="pos"), "solve_pos", diagonal=_diagonal),
    "solve_triangular": solved(glla.solve_triangular, "solve_triangular", diagonal=_diagonal),
    "triangular_inverse": definite(partial(glla.inv, assume_a="lower triangular"), "triangular_inverse"),
    "syrk": slim(lambda a: glla.matmul(a, a.T), "syrk"),
    "qr": slim(glla.qr, "qr"),
    "lstsq": slim(glla.lstsq, "lstsq", operands=lambda shape: (shape, (shape[0], 1))),
    "cholesky_banded": banded(partial(glla.cholesky_banded, lower=True), "cholesky_banded"),
    "solve_pos_banded": banded(  # up to three diagonals go other ways
        partial(glla.solveh_banded, lower=True), "solve_pos_banded", operands=lambda shape: (shape, (shape[1], 1))
    ),
    "stacks": definite(
        glla.inv, "inv", lambda count: (count, min(count, 3)), _stacks,
        operands=lambda shape: ((shape[0], shape[1], shape[1]),),
    ),
    "window_squares": slim(  # shapes of windows: an image has a few more rows and columns
        window_squares, "window_squares", operands=lambda shape: ((shape[0] + WINDOW - 1, shape[1] + WINDOW - 1),)
    ),
}  # fmt: skip
"""Subjects with shapes of their own: thin ones, several right-hand sides, stacks."""

SUBJECTS: Mapping[str, Subject] = OWN | {
    name: of_example(name)
    for name, record in OPERATIONS.items()
    if record.function.public and name not in {subject.operation for subject in OWN.values()} | OWN.keys()
}
"""Shapes that are searched, by operation: every public one."""


def shapes(operation: str, largest: int, sizes: Sequence[int] = ()) -> list[Shape]:
    """List the shapes to try: square ones of all orders or of some, and the others up to the largest."""
    subject = SUBJECTS[operation]
    orders = sizes or squares(THRESHOLDS.get(operation, ()), largest)
    return list(dict.fromkeys([*map(subject.square, orders), *subject.others(largest)]))


# -- what is a cliff --------------------------------------------------------------------------------------------------


def neighbours(a: Shape, b: Shape) -> bool:
    """Tell whether two shapes are within 15 % of each other in every dimension.

    >>> neighbours((100, 7), (115, 8)), neighbours((100, 6), (100, 7))
    (True, False)
    """
    return all(100 * max(x, y) <= (100 + NEIGHBOURS) * min(x, y) for x, y in zip(a, b, strict=True))


def cliffs(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Find each shape that is less than half as fast as a neighbour, with its fastest neighbour; worst first."""
    found = []
    for slow in rows:
        own = (other for other in rows if other["operation"] == slow["operation"])
        fast = max((other for other in own if neighbours(slow["shape"], other["shape"])), key=rate)
        if rate(slow) < CLIFF * rate(fast):
            found.append((slow, fast))
    return sorted(found, key=lambda pair: rate(pair[0]) / rate(pair[1]))


# -- measuring --------------------------------------------------------------------------------------------------------


EFFORTS = {  # (software, quick): samples, whose median counts; least seconds of each, for as many calls as that takes
    (False, False): (5, 0.004),
    (False, True): (3, 0.002),
    (True, False): (5, 0.004),
    (True, True): (3, 0.001),
}


def prepared(device: Device, operation: str, shape: Shape) -> Work:
    """Put operands on the device, entries uniform in [0, 10): such matrices are regular; give the call."""
    subject, random = SUBJECTS[operation], np.random.default_rng(2007)
    if subject.example:
        arrays = subject.example(shape, random)
    else:
        arrays = [10 * random.random(sides, dtype=np.float32) for sides in subject.operands(shape)]
    if subject.diagonal:
        subject.diagonal(arrays[0])[...] += 20 * max(arrays[0].shape[-2:])
    return partial(subject.run, *(glla.asarray(array, device) for array in arrays))


def measured(device: Device, operation: str, shape: Shape, effort: tuple[int, float]) -> Row:
    """Record the passes of a call, and time it; plans that are variants, or steps of one, are named."""
    work = prepared(device, operation, shape)
    with Recorder() as recorder:
        work()
    passes = [one for one in recorder.passes if one.on_device]
    plans = ", ".join(dict.fromkeys(one.operation for one in passes if {"[", "/"} & {*one.operation}))
    return {
        "operation": operation, "shape": shape, "flops": SUBJECTS[operation].flops(shape),
        "seconds": seconds(device, work, effort), "plans": plans or "-", "passes": len(passes),
    }  # fmt: skip


def seconds(device: Device, work: Work, effort: tuple[int, float]) -> float:
    """Time a call, warm: the median of samples that are long enough for the clock."""
    samples, least = effort
    return clock(work, samples, device, least=least).median


def search(
    device: Device, tried: Mapping[str, Sequence[Shape]], effort: tuple[int, float], say: Say = lambda done: None
) -> list[Row]:
    """Measure all shapes of some operations, and again those that look like cliffs, with their fast neighbours.

    Again after all the others, that is, later: whatever slows a machine down for a while slows down neighbours alike.
    """
    rows: list[Row] = []
    for operation, found in tried.items():
        rows += [measured(device, operation, shape, effort) for shape in found]
        say(f"{operation}: {len(found)} shapes")
    for _ in range(ROUNDS):
        for row in {id(row): row for pair in cliffs(rows) for row in pair}.values():
            again = prepared(device, row["operation"], row["shape"])
            row["seconds"] = min(row["seconds"], seconds(device, again, effort))
    return rows


# -- the report -------------------------------------------------------------------------------------------------------


def _run(run: Run) -> Report:
    """Search; a cliff is a failure."""
    options, info = run.options, run.device.info
    kind = (info.software, options.quick)
    largest = options.largest or max(options.size or (), default=0) or LARGEST[kind]
    tried = {operation: shapes(operation, largest, options.size or ()) for operation in options.operation}
    rows = search(run.device, tried, EFFORTS[kind], run.say)
    found = cliffs(rows)
    ratios = [{"ratio": rate(slow) / rate(fast), "slow": slow, "neighbour": fast} for slow, fast in found]
    data = {"quick": options.quick, "cliffs": ratios, "samples": rows}
    return Report(f"{listing(found)}\n{len(found)} cliffs in {len(rows)} shapes", data, not found)


def listing(found: Sequence[tuple[Row, Row]]) -> str:
    """Table of cliffs: a shape, its neighbour, how much slower per flop, and what ran for both."""
    head = ("operation", "shape", "GFLOP/s", "plans", "neighbour", "GFLOP/s", "plans", "ratio")
    rows = [(slow["operation"], *_cells(slow), *_cells(fast), f"{rate(slow) / rate(fast):.2f}") for slow, fast in found]
    return aligned(head, rows) if found else "no cliffs"


def _cells(row: Row) -> tuple[str, str, str]:
    sides = " x ".join(map(str, row["shape"]))
    return sides, f"{rate(row) / 1e9:.3g}", f"{row['plans']} ({row['passes']} passes)"


STUDY = listed(
    "cliffs",
    _run,
    QUICK,
    some("--operation", SUBJECTS),
    SIZES,
    option("--largest", type=at_least(1), metavar="N", help="longest side"),
)
