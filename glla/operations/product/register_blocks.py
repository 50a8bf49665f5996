"""Products in blocks of texels that fragments keep in registers: the passes, for all of a matrix or parts of it.

On a software rasteriser the operands are copied into buffers, whose texels are fetched by their number: for that
llvmpipe takes half of the time of a fetch by two coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glla.passes import Buffer, Draft, Limits, Parameters, Region, Storage, Uniform, texture
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, texels

BLOCK_ROWS, BLOCK_COLUMNS = 4, 2
"""Texels of C that one fragment of `register_blocked` computes by default."""

THROUGH_BUFFERS: Parameters = (("BUFFERS", 1), ("COLUMNS", 4), ("ROWS", 2), ("UNROLL", 4))
"""Parameters of `register_blocked` on a software rasteriser whose buffers hold the operands."""


GATHERED_FROM = 1024
"""Texels of a target from which a software rasteriser copies the targets into one texture, for one fetch, not eight."""

ADJACENT_FROM = 16384
"""Texels of a target of a whole product from which blocks of a fragment that are adjacent are fetched faster: 81 in
place of 85 ms at n = 1024. Parts take one program less, and a trailing update 0.9 of its time."""


def buffers_hold(limits: Limits, *shapes: Shape) -> bool:
    """Whether it is a software rasteriser whose buffers hold matrices of these shapes."""
    return limits.software and max(texels(rows) * texels(columns) for rows, columns in shapes) <= limits.buffer_texels


def unrolled(values: Mapping[str, int]) -> dict[str, Define]:
    """The define that unrolls a loop, where one is wanted."""
    factor = values.get("UNROLL", 1)
    return {"UNROLL": factor} if factor > 1 else {}


def _is_multiple(slice_: Mapping[str, Uniform], cut: Mapping[str, Define]) -> bool:
    count, trips = slice_["count"], cut["UNROLL"]
    return isinstance(count, int) and isinstance(trips, int) and count % trips == 0


@dataclass(frozen=True)
class Blocks:
    """Render targets of products whose fragments compute ROWS x COLUMNS texels; products take them in turn."""

    draft: Draft
    size: dict[str, int]  # ROWS and COLUMNS
    targets: tuple[str, ...]
    ways: dict[str, Define]  # BUFFERS and UNROLL, where they are wanted

    @staticmethod
    def of(draft: Draft, shape: Shape, values: Mapping[str, int], folded: Storage | None = None) -> Blocks:
        """Add targets for a matrix, or a smaller one; `values`: parameters of `register_blocked`, or some of them."""
        size = {"ROWS": values.get("ROWS", BLOCK_ROWS), "COLUMNS": values.get("COLUMNS", BLOCK_COLUMNS)}
        storage = folded or Storage(-(-texels(shape[0]) // size["ROWS"]), -(-texels(shape[1]) // size["COLUMNS"]))
        targets = tuple(draft.slot(f"C_{i}", storage) for i in range(size["ROWS"] * size["COLUMNS"]))
        ways: dict[str, Define] = {"BUFFERS": 1} if values.get("BUFFERS") else {}
        return Blocks(draft, size, targets, ways | unrolled(values))

    def _load(self, operands: Mapping[str, str], known: str) -> tuple[Mapping[str, str], dict[str, Uniform]]:
        """Copy operands into buffers, where products read those; give their slots, and their uniform."""
        if "BUFFERS" not in self.ways:
            return operands, {}
        storages = {slot: texture(self.draft.slots[slot]) for slot in operands.values()}
        buffers = {slot: f"{slot} as a buffer" for slot in storages}
        for slot, buffer in buffers.items():
            if buffer not in self.draft.slots:
                self.draft.slot(buffer, Buffer.of(storages[slot], "texels"))
            elif any(name in known for name, one in operands.items() if one == slot):
                continue
            self.draft.transfer(slot, buffer)
        widths = tuple(storages[slot].width for slot in operands.values())
        return {name: buffers[slot] for name, slot in operands.items()}, {"widths": widths}

    def draw(
        self,
        operands: Mapping[str, str],
        target: str,
        slice_: Mapping[str, Uniform],
        shape: Shape,
        start: str = "",
        region: Region | None = None,
        cut: Mapping[str, Define] | None = None,
        put: Mapping[str, Define] | None = None,
        fold: Mapping[str, Uniform] | None = None,
        known: str = "",
    ) -> None:
        """Add a pass that multiplies, and one that puts the blocks together, or copies of the parts that they are.

        `start`: what the product is added to, or, with SUBTRACT in `cut`, what its terms are taken from. `region`:
        texels of C. `cut`, `put`: defines of the first and of the second pass. `fold`: uniforms of both. `known`:
        operands, "A" or "B", that are as they were in the last product.
        """
        operands, widths = self._load(operands, known)
        if "SUBTRACT" in (cut or {}):
            operands, start = {**operands, "start": start}, ""
        slice_, cut = {**slice_, **widths, **(fold or {})}, {**self.size, **self.ways, **(cut or {})}
        if "BUFFERS" in cut and "UPPER" not in cut and cut.get("UNROLL") and _is_multiple(slice_, cut):
            cut = {**cut, "EVEN": 1}  # which compiles in less time
        storage = texture(self.draft.slots[self.targets[0]])
        small = storage.height * storage.width < ADJACENT_FROM
        if "BUFFERS" in cut and (small or "SUBTRACT" in cut) and not (start or fold):
            place = region or Region(0, 0, texels(shape[1]), texels(shape[0]))
            part = Region(0, 0, -(-place.width // self.size["COLUMNS"]), -(-place.height // self.size["ROWS"]))
            slice_ |= {"corner": (place.x, place.y), "apart": (part.width, part.height), "shape": shape}
            cut = {**cut, "APART": 1} | ({"ODD": 1} if shape[0] % 2 or shape[1] % 2 else {})
            self.draft.draw("matmul/register_blocked", operands, self.targets, slice_, cut, part)
            self._gather(target, place, part)
            return
        self.draft.draw("matmul/register_blocked", operands, self.targets, slice_, cut, region and self._blocks(region))
        inputs = {f"C{i}": slot for i, slot in enumerate(self.targets)}
        uniforms: dict[str, Uniform] = {"shape": shape, **(fold or {})}
        onto: dict[str, Define] = {**self.size, "ONTO": int(bool(start)), **(put or {})}
        if "BUFFERS" in cut and storage.height * storage.width >= GATHERED_FROM:
            part, every = Region(0, 0, storage.width, storage.height), "all C_i"
            place = Region(0, 0, part.width * self.size["COLUMNS"], part.height * self.size["ROWS"])
            if every not in self.draft.slots:
                self.draft.slot(every, Storage(place.height, place.width))
            self._gather(every, place, part)
            inputs, uniforms["size"], onto["GATHERED"] = {"targets": every}, (part.width, part.height), 1
        inputs |= {"start": start} if start else {}
        self.draft.draw("matmul/interleave", inputs, target, uniforms, onto, region)

    def _gather(self, target: str, place: Region, part: Region) -> None:
        """Copy the targets side by side to a place; each holds a part of it, and the last of a row may hold less."""
        for i, slot in enumerate(self.targets):
            y, x = (i // self.size["COLUMNS"]) * part.height, (i % self.size["COLUMNS"]) * part.width
            width, height = min(part.width, place.width - x), min(part.height, place.height - y)
            if width > 0 and height > 0:
                self.draft.transfer(slot, target, region=Region(place.x + x, place.y + y, width, height))

    def _blocks(self, region: Region) -> Region:
        """Blocks that hold a region."""
        columns, rows = self.size["COLUMNS"], self.size["ROWS"]
        x, y = region.x // columns, region.y // rows
        return Region(x, y, -(-(region.x + region.width) // columns) - x, -(-(region.y + region.height) // rows) - y)
