"""PLU of a Dask array with tournament pivoting: a graph of tasks on square blocks.

Step k, on blocks A[i, j] (Grigori, Demmel, Xiang 2011)::

    offer     rows of A[i, k], i >= k: each block offers b rows, matches in a tree decide which b rows are the pivots
    pivot     factors of these rows, and the row exchanges
    pick      the pivot rows of A[i, j], i >= k, for every column j; joined they are row k of the factors
    U[k, j]   L^-1 times these rows
    L[i, k]   A[i, k] U^-1, after rows of block k replaced the pivot rows
    update    A[i, j] - L[i, k] U[k, j], on the device

Dask's own `lu` searches pivots in the diagonal block only, so it fails for [[0, I], [I, 0]].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.cluster import lapack
from glla.cluster.factoring import transpositions
from glla.dask import worker
from glla.dask.products import BLOCK, dask_array, operand
from glla.errors import NonFiniteError, OptionError, SingularMatrixError, integer

Rows = NDArray[np.int64]
Key = tuple[Any, ...]


def splits(rows: int, columns: int, nb: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Chunks of rows and columns such that the blocks of the diagonal are square.

    >>> splits(5, 8, 3), splits(0, 2, 3)
    (((3, 2), (3, 2, 3)), ((0,), (2,)))
    """
    least = min(rows, columns)

    def cut(first: int, last: int) -> list[int]:
        return [min(nb, last - start) for start in range(first, last, nb)]

    square = cut(0, least)
    return tuple(square + cut(least, rows)) or (0,), tuple(square + cut(least, columns)) or (0,)


# -- tasks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pivot:
    """Result of a panel: its pivot rows, the factors of their block, and the row exchanges."""

    start: int
    rows: Rows
    block: Float32
    displaced: list[tuple[int, int]]
    exchanges: Rows


def _offer(rows: Rows, values: Float32, b: int) -> tuple[Rows, Float32]:
    order = lapack.pivoted(values)[1][:b]
    return rows[order], values[order]


def offer(block: Float32, first: int, b: int) -> tuple[Rows, Float32]:
    """The b rows that a block offers as pivots."""
    if not np.isfinite(block).all():
        raise NonFiniteError("glla.dask.lu: entries grow past float32's range; scale the matrix")
    return _offer(first + np.arange(len(block), dtype=np.int64), block, b)


def match(left: tuple[Rows, Float32], right: tuple[Rows, Float32], b: int) -> tuple[Rows, Float32]:
    """The b rows that win a match."""
    return _offer(np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]]), b)


def decide(winners: tuple[Rows, Float32], start: int) -> Pivot:
    """Factor the block of the pivot rows."""
    block, order = lapack.pivoted(winners[1])
    rows = winners[0][order]
    exchanges, displaced = transpositions(rows, start)
    return Pivot(start, rows, block, displaced, exchanges)


def pick(block: Float32, pivot: Pivot, first: int) -> tuple[Rows, Float32]:
    """Pivot rows in a block: their indices, and their values."""
    here = np.nonzero((pivot.rows >= first) & (pivot.rows < first + len(block)))[0]
    return here, block[pivot.rows[here] - first]


def together(picked: Sequence[tuple[Rows, Float32]]) -> Float32:
    """All pivot rows of a block column."""
    rows, values = (np.concatenate(each) for each in zip(*picked, strict=True))
    found = np.empty_like(values)
    found[rows] = values
    return found


def replaced(block: Float32, pivot: Pivot, top: Float32, first: int) -> Float32:
    """A block with rows of block row k in place of its pivot rows."""
    found = block.copy()
    for place, row in pivot.displaced:
        if first <= place < first + len(block):
            found[place - first] = top[row]
    return found


def upper(pivot: Pivot, rows: Float32) -> Float32:
    """U = L^-1 A of the pivot rows."""
    found = lapack.solve_lower(pivot.block, rows)
    if not np.isfinite(found).all():
        raise NonFiniteError("glla.dask.lu: entries grow past float32's range; scale the matrix")
    return found


def multipliers(block: Float32, pivot: Pivot, top: Float32, first: int) -> Float32:
    """L = A U^-1."""
    found = lapack.right_upper(pivot.block, replaced(block, pivot, top, first))
    if not np.isfinite(found).all():
        raise SingularMatrixError(
            f"glla.dask.lu: columns {pivot.start} to {pivot.start + len(pivot.rows) - 1} have fewer independent rows "
            "than columns, and the pivots do not stand for all of them; glla.plu takes every matrix that fits a machine"
        )
    return found


