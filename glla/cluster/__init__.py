"""Several processes, on one machine or on many: products, PLU factors and solutions of distributed matrices."""

from glla.cluster.algorithms import VARIANTS, plan
from glla.cluster.check import check, listing_a1
from glla.cluster.layout import Layout
from glla.cluster.model import Parameters, Prediction, Simulation, predict, simulate
from glla.cluster.steps import Schedule

__all__ = [
    "VARIANTS",
    "Layout",
    "Parameters",
    "Prediction",
    "Schedule",
    "Simulation",
    "check",
    "listing_a1",
    "plan",
    "predict",
    "simulate",
]
