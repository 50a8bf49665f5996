"""Ranks as processes, started by mpiexec."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.cluster import environment, mpiexec
from glla.gl import list_egl_devices

fcntl = pytest.importorskip("fcntl", reason="Windows has other locks, and its MPI is not tried")

PROGRAM = Path(__file__).with_name("program.py")

ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Ranks of a test are more than cores."""

OPEN_MPI = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
"""Open MPI refuses that otherwise: its version 4 by the first name, 5 by the second."""

pytestmark = [
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install 'glla[cluster]'"),
    pytest.mark.skipif(mpiexec() is None, reason="there is no mpiexec: pip install mpich, or an MPI of the machine"),
    pytest.mark.timeout(900),  # most of it for those that wait for their turn
]


@contextmanager
def alone():
    """One launch at a time, of all processes that run tests: ranks spin while they wait, and have limits of time."""
    with Path(tempfile.gettempdir(), f"glla-mpi-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def launch(ranks, *arguments, timeout=100):
    """Start a program on ranks; the whole group of processes is ended if it takes too long.

    Open MPI would bind the ranks of each launch to the same first cores.
    """
    with alone():
        return launched([str(mpiexec()), "--bind-to", "none", "-n", str(ranks), *arguments], ranks, timeout)


def launched(command, ranks, timeout):
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=environment(mpiexec(), ranks) | ONE | OPEN_MPI,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"{command} took more than {timeout} s:\n{output}")
    return process.returncode, output


@pytest.mark.parametrize("ranks", [1, 4])
def test_results_are_exact(ranks):
    """Each rank on a rasteriser of its own, where there is no GPU."""
    status, output = launch(ranks, sys.executable, str(PROGRAM), "exact", "glla")
    assert status == 0, output
    assert "all is well" in output


def test_an_error_of_all_ranks_is_said_once(monkeypatch):
    monkeypatch.setenv("GLLA_DEVICE", "99")
    status, output = launch(2, sys.executable, "-m", "glla", "cluster", "bench", "--size", "64")
    assert status != 0
    assert output.count("glla: ContextError: rank 0: open_context: ") == output.count("open_context") == 1, output


@pytest.mark.skipif(
    sum(not one.software for one in list_egl_devices()) < 2, reason="there are fewer than two GPUs on this machine"
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_each_rank_has_a_gpu_of_its_own(ranks):
    """And holds nothing on the other one."""
    status, output = launch(ranks, sys.executable, str(PROGRAM), "gpus")
    assert status == 0, output
    assert "all is well" in output


def test_errors_at_random_steps_reach_all_ranks():
    """In one launch: any grid, blocks, orders, either pivoting, and an error at any step."""
    status, output = launch(4, sys.executable, str(PROGRAM), "errors", "70", timeout=300)
    assert status == 0, output
    assert "all is well" in output


@pytest.mark.parametrize(("how", "panel"), [("stopped", 2), ("stopped", 9), ("hangs", 5)])
def test_a_rank_that_is_stopped_or_hangs_is_named(how, panel, tmp_path):
    program = ["timeout", "-s", "KILL", "30", sys.executable, str(PROGRAM), how, str(panel), str(tmp_path)]
    _, output = launch(4, *program, timeout=60)
    live = {path.stem: path.read_text(encoding="utf-8").split(" ", 1) for path in tmp_path.glob("*.txt")}
    assert set(live) == {"0", "2", "3"}, output
    assert len({text for _, text in live.values()}) == 1
    assert all("rank 1 did not answer within 1.5 s" in text for _, text in live.values())
    assert all(float(seconds) < 2.5 + 1.5 + 4 for seconds, _ in live.values())  # timeout, grace, and a slow machine


def test_a_killed_rank_ends_all_by_default(tmp_path):
    """MPICH's launcher ends the others; whoever is quicker than it has named the rank."""
    status, output = launch(4, sys.executable, str(PROGRAM), "killed", "9", str(tmp_path), timeout=60)
    assert status != 0, output
    assert (tmp_path / "victim").exists()
    assert "all is well" not in output
    assert all("rank 1 did not answer" in path.read_text(encoding="utf-8") for path in tmp_path.glob("*.txt"))
