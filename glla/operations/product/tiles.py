"""Tile sizes for products, and systems with many right-hand sides, that do not fit as a whole.

All tiles of a product have one size, so that one plan and one set of textures serve them: the last one of a row or
column overlaps the one before, and computes the same elements again. The last slab is padded with zeros. Transfers of
tiles are described in `glla.linalg.tiling`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from glla.errors import LimitError, OutOfMemoryError, PlanError
from glla.lazily import Later
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import read_back, upload
from glla.operations.record import Choice
from glla.passes import Call, Draft, HostArray, Limits, Parameters, Plan, Slot, Storage, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import ELEMENT_BYTES, Shape

product = Later("glla.operations.product.matmul")  # which imports this module

SMALLEST = 16
"""Rows and columns of the smallest tile."""

ALIGNED = 16
"""Sizes of larger tiles are multiples of this number, the height of a panel of `panel_broadcast`."""

FASTEST_FIRST = ("panel_broadcast", "panel_groups", "register_blocked", "inner_product")
"""Variants that `operations.product.matmul.choose` chooses for tiles, the fastest first. A tile is transferred once or
twice but computed for far longer, so the faster variant matters more than less traffic."""

DEVICE_TO_BUS = 8
"""Bytes that an NVIDIA H200 writes to textures while one crosses the bus: 56 against 6 GB/s
(nvidia-h200-pcie-sse2/tiled/2026-11-20T230930Z.json)."""

PANEL = 2048
"""Rows of A in a tile of a large product of host matrices on a GPU: while it is computed, the next ones travel there,
and the rows of C before travel back. Large: from 2 panels, and the work of order 4 x 2048
(``benchmarks/results/thresholds.md``)."""

MOST_SHOWN = 300_000
"""Most passes of a product in tiles that a plan lists: about half a minute of work. A guess."""

STEPS = 8
"""Beyond this number of tiles in a row, each number that is tried is an eighth larger than the one before."""


@dataclass(frozen=True)
class Tiling:
    """How a product is cut."""

    shape: tuple[int, int, int]  # rows of A, inner dimension, columns of B, of the whole
    rows: int  # the same of a tile
    inner: int
    columns: int
    variant: str  # of the product of two tiles
    parameters: Parameters = ()
    nbytes: int = 0  # what it takes on the device, staging buffers included

    @property
    def counts(self) -> tuple[int, int, int]:
        """Tiles below each other, slabs of the inner dimension, tiles beside each other."""
        rows, inner, columns = (
            -(-whole // part) for whole, part in zip(self.shape, (self.rows, self.inner, self.columns), strict=True)
        )
        return rows, inner, columns

    @property
    def uploads(self) -> tuple[int, int, bool]:
        """Tiles of A and of B that travel, and whether the tiles of C go column by column."""
        rows, slabs, columns = self.counts
        tiles = rows * columns
        if slabs > 1:
            return tiles * slabs, tiles * slabs, False
        by_row = (rows, tiles if columns > 1 else 1)
        by_column = (tiles if rows > 1 else 1, columns)
        column_first = self._elements(*by_column) < self._elements(*by_row)
        return (*(by_column if column_first else by_row), column_first)

    def _elements(self, of_a: int, of_b: int) -> int:
        return of_a * self.rows * self.inner + of_b * self.inner * self.columns

    @property
    def traffic(self) -> int:
        """Bytes uploaded and read back."""
        of_a, of_b, _ = self.uploads
        return ELEMENT_BYTES * self._elements(of_a, of_b) + self._bytes_of_c

    @property
    def _bytes_of_c(self) -> int:
        rows, _, columns = self.counts
        return ELEMENT_BYTES * rows * columns * self.rows * self.columns

    @property
    def effort(self) -> float:
        """Bytes over the bus; those that slabs move within the device, to read C and write it again, count less."""
        return self.traffic + 2 * (self.counts[1] - 1) * self._bytes_of_c / DEVICE_TO_BUS

    def plan(self, limits: Limits, onto: bool | None = None) -> Plan:
        """Plan of the product of two tiles, added to that of the slabs before if there are any, or as asked for."""
        forms = resident((self.rows, self.inner), (self.inner, self.columns))
        onto = self.counts[1] > 1 if onto is None else onto
        made: Plan = product.plan(forms, limits, variant=self.variant, parameters=self.parameters, onto=onto)
        return made

    @property
    def largest_upload(self) -> int:
        """Elements of the larger one of a tile of A and one of B."""
        return self.inner * max(self.rows, self.columns)

    def order(self) -> Iterator[tuple[int, int]]:
        """First row and first column of each tile of C, in the order in which they are made."""
        tops, lefts = starts(self.shape[0], self.rows), starts(self.shape[2], self.columns)
        if self.uploads[2]:
            return ((top, left) for left in lefts for top in tops)
        return ((top, left) for top in tops for left in lefts)

    def bytes_of(self, plan: Plan | None = None) -> int:
        """Bytes of raw tiles, staging buffers and the plan of a product; without one of the slots of every plan."""
        shapes = ((self.rows, self.inner), (self.inner, self.columns), (self.rows, self.columns))
        slots = Counter[Slot](map(matrix, shapes) if plan is None else plan.slots.values())
        staging = 2 * ELEMENT_BYTES * (min(self.largest_upload, packing.PIECE) + self.rows * self.columns)
        return _bytes(slots | _raw(*shapes)) + staging


def _raw(*shapes: tuple[int, int]) -> Counter[Slot]:
    """One raw texture of each shape; equal ones are the same texture."""
    return Counter[Slot]({Storage(*shape, 1): 1 for shape in shapes})


def _bytes(storages: Mapping[Slot, int]) -> int:
    return sum(storage.nbytes * count for storage, count in storages.items())


def _fits_textures(plan: Plan, limits: Limits) -> bool:
    sides = (max(storage.height, storage.width) for storage in plan.slots.values() if isinstance(storage, Storage))
    return max(sides) <= limits.texture_size


def starts(length: int, size: int) -> list[int]:
    """Where parts of one size begin that cover a length; the last one overlaps the one before.

    >>> starts(10, 4)
    [0, 4, 6]
    """
    return [min(start, length - size) for start in range(0, length, size)]


def _part(length: int, parts: int) -> int:
    """Size of `parts` equal parts, rounded up to a good number where there is room for it.

    >>> _part(1000, 7), _part(100, 7)
    (144, 15)
    """
    size = -(-length // parts)
    return min(length, -(-size // ALIGNED) * ALIGNED if size > 4 * ALIGNED else size)


def _cuts(length: int, smallest: int, largest: int) -> Iterator[int]:
    """Numbers of parts to try for a length, from the fewest that no part exceeds `largest` to those of `smallest`."""
    parts, most = -(-length // largest), -(-length // min(smallest, largest))
    while parts < most:
        yield parts
        parts += max(1, parts // STEPS)
    yield most


def _candidates(m: int, k: int, n: int, side: int) -> Iterator[tuple[int, int, int]]:
    """Sizes of tiles to try, all of which go through raw textures: square ones of C where it has the room."""
    longest = max(m, n)
    slabs = -(-k // side)
    while True:
        inner = -(-k // slabs)
        inner += inner % 2 if slabs > 1 and inner < side else 0
        for parts in _cuts(longest, SMALLEST, side):
            size = -(-longest // parts)
            rows, columns = (_part(length, -(-length // size)) for length in (m, n))
            if max(rows, columns) <= side:
                yield rows, inner, columns
        if inner <= SMALLEST:
            return
        slabs = min(2 * slabs, -(-k // min(SMALLEST, side)))


@cached_plan
def choose(m: int, k: int, n: int, limits: Limits, room: int | None = None, variant: str | None = None) -> Tiling:
    """Choose the tiles of a product: the fastest variant that has room, and of its sizes the one that moves least.

    `m`, `k`, `n`: rows of A, inner dimension, columns of B; all > 0. `limits`: no texture of a tile's plan is larger
    than they allow. `room`: bytes that everything on the device may take, staging buffers included. `variant`: a key of
    `glla.operations.product.matmul.VARIANTS`; by default `glla.operations.product.matmul.choose` decides tile by tile
    size.
    Raises OutOfMemoryError: even the smallest tile needs more; the message says how much. Raises LimitError: the
    variant needs larger textures even for that one.

    >>> tiling = choose(40000, 8192, 40000, Limits(texture_size=32768), 4 * 10**9)
    >>> tiling.rows, tiling.inner, tiling.columns, tiling.variant
    (8000, 8192, 8000, 'panel_broadcast')
    >>> tiling.nbytes < 4e9
    True
    """
    chosen = in_panels(m, k, n, limits, variant)
    tilings = [Tiling((m, k, n), _part(m, -(-m // PANEL)), k, n, *chosen)] if chosen else []
    panels = tilings[:]
    for rows, inner, columns in _candidates(m, k, n, limits.texture_size):
        way = (variant, ()) if variant else product.choose(resident((rows, inner), (inner, columns)), limits)
        tilings.append(Tiling((m, k, n), rows, inner, columns, *way))
    smallest = tilings[-1]
    possible = [tiling for tiling in tilings if room is None or tiling.bytes_of() <= room]
    ranked = sorted(possible, key=lambda one: (variant is None and FASTEST_FIRST.index(one.variant), one.effort))
    for tiling in sorted(ranked, key=lambda tiling: tiling not in panels):
        plan = tiling.plan(limits)
        nbytes = tiling.bytes_of(plan)
        if _fits_textures(plan, limits) and (room is None or nbytes <= room):
            return replace(tiling, nbytes=nbytes)
    plan = smallest.plan(limits)
    plan.check(limits)
    raise OutOfMemoryError(
        f"matmul: the smallest tile, {smallest.rows} x {smallest.inner} times {smallest.inner} x {smallest.columns}, "
        f"takes {smallest.bytes_of(plan)} bytes on the device, {room} are left; raise its max_bytes, or release "
        "matrices"
    )


def in_panels(m: int, k: int, n: int, limits: Limits, variant: str | None) -> Choice | None:
    """Variant by which panels of A's rows travel while a GPU multiplies those before, beside B as a whole; or None.

    See `PANEL`.
    """
    small = m < 2 * PANEL or m * k * n < (4 * PANEL) ** 3
    if small or limits.software or variant is not None or max(k, n) > limits.texture_size:
        return None
    chosen = product.choose(resident((PANEL, k), (k, n)), limits)
    return chosen if chosen[0] in FASTEST_FIRST[:2] else None


def fits_whole(
    m: int,
    k: int,
    n: int,
    limits: Limits,
    room: int | None = None,
    variant: str | None = None,
    symmetric: bool = False,
) -> bool:
    """Whether a product need not be cut. Costs nothing where the device has no cap and no variant is asked for.

    A large one is cut although it would fit, as its panels overlap with their transfers; but not one that is symmetric,
    half of which is computed.
    """
    if max(m, k, n) > 2 * limits.texture_size:
        return False
    if not symmetric and in_panels(m, k, n, limits, variant):
        return False
    if room is None and variant is None:
        return True
    plan = product.plan(resident((m, k), (k, n)), limits, variant=variant)
    (a, raw_a), (b, raw_b), (c, raw_c) = (
        (matrix((rows, columns)).nbytes, ELEMENT_BYTES * rows * columns) for rows, columns in ((m, k), (k, n), (m, n))
    )
    computing = sum(storage.nbytes for storage in plan.slots.values())
    needed = max(a + raw_a, a + b + raw_b, computing, c + raw_c)  # one after the other
    return _fits_textures(plan, limits) and (room is None or needed <= room)


def product_plan(tiling: Tiling, limits: Limits) -> Plan:
    """Plan of a product in tiles: uploads, products and read-backs in the order in which they are queued."""
    (m, k, n), tile = tiling.shape, tiling.plan(limits)
    passes = prod(tiling.counts) * len(tile.flat.steps)
    if passes > MOST_SHOWN:
        raise LimitError(
            f"plan: a product in tiles is shown up to {MOST_SHOWN} passes, got about {passes} for {m} x {k} x {n}; "
            "look at a smaller one",
            passes,
            MOST_SHOWN,
        )
    draft = Draft(f"{tile.operation} in tiles")
    uploads: Counter[str] = Counter()
    draft.operand("A", HostArray((m, k)))
    draft.operand("B", HostArray((k, n)))
    parts: dict[str, str] = {}
    made: list[str] = []
    held: dict[str, tuple[int, int]] = {}

    def operand(name: str, place: tuple[int, int], shape: Shape) -> None:
        if held.get(name) != place:
            held[name] = place
            cut, plan = packing.in_tiles(shape, packing.piece_side(shape, limits.texture_size))
            sizes = [(rows, columns) for _, _, rows, columns in cut]
            raw = {each: _given(draft, name, size, uploads) for each, size in zip(plan.operands, sizes, strict=True)}
            parts[name] = draft.call(f"pack {name}", plan, **raw)["packed"]

    for number, (top, left) in enumerate(tiling.order()):
        with draft.scope("tile", number):
            total = ""
            for slab, first in enumerate(range(0, k, tiling.inner)):
                with draft.scope("slab", slab):
                    operand("A", (top, first), (tiling.rows, tiling.inner))
                    operand("B", (first, left), (tiling.inner, tiling.columns))
                    given = {"C0": total} if total else {}
                    total = draft.call("product", tiling.plan(limits, bool(total)), **parts, **given)["C"]
            unpack = packing.unpack((tiling.rows, tiling.columns), (0, 0, tiling.rows, tiling.columns))
            raw = draft.call("unpack C", unpack, packed=total)["raw"]
            made.append(draft.slot(f"tile {number} of C", HostArray((tiling.rows, tiling.columns))))
            draft.transfer(raw, made[-1])
    done = draft.host("tiles put together", between_plans, tuple(made), {"C": (m, n)})
    return draft.plan(done, flops=2 * m * k * n)


def _given(draft: Draft, name: str, shape: Shape, uploads: Counter[str]) -> str:
    """Add the upload of a tile of an operand, and count it; give the raw texture."""
    (tile,) = draft.host(f"tile of {name}", between_plans, (name,), {f"tile of {name} {uploads[name]}": shape})
    uploads[name] += 1
    raw = draft.slot(f"{tile} raw", Storage(*shape, 1))
    draft.transfer(tile, raw)
    return raw


def between_plans(*arrays: object) -> tuple[object, ...]:
    """Placeholder, in a plan that streams, for the work of `glla.linalg.tiling` between its parts."""
    raise PlanError("tiles: this plan is for looking at; glla.linalg.tiling runs its parts")


def in_blocks(draft: Draft, b: str, shape: Shape, size: int, limits: Limits, solution: Plan, **given: str) -> str:
    """Add a solution for each block of `size` columns of B, or of the identity; give the slot of X."""
    n, results = shape[0], []
    for number, first in enumerate(starts(shape[1], size)):
        with draft.scope("block of columns", number):
            given_b, made = (b,) if b else (), {f"columns from {first}": (n, size)}
            (part,) = draft.host("columns of B" if b else "columns of I", between_plans, given_b, made)
            packed = upload(draft, part, (n, size), limits)
            x = draft.call("solution", solution, **given, B=packed)["X"]
            results.append(read_back(draft, x, (n, size), limits, f"X from {first}"))
    return draft.host("tiles put together", between_plans, tuple(results), {"X": shape})["X"]


def columns_at_once(shape: Shape, limits: Limits, room: int | None, plan: Callable[[int], Plan], held: Storage) -> int:
    """Most right-hand sides at a time that a system can be solved for.

    `shape`: order of the system, and all its right-hand sides. `room`: bytes left beside the factors; None without a
    cap. `plan`: columns -> the plan that solves for them, a plan of plans. `held`: of the packed factors, which are
    there already.
    Raises OutOfMemoryError: there is no room for a single one.
    """
    order, columns = shape
    needed = 0
    for parts in _cuts(columns, 1, limits.texture_size):
        size = _part(columns, parts)
        if size > limits.texture_size:
            continue
        storage = matrix((order, size))
        least = 4 * ELEMENT_BYTES * order * size + Storage(order, size, 1).nbytes + 3 * storage.nbytes
        if room is not None and least > room and size > 1:
            continue
        taken = _raw((order, size))
        for step in plan(size).steps:
            if isinstance(step, Call):
                # the block itself is held by whoever solves
                taken |= Counter(step.plan.slots.values()) + Counter[Slot]([storage])
        needed = _bytes(taken) + 4 * ELEMENT_BYTES * order * size - held.nbytes
        if room is None or needed <= room:
            return size
    raise OutOfMemoryError(
        f"solve: beside its factors, of order {order}, a single right-hand side takes {needed} bytes on the device, "
        f"{room} are left; raise its max_bytes, or release matrices"
    )
