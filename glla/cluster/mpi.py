"""Ranks as processes: bytes sent by mpi4py, in NumPy's buffers, without pickling.

Messages are Isend and Irecv on glla's own communicator (a duplicate), so that they cannot match the user's. MPI is
called by one thread only.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from glla.cluster.messages import EPOCHS, TAGS, Bytes, Communicator, Ticket
from glla.errors import ClusterError, OptionTypeError

ALARM = 32000
"""Tag of alarms, above all others; MPI guarantees tags up to 32767."""

PIECE = 1 << 30
"""Bytes of a message at most; longer ones are split. Older MPIs count in 32-bit integers."""

LAUNCHERS = {
    "PMI_SIZE": "MPICH's mpiexec",
    "OMPI_COMM_WORLD_SIZE": "Open MPI's mpiexec",
    "MV2_COMM_WORLD_SIZE": "MVAPICH's mpiexec",
}
"""Environment variables of launchers that contain the number of ranks."""


class _Pieces(Ticket):
    """A message of one piece or more."""

    def __init__(self, requests: list[Any]) -> None:
        self._requests = requests

    def done(self) -> bool:
        while self._requests and self._requests[0].Test():
            self._requests.pop(0)
        return not self._requests

    def cancel(self) -> None:
        for request in self._requests:
            request.Cancel()
            request.Wait()
        self._requests.clear()


class _Processes(Communicator):
    """The communicator of one process of several."""

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._comm = communicator.Dup()  # a collective call
        self.rank, self.size = self._comm.rank, self._comm.size
        here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        self.host = here.rank, here.size
        here.Free()
        self._shouts: list[tuple[Any, bytes]] = []

    def post(self, data: Bytes, to: int, tag: int) -> _Pieces:
        return _Pieces([self._comm.Isend(part, to, tag) for part in _cut(data)])

    def expect(self, data: Bytes, source: int, tag: int) -> _Pieces:
        return _Pieces([self._comm.Irecv(part, source, tag) for part in _cut(data)])

    def drop(self, tags: range) -> None:
        status = self._mpi.Status()
        for tag in tags:
            while (message := self._comm.Improbe(self._mpi.ANY_SOURCE, tag, status)) is not None:
                message.Recv(np.empty(status.Get_count(self._mpi.BYTE), dtype=np.uint8))

    def shout(self, text: bytes) -> None:
        for rank in range(self.size):
            if rank != self.rank:
                self._shouts.append((self._comm.Isend([text, self._mpi.BYTE], rank, ALARM), text))

    def heard(self) -> list[bytes]:
        status, said = self._mpi.Status(), []
        while (message := self._comm.Improbe(self._mpi.ANY_SOURCE, ALARM, status)) is not None:
            text = bytearray(status.Get_count(self._mpi.BYTE))
            message.Recv([text, self._mpi.BYTE])
            said.append(bytes(text))
        return said

    def nudge(self) -> None:
        self._comm.Iprobe(self._mpi.ANY_SOURCE, ALARM)

    def idle(self, looks: int) -> None:
        if looks >= 50:  # there may be more ranks than cores
            time.sleep(0 if looks < 200 else 2e-5)


def _cut(data: Bytes) -> list[Bytes]:
    return [data[start : start + PIECE] for start in range(0, max(1, data.nbytes), PIECE)]


def check_launcher(size: int | None) -> None:
    """Raise if a launcher has started more ranks than the communicator has; None is a communicator without MPI.

    Raises ClusterError: mpi4py is missing, or uses another MPI than the launcher's.
    """
    for variable, launcher in LAUNCHERS.items():
        started = os.environ.get(variable, "")
        if not started.isdecimal() or int(started) <= (size or 1):
            continue
        if size is None:
            raise ClusterError(
                f"grid: {launcher} has started {started} ranks, and mpi4py is missing; pip install 'glla[cluster]'"
            )
        from mpi4py import MPI

        raise _unlike(launcher, started, f", where this is rank 0 of {size}", MPI)


def _unlike(launcher: str, started: str, more: str, mpi: Any) -> ClusterError:
    library = " ".join(mpi.Get_library_version().strip("\0 ").splitlines()[0].split())
    return ClusterError(
        f"grid: {launcher} has started {started} ranks, but mpi4py works with {library}{more}; call the mpiexec of "
        "that MPI (that of the wheel `mpich` is beside python), or name the other MPI's library in MPI4PY_LIBMPI"
    )


def world() -> Any:
    """Return MPI's communicator of all ranks. MPI is started unless it was; an earlier import may have set its options.

    Raises ClusterError: there is no MPI library, or it is not the launcher's: MPICH would end this process then.
    """
    import mpi4py

    started = "mpi4py.MPI" in sys.modules or not mpi4py.rc.initialize
    try:
        if not started:
            mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ClusterError(
            f"grid: mpi4py finds no MPI library ({reason}); pip install mpich, or install an MPI of the machine "
            "(Debian: apt install mpich)"
        ) from error
    open_mpi = os.environ.get("OMPI_COMM_WORLD_SIZE", "")
    if open_mpi and MPI.Get_library_version().startswith("MPICH"):
        raise _unlike(LAUNCHERS["OMPI_COMM_WORLD_SIZE"], open_mpi, "", MPI)
    if not started:
        MPI.Init_thread()
    return MPI.COMM_WORLD


def communicator(given: Any = None) -> Communicator:
    """Return the communicator of a program: the given one, mpi4py's world, or that of a single rank.

    `given`: None means ``MPI.COMM_WORLD`` under a launcher, and one rank otherwise.
    Raises ClusterError: the launcher and mpi4py use different MPIs, or mpi4py is missing.
    """
    if given is not None and hasattr(given, "post"):
        found: Communicator = given
        return found
    if given is None and find_spec("mpi4py") is None:
        check_launcher(None)
        return Communicator()
    if given is None:
        given = world()
        check_launcher(given.size)
        if given.size == 1:
            return Communicator()
    if not hasattr(given, "Dup"):
        raise OptionTypeError(f"grid: comm must be a communicator of mpi4py, got {given!r}")
    assert EPOCHS * len(TAGS) < ALARM
    return _Processes(given)
