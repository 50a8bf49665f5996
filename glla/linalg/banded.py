"""The public solvers of banded systems, and the routes of `solve` for diagonal, tridiagonal and banded matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import index as as_index
from typing import Any

import numpy as np

from glla.array import arithmetic, blocks, shaping
from glla.array.array import Array, upload
from glla.array.convert import Float32, finite_result
from glla.array.value import Resident, Shape
from glla.errors import LimitError, OptionError, ShapeError, UnsupportedError
from glla.gl import DeviceLike
from glla.linalg import device_stacks
from glla.linalg.batches import Places, Results, Solved, place
from glla.linalg.caller import Caller
from glla.linalg.definite import solve_definite_band
from glla.linalg.operands import device_of, known_variant, operand, square
from glla.operations import OPERATIONS
from glla.operations.acceptance import matrix_of_stack
from glla.operations.bands import banded as kernel
from glla.operations.bands.banded import Given
from glla.operations.bands.tridiagonal import DIAGNOSTICS
from glla.passes import forms_of
from glla.registry import public


@public()
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Solve A x = b for a matrix in bands, as `scipy.linalg.solve_banded`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve_banded((1, 1), [[0, 1, 1], [2, 3, 2], [2, 2, 0]], [4, 11, 10])
    array([1., 2., 3.], dtype=float32)

    Parameters
    ----------
    l_and_u : (int, int)
        Diagonals below and above the main one: 0 to 2 each.
    ab : array_like or Array, shape (..., l + u + 1, n)
        The diagonals: ``ab[u + i - j, j] == a[i, j]``. The corners that belong to no entry are not used.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector, a stack of single right-hand sides is
        (..., n, 1), as SciPy has it. Large stacks stream through the device in pieces.
    overwrite_ab, overwrite_b : bool
        Are taken as SciPy takes them, and change nothing: operands are never written to.
    check_finite : bool
        Refuse NaN and infinity, wherever they are. Without it the unused corners may hold anything.
    variant : str, optional
        A key of `glla.operations.bands.tridiagonal.VARIANTS`, for three diagonals: then matrices of a batch
        are looped.
    device
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `b`, or of all the stack; beside an Array an Array. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error in float64; names the matrix of a stack.
    ShapeError, DTypeError, NonFiniteError, OptionError
        Shapes do not fit together; not real; not finite, or the solution is too large for float32; unknown variant.
    UnsupportedError
        More diagonals; `scipy.linalg.solve_banded` solves those.
    LimitError
        n is larger than a texture is high.
    """
    try:
        lower, upper = (as_index(one) for one in l_and_u)
    except (TypeError, ValueError):
        raise OptionError(f"solve_banded: l_and_u must be a pair of whole numbers, got {l_and_u!r}") from None
    if min(lower, upper) < 0:
        raise OptionError(f"solve_banded: l_and_u must not be negative, got {l_and_u!r}")
    bands = _bands("solve_banded", ab, check_finite)
    if bands.shape[-2] != lower + upper + 1:
        raise ShapeError(
            f"solve_banded: ab must have l + u + 1 = {lower + upper + 1} rows, got shape {bands.shape}; give the "
            "diagonals as scipy.linalg.solve_banded takes them"
        )
    bands, lower, upper = _inside(bands, lower, upper)
    rows: Given = ((upper + 1 if lower else -1, -1), (upper, 0), (upper - 1 if upper else -1, 1))
    lines = upper if max(lower, upper) == 2 else rows
    return _solve("solve_banded", (lower, upper), lines, bands, b, variant, device, check_finite)


