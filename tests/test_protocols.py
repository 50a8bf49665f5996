"""NumPy's functions on an Array: what runs on the device, what is refused, and DLPack."""

import inspect
import io
from functools import partial
from itertools import product
from operator import attrgetter

import numpy as np
import pytest

import glla
from glla import array_api as xp
from glla import testing
from glla.array.dispatch import UFUNCS
from glla.errors import ReleasedError, ShapeError, UnsupportedError
from glla.interop import numpy as protocols
from glla.operations.linear.elementwise import BITS
from glla.registry import PUBLIC


def host(value):
    """What a function gives, on the host."""
    return value.numpy() if isinstance(value, glla.Array) else value


# Universal functions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_universal_functions_run_on_the_device(ufunc, rng):
    """Each by its name; how exact they are is a matter of the array API's functions."""
    whole = rng.integers(1, 31, (2, 4, 4)).astype(np.int32)
    a, b = whole if UFUNCS[ufunc] in BITS else whole.astype(np.float32) / 32
    left, right = (glla.asarray(one, dtype=one.dtype) for one in (a, b))
    with np.errstate(invalid="ignore"):  # the inverse hyperbolic cosine
        expected = ufunc(*(a, b)[: ufunc.nin])
    for operands in [(left, right), (left, b), (a, right)] if ufunc.nin == 2 else [(left,)]:
        alike(ufunc(*operands), expected)


def test_out_is_a_matrix(rng):
    a, b = testing.integers(3, 3, rng), testing.integers(3, 3, rng)
    A, C = glla.asarray(a), glla.asarray(np.zeros((3, 3)))
    assert np.add(A, b, out=C) is C
    testing.assert_exact(C.numpy(), a + b)
    assert np.matmul(A, C, out=C) is C
    testing.assert_exact(C.numpy(), a @ (a + b))
    assert np.negative(C, out=(C,)) is C
    testing.assert_exact(C.numpy(), -(a @ (a + b)))
    testing.assert_exact(A.numpy(), a)
    np.less(A, 1, out=A)
    testing.assert_exact(A.numpy(), a < 1)
    C.release()
    with pytest.raises(ReleasedError):
        np.add(A, A, out=C)


@pytest.mark.parametrize("kind", ["float32", "int32", "bool"])
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij->ji", "23"), ("ji", "23"), ("ii", "33"), ("ii->i", "33"), ("ij->", "23"), ("ij->i", "20"),
        ("iijj->ji", "2233"), ("ijij->i", "2323"), ("", ""), ("ij,jk,kl", "23 34 45"), ("ij,jk,kl->li", "23 34 45"),
        ("i,ij,j", "2 23 3"), ("i,i,i->i", "3 3 3"), ("i,j,k->kji", "2 3 4"), ("ij,ij->i", "23 23"),
        ("ii,ij->j", "33 34"), ("ij,kl->jl", "23 45"), ("bij,bjk->bik", "234 245"), ("bij,bkj,bk->bi", "234 254 25"),
        ("ij,jk,kl,lm->im", "23 32 23 32"), (",i", " 3"),
    ],
)  # fmt: skip
def test_einsum_is_numpys(text, shapes, kind, rng):
    """Of one to four operands, some of them on the host, with numbers whose sums are exact."""
    own = [rng.integers(-3, 4, [int(length) for length in shape]).astype(kind) for shape in shapes.split(" ")]
    wanted = np.einsum(text, *own)
    for place in range(len(own)):
        found = np.einsum(text, *(glla.asarray(one, dtype=kind) if at == place else one for at, one in enumerate(own)))
        testing.assert_exact(found.numpy(), wanted, dtype=wanted.dtype)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles_over_several_dimensions(axis, keepdims, rng):
    a = rng.normal(size=(3, 4, 5)).astype(np.float32)
    for call in (np.median, partial(np.quantile, q=0.3), partial(np.quantile, q=[[0, 0.7]])):
        found, wanted = (call(one, axis=axis, keepdims=keepdims) for one in (glla.asarray(a), a))
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, atol=1e-6)


# Other functions ---------------------------------------------------------------------------------------------------


def written(write, a):
    """Bytes that are written to a file."""
    file = io.BytesIO()
    write(file, a)
    return file.getvalue()


