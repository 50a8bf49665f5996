"""Batched tridiagonal systems, an equation per texel: their elimination.

    bands and right sides --> equations --> reduced, level by level --> unknowns, back level by level --> X, and a check

Systems are interleaved, equation i of all of them side by side (``lib/tridiagonal.glsl``), so that a pass works on all
and their number does not change the number of passes. Systems may be stored in columns or in rows: the second half of
an alternating-direction step needs no transpose.

Sources: Hockney 1965 (cyclic reduction); Hockney and Jesshope 1981 (parallel cyclic reduction); Wang 1981 (partition);
Zhang, Cohen and Owens, "Fast tridiagonal solvers on the GPU" (2010), which compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from glla.operations.batches.stack import Stack, raw
from glla.passes import Draft, PingPong, Region, Storage, Uniform, Variant, matrix, wrapped

VARIANTS = {
    "cyclic_reduction": Variant(
        "half of the unknowns eliminated a pass, until TOP are left, and the way back; backward stable",
        'Hockney, "A fast direct solution of Poisson\'s equation using Fourier analysis" (1965)',
        parameters={"TOP": (1, 2, 4, 8, 16)},
    ),
    "thomas": Variant(
        "Gaussian elimination, an equation a pass: 2 n passes",
        'Thomas, "Elliptic problems in linear difference equations over a network" (1949)',
    ),
    "parallel_cyclic_reduction": Variant(
        "every row reduced in every pass, no way back; with a step of refinement, as it is not backward stable",
        'Hockney and Jesshope, "Parallel Computers" (1981)',
    ),
    "partition": Variant(
        "P equations become one a pass, until TOP are left: fewer and heavier passes than cyclic reduction",
        'Wang, "A parallel method for tridiagonal equations" (1981)',
        parameters={"P": (4, 8, 16), "TOP": (4, 1, 8, 16)},
    ),
    "redundant": Variant(
        "one pass: every fragment eliminates its whole system from both ends; for a few equations",
        "two-sided elimination: LINPACK gtsl and ptsl, Dongarra et al. 1979, which burn at both ends",
    ),
}

REDUNDANT_UP_TO = 8
"""Equations up to which `redundant` is chosen: a guess, between one pass of n fetches and 2 log2 n passes of 7."""

FOUR = 4
"""Elements of a texel, and equations that are merged into one where systems are solved directly from their bands."""

CHUNK = 128
"""Equations per fragment of the check."""

LAYOUTS = ("raw", "packed", "wrapped")
"""Layouts of operands and results, in the order of ``LAYOUT`` in ``lib/bands.glsl``."""

COUNTED = 32
"""Systems, or counts of them, per fragment of the verdict: a guess."""

DIAGNOSTICS = 4
"""Diagnostics of each system: backward error, smallest pivot ratio, largest right side, largest unknown."""

Lines = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""For the entries below, on and above the diagonal: row of the bands (-1 for none), and column of equation 0."""

Levels = list[tuple[str, int]]
"""Slots with the equations of the levels of a reduction, and their number in each system, from the initial level."""


@dataclass(frozen=True)
class Bands:
    """Bands and right sides of some matrices, as stored: see ``lib/bands.glsl``."""

    operands: Mapping[str, str]  # slots of ``A`` and ``B``; of ``A`` alone, in the raw layout
    shape: tuple[int, int, int]  # rows of the bands, n, right sides of each matrix
    layout: str = "packed"  # one of `LAYOUTS`
    start: int = 0  # element where right sides begin, in the raw layout
    watch: bool = False  # NaN and infinity reject a system in the corners of the bands too

    @property
    def uniforms(self) -> dict[str, Uniform]:
        """Of ``lib/bands.glsl``."""
        return {"shape": self.shape, **({"start": self.start} if self.layout == "raw" else {})}

    @property
    def defines(self) -> dict[str, int]:
        """Of the same."""
        return {"LAYOUT": LAYOUTS.index(self.layout), "WATCH": int(self.watch)}


