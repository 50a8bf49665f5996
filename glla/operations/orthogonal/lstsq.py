"""Least squares: the x of least norm among those that make norm(b - A x) least.

    m >= n:   [A b] --> R, with c = Q^T b beside it --> on the host: the singular values of R, x
    m < n:    A^T --> Q, R --> on the host: the singular values of R, y with R^T y = b --> x = Q y

The long side is processed on the device; the remaining problem is as large as the smaller side of A. There the host
computes the singular values, in float64, and with them the rank and the solution of least norm, as LAPACK's gelsd,
which NumPy calls. R is read in its scaled form, so that nothing leaves float64's range.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import NonFiniteError, ShapeError
from glla.operations import elementwise
from glla.operations.acceptance import in_float32, pairs
from glla.operations.host.scaling import right_sides, scaled_back
from glla.operations.layouts import blocks
from glla.operations.layouts.crossing import (
    at_home,
    bring_in,
    laid_out,
    read_back,
    read_texels,
    texels_of,
    upload,
    watch,
    write_texels,
)
from glla.operations.linear import move
from glla.operations.linear.view import View, laid
from glla.operations.orthogonal import qr, qr_rows
from glla.operations.product import matmul
from glla.operations.record import Float32, Function, Operation, Taken, Trial, Way
from glla.operations.routes import must_fit_a_texture
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

SOLVED, BACK = "singular values of R, rank, solution", "scale X back"
BESIDE, LAID_OUT = "A and b, side by side", "elements laid out as texels"
"""Work of the host, by its names in plans and traces."""

EPSILON = 2.0**-23
"""Spacing of float32 at 1. Singular values below it times the longer side of A, times the largest one, count as zero:
the rounding errors of R stay below that."""

Float64 = NDArray[np.float64]

LARGEST = float(np.finfo(np.float32).max)
"""Largest number of float32."""


def check(forms: Forms) -> None:
    """Raise ShapeError unless A and B are matrices of as many rows."""
    a, b = (form.shape for form in forms)
    if len(a) != 2 or len(b) != 2:
        raise ShapeError(f"lstsq: A must be two-dimensional, and b one- or two-dimensional, got A {a} and b {b}")
    if a[0] != b[0]:
        raise ShapeError(f"lstsq: b must have as many rows as A, got A {a} and b {b}")


def aligned(forms: Forms) -> Forms:
    """Without right-hand sides a column of zeros goes beside A, which has a rank and singular values all the same."""
    a, b = forms
    return forms if 0 in a.shape or b.shape[1] else (a, Form((b.shape[0], 1), resident=b.resident and not a.resident))


def _factored_shape(forms: Forms) -> Shape:
    (m, n), (_, columns) = (form.matrix for form in forms)
    return (m, n + columns) if m >= n else (n, m)


def flops(forms: Forms) -> int:
    """Additions and multiplications of the factorisation and its application; not those of the host."""
    (m, n), (_, columns) = (form.matrix for form in forms)
    long, k = max(m, n), min(m, n)
    return 2 * long * k * k - 2 * k**3 // 3 + 4 * long * k * columns


@cached_plan
def device_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Device plan of a call.

    Operands ``A`` and ``B``. Results ``R``, with its columns still scaled, with c = Q^T b beside it if m >= n, its
    ``column_exponents``, and, if m < n, ``Q``; then they are the factors of A's transpose, and ``B`` is missing.

    `forms`: of A, m x n, and B, m x k. `variant`, `parameters`: of `glla.operations.orthogonal.qr`.
    """
    (m, n), (_, columns) = (form.matrix for form in forms)
    draft = Draft("lstsq")
    a = draft.operand("A", matrix((m, n)))
    shape = _factored_shape(forms)
    if m >= n:
        b = draft.operand("B", matrix((m, columns)))
        source = draft.call("[A b]", blocks.beside((m, n), columns), A=a, B=b)["C"]
    else:
        source = draft.call("A^T", elementwise.unary(shape, "positive", (1, 1, 1)), A=a)["result"]
    results = _factors(draft, source, shape, limits, m < n, **way)
    return draft.plan(results, flops(forms))


