"""Cholesky factors 16 columns at a time, as in the source; and in panels, whose updates are matrix products.

The cost of a factorisation is its sequence of dependent passes. 16 columns take three: the diagonal block, the rows
below it, the trailing matrix. `InPanels` defers the last one until a panel of 64 columns or more is done, and subtracts
their product by `glla.operations.product.matmul`'s ``panel_broadcast``, which computes 16 rows of a column where
``cholesky/update`` computes 2 x 2 elements. All of them subtract the same products in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from glla.operations.batches.stack import SINGLE, Cells
from glla.operations.product.register_blocks import Blocks
from glla.passes import Block, Buffer, Draft, PingPong, Region, Storage, Uniform, matrix
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels

SIDE = 8
"""Texels of a diagonal block: 16 columns, as in the source."""

PAIR = 2
"""Texels across that a draw of 16 columns computes, where they take several."""

GROUP = 16
"""Rows of the matrix that one fragment of a trailing update in panels computes."""


def rank2(draft: Draft, source: str, n: int, cells: Cells = SINGLE) -> str:
    """Add a pass for every two columns, of one matrix or of a batch; give the slot of L."""
    side, shape = texels(n), (n, n)
    factor = PingPong(draft, "L", cells.matrix(shape), source)
    for k in range(side):
        first = max(k - 1, 0)  # rows and columns are final one step after their own, when both textures hold them
        with draft.scope("step", k):
            draft.draw(
                "cholesky/rank2",
                {"A": factor.front},
                factor.back,
                {"k": k, "shape": shape, **cells.grid},
                cells.defines,
                cells.region(first, first, side - first, side - first),
            )
        factor.swap()
    return factor.front


def block16(draft: Draft, source: str, n: int, by_rows: bool) -> str:
    """Add the author's factorisation; give the slot of L.

    `source`: slot of the packed matrix. `by_rows`: update the blocks off the diagonal with a pass for each block row,
    one after the other, as the author had to; otherwise all that remains in one pass.
    """
    side = texels(n)
    rest, result = PingPong(draft, "rest", matrix((n, n)), source), draft.slot("L", matrix((n, n)))
    block = draft.slot("D", Storage(SIDE, SIDE))
    for number, first in enumerate(range(0, side, SIDE)):
        with draft.scope("block column", number):
            count, corner = min(SIDE, side - first), (first, first)
            _sixteen_columns(draft, rest.front, block, result, corner, (n, n), Region(first, 0, count, side))
            after = first + SIDE
            if after < side:
                _update(draft, rest, result, corner, Region(after, after, side - after, side - after), by_rows)
    return result


def sixteen(draft: Draft, source: str, n: int) -> str:
    """Add a factorisation whose passes make 16 columns and update the trailing matrix; give the slot of L."""
    side = texels(n)
    rest = PingPong(draft, "L", matrix((n, n)), source)
    for number, first in enumerate(range(0, side, SIDE)):
        # Rows and columns are final one step after their own, when both textures hold them.
        left = max(first - SIDE, 0)
        with draft.scope("block column", number):
            draft.draw(
                "cholesky/sixteen",
                {"A": rest.front},
                rest.back,
                {"corner": (first, first), "shape": (n, n)},
                {},
                Region(left, left, side - left, side - left),
            )
        rest.swap()
    return rest.front


def _sixteen_columns(
    draft: Draft,
    source: str,
    block: str,
    target: str,
    corner: Shape,
    shape: Shape,
    region: Region,
    written_out: int = 0,
    chain: Mapping[str, Uniform] | None = None,
    step: int = 0,
) -> None:
    """Add the block on the diagonal, and the columns of L that follow from it: two passes.

    With `written_out` the columns take a draw for every two texels across, each with no more of the block than it
    needs: a GPU waits for their fetches, and these draws not for each other. With 2 the block on the diagonal is
    fetched as a whole and factored in registers, and both multiply with reciprocals. With a `chain` they are passes
    behind barriers: step `step` of a panel whose uniforms it has, in place of the corner.
    """
    count, full = region.width, region.width == SIDE
    reciprocals = int(full and written_out > 1)
    draw = partial(draft.draw, step=step, barrier=chain is not None)
    place: dict[str, Uniform] = {"corner": corner} if chain is None else dict(chain)
    common: dict[str, Define] = {} if chain is None else {"CHAIN": 1}
    defines = {**common, "AHEAD": 1} if reciprocals else common
    draw("cholesky/diagonal", {"A": source}, block, place, defines, Region(0, 0, count, count))
    inputs = {"A": source, "D": block}
    where = {**place, "shape": shape}
    if not (full and written_out):
        draw("cholesky/strip", inputs, target, where, common, region)
        return
    for across in range(0, SIDE, PAIR):
        part = replace(region, x=region.x + across, width=PAIR)
        defines = {**common, "COLUMNS": across + PAIR, "RECIPROCALS": reciprocals}
        draw("cholesky/strip", inputs, target, where, defines, part)


def _update(draft: Draft, rest: PingPong, columns: str, corner: Shape, region: Region, by_rows: bool = False) -> None:
    """Update the trailing matrix by 16 columns: one pass; or one for the diagonal, and one for each block row."""
    for place, defines in _in_parts(region) if by_rows else [(region, {})]:
        draft.draw("cholesky/update", {"A": rest.front, "L": columns}, rest.back, {"corner": corner}, defines, place)
    rest.swap()


def _in_parts(region: Region) -> Iterator[tuple[Region, dict[str, int]]]:
    """The blocks on the diagonal, then those off it, by block rows."""
    yield region, {"DIAGONAL": 1}
    for down in range(SIDE, region.height, SIDE):
        yield Region(region.x, region.y + down, down, min(SIDE, region.height - down)), {}


class InPanels:
    """Adds a factorisation in panels to a draft.

    The matrix is worked on in the strip layout (``lib/strips.glsl``). A panel is taken out of it, packed, and factored
    16 columns at a time; what remains right of it loses the panel's product with its transpose, in a pass for each 16
    rows, which ends at the diagonal.

    `source`: slot of the packed matrix, of which the lower half is used. `values`: parameters of the variant:
    ``PANEL``, columns of a panel, a multiple of 16; ``UNROLL``, four draws for 16 columns below the diagonal, with
    loops written out, for a GPU (1), and the block on the diagonal factored in registers, with reciprocals (2);
    ``LEFT``, columns lose the product of those on their left when it is their turn (1), or all that are left in the
    panel after each 16 (0). Attributes: `result`: slot of L.
    """

    samples_panels = False  # whether products sample the panel of L, so that it needs a texture of its own

    def __init__(self, draft: Draft, source: str, n: int, values: Mapping[str, int]) -> None:
        self.draft, self.n, self.panel, self.written_out = draft, n, values["PANEL"], values["UNROLL"]
        self.looks_left = values["LEFT"]
        panel = self.panel
        columns = matrix((n, panel))
        self.taken, self.factor = draft.slot("panel", columns), draft.slot("panel of L", columns)
        self.rest = PingPong(draft, "rest of the panel", columns, self.taken)
        self.block = draft.slot("D", Storage(SIDE, SIDE))
        self.result = draft.slot("L", matrix((n, n)))
        self._begin(source)
        for number, top in enumerate(range(0, n, panel)):
            with draft.scope("panel", number):
                self._factor_panel(top)
                if top + panel < n:
                    with draft.scope("trailing update"):
                        self._subtract_product(top)

    def _begin(self, source: str) -> None:
        """Lay the matrix as strips."""
        self.groups, self.width = -(-self.n // GROUP), -(-self.n // 8)
        strip = Storage(8 * self.groups, self.width)
        self.strips, self.spare = (
            tuple(self.draft.slot(f"S{t}_{side}", strip) for t in range(4)) for side in ("ping", "pong")
        )
        self.across = self.draft.slot("panel across", Storage(2 * self.panel, self.width))
        self.draft.draw("strips/to_strips", {"A": source}, self.strips, {"size": packed((self.n, self.n))})

    def _take(self, top: int, shape: Shape, inside: Region) -> None:
        """Copy the columns of a panel from the trailing matrix."""
        samplers = {f"S{t}": slot for t, slot in enumerate(self.strips)}
        self.draft.draw("strips/from_strips", samplers, self.taken, {"left": top, "shape": shape}, {}, inside)

    def _factor_panel(self, top: int) -> None:
        """Take out the panel, factor it, put it into its columns."""
        draft, height, start = self.draft, texels(self.n), top // 2
        shape = (self.n, min(self.panel, self.n - top))
        width = texels(shape[1])
        self._take(top, shape, Region(0, start, width, height - start))
        self.rest.front = self.taken
        chain: dict[str, Uniform] = {"size": (height, width), "start": start}
        barrier = bool(self.looks_left) and not self.samples_panels
        for number, left in enumerate(range(0, width, SIDE)):
            with draft.scope("sixteen columns", number):
                down = start + left
                strip = Region(left, down, min(SIDE, width - left), height - down)
                source = self._open(strip, number, chain, barrier) if self.looks_left and left else self.rest.front
                where = (left, down), shape, strip, self.written_out, chain if barrier else None, number
                _sixteen_columns(draft, source, self.block, self.factor, *where)
                after = left + SIDE
                if after < width and not self.looks_left:
                    open_ = Region(after, start + after, width - after, height - start - after)
                    _update(draft, self.rest, self.factor, (left, down), open_)
        place = Region(start, 0, width, height)
        draft.draw("cholesky/finished", {"P": self.factor}, self.result, {"left": start}, {}, place)

    def _open(self, strip: Region, step: int, chain: Mapping[str, Uniform], barrier: bool) -> str:
        """Subtract from 16 columns the products of those on their left in the panel; give the slot."""
        inputs = {"A": self.taken, "L": self.factor}
        self.draft.draw("cholesky/left", inputs, self.rest.back, chain, {"CHAIN": 1}, strip, step=step, barrier=barrier)
        return self.rest.back

    def _subtract_product(self, top: int) -> None:
        """Subtract the panel times its transpose from the trailing matrix, up to the diagonal."""
        draft, right, depth = self.draft, top + self.panel, self.panel
        first, size = right // GROUP, packed((self.n, depth))
        storage = Storage(self.groups - first, 4 * depth)
        texture = draft.slot(f"blocks_{top}", storage)
        buffer = draft.slot(f"blocks_buffer_{top}", Buffer.of(storage))
        numbers: dict[str, Uniform] = {"groups": self.groups - first, "first_group": first, "size": size}
        draft.draw("matmul/panels", {"A": self.factor}, texture, numbers, {"DEPTH": depth})
        draft.transfer(texture, buffer)
        beside = Region(right // 8, 0, self.width - right // 8, 2 * depth)
        draft.draw("cholesky/across", {"P": self.factor}, self.across, {"height": size[0]}, {}, beside)
        for group in range(first, self.groups):
            end = min(2 * group + 2, self.width)  # strips that hold the group's block on the diagonal, too
            draft.draw(
                "matmul/panel_broadcast",
                {"B": self.across, **{f"C{t}": slot for t, slot in enumerate(self.strips)}},
                self.spare,
                {"first": 0},
                {"DEPTH": depth, "CONTINUE": 1, "SUBTRACT": 1},
                Region(right // 8, 8 * group, end - right // 8, 8),
                blocks={"Panel": Block(buffer, (group - first) * 4 * depth, 4 * depth)},
                step=group,
            )
        self.strips, self.spare = self.spare, self.strips


class InWholePanels(InPanels):
    """The same, with a trailing update of two passes at any size; the trailing matrix stays packed.

    The product is `glla.operations.product.matmul`'s ``register_blocked``, up to the diagonal; it is summed up before
    it is subtracted, so the bits are not those of the others.
    """

    samples_panels = True

    def _begin(self, source: str) -> None:
        self.open = PingPong(self.draft, "what remains", matrix((self.n, self.n)), source)
        self.blocks = Blocks.of(self.draft, (self.n, self.n), {})

    def _take(self, top: int, shape: Shape, inside: Region) -> None:
        self.draft.draw("packing/window", {"A": self.open.front}, self.taken, {"corner": (top // 2, 0)}, {}, inside)

    def _subtract_product(self, top: int) -> None:
        first = (top + self.panel) // 2  # a panel has whole blocks
        side = texels(self.n) - first
        operands: dict[str, str] = {"A": self.factor, "B": self.factor}
        slice_: dict[str, Uniform] = {"first": 0, "count": self.panel // 2}
        half: dict[str, Define] = {"TRANSPOSE_B": 1, "LOWER": 1}
        place, shape = Region(first, first, side, side), (self.n, self.n)
        self.blocks.draw(operands, self.open.back, slice_, shape, self.open.front, place, half, {"SUBTRACT": 1})
        self.open.swap()
