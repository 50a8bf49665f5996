"""Display of an array: as NumPy prints it, and in a notebook with its device.

Of a large array the corners are read back, `EDGE` elements from each end of a side. They are read with slices, so this
module is independent of layouts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.display.colours import strengths, tint
from glla.display.html import line, numbers
from glla.errors import GllaError

EDGE = 3
"""Rows, or columns, shown at each end of a long side."""

SIDE = 12
"""Rows, or columns, up to which a notebook shows all, with colours."""

DIGITS = 4
"""Significant digits of the largest number of a column."""

WHOLE = 1000
"""Elements up to which `repr` shows all of an array, as NumPy's does."""


def text(array: Any, separator: str, prefix: str = "") -> str:
    """Format an array as NumPy does, with a prefix as `repr`, else as `str`; an unreadable one with the reason."""
    large = array.size > WHOLE
    try:
        values = _whole(array, 0) if large else array.numpy()
    except GllaError as error:
        return f"<{_name(array)}: {error}>"
    shown = np.array2string(values, separator=separator, prefix=prefix, threshold=0 if large else WHOLE, edgeitems=EDGE)
    shape = f", shape={array.shape}" if large or not array.size else ""
    return f"{prefix}{shown}{shape}, dtype={array.dtype.name})" if prefix else shown


def _whole(array: Any, axis: int) -> NDArray[Any]:
    """Read the ends of each long dimension, and an element between them, for which NumPy prints dots."""
    if axis == array.ndim:
        values: NDArray[Any] = array.numpy()
        return values
    before, side = (slice(None),) * axis, array.shape[axis]
    if side <= 2 * EDGE + 1:
        return _whole(array, axis + 1)
    ends = (slice(0, EDGE + 1), slice(side - EDGE, side))
    return np.concatenate([_whole(array[(*before, end)], axis + 1) for end in ends], axis)


def _name(array: Any) -> str:
    return f"glla.Array {' x '.join(map(str, array.shape)) or 'number'}"


def of_array(array: Any) -> str:
    """Display an array on a device: its description, and its corners.

    Reads the corners back, which synchronises. Where they cannot be read, after the array or its device was released or
    in another thread, the reason is shown instead.
    """
    name = _name(array)
    try:
        return line(f"{name} {array.dtype.name}, on {array.device.info.renderer}") + corners(array)
    except GllaError as error:
        return line(name) + line(str(error))


def of_host(array: NDArray[Any]) -> str:
    """Display an array of NumPy's in the same way."""
    sides = " x ".join(map(str, array.shape))
    return line(f"numpy.ndarray {sides or 'scalar'} {array.dtype}") + corners(array)


def corners(array: Any) -> str:
    """Format the last two dimensions, of the first matrix if there are more; of a long side the ends."""
    shape = array.shape
    if 0 in shape:
        return line(f"no elements, shape {shape}")
    lead = max(0, len(shape) - 2)
    sides = (1, 1, *shape)[-2:]
    across, first = _ends(sides[1]), (slice(0, 1),) * lead
    values = np.block([[_read(array, (*first, down, right)) for right in across] for down in _ends(sides[0])])
    cells = [list(row) for row in zip(*map(_column, values.T), strict=True)]
    tints = (
        [[tint(one) for one in row] for row in strengths(values)]
        if max(sides) <= SIDE and values.dtype.kind in "biuf"
        else None
    )
    if sides[1] > SIDE:
        cells = [[*row[:EDGE], "⋯", *row[EDGE:]] for row in cells]
    if sides[0] > SIDE:
        cells.insert(EDGE, ["⋮"] * len(cells[0]))
    note = ""
    if any(count > 1 for count in shape[:-2]):
        note = line(f"[{', '.join('0' * lead)}, :, :] of shape {shape}")
    return note + numbers(cells, tints)


def _ends(side: int) -> tuple[slice, ...]:
    """Slices of a side: all of it, or its two ends."""
    return (slice(0, side),) if side <= SIDE else (slice(0, EDGE), slice(side - EDGE, side))


def _read(array: Any, block: tuple[slice, ...]) -> NDArray[Any]:
    """Read a block as a matrix; with fewer than two dimensions the last ones count."""
    taken: Any = array[block[max(0, len(block) - len(array.shape)) :]] if array.shape else array
    values = np.asarray(taken if isinstance(taken, np.ndarray | np.generic) else taken.numpy())
    height, width = (one.stop - one.start for one in block[-2:])
    return values.reshape(height, width)


def _column(values: NDArray[Any]) -> list[str]:
    """Format a column with the same decimals in each line, at least one of which has `DIGITS` significant digits.

    >>> _column(np.float32([0.125, -2, 1e-9])), _column(np.float32([1, 2000])), _column(np.array([True]))
    (['0.125', '-2.000', '1e-09'], ['1.', '2000.'], ['True'])
    """
    if not np.issubdtype(values.dtype, np.floating):
        return [str(value) for value in values]
    finite = np.abs(values[np.isfinite(values)])
    most = float(finite.max(initial=0.0))
    if most and not 1e-4 <= most < 1e6:
        return [f"{value:.{DIGITS}g}" for value in values]
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(most or 1.0)))
    rounded = finite[finite >= 10.0**-decimals / 2].round(decimals)
    decimals = next((d for d in range(decimals) if np.array_equal(rounded.round(d), rounded)), decimals)
    least = 10.0**-decimals / 2
    return [f"{value:#.{decimals}f}" if not 0 < abs(value) < least else f"{value:.0e}" for value in values.tolist()]
