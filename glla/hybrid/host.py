"""The CPU side: the same functions by LAPACK, with the scaling and the error checks of those on the GPU.

float32 throughout; badly scaled matrices are first equilibrated by powers of two, and pivots are checked by the rule of
`glla.operations.acceptance`: both sides call the same matrices singular, except within rounding error of the limit.

SciPy's LAPACK factors and substitutes (`sgetrf`, `sgetrs`) without the interpreter lock, so that the thread that drives
the GPU goes on; its `lu`, `inv` and `sgetri` hold the lock all the time, and are not used: the inverse is the solution
for the identity, which takes as long as `sgetri`. LAPACK uses Fortran order and works in place: the copy is made by
`fortran`, several times faster than by SciPy. Without SciPy, NumPy solves and inverts, and detects only pivots that are
exactly zero; it returns no factors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32, finite_result
from glla.errors import NonFiniteError, SingularMatrixError
from glla.linalg import PLU, RREF
from glla.linalg.execution import Perform, run_stages
from glla.operations import OPERATIONS, acceptance
from glla.operations.acceptance import FALLBACK, Values
from glla.operations.elimination import fallback
from glla.operations.elimination import plu as factorisations
from glla.operations.elimination import rref as echelon
from glla.operations.elimination.decided import by_float64
from glla.operations.elimination.factors import probes
from glla.operations.elimination.fallback import complete_order
from glla.operations.elimination.plu import permutation_matrix, pivot_records
from glla.operations.host.refinement import rescaled_residual, turned
from glla.operations.host.scaling import exponent_of, of_system
from glla.operations.systems.det import sign_and_log
from glla.passes import forms_of

WELL_SCALED = 0.1
"""A matrix is scaled if the largest entry of a row or column is below this fraction of the largest of all; as in
LAPACK's slaqge."""

STRIP = 16
"""Rows that are converted to Fortran order at a time: 16 float32 elements fill a cache line of 64 bytes."""

WIDE_STRIP = 128
"""Columns whose largest entries are searched at a time. More need fewer calls, but more work on entries of L."""


@lru_cache
def has_lapack() -> bool:
    """Whether SciPy is installed."""
    return find_spec("scipy") is not None


def counterpart(operation: str) -> Callable[..., Any] | None:
    """Return the function of an operation on this side, for checked float32 arrays.

    It is the one that the operation's record names, imported now; without SciPy its substitute in `WITHOUT_SCIPY`. None
    if there is none.
    """
    module, _, name = OPERATIONS[operation].function.host.partition(":")
    if not module:
        return None
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function if has_lapack() else WITHOUT_SCIPY.get(function, function)


def fortran(a: Float32) -> Float32:
    """Copy an array into Fortran order.

    NumPy reads a C-ordered array row by row, and fetches a cache line of the copy for each element: for n = 2048 that
    took 30 ms, in strips 6 ms, where `sgetrf` takes 46 ms (AMD EPYC, 2 cores).
    """
    copy = np.empty(a.shape, a.dtype, order="F")
    if a.flags.f_contiguous:
        np.copyto(copy, a)
    else:
        for start in range(0, len(a), STRIP):
            copy[start : start + STRIP] = a[start : start + STRIP]
    return copy


