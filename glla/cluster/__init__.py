"""Distributed linear algebra: products, PLU factors and solutions over several processes, on one machine or many.

The stages of ``glla.cluster.lu_factor(A)``, and the file of each:

1. ``layout.py``: the owner of each element.
2. ``algorithms.py``: the steps of each process, as a list (``steps.py``); ``checks.py`` proves that they end,
   ``model.py`` predicts their times.
3. ``linalg.py``: the public functions; ``grids.py``: grids of processes, and distributed matrices.
4. ``execute.py``: execution, work by an actor (``factoring.py``, ``columns.py``, ``parts.py``), messages by
   a channel (``messages.py``) over threads (``threads.py``) or MPI (``mpi.py``), products by an engine (``engines.py``,
   and ``resident.py`` for whole columns).
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
