"""A Chebyshev polynomial in a sparse matrix, applied to a block of columns: small where eigenvalues are not wanted.

Zhou, Saad, Tiago and Chelikowsky 2006, "Self-consistent-field calculations using Chebyshev-filtered subspace
iteration", algorithm 3.1 (scaled).
"""

from __future__ import annotations

import numpy as np

from glla.operations.record import Float32
from glla.passes import Draft, Plan, Storage, shared, texture
from glla.passes.cache import cached_plan


def weights(degree: int, damped: tuple[float, float], anchor: float) -> Float32:
    """Weights (a, b, c) of the turns: the polynomial is small in `damped`, and 1 at the eigenvalue `anchor` beyond.

    >>> (7 * weights(2, (-1.0, 1.0), 2.0)).round(3).tolist()
    [[3.5, -0.0, 0.0], [4.0, -0.0, -1.0]]
    """
    half, middle = (damped[1] - damped[0]) / 2, (damped[1] + damped[0]) / 2
    first = ratio = half / (anchor - middle)
    turns = [(ratio / half, -middle * ratio / half, 0.0)]
    for _ in range(1, degree):
        after = 1 / (2 / first - ratio)
        turns.append((2 * after / half, -middle * 2 * after / half, -ratio * after))
        ratio = after
    return np.array(turns, dtype=np.float32)


@cached_plan
def filtered(products: tuple[Plan, ...], degree: int) -> Plan:
    """Plan of p(B) X, B the product of matrices, the first of which is applied first; a pass a turn, and theirs.

    Operands ``X``, ``weights``, a row of texels, and ``0.NAME``, ``1.NAME`` ... of the products; result ``Y``.

    `products`: of each matrix with a block, operand ``X`` and others, result ``Y``. `degree`: turns.
    """
    draft = Draft("filter")
    storage = texture(products[0].slots["X"])
    x, given = draft.operand("X", storage), draft.operand("weights", Storage(1, degree))
    taken = [
        {name: draft.operand(f"{number}.{name}", one.slots[name]) for name in one.operands if name != "X"}
        for number, one in enumerate(products)
    ]
    before, y = "", x
    for turn in range(degree):
        with draft.scope("turn", turn):
            q = y
            for number, one in enumerate(products):
                q = draft.call(f"product {number}", one, X=q, **taken[number])["Y"]
            made = draft.slot(f"Y_{turn}", storage)
            inputs = {"q": q, "y": y, "weights": given} | ({"x": before} if before else {})
            draft.draw("spectral/filter/turn", inputs, made, {"turn": turn}, {"FIRST": int(not before)})
            before, y = y, made
    flops = sum(one.flops for one in products) + 20 * storage.height * storage.width
    return shared(draft.plan({"Y": y}, degree * flops).flat)
