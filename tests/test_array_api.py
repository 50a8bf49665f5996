"""The array API's namespace, beside array-api-strict: the same names, signatures and results.

The standard's own suite (https://github.com/data-apis/array-api-tests) is called so:

    ARRAY_API_TESTS_MODULE=glla.array_api ARRAY_API_TESTS_SKIP_DTYPES=int64,float64,complex64,complex128 \
        python -m pytest array_api_tests --max-examples 5 --disable-deadline --disable-extension fft

It asks for pytest-json-report and ndindex. Types that are left out must be said: that of complex numbers it asks
`asarray` for, which refuses them, and int64 and float64 are names here, no types of an Array.

The suite of April 2026 ran whole, with 15 examples and a default for the widest complex type, which it lacks: 1143
tests passed, 36 were skipped, and 170 failed. Of these 131 are of complex numbers, 14 of fft, 18 of `floor_divide`
where an operand is infinite, which follows NumPy, 2 of eig and eigvals, 4 of the suite's own tables without a complex
type, and one of ``copy=False`` in DLPack: a copy on the host is never free.

What follows needs no checkout of it: every function over random shapes and types, and the standard's special cases.
"""

import inspect
import re
import zlib
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import array_api

import glla
from glla import array_api as xp
from glla import testing
from glla.errors import DTypeError, OptionError
from glla.operations.linear.elementwise import BOUNDS
from glla.registry import PUBLIC
from tests.test_arrays import assert_the_rest_is_zero, lying, narrow, narrow_goes  # noqa: F401

OWN_NAMES = {
    "Device", "ArrayAPIStrictFlags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
    "set_array_api_strict_flags", "__version__",
}  # fmt: skip
"""What array-api-strict has beyond the standard."""

MAIN = sorted(set(strict.__all__) - OWN_NAMES)
LINALG = sorted(xp.linalg.__all__)
FUNCTIONS = sorted(name for name in set(MAIN) & set(xp.__all__) if inspect.isfunction(getattr(strict, name)))
OFFERED = [*FUNCTIONS, *(f"linalg.{name}" for name in LINALG)]


