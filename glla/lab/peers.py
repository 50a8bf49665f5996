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
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import GllaError
from glla.lab import machine
from glla.lab.extra import require
from glla.lab.samples import Samples
from glla.operations import Operation

Array = NDArray[np.float32]
Arrays = tuple[Array, ...]

AGREEMENT = 1.25
"""Ratio up to which two medians of one call, taken at different times in a run, count as one figure. Further apart, the
machine was busy with something else, and neither is the peer's time."""

FEW = 0.02
"""Seconds of a call from which on a single thread is not tried: BLAS is several times faster with all of them."""


class BusyError(GllaError, RuntimeError):
    """Repeated measurements of one thing disagree: the machine is busy with something else."""


@dataclass(frozen=True)
class Way:
    """One way to have the CPU do it.

    Attributes
    ----------
    label : str
        The call, as a user would write it.
    package : str
        What it needs, "numpy" or "scipy".
    operands : callable
        Input arrays -> what the function takes, each in the order of memory that it wants; also arrays for results.
    bind : callable
        () -> the function, which may destroy its operands, and gives the same as the peer's other ways.
    """

    label: str
    package: str
    operands: Callable[..., Arrays]
    bind: Callable[[], Callable[..., Any]]

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.package) is not None


@dataclass(frozen=True)
class Peer:
    """A piece of work that the CPU can do, and the ways to have it done: the usual call first.

    Attributes
    ----------
    name : str
        The routine behind it.
    usual : Way
        What a user types.
    others : tuple of Way
        What might be faster.
    """

    name: str
    usual: Way
    others: tuple[Way, ...]

    @property
    def ways(self) -> tuple[Way, ...]:
        """All of them."""
        return (self.usual, *self.others)

    def installed(self, package: str | None = None) -> list[Way]:
        """List the ways that can be called here, only those of one package if it is named."""
        return [way for way in self.ways if way.installed and package in (None, way.package)]


# -- ways to call them ----------------------------------------------------------------------------------------------


def _as_given(*arrays: Array) -> Arrays:
    return tuple(np.ascontiguousarray(array) for array in arrays)


def _fortran(*arrays: Array) -> Arrays:
    return tuple(np.asfortranarray(array) for array in arrays)


def _with_result(order: Callable[..., Arrays]) -> Callable[..., Arrays]:
    """Give the operands of a product, and an array for it."""

    def operands(a: Array, b: Array) -> Arrays:
        return order(a, b, np.zeros((a.shape[0], b.shape[1]), dtype=np.float32))

    return operands


def _matmul_out() -> Callable[..., Any]:
    return lambda a, b, c: np.matmul(a, b, out=c)


def _sgemm() -> Callable[..., Any]:
    from scipy.linalg.blas import sgemm

    return lambda a, b, c: sgemm(1.0, a, b, c=c, overwrite_c=1)


def _sgemm_transposed() -> Callable[..., Any]:
    from scipy.linalg.blas import sgemm

    return lambda a, b, c: sgemm(1.0, b.T, a.T, c=c.T, overwrite_c=1).T  # (A B)^T = B^T A^T: no conversion


PRODUCT = Peer(
    "BLAS gemm",
    Way("a @ b", "numpy", _as_given, lambda: operator.matmul),
    (
        Way("numpy.matmul(a, b, out=c)", "numpy", _with_result(_as_given), _matmul_out),
        Way("numpy.matmul(a, b, out=c), Fortran order", "numpy", _with_result(_fortran), _matmul_out),
        Way("blas.sgemm(1, a, b, c=c, overwrite_c=1), Fortran order", "scipy", _with_result(_fortran), _sgemm),
        Way(
            "blas.sgemm(1, b.T, a.T, c=c.T, overwrite_c=1), C order",
            "scipy", _with_result(_as_given), _sgemm_transposed,
        ),
    ),
)  # fmt: skip


def _ssyrk(trans: int) -> Callable[[], Callable[..., Any]]:
    """Half of A A^T: with `trans` A lies in C order, and BLAS is given its transpose, which needs no conversion."""

    def bind() -> Callable[..., Any]:
        from scipy.linalg.blas import ssyrk

        return lambda a, c: ssyrk(1.0, a.T if trans else a, c=c, trans=trans, overwrite_c=1)

    return bind


def _half(order: Callable[..., Arrays]) -> Callable[..., Arrays]:
    """Give A, and an array for A A^T in Fortran order, as BLAS takes it."""

    def operands(a: Array) -> Arrays:
        return (*order(a), np.zeros((len(a), len(a)), dtype=np.float32, order="F"))

    return operands


