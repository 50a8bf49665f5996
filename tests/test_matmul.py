"""The product: NumPy's shapes, exact integers, bounded floats, and every length of the inner dimension."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import ShapeError
from glla.passes.cache import PLANS

# Pairs of shapes, right and wrong: what numpy.matmul makes of them, its shape or its error, is what glla must do.
SHAPE_PAIRS = [
    ((), ()), ((), (3,)), ((3,), ()), ((), (2, 2)), ((2, 2), ()),
    ((3,), (3,)), ((1,), (1,)), ((0,), (0,)), ((3,), (4,)),
    ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (2,)), ((1,), (1, 1)), ((2, 1), (1,)),
    ((3,), (5, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 2, 3)), ((4, 5, 2, 3), (3,)), ((3,), (4, 5, 3, 2)),
    ((2, 3), (3, 4)), ((2, 3), (2, 3)), ((1, 1), (1, 1)), ((2, 3), (4, 3)),
    ((0, 0), (0, 0)), ((0, 3), (3, 0)), ((3, 0), (0, 3)), ((0, 3), (3, 2)), ((2, 3), (3, 0)), ((2, 0), (0, 1)),
    ((2, 0), (3, 0)), ((0,), (0, 3)), ((3, 0), (0,)), ((0,), (3, 0)), ((3,), (3, 0)), ((0, 3), (3,)),
    ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (4, 3, 4)), ((5, 2, 3), (5, 2, 3)), ((6, 1, 2, 3), (1, 5, 3, 2)), ((6, 1, 2, 3), (5, 3, 2)),
    ((6, 5, 2, 3), (5, 3, 2)), ((6, 5, 2, 3), (6, 3, 2)), ((0, 2, 3), (3, 4)), ((0, 2, 3), (1, 3, 4)),
    ((0, 2, 3), (2, 3, 4)), ((5, 0, 3), (5, 3, 0)), ((5, 2, 0), (5, 0, 2)), ((1, 1, 1, 1, 1), (1, 1)),
    ((2, 1, 3, 1, 2), (4, 1, 2, 3)),
]  # fmt: skip


def counting(shape, start=1):
    """Small integers, so that every product is exact."""
    return (np.arange(np.prod(shape, dtype=int)) % 11 - start).reshape(shape).astype(np.float32)


@pytest.mark.parametrize(("left", "right"), SHAPE_PAIRS)
def test_shapes_and_values_are_numpys(left, right):
    a, b = counting(left), counting(right, 5)
    try:
        expected = np.matmul(a, b)
    except ValueError:
        for place in (np.asarray, glla.asarray):
            with pytest.raises(ShapeError, match=r"^matmul: ") as caught:
                glla.matmul(place(a), b)
            assert isinstance(caught.value, ValueError)
        return
    result = glla.matmul(a, b)
    assert type(result) is type(expected)
    testing.assert_exact(result, expected)
    for one, other in ((glla.asarray(a), b), (a, glla.asarray(b)), (glla.asarray(a), glla.asarray(b))):
        product = glla.matmul(one, other)
        assert isinstance(product, glla.Array)
        testing.assert_exact(product.numpy(), expected)


@pytest.mark.parametrize("k", [2 * 65535 + d for d in (-2, -1, 0, 1, 2)] + [32767, 32768, 32769, 65536, 120001])
def test_inner_dimension_about_the_loop_limit(k, rng):
    """65535 trips of two elements each: llvmpipe stops there without a word."""
    a = rng.integers(-3, 4, (3, k)).astype(np.float32)
    b = rng.integers(-3, 4, (k, 2)).astype(np.float32)
    a[:, -1], b[-1] = [3, -3, 2], [3, 2]  # the last term is no zero
    testing.assert_exact(glla.matmul(a, b), testing.product(a, b))


def test_the_way_of_a_call_is_as_the_package_describes_it(rng):
    """Each file that its docstring names takes part."""
    named = set(re.findall(r"``([a-z_/]+\.(?:py|frag))``", glla.__doc__))
    package, seen = Path(glla.__file__).parent, set()
    a, b = rng.standard_normal((2, 40, 40)).astype(np.float32)
    with glla.Device() as fresh, glla.Device(max_texture_size=16) as small:  # the latter takes tiles
        for made in PLANS.builders:
            PLANS.forget(made)
        sys.setprofile(lambda frame, event, argument: seen.add(frame.f_code.co_filename))
        try:
            for variant in (None, "inner_product"):
                glla.matmul(a, b, variant=variant, device=fresh)
            glla.matmul(a, b, device=small)
        finally:
            sys.setprofile(None)
    files = {Path(file).relative_to(package).as_posix() for file in seen if Path(file).is_relative_to(package)}
    drawn = {step.shader for step in glla.plan("matmul", (40, 40), (40, 40), variant="inner_product").passes}
    assert len(named) > 10
    assert named <= files | {f"shaders/{shader}.frag" for shader in drawn}


def test_sum_near_the_largest_float_is_no_overflow():
    """The check adds up the result, which may overflow where no entry does."""
    a = np.full((4, 1), 3e38, np.float32)
    testing.assert_exact(glla.matmul(a, [[1, 1]]), np.repeat(a, 2, axis=1))
