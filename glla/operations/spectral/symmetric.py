"""The symmetric matrix of a triangle, scaled, before its eigenvalues are found; values and vectors scaled back after.

    A --> its triangle mirrored --> max |a_ij| --> A 2^-e --> (values L, vectors V) --> L 2^e, V with signs

Scaling by a power of two is exact. Every way to the eigenvalues begins and ends with these passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from glla.errors import LimitError
from glla.operations.layouts import packing
from glla.operations.reduce import max_magnitude
from glla.passes import Draft, Limits, Plan, Storage, Uniform, matrix, wrapped
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels


@dataclass(frozen=True)
class Subset:
    """Some eigenvalues by their numbers, from 0 in ascending order."""

    first: int
    count: int

    @property
    def uniforms(self) -> dict[str, Uniform]:
        """As shaders take it."""
        return {"first": self.first, "count": self.count}


class ScaledMatrix(NamedTuple):
    """Slots of a symmetric matrix: its entries at most 2, and its largest one before."""

    matrix: str
    largest: str


def must_fit(function: str, n: int, limits: Limits) -> None:
    """Raise LimitError where a line of n texels, one for each eigenvalue, does not fit a texture."""
    most = limits.texture_size
    if n > most:
        raise LimitError(f"{function}: A must be of order {most} at most on this device, got {n}", n, most)


def add_scaled(draft: Draft, a: str, n: int, lower: bool) -> ScaledMatrix:
    """Add the passes to the scaled symmetric matrix of a triangle."""
    whole = draft.call("mirrored", packing.mirrored(n, lower), A=a)["M"]
    largest = draft.call("largest", max_magnitude((n, n)), A=whole)["max"]
    return ScaledMatrix(draft.call("scaled", scaled((n, n)), A=whole, largest=largest)["scaled"], largest)


def add_values(draft: Draft, values: str, largest: str, n: int, subset: Subset, limits: Limits) -> str:
    """Add the pass to some of n values scaled back, an array of one dimension."""
    return draft.call("values", scaled_back(n, subset, limits.texture_size), L=values, largest=largest)["w"]


@cached_plan
def scaled(shape: Shape) -> Plan:
    """Plan of A 2^-e: operands ``A`` and ``largest``, result ``scaled``. One pass."""
    draft = Draft("scaled")
    inputs = {"A": draft.operand("A", matrix(shape)), "largest": draft.operand("largest", Storage(1, 1))}
    result = draft.slot("scaled", matrix(shape))
    draft.draw("spectral/eigh/scale", inputs, result)
    return draft.plan({"scaled": result})


@cached_plan
def scaled_back(n: int, subset: Subset, texture_size: int) -> Plan:
    """Plan of values times 2^e: operands ``L``, a line of texels, and ``largest``; result ``w``, an array. One pass."""
    draft = Draft("scaled back")
    inputs = {"L": draft.operand("L", Storage(1, n)), "largest": draft.operand("largest", Storage(1, 1))}
    storage = wrapped(subset.count, texture_size)
    w = draft.slot("w", storage)
    draft.draw("spectral/eigh/values", inputs, w, {**subset.uniforms, "row_texels": storage.width})
    return draft.plan({"w": w})


@cached_plan
def signed(n: int, count: int) -> Plan:
    """Plan of V with the largest entry of each column positive, the first among equals.

    Operands ``V`` and ``largest``, the largest entry of A: if it is not finite, V is NaN. Result ``V``. Two passes.
    """
    draft = Draft("signed")
    v, signs = draft.operand("V", matrix((n, count))), draft.slot("signs", Storage(1, texels(count)))
    largest = draft.operand("largest", Storage(1, 1))
    result = draft.slot("signed V", matrix((n, count)))
    draft.draw("spectral/eigh/signs", {"V": v, "largest": largest}, signs, {"height": texels(n)})
    draft.draw("spectral/eigh/signed", {"V": v, "signs": signs}, result)
    return draft.plan({"V": result})
