"""Blocked factorisation: panels of 64 columns, and trailing updates of rank 64 by the fast product.

The sequence of LAPACK's getrf, in render passes. The pivots depend on the panels, which take most passes; the updates
have most of the arithmetic, and run as `glla.operations.product.matmul`'s ``panel_broadcast`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

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

ACROSS = 256
"""Texels across a panel, once it is factored: 16 rows of 64 columns, four rows in a texel."""

GROUP = 16
"""Rows of the matrix that one fragment of a trailing update computes."""

ONE_BLOCK = {"ROWS": 16, "UNROLL": 0}
"""Parameters of the substitution that makes a block row on a software rasteriser."""

MORE = 3
"""Factor on the number of fragments of a search on a GPU, the square root of the texels being 1: with 2, 3 and 4 an
NVIDIA H200 factors a matrix of order 4096 in 120, 118 and 119 ms
(nvidia-h200-pcie-sse2/experiments/2026-11-20-panels.json)."""

LOW = 1024
"""Rows up to which a fragment that meets others searches two texels, else four: the panels of order 1024, 2048 and 4096
take 5.1, 12.7 and 35.2 ms on an NVIDIA H100 with two, 5.5, 12.4 and 32.2 with four, 6.1, 13.9 and 34 with eight
(nvidia-h100-80gb-hbm3-pcie-sse2/experiments/2026-11-28-searched.json)."""


class BlockedFactors:
    """Adds a blocked factorisation to a draft: P L U of the slot `source`, panel by panel.

    The matrix is worked on in the strip layout (``lib/strips.glsl``); a panel is taken out of it, packed, and factored
    two columns a step. Finished rows of U go straight to their place. Finished columns of L still miss the exchanges of
    later panels; they get them all at once, in the end.

    The steps of a panel wait for each other. So a GPU needs few passes that each do little: a step also searches the
    next pivots, and draws nothing that is finished; the columns of L get the exchanges of the panel's later steps at
    its end. They are passes of one program behind barriers: in one texture nothing is between them. `WholePanels` is
    for software, which would take both branches of that shader for most fragments.

    `source`: slot of the packed matrix. `pivoting`: see `glla.operations.elimination.pivot`. `values`: parameters of
    the variant: ``UNROLL``, write out the long loops, see ``strips/block_row.frag``, for a GPU. Attributes: `result`:
    slot of the packed factors. `records`: slots of the pivots and their health, see ``pivot/factor_records.frag``.
    """

    def __init__(self, draft: Draft, source: str, shape: Shape, pivoting: str, values: Mapping[str, int]) -> None:
        known(pivoting)
        self.shape, self.pivoting = shape, pivoting
        self.panels = -(-min(shape) // PANEL)
        self.draft = draft
        self.values = values
        panel_storage = matrix((shape[0], PANEL + 2 * BESIDE))
        self.panel_start = draft.slot("panel", panel_storage)
        self.panel_pair = [draft.slot(f"panel_{side}", panel_storage) for side in ("ping", "pong")]
        record = Storage(1, texels(min(shape)))
        self.records = (draft.slot("pivots", record), draft.slot("health", record))
        self.result = draft.slot("LU", matrix(shape))
        self._begin(source)
        for panel in range(self.panels):
            with draft.scope("panel", panel):
                self._factor_panel(panel)
                if panel + 1 < self.panels or (panel + 1) * PANEL < shape[1]:
                    with draft.scope("trailing update"):
                        self._update(panel)
        with draft.scope("order of L"):
            self._order()

    def _begin(self, source: str) -> None:
        """Lay the matrix as strips."""
        m, n = self.shape
        self.groups, self.width = -(-m // GROUP), -(-n // 8)
        self.draft.slot("seconds", Storage(most_candidates(texels(m), MORE) + 1, 2))
        strip = Storage(8 * self.groups, self.width)
        pair = [tuple(self.draft.slot(f"S{t}_{side}", strip) for t in range(4)) for side in ("ping", "pong")]
        self.strips, self.spare = pair
        self.block_row = Storage(8 * PANEL // 4, self.width)
        for name in ("pivot_rows", "reduced_rows"):
            self.draft.slot(name, self.block_row)
        self.draft.draw("strips/to_strips", {"A": source}, self.strips, {"size": packed(self.shape)})

    @property
    def _samplers(self) -> dict[str, str]:
        """The matrix so far."""
        return {f"S{t}": slot for t, slot in enumerate(self.strips)}

    def _inside(self, panel: int) -> tuple[Shape, Region, int]:
        """Shape of the matrix of a panel's columns, region of those below its top, and the steps that it takes."""
        (m, n), top = self.shape, panel * PANEL
        columns = min(PANEL, n - top)
        inside = Region(0, top // 2, texels(columns), texels(m) - top // 2)
        return (m, columns), inside, texels(min(columns, m - top))

    def _settled(self, panel: int) -> tuple[int, Storage]:
        """Groups of rows of a panel, of which the block row needs four, and its texture: these, and their order."""
        groups = max(self.groups - panel * PANEL // GROUP, PANEL // GROUP)
        return groups, Storage(groups - -8 * groups // ACROSS, ACROSS)

    def _factor_panel(self, panel: int) -> None:
        """Take out the panel, factor it in passes that draw little, and put it together in the end."""
        shape, inside, count = self._inside(panel)
        top, beside = panel * PANEL, PANEL // 2
        across: dict[str, Uniform] = {"left": top, "shape": shape}
        self.draft.draw("strips/from_strips", self._samplers, self.panel_start, across, {}, inside)
        uniforms: dict[str, Uniform] = {"top": top, "shape": shape}
        chunk = searched_by(inside.height, MORE)
        defines = {"PAIR": int(self.pivoting != "partial"), "GEOMETRIC": int(self.pivoting == "geometric")}
        defines["SEARCHED"] = 2 if shape[0] - top <= LOW else 4
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
        groups, settled = self._settled(panel)
        given: dict[str, Uniform] = {**uniforms, "steps": count, "groups": groups}
        self.draft.slot(f"panel_{panel}", settled)
        self.draft.draw("plu/blocked/settle_panel", self._turns, f"panel_{panel}", given)

    @property
    def _turns(self) -> dict[str, str]:
        """Slots in which the steps of a panel take turns."""
        return {f"P{turn}": slot for turn, slot in enumerate(self.panel_pair)}

    def _update(self, panel: int) -> None:
        """Make the block row of U, and subtract the panel times it from the trailing matrix."""
        m, top = self.shape[0], panel * PANEL
        right, first, (groups, settled) = top + PANEL, top // GROUP, self._settled(panel)
        slot, block_row = f"panel_{panel}", self.draft.slot(f"block_row_{panel}", self.block_row)
        buffer = self.draft.slot(f"panel_buffer_{panel}", Buffer.of(settled))
        self.draft.transfer(slot, buffer)
        where: dict[str, Uniform] = {"groups": groups, "top": top, "height": m}
        triangle = {"Panel": Block(buffer, 0, 4 * ACROSS)}
        beside = Region(right // 8, 0, self.width - right // 8, 2 * PANEL)
        gathered = {**self._samplers, "panel_order": slot}
        self.draft.draw("plu/blocked/pivot_rows", gathered, "pivot_rows", where, {}, beside)
        for half, (source, target) in enumerate(pairwise(("pivot_rows", "reduced_rows", block_row))):
            solved = {"FIRST": 8 * half, "QUADS": 8, "UNROLL": self.values["UNROLL"]}
            self.draft.draw("strips/block_row", {"R": source}, target, {}, solved, beside, blocks=triangle)
        for group in range(first + PANEL // GROUP, self.groups):
            self.draft.draw(
                "plu/blocked/update",
                {**gathered, "U": block_row},
                self.spare,
                where,
                {},
                Region(right // 8, 8 * group, self.width - right // 8, 8),
                blocks={"Panel": Block(buffer, (group - first) * ACROSS, ACROSS)},
                step=group,
            )
        self.strips, self.spare = self.spare, self.strips

    def _keep_records(self) -> None:
        """Gather the records that the steps of all panels have left beside these."""
        given: dict[str, Uniform] = {"top": 0, "first_step": 0}
        defines = {"KEPT": 1, "GEOMETRIC": int(self.pivoting == "geometric")}
        self.draft.draw("pivot/factor_records", self._turns, self.records, given, defines)

    def _order(self) -> None:
        """Bring the columns of L into the final order of the rows."""
        self._keep_records()
        m, n = self.shape
        storage = Storage(texels(m), self.panels + 1)
        every: dict[str, Uniform] = {"first": 0, "end": texels(min(self.shape))}
        defines = {"INVERSE": 0, "EACH": PANEL // 2}
        (own,) = self.draft.draw("permutation/trace", {"pivots": self.records[0]}, {"orders": storage}, every, defines)
        orders = PingPong(self.draft, "orders", storage, own)
        for level in range(max(self.panels - 2, 0).bit_length()):
            self.draft.draw("permutation/compose", {"first": orders.front}, orders.back, {"distance": 1 << level})
            orders.swap()
        for panel in range(self.panels):
            with self.draft.scope("panel", panel):
                top, columns = panel * PANEL // 2, texels(min(PANEL, n - panel * PANEL))
                place = Region(top, top, columns, texels(m) - top)
                self._put(panel, {"rows": orders.front}, {"column": panel + 1, "shape": self.shape}, place)

    def _put(self, panel: int, order: Mapping[str, str], uniforms: Mapping[str, Uniform], place: Region) -> None:
        """Put the columns of a panel into the factors, in their final order, and its block row beside them."""
        given, n, right = {**uniforms, "top": panel * PANEL}, self.shape[1], (panel + 1) * PANEL
        self.draft.draw("plu/blocked/ordered", {"panel": f"panel_{panel}", **order}, self.result, given, {}, place)
        if right < n:
            row = Region(right // 2, place.y, texels(n) - right // 2, min(PANEL // 2, place.height))
            inputs, given = {"U": f"block_row_{panel}"}, {"top": panel * PANEL, "shape": self.shape}
            self.draft.draw("strips/unstrip_row", inputs, self.result, given, {}, row)


class WholePanels(BlockedFactors):
    """The same on a software rasteriser: the matrix stays packed, and trailing updates are products.

    ``BUFFERS``: products through buffers.
    """

    def _begin(self, source: str) -> None:
        (m, n), draft = self.shape, self.draft
        self.search = FactorSearch(draft, (m, min(PANEL, n)), self.pivoting)
        self.raw = draft.slot("LU_unordered", matrix(self.shape))
        self.open = PingPong(draft, "what remains", matrix(self.shape), source)
        self.blocks = Blocks.of(draft, self.shape, dict(THROUGH_BUFFERS if self.values["BUFFERS"] else ()))
        self.order = draft.slot("order of the panel", Storage(texels(m), 1))

    def _factor_panel(self, panel: int) -> None:
        """Factor the panel as the ``rank2`` variant does, and put it into its columns."""
        shape, inside, count = self._inside(panel)
        top, front = panel * PANEL, self.panel_start
        self.draft.draw("packing/window", {"A": self.open.front}, front, {"corner": (top // 2, 0)}, {}, inside)
        search = self.search.on(shape, top)
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
        search.records(count, self.records, top // 2, top)
        place = replace(inside, x=top // 2)
        self.draft.draw("packing/window", {"A": front}, self.raw, {"corner": (-(top // 2), 0)}, {}, place)

    def _keep_records(self) -> None:
        """Add nothing: each panel has kept its own."""

    def _put(self, panel: int, order: Mapping[str, str], uniforms: Mapping[str, Uniform], place: Region) -> None:
        inputs = {"A": self.raw, **order}
        self.draft.draw("permutation/gather", inputs, self.result, {**uniforms, "left": 0}, {}, place)

    def _update(self, panel: int) -> None:
        """Exchange rows, make the block row of U, and subtract the panel times it from the trailing matrix."""
        first, end, (height, width) = panel * PANEL // 2, (panel + 1) * PANEL // 2, packed(self.shape)
        count = min(PANEL // 2, height - first)
        steps: dict[str, Uniform] = {"first": first, "end": first + count}
        self.draft.draw("permutation/trace", {"pivots": self.records[0]}, self.order, steps, {"INVERSE": 0})
        inputs, beside = {"A": self.open.front, "rows": self.order}, Region(end, first, width - end, height - first)
        uniforms: dict[str, Uniform] = {"shape": self.shape, "left": 0, "column": 0}
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
    """The factorisation that parameters of a variant ask for: with ``STRIPS`` that of a GPU."""
    return BlockedFactors if values["STRIPS"] else WholePanels
