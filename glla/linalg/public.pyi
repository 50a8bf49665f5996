"""The public functions, for each kind of operands. Written by ``python -m glla.generate``; do not edit."""

from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix
from glla.array.convert import Array
from glla.gl import DeviceLike
from glla.linalg.results import PLU, RREF, QRResult, RefinedSolution, SlogdetResult
from glla.registry import Overriding

Given = TypeVar("Given")

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

@overload
def cho_factor(
    a: Overriding[Given],
    lower: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def cho_factor(
    a: Matrix,
    lower: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Matrix, bool]: ...
@overload
def cho_factor(
    a: Any,
    lower: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Array, bool]: ...
@overload
def cho_solve(
    c_and_lower: Overriding[Given], b: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Given: ...
@overload
def cho_solve(
    c_and_lower: tuple[Overriding[Given], bool], b: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Given: ...
@overload
def cho_solve(
    c_and_lower: tuple[Any, bool], b: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True
) -> Given: ...
@overload
def cho_solve(
    c_and_lower: tuple[Matrix, bool], b: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Matrix: ...
@overload
def cho_solve(
    c_and_lower: tuple[Any, bool], b: Matrix, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Matrix: ...
@overload
def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Array: ...
@overload
def cho_solve_banded(
    cb_and_lower: Overriding[Given],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def cho_solve_banded(
    cb_and_lower: tuple[Overriding[Given], bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def cho_solve_banded(
    cb_and_lower: tuple[Any, bool],
    b: Overriding[Given],
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def cho_solve_banded(
    cb_and_lower: tuple[Matrix, bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def cho_solve_banded(
    cb_and_lower: tuple[Any, bool],
    b: Matrix,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def cho_solve_banded(
    cb_and_lower: tuple[Any, bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Array: ...
@overload
def cholesky(
    a: Overriding[Given],
    *,
    upper: bool = False,
    lower: None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def cholesky(
    a: Matrix,
    *,
    upper: bool = False,
    lower: None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def cholesky(
    a: Any,
    *,
    upper: bool = False,
    lower: None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array: ...
@overload
def cholesky_banded(
    ab: Overriding[Given],
    *,
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def cholesky_banded(
    ab: Matrix,
    *,
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def cholesky_banded(
    ab: Any,
    *,
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array: ...
@overload
def det(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def det(a: Matrix, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Matrix: ...
@overload
def det(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Array: ...
@overload
def inv(
    a: Overriding[Given],
    *,
    assume_a: str = "gen",
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def inv(
    a: Matrix,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def inv(
    a: Any,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array: ...
@overload
def lstsq(
    a: Overriding[Given],
    b: Any,
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lstsq(
    a: Any,
    b: Overriding[Given],
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lstsq(
    a: Matrix,
    b: Any,
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Matrix, Matrix, int, Matrix]: ...
@overload
def lstsq(
    a: Any,
    b: Matrix,
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Matrix, Matrix, int, Matrix]: ...
@overload
def lstsq(
    a: Any,
    b: Any,
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Array, Array, int, Array]: ...
@overload
def lu_factor(
    a: Overriding[Given],
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lu_factor(
    a: Matrix,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Matrix, NDArray[np.int32]]: ...
@overload
def lu_factor(
    a: Any,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Array, NDArray[np.int32]]: ...
@overload
def lu_solve(
    lu_and_piv: Overriding[Given],
    b: Any,
    trans: int = 0,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lu_solve(
    lu_and_piv: tuple[Overriding[Given], Any],
    b: Any,
    trans: int = 0,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Overriding[Given],
    trans: int = 0,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def lu_solve(
    lu_and_piv: tuple[Matrix, Any],
    b: Any,
    trans: int = 0,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Matrix,
    trans: int = 0,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Array: ...
@overload
def matmul(
    a: Overriding[Given],
    b: Any,
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def matmul(
    a: Any,
    b: Overriding[Given],
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def matmul(
    a: Matrix,
    b: Any,
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def matmul(
    a: Any,
    b: Matrix,
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array: ...
@overload
def plu(
    a: Overriding[Given],
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def plu(
    a: Matrix,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> PLU[Matrix]: ...
@overload
def plu(
    a: Any,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> PLU[Array]: ...
@overload
def qr(
    a: Overriding[Given],
    mode: str = "reduced",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def qr(
    a: Matrix,
    mode: str = "reduced",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> QRResult[Matrix] | Matrix | tuple[Matrix, Matrix]: ...
@overload
def qr(
    a: Any,
    mode: str = "reduced",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> QRResult[Array] | Array | tuple[Array, Array]: ...
@overload
def rcond(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def rcond(a: Matrix, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Matrix: ...
@overload
def rcond(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Array: ...
@overload
def rref(
    a: Overriding[Given],
    tol: float | None = None,
    pivoting: str = "harmonic",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def rref(
    a: Matrix,
    tol: float | None = None,
    pivoting: str = "harmonic",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> RREF[Matrix]: ...
@overload
def rref(
    a: Any,
    tol: float | None = None,
    pivoting: str = "harmonic",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> RREF[Array]: ...
@overload
def slogdet(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def slogdet(a: Matrix, *, device: DeviceLike | None = None, check_finite: bool = True) -> SlogdetResult[Matrix]: ...
@overload
def slogdet(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> SlogdetResult[Array]: ...
@overload
def solve(
    a: Overriding[Given],
    b: Any,
    refine: bool = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def solve(
    a: Any,
    b: Overriding[Given],
    refine: bool = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Given: ...
@overload
def solve(
    a: Any,
    b: Any,
    refine: Literal[True],
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> RefinedSolution: ...
@overload
def solve(
    a: Matrix,
    b: Any,
    refine: Literal[False] = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def solve(
    a: Any,
    b: Matrix,
    refine: Literal[False] = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix: ...
@overload
def solve(
    a: Any,
    b: Any,
    refine: Literal[False] = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array: ...
@overload
def solve(
    a: Any,
    b: Any,
    refine: bool = False,
    equilibrate: bool = True,
    *,
    assume_a: str = "gen",
    lower: bool = False,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix | Array | RefinedSolution: ...
@overload
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Overriding[Given],
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Overriding[Given],
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Matrix,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Matrix,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array: ...
@overload
def solve_triangular(
    a: Overriding[Given],
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solve_triangular(
    a: Any,
    b: Overriding[Given],
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solve_triangular(
    a: Matrix,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solve_triangular(
    a: Any,
    b: Matrix,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array: ...
@overload
def solveh_banded(
    ab: Overriding[Given],
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solveh_banded(
    ab: Any,
    b: Overriding[Given],
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Given: ...
@overload
def solveh_banded(
    ab: Matrix,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solveh_banded(
    ab: Any,
    b: Matrix,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Matrix: ...
@overload
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array: ...