SYMMETRIC_PRODUCT = Peer(
    "BLAS syrk",
    Way("a @ a.T", "numpy", _as_given, lambda: lambda a: a @ a.T),
    (
        Way("a @ a.T, Fortran order", "numpy", _fortran, lambda: lambda a: a @ a.T),
        Way("blas.ssyrk(1, a, c=c, overwrite_c=1), Fortran order, half of it", "scipy", _half(_fortran), _ssyrk(0)),
        Way(
            "blas.ssyrk(1, a.T, c=c, trans=1, overwrite_c=1), C order, half of it",
            "scipy", _half(_as_given), _ssyrk(1),
        ),
    ),
)  # fmt: skip


def _lu_factor(**options: Any) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg import lu_factor

        return lambda a: lu_factor(a, **options)

    return bind


def _sgetrf(overwrite: int) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg.lapack import sgetrf

        return lambda a: sgetrf(a, overwrite_a=overwrite)[:2]

    return bind


IN_PLACE = "lapack.sgetrf(a, overwrite_a=1), Fortran order"
FACTORS = Peer(
    "LAPACK getrf",
    Way("scipy.linalg.lu_factor(a)", "scipy", _as_given, _lu_factor()),
    (
        Way(
            "scipy.linalg.lu_factor(a, overwrite_a=True, check_finite=False), Fortran order",
            "scipy", _fortran, _lu_factor(overwrite_a=True, check_finite=False),
        ),
        Way("lapack.sgetrf(a), C order", "scipy", _as_given, _sgetrf(0)),
        Way("lapack.sgetrf(a), Fortran order", "scipy", _fortran, _sgetrf(0)),
        Way(IN_PLACE, "scipy", _fortran, _sgetrf(1)),
    ),
)  # fmt: skip


def _scipy_solve() -> Callable[..., Any]:
    from scipy.linalg import solve

    return lambda a, b: solve(a, b, overwrite_a=True, overwrite_b=True, check_finite=False)


def _sgesv(overwrite: int) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg.lapack import sgesv

        return lambda a, b: sgesv(a, b, overwrite_a=overwrite, overwrite_b=overwrite)[2]

    return bind


def _sgetrs() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgetrf, sgetrs

    def solve(a: Array, b: Array) -> Any:
        lu, piv, _ = sgetrf(a, overwrite_a=1)
        return sgetrs(lu, piv, b, overwrite_b=1)[0]

    return solve


SYSTEM = Peer(
    "LAPACK gesv",
    Way("numpy.linalg.solve(a, b)", "numpy", _as_given, lambda: np.linalg.solve),
    (
        Way("numpy.linalg.solve(a, b), Fortran order", "numpy", _fortran, lambda: np.linalg.solve),
        Way(
            "scipy.linalg.solve(a, b, overwrite_a=True, overwrite_b=True, check_finite=False), Fortran order",
            "scipy", _fortran, _scipy_solve,
        ),
        Way("lapack.sgesv(a, b), C order", "scipy", _as_given, _sgesv(0)),
        Way("lapack.sgesv(a, b, overwrite_a=1, overwrite_b=1), Fortran order", "scipy", _fortran, _sgesv(1)),
        Way("lapack.sgetrf and sgetrs, in place, Fortran order", "scipy", _fortran, _sgetrs),
    ),
)  # fmt: skip


def _scipy_inv() -> Callable[..., Any]:
    from scipy.linalg import inv

    return lambda a: inv(a, overwrite_a=True, check_finite=False)


def _sgetri() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgetrf, sgetri, sgetri_lwork

    def inverse(a: Array) -> Any:
        lu, piv, _ = sgetrf(a, overwrite_a=1)
        return sgetri(lu, piv, lwork=int(sgetri_lwork(len(a))[0]), overwrite_lu=1)[0]

    return inverse


def _with_identity(a: Array) -> Arrays:
    return _fortran(a, np.eye(len(a), dtype=np.float32))


INVERSE = Peer(
    "LAPACK getri",
    Way("numpy.linalg.inv(a)", "numpy", _as_given, lambda: np.linalg.inv),
    (
        Way("numpy.linalg.inv(a), Fortran order", "numpy", _fortran, lambda: np.linalg.inv),
        Way(
            "scipy.linalg.inv(a, overwrite_a=True, check_finite=False), Fortran order",
            "scipy", _fortran, _scipy_inv,
        ),
        Way("lapack.sgetrf and sgetri, in place, Fortran order", "scipy", _fortran, _sgetri),
        Way("lapack.sgetrf and sgetrs of the identity, in place, Fortran order", "scipy", _with_identity, _sgetrs),
    ),
)  # fmt: skip


def _stack_inverse() -> Callable[..., Any]:
    return lambda a: np.linalg.inv(a.reshape(-1, 3, 3)).reshape(-1, 9)


