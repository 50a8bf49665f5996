"""What arrays refuse, and in which words: indices, operands, types, axes, options, and what is not there.

Each call is given the 2 x 2 identity, which is the same afterwards.
"""

import re

import numpy as np
import pytest

import glla
from glla import array_api as xp
from glla.errors import (
    AxisError,
    DeviceMismatchError,
    DTypeError,
    GllaError,
    IndexingError,
    NonFiniteError,
    OptionError,
    OptionTypeError,
    ReleasedError,
    ShapeError,
    SingularMatrixError,
    UnsupportedError,
)

REAL = "must be real numbers (bool, integer or float), got"
KINDS = "an Array is float32, int32 or bool, got"
ON_HOST = "does not run on the device; use A.numpy()"
INDEX = "an index must be an integer, a slice, ..., None, or an array of integers or bool, got"
BROADCAST = "shapes must be equal, or 1 where they differ, got"
BLOCK = "what is assigned must broadcast to the block"
AXES = "axes must name each of 2 dimensions once, got"
NEEDS = "needs an Array among its operands, got"
COPY = "DLPack gets a copy on"


def made(value, dtype="float32"):
    return glla.asarray(value, dtype=dtype, check_finite=False)


def truths(*values):
    return made(values, "bool")


def into(value, out):
    np.add(value, 1, out=out)


def assign(A, index, value):
    A[index] = value


class Elsewhere:
    """A tensor on a CUDA device, or one of a dtype that NumPy has not."""

    def __init__(self, device):
        self.device = device

    def __dlpack__(self, **options):
        raise BufferError("not for you")

    def __dlpack_device__(self):
        return self.device, 0


