"""The public solvers: solve, lu_solve, inv, rcond."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix, upload
from glla.array.convert import Array, all_finite, as_float32, finite_result
from glla.errors import OptionError, OutOfMemoryError, ShapeError, SingularMatrixError
from glla.gl import Device
from glla.gl.observe import host_step
from glla.linalg import condition, remedies, tiling
from glla.linalg.factors import Factors, factorise, from_pivots, member_of_stack
from glla.linalg.members import solutions_need_care
from glla.linalg.operands import (
    as_float64,
    column,
    device_of,
    matching,
    operand,
    refuse_nonfinite_largest,
    square,
    stored,
    two_dimensional,
)
from glla.linalg.refine import RefinedSolution
from glla.linalg.routes import batched, in_stacks, must_fit_a_texture, out_of_memory, stacked, streams
from glla.operations import OPERATIONS, care
from glla.operations import factors as plans
from glla.operations import lu_solve as substitution
from glla.operations.elimination.plu import permutation_of
from glla.operations.scaling import scaling
from glla.operations.solve import whole
from glla.passes import forms_of
from glla.registry import public

CAREFUL = 256
"""Right-hand sides that are solved with care at a time, where they go in blocks."""

Index = tuple[int, ...]
"""Place in a stack."""


@public(numpy="linalg.solve", namespace="solve")
def solve(
    a: Any,
    b: Any,
    refine: bool = False,
    equilibrate: bool = True,
    *,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Solve A x = b with the semantics of `numpy.linalg.solve`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, regular.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. If one `a` has more columns of `b`
        than a texture or the device's memory can hold, they stream through the device block by block, see
        `glla.linalg.tiling`; `a` must fit, with its factors.
    refine : bool
        Correct the solution to float64 grade, with residuals in float64 on the CPU and corrections from the same
        factors on the GPU. Equilibration is done in float64 too: `a` may leave float32's range.
    equilibrate : bool
        Scale rows and columns by powers of two before factoring, which rounds nothing.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32, or of float64 with `refine`, or Matrix
        With `refine` a `RefinedSolution`: an array that has the attributes ``iterations`` and ``backward_error``.
        A 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    ConvergenceError
        `refine`: the matrix is too ill-conditioned for float32 factors. Or entries grow so much that neither refinement
        nor complete pivoting helps.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere; the solution is too large for float32, or so small that it would be rounded to zero.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory with its factors.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30, u = 2^-24; with `refine` the componentwise
    backward error in float64 is below 1e-14. Where entries grow, or come near float32's limits, the system is solved
    again with care, see `glla.linalg.remedies`. Cost: 2/3 n^3 + 2 n^2 k flop. Passes: up to order 256 about 5/8 n for
    one system and 9/8 n for a whole stack, see `glla.linalg.stacks`; else about 1.5 n for the factors (more where they
    are made in blocks), and those of `lu_solve`.
    Sources: Brodtkorb 2007, section 4.1.3; LAPACK gesvx (equilibration); Higham 2002, chapter 12 (refinement).

    Examples
    --------
    >>> import glla
    >>> glla.solve([[3, 1], [1, 2]], [9, 8])
    array([2., 3.], dtype=float32)
    """
    if refine:
        return _refined(a, b, equilibrate, device, check_finite)
    matrix = operand("solve", "A", a, check_finite)
    rhs = operand("solve", "b", b, check_finite)
    square("solve", "A", matrix)
    if isinstance(matrix, Matrix) or isinstance(rhs, Matrix):
        two_dimensional("solve", "A", matrix)
        two_dimensional("solve", "b", column(rhs))
        matching("solve", matrix, rhs)
        target = device_of("solve", device, matrix, rhs)
        x = _solve("solve", matrix, column(rhs), equilibrate, target, check_finite)
        if rhs.ndim == 2:
            return x if isinstance(x, Matrix) else upload(x, target)
        return finite_result("solve", (x.numpy() if isinstance(x, Matrix) else x)[:, 0], check_finite)

    def every(lefts: Array, rights: Array, stack: Index) -> Array:
        target = device_of("solve", device)
        together = _together("solve", lefts, rights, equilibrate, target, stack)
        if together is not None:
            return together
        systems = zip(np.ndindex(stack), lefts, rights, strict=True)
        return stacked(_solve_arrays("solve", a, b, equilibrate, target, i) for i, a, b in systems)

    result = in_stacks("solve", matrix, rhs, every, np.dtype(np.float32))
    return finite_result("solve", result, check_finite)


