"""The product of a matrix and its transpose: recognised, symmetric bit by bit, half of it computed."""

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import ShapeError
from glla.operations.product import matmul
from glla.passes import Limits, resident

SHAPES = [(1, 1), (1, 40), (40, 1), (2, 3), (3, 2), (7, 7), (8, 8), (9, 4), (33, 5), (5, 33), (65, 66)]
every_half = pytest.mark.parametrize("variant", matmul.HALVES)
every_place = pytest.mark.parametrize("on_device", [False, True])


def pairs(a):
    """A A^T and A^T A, by the places of the operands."""
    return (a, a.T), (a.T, a)


def is_bitwise_symmetric(c):
    return np.array_equal(c.view(np.int32), np.ascontiguousarray(c.T).view(np.int32))


# What is recognised -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_arrays_are_recognised_by_their_memory(dtype):
    a = np.arange(60).reshape(6, 10).astype(dtype)
    for one in (a, a.T, a[1:4, 2:], a[::2, ::-1], np.asfortranarray(a), a[:, :1]):
        assert matmul.is_symmetric(one, one.T)
        assert matmul.is_symmetric(one.T, one)
        assert not matmul.is_symmetric(one, one.T.copy())


def test_what_is_something_else_is_not():
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    cut = a[:4, :4]
    others = [
        (a, a),
        (cut, a[:4, 1:5].T),
        (cut, a.reshape(16, 4)[:4].T),
        (a, a.T.view(np.int32)),
        (a[:0], a[:0].T),
        (a[0], a[0]),
        (a.reshape(1, 8, 8), a.T),
        ([[1, 2]], [[1], [2]]),
        (a[::-1], a.T),
        (np.broadcast_to(a[0], (8, 8)), a.T),
    ]
    for left, right in others:
        assert not matmul.is_symmetric(left, right)


def test_values_on_the_device_are_recognised_by_their_texture(rng):
    a = testing.normal(6, 6, rng)
    A, B = glla.asarray(a), glla.asarray(a)
    assert matmul.is_symmetric(A, A.T)
    assert matmul.is_symmetric(A.T, A)
    assert matmul.is_symmetric(A.value, A.T.value)
    for left, right in ((A, A), (A.T, A.T), (A, B.T), (A, a.T), (a, A.T), (A, A[:5].T), (A, A.astype("int32").T)):
        assert not matmul.is_symmetric(left, right)


# Values ------------------------------------------------------------------------------------------------------------


@every_half
@every_place
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers_are_exact(rng, variant, on_device, shape):
    a = testing.integers(*shape, rng)
    for left, right in pairs(glla.asarray(a) if on_device else a):
        c = np.asarray(glla.matmul(left, right, variant=variant))
        testing.assert_exact(c, np.asarray(left) @ np.asarray(right))
        assert is_bitwise_symmetric(c)


@pytest.mark.threaded
@every_half
@pytest.mark.parametrize("shape", [(130, 97), (97, 131)])
def test_half_has_the_bits_of_the_whole(rng, variant, shape):
    a = testing.normal(*shape, rng)
    for left, right in pairs(glla.asarray(a)):
        c = glla.matmul(left, right, variant=variant).numpy()
        whole = glla.matmul(left, glla.asarray(right.numpy()), variant=variant).numpy()
        assert np.array_equal(np.tril(c).view(np.int32), np.tril(whole).view(np.int32))
        assert is_bitwise_symmetric(c)
        testing.assert_product(c, left.numpy(), right.numpy())


def test_a_sum_in_slices(device, rng):
    a = testing.integers(21, 90, rng)
    made = matmul.plan(
        resident((21, 90), (90, 21)), variant="register_blocked", parameters=(("PASSES", 4),), symmetric=True
    )
    assert made.cost.passes == 8 and made.operands == ("A",)
    made.check(Limits())
    result = device.run(made, A=glla.asarray(a, device=device).texture)["C"]
    testing.assert_exact(device.download(result, (21, 21)), a @ a.T)


@pytest.mark.parametrize("dtype", ["float64", "int16", ">f4"])
def test_other_types_and_strides(rng, dtype):
    a = testing.integers(140, 150, rng).astype(dtype)[::-1, ::2]
    out = np.full((140, 140), -1, dtype=np.float32)
    assert glla.matmul(a, a.T, out=out) is out
    testing.assert_exact(out, a.astype(np.float32) @ a.T.astype(np.float32))


# Plans -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("software", [True, False])
def test_what_is_shown_is_what_a_call_takes(rng, software):
    limits = Limits(software=software)
    a = testing.normal(400, 300, rng)
    for one in (a, glla.asarray(a)):
        for left, right in pairs(one):
            half, whole = (
                glla.plan("matmul", left, right, limits=limits),
                glla.plan("matmul", left, right + 0, limits=limits),
            )
            m, k = left.shape
            assert half.operands == ("A",) and len(whole.operands) == 2
            assert (half.cost.flops, whole.cost.flops) == (m * (m + 1) * k, 2 * m * m * k)
    assert "LOWER=1" in str(half) and "MIRROR=1" in str(half)


def test_variants_without_halves_take_no_notice():
    forms = resident((50, 60), (60, 50))
    for variant in ("inner_product", "packed_4x1", "compute_tiled"):
        made = matmul.plan(forms, Limits(opengl=430), variant=variant, symmetric=True)
        assert made.operands == ("A", "B")


def test_shapes_must_be_those_of_a_transpose():
    with pytest.raises(ShapeError, match=r"^matmul: a symmetric product must have as many rows as columns, got 5 x 7$"):
        matmul.plan(resident((5, 6), (6, 7)), symmetric=True)
