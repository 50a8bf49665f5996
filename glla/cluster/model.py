"""Predicted time of a factorisation on a cluster: nine measured numbers and a sum over the block columns.

For block column k with b columns, m remaining rows and c remaining columns, on P x Q processes::

    panel   2 m b^2 / (P panel_rate) + log2 P (latency + 4 b^2 / network + 4/3 b^3 / panel_rate) + 8 m b / (P bus);
            with P = 1 there is no tournament: m b^2 in place of 2 m b^2, and 4 m b in place of 8 m b
    bcast   log2 Q latency + 4 m b min(2, Q - 1) / (P network) + log2 P latency + 4 b c min(2, P - 1) / (Q network)
    swap    2 log2 P latency + 8 b c / Q (1 / network + 1 / bus) + 4 b c / (Q bus)  if P > 1,  + 4 m b / (P bus)
            + b^2 c / (Q triangle_rate)
    update  2 m b c / (P Q rate); on an engine beside the host no less than two steps' issue, and U no less than one's

    time  = sum of swap + max(update, panel + bcast) with look-ahead, of their sum without;
            with P = 1 the matrix is uploaded to the engines during the first panel: 4 n^2 / (Q bus)

`simulate` runs the schedule of every rank instead, message by message, with the same numbers, and with the host's
overhead: copies in its memory, and Python, which takes as long for a small step as for a large one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import ceil, inf, isinf, log2
from typing import NamedTuple

from glla.cluster.layout import grid_shape
from glla.cluster.steps import Await, Schedule, Send, Step, Work
from glla.errors import OptionError, PlanError, ShapeError


@dataclass(frozen=True)
class Parameters:
    """Speeds of a cluster: measured by ``glla cluster bench``, in SI units.

    Parameters
    ----------
    latency : float
        Seconds for an empty message.
    network : float
        Bytes a second between two processes.
    rate : float
        Operations a second of the product A := A - L U on one process's engine.
    panel_rate : float
        Operations per second of the panel's factorisation on its host, including the packing of L.
    triangle_rate : float
        Operations per second of U = L^-1 A, a triangular system with many columns: on the engine with one process row,
        else on its host, including the packing of pivot rows and of U.
    bus : float
        Bytes a second between host and engine; infinite for an engine that works in the host's memory and thread.
    memory : float
        Bytes per second that a thread copies in its memory: the host's, with a GPU a separate one.
    step : float
        Seconds of overhead of each step on a host.
    issue : float
        Seconds to issue a step of the engine, by a separate thread; the engine computes meanwhile.
    """

    latency: float = 5e-6
    network: float = 12e9
    rate: float = 1.3e12
    panel_rate: float = 50e9
    triangle_rate: float = 500e9
    bus: float = 5.5e9
    memory: float = inf
    step: float = 0.0
    issue: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value >= 0 if field.name in ("latency", "step", "issue") else value > 0):
                raise OptionError(f"predict: {field.name} must be a number above 0, got {value!r}")


class Shares(NamedTuple):
    """Seconds of the parts of a factorisation, summed over its block columns; with look-ahead they overlap."""

    update: float
    panel: float
    broadcast: float
    swap: float


@dataclass(frozen=True)
class Prediction:
    """Result of the closed form.

    Parameters
    ----------
    n, nb : int
        Order and width of a block.
    grid : (int, int)
        Processes.
    seconds : float
        Time of the factorisation.
    efficiency : float
        The engines' time for 2/3 n^3 operations without any overhead, divided by `seconds`.
    binds : str
        The part that limits the time.
    shares : Shares
        Seconds of all parts.
    nbytes : int
        Bytes of the matrix on each process.
    """

    n: int
    nb: int
    grid: tuple[int, int]
    seconds: float
    efficiency: float
    binds: str
    shares: Shares
    nbytes: int

    def __str__(self) -> str:
        P, Q = self.grid
        flop = 2 * self.n**3 / 3
        parts = ", ".join(f"{name} {value:.3g}" for name, value in self.shares._asdict().items())
        return (
            f"PLU, n = {self.n}, nb = {self.nb}, {P} x {Q} processes, {self.nbytes / 1e9:.3g} GB each: "
            f"{self.seconds:.4g} s, {flop / self.seconds / 1e9 if self.seconds else 0:.4g} GFLOP/s, "
            f"efficiency {self.efficiency:.2f}\nseconds of the parts: {parts}; what binds: {self.binds}"
        )


def predict(
    n: int, nb: int, grid: object, parameters: Parameters | None = None, *, look_ahead: bool = True
) -> Prediction:
    """Predict the time of a factorisation with tournament pivoting, by the closed form.

    Parameters
    ----------
    n, nb : int
        Order of the matrix, width of a block.
    grid : (int, int), "PxQ", or int
        The processes.
    parameters : Parameters
        By default those of H200 nodes and a network of 100 Gbit/s; the rates of panels and triangles are assumed.
    look_ahead : bool
        Factor the next panel while the engines update.

    Returns
    -------
    Prediction
        A printable record.

    Examples
    --------
    >>> print(predict(131072, 512, (4, 4)))
    PLU, n = 131072, nb = 512, 4 x 4 processes, 4.29 GB each: 86.55 s, 1.734e+04 GFLOP/s, efficiency 0.83
    seconds of the parts: update 72.2, panel 49.2, broadcast 2.87, swap 9.86; what binds: update
    """
    P, Q = grid_shape("predict", grid)
    cluster = Parameters() if parameters is None else parameters
    if n < 1 or nb < 1:
        raise ShapeError(f"predict: n and nb must be at least 1, got {n} and {nb}")
    seconds, sums, hidden = 0.0, [0.0] * 4, [0.0, 0.0]
    for k in range(0, n, nb):
        b = min(nb, n - k)
        parts = _parts(b, (n - k) / P, (n - k - b) / Q, P, Q, cluster)
        chain = parts.panel + parts.broadcast
        if k == 0 and P == 1:
            seconds += max(0.0, 4 * n * n / (Q * cluster.bus) - parts.panel)
        seconds += parts.swap + (max(parts.update, chain) if look_ahead else parts.update + chain)
        hidden[chain > parts.update] += max(parts.update, chain)
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    shares = Shares(*sums)
    engine = 2 * n**3 / 3 / (P * Q * cluster.rate)
    binds = _binding(shares, hidden if look_ahead else None)
    return Prediction(n, nb, (P, Q), seconds, engine / seconds, binds, shares, 4 * n * n // (P * Q))


def _parts(b: int, m: float, c: float, P: int, Q: int, cluster: Parameters) -> Shares:
    """Seconds of one block column; each process has `m` rows and `c` columns left."""
    rounds, hops = ceil(log2(P)), ceil(log2(Q))
    latency, byte, bus, rate = cluster.latency, 1 / cluster.network, 1 / cluster.bus, cluster.panel_rate
    passes = 2 if P > 1 else 1  # a tournament finds the pivots first
    panel = passes * m * b * b / rate + rounds * (latency + 4 * b * b * byte + 4 / 3 * b**3 / rate)
    panel += 4 * passes * m * b * bus
    across = hops * latency + 4 * m * b * byte * min(2, Q - 1)
    down = rounds * latency + 4 * b * c * byte * min(2, P - 1)
    swap = (2 * rounds * latency + 8 * b * c * (byte + bus) + 4 * b * c * bus if P > 1 else 0.0) + 4 * b * m * bus
    swap += max(b * b * c / cluster.triangle_rate, cluster.issue)
    return Shares(max(2 * m * b * c / cluster.rate, 2 * cluster.issue), panel, across + down, swap)


def _binding(shares: Shares, hidden: Sequence[float] | None) -> str:
    """Name the limiting part: with look-ahead the longer side, and of the panels' side its longer part."""
    seconds = shares._asdict()
    if hidden is not None:
        if hidden[0] >= hidden[1]:
            seconds = {name: seconds[name] for name in ("update", "swap")}
        else:
            seconds.pop("update")
    return max(seconds, key=lambda name: seconds[name])


