"""Views: the same elements as NumPy's, whatever is done to them. No device takes part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from glla.errors import PlanError
from glla.operations.linear import create, elementwise, fold, move, order, product, scan
from glla.operations.linear.view import Over, View, broadcast_shapes, merged
from glla.passes.layout import Packed, Wrapped

SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5)


def elements(view):
    """What a view sees of a texture that holds 0, 1, 2, ..."""
    memory = np.arange(max(view.size, 1))
    strides = [stride * memory.itemsize for stride in view.strides]
    if view.count == 0:
        return np.zeros(view.shape, int)
    places = view.offset + sum(
        (
            np.arange(n).reshape((-1,) + (1,) * (view.ndim - axis - 1)) * view.strides[axis]
            for axis, n in enumerate(view.shape)
        ),
        np.zeros((1,) * view.ndim, int),
    )
    assert places.min() >= 0 and places.max() < view.size, strides
    return memory[np.broadcast_to(places, view.shape)]


@st.composite
def sliced(draw):
    """A view, and the array of NumPy's that it must be: sliced, transposed and broadcast at random."""
    shape = draw(SHAPES)
    array, view = np.arange(int(np.prod(shape))).reshape(shape), View.of(shape)
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.sampled_from(["index", "permute", "broadcast", "flip"]))
        if how == "index":
            key = draw(hnp.basic_indices(array.shape, max_dims=6, allow_newaxis=True))
            array, view = array[key], view.sliced(key)
        elif how == "permute":
            axes = draw(st.permutations(range(array.ndim)))
            array, view = array.transpose(axes), view.permute(axes)
        elif how == "flip" and array.ndim:
            axis = draw(st.integers(0, array.ndim - 1))
            array, view = np.flip(array, axis), view.flip((axis,))
        elif how == "broadcast" and array.ndim < 5:
            shape = (draw(st.integers(1, 3)), *array.shape)
            array, view = np.broadcast_to(array, shape), view.broadcast_to(shape)
    return np.asarray(array), view


@settings(max_examples=200, deadline=None)
@given(sliced(), st.data())
def test_views_see_what_those_of_numpy_see(pair, data):
    array, view = pair
    assert view.shape == array.shape
    np.testing.assert_array_equal(elements(view), array)
    divisors = data.draw(st.permutations(array.shape))
    for shape in ((array.size,), tuple(divisors), (1, *array.shape, 1)):
        again = view.reshape(shape)
        if again is not None:
            np.testing.assert_array_equal(elements(again), array.reshape(shape))
        else:
            assert not view.contiguous
    if view.whole:
        np.testing.assert_array_equal(elements(view).ravel(), np.arange(view.size))


@settings(max_examples=100, deadline=None)
@given(sliced())
def test_merged_dimensions_run_through_the_same_elements(pair):
    array, view = pair
    shape, (strides,) = merged(view.shape, view.strides)
    again = View(shape, strides, view.offset, view.size)
    assert all(length != 1 for length in shape) or shape == (1,)
    np.testing.assert_array_equal(elements(again).ravel(), array.ravel())


@settings(max_examples=100, deadline=None)
@given(SHAPES, st.data())
def test_a_box_is_what_an_index_selects(shape, data):
    array = np.arange(int(np.prod(shape))).reshape(shape)
    key = data.draw(hnp.basic_indices(shape, max_dims=6, allow_newaxis=True))
    part, selected, backwards = move.box(shape, key)
    assert selected == array[key].shape
    boxed = array[tuple(slice(first, first + step * count, step) for first, step, count in part)]
    np.testing.assert_array_equal(boxed.ravel(), np.flip(array[key], backwards).ravel())
    assert all(step >= 1 and (count == 0 or first >= 0) for first, step, count in part)


