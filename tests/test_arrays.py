"""Arrays of any number of dimensions and every type, beside NumPy's: indices, assignment, broadcasting, reductions."""

import copy
import operator
import pickle
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import glla
from glla import array_api as xp
from glla import testing
from glla.errors import DTypeError, IndexingError, NonFiniteError, OptionError, ShapeError
from glla.operations.linear.fold import depth

few = settings(max_examples=60, deadline=None, derandomize=True)
many = settings(max_examples=1500, deadline=None)

DTYPES = ("float32", "int32", "bool")
VALUES = {
    "float32": np.float32([0, -0.0, 1, -1, 2.5, -3, 1e30, np.inf, -np.inf, np.nan]),
    "int32": np.int32([0, 1, -1, 2, -3, 70000, 2**31 - 1, -(2**31)]),
    "bool": np.array([False, True]),
}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def array(rng, shape, dtype):
    return rng.choice(VALUES[dtype], shape)


@cache
def narrow():
    """A device of small textures, where the elements of an Array take several lines of texels."""
    return glla.Device(max_texture_size=32)


@pytest.fixture(scope="module", autouse=True)
def narrow_goes():
    yield
    narrow().release()
    narrow.cache_clear()


DEVICES = st.sampled_from([glla.default_device, narrow])


@st.composite
def an_array(draw, shapes=SHAPES, dtypes=DTYPES, devices=DEVICES):
    """An array of the host, and the same as an Array: as it is, or a view of another layout."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a = array(rng, draw(shapes), draw(st.sampled_from(dtypes)))
    return a, lying(a, draw(st.integers(0, 4)), draw(devices)())


def lying(a, how, device=None):
    """The same elements in a texture in C order, transposed, reversed, cut out of more, or spread from fewer."""
    put = partial(glla.asarray, device=device, dtype=a.dtype, check_finite=False)
    if how == 1:
        return put(a.T.copy()).T
    if how == 2 and a.ndim:
        return put(np.flip(a).copy())[(slice(None, None, -1),) * a.ndim]
    if how == 3 and a.ndim:
        return put(np.repeat(a, 2, axis=0))[::2]
    if how == 4 and a.ndim and a.shape[0] > 1:
        a[...] = a[:1]
        return np.broadcast_to(put(a[:1].copy()), a.shape)
    return put(a)


def assert_the_rest_is_zero(A, result):
    """What the texture holds beside the elements, in channels that are spare: later sums rely on that."""
    stored = A.value
    if A.size and (stored.packed or stored.view.whole):
        assert np.count_nonzero(A.device.read(stored.texture)) == np.count_nonzero(result), "spare channels"


def same(A, expected):
    """The same shape, type and elements, signs of zeros too."""
    assert isinstance(A, glla.Array)
    expected, result = np.asarray(expected), A.numpy()
    assert (A.shape, A.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert_the_rest_is_zero(A, result)
    if expected.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))


@st.composite
def indices(draw, shape):
    """Basic indices, masks, arrays of integers, and mixtures of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["basic", "mask", "row mask", "integers", "mixed"]))
    if kind == "mask":
        return rng.random(shape) < 0.5
    if not shape or kind == "basic":
        return draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=6))
    if kind == "row mask":
        return rng.random(shape[0]) < 0.5
    count = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    chosen = [rng.integers(-length, length, count) if length else np.zeros((0,), int) for length in shape]
    if kind == "integers":
        return tuple(chosen[: draw(st.integers(1, len(shape)))])
    parts = [draw(st.sampled_from([one, slice(None, None, -1), slice(1, None)])) for one in chosen]
    return (*parts[:-1], ..., parts[-1]) if draw(st.booleans()) else tuple(parts)


def tried(function, *arguments):
    """A result, or that there is none."""
    try:
        return function(*arguments)
    except (IndexError, ValueError):
        return None


@st.composite
def indexed(draw):
    a, A = draw(an_array())
    return a, A, draw(indices(a.shape))


def check_index(case):
    a, A, index = case
    expected = tried(operator.getitem, a, index)
    if expected is None:
        with pytest.raises(IndexingError):
            A[index]
        return
    same(A[index], expected)
    same(A, a)