def found(module, name):
    """A member of a namespace, or of its extension."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


# Names -------------------------------------------------------------------------------------------------------------


def test_the_guide_says_what_is_not_there():
    guide = (Path(__file__).parents[1] / "docs" / "guide" / "interop.md").read_text(encoding="utf-8")
    text = guide.partition("What is not there")[2].partition("## DLPack")[0]
    named = set(" ".join(re.findall(r"``([^`]*)``", text)).split()) - {"hasattr"}
    missing = {*(set(MAIN) - set(xp.__all__)), *(f"linalg.{name}" for name in xp.linalg.LEFT_OUT)}
    assert named == missing
    theirs = {*strict.linalg.__all__, "eig", "eigvals"}  # these two it has, but does not list
    assert theirs == xp.linalg.STANDARD
    assert all(hasattr(strict.linalg, name) for name in theirs)
    assert sorted(theirs - set(LINALG)) == xp.linalg.LEFT_OUT


def test_nothing_is_there_that_the_standard_has_not():
    assert set(xp.__all__) <= set(MAIN)
    for public in PUBLIC.values():
        name = public.namespace
        wrong = f"{public.function.__name__}: the array API has no linalg.{name}: leave namespace= out of @public"
        assert name is None or name in strict.linalg.__all__, wrong
        summary = public.function.__doc__.partition("\n")[0]
        assert name in (None, "det") or getattr(xp.linalg, name).__doc__.startswith(summary)  # det is written out
    assert set(LINALG) <= set(strict.linalg.__all__)
    for name in xp.__all__:
        assert hasattr(xp, name)


OWN_DEFAULTS = {"from_dlpack", "astype"}
"""Functions where strict marks what was not given in its own way."""


@pytest.mark.parametrize("name", OFFERED)
def test_signatures_are_the_standards(name):
    ours, theirs = found(xp, name), found(strict, name)
    mine, standard = (list(inspect.signature(function).parameters.values()) for function in (ours, theirs))
    assert [(p.name, p.kind) for p in mine] == [(p.name, p.kind) for p in standard]
    if name not in OWN_DEFAULTS:
        assert [p.default for p in mine] == [p.default for p in standard]
    assert ours.__name__ == name.split(".")[-1]
    assert ours.__doc__


METHODS = sorted(
    name for name in vars(type(strict.ones(1))) if name[:2] == "__" or name in ("T", "mT", "to_device", "device")
)


def test_arrays_have_the_standard_s_methods():
    mine = set(dir(glla.Array))
    assert {name for name in METHODS if name not in mine} <= {"__array_priority__", "__buffer__", "__annotations__"}


def test_constants_and_types():
    for name in ("e", "inf", "pi", "newaxis"):
        assert getattr(xp, name) == getattr(strict, name)
    assert np.isnan(xp.nan)
    assert xp.__array_api_version__ == strict.__array_api_version__
    assert xp.finfo(glla.asarray([[1]])).max == strict.finfo(strict.float32).max
    for limit in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(xp.finfo(xp.float32), limit) == getattr(strict.finfo(strict.float32), limit)
        assert isinstance(getattr(xp.finfo(xp.float32), limit), float | int)
    for limit in ("bits", "max", "min"):
        assert getattr(xp.iinfo(xp.int32), limit) == getattr(strict.iinfo(strict.int32), limit)
    for dtype in ("float32", "int32", "bool"):
        for kind in ("bool", "real floating", "integral", "signed integer", "numeric", ("bool", "real floating")):
            assert xp.isdtype(getattr(xp, dtype), kind) == strict.isdtype(getattr(strict, dtype), kind)
        assert len({getattr(xp, dtype), getattr(xp, dtype)}) == 1
        for to in ("float32", "int32", "bool"):
            mine, theirs = ([getattr(module, one) for one in (dtype, to)] for module in (xp, strict))
            assert xp.can_cast(*mine) == strict.can_cast(*theirs)
            assert xp.can_cast(xp.ones(1, dtype=mine[0]), mine[1]) == strict.can_cast(*theirs)
            if dtype == to:
                assert xp.result_type(*mine) == mine[0]


def test_arrays_know_their_namespace():
    A = glla.asarray(np.eye(2))
    assert A.__array_namespace__() is xp
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert A.__array_namespace__(api_version=version) is xp
    with pytest.raises(OptionError, match=r"^Array: the array API is offered up to version 2025.12, got '2999.12'$"):
        A.__array_namespace__(api_version="2999.12")


def test_inspection(device):
    info, theirs = xp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.capabilities().keys() == theirs.capabilities().keys()
    assert info.default_device() is device
    assert info.devices() == (device,)
    assert len({device, *info.devices()}) == 1
    assert info.default_dtypes(device=device) == {
        "real floating": np.float32, "integral": np.int32, "indexing": np.int32,
    }  # fmt: skip
    assert info.dtypes() == {"bool": np.bool_, "int32": np.int32, "float32": np.float32}
    assert info.dtypes(kind="real floating") == {"float32": np.float32}
    assert info.dtypes(kind=("bool", "integral")) == {"bool": np.bool_, "int32": np.int32}
    assert info.dtypes(kind="complex floating") == {}
    with pytest.raises(OptionError, match=r"^dtypes: kind must be one of the standard's names, got 'reals'$"):
        info.dtypes(kind="reals")


# Results beside those of array-api-strict, over shapes and types ----------------------------------------------------

FLOAT, INT, BOOL = "float32", "int32", "bool"
NUMERIC, EVERY, WHOLE = (FLOAT, INT), (FLOAT, INT, BOOL), (INT, BOOL)
VALUES = {
    FLOAT: np.float32(
        [0, -0.0, 1, -1, 2, -2.5, 0.5, 1.5, -1.5, 3, 1e-30, -1e30, 100, -0.25, 7, np.inf, -np.inf, np.nan]
    ),
    INT: np.int32([0, 1, -1, 2, -3, 7, 100, -41, 2**31 - 1, -(2**31) + 1, 65537]),
    BOOL: np.array([False, True]),
}
SMALL = {FLOAT: np.float32([0, 1, -1, 2, -3, 0.5, 4, -2.5]), INT: np.int32([0, 1, -1, 2, -3, 4]), BOOL: VALUES[BOOL]}
SHAPES = [(), (1,), (5,), (0,), (1, 1), (3, 4), (4, 1), (0, 3), (2, 3, 4), (3, 1, 2), (2, 1, 2, 3), (70,), (9, 11)]


class Drawn:
    """Random arguments of one call."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one_of(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def shape(self, least=0, most=9, empty=True):
        return self.one_of([s for s in SHAPES if least <= len(s) <= most and (empty or 0 not in s)])

    def array(self, kinds=EVERY, shape=None, values=VALUES, dtype=None):
        shape = self.shape() if shape is None else shape
        return self.rng.choice(values[dtype or self.one_of(kinds)], shape)

    def partner(self, shape):
        """A shape that broadcasts with another one."""
        shape = tuple(self.one_of([length, 1]) if length else length for length in shape)
        return shape[int(self.rng.integers(len(shape) + 1)) :]

    def axis(self, ndim):
        return int(self.rng.integers(-ndim, ndim))

    def axes(self, ndim):
        """None, an axis, or some of them."""
        if not ndim or self.rng.random() < 0.3:
            return None
        if self.rng.random() < 0.5:
            return self.axis(ndim)
        some = self.rng.permutation(ndim)[: int(self.rng.integers(1, ndim + 1))]
        return tuple(int(one) for one in some)

    def yes(self):
        return bool(self.rng.integers(2))

    def matrices(self, *last):
        """A stack, or one, of regular matrices; symmetric and positive definite."""
        shape = self.one_of([(), (2,), (3, 1)])
        n = int(self.rng.integers(1, 6))
        a = self.rng.integers(-2, 3, (*shape, n, n)).astype(np.float32)
        return a @ a.swapaxes(-1, -2) + 4 * np.eye(n, dtype=np.float32)


