"""Costs of an elimination: steps of two columns, additions and multiplications."""

from __future__ import annotations

from glla.passes.layout import Shape, texels


def flops(shape: Shape) -> int:
    """Additions and multiplications of an elimination of an m x n matrix: about 2/3 n^3 for a square one.

    >>> flops((2, 2))
    2
    """
    m, n = shape
    return sum(2 * (m - 1 - i) * (n - 1 - i) for i in range(min(m, n)))


def steps(shape: Shape) -> int:
    """Column pairs to eliminate.

    >>> steps((5, 9))
    3
    """
    return texels(min(shape))
