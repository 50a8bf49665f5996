"""Batches of small matrices: each pass works on all of them, so their number does not change the number of passes.

    raw --> pack --> [A | B], interleaved --> passes of one matrix, over all --> unpack --> raw

A batch is uploaded at once, operands one after the other as NumPy stores them, and read back at once, results and
diagnostics together. In between it has an interleaved layout (see ``lib/packed.glsl``): texel (x, y) of all matrices is
contiguous, so a rectangle of texels of every matrix is a rectangle to draw, and a single matrix is a batch of one.

Right-hand sides are stored beside their matrix, texel column by texel column, and are eliminated with it: that is the
row exchanges and the forward substitution. Pivots are searched by one fragment for each matrix.

The passes are those of the single matrix (``plu/rank2/eliminate``, ``equilibrate/*``, ``matmul/inner_product``, with
the define ``STACK``), except for the search, the substitution by blocks, and the transfers.

Sources: Kim et al., "Designing vector-friendly compact BLAS and LAPACK kernels" (2017), for the layout; Brodtkorb
2007, section 4.1.3, for the elimination.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from glla.operations.elimination.counts import flops as plu_flops
from glla.passes import PLAIN, Draft, Forms, Limits, PingPong, Plan, Region, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels

MOST_TEXELS = 2**22
"""Texels of a texture with a batch at most, 64 MiB; larger batches are split without a loss of speed."""

STEPS = 4
"""Texel rows that a pass of a substitution solves."""

LARGEST = 256
"""Largest order of batched factorisations. Beyond, one fragment takes too long to search a column
(nvidia-h200-pcie-sse2/experiments/2026-11-20.json)."""

WIDEST_IN_SOFTWARE = 272
"""Most columns and right-hand sides together of a batch in software, where passes cost little and multipliers are
computed again for each right-hand side (llvmpipe-llvm-15-0-6-256-bits/experiments/2026-11-20.json)."""

LARGEST_PRODUCT, LARGEST_PRODUCT_IN_SOFTWARE = 256, 64
"""Largest side of matrices in batched products, on a GPU and on a software rasteriser
(nvidia-h200-pcie-sse2/experiments/2026-11-20.json)."""

PROBES = 2
"""Random right-hand sides in a texel column beside each system; their solutions reveal near singularity."""


def _across(count: int, height: int, width: int, texture_size: int) -> int:
    """Cells across for a number of matrices, each `height` x `width` texels: about square, if it can be.

    If there is no room at all, `Plan.check` says so.
    """
    most, down = max(texture_size // width, 1), max(texture_size // height, 1)
    return max(min(isqrt(count - 1) + 1, most), -(-count // down))


def capacity(tile: Shape, elements: int, texture_size: int) -> int:
    """Most matrices that a stack may have.

    Parameters
    ----------
    tile : tuple of int
        Height and width, in texels, of one matrix with what stands beside it.
    elements : int
        Most elements that are uploaded, or read back, for one matrix.
    texture_size : int
        Largest side of a texture.

    Returns
    -------
    int
        0 if not even one fits.

    Examples
    --------
    >>> capacity((4, 4), 64, 16), capacity((4, 20), 64, 16)
    (4, 0)
    """
    cells = (texture_size // tile[0]) * (texture_size // tile[1])
    fits = min(cells, texture_size**2 // elements)
    return min(fits, max(1, MOST_TEXELS // (tile[0] * tile[1])))


def most_products(forms: Forms, limits: Limits) -> int:
    """Products that one plan may make at once; 0: they go one by one.

    >>> from glla.passes import Form
    >>> most_products((Form((9, 2, 3)), Form((9, 3, 4))), PLAIN) > 100
    True
    """
    (m, k), (_, n) = (form.matrix for form in forms)
    largest = LARGEST_PRODUCT_IN_SOFTWARE if limits.software else LARGEST_PRODUCT
    if max(m, k, n) > largest:
        return 0
    tile = max(texels(m), texels(k)), max(texels(k), texels(n))
    return capacity(tile, max((m + n) * k, m * n), limits.texture_size)


def most_factors(forms: Forms, limits: Limits) -> int:
    """Factorisations, or determinants, that one plan may make at once; 0: they go one by one."""
    m, n = forms[0].matrix
    if max(m, n) > LARGEST:
        return 0
    return capacity((texels(m), texels(n)), max(m * n + 3 * min(m, n), 4 * n), limits.texture_size)


def most_systems(forms: Forms, limits: Limits) -> int:
    """Systems that one plan may solve at once; 0: they go one by one. Without B it is the identity."""
    n, columns = forms[-1].matrix
    if max(n, columns) > LARGEST or (limits.software and n + columns > WIDEST_IN_SOFTWARE):
        return 0
    tile = texels(n), texels(n) + texels(columns) + texels(PROBES)
    return capacity(tile, max(n * (n + columns), n * (columns + 3)), limits.texture_size)


def raw(elements: int, texture_size: int) -> Storage:
    """Storage of a number of elements, one after the other, row by row: about square.

    >>> raw(10, 16)
    Storage(height=3, width=4, channels=1)
    """
    width = min(isqrt(elements - 1) + 1, texture_size)
    return Storage(-(-elements // width), width, 1)


@dataclass(frozen=True)
class Stack:
    """How the matrices of a stack share textures.

    Attributes
    ----------
    count : int
        Matrices.
    across, down : int
        Cells of the grid.
    texture_size : int
        Largest side of a texture.
    """

    count: int
    across: int
    down: int
    texture_size: int

    @staticmethod
    def of(count: int, tile: Shape, texture_size: int) -> Stack:
        """Lay out `count` matrices, whose widest texture has `tile` texels for each."""
        across = _across(count, *tile, texture_size)
        return Stack(count, across, -(-count // across), texture_size)

    @property
    def grid(self) -> dict[str, Uniform]:
        """Uniform of ``lib/packed.glsl``."""
        return {"grid": (self.across, self.down)}

    def storage(self, height: int, width: int) -> Storage:
        """Texture with height x width texels for each matrix."""
        return Storage(height * self.down, width * self.across)

    def region(self, x: int, y: int, width: int, height: int) -> Region:
        """Rectangle of texels, of every matrix."""
        return Region(x * self.across, y * self.down, width * self.across, height * self.down)

    def raw(self, length: int) -> Storage:
        """Raw texture with a record of `length` elements for each matrix."""
        return raw(self.count * length, self.texture_size)


@dataclass(frozen=True)
class Cells:
    """Targets of passes: a single matrix, or every matrix of a batch at once.

    Attributes
    ----------
    stack : Stack or None
        How the matrices share textures.
    """

    stack: Stack | None = None

    def matrix(self, shape: Shape) -> Storage:
        """Texture with a packed matrix for each."""
        return matrix(shape) if self.stack is None else self.stack.storage(*packed(shape))

    def texels(self, height: int, width: int) -> Storage:
        """Texture with this number of texels for each."""
        return Storage(height, width) if self.stack is None else self.stack.storage(height, width)

    def region(self, x: int, y: int, width: int, height: int) -> Region:
        """Rectangle of texels, of each."""
        return Region(x, y, width, height) if self.stack is None else self.stack.region(x, y, width, height)

    @property
    def grid(self) -> dict[str, Uniform]:
        """Uniforms of ``lib/packed.glsl``."""
        return {} if self.stack is None else self.stack.grid

    @property
    def defines(self) -> dict[str, Define]:
        """For ``lib/packed.glsl``."""
        return {} if self.stack is None else {"STACK": 1}


class Passes:
    """Adds passes over a stack to a draft."""

    def __init__(self, operation: str, stack: Stack, elements: int) -> None:
        self.stack = stack
        self.draft = Draft(operation)
        self.raw = self.draft.operand("raw", stack.raw(elements))
        self.exponents: dict[str, str] = {}

    def matrices(self, name: str, shape: Shape) -> str:
        """Add a slot for a matrix of this shape in each cell."""
        return self.draft.slot(name, self.stack.storage(*packed(shape)))

    def column(self, name: str, height: int) -> str:
        """Add a slot for a column of texels in each cell."""
        return self.draft.slot(name, self.stack.storage(height, 1))

    def pack(
        self, target: str, shape: Shape, start: int = 0, left: int = 0, identity: bool = False, scaled: bool = False
    ) -> None:
        """Bring in an operand, which begins at element `start`, as the columns from texel `left` on."""
        inputs = {} if identity else {"raw": self.raw}
        uniforms: dict[str, Uniform] = {"left": left, "count": self.stack.count, "shape": shape}
        if not identity:
            uniforms["start"] = start
        if scaled:
            inputs["row_exponents"] = self.exponents["row_exponents"]
        height, width = packed(shape)
        self.draft.draw(
            "stack/pack",
            inputs,
            target,
            {**uniforms, **self.stack.grid},
            {"IDENTITY": int(identity), "SCALED": int(scaled)},
            self.stack.region(left, 0, width, height),
        )

    def pack_probes(self, target: str, n: int, left: int) -> None:
        """Write random numbers of variance 1, the same for every matrix, into the columns from texel `left` on."""
        uniforms: dict[str, Uniform] = {"left": left, "count": self.stack.count, "shape": (n, PROBES)}
        region = self.stack.region(left, 0, texels(PROBES), texels(n))
        self.draft.draw("stack/pack", {}, target, {**uniforms, **self.stack.grid}, {"PROBES": 1}, region)

    def pack_equilibrated(self, target: str, n: int) -> None:
        """Bring in square matrices, with rows and columns scaled by powers of two."""
        grid, size = self.stack.grid, texels(n)
        start = self.matrices("A", (n, n))
        self.pack(start, (n, n))
        rows, columns = self.column("row_exponents", size), self.column("column_exponents", size)
        self.exponents = {"row_exponents": rows, "column_exponents": columns}
        self.draft.draw(
            "equilibrate/row_exponents", {"A": start}, rows, {"width": size, **grid}, {"COLUMNS": 0, "STACK": 1}
        )
        self.draft.draw(
            "equilibrate/column_exponents",
            {"A": start, "row_exponents": rows},
            columns,
            {"height": size, **grid},
            {"STACK": 1},
        )
        self.draft.draw(
            "equilibrate/scale",
            {"A": start, **self.exponents},
            target,
            {"signs": (-1, -1), "shape": (n, n), **grid},
            {"ROWS": 1, "COLUMNS": 1, "STACK": 1},
            self.stack.region(0, 0, size, size),
        )

    def factor_alone(self, start: str, shape: Shape, steps: int) -> str:
        """Eliminate `steps` column pairs of a single matrix, whose pivots the vertex stage searches."""
        height, width = packed(shape)
        factors = PingPong(self.draft, "LU", self.stack.storage(height, width), start)
        for k in range(steps):
            with self.draft.scope("step", k):
                y = max(k - 1, 0)
                self.draft.draw(
                    "plu/rank2/search_and_eliminate",
                    {"A": factors.front},
                    factors.back,
                    {"top": 0, "shape": shape},
                    {},
                    Region(0, y, width, height - y),
                    step=k,
                )
                factors.swap()
        return factors.front

    def factor(self, start: str, shape: Shape, steps: int) -> tuple[str, str]:
        """Eliminate `steps` column pairs; give the slots of the factors and of the pivots."""
        height, width = packed(shape)
        pivots, blocks = self.column("pivots", steps), self.column("blocks", steps)
        factors = PingPong(self.draft, "LU", self.stack.storage(height, width), start)
        for k in range(steps):
            with self.draft.scope("step", k):
                self.draft.draw(
                    "stack/search",
                    {"A": factors.front},
                    (pivots, blocks),
                    {"rows": shape[0], **self.stack.grid},
                    {},
                    self.stack.region(0, k, 1, 1),
                )
                y = max(k - 1, 0)  # a row is final one step after its own, when both textures hold it
                self.draft.draw(
                    "plu/rank2/eliminate",
                    {"A": factors.front, "pivots": pivots, "blocks": blocks},
                    factors.back,
                    {"top": 0, "shape": shape, **self.stack.grid},
                    {"STACK": 1},
                    self.stack.region(0, y, width, height - y),
                    step=k,
                )
                factors.swap()
        return factors.front, pivots

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
        height, width = packed(shape)
        name = f"X_{'upper' if upper else 'lower'}"
        rows = PingPong(self.draft, name, self.stack.storage(height, width), start)
        for number, done in enumerate(range(0, height, STEPS)):
            with self.draft.scope("block", number):
                # What the pass before has solved is copied, so that both textures hold it.
                kept = max(done - STEPS, 0)
                self.draft.draw(
                    "stack/substitute",
                    {"T": triangle, "B": rows.front},
                    rows.back,
                    {
                        "left": 0 if done else left,
                        "t": height - 1 - done if upper else done,
                        "steps": min(STEPS, height - done),
                        "shape": shape,
                        **self.stack.grid,
                    },
                    {"UPPER": int(upper), "UNIT": int(unit), "TRANSPOSED": int(transposed), "STEPS": STEPS},
                    self.stack.region(0, 0 if upper else kept, width, height - kept),
                )
                rows.swap()
        return rows.front

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

        They hold `matrix`, if there is one (what belongs to it is scaled back: a solution), and figures of `factors`,
        with the pivots if they are given, and then with the exponents if there are some. With `probes` the last two
        columns of `matrix`, behind those of `shape`, are solutions for `pack_probes`: their squares are the last line.
        A `mirrored` matrix is symmetric: of it the lower half is read, and the second line of figures is its diagonal.
        With `line` the only figures are the first row of `factors`.
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
        result = self.draft.slot("records", storage)
        self.draft.draw(
            "stack/unpack",
            inputs,
            result,
            {**uniforms, "width": storage.width},
            {
                "MATRIX": int(bool(matrix)),
                "FIGURES": 2 if line else int(bool(factors)),
                "PIVOTS": int(bool(pivots)),
                "EXPONENTS": int(exponents),
                "PROBES": int(probes),
                "SCALED": int(scaled),
                **({"MIRROR": 1} if mirrored else {}),
            },
        )
        return result


@cached_plan
def matmul(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the products of a stack of pairs of matrices, m x k and k x n, all sides > 0.

    Operand ``raw``: all A, then all B. Result ``records``: all products. 4 passes.

    Forms: of both stacks, with the same number of matrices each. They lie in the host's memory.
    """
    (m, k), (_, n) = (form.matrix for form in forms)
    count = forms[0].count
    stack = Stack.of(count, (max(texels(m), texels(k)), max(texels(k), texels(n))), limits.texture_size)
    passes = Passes("stack[matmul]", stack, (m + n) * k)
    a, b, c = passes.matrices("A", (m, k)), passes.matrices("B", (k, n)), passes.matrices("C", (m, n))
    passes.pack(a, (m, k))
    passes.pack(b, (k, n), start=count * m * k)
    uniforms: dict[str, Uniform] = {"first": 0, "count": texels(k), "shape": (m, n), **stack.grid}
    passes.draft.draw("matmul/inner_product", {"A": a, "B": b}, c, uniforms, {"CONTINUE": 0, "STACK": 1})
    return passes.draft.plan({"records": passes.unpack(c, (m, n))}, flops=2 * count * m * k * n)


