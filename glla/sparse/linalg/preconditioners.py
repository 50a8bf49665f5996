"""Preconditioners: approximate inverses of A that take a few passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.convert import checked_device
from glla.errors import NonFiniteError, OptionError, SingularMatrixError, UnsupportedError, real
from glla.gl import DeviceLike
from glla.operations.sparse import polynomial
from glla.operations.sparse.compressed import Compressed
from glla.sparse.linalg.operators import LinearOperator, Operator, operator
from glla.sparse.matrix import SparseMatrix

POWER_STEPS, MARGIN = 10, 1.1
"""Steps of the power method for the largest eigenvalue, and the factor that makes its estimate an upper bound."""


def jacobi(A: Any, *, device: DeviceLike | None = None) -> SparseMatrix:
    """Inverse of the diagonal of a matrix: one pass.

    Examples
    --------
    >>> import numpy as np
    >>> jacobi(np.array([[4.0, 1.0], [1.0, 2.0]])).diagonal()
    array([0.25, 0.5 ], dtype=float32)

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy or array_like
        n x n.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Raises
    ------
    SingularMatrixError
        The diagonal has a zero.
    UnsupportedError, NonFiniteError
        A is an operator without known entries; the inverse does not fit float32.
    """
    return _inverses("jacobi", A, 1, device)


def block_jacobi(A: Any, size: int = 4, *, device: DeviceLike | None = None) -> SparseMatrix:
    """Inverses of the blocks on the diagonal of a matrix, computed on the host in float64.

    Examples
    --------
    >>> import numpy as np
    >>> block_jacobi(np.array([[2.0, 1.0], [1.0, 1.0]]), 2).toarray()
    array([[ 1., -1.],
           [-1.,  2.]], dtype=float32)

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy or array_like
        n x n.
    size : int
        Rows of a block, 1 to 64.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Raises
    ------
    SingularMatrixError
        A block is singular.
    OptionError, UnsupportedError, NonFiniteError
        Invalid size; A is an operator without known entries; the inverse does not fit float32.
    """
    if not isinstance(size, int | np.integer) or not 1 <= size <= 64:
        raise OptionError(f"block_jacobi: size must be a number of rows from 1 to 64, got {size!r}")
    return _inverses("block_jacobi", A, int(size), device)


def _inverses(function: str, A: Any, size: int, device: DeviceLike | None) -> SparseMatrix:
    found = operator(function, "A", A, checked_device(function, device))
    if found.rows is None:
        raise UnsupportedError(f"{function}: the entries of an operator are not known; pass a matrix, or use chebyshev")
    rows = found.rows
    n = rows.shape[0]
    count = -(-n // size)
    blocks = np.tile(np.eye(size), (count, 1, 1))
    inside = np.arange(n)
    blocks[inside // size, inside % size, inside % size] = 0
    own = rows.rows // size == rows.columns // size
    row, column = rows.rows[own], rows.columns[own]
    blocks[row // size, row % size, column % size] = rows.values[own]
    try:
        inverses = np.linalg.inv(blocks)
    except np.linalg.LinAlgError:
        bad = next(k for k, block in enumerate(blocks) if np.linalg.matrix_rank(block) < size)
        what = f"the diagonal has a zero in row {bad}" if size == 1 else f"block {bad} on the diagonal is singular"
        raise SingularMatrixError(f"{function}: {what}; leave M out, or use chebyshev") from None
    number, i, j = np.nonzero(inverses)
    kept = (number * size + i < n) & (number * size + j < n)
    made = Compressed.of_triplets(
        (n, n), (number * size + i)[kept], (number * size + j)[kept], inverses[number, i, j][kept]
    )
    if not np.isfinite(made.values).all():
        raise NonFiniteError(f"{function}: the inverse does not fit float32; multiply A and b by a power of two")
    return SparseMatrix(made, found.device)


def chebyshev(
    A: Any,
    degree: int = 4,
    *,
    largest: float | None = None,
    smallest: float | None = None,
    device: DeviceLike | None = None,
) -> LinearOperator:
    """Polynomial in a symmetric positive definite matrix that is near its inverse, by the Chebyshev semi-iteration.

    Examples
    --------
    >>> import numpy as np
    >>> M = chebyshev(np.diag([1.0, 2.0]), 8, largest=2, smallest=1)
    >>> bool(np.abs(M @ [1.0, 2.0] - 1).max() < 1e-5)
    True

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy, array_like or LinearOperator
        n x n.
    degree : int
        Products with A per iteration, 1 to 64. A higher degree needs fewer iterations, so fewer reductions, but not
        fewer products.
    largest, smallest : float, optional
        Bounds of the eigenvalues. By default the largest is 1.1 times the estimate of ten steps of the power method,
        and the smallest that over 4 degree^2.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Raises
    ------
    OptionError
        Invalid degree, or bounds that are not positive, or A has no positive eigenvalue.

    Notes
    -----
    Source: Saad, "Iterative methods for sparse linear systems" (2003), section 12.3.
    """
    if not isinstance(degree, int | np.integer) or not 1 <= degree <= 64:
        raise OptionError(f"chebyshev: degree must be a number of products from 1 to 64, got {degree!r}")
    found = operator("chebyshev", "A", A, checked_device("chebyshev", device))
    if found.plan is None:
        raise UnsupportedError("chebyshev: A works on the host; pass a matrix, or a LinearOperator of glla's")
    upper = MARGIN * _largest(found) if largest is None else real("chebyshev", "largest", largest)
    lower = upper / (4 * degree**2) if smallest is None else real("chebyshev", "smallest", smallest)
    if not 0 < lower < upper < np.inf:
        raise OptionError(f"chebyshev: A must have eigenvalues above zero, and bounds in order, got {lower} to {upper}")
    scale = 2.0**-found.exponent
    plan = polynomial.chebyshev(found.plan, found.shape[0], degree, lower * scale, upper * scale, found.device.limits)
    operands = {f"A.{name}": texture for name, texture in found.textures.items()}
    return LinearOperator(found.shape, plan, found.device, **operands)


def _largest(a: Operator) -> float:
    """Estimate the largest eigenvalue of a symmetric matrix by the power method, from a random vector."""
    v = np.random.default_rng(2007).standard_normal(a.shape[0])
    value = 0.0
    for _ in range(POWER_STEPS):
        size = float(np.linalg.norm(v))
        if not size > 0:
            break
        w = a.times(v / size)
        value, v = float(np.linalg.norm(w)), w
    return value
