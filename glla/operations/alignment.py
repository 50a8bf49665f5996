"""Stacks of systems made alike."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from glla.passes import Form, Forms


def aligned(forms: Forms) -> Forms:
    """Make stacks alike. One A for all right-hand sides makes one system of them."""
    a, b = forms
    if a.resident or b.resident:
        return forms
    batch = np.broadcast_shapes(a.stack, b.stack)
    n, columns = b.matrix
    if math.prod(batch) == 1:
        return a.member, b.member
    if a.count == 1:
        return replace(a, shape=a.matrix), Form((n, math.prod(batch) * columns))
    return tuple(Form((math.prod(batch), *form.matrix)) for form in forms)
