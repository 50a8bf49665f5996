"""QR by panels: H_1 ... H_p = I + V N^-1 V^T, so that all work outside the panels is products and substitutions.

    panel --> reflectors --> V, N         rest --> + V N^-T (V^T rest)         identity --> + V N^-1 (V^T ...) --> Q

N is minus the upper half of V^T V, with half of its diagonal (the UT transform, see ``qr/kernel.frag``): a triangle to
substitute with, in place of the T of the compact WY form, which would have to be built column by column.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from glla.operations.orthogonal.qr_pairs import pairs, reflectors
from glla.operations.product import matmul
from glla.operations.triangles import triangular
from glla.passes import Draft, Form, Limits, Plan, Region, Storage, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels


@dataclass(frozen=True)
class Panel:
    """Slots of a panel that is factored: reflectors from row and column `start` on."""

    start: int
    shape: Shape
    v: str
    n: str


@dataclass
class Panels:
    """Adds the passes of a factorisation by panels to a draft that is made of plans."""

    draft: Draft
    source: str  # slot of A, its columns scaled
    shape: Shape  # of A
    width: int  # columns of a panel, even
    limits: Limits
    done: list[Panel] = field(default_factory=list)  # those that are factored

    def factor(self) -> str:
        """Factor; give the slot of R with the reflectors below its diagonal."""
        m, n = self.shape
        rest, pieces = self.source, dict[str, str]()
        for number, start in enumerate(range(0, min(m, n), self.width)):
            with self.draft.scope("panel", number):
                size = (m - start, n - start)
                panel = (size[0], min(self.width, size[1]))
                block = self.draft.call("panel", window(size, panel, (0, 0)), A=rest)["block"]
                made = self.draft.call("reflectors", reflectors(panel, self.limits), A=block)["H"]
                pieces[f"panel_{number}"] = made
                one = self._explicit(start, panel, made)
                self.done.append(one)
                if size[1] > panel[1]:
                    right = (size[0], size[1] - panel[1])
                    beside = self.draft.call("rest", window(size, right, (0, panel[1])), A=rest)["block"]
                    rest = self.applied(one, beside, right[1], transposed=True)
                    top = (min(panel[1], right[0]), right[1])
                    pieces[f"rows_{number}"] = self.draft.call("rows of R", window(right, top, (0, 0)), A=rest)["block"]
                    if right[0] > self.width:
                        below = (right[0] - self.width, right[1])
                        rest = self.draft.call("rest", window(right, below, (self.width, 0)), A=rest)["block"]
        return self.draft.call("together", together(self.shape, self.width), **pieces)["H"]

    def _explicit(self, start: int, shape: Shape, packed: str) -> Panel:
        size = (shape[0], min(shape))
        t = self.draft.call("pairs", pairs(shape), H=packed)["T"]
        v = self.draft.call("V", explicit(shape), H=packed, T=t)["V"]
        across = Form(size[::-1], resident=True, transposed=True)
        square = matmul.plan((across, *resident(size)), self.limits)
        s = self.draft.call("V^T V", square, **dict.fromkeys(square.operands, v))["C"]
        n = self.draft.call("N", kernel(size[1]), S=s)["N"]
        return Panel(start, size, v, n)

    def applied(self, panel: Panel, to: str, columns: int, transposed: bool = False) -> str:
        """Apply the reflectors of a panel, the last one first, or `transposed` the first one first."""
        height, width = panel.shape
        across = Form((width, height), resident=True, transposed=True)
        project = matmul.plan((across, *resident((height, columns))), self.limits)
        given = dict(zip(project.operands, (panel.v, to), strict=True))
        w = self.draft.call("V^T B", project, **given)["C"]
        solve = triangular.plan(
            resident((width, width), (width, columns)), self.limits, upper=not transposed, transposed=transposed
        )
        x = self.draft.call("N^-1", solve, T=panel.n, B=w)["X"]
        update = matmul.plan(resident((height, width), (width, columns)), self.limits, onto=True)
        return self.draft.call("B + V X", update, A=panel.v, B=x, C0=to)["C"]

    def q(self, columns: int) -> str:
        """Make the first columns of Q, from the last panel to the first; each is larger than the one before."""
        found = ""
        for panel in reversed(self.done):
            with self.draft.scope("panel of Q", len(self.done) - 1 - self.done.index(panel)):
                size = (self.shape[0] - panel.start, columns - panel.start)
                inner = {"Q": found} if found else {}
                start = self.draft.call("bordered", bordered(size, self.width if found else 0), **inner)["Q"]
                found = self.applied(panel, start, size[1])
        return found


@cached_plan
def window(source: Shape, shape: Shape, corner: Shape) -> Plan:
    """Plan that takes a block out of a matrix, from an even row and column on: operand ``A``, result ``block``."""
    draft = Draft("qr/window")
    draft.operand("A", matrix(source))
    block = draft.slot("block", matrix(shape))
    draft.draw("qr/window", {"A": "A"}, block, {"corner": (corner[1] // 2, corner[0] // 2)})
    return draft.plan({"block": block})


@cached_plan
def together(shape: Shape, width: int) -> Plan:
    """Plan that puts panels ``panel_i`` and the rows of R beside them, ``rows_i``, into their places: result ``H``."""
    m, n = shape
    draft = Draft("qr/together")
    result = draft.slot("H", matrix(shape))
    for number, start in enumerate(range(0, min(m, n), width)):
        end = min(start + width, n)
        parts = {f"panel_{number}": (start, (m - start, end - start))}
        if end < n:
            parts[f"rows_{number}"] = (end, (min(end - start, m - start), n - end))
        for name, (left, size) in parts.items():
            draft.operand(name, matrix(size))
            place = Region(left // 2, start // 2, texels(size[1]), texels(size[0]))
            draft.draw("qr/window", {"A": name}, result, {"corner": (-left // 2, -start // 2)}, {}, place)
    return draft.plan({"H": result})


@cached_plan
def explicit(shape: Shape) -> Plan:
    """Plan of V from the factors of a panel: operands ``H`` and ``T``, result ``V``. One pass."""
    size = (shape[0], min(shape))
    draft = Draft("qr/explicit")
    inputs = {"H": draft.operand("H", matrix(shape)), "T": draft.operand("T", Storage(1, texels(size[1])))}
    v = draft.slot("V", matrix(size))
    draft.draw("qr/explicit", inputs, v, {"shape": size})
    return draft.plan({"V": v})


@cached_plan
def kernel(order: int) -> Plan:
    """Plan of N from V^T V: operand ``S``, result ``N``. One pass."""
    draft = Draft("qr/kernel")
    n = draft.slot("N", matrix((order, order)))
    draft.draw("qr/kernel", {"S": draft.operand("S", matrix((order, order)))}, n, {"shape": (order, order)})
    return draft.plan({"N": n})


@cached_plan
def bordered(shape: Shape, side: int) -> Plan:
    """Plan of Q with `side` rows and columns of an identity before it: operand and result ``Q``. One pass.

    Without `side` it is the identity, and there is no operand.
    """
    draft = Draft("qr/bordered")
    result = draft.slot("larger Q", matrix(shape))
    if side:
        draft.operand("Q", matrix((shape[0] - side, shape[1] - side)))
        draft.draw("qr/bordered", {"Q": "Q"}, result, {"side": side // 2, "shape": shape})
    else:
        draft.draw("packing/identity", {}, result, {"shape": shape})
    return draft.plan({"Q": result})


@cached_plan
def beside(shape: Shape, columns: int) -> Plan:
    """Plan that puts B, whose columns are given, to the right of A: result ``C``. One pass."""
    m, n = shape
    draft = Draft("qr/beside")
    inputs = {"A": draft.operand("A", matrix(shape)), "B": draft.operand("B", matrix((m, columns)))}
    result = draft.slot("C", matrix((m, n + columns)))
    draft.draw("qr/beside", inputs, result, {"split": n, "shape": (m, n + columns)})
    return draft.plan({"C": result})
