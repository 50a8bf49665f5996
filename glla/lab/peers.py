"""Who does the same on the CPU, and how fast at best: NumPy, SciPy and LAPACK, called in several ways.

The same LAPACK routine takes very different times: `scipy.linalg.lu_factor` of a C-ordered array spends half of its
time on a conversion that `sgetrf`, in place on a Fortran-ordered one, does without. So a `Peer` knows several ways to
be called, and a measurement tries them all, with several numbers of threads: the fastest is what glla is compared with.
Beside it stands the *usual call*, the one that a user types, as it is.

How they are timed, all alike: before each repeat every operand is copied anew into the same memory, in the order that
the way wants it, while the clock stands still. So a way that works in place finds its operand whole; no page of an
operand is touched for the first time within the timing; and each way finds its operands as warm in the cache as that
copy leaves them. What a call allocates by itself, such as the result of ``a @ b``, is part of its time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from glla.errors import GllaError
from glla.gl.clock import clock, warm_up
from glla.hybrid.cores import control
from glla.lab import machine
from glla.lab.extra import require
from glla.lab.samples import Effort, Samples, repeated
from glla.operations import Operation, window_squares
from glla.operations.record import Float32
from glla.operations.sparse.compressed import Compressed
from glla.operations.spectral import svd

Arrays = tuple[Float32, ...]

AGREEMENT = 1.25
"""Ratio up to which two medians of one call, taken at different times in a run, count as one figure. Further apart, the
machine was busy with something else, and neither is the peer's time."""

FEW = 0.02
"""Seconds of a call from which on a single thread is not tried: BLAS is several times faster with all of them."""


class BusyError(GllaError, RuntimeError):
    """Repeated measurements of one thing disagree: the machine is busy with something else."""


@dataclass(frozen=True)
class Way:
    """One way to have the CPU do it."""

    label: str  # the call, as a user would write it
    package: str  # what it needs, "numpy" or "scipy"
    # input arrays -> what the function takes, each in the order of memory that it wants; also arrays for results
    operands: Callable[..., Arrays]
    # () -> the function, which may destroy its operands, and gives the same as the peer's other ways
    bind: Callable[[], Callable[..., Any]]

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.package) is not None


@dataclass(frozen=True)
class Peer:
    """A piece of work that the CPU can do, and the ways to have it done: the usual call first."""

    name: str  # the routine behind it
    usual: Way  # what a user types
    others: tuple[Way, ...] = ()  # what might be faster
    given: Callable[..., Arrays] = lambda *arrays: arrays  # operands of the operation -> its own

    @property
    def ways(self) -> tuple[Way, ...]:
        """All of them."""
        return (self.usual, *self.others)

    def at(self, size: str) -> str:
        """Key of its one figure of a size in a run."""
        return f"{self.name}, {size}"

    def installed(self, package: str | None = None) -> list[Way]:
        """List the ways that can be called here, only those of one package if it is named."""
        return [way for way in self.ways if way.installed and package in (None, way.package)]


# -- ways to call them ----------------------------------------------------------------------------------------------


def _as_given(*arrays: Float32) -> Arrays:
    return tuple(np.ascontiguousarray(array) for array in arrays)


def _fortran(*arrays: Float32) -> Arrays:
    return tuple(np.asfortranarray(array) for array in arrays)


Layout = tuple[Callable[..., Arrays], str]
"""Orders of memory of operands, and words about them in a label."""

C, F = (_as_given, ""), (_fortran, "Fortran order")
IN_C, IN_F = (_as_given, "C order"), (_fortran, "in place, Fortran order")


def _way(operands: str, text: str, layout: Layout = C, part: str = "") -> Way:
    """Way of a call, written as a user would, with names of operands; `part` of its result counts."""
    order, words = layout
    package = "numpy" if text.startswith(("numpy.", "a @", "1 / numpy.")) else "scipy"

    def bind() -> Callable[..., Any]:
        names: dict[str, Any] = {"numpy": np}
        if package == "scipy":
            linalg = import_module("scipy.linalg")
            names |= {"scipy": import_module("scipy"), "lapack": linalg.lapack, "blas": linalg.blas}
        call: Callable[..., Any] = eval(f"lambda {operands}: {text}{part}", names)  # the label is what runs
        return call

    return Way(", ".join(filter(None, (text, words))), package, order, bind)