def _adjugate_by_hand() -> Callable[..., Any]:
    def inverse(a: Array) -> Array:
        rows = a.reshape(-1, 3, 3)
        x = np.empty_like(rows)
        for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
            x[:, :, i] = np.cross(rows[:, j], rows[:, k])
        x /= np.einsum("ij,ij->i", rows[:, 0], x[:, :, 0])[:, np.newaxis, np.newaxis]
        return x.reshape(-1, 9)

    return inverse


INVERSES3 = Peer(
    "LAPACK gesv of each, order 3, in float64",
    Way("numpy.linalg.inv(a), a stack of order 3", "numpy", _as_given, _stack_inverse),
    (Way("adjugate by hand with numpy.cross", "numpy", _as_given, _adjugate_by_hand),),
)
"""NumPy computes stacks of float32 in float64."""


def _logarithm() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgetrf

    def slogdet(a: Array) -> Any:
        lu, piv, _ = sgetrf(a, overwrite_a=1)
        u = lu.diagonal().astype(np.float64)
        exchanges = np.count_nonzero(piv != np.arange(len(piv)))
        return np.prod(np.sign(u)) * (-1) ** exchanges, np.log(np.abs(u)).sum()

    return slogdet


DETERMINANT = Peer(
    "LAPACK getrf, diagonal",
    Way("numpy.linalg.slogdet(a)", "numpy", _as_given, lambda: np.linalg.slogdet),
    (
        Way("numpy.linalg.slogdet(a), Fortran order", "numpy", _fortran, lambda: np.linalg.slogdet),
        Way("lapack.sgetrf in place and its diagonal, Fortran order", "scipy", _fortran, _logarithm),
    ),
)


def _scipy_qr() -> Callable[..., Any]:
    from scipy.linalg import qr

    return lambda a: qr(a, overwrite_a=True, mode="economic", check_finite=False)


def _sorgqr() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgeqrf, sgeqrf_lwork, sorgqr

    def factors(a: Array) -> Any:
        k = min(a.shape)
        packed, tau, _, _ = sgeqrf(a, lwork=int(sgeqrf_lwork(*a.shape)[0]), overwrite_a=1)
        r = np.triu(packed[:k])
        return sorgqr(packed[:, :k], tau, lwork=64 * k, overwrite_a=1)[0], r

    return factors


ORTHOGONAL = Peer(
    "LAPACK geqrf and orgqr",
    Way("numpy.linalg.qr(a)", "numpy", _as_given, lambda: np.linalg.qr),
    (
        Way("numpy.linalg.qr(a), Fortran order", "numpy", _fortran, lambda: np.linalg.qr),
        Way(
            'scipy.linalg.qr(a, mode="economic", overwrite_a=True, check_finite=False), Fortran order',
            "scipy", _fortran, _scipy_qr,
        ),
        Way("lapack.sgeqrf and sorgqr, in place, Fortran order", "scipy", _fortran, _sorgqr),
    ),
)  # fmt: skip


def _scipy_lstsq(driver: str) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg import lstsq

        options = {"lapack_driver": driver, "overwrite_a": True, "overwrite_b": True, "check_finite": False}
        return lambda a, b: lstsq(a, b, **options)[:3]

    return bind


def _sgels() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgels

    return lambda a, b: (sgels(a, b, overwrite_a=1, overwrite_b=1)[1][: a.shape[1]],)


LEAST_SQUARES = Peer(
    "LAPACK gelsd",
    Way("numpy.linalg.lstsq(a, b)", "numpy", _as_given, lambda: np.linalg.lstsq),
    (
        *(
            Way(
                f'scipy.linalg.lstsq(a, b, lapack_driver="{driver}", overwrite_a=True, overwrite_b=True, '
                "check_finite=False), Fortran order",
                "scipy", _fortran, _scipy_lstsq(driver),
            )
            for driver in ("gelsd", "gelsy")
        ),
        Way("lapack.sgels (full rank), in place, Fortran order", "scipy", _fortran, _sgels),
    ),
)  # fmt: skip


def _turned(a: Array, b: Array) -> Arrays:
    """Give stacks whose matrices are in Fortran order, each by itself."""

    def turn(stack: Array) -> Array:
        return np.ascontiguousarray(stack.transpose(0, 2, 1)).transpose(0, 2, 1)

    return turn(a), turn(b)


def _each_sgesv() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgesv

    def solve(a: Array, b: Array) -> Any:
        for matrix, right in zip(a, b, strict=True):
            sgesv(matrix, right, overwrite_a=1, overwrite_b=1)
        return b

    return solve


def _shared_solve() -> Callable[..., Any]:
    threads = machine.cores()
    pool = ThreadPoolExecutor(threads)

    def solve(a: Array, b: Array) -> Any:
        parts = (np.array_split(stack, threads) for stack in (a, b))
        return np.concatenate(list(pool.map(np.linalg.solve, *parts)))

    return solve