def update(block: Float32, pivot: Pivot, top: Float32, lower: Float32, row: Float32, first: int) -> Float32:
    """A - L U, after the exchange of rows."""
    return worker.minus_product(replaced(block, pivot, top, first), lower, row)


def order_of(pivots: Sequence[Pivot], m: int) -> Rows:
    """Row of A that becomes row i of L U."""
    return lapack.permutation(np.concatenate([np.empty(0, np.int64), *(pivot.exchanges for pivot in pivots)]), m)


def permutation_block(order: Rows, first: int, rows: int, left: int, columns: int) -> Float32:
    """A block of P, A = P L U."""
    here = order[left : left + columns] - first
    found = np.zeros((rows, columns), dtype=np.float32)
    inside = (here >= 0) & (here < rows)
    found[here[inside], np.nonzero(inside)[0]] = 1
    return found


def triangle(block: Float32, lower: bool) -> Float32:
    """L or U of a factored block of the diagonal."""
    return np.tril(block, -1) + np.eye(*block.shape, dtype=block.dtype) if lower else np.triu(block)


# -- graph ------------------------------------------------------------------------------------------------------------


@dataclass
class Factors:
    """The graph of a factorisation.

    `order`: key of the order of rows.
    """

    array: Any
    name: str
    chunks: tuple[tuple[int, ...], tuple[int, ...]]  # rows and columns of the blocks
    # key of each block of the packed factors, by its position
    blocks: dict[tuple[int, int], Key] = field(default_factory=dict)
    pivots: list[Key] = field(default_factory=list)
    tasks: dict[Key, Any] = field(default_factory=dict)  # all tasks

    @classmethod
    def of(cls, function: str, a: Any, nb: int) -> Factors:
        """Make the graph for an array of any chunks."""
        from dask.base import tokenize

        checked = operand(function, "A", a)
        chunks = splits(checked.shape[0], checked.shape[1], nb)
        meta = np.empty((0, 0), dtype=np.float32)
        array = checked.rechunk(chunks).map_blocks(partial(worker.float32, function), dtype=np.float32, meta=meta)
        made = cls(array, f"glla-lu-{tokenize(array.name, nb)}", chunks)
        rows, columns = (range(len(part)) for part in chunks)
        made.blocks = {(i, j): (array.name, i, j) for i in rows for j in columns}
        for k in range(made.panels):
            made._step(k)
        return made

    @cached_property
    def panels(self) -> int:
        """Number of diagonal blocks."""
        return min(len(part) for part in self.chunks) if 0 not in self.array.shape else 0

    @cached_property
    def starts(self) -> tuple[list[int], list[int]]:
        """First row, and first column, of each block."""
        rows, columns = (np.cumsum([0, *part]).tolist() for part in self.chunks)
        return rows, columns

    def put(self, what: str, place: tuple[int, ...], *task: Any) -> Key:
        """Add a task."""
        key = (f"{self.name}-{what}", *place)
        self.tasks[key] = task
        return key

    def _step(self, k: int) -> None:
        b, blocks = self.chunks[0][k], self.blocks
        rows, columns = range(k, len(self.chunks[0])), range(len(self.chunks[1]))
        pivot = self._pivot(k, b)
        first = self.starts[0]
        old = dict(blocks)
        for j in columns:
            if j == k:
                continue
            picked = [self.put("pick", (k, i, j), pick, old[i, j], pivot, first[i]) for i in rows]
            row = self.put("rows", (k, j), together, picked)
            blocks[k, j] = self.put("upper", (k, j), upper, pivot, row) if j > k else row
        blocks[k, k] = self.put("block", (k,), getattr, pivot, "block")
        for i in rows[1:]:
            blocks[i, k] = self.put("lower", (i, k), multipliers, old[i, k], pivot, old[k, k], first[i])
            for j in columns:
                given = (old[i, j], pivot, old[k, j])
                if j > k:
                    task = (update, *given, blocks[i, k], blocks[k, j], first[i])
                    blocks[i, j] = self.put("update", (k, i, j), *task)
                elif j < k:
                    blocks[i, j] = self.put("exchange", (k, i, j), replaced, *given, first[i])

    def _pivot(self, k: int, b: int) -> Key:
        """The tournament of a panel."""
        rows = range(k, len(self.chunks[0]))
        line = [self.put("offer", (k, i), offer, self.blocks[i, k], self.starts[0][i], b) for i in rows]
        level = 0
        while len(line) > 1:
            pairs = [line[at : at + 2] for at in range(0, len(line), 2)]
            line = [
                self.put("match", (k, level, at), match, *pair, b) if len(pair) == 2 else pair[0]
                for at, pair in enumerate(pairs)
            ]
            level += 1
        self.pivots.append(self.put("pivot", (k,), decide, line[0], self.starts[0][k]))
        return self.pivots[-1]

    @cached_property
    def order(self) -> Key:
        """Key of the order of rows."""
        return self.put("order", (), order_of, list(self.pivots), self.array.shape[0])

    def half(self, i: int, j: int, shape: tuple[int, int], lower: bool) -> Any:
        """Make the task of a block of L, or of U: zeros on the other side of its diagonal."""
        if self.panels and i == j:
            return triangle, self.blocks[i, j], lower
        return self.blocks[i, j] if self.panels and (i > j) == lower else (np.zeros, shape, np.float32)

    def collection(self, what: str, blocks: dict[tuple[int, int], Any], chunks: Any, *others: Any) -> Any:
        """Make a Dask array from tasks, by block positions; `others` are further arrays that they use."""
        from dask.highlevelgraph import HighLevelGraph

        da = dask_array("lu")
        name = "-".join([self.name, what, *(one.name for one in others)])
        tasks: dict[Any, Any] = {**self.tasks, **{(name, *place): task for place, task in blocks.items()}}
        graph = HighLevelGraph.from_collections(name, tasks, dependencies=[self.array, *others])
        return da.Array(graph, name, chunks=chunks, meta=np.empty((0, 0), dtype=np.float32))