PEERS: list[Peer] = []
"""All peers in their best form."""

BEST: dict[str, Peer] = {}
"""The peer in its best form by operation; any other operation stands beside its record's counterpart on the CPU, as it
is called."""


def _peer(name: str, operations: str, operands: str, *calls: tuple[Any, ...] | Way) -> Peer:
    """Peer of some operations by its calls, the usual one first: text, layout, part of the result.

    A way that is no single call is given as it is.
    """
    usual, *others = (one if isinstance(one, Way) else _way(operands, *one) for one in calls)
    made = Peer(name, usual, tuple(others))
    PEERS.append(made)
    BEST.update(dict.fromkeys(operations.split(), made))
    return made


def _scipy(label: str, order: Callable[..., Arrays], call: Callable[..., Any], *names: str) -> Way:
    """Several calls of `scipy.linalg`, imported when bound: ``call(*functions, *operands)``."""

    def bind() -> Callable[..., Any]:
        linalg = import_module("scipy.linalg")
        return partial(call, *(operator.attrgetter(name)(linalg) for name in names))

    return Way(label, "scipy", order, bind)


def _with_result(order: Callable[..., Arrays]) -> Callable[..., Arrays]:
    """Give the operands of a product, and an array for it."""

    def operands(a: Float32, b: Float32) -> Arrays:
        return order(a, b, np.zeros((a.shape[0], b.shape[1]), dtype=np.float32))

    return operands


OUT_C, OUT_F = (_with_result(_as_given), "C order"), (_with_result(_fortran), "Fortran order")
PRODUCT = _peer(
    "BLAS gemm", "matmul", "a, b, c=None",
    ("a @ b",),
    ("numpy.matmul(a, b, out=c)", OUT_C),
    ("numpy.matmul(a, b, out=c)", OUT_F),
    ("blas.sgemm(1, a, b, c=c, overwrite_c=1)", OUT_F),
    ("blas.sgemm(1, b.T, a.T, c=c.T, overwrite_c=1)", OUT_C, ".T"),  # (A B)^T = B^T A^T: no conversion
)  # fmt: skip


def _half(order: Callable[..., Arrays]) -> Callable[..., Arrays]:
    """Give A, and an array for A A^T in Fortran order, as BLAS takes it."""

    def operands(a: Float32) -> Arrays:
        return (*order(a), np.zeros((len(a), len(a)), dtype=np.float32, order="F"))

    return operands


SYMMETRIC_PRODUCT = _peer(
    "BLAS syrk", "syrk", "a, c=None",
    ("a @ a.T",),
    ("a @ a.T", F),
    ("blas.ssyrk(1, a, c=c, overwrite_c=1)", (_half(_fortran), "Fortran order, half of it")),
    # A is in C order, and BLAS is given its transpose, which needs no conversion
    ("blas.ssyrk(1, a.T, c=c, trans=1, overwrite_c=1)", (_half(_as_given), "C order, half of it")),
)  # fmt: skip

FACTORS = _peer(
    "LAPACK getrf", "plu lu_factor", "a",
    ("scipy.linalg.lu_factor(a)",),
    ("scipy.linalg.lu_factor(a, overwrite_a=True, check_finite=False)", F),
    ("lapack.sgetrf(a)", IN_C, "[:2]"),
    ("lapack.sgetrf(a)", F, "[:2]"),
    ("lapack.sgetrf(a, overwrite_a=1)", IN_F, "[:2]"),
)  # fmt: skip


