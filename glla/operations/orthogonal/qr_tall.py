"""QR of a tall matrix by a tree: blocks of rows are factored at once, then their stacked R's, and so on.

    A = [A_1; A_2; ...] --> R_1, R_2, ... --> [R_1; R_2; ...] --> ... --> R
    Q_i = H_i [rows of the next level's Q; 0] <-- ... <-- Q of the last level

A column of a tall matrix is a long chain of sums for one fragment; a tree has short ones, as many as there are blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from glla.operations.batches.stack import Stack
from glla.operations.layouts import packing
from glla.operations.orthogonal.qr_pairs import add_applied, add_pairs, add_reflectors, applied, pairs, reflectors
from glla.passes import Draft, Limits, Plan, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

ONE_PIECE = Limits(software=True)
"""Sums within a block are not cut into slices."""


@dataclass
class Tree:
    """Adds the levels of a factorisation to a draft that is made of plans."""

    draft: Draft
    shape: Shape  # of the matrix
    rows: int  # of a block, even; at least twice the columns are taken
    limits: Limits

    def __post_init__(self) -> None:
        self.block = max(self.rows, 4 * texels(self.shape[1]))
        self.levels: list[tuple[Shape, str]] = []

    def factor(self, source: str) -> str:
        """Factor; give the slot of the last level's R, with reflectors below its diagonal."""
        shape = self.shape
        while shape[0] > self.block:
            with self.draft.scope("level", len(self.levels)):
                made = self.draft.call("blocks", level(shape, self.block, self.limits), A=source)
            self.levels.append((shape, made["H"]))
            source, shape = made["R"], _above(shape, self.block)
        self.last = shape
        self.packed = self.draft.call("reflectors", reflectors(shape, self.limits), A=source)["H"]
        return self.packed

    def q(self) -> str:
        """Make Q, reduced, from the last level to the first."""
        columns = min(self.shape)
        t = self.draft.call("pairs", pairs(self.last), H=self.packed)["T"]
        start = self.draft.call("identity", packing.identity((self.last[0], columns)))["I"]
        found = self.draft.call("Q", applied(self.last, columns, self.limits), H=self.packed, T=t, B=start)["B"]
        for number, (shape, h) in reversed(list(enumerate(self.levels))):
            with self.draft.scope("level of Q", len(self.levels) - 1 - number):
                plan = level_of_q(shape, self.block, self.limits)
                found = self.draft.call("blocks of Q", plan, H=h, Q=found)["Q"]
        return found


def _above(shape: Shape, block: int) -> Shape:
    """Shape of all R's of a level, one below the other, each with an even number of rows."""
    return -(-shape[0] // block) * 2 * texels(shape[1]), shape[1]


def _cells(shape: Shape, block: int, limits: Limits) -> Stack:
    return Stack.of(-(-shape[0] // block), (block // 2, texels(shape[1])), limits.texture_size)


@cached_plan
def level(shape: Shape, block: int, limits: Limits) -> Plan:
    """Plan of the factors of all blocks: operand ``A``; results ``H``, a stack, and ``R``, one below the other."""
    draft, cells = Draft("qr/level"), _cells(shape, block, limits)
    piece, above = (block, shape[1]), _above(shape, block)
    a, sizes = draft.operand("A", matrix(shape)), {"height": block // 2, "end": texels(shape[0])}
    (given,) = draft.draw("qr/deal", {"A": a}, {"dealt": cells.matrix(piece)}, {**sizes, **cells.grid})
    h = add_reflectors(draft, given, piece, ONE_PIECE, cells)
    size = {"height": texels(shape[1]), **cells.grid}
    return draft.plan({"H": h, **draft.draw("qr/gather", {"S": h}, {"R": matrix(above)}, size, {"UPPER": 1})})


@cached_plan
def level_of_q(shape: Shape, block: int, limits: Limits) -> Plan:
    """Plan of Q of a level from that of the next one: operands ``H`` and ``Q``; result ``Q``, as tall as `shape`."""
    draft, cells = Draft("qr/level of Q"), _cells(shape, block, limits)
    piece, above = (block, shape[1]), _above(shape, block)
    h, q = draft.operand("H", cells.matrix(piece)), draft.operand("Q", matrix(above))
    t = add_pairs(draft, h, piece, cells)
    sizes = {"height": texels(shape[1]), "end": texels(above[0])}
    (start,) = draft.draw("qr/deal", {"A": q}, {"dealt": cells.matrix(piece)}, {**sizes, **cells.grid})
    found = add_applied(draft, h, t, start, piece, shape[1], ONE_PIECE, cells)
    made, size = {"Q of the level": matrix(shape)}, {"height": block // 2, **cells.grid}
    (result,) = draft.draw("qr/gather", {"S": found}, made, size, {"UPPER": 0})
    return draft.plan({"Q": result})
