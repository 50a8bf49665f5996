"""Matrix product C = A B."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Unpack

import numpy as np

from glla.errors import ShapeError
from glla.operations.batches import stack
from glla.operations.batches.stack import Passes, Stack
from glla.operations.layouts.crossing import called
from glla.operations.product import blocked_product as blocked
from glla.operations.product import syrk, tiles
from glla.operations.product.fastest import by_rates
from glla.operations.product.register_blocks import BLOCK_COLUMNS, BLOCK_ROWS
from glla.operations.record import (
    ACCEPTED,
    Batch,
    Choice,
    Chosen,
    Float32,
    Function,
    Interface,
    Layout,
    Operation,
    Taken,
    Way,
    builder,
    kept,
)
from glla.passes import PLAIN, Draft, Forms, Limits, Parameters, PingPong, Plan, Region, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels
from glla.passes.variant import Variant, Variants

Sizes = tuple[int, int, int]
"""Rows of A, inner dimension, columns of B."""

BLOCK = (64, 16, 32, 128, 256, 512)
"""Sides of a block in texels, for variants that rely on the texture cache."""

SEED = '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.4'
"""Source of the two kernels that its author compares."""

VARIANTS = Variants() | {
    "inner_product": Variant(
        "one pass; a fragment sums over the whole inner dimension",
        "Brodtkorb 2007, section 4.1.1, listing 4.1",
        parameters={"UNROLL": blocked.UNROLL},
    ),
    "virtual_cube": Variant(
        "one pass for two inner indices, summed by float blending", "Brodtkorb 2007, section 4.1.1, listing 4.2"
    ),
    "virtual_cube_ping_pong": Variant(
        "one pass for two inner indices, summed by reading the last pass's target",
        "Brodtkorb 2007, section 4.1.1, listing 4.2",
    ),
    "virtual_cube_interpolated": Variant(
        "the virtual cube with texture coordinates from the vertex stage, in place of integers",
        "Brodtkorb 2007, sections 3.2 and 4.1.1, listing 4.2",
    ),
    "register_blocked": Variant(
        "a fragment computes 4 x 2 texels of C into 8 render targets",
        "Jiang and Snir 2005 (several render targets)",
        parameters={
            "ROWS": (BLOCK_ROWS, 1, 2, 8),
            "COLUMNS": (BLOCK_COLUMNS, 1, 4, 8),
            "UNROLL": blocked.UNROLL[:3],
            "PASSES": blocked.PASSES[:3],
            "BUFFERS": (0, 1),
        },
        rule="ROWS * COLUMNS must not exceed 8, a render target for each",
        keeps_rule=lambda values: values["ROWS"] * values["COLUMNS"] <= 8,
    ),
    "panel_broadcast": Variant(
        "16 rows of A in a uniform block at constant offsets, four inner indices of B in a texel",
        "glla",
        parameters={"DEPTH": (blocked.DEPTH, 16, 32, 64, 128)},
    ),
    "panel_groups": Variant(
        "8 rows of 4 columns a fragment, as many groups of rows in a uniform block as it holds: few, large passes",
        "glla",
        parameters={"GROUPS": blocked.GROUPS},
    ),
    "rank_one": Variant(
        "one element to a texel; one pass for one inner index, summed by blending", "Larsen and McAllister 2001"
    ),
    "single_component": Variant(
        "one element to a texel; a fragment sums over the whole inner dimension",
        f"Moravanszky 2003 (before its packing); {SEED}, a thread an element",
        parameters={"UNROLL": blocked.UNROLL},
    ),
    "packed_4x1": Variant(
        "four elements of a column to a texel; a trip is one texel of B and four of A",
        "Moravanszky 2003; Fatahalian et al. 2004",
        parameters={"PASSES": blocked.PASSES},
    ),
    "packed_1x4": Variant(
        "four elements of a row to a texel; a trip is one texel of A and four of B",
        "Moravanszky 2003, transposed",
        parameters={"PASSES": blocked.PASSES},
    ),
    "multi_pass": Variant(
        "passes over slices of the inner dimension that the texture cache holds",
        "Hall, Carr and Hart 2003; Fatahalian et al. 2004",
        parameters={"BLOCK": BLOCK, "UNROLL": blocked.UNROLL},
    ),
    "blocked_output": Variant(
        "C block by block, a pass for each block of the inner dimension",
        "Govindaraju, Larsen, Gray and Manocha 2006",
        parameters={"BLOCK": BLOCK},
    ),
    "compute_tiled": Variant(
        "a compute shader: tiles of A and B in memory that a work group shares",
        f"Volkov and Demmel 2008; {SEED}, tiles in shared memory",
        needs=("OpenGL 4.3",),
        parameters={"WORK": (2, 1, 4), "TILE": (16, 8)},
    ),
}


BY_RATES = {name: name for name in ("inner_product", "register_blocked", "panel_broadcast", "panel_groups")}
"""Variants among which the rates of a device decide."""


@cached_plan
def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant and its parameters: those that were tuned on the device, else the fastest by its rates."""
    turned = tuple(math.prod(packed(form.matrix)) for form in forms if form.transposed)
    return by_rates("matmul", sizes(forms), limits, BY_RATES, turned=turned)


