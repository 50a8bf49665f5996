"""Symmetric positive definite matrices: `cho_solve`, and what `solve` and `inv` do with ``assume_a="pos"``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import shaping
from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result, refuse_nonfinite
from glla.array.value import Resident
from glla.errors import OptionError, ShapeError
from glla.gl import Device, DeviceLike
from glla.linalg import resident, stacks_definite
from glla.linalg.operands import (
    as_float64,
    beside_factors,
    device_of,
    fitting,
    known_variant,
    matching,
    on_host,
    operand,
    pair,
    refuse_nonfinite_largest,
    square,
    stored,
)
from glla.linalg.results import RefinedSolution
from glla.linalg.routes import in_stacks, stacked
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations.elimination import definite as kernel
from glla.operations.elimination import definite_inverse as inverse
from glla.operations.routes import must_fit_a_texture
from glla.operations.trust import member_of_stack
from glla.passes import forms_of
from glla.registry import public

Index = tuple[int, ...]
"""Place in a stack."""

One = Callable[[Any, Any, Index], Any]
"""(A, B, place in the stack) -> X, of one system, where it was found."""


TRIANGLES = ("lower triangular", "upper triangular")
"""Triangles by SciPy's names; the other half of such a matrix is never read."""

STRUCTURES = ("diagonal", "tridiagonal", "banded")
"""Structures of which only the diagonals inside the band are read."""

SYMMETRIC = ("sym", "her")
"""Real symmetric matrices, of which one half is read; they take PLU factors."""

ASSUMED = ("gen", *SYMMETRIC, "pos", *TRIANGLES, *STRUCTURES)
"""What `solve` may be asked to assume of A, by SciPy's names; the first three take PLU factors."""

LONG = {"general": "gen", "symmetric": "sym", "hermitian": "her", "positive definite": "pos"}
"""SciPy's longer names of some of them."""

OF_INVERSES = tuple(name for name in ASSUMED if name not in STRUCTURES)
"""What `inv` may be asked to assume: the inverse of a band is full."""


def assumed(function: str, assume_a: Any, of: tuple[str, ...] = ASSUMED) -> str:
    """Give the short name of what is assumed of A; None, with which SciPy looks for itself, is "gen", which serves all.

    Raises
    ------
    OptionError
        It can't be assumed.
    """
    if assume_a is None:
        return "gen"
    if isinstance(assume_a, str):
        short = LONG.get(assume_a, assume_a)
        if short in of:
            return short
    known = ", ".join(of)
    if isinstance(assume_a, str) and LONG.get(assume_a, assume_a) in ASSUMED:
        raise OptionError(
            f"{function}: assume_a must be one of {known}, got {assume_a!r}, which `solve` alone takes; 'gen' inverts "
            "such matrices as well"
        )
    raise OptionError(f"{function}: assume_a must be one of {known}, got {assume_a!r}")


def by_half(function: str, a: Any, lower: bool, check_finite: bool, wide: bool = False) -> Any:
    """Take a symmetric matrix by one half alone, in float64 if `wide`: the other half is its mirror image."""
    matrix = as_float64(function, "A", a, check_finite) if wide else operand(function, "A", a, check_finite)
    square(function, "A", matrix)
    return mirrored(matrix, lower)


def mirrored(a: Any, lower: bool) -> Any:
    """Put the mirror image of one half of a matrix, or of each of a stack, into the other half."""
    beyond = -1 if lower else 1
    if isinstance(a, Matrix):
        half, rest = (Matrix._of(shaping.triangle(a.value, not lower, offset)) for offset in (0, beyond))
        return half + rest.mT
    keep = np.tril if lower else np.triu
    return keep(a) + np.swapaxes(keep(a, beyond), -1, -2)