STACK = Peer(
    "LAPACK gesv, each of a stack",
    Way("numpy.linalg.solve(a, b)", "numpy", _as_given, lambda: np.linalg.solve),
    (
        Way("numpy.linalg.solve(a, b), the stack cut into a part for each core", "numpy", _as_given, _shared_solve),
        Way("lapack.sgesv of each, in place, Fortran order", "scipy", _turned, _each_sgesv),
    ),
)


def _solve_triangular(**options: Any) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg import solve_triangular

        return lambda t, b: solve_triangular(t, b, lower=True, **options)

    return bind


def _strtrs() -> Callable[..., Any]:
    from scipy.linalg.lapack import strtrs

    return lambda t, b: strtrs(t, b, lower=1, overwrite_b=1)[0]


def _strtrs_transposed() -> Callable[..., Any]:
    from scipy.linalg.lapack import strtrs

    return lambda t, b: strtrs(t.T, b, lower=0, trans=1, overwrite_b=1)[0]


def _strsm() -> Callable[..., Any]:
    from scipy.linalg.blas import strsm

    return lambda t, b: strsm(1.0, t, b, lower=1, overwrite_b=1)


def _right_side_turned(t: Array, b: Array) -> Arrays:
    return np.ascontiguousarray(t), np.asfortranarray(b)


TRIANGULAR = Peer(
    "LAPACK trtrs",
    Way("scipy.linalg.solve_triangular(t, b, lower=True)", "scipy", _as_given, _solve_triangular()),
    (
        Way(
            "scipy.linalg.solve_triangular(t, b, lower=True, overwrite_b=True, check_finite=False), Fortran order",
            "scipy", _fortran, _solve_triangular(overwrite_b=True, check_finite=False),
        ),
        Way("lapack.strtrs(t, b, lower=1, overwrite_b=1), Fortran order", "scipy", _fortran, _strtrs),
        Way(
            "lapack.strtrs(t.T, b, trans=1, overwrite_b=1), t in C order",
            "scipy", _right_side_turned, _strtrs_transposed,
        ),
        Way("blas.strsm(1, t, b, lower=1, overwrite_b=1), Fortran order", "scipy", _fortran, _strsm),
    ),
)  # fmt: skip


def _upper(**options: Any) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg import solve_triangular

        return lambda t, b: solve_triangular(t, b, **options)

    return bind


UPPER = Peer(
    "LAPACK trtrs, upper",
    Way("scipy.linalg.solve_triangular(t, b)", "scipy", _as_given, _upper()),
    (
        Way(
            "scipy.linalg.solve_triangular(t, b, overwrite_b=True, check_finite=False), Fortran order",
            "scipy", _fortran, _upper(overwrite_b=True, check_finite=False),
        ),
    ),
)  # fmt: skip


def _strtri(**options: Any) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg.lapack import strtri

        return lambda t: strtri(t, **options)[0]

    return bind


INVERSE_TRIANGLE = Peer(
    "LAPACK trtri",
    Way("scipy.linalg.lapack.strtri(t)", "scipy", _as_given, _strtri()),
    (Way("lapack.strtri(t, overwrite_c=1), Fortran order", "scipy", _fortran, _strtri(overwrite_c=1)),),
)

OLD_FORMS = {
    "numpy.matmul": "numpy.matmul(a, b)",
    "BLAS sgemm": "blas.sgemm(1, b.T, a.T)",
    "LAPACK getrf": "scipy.linalg.lu_factor(a, check_finite=False)",
    "LAPACK getrf of A": "scipy.linalg.lu_factor(ab[:, :n], check_finite=False)",
    "LAPACK trtrs": "scipy.linalg.solve_triangular(t, b, lower=True, check_finite=False)",
    "numpy.linalg.solve": "numpy.linalg.solve(a, b)",
    "scipy.linalg.solve": "scipy.linalg.solve(a, b, check_finite=False)",
    "numpy.linalg.inv": "numpy.linalg.inv(a)",
    "scipy.linalg.inv": "scipy.linalg.inv(a, check_finite=False)",
}
"""What results up to 2026-11-21 call a peer -> the call that they timed, of C-ordered arrays: a usual call."""


def _lu_solve() -> Callable[..., Any]:
    from scipy.linalg import lu_solve

    return lambda lu, b: lu_solve((lu, np.arange(len(lu), dtype=np.int32)), b, check_finite=False)


SUBSTITUTION = Peer(
    "LAPACK getrs",
    Way("scipy.linalg.lu_solve((lu, piv), b)", "scipy", _as_given, _lu_solve),
    (Way("scipy.linalg.lu_solve((lu, piv), b), Fortran order", "scipy", _fortran, _lu_solve),),
)


