"""The work of a rank in the smaller algorithms: products, substitutions, sums over all ranks, gathering a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.cluster.algorithms import Place, Product, Substitution, broadcast, reduction
from glla.cluster.engines import Engine
from glla.cluster.execute import Actor, pack, unpack
from glla.cluster.steps import Receive, Send, Step, Work

F, D = np.float32, np.float64
Double = NDArray[np.float64]


class Multiplying(Actor):
    """Product C = A B, a panel of A's columns and B's rows at a time."""

    def __init__(self, steps: Product, a: Float32, b: Float32, engine: Engine) -> None:
        super().__init__()
        self.at, self._a, self._b = steps, a, b
        self._rows, self._columns = steps.layout.local_shape(steps.p, steps.q)
        self._sum = engine.sum(self._rows, self._columns)
        self.result = np.empty((0, 0), dtype=F)

    def _width(self, panel: int) -> int:
        nb = self.at.layout.nb
        return min(nb, self.at.inner - panel * nb)

    def cut_A(self, panel: int) -> None:
        """Pack the own columns of A."""
        left = panel // self.at.layout.grid[1] * self.at.layout.nb
        self.slots["A", panel] = pack(self._a[:, left : left + self._width(panel)])

    def cut_B(self, panel: int) -> None:
        """Pack the own rows of B."""
        top = panel // self.at.layout.grid[0] * self.at.layout.nb
        self.slots["B", panel] = pack(self._b[top : top + self._width(panel)])

    def product(self, panel: int) -> Future[Any]:
        """Add the product of a panel."""
        b, none = self._width(panel), np.empty(0, dtype=np.uint8)
        left = unpack(self.slots.get(("A", panel), none), (F, (self._rows, b)))[0]
        right = unpack(self.slots.get(("B", panel), none), (F, (b, self._columns)))[0]
        return self._sum.add(left, right)

    def assemble(self, panel: int) -> Future[Float32]:
        """Read back the sum."""
        return self._sum.read()

    def take(self, name: str, result: Any) -> None:
        """Keep the sum."""
        if name == "assemble":
            self.result = result


class Substituting(Actor):
    """Solution of a triangular system with the packed factors, in float64 on the host.

    `steps`: its position and its steps. `packed`: own part of the factors. `b`, (n, k): right-hand sides, the same on
    all ranks. `x` starts as a copy.
    """

    def __init__(self, steps: Substitution, packed: Float32, b: Double) -> None:
        super().__init__()
        self.at, self._packed = steps, packed
        self.x = b.copy()
        self._subtracted = np.zeros((len(packed), b.shape[1]))

    def sums(self, panel: int) -> None:
        """Pack the sums to subtract of the own columns."""
        self.slots["sums", panel] = pack(self._subtracted[self.at.block_rows(panel)])

    def add(self, panel: int) -> None:
        """Add the sums of another rank."""
        total = self.slots["sums", panel].view(D)
        total += self.heard[1].view(D)

    def substitute(self, panel: int) -> None:
        """Solve with the diagonal block."""
        from scipy.linalg import solve_triangular

        start, stop = self.at.layout.span(panel)
        right = self.x[start:stop] - self.slots["sums", panel].view(D).reshape(stop - start, -1)
        block = self._packed[self.at.block_rows(panel), self.at.block_columns(panel)].astype(D)
        lower = self.at.lower
        x = solve_triangular(block, right, lower=lower, unit_diagonal=lower, check_finite=False)
        self.slots["x", panel] = pack(x)

    def subtract(self, panel: int) -> None:
        """Subtract the products with a part of the solution."""
        start, stop = self.at.layout.span(panel)
        if ("x", panel) not in self.slots:
            return  # there are no right-hand sides
        x = self.slots["x", panel].view(D).reshape(stop - start, -1)
        self.x[start:stop] = x
        if self.at.q == self.at.owner(panel)[1]:
            rows = self.at.block_rows(panel)
            rest = slice(rows.stop, None) if self.at.lower else slice(0, rows.start)
            self._subtracted[rest] += self._packed[rest, self.at.block_columns(panel)].astype(D) @ x


class Total(Actor):
    """All-reduce of an array, its sum over all ranks or its elementwise maximum: up a tree and down."""

    def __init__(self, at: Place, values: Double, largest: bool) -> None:
        super().__init__()
        self._at, self._shape = at, values.shape
        self._combine = np.maximum if largest else np.add
        self.slots["part", 0] = self.slots["total", 0] = pack(values)  # the root adds in place

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        at, nbytes = self._at.in_grid(0), self.slots["part", 0].nbytes
        yield from reduction(at, 0, "part", lambda child: nbytes, Work(0, "add"))
        yield from broadcast(at, 0, "total", nbytes)

    def add(self, panel: int) -> None:
        """Combine with the array of another rank."""
        own = self.slots["part", panel].view(D)
        self._combine(own, self.heard[1].view(D), out=own)

    @property
    def result(self) -> Double:
        """The result on all ranks."""
        return self.slots["total", 0].view(D).reshape(self._shape)


class _Moving(Actor):
    """A matrix that moves between one rank, the root, and all."""

    def __init__(self, at: Place, root: int, whole: NDArray[Any] | None, dtype: Any) -> None:
        super().__init__()
        self._at, self._root, self.whole, self._dtype = at, root, whole, np.dtype(dtype)

    def _part(self, rank: int) -> tuple[NDArray[Any], ...]:
        """Indices of a rank's part."""
        p, q = divmod(rank, self._at.layout.grid[1])
        return np.ix_(self._at.layout.rows(p), self._at.layout.columns(q))

    def _shape(self, rank: int) -> tuple[int, int]:
        return self._at.layout.local_shape(*divmod(rank, self._at.layout.grid[1]))

    def _others(self) -> Iterator[tuple[int, int]]:
        """Other ranks than the root that have a part, and its bytes."""
        P, Q = self._at.layout.grid
        for rank in range(P * Q):
            m, n = self._shape(rank)
            if rank != self._root and m * n:
                yield rank, m * n * self._dtype.itemsize

    def _received(self, shape: tuple[int, int]) -> NDArray[Any]:
        """Read the received matrix, which may be empty."""
        data = self.slots.get(("whole", 0), np.empty(0, dtype=np.uint8))
        found: NDArray[Any] = unpack(data, (self._dtype, shape))[0]
        return found


