"""The public functions. Written by ``python -m glla.generate``; do not edit."""

from glla.linalg.banded import solve_banded, solveh_banded
from glla.linalg.cholesky import cho_factor, cholesky
from glla.linalg.definite import cho_solve
from glla.linalg.definite_band import cho_solve_banded, cholesky_banded
from glla.linalg.determinants import det, slogdet
from glla.linalg.echelon import rref
from glla.linalg.factorise import lu_factor, plu
from glla.linalg.orthogonal import lstsq, qr
from glla.linalg.products import matmul
from glla.linalg.systems import inv, lu_solve, rcond, solve
from glla.linalg.triangular import solve_triangular

__all__ = [
    "cho_factor",
    "cho_solve",
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "det",
    "inv",
    "lstsq",
    "lu_factor",
    "lu_solve",
    "matmul",
    "plu",
    "qr",
    "rcond",
    "rref",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_triangular",
    "solveh_banded",
]