BEST["rref"] = replace(FACTORS, given=lambda augmented: (np.ascontiguousarray(augmented[:, :-1]),))  # A of [A | b]
SYSTEM = _peer(
    "LAPACK gesv", "solve", "a, b",
    ("numpy.linalg.solve(a, b)",),
    ("numpy.linalg.solve(a, b)", F),
    ("scipy.linalg.solve(a, b, overwrite_a=True, overwrite_b=True, check_finite=False)", F),
    ("lapack.sgesv(a, b)", IN_C, "[2]"),
    ("lapack.sgesv(a, b, overwrite_a=1, overwrite_b=1)", IN_F, "[2]"),
    ("lapack.sgetrs(*lapack.sgetrf(a, overwrite_a=1)[:2], b, overwrite_b=1)", IN_F, "[0]"),
)  # fmt: skip


INVERSE = _peer(
    "LAPACK getri", "inv gauss_jordan", "a, b=None",
    ("numpy.linalg.inv(a)",),
    ("numpy.linalg.inv(a)", F),
    ("scipy.linalg.inv(a, overwrite_a=True, check_finite=False)", F),
    ("lapack.sgetri(*lapack.sgetrf(a, overwrite_a=1)[:2], lwork=64 * len(a), overwrite_lu=1)", IN_F, "[0]"),
    ("lapack.sgetrs(*lapack.sgetrf(a, overwrite_a=1)[:2], b, overwrite_b=1)",
     (lambda a: _fortran(a, np.eye(len(a), dtype=np.float32)), "b the identity, in place, Fortran order"), "[0]"),
)  # fmt: skip


def _adjugate_by_hand(a: Float32) -> Float32:
    rows = a.reshape(-1, 3, 3)
    x = np.empty_like(rows)
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        x[:, :, i] = np.cross(rows[:, j], rows[:, k])
    x /= np.einsum("ij,ij->i", rows[:, 0], x[:, :, 0])[:, np.newaxis, np.newaxis]
    return x.reshape(-1, 9)


INVERSES3 = _peer(
    "LAPACK gesv of each, order 3, in float64", "inv3", "a",
    ("numpy.linalg.inv(a.reshape(-1, 3, 3))", C, ".reshape(-1, 9)"),
    Way("adjugate by hand with numpy.cross", "numpy", _as_given, lambda: _adjugate_by_hand),
)  # fmt: skip
"""NumPy computes stacks of float32 in float64."""


def _logarithm(sgetrf: Any, a: Float32) -> Any:
    lu, piv, _ = sgetrf(a, overwrite_a=1)
    u = lu.diagonal().astype(np.float64)
    exchanges = np.count_nonzero(piv != np.arange(len(piv)))
    return np.prod(np.sign(u)) * (-1) ** exchanges, np.log(np.abs(u)).sum()


DETERMINANT = _peer(
    "LAPACK getrf, diagonal", "slogdet", "a",
    ("numpy.linalg.slogdet(a)",),
    ("numpy.linalg.slogdet(a)", F),
    _scipy("lapack.sgetrf in place and its diagonal, Fortran order", _fortran, _logarithm, "lapack.sgetrf"),
)  # fmt: skip
DET = _peer(
    "LAPACK getrf, product of the diagonal", "det", "a", ("numpy.linalg.det(a)",), ("numpy.linalg.det(a)", F)
)  # fmt: skip


def _geqrf_and_orgqr(sgeqrf: Any, sgeqrf_lwork: Any, sorgqr: Any, a: Float32) -> Any:
    k = min(a.shape)
    packed, tau, _, _ = sgeqrf(a, lwork=int(sgeqrf_lwork(*a.shape)[0]), overwrite_a=1)
    r = np.triu(packed[:k])
    return sorgqr(packed[:, :k], tau, lwork=64 * k, overwrite_a=1)[0], r