# -- simulation -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """An executed step."""

    rank: int  # its rank
    step: Step  # the step
    start: float  # seconds since the beginning; of a `Receive`, the waiting time
    end: float


@dataclass(frozen=True)
class Simulation:
    """Result of `simulate`.

    Parameters
    ----------
    seconds : float
        End of the last rank.
    waited : tuple of float
        Waiting time of each rank's host for messages, in seconds.
    events : tuple of Event
        All steps, if requested.
    """

    seconds: float
    waited: tuple[float, ...]
    events: tuple[Event, ...]


class _Rank:
    """A host, its engine, the thread that issues its steps, and its network link, with the times when they are free."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps, self.place = steps, 0
        self.host = self.engine = self.copies = self.issued = self.network = self.waited = 0.0
        self.queued: dict[tuple[int, str], float] = {}


def simulate(schedule: Schedule, parameters: Parameters | None = None, *, events: bool = False) -> Simulation:
    """Simulate a schedule: every rank executes its steps as soon as possible.

    Parameters
    ----------
    schedule : Schedule
        Result of `plan`.
    parameters : Parameters
        As in `predict`.
    events : bool
        Keep the events, for a time line.

    Returns
    -------
    Simulation
        Times in seconds.

    Raises
    ------
    PlanError
        The ranks deadlock.

    Notes
    -----
    A rank's messages leave in sequence, each takes ``latency + nbytes / network``; links into a rank are not shared.
    With more than one process row, copies on a host take no time except in the rates of panels and triangles. The
    simulation takes about 1 us per step and more.

    Examples
    --------
    >>> from math import inf
    >>> from glla.cluster import plan
    >>> slow = Parameters(1.0, inf, inf, inf, inf, inf)
    >>> simulate(plan("matmul", 8, 4, (1, 2)), slow).seconds  # two panels, which do not wait for each other
    1.0
    """
    cluster = Parameters() if parameters is None else parameters
    ranks = [_Rank(steps) for steps in schedule.ranks]
    mail: dict[tuple[int, int, str], deque[float]] = {}
    waiting: dict[tuple[int, int, str], int] = {}
    kept: list[Event] = []
    ready = deque(range(len(ranks)))
    while ready:
        number = ready.popleft()
        rank = ranks[number]
        while rank.place < len(rank.steps):
            step, start = rank.steps[rank.place], rank.host
            if isinstance(step, Work):
                start = _work(rank, step, cluster)
            elif isinstance(step, Await):
                rank.host = max(rank.host, rank.queued[step.panel, step.name])
            elif isinstance(step, Send):
                key = (number, step.to, step.name)
                start = max(rank.host, rank.network)
                rank.network = start + step.nbytes / cluster.network
                mail.setdefault(key, deque()).append(rank.network + cluster.latency)
                if key in waiting:
                    ready.append(waiting.pop(key))
            else:
                key = (step.source, number, step.name)
                if not mail.get(key):
                    waiting[key] = number
                    break
                rank.host = max(rank.host, mail[key].popleft())
                rank.waited += rank.host - start
            rank.place += 1
            if events:
                kept.append(Event(number, step, start, _end(rank, step)))
    if any(rank.place < len(rank.steps) for rank in ranks):
        raise PlanError("simulate: ranks wait for messages that never come; glla.cluster.check names them")
    end = max((max(rank.host, rank.engine) for rank in ranks), default=0.0)
    return Simulation(end, tuple(rank.waited for rank in ranks), tuple(kept))


def _work(rank: _Rank, step: Work, cluster: Parameters) -> float:
    """Run work on the host, or queue it; return its start time."""
    triangle = step.name in ("solve U", "exchange rows")
    rate = cluster.triangle_rate if triangle else cluster.rate if step.engine else cluster.panel_rate
    seconds = step.flop / rate + step.bus / cluster.bus
    start = rank.host
    rank.host += cluster.step
    if step.name.startswith("store") and not isinf(cluster.bus):
        rank.copies = max(rank.copies, rank.host) + step.memory / cluster.memory
    else:
        rank.host += step.memory / cluster.memory
    if step.name == "assemble":
        rank.host = max(rank.host, rank.copies)
    if not step.engine:
        rank.host += seconds
        return start
    if isinf(cluster.bus):  # it works in the host's thread
        rank.host += seconds
        rank.queued[step.panel, step.name] = rank.host
        return start
    rank.issued = max(rank.host, rank.issued) + cluster.issue
    start = max(rank.issued - cluster.issue, rank.engine)  # the first draws run while others are issued
    rank.engine = rank.queued[step.panel, step.name] = max(start + seconds, rank.issued)
    return start


def _end(rank: _Rank, step: Step) -> float:
    if isinstance(step, Work) and step.engine:
        return rank.engine
    return rank.network if isinstance(step, Send) else rank.host
