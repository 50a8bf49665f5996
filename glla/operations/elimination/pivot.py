"""Pivot search: the two pivot rows of a step of an elimination.

A pivot is a *pair of row indices*, found by a reduction on the device and left there: the elimination pass fetches it,
so a factorisation never waits for the host. A search is a pass or two in which each fragment looks at a few dozen rows
and leaves its best candidate; whoever needs the winner reads all candidates, which are few. One set of passes serves
every norm:

``partial``
    Each column by itself, the largest entry in magnitude, as LAPACK: search column 2k, then column 2k+1 as it will be
    after the first elimination. Right for every matrix; multipliers are at most 1.
``harmonic``, ``geometric``
    The thesis's block pivoting: both rows in one search, among pairs that share a texel, by a norm of the 2x2 block.
    Fewer passes, but a matrix whose rows pair badly has no good pair; ``health`` tells, and the caller turns to
    ``partial``.

A factorisation always moves on by two rows and two columns (`FactorSearch`). An echelon form moves down by as many rows
as the column pair has pivots (`EchelonSearch`), so each of its steps needs the *record* of the one before.

`trace` follows the exchanges of all steps, `gather` brings rows into their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import isqrt

from glla.errors import PlanError, one_of
from glla.operations.batches.stack import SINGLE, Cells, Stack
from glla.passes import Draft, PingPong, Plan, Region, Storage, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, packed, texels

NORMS = {"partial": "pivot/first_column", "harmonic": "pivot/block_norm", "geometric": "pivot/block_norm"}
"""Shader of the search, by pivoting strategy; in that of ``partial`` `SECOND` follows."""

SECOND = "pivot/second_column"
"""Shader that searches column 2k + 1 by itself."""

TOLERANCE = Storage(1, 1, 2)
"""Storage of the tolerance: an absolute number, and one in unit roundoffs."""


def flops(shape: Shape) -> int:
    """Additions and multiplications of an elimination of an m x n matrix: about 2/3 n^3 for a square one.

    >>> flops((2, 2))
    2
    """
    m, n = shape
    return sum(2 * (m - 1 - i) * (n - 1 - i) for i in range(min(m, n)))


def steps(shape: Shape) -> int:
    """Column pairs to eliminate.

    >>> steps((5, 9))
    3
    """
    return texels(min(shape))


def searched_by(height: int, times: int = 1) -> int:
    """Texels that one fragment searches of a column: about the square root of their number, so that two levels balance.

    `times`: more fragments, each of fewer texels.

    >>> searched_by(10), searched_by(2048), searched_by(2048, times=3)
    (10, 45, 15)
    """
    return height if height <= 16 else -(-height // (times * (isqrt(height - 1) + 1)))


def most_candidates(height: int, times: int = 1) -> int:
    """Most candidates of a search of a column of up to `height` texels."""
    return max(-(-some // searched_by(some, times)) for some in range(1, height + 1))


class FactorSearch:
    """Adds the pivot searches of a factorisation to a draft, see `rank2`.

    `shape`: rows and columns of the matrix that is searched: the whole one, or a panel. `pivoting`: a key of `NORMS`.
    """

    eliminates = "plu/rank2/eliminate"

    def __init__(self, draft: Draft, shape: Shape, pivoting: str) -> None:
        known(pivoting)
        self.draft = draft
        self.shape = shape
        self.pivoting = pivoting
        self.height = texels(shape[0])
        self.chunk = searched_by(self.height)
        storage = Storage(most_candidates(self.height), texels(shape[1]))
        self.candidates = draft.slot("candidates", storage)
        self.firsts = draft.slot("firsts", storage) if pivoting == "partial" else ""

    def on(self, shape: Shape, top: int) -> FactorSearch:
        """The same search, with the same slots, for a panel that starts at row `top`."""
        other = copy(self)
        other.shape = shape
        other.chunk = searched_by(self.height - top // 2)
        return other

    def step(self, k: int, matrix: str, top: int = 0) -> None:
        """Search column pair k of the slot `matrix` for rows top + 2k and the next."""
        target = self.firsts if self.pivoting == "partial" else self.candidates
        defines = _defines(self.pivoting, fixed=True)
        self.draft.draw(NORMS[self.pivoting], {"A": matrix}, target, self.uniforms(top), defines, self._region(k, top))
        if self.pivoting == "partial":
            inputs = {"A": matrix, "firsts": self.firsts}
            self.draft.draw(SECOND, inputs, self.candidates, self.uniforms(top), {"FIXED": 1}, self._region(k, top))

    def _region(self, k: int, top: int) -> Region:
        return Region(k, 0, 1, -(-(self.height - top // 2 - k) // self.chunk))

    @property
    def inputs(self) -> dict[str, str]:
        """Sampler of the candidates, for a pass that needs the winners, see ``lib/pivots.glsl``."""
        return {"candidates": self.candidates}

    def uniforms(self, top: int = 0) -> dict[str, Uniform]:
        """Uniforms of a pass that needs the winners."""
        return {"chunk": self.chunk, "top": top, "shape": self.shape}

    @property
    def defines(self) -> dict[str, int]:
        """Defines of a pass that needs the winners."""
        return {"PAIR": int(self.pivoting != "partial")}

    def records(self, steps: int, targets: tuple[str, str], first: int = 0, top: int = 0) -> None:
        """Gather the records of all steps into (pivots, health) from texel `first` on."""
        uniforms, defines = {**self.uniforms(top), "first_step": first}, self.defines
        defines |= {"GEOMETRIC": int(self.pivoting == "geometric")}
        self.draft.draw("pivot/factor_records", self.inputs, targets, uniforms, defines, Region(first, 0, steps, 1))


class BatchSearch:
    """Adds the pivot searches of a batch: a fragment for each matrix.

    `shape`: rows and columns of a matrix, with the right-hand sides beside it. `steps`: column pairs. `stack`: how the
    matrices share textures.
    """

    eliminates = "plu/rank2/eliminate"

    def __init__(self, draft: Draft, shape: Shape, steps: int, stack: Stack) -> None:
        self.draft, self.shape, self.stack = draft, shape, stack
        self.inputs = {name: draft.slot(name, stack.storage(steps, 1)) for name in ("pivots", "blocks")}
        self.defines = stack.defines

    def step(self, k: int, matrix: str) -> None:
        """Search column pair k."""
        uniforms: dict[str, Uniform] = {"rows": self.shape[0], **self.stack.grid}
        self.draft.draw(
            "stack/search", {"A": matrix}, (*self.inputs.values(),), uniforms, {}, self.stack.region(0, k, 1, 1)
        )

    def uniforms(self) -> dict[str, Uniform]:
        """Uniforms of the elimination."""
        return {"top": 0, "shape": self.shape, **self.stack.grid}


class NoSearch:
    """A small matrix: the vertex stage of its elimination searches the pivots."""

    eliminates = "plu/rank2/search_and_eliminate"
    inputs: Mapping[str, str] = {}
    defines: Mapping[str, int] = {}

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def step(self, k: int, matrix: str) -> None:
        """Add nothing."""

    def uniforms(self) -> dict[str, Uniform]:
        """Uniforms of the elimination."""
        return {"top": 0, "shape": self.shape}


def rank2(
    draft: Draft,
    source: str,
    shape: Shape,
    steps: int,
    search: FactorSearch | BatchSearch | NoSearch,
    cells: Cells = SINGLE,
) -> str:
    """Add an elimination pass for every two columns, after the search of its pivots; give the slot of the factors.

    A row of texels is final one step after its own, when both textures hold it.
    """
    height, width = packed(shape)
    front = PingPong(draft, "LU", cells.matrix(shape), source)
    for k in range(steps):
        y = max(k - 1, 0)
        with draft.scope("step", k):
            search.step(k, front.front)
            draft.draw(
                search.eliminates,
                {"A": front.front, **search.inputs},
                front.back,
                search.uniforms(),
                search.defines,
                cells.region(0, y, width, height - y),
                step=k,
            )
        front.swap()
    return front.front


class EchelonSearch:
    """Adds the pivot searches of an echelon form to a draft.

    `draft`: where the passes go. Its operand ``tolerance`` (1x1: absolute, relative) says what is no pivot, see
    ``pivot/threshold.glsl``. `shape`: rows and columns of the matrix. `steps`: column pairs that will be searched.
    `pivoting`: a key of `NORMS`.
    """

    def __init__(self, draft: Draft, shape: Shape, steps: int, pivoting: str) -> None:
        known(pivoting)
        self.draft = draft
        self.shape = shape
        self.pivoting = pivoting
        self.chunk = searched_by(texels(shape[0]))
        self.count = -(-texels(shape[0]) // self.chunk)
        self.weight = int(pivoting == "partial")  # candidates carry a sum, see pivot/second_column.frag
        self.tolerance = draft.operand("tolerance", TOLERANCE)
        record = Storage(1, (steps + 1) // 2)
        # Records of the steps and their health alternate between two textures, of even and of odd steps: a step reads
        # the record of the one before, and a pass may not read what it draws to.
        self.pivots, self.health = (
            [draft.slot(f"{name}_{end}", record) for end in ("even", "odd")] for name in ("pivots", "health")
        )
        storage = Storage(self.count, 1)
        self.candidates = draft.slot("candidates", storage)
        self.firsts = draft.slot("firsts", storage)

    def step(self, k: int, matrix: str) -> tuple[str, int]:
        """Search the column pair of step k in the slot `matrix`; return slot and texel of the record."""
        # At step 0 there is no record yet; the shader does not look, and any texture will do.
        record, previous = (self.pivots[1 - k % 2], (k - 1) // 2) if k else (self.tolerance, -1)
        inputs = {"A": matrix, "record": record}
        uniforms: dict[str, Uniform] = {"k": k, "chunk": self.chunk, "shape": self.shape, "previous": previous}
        region = Region(0, 0, 1, self.count)
        shader, defines = NORMS[self.pivoting], _defines(self.pivoting, fixed=False)
        if self.pivoting == "partial":
            self.draft.draw(shader, inputs, self.firsts, uniforms, defines, region)
            shader, inputs = SECOND, {**inputs, "firsts": self.firsts}
        inputs = {**inputs, "tolerance": self.tolerance}
        self.draft.draw(shader, inputs, self.candidates, uniforms, defines, region)
        self._record(k, record, previous)
        return self.pivots[k % 2], k // 2

    def results(self, steps: int) -> dict[str, str]:
        """Slots that a plan of `steps` steps hands out: all records, and the health of the last step."""
        named = {"pivots_even": self.pivots[0], "health": self.health[(steps - 1) % 2]}
        return named | ({"pivots_odd": self.pivots[1]} if steps > 1 else {})

    def _record(self, k: int, record: str, previous: int) -> None:
        inputs = {
            "candidates": self.candidates,
            "tolerance": self.tolerance,
            "record": record,
            "watched": self.health[1 - k % 2] if k else self.tolerance,
        }
        if self.pivoting == "partial":
            inputs["firsts"] = self.firsts
        self.draft.draw(
            "pivot/record",
            inputs,
            (self.pivots[k % 2], self.health[k % 2]),
            {"count": self.count, "previous": previous},
            {
                "PAIR": int(self.pivoting != "partial"),
                "WEIGHT": self.weight,
                "GEOMETRIC": int(self.pivoting == "geometric"),
            },
            Region(k // 2, 0, 1, 1),
        )


def _defines(pivoting: str, fixed: bool) -> dict[str, int]:
    """Defines of a search: of a factorisation (`fixed`) or an echelon form."""
    geometric = {} if pivoting == "partial" else {"GEOMETRIC": int(pivoting == "geometric")}
    return {"FIXED": int(fixed), **geometric}


def known(pivoting: str) -> None:
    """Raise OptionError unless it is a key of `NORMS`."""
    one_of("pivoting:", pivoting, NORMS)


# -- the exchanges of rows, and their application to other matrices ---------------------------------------------------


@cached_plan
def trace(rows: int, steps: int, inverse: bool = False) -> Plan:
    """Plan that follows the row exchanges of a factorisation.

    Result ``rows``: a column of texels (row of 2y, row of 2y+1, 0, 0).
    `rows`: rows of the factored matrix. `steps`: steps of the factorisation; the operand ``pivots`` holds their
    records. `inverse`: where each original row went, instead of where each new row comes from.
    """
    given, made = {"pivots": Storage(1, steps)}, {"rows": Storage(texels(rows), 1)}
    defines = {"INVERSE": int(inverse)}
    return single_pass("permutation_trace", "permutation/trace", given, made, {"first": 0, "end": steps}, defines)


@cached_plan
def gather(shape: Shape, rows: int | None = None, left: int = 0, columns: int | None = None) -> Plan:
    """Plan that puts rows of ``A`` into an order.

    Operand ``rows``: a column of texels (source of row 2y, source of row 2y+1, 0, 0). Result ``B``.
    `shape`: rows and columns of ``A``. `rows`: how many of them; by default all. `left`: columns of ``A`` that are left
    out, even. `columns`: how many behind them are kept; by default all.
    """
    if left % 2:
        raise PlanError(f"permutation_gather: columns that are left out must be an even number, got {left}")
    chosen = (shape[0] if rows is None else rows, shape[1] - left if columns is None else columns)
    given, made = {"A": matrix(shape), "rows": Storage(texels(chosen[0]), 1)}, {"B": matrix(chosen)}
    uniforms: dict[str, Uniform] = {"shape": chosen, "left": left, "column": 0}
    return single_pass("permutation_gather", "permutation/gather", given, made, uniforms)
