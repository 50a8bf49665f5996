"""The public functions. Written by ``python -m glla.generate``; do not edit."""

from glla.linalg.cholesky import cholesky
from glla.linalg.determinants import det, slogdet
from glla.linalg.echelon import rref
from glla.linalg.factorise import lu_factor, plu
from glla.linalg.products import matmul
from glla.linalg.systems import inv, lu_solve, rcond, solve

__all__ = [
    "cholesky",
    "det",
    "inv",
    "lu_factor",
    "lu_solve",
    "matmul",
    "plu",
    "rcond",
    "rref",
    "slogdet",
    "solve",
]