def _cho_solve() -> Callable[..., Any]:
    from scipy.linalg import cho_solve

    return lambda c, b: cho_solve((c, True), b, check_finite=False)


SUBSTITUTION_POS = Peer(
    "LAPACK potrs",
    Way("scipy.linalg.cho_solve((c, lower), b)", "scipy", _as_given, _cho_solve),
    (Way("scipy.linalg.cho_solve((c, lower), b), Fortran order", "scipy", _fortran, _cho_solve),),
)


def _sposv() -> Callable[..., Any]:
    from scipy.linalg.lapack import sposv

    return lambda a, b: sposv(a, b, lower=1, overwrite_a=1, overwrite_b=1)[1]


def _solve_pos() -> Callable[..., Any]:
    from scipy.linalg import solve

    return lambda a, b: solve(a, b, assume_a="pos")


SYSTEM_POS = Peer(
    "LAPACK posv",
    Way('scipy.linalg.solve(a, b, assume_a="pos")', "scipy", _as_given, _solve_pos),
    (Way("lapack.sposv(a, b, overwrite_a=1, overwrite_b=1), in place, Fortran order", "scipy", _fortran, _sposv),),
)


def _solve_banded(**options: Any) -> Callable[[], Callable[..., Any]]:
    def bind() -> Callable[..., Any]:
        from scipy.linalg import solve_banded

        return lambda ab, b: solve_banded((1, 1), ab, b, **options)

    return bind


def _solve_five() -> Callable[..., Any]:
    from scipy.linalg import solve_banded

    return lambda ab, b: solve_banded((2, 2), ab, b, check_finite=False)


def _band_with_room(ab: Array, b: Array) -> tuple[Array, ...]:
    """Two more rows above the band, where the pivots of gbsv put what they bring up; all in Fortran order."""
    roomy = np.zeros((len(ab) + 2, ab.shape[1]), dtype=np.float32, order="F")
    roomy[2:] = ab
    return roomy, np.array(b, order="F")


def _sgbsv() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgbsv

    return lambda ab, b: sgbsv(2, 2, ab, b, overwrite_ab=1, overwrite_b=1)[2]


PENTADIAGONAL = Peer(
    "LAPACK gbsv",
    Way("scipy.linalg.solve_banded((2, 2), ab, b)", "scipy", _as_given, _solve_five),
    (Way("lapack.sgbsv, in place, in Fortran order", "scipy", _band_with_room, _sgbsv),),
)


def _sgtsv() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgtsv

    return lambda ab, b: sgtsv(
        ab[2, :-1], ab[1], ab[0, 1:], b, overwrite_dl=1, overwrite_d=1, overwrite_du=1, overwrite_b=1
    )[3]


TRIDIAGONAL = Peer(
    "LAPACK gtsv",
    Way("scipy.linalg.solve_banded((1, 1), ab, b)", "scipy", _as_given, _solve_banded()),
    (Way("lapack.sgtsv, in place, right sides in Fortran order", "scipy", _right_side_turned, _sgtsv),),
)


def _spotri() -> Callable[..., Any]:
    from scipy.linalg.lapack import spotrf, spotri

    return lambda a: spotri(spotrf(a, lower=1, overwrite_a=1, clean=0)[0], lower=1, overwrite_c=1)[0]


def _inv_pos() -> Callable[..., Any]:
    from scipy.linalg import inv

    return lambda a: inv(a, assume_a="pos")


INVERSE_POS = Peer(
    "LAPACK potri",
    Way('scipy.linalg.inv(a, assume_a="pos")', "scipy", _as_given, _inv_pos),
    (Way("lapack.spotrf and spotri, in place, Fortran order, one half", "scipy", _fortran, _spotri),),
)


def _cholesky_banded() -> Callable[..., Any]:
    from scipy.linalg import cholesky_banded

    return lambda ab: cholesky_banded(ab, check_finite=False)


def _spbtrf() -> Callable[..., Any]:
    from scipy.linalg.lapack import spbtrf

    return lambda ab: spbtrf(ab, overwrite_ab=1)[0]


FACTOR_BANDED = Peer(
    "LAPACK pbtrf",
    Way("scipy.linalg.cholesky_banded(ab)", "scipy", _as_given, _cholesky_banded),
    (Way("lapack.spbtrf(ab, overwrite_ab=1), in place, Fortran order", "scipy", _fortran, _spbtrf),),
)


def _solveh_banded() -> Callable[..., Any]:
    from scipy.linalg import solveh_banded

    return lambda ab, b: solveh_banded(ab, b, check_finite=False)


def _spbsv() -> Callable[..., Any]:
    from scipy.linalg.lapack import spbsv

    return lambda ab, b: spbsv(ab, b, overwrite_ab=1, overwrite_b=1)[1]


