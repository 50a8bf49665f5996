"""Batches of small matrices: each pass works on all of them, so their number does not change the number of passes.

    raw --> pack --> [A | B], interleaved --> passes of one matrix, over all --> unpack --> records

A batch is uploaded at once, operands one after the other as NumPy stores them, and read back at once, results with
their diagnostics. In between it has an interleaved layout (see ``lib/packed.glsl``): texel (x, y) of all matrices is
contiguous, so a rectangle of texels of every matrix is a rectangle to draw, and a single matrix is a batch of one.

Right-hand sides are stored beside their matrix, texel column by texel column, and are eliminated with it: that is the
row exchanges and the forward substitution. Pivots are searched by one fragment for each matrix.

The passes are those of the single matrix (``plu/rank2/eliminate``, ``equilibrate/*``, ``matmul/inner_product``, with
the define ``STACK``), except for the search, the substitution by blocks, and the transfers.

Sources: Kim et al., "Designing vector-friendly compact BLAS and LAPACK kernels" (2017), for the layout; Brodtkorb
2007, section 4.1.3, for the elimination.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from glla.passes import Draft, Forms, Limits, PingPong, Plan, Region, Storage, Uniform, matrix, texture, wrapped
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels

MOST_TEXELS = 2**22
"""Texels of a texture with a batch at most, 64 MiB; larger batches are split without a loss of speed."""

STEPS = 4
"""Texel rows that a pass of a substitution solves."""

LARGEST = 256
"""Largest order of batched factorisations. Beyond, one fragment takes too long to search a column
(nvidia-h200-pcie-sse2/experiments/2026-11-20.json)."""

BATCH_PROBES = 2
"""Random right-hand sides in a texel column beside each system; their solutions reveal near singularity."""


def _across(count: int, height: int, width: int, texture_size: int) -> int:
    """Cells across for a number of matrices, each `height` x `width` texels: about square, if it can be.

    If there is no room at all, `Plan.check` says so.
    """
    most, down = max(texture_size // width, 1), max(texture_size // height, 1)
    return max(min(isqrt(count - 1) + 1, most), -(-count // down))


def capacity(tile: Shape, elements: int, texture_size: int) -> int:
    """Most matrices that a stack may have.

    0 if not even one fits.
    `tile`: height and width, in texels, of one matrix and its right-hand sides. `elements`: most elements that are
    uploaded, or read back, for one matrix.

    >>> capacity((4, 4), 64, 16), capacity((4, 20), 64, 16)
    (4, 0)
    """
    cells = (texture_size // tile[0]) * (texture_size // tile[1])
    fits = min(cells, texture_size**2 // elements)
    return min(fits, max(1, MOST_TEXELS // (tile[0] * tile[1])))


def raw(elements: int, texture_size: int) -> Storage:
    """Storage of a number of elements, one after the other, row by row: about square.

    >>> raw(10, 16)
    Storage(height=3, width=4, channels=1)
    """
    width = min(isqrt(elements - 1) + 1, texture_size)
    return Storage(-(-elements // width), width, 1)


class Cells:
    """Targets of passes: a single matrix. A `Stack` is every matrix of a batch at once."""

    def storage(self, height: int, width: int) -> Storage:
        """Texture with height x width texels for each."""
        return Storage(height, width)

    def matrix(self, shape: Shape) -> Storage:
        """Texture with a packed matrix for each."""
        return matrix(shape)

    def region(self, x: int, y: int, width: int, height: int) -> Region:
        """Rectangle of texels, of each."""
        return Region(x, y, width, height)

    @property
    def grid(self) -> dict[str, Uniform]:
        """Uniforms of ``lib/packed.glsl``."""
        return {}

    @property
    def defines(self) -> dict[str, Define]:
        """For ``lib/packed.glsl``."""
        return {}


SINGLE = Cells()
"""One matrix."""


@dataclass(frozen=True)
class Stack(Cells):
    """How the matrices of a stack share textures."""

    count: int  # matrices
    across: int  # cells of the grid
    down: int
    texture_size: int

    @staticmethod
    def of(count: int, tile: Shape, texture_size: int) -> Stack:
        """Lay out `count` matrices, whose widest texture has `tile` texels for each."""
        across = _across(count, *tile, texture_size)
        return Stack(count, across, -(-count // across), texture_size)

    def storage(self, height: int, width: int) -> Storage:
        """Texture with height x width texels for each matrix."""
        return Storage(height * self.down, width * self.across)

    def matrix(self, shape: Shape) -> Storage:
        """Texture with a packed matrix for each."""
        return self.storage(*packed(shape))

    def region(self, x: int, y: int, width: int, height: int) -> Region:
        """Rectangle of texels, of every matrix."""
        return Region(x * self.across, y * self.down, width * self.across, height * self.down)

    @property
    def grid(self) -> dict[str, Uniform]:
        """Uniform of ``lib/packed.glsl``."""
        return {"grid": (self.across, self.down)}

    @property
    def defines(self) -> dict[str, Define]:
        """For ``lib/packed.glsl``."""
        return {"STACK": 1}

    def raw(self, length: int) -> Storage:
        """Raw texture with a record of `length` elements for each matrix."""
        return raw(self.count * length, self.texture_size)


def add_substitution(
    draft: Draft,
    cells: Cells,
    triangle: str,
    rows: PingPong,
    shape: Shape,
    kind: Mapping[str, Define],
    left: int = 0,
    result: str = "",
) -> str:
    """Add the passes of a substitution: each solves some rows, and subtracts their product with T from the open ones.

    Slot of the solution.
    `triangle`: slot of T. `rows`: they begin as the right-hand sides, from texel column `left` on. `shape`: of X.
    `kind`: defines of the shader. `result`: slot that the last pass draws; then those before it are behind barriers.
    """
    height, width = packed(shape)
    solved = int(kind["STEPS"])
    for number, done in enumerate(range(0, height, solved)):
        with draft.scope("block", number):
            last = bool(result) and done + solved >= height
            # What the pass before has solved is copied, so that both textures hold it.
            kept = 0 if last else max(done - solved, 0)
            draft.draw(
                "stack/substitute",
                {"T": triangle, "B": rows.front},
                result if last else rows.back,
                {"left": 0 if done else left, "shape": shape, **cells.grid},
                {**kind, **cells.defines},
                cells.region(0, 0 if kind["UPPER"] else kept, width, height - kept),
                step=number,
                barrier=bool(result) and not last,
            )
        rows.swap()
    return result or rows.front


class Passes:
    """Adds passes over a stack to a draft."""

    def __init__(self, operation: str, stack: Stack, elements: int = 0) -> None:
        self.stack = stack
        self.draft = Draft(operation)
        self.raw = self.draft.operand("raw", stack.raw(elements)) if elements else ""
        self.exponents: dict[str, str] = {}

    def matrices(self, name: str, shape: Shape) -> str:
        """Add a slot for a matrix of this shape in each cell."""
        return self.draft.slot(name, self.stack.matrix(shape))

    def column(self, name: str, height: int) -> str:
        """Add a slot for a column of texels in each cell."""
        return self.draft.slot(name, self.stack.storage(height, 1))

    def bring_in(self, name: str, shape: Shape, start: int = 0, identity: bool = False) -> str:
        """Bring in an operand of its own, which begins at element `start`, or the identity; give its slot."""
        target = self.matrices(name, shape)
        self.pack(target, shape, start, identity=identity)
        return target

    def pack(
        self,
        target: str,
        shape: Shape,
        start: int = 0,
        left: int = 0,
        identity: bool = False,
        scaled: bool = False,
        probes: int = 0,
    ) -> None:
        """Bring in an operand, which begins at element `start`, as the columns from texel `left` on.

        Behind them come `probes` columns of random numbers of variance 1, the same for every matrix. If it is `scaled`,
        the square operand with which the elements begin comes before them, and both are scaled by the exponents.
        """
        inputs = {"raw": self.raw} if scaled or not identity else {}
        uniforms: dict[str, Uniform] = {"left": left, "count": self.stack.count, "shape": shape, "start": start}
        if scaled:
            inputs |= self.exponents
        height, width = packed(shape)
        first = 0 if scaled else left
        self.draft.draw(
            "stack/pack",
            inputs,
            target,
            {**uniforms, **self.stack.grid},
            {"IDENTITY": int(identity), "SCALED": int(scaled), **({"PROBES": 1} if probes else {})},
            self.stack.region(first, 0, left - first + width + texels(probes), height),
        )

    def substitute(
        self,
        triangle: str,
        start: str,
        shape: Shape,
        upper: bool,
        unit: bool = False,
        transposed: bool = False,
        left: int = 0,
    ) -> str:
        """Solve with a triangle for right-hand sides that begin in texel column `left`; give the solution's slot."""
        name = f"X_{'upper' if upper else 'lower'}"
        # llvmpipe compiles anew where a side of a texture is a power of two: a single system's are as wide as B.
        storage = texture(self.draft.slots[start]) if self.stack.count == 1 else self.stack.matrix(shape)
        rows = PingPong(self.draft, name, storage, start)
        kind = {"UPPER": int(upper), "UNIT": int(unit), "TRANSPOSED": int(transposed), "STEPS": STEPS}
        return add_substitution(self.draft, self.stack, triangle, rows, shape, kind, left=left)

    def unpack(
        self,
        matrix: str,
        shape: Shape,
        order: int = 0,
        factors: str = "",
        pivots: str = "",
        probes: bool = False,
        mirrored: bool = False,
        line: bool = False,
    ) -> str:
        """Lay out the records that are read back.

        They hold `matrix`, if there is one (what belongs to it is scaled back: a solution), and diagnostics of
        `factors`, with the pivots if they are given, and then with the exponents if there are some. With `probes` the
        last two columns of `matrix`, behind those of `shape`, are solutions for the random ones of `pack`: their
        squares are the last line. A `mirrored` matrix is symmetric: of it the lower half is read, and the second line
        of diagnostics is its diagonal. With `line` the only diagnostics are the first row of `factors`.
        """
        exponents, scaled = bool(pivots and self.exponents), bool(matrix and self.exponents)
        length = shape[0] * shape[1] + ((1 if line else 2) * bool(factors) + bool(pivots) + exponents + probes) * order
        slots = {"M": matrix, "LU": factors, "pivots": pivots}
        if exponents:
            slots |= self.exponents
        elif scaled:
            slots["column_exponents"] = self.exponents["column_exponents"]
        inputs = {sampler: slot for sampler, slot in slots.items() if slot}
        uniforms: dict[str, Uniform] = {"record": (*shape, length), "count": self.stack.count, **self.stack.grid}
        if factors:
            uniforms["order"] = order
        storage = self.stack.raw(length)
        (result,) = self.draft.draw(
            "stack/unpack",
            inputs,
            {"records": storage},
            {**uniforms, "width": storage.width},
            {
                "MATRIX": int(bool(matrix)),
                "DIAGNOSTICS": 2 if line else int(bool(factors)),
                "PIVOTS": int(bool(pivots)),
                "EXPONENTS": int(exponents),
                "PROBES": int(probes),
                "SCALED": int(scaled),
                **({"MIRROR": 1} if mirrored else {}),
            },
        )
        return result