ORTHOGONAL = _peer(
    "LAPACK geqrf and orgqr", "qr", "a",
    ("numpy.linalg.qr(a)",),
    ("numpy.linalg.qr(a)", F),
    ('scipy.linalg.qr(a, mode="economic", overwrite_a=True, check_finite=False)', F),
    _scipy(
        "lapack.sgeqrf and sorgqr, in place, Fortran order", _fortran, _geqrf_and_orgqr, "lapack.sgeqrf",
        "lapack.sgeqrf_lwork", "lapack.sorgqr",
    ),
)  # fmt: skip
SYMMETRIC = [
    _peer(
        f"LAPACK {routine}", function, "a", (f"numpy.linalg.{function}(a)",), (f"numpy.linalg.{function}(a)", F),
        *((f'scipy.linalg.{function}(a, driver="{one}", overwrite_a=True, check_finite=False)', F) for one in drivers),
    )
    for function, routine, drivers in (("eigh", "syevd", ("evd", "evr")), ("eigvalsh", "syevd, values", ("ev", "evr")))
]  # fmt: skip
SINGULAR = _peer(
    "LAPACK gesdd", "svd", "a",
    *(Way(f"numpy.linalg.svd(a), with glla's signs{words}", "numpy", order, lambda: svd.on_host)
      for words, order in (("", _as_given), (", Fortran order", _fortran))),
)  # fmt: skip
TRIDIAGONAL_PAIRS = _peer(
    "LAPACK stevd", "tridiagonal_pairs", "d, e",
    *((f'scipy.linalg.eigh_tridiagonal(d[:, 0], e[: len(d) - 1, 0]{one})',) for one in ("", ', lapack_driver="stevd"')),
)  # fmt: skip
OVERWRITTEN = "overwrite_a=True, overwrite_b=True, check_finite=False"
LEAST_SQUARES = _peer(
    "LAPACK gelsd", "lstsq", "a, b",
    ("numpy.linalg.lstsq(a, b)",),
    *((f'scipy.linalg.lstsq(a, b, lapack_driver="{one}", {OVERWRITTEN})', F, "[:3]") for one in ("gelsd", "gelsy")),
    _scipy(
        "lapack.sgels (full rank), in place, Fortran order", _fortran,
        lambda sgels, a, b: (sgels(a, b, overwrite_a=1, overwrite_b=1)[1][: a.shape[1]],), "lapack.sgels",
    ),
)  # fmt: skip


def _turned(a: Float32, b: Float32) -> Arrays:
    """Give stacks whose matrices are in Fortran order, each by itself."""

    def turn(stack: Float32) -> Float32:
        return np.ascontiguousarray(stack.transpose(0, 2, 1)).transpose(0, 2, 1)

    return turn(a), turn(b)


def _each_gesv(sgesv: Any, a: Float32, b: Float32) -> Any:
    for matrix, right in zip(a, b, strict=True):
        sgesv(matrix, right, overwrite_a=1, overwrite_b=1)
    return b


def _shared_solve() -> Callable[..., Any]:
    threads = machine.cores()
    pool = ThreadPoolExecutor(threads)

    def solve(a: Float32, b: Float32) -> Any:
        parts = (np.array_split(stack, threads) for stack in (a, b))
        return np.concatenate(list(pool.map(np.linalg.solve, *parts)))

    return solve


STACK = _peer(
    "LAPACK gesv, each of a stack", "", "a, b",
    ("numpy.linalg.solve(a, b)",),
    Way("numpy.linalg.solve(a, b), the stack cut into a part for each core", "numpy", _as_given, _shared_solve),
    _scipy("lapack.sgesv of each, in place, Fortran order", _turned, _each_gesv, "lapack.sgesv"),
)  # fmt: skip


