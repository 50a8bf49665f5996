"""Stacks of small matrices: one upload, one plan, one read-back for all of them (see `glla.kernels.stack`).

What goes this way: matrices up to `LARGEST` rows and columns (in products: `LARGEST_PRODUCT`), and a single one of
them too, because it needs fewer passes and a single read-back here. Larger matrices go one by one over the kernels for
single matrices, and so does one whose own elements are more than a texture holds. A stack that is more than a texture
or the memory can hold goes in several pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from glla import remedies
from glla.device import Device
from glla.errors import OutOfMemoryError
from glla.factors import SMALL, UNIT_ROUNDOFF, member_of_stack, sign_and_log
from glla.kernels import stack as kernel
from glla.kernels.pivot import allowed_growth
from glla.layout import texels
from glla.matrix import Array
from glla.passes import Plan
from glla.remedies import NEAR_ONE, largest_near_one, near_one

LARGEST = 256
"""Rows and columns up to which matrices are factored as a stack, and right-hand sides up to which they go with them.
Beyond, a fragment by itself takes too long to search a column, and blocked factors are near."""

WIDEST_IN_SOFTWARE = 272
"""Columns and right-hand sides together up to which a software rasteriser does better this way: passes cost it little,
and the elimination computes the multipliers anew for every right-hand side."""

LARGEST_PRODUCT, LARGEST_PRODUCT_IN_SOFTWARE = 256, 64
"""Rows and columns up to which matrices are multiplied as a stack; larger ones gain more from a faster product. On
an NVIDIA H200 64 products one by one take 20 ms at n = 96 and 84 ms at 256, most of it for passes and read-backs; the
stack takes 2.4 ms at n = 64 (see the experiments under ``benchmarks/results``)."""

DOUBTFUL = 2.0**-6
"""As `glla.factors.DOUBTFUL`, for two probes in place of four: normal matrices of order 256 have 0.0008 (median of 40),
and 0.024 at most."""

Float64 = NDArray[np.float64]


def _pieces(device: Device, tile: tuple[int, int], *elements: int) -> int:
    """Most matrices that may go at once."""
    return kernel.capacity(tile, max(elements), device.limits.texture_size)


def multiplies(device: Device, m: int, k: int, n: int) -> int:
    """How many products m x k x n one plan may serve; 0: they go one by one.

    Examples
    --------
    >>> import glla
    >>> device = glla.default_device()
    >>> multiplies(device, 2, 3, 4) > 100, multiplies(device, 2, 3, 1000)
    (True, 0)
    """
    tile = max(texels(m), texels(k)), max(texels(k), texels(n))
    largest = LARGEST_PRODUCT_IN_SOFTWARE if device.limits.software else LARGEST_PRODUCT
    return 0 if max(m, k, n) > largest else _pieces(device, tile, (m + n) * k, m * n)


def factors(device: Device, m: int, n: int) -> int:
    """How many factorisations m x n one plan may serve; 0: they go one by one."""
    return 0 if max(m, n) > LARGEST else _pieces(device, (texels(m), texels(n)), m * n + 3 * min(m, n), 4 * n)


def solves(device: Device, n: int, columns: int) -> int:
    """How many systems of order n, with so many right-hand sides, one plan may serve; 0: they go one by one."""
    if max(n, columns) > LARGEST or (device.limits.software and n + columns > WIDEST_IN_SOFTWARE):
        return 0
    tile = texels(n), texels(n) + texels(columns) + texels(kernel.PROBES)
    return _pieces(device, tile, n * (n + columns), n * (columns + 3))


def matmul(device: Device, a: Array, b: Array) -> Array:
    """Multiply two stacks, shapes (count, m, k) and (count, k, n), of which `multiplies` approves. Synchronises."""
    (m, k), n = a.shape[1:], b.shape[2]
    records = _run(
        device,
        lambda count: kernel.matmul(count, m, k, n, device.limits.texture_size),
        multiplies(device, m, k, n),
        m * n,
        (a, b),
    )
    return records.reshape(-1, m, n)


def factor(device: Device, a: Array) -> tuple[Array, NDArray[np.int32]]:
    """Factor a stack of shape (count, m, n), of which `factors` approves. Synchronises.

    Returns
    -------
    lu : ndarray of float32, shape (count, m, n)
    piv : ndarray of int32, shape (count, min(m, n))
    """
    m, n = a.shape[1:]
    records = _run(
        device,
        lambda count: kernel.factor(count, (m, n), device.limits.texture_size),
        factors(device, m, n),
        m * n + 3 * min(m, n),
        (a,),
    )
    return records[:, : m * n].reshape(a.shape), records[:, m * n + 2 * min(m, n) :].astype(np.int32)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def need_care(a: Array, lu: Array) -> NDArray[np.intp]:
    """Which matrices of a stack, shape (count, m, n), have factors that must not be trusted: see `glla.remedies`."""
    k = min(a.shape[1:])
    scales = np.max(np.abs(a), axis=(1, 2)).astype(np.float64)
    grown = np.max(np.abs(np.triu(lu[:, :k])), axis=(1, 2))
    sound = (grown <= allowed_growth(k) * scales) & (scales >= 2.0**-NEAR_ONE) & (scales <= 2.0**NEAR_ONE)
    return np.flatnonzero(~sound & (scales > 0))


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def determinant(device: Device, a: Array) -> tuple[Float64, Float64]:
    """Signs and logarithms of the determinants of a stack, of which `factors` approves. Synchronises."""
    n = a.shape[1]
    records = _run(
        device,
        lambda count: kernel.determinant(count, n, device.limits.texture_size),
        factors(device, n, n),
        4 * n,
        (a,),
    ).reshape(-1, 4, n)
    u, largest = records[:, 0], records[:, 1]
    sign, logarithm = sign_and_log(u, records[:, 2].astype(np.int32), np.sum(records[:, 3], axis=1))
    grew = ~(np.max(largest, axis=1) <= allowed_growth(n)) | ~np.isfinite(u).all(axis=1)
    for index in np.flatnonzero(grew | [not near_one(matrix) for matrix in a] if not near_one(a) else grew):
        if np.isfinite(a[index]).all():
            sign[index], logarithm[index] = remedies.determinant(remedies.on_device(device), a[index])
    return sign, logarithm


def solve(
    device: Device,
    function: str,
    a: Array,
    b: Array | None,
    equilibrate: bool = True,
    stack: tuple[int, ...] = (),
) -> Array:
    """Solve a stack of systems, of which `solves` approves. Synchronises.

    Parameters
    ----------
    device : Device
        Where.
    function : str
        For the message.
    a : ndarray of float32, shape (count, n, n)
        Matrices.
    b : ndarray of float32, shape (count, n, k), or None
        Right-hand sides; None for the identity.
    equilibrate : bool
        Scale rows and columns by powers of two first.
    stack : tuple of int
        Shape of the stack, for the message.

    Raises
    ------
    SingularMatrixError
        Names the first matrix and the first pivot of it that is zero, or nothing but rounding error.
    NonFiniteError
        The factors of a finite matrix are not finite.
    """
    n = a.shape[1]
    columns = n if b is None else b.shape[2]
    records = _run(
        device,
        lambda count: kernel.solve(count, n, columns, b is None, equilibrate, device.limits.texture_size),
        solves(device, n, columns),
        n * (columns + 3),
        (a,) if b is None else (a, b),
    )
    x = records[:, : n * columns].reshape(-1, n, columns)
    u, largest, squares = np.moveaxis(records[:, n * columns :].reshape(-1, 3, n), 1, 0)
    for index in np.flatnonzero(_need_care(a, b, equilibrate, u, largest, squares)):
        right = np.eye(n, dtype=np.float32) if b is None else b[index]
        if np.isfinite(a[index]).all() and np.isfinite(right).all():
            member = member_of_stack(tuple(int(i) for i in np.unravel_index(index, stack)))
            x[index] = remedies.solve(remedies.on_device(device), function, a[index], right, equilibrate, member)
    return x


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def _need_care(
    a: Array, b: Array | None, equilibrate: bool, u: Array, largest: Array, squares: Array
) -> NDArray[np.bool_]:
    """Tell of each system of a stack whether its solution must not be trusted: see `glla.remedies`."""
    growth = np.max(largest, axis=1) / (1.0 if equilibrate else np.max(np.abs(a), axis=(1, 2)))
    norms = np.sqrt(np.sum(squares, axis=1, dtype=np.float64) / kernel.PROBES)
    small = np.abs(u) <= SMALL * largest
    error = norms * UNIT_ROUNDOFF * np.sqrt(u.shape[1]) * np.max(largest, axis=1)
    sound = np.isfinite(u).all(axis=1) & (growth <= allowed_growth(u.shape[1])) & (error <= DOUBTFUL)
    care: NDArray[np.bool_] = ~sound | small.any(axis=1)
    if not (near_one(a) and (b is None or largest_near_one(b))):
        care |= [not (near_one(left) and (b is None or largest_near_one(b[i]))) for i, left in enumerate(a)]
    return care


def substitute(device: Device, lu: Array, b: Array, transposed: bool = False) -> Array:
    """Solve L U X = B for a stack of packed factors, or with the transpose, if `solves` approves. Synchronises."""
    n, columns = b.shape[1:]
    records = _run(
        device,
        lambda count: kernel.substitute(count, n, columns, transposed, device.limits.texture_size),
        solves(device, n, columns),
        n * columns,
        (lu, b),
    )
    return records.reshape(b.shape)


def _run(device: Device, plan: Callable[[int], Plan], most: int, length: int, operands: Sequence[Array]) -> Array:
    """Run a stack through the plan for so many matrices, in as many pieces as needed; give a record for each matrix."""
    count, first = len(operands[0]), 0
    records = np.empty((count, length), dtype=np.float32)
    while first < count:
        open_pieces = -(-(count - first) // most)
        end = first - (first - count) // open_pieces  # pieces of one size share a plan
        try:
            records[first:end] = _piece(device, plan(end - first), length, [part[first:end] for part in operands])
            first = end
        except OutOfMemoryError:
            if end - first == 1:
                raise
            most = (end - first) // 2
    return records


def _piece(device: Device, plan: Plan, length: int, operands: Sequence[Array]) -> Array:
    """Lay the operands out one after the other, run the plan, read the records."""
    storage = plan.slots["raw"]
    elements = np.empty(storage.height * storage.width, dtype=np.float32)
    start = 0
    for operand in operands:
        elements[start : start + operand.size].reshape(operand.shape)[...] = operand
        start += operand.size
    elements[start:] = 0
    uploaded = device.write(elements.reshape(storage.height, storage.width))
    try:
        result = device.run(plan, raw=uploaded)["records"]
    finally:
        uploaded.release()
    records = device.read(result).reshape(-1)[: len(operands[0]) * length]
    result.release()
    return records.reshape(-1, length)
