"""Pivot search: which two rows a step of an elimination brings up.

A pivot is a *pair of row indices*, found by a reduction on the device and left there, one texel for each step (a
*record*): the elimination pass fetches it, so a factorisation never waits for the host. One set of passes serves every
norm:

``partial``
    Each column by itself, the largest entry in magnitude, as LAPACK: search column 2k, then column 2k+1 as it will be
    after the first elimination. Right for every matrix; multipliers are at most 1.
``harmonic``, ``geometric``
    The thesis's block pivoting: both rows in one search, among pairs that share a texel, by a norm of the 2x2 block.
    Fewer passes, but a matrix whose rows pair badly has no good pair; ``health`` tells, and the caller turns to
    ``partial``.

Records alternate between two textures, even steps and odd ones, because a step reads the record of the one before
and a pass may not read what it draws to.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt

from glla.errors import OptionError
from glla.layout import Shape, texels
from glla.passes import Draft, Region, Storage

NORMS = {"partial": 0, "harmonic": 2, "geometric": 3}
"""Pivoting strategy -> NORM of ``pivot/measure.frag`` (``partial`` takes 0, then 1)."""

SMALLEST_RATIO = 2.0**-7
"""Every pivot norm of a block-pivoted elimination must be this part of its two columns' largest entry, or more."""


def allowed_growth(order: int) -> float:
    """Element growth that a block-pivoted elimination of so many columns may show.

    Growth of about sqrt(order) is what random matrices have with any pivoting (measured with the block norms: up to 50
    at order 4, 512 alike, usually 2 and 40), and costs no more accuracy than the bound n u norm(A) has room for.

    >>> allowed_growth(4), allowed_growth(256)
    (24.0, 80.0)
    """
    return 16.0 + 4.0 * sqrt(order)


def accepted(ratio: float, largest: float, scale: float, order: int = 1) -> bool:
    """Decide from the health of a block-pivoted elimination whether its result stands.

    A multiplier is at most 2 / ratio, and an error made at a step is carried on by it; element growth is what the
    backward error of an elimination is proportional to. NaN never passes.

    Parameters
    ----------
    ratio : float
        Smallest pivot norm over the largest entry in its column pair (its square, for the geometric norm): neither
        pivot is below half of it.
    largest : float
        Largest entry met in any column pair.
    scale : float
        Largest entry of the matrix.
    order : int
        Columns eliminated.

    Examples
    --------
    >>> accepted(0.2, 3.0, 1.0), accepted(0.0, 3.0, 1.0), accepted(0.2, 300.0, 1.0)
    (True, False, False)
    """
    return ratio >= SMALLEST_RATIO and largest <= allowed_growth(order) * scale


TOLERANCE = Storage(1, 1, 2)
"""The tolerance: an absolute figure and a relative one, in unit roundoffs."""


@dataclass(frozen=True)
class Records:
    """Names of the slots that hold the records and their health, even steps first."""

    pivots: tuple[str, str]
    health: tuple[str, str]

    def results(self, steps: int) -> dict[str, str]:
        """Slots that a plan of so many steps hands out: all records, and the health of the last step."""
        named = {"pivots_even": self.pivots[0], "health": self.health[(steps - 1) % 2]}
        return named | ({"pivots_odd": self.pivots[1]} if steps > 1 else {})