REFUSED = [
    # indices
    (lambda A: A[1.0], IndexingError, f"Array: {INDEX} float"),
    (lambda A: A["a"], IndexingError, f"Array: {INDEX} str"),
    (lambda A: A[slice(0.5)], IndexingError, f"Array: {INDEX} fl"),
    (lambda A: A[[0.5, 1.0]], IndexingError, "Array: an index must hold integers or bool, got float64"),
    (lambda A: A[["a"]], IndexingError, "Array: an index must hold integers or bool, got <U1"),
    (lambda A: A[np.ones((2, 3), bool)], IndexingError, "Array: boolean index did not match indexed array along a"),
    (lambda A: A[np.ones((2, 2, 1), bool)], IndexingError, "Array: too many indices for array"),
    (lambda A: A[[0, 2]], IndexingError, "Array: index 2 is out of bounds for axis 0 with size 2"),
    (lambda A: A[[0, 1], [0, 1, 1]], IndexingError, "Array: shape mismatch: indexing arrays could not be broadcast"),
    (lambda A: A[0, 0, 0], IndexingError, "Array: "),
    (lambda A: A[..., ...], IndexingError, "Array: "),
    (lambda A: A[2], IndexingError, "Array: "),
    (lambda A: A[0, -3], IndexingError, "Array: "),
    (lambda A: assign(A, 2, 0), IndexingError, "Array: "),
    (lambda A: assign(A, 1.0, 0), IndexingError, f"Array: {INDEX} float"),
    (lambda A: assign(A, slice(1), np.zeros((3, 2))), ShapeError, f"Array: {BLOCK} (1, 2), got shape (3, 2)"),
    (lambda A: assign(A, slice(1), np.zeros((2, 1, 2))), ShapeError, f"Array: {BLOCK} (1, 2), got shape (2, 1, 2)"),
    (lambda A: assign(A, slice(1), "text"), DTypeError, "Array: what is assigned must be real numbers"),
    (lambda A: xp.take(A, [0]), ShapeError, "take: axis must be given for shape (2, 2)"),
    (lambda A: xp.take(A, [2], axis=0), ShapeError, "take: indices must be from -2 to 1, got 2 to 2"),
    (lambda A: A.item(), OptionError, "item: needs an index for each dimension unless there is one element, got ()"),
    # shapes
    (lambda A: A + np.ones((3, 2)), ShapeError, f"add: {BROADCAST} A (2, 2) and B (3, 2)"),
    (lambda A: A + np.ones(3), ShapeError, f"add: {BROADCAST} A (2, 2) and B (3,)"),
    (lambda A: A + np.ones((1, 2, 3)), ShapeError, f"add: {BROADCAST} A (2, 2) and B (1, 2, 3)"),
    (lambda A: A @ np.ones((3, 2)), ShapeError, "matmul: inner dimensions must agree, got A (2, 2) and B (3, 2)"),
    (lambda A: A @ np.ones(3), ShapeError, "matmul: inner dimensions must agree, got A (2, 2) and B (3,)"),
    (lambda A: np.ones((2, 3)) @ A, ShapeError, "matmul: inner dimensions must agree, got A (2, 3) and B (2, 2)"),
    (lambda A: A @ 3, ShapeError, "matmul: operands must have at least one dimension, got (2, 2) and (); use *"),
    (lambda A: into(A, made([[0, 0]])), ShapeError, "add: the result has shape (2, 2) and does not fit in place of"),
    (lambda A: made([[1, 1]]).__iadd__(A), ShapeError, "add: the result has shape (2, 2) and does not fit in place"),
    (lambda A: made([[1, 1]]).__imatmul__(np.ones(2)), ShapeError, "matmul: the result has shape (1,) and does not"),
    (lambda A: glla.asarray([[1, 2], [3]]), ShapeError, "asarray: value must be a rectangular array; NumPy says: "),
    (lambda A: xp.asarray([[1], [1, 2]]), ShapeError, "asarray: value must be a rectangular array"),
    (lambda A: xp.zeros((2, -1)), ShapeError, "full: lengths must be at least 0, got (2, -1)"),
    (lambda A: xp.eye(-1), ShapeError, "eye: rows and columns must be at least 0, got -1 and -1"),
    (lambda A: xp.broadcast_to(A, (10**10,)), ShapeError, "broadcast_to: "),
    (lambda A: xp.broadcast_to(A, (3, 2)), ShapeError, "broadcast_to: "),
    (lambda A: xp.broadcast_shapes((2, 1), (3, 1)), ShapeError, "broadcast_shapes: shapes must be equal, or 1"),
    (lambda A: xp.repeat(A[0], [1, 2, 3]), ShapeError, "repeat: as many repeats as slices are needed, 2, or one; g"),
    (lambda A: xp.tensordot(A, A, axes=([0], [0, 1])), ShapeError, "tensordot: "),
    (lambda A: xp.tensordot(A, A[1:], axes=2), ShapeError, "tensordot: dimensions that are summed over must agree"),
    (lambda A: xp.vecdot(A, A[:, 1:]), ShapeError, "vecdot: the axis must have one length in both, got shapes"),
    (lambda A: np.linalg.outer(A, A[0]), ShapeError, "outer: x1 and x2 must be vectors, got shapes (2, 2) and"),
    (lambda A: xp.cumulative_sum(A), ShapeError, "cumulative_sum: axis must be given for shape (2, 2)"),
    (lambda A: xp.stack([A, A[0]]), ShapeError, "stack: shapes must be equal, got (2, 2), (2,)"),
    (lambda A: np.hstack([A, 5]), ShapeError, "concat: shapes must agree but for axis 1, got (2, 2) and (1,)"),
    (lambda A: np.linalg.matrix_power(A[:1], 2), ShapeError, "matrix_power: A must be square, got shape (1, 2)"),
    (lambda A: np.linalg.multi_dot([A]), OptionError, "multi_dot: two matrices at least are needed"),
    (lambda A: np.cov(A[None]), ShapeError, "cov: takes two dimensions at most, got [(1, 2, 2)]"),
    (lambda A: np.linalg.multi_dot([A, A[0], A]), ShapeError, "multi_dot: all must be matrices, the first and the las"),
    (lambda A: np.median(A[:0], axis=0), ShapeError, "quantile: an empty dimension has none"),
    (lambda A: A[:0].max(), ShapeError, "max: a line without elements has no extremes"),
    (lambda A: A[:0].min(0), ShapeError, "min: a line without elements has no extremes, got shape"),
    # types
    (lambda A: A + "text", DTypeError, f"add: B {REAL} dtype <U4; convert it first"),
    (lambda A: A + 1j, DTypeError, f"add: B {REAL} dtype complex128; pass its real and imaginary parts by themselve"),
    (lambda A: A @ None, DTypeError, f"matmul: B {REAL} None; pass an array, or a list of rows"),
    (lambda A: A & 2, DTypeError, "bitwise_and: operands must be int32 or bool, got float32 and float32; use astype"),
    (lambda A: A.astype(np.int64), UnsupportedError, f"astype: {KINDS} int64; use A.numpy().astype('int64')"),
    (lambda A: xp.astype(A, np.int8), UnsupportedError, f"astype: {KINDS} dtype int8"),
    (lambda A: np.sum(A, dtype=np.float64), UnsupportedError, f"astype: {KINDS} float64; use A.numpy().astype('floa"),
    (lambda A: xp.zeros((2, 2), dtype=np.float64), UnsupportedError, f"full: {KINDS} dtype float64; use NumPy for"),
    (lambda A: glla.asarray([1], dtype="float64"), UnsupportedError, f"asarray: {KINDS} float64"),
    (lambda A: glla.asarray([[1j]]), DTypeError, f"asarray: value {REAL} dtype complex128; pass its real and imagin"),
    (lambda A: glla.asarray(["1"], dtype="int32"), DTypeError, f"asarray: value {REAL} dtype <U1"),
    (lambda A: glla.asarray([1.5], dtype="int32"), DTypeError, "asarray: value must be whole numbers for dtype int3"),
    (lambda A: glla.asarray([2**40], dtype="int32"), DTypeError, "asarray: value must fit int32, got 1099511627776;"),
    (lambda A: xp.asarray(2**70), DTypeError, "asarray: value must fit int32, got 1.18059"),
    (lambda A: xp.full(2, 2**31), DTypeError, "full: fill_value must fit int32, got 2147483648; take"),
    (lambda A: xp.full(2, 1j), DTypeError, f"full: fill_value {REAL}"),
    (lambda A: xp.where(A > 0, "a", "b"), DTypeError, f"where: A {REAL}"),
    (lambda A: xp.arange(2**31, 2**31 + 2), DTypeError, "arange: numbers must fit int32, got 2147483648; take float"),
    (lambda A: xp.arange(-(2**40), 0, 2**39), DTypeError, "arange: numbers must fit int32, got -1099511627776"),
    (lambda A: np.allclose(A, "four"), DTypeError, "allclose: B must be real numbers"),
    (lambda A: A < "text", DTypeError, "less: B must be real numbers"),
    (lambda A: into(A, made([[2] * 2] * 2, "int32")), DTypeError, "add: the result is float32 and does not fit in pla"),
    (lambda A: into(made(1, "int32"), truths(1)[0]), DTypeError, "add: the result is int32 and does not fit in plac"),
    (lambda A: glla.from_dlpack(np.ones((1, 1), complex)), DTypeError, "asarray: value must be real numbers"),
    (lambda A: glla.from_dlpack(Elsewhere(1)), DTypeError, "from_dlpack: value must hold what NumPy can; NumPy says:"),
    (lambda A: glla.from_dlpack([[1]]), UnsupportedError, "from_dlpack: value must have __dlpack__, got list; use as"),
    *((lambda A, use=use: use(1), DTypeError, f"{name}: {NEEDS} int") for name, use in (
        ("full_like", lambda one: xp.full_like(one, 3)), ("trace", xp.linalg.trace), ("isin", lambda a: xp.isin(a, 2)),
        ("add", lambda a: xp.add(a, 2)))),
    (lambda A: xp.exp([[1]]), DTypeError, f"exp: {NEEDS} list; make one with"),
    (lambda A: xp.sort(None), DTypeError, f"sort: {NEEDS} NoneType; make one with"),
    (lambda A: xp.broadcast_arrays(A, 1), DTypeError, f"broadcast_arrays: {NEEDS} i"),
    (lambda A: xp.concat([]), DTypeError, "concat: needs an Array among its operands"),
    # numbers
    (lambda A: glla.asarray([[np.inf]]), NonFiniteError, "asarray: value must not hold NaN or infinity, got inf at"),
    (lambda A: (A * 3e38 * 2).numpy(check_finite=True), NonFiniteError, "numpy: the result does not fit float32"),
    (lambda A: (A * 3e38 @ [2, 2]).numpy(check_finite=True), NonFiniteError, "numpy: the result does not fit float3"),
    (lambda A: np.isclose(A, 10**400), NonFiniteError, "isclose: B must fit float32"),
    (lambda A: xp.linspace(0, 1e39, 3), NonFiniteError, "linspace: stop must fit float32 (largest 3.403e+38), got"),
    (lambda A: xp.linalg.det(A * np.nan), NonFiniteError, "det: A must not hold NaN"),
    (lambda A: xp.linspace(0, np.inf, 3), OptionError, "linspace: stop must be finite, got inf"),
    (lambda A: xp.linspace(0, 3, -1), OptionError, "linspace: num must be at least 0, got -1"),
    (lambda A: xp.arange(0, 3, 0), OptionError, "arange: step must not be 0"),
    (lambda A: xp.arange(np.inf), OptionError, "arange: stop must be finite, got inf"),
    *((lambda A, q=q: np.quantile(A, q), OptionError, "quantile: q must be from 0 to 1, got ")
      for q in (-0.1, 1.5, [0.5, np.nan])),
    # axes
    (lambda A: np.size(A, 2), AxisError, "size: axis must be"),
    *((lambda A, call=call, axes=axes: call(A, axes), error, "transpose: ax")
      for axes, error in (((5, 0), AxisError), ((1, -3), AxisError), ((0.5, 1), OptionTypeError), ((0,), OptionError))
      for call in (np.transpose, glla.Array.transpose)),
    (lambda A: A.transpose(0), OptionError, f"transpose: {AXES} (0,)"),
    (lambda A: np.transpose(A, (0, 0)), OptionError, f"transpose: {AXES} (0, 0)"),
    # options
    (lambda A: xp.asarray([[1]], copy=False), OptionError, "asarray: what is on the host must be copied"),
    (lambda A: xp.from_dlpack(np.eye(2), copy=False), OptionError, "from_dlpack: what is on the host must be copied"),
    (lambda A: np.asarray(A, copy=False), ValueError, "Array: reading back always copies; use copy=None or copy=Tr"),
    (lambda A: xp.full((2, 2.5), 1), OptionTypeError, "full: a length must be an integer, got 2.5"),
    (lambda A: xp.tril(A, k=1.5), OptionTypeError, "tril: k must be an integer, got 1.5"),
    (lambda A: xp.linspace(0, 3, 2.5), OptionTypeError, "linspace: num must be an integer, got 2.5"),
    (lambda A: xp.arange("a"), OptionTypeError, "arange: stop must be a number, got 'a'"),
    (lambda A: np.linalg.matrix_power(A, 0.5), OptionTypeError, "matrix_power: n must be an integer, got 0.5"),
    *((lambda A, call=call: call(A, 0.5), OptionTypeError, "diagonal: offset must be an integer, got 0.5")
      for call in (np.diagonal, np.trace, glla.Array.diagonal, glla.Array.trace)),
    (lambda A: xp.nonzero(A[0, 0]), OptionError, "nonzero: a number has no places"),
    (lambda A: xp.meshgrid(A[0], indexing="yx"), OptionError, "meshgrid: indexing must be 'xy' or 'ij', got 'yx'"),
    (lambda A: xp.linalg.matrix_norm(A, ord=3), OptionError, "norm: ord must be None, 'fro', 'nuc', 1, -1, 2, -2, inf"),
    (lambda A: A.norm("fro", axis=0), OptionError, "norm: ord of a vector must be None or a number, got 'fro'"),
    (lambda A: np.clip(A, -1, min=-2), OptionError, "clip: each bound must be given once; leave out a_min and a_max"),
    (lambda A: np.split(A, 3), ShapeError, "split: parts must have one length, got 2 elements for"),
    (lambda A: A.__dlpack__(copy=False), BufferError, f"Array: {COPY} the host; use copy=None or copy=True"),
    (lambda A: A.__dlpack__(stream=1), BufferError, f"Array: {COPY} the host, which has no stream, got stream 1"),
    (lambda A: A.__dlpack__(dl_device=(2, 0)), BufferError, f"Array: {COPY} the CPU, device (1, 0), got (2, 0)"),
    (lambda A: glla.from_dlpack(Elsewhere(2)), DeviceMismatchError, "from_dlpack: value must lie on the CPU; NumPy "),
    # what is not there
    (lambda A: np.spacing(A), UnsupportedError, f"numpy.spacing: {ON_HOST}"),
    (lambda A: np.gcd(A, A), UnsupportedError, f"numpy.gcd: {ON_HOST}"),
    (lambda A: np.add.accumulate(A), UnsupportedError, f"numpy.add.accumulate: {ON_HOST}"),
    (lambda A: np.hypot.reduce(A), UnsupportedError, f"numpy.hypot.reduce: {ON_HOST}"),
    (lambda A: np.add.outer(A, A), UnsupportedError, f"numpy.add.outer: {ON_HOST}"),
    (lambda A: np.linalg.eig(A), UnsupportedError, f"numpy.linalg.eig: {ON_HOST}; for symmetric A use eigh"),
    (lambda A: np.percentile(A, 5), UnsupportedError, f"numpy.percentile: {ON_HOST}"),
    (lambda A: np.add(A, 1, dtype=np.float64), UnsupportedError, "numpy.add: the result on an Array is float32, not"),
    (lambda A: np.add(A, 1, where=False), UnsupportedError, "numpy.add: takes no where on an Array; use A.numpy()"),
    (lambda A: into(A, np.zeros((2, 2))), UnsupportedError, "numpy.add: out must be an Array where an operand is"),
    (lambda A: np.ones((2, 2)).__iadd__(A), UnsupportedError, "numpy.add: out must be an Array where an operand is"),
    (lambda A: np.mean(A, dtype=np.float64), UnsupportedError,
     "numpy.mean: takes (a: 'Array', axis: 'Any' = None, *, keepdims: 'bool' = False) -> 'Array' on an Array, "
     "got an unexpected keyword argument 'dtype'; use A.numpy()"),
    (lambda A: np.einsum(A, "ij"), GllaError, "einsum: indices are letters in a string, got Array; use A.numpy()"),
    *((lambda A, text=text: np.einsum(text, A[:, :1]), GllaError, f"einsum: {words}") for text, words in (
        ("...i", "indices are letters in a string, got '...i'; use A.numpy()"),
        ("ij->ii", "the result has letters of the operands, each once"), ("ij->k", "the result has letters of the op"),
        ("i1", "the result has letters of the operands"), ("ijk", "'ijk' needs as many dimensions"),
        ("ij,jk", "'ij,jk' needs as many dimensions"), ("ii", "index i has lengths 2 and 1 in 'ii'"))),
]  # fmt: skip
"""Call, error, and words of its message, which begins with the name of the function."""


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_is_refused(call, error, words):
    """Released by hand: NumPy keeps a reference for ever where `accumulate` or `reduce` of an override raises."""
    with glla.asarray(np.eye(2)) as A:
        with pytest.raises(error) as caught:
            call(A)
        assert words in str(caught.value) and re.match(r"[\w.]+: ", str(caught.value))
        np.testing.assert_array_equal(A.numpy(), np.eye(2))


