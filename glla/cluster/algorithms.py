"""The distributed algorithms, rank by rank: the steps and messages of each process. No values, no MPI.

PLU of an m x n matrix, right-looking, in block columns of nb (ScaLAPACK's pdgetrf; tournament pivoting as in CALU:
Grigori, Demmel, Xiang 2011). K is the number of the block column, b its width; process (pk, qk) owns the diagonal
block::

    panel      process column qk: find b pivot rows among all remaining rows, send them, with their factored
               block and the rows that they replace, to the column, then L = A U^-1 of the own rows
    spread     L and the row exchanges are sent along the process rows
    exchange   process columns: the pivot rows go to process row pk, which computes U = L^-1 A; U and the replaced
               rows are sent down the column
    update     A := A - L U on the engine, the columns of panel K + 1 first; with look-ahead 1 the host finds the
               pivots of panel K + 1 while the engine updates the other columns

With one process row only L is sent, and rows stay on the engine (`ColumnPLU`)::

    panel      its process: L by partial pivoting
    spread     L, the diagonal block and the row exchanges are sent to all
    exchange   rows are exchanged on the engine, which computes U = L^-1 A; the host reads U back later
    update     as above; meanwhile the host stores L and U

Sizes of messages depend on shapes only, never on the pivots: a run sends exactly the bytes of the plan. Every broadcast
is a binomial tree of messages that are written out here, not MPI_Ibcast: they can be counted, checked, simulated, and
waited for with a timeout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from glla.cluster.layout import Layout, grid_shape
from glla.cluster.steps import Await, Receive, Schedule, Send, Step, Work
from glla.errors import ShapeError, one_of

VARIANTS = {
    "tournament": "each process offers b rows, matches in a tree decide (CALU); stable, few messages",
    "partial": "every panel is gathered by one process, which pivots partially: LAPACK's pivots",
    "local": "rows of the pivot's process alone (Brodtkorb, Saetra and Fladby 2007): unstable, may break down",
}
"""Pivoting variants, by name."""

FLOAT, DOUBLE, INDEX = 4, 8, 8
"""Bytes of a float32, a float64 and an index."""


@dataclass(frozen=True)
class Branch:
    """The position of a process in a binomial tree: its parent and its children."""

    parent: int | None
    children: tuple[int, ...]


def branch(members: Sequence[int], root: int, me: int) -> Branch:
    """Position of a rank in the tree of a broadcast, or, reversed, of a reduction.

    >>> branch(range(8), 0, 0), branch(range(8), 0, 4)
    (Branch(parent=None, children=(4, 2, 1)), Branch(parent=0, children=(6, 5)))
    """
    size, first = len(members), members.index(root)
    place = (members.index(me) - first) % size
    low = place & -place if place else 1 << (size - 1).bit_length()
    steps = [1 << bit for bit in range(low.bit_length() - 2, -1, -1)]
    children = tuple(members[(place + step + first) % size] for step in steps if place + step < size)
    return Branch(members[(place - low + first) % size] if place else None, children)


def broadcast(at: Branch, panel: int, name: str, nbytes: int) -> Iterator[Step]:
    """Receive from the parent, send to the children."""
    if nbytes and at.parent is not None:
        yield Receive(panel, name, at.parent, nbytes)
    if nbytes:
        yield from (Send(panel, name, child, nbytes) for child in at.children)


def reduction(at: Branch, panel: int, name: str, nbytes: Callable[[int | None], int], merge: Work) -> Iterator[Step]:
    """Receive from the children, merge, send to the parent. `nbytes` is of a child's message, or of the own (None)."""
    for child in reversed(at.children):
        if nbytes(child):
            yield Receive(panel, name, child, nbytes(child))
            yield merge
    if at.parent is not None and nbytes(None):
        yield Send(panel, name, at.parent, nbytes(None))


