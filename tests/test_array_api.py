"""The array API's namespace, beside array-api-strict: the same names, signatures and results."""

import inspect
import re

import array_api_strict as strict
import numpy as np
import pytest

import glla
from glla import array_api as xp
from glla import testing
from glla.errors import DTypeError, OptionError, ShapeError, UnsupportedError
from glla.operations import OPERATIONS
from glla.registry import PUBLIC

OWN_NAMES = {
    "Device", "ArrayAPIStrictFlags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
    "set_array_api_strict_flags", "__version__",
}  # fmt: skip
"""What array-api-strict has beyond the standard."""

MAIN = sorted(set(strict.__all__) - OWN_NAMES)
OFFERED = sorted(name for name in set(MAIN) & set(xp.__all__) if inspect.isfunction(getattr(strict, name)))
LINALG = sorted(xp.linalg.__all__)


def left_out(text):
    """Names in the sentence of a docstring that begins with "Left out"."""
    sentence = text[text.index("Left out") : text.index("\nExamples")]
    quoted = " ".join(re.findall(r"``([^`]*)``", sentence))
    return sorted(set(quoted.split()) - {"linalg", "linalg.LEFT_OUT"})


def test_the_docstring_says_what_is_left_out():
    assert left_out(xp.__doc__) == sorted(set(MAIN) - set(xp.__all__))
    assert set(strict.linalg.__all__) == xp.linalg.STANDARD
    assert sorted(set(strict.linalg.__all__) - set(LINALG)) == xp.linalg.LEFT_OUT


def test_nothing_is_there_that_the_standard_has_not():
    assert set(xp.__all__) <= set(MAIN)
    assert set(LINALG) <= set(strict.linalg.__all__)
    for name in xp.__all__:
        assert hasattr(xp, name)


@pytest.mark.parametrize("name", [*OFFERED, *(f"linalg.{name}" for name in LINALG)])
def test_signatures_are_the_standards(name):
    ours, theirs = xp, strict
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    mine, standard = (list(inspect.signature(function).parameters.values()) for function in (ours, theirs))
    assert [(p.name, p.kind) for p in mine] == [(p.name, p.kind) for p in standard]
    undefined = {"from_dlpack", "astype"}  # strict marks what was not given in its own way
    if name not in undefined:
        assert [p.default for p in mine] == [p.default for p in standard]
    assert ours.__name__ == name.split(".")[-1]
    assert ours.__doc__


def test_constants_and_types():
    for name in ("e", "inf", "pi", "newaxis"):
        assert getattr(xp, name) == getattr(strict, name)
    assert np.isnan(xp.nan)
    assert xp.__array_api_version__ == strict.__array_api_version__
    assert xp.finfo(xp.float32).eps == strict.finfo(strict.float32).eps
    assert xp.finfo(glla.asarray([[1]])).max == strict.finfo(strict.float32).max
    for kind in ("bool", "real floating", "integral", "numeric", ("bool", "real floating")):
        assert xp.isdtype(xp.float32, kind) == strict.isdtype(strict.float32, kind)
        assert xp.isdtype(xp.bool, kind) == strict.isdtype(strict.bool, kind)


def test_matrices_know_their_namespace():
    A = glla.asarray(np.eye(2))
    assert A.__array_namespace__() is xp
    assert A.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(OptionError, match=r"^Matrix: the array API is offered up to version 2025.12, got '2999.12'$"):
        A.__array_namespace__(api_version="2999.12")


def test_inspection(device):
    info, theirs = xp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.capabilities().keys() == theirs.capabilities().keys()
    assert info.default_device() is device
    assert info.devices() == [device]
    assert info.default_dtypes(device=device) == {"real floating": np.float32}
    assert info.dtypes() == info.dtypes(kind="real floating") == info.dtypes(kind=("bool", "numeric"))
    assert info.dtypes() == {"float32": np.float32}
    assert info.dtypes(kind="integral") == {}
    with pytest.raises(OptionError, match=r"^dtypes: kind must be one of the standard's names, got 'reals'$"):
        info.dtypes(kind="reals")