@public()
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Solve A x = b for a symmetric positive definite matrix in bands, as `scipy.linalg.solveh_banded`.

    Examples
    --------
    >>> import glla
    >>> glla.solveh_banded([[4, 3, 4], [2, 2, 0]], [8, 14, 16], lower=True)
    array([1., 2., 3.], dtype=float32)

    Parameters
    ----------
    ab : array_like or Array, shape (..., u + 1, n)
        The diagonals of the upper half, ``ab[u + i - j, j] == a[i, j]``; with `lower` those of the lower half,
        ``ab[i - j, j] == a[i, j]``. More than one diagonal takes Cholesky factors.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides, as in `solve_banded`.
    lower : bool
        Which half is given.
    overwrite_ab, overwrite_b, check_finite, variant, device
        As in `solve_banded`.

    Returns
    -------
    ndarray of float32 or Array
        As `solve_banded`.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero, or nothing but rounding error in float64: names the leading minor.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError
        As `solve_banded`; `variant` with more than one diagonal.

    Notes
    -----
    Error and cost are those of `solve_banded`; with more than one diagonal those of `cholesky_banded`: the normalised
    residual stays below 30. Cyclic reduction is Gaussian elimination in another order of the
    unknowns, so it is backward stable for these matrices. Sources: Hockney 1965; LAPACK ptsv.
    """
    bands = _bands("solveh_banded", ab, check_finite)
    width = bands.shape[-2] - 1
    if width < 0 < bands.shape[-1]:
        raise ShapeError(f"solveh_banded: ab must have a row for each diagonal, got shape {bands.shape}")
    if width > bands.shape[-1] - 1 >= 0:  # a matrix has no more diagonals than rows
        kept = bands.shape[-1]
        bands = bands[..., :kept, :] if lower else bands[..., width + 1 - kept :, :]
        width = kept - 1
    if width > 1:
        if variant is not None:
            raise OptionError(
                f"solveh_banded: variant is for one diagonal beside the main one, got {width} and {variant!r}"
            )
        return solve_definite_band("solveh_banded", bands, b, lower, device, check_finite)
    beside = 1 if lower else width - 1
    rows = ((beside, -1), (0, 0), (beside, 0)) if lower else ((beside, 0), (width, 0), (beside, 1))
    if width == 0:
        rows = ((-1, -1), (0, 0), (-1, 1))
    return _solve("solveh_banded", (width, width), rows, bands, b, variant, device, check_finite, definite=True)


def solve_structured(a: Any, b: Any, structure: str, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Solve A x = b by the diagonals of a dense matrix, as SciPy's `solve`; "banded" takes those that hold something.

    The bandwidth of a matrix on the device is found there, where numbers below 2^-126 may count as zero.
    """
    matrix = operand("solve", "A", a, check_finite)
    square("solve", "A", matrix)
    if structure == "banded":
        lower, upper = _bandwidths_there(matrix) if isinstance(matrix, Array) else _bandwidths(matrix)
        if max(lower, upper) > 2:
            raise UnsupportedError(
                f"solve: assume_a='banded' takes two diagonals on either side so far, got {lower} below and {upper} "
                "above; assume_a='gen' solves such systems, and so does scipy.linalg.solve_banded"
            )
        width = max(lower, upper, 1)
    else:
        width = 0 if structure == "diagonal" else 1
    ways: dict[int, Given] = {0: ((-1, -1), (0, 0), (-1, 1)), 1: kernel.FULL, 2: 2}
    return _solve("solve", (width, width), ways[width], _diagonals(matrix, width), b, None, device, check_finite)


def _bands(function: str, ab: Any, check_finite: bool) -> Float32 | Array:
    bands = operand(function, "ab", ab, check_finite)
    if bands.ndim < 2:
        raise ShapeError(f"{function}: ab must be at least two-dimensional, got shape {bands.shape}")
    return bands


def _inside(bands: Float32 | Array, lower: int, upper: int) -> tuple[Float32 | Array, int, int]:
    """Leave out the diagonals that are outside of the matrix, which has no more than rows."""
    most = max(bands.shape[-1] - 1, 0)
    kept = min(lower, most), min(upper, most)
    if kept == (lower, upper):
        return bands, lower, upper
    return bands[..., upper - kept[1] : upper + kept[0] + 1, :], *kept


