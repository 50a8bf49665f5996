"""Generalised minimal residuals with restarts: a plan of a whole cycle, for `glla.iterate`; see `cg`.

A cycle is a basis of the Krylov space, orthogonalised by two rounds of Gram-Schmidt, all vectors at once; a small
triangular matrix from rotations; and its solution. Steps after convergence do not count.
"""

from __future__ import annotations

from glla.operations.sparse.krylov import BLOCK, TEXEL, applied, at_once, copied, operator, reduction, sampled, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan, Region, Storage
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

CARRIED = ("x", "state")
"""Results of `begin` and of `cycle` that are passed to the next cycle: x, and how the cycle ended."""

MOST = 64
"""Steps of a cycle at most: each stores a vector."""

PART = 43
"""Vectors of the basis in one texture at most: the coefficients of all are constant in a pass, and OpenGL grants 60
numbers from its vertices."""


@cached_plan
def begin(a: Plan, m: Plan | None, n: int, limits: Limits, *, steps: int) -> Plan:
    """Plan of the start, before the first cycle: x = 0, no residual, and ``rhs``, a copy of b that all cycles take."""
    draft = Draft("gmres begins")
    b = draft.operand("b", vector(n, limits))
    draft.operand("bound", TEXEL)
    nothing = zeros(draft, "x", vector(n, limits))
    state = zeros(draft, "state", _states(vector(n, limits), steps, limits))
    return draft.plan({"x": nothing, "state": state, "rhs": copied(draft, "rhs", b, nothing)}, 0)


@cached_plan
def cycle(a: Plan, m: Plan | None, n: int, limits: Limits, *, steps: int) -> Plan:
    """Plan of a cycle.

    Operands ``x``, ``state``, ``rhs``, ``bound``, and those of the operators; results ``x`` and ``state``, 3 where it
    stalls. `steps` + 1 products, and in each of two rounds 2 passes or more for inner products and updates.
    """
    draft, storage = Draft(f"gmres({steps})"), vector(n, limits)
    x, rhs = draft.operand("x", storage), draft.operand("rhs", storage)
    states = _states(storage, steps, limits)
    bound, last = draft.operand("bound", TEXEL), draft.operand("state", states)
    taken_a, taken_m = operator(draft, "A", a), operator(draft, "M", m)
    r = draft.slot("r", storage)
    draft.draw("elementwise/sum", {"a": rhs, "b": applied(draft, "A x", taken_a, x)}, r, defines={"SUBTRACT": 1})
    basis = _Basis(draft, storage, steps, limits)
    v = basis.add(r)
    for step in range(steps):
        with draft.scope("step", step):
            v = basis.add(applied(draft, "A v", taken_a, applied(draft, "M v", taken_m, v)))
    h = draft.slot("h", Storage(steps + 1, basis.groups))
    draft.draw("krylov/gmres_sum", {"products": basis.products}, h, defines=basis.defines)
    table = draft.slot("table", Storage(steps + 1, steps))
    draft.draw("krylov/gmres_rotate", {"h": h, "bound": bound}, table, defines=basis.cut)
    y, state = draft.slot("y", states), draft.slot("state'", states)
    inputs, region = {"table": table, "h": h, "last": last, "bound": bound}, Region(0, 0, steps + 1, basis.groups)
    draft.draw("krylov/gmres_solve", inputs, (y, state), None, basis.cut, region)
    if m is None:
        new = basis.solution(x, y)
    else:
        inside = basis.solution(zeros(draft, "nothing", storage), y)
        new = draft.slot("x'", storage)
        draft.draw("elementwise/sum", {"a": x, "b": applied(draft, "M z", taken_m, inside)}, new)
    flops = (steps + 1) * a.flops + 8 * n * steps * (steps + 1) // 2
    return draft.plan({"x": new, "state": state}, flops).flat