def _factors(
    draft: Draft, source: str, shape: Shape, limits: Limits, with_q: bool, **way: Unpack[Way]
) -> dict[str, str]:
    """Add the factors of a matrix to a draft that is made of plans."""
    found = qr.factored(draft, source, shape, limits, **way)
    top = (min(shape), shape[1])
    results = {
        "R": draft.call("R", blocks.gather(found.lying, top), A=found.packed)["block"],
        "column_exponents": found.exponents,
    }
    if with_q:
        results["Q"] = qr.orthogonal(draft, found, shape, limits)
    return results


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, *, rcond: float | None = None, **way: Unpack[Way]) -> Plan:
    """Plan of a call, results on the host: ``X``, ``residuals``, ``rank`` and ``s``.

    An [A b] taller than a texture goes block by block of rows, see `glla.operations.orthogonal.qr_rows`; then its
    triangle takes its place.
    """
    (m, n), (_, columns) = (form.matrix for form in forms)
    draft = Draft("lstsq")
    results: dict[str, str] = {}
    left = (columns,) if m > n else (0,)
    small: dict[str, tuple[int, ...]] = {"residuals": left, "rank": (1,), "s": (min(m, n),)}
    shape = _factored_shape(forms)
    if qr_rows.is_tall((m, n + columns), limits):
        triangle = _triangle(draft, forms, limits, results, **way)
        shape = n + columns, n + columns
        found = _factors(draft, triangle, shape, limits, False, **way)
    else:
        for form in forms:
            if not form.resident:
                must_fit_a_texture("lstsq", form.matrix, limits)
        a = bring_in(draft, "A", forms[0], limits, results)
        made = device_plan(resident((m, n), (m, columns)), limits, **way)
        given = {"A": a}
        if m >= n:
            given["B"] = bring_in(draft, "B", forms[1], limits, results)
        else:
            b = at_home(draft, "B", forms[1], limits, results)
        found = draft.call("factors", made, **given)
    r = read_back(draft, found["R"], (min(shape), shape[1]), limits, "R")
    exponents = read_texels(draft, found["column_exponents"], "exponents")
    tolerance = EPSILON * max(m, n) if rcond is None else rcond if rcond >= 0 else EPSILON
    if m >= n:
        work = partial(tall, order=n, rows=m, rcond=tolerance)
        results |= draft.host(SOLVED, work, (r, exponents), {"X": (n, columns), **small})
        return draft.plan(results, flops(forms))
    shapes = {"y": (m, columns), "sizes": (columns,), **small}
    y, sizes, *_ = draft.host(SOLVED, partial(wide, rcond=tolerance), (r, exponents, b), shapes)
    product = matmul.plan(resident((n, m), (m, columns)), limits)
    c = draft.call("Q y", product, A=found["Q"], B=upload(draft, y, (m, columns), limits))["C"]
    y = read_back(draft, c, (n, columns), limits, "Q y, read")
    results |= draft.host(BACK, partial(scaled_back, "lstsq"), (y, sizes), {"X": (n, columns)})
    return draft.plan(results | {name: name for name in small}, flops(forms))


def _triangle(draft: Draft, forms: Forms, limits: Limits, results: dict[str, str], **way: Unpack[Way]) -> str:
    """Add R of a tall [A b]; give its slot on the device. Of operands there the largest entries are read."""
    (m, n), (_, columns) = (form.matrix for form in forms)
    size, width, on_device = limits.texture_size, n + columns, any(form.resident for form in forms)
    slots = [qr_rows.operand(draft, name, form, limits) for name, form in zip("AB", forms, strict=True)]
    if on_device:
        views = tuple(qr_rows.view_of(form) if form.resident else View.of(form.shape) for form in forms)
        given = [
            slot if form.resident else _laid_out(draft, slot, form, size)
            for slot, form in zip(slots, forms, strict=True)
        ]
        both = draft.call("[A b]", move.concat(views, 1, size), A0=given[0], A1=given[1])["result"]
    else:
        work = lambda a, b: (np.concatenate([a, b], axis=1),)  # noqa: E731
        (both,) = draft.host(BESIDE, work, tuple(slots), {"[A b]": (m, width)})

    def block(form: Form) -> Plan:
        return qr.call_plan((form,), limits, **way, mode="r", watched=False)

    whole_ = Form((m, width), resident=on_device)
    r = qr_rows.factored(draft, both, whole_, limits, block)["R"]
    if not on_device:
        return upload(draft, r, (width, width), limits)
    for name, first, count in (("A", 0, n), ("B", n, columns)):
        part = blocks.gather((width, width), (width, count), (0, first))
        watch(draft, name, draft.call(f"columns of {name}", part, A=r)["block"], (width, count), results)
    return r


