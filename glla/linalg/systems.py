"""The public solvers: solve, lu_solve, inv, rcond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32, as_float32, finite_result
from glla.array.value import Resident, Shape, from_array
from glla.errors import NonFiniteError, OptionError, among
from glla.gl import DeviceLike
from glla.linalg import device_stacks
from glla.linalg.banded import solve_structured
from glla.linalg.batches import Index, Places, Results
from glla.linalg.caller import Caller
from glla.linalg.definite import OF_INVERSES, STRUCTURES, SYMMETRIC, TRIANGLES, assumed, by_half
from glla.linalg.operands import beside_factors, device_of, known_variant, operand, pair, square, turned
from glla.linalg.results import RefinedSolution
from glla.linalg.triangular import inverse_of_triangle, solve_triangular
from glla.operations import OPERATIONS
from glla.operations.acceptance import matrix_of_stack
from glla.operations.batches.stack import IN_REGISTERS
from glla.operations.elimination.plu import permutation_of, pivot_records
from glla.operations.routes import must_fit_a_texture
from glla.registry import public


@public(numpy="linalg.solve", namespace="solve")
def solve(
    a: Any,
    b: Any,
    refine: bool = False,
    equilibrate: bool = True,
    *,
    assume_a: str | None = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32 | RefinedSolution:
    """Solve A x = b with the semantics of `numpy.linalg.solve`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve([[3, 1], [1, 2]], [9, 8])
    array([2., 3.], dtype=float32)
    >>> A, B = glla.asarray([[4, 2], [0, 2]]), glla.asarray([[4, 6]])
    >>> glla.solve(A.T, B.T).T  # X A = B
    Array([[1., 2.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, regular.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. More columns than the device can hold
        are solved block by block, see `glla.linalg.tiling`; `a` must fit, with its factors.
    refine : bool
        Correct the solution to float64 by residuals on the CPU; `a` may leave float32's range.
    equilibrate : bool
        Scale rows and columns by powers of two before factoring, which rounds nothing.
    assume_a : {"gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded"}
        The structure of `a`, by SciPy's names, also the longer ones. "pos" takes Cholesky factors, half the work; of
        "pos", "sym" and "her" one half of `a` is read, of a triangle its own, then the band. None is "gen".
    lower : bool
        Of "pos", "sym" and "her" the lower half of `a` is read, otherwise the upper one.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32, or Array, or `RefinedSolution`
        With `refine` an array of float64 with ``iterations`` and ``backward_error``. Synchronises.

    Raises
    ------
    SingularMatrixError, NotPositiveDefiniteError
        A pivot is zero, or nothing but rounding error; with ``assume_a="pos"``, not above zero.
    ConvergenceError
        The matrix is too ill-conditioned for float32 factors.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `matmul`; the solution does not fit float32, or would be rounded to zero.
    """
    assume_a = assumed("solve", assume_a)
    if refine and assume_a in (*TRIANGLES, *STRUCTURES):
        raise OptionError(f"solve: refine must be False with assume_a={assume_a!r}; 'gen' refines such systems too")
    if assume_a in TRIANGLES:
        return solve_triangular(a, b, lower=assume_a == "lower triangular", device=device, check_finite=check_finite)
    if assume_a in STRUCTURES:
        return solve_structured(a, b, assume_a, device, check_finite)
    if refine:
        return _refined(a, b, assume_a, lower, equilibrate, device, check_finite)
    whole = assume_a not in SYMMETRIC
    matrix = operand("solve", "A", a, check_finite) if whole else by_half("solve", a, lower, check_finite)
    rhs = operand("solve", "b", b, check_finite)
    square("solve", "A", matrix)
    target, names = device_of("solve", device, matrix, rhs), ("A", "b")
    if assume_a == "pos":
        return Caller("solve_pos", "solve", target, check_finite, names)(matrix if lower else turned(matrix), rhs)
    options = {"equilibrate": bool(equilibrate)}
    return Caller("solve", "solve", target, check_finite, names, options=options)(matrix, rhs)


def _refined(
    a: Any, b: Any, assume_a: str, lower: bool, equilibrate: bool, device: DeviceLike | None, check_finite: bool
) -> RefinedSolution:
    target, options = device_of("solve", device, a, b), {"equilibrate": bool(equilibrate), "refine": True}
    if assume_a != "gen":
        a = by_half("solve", a, lower, check_finite, wide=True)
    if assume_a == "pos":
        return Caller("solve_pos", "solve", target, check_finite, ("A", "b"), options={"refine": True}).refined(a, b)

    def as_it_is(a: NDArray[np.float64], b: NDArray[np.float64]) -> Results:
        """A is not scaled before it is factored."""
        zeros = np.zeros((len(a), 1), dtype=np.int32)
        scaled = as_float32("solve", "A", a, check_finite)
        return {"scaled A": scaled, "row exponents": zeros, "column exponents": zeros.T}

    further = None if equilibrate else as_it_is
    call = Caller("solve", "solve", target, check_finite, ("A", "b"), options=options, further=further)
    return call.refined(a, b)


@public(numpy="linalg.inv", namespace="inv")
def inv(
    a: Any,
    *,
    assume_a: str | None = "gen",
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Inverse with the semantics of `numpy.linalg.inv`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.inv([[2, 0], [0, 4]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, regular.
    assume_a : {"gen", "sym", "her", "pos", "lower triangular", "upper triangular"}
        What `a` is, as in `solve`. The other half of a triangle is never read, and zero in the inverse. "pos" takes
        Cholesky factors, 3/8 of the work; the inverse is symmetric bit by bit.
    lower : bool
        Of "pos", "sym" and "her" the lower half of `a` is used, otherwise the upper one.
    variant : str, optional
        With "pos" a key of `glla.operations.definite.definite_inverse.VARIANTS`, with a triangle one of
        `glla.operations.triangles.triangular_inverse.VARIANTS`. Otherwise ``adjugate`` or ``adjugate_fused`` for
        matrices of order 3, with an error bound of its own, see `glla.operations.systems.inv3`; ``pivoted_small``, the
        usual way up to order 4; or ``gauss_jordan``, which exchanges rows only where a pivot is exactly zero.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `a`. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    NotPositiveDefiniteError
        ``assume_a="pos"``, and a pivot is not above zero: names the leading minor, and the matrix of a stack.
    ConvergenceError
        ``gauss_jordan``, and the residual is beyond the bound: names the column of the worst pivot.
    ShapeError, DTypeError, NonFiniteError, OptionError
        As elsewhere; unknown `assume_a` or `variant`, or one that is for other matrices.
    LimitError, OutOfMemoryError
        As `solve`.
    """
    assume_a = assumed("inv", assume_a, OF_INVERSES)
    whole = assume_a not in SYMMETRIC
    value = operand("inv", "A", a, check_finite) if whole else by_half("inv", a, lower, check_finite)
    square("inv", "A", value)

    def caller(operation: str, variant: str | None = None, **options: Any) -> Caller:
        known_variant("inv", OPERATIONS[operation], variant)
        return Caller(operation, "inv", device_of("inv", device, value), check_finite, ("A",), variant, options=options)

    if assume_a == "pos":
        return caller("inv_pos", variant, lower=True)(value if lower else turned(value))
    if assume_a in TRIANGLES:
        side = assume_a == "lower triangular"
        return inverse_of_triangle(caller("triangular_inverse", variant, lower=side, unit_diagonal=False), value)
    if variant in FORMULAS:
        return inverse_by_formula(caller("inv3", mode=variant), value)
    if variant == "gauss_jordan":
        call, n = caller("gauss_jordan"), value.shape[-1]
        if value.size:
            must_fit_a_texture("inv", (2 * n, 2 * n), call.device.limits)  # A and I are side by side
        return call(value)
    if variant not in (None, "pivoted_small"):
        known = among((*FORMULAS, "pivoted_small", "gauss_jordan"), variant)
        raise OptionError(f"inv: variant must be one of {known}; other ones are for assume_a='pos' and triangles")
    if variant is not None and value.shape[-1] > IN_REGISTERS:
        raise OptionError(
            f"inv: variant 'pivoted_small' is for matrices of order {IN_REGISTERS} at most, got shape "
            f"{value.shape}; leave it out"
        )
    return caller("inv")(value)


@public()
def rcond(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Float32 | Array:
    """Reciprocal condition number in the 1-norm, as LAPACK's `getrf` and `gecon` estimate it.

    Near 1 for a matrix whose systems lose no digits, below 6e-8 for one that float32 cannot tell from a singular one;
    1 / rcond is about ``numpy.linalg.cond(a, 1)``.

    Examples
    --------
    >>> import glla
    >>> glla.rcond([[1, 0], [0, 0.25]])
    np.float32(0.25)
    >>> glla.rcond([[1, 2], [2, 4]])
    np.float32(0.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack, an Array for a stack on a device
        0 for a pivot of zero, infinity for an empty matrix. Synchronises: reads diagnostics of each matrix.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    An estimate, never below the true value by more than rounding, seldom above three times it; below 1e-7 it tells no
    more than that. Cost: 2/3 n^3 + 8 n^2 flop: passes of `lu_factor`, and up to 11 times those of `lu_solve`. Matrices
    of a stack up to order 256 are inverted as a batch, 8/3 n^3 flop for each, in the passes of `inv`. What is on the
    device stays there, unless entries grow or are near float32's limits. Norms are summed in float32 there, on the host
    in float64: the two results differ by at most 2 n u of themselves, u = 2^-24. Sources: Hager 1984; Higham 1988;
    LAPACK gecon.
    """
    value = operand("rcond", "A", a, check_finite)
    square("rcond", "A", value)
    stack = value.shape[:-2]
    if value.size == 0:
        return device_stacks.diagnostics(np.full(stack, np.inf, dtype=np.float32), value)
    call = Caller("rcond", "rcond", device_of("rcond", device, value), check_finite, ("A",), results=("rcond",))
    found = np.asarray(call.named(value)["rcond"])
    return device_stacks.diagnostics(found.astype(np.float32).reshape(stack), value)


@public()
def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Array | Float32:
    """Solve A x = b from the factors of A, as `scipy.linalg.lu_solve`.

    Examples
    --------
    >>> import glla
    >>> glla.lu_solve(glla.lu_factor([[1, 2], [4, 4]]), [3, 8])
    array([1., 1.], dtype=float32)

    Parameters
    ----------
    lu_and_piv : (lu, piv)
        Of a square matrix or a stack of them, from `lu_factor` or from `scipy.linalg.lu_factor`.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast. Many columns stream through the device, as in `solve`.
    trans : {0, 1, 2}
        0: A x = b; 1 and 2: with the transpose of A.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        As `solve`; a 1-D `b` gives a 1-D array, beside an Array too. Synchronises.

    Raises
    ------
    ShapeError
        The factors are not square, or their order is not the length of `b`.
    SingularMatrixError
        U has a zero on its diagonal.
    DTypeError, NonFiniteError, OptionError
        As elsewhere; `trans` is none of 0, 1, 2; `piv` holds no valid row.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    Cost: 2 n^2 k flop. Passes: n / 4 for a stack of small systems (see `glla.operations.batches.stack`); otherwise for
    each system about n / 16 on a GPU, n^2 / 1024 with many right-hand sides there, n / 4 in software, see
    `glla.operations.triangles.triangular`. Where the diagonal of U, or right-hand sides, come near float32's limits,
    the substitution is done again in float64 on the CPU. Sources: Brodtkorb 2007, equation 4.34; LAPACK getrs.
    """
    lu, piv = pair("lu_solve", lu_and_piv, "(lu, piv) of lu_factor")
    factors = operand("lu_solve", "lu", lu, check_finite)
    rhs = operand("lu_solve", "b", b, check_finite)
    beside_factors("lu_solve", "lu", factors, rhs)
    n = factors.shape[-1]
    if trans not in (0, 1, 2):
        raise OptionError(f"lu_solve: trans must be 0 (A), 1 or 2 (its transpose), got {trans!r}")
    exchanges = np.asarray(piv)
    whole = exchanges.dtype.kind in "iu" or exchanges.size == 0
    if exchanges.shape != factors.shape[:-1] or not whole or ((exchanges < 0) | (exchanges >= n)).any():
        raise OptionError(f"lu_solve: piv must be {n} row numbers from 0 to {n - 1}, got {piv!r}")
    target, options = device_of("lu_solve", device, factors, rhs), {"transposed": trans != 0}
    names = ("lu", "b")
    call = Substitution("lu_solve", "lu_solve", target, check_finite, names, options=options, exchanges=exchanges)
    if 0 not in rhs.shape:
        call.refuse(factors, "diagonal", lambda lu: lu.diagonal(0, -2, -1))
    return call(factors, rhs)


@dataclass(frozen=True)
class Substitution(Caller):
    """A call with row exchanges beside the factors: LAPACK's, of each matrix."""

    exchanges: NDArray[np.integer] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def _values(self, operands: Sequence[Any], index: Index) -> Results:
        values = super()._values(operands, index)
        return {**values, "LU": values["lu"], "pivots": pivot_records(self.exchanges_of(index))}

    def exchanges_of(self, index: Index) -> NDArray[np.integer]:
        """Exchanges of one matrix of a batch to which they broadcast."""
        stack = self.exchanges.shape[:-1]
        own = tuple(0 if size == 1 else i for size, i in zip(stack, index[len(index) - len(stack) :], strict=False))
        return self.exchanges[own] if index else self.exchanges.reshape(-1)

    def _finite_operands(self) -> dict[str, str]:
        return {"LU": "lu", "B": "b"}

    def _once_more(
        self, places: Places, given: tuple[Float32, ...], count: int, batch: Shape
    ) -> list[tuple[Places, Results]]:
        """Rejected matrices are solved as a batch of the host, which is scaled first."""
        self._refuse(places, given, batch)
        own = np.broadcast_to(self.exchanges, (*batch, self.exchanges.shape[-1])).reshape(count, -1)[places]
        x = replace(self, exchanges=own)._host_batch(given, (len(places),))["X"]
        return [(np.arange(len(places)), {"X": x})]

    def _order(self, batch: Shape, count: int) -> NDArray[np.intp]:
        """Which row of B comes to which place, (matrices, n)."""
        n = self.exchanges.shape[-1]
        swaps = np.broadcast_to(self.exchanges, (*batch, n)) if batch else self.exchanges
        return permutation_of(swaps.reshape(count, n), n)

    def _host_pieces(self, matrices: tuple[Float32, ...], batch: Shape, most: int) -> Results | None:
        """Rows of B, or of the solutions with the transpose, are put in order on the host."""
        lu, b = matrices
        order = self._order(batch, len(lu))
        right = b if self.options.get("transposed") else np.take_along_axis(b, order[:, :, np.newaxis], axis=1)
        found = super()._host_pieces((lu, right), batch, most)
        if found is not None and self.options.get("transposed"):
            found["X"] = np.take_along_axis(found["X"], np.argsort(order)[:, :, np.newaxis], axis=1)
        return found

    def _device_pieces(self, matrices: tuple[Resident, ...], batch: Shape, most: int) -> Results | None:
        """The rows' numbers go to the device beside the operands."""
        order = self._order(batch, prod(batch))
        places = np.argsort(order) if self.options.get("transposed") else order
        numbers = from_array(places.astype(np.int32).reshape(*matrices[1].shape[:-1], 1), self.device)
        return super()._device_pieces((*matrices, numbers), batch, most)


# -- variants of `inv` that must be named ------------------------------------------------------------------------------


TINY = np.finfo(np.float32).tiny
"""Smallest normal float32, 2^-126: GPUs may flush smaller numbers to zero."""

FORMULAS = ("adjugate", "adjugate_fused")
"""Variants of `glla.operations.systems.inv3` that must be named in `inv`; the default is elimination."""


def inverse_by_formula(call: Caller, a: Array | Float32) -> Array | Float32:
    """Invert every 3 x 3 matrix of a stack by the adjugate formula.

    Raises SingularMatrixError: a determinant is no larger than its rounding error; names the matrix. Raises
    OptionError: the matrices are of another order. Raises NonFiniteError: an inverse does not fit float32.

    Its error bound is not that of `inv`: see `glla.operations.systems.inv3`.
    """
    if a.shape[-1] != 3:
        raise OptionError(
            f"inv: variant {call.options['mode']!r} is a formula for matrices of order 3, got shape {a.shape}; "
            "leave it out"
        )
    if a.size == 0:
        return a.copy()
    x: Array | Float32 = call.named(a, as_batch=True)["X"]
    largest = x.vector_norm(np.inf, (-2, -1)).numpy() if isinstance(x, Array) else np.abs(x).max(axis=(-2, -1))
    finite_result("inv", largest, call.check_finite)
    lost = np.argwhere(largest < TINY)
    if len(lost):
        which = matrix_of_stack(tuple(lost[0].tolist()))
        raise NonFiniteError(f"inv: the inverse must fit float32, got one below 2^-126{which}; scale the matrix")
    return x
