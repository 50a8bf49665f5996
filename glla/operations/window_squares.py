"""C = sum of the matrix squares of all w x w windows of an image, each at its window's position.

The source scatters: a thread squares a window and adds it to the result. `frames` and `gather` compute the same sum;
`separable` splits it, w products an element in place of w^3.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from glla.errors import LimitError, ShapeError
from glla.operations.layouts.crossing import bring_in, called
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Way, builder
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape
from glla.passes.steps import Region, Uniform

SEED = '"Dense matrix multiplication" (aksoyyusuf, CUDA), "Designing the Solution"'
"""Source of the author's variant."""

VARIANTS = {
    "frames": Variant("a pass for each row of windows, added by blending", SEED),
    "gather": Variant("one pass: an element sums the products of all windows that it is in", SEED),
    "separable": Variant("one pass: sums along the row and the column, then w products", "glla"),
}

WINDOW = 5
"""Rows and columns of a window of the source."""

LIMIT = 65535.0
"""Largest element of the source's result: that of a 16-bit image."""

IN_REGISTERS = 16
"""Largest window for which `separable` keeps all elements of a fragment in registers."""

WIDEST = {"frames": 254, "gather": 38, "separable": 255}
"""Largest window by variant: llvmpipe ends the loops of a fragment after 65535 trips in all, without an error."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: `separable`, which is the fastest for every image and window."""
    return "separable", ()


def check(forms: Forms, w: int = WINDOW) -> None:
    """Raise ShapeError unless the image holds a window."""
    (a,) = forms
    if len(a.shape) != 2 or min(a.shape) < w:
        raise ShapeError(
            f"window_squares: an image must have at least {w} rows and columns, as a window has, got shape {a.shape}"
        )


def flops(forms: Forms, w: int = WINDOW) -> int:
    """Additions and multiplications as the definition has them: 2 w^3 for each window."""
    m, n = forms[0].matrix
    return forms[0].count * (m - w + 1) * (n - w + 1) * 2 * w**3


@builder("window_squares", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen, w: int = WINDOW, limit: float | None = LIMIT) -> Plan:
    """Plan of the sum for an image on the device.

    Operand ``A``, result ``C``, both packed. One pass; ``frames`` one for each row of windows, and one for the limit.

    `forms`: of A, at least w x w. `w`: rows and columns of a window, see `WIDEST`. `limit`: sums are cut to [0, limit];
    None leaves them.
    Raises OptionError, LimitError: no such variant; a window that is too large for it.
    """
    variant = chosen.variant
    if w > WIDEST[variant]:
        widest = WIDEST[variant]
        raise LimitError(f"window_squares: w must be at most {widest} with variant {variant!r}, got {w}", w, widest)
    shape = forms[0].matrix
    draft = Draft(chosen.title)
    image = draft.operand("A", matrix(shape))
    if variant == "frames":
        result = _frames(draft, image, shape, w, limit)
    else:
        uniforms: dict[str, Uniform] = {"shape": shape, **_limit(limit)}
        defines = {"LIMITED": int(limit is not None)}
        if variant == "separable" and w <= IN_REGISTERS:
            defines["W"] = w
        else:
            uniforms["w"] = w
        (result,) = draft.draw(f"window_squares/{variant}", {"A": image}, {"C": matrix(shape)}, uniforms, defines)
    return draft.plan({"C": result}, flops(forms, w))


def _limit(limit: float | None) -> dict[str, Uniform]:
    return {} if limit is None else {"limit": float(limit)}


def _frames(draft: Draft, image: str, shape: Shape, w: int, limit: float | None) -> str:
    """Add a pass for each frame, which draws its rows only; give the slot of the sum."""
    storage = matrix(shape)
    total = draft.slot("sum", storage)
    # The first frame draws everywhere: what it does not hold becomes zero.
    for top in range(shape[0] - w + 1):
        first, last = top // 2, (top + w - 1) // 2
        region = Region(0, first, storage.width, last - first + 1) if top else None
        with draft.scope("frame", top):
            draft.draw(
                "window_squares/frames", {"A": image}, total, {"shape": shape, "w": w, "top": top},
                region=region, accumulate=top > 0,
            )  # fmt: skip
    if limit is None:
        return total
    (result,) = draft.draw("window_squares/limit", {"A": total}, {"C": storage}, _limit(limit))
    return result


@cached_plan
def call_plan(
    forms: Forms, limits: Limits = PLAIN, *, w: int = WINDOW, limit: float | None = LIMIT, **way: Unpack[Way]
) -> Plan:
    """Plan of a call: upload, the sum, read-back."""
    (form,) = forms
    device_plan = plan(resident(form.matrix), limits, **way, w=w, limit=limit)
    if not (form.resident and form.transposed):
        return called(device_plan, forms, limits, form.matrix, "sum")
    draft = Draft("window_squares")
    return draft.plan(draft.call("sum", device_plan, A=bring_in(draft, "A", form, limits)))


def on_host(a: Float32, w: int = WINDOW, limit: float | None = LIMIT) -> Float32:
    """Compute it by NumPy: a stack of all windows, their squares, and w^2 shifted sums."""
    windows = np.lib.stride_tricks.sliding_window_view(a, (w, w))
    squares = windows @ windows
    down, across = squares.shape[:2]
    result = np.zeros_like(a)
    for i in range(w):
        for j in range(w):
            result[i : i + down, j : j + across] += squares[:, :, i, j]
    return result if limit is None else np.clip(result, 0, limit)


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """An image of n x n windows, with the source's levels of 0 to 63: some sums exceed the limit, others don't."""
    return (rng.integers(0, 64, (n + WINDOW - 1, n + WINDOW - 1)).astype(np.float32),)


WINDOW_SQUARES = Operation(
    name="window_squares",
    formula="C = sum of W W over all windows W of A",
    operands=("A",),
    results=("C",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.operations.window_squares:on_host", public=False),
    thesis="frames",
)
