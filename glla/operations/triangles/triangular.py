"""Forward and backward substitution, T X = B.

All variants substitute: they subtract the same products t_ij x_j from b_i, in other groups, and divide by t_ii. So all
have the error bound of substitution, which holds row by row and whatever the condition of T: the residual of row i is
at most (k + 4) u |T||X|, k the entries of T in that row, with 4 u for the division of a GPU (Higham 2002, theorem 8.5).
Inverting the diagonal blocks beforehand and multiplying with them would spare a block its chain of dependent steps, but
has another bound, of |D||D^-1||B| instead of |T||X|, D being the block, and is not exact for integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from glla.errors import ShapeError
from glla.operations.batches.stack import SINGLE, add_substitution
from glla.operations.layouts.crossing import called
from glla.operations.product.register_blocks import THROUGH_BUFFERS, Blocks, buffers_hold
from glla.operations.record import Choice, Chosen, Float32, Function, Interface, Operation, builder, kept, resolved
from glla.operations.triangles.solved_blocks import Triangle, block_rows, solve_blocks
from glla.passes import PLAIN, Buffer, Draft, Forms, Limits, PingPong, Plan, Storage, matrix, resident
from glla.passes.layout import Shape, packed, texels
from glla.passes.rates import Work
from glla.passes.steps import Block, Region, Uniform
from glla.passes.variant import Variant, Variants

VARIANTS = Variants() | {
    "rank2": Variant("two rows a step, substituted into all open rows", "Brodtkorb 2007, section 4.1.3, equation 4.34"),
    "blocked": Variant(
        "a block of rows a step: a pass solves them, a pass subtracts their product with T from all open rows",
        "LAPACK trtrs",
        parameters={"ROWS": (16, 32, 64), "UNROLL": (0, 1), "BUFFERS": (0, 1)},
        on_gpu={"ROWS": 64, "UNROLL": 1},
    ),
    "chain": Variant(
        "16 rows a pass: each fragment of an open row solves them itself, and subtracts their product with T",
        "Golub and Van Loan 2013, section 3.1.4",
        parameters={"STEPS": (4, 8)},
        on_gpu={"STEPS": 8},
    ),
    "panel_broadcast": Variant(
        "64 rows a step, T in uniform blocks: a pass for each 16 open rows, as the matrix product of that name",
        "LAPACK trtrs",
        parameters={"UNROLL": (0, 1)},
        on_gpu={"UNROLL": 1},
    ),
}

BROADCAST_BLOCK = 64
"""Rows that one pass of `panel_broadcast` solves: a triangle fills the smallest uniform block of OpenGL."""

GROUP = 16
"""Rows that one fragment of an update of `panel_broadcast` computes."""

BUFFERED_FROM, BUFFERED_COLUMNS = 256, 32
"""Order, and right-hand sides, from which a software rasteriser subtracts the product with 64 rows at once, through
buffers."""

CHAIN_FROM = 256
"""Order above which a GPU may take `chain`: calls with smaller ones gained nothing by it, although their plans do."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else on a GPU the fastest by its rates.

    `chain` fetches more, and fewer passes wait; `panel_broadcast` does most arithmetic in a second, in many draws. A
    software rasteriser gains nothing by uniform blocks. `rank2` writes all open rows n / 2 times. What was tuned holds
    for about as many right-hand sides as rows.
    """
    n, columns = forms[1].matrix
    tuned = limits.tuning("triangular", n, columns)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    if not limits.software:
        works, rates = _works(n, columns), limits.known_rates
        return min(works, key=lambda variant: rates.seconds(works[variant])), ()
    buffered = n >= BUFFERED_FROM and columns >= BUFFERED_COLUMNS and buffers_hold(limits, (n, n), (n, columns))
    return "blocked", (("BUFFERS", 1),) if buffered else ()


def _works(n: int, columns: int) -> dict[str, Work]:
    """The work of each variant on a GPU, with its efficiency as measured (``benchmarks/results/thresholds.md``).

    A pass that solves 64 rows takes as long as two that wait, one behind a barrier two thirds of one.
    """
    blocks, groups, flops, half = -(-n // 64), -(-n // GROUP), n * n * columns, -(-texels(n) * texels(columns) // 2)
    works = {
        "blocked": Work(flops, 0.1, 2 * blocks - 1, half, waits=2 * (2 * blocks - 1)),
        "panel_broadcast": Work(flops, 0.5, groups * (groups + 1) // 8, columns, waits=4 * blocks + 2),
    }
    return works | ({"chain": Work(flops, 0.023, groups, half, waits=2 * groups // 3)} if n > CHAIN_FROM else {})


def check(forms: Forms) -> None:
    """Raise ShapeError unless T is square and B has as many rows."""
    t, b = (form.shape for form in forms)
    if t[-1] != t[-2] or t[-1] != b[-2]:
        raise ShapeError(f"triangular: T must be square and have as many rows as B, got T {t} and B {b}")


@builder("triangular", VARIANTS, choose, replaced="rank2")
def plan(
    forms: Forms, limits: Limits, chosen: Chosen, upper: bool = False, unit: bool = False, transposed: bool = False
) -> Plan:
    """Plan of the solution of a triangular system on the device.

    Operands ``T`` and ``B``, result ``X``, all packed. n^2 columns flop. Passes, with b rows in a block: ``rank2``
    ceil(n / 2), ``blocked`` 2 ceil(n / b) - 1, ``chain`` ceil(n / b), ``panel_broadcast`` about n^2 / 2048.

    `forms`: of T, n x n, and of the right-hand sides, n x columns; both > 0. `parameters`: of the variant. ``ROWS``:
    most rows of a block; ``UNROLL``: write out the long loops, see ``triangular/solve_block.frag``; ``BUFFERS``: the
    open rows lose the product with 64 solved ones at once, through buffers. `upper`, `unit`, `transposed`: see
    `Triangle`.
    """
    n, columns = forms[1].matrix
    draft = Draft(f"triangular[{chosen.variant}, {'upper' if upper else 'lower'}]")
    operand = draft.operand("T", matrix((n, n)))
    start = draft.operand("B", matrix((n, columns)))
    triangle = Triangle(upper, unit, transposed)
    result = BUILDERS[chosen.variant](draft, operand, start, (n, columns), triangle, chosen.values)
    return draft.plan({"X": result}, flops=n * n * columns)


def flops(forms: Forms) -> int:
    """Additions and multiplications: n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return forms[1].count * n * n * columns