def block_size(function: str, nb: Any, a: Any) -> int:
    """Check the block size; by default the largest chunk of the array, 1024 at most."""
    if nb is None:
        chunks = getattr(a, "chunks", None) or ((BLOCK,),)
        longest = max((length for part in chunks for length in part if length == length), default=1)
        return max(1, min(BLOCK, int(longest)))
    size = integer(f"glla.dask.{function}", "nb", nb)
    if size < 1:
        raise OptionError(f"glla.dask.{function}: nb must be at least 1, got {nb}")
    return size


def lu(a: Any, nb: int | None = None) -> tuple[Any, Any, Any]:
    """A = P @ L @ U of a Dask array of any chunks, with tournament pivoting.

    Parameters
    ----------
    a : dask.array.Array, shape (m, n)
        Of any chunks; it is split into blocks of `nb`, square ones on the diagonal.
    nb : int, optional
        Rows and columns of a block; by default `a`'s longest chunk, 1024 at most.

    Returns
    -------
    P, L, U : dask.array.Array of float32, shapes (m, m), (m, k), (k, n), k = min(m, n)
        As `scipy.linalg.lu`; computed together by ``dask.compute(P, L, U)``.

    Raises
    ------
    ShapeError, DTypeError, OptionError
        At once.
    NonFiniteError, SingularMatrixError
        In ``compute``: values outside float32, also intermediate ones; columns without full rank, for which the chosen
        pivots are rejected.

    Notes
    -----
    Cost: 2/3 n^3 flop in N^3 / 3 products of blocks on the devices, N = n / nb; some N^3 / 2 small tasks on hosts.
    Error: as with partial pivoting, times the growth factor, which is little larger for tournaments. Source: Grigori,
    Demmel, Xiang 2011.

    Examples
    --------
    >>> import dask.array as da
    >>> import glla.dask
    >>> A = da.from_array([[0, 2, 1], [4, 4, 2], [2, 3, 1]], chunks=(2, 1))
    >>> P, L, U = glla.dask.lu(A)
    >>> (P @ L @ U).compute(scheduler="synchronous")
    array([[0., 2., 1.],
           [4., 4., 2.],
           [2., 3., 1.]], dtype=float32)
    """
    lapack.check_scipy()
    found = Factors.of("lu", a, block_size("lu", nb, a))
    rows, columns = found.chunks
    order, starts = found.order, found.starts
    square = found.array.shape[0] and found.panels
    k_rows = rows[: found.panels] if square else (0,)
    k_columns = columns[: found.panels] if square else (0,)
    p = {
        (i, j): (permutation_block, order, starts[0][i], rows[i], starts[0][j], rows[j])
        for i in range(len(rows))
        for j in range(len(rows))
    }
    left, right = (
        {(i, j): found.half(i, j, (m, n), lower) for i, m in enumerate(heights) for j, n in enumerate(widths)}
        for lower, heights, widths in ((True, rows, k_columns), (False, k_rows, columns))
    )
    return (
        found.collection("P", p, (rows, rows)),
        found.collection("L", left, (rows, k_columns)),
        found.collection("U", right, (k_rows, columns)),
    )
