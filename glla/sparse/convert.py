"""Conversion of user arguments to compressed rows: SciPy's matrices and arrays, dense ones, and glla's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import all_finite, as_float32, refuse_nonfinite
from glla.errors import DTypeError, LimitError, NonFiniteError, ShapeError
from glla.operations.sparse.compressed import Compressed

MOST = 2**31 - 1
"""Rows, columns and entries at most: indices on a device are int32."""


def is_scipy(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy, or has the same interface."""
    return hasattr(value, "tocoo") and hasattr(value, "shape")


def compressed(value: Any, check_finite: bool = True) -> Compressed:
    """Convert a matrix to compressed rows of float32; duplicate entries are summed, in float64; bool ones by "or".

    Raises ShapeError, DTypeError, NonFiniteError, LimitError: not a matrix, not real, not finite, or too large for
    int32 indices.
    """
    if not is_scipy(value):
        dense = value.numpy() if isinstance(value, Array) else as_float32("sparse", "A", value, check_finite)
        if dense.ndim != 2:
            raise ShapeError(f"sparse: A must be a matrix, got shape {dense.shape}")
        rows, columns = np.nonzero(dense)
        return Compressed.of_triplets(dense.shape, rows, columns, dense[rows, columns])
    shape = tuple(map(int, value.shape))
    if len(shape) != 2:
        raise ShapeError(f"sparse: A must be a matrix, got shape {shape}")
    found = value.tocoo()
    if max(*shape, found.nnz) > MOST:
        raise LimitError(
            f"sparse: rows, columns and entries are counted in int32, {MOST} at most, got shape {shape} with "
            f"{found.nnz} entries; cut the matrix into blocks of rows",
            max(*shape, found.nnz),
            MOST,
        )
    if found.dtype.kind not in "biuf":
        raise DTypeError(f"sparse: A must be real numbers (bool, integer or float), got dtype {found.dtype}")
    if check_finite:
        refuse_nonfinite("sparse", "A", found.data)
    made = Compressed.of_triplets(shape, found.row, found.col, found.data)
    if found.dtype.kind == "b":  # the sum of two truths is true
        made = replace(made, values=np.minimum(made.values, 1))
    if check_finite and not all_finite(made.values):
        raise NonFiniteError("sparse: entries of A, those of one place summed, must fit float32; scale A")
    return made
