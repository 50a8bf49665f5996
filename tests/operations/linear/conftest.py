"""Plans run on wrapped arrays, with what holds for each of them checked on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import glla
from glla.operations.linear.view import View
from glla.passes import Plan, Storage


def texels(memory: np.ndarray, storage: Storage) -> np.ndarray:
    """Lay elements into texels by NumPy; spare channels hold what no result may hold."""
    flat = np.full(storage.height * storage.width * 4, 7777, dtype=storage.dtype)
    flat[: memory.size] = memory.ravel()
    return flat.reshape(storage.height, storage.width, 4)


def view_of(array: np.ndarray, memory: np.ndarray) -> View:
    """The view that an array is of a C-contiguous one."""
    offset = (array.__array_interface__["data"][0] - memory.__array_interface__["data"][0]) // memory.itemsize
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return View(array.shape, strides, offset if array.size else 0, memory.size, array.dtype.name)


def memory_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view."""
    while array.base is not None:
        array = array.base
    return array


@pytest.fixture
def view() -> Callable[[np.ndarray], View]:
    """Give the view that an array is of whoever owns its memory."""
    return lambda array: view_of(array, memory_of(array))


@pytest.fixture
def run(device: glla.Device) -> Callable[..., np.ndarray]:
    """Run a plan on arrays, each given by the memory that its view is of; give its one result in a shape."""

    def run(plan: Plan, shape: tuple[int, ...], dtype: str, **arrays: np.ndarray) -> np.ndarray:
        plan.check(device.limits)
        laid = {name: texels(memory_of(array), plan.slots[name]) for name, array in arrays.items()}
        given = {name: device.write_texels(one) for name, one in laid.items()}
        (result,) = device.run(plan, **given).values()
        for name, texture in given.items():
            assert device.read(texture).tobytes() == laid[name].tobytes(), f"operand {name} changed"
        flat = device.read(result).ravel()
        count = int(np.prod(shape, dtype=int))
        assert not flat[count:].view(np.int32).any(), "spare channels are not zero"
        if dtype == "bool":
            assert np.isin(flat[:count], (0, 1)).all()
        return flat[:count].astype(dtype).reshape(shape)

    return run
