"""Arrays on two devices, and classes of errors; the words of others are in refused.txt."""

import numpy as np
import pytest

import glla
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


def assign(A, index, value):
    A[index] = value


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
