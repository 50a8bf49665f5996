"""Results of earlier versions, read as what they are.

Up to 2026-11-21 a peer was timed in one form, the usual call: what such a file calls a peer becomes a usual call here,
under the name of the form that was timed, and a peer at its best is missing. So no reader takes the one for the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glla.lab.peers import OLD_FORMS

Run = dict[str, Any]

RATIOS = {"ratio_to_peer": "ratio_to_usual", "ratio_to_peer_end_to_end": "ratio_to_usual_end_to_end"}


def has_best_peers(run: Mapping[str, Any]) -> bool:
    """Whether the peers of a run were measured at their best."""
    return "peers" in run


def is_busy(run: Mapping[str, Any]) -> bool:
    """Whether a run says of itself that the machine was too busy for its figures to count."""
    return bool(run.get("busy"))


def read(run: Run) -> Run:
    """Give a run of `python -m benchmarks` as today's readers want it.

    Examples
    --------
    >>> case = {"ok": True, "peer": {"name": "LAPACK getrf", "seconds": 2.0}, "ratio_to_peer": 1.6}
    >>> (found,) = read({"cases": [case]})["cases"]
    >>> found["peer"], found["usual"]["way"], found["ratio_to_usual"]
    (None, 'scipy.linalg.lu_factor(a, check_finite=False)', 1.6)
    """
    if has_best_peers(run):
        return run
    return {**run, "cases": [_case(case) for case in run["cases"]]}


def _case(case: dict[str, Any]) -> dict[str, Any]:
    if not case.get("peer"):
        return case
    peer = case["peer"]
    name = peer["name"]
    # Beside rref stood A as a part of [A | b], whose rows are n + 1 elements apart. Where n is a power of two, that is
    # converted to Fortran order faster than A itself: so one run had two figures for getrf.
    name = "LAPACK getrf of A" if name == "LAPACK getrf" and case.get("operation") == "rref" else name
    way = OLD_FORMS.get(name, name)
    usual = {"threads": None, **peer, "way": way}
    ratios = {new: case[old] for old, new in RATIOS.items() if old in case}
    return {**case, "peer": None, "usual": usual, **dict.fromkeys(RATIOS), **ratios}
