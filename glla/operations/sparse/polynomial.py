"""A polynomial in a matrix, applied to a vector: the Chebyshev semi-iteration as a preconditioner."""

from __future__ import annotations

from glla.operations.sparse.krylov import applied, operator
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan
from glla.passes.cache import cached_plan


@cached_plan
def chebyshev(a: Plan, n: int, degree: int, lower: float, upper: float, limits: Limits) -> Plan:
    """Plan of y = p(A) x, where p of this degree less one is near 1 / t for t in [lower, upper].

    Operands ``x`` and ``A.NAME``, result ``y``. Passes: `degree`, and degree - 1 products.

    `a`: of the operator A: operand ``x`` and others, result ``y``. `n`: elements of a vector. `degree`: steps, the
    first of which takes no product. `lower`, `upper`: bounds of the eigenvalues, 0 < lower < upper.

    Saad, "Iterative methods for sparse linear systems" (2003), algorithm 12.1.
    """
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    draft = Draft("chebyshev")
    x = draft.operand("x", vector(n, limits))
    taken = operator(draft, "A", a)
    step, solution, rho = "", "", half / middle
    for number in range(degree):
        targets = tuple(draft.slot(f"{name}_{number}", vector(n, limits)) for name in ("step", "y"))
        with draft.scope("step", number):
            if not number:
                draft.draw("krylov/chebyshev", {"r": x}, targets, {"weights": (0.0, 1 / middle)}, {"FIRST": 1})
            else:
                product = applied(draft, "A y", taken, solution)
                before, rho = rho, 1 / (2 * middle / half - rho)
                inputs = {"r": x, "q": product, "d": step, "y": solution}
                draft.draw("krylov/chebyshev", inputs, targets, {"weights": (rho * before, 2 * rho / half)})
        step, solution = targets
    return draft.plan({"y": solution}, (degree - 1) * a.flops + 6 * degree * n).flat