def _together(
    function: str, a: Array, b: Array | None, equilibrate: bool, device: Device, stack: Index
) -> Array | None:
    """Solve a stack of small systems by one plan; None if they go one by one. Without `b` it is the identity."""
    n = a.shape[1]
    columns = n if b is None else b.shape[2]
    operation, operands = OPERATIONS["inv" if b is None else "solve"], (a,) if b is None else (a, b)
    records = batched(device, operation, operands, n * (columns + 3), equilibrate=equilibrate)
    if records is None:
        return None
    x = records[:, : n * columns].reshape(-1, n, columns)
    u, largest, squares = np.moveaxis(records[:, n * columns :].reshape(-1, 3, n), 1, 0)
    for index in np.flatnonzero(solutions_need_care(a, b, equilibrate, u, largest, squares)):
        right = np.eye(n, dtype=np.float32) if b is None else b[index]
        if np.isfinite(a[index]).all() and np.isfinite(right).all():
            place = tuple(int(i) for i in np.unravel_index(index, stack))
            x[index] = _with_care(function, a[index], right, equilibrate, device, place)
    return x


def _solve(
    function: str,
    a: Matrix | Array,
    b: Matrix | Array | None,
    equilibrate: bool,
    device: Device,
    check_finite: bool,
    index: Index = (),
) -> Matrix | Array:
    """Solve one system that fits the device; the solution is where it was found. Without `b` it is the identity."""
    if b is not None and 0 in b.shape:
        return b.copy()
    inverse = b is None
    given = (a,) if b is None else (a, b)
    plan = whole(forms_of(given), device.limits, equilibrate=equilibrate, inverse=inverse)
    results = device.run(plan, **dict(zip(plan.operands, map(stored, given), strict=True)))
    if check_finite:
        for name in "AB":
            if f"largest_{name}" in results:
                refuse_nonfinite_largest(function, name.lower() if name == "B" else name, results[f"largest_{name}"])
    order = a.shape[0]
    factors = Factors.of(device, (order, order), results)
    x = results["X"]
    if isinstance(x, np.ndarray):
        found: Matrix | Array = x
    else:
        found = Matrix(device, x, (order, order if b is None else b.shape[1]))

    def scale() -> float:
        return float(results["largest_A"].flat[0]) if isinstance(a, Matrix) else float(np.max(np.abs(a)))

    if remedies.trusted(factors, scale) and (b is None or _near_one(b, results)):
        factors.check_regular(function, member_of_stack(index))
        return found
    if not all(_finite(name, one, results) for name, one in zip("AB", given, strict=False)):
        return found  # let through on purpose
    left = a.numpy() if isinstance(a, Matrix) else a
    right = np.eye(order, dtype=np.float32) if b is None else b.numpy() if isinstance(b, Matrix) else b
    return _with_care(function, left, right, equilibrate, device, index)


def _finite(name: str, operand: Matrix | Array, results: dict[str, Any]) -> bool:
    """Tell whether an operand is finite; of a Matrix the plan has read back the largest entry."""
    return all_finite(results[f"largest_{name}"] if isinstance(operand, Matrix) else operand)


def _near_one(b: Matrix | Array, results: dict[str, Any]) -> bool:
    """Tell whether right-hand sides need no scaling on the host."""
    if isinstance(b, Matrix):
        return remedies.size_near_one(float(results["largest_B"].flat[0]))
    return remedies.largest_near_one(b)


def _with_care(function: str, a: Array, b: Array, equilibrate: bool, device: Device, index: Index = ()) -> Array:
    return remedies.solve(remedies.on_device(device), function, a, b, equilibrate, member_of_stack(index))


