"""PLU factors that stay on the device: made once from A, used for many right-hand sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.gl import Device, Texture
from glla.gl.observers import host_step
from glla.operations import acceptance
from glla.operations.acceptance import rounding_errors
from glla.operations.elimination import counts, fallback, plu
from glla.operations.elimination import factors as plans
from glla.operations.elimination.factors import PROBES
from glla.operations.reduce import max_magnitude
from glla.operations.systems import lu_solve
from glla.passes import Draft, Plan, matrix, resident
from glla.passes.layout import Shape


@dataclass(frozen=True)
class Factors:
    """A = P L U of an m x n matrix, packed, with its row exchanges."""

    lu: Array  # L below the diagonal, U on and above it
    records: Texture  # the pivot records of all steps, see ``pivot/factor_records.frag``
    row_exponents: Texture | None = None  # what the matrix was scaled by before it was factored, if it was
    column_exponents: Texture | None = None

    @property
    def device(self) -> Device:
        """Where they live."""
        return self.lu.device

    @property
    def held(self) -> Texture:
        """Texture of the packed factors."""
        return self.lu.texture

    @property
    def shape(self) -> Shape:
        """Rows and columns of the matrix."""
        return self.lu.value.matrix

    @property
    def steps(self) -> int:
        """Steps of the factorisation, two columns each."""
        return counts.steps(self.shape)

    @cached_property
    def pivots(self) -> NDArray[np.int32]:
        """LAPACK's ``piv``: at step i, row i was exchanged with row piv[i]. Synchronises once."""
        return plu.exchanges(self.device.read(self.records), min(self.shape))

    @cached_property
    def diagonal(self) -> tuple[Float32, Float32]:
        """U's diagonal, and the largest magnitude in U's columns. Square matrices; synchronises once."""
        n = self.shape[0]
        return acceptance.of_diagonal(self.run(_diagonal_plan(n))["diagonal"], n)

    @cached_property
    def exponents(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Powers of two that rows and columns were scaled by, zeros where they were not. Synchronises once."""

        def read(texture: Texture | None, count: int) -> NDArray[np.int32]:
            if texture is None:
                return np.zeros(count, dtype=np.int32)
            return acceptance.pairs(self.device.read(texture), count).astype(np.int32)

        rows, columns = self.shape
        return read(self.row_exponents, rows), read(self.column_exponents, columns)

    @cached_property
    def inverse_norm(self) -> float:
        """Estimate of the Frobenius norm of the inverse of the factored matrix (scaled, if it was). Synchronises.

        It is made of the solutions for `glla.operations.elimination.factors.probes`. Infinite where a solution is not
        finite.
        """
        return acceptance.norm_of_probes(self.probe_solutions())

    def probe_solutions(self) -> Float32:
        """Solutions for `glla.operations.elimination.factors.probes`, of the factored matrix. Synchronises."""
        plan = fallback.probe(fallback.System(self.shape[0], PROBES, self.device.limits))
        found: Float32 = self.run(plan)["probe_solutions"]
        return found

    def run(self, plan: Plan, **operands: Any) -> dict[str, Any]:
        """Run a plan of which these factors are operands."""
        own = {
            "LU": self.lu.texture,
            "pivots": self.records,
            "row_exponents": self.row_exponents,
            "column_exponents": self.column_exponents,
        }
        given: dict[str, Any] = {name: own[name] for name in plan.operands if name in own}
        return self.device.run(plan, **given, **operands)

    def check_regular(self, function: str, which: str = "") -> None:
        """Raise if a pivot is zero, or nothing but rounding error. Synchronises.

        A pivot that is small beside its column is compared with its own rounding error. Both change alike when rows
        or columns of A are scaled: a graded matrix passes, the last pivot of [[1, 1], [1, 1]] does not, whatever the
        driver's division made of it. `which` says, for the message, which matrix of a stack this is.

        Raises SingularMatrixError: names the first such pivot.
        """
        u, largest = self.diagonal
        if not acceptance.some_small(u, largest) and not acceptance.inverse_is_large(self.inverse_norm, largest):
            return
        found = acceptance.zero_pivot(u)
        if found is None:
            found = acceptance.first_rounded_off(
                u, largest, _rounding_errors(self.packed, acceptance.suspects(u, largest))
            )
        if found is not None:
            raise acceptance.singular(function, len(u), found, which)

    def in_bounds(self, a: Float32) -> bool:
        """Whether the entries stayed in bounds, and so did the exponents of the scaling. Synchronises.

        `a` is the matrix; it is looked at only if it was not equilibrated.
        """
        size = float(np.max(np.abs(a))) if self.row_exponents is None else 1.0
        near = all(np.max(np.abs(part)) <= acceptance.NEAR_ONE for part in self.exponents)
        return near and acceptance.size_near_one(size) and not acceptance.grew(self.growth(size), self.shape[0])

    @property
    def packed(self) -> Float32:
        """The factors on the host. Synchronises."""
        return self.lu.numpy()

    def growth(self, scale: float) -> float:
        """Largest entry of U beside `scale`, that of the matrix; infinite if the factors are not finite."""
        return acceptance.growth(*self.diagonal, scale)

    def solve(self, b: Array, transposed: bool = False) -> Array:
        """Solve A X = B, or with the transpose of A, on the device. Does not synchronise.

        The factors must be those of a regular matrix.
        """
        return Array(self.device, self.run(self.solution(b.shape[1], transposed), B=b.texture)["X"], b.shape)

    def solution(self, columns: int, transposed: bool = False) -> Plan:
        """Plan that `solve` runs for this number of right-hand sides."""
        n = self.shape[0]
        forms = resident((n, n), (n, columns))
        scaled = self.row_exponents is not None
        return lu_solve.device_plan(forms, self.device.limits, transposed=transposed, equilibrated=scaled)


def _diagonal_plan(n: int) -> Plan:
    draft = Draft("diagonal")
    made = plans.FactorSlots((n, n), draft.operand("LU", matrix((n, n))), "")
    return draft.plan({"diagonal": plans.read_diagonal(draft, made)})


_rounding_errors = host_step(fallback.ERRORS)(rounding_errors)


def largest_magnitude(a: Array) -> float:
    """Max |a_ij|, reduced on the device. Synchronises."""
    result = a.device.run(max_magnitude((a.shape[0], a.shape[1])), A=a.texture)["max"]
    return float(a.device.read(result)[0, 0, 0])


def factorise(a: Array, equilibrate_first: bool = False) -> Factors:
    """Factor a matrix, m x n, not empty, on its device, with nothing read back. `equilibrate_first`: scaled."""
    device, shape = a.device, a.value.matrix
    made = device.run(plans.made(resident(shape), device.limits, equilibrated=equilibrate_first), A=a.texture)
    scales = made.get("row_exponents"), made.get("column_exponents")
    return Factors(Array(device, made["LU"], shape), made["pivots"], *scales)


def from_pivots(lu: Array, pivots: NDArray[np.integer]) -> Factors:
    """Factors that were made elsewhere: packed L and U, and LAPACK's exchanges, which become pivot records."""
    return Factors(lu, lu.device.write_texels(plu.pivot_records(pivots)))
