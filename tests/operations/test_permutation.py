"""Row exchanges followed on the device, against the same exchanges done one by one."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.layouts.permutation import gather, trace
from glla.passes import Draft, Storage
from glla.testing import assert_exact, integers, normal

# Rows of the matrix, and steps of its factorisation (two exchanges each).
CASES = [(1, 1), (2, 1), (3, 1), (3, 2), (4, 2), (7, 2), (16, 8), (17, 9), (67, 2), (131, 66)]

every_case = pytest.mark.parametrize(("rows", "steps"), CASES, ids=str)


def exchanges(rows, steps, rng):
    """LAPACK's pivots: at step i, row i changes places with itself or a row below; past the end with itself."""
    return [int(rng.integers(i, rows)) if i < rows else i for i in range(2 * steps)]


def records(pivots):
    """The texels of all steps, with NaN in what is not looked at."""
    pairs = np.array(pivots, dtype=np.float32).reshape(-1, 2)
    result = np.full((1, len(pairs), 4), np.nan, dtype=np.float32)
    result[0, :, :2] = pairs
    return result


def order(pivots, rows):
    """Which row of the old matrix becomes row i of the new one."""
    result = list(range(max(rows, len(pivots))))
    for i, j in enumerate(pivots):
        result[i], result[j] = result[j], result[i]
    return np.array(result[:rows])


def traced(run, rows, steps, pivots, inverse=False):
    texels = run(trace(rows, steps, inverse), pivots=records(pivots))["rows"]
    assert not texels[:, :, 2:].any()
    return texels[:, 0, :2].reshape(-1)[:rows]


@every_case
def test_trace_follows_the_exchanges(run, rng, rows, steps):
    pivots = exchanges(rows, steps, rng)
    assert_exact(traced(run, rows, steps, pivots), order(pivots, rows))


@every_case
def test_inverse_undoes_them(run, rng, rows, steps):
    pivots = exchanges(rows, steps, rng)
    assert_exact(traced(run, rows, steps, pivots, inverse=True), np.argsort(order(pivots, rows)))


@pytest.mark.parametrize(("first", "end"), [(0, 3), (2, 5), (4, 9), (8, 9)])
def test_trace_of_some_steps(run, rng, first, end):
    """As a panel of a factorisation uses it: only the steps from `first` to before `end`."""
    pivots = exchanges(17, 9, rng)
    draft = Draft("some")
    draft.operand("pivots", Storage(1, 9))
    draft.draw(
        "permutation/trace", {"pivots": "pivots"}, draft.slot("rows", Storage(9, 1)), {"first": first, "end": end}
    )
    rows = run(draft.plan({"rows": "rows"}), pivots=records(pivots))["rows"][:, 0, :2].reshape(-1)[:17]
    only = [pivot if 2 * first <= i < 2 * end else i for i, pivot in enumerate(pivots)]
    assert_exact(rows, order(only, 17))


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (17, 16), (37, 5), (5, 131)], ids=str)
def test_gather_takes_rows_as_they_are(run, rng, shape):
    a = normal(*shape, rng)
    a.flat[-1], a.flat[0] = np.nan, -np.inf
    rows = rng.permutation(shape[0])
    texels = np.zeros(((shape[0] + 1) // 2, 1, 4), dtype=np.float32)
    texels[:, 0, 0], texels[: shape[0] // 2, 0, 1] = rows[0::2], rows[1::2]
    np.testing.assert_array_equal(run(gather(shape), A=a, rows=texels).matrix("B", shape), a[rows])


@pytest.mark.parametrize(("m", "n", "left"), [(1, 1, 0), (5, 7, 0), (5, 7, 2), (8, 6, 4), (4, 9, 8), (6, 5, 2)])
def test_some_rows_without_the_leftmost_columns(run, rng, m, n, left):
    a = normal(m, n, rng)
    for count in {1, m // 2 + 1, m, m + 3}:
        rows = rng.integers(0, m, count)
        pairs = np.zeros((-(-count // 2), 1, 4), dtype=np.float32)
        pairs[:, 0, :2] = np.pad(rows, (0, count % 2)).reshape(-1, 2)
        assert_exact(run(gather((m, n), count, left), A=a, rows=pairs).matrix("B", (count, n - left)), a[rows, left:])


@pytest.mark.parametrize(("left", "columns"), [(0, 3), (2, 5), (4, 1), (4, None)])
def test_some_columns_of_some_rows(left, columns, device, rng):
    a, rows = integers(9, 9, rng), rng.integers(0, 9, 5)
    pairs = np.zeros((3, 1, 4), dtype=np.float32)
    pairs[:, 0, :2] = np.pad(rows, (0, 1)).reshape(-1, 2)
    made = device.run(gather((9, 9), 5, left, columns), A=device.upload(a), rows=device.write_texels(pairs))["B"]
    expected = a[rows, left : None if columns is None else left + columns]
    assert_exact(device.download(made, expected.shape), expected)


def test_columns_begin_at_a_texel():
    with pytest.raises(PlanError, match="columns that are left out must be an even number, got 3"):
        gather((9, 9), 5, 3)