def one(kinds, values=VALUES):
    return lambda d: ((d.array(kinds, values=values),), {})


def two(kinds, left=VALUES, right=None):
    def draw(d):
        dtype = d.one_of(kinds)
        a = d.array(dtype=dtype, values=left)
        b = d.array(dtype=dtype, values=right or left, shape=d.partner(a.shape))
        number = {FLOAT: 2.0, INT: 3, BOOL: True}[dtype]
        return d.one_of([(a, b), (b, a), (a, number), (number, b)] if right is None else [(a, b), (a, number)]), {}

    return draw


def reduced(kinds, values=SMALL, empty=True, most=True, **options):
    def draw(d):
        a = d.array(kinds, shape=d.shape(empty=empty), values=values)
        axis = d.axes(a.ndim) if most else (d.axis(a.ndim) if a.ndim and d.yes() else None)
        more = {name: d.one_of(choices) for name, choices in options.items()}
        return (a,), {"axis": axis, "keepdims": d.yes(), **more}

    return draw


def along(kinds, values=SMALL, least=1, **options):
    """An array, and an axis of it."""

    def draw(d):
        a = d.array(kinds, shape=d.shape(least=least), values=values)
        return (a,), {"axis": d.axis(a.ndim), **{name: d.one_of(choices) for name, choices in options.items()}}

    return draw


def drawn(function):
    return lambda d: function(d, d.array(EVERY, shape=d.shape(least=1)))


def like(**options):
    def draw(d):
        dtype = d.one_of([None, *EVERY])
        return (d.array(EVERY),), {**({} if dtype is None else {"dtype": dtype}), **options}

    return draw


def new(*arguments, **options):
    return lambda d: ((*(d.one_of(one) for one in arguments),), {"dtype": d.one_of(EVERY), **options})


def product(d):
    k, dtype = int(d.rng.integers(0, 6)), d.one_of(NUMERIC)
    left = d.one_of([(k,), (3, k), (2, 1, 3, k), (1, k)])
    right = d.one_of([(k,), (k, 2), (4, k, 2), (k, 1)])
    return tuple(d.array(shape=shape, values=SMALL, dtype=dtype) for shape in (left, right)), {}


def dotted(d):
    dtype, a = d.one_of(NUMERIC), d.shape(least=1)
    return tuple(d.array(shape=shape, values=SMALL, dtype=dtype) for shape in (a, (*d.partner(a[:-1]), a[-1]))), {}


def contracted(d):
    dtype = d.one_of(NUMERIC)
    shapes, axes = d.one_of(
        [(((3, 4), (4, 2)), 1), (((2, 3, 4), (3, 4, 5)), 2), (((2, 3), (4,)), 0), (((3, 4), (4, 3)), ((0, 1), (1, 0)))]
    )
    return tuple(d.array(shape=shape, values=SMALL, dtype=dtype) for shape in shapes), {"axes": axes}


def same_shape(d, least=0):
    shape, dtype = d.shape(least=least), d.one_of(EVERY)
    return [d.array(shape=shape, dtype=dtype) for _ in range(d.one_of([1, 2, 3, 4, 23]))]


def joined(d):
    arrays = same_shape(d, 1)
    axis = d.axis(arrays[0].ndim)
    longer = [np.concatenate([a, a], axis) if d.yes() else a for a in arrays]
    return (longer,), {"axis": d.one_of([axis, None])}


def chosen(d):
    a = d.array(EVERY, shape=d.shape(least=1, empty=False))
    axis = d.axis(a.ndim)
    return (a, d.rng.integers(0, a.shape[axis], 5).astype(np.int32)), {"axis": axis}


def chosen_along(d):
    a = d.array(EVERY, shape=d.shape(least=1, empty=False))
    axis = d.axis(a.ndim)
    shape = list(a.shape)
    shape[axis] = 3
    return (a, d.rng.integers(0, a.shape[axis], shape).astype(np.int32)), {"axis": axis}


def searched(d):
    dtype = d.one_of(NUMERIC)
    return (np.sort(d.array(shape=(9,), values=SMALL, dtype=dtype)), d.array(values=SMALL, dtype=dtype)), {
        "side": d.one_of(["left", "right"])
    }


