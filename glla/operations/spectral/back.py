"""Reflectors applied to given vectors: H_1 H_2 ... H_k B, by pairs, or by panels in which all is products."""

from __future__ import annotations

from glla.operations.orthogonal import qr_pairs
from glla.operations.orthogonal.qr import BLOCKED_TO
from glla.operations.orthogonal.qr_blocks import Panels
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

BLOCKED_FROM = 16
"""Reflectors from which panels are used. They have fewer passes from there on: 9 in place of 33 for 32."""

PANEL, PANEL_IN_SOFTWARE = 64, 32
"""Columns of a panel, on a GPU and on a software rasteriser, as of QR."""


@cached_plan
def plan(shape: Shape, columns: int, limits: Limits) -> Plan:
    """Plan of H_1 H_2 ... H_k B: operands ``H``, which holds the reflectors as QR leaves them, and ``B``; result ``B``.

    `shape`: of H. `columns`: of B. By pairs 2 ceil(k / 2) + 1 passes; by panels some ten for each.
    """
    if min(shape) >= BLOCKED_FROM and shape[0] <= BLOCKED_TO * shape[1]:
        return by_panels(shape, columns, PANEL_IN_SOFTWARE if limits.software else PANEL, limits)
    draft = Draft("by pairs")
    h, b = draft.operand("H", matrix(shape)), draft.operand("B", matrix((shape[0], columns)))
    t = draft.call("pairs", qr_pairs.pairs(shape), H=h)["T"]
    return draft.plan({"B": draft.call("applied", qr_pairs.applied(shape, columns, limits), H=h, T=t, B=b)["B"]})


@cached_plan
def by_panels(shape: Shape, columns: int, width: int, limits: Limits) -> Plan:
    """Plan of the same by panels of some columns, from the last one on."""
    draft, height, across = Draft("by panels"), texels(shape[0]), texels(columns)
    h, b = draft.operand("H", matrix(shape)), draft.operand("B", matrix((shape[0], columns)))
    t = draft.slot("T", Storage(1, texels(min(shape))))
    draft.draw("qr/pairs", {"H": h}, t, {"height": height})
    panels, found = Panels(draft, shape, columns, width, limits), PingPong(draft, "B", matrix((shape[0], columns)), b)
    for number, start in enumerate(reversed(range(0, min(shape), width))):
        with draft.scope("panel", number):
            panels.explicit(start, h, t)
            kernel = panels.kernel(start)
            if number:  # the rows of this panel, which none has changed
                rows = Region(0, start // 2, across, width // 2)
                draft.draw("packing/window", {"A": b}, found.front, {"corner": (0, 0)}, {}, rows)
            panels.apply(start, kernel, found.front, found.back, 0)
            found.swap()
    return draft.plan({"B": found.front})