def record_storage(steps: int) -> Storage:
    """Storage of the records of the even steps; the odd ones take as much.

    >>> record_storage(5)
    Storage(height=1, width=3, channels=4)
    """
    return Storage(1, (steps + 1) // 2)


class Search:
    """Adds the passes of pivot searches to a draft.

    Parameters
    ----------
    draft : Draft
        Where the passes go. Its operand ``tolerance`` (1x1: absolute, relative) says what is no pivot, see
        ``lib/threshold.glsl``.
    shape : tuple of int
        Rows and columns of the matrix.
    steps : int
        Column pairs that will be searched.
    pivoting : str
        A key of `NORMS`.
    fixed : bool
        Step k looks for rows 2k and 2k+1 (a factorisation), or for the next rows after the rank found so far
        (an echelon form).
    """

    def __init__(self, draft: Draft, shape: Shape, steps: int, pivoting: str, fixed: bool) -> None:
        if pivoting not in NORMS:
            raise OptionError(f"pivoting: must be one of {', '.join(NORMS)}, got {pivoting!r}")
        self.draft = draft
        self.shape = shape
        self.pivoting = pivoting
        self.fixed = fixed
        self.weight = int(pivoting == "partial" and not fixed)  # candidates carry a sum, see pivot/measure.frag
        self.height = texels(shape[0])
        self.chunk = self.height if self.height <= 16 else isqrt(self.height - 1) + 1
        self.tolerance = draft.operand("tolerance", TOLERANCE)
        record = record_storage(steps)
        self.records = Records(
            (draft.slot("pivots_even", record), draft.slot("pivots_odd", record)),
            (draft.slot("health_even", record), draft.slot("health_odd", record)),
        )
        count = Storage(self._fragments(0), 1)
        self.firsts = draft.slot("candidates", count)
        self.first = draft.slot("first", Storage(1, 1))
        self.seconds = draft.slot("candidates_second", count)

    def step(self, k: int, matrix: str) -> tuple[str, int]:
        """Search the column pair of step k in the slot `matrix`; return slot and texel of the record."""
        if self.pivoting == "partial":
            first = self._winner(k, self._measure(k, matrix, NORMS["partial"], self.firsts))
            candidates = self._measure(k, matrix, 1, self.seconds, first)
            self._record(k, candidates, first)
        else:
            self._record(k, self._measure(k, matrix, NORMS[self.pivoting], self.firsts))
        return self.records.pivots[k % 2], k // 2

    def _fragments(self, k: int) -> int:
        """Fragments that search step k: chunks of what can still be active."""
        active = self.height - k if self.fixed else self.height
        return -(-max(active, 1) // self.chunk)

    def _before(self, k: int) -> tuple[str, int]:
        """Slot and texel of the record before step k; at step 0 any texture will do."""
        return (self.records.pivots[1 - k % 2], (k - 1) // 2) if k else (self.tolerance, -1)

    def _measure(self, k: int, matrix: str, norm: int, target: str, first: str = "") -> str:
        inputs = {"A": matrix}
        uniforms: dict[str, int | tuple[int, ...]] = {"k": k, "chunk": self.chunk, "shape": self.shape}
        inputs |= {"tolerance": self.tolerance} if norm else {}
        inputs |= {"first": first} if first else {}
        if not self.fixed:
            inputs["record"], uniforms["previous"] = self._before(k)
        defines = {"NORM": norm, "FIXED": int(self.fixed)}
        region = Region(0, 0, 1, self._fragments(k))
        self.draft.draw("pivot/measure", inputs, target, uniforms, defines, region)
        return target

    def _winner(self, k: int, candidates: str) -> str:
        count = self._fragments(k)
        if count == 1:
            return candidates
        defines = {"WEIGHT": self.weight}
        self.draft.draw("pivot/reduce", {"candidates": candidates}, self.first, {"count": count}, defines)
        return self.first

    def _record(self, k: int, candidates: str, first: str = "") -> None:
        record, previous = self._before(k)
        watched = self.records.health[1 - k % 2] if k else self.tolerance
        inputs = {"candidates": candidates, "tolerance": self.tolerance, "watched": watched}
        inputs |= {"first": first} if first else {}
        inputs |= {} if self.fixed else {"record": record}
        self.draft.draw(
            "pivot/record",
            inputs,
            (self.records.pivots[k % 2], self.records.health[k % 2]),
            {"count": self._fragments(k), "previous": previous, "k": k},
            {
                "PAIR": int(not first),
                "FIXED": int(self.fixed),
                "WEIGHT": self.weight,
                "GEOMETRIC": int(self.pivoting == "geometric"),
            },
            Region(k // 2, 0, 1, 1),
        )