@dataclass(frozen=True)
class Systems:
    """Systems of n equations each that share textures."""

    draft: Draft
    stack: Stack  # places of the systems beside each other
    n: int  # equations
    rows: bool = False  # the equations of a system are in a row, one texel beside the other; otherwise in a column
    definite: bool = False  # pivots must be above zero
    guard: bool = True  # watch the pivots; otherwise there is no check, and the caller knows that none is needed

    @property
    def defines(self) -> dict[str, int]:
        """Defines of every shader of ``lib/tridiagonal.glsl``."""
        return {"AXIS": int(self.rows), "DEFINITE": int(self.definite)}

    def slot(self, name: str, n: int, channels: int = 4) -> str:
        """Add a slot with n texels for each system."""
        return self.draft.slot(name, self.storage(n, channels))

    def storage(self, n: int, channels: int = 4) -> Storage:
        """Texture with n texels for each system."""
        full = self.stack.storage(1, n) if self.rows else self.stack.storage(n, 1)
        return Storage(full.height, full.width, channels)

    def line(self, first: int, count: int) -> Region:
        """Some rows of every system."""
        return self.stack.region(first, 0, count, 1) if self.rows else self.stack.region(0, first, 1, count)

    def draw(
        self,
        shader: str,
        inputs: Mapping[str, str],
        outputs: str | tuple[str, ...] | Mapping[str, Storage],
        uniforms: Mapping[str, Uniform] | None = None,
        defines: Mapping[str, int] | None = None,
        region: Region | None = None,
    ) -> dict[str, str]:
        """Add a pass of ``shaders/tridiagonal`` or ``shaders/pentadiagonal``."""
        given = {**(uniforms or {}), **self.stack.grid}
        return self.draft.draw(shader, inputs, outputs, given, {**self.defines, **(defines or {})}, region)

    # -- ways to eliminate --------------------------------------------------------------------------------------------

    def solve(self, equations: str, variant: str, values: Mapping[str, int], name: str = "") -> tuple[str, str, int]:
        """Add a variant; give the slots of the unknowns and of the pivot ratios, and the rows of these.

        `name` is before the names of slots.
        """
        ways: dict[str, Callable[[], tuple[str, str, int]]] = {
            "cyclic_reduction": lambda: self._levels(equations, 2, values["TOP"], name),
            "partition": lambda: self._levels(equations, values["P"], values["TOP"], name),
            "redundant": lambda: self._levels(equations, 2, self.n, name),
            "parallel_cyclic_reduction": lambda: self._parallel(equations, name),
            "thomas": lambda: self._thomas(equations, name),
        }
        return ways[variant]()

    def _levels(self, equations: str, p: int, top: int, name: str) -> tuple[str, str, int]:
        """Reduce p equations to one until `top` are left, solve those, and go back."""
        return self._up(*self._down([(equations, self.n)], "", p, top, name), p, name)

    def _down(self, levels: Levels, left: str, p: int, top: int, name: str) -> tuple[Levels, str]:
        """Reduce p equations to one until `top` are left; give all levels, and the slot of the pivot ratios."""
        n = levels[-1][1]
        while n > max(top, p - 1):
            with self.draft.scope("reduction", len(levels) - 1):
                n //= p
                number = len(levels)
                made = [self.slot(f"{name}E{number}", n)]
                inputs = {"E": levels[-1][0]}
                if self.guard:
                    inputs |= {"L": left} if left else {}
                    made.append(self.slot(f"{name}left{number}", n, 1))
                defines = {"P": p, "GUARD": int(self.guard), "FIRST": int(not left)}
                self.draw("tridiagonal/reduce", inputs, tuple(made), {"n": levels[-1][1]}, defines)
                levels = [*levels, (made[0], n)]
                left = made[-1] if self.guard else ""
        return levels, left

    def _up(self, levels: Levels, left: str, p: int, name: str, down_to: int = 0) -> tuple[str, str, int]:
        """Solve the last level, and go back to another; give its unknowns, all pivot ratios, and their rows."""
        last, rows = len(levels) - 1, levels[-1][1]
        x = self.slot(f"{name}x{last}", rows, 1)
        outputs, inputs = [x], {"E": levels[-1][0]}
        if self.guard:
            inputs |= {"L": left} if left else {}
            outputs.append(self.slot(f"{name}left", rows, 1))
        defines = {"P": p, "TOP": 1, "GUARD": int(self.guard), "FIRST": int(not left)}
        self.draw("tridiagonal/back", inputs, tuple(outputs), {"n": rows}, defines)
        for number in range(last - 1, down_to - 1, -1):
            with self.draft.scope("way back", last - 1 - number):
                slot, n = levels[number]
                found = self.slot(f"{name}x{number}", n, 1)
                self.draw("tridiagonal/back", {"E": slot, "X": x}, found, {"n": n}, {"P": p, "TOP": 0})
                x = found
        return x, outputs[-1] if self.guard else "", rows

    def _parallel(self, equations: str, name: str) -> tuple[str, str, int]:
        rows = PingPong(self.draft, f"{name}E", self.storage(self.n, 4), equations)
        left = PingPong(self.draft, f"{name}left", self.storage(self.n, 1), "")
        reach, first = 1, True
        while first or reach < self.n:
            with self.draft.scope("reduction", reach.bit_length() - 1):
                inputs = {"E": rows.front} | ({"L": left.front} if self.guard and not first else {})
                outputs = (rows.back, left.back) if self.guard else (rows.back,)
                defines = {"GUARD": int(self.guard), "FIRST": int(first)}
                self.draw("tridiagonal/parallel", inputs, outputs, {"n": self.n, "reach": reach}, defines)
                rows.swap()
                left.swap()
                reach, first = 2 * reach, False
        (x,) = self.draw("tridiagonal/divide", {"E": rows.front}, {f"{name}x0": self.storage(self.n, 1)})
        return x, left.front if self.guard else "", self.n

    def _thomas(self, equations: str, name: str) -> tuple[str, str, int]:
        solved = PingPong(self.draft, f"{name}T", self.storage(self.n, 4), equations)
        for i in range(self.n):
            with self.draft.scope("row", i):
                inputs = {"E": equations, "T": solved.front}
                self._row("tridiagonal/forward", inputs, solved.back, i, max(i - 1, 0), i)
                solved.swap()
        x = PingPong(self.draft, f"{name}x", self.storage(self.n, 1), solved.front)
        for number, i in enumerate(range(self.n - 1, -1, -1)):
            with self.draft.scope("row on the way back", number):
                inputs = {"T": solved.front, "X": x.front}
                self._row("tridiagonal/backward", inputs, x.back, i, i, min(i + 1, self.n - 1))
                x.swap()
        return x.front, solved.front, self.n

    def _row(self, shader: str, inputs: dict[str, str], output: str, i: int, first: int, last: int) -> None:
        self.draw(shader, inputs, output, {"n": self.n, "row": i}, region=self.line(first, last - first + 1))

    # -- straight from bands ------------------------------------------------------------------------------------------

    def in_fours(self, given: Bands, lines: Lines, top: int, texture_size: int) -> tuple[str, str]:
        """Add `partition` with P = 4, and its check, of bands in the linear layout; the first level is never written.

        Four neighbours of a diagonal share a texel, as do the four unknowns of a group (``tridiagonal/fours.glsl``).
        Needs a guard, more than `top` and 3 equations, and one right side for each matrix. Gives the slots of all
        unknowns, linear, and of the diagnostics.
        """
        (rows, n, columns), systems = given.shape, self.stack.count
        assert self.guard and columns == 1 and n > max(top, 3) and given.layout == "wrapped"
        groups, aligned = -(-n // FOUR), not n % FOUR
        (below, below_shift), (main, main_shift), (above, above_shift) = lines
        assert main_shift == 0
        defines = {
            "ALIGNED": int(aligned), "BELOW": below, "MAIN": main, "ABOVE": above,
            "BELOW_SHIFT": below_shift, "ABOVE_SHIFT": above_shift,
        }  # fmt: skip
        uniforms: dict[str, Uniform] = {"shape": (rows, n, 1), "systems": systems}
        with self.draft.scope("reduction", 0):
            made = self.slot("E1", n // FOUR), self.slot("left1", n // FOUR, 1)
            self.draw("tridiagonal/reduce_fours", given.operands, made, uniforms, defines)
        levels, left = self._down([("", n), (made[0], n // FOUR)], made[1], FOUR, top, "")
        kept, left, left_rows = self._up(levels, left, FOUR, "", 1)
        with self.draft.scope("way back", len(levels) - 2):
            storage = wrapped(FOUR * groups * systems, texture_size)
            x = self.draft.slot("matrices" if aligned else "unknowns", storage)
            inputs = {**given.operands, "X": kept}
            self.draw("tridiagonal/back_fours", inputs, x, {**uniforms, "lay": (groups, storage.width)}, defines)
        chunk = CHUNK // FOUR
        count = -(-groups // chunk)
        diagnostics = self.slot("diagnostics", count)
        uniforms |= {"left_rows": left_rows, "pitch": groups, "chunks": (chunk, count)}
        inputs = {**given.operands, "X": x, "L": left}
        self.draw("tridiagonal/check_fours", inputs, diagnostics, uniforms, {**defines, "WATCH": int(given.watch)})
        if not aligned:
            storage, padded = wrapped(n * systems, texture_size), x
            lay: dict[str, Uniform] = {"lay": (n, groups, systems, storage.width)}
            (x,) = self.draft.draw("tridiagonal/together", {"X": padded}, {"matrices": storage}, lay)
        return x, self.worst(diagnostics, count)

    # -- way in and out -----------------------------------------------------------------------------------------------

    def equations(self, given: Bands, lines: Lines) -> str:
        """Add the pass that makes equations of bands and right sides; give their slot.

        `lines`: which row of the bands is which diagonal.
        """
        bands, shifts = zip(*lines, strict=True)
        uniforms = {"systems": self.stack.count, "bands": bands, "shifts": shifts, **given.uniforms}
        made = {"E": self.storage(self.n)}
        return self.draw("tridiagonal/equations", given.operands, made, uniforms, given.defines)["E"]

    def solution(self, layout: str, x: str, columns: int, texture_size: int, diagnostics: str = "") -> str:
        """Add the pass that lays the unknowns of `columns` systems out as a matrix each; give its slot.

        `layout`: of `LAYOUTS`; in the raw one they are records, which end in the worst `diagnostics` of a matrix.
        """
        shape, count, elements = (self.n, columns), self.stack.count // columns, self.n * self.stack.count
        uniforms: dict[str, Uniform] = {"shape": shape}
        inputs, name, storage = {"X": x}, "X", matrix(shape)
        if layout == "raw":
            inputs["F"], name, storage = diagnostics, "records", raw(elements + count * DIAGNOSTICS, texture_size)
            uniforms["records"] = (count, storage.width)
        elif layout == "wrapped":
            name, storage = "matrices", wrapped(elements, texture_size)
            uniforms["extent"] = (elements, storage.width)
        given, defines = {**uniforms, **self.stack.grid}, {"LAYOUT": LAYOUTS.index(layout)}
        return self.draft.draw("tridiagonal/solution", inputs, {name: storage}, given, defines)[name]

    # -- operands and results --------------------------------------------------------------------------------------

    def refined(self, equations: str, variant: str, values: Mapping[str, int]) -> tuple[str, str, int]:
        """Add a variant and a step of refinement with it; give slots as `solve`."""
        x, left, rows = self.solve(equations, variant, values)
        inputs, made = {"E": equations, "X": x}, {"residual": self.storage(self.n)}
        (rest,) = self.draw("tridiagonal/residual", inputs, made, {"n": self.n})
        change, _, _ = self.solve(rest, variant, values, "correction ")
        (better,) = self.draft.draw("elementwise/sum", {"a": x, "b": change}, {"x": self.storage(self.n, 1)})
        return better, left, rows

    def check(self, equations: str, x: str, left: str, left_rows: int) -> str:
        """Add the check of all systems; give the slot with a texel (error, left, rhs, x) for each of them."""
        count = -(-self.n // CHUNK)
        inputs, made = {"E": equations, "X": x, "L": left}, {"diagnostics": self.storage(count)}
        uniforms = {"n": self.n, "chunk": CHUNK, "left_rows": left_rows}
        (diagnostics,) = self.draw("tridiagonal/check", inputs, made, uniforms, {"FOLD": 0})
        return self.worst(diagnostics, count)

    def worst(self, diagnostics: str, count: int) -> str:
        """Add the pass that makes one texel of `count` of them for each system."""
        if count == 1:
            return diagnostics
        worst = self.slot("worst diagnostics", 1)
        self.draw("tridiagonal/check", {"F": diagnostics}, worst, {"n": count, "chunk": count}, {"FOLD": 1})
        return worst

    def verdict(self, diagnostics: str, bounds: Mapping[str, Uniform], texture_size: int) -> str:
        """Add the passes that count rejected systems; give the slot of a texel with their number.

        `bounds`: the uniforms of the same names of ``tridiagonal/verdict.frag``.
        """
        count, found, fold = self.stack.count, diagnostics, 0
        while count > 1 or not fold:
            chunk = max(COUNTED, -(-count // texture_size))
            made = self.draft.slot(f"rejected {fold}", Storage(1, -(-count // chunk)))
            uniforms: dict[str, Uniform] = {"count": count, "chunk": chunk, **({} if fold else bounds)}
            self.draft.draw("tridiagonal/verdict", {"F": found}, made, uniforms, {"FOLD": min(fold, 1)})
            count, found, fold = -(-count // chunk), made, fold + 1
        return found
