"""Elements of wrapped arrays moved, against NumPy."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.linear import move
from glla.operations.linear.view import View
from glla.passes.layout import packed

SIZE = 8


def test_a_value_has_the_type_of_the_array():
    with pytest.raises(
        PlanError, match=r"^assign: the value has the array's dtype, float32, got int32; cast it first$"
    ):
        move.assign(View.of((3,)), 0, View.of((), "int32"), SIZE)


def test_arrays_that_do_not_agree_are_not_joined():
    with pytest.raises(
        PlanError, match=r"^concat: arrays have one dtype and agree in shape but for axis 0, got float32"
    ):
        move.concat((View.of((3, 2)), View.of((3, 3))), 0, SIZE)


def test_rolls(run, view, rng):
    a = rng.integers(0, 99, (4, 6)).astype(np.int32)
    for shift in (0, 1, -1, 5, -13):
        for axis in (0, 1):
            got = run(move.roll(view(a), shift, axis, SIZE), a.shape, "int32", A=a)
            np.testing.assert_array_equal(got, np.roll(a, shift, axis))


def test_takes(run, view, rng):
    a = rng.normal(size=(4, 3, 6)).astype(np.float32)
    indices = np.array([2, -1, 0, 2, 1], np.int32)
    for axis in (0, 1, -1):
        expected = np.take(a, indices, axis=axis)
        plan = move.take(view(a), view(indices), axis, SIZE * 2)
        np.testing.assert_array_equal(run(plan, expected.shape, "float32", A=a, I=indices), expected)
        shape = list(a.shape)
        shape[axis] = 7
        along = rng.integers(-3, 3, shape).astype(np.int32)
        expected = np.take_along_axis(a, along, axis)
        plan = move.take_along_axis(view(a), view(along), axis, SIZE * 2)
        np.testing.assert_array_equal(run(plan, expected.shape, "float32", A=a, I=along), expected)
    far = np.array([100, -100], np.int32)
    got = run(move.take(view(a), view(far), 0, SIZE), (2, 3, 6), "float32", A=a, I=far)
    np.testing.assert_array_equal(got, a[[3, 0]])
    with pytest.raises(PlanError, match=r"^take: indices are int32, got float32; cast them$"):
        move.take(View.of((3,)), View.of((3,)), 0, SIZE)


def test_triangles(run, view, rng):
    for shape in [(3, 4), (2, 5, 3), (1, 1), (2, 1, 4)]:
        a = rng.integers(1, 99, shape).astype(np.int32)
        for diagonal in (-2, 0, 1):
            got = run(move.triangle(view(a), False, diagonal, SIZE), shape, "int32", A=a)
            np.testing.assert_array_equal(got, np.tril(a, diagonal))
            got = run(move.triangle(view(a), True, diagonal, SIZE), shape, "int32", A=a)
            np.testing.assert_array_equal(got, np.triu(a, diagonal))


def blocks(a):
    """Texels of a packed matrix, by NumPy."""
    height, width = packed(a.shape)
    full = np.zeros((2 * height, 2 * width), np.float32)
    full[: a.shape[0], : a.shape[1]] = a
    return full.reshape(height, 2, width, 2).transpose(0, 2, 1, 3).reshape(height, width, 4)


def test_packs_and_unpacks(device, run, view, rng):
    stack = rng.normal(size=(3, 5, 7)).astype(np.float32)
    for a in (stack[1], stack[2].T, stack[:, 0], stack[0, ::-1, 1::2], stack[:, :, 0]):
        plan = move.pack(view(a), SIZE * 2)
        texture = device.write_texels(texels_of(stack, plan))
        texture = device.run(plan, A=texture)["packed"]
        np.testing.assert_array_equal(device.read(texture), blocks(a))
        m, n = a.shape
        flat = device.read(device.run(move.unpack((m, n), (m, n), SIZE), M=texture)["result"]).ravel()
        np.testing.assert_array_equal(flat[: a.size], a.ravel())
        assert not flat[a.size :].any()
        plan = move.unpack((m, n), (n, m), SIZE, down=(0, 1), right=(1, 0))
        flat = device.read(device.run(plan, M=texture)["result"]).ravel()
        np.testing.assert_array_equal(flat[: a.size], a.T.ravel())
    truths = stack > 0
    plan = move.pack(view(truths[0]), SIZE * 2)
    texture = device.run(plan, A=device.write_texels(texels_of(truths, plan)))["packed"]
    np.testing.assert_array_equal(device.read(texture), blocks(truths[0]))


def texels_of(memory, plan):
    storage = plan.slots["A"]
    flat = np.full(storage.height * storage.width * 4, 7777, storage.dtype)
    flat[: memory.size] = memory.ravel()
    return flat.reshape(storage.height, storage.width, 4)


def test_raw_and_back(run, view, rng, device):
    a, b = rng.normal(size=(3, 4, 5)).astype(np.float32), rng.normal(size=(3, 5, 2)).astype(np.float32)
    c = np.ascontiguousarray(b.transpose(1, 2, 0)).transpose(2, 0, 1)
    side = 16
    for parts in ((a,), (a, b), (a, c), (b, c)):
        plan = move.to_raw(tuple(view(part) for part in parts), side)
        got = run(plan, (sum(part.size for part in parts),), "float32", **dict(zip("AB", parts, strict=False)))
        np.testing.assert_array_equal(got, np.concatenate([part.ravel() for part in parts]))
    records = rng.normal(size=(3, 25)).astype(np.float32)
    plan = move.from_raw((4, 5), 25, side, start=2, matrices=3)
    storage = plan.slots["raw"]
    laid = np.zeros(storage.height * storage.width, np.float32)
    laid[: records.size] = records.ravel()
    texture = device.write_texels(laid.reshape(storage.height, storage.width, 1))
    flat = device.read(device.run(plan, raw=texture)["result"]).ravel()
    np.testing.assert_array_equal(flat[:60].reshape(3, 20), records[:, 2:22])
    assert not flat[60:].any()