def flops_of_both(forms: Forms) -> int:
    """Those of two substitutions, with the factors of a matrix."""
    return 2 * flops(forms)


def substitute(
    draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, limits: Limits, variant: str | None = None
) -> str:
    """Add the passes of a substitution to a draft.

    Slot of the solution.
    `operand`, `start`: slots of T (which may be part of a wider matrix) and of the right-hand sides. `shape`: of the
    right-hand sides. `triangle`: what T is. `limits`, `variant`: as in `plan`.
    """
    forms = resident((shape[0], shape[0]), shape)
    variant, values = resolved("triangular", VARIANTS, choose, forms, limits, variant)
    return BUILDERS[variant](draft, operand, start, shape, triangle, values)


def _rank2(draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, values: Mapping[str, int]) -> str:
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
            region = Region(0, max(t - 1, 0), storage.width, height - max(t - 1, 0))
        with draft.scope("row of texels", step):
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


def _blocked(
    draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, values: Mapping[str, int]
) -> str:
    """Two passes a block, see `solve_blocks`."""
    storage = matrix(shape)
    result, rest = draft.slot("X", storage), PingPong(draft, "rest", storage, start)
    if triangle.inverse and storage.height > block_rows(shape[0], values) // 2:  # where columns wait, both hold I
        for side in ("ping", "pong"):
            draft.draw("packing/identity", {}, f"rest_{side}", {"shape": shape})
    if not values.get("BUFFERS"):
        solve_blocks(draft, operand, result, rest, shape, triangle, values)
        return result
    blocks, (height, width) = Blocks.of(draft, shape, dict(THROUGH_BUFFERS)), packed(shape)
    for number, solved in enumerate(range(0, height, BROADCAST_BLOCK // 2)):
        with draft.scope("panel", number):
            count, before = min(BROADCAST_BLOCK // 2, height - solved), rest.front
            remaining = height - solved - count
            top, first_open = (remaining, 0) if triangle.upper else (solved, solved + count)
            solve_blocks(draft, operand, result, rest, shape, triangle, values, 0, (top, count), solved)
            if remaining:
                if rest.front == before:  # which holds the open rows
                    rest.swap()
                left, taken = triangle.open_columns(solved + count, width)
                blocks.draw(
                    {"A": operand, "B": result},
                    rest.front,
                    {"first": top, "count": count},
                    shape,
                    before,
                    Region(left, first_open, taken, remaining),
                    {"TRANSPOSE_A": int(triangle.transposed), "SUBTRACT": 1},
                    known="A",
                )
    return result


def _chain(draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, values: Mapping[str, int]) -> str:
    """A pass for some rows of texels, behind a barrier; their solution is found anew where it is needed."""
    storage = matrix(shape)
    rows, result = PingPong(draft, "X", storage, start), draft.slot("X", storage)
    return add_substitution(draft, SINGLE, operand, rows, shape, {**triangle.defines, **values}, result=result)


def _panel_broadcast(
    draft: Draft, operand: str, start: str, shape: Shape, triangle: Triangle, values: Mapping[str, int]
) -> str:
    """Block by block in the strip layout; there an upper triangle is upside down, and so is a lower one too.

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
    for side in (strips, spare) if triangle.inverse else (strips,):  # where columns wait, both hold I
        draft.draw("strips/to_strips", {"A": start}, side, {"size": packed(shape), **last}, reversed_)
    for number, first in enumerate(range(0, groups, BROADCAST_BLOCK // GROUP)):
        with draft.scope("block", number):
            open_groups = range(first + BROADCAST_BLOCK // GROUP, groups)
            buffer = _panels(draft, operand, triangle, order, first, groups)
            draft.draw(
                "strips/block_row",
                {f"S{t}": slot for t, slot in enumerate(strips)},
                block,
                {"group": first},
                {"UNROLL": values["UNROLL"], "UNIT": int(triangle.unit), "STRIPS": 1},
                Region(0, 0, width, 2 * GROUP * min(BROADCAST_BLOCK // GROUP, groups - first)),
                blocks={"Panel": Block(buffer, 0, BROADCAST_BLOCK * GROUP)},
            )
            top = padded - 1 - GROUP * first if triangle.upper else GROUP * first
            rows = _texel_rows(top, triangle.upper, texels(order))
            place = Region(0, rows.start, texels(columns), len(rows))
            draft.draw("strips/unstrip_row", {"U": block}, result, {"top": top, "shape": shape}, reversed_, place)
            solved = min(GROUP * (first + BROADCAST_BLOCK // GROUP), padded) - (padded - order) * triangle.upper
            left, taken = triangle.open_strips(solved, columns)
            for group in open_groups:
                draft.draw(
                    "matmul/panel_broadcast",
                    {"B": block, **{f"C{t}": slot for t, slot in enumerate(strips)}},
                    spare,
                    {"first": 0},
                    {"DEPTH": BROADCAST_BLOCK, "CONTINUE": 1, "SUBTRACT": 1},
                    Region(left, 8 * group, taken, 8),
                    blocks={"Panel": Block(buffer, (group - first) * 4 * BROADCAST_BLOCK, 4 * BROADCAST_BLOCK)},
                    step=group,
                )
            strips, spare = spare, strips
    return result


def _panels(draft: Draft, operand: str, triangle: Triangle, order: int, first: int, groups: int) -> str:
    """A block column of T from group `first` on, as panels in a buffer."""
    storage = (max(groups - first, BROADCAST_BLOCK // GROUP), 4 * BROADCAST_BLOCK)
    texture = draft.slot(f"T_panels_{first}", Storage(*storage))
    buffer = draft.slot(f"T_panels_buffer_{first}", Buffer.of(Storage(*storage)))
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


BUILDERS: dict[str, Callable[[Draft, str, str, Shape, Triangle, Mapping[str, int]], str]] = {
    "rank2": _rank2,
    "blocked": _blocked,
    "chain": _chain,
    "panel_broadcast": _panel_broadcast,
}
"""What adds the passes of each variant."""


@kept(VARIANTS)
def call_plan(forms: Forms, limits: Limits = PLAIN, **way: Any) -> Plan:
    """Plan of a call: upload host operands, substitute, read back a host result; options as of `plan`."""
    device_plan = plan(tuple(form.on_device for form in forms), limits, **way)
    return called(device_plan, forms, limits, forms[1].matrix, "substitution")


def _example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A lower triangle that is well-conditioned, and as many right-hand sides as rows."""
    t = np.tril(rng.uniform(-1, 1, (n, n)), -1) / n + np.diag(rng.uniform(1, 2, n))
    return t.astype(np.float32), rng.uniform(0, 10, (n, n)).astype(np.float32)


INTERFACE = Interface(
    stands_for="triangular/substitute",
    computes="a step of T X = B, T lower triangular: a fragment computes a texel of the right-hand sides; "
    "texel row t is solved with the block (t, t) of T, the rows below lose their multiples of it",
    samplers={"T": "n x n, packed, lower triangular", "B": "n x columns, packed: rows solved so far, and what is left"},
    uniforms={"t": ("int", "texel row to solve"), "shape": ("ivec2", "rows and columns of B")},
    defines={"UPPER, UNIT, TRANSPOSED": "0, as triangular/triangle.glsl has them; it declares T, too"},
    needed=("T", "B", "t"),
    result="X",
    plan=lambda forms, limits, values: plan.__wrapped__(forms, limits, variant="rank2"),
)

TRIANGULAR = Operation(
    name="triangular",
    formula="T X = B",
    operands=("T", "B"),
    results=("X",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=_example,
    variants=VARIANTS,
    choose=choose,
    thesis="rank2",
    interface=INTERFACE,
    function=Function(public=False),
)