@dataclass(frozen=True)
class Place:
    """A process of a grid, and its neighbours."""

    layout: Layout
    p: int
    q: int

    def rank_of(self, p: int, q: int) -> int:
        """Rank of a process."""
        return p * self.layout.grid[1] + q

    @property
    def rank(self) -> int:
        """Its own rank."""
        return self.rank_of(self.p, self.q)

    def in_row(self, q: int) -> Branch:
        """Its position in the tree of its process row, with the root in process column `q`."""
        members = [self.rank_of(self.p, one) for one in range(self.layout.grid[1])]
        return branch(members, self.rank_of(self.p, q), self.rank)

    def in_column(self, p: int) -> Branch:
        """Its position in the tree of its process column, with the root in process row `p`."""
        members = [self.rank_of(one, self.q) for one in range(self.layout.grid[0])]
        return branch(members, self.rank_of(p, self.q), self.rank)

    def in_grid(self, root: int) -> Branch:
        """Its position in the tree of all processes."""
        P, Q = self.layout.grid
        return branch(range(P * Q), root, self.rank)

    def owner(self, panel: int) -> tuple[int, int]:
        """Process that owns a diagonal block."""
        P, Q = self.layout.grid
        return panel % P, panel % Q

    def block_rows(self, panel: int) -> slice:
        """Its local rows of a diagonal block; none if another process row has it."""
        return slice(*(self.layout.rows_below(k, self.p) for k in self.layout.span(panel)))

    def block_columns(self, panel: int) -> slice:
        """Its local columns of a panel; none if another process column has it."""
        return slice(*(self.layout.columns_below(k, self.q) for k in self.layout.span(panel)))


