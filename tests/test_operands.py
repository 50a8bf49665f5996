"""What counts as an operand: dtypes, orders, strides, byte orders, and what is refused with which words."""

import re
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse

import glla
from glla import testing
from glla.errors import DTypeError, GllaError, ShapeError

A3 = np.array([[4, 1, 2], [1, 5, 3], [2, 0, 7]])
"""Small positive integers: every dtype but bool holds them."""

FUNCTIONS = {
    "matmul": lambda a, **options: glla.matmul(a, A3, **options),
    "rref": lambda a, **options: glla.rref(a, **options).matrix,
    "plu": lambda a, **options: glla.plu(a, **options).U,
    "lu_factor": lambda a, **options: glla.lu_factor(a, **options)[0],
    "lu_solve": lambda a, **options: glla.lu_solve((np.eye(3), [0, 1, 2]), a, **options),
    "solve": lambda a, **options: glla.solve(a, A3, **options),
    "solve refined": lambda a, **options: glla.solve(a, A3, refine=True, **options),
    "solve b": lambda a, **options: glla.solve(A3, a, **options),
    "inv": glla.inv,
    "det": glla.det,
    "slogdet": lambda a, **options: glla.slogdet(a, **options).logabsdet,
    "asarray": lambda a, **options: glla.asarray(a, **options).numpy(),
}

every_function = pytest.mark.parametrize("call", FUNCTIONS.values(), ids=FUNCTIONS)


def name_of(call):
    """How a message of the function begins."""
    name = next(name for name, value in FUNCTIONS.items() if value is call)
    return name.partition(" ")[0]


def assert_same(result, expected):
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


# Accepted ----------------------------------------------------------------------------------------------------------

DTYPES = [*"?bBhHiIlLqQefdg", ">f4", ">f8", ">i2", ">u8", "<f4", ">f2", ">i4"]


@every_function
def test_dtypes(call):
    for dtype in DTYPES:
        base = np.eye(3) if dtype == "?" else A3
        assert_same(call(base.astype(dtype)), call(base.astype(np.float32)))


def padded(a):
    """A view into a larger array of something else, which must not be read."""
    room = np.full((9, 11), np.nan if a.dtype.kind == "f" else 99, a.dtype)
    room[2:8:2, 1:10:3] = a
    return room[2:8:2, 1:10:3]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def unaligned(a):
    buffer = np.zeros(a.nbytes + 1, np.uint8)
    view = buffer[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def as_matrix(a):
    with warnings.catch_warnings(action="ignore"):  # NumPy would rather see it gone
        return np.asmatrix(a)


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "transposed twice": lambda a: a.T.copy().T,
    "negative rows": lambda a: a[::-1].copy()[::-1],
    "negative columns": lambda a: a[:, ::-1].copy()[:, ::-1],
    "negative both": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "part of a larger one": padded,
    "middle of a stack": lambda a: np.stack([a + 1, a, a - 1], axis=1)[:, 1],
    "read-only": read_only,
    "unaligned": unaligned,
    "list": lambda a: a.tolist(),
    "tuple of tuples": lambda a: tuple(map(tuple, a.tolist())),
    "list of rows": list,
    "np.matrix": as_matrix,
    "unmasked array": np.ma.array,
    "memoryview": memoryview,
}


@every_function
def test_layouts(call):
    for layout, dtype in product(LAYOUTS, (np.float32, np.float64, np.int16)):
        result = call(LAYOUTS[layout](A3.astype(dtype)))
        assert_same(result, call(A3.astype(np.float32)))
        assert type(result) in (np.ndarray, np.float32, glla.RefinedSolution)  # never a matrix or a masked array
        if result.ndim == 2:
            assert result.flags.c_contiguous


def test_results_are_the_callers_own():
    """Even where there is nothing to compute."""
    for function in (lambda a: glla.rref(a).matrix, lambda a: glla.lu_factor(a)[0], glla.inv):
        a = np.zeros((0, 0), np.float32)
        assert function(a) is not a
    b = np.zeros((2, 0), np.float32)
    assert glla.solve(np.eye(2), b) is not b
    assert glla.lu_solve((np.eye(2), [0, 1]), b) is not b


def test_values_are_rounded_to_nearest():
    third = glla.asarray([[1 / 3]]).numpy()
    testing.assert_exact(third, [[np.float32(1 / 3)]])
    testing.assert_exact(glla.asarray([[2**24 + 1]]).numpy(), [[2**24]])
    testing.assert_exact(glla.asarray([[2**63 + 2**30]], check_finite=False).numpy(), [[2.0**63]])
    testing.assert_exact(glla.asarray(np.array([[2**64 - 1]], np.uint64)).numpy(), [[2.0**64]])
    testing.assert_exact(glla.asarray([[np.longdouble("1e-4000")]]).numpy(), [[0]])