SYSTEM_BANDED = Peer(
    "LAPACK pbsv",
    Way("scipy.linalg.solveh_banded(ab, b)", "scipy", _as_given, _solveh_banded),
    (Way("lapack.spbsv(ab, b, overwrite_ab=1, overwrite_b=1), in place, Fortran order", "scipy", _fortran, _spbsv),),
)


def _sgecon() -> Callable[..., Any]:
    from scipy.linalg.lapack import sgecon, sgetrf

    def rcond(a: Array) -> Any:
        norm = np.abs(a).sum(axis=0).max()
        return sgecon(sgetrf(a, overwrite_a=1)[0], norm)[0]

    return rcond


CONDITION = Peer(
    "LAPACK gecon",
    Way("1 / numpy.linalg.cond(a, 1)", "numpy", _as_given, lambda: lambda a: 1 / np.linalg.cond(a, 1)),
    (Way("lapack.sgetrf and sgecon, in place, Fortran order", "scipy", _fortran, _sgecon),),
)

DET = Peer(
    "LAPACK getrf, product of the diagonal",
    Way("numpy.linalg.det(a)", "numpy", _as_given, lambda: np.linalg.det),
    (Way("numpy.linalg.det(a), Fortran order", "numpy", _fortran, lambda: np.linalg.det),),
)


def _by_windows() -> Callable[..., Any]:
    from glla.operations.window_squares import on_host

    return on_host


