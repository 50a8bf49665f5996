"""Solvers of sparse systems, with SciPy's signatures, and preconditioners.

Read `outer` first: the loop that all solvers share. `operators` has the matrices and operators that they take.
"""

from glla.sparse.linalg.conjugate import cg
from glla.sparse.linalg.general import gmres
from glla.sparse.linalg.minimal import minres
from glla.sparse.linalg.operators import LinearOperator
from glla.sparse.linalg.preconditioners import block_jacobi, chebyshev, jacobi
from glla.sparse.linalg.unsymmetric import bicgstab

__all__ = ["LinearOperator", "bicgstab", "block_jacobi", "cg", "chebyshev", "gmres", "jacobi", "minres"]
