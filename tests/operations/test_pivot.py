"""The pivot search: which two rows come up, in one fragment and in many, and what is said of their health."""

from itertools import product

import numpy as np
import pytest

from glla.operations.acceptance import SMALLEST_RATIO, accepted
from glla.operations.elimination import plu
from glla.operations.elimination.pivot import NORMS, EchelonSearch, FactorSearch
from glla.passes import Draft, Storage, matrix, resident
from glla.testing import integers, normal

# Rows on either side of where a second level of fragments begins (32), of where their chunks grow, and past 512.
ROWS = [1, 2, 3, 4, 31, 32, 33, 34, 35, 65, 129, 511, 513, 1031]
BLOCK_NORMS = sorted(set(NORMS) - {"partial"})


def signs(m, n, rng):
    """Entries -1, 0 and 1: many equal candidates, and arithmetic that is exact."""
    return integers(m, n, rng, limit=1)


def last_row_only(m, n, rng):
    return np.eye(m, n, -(m - 1), dtype=np.float32) + np.eye(m, n, 1 - m // 2, dtype=np.float32)


def zero_first(m, n, rng):
    a = signs(m, n, rng)
    a[:, 0] = 0
    return a


def zero_second(m, n, rng):
    a = signs(m, n, rng)
    a[:, 1] = 0
    return a


def dependent(m, n, rng):
    """The second column vanishes when the first is eliminated."""
    a = signs(m, n, rng)
    a[:, 1] = -a[:, 0]
    return a


def zeros(m, n, rng):
    return np.zeros((m, n), dtype=np.float32)


KINDS = [normal, signs, last_row_only, zero_first, zero_second, dependent, zeros]

every_kind = pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)


def search(shape, pivoting, fixed, top=0):
    """Plan of one search in the first column pair, of a factorisation (`fixed`) from row `top`, or an echelon form."""
    draft = Draft("search")
    draft.operand("A", matrix(shape))
    if not fixed:
        echelon = EchelonSearch(draft, shape, 1, pivoting)
        echelon.step(0, "A")
        return draft.plan(echelon.results(1))
    passes = FactorSearch(draft, shape, pivoting)
    if top:
        passes = passes.on(shape, top)
    passes.step(0, "A", top)
    targets = (draft.slot("pivots", Storage(1, 1)), draft.slot("health", Storage(1, 1)))
    passes.records(1, targets, top=top)
    return draft.plan({"pivots": "pivots", "health": "health"})


# ---- the choice --------------------------------------------------------------------------------------------------


def first_largest(values):
    """LAPACK's choice: the first of the largest magnitudes; none among zeros."""
    values = np.abs(values)
    return int(np.argmax(values)) if values.size and values.max() > 0 else None


def partial_choice(a, fixed):
    """The record of an elimination of two columns with partial pivoting.

    Where a column has no pivot, an echelon form says -1 and a factorisation leaves the row where it is.
    """
    a = a.astype(np.float32).copy()
    first = first_largest(a[:, 0])
    row = 0 if first is None else 1
    if first is not None:
        a[[0, first]] = a[[first, 0]]
        a[1:] -= (a[1:, :1] / a[0, 0]) * a[0]
    start = 1 if fixed else row
    second = first_largest(a[start:, 1]) if a.shape[1] > 1 else None
    p = first if first is not None else (0 if fixed else -1)
    q = second + start if second is not None else (1 if fixed else -1)
    return [p, q, 0, 0 if fixed else row + (second is not None)]


@every_kind
@pytest.mark.parametrize("fixed", [True, False], ids=["factorisation", "echelon form"])
def test_partial_takes_the_first_of_the_largest(factorise, rng, make, fixed):
    for rows, columns in product(ROWS, (1, 2, 3)):
        if columns == 1 and make in (zero_second, dependent):
            continue
        a = make(rows, columns, rng)
        record = factorise(search(a.shape, "partial", fixed), a)["records"][0]
        assert record.tolist() == partial_choice(a, fixed)