def _solve_arrays(
    function: str, a: Array, b: Array | None, equilibrate: bool, device: Device, index: Index = ()
) -> Array:
    """Solve for all columns of `b`, or for the identity's; block by block where they are too many to go at once."""
    order = len(a)
    columns = order if b is None else b.shape[1]
    must_fit_a_texture(function, a, device)
    if not streams(device, columns):
        x = _solve(function, a, b, equilibrate, device, False, index)
        return x.numpy() if isinstance(x, Matrix) else x
    try:
        factors = factorise(upload(a, device), equilibrate_first=equilibrate)
    except OutOfMemoryError as error:
        raise out_of_memory(function, a, error) from None
    x = np.empty((order, columns), dtype=np.float32)
    blocks = tiling.columns_of_identity(order) if b is None else tiling.columns_of(b)
    if remedies.trusted(factors, lambda: float(np.max(np.abs(a)))) and (b is None or remedies.largest_near_one(b)):
        factors.check_regular(function, member_of_stack(index))
        tiling.solve(factors, blocks, x)
    else:
        for left in range(0, columns, CAREFUL):
            place = slice(left, min(left + CAREFUL, columns))
            x[:, place] = _with_care(function, a, blocks(place), equilibrate, device, index)
    return x


def _refined(a: Any, b: Any, equilibrate: bool, device: Device | None, check_finite: bool) -> RefinedSolution:
    matrix, rhs = as_float64("solve", "A", a, check_finite), as_float64("solve", "b", b, check_finite)
    square("solve", "A", matrix)
    target = device_of("solve", device, a, b)
    outcomes: list[RefinedSolution] = []

    def one(left: NDArray[np.float64], right: NDArray[np.float64], index: tuple[int, ...] = ()) -> NDArray[np.float64]:
        none = np.zeros((len(left), 1), dtype=np.int32), np.zeros((1, len(left)), dtype=np.int32)
        rows, columns = _scaling(left) if equilibrate else none
        scaled = as_float32("solve", "A", np.ldexp(left, -rows - columns), check_finite)
        where, member = remedies.on_device(target), member_of_stack(index)
        outcomes.append(remedies.refine(where, "solve", left, right, scaled, (rows, columns), member))
        return outcomes[-1]

    def every(lefts: NDArray[np.float64], rights: NDArray[np.float64], stack: tuple[int, ...]) -> NDArray[np.float64]:
        return np.stack([one(*system) for system in zip(lefts, rights, np.ndindex(stack), strict=True)])

    result: RefinedSolution
    result = in_stacks("solve", matrix, rhs, every, np.dtype(np.float64)).view(RefinedSolution)
    result.iterations = max((outcome.iterations for outcome in outcomes), default=0)
    result.backward_error = max((outcome.backward_error for outcome in outcomes), default=0.0)
    return result


_scaling = host_step(care.SCALE)(scaling)


