"""A real picture, blurred by a known matrix, and recovered by solving the system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.lab.extra import require

Float64 = NDArray[np.float64]

SIDE = 512
SPREAD = 1.5
"""Standard deviation of the blur, in rows of the picture. The condition number grows as exp(5 SPREAD^2): 3e4 here."""

CUT = 6.0
"""Standard deviations at which the blur is cut off. Cut at 3, its spectrum would cross zero: B might be singular."""


def blurred(size: int = SIDE) -> tuple[Float64, NDArray[np.float32], Float64]:
    """Load the picture X, and blur its columns by a matrix B: X, B and B X. `size`: rows and columns, 512 at most."""
    image = picture(size)
    blur = gaussian_blur(len(image), SPREAD)
    return image, blur, blur.astype(np.float64) @ image


def picture(size: int = SIDE) -> Float64:
    """Load the cameraman, 512 x 512 grey levels from 0 to 255, shrunk by block means.

    What a whole number of blocks does not cover is cut off.
    """
    require("demo", "pywt")
    import pywt.data

    whole = SIDE // size * size
    return shrunk(np.asarray(pywt.data.camera(), dtype=np.float64)[:whole, :whole], size)


def shrunk(levels: Float64, side: int) -> Float64:
    """Take the means of blocks, as many as fit; the middle of a picture that they do not cover."""
    block = min(levels.shape) // side
    top, left = ((length - block * side) // 2 for length in levels.shape)
    cut = levels[top : top + block * side, left : left + block * side]
    return np.asarray(cut.reshape(side, block, side, block).mean(axis=(1, 3)))


def gaussian_blur(n: int, spread: float) -> NDArray[np.float32]:
    """Make the banded n x n matrix whose rows are Gaussians with sum 1.

    >>> gaussian_blur(3, 0.5)[1].round(2).tolist() == np.float32([0.11, 0.79, 0.11]).tolist()
    True
    """
    i = np.arange(n)
    distance = np.abs(i[:, np.newaxis] - i)
    weights = np.where(distance <= CUT * spread, np.exp(-0.5 * (distance / spread) ** 2), 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
