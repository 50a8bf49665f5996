"""The public solver of triangular systems, and the inverse of a triangle for `inv`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glla.array.array import Matrix, identity, upload
from glla.array.convert import Array, finite_result, is_one_of
from glla.array.value import Resident
from glla.errors import GllaError, OptionError, ShapeError
from glla.gl import Device, DeviceLike, Texture
from glla.linalg import resident, stacks_triangular, tiling
from glla.linalg.operands import device_of, known_variant, matching, operand, square, stored
from glla.linalg.routes import batched, explained, in_stacks, place, stacked, streams
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations import solve_triangular as kernel
from glla.operations import triangular_inverse as inverse
from glla.operations.routes import must_fit_a_texture
from glla.operations.trust import member_of_stack
from glla.operations.verdict import Go
from glla.passes import Plan, forms_of
from glla.passes import resident as on_the_device
from glla.registry import public

TRANSPOSED = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}
"""Values of `trans`, and whether the system is that of the transpose."""

Index = tuple[int, ...]
"""Place in a stack."""


@public()
def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix | Array:
    """Solve a x = b for a triangular matrix, as `scipy.linalg.solve_triangular`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers. Only the upper triangle is read, with `lower` only the lower one.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. Many columns stream through the device,
        as in `solve`.
    trans : {0, 1, 2, "N", "T", "C"}
        0 and "N": a x = b; the others: with the transpose of the triangle.
    lower : bool
        Take the lower triangle of `a`.
    unit_diagonal : bool
        Take ones for the diagonal, which is not read then.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: `b` is never written to.
    check_finite : bool
        Refuse NaN and infinity, wherever they are. Without it the other triangle may hold anything.
    variant : str, optional
        A key of `glla.operations.triangular.VARIANTS`: then members of a stack go one by one.
    device
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        Of the shape of `b`, or of all the stack; a 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

    Raises
    ------
    SingularMatrixError
        The diagonal has a zero; names its place, as LAPACK's trtrs.
    ShapeError, DTypeError, NonFiniteError, OptionError
        As elsewhere; `trans` is none of those above; the solution is too large for float32, or so small that it would
        be rounded to zero.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    Error, whatever the condition, for each element: abs(b - a x) <= (n + 4) u abs(a) abs(x) + 2^-126 (2 n + abs(a_ii)),
    u = 2^-24; 2^-126 is what a GPU takes for zero. Where numbers come near float32's limits (a row of `a`, a column of
    `b` or `x` below 2^-60, or an overflow on the way), the system is solved again on the CPU, in float64, and rounded.
    Of operands on the device the largest entries alone are looked at for that.
    Cost: n^2 k flop. Passes: about n / 32 on a GPU, n^2 / 2048 with many right-hand sides there, n / 8 in software;
    n / 4 for a whole stack of small systems, see `glla.operations.triangular`. Sources: Brodtkorb 2007, equation 4.34;
    LAPACK trtrs; Higham 2002, theorem 8.5.

    Examples
    --------
    >>> import glla
    >>> glla.solve_triangular([[2, 0], [1, 4]], [2, 9], lower=True)
    array([1., 2.], dtype=float32)
    """
    matrix = operand("solve_triangular", "a", a, check_finite)
    rhs = operand("solve_triangular", "b", b, check_finite)
    square("solve_triangular", "a", matrix)
    if rhs.ndim == 0:
        raise ShapeError("solve_triangular: b must have at least one dimension, got a scalar")
    matching("solve_triangular", matrix, rhs)
    known_variant("solve_triangular", OPERATIONS["solve_triangular"], variant)
    options = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal), "transposed": _transposed(trans)}
    if isinstance(matrix, Matrix) or isinstance(rhs, Matrix):
        target = device_of("solve_triangular", device, matrix, rhs)
        return _beside_an_array(_System(target, check_finite, variant, options), matrix, rhs)

    def every(lefts: Array, rights: Array, stack: Index) -> Array:
        system = _System(device_of("solve_triangular", device), False, variant, options)
        _refuse_zeros(lefts.reshape(*stack, *lefts.shape[-2:]), options)
        together = None
        if variant is None:
            together = batched(system.device, OPERATIONS["solve_triangular"], (lefts, rights), **options)
        if together is not None:
            return together[0]
        return stacked(system.of_arrays(*one) for one in zip(lefts, rights, strict=True))

    result = in_stacks("solve_triangular", matrix, rhs, every, np.dtype(np.float32))
    return finite_result("solve_triangular", result, check_finite)


def _transposed(trans: Any) -> bool:
    """Whether the system is that of the transpose."""
    known = is_one_of(trans, ("N", "T", "C")) or (isinstance(trans, int | np.integer) and trans in (0, 1, 2))
    if not known:
        raise OptionError(
            f"solve_triangular: trans must be 0 or 'N' (a), or 1, 2, 'T' or 'C' (its transpose), got {trans!r}"
        )
    return TRANSPOSED[trans]


def _refuse_zeros(a: Array, options: dict[str, Any]) -> None:
    """Raise if a triangle has a zero on its diagonal, before anything runs."""
    verdict = kernel.settle(forms_of((a,)), "", {"T": a, **options})
    if isinstance(verdict, GllaError):
        raise verdict


def _beside_an_array(system: _System, a: Array | Matrix, b: Array | Matrix) -> Matrix:
    """Solve where an operand is on the device: the solution stays there."""

    def every(operands: tuple[Resident, Resident], stack: Index) -> Resident:
        def flaw(t: Array, index: int) -> None:
            _refuse_zeros(t, {**system.options, "member": member_of_stack(place(index, stack))})

        solved = None
        if system.variant is None:
            solved = stacks_triangular.with_triangles(
                "solve_triangular", operands, flaw, system.device, system.check_finite, **system.options
            )
        if solved is not None:
            return solved
        return resident.one_by_one(operands, lambda i, t, rhs: system.solved(t, rhs, place(i, stack)))

    return resident.solutions("solve_triangular", a, b, system.device, system.solved, every)


@dataclass(frozen=True)
class _System:
    """What the systems of a call have in common."""

    device: Device
    check_finite: bool
    variant: str | None
    options: dict[str, bool]

    def solved(self, a: Array | Matrix, b: Array | Matrix, index: Index = ()) -> Matrix:
        """Solve one system of which an operand is on the device; the solution is there."""
        forms = forms_of((a, b))
        if not isinstance(a, Matrix):
            must_fit_a_texture("solve_triangular", a.shape, self.device.limits)
        plan = kernel.whole(forms, self.device.limits, variant=self.variant, **self.options)
        perform = on_device(self.device, plan, "solve_triangular", {"T": "a", "B": "b"} if self.check_finite else None)
        values = {"T": stored(a), "B": stored(b), "member": member_of_stack(index), **self.options}
        x = walk(OPERATIONS["solve_triangular"], forms, perform, values)["X"]
        if isinstance(x, Matrix):
            return x
        return upload(finite_result("solve_triangular", x, self.check_finite), self.device)

    def of_arrays(self, a: Array, b: Array) -> Array:
        """Solve for all columns of `b`, block by block where they are too many to go at once."""
        operation, forms, limits = OPERATIONS["solve_triangular"], forms_of((a, b)), self.device.limits
        must_fit_a_texture("solve_triangular", a.shape, limits)
        values: dict[str, Any] = {"T": a, "B": b, "member": "", **self.options}
        if not streams(self.device, b.shape[1]):
            plan = kernel.whole(forms, limits, variant=self.variant, **self.options)
            x: Array = walk(operation, forms, on_device(self.device, plan), values)["X"]
            return x
        with explained("solve_triangular", a):
            triangle = _Triangle(self.device, upload(a, self.device), self.variant, self.options)
        x = np.empty(b.shape, dtype=np.float32)
        tiling.solve(triangle, tiling.columns_of(b), x)
        verdict = kernel.settle(forms, "", {**values, "X": x})
        if isinstance(verdict, Go):
            careful = kernel.care(forms, limits, **self.options)
            x = walk(operation, forms, on_device(self.device, careful), values, verdict.stage)["X"]
        return x


@dataclass(frozen=True)
class _Triangle:
    """A triangle on the device, past which blocks of right-hand sides stream: a `glla.linalg.tiling.Solver`."""

    device: Device
    a: Matrix
    variant: str | None
    options: dict[str, bool]

    @property
    def held(self) -> Texture:
        """Texture of the packed matrix."""
        return self.a.texture

    def solution(self, columns: int, transposed: bool = False) -> Plan:
        """Plan of the solution for as many right-hand sides."""
        n = self.a.shape[0]
        options = {**self.options, "transposed": self.options["transposed"] != transposed}
        forms = on_the_device((n, n), (n, columns))
        return kernel.solution(forms, self.device.limits, variant=self.variant, **options)

    def solve(self, b: Matrix, transposed: bool = False) -> Matrix:
        """Solve for right-hand sides on the device. Does not synchronise."""
        plan = self.solution(b.shape[1], transposed)
        return Matrix(self.device, self.device.run(plan, T=self.held, B=b.texture)["X"], b.value.matrix)


# -- the inverse of a triangle ----------------------------------------------------------------------------------------


def inverse_of_triangle(
    a: Any,
    lower: bool = False,
    unit_diagonal: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix | Array:
    """Inverse of a triangle, for `inv`: zeros in the other half.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers. Only the upper triangle is read, with `lower` only the lower one.
    lower, unit_diagonal, check_finite, device
        As in `solve_triangular`.
    variant : str, optional
        A key of `glla.operations.triangular_inverse.VARIANTS`: then members of a stack go one by one.

    Returns
    -------
    ndarray of float32 or Matrix
        Of the shape of `a`. Synchronises.

    Raises
    ------
    SingularMatrixError
        The diagonal has a zero; names its place.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `solve_triangular`.

    Notes
    -----
    Error: abs(I - a x) <= (n + 4) u abs(a) abs(x), element by element, beside what is lost below 2^-126, as in
    `solve_triangular`; and as there the work is done again in float64 on the CPU near float32's limits. Cost: n^3 / 3
    flop. Larger inverses than the device's memory holds stream as solutions of a x = I, of n^3 flop.

    Examples
    --------
    >>> inverse_of_triangle([[2, 9], [0, 4]])
    array([[ 0.5  , -1.125],
           [ 0.   ,  0.25 ]], dtype=float32)
    """
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    known_variant("inv", OPERATIONS["triangular_inverse"], variant)
    if value.size == 0:
        return value.copy()
    target, options = device_of("inv", device, value), {"lower": lower, "unit_diagonal": unit_diagonal}
    one = _Inverse(target, check_finite, variant, options)
    stack, n = value.shape[:-2], value.shape[-1]
    if isinstance(value, Matrix):
        if not stack:
            return one.on_device(value)
        return resident.shaped(one.of_residents(resident.spread(value, stack), stack), value.shape)
    members = value.reshape(-1, n, n)
    for at, t in zip(np.ndindex(stack), members, strict=True):
        one.refuse_zeros(t, at)
    identity = np.broadcast_to(np.eye(n, dtype=np.float32), members.shape)
    together = None
    if variant is None:
        together = batched(target, OPERATIONS["solve_triangular"], (members, identity), **options, transposed=False)
    found = together[0] if together is not None else stacked(map(one.of_array, members))
    return finite_result("inv", np.ascontiguousarray(found).reshape(value.shape), check_finite)


@dataclass(frozen=True)
class _Inverse:
    """What the inverses of a call have in common."""

    device: Device
    check_finite: bool
    variant: str | None
    options: dict[str, bool]

    def refuse_zeros(self, t: Array, place: Index) -> None:
        """Raise if a triangle has a zero on its diagonal, before anything runs."""
        verdict = inverse.settle(forms_of((t,)), "", {"T": t, "member": member_of_stack(place), **self.options})
        if isinstance(verdict, GllaError):
            raise verdict

    def on_device(self, t: Matrix, place: Index = ()) -> Matrix:
        """Invert one triangle on the device; the inverse is there."""
        x = self._walked(t, {"T": "A"} if self.check_finite else None, member_of_stack(place))
        return x if isinstance(x, Matrix) else upload(finite_result("inv", x, self.check_finite), self.device)

    def of_residents(self, t: Resident, stack: Index) -> Resident:
        """Invert a stack of triangles on the device: together where they are small, else one by one."""

        def flaw(triangle: Array, index: int) -> None:
            self.refuse_zeros(triangle, place(index, stack))

        found = None
        if self.variant is None and t.size > t.shape[-1] ** 2:
            ones = identity((t.shape[-1], t.shape[-1]), self.device)
            operands, options = (t, resident.spread(ones, stack)), {**self.options, "transposed": False}
            found = stacks_triangular.with_triangles("inv", operands, flaw, self.device, self.check_finite, **options)
        if found is None:
            found = resident.one_by_one((t,), lambda i, one: self.on_device(one, place(i, stack)))
        return found

    def of_array(self, t: Array) -> Array:
        """Invert one triangle of the host; where the device has a cap on its memory, block by block of I."""
        if streams(self.device, len(t)):
            system = _System(self.device, False, None, {**self.options, "transposed": False})
            return system.of_arrays(t, np.eye(len(t), dtype=np.float32))
        must_fit_a_texture("inv", t.shape, self.device.limits)
        found: Array = self._walked(t)
        return found

    def _walked(self, t: Array | Matrix, names: dict[str, str] | None = None, member: str = "") -> Any:
        forms = forms_of((t,))
        lower, unit = self.options["lower"], self.options["unit_diagonal"]
        plan = inverse.whole(forms, self.device.limits, variant=self.variant, lower=lower, unit_diagonal=unit)
        values = {"T": stored(t), "member": member, **self.options}
        return walk(OPERATIONS["triangular_inverse"], forms, on_device(self.device, plan, "inv", names), values)["X"]