def _by_prefix_sums() -> Callable[..., Any]:
    """Bind the closed form: sums of rows and of columns as differences of running sums, then w products."""

    def ranges(count: int, w: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        places = np.arange(count)
        return np.maximum(0, places - w + 1), np.minimum(places, count - w) + 1

    def sums(a: Array, w: int = 5, limit: float = 65535.0) -> Any:
        (top, bottom), (left, right) = (ranges(side, w) for side in a.shape)
        down, across = (
            np.pad(np.cumsum(a, axis=axis, dtype=np.float64), [(int(axis == one), 0) for one in (0, 1)])
            for axis in (0, 1)
        )
        total = np.zeros(a.shape)
        for k in range(w):
            total += (across[:, right + k] - across[:, left + k]) * (down[bottom + k] - down[top + k])
        return np.clip(total, 0, limit).astype(np.float32)

    return sums


WINDOWS = Peer(
    "NumPy, squares of windows",
    Way("windows @ windows, and 25 shifted sums", "numpy", _as_given, _by_windows),
    (Way("differences of numpy.cumsum, and 5 products", "numpy", _as_given, _by_prefix_sums),),
)


def _csr() -> Callable[..., Any]:
    from scipy.sparse import csr_array

    from glla.operations.sparse import model

    matrices: dict[int, Any] = {}

    def times(a: Array, x: Array) -> Any:
        if len(x) not in matrices:
            rows = model.of(a)  # is not timed: the first call warms up
            matrices[len(x)] = csr_array((rows.values, rows.columns.astype(np.int32), rows.starts.astype(np.int32)))
        return (matrices[len(x)] @ x)[:, np.newaxis]

    return times


def _dia() -> Callable[..., Any]:
    from scipy.sparse import dia_array

    def times(columns: Array, x: Array) -> Any:
        side = int(np.sqrt(len(x)))
        return (dia_array((columns, [-side, -1, 0, 1, side]), shape=(len(x), len(x))) @ x)[:, np.newaxis]

    return times


def _by_columns(a: Array, x: Array) -> Arrays:
    """Diagonals as SciPy has them, by the columns of their entries, without what leaves the grid; and x."""
    side = int(np.sqrt(len(x)))
    inside = a.reshape(5, side, side).copy()
    inside[0, 0] = inside[1, :, 0] = inside[3, :, -1] = inside[4, -1] = 0
    moved = [np.roll(row, offset) for row, offset in zip(inside.reshape(5, -1), (-side, -1, 0, 1, side), strict=True)]
    return np.stack(moved), x.reshape(-1)


def _flat_vector(a: Array, x: Array) -> Arrays:
    return a, x.reshape(-1)


SPARSE = Peer(
    "SciPy's sparse product",
    Way("A @ x, A a scipy.sparse.csr_array", "scipy", _flat_vector, _csr),
    (Way("A @ x, A a scipy.sparse.dia_array", "scipy", _by_columns, _dia),),
)


# -- who stands beside an operation ---------------------------------------------------------------------------------


def _without_last(augmented: Array) -> Arrays:
    """A of [A | b]: what LAPACK factors where glla reduces [A | b]."""
    return (np.ascontiguousarray(augmented[:, :-1]),)


def _same(*arrays: Array) -> Arrays:
    return arrays


BEST: dict[str, tuple[Peer, Callable[..., Arrays]]] = {
    "matmul": (PRODUCT, _same),
    "syrk": (SYMMETRIC_PRODUCT, _same),
    "rref": (FACTORS, _without_last),
    "plu": (FACTORS, _same),
    "lu_factor": (FACTORS, _same),
    "lu_solve": (SUBSTITUTION, _same),
    "cho_solve": (SUBSTITUTION_POS, _same),
    "solve_pos": (SYSTEM_POS, _same),
    "inv_pos": (INVERSE_POS, _same),
    "cholesky_banded": (FACTOR_BANDED, _same),
    "solve_pos_banded": (SYSTEM_BANDED, _same),
    "triangular": (TRIANGULAR, _same),
    "tridiagonal": (TRIDIAGONAL, _same),
    "pentadiagonal": (PENTADIAGONAL, _same),
    "solve_triangular": (UPPER, _same),
    "triangular_inverse": (INVERSE_TRIANGLE, _same),
    "solve": (SYSTEM, _same),
    "inv": (INVERSE, _same),
    "gauss_jordan": (INVERSE, _same),
    "inv3": (INVERSES3, _same),
    "det": (DET, _same),
    "slogdet": (DETERMINANT, _same),
    "rcond": (CONDITION, _same),
    "qr": (ORTHOGONAL, _same),
    "lstsq": (LEAST_SQUARES, _same),
    "window_squares": (WINDOWS, _same),
    "spmv": (SPARSE, _same),
}
"""By operation, the peer in its best form, and (operands of the operation) -> the peer's. Any other operation stands
beside its record's counterpart on the CPU, as it is called."""


PEERS = (*dict.fromkeys(peer for peer, _ in BEST.values()), STACK)
"""All peers in their best form."""


def peer_of(operation: Operation) -> tuple[Peer, Callable[..., Arrays]] | None:
    """Find who does an operation on the CPU, and how its operands are made; None where nobody does.

    >>> from glla.operations import OPERATIONS
    >>> peer_of(OPERATIONS["matmul"])[0].usual.label
    'a @ b'
    """
    if operation.name in BEST:
        return BEST[operation.name]
    if not operation.host:
        return None
    module, _, function = operation.host.partition(":")
    usual = Way(f"{module}.{function}", "numpy", _as_given, lambda: getattr(import_module(module), function))
    return Peer(f"{operation.name} on the CPU", usual, ()), _same


# -- timing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """How long to time a call.

    Attributes
    ----------
    fewest, most : int
        Repeats at least, and at most.
    seconds : float
        No more repeats than `fewest` once all together took this long.
    warm : float
        Seconds of the same work before, so that clock and threads are awake; one call at least.
    """

    fewest: int = 3
    most: int = 40
    seconds: float = 0.15
    warm: float = 0.05


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


@lru_cache
def _controller() -> Any:
    """Control over the threads of BLAS, from threadpoolctl; None where that is missing."""
    if find_spec("threadpoolctl") is None:
        return None
    if find_spec("scipy") is not None:
        import scipy.linalg  # noqa: F401 - loads its BLAS, so that it is found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def with_threads(count: int | None) -> AbstractContextManager[Any]:
    """Let BLAS use a number of threads in a block; None for its own setting."""
    control = _controller()
    return nullcontext() if control is None or count is None else control.limit(limits=count, user_api="blas")


def thread_counts() -> tuple[int | None, ...]:
    """Numbers of threads worth trying: all cores, the physical ones, half of all, one; None alone without a control."""
    if _controller() is None:
        return (None,)
    every = machine.cores()
    found = (every, machine.physical_cores() or every, max(1, every // 2), 1)
    return tuple(dict.fromkeys(count for count in found if count <= every))


def repeats(way: Way, arrays: Arrays, threads: int | None, effort: Effort, hopeless: float = np.inf) -> Samples:
    """Time a way; see the head of this file for what happens between repeats.

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
        start = time.perf_counter()
        result = call(*operands)
        seconds = time.perf_counter() - start
        del result
        return seconds

    with with_threads(threads):
        end = time.perf_counter() + effort.warm
        first = once()
        if first > hopeless and (first := once()) > hopeless:
            return Samples.of([first])
        while time.perf_counter() < end:
            once()
        times: list[float] = []
        calls = max(1, min(MOST_CALLS, round(effort.seconds / effort.most / max(once(), 1e-9))))
        while len(times) < effort.most and (len(times) < effort.fewest or calls * sum(times) < effort.seconds):
            times.append(sum(once() for _ in range(calls)) / calls)
    return Samples.of(times)


@dataclass(frozen=True)
class Trial:
    """A way with a number of threads, None for the library's own setting, and the fastest of a few repeats."""

    way: Way
    threads: int | None
    seconds: float

    @property
    def told(self) -> dict[str, Any]:
        """As plain data."""
        return {"way": self.way.label, "threads": self.threads, "seconds": self.seconds}


def trials(ways: Sequence[Way], arrays: Arrays) -> list[Trial]:
    """Try ways with all cores, then the two fastest with fewer threads; the fastest comes first."""
    every, *fewer = thread_counts()

    found: list[Trial] = []

    def attempt(way: Way, threads: int | None) -> None:
        limit = max(LONG, HOPELESS * min((trial.seconds for trial in found), default=np.inf))
        found.append(Trial(way, threads, min(repeats(way, arrays, threads, TRIAL, limit).times)))
        found.sort(key=lambda trial: trial.seconds)

    for way in ways:
        attempt(way, every)
    for best in found[:2]:
        for count in fewer:
            if count != 1 or best.seconds < FEW:
                attempt(best.way, count)
    return found


@dataclass
class Finalist:
    """A way that is timed in full, in blocks: one at the start of a size, one at its end, ..."""

    way: Way
    threads: int | None
    blocks: list[Samples] = field(default_factory=list)

    @property
    def samples(self) -> Samples:
        """All blocks together."""
        return Samples.of(time for block in self.blocks for time in block.times)

    @property
    def disagreement(self) -> float:
        """Largest median of a block over the smallest."""
        medians = [block.median for block in self.blocks]
        return max(medians) / min(medians) if medians else 1.0

    @property
    def told(self) -> dict[str, Any]:
        """As plain data, every sample of every block included."""
        return {
            "way": self.way.label,
            "threads": self.threads,
            **{name: value for name, value in self.samples.as_dict().items() if name != "samples"},
            "blocks": [[float(f"{seconds:.6g}") for seconds in block.times] for block in self.blocks],
        }

    def __str__(self) -> str:
        return f"{self.way.label}{_threads(self.threads)}"


def _threads(count: int | None) -> str:
    return "" if count is None else f", {count} thread{'' if count == 1 else 's'}"


class Figure:
    """The one figure of a peer at one size: its fastest way, and beside it the usual call.

    Parameters
    ----------
    peer : Peer
        Who.
    size : str
        What is said of the size, ``"n = 512"``.
    arrays : tuple of ndarray
        The input; it is not altered.
    effort : Effort
        How long a block takes.
    package : str, optional
        Only this package's ways, the usual call included.
    """

    def __init__(
        self, peer: Peer, size: str, arrays: Arrays, effort: Effort | None = None, package: str | None = None
    ) -> None:
        self.peer, self.size, self.effort = peer, size, effort or Effort()
        ways = peer.installed(package)
        if not ways:
            require(f"{peer.name} as a peer", peer.usual.package)
        self.trials = trials(ways, arrays)
        usual = [Finalist(peer.usual, None)] if peer.usual in ways else []
        self.usual = usual[0] if usual else None
        self.finalists = [*usual, *(Finalist(trial.way, trial.threads) for trial in self.trials[:FINALISTS])]

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
    def best(self) -> Finalist:
        """The fastest: what glla is compared with."""
        return min(self.finalists, key=lambda one: one.samples.median)

    def disagreement(self, allowed: float | None = None) -> str:
        """Say whether the blocks of the fastest way, or those of the usual call, are too far apart, '' if they agree.

        Parameters
        ----------
        allowed : float, optional
            Ratio up to which medians agree; `AGREEMENT` by default.
        """
        allowed = AGREEMENT if allowed is None else allowed
        shown = [self.best] if self.usual in (None, self.best) else [self.best, self.usual]
        return "; ".join(self._apart(one, allowed) for one in shown if one and one.disagreement > allowed)

    def _apart(self, one: Finalist, allowed: float) -> str:
        medians = ", then ".join(f"{1e3 * block.median:.3g}" for block in one.blocks)
        return (
            f"{self.peer.name} at {self.size} ({one}) took {medians} ms: {one.disagreement:.2f} times apart, "
            f"where {allowed:g} is allowed"
        )

    def told(self) -> dict[str, Any]:
        """Everything, as plain data: the fastest way, the usual call, what was tried, and every sample."""
        return {
            "name": self.peer.name,
            "size": self.size,
            "best": self.best.told,
            "usual": None if self.usual is None else self.usual.told,
            "trials": [trial.told for trial in self.trials],
        }


def brief(told: dict[str, Any]) -> dict[str, Any]:
    """What a record says of a finalist as `Finalist.told` gives it: without the samples."""
    return {name: told[name] for name in ("way", "threads", "seconds", "lower", "upper", "repeats")}


def described(told: dict[str, Any]) -> str:
    """Write a call and its threads.

    >>> described({"way": "a @ b", "threads": 16}), described({"way": "a @ b", "threads": None})
    ('a @ b, 16 threads', 'a @ b')
    """
    return f"{told['way']}{_threads(told['threads'])}"
