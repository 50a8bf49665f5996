"""Limits of a device, which a plan must keep to, and its tuning results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from glla.passes.rates import HARDWARE, SOFTWARE, Rates

Parameters = tuple[tuple[str, int], ...]
"""Values of a variant's parameters, as pairs (name, value): part of a plan's key, so hashable."""

COMPUTE = 430
"""The version of OpenGL that has compute shaders, as `Limits.opengl` counts it."""

MOST_UNEQUAL = 4
"""What was tuned for equal sides holds for sides that differ by at most this factor."""

BEYOND = 2
"""What was tuned holds from the smallest tuned size over this factor to the largest tuned size times it."""


class Tuned(NamedTuple):
    """The fastest variant of an operation on a device by `glla tune`, for matrices of an order."""

    operation: str
    size: int
    variant: str
    parameters: Parameters = ()


@dataclass(frozen=True)
class Limits:
    """Limits of a device.

    Attributes
    ----------
    texture_size : int
        Largest height or width of a texture, in texels.
    draw_buffers : int
        Most targets that one pass can write.
    loop_trips : int
        Most loop iterations of one shader invocation, all its loops added. llvmpipe ends loops silently after 65535
        trips in all; the default keeps a little below.
    uniform_block : int
        Largest uniform block, in texels of 16 bytes. OpenGL 3.3 grants 1024.
    software : bool
        A software rasteriser: no limit, but what is fast there is not what is fast on a GPU.
    opengl : int
        Version of OpenGL, 330 for 3.3. Only a plan with a `Dispatch` needs more than that.
    buffer_texels : int
        Most texels of a buffer that a shader samples. OpenGL 3.3 grants 65536, a browser none.
    tuned : tuple of Tuned
        No limit either: what `glla tune` measured on this device, if it did.
    rates : Rates, optional
        No limit either: what `glla ceilings --store` measured on this device, if it did.
    """

    texture_size: int = 16384
    draw_buffers: int = 8
    loop_trips: int = 60000
    uniform_block: int = 1024
    software: bool = False
    opengl: int = 330
    buffer_texels: int = 0
    tuned: tuple[Tuned, ...] = ()
    rates: Rates | None = None

    @property
    def known_rates(self) -> Rates:
        """Rates of the device: those measured, else those of its kind."""
        return self.rates or (SOFTWARE if self.software else HARDWARE)

    def tuning(self, operation: str, *sides: int) -> Tuned | None:
        """Find the tuning result of an operation at the nearest size, by ratio: the geometric mean of its `sides`.

        None where measurements do not speak: nothing was tuned, the size is more than twice the largest that was, less
        than half of the smallest, one side is more than four times another, or larger than a texture is.

        >>> tuned = Limits(tuned=(Tuned("matmul", 64, "inner_product"), Tuned("matmul", 512, "register_blocked")))
        >>> tuned.tuning("matmul", 200, 200, 200).size, tuned.tuning("matmul", 4096, 4096, 4096)
        (512, None)
        """
        known = [one for one in self.tuned if one.operation == operation]
        if not known or not 0 < max(sides) <= min(MOST_UNEQUAL * min(sides), self.texture_size):
            return None
        size = round(math.prod(sides) ** (1 / len(sides)), 3)
        nearest = min(known, key=lambda one: abs(math.log(one.size / size)))
        inside = min(one.size for one in known) / BEYOND <= size <= BEYOND * max(one.size for one in known)
        return nearest if inside else None


PLAIN = Limits()
"""Limits that every OpenGL 3.3 keeps, for plans that are made for no device in particular."""


def version(code: int) -> str:
    """Write a version of OpenGL as people do.

    >>> version(430)
    '4.3'
    """
    return f"{code // 100}.{code % 100 // 10}"
