"""Blocked factorisation: panels of 64 columns, and trailing updates of rank 64 by the fast product.

The sequence of LAPACK's getrf, in render passes. The pivots depend on the panels, which take most passes; the updates
have most of the arithmetic, and run as `glla.operations.product.matmul`'s ``panel_broadcast`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from glla.operations.elimination.pivot import FactorSearch, known, most_candidates, searched_by
from glla.operations.product.register_blocks import THROUGH_BUFFERS, Blocks
from glla.operations.triangles.solved_blocks import Triangle, solve_blocks
from glla.passes import Block, Buffer, Draft, PingPong, Region, Storage, Uniform, matrix
from glla.passes.layout import Shape, packed, texels

PANEL = 64
"""Columns of a panel: 64 x 64 elements fill the smallest uniform block that OpenGL grants."""

BESIDE = 2
"""Texel columns beside a panel, where a step leaves candidates and records for the next, see
``plu/blocked/panel_step.frag``."""

GROUP = 16
"""Rows of the matrix that one fragment of a trailing update computes."""

ONE_BLOCK = {"ROWS": 16, "UNROLL": 0}
"""Parameters of the substitution that makes a block row on a software rasteriser."""

MORE = 3
"""Factor on the number of fragments of a search on a GPU, the square root of the texels being 1: with 2, 3 and 4 an
NVIDIA H200 factors a matrix of order 4096 in 120, 118 and 119 ms
(nvidia-h200-pcie-sse2/experiments/2026-11-20-panels.json)."""


class BlockedFactors:
    """Adds a blocked factorisation to a draft: P L U of the slot `source`, panel by panel.

    The matrix is worked on in the strip layout (``lib/strips.glsl``); a panel is taken out of it, packed, and factored
    by the steps of the ``rank2`` variant. Finished rows of U go straight to their place. Finished columns of L still
    miss the exchanges of later panels; they get them all at once, in the end.

    The steps of a panel wait for each other. So a GPU needs few passes that each do little: with ``FUSED`` a step also
    searches the next pivots, and draws nothing that is finished; the columns of L get the exchanges of the panel's
    later steps at its end. They are passes of one program behind barriers: in one texture nothing is between them. A
    software rasteriser would take both branches of that shader for most fragments.

    `source`: slot of the packed matrix. `pivoting`: see `glla.operations.elimination.pivot`. `values`: parameters of
    the variant: ``UNROLL``, write out the long loops, see ``strips/block_row.frag``; ``FUSED``, do more in a pass of a
    panel. Both are for a GPU. Attributes: `result`: slot of the packed factors. `records`: slots of the pivots and
    their health, see ``pivot/factor_records.frag``.
    """

    def __init__(self, draft: Draft, source: str, shape: Shape, pivoting: str, values: Mapping[str, int]) -> None:
        m, n = shape
        self.shape = shape
        self.panels = -(-min(shape) // PANEL)
        self.draft = draft
        self.unroll = values["UNROLL"]
        self.fused = bool(values["FUSED"])
        self.groups, self.width = -(-m // GROUP), -(-n // 8)
        panel_storage = matrix((m, PANEL + 2 * BESIDE))
        self.panel_start = draft.slot("panel", panel_storage)
        self.panel_pair = [draft.slot(f"panel_{side}", panel_storage) for side in ("ping", "pong")]
        self.pivoting = pivoting
        if self.fused:
            known(pivoting)
            draft.slot("seconds", Storage(most_candidates(texels(m), MORE) + 1, 2))
        else:
            self.search = FactorSearch(draft, (m, min(PANEL, n)), pivoting)
            self.raw = draft.slot("LU_unordered", matrix(shape))
        record = Storage(1, texels(min(shape)))
        self.records = (draft.slot("pivots", record), draft.slot("health", record))
        self.rows = draft.slot("rows", Storage(8 * self.groups, self.panels))
        # slots of the factored panels, and the columns of LU that they leave out
        self.kept = list[tuple[str, int]]()
        self.result = draft.slot("LU", matrix(shape))
        self._begin(source)
        for panel in range(self.panels):
            with draft.scope("panel", panel):
                self._factor_panel(panel)
                if panel + 1 < self.panels or (panel + 1) * PANEL < n:
                    with draft.scope("trailing update"):
                        self._update(panel)
        with draft.scope("order of L"):
            self._order()

    def _begin(self, source: str) -> None:
        """Lay the matrix as strips."""
        strip = Storage(8 * self.groups, self.width)
        pair = [tuple(self.draft.slot(f"S{t}_{side}", strip) for t in range(4)) for side in ("ping", "pong")]
        self.strips, self.spare = pair
        for name in ("pivot_rows", "block_row"):
            self.draft.slot(name, Storage(8 * PANEL // 4, self.width))
        self.draft.draw("strips/to_strips", {"A": source}, self.strips, {"size": packed(self.shape)})

    @property
    def _samplers(self) -> dict[str, str]:
        """The matrix so far."""
        return {f"S{t}": slot for t, slot in enumerate(self.strips)}

    def _take(self, top: int, shape: Shape, inside: Region) -> None:
        """Copy the columns of a panel from the trailing matrix."""
        uniforms: dict[str, Uniform] = {"left": top, "shape": shape}
        self.draft.draw("strips/from_strips", self._samplers, self.panel_start, uniforms, {}, inside)

    def _factor_panel(self, panel: int) -> None:
        """Take out the panel, factor it, keep its records and put it into its columns."""
        (m, n), top = self.shape, panel * PANEL
        columns = min(PANEL, n - top)
        height, width = texels(m), texels(columns)
        inside = Region(0, top // 2, width, height - top // 2)
        self._take(top, (m, columns), inside)
        count = texels(min(columns, m - top))
        if self.fused:
            self._fused_steps(columns, count, top, inside)
            self.kept.append((self.factored, -top))
        else:
            self._steps(self.search.on((m, columns), top), count, top, inside)
            place = replace(inside, x=top // 2)
            self.draft.draw("packing/window", {"A": self.factored}, self.raw, {"corner": (-(top // 2), 0)}, {}, place)
            self.kept.append((self.raw, 0))
        self.draft.draw(
            "permutation/trace",
            {"pivots": self.records[0]},
            self.rows,
            {"first": top // 2, "end": top // 2 + count},
            {"INVERSE": 0},
            Region(panel, 0, 1, 8 * self.groups),
        )

    def _steps(self, search: FactorSearch, count: int, top: int, inside: Region) -> None:
        """Factor the panel as the ``rank2`` variant does."""
        front = self.panel_start
        for k in range(count):
            with self.draft.scope("step", k):
                back = self.panel_pair[k % 2]
                search.step(k, front, top)
                # A row is final one step after its own, when both textures hold it.
                y = top // 2 + max(k - 1, 0)
                rows = replace(inside, y=y, height=inside.y + inside.height - y)
                inputs, uniforms = {"A": front, **search.inputs}, search.uniforms(top)
                self.draft.draw("plu/rank2/eliminate", inputs, back, uniforms, search.defines, rows, step=k)
                front = back
        self.factored = front
        search.records(count, self.records, top // 2, top)

    def _fused_steps(self, columns: int, count: int, top: int, inside: Region) -> None:
        """Factor the panel in fewer passes that draw less, and put it together in the end."""
        (m, _), beside = self.shape, inside.width + inside.width % 2
        uniforms: dict[str, Uniform] = {"top": top, "shape": (m, columns)}
        chunk = searched_by(inside.height, MORE)
        defines = {"PAIR": int(self.pivoting != "partial"), "GEOMETRIC": int(self.pivoting == "geometric")}
        front = candidates = self.panel_start

        def draw(target: str, region: Region, number: int) -> None:
            inputs, given = {"A": front, "candidates": candidates}, {**uniforms, "chunk": chunk}
            self.draft.draw("plu/blocked/panel_step", inputs, target, given, defines, region, step=number, barrier=True)

        draw(self.panel_pair[1], Region(beside, inside.y, 1, -(-inside.height // chunk)), 0)
        candidates = self.panel_pair[1]
        for k in range(count):
            with self.draft.scope("step", k):
                rows = inside.height - k
                if self.pivoting == "partial":
                    draw("seconds", Region(0, 0, 1, -(-rows // chunk)), 2 * k + 1)
                    candidates = "seconds"
                draw(self.panel_pair[k % 2], Region(k, inside.y + k, beside + BESIDE - k, rows), 2 * k + 2)
                front = candidates = self.panel_pair[k % 2]
        turns = {"P0": self.panel_pair[0], "P1": self.panel_pair[min(1, count - 1)]}
        self.factored = self.draft.slot(f"panel_{top}", matrix((m, PANEL + 2 * BESIDE)))
        drawn = replace(inside, width=beside + BESIDE)
        self.draft.draw("plu/blocked/settle_panel", turns, self.factored, {**uniforms, "steps": count}, {}, drawn)
        kept: dict[str, Uniform] = {"column": beside + 1, "top": top, "first_step": top // 2}
        defines = {"KEPT": 1, "GEOMETRIC": int(self.pivoting == "geometric")}
        place = Region(top // 2, 0, count, 1)
        self.draft.draw("pivot/factor_records", {"panel": self.factored}, self.records, kept, defines, place)

    def _update(self, panel: int) -> None:
        """Make the block row of U, and subtract the panel times it from the trailing matrix."""
        (m, n), top = self.shape, panel * PANEL
        right, first, groups = top + PANEL, top // GROUP, self.groups - top // GROUP
        texture = self.draft.slot(f"blocks_{panel}", Storage(max(groups, 4), 4 * PANEL))
        buffer = self.draft.slot(f"blocks_buffer_{panel}", Buffer.of(Storage(max(groups, 4), 4 * PANEL)))
        numbers: dict[str, Uniform] = {"groups": groups, "first_group": first, "size": packed((m, PANEL))}
        self.draft.draw("matmul/panels", {"A": self.factored}, texture, numbers, {"DEPTH": PANEL})
        self.draft.transfer(texture, buffer)
        where: dict[str, Uniform] = {"column": panel, "top": top, "height": m}
        triangle = {"Panel": Block(buffer, 0, 4 * 4 * PANEL)}
        for half in range(2):  # each with a quarter of the arithmetic that both have in one pass
            beside = Region(right // 8, half * PANEL, self.width - right // 8, PANEL)
            rows = {**self._samplers, "rows": self.rows} | ({"U": "block_row"} if half else {})
            blocks = triangle if half else {}
            self.draft.draw("plu/blocked/pivot_rows", rows, "pivot_rows", where, {"REST": half}, beside, blocks=blocks)
            solved = {"FIRST": 8 * half, "QUADS": 8, "UNROLL": self.unroll}
            self.draft.draw("strips/block_row", {"R": "pivot_rows"}, "block_row", {}, solved, beside, blocks=triangle)
        place = Region(right // 2, top // 2, texels(n) - right // 2, min(PANEL // 2, texels(m) - top // 2))
        self.draft.draw(
            "strips/unstrip_row", {"U": "block_row"}, self.result, {"top": top, "shape": self.shape}, {}, place
        )
        for group in range(first + PANEL // GROUP, self.groups):
            self.draft.draw(
                "plu/blocked/update",
                {**self._samplers, "rows": self.rows, "U": "block_row"},
                self.spare,
                {"column": panel, "height": m},
                {},
                Region(right // 8, 8 * group, self.width - right // 8, 8),
                blocks={"Panel": Block(buffer, (group - first) * 4 * PANEL, 4 * PANEL)},
                step=group,
            )
        self.strips, self.spare = self.spare, self.strips

    def _order(self) -> None:
        """Bring the columns of L into the final order of the rows, the last panel first."""
        m, n = self.shape
        order = [self.draft.slot(f"order_{side}", Storage(texels(m), 1)) for side in ("even", "odd")]
        none = {"first": 0, "end": 0}  # exchanges behind the last panel
        self.draft.draw("permutation/trace", {"pivots": self.records[0]}, order[self.panels % 2], none)
        for turn, panel in enumerate(reversed(range(self.panels))):
            with self.draft.scope("panel", turn):
                later, (kept, left) = order[(panel + 1) % 2], self.kept[panel]
                top, columns = panel * PANEL // 2, texels(min(PANEL, n - panel * PANEL))
                self.draft.draw(
                    "permutation/gather",
                    {"A": kept, "rows": later},
                    self.result,
                    {"shape": self.shape, "left": left},
                    {},
                    Region(top, top, columns, texels(m) - top),
                )
                if panel:
                    self.draft.draw(
                        "permutation/compose", {"later": later, "rows": self.rows}, order[panel % 2], {"column": panel}
                    )


class WholePanels(BlockedFactors):
    """The same on a software rasteriser: trailing updates are products through buffers, the matrix stays packed."""

    def _begin(self, source: str) -> None:
        self.open = PingPong(self.draft, "what remains", matrix(self.shape), source)
        self.blocks = Blocks.of(self.draft, self.shape, dict(THROUGH_BUFFERS))
        self.order = self.draft.slot("order of the panel", Storage(texels(self.shape[0]), 1))

    def _take(self, top: int, shape: Shape, inside: Region) -> None:
        uniforms: dict[str, Uniform] = {"corner": (top // 2, 0)}
        self.draft.draw("packing/window", {"A": self.open.front}, self.panel_start, uniforms, {}, inside)

    def _update(self, panel: int) -> None:
        """Exchange rows, make the block row of U, and subtract the panel times it from the trailing matrix."""
        first, end, (height, width) = panel * PANEL // 2, (panel + 1) * PANEL // 2, packed(self.shape)
        count = min(PANEL // 2, height - first)
        steps: dict[str, Uniform] = {"first": first, "end": first + count}
        self.draft.draw("permutation/trace", {"pivots": self.records[0]}, self.order, steps, {"INVERSE": 0})
        inputs, beside = {"A": self.open.front, "rows": self.order}, Region(end, first, width - end, height - first)
        uniforms: dict[str, Uniform] = {"shape": self.shape, "left": 0}
        self.draft.draw("permutation/gather", inputs, self.open.back, uniforms, {}, beside)
        self.open.swap()
        before, lower = self.open.front, Triangle(unit=True)
        solve_blocks(
            self.draft, self.raw, self.result, self.open, self.shape, lower, ONE_BLOCK, end, rows=(first, count)
        )
        if end < height:
            if self.open.front == before:  # which holds the trailing matrix
                self.open.swap()
            operands, slice_ = {"A": self.raw, "B": self.result}, {"first": first, "count": count}
            place = Region(end, end, width - end, height - end)
            self.blocks.draw(operands, self.open.front, slice_, self.shape, before, place, {"SUBTRACT": 1})


def factors_by(values: Mapping[str, int]) -> type[BlockedFactors]:
    """The factorisation that parameters of a variant ask for."""
    return WholePanels if values["BUFFERS"] else BlockedFactors
