"""Devices for the tests of the device, and arrays of every order of memory."""

import numpy as np
import pytest

import glla

VIEWS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "every other": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "of a larger one": lambda a: np.pad(a, 3)[3:-3, 3:-3],
    "read-only": lambda a: np.frombuffer(a.tobytes(), np.float32).reshape(a.shape),
    "one row for all": lambda a: np.broadcast_to(a[:1], a.shape),
}


@pytest.fixture
def fresh():
    """A device of its own, with nothing in its pool."""
    with glla.Device() as own:
        yield own


@pytest.fixture
def quiet(monkeypatch):
    """A device that does not debug."""
    monkeypatch.delenv("GLLA_DEBUG")
    with glla.Device() as own:
        yield own


@pytest.fixture(params=[True, False], ids=["debug", "no debug"])
def either(request):
    """A device of its own that debugs, and one that does not."""
    return request.getfixturevalue("fresh" if request.param else "quiet")