def _laid_out(draft: Draft, slot: str, form: Form, texture_size: int) -> str:
    """Add the upload of a matrix that does not fit a texture as rows; give the slot where it is linear."""
    storage = laid(form.shape, "float32", texture_size)
    (texels,) = draft.host(LAID_OUT, partial(laid_out, storage), (slot,), {f"{slot} laid out": texels_of(storage)})
    return write_texels(draft, texels, storage)


def _unscaled(r: Float32, exponents: Float32) -> Float64:
    """R in float64, with its columns scaled back, and zeros below its diagonal."""
    columns = pairs(exponents, r.shape[1]).astype(np.int32)
    found: Float64 = np.ldexp(np.triu(r).astype(np.float64), columns)
    return found


def _fitting(what: str, found: Float64) -> Float32:
    """Round numbers to float32: below its range to zero; above it they are an error."""
    short: Float32 = found.astype(np.float32)
    beyond = np.flatnonzero(np.isfinite(found) & ~np.isfinite(short))
    if len(beyond):
        raise NonFiniteError(
            f"lstsq: {what} must fit float32 (largest {LARGEST:.4g}), got {found[beyond[0]]:.4g}; scale A and b"
        )
    return short


@np.errstate(all="ignore")  # the range is checked afterwards
def tall(
    r: Float32, exponents: Float32, order: int, rows: int, rcond: float
) -> tuple[Float32, Float32, NDArray[np.int32], Float32]:
    """Solve R x = c from [R c] on the host: x, sums of squared residuals, rank, singular values."""
    both = _unscaled(r, exponents)
    x, rank, s = least(both[:order, :order], both[:order, order:], rcond)
    rest = both[order:, order:]
    residuals = np.empty(0, dtype=np.float32)
    if rows > order:
        squares = np.square(rest).sum(axis=0)
        residuals = _fitting("squared residuals", squares) if rank == order else squares.astype(np.float32)
    return in_float32("lstsq", x), residuals, np.array([rank], dtype=np.int32), _fitting("singular values", s)


@np.errstate(all="ignore")
def wide(
    r: Float32, exponents: Float32, b: Float32, rcond: float
) -> tuple[Float32, NDArray[np.int32], Float32, NDArray[np.int32], Float32]:
    """Solve R^T y = b on the host: y, the exponents of its columns, no residuals, rank, singular values."""
    y, rank, s = least(_unscaled(r, exponents).T, b.astype(np.float64), rcond)
    scaled, sizes = right_sides(y)
    nothing, values = np.empty(0, dtype=np.float32), _fitting("singular values", s)
    return scaled.astype(np.float32), sizes, nothing, np.array([rank], dtype=np.int32), values


def least(a: Float64, b: Float64, rcond: float) -> tuple[Float64, int, Float64]:
    """Solution of least norm, rank and singular values of a square system, in float64.

    >>> least(np.diag([2.0, 0.0]), np.array([[4.0], [1.0]]), 1e-6)[:2]
    (array([[2.],
           [0.]]), 1)
    """
    if not np.isfinite(a).all():
        return np.full(b.shape, np.nan), 0, np.full(len(a), np.nan)
    x, _, rank, s = np.linalg.lstsq(a, b, rcond=rcond)
    if not rcond < 1:  # which LAPACK takes for its own tolerance
        return np.zeros_like(b), 0, s.astype(np.float64)
    return x.astype(np.float64), int(rank), s.astype(np.float64)


def on_host(a: Float32, b: Float32) -> tuple[Float32, Float32, int, Float32]:
    """Solve on the CPU, by NumPy."""
    x, residuals, rank, s = np.linalg.lstsq(a, b)
    return x, residuals, int(rank), s


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Eight equations more than there are unknowns, and a right-hand side."""
    return rng.standard_normal((n + 8, n)).astype(np.float32), rng.standard_normal((n + 8, 1)).astype(np.float32)


LSTSQ = Operation(
    name="lstsq",
    formula="min norm(b - A x)",
    about=Variant(
        "reflections leave R and c = Q^T b of [A b]; the host solves R x = c by the singular values of R",
        "Golub and Van Loan 2013, sections 5.3 and 5.5; LAPACK gelsd",
    ),
    operands=("A", "B"),
    results=("X", "residuals", "rank", "s"),
    check=check,
    flops=flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    trial=Trial(values=None),
    taken=Taken(aligned=aligned),
    function=Function(vectors={"B": 1}, host="glla.operations.orthogonal.lstsq:on_host", parts=4),
)
