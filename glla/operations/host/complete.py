"""Complete pivoting on the host: its column order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def complete_order(a: NDArray[np.float32]) -> NDArray[np.intp]:
    """Order in which complete pivoting takes the columns of a square matrix: elimination in float64.

    >>> complete_order(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([1, 0])
    """
    rest = a.astype(np.float64)
    n = len(rest)
    order = np.arange(n)
    for k in range(n - 1):
        row, column = divmod(int(np.argmax(np.abs(rest[k:, k:]))), n - k)
        rest[[k, k + row]] = rest[[k + row, k]]
        rest[:, [k, k + column]] = rest[:, [k + column, k]]
        order[[k, k + column]] = order[[k + column, k]]
        if rest[k, k] == 0:
            break
        rest[k + 1 :, k + 1 :] -= np.outer(rest[k + 1 :, k] / rest[k, k], rest[k, k + 1 :])
    return order
