"""The squares of all windows of an image, summed at the positions of the windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32, as_real, finite_result
from glla.errors import OptionError, OptionTypeError, integer
from glla.gl import DeviceLike
from glla.linalg.execution import run
from glla.linalg.operands import device_of, known_variant, operand, two_dimensional
from glla.operations import OPERATIONS
from glla.operations.routes import must_fit_a_texture
from glla.operations.window_squares import LIMIT, WINDOW, check
from glla.passes import Form, forms_of
from glla.registry import delegating

OPERATION = OPERATIONS["window_squares"]


@delegating
def window_squares(
    image: Any,
    w: int = WINDOW,
    limit: float | None = LIMIT,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32 | NDArray[np.uint16]:
    """Sum the matrix squares of all w x w windows of an image, each at the position of its window.

    C[i, j] = sum over all windows W that contain (i, j), of (W @ W)[i - top, j - left].

    Examples
    --------
    >>> window_squares(np.ones((6, 7), np.uint8))[:3]
    array([[ 5, 10, 15, 15, 15, 10,  5],
           [10, 20, 30, 30, 30, 20, 10],
           [10, 20, 30, 30, 30, 20, 10]], dtype=uint16)
    >>> a = np.array([[1, 2], [3, 4]])
    >>> bool((window_squares(a, w=2) == a @ a).all())
    True

    Parameters
    ----------
    image : array_like or Array, shape (m, n)
        Real numbers, m, n >= w. The channels of a colour image are separate images.
    w : int
        Rows and columns of a window; at most 255, with `gather` 38.
    limit : float or None
        Clip the sums to [0, limit], unless None. For images without negative elements clipping products or squares
        gives the same result.
    variant, device, check_finite
        As in `glla.matmul`; a key of `glla.operations.window_squares.VARIANTS`, by default ``separable``.

    Returns
    -------
    ndarray, shape (m, n), or Array
        float32; for uint8 and uint16, with a whole limit up to 65535, uint16. For an Array an Array, unsynchronised.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        The image is smaller than a window; not two-dimensional, real, finite; or a sum without limit is not finite.
    OptionError, LimitError
        Unknown variant, `w` below 1, `limit` below 0; a window too large for the variant, an image too large.

    Notes
    -----
    Error: abs(C - C^) <= (w^2 + 2 w) u times the same sum of magnitudes, u = 2^-24. Exact for integers while sums stay
    below 2^24; with a limit up to 2^24 - 1 exact for all images of 16-bit levels, as larger sums stay above it. Cost:
    ``separable`` one pass, about 4 w^2 + 8 w additions for four elements; ``gather`` one pass of 2 w^3 flop an element;
    ``frames`` a pass for each of m - w + 1 rows of windows. Source: "Dense matrix multiplication" (aksoyyusuf, CUDA).
    """
    w = integer("window_squares", "w", w)
    if w < 1:
        raise OptionError(f"window_squares: w must be at least 1, got {w}")
    if limit is not None:
        if isinstance(limit, bool) or not isinstance(limit, int | float | np.integer | np.floating):
            raise OptionTypeError(f"window_squares: limit must be a number or None, got {limit!r}")
        if not 0 <= limit < np.inf:
            raise OptionError(f"window_squares: limit must be a finite number from 0 on, got {limit!r}")
        limit = float(limit)
    known_variant("window_squares", OPERATION, variant)
    given = image if isinstance(image, Array) else as_real("window_squares", "image", image)
    value = operand("window_squares", "image", given, check_finite)
    two_dimensional("window_squares", "image", value)
    forms = forms_of((value,))
    check(forms, w)
    target = device_of("window_squares", device, value)
    side = max(value.shape)
    must_fit_a_texture("window_squares", (side, side), target.limits)
    plan = OPERATION.call_plan((Form.of(value),), target.limits, variant=variant, w=w, limit=limit)
    result = run(target, plan, {"A": value})["C"]
    if isinstance(value, Array):
        return result  # type: ignore[no-any-return]
    finite_result("window_squares", result, check_finite)
    if given.dtype in (np.uint8, np.uint16) and limit is not None and limit <= LIMIT and limit == int(limit):
        return np.asarray(result.astype(np.uint16))
    return np.asarray(result)