@dataclass(frozen=True)
class PLU(Place):
    """Steps of the factorisation for one process.

    `layout`: of the matrix. `p`, `q`: the process.
    """

    variant: str = "tournament"  # a key of `VARIANTS`
    look_ahead: bool = True  # find the pivots of the next panel while the engine updates

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        for panel in range(self.layout.panels):
            if panel == 0:
                yield from self.panel(0)
            yield from self.spread(panel)
            yield from self.exchange(panel)
            yield from self.update(panel)
        yield Work(self.layout.panels, "assemble")

    def sizes(self, panel: int) -> tuple[int, int, int, int]:
        """Width of a panel; rows below its block that this process owns; columns right, and left, of the panel."""
        start, stop = self.layout.span(panel)
        below, right = self.layout.rows_from(stop, self.p), self.layout.columns_from(stop, self.q)
        return stop - start, below, right, self.layout.columns_below(start, self.q)

    def next_width(self, panel: int) -> int:
        """Columns of the next panel, if this process column has it, else 0."""
        mine = panel + 1 < self.layout.panels and self.owner(panel + 1)[1] == self.q
        return self.layout.width(panel + 1) if mine else 0

    def _offered(self, panel: int, rank: int | None) -> int:
        """Count the rows that a rank (None: this one), including its subtree, offers to its parent: b at most."""
        p = self.p if rank is None else rank // self.layout.grid[1]
        there = Place(self.layout, p, self.q)
        below = sum(self._offered(panel, child) for child in there.in_column(self.owner(panel)[0]).children)
        return min(self.layout.width(panel), self.layout.rows_from(self.layout.span(panel)[0], p) + below)

    def panel(self, panel: int) -> Iterator[Step]:
        """Find the pivots of a panel, and compute L."""
        pk, qk = self.owner(panel)
        if self.q != qk:
            return
        start, _ = self.layout.span(panel)
        b, below, _, _ = self.sizes(panel)
        if panel:
            yield Await(panel - 1, "update panel")
        at, rows = self.in_column(pk), self.layout.rows_from(start, self.p)
        variant = self.pivoting
        if variant == "tournament":
            yield Work(panel, "candidates", flop=rows * b * b)
            match = Work(panel, "match", flop=2 * b**3)
            row = FLOAT * b + INDEX
            yield from reduction(at, panel, "candidates", lambda child: row * self._offered(panel, child), match)
        elif variant == "partial":
            for p in range(self.layout.grid[0]) if self.p == pk else ():
                if p != pk and (more := self.layout.rows_from(start, p)):
                    yield Receive(panel, "column", self.rank_of(p, self.q), FLOAT * more * b)
                    yield Work(panel, "hear column")
            if self.p != pk and rows:
                yield Work(panel, "part")
                yield Send(panel, "column", self.rank_of(pk, self.q), FLOAT * rows * b)
        if self.p == pk:
            whole = self.layout.shape[0] - start if variant == "partial" else rows
            flop = whole * b * b if variant != "tournament" else 0
            yield Work(panel, "pivots", flop=flop + 2 * b**3 // 3)
        yield from broadcast(at, panel, "pivots", INDEX * b + 2 * FLOAT * b * b)
        if variant == "partial":
            yield from self._factors(panel)
        yield Work(panel, "multipliers", flop=0 if variant == "partial" else below * b * b)
        yield from (Send(panel, "L", child, self._spread(panel)) for child in self.in_row(qk).children)

    @property
    def pivoting(self) -> str:
        """Pivoting variant that is executed."""
        return self.variant

    def _factors(self, panel: int) -> Iterator[Step]:
        """Send each process its rows of L, from the one that has pivoted partially."""
        (pk, _), (_, stop) = self.owner(panel), self.layout.span(panel)
        b, below, _, _ = self.sizes(panel)
        if self.p != pk and below:
            yield Receive(panel, "factors", self.rank_of(pk, self.q), FLOAT * below * b)
        for p in range(self.layout.grid[0]) if self.p == pk else ():
            if p != pk and (rows := self.layout.rows_from(stop, p)):
                yield Work(panel, "cut factors", peer=p)
                yield Send(panel, "factors", self.rank_of(p, self.q), FLOAT * rows * b)

    def _spread(self, panel: int) -> int:
        """Bytes of a panel of L, with the pivots, and with the diagonal block for processes that compute U."""
        b, below, _, _ = self.sizes(panel)
        return INDEX * b + FLOAT * b * (below + (b if self.p == self.owner(panel)[0] else 0))

    def spread(self, panel: int) -> Iterator[Step]:
        """Receive L, and send it along the row."""
        at = self.in_row(self.owner(panel)[1])
        if at.parent is not None:
            yield from broadcast(at, panel, "L", self._spread(panel))

    def exchange(self, panel: int) -> Iterator[Step]:
        """Exchange rows in the process column, and compute U."""
        pk = self.owner(panel)[0]
        b, _, right, left = self.sizes(panel)
        yield Work(panel, "take rows", bus=FLOAT * b * right * (2 if self.p == pk else 1), engine=True)
        yield Await(panel, "take rows")
        yield Work(panel, "pack rows")
        at, merge = self.in_column(pk), Work(panel, "merge")
        rows = FLOAT * b * (left + right)
        yield from reduction(at, panel, "rows", lambda child: rows, merge)
        if self.p == pk:
            yield Work(panel, "solve U", flop=b * b * right)
        yield from broadcast(at, panel, "U", FLOAT * b * (left + 2 * right))
        yield Work(panel, "put rows")

    def update(self, panel: int) -> Iterator[Step]:
        """Queue the product, the columns of the next panel first."""
        b, below, right, _ = self.sizes(panel)
        follows, first = panel + 1 < self.layout.panels, self.next_width(panel)
        if first:
            bus = FLOAT * (2 * below * first + b * (below + right))
            yield Work(panel, "update panel", flop=2 * below * b * first, bus=bus, engine=True)
        bus = 0 if first else FLOAT * b * (below + right)
        yield Work(panel, "update rest", flop=2 * below * b * (right - first), bus=bus, engine=True)
        if not self.look_ahead or not follows:
            yield Await(panel, "update rest")
        if follows:
            yield from self.panel(panel + 1)


@dataclass(frozen=True)
class ColumnPLU(PLU):
    """Steps with one process row: a process has whole columns, and pivots partially."""

    @property
    def pivoting(self) -> str:
        """Pivoting variant that is executed: all rows of a panel are local."""
        return "partial"

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        m, n = self.layout.local_shape(self.p, self.q)
        yield Work(0, "load", bus=FLOAT * m * n, engine=True)
        yield from super().steps()

    def panel(self, panel: int) -> Iterator[Step]:
        """Find the pivots of a panel, and compute L."""
        if self.q != self.owner(panel)[1]:
            return
        b, below, _, _ = self.sizes(panel)
        if panel:
            yield Await(panel - 1, "update panel")
        yield Work(panel, "pivots", flop=below * b * b + 2 * b**3 // 3)
        yield from (Send(panel, "L", child, self._spread(panel)) for child in self.in_row(self.q).children)

    def exchange(self, panel: int) -> Iterator[Step]:
        """Exchange rows on the engine, which has L from then on, and compute U."""
        b, below, right, _ = self.sizes(panel)
        bus = FLOAT * b * (below + b) if right else 0
        yield Work(panel, "exchange rows", flop=b * b * right, bus=bus, engine=True)

    def update(self, panel: int) -> Iterator[Step]:
        """Queue the product, the columns of the next panel first; store L and U, and find the next panel's pivots."""
        b, below, right, left = self.sizes(panel)
        follows, first = panel + 1 < self.layout.panels, self.next_width(panel)
        if first:
            yield Work(panel, "update panel", flop=2 * below * b * first, bus=FLOAT * below * first, engine=True)
        yield Work(panel, "update rest", flop=2 * below * b * (right - first), engine=True)
        own = b * (below + b) if self.q == self.owner(panel)[1] else 0
        yield Work(panel, "store L", memory=FLOAT * (2 * b * left + own))
        if not self.look_ahead or not follows:
            yield Await(panel, "update rest")
        if self.look_ahead and panel:
            yield from self._store(panel - 1)
        if not self.look_ahead or not follows:
            yield from self._store(panel)
        if follows:
            yield from self.panel(panel + 1)

    def _store(self, panel: int) -> Iterator[Step]:
        b, _, right, _ = self.sizes(panel)
        yield Await(panel, "exchange rows")
        yield Work(panel, "store U", memory=FLOAT * b * right)


def factorisation(layout: Layout, p: int, q: int, variant: str, look_ahead: bool) -> PLU:
    """Steps of the factorisation for one process."""
    kind = ColumnPLU if layout.grid[0] == 1 else PLU
    return kind(layout, p, q, variant, look_ahead)


@dataclass(frozen=True)
class Product(Place):
    """Steps of a product C = A B for one process: SUMMA (van de Geijn and Watts 1997). `layout` is that of C."""

    inner: int = 0  # columns of A, rows of B

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        nb, (rows, columns) = self.layout.nb, self.layout.local_shape(self.p, self.q)
        panels = -(-self.inner // nb)
        for panel in range(panels):
            b = min(nb, self.inner - panel * nb)
            for ahead in range(panel + 1 if panel else 0, min(panel + 2, panels)):
                yield from self.moved(ahead, root=True)
            yield from self.moved(panel, root=False)
            if panel > 1:
                yield Await(panel - 2, "product")
            yield Work(panel, "product", flop=2 * rows * b * columns, bus=FLOAT * b * (rows + columns), engine=True)
        yield Work(panels, "assemble", bus=FLOAT * rows * columns, engine=True)
        yield Await(panels, "assemble")

    def moved(self, panel: int, root: bool) -> Iterator[Step]:
        """Send the own parts of a panel, without waiting (`root`), or receive those of others and forward them."""
        (P, Q), (rows, columns) = self.layout.grid, self.layout.local_shape(self.p, self.q)
        b = min(self.layout.nb, self.inner - panel * self.layout.nb)
        for name, at, count in (("A", self.in_row(panel % Q), rows), ("B", self.in_column(panel % P), columns)):
            if root == (at.parent is None):
                if root:
                    yield Work(panel, f"cut {name}", memory=FLOAT * b * count)
                yield from broadcast(at, panel, name, FLOAT * b * count)


@dataclass(frozen=True)
class Substitution(Place):
    """Steps of a substitution with one triangle of the factors. The right-hand sides are the same on every rank.

    Partial sums of a block of rows are added along its process row, its solution is sent to all ranks.
    """

    columns: int = 1  # right-hand sides
    lower: bool = True  # with L, from the first block forwards; else with U, from the last block backwards

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        order = range(self.layout.panels)
        for panel in order if self.lower else reversed(order):
            pk, qk = self.owner(panel)
            start, stop = self.layout.span(panel)
            b = stop - start
            nbytes = DOUBLE * b * self.columns
            if self.p == pk:
                at, add = self.in_row(qk), Work(panel, "add", flop=b * self.columns)
                yield Work(panel, "sums")
                yield from reduction(at, panel, "sums", lambda child, size=nbytes: size, add)  # type: ignore[misc]
            if (self.p, self.q) == (pk, qk):
                yield Work(panel, "substitute", flop=b * b * self.columns)
            yield from broadcast(self.in_grid(self.rank_of(pk, qk)), panel, "x", nbytes)
            below = self.layout.rows_from(stop, self.p) if self.lower else self.layout.rows_below(start, self.p)
            flop = 2 * below * b * self.columns if self.q == qk else 0
            yield Work(panel, "subtract", flop=flop)


OPERATIONS = ("plu", "matmul", "solve")
"""Operations of `plan`, by name."""


def plan(
    operation: str,
    n: int,
    nb: int = 64,
    grid: object = (1, 1),
    *,
    variant: str = "tournament",
    look_ahead: bool = True,
    columns: int = 1,
) -> Schedule:
    """Schedule of an operation on a cluster: the steps of each rank, with bytes and flop. Needs neither MPI nor a GPU.

    Parameters
    ----------
    operation : {"plu", "matmul", "solve"}
        On n x n matrices; "solve" is the factorisation and two substitutions.
    n, nb : int
        Order of the matrices; rows and columns of a block, even.
    grid : (int, int), "PxQ", or int
        The processes; an int is converted to a grid that is nearly square.
    variant : {"tournament", "partial", "local"}
        Pivoting variant.
    look_ahead : bool
        Whether the pivots of the next panel are found while the engine updates.
    columns : int
        Right-hand sides of "solve".

    Returns
    -------
    Schedule
        Print it for every step; `glla.cluster.check` proves that it ends, `glla.cluster.simulate` predicts its times.

    Raises
    ------
    OptionError, ShapeError
        No such operation or variant; invalid sizes.

    Examples
    --------
    >>> print(plan("matmul", 4, 4, (1, 2)))
    matmul of 4 x 4 in blocks of 4 on 1 x 2 processes
    rank 0, process (0, 0): 6 steps, 128 flop, sends 1 messages with 64 bytes, receives 0 with 0
         0  do      cut A         64 B copied
         0  send    A             64 B to rank 1
         0  do      cut B         64 B copied
         0  queue   product       128 flop, 128 B over the bus
         1  queue   assemble      64 B over the bus
         1  await   assemble
    rank 1, process (0, 1): 5 steps, 0 flop, sends 0 messages with 0 bytes, receives 1 with 64
         0  do      cut B
         0  receive A             64 B from rank 0
         0  queue   product       64 B over the bus
         1  queue   assemble
         1  await   assemble
    """
    one_of("plan: operation", operation, OPERATIONS)
    one_of("plan: variant", variant, VARIANTS)
    if n < 0 or columns < 0:
        raise ShapeError(f"plan: n and columns must not be negative, got {n} and {columns}")
    layout = Layout((n, n), nb, grid_shape("plan", grid))
    P, Q = layout.grid

    def steps(p: int, q: int) -> Iterator[Step]:
        if operation == "matmul":
            yield from Product(layout, p, q, n).steps()
        else:
            yield from factorisation(layout, p, q, variant, look_ahead).steps()
        for lower in (True, False) if operation == "solve" else ():
            yield from Substitution(layout, p, q, columns, lower).steps()

    how = "" if operation == "matmul" else f", {variant} pivoting{', look-ahead' if look_ahead else ''}"
    title = f"{operation} of {n} x {n} in blocks of {nb} on {P} x {Q} processes{how}"
    return Schedule(title, layout.grid, tuple(tuple(steps(p, q)) for p in range(P) for q in range(Q)))