RIGHT = (lambda t, b: (np.ascontiguousarray(t), np.asfortranarray(b)), "right sides in Fortran order")
TRIANGULAR = _peer(
    "LAPACK trtrs", "triangular", "t, b",
    ("scipy.linalg.solve_triangular(t, b, lower=True)",),
    ("scipy.linalg.solve_triangular(t, b, lower=True, overwrite_b=True, check_finite=False)", F),
    ("lapack.strtrs(t, b, lower=1, overwrite_b=1)", F, "[0]"),
    ("lapack.strtrs(t.T, b, lower=0, trans=1, overwrite_b=1)", RIGHT, "[0]"),
    ("blas.strsm(1, t, b, lower=1, overwrite_b=1)", F),
)  # fmt: skip
UPPER = _peer(
    "LAPACK trtrs, upper", "solve_triangular", "t, b",
    ("scipy.linalg.solve_triangular(t, b)",),
    ("scipy.linalg.solve_triangular(t, b, overwrite_b=True, check_finite=False)", F),
)  # fmt: skip
INVERSE_TRIANGLE = _peer(
    "LAPACK trtri", "triangular_inverse", "t",
    ("scipy.linalg.lapack.strtri(t)", C, "[0]"),
    ("lapack.strtri(t, overwrite_c=1)", F, "[0]"),
)  # fmt: skip
PIV = "numpy.arange(len(lu), dtype=numpy.int32)"
SUBSTITUTION = _peer(
    "LAPACK getrs", "lu_solve", "lu, b",
    *((f"scipy.linalg.lu_solve((lu, {PIV}), b, check_finite=False)", layout) for layout in (C, F)),
)  # fmt: skip
SUBSTITUTION_POS = _peer(
    "LAPACK potrs", "cho_solve", "c, b",
    *(("scipy.linalg.cho_solve((c, True), b, check_finite=False)", layout) for layout in (C, F)),
)  # fmt: skip
SYSTEM_POS = _peer(
    "LAPACK posv", "solve_pos", "a, b",
    ('scipy.linalg.solve(a, b, assume_a="pos")',),
    ("lapack.sposv(a, b, lower=1, overwrite_a=1, overwrite_b=1)", IN_F, "[1]"),
)  # fmt: skip


def _band_with_room(ab: Float32, b: Float32) -> tuple[Float32, ...]:
    """Add two rows above the band for the fill-in of gbsv's row exchanges; all in Fortran order."""
    roomy = np.zeros((len(ab) + 2, ab.shape[1]), dtype=np.float32, order="F")
    roomy[2:] = ab
    return roomy, np.array(b, order="F")


PENTADIAGONAL = _peer(
    "LAPACK gbsv", "pentadiagonal", "ab, b",
    ("scipy.linalg.solve_banded((2, 2), ab, b, check_finite=False)",),
    ("lapack.sgbsv(2, 2, ab, b, overwrite_ab=1, overwrite_b=1)",
     (_band_with_room, "in place, Fortran order"), "[2]"),
)  # fmt: skip
OVER = "overwrite_dl=1, overwrite_d=1, overwrite_du=1, overwrite_b=1"
TRIDIAGONAL = _peer(
    "LAPACK gtsv", "tridiagonal", "ab, b",
    ("scipy.linalg.solve_banded((1, 1), ab, b)",),
    (f"lapack.sgtsv(ab[2, :-1], ab[1], ab[0, 1:], b, {OVER})", RIGHT, "[3]"),
)  # fmt: skip


INVERSE_POS = _peer(
    "LAPACK potri", "inv_pos", "a",
    ('scipy.linalg.inv(a, assume_a="pos")',),
    ("lapack.spotri(lapack.spotrf(a, lower=1, overwrite_a=1, clean=0)[0], lower=1, overwrite_c=1)",
     (_fortran, "in place, Fortran order, one half"), "[0]"),
)  # fmt: skip
CHOLESKY = _peer(
    "LAPACK potrf", "cholesky cho_factor", "a",
    ("numpy.linalg.cholesky(a)",),
    ("scipy.linalg.cholesky(a, lower=True, overwrite_a=True, check_finite=False)", F),
    ("lapack.spotrf(a, lower=1, overwrite_a=1, clean=0)", IN_F, "[0]"),
)  # fmt: skip
FACTOR_BANDED = _peer(
    "LAPACK pbtrf", "cholesky_banded", "ab",
    ("scipy.linalg.cholesky_banded(ab, check_finite=False)",),
    ("lapack.spbtrf(ab, overwrite_ab=1)", IN_F, "[0]"),
)  # fmt: skip
SUBSTITUTION_BANDED = _peer(
    "LAPACK pbtrs", "cho_solve_banded", "cb, b",
    ("scipy.linalg.cho_solve_banded((cb, False), b, check_finite=False)",),
    ("lapack.spbtrs(cb, b, overwrite_b=1)", IN_F, "[0]"),
)  # fmt: skip
SYSTEM_BANDED = _peer(
    "LAPACK pbsv", "solve_pos_banded", "ab, b",
    ("scipy.linalg.solveh_banded(ab, b, check_finite=False)",),
    ("lapack.spbsv(ab, b, overwrite_ab=1, overwrite_b=1)", IN_F, "[1]"),
)  # fmt: skip


