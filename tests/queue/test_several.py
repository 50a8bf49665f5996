"""Several devices of one host: on llvmpipe, several contexts."""

import numpy as np
import pytest

import glla
from glla.errors import CoprocessorError, DTypeError, NonFiniteError, OptionError, ShapeError, SingularMatrixError
from glla.queue.several import bands

pytestmark = pytest.mark.mesa


@pytest.fixture
def several():
    with glla.coprocessors(["software"] * 3) as found:
        yield found


def test_bands_cover_all_rows_once():
    for length in range(40):
        for count in range(1, 6):
            rows = [row for band in bands(length, count) for row in range(length)[band]]
            assert rows == list(range(length))
            assert len(bands(length, count)) <= count
            assert all(range(length)[band] for band in bands(length, count))


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 9, 5), (40, 3, 8), (0, 3, 2), (3, 0, 2), (2, 5, 0)])
def test_products_are_exact(shape, several, rng):
    m, k, n = shape
    a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
    assert (several.matmul(a, b).result() == a @ b).all()
    out = np.full((m, n), np.nan, dtype=np.float32)
    assert several.matmul(a, b, out=out).result() is out
    assert (out == a @ b).all()


def test_solutions_are_those_of_one_device(several, rng):
    """Each device streams its band where it does not fit."""
    a = rng.integers(-3, 4, (12, 12)) + 20 * np.eye(12)
    for b in (rng.integers(-5, 6, 12), rng.integers(-5, 6, (12, 1)), rng.integers(-5, 6, (12, 7))):
        x = several.solve(a, b).result()
        assert x.shape == b.shape
        assert np.abs(a @ x - b).max() < 30 * 12 * 2.0**-24 * (np.abs(a).sum(1).max() * np.abs(x).max() + 5)
    for shape in ((0,), (0, 3)):
        assert several.solve(np.zeros((0, 0)), np.zeros(shape)).result().shape == shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (64, 64)), rng.integers(-3, 4, (64, 64))
    with glla.coprocessors(["software", "software"], max_bytes=40_000) as several:
        assert (several.matmul(a, b).result() == a @ b).all()


def test_every_device_takes_part(several, rng):
    """A stream measures, and keeps the order of errors."""
    a = rng.integers(-3, 4, (60, 20))
    before = [member.stats().textures for member in several]
    several.matmul(a, a.T).result()
    assert len(several) == 3
    assert [member.stats().textures for member in several] == before
    assert all(member.stats().programs > 0 for member in several)
    systems = [np.eye(3), np.zeros((3, 3)), 2 * np.eye(3)]
    stream = glla.hybrid.map("inv", systems, gpu=several, ratio=0)
    assert (next(stream) == np.eye(3)).all()
    with pytest.raises(SingularMatrixError):
        next(stream)
    assert (next(stream) == np.eye(3) / 2).all()


def test_wrong_calls_say_what_is_right(several):
    one = np.eye(2, dtype=np.float32)
    for call, error, message in (
        (lambda: several.matmul(np.ones((2, 3)), np.ones((2, 3))), ShapeError, "inner dimensions"),
        (lambda: several.matmul(np.ones(3), np.ones((3, 3))), ShapeError, "one matrix"),
        (lambda: several.matmul(1j * np.eye(2), np.eye(2)), DTypeError, "real"),
        (lambda: several.matmul(np.eye(2) * np.nan, np.eye(2)), NonFiniteError, "NaN|finite"),
        (lambda: several.matmul(np.eye(2), np.eye(2), out=np.eye(2)), ShapeError, "out must be float32"),
        (lambda: several.matmul(one, one, out=one), OptionError, "shares memory"),
        (lambda: several.solve(np.ones((2, 3)), np.ones(2)), ShapeError, "square"),
        (lambda: several.solve(np.eye(2), np.ones(3)), ShapeError, "2 rows"),
        (lambda: several.solve(np.ones((2, 2)), np.ones((2, 4))).result(), SingularMatrixError, "Singular matrix"),
        (lambda: glla.coprocessors([]), OptionError, "one device at least"),
        *((lambda of=of: glla.coprocessors(of), OptionError, "'all' or a list") for of in ("software", 2)),
        (lambda: glla.coprocessors(["software", "best"]), OptionError, "device must be"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_closed_ones_say_so():
    several, one = glla.coprocessors(["software"]), np.eye(2)
    several.close()
    assert several.closed
    for call in (
        lambda: several.matmul(one, one), several.__enter__, lambda: glla.hybrid.map("inv", [one], gpu=several)
    ):  # fmt: skip
        with pytest.raises(CoprocessorError, match="closed"):
            call()