def _bandwidths(a: Float32) -> tuple[int, int]:
    """Diagonals below and above that hold something, in any matrix of a stack."""
    *_, i, j = np.nonzero(a)
    return int(np.max(i - j, initial=0)), int(np.max(j - i, initial=0))


def _bandwidths_there(a: Array) -> tuple[int, int]:
    """Give them for matrices on a device: two numbers are read back."""
    if not a.size:
        return 0, 0
    number, zero = (upload(one, a.device) for one in (np.arange(a.shape[-1], dtype=np.int32), np.zeros((), np.int32)))
    below = Array._of(arithmetic.where((a != 0).value, (number[:, np.newaxis] - number).value, zero.value))
    return max(int(below.max()), 0), max(-int(below.min()), 0)


def _diagonals(a: Float32 | Array, width: int) -> Float32 | Array:
    """Take the main diagonal and `width` others on either side, as bands: the uppermost first."""
    n, stack = a.shape[-1], a.shape[:-2]
    offsets = range(width, -width - 1, -1)
    if not isinstance(a, Array):
        bands = np.zeros((*stack, len(offsets), n), dtype=np.float32)
        for row, offset in enumerate(offsets):
            place = slice(max(offset, 0), n + min(offset, 0))
            if abs(offset) < n:
                bands[..., row, place] = np.diagonal(a, offset, -2, -1)
        return bands
    if not a.size:
        return upload(np.empty((*stack, len(offsets), n), dtype=np.float32), a.device)

    def line(offset: int) -> Resident:
        kept = min(abs(offset), n)
        if not kept:
            return blocks.diagonal(a.value)
        zeros = upload(np.zeros((*stack, kept), dtype=np.float32), a.device).value
        if kept == n:
            return zeros
        parts = (zeros, blocks.diagonal(a.value, offset))
        return shaping.concat("solve", parts if offset > 0 else parts[::-1], -1)

    return Array._of(shaping.stack("solve", [line(offset) for offset in offsets], -2))


# -- one call ---------------------------------------------------------------------------------------------------------


def _solve(
    function: str,
    widths: tuple[int, int],
    lines: Given,
    ab: Float32 | Array,
    b: Any,
    variant: str | None,
    device: DeviceLike | None,
    check_finite: bool,
    definite: bool = False,
) -> Array | Float32:
    """Solve for one matrix or a stack, by bands that are known to be of the right number.

    `widths`: diagonals below and above. `lines`: where they are. `definite`: pivots must be above zero.
    """
    operation, n = OPERATIONS["pentadiagonal" if isinstance(lines, int) else "tridiagonal"], ab.shape[-1]
    if variant is not None and not operation.variants:
        raise OptionError(f"{function}: variant is for one diagonal on either side, got {variant!r}; leave it out")
    known_variant(function, operation, variant)
    rhs = operand(function, "b", b, check_finite)
    if max(widths) > 2:
        raise UnsupportedError(
            f"{function}: takes two diagonals on either side so far, got {widths[0]} below and {widths[1]} above; "
            "scipy.linalg.solve_banded solves such systems, and solveh_banded those that are definite"
        )
    target = device_of(function, device, ab, rhs)
    if n > target.limits.texture_size:
        raise LimitError(
            f"{function}: n must be {target.limits.texture_size} at most on this device, got {n}; scipy.linalg."
            f"{function if function != 'solve' else 'solve_banded'} solves longer systems",
            n,
            target.limits.texture_size,
        )
    options = {"lines": lines, "definite": definite}
    return BandCaller(operation.name, function, target, check_finite, ("ab", "b"), variant, options=options)(ab, rhs)


