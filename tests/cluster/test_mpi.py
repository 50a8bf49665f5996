"""Ranks as processes, started by mpiexec."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")


def launcher():
    """Path of mpiexec: of the environment that the tests run in, else of the machine."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


pytestmark = [
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install 'glla[cluster]'"),
    pytest.mark.skipif(launcher() is None, reason="there is no mpiexec: pip install mpich, or an MPI of the machine"),
]


def launch(ranks, *arguments, options=(), timeout=100):
    """Start a program on ranks; the whole group of processes is ended if it takes too long."""
    command = [launcher(), *options, "-n", str(ranks), *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"{command} took more than {timeout} s:\n{output}")
    return process.returncode, output


@pytest.mark.parametrize(("ranks", "engine"), [(2, "glla"), (4, "numpy")])
def test_results_are_exact(ranks, engine):
    status, output = launch(ranks, sys.executable, str(PROGRAM), "exact", engine)
    assert status == 0, output
    assert "all is well" in output


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=[pytest.mark.sweep, pytest.mark.timeout(600)])])
def test_errors_at_random_steps_reach_all_ranks(count):
    status, output = launch(4, sys.executable, str(PROGRAM), "errors", str(count), timeout=500)
    assert status == 0, output
    assert "all is well" in output


@pytest.mark.sweep
@pytest.mark.parametrize(("how", "panel"), [("stopped", 2), ("stopped", 9), ("hangs", 5)])
def test_a_rank_that_is_stopped_or_hangs_is_named(how, panel, tmp_path):
    program = ["timeout", "-s", "KILL", "30", sys.executable, str(PROGRAM), how, str(panel), str(tmp_path)]
    _, output = launch(4, *program, timeout=60)
    said = {path.stem: path.read_text(encoding="utf-8").split(" ", 1) for path in tmp_path.iterdir()}
    live = {rank: said[rank] for rank in ("0", "2", "3") if rank in said}
    assert len(live) == 3, output
    assert len({text for _, text in live.values()}) == 1
    assert all("rank 1 did not answer within 2 s" in text for _, text in live.values())
    assert all(float(seconds) < 4 + 2 + 4 for seconds, _ in live.values())  # timeout, grace, and a slow machine


@pytest.mark.sweep
@pytest.mark.parametrize("panel", [2, 9])
def test_a_killed_rank_ends_all_by_default(panel, tmp_path):
    """MPICH's launcher ends the others; whoever is quicker than it has named the rank."""
    status, output = launch(4, sys.executable, str(PROGRAM), "killed", str(panel), str(tmp_path), timeout=60)
    assert status != 0, output
    assert "all is well" not in output
    assert all("rank 1 did not answer" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