def chosen_by_condition(d):
    a = d.array(EVERY)
    b = d.array(dtype=str(a.dtype), shape=d.partner(a.shape))
    return (d.array((BOOL,), shape=d.partner(a.shape)), a, b), {}


def bounded(d):
    a = d.array(NUMERIC)
    low, high = {"float32": (-1.0, 2.5), "int32": (-3, 8)}[str(a.dtype)]
    return (a, *d.one_of([(low, high), (low, None), (None, high), (None, None)])), {}


def crossed(d):
    dtype, shape = d.one_of(NUMERIC), d.one_of([(3,), (2, 3), (4, 1, 3)])
    return tuple(d.array(shape=one, values=SMALL, dtype=dtype) for one in (shape, shape)), {"axis": -1}


def matrix_shaped(kinds, values=SMALL, **options):
    def draw(d):
        a = d.array(kinds, shape=d.shape(least=2), values=values)
        return (a,), {name: d.one_of(choices) for name, choices in options.items()}

    return draw


def rolled(d, a):
    axis = d.axes(a.ndim)
    shift = tuple(d.one_of([-2, 1, 9]) for _ in axis) if isinstance(axis, tuple) else d.one_of([-7, 0, 3])
    return (a, shift), {"axis": axis}


def reshaped(d):
    a = d.array(EVERY, shape=d.one_of([(6,), (3, 4), (2, 3, 4), (9, 11), (0, 3), ()]))
    return (a, d.one_of([(-1,), (a.size,), (*a.shape[::-1],), (1, *a.shape, 1)] if a.size else [(3, 0), (0,)])), {}


def normed(d):
    a = d.array((FLOAT,), values=SMALL)
    orders = [0, 1, 2, 3, 0.5, -1, -2.5] + [np.inf, -np.inf] * bool(a.size)
    return (a,), {"axis": d.axes(a.ndim), "keepdims": d.yes(), "ord": d.one_of(orders)}


SHIFT = {INT: np.int32([0, 1, 5, 31]), BOOL: VALUES[BOOL]}
DIVISORS = {FLOAT: VALUES[FLOAT], INT: VALUES[INT][1:]}
EXPONENTS = {FLOAT: np.float32([0, 1, 2, 1.5, -1, 3, -2]), INT: np.int32([0, 1, 2, 5])}
CONTRACTED = {"tensordot": contracted, "vecdot": dotted, "matmul": product}

