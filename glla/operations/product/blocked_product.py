"""Passes that products of any two matrices (`matmul`) and symmetric products (`syrk`) share.

Slices of the inner dimension; and blocks, which reuse fetched elements: in registers, in a uniform block, in shared
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from glla.operations.layouts.packing import from_lanes, to_lanes
from glla.operations.product.register_blocks import Blocks, unrolled
from glla.passes import Block, Buffer, Draft, Limits, PingPong, Region, Storage, Uniform, matrix
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels

UNROLL = (1, 2, 4, 8)
"""Trips of the inner loop that may be written out in one."""

PASSES = (1, 2, 4, 8)
"""Numbers of slices of the inner dimension; each is a pass."""

GROUP = 16
"""Rows of C that one fragment of `panel_broadcast` computes."""

DEPTH = 96
"""Inner indices of one pass of `panel_broadcast`: its 16 x 96 multiply-adds fit the instruction cache of an NVIDIA H200
(nvidia-h200-pcie-sse2/experiments/2026-11-20.json)."""

CONSTANT = 16
"""Inner indices of which a panel of `panel_broadcast` has a multiple: its shader is written out in parts of 16."""

GROUPS_ROWS, GROUPS_COLUMNS = 8, 4
"""Rows and columns of C that one fragment of `panel_groups` computes."""

GROUPS = (4, 2, 8, 16, 32)
"""Groups of rows that one uniform block of `panel_groups` may hold, if their panels fill it: the fewer groups, the
deeper a panel is, and the fewer times C is written."""

BODY = 32
"""Inner indices of one trip of its loop: 16 to 64 are within 8 % of each other on an NVIDIA H100."""

STRIPS = (16, 8)
"""Heights of a strip in texels; the first one that fits is taken. A rasteriser shades 2 x 2 or 4 x 4 texels together,
so no pass may be one texel high (nvidia-h200-pcie-sse2/experiments/2026-11-21.json)."""


def panels_fit(m: int, k: int, depth: int, limits: Limits) -> bool:
    """Whether the panels of an m x k matrix, and the strips of B and C, fit into textures."""
    most = limits.texture_size // (4 * depth)
    return panels_across(m, k, depth, limits) <= most and strip_height(m, k, limits) is not None


def panels_across(m: int, k: int, depth: int, limits: Limits) -> int:
    """Panels of an m x k matrix that a row of texels holds: 1, unless they exceed the height of a texture."""
    return -(-(-(-m // GROUP) * -(-k // depth)) // limits.texture_size)


def strip_height(m: int, k: int, limits: Limits, rows: int = GROUP, deep: int = CONSTANT) -> int | None:
    """Height of a strip with which B and C fit into textures, `rows` of C in one; None if there is none."""
    strips = max(-(-m // rows), padded(k, deep) // 4)
    return next((height for height in STRIPS if height * strips <= limits.texture_size), None)


def padded(k: int, deep: int = CONSTANT) -> int:
    """Inner indices of the panels altogether, the last ones of which may not be as deep: a multiple of `deep`."""
    return -(-k // deep) * deep


@dataclass(frozen=True)
class Task:
    """A product to plan: its sizes, the parameters of the variant by name, and the slot to add to, if any."""

    draft: Draft
    m: int
    k: int
    n: int
    values: Mapping[str, int]
    limits: Limits
    start: str
    turned: Mapping[str, Define]  # which operands a shader finds transposed
    half: bool = False  # C is symmetric; its lower triangle is drawn
    upper: bool = False  # ... and A is upper triangular

    left: str = "A"  # slots of the operands; of a symmetric product the same one, where the shader can turn it
    right: str = "B"

    @property
    def cut(self) -> dict[str, Define]:
        """Defines that leave out C above its diagonal, zeros of a triangular A, and double fetches."""
        wanted = {"LOWER": self.half, "UPPER": self.half and self.upper, "ONCE": self.half and self.values.get("ONCE")}
        return {name: 1 for name, one in wanted.items() if one}

    @property
    def mirror(self) -> dict[str, Define]:
        """The define that mirrors the half that was drawn."""
        return {"MIRROR": 1} if self.half else {}

    def slice(self, inner: int) -> int:
        """Trips of a pass: as PASSES says, or as few passes as the loop limit allows."""
        return min(self.limits.loop_trips, -(-inner // self.values.get("PASSES", 1)))

    def slices(
        self, sums: PingPong, trips: int, most: int
    ) -> Iterator[tuple[dict[str, str], dict[str, Uniform], dict[str, Define]]]:
        """Slices of the inner dimension, each with the sum so far, uniforms, and the define that says if there is one.

        A pass for each draws to the back of `sums`.
        """
        for number, first in enumerate(range(0, trips, most)):
            with self.draft.scope("slice", number):
                before = {"C": sums.front} if sums.front else {}
                yield before, {"first": first, "count": min(most, trips - first)}, {"CONTINUE": int(bool(before))}
            sums.swap()


def operand(draft: Draft, name: str, shape: Shape, transposed: bool, in_place: bool) -> None:
    """Add an operand; a transposed one that is not read in place is written out by the first pass."""
    if not transposed:
        draft.operand(name, matrix(shape))
    elif in_place:
        draft.operand(name, matrix(shape[::-1]))
    else:
        write_out(draft, draft.operand(f"{name}_transposed", matrix(shape[::-1])), name, shape)


def write_out(draft: Draft, source: str, name: str, shape: Shape) -> str:
    """Add the pass that writes out a transpose, of this shape; give its slot."""
    made, defines = {name: matrix(shape)}, {"OPERATION": "positive_of"}
    return draft.draw("elementwise/unary", {"A": source}, made, {"placement": (1, 1, 1), "shape": shape}, defines)[name]


# -- slices of the inner dimension ------------------------------------------------------------------------------------


def in_slices(task: Task, most: int) -> str:
    """Passes over slices of the inner dimension; a later pass goes on from the sum of the one before."""
    sums = PingPong(task.draft, "C", matrix((task.m, task.n)), task.start)
    for before, slice_, goes_on in task.slices(sums, texels(task.k), most):
        inputs = {"A": task.left, "B": task.right} | before
        uniforms = {**slice_, "shape": (task.m, task.n)}
        defines = {**goes_on, **unrolled(task.values), **task.turned}
        task.draft.draw("matmul/inner_product", inputs, sums.back, uniforms, defines)
    return sums.front


def single_component(task: Task) -> str:
    """Unpack A and B, which may be one texture; one pass, or as few as the loop limit allows; pack C."""
    draft, shape = task.draft, (task.m, task.k)
    a = unpacked(draft, task.left, "A", shape[::-1] if "TRANSPOSE_A" in task.turned else shape)
    inputs = {"A": a, "B": a if task.left == task.right else unpacked(draft, task.right, "B", (task.k, task.n))}
    start = unpacked(draft, task.start, task.start, (task.m, task.n)) if task.start else ""
    sums = PingPong(draft, "elements_of_C", Storage(task.m, task.n, 1), start)
    for before, slice_, goes_on in task.slices(sums, task.k, task.limits.loop_trips):
        defines = {**goes_on, **unrolled(task.values), **task.turned}
        draft.draw("matmul/single_component", inputs | before, sums.back, slice_, defines)
    return repacked(task, sums.front)


def unpacked(draft: Draft, source: str, name: str, shape: Shape) -> str:
    """A matrix with one element to a texel."""
    elements = draft.slot(f"elements_of_{name}", Storage(*shape, 1))
    to_lanes(draft, source, elements, shape, 1, 1)
    return elements


def repacked(task: Task, elements: str) -> str:
    """C out of its elements."""
    result = task.draft.slot("C", matrix((task.m, task.n)))
    from_lanes(task.draft, elements, result, (task.m, task.n), 1, 1)
    return result


# -- blocks of C in registers ----------------------------------------------------------------------------------------


def register_blocked(task: Task) -> str:
    """One pass to ROWS x COLUMNS targets, and one that puts them together; again for each slice."""
    draft, shape, values = task.draft, (task.m, task.n), task.values
    folded: Storage | None = None
    fold: dict[str, Uniform] = {}
    if task.half:
        blocks = (-(-texels(task.n) // values["COLUMNS"]), -(-texels(task.m) // values["ROWS"]))
        across, down = folded_size(blocks, values["ROWS"], values["COLUMNS"])
        fold, folded = {"blocks": blocks}, Storage(down, across)
    half: dict[str, Define] = {"FOLDED": 1} if task.half else {}
    cut, put = {**half, **task.turned, **task.cut}, {**half, **task.mirror}
    made = Blocks.of(draft, shape, values, folded)
    inner = texels(task.k)
    sums = PingPong(draft, "C", matrix(shape), task.start)
    operands = {"A": task.left, "B": task.right}
    for _, slice_, _ in task.slices(sums, inner, task.slice(inner)):
        made.draw(operands, sums.back, slice_, shape, sums.front, None, cut, put, fold, known="AB")
    return sums.front


def folded_size(blocks: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """Width and height of the lower half of a matrix in blocks, folded: see ``matmul/fold.glsl``."""
    across, down = blocks
    reach = [min(across, -(-rows * (y + 1) // columns)) for y in range(down)]
    return max(map(sum, zip(reach[: -(-down // 2)], reversed(reach), strict=False))), -(-down // 2)


# -- panels of A in a uniform block -----------------------------------------------------------------------------------


def panel_broadcast(task: Task) -> str:
    """Repack A and B; a pass for each panel of A, chunk by chunk of the inner dimension; repack C."""
    draft, m, k, n, depth = task.draft, task.m, task.k, task.n, task.values["DEPTH"]
    strip = strip_height(m, k, task.limits) or min(STRIPS)
    groups, chunks, width = -(-m // GROUP), -(-k // depth), -(-n // strip)
    layout: dict[str, Define] = {"STRIP": strip}
    across = panels_across(m, k, depth, task.limits)
    storage = Storage(-(-groups * chunks // across), across * 4 * depth)
    panels = draft.slot("panels", storage)
    buffer = draft.slot("panel_buffer", Buffer.of(storage))
    strips = draft.slot("strips", Storage(strip * padded(k) // 4, width))
    draft.draw(
        "matmul/panels",
        {"A": task.left},
        panels,
        {"groups": groups, "first_group": 0, "size": packed((m, k))},
        {"DEPTH": depth} | ({"ACROSS": across} if across > 1 else {}),
    )
    draft.draw("matmul/strips", {"B": task.right}, strips, {"size": packed((k, n))}, layout)
    draft.transfer(panels, buffer)  # which waits for the panels, so not before there is nothing else to draw
    storage = Storage(strip * groups, width)
    pair = [tuple(draft.slot(f"C{t}_{side}", storage) for t in range(4)) for side in ("ping", "pong")]

    def reach(group: int) -> int:
        """Texels across as far as C is drawn: to its end, or to the end of the diagonal's block."""
        return -(-GROUP * (group + 1) // strip) if task.half else width

    def begins(group: int) -> int:
        """Chunk that the sums of a group begin with: that of its row on the diagonal, if A is upper triangular."""
        return GROUP * group // depth if task.upper else 0

    for chunk in range(chunks):
        before, target = pair[1 - chunk % 2], pair[chunk % 2]
        sums = {f"C{t}": slot for t, slot in enumerate(before)}
        deep = min(depth, padded(k) - chunk * depth)
        with draft.scope("chunk", chunk):
            for group in (group for group in range(groups) if chunk >= begins(group)):
                goes_on = chunk > begins(group)
                draft.draw(
                    "matmul/panel_broadcast",
                    {"B": strips} | (sums if goes_on else {}),
                    target,
                    {"first": chunk * depth // 4},
                    {"DEPTH": deep, "CONTINUE": int(goes_on), **layout},
                    Region(0, strip * group, min(width, reach(group)), strip),
                    blocks={"Panel": Block(buffer, (chunk * groups + group) * 4 * depth, 4 * deep)},
                    step=group,
                    barrier=True,
                )
    return assembled(task, pair[(chunks - 1) % 2], layout)


def panel_groups(task: Task) -> str:
    """Repack A and B; a pass for each uniform block of A's panels, chunk by chunk; repack C."""
    draft, m, k, n, limits = task.draft, task.m, task.k, task.n, task.limits
    depth, in_block = groups_shape(m, k, task.values["GROUPS"], limits)
    chunks, strip = -(-k // depth), strip_height(m, k, limits, GROUPS_ROWS, BODY) or min(STRIPS)
    groups = -(-m // GROUPS_ROWS)
    held = -(-groups // in_block) * in_block  # a block is bound as a whole, so the last one is filled with zeros
    width = -(-n // (GROUPS_COLUMNS * strip))
    trips = padded(k, BODY) // BODY
    across = -(-held * chunks // limits.texture_size)
    storage = Storage(-(-held * chunks // across), across * 2 * depth)
    panels = draft.slot("panels", storage)
    buffer = draft.slot("panel_buffer", Buffer.of(storage))
    strips = draft.slot("strips", Storage(strip * padded(k, BODY) // 4, GROUPS_COLUMNS * width))
    beside = {"ACROSS": across} if across > 1 else {}
    defines: dict[str, Define] = {"DEPTH": depth, "GROUP": GROUPS_ROWS, **beside}
    numbers: dict[str, Uniform] = {"groups": held, "first_group": 0, "size": packed((m, k))}
    draft.draw("matmul/panels", {"A": task.left}, panels, numbers, defines)
    layout: dict[str, Define] = {"STRIP": strip}
    draft.draw("matmul/strips", {"B": task.right}, strips, {"size": packed((k, n))}, layout)
    draft.transfer(panels, buffer)
    storage = Storage(strip * groups, width)
    pair = [tuple(draft.slot(f"C{t}_{side}", storage) for t in range(8)) for side in ("ping", "pong")]
    for chunk in range(chunks):
        before, target = pair[1 - chunk % 2], pair[chunk % 2]
        inputs = {"B": strips} | ({f"C{t}": slot for t, slot in enumerate(before)} if chunk else {})
        uniforms: dict[str, Uniform] = {
            "first": chunk * depth // 4,
            "trips": min(depth // BODY, trips - chunk * (depth // BODY)),
            "width": width,
        }
        with draft.scope("chunk", chunk):
            for group in range(0, groups, in_block):
                draft.draw(
                    "matmul/panel_groups",
                    inputs,
                    target,
                    uniforms,
                    {"GROUPS": in_block, "DEPTH": depth, "CONTINUE": int(chunk > 0), **layout},
                    Region(0, strip * group, width, strip * min(in_block, groups - group)),
                    blocks={"Panel": Block(buffer, (chunk * held + group) * 2 * depth, in_block * 2 * depth)},
                    step=group,
                    barrier=True,
                )
    return assembled(task, pair[(chunks - 1) % 2], {**layout, "COLUMNS": GROUPS_COLUMNS})


def groups_shape(m: int, k: int, groups: int, limits: Limits) -> tuple[int, int]:
    """Depth of the panels of `panel_groups`, the uniform block's share of each group, and how many are in a block."""
    most = max(1, limits.uniform_block // (2 * groups * BODY))
    depth = min(BODY * most, padded(k, BODY))
    # More than GROUPS if the inner dimension is short; powers of two: matrices of many sizes share a program.
    return depth, min(limits.uniform_block // (2 * depth), 1 << (-(-m // GROUPS_ROWS) - 1).bit_length())


def assembled(task: Task, strips: tuple[str, ...], layout: Mapping[str, Define]) -> str:
    """C out of the strips of its panels, packed."""
    made, shape = {"C": matrix((task.m, task.n))}, (task.m, task.n)
    inputs = {f"C{t}": slot for t, slot in enumerate(strips)} | ({"start": task.start} if task.start else {})
    defines = {"ONTO": int(bool(task.start)), **layout, **task.mirror}
    return task.draft.draw("matmul/assemble", inputs, made, {"shape": shape}, defines)["C"]


# -- a compute shader -------------------------------------------------------------------------------------------------


def compute_tiled(task: Task) -> str:
    """One dispatch, or as few as the loop limit allows."""
    shape, inner = (task.m, task.n), texels(task.k)
    work, tile = task.values["WORK"], task.values["TILE"]
    # Should a compiler unroll none of the loops over a tile, these are their trips.
    trips = 1 + work + tile * (1 + 2 * work + work * work)
    most = tile * max(1, task.limits.loop_trips // trips)
    side = tile * work
    groups = (-(-texels(task.n) // side), -(-texels(task.m) // side))
    sums = PingPong(task.draft, "C", matrix(shape), task.start)
    for before, slice_, goes_on in task.slices(sums, inner, most):
        inputs, uniforms = {"A": task.left, "B": task.right} | before, {**slice_, "shape": shape}
        defines = {"WORK": work, "TILE": tile, **goes_on}
        task.draft.dispatch("matmul/compute_tiled", inputs, sums.back, groups, uniforms, defines)
    return sums.front
