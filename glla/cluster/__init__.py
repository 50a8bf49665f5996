"""Several processes, on one machine or on many: products, PLU factors and solutions of distributed matrices.

The way of ``glla.cluster.lu_factor(A)``, and the file to read for each step:

1. ``layout.py``: which process owns which element.
2. ``algorithms.py``: what each process does, as a list of steps (``steps.py``); ``checks.py`` proves that it ends,
   ``model.py`` says when.
3. ``linalg.py``: the public functions; ``grids.py``: processes, and matrices that are dealt out to them.
4. ``execute.py``: the steps are done, work by an actor (``factoring.py``, ``columns.py``, ``parts.py``), messages by a
   channel (``messages.py``) over threads (``threads.py``) or MPI (``mpi.py``), products by an engine (``engines.py``,
   and ``resident.py`` where a process has whole columns).
"""

from glla.cluster.algorithms import VARIANTS, plan
from glla.cluster.checks import check, listing_a1
from glla.cluster.grids import DistributedMatrix, Grid, grid
from glla.cluster.layout import Layout
from glla.cluster.linalg import lu_factor, lu_solve, matmul, plu, solve
from glla.cluster.model import Parameters, Prediction, Simulation, predict, simulate
from glla.cluster.steps import Schedule
from glla.cluster.threads import run

__all__ = [
    "VARIANTS", "DistributedMatrix", "Grid", "Layout", "Parameters", "Prediction", "Schedule", "Simulation", "check",
    "grid", "listing_a1", "lu_factor", "lu_solve", "matmul", "plan", "plu", "predict", "run", "simulate", "solve",
]  # fmt: skip
