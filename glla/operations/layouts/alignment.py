"""Broadcasting of the leading dimensions of A and B."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from glla.operations.linear.view import View
from glla.passes import Form, Forms


def aligned(forms: Forms) -> Forms:
    """Make stacks alike. One A for all right-hand sides makes one system of them."""
    a, b = forms
    if (a.resident or b.resident) and not (a.stack or b.stack):
        return forms
    batch = np.broadcast_shapes(a.stack, b.stack)
    if a.resident or b.resident:
        return _on_device(a, b, batch)
    n, columns = b.matrix
    if math.prod(batch) == 1:
        return a.member, b.member
    if a.count == 1:
        vectors = columns == 1 < min(n, math.prod(batch)) and b.stack == batch  # seen side by side, without a copy
        wide = Form((n, math.prod(batch) * columns), transposed=vectors and not b.transposed)
        return replace(a, shape=a.matrix), wide
    return tuple(Form((math.prod(batch), *form.matrix)) for form in forms)


def _on_device(a: Form, b: Form, batch: tuple[int, ...]) -> Forms:
    """Make stacks alike of which one is on the device: both are there then, each a view over the whole stack."""
    n, columns = b.matrix
    if a.count == 1:  # a matrix is taken as stored
        matrix = Form(a.matrix, resident=True) if a.resident and a.stack else a.member
        return matrix, Form((n, math.prod(batch) * columns), resident=True)
    views = ((form, form.view if isinstance(form.view, View) else View.of(form.shape)) for form in (a, b))
    shapes = ((view.broadcast_to((*batch, *form.matrix))) for form, view in views)
    return tuple(Form(view.shape, resident=True, view=view) for view in shapes)
