"""The packed layout, as its picture shows it."""

import numpy as np
import pytest

from glla.passes import Storage, matrix
from glla.passes.layout import ELEMENT_BYTES, packed, texels


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (32768, 16384)])
def test_two_elements_share_a_texel(count, expected):
    assert texels(count) == expected


@pytest.mark.parametrize(
    ("shape", "expected"), [((0, 0), (0, 0)), ((1, 1), (1, 1)), ((3, 5), (2, 3)), ((4, 1), (2, 1)), ((2, 7), (1, 4))]
)
def test_height_comes_first(shape, expected):
    assert packed(shape) == expected


@pytest.mark.parametrize(
    ("shape", "expected"), [((0, 0), (1, 1)), ((0, 5), (1, 3)), ((3, 0), (2, 1)), ((3, 5), (2, 3))]
)
def test_storage_is_never_empty(shape, expected):
    assert matrix(shape) == Storage(*expected, channels=4)


def test_an_element_is_a_float32():
    assert np.dtype(np.float32).itemsize == ELEMENT_BYTES


def test_texels_on_the_device_are_the_picture(device):
    a = np.arange(15, dtype=np.float32).reshape(3, 5)
    assert device.read(device.upload(a)).tolist() == [
        [[0, 1, 5, 6], [2, 3, 7, 8], [4, 0, 9, 0]],
        [[10, 11, 0, 0], [12, 13, 0, 0], [14, 0, 0, 0]],
    ]
