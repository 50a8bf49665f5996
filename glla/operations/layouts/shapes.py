"""Checks of operands' shapes that several operations share."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from glla.errors import ShapeError
from glla.passes import Form, Forms


def square(function: str, forms: Forms, name: str = "A") -> None:
    """Raise ShapeError unless the first operand is square."""
    shape = forms[0].shape
    if shape[-1] != shape[-2]:
        raise ShapeError(f"{function}: the last two dimensions of {name} must be square, got shape {shape}")


def one_matrix(function: str, forms: Forms) -> None:
    """Raise ShapeError unless the operand is one matrix."""
    if forms[0].stack:
        raise ShapeError(f"{function}: A must be two-dimensional, got shape {forms[0].shape}; reshape it")


def system(function: str, forms: Forms, name: str = "A") -> None:
    """Raise ShapeError unless the matrix of a system is square and the right-hand sides have as many rows."""
    square(function, forms, name)
    a, b = (form.shape for form in forms)
    if b[-2] != a[-1]:
        raise ShapeError(f"{function}: b must have as many rows as {name}, got {name} {a} and b {b}")


def by_factors(function: str, forms: Forms, name: str) -> None:
    """Raise ShapeError unless factors are square and the right-hand sides have as many rows."""
    square(function, forms, name)
    factors, b = (form.shape for form in forms)
    n = factors[-1]
    if b[-2] != n:
        raise ShapeError(f"{function}: b must have shape ({n},) or (..., {n}, k) for {name} {factors}, got {b}")


def aligned(forms: Forms) -> Forms:
    """Make stacks of the host alike. One A for all right-hand sides makes one system of them."""
    a, b = forms
    batch = np.broadcast_shapes(a.stack, b.stack)
    n, columns = b.matrix
    if math.prod(batch) == 1:
        return a.single, b.single
    if a.count == 1:
        vectors = columns == 1 < min(n, math.prod(batch)) and b.stack == batch  # seen side by side, without a copy
        wide = Form((n, math.prod(batch) * columns), transposed=vectors and not b.transposed)
        return replace(a, shape=a.matrix), wide
    return tuple(Form((math.prod(batch), *form.matrix)) for form in forms)
