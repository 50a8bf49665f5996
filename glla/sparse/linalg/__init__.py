"""Solvers of sparse systems, with SciPy's signatures, and preconditioners.

Read `outer` first: the loop that all solvers share. `operators` has the matrices and operators that they take.
"""

from glla.sparse.linalg.operators import LinearOperator
from glla.sparse.linalg.preconditioners import block_jacobi, chebyshev, jacobi
from glla.sparse.linalg.solvers import bicgstab, cg, gmres, minres

__all__ = ["LinearOperator", "bicgstab", "block_jacobi", "cg", "chebyshev", "gmres", "jacobi", "minres"]