# Refused -----------------------------------------------------------------------------------------------------------

COMPLEX = "; pass its real and imaginary parts by themselves"
CONVERT = "; convert it first"

WRONG_TYPES = {
    "complex": (np.eye(3) * 1j, "dtype complex128" + COMPLEX),
    "complex with no imaginary part": (np.eye(3, dtype=np.complex64), "dtype complex64" + COMPLEX),
    "objects": (np.eye(3).astype(object), "dtype object" + CONVERT),
    "None": (None, "None; pass an array, or a list of rows"),
    "Nones": ([[1, 2, 3], [4, None, 6], [7, 8, None]], "dtype object, with None at (1, 1); convert it first"),
    "list with a dict": ([{1: 2}], "dtype object, with a dict at (0,); convert it first"),
    "string": ("eye", "dtype <U3" + CONVERT),
    "strings": ([["1", "2", "3"]] * 3, "dtype <U1" + CONVERT),
    "bytes": (b"abc", "dtype |S3" + CONVERT),
    "numbers past 64 bits": ([[10**30] * 3] * 3, "dtype object" + CONVERT),
    "dates": (np.zeros((3, 3), "M8[D]"), "dtype datetime64[D]" + CONVERT),
    "time spans": (np.zeros((3, 3), "m8[s]"), "dtype timedelta64[s]" + CONVERT),
    "records": (np.zeros((3, 3), [("x", "f4")]), "dtype [('x', '<f4')]" + CONVERT),
    "dict": ({0: 1}, "a dict; pass its values as an array: list(A.values())"),
    "set": ({1, 2}, "a set, which has no order; pass a list"),
    "generator": ((row for row in np.eye(3)), "a generator; make a list of it first: list(A)"),
    "map": (map(list, np.eye(3)), "a map; make a list of it first: list(A)"),
    "sparse matrix": (scipy.sparse.csr_matrix(np.eye(3)), "a sparse csr_matrix; pass A.toarray()"),
    "sparse array": (scipy.sparse.coo_array(np.eye(3)), "a sparse coo_array; pass A.toarray()"),
    "list of sparse": ([scipy.sparse.eye(3)], "dtype object, with a sparse dia_matrix at (0,); convert it first"),
    "function": (len, "a builtin_function_or_method; pass an array, or a list of rows"),
    "class": (object(), "an object; pass an array, or a list of rows"),
}


@every_function
def test_wrong_types(call):
    for what in WRONG_TYPES:
        value, got = WRONG_TYPES[what]
        with pytest.raises(DTypeError) as caught:
            call(value)
        function, _, rest = str(caught.value).partition(": ")
        assert function == name_of(call)
        name, _, rest = rest.partition(" ")
        expected = re.sub(r"\bA\b", name, got)
        assert rest == f"must be real numbers (bool, integer or float), got {expected}"
        assert isinstance(caught.value, TypeError)
        assert isinstance(caught.value, GllaError)


@every_function
def test_masked_entries(call):
    masked = np.ma.array(A3, mask=[[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(DTypeError, match=r"must have no masked entries, got a masked array; pass its filled\(\)$"):
        call(masked)
    assert_same(call(masked.filled(1)), call(A3))


@every_function
def test_ragged_lists(call):
    with pytest.raises(ShapeError, match=r"^\w+: \w+ must be a rectangular array; .*inhomogeneous") as caught:
        call([[1, 2, 3], [4, 5], [6]])
    assert isinstance(caught.value, ValueError)


# Not finite --------------------------------------------------------------------------------------------------------


def test_the_largest_numbers_are_accepted():
    largest = float(np.finfo(np.float32).max)
    a = np.array([[largest, -largest], [0, largest]])
    testing.assert_exact(glla.matmul(a, np.eye(2)), a)
    testing.assert_exact(glla.asarray(np.full((3, 3), largest)).numpy(), np.full((3, 3), largest))


# Options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tol", [0, 1e-3, np.float32(1e-3), np.array(1e-3), Fraction(1, 1000), True, np.True_, 10**400, float("inf")]
)
def test_tol_is_any_number(tol):
    expected = (0, 1, 2) if tol < 0.5 else ()
    assert glla.rref(A3 / 10.0 if tol >= 0.5 else A3, tol=tol).pivots == expected