def sizes(forms: Forms) -> Sizes:
    """Rows of A, inner dimension, columns of B."""
    (m, k), (_, n) = (form.matrix for form in forms)
    return m, k, n


def check(forms: Forms) -> None:
    """Raise ShapeError unless the operands can be multiplied."""
    a, b = forms
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(f"matmul: inner dimensions must agree, got A {a.shape} and B {b.shape}")


HALVES = {"register_blocked": "symmetric", "panel_broadcast": "symmetric_panels"}
"""Variants that compute only the lower triangle of A A^T, each with its name in `glla.operations.product.syrk`."""

IN_PLACE = ("inner_product", "multi_pass", "blocked_output")
"""Variants that read a transposed operand directly, without a pass that writes it out."""


@kept(VARIANTS)
def plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    onto: bool = False,
    symmetric: bool = False,
    upper: bool = False,
    **way: Unpack[Way],
) -> Plan:
    """Plan of the product of an m x k and a k x n matrix on the device, k > 0.

    Operands ``A`` and ``B`` (and ``C0``), result ``C``, all packed. 2 m k n flop; m (m + 1) k where half is drawn,
    about m^3 / 3 where A is a triangle, too. A variant with another layout converts in passes of the plan.

    `forms`: of A and B. Where a texture holds the transpose, the variants of ``matmul/inner_product`` read it as it is;
    the others have it written out first, in a pass of its own, and call the operand ``A_transposed`` or
    ``B_transposed``. `limits`: the loop limit decides into how many passes a sum is split. `onto`: add to a matrix
    given as operand ``C0``: an inner dimension too long for a texture comes in slabs. `symmetric`: B is the transpose
    of A: the plan is that of `glla.operations.product.syrk` then, with one operand, ``A`` as stored, which draws half
    of C. Variants that are not in `HALVES`, if they are named, take no notice. `upper`: A is upper triangular, too, in
    a `symmetric` product: sums begin at its diagonal.
    Raises OptionError: no such variant, parameter or value; the message lists those there are. Raises ShapeError:
    `symmetric`: the shape of B is not that of A's transpose.

    >>> from glla.passes import resident
    >>> square = resident((64, 64), (64, 64))
    >>> made = plan(square, variant="register_blocked", parameters=(("ROWS", 2), ("PASSES", 4)))
    >>> made.cost.passes
    8
    """
    (m, _, n), variant = sizes(forms), way.get("variant")
    if symmetric and m != n:
        raise ShapeError(f"matmul: a symmetric product must have as many rows as columns, got {m} x {n}")
    if symmetric and not onto and (variant is None or variant in HALVES):
        parameters = way.get("parameters", ())
        return syrk.plan(forms[:1], limits, variant=variant and HALVES[variant], parameters=parameters, upper=upper)
    return _general(forms, limits, **way, onto=onto)


