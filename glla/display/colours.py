"""The colours of values, the same in films, pages, notebooks and pictures.

Positive is blue, negative orange, zero the paper; changed has a magenta outline; grey was not drawn yet.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

POSITIVE, NEGATIVE, CHANGED, UNDRAWN = "#2f6fe0", "#e8833a", "#d6006e", "#c8c8c8"

SIGNED = (NEGATIVE, "#fbe3cf", "#ffffff", "#d3e3fd", POSITIVE)
"""From the most negative value to the most positive one, on white paper."""

LABELS, TEXELS = "#6b7280", "#9aa0a6"
"""Text and lines that are seen on white paper and on black."""

LIGHT = "--zero: rgb(250 250 250); --positive: rgb(132 180 255); --negative: rgb(255 176 120); --frame: rgb(176 0 110);"
DARK = "--zero: rgb(30 33 38); --positive: rgb(34 84 160); --negative: rgb(138 70 22); --frame: rgb(255 120 200);"
"""CSS of an exported page, the same hues, pale enough for the numbers in a cell; a frame is around changes."""

MOST_PIXELS = 128
"""Rows and columns of a picture at most; of a larger matrix every second, third, ..."""


def strengths(values: NDArray[Any], largest: float | None = None) -> NDArray[np.float64]:
    """Return the strength of colours, -1 to 1, by the square root, so that small values show; 0 if not finite.

    >>> strengths(np.array([[4.0, -1.0], [0.0, np.nan]])).tolist()
    [[1.0, -0.5], [0.0, 0.0]]
    """
    finite = np.where(np.isfinite(values), values, 0).astype(np.float64)
    most = float(np.abs(finite).max(initial=0.0)) if largest is None else largest
    return np.asarray(np.clip(np.sign(finite) * np.sqrt(np.abs(finite) / (most or 1.0)), -1.0, 1.0))


def tint(strength: float) -> str:
    """CSS of a cell: transparent, so that its number is read in light and in dark.

    >>> tint(-1.0), tint(0.0)
    (';background:#e8833a80', '')
    """
    alpha = round(128 * abs(strength))
    return f";background:{NEGATIVE if strength < 0 else POSITIVE}{alpha:02x}" if alpha else ""


def picture(values: NDArray[Any], largest: float | None = None) -> str:
    """Draw a matrix as an ``img`` that needs nothing else: a PNG with transparent colours."""
    values = values[tuple(slice(None, None, -(-side // MOST_PIXELS)) for side in values.shape)]
    strength = strengths(values, largest)[..., None]
    colours = np.where(strength < 0, rgb(NEGATIVE), rgb(POSITIVE))
    missing = np.isnan(values)[..., None]
    pixels = np.concatenate(
        [np.where(missing, rgb(UNDRAWN), colours), np.where(missing, 128 / 255, np.abs(strength))], axis=-1
    )
    look = "image-rendering:pixelated;width:9em;border:1px solid"
    return f'<img alt="" style="{look}" src="data:image/png;base64,{b64encode(_png(255 * pixels)).decode()}">'


def rgb(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of a colour, 0 to 1."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:], 16) / 255


def _png(pixels: NDArray[Any]) -> bytes:
    """Write pixels, height x width x RGBA, as a PNG."""
    height, width, _ = pixels.shape
    lines = np.pad(pixels.astype(np.uint8).reshape(height, 4 * width), ((0, 0), (1, 0)))  # no filter

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 6, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
