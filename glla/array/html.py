"""Display of an array: as NumPy prints it, and in a notebook with its device.

Of a large array the corners are read back, `EDGE` elements from each end of a side, whatever the size. They are read
with slices, so this module is independent of layouts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import GllaError
from glla.passes.text.html import line, table

EDGE = 3
"""Rows, or columns, shown at each end of a side."""

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
    """Describe an array, without its values."""
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
    """Format the corners of the last two dimensions, of the first matrix if there are more."""
    shape = array.shape
    if 0 in shape:
        return line(f"no elements, shape {shape}")
    lead = max(0, len(shape) - 2)
    texts = _frame(array, (slice(0, 1),) * lead, (1, 1, *shape)[-2:])
    note = ""
    if any(count > 1 for count in shape[:-2]):
        note = line(f"[{', '.join('0' * lead)}, :, :] of shape {shape}")
    return note + table((), texts, numbers=True)


def _frame(array: Any, lead: tuple[slice, ...], sides: tuple[int, ...]) -> list[list[str]]:
    """Read the corners and format them, with dots between them."""
    rows, columns = (_ends(side) for side in sides)
    lines: list[list[str]] = []
    for down in rows:
        blocks = [_read(array, (*lead, down, right)) for right in columns]
        texts = [[[_number(value) for value in row] for row in block] for block in blocks]
        lines += [_joined(parts) for parts in zip(*texts, strict=True)]
        if len(rows) > 1 and down is rows[0]:
            lines.append(["⋮"] * len(lines[0]))
    return lines


def _ends(side: int) -> tuple[slice, ...]:
    """Slices of a side: all of it, or its two ends."""
    return (slice(0, side),) if side <= 2 * EDGE else (slice(0, EDGE), slice(side - EDGE, side))


def _read(array: Any, block: tuple[slice, ...]) -> NDArray[Any]:
    """Read a block as a matrix; with fewer than two dimensions the last ones count."""
    taken: Any = array[block[max(0, len(block) - len(array.shape)) :]] if array.shape else array
    values = np.asarray(taken if isinstance(taken, np.ndarray | np.generic) else taken.numpy())
    height, width = (one.stop - one.start for one in block[-2:])
    return values.reshape(height, width)


def _joined(parts: tuple[list[str], ...]) -> list[str]:
    left, *right = parts
    return [*left, "⋯", *right[0]] if right else left


def _number(value: Any) -> str:
    """Format an element as NumPy does, with up to six digits: a whole float ends in a point.

    >>> [_number(one) for one in (np.float32(0.1), np.float32(-2), np.float32("nan"), np.int32(7), np.bool_(True))]
    ['0.1', '-2.', 'nan', '7', 'True']
    """
    if not isinstance(value, np.floating):
        return str(value)
    text = f"{float(value):.6g}"
    return f"{text}." if text.lstrip("-").isdigit() else text