@builder("matmul", VARIANTS, choose, replaced="inner_product")
def _general(forms: Forms, limits: Limits, chosen: Chosen, onto: bool = False) -> Plan:
    """Plan of the product of two matrices that have nothing to do with each other."""
    builders: dict[str, Callable[[blocked.Task], str]] = {
        "inner_product": lambda task: blocked.in_slices(task, task.slice(texels(task.k))),
        "virtual_cube": partial(_blended, shader="matmul/virtual_cube", reads_sum="PING_PONG"),
        "virtual_cube_ping_pong": _virtual_cube_ping_pong,
        "virtual_cube_interpolated": partial(_blended, shader="matmul/virtual_cube_interpolated", reads_sum="CONTINUE"),
        "register_blocked": blocked.register_blocked,
        "panel_broadcast": blocked.panel_broadcast,
        "panel_groups": blocked.panel_groups,
        "rank_one": _rank_one,
        "single_component": blocked.single_component,
        "packed_4x1": partial(_quads, across=0),
        "packed_1x4": partial(_quads, across=1),
        "multi_pass": lambda task: blocked.in_slices(task, min(task.values["BLOCK"], task.limits.loop_trips)),
        "blocked_output": _blocked_output,
        "compute_tiled": blocked.compute_tiled,
    }
    m, k, n = sizes(forms)
    transpose_a, transpose_b = (form.transposed for form in forms)
    draft = Draft(chosen.title)
    in_place = chosen.variant in IN_PLACE and not chosen.registered
    blocked.operand(draft, "A", (m, k), transpose_a, in_place)
    blocked.operand(draft, "B", (k, n), transpose_b, in_place)
    turned: dict[str, Define] = {"TRANSPOSE_A": 1} if transpose_a and in_place else {}
    turned |= {"TRANSPOSE_B": 1} if transpose_b and in_place else {}
    start = draft.operand("C0", matrix((m, n))) if onto else ""
    result = builders[chosen.variant](blocked.Task(draft, m, k, n, chosen.values, limits, start, turned))
    return draft.plan({"C": result}, flops=2 * m * k * n)


# -- 2x2 to a texel ---------------------------------------------------------------------------------------------------


