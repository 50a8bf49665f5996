"""Functions of wrapped arrays, element by element, against NumPy."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.linear import elementwise
from glla.operations.linear.elementwise import BITS, BOUNDS, FLOATS, PAIR, SINGLE, binary, cast, unary, where
from glla.operations.linear.view import View
from glla.testing import ROUNDOFF, SMALLEST_NORMAL

NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
}  # fmt: skip
SPECIAL = np.array(
    [0.0, -0.0, 1, -1, 0.5, -0.5, -2.5, 3, 2.0**24, 1e30, -1e30, 3e38, 1e-30, np.inf, -np.inf, np.nan], np.float32
)
INTEGERS = np.array([0, 1, -1, 2, -2, 3, -7, 31, 32, 33, 46341, 2**31 - 1, -(2**31), -(2**31) + 1, 1000], np.int32)
QUICK = ["sin", "add", "maximum", "floor_divide", "remainder", "less"]
SIZE = 8
LARGE = 64


def model(name, *operands):
    """What NumPy makes of it: of floats in double precision, where that is the question."""
    with np.errstate(all="ignore"):
        if name == "scaled_root":
            total, largest = (operand.astype(np.float64) for operand in operands)
            counts = np.isfinite(largest) & (largest != 0)
            exponent = np.floor(np.log2(np.abs(np.where(counts, largest, 1))))
            return np.sqrt(total) * 2.0**exponent
        function = getattr(np, NAMES.get(name, name))
        if operands[0].dtype == np.float32 and name not in ("nextafter", "floor_divide", "remainder"):
            return function(*(operand.astype(np.float64) for operand in operands))
        if name == "power" and operands[0].dtype != np.float32:
            a, b = (operand.astype(object) for operand in operands)
            return np.vectorize(lambda x, n: int(np.int32(np.uint32(pow(int(x), int(n), 2**32)))))(a, b)
        return function(*operands)


def check(name, got, *operands):
    wide = model(name, *operands)
    if got.dtype != np.float32:
        np.testing.assert_array_equal(got, wide)
        return
    with np.errstate(over="ignore"):
        expected = wide.astype(np.float32)
    if name in ("maximum", "minimum"):  # which of two zeros wins is open, for NumPy too
        np.testing.assert_array_equal(got, expected)
        return
    # A result that rounds to infinity may be the largest float, and the other way round.
    exact = name not in BOUNDS and name not in ("power", "logaddexp", "scaled_root")
    special = ~np.isfinite(wide) | (wide == 0) | (exact & ~(np.abs(wide) < SMALLEST_NORMAL))
    np.testing.assert_array_equal(got[special], expected[special], err_msg=name)
    zeros = special & (expected == 0) & (name != "logaddexp")
    assert (np.signbit(got[zeros]) == np.signbit(expected[zeros])).all(), name
    rest = ~special & (np.abs(wide) >= SMALLEST_NORMAL) & np.isfinite(expected)
    scale = np.abs(wide)
    if name == "logaddexp":
        scale = np.maximum(np.maximum(np.abs(operands[0]), np.abs(operands[1])), 1)
    with np.errstate(all="ignore"):
        error = np.where(rest, np.abs(got - wide) / scale, 0)
    bound = BOUNDS.get(name, 8)
    if name == "power":
        with np.errstate(all="ignore"):
            grown = 4 * np.abs(operands[1] * np.log(np.abs(operands[0].astype(float))))
        bound = 260 + np.where(np.isfinite(grown), grown, 0)
    worst = int(np.argmax(error / bound))
    assert (error <= bound * ROUNDOFF).all(), (
        f"{name}: {(error / ROUNDOFF).flat[worst]:.1f} units at {[operand.flat[worst] for operand in operands]}: "
        f"{got.flat[worst]} for {wide.flat[worst]}"
    )
    denormal = ~special & (np.abs(wide) < SMALLEST_NORMAL)
    assert (np.abs(got[denormal]) <= 2 * SMALLEST_NORMAL).all()


def known(name, dtype):
    return not ((name in FLOATS and dtype != "float32") or (name in BITS and dtype == "float32"))


def wide_samples(rng):
    """Floats of every size and sign, and many near one and near multiples of pi / 2."""
    bits = rng.integers(-(2**31), 2**31, 6000).astype(np.int32).view(np.float32)
    spread = rng.normal(size=3000) * 10.0 ** rng.uniform(-8, 8, 3000)
    near = 1 + rng.normal(size=1500) * 10.0 ** rng.uniform(-7, 0, 1500)
    turns = np.arange(-500, 500) * (np.pi / 2)
    unit = rng.uniform(-1, 1, 1500)
    exps = rng.uniform(-110, 110, 3000)
    all_of_them = [SPECIAL, bits, *(part.astype(np.float32) for part in (spread, near, turns, unit, exps))]
    samples = np.concatenate(all_of_them)
    return samples[~((np.abs(samples) < SMALLEST_NORMAL) & (samples != 0))]  # denormals may count as zero


def sweeping(names, *quick):
    """Functions and types of operands: a few of them always, the rest in sweeps."""
    for name in names:
        for dtype in ("float32", "int32", "bool"):
            marks = () if name in QUICK and dtype in quick else pytest.mark.sweep
            yield pytest.param(name, dtype, marks=marks)


def run_binary(run, view, name, a, b):
    dtype = elementwise.result_dtype(name, a.dtype.name)
    return run(binary(view(a), view(b), name, LARGE), np.broadcast_shapes(a.shape, b.shape), dtype, A=a, B=b)


@pytest.mark.parametrize(("name", "dtype"), list(sweeping(SINGLE, "float32")))
def test_every_function_of_one(run, view, rng, name, dtype):
    if not known(name, dtype):
        with pytest.raises(PlanError, match="cast the operands first"):
            unary(View.of((3,), dtype), name, SIZE)
        return
    if dtype == "bool" and name in ("positive", "negative", "sign", "square", "signbit", "isnan", "isinf", "isfinite"):
        pytest.skip("NumPy has none of bool")
    a = {"float32": wide_samples(rng), "int32": INTEGERS, "bool": np.array([True, False, True])}[dtype]
    got = run(unary(view(a), name, LARGE), a.shape, elementwise.result_dtype(name, dtype), A=a)
    if name in ("floor", "ceil", "trunc", "rint") and dtype != "float32":
        np.testing.assert_array_equal(got, a)
    else:
        check(name, got, a)


@pytest.mark.parametrize(("name", "dtype"), list(sweeping(PAIR, "float32", "int32")))
def test_every_function_of_two(run, view, rng, name, dtype):
    if not known(name, dtype):
        with pytest.raises(PlanError, match="cast the operands first"):
            binary(View.of((3,), dtype), View.of((3,), dtype), name, SIZE)
        return
    if dtype == "bool" and not name.startswith(("logical", "bitwise", "equal", "not_equal", "less", "greater", "m")):
        pytest.skip("no arithmetic of bool")
    if dtype == "bool" and name.endswith("shift"):
        pytest.skip("NumPy has none of bool")
    samples = {"float32": SPECIAL, "int32": INTEGERS, "bool": np.array([True, False])}[dtype]
    a, b = np.meshgrid(samples, samples, indexing="ij")
    if name == "power" and dtype == "int32":
        a, b = a[b >= 0], b[b >= 0]
    check(name, run_binary(run, view, name, a, b), a, b)
    if dtype == "float32":
        a, b = (rng.normal(size=3000) * 10.0 ** rng.uniform(-6, 6, 3000) for _ in range(2))
        a, b = a.astype(np.float32), b.astype(np.float32)
        if name == "power":
            a, b = np.abs(a), np.clip(b, -4, 4)
        check(name, run_binary(run, view, name, a, b), a, b)


def test_an_array_in_order_and_one_number(run, view, rng):
    a, numbers = rng.normal(size=(2, 9)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    for place in range(7):
        number = numbers[place : place + 1].reshape(())
        got = run(binary(view(a), view(number), "subtract", SIZE), a.shape, "float32", A=a, B=number)
        np.testing.assert_array_equal(got, a - number)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_every_length_wraps(run, view, rng, dtype):
    for length in [*range(18), 255, 256]:
        a, b = ((rng.normal(size=length) * 9).astype(dtype) for _ in range(2))
        np.testing.assert_array_equal(run(binary(view(a), view(b), "add", SIZE), (length,), dtype, A=a, B=b), a + b)
    a = np.array(3, dtype=dtype)
    np.testing.assert_array_equal(run(binary(view(a), view(a), "add", SIZE), (), dtype, A=a, B=a), a + a)


def test_casts(run, view):
    values = np.array([0, -0.0, 1.9, -1.9, 2.0**31, -(2.0**31), -(2.0**31) - 512, 2.0**31 - 128, 1e30], np.float32)
    values = np.concatenate([values, np.array([np.nan, np.inf, -np.inf, 0.25], np.float32)])
    with np.errstate(invalid="ignore"):
        expected = values.astype(np.int64)
    expected[(expected >= 2**31) | (expected < -(2**31))] = -(2**31)
    np.testing.assert_array_equal(run(cast(view(values), "int32", SIZE), values.shape, "int32", A=values), expected)
    got = run(cast(view(values), "bool", SIZE), values.shape, "bool", A=values)
    np.testing.assert_array_equal(got, values.astype(bool))
    integers = np.concatenate([INTEGERS, np.array([2**24 + 1, 2**24 + 3, -(2**25) - 2], np.int32)])
    got = run(cast(view(integers), "float32", SIZE), integers.shape, "float32", A=integers)
    np.testing.assert_array_equal(got, integers.astype(np.float32))
    got = run(cast(view(integers), "bool", SIZE), integers.shape, "bool", A=integers)
    np.testing.assert_array_equal(got, integers.astype(bool))


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_where(run, view, rng, dtype):
    condition = rng.random((4, 1, 5)) < 0.5
    a, b = (rng.normal(size=(3, 5)) * 9).astype(dtype), (rng.normal(size=(4, 3, 1)) * 9).astype(dtype)
    got = run(where(view(condition), view(a), view(b), SIZE), (4, 3, 5), dtype, C=condition, A=a, B=b)
    np.testing.assert_array_equal(got, np.where(condition, a, b))


def test_operands_of_two_types_are_refused():
    with pytest.raises(PlanError, match=r"^add: operands have one dtype, got float32 and int32; cast one of them$"):
        binary(View.of((3,)), View.of((3,), "int32"), "add", SIZE)
    with pytest.raises(PlanError, match=r"^where: a condition is bool or int32, got float32; compare it with"):
        where(View.of((3,)), View.of((3,)), View.of((3,)), SIZE)


def test_one_program_serves_every_shape(device, run, view, rng):
    a = rng.normal(size=(4, 6)).astype(np.float32)
    run(unary(view(a.T), "negative", SIZE), (6, 4), "float32", A=a)
    before = device.stats().programs
    b = rng.normal(size=(7, 3)).astype(np.float32)
    run(unary(view(b[::2].T), "negative", SIZE), (3, 4), "float32", A=b)
    assert device.stats().programs == before