def saved(write, a, name=None):
    """An array written to a file, and read; by its name if there are several."""
    found = np.load(io.BytesIO(written(write, a)))
    return found if name is None else found[name]


def plain(f, a, h):
    return f(a)


CALLS = {
    **dict.fromkeys(
        (np.amax, np.amin, np.argmin, np.array_repr, np.array_str, np.array2string, np.copy, np.corrcoef, np.cov,
         np.fliplr, np.flipud, np.iscomplexobj, np.isrealobj, np.linalg.det, np.linalg.inv, np.max, np.median,
         np.ndim, np.nonzero, np.ones_like, np.ravel, np.shape, np.trace, np.transpose, np.zeros_like), plain),
    **dict.fromkeys((np.around, np.round), lambda f, a, h: f(a / 4)),
    **dict.fromkeys((np.array_equal, np.allclose, np.isclose),
                    lambda f, a, h: [f(*pair) for pair in ((a, a), (h, a), (a, a + 1), (a, a.T))]),
    **dict.fromkeys((np.cumsum, np.mean), lambda f, a, h: f(a, axis=1)),
    **dict.fromkeys((np.diagonal, np.linalg.cond, np.prod, np.argmax), lambda f, a, h: f(a, 1)),
    **dict.fromkeys((np.dot, np.linalg.solve, np.vdot), lambda f, a, h: [f(a, a), f(a, h), f(h, a)]),
    **dict.fromkeys((np.min, np.all), lambda f, a, h: f(a, axis=1, keepdims=True)),
    **dict.fromkeys((np.outer, np.linalg.outer), lambda f, a, h: f(a[1], a[0])),
    **dict.fromkeys((np.sort, np.sum), lambda f, a, h: f(a, 0)),
    **dict.fromkeys((np.hstack, np.vstack, np.concatenate), lambda f, a, h: [f([a, a + 1]), f([a, h])]),
    np.any: lambda f, a, h: f(a > 7, 0),
    np.append: lambda f, a, h: f(a, [h[0]], 0),
    np.argsort: lambda f, a, h: f(a, 1, stable=True),
    np.array_split: lambda f, a, h: f(a, 3, 1),
    np.astype: lambda f, a, h: f(a, np.int32),
    np.atleast_1d: lambda f, a, h: f(a[0, 0]),
    np.atleast_2d: lambda f, a, h: f(a[0], a),
    np.atleast_3d: lambda f, a, h: f(a[0], a, a[0, 0]),
    np.broadcast_arrays: lambda f, a, h: f(a[0], a),
    np.clip: lambda f, a, h: f(a, -1, [1, 2, 3, 4]),
    np.column_stack: lambda f, a, h: f([a, a[0]]),
    np.cumprod: lambda f, a, h: f(a, axis=0),
    np.diag: lambda f, a, h: f(a[0], 1),
    np.einsum: lambda f, a, h: f("ij,jk->ik", a, h),
    np.empty_like: lambda f, a, h: f(a).shape,
    np.full_like: lambda f, a, h: f(a, 7),
    np.inner: lambda f, a, h: [f(*pair) for b in (a + 1, h.tolist(), [[1] * 4], 2) for pair in ((a, b), (b, a))],
    np.kron: lambda f, a, h: f(a, 2),
    np.linalg.multi_dot: lambda f, a, h: f([a, h]),
    np.linalg.norm: lambda f, a, h: f(a, 1, axis=0),
    np.linalg.slogdet: lambda f, a, h: f(a).logabsdet,
    np.may_share_memory: lambda f, a, h: f(a, a.T),
    np.permute_dims: lambda f, a, h: f(a, (1, 0)),
    np.quantile: lambda f, a, h: f(a, 0.3),
    np.reshape: lambda f, a, h: f(a, (2, -1)),
    np.result_type: lambda f, a, h: f(a, np.float64),
    np.save: lambda f, a, h: saved(f, a),
    np.savetxt: lambda f, a, h: written(lambda file, a: f(file, a, "%.1f"), a),
    np.savez: lambda f, a, h: saved(lambda file, a: f(file, h, b=a), a, "b"),
    np.savez_compressed: lambda f, a, h: saved(f, a, "arr_0"),
    np.shares_memory: lambda f, a, h: f(a, np.ones(3)),
    np.size: lambda f, a, h: (f(a), f(a, 1), f(a, -2)),
    np.split: lambda f, a, h: f(a, [1, 3]),
    np.squeeze: lambda f, a, h: f(a[:1, :, None], 0),
    np.std: lambda f, a, h: f(a, correction=1),
    np.swapaxes: lambda f, a, h: f(a, 0, -1),
    np.take: lambda f, a, h: f(a, [2, -1, 0], 1),
    np.take_along_axis: lambda f, a, h: f(a, np.argsort(a, 1), 1),
    np.var: lambda f, a, h: f(a, 0, ddof=1),
    np.where: lambda f, a, h: f(a > 1, a, 0),
}  # fmt: skip
"""A call of each function that is none of the array API's: of an array, or of an Array with one of the host."""

