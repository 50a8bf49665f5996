"""The public functions, imported when they are first used. Written by ``python -m glla.generate``; do not edit."""

from glla.lazily import attach

PLACES = {
    "cho_factor": "glla.linalg.factorise:cho_factor",
    "cho_solve": "glla.linalg.definite:cho_solve",
    "cho_solve_banded": "glla.linalg.definite:cho_solve_banded",
    "cholesky": "glla.linalg.factorise:cholesky",
    "cholesky_banded": "glla.linalg.definite:cholesky_banded",
    "cond": "glla.linalg.spectral.derived:cond",
    "det": "glla.linalg.determinants:det",
    "eigen_bounds": "glla.linalg.spectral.bounds:eigen_bounds",
    "eigh": "glla.linalg.spectral.symmetric:eigh",
    "eigh_tridiagonal": "glla.linalg.spectral.tridiagonal:eigh_tridiagonal",
    "eigvalsh": "glla.linalg.spectral.symmetric:eigvalsh",
    "inv": "glla.linalg.systems:inv",
    "lstsq": "glla.linalg.orthogonal:lstsq",
    "lu_factor": "glla.linalg.factorise:lu_factor",
    "lu_solve": "glla.linalg.systems:lu_solve",
    "matmul": "glla.linalg.products:matmul",
    "matrix_rank": "glla.linalg.spectral.derived:matrix_rank",
    "null_space": "glla.linalg.spectral.derived:null_space",
    "orth": "glla.linalg.spectral.derived:orth",
    "pinv": "glla.linalg.spectral.derived:pinv",
    "plu": "glla.linalg.factorise:plu",
    "polar": "glla.linalg.spectral.derived:polar",
    "qr": "glla.linalg.orthogonal:qr",
    "rcond": "glla.linalg.systems:rcond",
    "rref": "glla.linalg.echelon:rref",
    "slogdet": "glla.linalg.determinants:slogdet",
    "solve": "glla.linalg.systems:solve",
    "solve_banded": "glla.linalg.banded:solve_banded",
    "solve_triangular": "glla.linalg.triangular:solve_triangular",
    "solveh_banded": "glla.linalg.banded:solveh_banded",
    "sqrtm": "glla.linalg.spectral.derived:sqrtm",
    "svd": "glla.linalg.spectral.singular:svd",
    "svdvals": "glla.linalg.spectral.singular:svdvals",
}

__all__ = [*PLACES]

__getattr__, __dir__ = attach(__name__, PLACES)
