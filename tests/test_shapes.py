"""Shapes of every call as NumPy has them: batches that broadcast, vectors, nothing at all, and what is refused."""

from functools import partial
from itertools import cycle

import numpy as np
import pytest

from glla.errors import ShapeError
from tests.matrix import CALLS, arrays, every_place, every_system, host, on_device, operands_of, parts, spelled, verdict

FUNCTIONS = ("inv", "inv_pos", "triangular_inverse", "cholesky", "det", "slogdet", "lu_factor", "qr")
N = 3
BATCHES = [
    ((), (N,)), ((), (N, 2)), ((), (N, 0)), ((), (4, N, 2)), ((), (4, N, 0)), ((), (0, N, 2)), ((), (2, 3, N, 1)),
    ((4,), (N,)), ((4,), (N, 2)), ((4,), (4, N, 2)), ((4,), (1, N, 2)), ((4,), (2, 1, N, 2)), ((4,), (4, N, 0)),
    ((1,), (4, N, 2)), ((1,), (N,)), ((2, 1), (3, N, 2)), ((0,), (N,)), ((0,), (N, 2)), ((0,), (0, N, 1)),
    ((2, 0), (N,)),
]  # fmt: skip
"""Of A, and the shape of b."""
WRONG = [((), ()), ((), (N + 1,)), ((), (N + 1, 2)), ((), (1, 1)), ((4,), (4,)), ((4,), (4, N)), ((4,), (3, N, 2))]


def in_turn(*places):
    """A place for each operand of a system."""
    turns = cycle(places)
    return lambda operand: next(turns)(operand)


def calls(name):
    """All forms of a call, with operands in the host's memory, on the device, and one of them there."""
    for form in spelled(name):
        for places in ((host, host), (on_device, on_device), (on_device, host), (host, on_device)):
            yield places, partial(form, in_turn(*places))


@every_system
@pytest.mark.parametrize(("batch", "shape"), BATCHES, ids=str)
def test_systems_broadcast_as_numpys(name, batch, shape, rng):
    one, _ = operands_of(name, N, rng)
    a = np.broadcast_to(one, (*batch, *one.shape)) * 2.0 ** rng.integers(-1, 2, (*batch, 1, 1)).astype(np.float32)
    a = np.tril(a, -1) / a[..., :1, :1] + np.triu(a) if name == "lu_solve" else a
    b = rng.standard_normal(shape).astype(np.float32)
    expected = np.linalg.solve(np.broadcast_to(np.eye(N), (*batch, N, N)), b).shape
    columns = b[:, np.newaxis] if b.ndim == 1 else b
    wide = np.broadcast_to(columns, (*np.broadcast_shapes(batch, columns.shape[:-2]), *columns.shape[-2:]))
    for number, (places, call) in enumerate(calls(name)):
        x = call(a.astype(np.float32), b)
        assert x.shape == expected
        assert number >= 4 or isinstance(x, np.ndarray) == (places == (host, host))
        found = arrays(x).reshape(wide.shape)
        for i in np.ndindex(wide.shape[:-2]) if wide.size else ():
            own = np.broadcast_to(a, (*wide.shape[:-2], *one.shape))[i].astype(np.float32)
            assert verdict(name, (own, wide[i].copy()), found[i].copy()).ok


@every_system
@pytest.mark.parametrize(("batch", "shape"), WRONG, ids=str)
def test_systems_that_numpy_refuses_are_refused(name, batch, shape, rng):
    one, _ = operands_of(name, N, rng)
    a, b = np.broadcast_to(one, (*batch, *one.shape)).copy(), np.ones(shape, np.float32)
    with pytest.raises(ValueError):  # LinAlgError is one
        np.linalg.solve(np.broadcast_to(np.eye(N), (*batch, N, N)), b)
    for _, call in calls(name):
        with pytest.raises(ShapeError, match=r"^\w+: "):
            call(a, b)


@every_system
@every_place
def test_systems_of_nothing(name, place, device):
    before = device.stats().passes
    for batch in ((), (4,), (0,)):
        for shape in ((0,), (0, 0), (0, 3), (4, 0, 2)):
            rows = {"tridiagonal": 3, "pentadiagonal": 5}.get(name, 2 if name.endswith("banded") else 0)
            a, b = np.zeros((*batch, rows, 0), np.float32), np.zeros(shape, np.float32)
            try:
                expected = np.linalg.solve(np.zeros((*batch, 0, 0)), b).shape
            except ValueError:
                continue
            assert CALLS[name].call(place(a), place(b)).shape == expected
            assert device.stats().passes == before


@pytest.mark.parametrize("name", FUNCTIONS)
@every_place
@pytest.mark.parametrize("batch", [(), (3,), (2, 0)])
def test_matrices_of_nothing(name, place, batch):
    a = np.zeros((*batch, 0, 0), np.float32)
    like = {"inv_pos": "inv", "triangular_inverse": "inv", "lu_factor": None}.get(name, name)
    found = parts(arrays(CALLS[name].call(place(a))))
    expected = parts(getattr(np.linalg, like)(a)) if like else [a, np.zeros((*batch, 0), np.int32)]
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and (one == other).all()
        assert one.dtype == (other.dtype if other.dtype == np.int32 else np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (0, 1), (1, 0), (4, 3, 2)])
def test_what_numpy_takes_for_no_matrix_is_refused(name, shape):
    like = {"inv_pos": "inv", "triangular_inverse": "inv", "lu_factor": "qr"}.get(name, name)
    a = np.ones(shape, np.float32)
    try:
        getattr(np.linalg, like)(a)
    except np.linalg.LinAlgError:
        for place in (host, on_device):
            with pytest.raises(ShapeError, match=rf"^{CALLS[name].function}: ") as caught:
                CALLS[name].call(place(a))
            assert isinstance(caught.value, np.linalg.LinAlgError)
    else:
        assert name in ("qr", "lu_factor")
        CALLS[name].call(a)
