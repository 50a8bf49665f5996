"""A grid of processes, and distributed matrices."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla._version import __version__
from glla.array.convert import Float32
from glla.cluster import engines, lapack, mpi
from glla.cluster.algorithms import Place
from glla.cluster.engines import Engine
from glla.cluster.execute import Actor, Failure, execute
from glla.cluster.lapack import extreme
from glla.cluster.layout import Layout, grid_shape, near_square
from glla.cluster.messages import Channel
from glla.cluster.model import Event
from glla.cluster.parts import Double, Gather, Scatter, Total
from glla.cluster.steps import Step
from glla.errors import ClusterError, DTypeError, NonFiniteError, OptionError, ShapeError, integer, real
from glla.hybrid.cores import for_blas

BLOCK = 64
"""Default number of rows and columns of a block."""


class Grid:
    """P x Q processes, each with an engine; made by `grid`. A context manager.

    Attributes
    ----------
    rank, size : int
        Number of this process, and number of processes.
    shape : (int, int)
        P and Q.
    p, q : int
        Row and column of this process: ``divmod(rank, Q)``.
    events : list or None
        While `trace` records: the events of this process.
    """

    def __init__(self, channel: Channel, shape: tuple[int, int], own: Engine, look_ahead: bool) -> None:
        self.channel, self.shape, self.engine = channel, shape, own
        self.rank, self.size = channel.rank, channel.size
        self.p, self.q = divmod(channel.rank, shape[1])
        self.look_ahead = look_ahead
        self.events: list[Event] | None = None

    def __repr__(self) -> str:
        P, Q = self.shape
        return f"<glla.cluster.Grid: {P} x {Q} processes, this is ({self.p}, {self.q}), with {self.engine.name}>"

    def __enter__(self) -> Grid:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the engine. It does not wait for other ranks."""
        self.engine.close()

    @property
    def sent(self) -> tuple[int, int]:
        """Messages and bytes that this rank has sent."""
        return self.channel.sent, self.channel.sent_bytes

    @property
    def received(self) -> tuple[int, int]:
        """Messages and bytes that this rank has received."""
        return self.channel.received, self.channel.received_bytes

    # -- operations

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Raise an error of one rank on all ranks. The block ends when all ranks have reached its end."""
        self.channel.begin()
        try:
            with self._cores():
                yield
            self.total(np.zeros(1))
            self.channel.finish()
        except BaseException as error:
            cause, panel = (error.error, error.panel) if isinstance(error, Failure) else (error, 0)
            if self.size == 1:
                raise cause from None
            verdict = self.channel.fail(cause, panel)
            if not isinstance(cause, Exception):  # Ctrl-C: the others are informed
                raise cause from None
            raise verdict from cause

    def _cores(self) -> AbstractContextManager[Any]:
        """Limit BLAS to this rank's share of the cores: all ranks of a machine call it at the same time."""
        communicator = self.channel.communicator
        if communicator.one_process:  # BLAS has one setting for all of them
            return nullcontext()
        return for_blas(communicator.host[1], left=int(self.engine.asynchronous))

    def run(self, steps: Iterator[Step], actor: Actor) -> None:
        """Execute the steps of this rank, within an `operation`."""
        execute(self.channel, tuple(steps), actor, self.events)

    def total(self, values: Double, largest: bool = False) -> Double:
        """Sum an array over all ranks, or take the maximum, on all ranks. Within an `operation`."""
        actor = Total(Place(Layout((0, 0), 2, self.shape), self.p, self.q), values, largest)
        self.run(actor.steps(), actor)
        return actor.result

    def alike(self, data: bytes) -> bool:
        """Whether all ranks give the same bytes; within an `operation`."""
        digest = np.frombuffer(hashlib.sha256(data).digest()[:24], dtype=np.uint32).astype(np.float64)
        largest = self.total(np.concatenate([digest, -digest]), largest=True)
        return np.array_equal(largest[: len(digest)], -largest[len(digest) :])

    def collect(self, data: bytes) -> list[bytes]:
        """Gather some bytes of every rank on rank 0; the others get an empty list. Within an `operation`."""
        lengths = np.zeros(self.size)
        lengths[self.rank] = len(data)
        lengths = self.total(lengths)
        if self.rank:
            if data:
                self.channel.send("local", np.frombuffer(data, dtype=np.uint8), 0)
            return []
        found = [data]
        for rank, length in enumerate(lengths[1:].astype(int).tolist(), 1):
            coming = self.channel.expect("local", length, rank) if length else None
            found.append(self.channel.receive(coming, "local", rank).tobytes() if coming else b"")
        return found

    def describe(self) -> dict[str, Any]:
        """Describe this rank: its number, its process of the grid, machine, engine, and the GPU's CUDA index."""
        return {
            "rank": self.rank,
            "process": (self.p, self.q),
            "machine": platform.node(),
            "number_on_machine": self.channel.communicator.host[0],
            "ranks_on_machine": self.channel.communicator.host[1],
            "engine": self.engine.name,
            "cuda": self.engine.cuda,
        }