@every_kind
@pytest.mark.parametrize("pivoting", NORMS)
def test_a_panel_is_searched_from_its_top_row(factorise, rng, make, pivoting):
    """Rows above are done with, and may be anything."""
    for rows, top in product((17, 18, 20, 49, 80, 131, 1031), (16, 64)):
        if rows <= top:
            continue
        a = make(rows - top, 2, rng)
        below = factorise(search(a.shape, pivoting, True), a)
        panel = factorise(search((rows, 2), pivoting, True, top), np.vstack([np.full((top, 2), 1e9, np.float32), a]))
        p, q, row, rest = panel["records"][0].tolist()
        assert [p - top, q - top, row - top, rest] == below["records"][0].tolist()
        assert panel["health"].tolist() == below["health"].tolist()
        if pivoting == "partial":
            assert below["records"][0].tolist() == partial_choice(a, True)


def block_norm(rows, pivoting):
    """Norm of two rows, the first of them eliminated."""
    (a, b), (c, d) = rows.astype(np.float64)
    with np.errstate(all="ignore"):
        d1, d2 = abs(a), abs(d - b * c / a) if a else abs(d)
        low, high = min(d1, d2), max(d1, d2)
        return 0.0 if low == 0 else low / (1 + low / high) if pivoting == "harmonic" else np.sqrt(low * high)


def block_choice(a, pivoting, k=0):
    """Norm and rows of the best block of the column pair k from row 2k down; the first of equals."""
    best = (0.0, -1, -1)
    for i in range(2 * k, len(a) - 1, 2):
        for p, q in ((i, i + 1), (i + 1, i)):
            block = a[[p, q], 2 * k : 2 * k + 2]
            norm = block_norm(block, pivoting)
            if pivoting == "geometric" and abs(block[1, 0]) > abs(block[0, 0]):
                continue  # either order has the same norm
            if norm > best[0] * (1 + 1e-6):
                best = norm, p, (p if q == 2 * k else q)
    return best


@every_kind
@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@pytest.mark.parametrize("fixed", [True, False], ids=["factorisation", "echelon form"])
def test_block_norms_take_the_best_pair_of_a_texel(factorise, rng, make, pivoting, fixed):
    for rows in ROWS:
        a = make(rows - rows % 2, 2, rng) if rows > 1 else make(2, 2, rng)
        norm, p, q = block_choice(a, pivoting)
        results = factorise(search(a.shape, pivoting, fixed), a)
        found = norm > 0
        expected = [p, q, 0, 0 if fixed else 2] if found else [0, 1, 0, 0] if fixed else [-1, -1, 0, 0]
        assert results["records"][0].tolist() == expected
        ratio, largest, smallest = results["health"]
        assert largest == np.abs(a).max()
        power = 2 if pivoting == "geometric" else 1  # the mean of two pivots bounds the smaller one by its square only
        expected = (norm / largest) ** power if largest else 0
        assert ratio == pytest.approx(expected if fixed else min(1, expected), rel=1e-6)
        assert smallest == pytest.approx(norm, rel=1e-6)


@pytest.mark.parametrize(("a", "expected"), [([[5, 1]], [0, -1, 0, 1]), ([[3], [-4], [2]], [1, -1, 0, 1])])
@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
def test_a_single_row_or_column_is_measured_by_itself(factorise, a, expected, pivoting):
    a = np.array(a, dtype=np.float32)
    results = factorise(search(a.shape, pivoting, False), a)
    assert results["records"][0].tolist() == expected
    assert results["health"].tolist() == [1, np.abs(a).max(), np.abs(a).max()]
    fixed = factorise(search(a.shape, pivoting, True), a)
    assert fixed["records"][0].tolist() == [expected[0], 1, 0, 0]
    assert fixed["health"].tolist() == results["health"].tolist()


@pytest.mark.parametrize("row", [0, 1, 3, 39])
def test_nan_is_no_pivot(factorise, row):
    a = np.ones((40, 2), dtype=np.float32)
    a[2, 0] = 3
    a[row, 0] = np.nan
    assert factorise(search(a.shape, "partial", True), a)["records"][0, 0] == 2