@public(numpy="linalg.inv", namespace="inv")
def inv(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Inverse with the semantics of `numpy.linalg.inv`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, regular.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        Of the shape of `a`. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    Solves A X = I, equilibrated, block by block of I where the whole does not fit. Error: norm(A X - I) / (n norm(A)
    norm(X) u) stays below 30. Cost: as `solve` with n right-hand sides, 8/3 n^3 flop.

    Examples
    --------
    >>> import glla
    >>> glla.inv([[2, 0], [0, 4]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    target = device_of("inv", device, value)
    if isinstance(value, Matrix):
        if 0 in value.shape:
            return value.copy()
        inverse = _solve("inv", value, None, True, target, check_finite)
        return inverse if isinstance(inverse, Matrix) else upload(inverse, target)
    if value.size == 0:
        return np.empty(value.shape, dtype=np.float32)
    stack, n = value.shape[:-2], value.shape[-1]
    flat = value.reshape(-1, n, n)
    inverses = _together("inv", flat, None, True, target, stack)
    if inverses is None:
        each = zip(np.ndindex(stack), flat, strict=True)
        inverses = stacked(_solve_arrays("inv", matrix, None, True, target, index) for index, matrix in each)
    return finite_result("inv", inverses.reshape(value.shape), check_finite)


@public()
def rcond(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Reciprocal condition number in the 1-norm, as LAPACK's `getrf` and `gecon` estimate it.

    Near 1 for a matrix whose systems lose no digits, below 6e-8 for one that float32 cannot tell from a singular one;
    1 / rcond is about ``numpy.linalg.cond(a, 1)``.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack
        0 for a pivot of zero, infinity for an empty matrix. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    An estimate, never below the true value by more than rounding, seldom above three times it; below 1e-7 it tells no
    more than that. Cost: 2/3 n^3 + 8 n^2 flop for each matrix, one by one: passes of `lu_factor`, and up to 11 times
    those of `lu_solve`. Sources: Hager 1984; Higham 1988; LAPACK gecon.

    Examples
    --------
    >>> import glla
    >>> glla.rcond([[1, 0], [0, 0.25]])
    np.float32(0.25)
    >>> glla.rcond([[1, 2], [2, 4]])
    np.float32(0.0)
    """
    value = operand("rcond", "A", a, check_finite)
    square("rcond", "A", value)
    stack, n = value.shape[:-2], value.shape[-1]
    if value.size == 0:
        return np.full(stack, np.inf, dtype=np.float32)[()]
    target = device_of("rcond", device, value)
    array = value.numpy() if isinstance(value, Matrix) else value
    if isinstance(value, Matrix) and check_finite:
        refuse_nonfinite_largest("rcond", "A", array)
    if array.shape[-1]:
        must_fit_a_texture("rcond", array.reshape(-1, n, n)[0], target)
    where = remedies.on_device(target)
    results = [condition.reciprocal(where, one) if all_finite(one) else np.nan for one in array.reshape(-1, n, n)]
    return np.array(results, dtype=np.float32).reshape(stack)[()]


@public()
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    *,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Solve A x = b from the factors of A, as `scipy.linalg.lu_solve`.

    Parameters
    ----------
    lu_and_piv : (lu, piv)
        Of a square matrix or a stack of them, from `lu_factor` or from `scipy.linalg.lu_factor`.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast. Many columns stream through the device, as in `solve`.
    trans : {0, 1, 2}
        0: A x = b; 1 and 2: with the transpose of A.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        As `solve`; a 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

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
    Cost: 2 n^2 k flop. Passes: n / 4 for a whole stack of small systems (see `glla.linalg.stacks`); otherwise for each
    system about n / 16 on a GPU, n^2 / 1024 with many right-hand sides there, n / 4 in software, see
    `glla.operations.triangular`. Sources: Brodtkorb 2007, equation 4.34; LAPACK getrs.

    Examples
    --------
    >>> import glla
    >>> glla.lu_solve(glla.lu_factor([[1, 2], [4, 4]]), [3, 8])
    array([1., 1.], dtype=float32)
    """
    try:
        lu, piv = lu_and_piv
    except (TypeError, ValueError):
        raise ShapeError("lu_solve: the first argument must be the pair (lu, piv) of lu_factor") from None
    factors = operand("lu_solve", "lu", lu, check_finite)
    rhs = operand("lu_solve", "b", b, check_finite)
    square("lu_solve", "lu", factors)
    n = factors.shape[-1]
    if rhs.ndim == 0 or column(rhs).shape[-2] != n:
        raise ShapeError(f"lu_solve: b must have shape ({n},) or (..., {n}, k) for lu {factors.shape}, got {rhs.shape}")
    if trans not in (0, 1, 2):
        raise OptionError(f"lu_solve: trans must be 0 (A), 1 or 2 (its transpose), got {trans!r}")
    exchanges = np.asarray(piv)
    whole = exchanges.dtype.kind in "iu" or exchanges.size == 0
    if exchanges.shape != factors.shape[:-1] or not whole or ((exchanges < 0) | (exchanges >= n)).any():
        raise OptionError(f"lu_solve: piv must be {n} row numbers from 0 to {n - 1}, got {piv!r}")
    if isinstance(factors, Matrix) or isinstance(rhs, Matrix):
        two_dimensional("lu_solve", "lu", factors)
        two_dimensional("lu_solve", "b", column(rhs))
        if rhs.size == 0:
            return rhs if isinstance(rhs, Matrix) else rhs.copy()
        target = device_of("lu_solve", device, factors, rhs)
        x = _lu_solve(factors, exchanges, column(rhs), trans, target, check_finite)
        if rhs.ndim == 2:
            return x if isinstance(x, Matrix) else upload(x, target)
        return finite_result("lu_solve", (x.numpy() if isinstance(x, Matrix) else x)[:, 0], check_finite)

    def every(lefts: Array, rights: Array, stack: tuple[int, ...], swaps: NDArray[np.integer]) -> Array:
        target = device_of("lu_solve", device)
        _refuse_zeros(np.diagonal(lefts, axis1=1, axis2=2).reshape(*stack, n))
        if not (remedies.largest_near_one(np.triu(lefts)) and remedies.largest_near_one(rights)):
            return remedies.within_range(
                lefts, rights, lambda lu, b: each(lu, b, swaps, target) if 0 not in b.shape else b
            )
        return each(lefts, rights, swaps, target)

    def each(lefts: Array, rights: Array, swaps: NDArray[np.integer], target: Device) -> Array:
        together = _substituted(target, lefts, rights, permutation_of(swaps, n), trans)
        if together is not None:
            return together
        return stacked(_lu_solve_arrays(*system, trans, target) for system in zip(lefts, swaps, rights, strict=True))

    result = in_stacks("lu_solve", factors, rhs, every, np.dtype(np.float32), exchanges)
    return finite_result("lu_solve", result, check_finite)


def _substituted(device: Device, lu: Array, b: Array, order: NDArray[np.intp], trans: int) -> Array | None:
    """Solve with a stack of small factors; None if they go one by one. Rows are put in order on the host."""
    right = b if trans else np.take_along_axis(b, order[:, :, np.newaxis], axis=1)
    length = b.shape[1] * b.shape[2]
    records = batched(device, OPERATIONS["lu_solve"], (lu, right), length, transposed=trans != 0)
    if records is None:
        return None
    x = records.reshape(b.shape)
    return np.take_along_axis(x, np.argsort(order)[:, :, np.newaxis], axis=1) if trans else x


def _lu_solve_arrays(lu: Array, piv: NDArray[np.integer], b: Array, trans: int, device: Device) -> Array:
    """Solve for all columns of `b`, block by block where they are too many to go at once."""
    must_fit_a_texture("lu_solve", lu, device)
    if not streams(device, b.shape[1]):
        whole_: Any = _lu_solve(lu, piv, b, trans, device, False)
        return whole_.numpy() if isinstance(whole_, Matrix) else whole_
    try:
        factors = from_pivots(upload(lu, device), piv)
    except OutOfMemoryError as error:
        raise out_of_memory("lu_solve", lu, error) from None
    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(factors, tiling.columns_of(b), x, transposed=trans != 0)
    return x


def _lu_solve(
    lu: Matrix | Array,
    piv: NDArray[np.integer],
    b: Matrix | Array,
    trans: int,
    device: Device,
    check_finite: bool,
) -> Matrix | Array:
    plan = substitution.whole(forms_of((lu, b)), device.limits, transposed=trans != 0)
    given = {"LU": stored(lu), "B": stored(b), "pivots": plans.pivot_records(piv)}
    results = device.run(plan, **given)
    if check_finite:
        for name, operand_ in (("LU", "lu"), ("B", "b")):
            if f"largest_{name}" in results:
                refuse_nonfinite_largest("lu_solve", operand_, results[f"largest_{name}"])
    _refuse_zeros(results["diagonal"].reshape(-1, 4)[:, :2].reshape(-1)[: lu.shape[0]])
    x = results["X"]
    return x if isinstance(x, np.ndarray) else Matrix(device, x, (b.shape[0], b.shape[1]))


def _refuse_zeros(diagonal: Array) -> None:
    """Raise if U has a zero on its diagonal, in any matrix of a stack."""
    if (diagonal != 0).all():
        return
    *member, place = (int(i) for i in np.argwhere(diagonal == 0)[0])
    raise SingularMatrixError(
        f"lu_solve: Singular matrix{member_of_stack(tuple(member))}: U is zero at place {place} of its diagonal; "
        "the system has no unique solution"
    )