MORE = [
    # of other forms
    lambda a, h: np.linalg.multi_dot([a, h, h[:, :2]]), lambda a, h: np.kron(a, h), lambda a, h: np.kron(a[0], h),
    lambda a, h: np.linalg.cond(a[np.newaxis], np.inf), lambda a, h: np.linalg.solve(a, h[:, 0]),
    lambda a, h: np.einsum("ij,kj->ki", a, h), lambda a, h: np.einsum("ij,j", a, h[0]), lambda a, h: np.dot(2, a),
    lambda a, h: np.median(a, axis=0), lambda a, h: np.quantile(a, [0.1, 1], axis=-1), lambda a, h: np.corrcoef(a[0]),
    lambda a, h: np.cov(a[0], a[1], ddof=0), lambda a, h: np.cov(a, rowvar=False), lambda a, h: h + a,
    lambda a, h: np.linalg.multi_dot([a[0], h, a, h[1]]), lambda a, h: np.linalg.norm(a[:0], 2),
    lambda a, h: np.median(np.where(a > 1, np.inf, a), axis=1),
    lambda a, h: h @ a, lambda a, h: np.float32(2) * a, lambda a, h: -a.T, lambda a, h: abs(a),
    lambda a, h: np.allclose(tuple(h.tolist()), a), lambda a, h: np.allclose(a, h[0]), lambda a, h: +a, lambda a, h: -a,
    lambda a, h: np.allclose(a, h[0], atol=[9, 9, 9, 9]), lambda a, h: np.array_equal(a, a[1:]),
    *(lambda a, h, axes=axes: np.transpose(a, axes) for axes in ((1, 0), (-1, 0), [1, -2], (0, 1))),
    *(lambda a, h, axes=axes: a.transpose(*axes) for axes in ((1, 0), (None,), ((0, 1),))),
    # reductions by universal functions
    lambda a, h: np.add.reduce(a), lambda a, h: np.add.reduce(a, axis=None), lambda a, h: np.maximum.reduce(a, axis=1),
    lambda a, h: np.minimum.reduce(a, axis=1, keepdims=True), lambda a, h: np.multiply.reduce(a, axis=-1),
    lambda a, h: np.logical_or.reduce(a == 0), lambda a, h: np.logical_and.reduce(a),
    # defaults that are spelled out
    lambda a, h: np.sum(a, 0, None, None), lambda a, h: np.sum(a, axis=1, dtype=None, out=None),
    lambda a, h: np.sum(a, 0, None, None, True), lambda a, h: np.max(a, 1, None), lambda a, h: np.copy(a, order="K"),
    lambda a, h: np.trace(a, 1, 0, 1, None, None), lambda a, h: np.diagonal(a, 1, 0, 1),
    lambda a, h: np.zeros_like(a, dtype=None, shape=None), lambda a, h: np.clip(a, -1, 1, None),
    lambda a, h: np.add(a, 1, dtype=None), lambda a, h: np.negative(a, where=True, out=None),
    lambda a, h: np.add.reduce(a, 0, None, None, False),
]  # fmt: skip

ON_THE_HOST = (np.save, np.savez, np.savez_compressed, np.linalg.det, np.linalg.slogdet, np.nonzero)
"""Functions whose results are NumPy's."""


def test_every_function_is_called():
    """Here, or with the functions of the array API, where one function serves both."""
    offered = {attrgetter(one.numpy)(np) for one in PUBLIC.values() if one.numpy}
    namespace = [inspect.unwrap(getattr(room, name)) for room in (xp, xp.linalg) for name in room.__all__]
    own = {one for one, found in protocols.FUNCTIONS.items() if not any(found is other for other in namespace)}
    assert own <= CALLS.keys() <= protocols.FUNCTIONS.keys() | offered