class BandCaller(Caller):
    """A call whose rejected systems are refined as a batch, and the rest of them solved on the host in float64."""

    def _host_batch(self, matrices: tuple[Float32, ...], batch: Shape) -> dict[str, Any]:
        ab, b = matrices
        parts = [super(BandCaller, self)._host_batch((ab, part), batch)["X"] for part in self._blocks(ab, b)]
        return {"X": parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)}

    def _blocks(self, ab: Float32, b: Float32) -> Iterator[Float32]:
        """Cut right-hand sides into blocks of columns of which one matrix's go at once."""
        columns = most = b.shape[-1]
        while most > 1 and not kernel.room(forms_of((ab[:1], b[:1, :, :most])), self.device.limits):
            most = -(-most // 2)
        return (b[..., left : left + most] for left in range(0, columns, most))

    def _once_more(
        self, places: Places, given: tuple[Float32, ...], count: int, batch: Shape
    ) -> list[tuple[Places, dict[str, Any]]]:
        most = self._batch.most(forms_of(given), self.device.limits)
        refined = self.host_records(given, most, refine=True)
        x, left = given[1].copy(), np.arange(len(places))
        if refined is not None:
            x, left = refined[0], np.flatnonzero(kernel.fails(refined[1][:, 0], given[0].shape[-1]))
        x[left] = self._solved_on_host(given[0][left], given[1][left], places[left], batch)
        return [(np.arange(len(places)), {"X": x})]

    def _solved_on_host(self, ab: Float32, b: Float32, places: Places, batch: Shape) -> Float32:
        """Solve some matrices of a batch in float64; `places`: their indices in it."""
        if not len(ab):
            return b
        definite = self.options.get("definite", False)
        wide, flaws = kernel.on_host_in_stacks(ab, b, self.options["lines"], definite)
        x = np.empty(b.shape, dtype=np.float32)
        for i, index in enumerate(places):
            which = matrix_of_stack(place(int(index), batch))
            x[i] = kernel.rounded(self.function, wide[i], int(flaws[i]), definite, which)
        return x

    # -- on the device ------------------------------------------------------------------------------------------------

    def _device_pieces(self, matrices: tuple[Resident, ...], batch: Shape, most: int) -> dict[str, Any] | None:
        """Run one plan for all, and one with refinement for the rejected systems; of the rest the host reads them."""
        found = self.solved(matrices, most, False)
        if found is None:
            return None
        x, again = found.matrices, found.places
        assert x is not None
        if not len(again):
            return {"X": x}
        some = tuple(shaping.take(device_stacks.flat(one), again, 0) for one in matrices)
        refined = replace(self, options={**self.options, "refine": True}).solved(some, most, False)
        if refined is not None and refined.matrices is not None:
            x = blocks.put(x, (again.astype(np.int32),), refined.matrices)
            again = again[refined.places]
        for places, (ab, b) in device_stacks.read_matrices(matrices, again):
            for name, part in zip(self.names, (ab, b), strict=True) if self.check_finite else ():
                device_stacks.refuse_nonfinite(self.function, name, np.abs(part).max(axis=(1, 2)), batch, places)
            solved = self._solved_on_host(ab, b, places, batch)
            finite_result(self.function, solved, self.check_finite)
            x = device_stacks.replaced(x, places, solved)
        return {"X": x}

    def _piece(self, operands: tuple[Resident, ...]) -> Solved:
        """Run one plan. 16 bytes are read back; where they count rejected systems, the diagnostics of all."""
        forms = tuple(one.form for one in operands)
        plan = kernel.resident_stack(forms, self.device.limits, check_finite=self.check_finite, **self.options)
        made: Results = self.device.run(plan, **{name: a.texture for name, a in zip("AB", operands, strict=True)})
        count, n, columns = forms[0].count, *forms[1].matrix
        again = np.zeros(0, dtype=np.intp)
        if made["verdict"][0, 0]:
            diagnostics = self.device.read(made["diagnostics"]).reshape(-1, 4)[: count * columns]
            again = np.flatnonzero(kernel.fails(diagnostics, n).reshape(count, columns).any(axis=1))
        made["diagnostics"].release()
        x = Resident.wrapped(self.device, made["matrices"], (count, n, columns), "float32")
        return Solved(self._batch, count, DIAGNOSTICS, x, again, {})