def grid(
    comm: Any = None,
    shape: object = None,
    *,
    engine: str = "glla",
    device: str | int | None = None,
    timeout: float = 60.0,
    grace: float = 10.0,
    look_ahead: bool | None = None,
) -> Grid:
    """Make a grid of all ranks; called by all of them with equal arguments.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        By default all ranks started by ``mpiexec``, or this process alone.
    shape : (int, int) or "PxQ", optional
        By default nearly square, P <= Q. PLU on GPUs is fastest with one row, (1, N).
    engine : {"glla", "numpy"}
        Engine of products: a device in a coprocessor's thread, or NumPy.
    device : str or int, optional
        For "glla": "software", "hardware" or an index. By default the GPUs of each machine are distributed over its
        ranks; without GPUs each rank has a software rasteriser. ``GLLA_DEVICE`` overrides it.
    timeout, grace : float
        Seconds that a rank waits for a message before it checks whether all are alive, and that they have to answer.
    look_ahead : bool, optional
        Factor the next panel while the engine updates; by default if the engine works in parallel with the host.

    Returns
    -------
    Grid
        A context manager, which releases the device.

    Raises
    ------
    ClusterError
        mpi4py or SciPy is missing; mpi4py uses another MPI than the launcher; a rank has other options or another glla.
    OptionError
        The shape has another number of processes than there are ranks.
    ContextError
        A rank finds no OpenGL; all raise it.

    Notes
    -----
    If a rank raises, dies or hangs within an operation of the grid, all other ranks raise the same error, which names
    it, within ``timeout + grace`` seconds and the time of a step on their host; mpiexec of MPICH and Open MPI ends all
    ranks when one is killed, which is sooner. ``mpiexec -n 4 python -m mpi4py program.py`` also ends all ranks on an
    uncaught error.

    Examples
    --------
    >>> with grid(engine="numpy") as alone:
    ...     alone
    <glla.cluster.Grid: 1 x 1 processes, this is (0, 0), with NumPy>
    """
    lapack.check_scipy()
    for name, value in (("timeout", timeout), ("grace", grace)):
        if not real("grid", name, value) > 0:
            raise OptionError(f"grid: {name} must be a number of seconds above 0, got {value!r}")
    channel = Channel(mpi.communicator(comm), float(timeout), float(grace))
    P, Q = near_square(channel.size) if shape is None else grid_shape("grid", shape)
    if channel.size != P * Q:
        raise OptionError(
            f"grid: shape must have as many processes as there are ranks, got {P} x {Q} for {channel.size}"
        )
    found = Grid(channel, (P, Q), engines.Host(), False)
    try:
        with found.operation():  # a rank without a device ends it on all ranks
            found.engine = engines.engine(engine, device, channel.communicator.host)
        found.look_ahead = found.engine.asynchronous if look_ahead is None else look_ahead
        options = repr((__version__, P, Q, engine, timeout, grace, found.look_ahead))
        with found.operation():
            if not found.alike(options.encode()):
                raise ClusterError(f"grid: ranks differ in glla's version or in options, this one has {options}")
    except BaseException:
        found.close()
        raise
    return found