# Results beside those of array-api-strict --------------------------------------------------------------------------


def numpy(value):
    """On the host."""
    return value.numpy() if isinstance(value, glla.Matrix) else np.asarray(value)


def compare(ours, theirs, ulps=0):
    """The same shape, dtype and numbers, up to some units roundoff."""
    if isinstance(theirs, tuple):
        for mine, other in zip(ours, theirs, strict=True):
            compare(mine, other, ulps)
        return
    expected = np.from_dlpack(theirs)
    assert isinstance(ours, glla.Matrix if expected.ndim == 2 and expected.dtype != bool else np.ndarray)
    result = numpy(ours)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    if not ulps:
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_allclose(result, expected, rtol=ulps * testing.ROUNDOFF, atol=testing.SMALLEST_NORMAL)


VALUES = np.float32([[0.0, -0.0, 1, -1, 2, -2.5], [0.5, 1.5, -1.5, 3, 1e-30, -1e30], [7, 100, -0.25, 1e10, -3, 88]])
SQUARE = np.float32([[5, 1, -2], [1, 6, 0], [0, 1, 7]])
ULPS = {"exp": 8, "log": 8, "sqrt": 6, "divide": 6, "reciprocal": 6, "pow": 12}

UNARY = ["abs", "ceil", "exp", "floor", "isfinite", "isinf", "isnan", "log", "negative", "positive", "reciprocal",
         "round", "sign", "sqrt", "square", "trunc"]  # fmt: skip
BINARY = ["add", "divide", "equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "multiply",
          "not_equal", "pow", "subtract"]  # fmt: skip