def _cut(storage: Storage, steps: int, limits: Limits) -> tuple[int, int, int]:
    """Vectors of the basis in a texture, and fours of their inner products, and of all, see ``krylov/gmres.glsl``."""
    part = min(PART, limits.texture_size // storage.height)
    stride = part // 4 + 1
    return part, stride, steps // part * stride + (steps % part + 1) // 4 + 1


def _states(storage: Storage, steps: int, limits: Limits) -> Storage:
    """Storage of a cycle's state, and of its y, which is where the inner products of a vector would be."""
    return Storage(2 * _cut(storage, steps, limits)[2], steps + 1)


class _Basis:
    """Adds the passes that make an orthogonal basis; its vectors are one below the other in textures, `part` in each.

    Attributes: `groups`: of four inner products of a vector at most. `products`: slot of all of them, as partial sums,
    see ``krylov/products.glsl``. `defines`: for passes that read these, and `cut`, for those that do not.
    """

    def __init__(self, draft: Draft, storage: Storage, steps: int, limits: Limits) -> None:
        self._draft, self._storage, self._steps, self._count = draft, storage, steps, 0
        self._part, self._stride, self.groups = _cut(storage, steps, limits)
        self.cut: dict[str, Define] = {"STEPS": steps, "PART": self._part}
        self.defines = {**self.cut, **at_once(limits)}
        self._vectors = {**self.cut, **sampled(limits)}
        self._first, sizes = reduction(storage, limits)
        height, width = sizes.pop()
        self.products = draft.slot("products", Storage(2 * self.groups * height, (steps + 1) * width))
        self._sums = [(self.products, (height, width))]
        blocks = (f"ivec2({width}, {fours * height})" for fours in (self.groups, self._stride))
        self._folded: dict[str, Define] = {
            "BLOCK": BLOCK,
            **at_once(limits),
            "OWN": " % ".join(("ivec2(gl_FragCoord.xy)", *blocks)),
        }
        for number in range(len(sizes)):  # each block is folded into whole texels of the next
            height, width = BLOCK * height, BLOCK * width
            self._sums.insert(0, (draft.slot(f"sums {number}", Storage(self._stride * height, width)), (height, width)))
        heights = [storage.height * min(self._part, steps - first) for first in range(0, steps, self._part)]
        self._textures = [draft.slot(f"V {i}", Storage(height, storage.width)) for i, height in enumerate(heights)]

    def add(self, w: str) -> str:
        """Orthogonalise w against the basis, and add it, normalised; give its slot."""
        count, steps = self._count, self._steps
        self._count += 1
        last = max(count - 1, 0) // self._part
        for turn in (0, 1) if count else (1,):
            for part in range(last + 1):
                basis = self._textures[part] if count else w
                self._dots(w, basis, turn, part, min(count - part * self._part, self._part) // 4 + 1)
                if (turn, part, count) == (1, last, steps):
                    return w  # of which no more than the norm is needed
                w = self._combined(f"{count} {turn} {part}", w, basis, self.products, (part, count, turn))
        part, row = divmod(count, self._part)
        place = Region(0, row * self._storage.height, self._storage.width, self._storage.height)
        self._draft.transfer(w, self._textures[part], region=place)
        return w

    def _dots(self, w: str, basis: str, turn: int, part: int, groups: int) -> None:
        """Add the inner products with a part of the basis; with w, too."""
        before = ""
        for sums, (height, width) in self._sums:
            of_all = sums == self.products
            x, y = (self._count - 1) * width * of_all, (part * self._stride + turn * self.groups) * height * of_all
            region = Region(x, y, width, groups * height)
            if before:
                folded = {name: one for name, one in self._folded.items() if of_all or name != "OWN"}
                self._draft.draw("krylov/fold", {"sums": before}, sums, None, folded, region)
            else:
                defines, block = {**self._vectors, "BLOCK": self._first}, {"block": (width, height)}
                self._draft.draw("krylov/gmres_dots", {"w": w, "V": basis}, sums, block, defines, region)
            before = sums

    def _combined(self, name: str, w: str, basis: str, products: str, place: tuple[int, int, int]) -> str:
        """Add a vector less its part along a part of the basis; `place`: the part, vectors before, and the round."""
        target = self._draft.slot(f"w {name}", self._storage)
        (part, count, turn), inputs = place, {"w": w, "V": basis, "products": products}
        number, defines = 2 * (part * (self._steps + 1) + count) + turn, {**self._vectors, **self.defines}
        self._draft.draw("krylov/gmres_combine", inputs, target, None, defines, step=number)
        return target

    def solution(self, x: str, y: str) -> str:
        """Add the sum of y_k V_k to a vector."""
        for part, basis in enumerate(self._textures):
            x = self._combined(f"y {part}", x, basis, y, (part, self._steps, 0))
        return x