class DistributedMatrix:
    """A block-cyclic matrix, distributed over the processes of a grid.

    Each holds its part in host memory, as NumPy's array `local`; an engine uploads the parts that it needs.

    Parameters
    ----------
    grid : Grid
        The grid.
    layout : Layout
        Shape, block size, processes.
    local : ndarray of float32 or float64
        This rank's part.
    """

    __array_ufunc__ = None

    def __init__(self, grid: Grid, layout: Layout, local: NDArray[Any]) -> None:
        self.grid, self.layout, self.local = grid, layout, local

    # -- made

    @classmethod
    def from_function(
        cls, grid: Grid, function: Callable[..., Any], shape: tuple[int, int], nb: int = BLOCK
    ) -> DistributedMatrix:
        """Make a matrix from a function of its indices: every rank calls it for its own part. Nothing is sent.

        Parameters
        ----------
        grid : Grid
            The grid.
        function : callable
            Called with global rows as a column and global columns as a row, as int64; its result is broadcast to both.
        shape : (int, int)
            Rows and columns.
        nb : int
            Rows and columns of a block, even.

        Raises
        ------
        NonFiniteError, DTypeError, ShapeError
            The function returns no finite real numbers, or an array of another shape. All ranks raise it.

        Examples
        --------
        >>> import glla
        >>> with glla.cluster.grid(engine="numpy") as alone:
        ...     A = glla.cluster.DistributedMatrix.from_function(alone, lambda i, j: 10 * i + j, (2, 3))
        >>> A.local
        array([[ 0.,  1.,  2.],
               [10., 11., 12.]], dtype=float32)
        """
        layout = Layout(shape, nb, grid.shape)
        with grid.operation():
            rows, columns = layout.rows(grid.p), layout.columns(grid.q)
            given = np.asarray(function(rows[:, None], columns[None, :]))
            local = layout.local_shape(grid.p, grid.q)
            try:
                given = np.broadcast_to(given, local)
            except ValueError:
                raise ShapeError(
                    f"from_function: the function must give what broadcasts to {local}, got shape {given.shape}"
                ) from None
            return cls(grid, layout, _alike(grid, layout, _checked("from_function", given)))

    @classmethod
    def load(cls, grid: Grid, array: Any, nb: int = BLOCK) -> DistributedMatrix:
        """Copy the own part of an array that every rank has, or can read: a memory map, or a file of NumPy's (.npy)."""
        if isinstance(array, str | Path):
            array = np.load(array, mmap_mode="r", allow_pickle=False)
        if getattr(array, "ndim", None) != 2:
            raise ShapeError(f"load: the array must have two dimensions, got shape {np.shape(array)}")
        return cls.from_function(grid, lambda i, j: array[i, j], array.shape, nb)

    @classmethod
    def scatter(cls, grid: Grid, array: Any, nb: int = BLOCK, root: int = 0) -> DistributedMatrix:
        """Scatter an array of one rank; the others pass None."""
        _check_root("scatter", grid, root)
        with grid.operation():
            whole = None
            if grid.rank == root:
                if array is None:
                    raise DTypeError(f"scatter: rank {root} must have the array, got None there; see root")
                whole = _checked("scatter", np.asarray(array))
                if whole.ndim != 2:
                    raise ShapeError(f"scatter: the array must have two dimensions, got shape {whole.shape}")
            known = np.zeros(3) if whole is None else np.array([*whole.shape, whole.itemsize], dtype=np.float64)
            m, n, itemsize = map(int, grid.total(known))
            layout = Layout((m, n), nb, grid.shape)
            actor = Scatter(Place(layout, grid.p, grid.q), root, whole, np.float32 if itemsize == 4 else np.float64)
            grid.run(actor.steps(), actor)
            return cls(grid, layout, actor.result)

    # -- properties

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32, or float64 if the source has more digits; factors and products are float32."""
        return self.local.dtype

    @property
    def descriptor(self) -> tuple[int, ...]:
        """ScaLAPACK's nine integers, for ``local.ravel("F")`` on a row-major grid."""
        return self.layout.descriptor(self.grid.p)

    def __repr__(self) -> str:
        (m, n), (P, Q) = self.shape, self.layout.grid
        return f"<glla.cluster.DistributedMatrix: {m} x {n}, blocks of {self.layout.nb}, {P} x {Q} processes>"

    def gather(self, root: int | None = None) -> NDArray[Any] | None:
        """Return the whole matrix: to all ranks, or to one of them (None on the others)."""
        if root is not None:
            _check_root("gather", self.grid, root)
        with self.grid.operation():
            return self.gathered(root)

    def gathered(self, root: int | None = None) -> NDArray[Any] | None:
        """Return the whole matrix as `gather` does, within an `operation`."""
        actor = Gather(Place(self.layout, self.grid.p, self.grid.q), self.local, root)
        self.grid.run(actor.steps(), actor)
        return actor.result

    def float32(self, function: str, copy: bool = True) -> Float32:
        """Copy of this rank's part in float32; or the part itself, if it is float32 and not written to.

        Raises
        ------
        NonFiniteError
            A value is too large for float32.
        """
        with np.errstate(over="ignore"):
            values = self.local.astype(np.float32, copy=copy)
        if self.dtype != np.float32 and not np.isfinite(extreme(values)):  # float32 values were checked before
            raise NonFiniteError(f"{function}: a value does not fit float32; scale the matrix")
        return values


def _check_root(function: str, grid: Grid, root: Any) -> None:
    if not 0 <= integer(function, "root", root) < grid.size:
        raise OptionError(f"{function}: root must be a rank from 0 to {grid.size - 1}, got {root}")


def _alike(grid: Grid, layout: Layout, local: NDArray[Any]) -> NDArray[Any]:
    """Parts of one dtype on all ranks: float64 if one of them needs it.

    Raises ShapeError: ranks differ in shape or blocks.
    """
    sizes = [*layout.shape, layout.nb]
    largest = grid.total(np.array([local.itemsize, *sizes, *(-one for one in sizes)], dtype=np.float64), largest=True)
    if not np.array_equal(largest[1:4], -largest[4:]):
        raise ShapeError(
            f"cluster: all ranks must give the same shape and nb, this one gives {layout.shape}, {layout.nb}"
        )
    return local.astype(np.float64 if largest[0] == 8 else np.float32, copy=False)


def _checked(function: str, given: NDArray[Any]) -> NDArray[Any]:
    """Convert real finite numbers to float32, or to float64 if they have more digits."""
    if given.dtype.kind not in "biuf":
        raise DTypeError(f"{function}: values must be real numbers, got {given.dtype}")
    exact = given.dtype.kind in "bf" and given.dtype.itemsize <= 4
    found: NDArray[Any]
    if exact:
        found = np.array(given, dtype=np.float32, order="C")
    else:
        wide = np.array(given, dtype=np.float64, order="C")
        with np.errstate(over="ignore"):
            narrow = wide.astype(np.float32)
        found = narrow if np.array_equal(narrow, wide) else wide
    if not np.isfinite(found).all():
        raise NonFiniteError(f"{function}: values must be finite")
    return found