ARGUMENTS = {
    **dict.fromkeys(
        ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p",
         "log2", "reciprocal", "signbit", "sin", "sinh", "sqrt", "tan", "tanh"), one((FLOAT,))
    ),
    **dict.fromkeys(("abs", "ceil", "floor", "isfinite", "isinf", "isnan", "negative", "positive", "round", "sign",
                     "square", "trunc", "real", "conj"), one(NUMERIC)),
    "logical_not": one((BOOL,)),
    "bitwise_invert": one(WHOLE),
    **dict.fromkeys(("add", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "multiply",
                     "subtract"), two(NUMERIC)),
    **dict.fromkeys(("equal", "not_equal"), two(EVERY)),
    **dict.fromkeys(("atan2", "copysign", "divide", "hypot", "logaddexp", "nextafter"), two((FLOAT,))),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), two(WHOLE)),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), two((INT,), right=SHIFT)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), two((BOOL,))),
    **dict.fromkeys(("floor_divide", "remainder"), two(NUMERIC, right=DIVISORS)),
    "pow": two(NUMERIC, right=EXPONENTS),
    "clip": bounded,
    "where": chosen_by_condition,
    **dict.fromkeys(("all", "any", "count_nonzero"), reduced(EVERY)),
    **dict.fromkeys(("argmax", "argmin"), reduced(NUMERIC, VALUES, empty=False, most=False)),
    **dict.fromkeys(("max", "min"), reduced(NUMERIC, VALUES, empty=False)),
    "mean": reduced((FLOAT,)),
    **dict.fromkeys(("std", "var"), reduced((FLOAT,), correction=[0.0, 0, 1])),
    "sum": reduced(NUMERIC, dtype=[None, FLOAT]),
    "prod": reduced(NUMERIC, {FLOAT: SMALL[FLOAT], INT: np.int32([1, 1, 1, 1, 1, 1, -1, 2])}, dtype=[None, FLOAT]),
    "cumulative_sum": along(NUMERIC, include_initial=[False, True]),
    "cumulative_prod": along(NUMERIC, {FLOAT: np.float32([1, -1, 0.5, 2]), INT: np.int32([1, -1])},
                             include_initial=[False, True]),
    "diff": along(NUMERIC, n=[0, 1, 2, 3]),
    "sort": along(NUMERIC, descending=[False, True]),
    "argsort": along(NUMERIC, descending=[False, True]),
    "searchsorted": searched,
    "take": chosen,
    "take_along_axis": chosen_along,
    "nonzero": lambda d: ((d.array(EVERY, shape=d.shape(least=1)),), {}),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), one(EVERY, SMALL)),
    "isin": lambda d: ((d.array((INT,)), d.array((INT,))), {}),
    "astype": lambda d: ((d.array(EVERY, values=SMALL), d.one_of(EVERY)), {"copy": d.yes()}),
    "broadcast_arrays": lambda d: ((a := d.array(EVERY), np.ones(d.partner(a.shape), a.dtype)), {}),
    "broadcast_to": lambda d: ((np.zeros(d.partner((a := d.array(EVERY)).shape), a.dtype), a.shape), {}),
    "concat": joined,
    "stack": lambda d: ((arrays := same_shape(d),), {"axis": d.axis(arrays[0].ndim + 1)}),
    "unstack": along(EVERY),
    "expand_dims": lambda d: ((a := d.array(EVERY), d.axis(a.ndim + 1)), {}),
    "squeeze": lambda d: ((np.ones((1, 3, 1), FLOAT), d.one_of([0, -1, (0, 2), ()])), {}),
    "flip": lambda d: ((a := d.array(EVERY),), {"axis": d.axes(a.ndim)}),
    "moveaxis": lambda d: ((d.array(EVERY, shape=d.shape(least=2)), *d.one_of([(0, -1), ((0, 1), (-1, 0)), (1, 0)])),
                           {}),
    "permute_dims": lambda d: ((a := d.array(EVERY), tuple(d.rng.permutation(a.ndim).tolist())), {}),
    "matrix_transpose": matrix_shaped(EVERY),
    "repeat": drawn(lambda d, a: ((a, 3), {"axis": d.one_of([None, d.axis(a.ndim)])})),
    "reshape": reshaped,
    "roll": drawn(rolled),
    "tile": lambda d: ((d.array(EVERY, shape=d.shape(most=2)), d.one_of([(2,), (3, 1), (2, 1, 2), (0,), ()])), {}),
    "tril": matrix_shaped(EVERY, k=[-1, 0, 2]),
    "triu": matrix_shaped(EVERY, k=[-1, 0, 2]),
    "meshgrid": lambda d: ((np.float32([1, 2, 3]), np.float32([4, 5]), np.float32([6]))[: d.one_of([1, 2, 3])],
                           {"indexing": d.one_of(["xy", "ij"])}),
    "arange": lambda d: (d.one_of([(5,), (2, 9, 3), (9, 2, -2), (3, 3), (5, 2)]), {"dtype": d.one_of(NUMERIC)}),
    "linspace": lambda d: ((d.one_of([-1.0, 0.0]), d.one_of([0.0, 2.5]), d.one_of([0, 1, 2, 9])),
                           {"dtype": FLOAT, "endpoint": d.yes()}),
    "eye": lambda d: (d.one_of([(3,), (3, 5), (4, 2), (0, 3)]), {"k": d.one_of([0, 2, -1]), "dtype": d.one_of(EVERY)}),
    "zeros": new(SHAPES),
    "ones": new(SHAPES),
    "full": new(SHAPES, [1]),
    "zeros_like": like(),
    "ones_like": like(),
    "full_like": lambda d: ((d.array(NUMERIC), 3), {}),
    "asarray": lambda d: ((d.array(EVERY).tolist() if d.yes() else d.array(EVERY),), {"dtype": BOOL}),
    **CONTRACTED,
    **{f"linalg.{name}": draw for name, draw in CONTRACTED.items()},
    "linalg.cross": crossed,
    "linalg.diagonal": matrix_shaped(EVERY, offset=[0, 1, -1, 9, -9]),
    "linalg.trace": matrix_shaped(NUMERIC, offset=[0, 1, -1, 9, -9]),
    "linalg.matrix_transpose": matrix_shaped(EVERY),
    "linalg.outer": lambda d: ((d.array((FLOAT,), (5,), SMALL), d.array((FLOAT,), (3,), SMALL)), {}),
    "linalg.matrix_norm": lambda d: (
        (d.array((FLOAT,), d.shape(least=2, empty=False), SMALL),),
        {"keepdims": d.yes(), "ord": d.one_of(["fro", 1, -1, np.inf, -np.inf])},
    ),
    "linalg.vector_norm": normed,
    "linalg.matrix_power": lambda d: ((d.matrices(), d.one_of([0, 1, 2, 3, -1])), {}),
    **dict.fromkeys(
        ("linalg.cholesky", "linalg.det", "linalg.eigvalsh", "linalg.inv", "linalg.qr", "linalg.slogdet"),
        lambda d: ((d.matrices(),), {}),
    ),
    "linalg.solve": lambda d: ((a := d.matrices(), d.one_of([a @ a, np.ones((*a.shape[:-1], 2), FLOAT)])), {}),
}  # fmt: skip
"""For each function, how its arguments are drawn."""

