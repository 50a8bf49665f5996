"""Solvers of sparse systems, with SciPy's signatures, preconditioners, and a few eigenvalues (`glla.sparse.spectral`).

Read `outer` first: the loop that all solvers share. `operators` has the matrices and operators that they take.
"""

from glla.sparse.linalg.operators import LinearOperator
from glla.sparse.linalg.preconditioners import block_jacobi, chebyshev, jacobi
from glla.sparse.linalg.solvers import bicgstab, cg, gmres, minres
from glla.sparse.spectral.pairs import eigsh, svds

__all__ = [
    "LinearOperator", "bicgstab", "block_jacobi", "cg", "chebyshev", "eigsh", "gmres", "jacobi", "minres", "svds",
]  # fmt: skip
