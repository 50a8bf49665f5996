"""Display of a sparse matrix from its rows on the host: as NumPy prints a matrix, and where its entries are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glla.display.array import EDGE, WHOLE
from glla.display.colours import MOST_PIXELS, picture
from glla.display.html import line


def text(rows: Any) -> str:
    """Format it as NumPy prints a matrix: of a large one the ends of rows and columns."""
    large = math.prod(rows.shape) > WHOLE
    places = [
        np.r_[0 : EDGE + 1, side - EDGE : side] if large and side > 2 * EDGE + 1 else np.arange(side)
        for side in rows.shape
    ]
    inside = np.isin(rows.rows, places[0]) & np.isin(rows.columns, places[1])
    shown = np.zeros([len(one) for one in places], dtype=np.float32)
    at = np.searchsorted(places[0], rows.rows[inside]), np.searchsorted(places[1], rows.columns[inside])
    shown[at] = rows.values[inside]
    return np.array2string(shown, threshold=0 if large else WHOLE, edgeitems=EDGE)


def markup(shown: str, rows: Any) -> str:
    """Show in a notebook where the entries are, and the text of a prompt."""
    spots = np.zeros([min(side, MOST_PIXELS) for side in rows.shape])
    at = zip((rows.rows, rows.columns), spots.shape, rows.shape, strict=True)
    spots[tuple(place * size // max(side, 1) for place, size, side in at)] = 1
    head, _, numbers = shown.partition("\n")
    return f"{line(head.strip('<>'))}{picture(spots) if spots.size else ''}<pre>{numbers}</pre>"