@cached_plan
def factor(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the factorisation of a stack of m x n matrices with partial pivoting, m, n > 0.

    Operand ``raw``: the matrices. Result ``records``: for each matrix LU, L below the diagonal and U on and above it,
    U's diagonal, the largest entries of U's columns, and LAPACK's pivots: m n + 3 min(m, n) elements. Passes: 2
    ceil(min(m, n) / 2) + 2.
    """
    shape, count = forms[0].matrix, forms[0].count
    order = min(shape)
    stack = Stack.of(count, packed(shape), limits.texture_size)
    passes = Passes("stack[factor]", stack, shape[0] * shape[1])
    start = passes.matrices("A", shape)
    passes.pack(start, shape)
    factors, pivots = passes.factor(start, shape, texels(order))
    result = passes.unpack(factors, shape, order, factors, pivots)
    return passes.draft.plan({"records": result}, count * plu_flops(shape))


@cached_plan
def determinant(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the parts of the determinants of a stack of n x n matrices, n > 0.

    Operand ``raw``: the matrices. Result ``records``: for each matrix, equilibrated, U's diagonal, the largest entries
    of U's columns, LAPACK's pivots, and the sums of exponents e_i + f_i that row i and column i were scaled by: 4 n
    elements. Passes: 2 ceil(n / 2) + 5.
    """
    n, count = forms[0].shape[-1], forms[0].count
    stack = Stack.of(count, (texels(n), texels(n)), limits.texture_size)
    passes = Passes("stack[determinant]", stack, n * n)
    start = passes.matrices("scaled", (n, n))
    passes.pack_equilibrated(start, n)
    factors, pivots = passes.factor(start, (n, n), texels(n))
    return passes.draft.plan({"records": passes.unpack("", (0, 0), n, factors, pivots)}, count * plu_flops((n, n)))


@cached_plan
def solve(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True) -> Plan:
    """Plan of the solution of a stack of systems A X = B, A being n x n and B n x columns, both > 0.

    Operand ``raw``: all A, then all B. Result ``records``: for each system X, U's diagonal, the largest entries of U's
    columns, and for each row the sum of the squares of the solutions for `PROBES` right-hand sides of random numbers
    (of A as it was scaled): n (columns + 3) elements. Passes: 2 ceil(n / 2) + ceil(n / 8) + 4, and 3 more to
    equilibrate; for a single system ceil(n / 2) less, as the vertex stage of the elimination has time to search its
    pivots.

    Parameters
    ----------
    forms : (Form, Form) or (Form,)
        Of both stacks, with the same number of matrices each, in the host's memory. Without B it is the identity,
        which is not uploaded.
    equilibrate : bool
        Scale rows and columns by powers of two first.
    """
    inverse = len(forms) == 1
    (n, _), (_, columns), count = forms[0].matrix, forms[-1].matrix, forms[0].count
    size, right = texels(n), texels(columns) + texels(PROBES)
    width = size + right
    stack = Stack.of(count, (size, width), limits.texture_size)
    passes = Passes("stack[inverse]" if inverse else "stack[solve]", stack, n * (n if inverse else n + columns))
    start = passes.matrices("augmented", (n, 2 * width))
    if equilibrate:
        passes.pack_equilibrated(start, n)
    else:
        passes.pack(start, (n, n))
    passes.pack(start, (n, columns), count * n * n, size, inverse, equilibrate)
    passes.pack_probes(start, n, size + texels(columns))
    if count == 1:
        factors = passes.factor_alone(start, (n, 2 * width), size)
    else:
        factors, _ = passes.factor(start, (n, 2 * width), size)
    x = passes.substitute(factors, factors, (n, 2 * right), upper=True, left=size)
    result = passes.unpack(x, (n, columns), n, factors, probes=True)
    return passes.draft.plan({"records": result}, count * (plu_flops((n, n)) + 2 * n * n * (columns + PROBES)))


@cached_plan
def substitute(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of the solution of a stack of systems L U X = B, or with the transpose of L U, all sides > 0.

    Operand ``raw``: all packed factors LU, then all B. Result ``records``: all X. Passes: 2 ceil(n / 8) + 3.

    Parameters
    ----------
    forms : (Form, Form)
        Of the stacks of packed factors and of right-hand sides, in the host's memory.
    transposed : bool
        Solve with the transpose.
    """
    (n, columns), count = forms[1].matrix, forms[0].count
    size, width = texels(n), texels(columns)
    stack = Stack.of(count, (size, max(size, width)), limits.texture_size)
    passes = Passes("stack[substitute]", stack, n * (n + columns))
    lu, start = passes.matrices("LU", (n, n)), passes.matrices("B", (n, columns))
    passes.pack(lu, (n, n))
    passes.pack(start, (n, columns), count * n * n)
    first = passes.substitute(lu, start, (n, columns), False, not transposed, transposed)
    x = passes.substitute(lu, first, (n, columns), True, transposed, transposed)
    return passes.draft.plan({"records": passes.unpack(x, (n, columns))}, 2 * count * n * n * columns)