ELSEWHERE = {
    "__array_namespace_info__", "broadcast_shapes", "can_cast", "empty", "empty_like", "finfo", "from_dlpack", "iinfo",
    "isdtype", "linalg.eigh", "linalg.matrix_rank", "linalg.pinv", "linalg.svd", "linalg.svdvals", "result_type",
}  # fmt: skip
"""Functions whose results are no arrays, or have no fixed elements: they are tested by themselves."""

EXACT = re.compile(
    "argm|sort|take|roll|flip|concat|stack|where|clip|tri|eye|zeros|ones|full|unique|equal|less|greater|is|logical|bit|"
    "abs|ceil|floor$|trunc|round|sign|max|min|reshape|squeeze|expand|permute|move|repeat|tile|broadcast|astype|nextafter"
)


def test_every_function_is_compared():
    assert set(ARGUMENTS) == set(OFFERED) - ELSEWHERE


def given_to(module, argument, laid):
    """An argument as a library takes it."""
    if isinstance(argument, np.ndarray):
        return laid(argument)
    if isinstance(argument, str) and argument in EVERY:
        return getattr(module, argument)
    if isinstance(argument, list) and argument and isinstance(argument[0], np.ndarray):
        return [laid(one) for one in argument]
    return argument


HALVED = {np.dtype("int64"): np.int32, np.dtype("float64"): np.float32}
"""Default types of array-api-strict, and what an Array has in their place."""


def compare(ours, theirs, bound, normwise=False, signed=True):
    """The same shape, type and numbers, up to some units roundoff: of each, or of the largest."""
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            compare(mine, other, bound, normwise, signed)
        return
    expected = np.from_dlpack(theirs)
    assert isinstance(ours, glla.Array)
    result = ours.numpy()
    assert_the_rest_is_zero(ours, result)
    assert (result.shape, result.dtype) == (expected.shape, HALVED.get(expected.dtype, expected.dtype))
    if not bound or expected.dtype.kind != "f":
        np.testing.assert_array_equal(result, expected)
    else:
        with np.errstate(over="ignore"):
            rounded = expected.astype(np.float32)
        finite = np.abs(rounded[np.isfinite(rounded)])
        least = 4 * testing.SMALLEST_NORMAL + (bound * testing.ROUNDOFF * finite.max(initial=0) if normwise else 0)
        np.testing.assert_allclose(result, rounded, rtol=bound * testing.ROUNDOFF, atol=least)
    zeros = (result == 0) & (expected == 0)
    if expected.dtype.kind == "f" and bound == 0 and signed:
        np.testing.assert_array_equal(np.signbit(result[zeros]), np.signbit(expected[zeros]))


GLLAS = {"pow": "power", **{f"a{name}": f"a{name}" for name in ("cos", "sin", "tan", "tan2")}}