# ---- the tolerance -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [
        ((0.0, 0.0), [0, 1, 0, 2]),
        ((0.4, 0.0), [0, 1, 0, 2]),
        ((0.5, 0.0), [0, -1, 0, 1]),  # at most the tolerance is zero
        ((0.9, 0.0), [0, -1, 0, 1]),
        ((1.0, 0.0), [-1, 0, 0, 1]),
        ((2.0, 0.0), [-1, -1, 0, 0]),
        ((0.0, 0.5 / 28), [0, 1, 0, 2]),  # (8 + sqrt(1)) (1 + weight 2) = 27 for the second column
        ((0.0, 0.5 / 26), [0, -1, 0, 1]),
        ((0.0, 0.9 / 8), [0, -1, 0, 1]),  # 8 for the first
        ((0.0, 1.0 / 8), [-1, 0, 0, 1]),
        ((0.5, 0.5 / 28), [0, -1, 0, 1]),  # the larger of both
    ],
)
def test_a_pivot_is_more_than_the_tolerance(factorise, tolerance, expected):
    a = np.array([[1, 2], [0, 0.5]], dtype=np.float32)
    assert factorise(search(a.shape, "partial", False), a, *tolerance)["records"][0].tolist() == expected


@pytest.mark.parametrize(("absolute", "found"), [(0.0, True), (0.24, True), (0.25, False)])
@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
def test_a_block_needs_both_its_pivots(factorise, absolute, found, pivoting):
    a = np.array([[4, 0], [0, 0.25]], dtype=np.float32)
    record = factorise(search(a.shape, pivoting, False), a, absolute)["records"][0].tolist()
    # The norm of the block, 0.235 or 1, is not its smaller pivot: with 0.24 only the geometric one is larger.
    found = found and not (pivoting == "harmonic" and absolute == 0.24)
    assert record == ([0, 1, 0, 2] if found else [-1, -1, 0, 0])


# ---- health ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "largest", "scale", "expected"),
    [
        (1.0, 1.0, 1.0, True),
        (SMALLEST_RATIO, 24.0, 1.0, True),
        (SMALLEST_RATIO / 2, 1.0, 1.0, False),
        (0.0, 0.0, 0.0, False),
        (1.0, 24.1, 1.0, False),
        (1.0, 240.0, 10.0, True),
        (np.nan, 1.0, 1.0, False),
        (1.0, np.nan, 1.0, False),
        (1.0, 1.0, np.nan, False),
        (1.0, np.inf, 1.0, False),
    ],
)
def test_accepted(ratio, largest, scale, expected):
    assert accepted(ratio, largest, scale, 4) is expected


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
def test_health_remembers_the_worst_step(factorise, pivoting):
    blocks = [8.0, 2.0, 0.5, 4.0]  # norms of diagonal blocks: half of it for harmonic, itself for geometric
    a = np.diag(np.repeat(blocks, 2)).astype(np.float32)
    half = 0.5 if pivoting == "harmonic" else 1.0
    plan = plu.plan(resident((8, 8)), variant="rank2", pivoting=pivoting)
    ratio, largest, smallest = factorise(plan, a)["health"]
    assert (ratio, largest, smallest) == pytest.approx((half, 8.0, half * 0.5), rel=1e-6)


def test_pivots_far_apart_are_not_healthy_whatever_their_mean(factorise):
    a = np.array([[1, 0], [0, 2.0**-12]], dtype=np.float32)
    for pivoting in BLOCK_NORMS:
        ratio = factorise(search(a.shape, pivoting, True), a)["health"][0]
        assert ratio == pytest.approx(2.0**-12, rel=1e-3)


def test_geometric_norm_takes_the_order_that_multiplies_less(factorise):
    a = np.array([[1e-4, 1], [1, 1]], dtype=np.float32)
    assert factorise(search(a.shape, "geometric", True), a)["records"][0, :2].tolist() == [1, 1]