def check_assignment(case):
    a, A, index, kind, seed = case
    block = tried(operator.getitem, a, index)
    if block is None:
        with pytest.raises(IndexingError):
            A[index] = 1
        return
    rng = np.random.default_rng(seed)
    if kind == "number":
        value = rng.choice(VALUES[str(a.dtype)]).item()
    else:
        shape = np.shape(block)
        shape = tuple(1 if rng.random() < 0.3 else length for length in shape)[int(rng.integers(len(shape) + 1)) :]
        value = array(rng, shape, str(a.dtype))
    before, turned = A.copy(), A.T
    kept = a.copy()
    if len({*np.ravel(np.arange(a.size).reshape(a.shape)[index])}) == np.size(block):  # else the order decides
        expected = a.copy()
        expected[index] = value
        A[index] = lying(value.copy(), int(rng.integers(4)), A.device) if kind == "array" else value
        same(A, expected)
    same(before, kept)
    same(turned, kept.T)


@st.composite
def assigned(draw):
    a, A, index = draw(indexed())
    return a, A, index, draw(st.sampled_from(["number", "host", "array"])), draw(st.integers(0, 2**32))


# Element by element ------------------------------------------------------------------------------------------------

ARITHMETIC = [operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor]


def common(*dtypes):
    """The type that an Array has in place of NumPy's."""
    return "float32" if "float32" in dtypes else "int32" if "int32" in dtypes else "bool"