def check(name, seed):
    drawn = Drawn([seed, zlib.crc32(name.encode())])
    arguments, options = ARGUMENTS[name](drawn)
    device, layouts = drawn.one_of([glla.default_device, narrow])(), [0, 1, 2, 3] + [4] * (name[:6] != "linalg")
    results = []
    for module, laid in ((xp, lambda a: lying(a, drawn.one_of(layouts), device)), (strict, strict.asarray)):
        own = [given_to(module, one, laid) for one in arguments]
        results.append(found(module, name)(*own, **{key: given_to(module, one, laid) for key, one in options.items()}))
    exact = EXACT.match(name.removeprefix("linalg."))
    bound = 0 if exact else max(64, BOUNDS.get(GLLAS.get(name, name), 0))
    compare(*results, bound, name[:6] == "linalg", name not in ("max", "maximum", "min", "minimum"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_results(name):
    for seed in range(6):
        check(name, seed)


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
@settings(max_examples=200, deadline=None)
@given(st.integers(6, 2**32))
def test_results_of_many(name, seed):
    check(name, seed)


# What array-api-strict does not say -------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [np.int32([40, 7, 100, 7]), np.float32([40, np.nan, -7, -np.inf, 40, np.nan])])
def test_different_elements_are_sorted(values):
    """The standard leaves the order open; scikit-learn counts classes in it, and NumPy's unique_values hashes."""
    expected = np.unique(values, equal_nan=False)
    A = xp.asarray(values)
    for result in (
        xp.unique_values(A),
        *(xp.__dict__[f"unique_{one}"](A).values for one in ("all", "counts", "inverse")),
    ):
        np.testing.assert_array_equal(result.numpy(), expected, strict=True)


def test_astype_of_an_array_of_the_host():
    """scikit-learn converts what SciPy has computed on the host, and takes the type of the result for its namespace."""
    for dtype in (xp.float32, xp.int32, xp.bool):
        A = xp.astype(np.float64([[0, 1.5, -2.5]]), dtype)
        assert isinstance(A, glla.Array)
        testing.assert_exact(A.numpy(), np.float64([[0, 1.5, -2.5]]).astype(dtype), dtype=dtype)


def test_isin_inverted():
    """array-api-strict 2.6 leaves `invert` out."""
    a, b = np.int32([[1, 2], [3, 2]]), np.int32([2, 5])
    A, B = xp.asarray(a), xp.asarray(b)
    testing.assert_exact(xp.isin(A, B, invert=True).numpy(), np.isin(a, b, invert=True), dtype=bool)
    testing.assert_exact(xp.isin(A, 2, invert=True).numpy(), a != 2, dtype=bool)
    testing.assert_exact(xp.isin(3, B).numpy(), np.array(False), dtype=bool)


def test_types_beside_each_other():
    A, N, T = xp.ones(2), xp.ones(2, dtype=xp.int32), xp.ones(2, dtype=xp.bool)
    assert xp.result_type(N, T) == xp.int32
    assert xp.result_type(A, N, T, 3) == xp.float32
    assert xp.result_type(N, 2.5) == xp.float32
    assert (N / N).dtype == xp.float32 and (T // T).dtype == xp.int32 and (T @ T).dtype == xp.bool
    assert xp.where(T, 1, 2).dtype == xp.int32 and xp.where(T, 1.0, 2).dtype == xp.float32
    assert xp.where(T, N, 2).dtype == xp.int32 and xp.where(T, N, A).dtype == xp.float32


def test_wide_types_are_names_alone():
    assert (xp.int64, xp.float64) == (np.dtype("int64"), np.dtype("float64"))
    assert not {"int64", "float64"} & {*xp.__all__, *xp.__array_namespace_info__().dtypes()}
    A = xp.zeros(3, dtype=xp.int64)
    assert {
        one.dtype for one in (A, xp.astype(A, xp.int64), xp.sum(A, dtype=xp.int64), xp.asarray([1], dtype=xp.int64))
    } == {xp.int32}
    assert xp.asarray(A, dtype=xp.int64, copy=None) is A


def test_what_the_suite_asks_for_before_it_collects():
    """Modules of the suite do this as they are imported: what raises here stops all of it."""
    assert xp.asarray(0).dtype == xp.int32 and xp.asarray(0.0).dtype == xp.float32
    info = xp.__array_namespace_info__()
    assert {"boolean indexing", "data-dependent shapes", "max dimensions"} <= info.capabilities().keys()
    for device in info.devices():
        A = xp.empty(1, device=device)
        assert A.device == device and A.__dlpack_device__()
        assert info.default_dtypes(device=device)["indexing"] in info.dtypes(device=device).values()
    assert array_api.make_strategies_namespace(xp).api_version == xp.__array_api_version__
    with pytest.raises(DTypeError, match=r"^asarray: value must be real numbers .*, got dtype complex128; pass its"):
        xp.asarray(0j)


@pytest.mark.parametrize("ends", [(0, 1.5), (-3.25, 2), (1e6, -7), (0.1, 0.7)])
def test_a_line_without_its_end_is_the_longer_line(ends):
    """The suite compares them exactly."""
    for num in (1, 2, 3, 5, 8, 50):
        longer = xp.linspace(*ends, num + 1).numpy()
        testing.assert_exact(xp.linspace(*ends, num, endpoint=False).numpy(), longer[:-1])
        assert (longer[0], longer[-1]) == (np.float32(ends[0]), np.float32(ends[1]))


@pytest.mark.parametrize("ends", [(0, 10), (0, -10), (-3, 7), (5, 5), (-(2**31), 2**31 - 1)])
def test_lines_of_integers_are_numpys(ends):
    for num, endpoint in ((1, True), (7, True), (4, False), (0, True)):
        line = xp.linspace(*ends, num, dtype=xp.int32, endpoint=endpoint)
        testing.assert_exact(line.numpy(), np.linspace(*ends, num, endpoint=endpoint, dtype=np.int32), dtype=np.int32)
    testing.assert_exact(xp.arange(2**31 - 3, 2**31, 2).numpy(), np.int32([2**31 - 3, 2**31 - 1]), dtype=np.int32)
    assert xp.eye(3, k=2**40).numpy().any() == xp.eye(3, k=-(2**40)).numpy().any() == False  # noqa: E712


def test_determinants_out_of_range_are_infinite_or_zero():
    a = np.float32([[[1e30, 0], [0, 1e30]], [[1e-30, 0], [0, -1e-30]], [[2, 0], [0, 3]], [[0, -1e30], [1e30, 0]]])
    a[1, 0, 0] = -1e-30
    expected = np.float32([np.inf, 0, 6, np.inf])
    testing.assert_exact(xp.linalg.det(xp.asarray(a)).numpy(check_finite=False), expected)
    for one, number in zip(a, expected, strict=True):
        found = xp.linalg.det(xp.asarray(one))
        assert found.shape == () and found.numpy(check_finite=False) == number


def test_creation():
    assert xp.empty((2, 3)).shape == xp.empty_like(glla.asarray(np.ones((2, 3)))).shape == (2, 3)
    a = np.ones((2, 2), np.float32)
    A = xp.from_dlpack(a)
    assert xp.from_dlpack(A) is A
    assert xp.from_dlpack(A, copy=True) is not A
    assert xp.asarray(A) is A
    assert xp.asarray(A, device=A.device) is A
    assert xp.astype(A, xp.float32, copy=False) is A
    assert xp.astype(A, xp.float32, device=A.device) is not A
    B = xp.asarray(A, copy=True)
    B += 1
    testing.assert_exact(A.numpy(), a)
    assert xp.broadcast_shapes((3, 1), (1, 4)) == (3, 4)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, "int32"), (2.5, "float32"), (True, "bool"), (np.int8(3), "int32"), (np.float64(3), "float32"),
        (np.inf, "float32"), ([1, 2], "int32"), ([1, 2.5], "float32"), ([True], "bool"), ([], "float32"),
        ([[1], [2]], "int32"), (np.arange(3, dtype=np.uint16), "int32"), (np.ones((2, 0, 3)), "float32"),
    ],
)  # fmt: skip
def test_types_of_what_comes_from_the_host(value, dtype):
    A = xp.asarray(value)
    testing.assert_exact(A.numpy(), np.asarray(value).astype(dtype), dtype=np.dtype(dtype))
    B = xp.asarray([A, A])
    assert (B.shape, B.dtype) == ((2, *A.shape), A.dtype)
    if isinstance(value, np.ndarray | np.generic):
        C = xp.from_dlpack(np.asarray(value))
        testing.assert_exact(C.numpy(), np.asarray(value).astype(dtype), dtype=np.dtype(dtype))


