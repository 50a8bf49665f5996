"""Plans run from NumPy arrays to NumPy arrays, with what holds for every kernel checked on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import glla
from glla.passes import COMPUTE, Dispatch, Pass, Plan, matrix
from glla.passes.layout import Shape


def packed(array: np.ndarray) -> np.ndarray:
    """Pack a matrix by NumPy, with zeros for padding; texels stay as they are."""
    if array.ndim == 3:
        return array.astype(np.float32)
    storage = matrix(array.shape)
    full = np.zeros((2 * storage.height, 2 * storage.width), dtype=np.float32)
    full[: array.shape[0], : array.shape[1]] = array
    blocks = full.reshape(storage.height, 2, storage.width, 2)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3).reshape(storage.height, storage.width, 4))


class Results(dict[str, np.ndarray]):
    """Texels of each result of a plan."""

    def matrix(self, name: str, shape: Shape) -> np.ndarray:
        """Unpack a result by NumPy; its padding must be zero, bit by bit a number that adds nothing."""
        texels = self[name]
        height, width, _ = texels.shape
        full = texels.reshape(height, width, 2, 2).transpose(0, 2, 1, 3).reshape(2 * height, 2 * width)
        m, n = shape
        padding = (full[m:], full[:m, n:])
        assert not any(part.any() for part in padding), f"padding of {name} {shape} is not zero: {padding}"
        return np.ascontiguousarray(full[:m, :n])


@pytest.fixture
def run(device: glla.Device) -> Callable[..., Results]:
    """Run a plan on arrays: 2-D ones are packed, 3-D ones are texels. No pass may change an operand."""

    def run(plan: Plan, **operands: np.ndarray) -> Results:
        if any(isinstance(step, Dispatch) for step in plan.steps) and device.limits.opengl < COMPUTE:
            pytest.skip(f"a compute shader needs OpenGL 4.3, this device has {device.info.version}")
        before = {name: packed(np.asarray(value)) for name, value in operands.items()}
        textures = {name: device.write_texels(texels) for name, texels in before.items()}
        results = {name: device.read(texture) for name, texture in device.run(plan, **textures).items()}
        for name, texture in textures.items():
            assert device.read(texture).tobytes() == before[name].tobytes(), f"operand {name} changed"
        return Results(results)

    return run


@pytest.fixture
def factorise(run: Callable[..., Results]) -> Callable[..., Results]:
    """Run a plan that searches pivots, and put its records in order: `records`, a row for each step, and `health`.

    `health` is what the host makes of it: smallest ratio, largest entry, smallest norm. An echelon form takes a
    tolerance, a factorisation takes none.
    """

    def factorise(plan: Plan, a: np.ndarray, absolute: float = 0.0, relative: float = 0.0) -> Results:
        if "tolerance" not in plan.operands:
            results = run(plan, A=a)
            (records,), (health,) = results["pivots"], results["health"]
            worst = np.array([health[:, 0].min(), health[:, 1].max(), health[:, 2].min()])
            return Results(results | {"records": records, "health": worst, "healths": results["health"]})
        results = run(plan, A=a, tolerance=np.array([[[absolute, relative]]]))
        steps = sum(step.shader == "pivot/record" for step in plan.steps if isinstance(step, Pass))
        records = np.zeros((steps, 4), dtype=np.float32)
        records[0::2] = results["pivots_even"][0, : (steps + 1) // 2]
        if steps > 1:
            records[1::2] = results["pivots_odd"][0, : steps // 2]
        return Results(results | {"records": records, "health": results["health"][0, (steps - 1) // 2, :3]})

    return factorise
