"""What test_mpi.py starts under mpiexec: ``program.py WHAT``. Rank 0 prints "all is well"."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from glla import cluster
from glla.cluster import DistributedMatrix, columns, factoring
from glla.cluster.lapack import permutation
from glla.errors import ClusterError
from tests.cluster.conftest import forced


def exact(engine):
    """Factors, a product and a solution, exact to the bit."""
    a, _, lower, upper = forced(40, 1)
    with cluster.grid(engine=engine, timeout=60, grace=20) as grid:
        whole = DistributedMatrix.scatter(grid, a if grid.rank == 0 else None, 8)
        lu, piv = cluster.lu_factor(whole)
        packed = lu.gather()
        assert (np.tril(packed, -1) + np.eye(40) == lower).all()
        assert (np.triu(packed) == upper).all()
        assert (a[permutation(piv, 40)] == lower @ upper).all()
        assert (cluster.matmul(whole, whole).gather() == a @ a).all()
        b = np.arange(40.0)
        x = cluster.solve(whole, b, refine=True)
        assert (np.abs(a @ x - b) <= 1e-14 * (np.abs(a) @ np.abs(x) + np.abs(b))).all()


def gpus():
    """Each rank works on another GPU; one alone leaves the other GPUs' memory as it is."""
    from benchmarks.cluster_rank import gpu_memory

    before = gpu_memory() or []
    with cluster.grid() as grid:
        a = DistributedMatrix.load(grid, np.ones((512, 512)), 64)
        assert (cluster.matmul(a, a).gather() == 512).all()
        with grid.operation():
            who = [json.loads(text) for text in grid.collect(json.dumps(grid.describe()).encode())]
        if grid.rank == 0:
            assert len({one["cuda"] for one in who}) == grid.size, who
            assert all(one["cuda"] is not None and "llvmpipe" not in one["engine"] for one in who), who
        if grid.size == 1:
            grown = [now > then for now, then in zip(gpu_memory() or [], before, strict=True)]
            assert sum(grown) <= 1, (before, gpu_memory())


def errors(count):
    """Many random problems with an error at a random step; every rank raises the same one, and the grid goes on."""
    rng = np.random.default_rng(0)
    places = [
        (
            factoring.Factoring,
            ["candidates", "multipliers", "take_rows", "merge", "solve_U", "put_rows", "update_rest", "pivots"],
        ),
        (columns.ColumnFactoring, ["pivots", "exchange_rows", "update_panel", "update_rest", "store_L", "store_U"]),
    ]
    with cluster.grid(engine="numpy", timeout=20, grace=10) as first:
        size = first.size
    shapes = [(p, size // p) for p in range(1, size + 1) if size % p == 0]
    grids = {shape: cluster.grid(shape=shape, engine="numpy", timeout=20, grace=10) for shape in shapes}
    raised = 0
    for case in range(count):
        shape = shapes[rng.integers(len(shapes))]
        nb = int(rng.choice([2, 4, 8]))
        n = int(rng.integers(1, 24))
        actor, names = places[shape[0] == 1]
        name, rank, panel = str(rng.choice(names)), int(rng.integers(size)), int(rng.integers(-(-n // nb)))
        real = getattr(actor, name)
        a = rng.uniform(-1, 1, (n, n)).astype(np.float32)
        variant = str(rng.choice(["tournament", "partial"]))
        grid = grids[shape]

        def failing(self, at, *more, real=real, rank=rank, panel=panel):
            if (self.at.rank, at) == (rank, panel):
                raise ValueError("made to fail")
            return real(self, at, *more)

        start = time.monotonic()
        whole = DistributedMatrix.load(grid, a, nb)
        setattr(actor, name, failing)
        try:
            lu, piv = cluster.lu_factor(whole, variant=variant)
            setattr(actor, name, real)
            packed = lu.gather().astype(float)
            error = np.abs((np.tril(packed, -1) + np.eye(n)) @ np.triu(packed) - a[permutation(piv, n)]).max()
            assert error < 1e-4, error
            outcome = 0.0
        except ClusterError as error:
            assert str(error) == f"rank {rank}: ValueError: made to fail", str(error)
            outcome = 1.0
        setattr(actor, name, real)
        with grid.operation():
            assert grid.total(np.array([outcome]))[0] in (0.0, size), "some ranks have raised, others have not"
        raised += outcome
        assert time.monotonic() - start < 10, f"case {case} took too long"
    assert count < 20 or raised > count / 4


def dies(how, panel, folder):
    """One rank is killed, is stopped, or hangs; the others raise an error that names it, and write it to a file.

    The launcher does not pass on all output once a rank has died, and may end the others.
    """
    real = factoring.Factoring.put_rows
    victim, said = 1, Path(folder)

    def failing(self, at):
        if (self.at.rank, at) == (victim, panel):
            (said / "victim").write_text(str(os.getpid()), encoding="utf-8")
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "stopped":  # as dead for the others, but not for the launcher
                os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(600)
        real(self, at)

    grid = cluster.grid(engine="numpy", timeout=2.5, grace=1.5)
    whole = DistributedMatrix.load(grid, np.random.default_rng(1).uniform(-1, 1, (40, 40)), 4)
    with grid.operation():
        factoring.Factoring.put_rows = failing
    start = time.monotonic()
    try:
        cluster.lu_factor(whole)
    except ClusterError as error:
        text = f"{time.monotonic() - start:.1f} {error}"
        (said / f"{grid.rank}.new").write_text(text, encoding="utf-8")
        (said / f"{grid.rank}.new").rename(said / f"{grid.rank}.txt")
        while len(list(said.glob("*.txt"))) < grid.size - 1 and time.monotonic() < start + 15:
            time.sleep(0.05)
        if grid.rank == 0:
            os.kill(int((said / "victim").read_text(encoding="utf-8")), signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "gpus":
        gpus()
    elif what == "exact":
        exact(*arguments)
    elif what == "errors":
        errors(int(arguments[0]))
    else:
        dies(what, int(arguments[0]), arguments[1])
    if int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0"))) == 0:
        print("all is well", flush=True)
