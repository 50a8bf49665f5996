"""Systems of equations that share textures: in columns or in rows, and only what is asked for."""

import numpy as np
import pytest

from glla.operations.bands.tridiagonal import VARIANTS, Systems
from glla.operations.batches.stack import Stack
from glla.passes import Draft, Storage


@pytest.mark.parametrize("variant", VARIANTS)
def test_systems_in_rows_are_those_in_columns(device, variant, rng):
    """Without a transpose: the equations of a system side by side, as the second half of a step has them."""
    n, count = 21, 6
    equations = np.zeros((n, count, 4), np.float32)
    equations[..., 0], equations[..., 2] = rng.standard_normal((2, n, count))
    equations[0, :, 0] = equations[-1, :, 2] = 0
    equations[..., 1] = 0.5 + np.abs(equations[..., 0]) + np.abs(equations[..., 2])
    equations[..., 3] = rng.standard_normal((n, count))
    found = []
    for rows in (False, True):
        draft = Draft("systems")
        start = draft.operand("E", Storage(count, n) if rows else Storage(n, count))
        stack = Stack(count, 1, count, 16384) if rows else Stack(count, count, 1, 16384)
        systems = Systems(draft, stack, n, rows=rows, guard=variant == "thomas")
        x, _, _ = systems.solve(start, variant, VARIANTS[variant].settle(variant, ()))
        plan = draft.plan({"x": x})
        plan.check()
        texels = equations.swapaxes(0, 1) if rows else equations
        texture = device.run(plan, E=device.write_texels(np.ascontiguousarray(texels)))["x"]
        x = device.read(texture)[..., 0] if device.read(texture).ndim == 3 else device.read(texture)
        found.append(x.T if rows else x)
    assert (found[0] == found[1]).all()