# -- matrices that one fragment holds ----------------------------------------------------------------------------------

IN_REGISTERS = 4
"""Largest order of matrices that one fragment eliminates: a row is a register of four elements."""

LONGEST = 2**22
"""Most elements of a record: the shader finds rows by a division of floats, which are whole numbers up to 2^24."""


def is_small(forms: Forms) -> bool:
    """Whether A is small enough.

    >>> from glla.passes import Form
    >>> is_small((Form((9, 4, 4)), Form((9, 4, 50)))), is_small((Form((9, 5, 5)),))
    (True, False)
    """
    return forms[0].shape[-1] <= IN_REGISTERS


def stride(length: int) -> int:
    """Elements from a record to the next: it is filled up to whole texels.

    >>> stride(18)
    20
    """
    return -(-length // 4) * 4


def most_small(record: int, elements: int, limits: Limits) -> int:
    """Most matrices of which both the elements that come in and the elements of their records fit a texture."""
    if record > LONGEST:
        return 0
    return capacity((1, stride(record) // 4), elements, limits.texture_size)


def one_pass(
    shader: str,
    operation: str,
    count: int,
    elements: int,
    record: tuple[int, int],
    own: dict[str, Uniform],
    defines: dict[str, int],
    flops: int,
    limits: Limits,
) -> Plan:
    """Plan of one pass from operands to records. `record`: columns of X, and elements; `flops`: for each matrix.

    The shader takes ``raw`` and the uniform ``extent``, beside those of its `own`.
    """
    columns, length = record
    draft = Draft(operation)
    operand = draft.operand("raw", raw(count * elements, limits.texture_size))
    storage = wrapped(count * stride(length), limits.texture_size)
    extent = (count, columns, stride(length) // 4, storage.width)
    made = draft.draw(shader, {"raw": operand}, {"records": storage}, {"extent": extent, **own}, dict(defines))
    return draft.plan(made, count * flops)