def test_a_reshape_that_numpy_does_without_a_copy_needs_none_here():
    a = np.arange(120).reshape(2, 3, 4, 5)
    for key in [np.s_[:], np.s_[::-1], np.s_[:, 1:], np.s_[:, :, ::2], np.s_[1, :, :, 1:4]]:
        array, view = a[key], View.of(a.shape).sliced(key)
        for shape in [(array.size,), (2, -1), (-1, array.shape[-1]), (-1, 2, array.shape[-1])]:
            shape = np.empty(array.shape).reshape(shape).shape
            shared = np.shares_memory(array.reshape(shape), array)
            assert (view.reshape(shape) is not None) == shared


def test_most_passes_see_one_dimension():
    whole = View.of((3, 4, 5))
    assert Over((3, 4, 5), 8, A=whole, B=whole).rank == 0
    assert Over((3, 4, 5), 8, A=whole, B=View.of(())).rank == 0
    assert Over((3, 4, 5), 8, A=whole, B=View.of((5,))).rank == 2
    assert Over((3, 4, 5), 8, A=whole.permute((2, 1, 0)).permute((2, 1, 0))).rank == 0
    with pytest.raises(PlanError, match=r"^view: at most 32 dimensions that do not merge, got 33$"):
        Over((2,) * 33, 8, A=View((2,) * 33, (0, *([1] * 32)), 0, 99), B=View((2,) * 33, (1, *([0, 1] * 16)), 0, 99))


THREE, INTEGERS = View.of((3,)), View.of((3,), "int32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: broadcast_shapes((2,), (3,)), r"broadcast: shapes do not go together, got \(2,\), \(3,\)$"),
        (lambda: View.of((2,)).broadcast_to((3,)), r"broadcast: shape \(2,\) does not spread over \(3,\)$"),
        (lambda: move.assign(THREE, 0, INTEGERS, 8), r"assign: the value has the array's dtype, float32, got int32"),
        (lambda: move.concat((View.of((3, 2)), View.of((3, 3))), 0, 8), r"concat: arrays have one dtype and agree"),
        (lambda: move.take(THREE, THREE, 0, 8), r"take: indices are int32, got float32; cast them$"),
        (lambda: order.searchsorted(View.of((2, 2)), THREE, False, 8), r"searchsorted: the sorted array has one"),
        (lambda: product.product(View.of((2, 3)), View.of((2, 3)), 8), r"product: inner dimensions must agree"),
        (lambda: fold.place(View.of((3, 0)), "argmax", (1,), 8), r"argmax: a line has at least one element"),
        (lambda: fold.fold(View.of((2, 3)), "sum", (1, -1), 8), r"sum: each axis is reduced once, got \(1, -1\)$"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(call, message):
    with pytest.raises(PlanError, match=rf"^{message}"):
        call()


def test_places_and_shapes():
    assert broadcast_shapes((0, 1), (1, 3)) == (0, 3)
    with pytest.raises(IndexError, match=r"^index: 3 is out of range for dimension 0 of length 3$"):
        THREE.sliced(3)


def test_a_result_says_which_array_it_is():
    a = View.of((3, 4), "int32")
    for plan, layout in [
        (elementwise.binary(a, a, "less", 8), Wrapped((3, 4), "bool")),
        (elementwise.cast(a, "float32", 8), Wrapped((3, 4), "float32")),
        (fold.fold(a, "sum", (0,), 8), Wrapped((4,), "int32")),
        (fold.fold(View.of((3, 200), "bool"), "sum", (0, 1), 64), Wrapped((), "int32")),
        (fold.place(a, "argmax", (1,), 8), Wrapped((3,), "int32")),
        (move.concat((a, a), 1, 8), Wrapped((3, 8), "int32")),
        (move.pack(a, 8), Packed((3, 4))),
        (order.argsort(a, 0, False, 8), Wrapped((3, 4), "int32")),
        (scan.cumulative(a, "cumulative_sum", 0, 8, True), Wrapped((4, 4), "int32")),
        (product.product(a, a.permute((1, 0)), 8), Wrapped((3, 3), "int32")),
        (create.eye((2, 5), "bool", 8), Wrapped((2, 5), "bool")),
    ]:
        (slot,) = plan.results.values()
        assert plan.slots[slot].layout == layout, plan.operation