# The standard's special cases -------------------------------------------------------------------------------------

SPECIAL = np.float32([0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1.5, -1.5, 1e38, -1e38, np.inf, -np.inf, np.nan])
"""Zeros, ones, halves, odd and even numbers, infinities: the standard's special cases are of these."""


def special(name, a, b=None):
    """What the standard has of special values is NumPy's, which follows it, where that is 0, 1, inf or NaN."""
    operands = (a,) if b is None else (a, b)
    results = [found(module, name)(*map(module.asarray, operands)) for module in (xp, strict)]
    result, expected = results[0].numpy(), np.from_dlpack(results[1])
    at = ~np.isfinite(expected) | np.isin(expected, [0, 1, -1])
    np.testing.assert_array_equal(result[at], expected[at])
    zero = (
        at & (expected == 0) & (name not in ("logaddexp", "max", "maximum", "min", "minimum"))
    )  # of theirs it says nothing
    np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


ONES = [name for name in FUNCTIONS if name in ("abs", "sqrt", "floor", "ceil", "trunc", "round", "sign", "square",
        "reciprocal", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "negative", "positive", "real", "conj")]  # fmt: skip
TWOS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "atan2", "hypot", "logaddexp",
        "maximum", "minimum", "copysign", "nextafter"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ONES)
def test_special_cases_of_one(name):
    special(name, SPECIAL)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TWOS)
def test_special_cases_of_two(name):
    special(name, *(np.ascontiguousarray(one.reshape(-1)) for one in np.meshgrid(SPECIAL, SPECIAL)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "std", "var"])
@pytest.mark.parametrize(
    "line", [[], [np.nan, 1], [np.inf, 1], [np.inf, -np.inf], [-np.inf, np.nan], [-0.0], [0.0, -0.0]]
)
def test_special_cases_of_reductions(name, line):
    if not line and name in ("max", "min"):
        return
    special(name, np.float32([line]).reshape(1, -1)) if line else special(name, np.zeros(0, np.float32))


# The strategies that the standard's suite draws with ---------------------------------------------------------------


@pytest.mark.parametrize("order", [3, -2.5])
@pytest.mark.parametrize(
    "values", [[3e38, 1e38, 2e38], [1e-30, 2e-30, 3e-30], [0, 0, 0], [0, 1, 2], [np.inf, 1, 2]], ids=str
)
def test_vector_norms_at_the_ends_of_the_range(order, values):
    a = np.float32(values)
    with np.errstate(all="ignore"):
        expected = np.linalg.norm(a.astype(np.float64), order)
    found = xp.linalg.vector_norm(glla.asarray(a, check_finite=False), ord=order).item()
    assert found == pytest.approx(np.float32(expected), rel=1e-5)