CONDITION = _peer(
    "LAPACK gecon", "rcond", "a",
    ("1 / numpy.linalg.cond(a, 1)",),
    ("lapack.sgecon(anorm=numpy.abs(a).sum(axis=0).max(), a=lapack.sgetrf(a, overwrite_a=1)[0])", IN_F, "[0]"),
)  # fmt: skip


def _by_prefix_sums(a: Float32, w: int = 5, limit: float = 65535.0) -> Any:
    """The closed form: sums of rows and of columns as differences of running sums, then w products."""
    lines = [np.arange(side) for side in a.shape]
    (top, bottom), (left, right) = ((np.maximum(0, one - w + 1), np.minimum(one, len(one) - w) + 1) for one in lines)
    down, across = (
        np.pad(np.cumsum(a, axis=axis, dtype=np.float64), [(int(axis == one), 0) for one in (0, 1)]) for axis in (0, 1)
    )
    total = np.zeros(a.shape)
    for k in range(w):
        total += (across[:, right + k] - across[:, left + k]) * (down[bottom + k] - down[top + k])
    return np.clip(total, 0, limit).astype(np.float32)


WINDOWS = _peer(
    "NumPy, squares of windows", "window_squares", "a",
    Way("windows @ windows, and 25 shifted sums", "numpy", _as_given, lambda: window_squares.on_host),
    Way("differences of numpy.cumsum, and 5 products", "numpy", _as_given, lambda: _by_prefix_sums),
)  # fmt: skip


def in_scipy(rows: Compressed) -> Any:
    """SciPy's array of the same entries, by rows."""
    from scipy.sparse import csr_array

    return csr_array((rows.values, rows.columns.astype(np.int32), rows.starts.astype(np.int32)), shape=rows.shape)


def _csr() -> Callable[..., Any]:
    from glla.operations.sparse import model

    matrices: dict[int, Any] = {}

    def times(a: Float32, x: Float32) -> Any:
        if len(x) not in matrices:
            matrices[len(x)] = in_scipy(model.of(a))  # is not timed: the first call warms up
        return (matrices[len(x)] @ x)[:, np.newaxis]

    return times


def _dia() -> Callable[..., Any]:
    from scipy.sparse import dia_array

    def times(columns: Float32, x: Float32) -> Any:
        side = int(np.sqrt(len(x)))
        return (dia_array((columns, [-side, -1, 0, 1, side]), shape=(len(x), len(x))) @ x)[:, np.newaxis]

    return times


def _by_columns(a: Float32, x: Float32) -> Arrays:
    """Diagonals as SciPy has them, by the columns of their entries, zero outside the grid; and x."""
    side = int(np.sqrt(len(x)))
    inside = a.reshape(5, side, side).copy()
    inside[0, 0] = inside[1, :, 0] = inside[3, :, -1] = inside[4, -1] = 0
    moved = [np.roll(row, offset) for row, offset in zip(inside.reshape(5, -1), (-side, -1, 0, 1, side), strict=True)]
    return np.stack(moved), x.reshape(-1)


SPARSE = _peer(
    "SciPy's sparse product", "spmv", "a, x",
    Way("A @ x, A a scipy.sparse.csr_array", "scipy", lambda a, x: (a, x.reshape(-1)), _csr),
    Way("A @ x, A a scipy.sparse.dia_array", "scipy", _by_columns, _dia),
)  # fmt: skip


# -- who stands beside an operation ---------------------------------------------------------------------------------