def pair(*arrays):
    """The same arrays for both libraries."""
    return [glla.asarray(a) for a in arrays], [strict.asarray(a) for a in arrays]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    (A,), (a,) = pair(VALUES)
    compare(getattr(xp, name)(A), getattr(strict, name)(a), ULPS.get(name, 0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    (A, B, row), (a, b, r) = pair(VALUES, np.ascontiguousarray(VALUES[::-1]), np.float32([[2, -1, 0, 3, 0.5, 1]]))
    ours, theirs = getattr(xp, name), getattr(strict, name)
    compare(ours(A, row), theirs(a, r), ULPS.get(name, 0))
    compare(ours(A, 2.0), theirs(a, 2.0), ULPS.get(name, 0))
    if name != "pow":
        compare(ours(A, B), theirs(a, b), ULPS.get(name, 0))
        compare(ours(3.0, B), theirs(3.0, b), ULPS.get(name, 0))


CASES = {
    "astype": lambda m, a: m.astype(a, m.float32),
    "broadcast_to": lambda m, a: m.broadcast_to(a[:, :1], (3, 4)),
    "broadcast_arrays": lambda m, a: tuple(m.broadcast_arrays(a[:1, :], a)),
    "clip": lambda m, a: m.clip(a, 0.0, 2.0),
    "clip from above": lambda m, a: m.clip(a, max=2.0),
    "flip": lambda m, a: m.flip(a),
    "flip rows": lambda m, a: m.flip(a, axis=0),
    "flip columns": lambda m, a: m.flip(a, axis=-1),
    "permute_dims": lambda m, a: m.permute_dims(a, (1, 0)),
    "permute_dims not": lambda m, a: m.permute_dims(a, (0, 1)),
    "matrix_transpose": lambda m, a: m.matrix_transpose(a),
    "matmul": lambda m, a: m.matmul(a, a),
    "vecdot": lambda m, a: m.vecdot(a, a),
    "vecdot of columns": lambda m, a: m.vecdot(a, a, axis=-2),
    "tensordot": lambda m, a: m.tensordot(a, a),
    "tensordot 1": lambda m, a: m.tensordot(a, a, axes=1),
    "tensordot of first axes": lambda m, a: m.tensordot(a, a, axes=([0], [0])),
    "tensordot of last axes": lambda m, a: m.tensordot(a, a, axes=([-1], [-1])),
    "tensordot crossed": lambda m, a: m.tensordot(a, a, axes=([0, 1], [1, 0])),
    "max": lambda m, a: m.max(a),
    "max of rows": lambda m, a: m.max(a, axis=1),
    "min": lambda m, a: m.min(a, axis=0, keepdims=True),
    "mean": lambda m, a: m.mean(a, axis=1),
    "sum": lambda m, a: m.sum(a),
    "sum of columns": lambda m, a: m.sum(a, axis=0),
    "sum of both": lambda m, a: m.sum(a, axis=(0, 1), keepdims=True),
    "zeros_like": lambda m, a: m.zeros_like(a),
    "ones_like": lambda m, a: m.ones_like(a),
    "full_like": lambda m, a: m.full_like(a, 2.5),
    "linalg.det": lambda m, a: m.linalg.det(a),
    "linalg.diagonal": lambda m, a: m.linalg.diagonal(a, offset=1),
    "linalg.inv": lambda m, a: m.linalg.inv(a),
    "linalg.matmul": lambda m, a: m.linalg.matmul(a, a),
    "linalg.matrix_norm": lambda m, a: m.linalg.matrix_norm(a),
    "linalg.matrix_norm 1": lambda m, a: m.linalg.matrix_norm(a, ord=1, keepdims=True),
    "linalg.matrix_norm inf": lambda m, a: m.linalg.matrix_norm(a, ord=m.inf),
    "linalg.matrix_power": lambda m, a: m.linalg.matrix_power(a, 3),
    "linalg.matrix_power inverse": lambda m, a: m.linalg.matrix_power(a, -2),
    "linalg.matrix_power 0": lambda m, a: m.linalg.matrix_power(a, 0),
    "linalg.matrix_transpose": lambda m, a: m.linalg.matrix_transpose(a),
    "linalg.slogdet": lambda m, a: m.linalg.slogdet(a),
    "linalg.solve": lambda m, a: m.linalg.solve(a, a[:, :2] + 1),
    "linalg.tensordot": lambda m, a: m.linalg.tensordot(a, a, axes=1),
    "linalg.trace": lambda m, a: m.linalg.trace(a, offset=-1),
    "linalg.vecdot": lambda m, a: m.linalg.vecdot(a, a, axis=-1),
    "linalg.vector_norm": lambda m, a: m.linalg.vector_norm(a),
    "linalg.vector_norm of rows": lambda m, a: m.linalg.vector_norm(a, axis=1, ord=1),
    "linalg.vector_norm of columns": lambda m, a: m.linalg.vector_norm(a, axis=0, keepdims=True, ord=m.inf),
    "eye": lambda m, a: m.eye(3, dtype=m.float32),
    "eye above": lambda m, a: m.eye(3, 5, k=2, dtype=m.float32),
    "eye below": lambda m, a: m.eye(4, 3, k=-1, dtype=m.float32),
    "eye outside": lambda m, a: m.eye(2, 3, k=7, dtype=m.float32),
    "eye of nothing": lambda m, a: m.eye(0, 3, dtype=m.float32),
    "zeros": lambda m, a: m.zeros((2, 3), dtype=m.float32),
    "zeros of nothing": lambda m, a: m.zeros((0, 3), dtype=m.float32),
    "ones": lambda m, a: m.ones((3, 1), dtype=m.float32),
    "full": lambda m, a: m.full((5, 3), -1.5, dtype=m.float32),
    "asarray": lambda m, a: m.asarray(a, dtype=m.float32, copy=True),
}


BY_RECORD = sorted(
    (one.namespace, name) for name, one in PUBLIC.items() if one.namespace and f"linalg.{one.namespace}" not in CASES
)
"""Functions that an operation's decorator offers, compared on its example."""


@pytest.mark.parametrize(("name", "operation"), BY_RECORD)
def test_functions_of_operations(name, operation):
    operands = OPERATIONS[operation].example(7, np.random.default_rng(7))
    ours, theirs = (getattr(module.linalg, name) for module in (xp, strict))
    compare(ours(*map(xp.asarray, operands)), theirs(*map(strict.asarray, operands)), 64)


def test_every_function_is_compared():
    compared = {name.split()[0] for name in CASES} | {*UNARY, *BINARY} | {f"linalg.{name}" for name, _ in BY_RECORD}
    elsewhere = {
        "__array_namespace_info__", "broadcast_shapes", "empty", "empty_like", "finfo", "from_dlpack", "isdtype",
    }  # fmt: skip
    assert compared - {name for name in compared if name.startswith("linalg.")} == set(OFFERED) - elsewhere
    assert {name for name in compared if name.startswith("linalg.")} == {f"linalg.{n}" for n in set(LINALG) - {"outer"}}


@pytest.mark.parametrize("name", CASES)
def test_results(name):
    (A,), (a,) = pair(SQUARE)
    exact = re.search("eye|zeros|ones|full|flip|permute|transpose|broadcast|clip|max|min|astype|asarray", name)
    compare(CASES[name](xp, A), CASES[name](strict, a), 0 if exact else 64)
    testing.assert_exact(A.numpy(), SQUARE)


def test_vectors_are_numpys():
    (A,), (a,) = pair(SQUARE)
    v = np.float32([1, -2, 4])
    compare(xp.linalg.outer(v, v[:2]), strict.linalg.outer(strict.asarray(v), strict.asarray(v[:2])))
    compare(xp.linalg.solve(A, v), strict.linalg.solve(a, strict.asarray(v)), 64)
    compare(xp.matmul(A, v), strict.matmul(a, strict.asarray(v)))
    with pytest.raises(ShapeError, match=r"^outer: x1 and x2 must be vectors, got shapes \(1, 1\) and \(3,\)$"):
        xp.linalg.outer([[1]], v)


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
    ("call", "error", "message"),
    [
        (
            lambda A: xp.zeros((2, 2), dtype=np.float64),
            UnsupportedError,
            "full: a Matrix is float32, got dtype float64",
        ),
        (lambda A: xp.zeros(3), ShapeError, "filled: a matrix has two dimensions, got shape 3"),
        (lambda A: xp.zeros((2, -1)), ShapeError, "filled: a matrix has two dimensions, got shape (2, -1)"),
        (lambda A: xp.eye(-1), ShapeError, "eye: rows and columns must be at least 0, got -1 and -1"),
        (lambda A: xp.astype(A, np.int32), UnsupportedError, "astype: a Matrix is float32, got int32; use A.numpy()"),
        (lambda A: xp.finfo(np.float64), UnsupportedError, "finfo: a Matrix is float32, got dtype float64"),
        (lambda A: xp.asarray([[1]], copy=False), OptionError, "asarray: what is on the host must be copied"),
        (lambda A: xp.from_dlpack(np.eye(2), copy=False), OptionError, "from_dlpack: what is on the host must be cop"),
        (
            lambda A: xp.exp([[1]]),
            DTypeError,
            "exp: needs a Matrix among its operands, got list; make one with asarray",
        ),
        (lambda A: xp.add(1, 2), DTypeError, "add: needs a Matrix among its operands, got int, int"),
        (lambda A: xp.broadcast_to(A, (3, 2)), ShapeError, "broadcast_to: (2, 2) does not broadcast to (3, 2)"),
        (lambda A: xp.broadcast_shapes((2, 1), (3, 1)), ShapeError, "broadcast_shapes: shapes must be equal, or 1"),
        (lambda A: xp.tensordot(A, A, axes=0), OptionError, "tensordot: axes must be 1, 2 or two sequences, got 0"),
        (lambda A: xp.tensordot(A, A, axes=([0], [0, 1])), OptionError, "tensordot: axes must pair one axis or two"),
        (lambda A: xp.tensordot(A, A[1:], axes=2), ShapeError, "tensordot: axes that are summed over must have one"),
        (lambda A: xp.vecdot(A, A[:, 1:]), ShapeError, "vecdot: the axis must have one length in both, got shapes"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error) as caught:
        call(glla.asarray(np.eye(2)))
    assert str(caught.value).startswith(message)
