"""What type checkers see of glla, as assertions.

mypy checks this file with the package (`make lint`), and tests/test_typing.py runs it: there every `assert_type` looks
at the value, so that what is said to type checkers is true.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import glla
from glla import PLU, RREF, Array, Pending, RefinedSolution, SlogdetResult
from glla.linalg.results import QRResult
from glla.linalg.spectral.results import EighResult, SVDResult
from glla.queue.single import Coprocessor

Float32 = NDArray[np.float32]
Exchanges = NDArray[np.int32]
Number = np.float32 | NDArray[np.float32]
Factors = QRResult[Float32] | Float32 | tuple[Float32, Float32]
LeastSquares = tuple[Float32, Float32, int, Float32]


def arrays(x: NDArray[np.float64]) -> None:
    """Arrays in, arrays out; so do lists."""
    assert_type(glla.matmul(x, x), Float32)
    assert_type(glla.matmul([[1, 2], [3, 4]], x, variant="virtual_cube"), Float32)
    assert_type(glla.solve(x, x), Float32)
    assert_type(glla.solve(x, [1, 2], equilibrate=False), Float32)
    assert_type(glla.inv(x), Float32)
    assert_type(glla.cholesky(x, upper=True), Float32)
    assert_type(glla.cholesky_banded(x, lower=True), Float32)
    assert_type(glla.cho_solve_banded((x, True), x), Float32)
    assert_type(glla.qr(x), Factors)
    assert_type(glla.eigh(x), EighResult[Float32])
    assert_type(glla.eigvalsh(x), Float32)
    assert_type(glla.eigen_bounds(x, x.diagonal(), x), Float32)
    assert_type(glla.svd(x), SVDResult[Float32] | Float32)
    assert_type(glla.svdvals(x), Float32)
    assert_type(glla.eigh_tridiagonal(x.diagonal(), x.diagonal(1)), Float32 | tuple[Float32, Float32])
    assert_type(glla.pinv(x), Float32)
    assert_type(glla.matrix_rank(x), np.int64 | NDArray[np.int64])
    assert_type(glla.cond(x), np.float32 | Float32)
    assert_type(glla.polar(x), tuple[Float32, Float32])
    assert_type(glla.orth(x), Float32)
    assert_type(glla.sqrtm(x), Float32)
    assert_type(glla.null_space(x), Float32)
    assert_type(glla.lstsq(x, x), LeastSquares)
    assert_type(glla.plu(x), PLU[Float32])
    assert_type(glla.plu(x).L, Float32)
    assert_type(glla.rref(x), RREF[Float32])
    assert_type(glla.rref(x).matrix, Float32)
    assert_type(glla.rref(x).pivots, tuple[int, ...])
    assert_type(glla.lu_factor(x), tuple[Float32, Exchanges])
    assert_type(glla.cho_factor(x), tuple[Float32, bool])
    assert_type(glla.cho_solve(glla.cho_factor(x), x), Float32)
    assert_type(glla.solve(x, x, assume_a="pos"), Float32)
    assert_type(glla.lu_solve(glla.lu_factor(x), x), Float32)
    assert_type(glla.solve_triangular(x, x, "T", lower=True), Float32)
    assert_type(glla.solve_banded((1, 0), x, x), Float32)
    assert_type(glla.solveh_banded(x, x, lower=True), Float32)
    assert_type(glla.det(x), Number)
    assert_type(glla.det(np.stack([x, x])), Number)
    assert_type(glla.rcond(x), Number)
    assert_type(glla.slogdet(x), SlogdetResult[Float32])
    assert_type(glla.slogdet(x).logabsdet, Number)


def refinement(x: NDArray[np.float64], A: Array, exact: bool) -> None:
    """The option that changes what is returned."""
    assert_type(glla.solve(x, x, refine=True), RefinedSolution)
    assert_type(glla.eigh(x, refine=True), EighResult[NDArray[np.float64]])
    assert_type(glla.solve(A, x, True), RefinedSolution)
    assert_type(glla.solve(x, x, refine=False), Float32)
    assert_type(glla.solve(x, x, refine=exact), Array | Float32 | RefinedSolution)
    assert (lambda: glla.plu(x, pivoting="parial"),)[0]  # type: ignore[call-overload, truthy-function]
    assert (lambda: glla.solve(x, x, assume_a="posdef"),)[0]  # type: ignore[call-overload, truthy-function]


def matrices(A: Array, x: NDArray[np.float64]) -> None:
    """An Array among the operands: what is a matrix stays on the device."""
    assert_type(glla.asarray(x), Array)
    assert_type(glla.asarray(A, 0), Array)
    assert_type(glla.from_dlpack(x), Array)
    assert_type(glla.matmul(A, A), Array)
    assert_type(glla.matmul(A, x), Array)
    assert_type(glla.matmul(x, A, device=0), Array)
    assert_type(glla.solve(A, A), Array)
    assert_type(glla.solve(x, A), Array)
    assert_type(glla.inv(A), Array)
    assert_type(glla.cholesky(A), Array)
    assert_type(glla.cholesky_banded(A, lower=True), Array)
    assert_type(glla.cho_solve_banded((A, True), x), Array)
    assert_type(glla.cho_solve_banded((x, True), A), Array)
    assert_type(glla.qr(A), QRResult[Array] | Array | tuple[Array, Array])
    assert_type(glla.eigh(A), EighResult[Array])
    assert_type(glla.eigvalsh(A), Array)
    assert_type(glla.eigen_bounds(A, A[0], A), Array)
    assert_type(glla.svd(A), SVDResult[Array] | Array)
    assert_type(glla.svdvals(A), Array)
    assert_type(glla.eigh_tridiagonal(A[0], A[0][1:]), Array | tuple[Array, Array])
    assert_type(glla.pinv(A), Array)
    assert_type(glla.matrix_rank(A), np.int64 | NDArray[np.int64])
    assert_type(glla.cond(A), Array | np.float32)
    assert_type(glla.polar(A), tuple[Array, Array])
    assert_type(glla.orth(A), Array)
    assert_type(glla.sqrtm(A), Array)
    assert_type(glla.null_space(A), Array)
    assert_type(glla.lstsq(A, x), tuple[Array, Array, int, Array])
    assert_type(glla.plu(A), PLU[Array])
    assert_type(glla.plu(A).U, Array)
    assert_type(glla.rref(A), RREF[Array])
    assert_type(glla.lu_factor(A), tuple[Array, Exchanges])
    assert_type(glla.cho_factor(A), tuple[Array, bool])
    assert_type(glla.cho_solve(glla.cho_factor(A), x), Array)
    assert_type(glla.cho_solve(glla.cho_factor(x), A), Array)
    assert_type(glla.lu_solve(glla.lu_factor(A), x), Array)
    assert_type(glla.lu_solve(glla.lu_factor(x), A), Array)
    assert_type(glla.solve_triangular(A, x), Array)
    assert_type(glla.solve_triangular(x, A), Array)
    assert_type(glla.solve_banded((1, 0), A, x), Array)
    assert_type(glla.solveh_banded(x, A), Array)
    assert_type(glla.det(A), np.float32 | Array)
    assert_type(glla.rcond(A), np.float32 | Array)
    assert_type(glla.slogdet(A), SlogdetResult[Array])
    assert_type(glla.slogdet(A).sign, np.float32 | Array)


def operators(A: Array) -> None:
    """The operators of an Array, its blocks and its transpose."""
    assert_type(A @ A, Array)
    assert_type(A + 1, Array)
    assert_type(2 * A - A / 3, Array)
    assert_type(-abs(A), Array)
    assert_type(A**2, Array)
    assert_type(A[0:1], Array)
    assert_type(A[:, 1:], Array)
    assert_type(A.T, Array)
    assert_type(A.T.copy(), Array)


def futures(gpu: Coprocessor, x: NDArray[np.float64], exact: bool) -> None:
    """Results of a coprocessor, which are read back: as of arrays, for the stubs derive one from the other."""
    assert_type(gpu.matmul(x, x), Pending[Float32])
    assert_type(gpu.matmul(x, x).result(), Float32)
    assert_type(gpu.solve(x, gpu.matmul(x, x)), Pending[Float32])
    assert_type(gpu.solve(x, x, refine=True), Pending[RefinedSolution])
    assert_type(gpu.solve(x, x, refine=exact), Pending[Float32 | RefinedSolution])
    assert_type(gpu.inv(x), Pending[Float32])
    assert_type(gpu.qr(x), Pending[Factors])
    assert_type(gpu.lstsq(x, x), Pending[LeastSquares])
    assert_type(gpu.plu(x), Pending[PLU[Float32]])
    assert_type(gpu.rref(x).result().matrix, Float32)
    assert_type(gpu.rref(x), Pending[RREF[Float32]])
    assert_type(gpu.lu_factor(x), Pending[tuple[Float32, Exchanges]])
    assert_type(gpu.cho_factor(x), Pending[tuple[Float32, bool]])
    assert_type(gpu.det(x), Pending[Number])
    assert_type(gpu.slogdet(x), Pending[SlogdetResult[Float32]])
    assert_type(gpu.asarray(x), Pending[Float32])
    assert_type(gpu.submit(float, "1"), Pending[float])
    assert_type(gpu.submit(glla.inv, x).result(), Any)


def functions_of_futures(gpu: Coprocessor, x: NDArray[np.float64]) -> None:
    """Functions of glla hand over to a Pending."""
    assert_type(glla.matmul(gpu.inv(x), x), Pending[Any])
    assert_type(glla.matmul(x, gpu.inv(x)), Pending[Any])
    assert_type(glla.solve(gpu.inv(x), x), Pending[Any])
    assert_type(glla.lu_solve(gpu.lu_factor(x), x), Pending[Any])
    assert_type(glla.det(gpu.inv(x)), Pending[Any])