@st.composite
def two(draw):
    """Two arrays that broadcast, of any types."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=0, max_dims=4, min_side=0, max_side=4))
    device = st.just(draw(DEVICES))
    return [draw(an_array(st.just(shape), devices=device)) for shape in shapes.input_shapes]


def check_two(case):
    (a, A), (b, B) = case
    dtype = common(str(a.dtype), str(b.dtype))
    left, right = a.astype(dtype), b.astype(dtype)
    with np.errstate(all="ignore"):
        for apply in COMPARISONS:
            same(apply(A, B), apply(left, right))
        for apply in ARITHMETIC:
            if apply is operator.sub and dtype == "bool":
                continue
            same(apply(A, B), apply(left, right))
            if isinstance(A, glla.Array):
                same(apply(A, b), apply(left, right))
                same(apply(a, B), apply(left, right))
    if dtype != "float32":
        for apply in BITS:
            same(apply(A, B), apply(a.astype(dtype), b.astype(dtype)))
    same(np.where(A, A, B), np.where(a, a.astype(dtype), b.astype(dtype)))


NUMBERS = [bool, int, float, np.bool_, np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, np.float16,
           np.float32, np.float64, np.longdouble, np.array]  # fmt: skip


@pytest.mark.parametrize("make", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_every_type(make, dtype):
    a = np.array([0, 1, 1, 0], dtype)
    A = glla.asarray(a, dtype=dtype)
    number = make(1)
    kind = np.asarray(number).dtype.kind
    expected = common(dtype, {"b": "bool", "i": "int32", "u": "int32", "f": "float32"}[kind])
    arithmetic = ARITHMETIC if expected != "bool" else [operator.add, operator.mul]
    for apply in (*arithmetic, lambda x, y: x == y):
        wide = apply(a.astype(np.float64), np.float64(1))
        result = apply(A, number)
        same(result, wide if wide.dtype == bool else wide.astype(expected))
        swapped = apply(np.float64(1), a.astype(np.float64))
        same(apply(number, A), swapped if swapped.dtype == bool else swapped.astype(expected))


def beside(A, number):
    """Every function that keeps a value of the host in the type of what it stands beside."""
    M = A > 0
    yield from (lambda apply=apply: apply(A, number) for apply in (*ARITHMETIC, *BITS, operator.floordiv, np.maximum))
    yield lambda: number + A
    yield lambda: M + number
    yield lambda: np.where(M, number, 1)
    yield lambda: np.where(M, A, number)
    yield lambda: np.append(A, number)
    yield lambda: np.dot(A, number)
    yield lambda: xp.add(A, number)
    yield lambda: np.add(number, 1, out=A)
    yield lambda: A.__iadd__(number)
    yield from taken(A, number)


def taken(A, number):
    """Every function that takes a value of the host in a type."""
    yield lambda: A.__setitem__(slice(None), number)
    yield lambda: np.full_like(A, number)
    yield lambda: xp.full(2, number, dtype=A.dtype)
    yield lambda: xp.asarray(number, dtype=A.dtype)


BEYOND = [2**31, -(2**31) - 1, 2**63, 10**30, np.uint64(2**64 - 1), np.int64(2**40), np.array([2**31]), [2**40, 1]]
"""Integers that are no int32."""
LARGE = [1e39, -1e300, 10**60, [0, 1e40], np.float64(1e39), 10**400]
"""Numbers that are no float32."""
TOO_LARGE = (NonFiniteError, DTypeError, OptionError)


@pytest.mark.parametrize(
    ("dtype", "number", "ways", "error", "words"),
    [
        *(("int32", one, beside, DTypeError, r" must fit int32, got .+; take float32(, for example by astype)?$")
          for one in BEYOND),
        *(("float32", one, beside, TOO_LARGE, r"must (fit (float|int)32|be a number)") for one in LARGE),
        *(("int32", one, beside, DTypeError, r"must be real numbers")
          for one in (1j, "a", np.array(1.5, object), Fraction(1, 2), np.datetime64(0, "s"))),
        *(("int32", one, taken, DTypeError, r"must fit int32, got ")
          for one in (np.nan, np.inf, -np.inf, 3e9, -2147483649.0, [1, np.nan], np.float16(np.inf))),
    ],
    ids=lambda one: str(one)[:9],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(dtype, number, ways, error, words):
    A = glla.asarray([1, 2], dtype=dtype)
    for use in ways(A, number):
        with pytest.raises(error, match=words):
            use()
    same(A, np.array([1, 2], dtype))


def test_values_that_fit_another_type():
    A = glla.asarray([1, 2], dtype="int32")
    for number in BEYOND:
        for make in (xp.asarray, lambda one: xp.full(2, one)):
            with pytest.raises(DTypeError, match="must fit int32"):
                make(number)
        same(A / number, (np.int32([1, 2]) / np.float64(number)).astype(np.float32))
        same(A.astype("float32") + number, np.float32([1, 2]) + np.float32(number))
        same(np.where(A > 1, number, 0.5), np.where([False, True], np.float32(number), np.float32(0.5)))
    for number in LARGE:
        for use in (lambda one: A / one, lambda one: xp.linspace(0, one, 3), lambda one: xp.arange(0, one, one)):
            with pytest.raises(TOO_LARGE, match=r"must (fit (float|int)32|be a number|be finite)"):
                use(number)
    A[:] = 2147483647.9, -2147483648.9  # a float is cut off
    same(A, np.int32([2**31 - 1, -(2**31)]))
    same(A.astype(bool), np.array([True, True]))
    B = glla.asarray([1, 2])
    B[0], B[1] = np.nan, np.inf  # what the values hold goes in
    same(B, np.float32([np.nan, np.inf]))


@pytest.mark.parametrize(
    "pair", [(True, False), (np.True_, 2), (1, 2.5), (2**40, 0.5), ([1, 2], np.uint8(7)), (1, True)]
)
def test_choices_of_the_host_have_their_own_type(pair):
    condition, pair = np.array([True, False]), [np.asarray(one) for one in pair]
    dtype = {"b": "bool", "i": "int32", "f": "float32"}[np.result_type(*pair).kind]
    same(np.where(glla.asarray(condition, dtype=bool), *pair), np.where(condition, *pair).astype(dtype))


@pytest.mark.parametrize("wrong", [[4], [-5], [0, 2**31 - 1], [[-(2**31)]]])
def test_numbers_of_slices_out_of_range_are_refused(wrong):
    a = np.int32([[5, 6, 7, 8]])
    A, wrong = glla.asarray(a, dtype="int32"), np.int32(wrong)
    for places in (wrong, glla.asarray(wrong, dtype="int32")):
        line = places.reshape(1, -1)
        for use in (
            lambda places=places: np.take(A, places, 1),
            lambda places=places: A.take(places),
            lambda places=places: xp.take(A, places, axis=1),
            lambda line=line: np.take_along_axis(A, line, 1),
            lambda line=line: np.searchsorted(A[0], 5, sorter=line[0]),
        ):
            with pytest.raises(IndexError, match=r"indices must be from -4 to 3, got ") as caught:
                use()
            assert isinstance(caught.value, ShapeError)
    inside = glla.asarray([[3, -1, -4]], dtype="int32")
    same(np.take_along_axis(A, inside, 1), a[:, [3, -1, -4]])
    same(np.take_along_axis(a, inside, 1), a[:, [3, -1, -4]])
    same(A.take(inside), a.take([[3, -1, -4]]))


def test_bounds_beyond_int32_bound_nothing():
    a = np.int32([-(2**31), 5, 2**31 - 1])
    A = glla.asarray(a, dtype="int32")
    for low, high in ((0, 2**40), (-(2**40), 5), (-(2**70), 2**70), (None, 10**400)):
        same(A.clip(low, high), np.clip(a, low, high) if high != 10**400 else a)
        same(xp.clip(A, low, high), np.clip(A, low, high).numpy())
    assert A.clip() is not A


EDGES = np.int32([-(2**31), -(2**24) - 1, -1, 0, 1, 2**24, 2**24 + 1, 2**31 - 64, 2**31 - 1])
"""Integers that float32 does not hold, their neighbours, and both ends; sorted."""

OTHERS = [
    EDGES[::-1].copy(), EDGES + np.array([-1, 1, 1, 0, -2, 1, -1, 64, 1]), EDGES.astype(np.float64) + 0.5,
    np.float32([-np.inf, -(2**31), -0.5, 0, 1, 2**24, 2**24, 2**31, np.inf]), np.float32([np.nan]), np.float64([1e300]),
    np.float16([0.5, np.inf, -np.inf, 1, 2, 3, 4, 5, np.nan]), np.uint64([2**64 - 1]), np.array(True), 2**24, 2**70,
    2**31, -(2**31) - 1, 2**31 - 1, -(2**31), np.int64(2**31), 16777216.0, -(10**400), np.float64(2**31),
    -1.5, np.uint8(1), np.longdouble(2**31 - 1), np.array([False]),
]  # fmt: skip
"""What integers are compared with."""


def turned(value):
    """The same on the device, where it is of a type that an Array has."""
    value = np.asarray(value)
    return [glla.asarray(value, dtype=value.dtype, check_finite=False)] if value.dtype.name in DTYPES else []


@pytest.mark.parametrize("other", OTHERS, ids=lambda one: str(one)[:20])
def test_integers_are_compared_exactly(other):
    A = glla.asarray(EDGES, dtype="int32")
    exact = np.asarray(other if np.asarray(other).dtype != object else 1e300 if other > 0 else -1e300)
    for b in (other, *turned(other)):
        for compare in COMPARISONS:
            same(compare(A, b), compare(EDGES, exact))
            same(compare(b, A), compare(exact, EDGES))
        same(xp.equal(A, b), exact == EDGES)
        assert np.array_equal(A, b) is np.array_equal(EDGES, exact)
        same(np.isclose(A, b, rtol=0, atol=0), exact == EDGES)
        for side in ("left", "right"):
            same(np.searchsorted(A, b, side=side), np.int32(EDGES.searchsorted(exact, side=side)))
            line = np.sort(np.ravel(b.numpy() if isinstance(b, glla.Array) else exact))
            for lined in (line, *turned(line)) if not isinstance(b, glla.Array) else ():
                same(np.searchsorted(lined, A, side=side), np.int32(line.searchsorted(EDGES, side=side)))


def test_arrays_keep_their_types_where_they_are_only_seen_otherwise():
    a, b = np.float32([[1], [2]]), np.int32([2**24 + 1, 3])
    for one, other in zip(np.broadcast_arrays(glla.asarray(a), b, True), np.broadcast_arrays(a, b, True), strict=True):
        same(one, other)
    same(np.column_stack([glla.asarray(a[0]), 5]), np.float32([[1, 5]]))
    assert not np.allclose(glla.asarray(b, dtype="int32"), 2**70, equal_nan=True)


def test_closeness_of_integers_is_of_their_exact_difference():
    a, b = np.int32([2**31 - 1, 2**24 + 1, 5, -(2**31)]), np.int32([-(2**31), 2**24, 7, -(2**31) + 3])
    A, B = (glla.asarray(one, dtype="int32") for one in (a, b))
    for tolerances in ((0, 0), (0, 1), (0, 3), (1e-6, 0), (1e-9, 2)):
        for left, right in ((A, B), (A, b), (a, B), (A, b.astype(np.float64)), (A.astype("int32"), b.astype(np.int64))):
            same(np.isclose(left, right, *tolerances), np.isclose(a, b, *tolerances))
    assert np.allclose(A, a) and not np.allclose(A, b)
    T = A > 5
    same(np.isclose(T, True), T.numpy())


def test_integers_wrap_around():
    a = np.int32([2**31 - 1, -(2**31), 46341, -7, 7])
    A = glla.asarray(a, dtype="int32")
    with np.errstate(all="ignore"):
        for apply in ARITHMETIC:
            same(apply(A, A), apply(a, a))
        same(-A, -a)
        same(abs(A), np.abs(a))
        same(A**3, a**3)
    for b in (2, -2, 3, -3, 2**31 - 1, -(2**31)):
        b = np.int32(b)
        if b != -1:
            same(A // b, a // b)
            same(A % b, a % b)
    for shift in (0, 1, 31):
        same(A << shift, a << shift)
        same(A >> shift, a >> shift)
    same(~A, ~a)
    assert (A / A).dtype == np.float32
    assert A.sum().item() == a.sum(dtype=np.int32)


NUMPYS_OF_BOOL = [
    operator.add, operator.mul, operator.sub, operator.matmul, operator.floordiv, operator.mod, operator.pow,
    operator.or_, operator.and_, operator.xor, operator.lshift, operator.rshift, operator.lt, np.maximum, np.dot,
    np.inner, np.outer, np.linalg.vecdot, lambda a, b: np.tensordot(a, b, 1),
    lambda a, b: np.linalg.matrix_power(a[:1, None], 2),
    lambda a, b: np.stack([a, b, b]) @ np.stack([a, b, a], 1), lambda a, b: a[:0] @ b[:0], lambda a, b: -a,
    lambda a, b: +a, lambda a, b: abs(a), lambda a, b: ~a, lambda a, b: np.sign(a), lambda a, b: np.square(a),
    lambda a, b: np.rint(a), lambda a, b: np.floor(a), lambda a, b: np.cumsum(a), lambda a, b: np.sum(a),
    lambda a, b: np.prod(a), lambda a, b: np.diff(a), lambda a, b: a * True, lambda a, b: a + 1, lambda a, b: a * 0.5,
    lambda a, b: True - a, lambda a, b: a**2, lambda a, b: 1 - a, lambda a, b: np.add(a, [True, False, False]),
]  # fmt: skip
"""Arithmetic of bool."""


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("apply", NUMPYS_OF_BOOL)
def test_arithmetic_of_bool_is_numpys(apply):
    a, b = np.array([False, True, True]), np.array([True, True, False])
    A, B = (glla.asarray(one, dtype=bool) for one in (a, b))
    try:
        expected = np.asarray(apply(a, b))
    except TypeError:
        with pytest.raises(DTypeError, match=r"is not there of bool; use \^ for a difference, ~ for the opposite, or"):
            apply(A, B)
        return
    same(apply(A, B), expected.astype({"b": "bool", "i": "int32", "f": "float32"}[expected.dtype.kind]))
    assert expected.dtype.kind == "b" or expected.dtype != np.int32  # NumPy's are narrower or wider


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize(
    "apply", [operator.iadd, operator.imul, operator.itruediv, operator.iand], ids=lambda f: f.__name__
)
def test_in_place_keeps_the_type(apply, other, dtype):
    a, b = np.array([1, 0, 1], dtype), np.array([1, 1, 1], other)
    A, B = (glla.asarray(one, dtype=one.dtype) for one in (a, b))
    if apply is operator.iand and "float32" in (dtype, other):
        with pytest.raises(DTypeError, match=r"^bitwise_and: operands must be int32 or bool"):
            apply(A, B)
    else:
        made = "float32" if apply is operator.itruediv else common(dtype, other)
        if DTYPES[::-1].index(made) > DTYPES[::-1].index(dtype):
            with pytest.raises(DTypeError, match=f"the result is {made} and does not fit in place of {dtype}"):
                apply(A, B)
        else:
            name = A
            A = apply(A, B)
            assert A is name
            same(A, apply(a.astype(dtype), b.astype(dtype)).astype(dtype))
            return
    same(A, a)


def test_what_is_no_number_is_not_equal():
    A = glla.asarray([[1, 2], [3, 4]])
    for other in (None, "text", object(), [[1j]]):
        assert (other == A) is False and (other != A) is True
    assert 3 in A and 5 not in A and "text" not in A


def test_truth():
    assert glla.asarray([[2]]) and not glla.asarray([[0]])
    for shape in ((1, 2), (0, 1)):
        with pytest.raises(ValueError, match=r"^Array: the truth of more or less than one element is ambiguous; use"):
            bool(glla.asarray(np.ones(shape)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(glla.asarray([[1]]))


IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imatmul]


@pytest.mark.parametrize("apply", IN_PLACE)
def test_in_place_changes_this_array_only(apply, rng):
    a, b = testing.integers(4, 4, rng), np.ones((4, 4), np.float32)
    A, B = glla.asarray(a), glla.asarray(b)
    name, copied, turned, block = A, A.copy(), A.T, A[1:3]
    A = apply(A, B)
    assert A is name
    same(A, {operator.imatmul: operator.matmul}.get(apply, apply)(a.copy(), b))
    for kept, value in ((copied, a), (turned, a.T), (block, a[1:3]), (B, b)):
        same(kept, value)
    A = glla.asarray(a)
    A += A
    A *= A.T
    A -= 1
    same(A, 2 * a * (2 * a).T - 1)


def test_nan_and_both_zeros_are_sorted():
    a = VALUES["float32"]
    for how in range(4):
        A = lying(a.copy(), how)
        np.testing.assert_array_equal(np.sort(A).numpy(), np.sort(a))
        same(np.argsort(A, stable=True), np.argsort(a, stable=True).astype(np.int32))


def test_one_pass_and_no_synchronising(device, rng, monkeypatch):
    A, B = glla.asarray(testing.normal(9, 7, rng)), glla.asarray(testing.normal(7, 9, rng))
    monkeypatch.setattr(glla.Device, "read", lambda *_: pytest.fail("read back"))
    before = device.stats().passes
    C = A + B.T
    D = C * C
    E = D[1:, 1:]
    assert device.stats().passes == before + 3
    assert E.shape == (8, 6)
    E.sum(keepdims=True)


# Products ----------------------------------------------------------------------------------------------------------


@st.composite
def factors(draw):
    """Vectors, matrices and stacks that multiply; small whole numbers, of two types, transposed or not."""
    rng, device = np.random.default_rng(draw(st.integers(0, 2**32))), draw(DEVICES)()
    m, k, n = (draw(st.integers(0, 6)) for _ in range(3))
    stacks = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, min_side=0, max_side=3)).input_shapes
    left, right = (*stacks[0], m, k), (*stacks[1], k, n)
    left = (k,) if draw(st.integers(0, 4)) == 0 else left
    right = (k,) if draw(st.integers(0, 4)) == 0 else right
    made = []
    for shape in (left, right):
        a = rng.integers(-4, 5, shape).astype(draw(st.sampled_from(["float32", "int32"])))
        made.append((a, lying(a, draw(st.integers(0, 4)), device)))
    return made


def check_product(case):
    (a, A), (b, B) = case
    expected = (a.astype(np.int64) @ b.astype(np.int64)).astype(common(str(a.dtype), str(b.dtype)))
    for product in (A @ B, A @ b, a @ B):
        np.testing.assert_array_equal(product.numpy(), expected, strict=True)


every_check = pytest.mark.parametrize(
    ("strategy", "check"),
    [(indexed(), check_index), (assigned(), check_assignment), (two(), check_two), (factors(), check_product)],
    ids=lambda one: getattr(one, "__name__", ""),
)


@every_check
def test_results_are_numpys(strategy, check):
    few(given(strategy)(check))()


@pytest.mark.sweep
@every_check
def test_many_results_are_numpys(strategy, check):
    many(given(strategy)(check))()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_product_with_its_own_transpose(dtype, rng):
    a = rng.integers(-3, 4, (2, 5, 7)).astype(dtype)
    A = glla.asarray(a, dtype=dtype)
    same(A @ A.mT, a @ a.swapaxes(-1, -2))
    same(A.T @ A.T.mT, a.T @ a.T.swapaxes(-1, -2))
    same(A[0] @ A[0].T, a[0] @ a[0].T)
    same(A[0][::-1, 1:] @ A[0].T[:0:-1], a[0][::-1, 1:] @ a[0].T[:0:-1])
    A[0] @= glla.asarray(np.eye(7, dtype=int), dtype=dtype)
    same(A, a)


# Assignments of itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (4, 6), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_assignments_of_itself(shape, dtype):
    a = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for change in (
        lambda x: x.__setitem__(slice(None, None, -1), x.copy()),
        lambda x: x.__setitem__(slice(None, None, -1), x),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
        lambda x: x.__setitem__(..., x[::-1]),
        lambda x: x.__setitem__(x > 3, x[x > 3][::-1]),
        lambda x: x.__setitem__([0, 1], x[[1, 0]]),
    ):
        A, expected = glla.asarray(a, dtype=dtype), a.copy()
        change(A)
        change(expected)
        same(A, expected)


def test_slices_by_their_numbers_count_no_elements(monkeypatch):
    """An index of one array, along one dimension, costs the host as much as that dimension is long."""
    a = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    A = glla.asarray(a)
    monkeypatch.setattr("glla.array.blocks._places", lambda *_: pytest.fail("counts every element"))
    mask, at = np.array([True, False, True]), np.array([[2, -1], [0, 0]])
    for index in ([1, 0], (slice(None), mask), (..., [0, -1]), (at,), (slice(None), at, ...), np.zeros(4, bool)):
        same(A[index], a[index])
    with pytest.raises(IndexingError, match=r"^Array: index 3 is out of bounds for axis 1 with size 3$"):
        A[:, [0, 3]]
    with pytest.raises(IndexingError, match=r"^Array: boolean index did not match indexed array along axis 0"):
        A[np.ones(5, bool)]


def test_the_whole_matrix_costs_no_pass(device, rng):
    A = glla.asarray(testing.normal(5, 4, rng))
    before = device.stats().passes
    B, C = A[:], A[..., :]
    assert device.stats().passes == before
    B[0] = 0
    assert A.numpy()[0].any() and C.numpy()[0].any()


@pytest.mark.parametrize("value", [np.nan, [np.inf, -np.inf], np.zeros((1, 2, 2)), np.zeros((1, 1, 1, 1)), True])
def test_values_that_numpy_takes(value):
    A, a = glla.asarray(np.ones((3, 4))), np.ones((3, 4), np.float32)
    with np.errstate(over="ignore"):
        A[1:, :2], a[1:, :2] = value, np.asarray(value, dtype=np.float64).astype(np.float32)
    np.testing.assert_array_equal(A.numpy(), a)


def test_iteration_gives_rows():
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = list(glla.asarray(a))
    assert all(type(row) is np.ndarray for row in rows)
    testing.assert_exact(np.stack(rows), a)
    (x, y), *_ = glla.asarray(a)
    assert (x, y) == (0, 1)


def test_iteration_over_a_stack_gives_what_stays(device):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    A, B = glla.asarray(a, device)
    assert type(A) is type(B) is glla.Array
    testing.assert_exact(np.stack([A.numpy(), B.numpy()]), a)
    before = device.stats().passes
    assert [one.shape for one in glla.asarray(a[np.newaxis], device)] == [(2, 3, 4)]
    assert list(glla.asarray(a[:0], device)) == [] and device.stats().passes - before < 3


def test_what_python_does_with_numbers():
    a = np.float32([[1.5, -2.5], [3, 0.25]])
    A = glla.asarray(a)
    for mine, expected in zip((*divmod(A, 2), *divmod(2, A)), (*divmod(a, 2), *divmod(np.float32(2), a)), strict=True):
        same(mine, expected)
    same(round(A), np.round(a))
    same(pow(A, 2), a**2)
    same(A[range(1, -1, -1)], a[::-1])
    same(A[range(0)], a[:0])


def test_more_than_32_dimensions():
    A = glla.asarray(np.ones((1,) * 40))
    assert A.sum().item() == 1
    with pytest.raises(ShapeError, match=r"^add: shapes must be equal, or 1 where they differ, got A "):
        A + A


def test_masks_without_dimensions():
    for number in (7, 2.5):
        a = np.asarray(number, np.float32)
        A = glla.asarray(a)
        for mask in (True, False, np.True_, np.array(False), glla.asarray(True, dtype=bool)):
            same(A[mask], a[np.asarray(mask)])
            B, b = glla.asarray([1, 2]), np.float32([1, 2])
            same(B[mask], b[np.asarray(mask)])
            B[mask], b[np.asarray(mask)] = number, number
            same(B, b)
        A[...] = 3
        A[()] = A + 1
        same(A, np.float32(4))
        same(A[None, ..., None], np.float32([[4]]))


def test_arrays_are_indices(rng):
    a = rng.integers(0, 9, (4, 5)).astype(np.int32)
    A = glla.asarray(a, dtype="int32")
    same(A[A > 4], a[a > 4])
    same(A[glla.asarray([2, 0], dtype="int32")], a[[2, 0]])
    same(A[:, glla.asarray(3, dtype="int32")], a[:, 3])
    A[A > 4] = -1
    a[a > 4] = -1
    same(A, a)
    assert list(range(10))[glla.asarray(3, dtype="int32")] == 3


# Tall data, copies, life -------------------------------------------------------------------------------------------


def test_a_million_numbers(rng):
    a = rng.integers(-9, 9, 1_000_003).astype(np.int32)
    A = glla.asarray(a, dtype="int32")
    same(A.sum(), a.sum(dtype=np.int32))
    same(A[::-1][:5], a[::-1][:5])
    same(A.cumsum()[-3:], a.cumsum(dtype=np.int32)[-3:])
    assert A.argmax().item() == a.argmax()
    same(np.sort(A[:5000]), np.sort(a[:5000]))
    same(np.argsort(A[:1025], stable=True), np.argsort(a[:1025], stable=True).astype(np.int32))


@pytest.mark.sweep
def test_a_hundred_million_numbers(rng):
    a = rng.random(10**8, dtype=np.float32)
    exact = a.sum(dtype=np.float64)
    assert abs(glla.asarray(a).sum().item() - exact) <= depth(a.size) * testing.ROUNDOFF * exact


@few
@given(
    an_array(), st.sampled_from([copy.copy, copy.deepcopy, glla.Array.copy, lambda A: pickle.loads(pickle.dumps(A))])
)
def test_copies_of_every_array(case, make):
    a, A = case
    B = make(A)
    same(B, a)
    if a.size:
        B[...] = 1
        same(B, np.ones_like(a))
    same(A, a)
    C = make(A)
    A.release()
    same(C, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_without_dimensions(dtype):
    A = glla.asarray(1, dtype=dtype)
    assert (A.shape, A.ndim, A.size, A.nbytes) == ((), 0, 1, 4)
    assert (A.item(), A.tolist(), bool(A), int(A), float(A)) == (1, 1, True, 1, 1.0)
    assert type(A.item()) is {"float32": float, "int32": int, "bool": bool}[dtype]
    for call in (lambda: len(A), lambda: iter(A), lambda: [*A]):
        with pytest.raises(TypeError, match=r"^Array: a number"):
            call()
    with pytest.raises(IndexingError):
        A[0]
    same(A.sum(), np.asarray(1, "int32" if dtype == "bool" else dtype))
    same(A.reshape(1, 1), np.ones((1, 1), dtype))
