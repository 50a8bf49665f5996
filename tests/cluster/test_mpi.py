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
@pytest.mark.parametrize(("how", "panel"), [("killed", 2), ("killed", 5), ("killed", 9), ("hangs", 2), ("hangs", 8)])
def test_a_rank_that_dies_or_hangs_is_named(how, panel):
    """MPICH's launcher is told to leave the others alone: by default it ends them all, as while they connect."""
    version = subprocess.run([launcher(), "--version"], capture_output=True, text=True).stdout
    if "HYDRA" not in version:
        pytest.skip("only MPICH's mpiexec leaves the other ranks alone")
    program = [sys.executable, str(PROGRAM), how, str(panel)]
    if how == "hangs":  # the one that hangs is ended by the launcher's limit
        program = ["timeout", "30", *program]
    _, output = launch(4, *program, options=("-disable-auto-cleanup",), timeout=60)
    named = [line for line in output.splitlines() if "rank 1 did not answer within 2 s" in line]
    assert len(named) == 3, output


@pytest.mark.sweep
def test_a_killed_rank_ends_all_by_default():
    status, output = launch(4, sys.executable, str(PROGRAM), "killed", "2", timeout=60)
    assert status != 0, output
    assert "all is well" not in output