class Gather(_Moving):
    """A matrix that is gathered on one rank; with `root` None on rank 0, which broadcasts it."""

    def __init__(self, at: Place, values: NDArray[Any], root: int | None) -> None:
        whole = np.empty(at.layout.shape, values.dtype) if at.rank == (root or 0) else None
        super().__init__(at, root or 0, whole, values.dtype)
        self._to_all = root is None
        self.slots["local", 0] = pack(values)
        if whole is not None:
            whole[self._part(at.rank)] = values

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        at, others = self._at, dict(self._others())
        if at.rank == self._root:
            for rank, nbytes in others.items():
                yield Receive(0, "local", rank, nbytes)
                yield Work(0, "place")
            if self._to_all:
                yield Work(0, "pack whole")
        elif at.rank in others:
            yield Send(0, "local", self._root, others[at.rank])
        if self._to_all:
            m, n = at.layout.shape
            yield from broadcast(at.in_grid(self._root), 0, "whole", m * n * self._dtype.itemsize)

    def place(self, panel: int) -> None:
        """Insert the part of another rank."""
        source, data = self.heard
        assert self.whole is not None
        self.whole[self._part(source)] = unpack(data, (self._dtype, self._shape(source)))[0]

    def pack_whole(self, panel: int) -> None:
        """Pack the matrix for the others."""
        assert self.whole is not None
        self.slots["whole", 0] = pack(self.whole)

    @property
    def result(self) -> NDArray[Any] | None:
        """The matrix; None on ranks that do not get it."""
        return self._received(self._at.layout.shape) if self._to_all and self.whole is None else self.whole


class Scatter(_Moving):
    """A matrix of one rank that is scattered."""

    def steps(self) -> Iterator[Step]:
        """Yield all steps in order."""
        others = dict(self._others())
        for rank, nbytes in others.items() if self._at.rank == self._root else ():
            yield Work(0, "cut", peer=rank)
            yield Send(0, "whole", rank, nbytes)
        if self._at.rank in others:
            yield Receive(0, "whole", self._root, others[self._at.rank])

    def cut(self, panel: int, rank: int) -> None:
        """Pack the part of a rank."""
        assert self.whole is not None
        self.slots["whole", 0] = pack(self.whole[self._part(rank)])

    @property
    def result(self) -> NDArray[Any]:
        """The part of this rank."""
        rank = self._at.rank
        return self._received(self._shape(rank)) if self.whole is None else self.whole[self._part(rank)]
