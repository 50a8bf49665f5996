"""Forward and backward substitution, T X = B.

All variants substitute: they subtract the same products t_ij x_j from b_i, in other groups, and divide by t_ii. So all
have the error bound of substitution, which holds row by row and whatever the condition of T: the residual of row i is
at most (k + 4) u |T||X|, k the entries of T in that row, with 4 u for the division of a GPU (Higham 2002, theorem
8.5). To invert the blocks on the diagonal beforehand and multiply with them would spare a block its chain of dependent
steps, but not that bound: it would be one of |D||D^-1||B| instead of |T||X|, D being the block, and integers would not
be exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from glla.errors import OptionError
from glla.layout import Shape, packed, texels
from glla.passes import Block, Draft, Limits, PingPong, Plan, Region, Storage, Uniform, Variant, matrix

VARIANTS = {
    "rank2": Variant("two rows a step, substituted into all open rows", "Brodtkorb 2007, section 4.1.3, equation 4.34"),
    "blocked": Variant(
        "64 rows a step: a pass solves them, a pass subtracts their product with T from all open rows", "LAPACK trtrs"
    ),
    "panel_broadcast": Variant(
        "64 rows a step, T in uniform blocks: a pass for each 16 open rows, as the matrix product of that name",
        "LAPACK trtrs",
    ),
}

BLOCKS = (16, 32, 64)
"""Rows that one pass of `blocked` may solve: on a GPU the fewest that are enough, or 64; in software 16. The fragments
of a block repeat each other's steps, about 11 flop for each row of the block and element of X: that is nothing beside
the time of a pass on a GPU, but a lot without one."""

BROADCAST_BLOCK = 64
"""Rows that one pass of `panel_broadcast` solves: a triangle fills the smallest uniform block of OpenGL."""

GROUP = 16
"""Rows that one fragment of an update of `panel_broadcast` computes."""

BROADCAST_FROM = 256
"""Right-hand sides from which a GPU is faster with `panel_broadcast`, whose many passes take their time however few
columns there are. On an NVIDIA H200, `blocked` against it: 3.0 and 4.4 ms at n = 1024 with 64 columns, 2.6 and 2.4 with
256, 8.2 and 3.4 with 1024; at n = 4096, 7 and 20 ms with 64, 24 and 20 with 256, 351 and 71 with 4096 (`rank2`: 16 ms
with one column, where `blocked` takes 2.6). See the experiments under ``benchmarks/results``."""


def choose(n: int, columns: int, limits: Limits | None = None) -> str:
    """Pick the variant: `panel_broadcast` where many right-hand sides pay for its many passes, `blocked` otherwise.

    The passes of `panel_broadcast` grow with n^2, as the work for one right-hand side does, so that the number of
    columns decides. A software rasteriser gains nothing by uniform blocks. `rank2` writes all open rows n / 2 times.
    What was tuned on the device comes first; it holds for about as many right-hand sides as rows.
    """
    tuned = None if limits is None else limits.tuning("triangular", n, columns)
    if tuned is not None:
        return tuned.variant
    hardware = limits is None or not limits.software
    return "panel_broadcast" if hardware and columns >= BROADCAST_FROM else "blocked"


@dataclass(frozen=True)
class Triangle:
    """What is solved with.

    Attributes
    ----------
    upper : bool
        The matrix solved with is upper triangular: substitute backward. With `transposed` this speaks of the transpose.
    unit : bool
        Its diagonal is one and is not read.
    transposed : bool
        Solve with the transpose of what is stored.
    """

    upper: bool = False
    unit: bool = False
    transposed: bool = False

    @property
    def defines(self) -> dict[str, int]:
        """For shaders that include ``lib/triangle.glsl``."""
        return {"UPPER": int(self.upper), "UNIT": int(self.unit), "TRANSPOSED": int(self.transposed)}


@lru_cache(maxsize=64)
def plan(
    n: int,
    columns: int,
    upper: bool = False,
    unit: bool = False,
    transposed: bool = False,
    variant: str = "rank2",
    unroll: bool = False,
) -> Plan:
    """Plan of the solution of a triangular system.

    Parameters
    ----------
    n, columns : int
        Order of T, and number of right-hand sides; both > 0.
    upper, unit, transposed : bool
        See `Triangle`.
    variant : str
        A key of `VARIANTS`.
    unroll : bool
        On a GPU: write out the long loops, see ``triangular/solve_block.frag``, and make the blocks of `blocked` large.

    Returns
    -------
    Plan
        Operands ``T`` and ``B``, result ``X``, all packed. n^2 columns flop. Passes, with b rows in a block: ``rank2``
        ceil(n / 2), ``blocked`` 2 ceil(n / b) - 1, ``panel_broadcast`` about n^2 / 2048.
    """
    draft = Draft(f"triangular[{variant}, {'upper' if upper else 'lower'}]")
    operand = draft.operand("T", matrix((n, n)))
    start = draft.operand("B", matrix((n, columns)))
    result = substitute(draft, operand, start, (n, columns), Triangle(upper, unit, transposed), variant, unroll)
    return draft.plan({"X": result}, flops=n * n * columns)


def substitute(
    draft: Draft,
    operand: str,
    start: str,
    shape: Shape,
    triangle: Triangle,
    variant: str = "rank2",
    unroll: bool = False,
) -> str:
    """Add the passes of a substitution to a draft.

    Parameters
    ----------
    draft : Draft
        Where the passes go.
    operand, start : str
        Slots of T (which may be part of a wider matrix) and of the right-hand sides.
    shape : tuple of int
        Of the right-hand sides.
    triangle : Triangle
        What T is.
    variant, unroll
        As in `plan`.

    Returns
    -------
    str
        Slot of the solution.
    """
    builders: dict[str, Callable[[Draft, str, str, Shape, Triangle, bool], str]] = {
        "rank2": _rank2,
        "blocked": _blocked,
        "panel_broadcast": _panel_broadcast,
    }
    if variant not in builders:
        raise OptionError(f"triangular: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    return builders[variant](draft, operand, start, shape, triangle, unroll)


def _rank2(draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, unroll: bool) -> str:
    """A pass for two rows: it solves them, and substitutes them into the open ones."""
    storage = matrix(shape)
    rows = PingPong(draft, "X", storage, start)
    height = texels(shape[0])
    for step in range(height):
        t = height - 1 - step if triangle.upper else step
        # A row is final one step after its own, when both textures hold it.
        if triangle.upper:
            region = Region(0, 0, storage.width, min(t + 2, height))
        else:
            region = _from_row(max(t - 1, 0), storage.width, height)
        draft.draw(
            "triangular/substitute",
            {"T": operand, "B": rows.front},
            rows.back,
            {"t": t, "shape": shape},
            triangle.defines,
            region,
        )
        rows.swap()
    return rows.front


def _from_row(y: int, width: int, height: int) -> Region:
    return Region(0, y, width, height - y)


def _blocked(draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, unroll: bool) -> str:
    """Two passes a block: solve its rows, which are final then, and make the open rows' right-hand sides."""
    size = next((rows for rows in BLOCKS if rows >= shape[0]), BLOCKS[-1]) if unroll else BLOCKS[0]
    storage = matrix(shape)
    height, width = storage.height, storage.width
    result = draft.slot("X", storage)
    rest = PingPong(draft, "rest", storage, start)
    for solved in range(0, height, size // 2):
        count = min(size // 2, height - solved)
        remaining = height - solved - count
        top, first_open = (remaining, 0) if triangle.upper else (solved, solved + count)
        draft.draw(
            "triangular/solve_block",
            {"T": operand, "B": rest.front},
            result,
            {"start": top + count - 1 if triangle.upper else top, "shape": shape},
            {**triangle.defines, "ROWS": size, "UNROLL": int(unroll)},
            Region(0, top, width, count),
        )
        if remaining:
            draft.draw(
                "triangular/update",
                {"T": operand, "X": result, "B": rest.front},
                rest.back,
                {},
                {"TRANSPOSED": int(triangle.transposed), "ROWS": size},
                Region(0, first_open, width, remaining),
                step=top,
            )
            rest.swap()
    return result


def _panel_broadcast(draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, unroll: bool) -> str:
    """Block by block in the strip layout; there an upper triangle stands upside down, and so is a lower one too.

    The order is padded to whole groups of 16 rows. Padding is zero and stays so: of an upper triangle it comes first.
    """
    order, columns = shape
    groups, width = -(-order // GROUP), -(-columns // 8)
    padded, strip = GROUP * groups, Storage(8 * groups, width)
    strips, spare = (tuple(draft.slot(f"rest{t}_{side}", strip) for t in range(4)) for side in ("ping", "pong"))
    block = draft.slot("X_block", Storage(2 * BROADCAST_BLOCK, width))
    result = draft.slot("X", matrix(shape))
    reversed_ = {"REVERSED": int(triangle.upper)}
    last: dict[str, Uniform] = {"last": padded // 2 - 1} if triangle.upper else {}
    draft.draw("plu/to_strips", {"A": start}, strips, {"size": packed(shape), **last}, reversed_)
    for first in range(0, groups, BROADCAST_BLOCK // GROUP):
        open_groups = range(first + BROADCAST_BLOCK // GROUP, groups)
        buffer = _panels(draft, operand, triangle, order, first, groups)
        draft.draw(
            "plu/block_row",
            {f"S{t}": slot for t, slot in enumerate(strips)},
            block,
            {"group": first},
            {"UNROLL": int(unroll), "UNIT": int(triangle.unit), "STRIPS": 1},
            Region(0, 0, width, 2 * GROUP * min(BROADCAST_BLOCK // GROUP, groups - first)),
            blocks={"Panel": Block(buffer, 0, BROADCAST_BLOCK * GROUP)},
        )
        top = padded - 1 - GROUP * first if triangle.upper else GROUP * first
        rows = _texel_rows(top, triangle.upper, texels(order))
        place = Region(0, rows.start, texels(columns), len(rows))
        draft.draw("plu/unstrip_row", {"U": block}, result, {"top": top, "shape": shape}, reversed_, place)
        for group in open_groups:
            draft.draw(
                "matmul/panel_broadcast",
                {"B": block, **{f"C{t}": slot for t, slot in enumerate(strips)}},
                spare,
                {"first": 0},
                {"DEPTH": BROADCAST_BLOCK, "CONTINUE": 1, "SUBTRACT": 1},
                Region(0, 8 * group, width, 8),
                blocks={"Panel": Block(buffer, (group - first) * 4 * BROADCAST_BLOCK, 4 * BROADCAST_BLOCK)},
                step=group,
            )
        strips, spare = spare, strips
    return result


def _panels(draft: Draft, operand: str, triangle: Triangle, order: int, first: int, groups: int) -> str:
    """A block column of T from group `first` on, as panels in a buffer."""
    storage = (max(groups - first, BROADCAST_BLOCK // GROUP), 4 * BROADCAST_BLOCK)
    texture = draft.slot(f"T_panels_{first}", Storage(*storage))
    buffer = draft.slot(f"T_panels_buffer_{first}", Storage(*storage, buffer=True))
    draft.draw(
        "triangular/panels",
        {"T": operand},
        texture,
        {"first": GROUP * first, "order": order} | ({"padded": GROUP * groups} if triangle.upper else {}),
        {"UPPER": int(triangle.upper), "TRANSPOSED": int(triangle.transposed)},
    )
    draft.transfer(texture, buffer)
    return buffer


def _texel_rows(top: int, upward: bool, height: int) -> range:
    """Rows of texels that a block takes whose first row is `top`, as far as there are any."""
    if upward:
        return range(max(top // 2 - BROADCAST_BLOCK // 2 + 1, 0), min(top // 2 + 1, height))
    return range(top // 2, min(top // 2 + BROADCAST_BLOCK // 2, height))
