"""Sparse matrices on the device, and what solves with them.

`asarray` puts one there; ``A @ x`` multiplies; `linalg` has the solvers.
"""

from glla.sparse import linalg
from glla.sparse.matrix import SparseMatrix, asarray

__all__ = ["SparseMatrix", "asarray", "linalg"]