ON_TWO_DEVICES = [
    lambda A, B: A + B,
    lambda A, B: A == B,
    lambda A, B: A @ B,
    lambda A, B: assign(A, slice(None), B),
    lambda A, B: A.__iadd__(B),
    lambda A, B: np.add(A, A, out=B),
    lambda A, B: glla.asarray(A, B.device),
]


@pytest.mark.parametrize("use", ON_TWO_DEVICES)
def test_operands_on_two_devices_are_refused(use):
    with glla.Device() as other, glla.asarray(np.eye(2)) as A, other.matrix(np.eye(2)) as B:
        with pytest.raises(DeviceMismatchError, match=r"^\w+: (operands must live on one|.* another) device"):
            use(A, B)
        assert B.device is other and B.to_device(other) is B
        with B.to_device(A.device) as copied, B @ np.full((2, 2), 3) as product:
            assert copied.device is A.device and product.device is other
            np.testing.assert_array_equal(copied.numpy(), A.numpy())
            np.testing.assert_array_equal(product.numpy(), np.full((2, 2), 3))


STANDARD = {
    AxisError: np.exceptions.AxisError, IndexingError: IndexError, OptionTypeError: TypeError, OptionError: ValueError,
    ShapeError: ValueError, DTypeError: TypeError, UnsupportedError: TypeError, ReleasedError: RuntimeError,
    SingularMatrixError: np.linalg.LinAlgError, NonFiniteError: ValueError,
}  # fmt: skip


@pytest.mark.parametrize(("error", "standard"), STANDARD.items())
def test_errors_are_those_of_python_and_numpy_too(error, standard):
    assert issubclass(error, standard) and issubclass(error, GllaError)