def alike(result, expected, on_device=True):
    """An Array in the place of an array, in the type that it has in place of NumPy's; else the same."""
    if isinstance(expected, tuple | list):
        for one, other in zip(result, expected, strict=True):
            alike(one, other, on_device)
    elif isinstance(expected, np.ndarray | np.generic) and not isinstance(expected, np.bool_):
        assert isinstance(result, glla.Array) == on_device and np.shape(result) == np.shape(expected)
        assert not on_device or result.dtype == {"b": "bool", "i": "int32", "f": "float32"}[expected.dtype.kind]
        np.testing.assert_allclose(host(result), expected, rtol=1e-5, atol=1e-5)
    else:
        assert result == expected or result.replace("Array(", "array(") == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("shape", "ddof"), [((1, 1), 9), ((2, 1), None), ((4, 0), None)])
def test_covariances_of_few_observations(rng, shape, ddof):
    a = rng.standard_normal(shape).astype(np.float32)
    np.testing.assert_array_equal(np.cov(glla.asarray(a), ddof=ddof), np.cov(a, ddof=ddof))


def test_correlations_are_at_most_one(rng):
    a = np.outer(rng.standard_normal(8), rng.standard_normal(50))
    assert np.abs(np.corrcoef(glla.asarray(a))).max() <= 1


def test_operators_beside_a_table():
    pandas = pytest.importorskip("pandas")
    h = np.float32([[5, 1, -2], [1, 6, 3]])
    A, table = glla.asarray(h), pandas.DataFrame(h + 1)
    for call in (lambda a, b: a - b, lambda a, b: b - a, lambda a, b: a == b):
        alike(call(table, A), call(h + 1, h))
    alike(table[0] * A[:, 0], (h + 1)[:, 0] * h[:, 0])


@pytest.mark.parametrize(("function", "call"), [*CALLS.items(), *((None, lambda f, a, h, c=c: c(a, h)) for c in MORE)])
def test_functions_run_on_the_device(function, call, monkeypatch):
    a = np.float32([[5, 1, -2, 0], [1, 6, 0, 2], [0, 1, 7, -3], [2, 2, 0, 8]])
    A = glla.asarray(a)
    monkeypatch.setattr(glla.Array, "__array__", lambda *_: pytest.fail("copied to the host"))
    alike(call(function, A, a), call(function, a, a), function not in ON_THE_HOST)
    testing.assert_exact(A.numpy(), a)


def test_both_names_of_the_bounds(rng):
    """Which NumPy has from 2.1 on."""
    a = testing.integers(4, 3, rng)
    A = glla.asarray(a)
    testing.assert_exact(np.clip(A, min=-1).numpy(), a.clip(min=-1))
    testing.assert_exact(np.clip(A, min=-1, max=[1, 2, 3]).numpy(), a.clip(-1, np.float32([1, 2, 3])))
    testing.assert_exact(np.clip(A, -1, max=2).numpy(), a.clip(-1, 2))


