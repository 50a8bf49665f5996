"""Sparse matrices on the device, and solvers of sparse systems.

`asarray` makes one; ``A @ x`` multiplies; `linalg` has the solvers.
"""

from glla.sparse import linalg
from glla.sparse.matrix import SparseMatrix, asarray

__all__ = ["SparseMatrix", "asarray", "linalg"]