@public()
def cho_solve(
    c_and_lower: tuple[Any, bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Matrix | Array:
    """Solve A x = b from the Cholesky factor of A, as `scipy.linalg.cho_solve`.

    Parameters
    ----------
    c_and_lower : (c, lower)
        Of a matrix or a stack of them, shape (..., n, n), from `cho_factor` or from `scipy.linalg.cho_factor`: the
        lower or the upper factor. The other triangle of `c` is not used.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        As `solve`; a 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

    Raises
    ------
    SingularMatrixError
        The factor has a zero on its diagonal.
    ShapeError
        The factor is not square, or its order is not the length of `b`; or the first argument is no pair.
    DTypeError, NonFiniteError
        As elsewhere; both triangles of `c` are looked at.
    LimitError, OutOfMemoryError
        `c` is larger than a texture, or the operands do not fit the device's memory.

    Notes
    -----
    Error: norm(b - A x) / ((norm(abs(L) abs(L^T)) norm(x) + norm(b)) n u) stays below 30, u = 2^-24. Cost: 2 n^2 k
    flop; passes as `lu_solve`; small matrices of a stack go together, by n / 4 + 3 passes. Source: LAPACK
    potrs.

    Examples
    --------
    >>> import glla
    >>> glla.cho_solve(glla.cho_factor([[4, 2], [2, 5]]), [8, 12])
    array([1., 2.], dtype=float32)
    """
    c, lower = pair("cho_solve", c_and_lower, "(c, lower) of cho_factor")
    factor = operand("cho_solve", "c", c, check_finite)
    rhs = operand("cho_solve", "b", b, check_finite)
    beside_factors("cho_solve", "c", factor, rhs)
    target = device_of("cho_solve", device, factor, rhs)

    def one(c: Any, b: Any, index: Index) -> Any:
        forms = forms_of((c, b))
        plan = kernel.whole_solution(forms, target.limits, lower=bool(lower))
        perform = on_device(target, plan, "cho_solve", {"B": "b"} if check_finite else None)
        values = {"C": stored(c), "B": stored(b), "member": member_of_stack(index)}
        found = walk(OPERATIONS["cho_solve"], forms, perform, values)
        if check_finite:
            refuse_nonfinite_largest("cho_solve", "c", found["diagonal"])
        return fitting("cho_solve", found, "X", check_finite)

    return _each("cho_solve", "cho_solve", factor, rhs, one, target, check_finite, bool(lower))


def solve_pos(
    a: Any, b: Any, refine: bool, device: DeviceLike | None, check_finite: bool, lower: bool = False
) -> Matrix | Array | RefinedSolution:
    """Solve A x = b by Cholesky, of which the upper half of A is read, or the lower one, as SciPy's `solve` does."""
    if refine:
        return _refined(a, b, device, check_finite, lower)
    matrix = operand("solve", "A", a, check_finite)
    rhs = operand("solve", "b", b, check_finite)
    square("solve", "A", matrix)
    target = device_of("solve", device, matrix, rhs)

    def one(a: Any, b: Any, index: Index) -> Any:
        half = a if lower else a.T
        forms = forms_of((half, b))
        names = {"A": "A", "B": "b"} if check_finite else None
        perform = on_device(target, kernel.whole(forms, target.limits), "solve", names)
        values = {"A": stored(half), "B": stored(b), "function": "solve", "member": member_of_stack(index)}
        return walk(OPERATIONS["solve_pos"], forms, perform, values)["X"]

    return _each("solve_pos", "solve", matrix, rhs, one, target, check_finite, bool(lower))


def _each(
    name: str,
    function: str,
    a: Array | Matrix,
    b: Array | Matrix,
    one: One,
    device: Device,
    check_finite: bool,
    lower: bool,
) -> Matrix | Array:
    """Solve every system of a stack; where an operand is on the device the solutions stay there.

    Small ones go together, by the plan of the operation of this `name`, with the lower half of A; others one by one.
    """
    if isinstance(a, Matrix) or isinstance(b, Matrix):
        return _beside_an_array(name, function, a, b, one, device, check_finite, lower)
    if a.shape[-1]:
        must_fit_a_texture(function, a.shape[-2:], device.limits)

    def every(lefts: Array, rights: Array, stack: Index) -> Array:
        if stack:
            halves = lefts if lower else np.swapaxes(lefts, -1, -2)
            found: Array | None = stacks_definite.of_arrays(name, function, (halves, rights), "X", device, stack)
            if found is not None:
                return found
        systems = zip(np.ndindex(stack), lefts, rights, strict=True)
        return stacked(_in_blocks(one, a, b, index, device) for index, a, b in systems)

    return finite_result(function, in_stacks(function, a, b, every, np.dtype(np.float32)), check_finite)


def _in_blocks(one: One, a: Array, b: Array, index: Index, device: Device) -> Array:
    """Solve for as many right-hand sides at a time as a texture holds."""
    most = 2 * device.limits.texture_size
    if b.shape[1] <= most:
        return on_host(one(a, b, index))
    starts = range(0, b.shape[1], most)
    return np.hstack([on_host(one(a, np.ascontiguousarray(b[:, left : left + most]), index)) for left in starts])


def _beside_an_array(
    name: str,
    function: str,
    a: Array | Matrix,
    b: Array | Matrix,
    one: One,
    device: Device,
    check_finite: bool,
    lower: bool,
) -> Matrix:
    if b.ndim == 0:
        raise ShapeError(f"{function}: b must have at least one dimension, got a scalar")
    matching(function, a, b)

    def each(a: Any, b: Any, index: Index = ()) -> Matrix:
        return resident.kept(function, one(a, b, index), device, check_finite)

    def every(operands: tuple[Resident, Resident], stack: Index) -> Resident:
        left, right = operands
        halves = left if lower else resident.flipped(left), right
        together = stacks_definite.on_device(name, function, halves, "X", device, stack, check_finite)
        if together is not None:
            return together
        return resident.one_by_one(operands, lambda i, a, b: each(a, b, stacks_definite.place(i, stack)))

    return resident.solutions(function, a, b, device, each, every)


def inverse_of_definite(
    a: Any, lower: bool, variant: str | None, device: DeviceLike | None, check_finite: bool
) -> Matrix | Array:
    """Invert by Cholesky, for `inv`: of A the upper half is read, or the lower one."""
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    known_variant("inv", OPERATIONS["inv_pos"], variant)
    if value.size == 0:
        return value.copy()
    target = device_of("inv", device, value)
    stack, n = value.shape[:-2], value.shape[-1]

    def one(a: Array | Matrix, place: Index) -> Array | Matrix:
        forms = forms_of((a,))
        plan = inverse.whole(forms, target.limits, lower=lower, variant=variant)
        perform = on_device(target, plan, "inv", {"A": "A"} if check_finite else None)
        values = {"A": stored(a if lower else a.T), "function": "inv", "member": member_of_stack(place)}
        found: Array | Matrix = walk(OPERATIONS["inv_pos"], forms, perform, values)["X"]
        return found

    def there(a: Matrix, place: Index = ()) -> Matrix:
        x = one(a, place)
        return x if isinstance(x, Matrix) else upload(finite_result("inv", x, check_finite), target)

    if isinstance(value, Matrix):
        if not stack:
            return there(value)
        if variant is None:
            halves = (resident.spread(value if lower else value.mT, stack),)
            found = stacks_definite.on_device("inv_pos", "inv", halves, "X", target, stack, check_finite)
            if found is not None:
                return resident.shaped(found, value.shape)
        members = (resident.spread(value, stack),)
        made = resident.one_by_one(members, lambda i, a: there(a, tuple(int(k) for k in np.unravel_index(i, stack))))
        return resident.shaped(made, value.shape)
    must_fit_a_texture("inv", value.shape[-2:], target.limits)
    flat, result = value.reshape(-1, n, n), None
    if stack and variant is None:
        lowers = (flat if lower else np.swapaxes(flat, -1, -2),)
        result = stacks_definite.of_arrays("inv_pos", "inv", lowers, "X", target, stack)
    if result is None:
        result = stacked(on_host(one(a, place)) for place, a in zip(np.ndindex(stack), flat, strict=True))
    return finite_result("inv", np.ascontiguousarray(result).reshape(value.shape), check_finite)


def _refined(a: Any, b: Any, device: DeviceLike | None, check_finite: bool, lower: bool) -> RefinedSolution:
    matrix, rhs = as_float64("solve", "A", a, check_finite), as_float64("solve", "b", b, check_finite)
    square("solve", "A", matrix)
    for name, given, array in (("A", a, matrix), ("b", b, rhs)):
        if isinstance(given, Matrix) and check_finite:
            refuse_nonfinite("solve", name, array)
    matrix = mirrored(matrix, lower)
    target = device_of("solve", device, a, b)
    if matrix.size:
        must_fit_a_texture("solve", matrix.shape[-2:], target.limits)
    outcomes: list[dict[str, Any]] = []

    def one(left: NDArray[np.float64], right: NDArray[np.float64], index: Index) -> NDArray[np.float64]:
        forms = forms_of((left, right))
        values = {
            "A": left,
            "B": right,
            "function": "solve",
            "member": member_of_stack(index),
            "refine": True,
        }
        perform = on_device(target, kernel.whole(forms, target.limits, refine=True))
        outcomes.append(walk(OPERATIONS["solve_pos"], forms, perform, values))
        x: NDArray[np.float64] = outcomes[-1]["X"]
        return x

    def every(lefts: NDArray[np.float64], rights: NDArray[np.float64], stack: Index) -> NDArray[np.float64]:
        return np.stack([one(*system) for system in zip(lefts, rights, np.ndindex(stack), strict=True)])

    result: RefinedSolution
    result = in_stacks("solve", matrix, rhs, every, np.dtype(np.float64)).view(RefinedSolution)
    result.iterations = max((outcome["iterations"] for outcome in outcomes), default=0)
    result.backward_error = max((outcome["backward_error"] for outcome in outcomes), default=0.0)
    return result
