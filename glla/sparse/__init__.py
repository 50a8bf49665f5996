"""Sparse matrices on the device, and what solves with them.

`asarray` puts one there; ``A @ x`` multiplies.
"""

from glla.sparse.matrix import SparseMatrix, asarray

__all__ = ["SparseMatrix", "asarray"]