def peer_of(operation: Operation) -> Peer | None:
    """Find who does an operation on the CPU; None where nobody does.

    >>> from glla.operations import OPERATIONS
    >>> peer_of(OPERATIONS["matmul"]).usual.label
    'a @ b'
    """
    if operation.name in BEST:
        return BEST[operation.name]
    if not operation.function.host:
        return None
    module, _, function = operation.function.host.partition(":")
    usual = Way(f"{module}.{function}", "numpy", _as_given, lambda: getattr(import_module(module), function))
    return Peer(f"{operation.name} on the CPU", usual)


# -- timing ---------------------------------------------------------------------------------------------------------


QUICK = Effort(seconds=0.05, warm=0.02)
"""Of a call in a quick run."""

TRIAL = Effort(fewest=2, most=20, seconds=0.05, warm=0.02)
"""Of a way that is only tried: enough to tell which are fastest; those are timed again."""

HOPELESS = 2.0
"""A way whose first two calls take this many times as long as the fastest so far, and over `LONG`, is given up."""

LONG = 0.1
"""Seconds of a call from which on a second one is dear."""

MOST_CALLS = 1000
"""Calls that a repeat is the mean of, at most."""

FINALISTS = 2
"""The fastest ways of the trial that are timed in full, beside the usual call: a trial is too short to choose one."""


def with_threads(count: int | None) -> AbstractContextManager[Any]:
    """Let BLAS use a number of threads in a block; None for its own setting."""
    threads = control()
    return nullcontext() if threads is None or count is None else threads.limit(limits=count, user_api="blas")


