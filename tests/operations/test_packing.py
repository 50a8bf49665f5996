"""Raw to packed and back, bit for bit, and in tiles; whole matrices of every shape travel in tests/test_matrix.py."""

import numpy as np
import pytest

from glla.operations.layouts.packing import pack, packed_by_host, tiles, unpack, unpacked_by_host

CUT = [(shape, size) for shape in [(3, 9), (9, 3), (8, 8), (17, 13), (5, 16)] for size in (4, 5, 8)]

every_cut = pytest.mark.parametrize(("shape", "size"), CUT, ids=str)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint32).tolist()


def raw(array):
    return np.ascontiguousarray(array)[:, :, np.newaxis]


def awkward(shape):
    """Every kind of number: denormal, negative zero, the largest, the smallest, infinity, NaN."""
    kinds = [1e-40, -0.0, 3.4028235e38, -1.17549435e-38, np.inf, -np.inf, np.nan, 1.0]
    return np.resize(np.array(kinds, dtype=np.float32), shape)


@pytest.mark.parametrize("transposed", [False, True])
def test_no_bit_is_lost(run, transposed):
    shape, a = (5, 7), awkward((5, 7))
    packed = run(pack(shape, transposed), raw=raw(a.T if transposed else a))
    assert bits(packed.matrix("packed", shape)) == bits(a)
    assert bits(run(unpack(shape, (0, 0, *shape)), packed=packed["packed"])["raw"][:, :, 0]) == bits(a)
    assert bits(packed_by_host(a)) == bits(packed["packed"])  # as a software rasteriser has it of a small matrix
    assert bits(unpacked_by_host(packed["packed"], shape)) == bits(a)


@every_cut
def test_tiles_cover_each_element_once_and_start_at_even_ones(shape, size):
    count = np.zeros(shape, dtype=int)
    for top, left, rows, columns in tiles(shape, size):
        assert top % 2 == left % 2 == 0
        assert 0 < rows <= size and 0 < columns <= size
        count[top : top + rows, left : left + columns] += 1
    assert (count == 1).all()
