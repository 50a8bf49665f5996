"""Many pentadiagonal systems at once: block tridiagonal ones with 2 x 2 blocks, by cyclic reduction.

Two equations form a block row, and `glla.operations.bands.tridiagonal`'s scalar steps become block steps.

Sources: Hockney 1965; Heller, "Some aspects of the cyclic reduction algorithm for block tridiagonal linear systems"
(1976).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from glla.operations.bands.tridiagonal import CHUNK, Bands, Systems
from glla.operations.batches.stack import Stack
from glla.passes import Draft, Uniform

BLOCKS = ("L", "D", "U", "R")
"""Slots of block rows: below the diagonal, on it, above it, right sides."""

Rows = dict[str, str]
"""Slots of block rows, by these names."""


@dataclass(frozen=True)
class BlockSystems:
    """Systems of n equations each, five diagonals wide, that share textures."""

    draft: Draft
    stack: Stack  # places of the systems beside each other
    n: int  # equations

    @property
    def count(self) -> int:
        """Block rows of a system."""
        return (self.n + 1) // 2

    @cached_property
    def plain(self) -> Systems:
        """The same systems, an unknown in a texel."""
        return Systems(self.draft, self.stack, self.n)

    def rows(self, name: str, n: int) -> Rows:
        """Add slots of n block rows."""
        return {one: self.plain.slot(f"{name}{one}", n, 2 if one == "R" else 4) for one in BLOCKS}

    def equations(self, given: Bands, above: int) -> Rows:
        """Add the pass that makes block rows of bands and right sides; `above`: bands above the diagonal."""
        made = self.rows("", self.count)
        uniforms: dict[str, Uniform] = {"systems": self.stack.count, "above": above, **given.uniforms}
        self.plain.draw("pentadiagonal/equations", given.operands, tuple(made.values()), uniforms, given.defines)
        return made

    def solve(self, equations: Rows, name: str = "") -> tuple[str, str]:
        """Add the reduction and the way back; give the slots of the pairs and of the blocks' pivot ratios."""
        levels, n, left = [equations], self.count, ""
        counts = [n]
        while n > 1 or not left:  # a single block row is reduced once more, so that it is watched as well
            with self.draft.scope("reduction", len(levels) - 1):
                whole = n
                n = max(n // 2, 1)
                made = self.rows(f"{name}{len(levels)}", n)
                kept = self.plain.slot(f"{name}left{len(levels)}", n, 1)
                inputs = {**levels[-1], **({"G": left} if left else {})}
                outputs = (*made.values(), kept)
                self.plain.draw("pentadiagonal/reduce", inputs, outputs, {"n": whole}, {"FIRST": int(not left)})
                left = kept
                if whole == 1:
                    break
                levels.append(made)
                counts.append(n)

        def back(number: int, inputs: Rows, top: int) -> str:
            n, made = counts[number], {f"{name}x{number}": self.plain.storage(counts[number], 2)}
            (x,) = self.plain.draw("pentadiagonal/back", inputs, made, {"n": n}, {"TOP": top})
            return x

        x = back(len(levels) - 1, levels[-1], 1)
        for number in range(len(levels) - 2, -1, -1):
            with self.draft.scope("way back", len(levels) - 2 - number):
                x = back(number, {**levels[number], "X": x}, 0)
        return x, left

    def refined(self, equations: Rows) -> tuple[str, str]:
        """Add the solution and a step of refinement; give slots as `solve`."""
        x, left = self.solve(equations)
        inputs, made = {**equations, "X": x}, {"residual": self.plain.storage(self.count, 2)}
        (rest,) = self.plain.draw("pentadiagonal/residual", inputs, made, {"n": self.count})
        change, _ = self.solve({**equations, "R": rest}, "correction ")
        made = {"x": self.plain.storage(self.count, 2)}
        (better,) = self.draft.draw("elementwise/sum", {"a": x, "b": change}, made)
        return better, left

    def check(self, equations: Rows, x: str, left: str) -> str:
        """Add the check of all systems; as `Systems.check`."""
        count = -(-self.count // CHUNK)
        inputs, made = {**equations, "X": x, "G": left}, {"diagnostics": self.plain.storage(count)}
        (diagnostics,) = self.plain.draw("pentadiagonal/check", inputs, made, {"n": self.count, "chunk": CHUNK})
        return self.plain.worst(diagnostics, count)

    def unknowns(self, x: str) -> str:
        """Add the pass that makes single unknowns of pairs; give their slot."""
        (made,) = self.plain.draw("pentadiagonal/unknowns", {"X": x}, {"unknowns": self.plain.storage(self.n, 1)})
        return made