def thread_counts() -> tuple[int | None, ...]:
    """Numbers of threads worth trying: all cores, the physical ones, half of all, one; None alone without a control."""
    if control() is None:
        return (None,)
    every = machine.cores()
    found = (every, machine.physical_cores() or every, max(1, every // 2), 1)
    return tuple(dict.fromkeys(count for count in found if count <= every))


def repeats(way: Way, arrays: Arrays, threads: int | None, effort: Effort, hopeless: float = np.inf) -> Samples:
    """Time a way; the head of this file describes the time between repeats.

    A repeat of a short call is the mean of several calls, so that all repeats together take the seconds wanted: what
    lasts a thousandth of a second only tells of that moment.

    The first call is not timed. If it takes longer than `hopeless` seconds, and a second one too, that is all there is.
    (The first alone may wait 0.1 s for the threads of another BLAS in the process.)
    """
    call = way.bind()
    wanted = way.operands(*arrays)
    operands = [np.array(array, order="K", copy=True) for array in wanted]

    def once() -> float:
        for target, source in zip(operands, wanted, strict=True):
            np.copyto(target, source)
        return clock(partial(call, *operands))[0]

    with with_threads(threads):
        first = once()
        if first > hopeless and (first := once()) > hopeless:
            return Samples.of([first])
        warm_up(once, effort.warm - first)
        calls = max(1, min(MOST_CALLS, round(effort.seconds / effort.most / max(once(), 1e-9))))
        return repeated(once, effort, calls)


@dataclass
class Candidate:
    """A way with a number of threads, None for the library's own setting."""

    way: Way
    threads: int | None
    seconds: float = 0.0  # the fastest of a few repeats, when it was tried
    blocks: list[Samples] = field(default_factory=list)  # timed in full: at the start of a size, at its end, ...

    @property
    def samples(self) -> Samples:
        """All blocks together."""
        return Samples.of(time for block in self.blocks for time in block.times)

    @property
    def disagreement(self) -> float:
        """Largest median of a block over the smallest."""
        medians = [block.median for block in self.blocks]
        return max(medians) / min(medians) if medians else 1.0

    def as_dict(self) -> dict[str, Any]:
        """As plain data: seconds of the trial, or every sample of every block."""
        named = {"way": self.way.label, "threads": self.threads}
        if not self.blocks:
            return {**named, "seconds": self.seconds}
        figures = {name: value for name, value in self.samples.as_dict().items() if name != "samples"}
        blocks = [[float(f"{seconds:.6g}") for seconds in block.times] for block in self.blocks]
        return {**named, **figures, "blocks": blocks}

    def __str__(self) -> str:
        return described({"way": self.way.label, "threads": self.threads})


def trials(ways: Sequence[Way], arrays: Arrays) -> list[Candidate]:
    """Try ways with all cores, then the two fastest with fewer threads; the fastest comes first."""
    every, *fewer = thread_counts()

    found: list[Candidate] = []

    def attempt(way: Way, threads: int | None) -> None:
        limit = max(LONG, HOPELESS * min((trial.seconds for trial in found), default=np.inf))
        found.append(Candidate(way, threads, min(repeats(way, arrays, threads, TRIAL, limit).times)))
        found.sort(key=lambda trial: trial.seconds)

    for way in ways:
        attempt(way, every)
    for best in found[:2]:
        for count in fewer:
            if count != 1 or best.seconds < FEW:
                attempt(best.way, count)
    return found


class Figure:
    """The one figure of a peer at one size: its fastest way, and beside it the usual call.

    `peer`: who. `size`: what is said of the size, ``"n = 512"``. `arrays`: the input; it is not altered. `effort`: how
    long a block takes. `package`: only this package's ways, the usual call included.
    """

    def __init__(
        self, peer: Peer, size: str, arrays: Arrays, effort: Effort | None = None, package: str | None = None
    ) -> None:
        self.peer, self.size, self.effort = peer, size, effort or Effort()
        ways = peer.installed(package)
        if not ways:
            require(f"{peer.name} as a peer", peer.usual.package)
        self.trials = trials(ways, arrays)
        usual = [Candidate(peer.usual, None)] if peer.usual in ways else []
        self.usual = usual[0] if usual else None
        self.finalists = [*usual, *(Candidate(trial.way, trial.threads) for trial in self.trials[:FINALISTS])]

    def time(self, arrays: Arrays) -> None:
        """Time a block of each finalist."""
        for one in self.finalists:
            one.blocks.append(repeats(one.way, arrays, one.threads, self.effort))

    def keep(self, blocks: int) -> None:
        """Forget all blocks but the first ones, which agreed."""
        for one in self.finalists:
            del one.blocks[blocks:]

    @property
    def blocks(self) -> int:
        """How many there are."""
        return len(self.finalists[0].blocks)

    @property
    def best(self) -> Candidate:
        """The fastest, with which glla is compared."""
        return min(self.finalists, key=lambda one: one.samples.median)

    def disagreement(self) -> str:
        """Say whether blocks of the fastest way, or of the usual call, are too far apart, '' if they agree."""
        shown = [self.best] if self.usual in (None, self.best) else [self.best, self.usual]
        return "; ".join(self._apart(one) for one in shown if one and one.disagreement > AGREEMENT)

    def _apart(self, one: Candidate) -> str:
        medians = ", then ".join(f"{1e3 * block.median:.3g}" for block in one.blocks)
        return (
            f"{self.peer.name} at {self.size} ({one}) took {medians} ms: {one.disagreement:.2f} times apart, "
            f"where {AGREEMENT:g} is allowed"
        )

    def of_cpu(self) -> dict[str, Any]:
        """Samples and names of the CPU, as a measurement has them."""
        shown = {"peer": self.best} | ({"usual": self.usual} if self.usual else {})
        ways = {"baseline": self.peer.name, **{role: str(one) for role, one in shown.items()}}
        return {"timed": {role: one.samples for role, one in shown.items()}, "ways": ways}

    def as_dict(self) -> dict[str, Any]:
        """Everything, as plain data: the fastest way, the usual call, all candidates, and every sample."""
        return {
            "name": self.peer.name,
            "size": self.size,
            "best": self.best.as_dict(),
            "usual": None if self.usual is None else self.usual.as_dict(),
            "trials": [trial.as_dict() for trial in self.trials],
        }


def described(finalist: dict[str, Any]) -> str:
    """Write a call and its threads.

    >>> described({"way": "a @ b", "threads": 16}), described({"way": "a @ b", "threads": None})
    ('a @ b, 16 threads', 'a @ b')
    """
    count = finalist["threads"]
    return str(finalist["way"]) + ("" if count is None else f", {count} thread{'' if count == 1 else 's'}")
