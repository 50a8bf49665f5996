"""The roofline of a device: how fast a plan can be at most, given how much it computes for each byte it moves.

Williams, Waterman and Patterson 2009. The roofs are measured through glla on the same device: multiply-adds of a
fragment shader, colour writes, and texel fetches that the cache answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glla.passes import Plan, Storage, Transfer
from glla.passes.layout import ELEMENT_BYTES

TEXEL_BYTES = 4 * ELEMENT_BYTES


@dataclass(frozen=True)
class Roof:
    """The ceilings of a device."""

    arithmetic: float  # GFLOP/s of multiply-adds in fragments
    write: float  # GB/s of colour writes, with as many render targets as is best
    fetch: float  # GB/s of RGBA32F texel fetches out of the cache

    @classmethod
    def of(cls, ceilings: Mapping[str, Mapping[str, Any]]) -> Roof:
        """Take them from the plain data of `glla.lab.ceilings`."""
        return cls(
            arithmetic=ceilings["fragment_fma"]["value"],
            write=max(one["value"] for name, one in ceilings.items() if name.startswith("write_")),
            fetch=TEXEL_BYTES * ceilings["fetch_rgba32f"]["value"],
        )


def traffic(plan: Plan) -> int:
    """Bytes that a plan moves: all that its passes write, and the least that they must read.

    A pass is taken to read from each of its textures as many texels as it writes, or all of it where that is less; a
    fetch that comes again is taken to hit the cache. So a product reads A and B once, and a step of an elimination,
    which is bound to a texture of the whole matrix, only the part that it draws. A uniform block is read whole.

    >>> from glla.operations.product import matmul
    >>> from glla.passes import resident
    >>> traffic(matmul.plan(resident((4, 4), (4, 4)))) == 3 * 4 * 4 * 4
    True
    """
    plan, moved = plan.flat, plan.cost.nbytes
    for step in plan.passes:
        if isinstance(step, Transfer):
            moved += plan.slots[step.source].nbytes
            continue
        region = plan.drawn(step)
        written = (step.points or region.width * region.height) * len(step.outputs)
        read = (*step.inputs.values(), *(step.outputs if step.accumulate else ()))
        for storage in (plan.slots[slot] for slot in dict.fromkeys(read)):
            channels = storage.channels if isinstance(storage, Storage) else 4
            moved += min(written * channels * ELEMENT_BYTES, storage.nbytes)
        moved += sum(TEXEL_BYTES * block.count for block in step.blocks.values())
    return moved
