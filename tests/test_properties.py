"""What must hold for whatever hypothesis thinks of."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import glla
from glla import testing
from glla.errors import SingularMatrixError

# The fixture that looks for textures left behind runs once for all examples of a test, which is as it should be.
some = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

SIDES = st.integers(1, 12)
SMALL = st.integers(-9, 9)


def integer_matrices(shape=None, elements=SMALL):
    return hnp.arrays(np.int64, st.tuples(SIDES, SIDES) if shape is None else shape, elements=elements)


@st.composite
def low_rank(draw):
    """A product of two integer matrices: often of a rank that is less than both of its sides."""
    m, r, n = draw(SIDES), draw(st.integers(0, 4)), draw(SIDES)
    left = draw(integer_matrices((m, r), st.integers(-3, 3)))
    return left @ draw(integer_matrices((r, n), st.integers(-3, 3)))


@some
@given(integer_matrices() | low_rank(), st.data())
def test_the_order_and_size_of_the_rows_do_not_matter(a, data):
    """Nor do powers of two: the row space is the same."""
    order = data.draw(st.permutations(range(len(a))))
    exponents = data.draw(hnp.arrays(np.int64, (len(a), 1), elements=st.integers(-60, 60)))
    assert glla.rref(np.ldexp(a[list(order)].astype(float), exponents)).pivots == glla.rref(a).pivots


@some
@given(SIDES.flatmap(lambda n: integer_matrices((n, n))) | low_rank(), st.integers(1, 3), st.data())
def test_systems_are_solved_or_singular(a, columns, data):
    a = a[: min(a.shape), : min(a.shape)]
    b = data.draw(integer_matrices((len(a), columns)))
    full_rank = len(testing.exact_rref(a)[1]) == len(a)
    try:
        x = glla.solve(a, b)
    except SingularMatrixError:
        assert not full_rank or np.linalg.cond(a) > 2.0**18
    else:
        assert full_rank
        testing.assert_solve(a, x, b)


@some
@given(
    hnp.arrays(hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.unsigned_integer_dtypes(), st.tuples(SIDES, SIDES))
)
def test_what_goes_up_comes_down_as_float32(a):
    """Any number of any dtype and byte order, NaN and infinity too; denormals may come back as zeros."""
    with np.errstate(over="ignore", under="ignore"):
        expected = a.astype(np.float32)
    result = glla.asarray(a, check_finite=False).numpy()
    denormal = np.abs(expected) < testing.SMALLEST_NORMAL
    np.testing.assert_array_equal(np.where(denormal, 0, result), np.where(denormal, 0, expected))
    assert (np.abs(result)[denormal] < testing.SMALLEST_NORMAL).all()


@some
@given(SIDES.flatmap(lambda n: integer_matrices((n, n))), st.data())
def test_refined_solutions_have_a_tiny_backward_error(a, data):
    a = a + 20 * len(a) * np.eye(len(a))
    # A correction is float32: where nothing couples them, entries that differ by more than its range do not converge.
    sizes = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-12 else 0.0)
    b = data.draw(hnp.arrays(np.float64, (len(a),), elements=sizes))
    x = glla.solve(a, b, refine=True)
    assert testing.backward_error(a, x, b).componentwise < 1e-14