@pytest.mark.parametrize("cut", [1, 2, 3, 7, [2], [0, 2, 2, 9], [-1]], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_are_numpys(cut, axis, rng):
    a = testing.integers(6, 8, rng)
    A = glla.asarray(a)
    for mine, expected in zip(np.array_split(A, cut, axis), np.array_split(a, cut, axis), strict=True):
        testing.assert_exact(mine.numpy(), expected)
    if a.shape[axis] % (cut if isinstance(cut, int) else 1):
        with pytest.raises(ShapeError, match=rf"^split: parts must have one length, got {a.shape[axis]} elements for"):
            np.split(A, cut, axis)
    else:
        assert [one.shape for one in np.split(A, cut, axis)] == [one.shape for one in np.split(a, cut, axis)]


VALUES = [0, 1, 1 + 2**-20, 3e38, np.inf, -np.inf, np.nan]


def test_allclose_to_infinity_and_nan():
    for left, right, equal_nan in product(VALUES, VALUES, (False, True)):
        expected = np.allclose(left, right, equal_nan=equal_nan)
        A, B = (glla.asarray([[value]], check_finite=False) for value in (left, right))
        for pair in ((A, B), (A, right), (left, B), (A, [right]), ([[left]], B)):
            assert np.allclose(*pair, equal_nan=equal_nan) is expected
        for other in (B, [[right]]):
            assert np.array_equal(A, other, equal_nan=equal_nan) is np.array_equal(left, right, equal_nan=equal_nan)


def test_functions_without_a_signature(monkeypatch):
    """Those that are written in C have none before NumPy 2.4."""
    A, signature = glla.asarray(np.eye(2)), inspect.signature

    def of_python_only(function):
        if function is np.dot:
            raise ValueError("no signature found")
        return signature(function)

    monkeypatch.setattr(inspect, "signature", of_python_only)
    with pytest.raises(UnsupportedError, match=r"^numpy.dot: takes .*, got an unexpected keyword argument 'out'; "):
        np.dot(A, A, out=A)


class Foreign:
    """An array of another library, which takes part in NumPy's protocols."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented

    def __array_function__(self, function, types, args, kwargs):
        return "foreign"


def test_other_libraries_have_their_say():
    assert np.dot(glla.asarray(np.eye(2)), Foreign()) == "foreign"


class Apart:
    """Keeps out of NumPy's functions and brings its own operators (NEP 13)."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "added apart"

    def __rmatmul__(self, other):
        return "multiplied apart"

    def __gt__(self, other):
        return "compared apart"


def test_classes_with_operators_of_their_own():
    matrix, other = glla.asarray(np.eye(2)), Apart()
    assert matrix + other == "added apart"
    assert matrix @ other == "multiplied apart"
    assert (matrix < other) == "compared apart"
    with pytest.raises(TypeError, match="unsupported operand"):
        matrix - other
    matrix += other
    assert matrix == "added apart"


class Pending:
    """A result that is not computed yet, which takes calls over."""

    @staticmethod
    def __glla_function__(name, function, args, kwargs):
        return name

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return f"{ufunc.__name__} later"

    def __radd__(self, other):
        return "added later"


def test_pending_results_have_their_say():
    A = glla.asarray(np.eye(2))
    assert A + Pending() == "added later"
    assert np.add(A, Pending()) == "add later"
    assert np.arctan2(A, Pending()) == "arctan2 later"
    assert glla.solve(A, Pending()) == "solve"
    for name in ("sub", "mul", "truediv", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "iadd", "imatmul"):
        assert getattr(A, f"__{name}__")(Pending()) is NotImplemented
    for name in ("radd", "rsub", "rmul", "rtruediv", "rpow", "rmatmul"):
        assert getattr(A, f"__{name}__")(Pending()) is NotImplemented


# DLPack ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda a: a, np.asfortranarray, lambda a: a.astype(np.float64), lambda a: a[::-1, ::2]]
)
def test_dlpack_from_the_host(make, rng):
    a = make(testing.normal(5, 7, rng))
    A = glla.from_dlpack(a)
    testing.assert_exact(A.numpy(), np.ascontiguousarray(a.astype(np.float32)))
    kept = A.numpy()
    a[:] = 0
    testing.assert_exact(A.numpy(), kept)
    assert glla.from_dlpack(A) is A


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_dlpack_of_every_shape_and_type(shape, dtype, rng):
    a = rng.integers(0, 3, shape).astype(dtype)
    A = glla.from_dlpack(a, dtype=dtype)
    testing.assert_exact(A.numpy(), a, dtype=a.dtype)
    testing.assert_exact(np.from_dlpack(A), a, dtype=a.dtype)
    assert glla.from_dlpack(a).dtype == np.float32


def test_quantiles_and_conditions_at_their_ends(device):
    """Shapes of q, NaN that a computation left, and a singular matrix, as NumPy has them."""
    a = np.array([[3, 1, 2, 9], [5, 8, 6, 7]], dtype=np.float32)
    A, q = glla.asarray(a, device), [[0.1, 0.5], [0.25, 1]]
    for axis in (None, 0, 1):
        np.testing.assert_allclose(np.quantile(A, q, axis=axis).numpy(), np.quantile(a, q, axis=axis), rtol=1e-6)
    left = np.where(A == 8, np.nan, A)
    np.testing.assert_array_equal(np.median(left, axis=1).numpy(), [2.5, np.nan])
    assert np.isnan(np.median(left).numpy())
    assert np.linalg.cond(glla.asarray(np.ones((3, 3)), device), 1).numpy() == np.inf