def _blocked_output(task: blocked.Task) -> str:
    """Finish a block of C before the next begins, so that its parts of A, B and C may stay in the cache."""
    height, width, inner = texels(task.m), texels(task.n), texels(task.k)
    side = task.values["BLOCK"]
    most = min(side, task.limits.loop_trips)
    pair = [task.draft.slot(f"C_{turn}", matrix((task.m, task.n))) for turn in ("ping", "pong")]
    count = -(-inner // most)
    for block, (y, x) in enumerate(product(range(0, height, side), range(0, width, side))):
        region = Region(x, y, min(side, width - x), min(side, height - y))
        with task.draft.scope("block of C", block):
            for number in range(count):
                before, first = pair[1 - number % 2] if number else task.start, number * most
                inputs = {"A": "A", "B": "B"} | ({"C": before} if before else {})
                slice_: dict[str, Uniform] = {"first": first, "count": min(most, inner - first)}
                slice_["shape"] = (task.m, task.n)
                defines = {"CONTINUE": int(bool(before)), **task.turned}
                with task.draft.scope("slice", number):
                    task.draft.draw("matmul/inner_product", inputs, pair[number % 2], slice_, defines, region)
    return pair[(count - 1) % 2]


def _blended(task: blocked.Task, shader: str, reads_sum: str) -> str:
    """A pass per slice, blended onto the sum; the first one reads `task.start`, if given."""
    shape = (task.m, task.n)
    result = task.draft.slot("C", matrix(shape))
    for number in range(texels(task.k)):
        onto = task.start if number == 0 else ""
        inputs = {"A": "A", "B": "B"} | ({"C": onto} if onto else {})
        uniforms: dict[str, Uniform] = {"slice": number, "shape": shape}
        defines = {reads_sum: int(bool(onto))}
        with task.draft.scope("slice", number):
            task.draft.draw(shader, inputs, result, uniforms, defines, None, number > 0)
    return result


def _virtual_cube_ping_pong(task: blocked.Task) -> str:
    """A pass per slice, each adding to the sum so far."""
    shape = (task.m, task.n)
    sums = PingPong(task.draft, "C", matrix(shape), task.start)
    for number in range(texels(task.k)):
        inputs = {"A": "A", "B": "B"} | ({"C": sums.front} if sums.front else {})
        uniforms: dict[str, Uniform] = {"slice": number, "shape": shape}
        with task.draft.scope("slice", number):
            task.draft.draw("matmul/virtual_cube", inputs, sums.back, uniforms, {"PING_PONG": int(bool(sums.front))})
        sums.swap()
    return sums.front


# -- one element to a texel -------------------------------------------------------------------------------------------


def _rank_one(task: blocked.Task) -> str:
    """Unpack A and B; a pass per inner index, blended onto the target; pack C."""
    shapes = {"A": (task.m, task.k), "B": (task.k, task.n)}
    inputs = {name: blocked.unpacked(task.draft, name, name, shape) for name, shape in shapes.items()}
    if task.start:
        target = blocked.unpacked(task.draft, task.start, task.start, (task.m, task.n))
    else:
        target = task.draft.slot("elements_of_C", Storage(task.m, task.n, 1))
    for number in range(task.k):
        accumulate = bool(task.start) or number > 0
        with task.draft.scope("slice", number):
            task.draft.draw("matmul/rank_one", inputs, target, {"slice": number}, None, None, accumulate)
    return blocked.repacked(task, target)


# -- four elements of a column, or of a row, to a texel ---------------------------------------------------------------


def _quads(task: blocked.Task, across: int) -> str:
    """Repack A and B; one pass, or as many as PASSES says or the loop limit asks for; repack C."""
    draft, trips = task.draft, -(-task.k // 4)
    inputs = {
        "A": _to_quads(task, "A", (task.m, task.k), across, whole_quads=not across),
        "B": _to_quads(task, "B", (task.k, task.n), across, whole_quads=bool(across)),
    }
    shape = (task.m, task.n)
    start = _to_quads(task, task.start, shape, across) if task.start else ""
    sums = PingPong(draft, "quads_of_C", _quad_storage(shape, across), start)
    for before, slice_, goes_on in task.slices(sums, trips, task.slice(trips)):
        draft.draw("matmul/quads", inputs | before, sums.back, slice_, {"ACROSS": across, **goes_on})
    made, defines = {"C": matrix(shape)}, {"ACROSS": across}
    return draft.draw("packing/from_quads", {"quads": sums.front}, made, {"shape": shape}, defines)["C"]


def _quad_storage(shape: Shape, across: int) -> Storage:
    """Texels of a matrix in the 4x1 layout, or the 1x4."""
    rows, columns = shape
    return Storage(rows, -(-columns // 4)) if across else Storage(-(-rows // 4), columns)


def _to_quads(task: blocked.Task, name: str, shape: Shape, across: int, whole_quads: bool = False) -> str:
    """A matrix in the 4x1 layout, or the 1x4.

    With `whole_quads` the side that is not packed is filled up with zeros to a multiple of four: it is the inner
    dimension, of which a trip takes four.
    """
    rows, columns = shape
    if whole_quads:
        rows, columns = (-(-rows // 4) * 4, columns) if across else (rows, -(-columns // 4) * 4)
    made, uniforms = {f"quads_of_{name}": _quad_storage((rows, columns), across)}, {"size": packed(shape)}
    return task.draft.draw("packing/to_quads", {"M": name}, made, uniforms, {"ACROSS": across})[f"quads_of_{name}"]


def flops(forms: Forms) -> int:
    """Additions and multiplications."""
    m, k, n = sizes(forms)
    return 2 * m * k * n * forms[0].count


@kept(VARIANTS)
def call_plan(forms: Forms, limits: Limits = PLAIN, *, symmetric: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call: upload host operands, multiply, read back a host result."""
    product_ = plan(tuple(form.on_device for form in forms), limits, **way, symmetric=symmetric)
    usual = way.get("variant") is None  # others are there to be looked at, with all of their passes
    return called(product_, forms, limits, product_shape(forms), "product", True, few=usual)


def aligned(forms: Forms) -> Forms:
    """Make stacks of the host alike. If there is one B for all, the rows of all A are those of one matrix."""
    a, b = forms
    m, k, n = sizes(forms)
    count = math.prod(np.broadcast_shapes(a.stack, b.stack))
    if b.count == 1:
        return replace(a, shape=(count * m, k)), replace(b, shape=(k, n))
    return tuple(replace(form, shape=(count, *form.matrix)) for form in forms)


def streamed(
    forms: Forms,
    limits: Limits,
    room: int | None = None,
    *,
    variant: str | None = None,
    parameters: Parameters = (),
    symmetric: bool = False,
) -> Plan | None:
    """Plan of a product in tiles, all of them also where it is symmetric; None if it fits as a whole."""
    m, k, n = sizes(forms)
    if tiles.fits_whole(m, k, n, limits, room, variant, symmetric):
        return None
    return tiles.product_plan(tiles.choose(m, k, n, limits, room, variant), limits)


def is_symmetric(a: Any, b: Any) -> bool:
    """Whether B is the transpose of A, by where they are: A A^T is symmetric, and half of it is enough.

    `a`, `b`: as they are given: a conversion makes copies.

    >>> a = np.ones((2, 3))
    >>> is_symmetric(a, a.T), is_symmetric(a.T, a), is_symmetric(a, a.T.copy())
    (True, True, False)
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        alike = a.ndim == 2 and a.dtype == b.dtype and (a.shape, a.strides) == (b.shape[::-1], b.strides[::-1])
        return bool(alike and a.size and a.__array_interface__["data"] == b.__array_interface__["data"])
    left, right = (getattr(one, "value", one) for one in (a, b))
    stored = getattr(left, "stored", None)
    if stored is None or stored is not getattr(right, "stored", None) or not left.packed or not right.packed:
        return False
    return bool(left.shape == right.shape[::-1] and left.transposed != right.transposed)


def noticed(a: Any, b: Any) -> dict[str, Any]:
    """Options that a call takes from where its operands are."""
    return {"symmetric": True} if is_symmetric(a, b) else {}


def _example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    a, b = rng.standard_normal((2, n, n)).astype(np.float32)
    return a, b


def _interface_plan(forms: Forms, limits: Limits, values: Mapping[str, int]) -> Plan:
    """The inner product, in as many passes as PASSES says."""
    trips = -(-texels(sizes(forms)[1]) // max(1, values.get("PASSES", 1)))
    fewer = replace(limits, loop_trips=min(limits.loop_trips, trips))
    return plan.__wrapped__(forms, fewer, variant="inner_product")


INTERFACE = Interface(
    stands_for="matmul/inner_product",
    computes="a fragment computes a texel, a 2x2 block, of C = A B: the sum over texels `first` to "
    "`first + count - 1` of the inner dimension",
    samplers={
        "A": "rows x inner, packed",
        "B": "inner x columns, packed",
        "C": "with CONTINUE only: the sums so far, packed",
    },
    uniforms={
        "first": ("int", "first texel of the inner dimension to sum"),
        "count": ("int", "texels of the inner dimension to sum"),
        "shape": ("ivec2", "rows and columns of C"),
    },
    defines={
        "CONTINUE": "0 in the first pass, 1 in those that go on from its sums",
        "PASSES": "a parameter, if you declare it: into how many passes the sum is split (1)",
    },
    needed=("A", "B"),
    result="C",
    plan=_interface_plan,
)


def product_shape(forms: Forms) -> Shape:
    """Rows and columns of the product of two matrices."""
    return forms[0].matrix[0], forms[1].matrix[1]


LARGEST_PRODUCT, LARGEST_PRODUCT_IN_SOFTWARE = 256, 64
"""Largest side of matrices in batched products, on a GPU and on a software rasteriser
(nvidia-h200-pcie-sse2/experiments/2026-11-20.json)."""


def most_batched(forms: Forms, limits: Limits) -> int:
    """Products that one plan may make at once; 0: they are looped.

    >>> from glla.passes import Form
    >>> most_batched((Form((9, 2, 3)), Form((9, 3, 4))), PLAIN) > 100
    True
    """
    (m, k), (_, n) = (form.matrix for form in forms)
    largest = LARGEST_PRODUCT_IN_SOFTWARE if limits.software else LARGEST_PRODUCT
    if max(m, k, n) > largest:
        return 0
    tile = max(texels(m), texels(k)), max(texels(k), texels(n))
    return stack.capacity(tile, max((m + n) * k, m * n), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the products of a stack of pairs of matrices, m x k and k x n, all sides > 0.

    Operand ``raw``: all A, then all B. Result ``records``: all products. 4 passes.

    Forms: of both stacks, with the same number of matrices each. They are in the host's memory.
    """
    (m, k), (_, n) = (form.matrix for form in forms)
    count = forms[0].count
    own = Stack.of(count, (max(texels(m), texels(k)), max(texels(k), texels(n))), limits.texture_size)
    passes = Passes("stack[matmul]", own, (m + n) * k)
    a, b, c = passes.bring_in("A", (m, k)), passes.bring_in("B", (k, n), count * m * k), passes.matrices("C", (m, n))
    uniforms: dict[str, Uniform] = {"first": 0, "count": texels(k), "shape": (m, n), **own.grid}
    passes.draft.draw("matmul/inner_product", {"A": a, "B": b}, c, uniforms, {"CONTINUE": 0, "STACK": 1})
    return passes.draft.plan({"records": passes.unpack(c, (m, n))}, flops=2 * count * m * k * n)


MATMUL = Operation(
    name="matmul",
    formula="C = A B",
    operands=("A", "B"),
    function=Function(vectors={"A": 0, "B": 1}, host="glla.hybrid.host:matmul"),
    results=("C",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=_example,
    variants=VARIANTS,
    choose=choose,
    taken=Taken(noticed=noticed, dtype=lambda dtypes: "float32" if "float32" in dtypes else "int32", aligned=aligned),
    batch=Batch(most_batched, batched, Layout(product_shape), ACCEPTED),
    tiles=streamed,
    thesis="inner_product",
    interface=INTERFACE,
)