# -- with LAPACK ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HostFactors:
    """Factors made by LAPACK."""

    packed: Float32  # L below the diagonal, U on and above it
    exchanges: NDArray[np.int32]  # LAPACK's ``piv``

    @staticmethod
    def of(a: Float32) -> HostFactors:
        """Factor a matrix."""
        from scipy.linalg import lapack

        packed, pivots, _ = lapack.sgetrf(fortran(a), overwrite_a=1)
        return HostFactors(packed, pivots.astype(np.int32, copy=False))

    def growth(self, scale: float) -> float:
        """Largest entry of U beside `scale`, that of the matrix; infinite if the factors are not finite."""
        return acceptance.growth(*self.diagonal, scale)

    @cached_property
    def diagonal(self) -> tuple[Float32, Float32]:
        """U's diagonal, and the largest magnitude in U's columns."""
        return np.diagonal(self.packed), _largest_of_upper(self.packed)

    def probe_solutions(self) -> Float32:
        """Solutions for `glla.operations.elimination.factors.probes`."""
        return self.solve_array(probes(len(self.packed)))

    @property
    def leading(self) -> HostFactors:
        """Factors of the square matrix of the leading columns of L and U, with its rows in order."""
        order = min(self.packed.shape)
        return HostFactors(np.asfortranarray(self.packed[:order, :order]), np.arange(order, dtype=np.int32))

    @property
    def diagonal_texels(self) -> Float32:
        """`diagonal` in the format of a plan's read-back, see `glla.operations.acceptance.of_diagonal`."""
        texels = np.zeros((-(-min(self.packed.shape) // 2), 4), dtype=np.float32)
        for part, figure in zip((texels[:, :2], texels[:, 2:]), self.diagonal, strict=True):
            part[...] = np.resize(np.append(figure, np.zeros(1, np.float32)), part.shape)
        return texels

    def solve_array(self, b: Float32, transposed: bool = False) -> Float32:
        """Solve A X = B, or with the transpose of A."""
        from scipy.linalg import lapack

        right, trans = fortran(b), int(transposed)
        x: Float32 = lapack.sgetrs(self.packed, self.exchanges, right, trans=trans, overwrite_b=1)[0]
        return x.reshape(b.shape, order="F")  # LAPACK returns a column for a vector


def _largest_of_upper(a: Float32) -> Float32:
    """Largest magnitude in each column of the upper triangle, some columns at a time."""
    rows, columns = a.shape
    largest = np.zeros(columns, dtype=a.dtype)
    for first in range(0, columns, WIDE_STRIP):
        strip = slice(first, first + WIDE_STRIP)
        for part in (a[: min(first, rows), strip], np.triu(a[first : first + WIDE_STRIP, strip])):
            if part.size:
                largest[strip] = np.maximum(largest[strip], np.maximum(part.max(axis=0), -part.min(axis=0)))
    return largest


def solve(a: Float32, b: Float32) -> Float32:
    """Solve A X = B, as `glla.solve`."""
    return finite_result("solve", _solve("solve", a, b), True)


def inv(a: Float32) -> Float32:
    """Inverse, as `glla.inv`."""
    return finite_result("inv", _solve("inv", a, np.eye(len(a), dtype=np.float32)), True)


def _solve(function: str, a: Float32, b: Float32) -> Float32:
    if 0 in b.shape:
        return b.copy()
    columns, stage = b.reshape(len(b), -1), "" if _equilibrated(a)[1] is None else FALLBACK
    values = {"A": a, "B": columns, "function": function, "which": ""}
    found = run_stages(OPERATIONS[function], forms_of((a, columns)), _in_place_of_plans(), values, stage)
    return fortran(found["X"].reshape(b.shape).T).T  # in C order


def _largest(a: Float32) -> float:
    return float(max(a.max(), -a.min()))


def _equilibrated(a: Float32) -> tuple[Float32, NDArray[np.int32] | None, NDArray[np.int32] | None]:
    """Scale A by 2^-(e_i + f_j) if its rows or columns differ much; also return e and f, None without scaling."""
    rows = np.maximum(a.max(axis=1), -a.min(axis=1))
    columns = np.maximum(a.max(axis=0), -a.min(axis=0))
    if all(most.min() >= WELL_SCALED * most.max() for most in (rows, columns)) and 2.0**-40 < rows.max() < 2.0**40:
        return a, None, None
    wide, e, f = of_system(a)
    return wide.astype(np.float32), e[:, 0], f[0]


def lu_factor(a: Float32) -> tuple[Float32, NDArray[np.int32]]:
    """Packed factors and exchanges, as `glla.lu_factor`."""
    if a.size == 0:
        return a.copy(), np.zeros(min(a.shape), dtype=np.int32)
    factors, scale = HostFactors.of(a), _largest(a)
    if scale > 0 and not (acceptance.size_near_one(scale) and _grew_little(factors.packed, scale)):
        known = {"function": "lu_factor", "check_finite": True, "turns": ("partial",)}
        values = run_stages(OPERATIONS["lu_factor"], forms_of((a,)), _again, {"A": a, **known}, FALLBACK)
        return values["lu"], values["piv"]
    return finite_result("lu_factor", factors.packed, True), factors.exchanges


def _again(stage: str, values: Values) -> Values:
    """Factor a matrix scaled by a power of two, with partial pivoting, the only pivoting of LAPACK."""
    scaled, exponent = factorisations.scaled_by_one(values["A"])
    factors = HostFactors.of(scaled)
    records = pivot_records(factors.exchanges)
    return {"scaled A": scaled, "exponent": exponent, "packed LU": factors.packed, "exchanges": records}


def _in_place_of_plans() -> Perform:
    """Return an executor of the stages of `glla.operations.elimination.fallback` by LAPACK."""
    factors: HostFactors

    def factored(a: Float32) -> dict[str, Any]:
        nonlocal factors
        factors = HostFactors.of(a)
        return {"diagonal": factors.diagonal_texels, "exchanges": pivot_records(factors.exchanges)}

    def perform(stage: str, values: Values) -> Values:
        if not stage:
            known = factored(values["A"])
            return {**known, "probe_solutions": factors.probe_solutions(), "X": factors.solve_array(values["B"])}
        if stage == FALLBACK:
            names = ("scaled A", "row exponents", "column exponents", "scaled B", "sizes")
            made = dict(zip(names, fallback.scaled_system(values["A"], values.get("B")), strict=True))
            return {**made, **factored(made["scaled A"])}
        if stage == fallback.COMPLETE:
            order = complete_order(values["scaled A"])
            return {"order": order, **factored(values["scaled A"][:, order])}
        if stage == fallback.PROBE:
            return {"probe_solutions": factors.probe_solutions()}
        if stage == fallback.PIVOT_CHECK:
            return {"errors": acceptance.errors_of_suspects(factors.packed, values["diagonal"])[0]}
        if stage == fallback.SUBSTITUTE:
            return {"X": factors.solve_array(values["scaled B"].astype(np.float32))}
        residual, sizes = rescaled_residual(values["residual"], values["e"])
        a, b, before = (values[name] for name in ("A in float64", "B in float64", "X so far"))
        x, left = turned(a, b, before, factors.solve_array(residual), sizes, values["f"])
        return {"corrected X": x, "residual left": left}

    return perform


def _grew_little(packed: Float32, scale: float) -> bool:
    """Tell whether U's entries are at most as many times `scale` as those of random matrices."""
    most = acceptance.allowed_growth(min(packed.shape)) * scale
    return _largest(packed) <= most or float(_largest_of_upper(packed).max()) <= most  # L's entries are 1 at most


def plu(a: Float32) -> PLU[Float32]:
    """A = P @ L @ U, as `glla.plu`."""
    k = min(a.shape)
    lu, exchanges = lu_factor(a)
    L = np.tril(lu[:, :k], -1)
    L[np.arange(k), np.arange(k)] = 1
    return PLU(permutation_matrix(exchanges, len(a)), L, np.triu(finite_result("plu", lu[:k], True)))


def det(a: Float32) -> Any:
    """Determinant, as `glla.det`."""
    if a.size == 0:
        return np.float32(1)
    scaled, rows, columns = _equilibrated(a)
    factors = HostFactors.of(scaled)
    if factors.growth(_largest(scaled)) <= acceptance.allowed_growth(len(a)):
        exponents = sum(int(part.sum()) for part in (rows, columns) if part is not None)
        sign, logarithm = map(np.float64, sign_and_log(factors.diagonal[0], factors.exchanges, exponents))
    else:
        values = run_stages(OPERATIONS["det"], forms_of((a,)), _in_place_of_plans(), {"A": a}, FALLBACK)
        sign, logarithm = np.float64(values["sign"]), np.float64(values["logarithm"])
    with np.errstate(over="ignore", under="ignore"):
        result = np.float32(sign * np.exp(logarithm))
    if not np.isfinite(result) or (result == 0 and sign != 0):
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {logarithm:.6g}; use slogdet"
        )
    return result


def rref(a: Float32) -> RREF[Float32]:
    """Reduced row echelon form and pivot columns, as `glla.rref`; LAPACK's factors pass the same check."""
    if a.size == 0:
        return RREF(np.zeros_like(a), ())
    given = {"A": a, "tol": None, "pivoting": "partial"}
    values = run_stages(OPERATIONS["rref"], forms_of((a,)), _in_place_of_elimination(), given)
    return RREF(finite_result("rref", values["R"], True), values["leading"])


def _in_place_of_elimination() -> Perform:
    """Return an executor of the stages of `operations.elimination.rref`: A = P L [U11 U12], R = [I, U11^-1 U12]."""
    leading: HostFactors

    def perform(stage: str, values: Values) -> Values:
        nonlocal leading
        a = values["A"]
        if stage == echelon.DECIDED:
            r, pivots = by_float64(a)
            return {"R": r, "leading": pivots}
        if stage == echelon.PIVOT_CHECK:
            return {"errors": acceptance.errors_of_suspects(leading.packed, leading.diagonal_texels)[0]}
        scaled, rows, columns = _equilibrated(a)
        if rows is None or columns is None:
            scaled = np.ldexp(a, 1 - exponent_of(_largest(a)))
            rows, columns = (np.zeros(count, np.int32) for count in a.shape)
        factors = HostFactors.of(scaled)
        leading = factors.leading
        return {
            "diagonal": leading.diagonal_texels,
            "probe_solutions": leading.probe_solutions(),
            "row_exponents": rows,
            "column_exponents": columns,
            "R": _echelon(factors, columns),
        }

    return perform


def _echelon(factors: HostFactors, exponents: NDArray[np.int32]) -> Float32:
    """[I, U11^-1 U12], with its columns scaled back; meaningless if U11 is singular."""
    from scipy.linalg import lapack

    order = min(factors.packed.shape)
    r = np.zeros(factors.packed.shape, dtype=np.float32)
    np.fill_diagonal(r, 1)
    if order < factors.packed.shape[1]:
        x = lapack.strtrs(factors.packed[:, :order], factors.packed[:, order:])[0]
        r[:, order:] = np.ldexp(x, exponents[order:] - exponents[:order, np.newaxis])
    return r


def matmul(a: Float32, b: Float32) -> Float32:
    """A @ B, as `glla.matmul`, by NumPy's BLAS, without the interpreter lock."""
    with np.errstate(all="ignore"):
        return finite_result("matmul", np.matmul(a, b), True)


# -- without ------------------------------------------------------------------------------------------------------


def numpy_solve(a: Float32, b: Float32) -> Float32:
    """Solve A X = B, as `glla.solve`, by NumPy."""
    return finite_result("solve", _refusing("solve", np.linalg.solve, a, b), True)


def numpy_inv(a: Float32) -> Float32:
    """Inverse, as `glla.inv`, by NumPy."""
    return finite_result("inv", _refusing("inv", np.linalg.inv, a), True)


def _refusing(name: str, function: Callable[..., Any], *arrays: Float32) -> Float32:
    try:
        result: Float32 = function(*arrays)
    except np.linalg.LinAlgError:
        raise SingularMatrixError(
            f"{name}: Singular matrix: a pivot is zero; remove dependent rows or columns, or find them with rref"
        ) from None
    return result


WITHOUT_SCIPY: dict[Callable[..., Any], Callable[..., Any] | None] = {
    solve: numpy_solve,
    inv: numpy_inv,
    lu_factor: None,
    plu: None,
    det: None,
    rref: None,
}
"""Substitutes for the functions that call SciPy's LAPACK, where SciPy is missing."""
