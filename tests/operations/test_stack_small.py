"""Stacks of matrices of order 4 at most: one pass, and the very numbers of the longer way."""

from fractions import Fraction

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import SingularMatrixError
from glla.operations import OPERATIONS, residents, stack, stack_small, trust
from glla.passes import Form, Limits, resident

pytestmark = pytest.mark.threaded

every_order = pytest.mark.parametrize("n", [1, 2, 3, 4])


def forms(*arrays):
    return tuple(Form(array.shape) for array in arrays)


@pytest.fixture
def records(run):
    """Run a plan on stacks; give the record of each matrix. What is no record is not read, or is zero."""

    def records(plan, length, *operands):
        storage = plan.slots["raw"]
        raw = np.full(storage.height * storage.width, np.nan, dtype=np.float32)
        flat = np.concatenate([operand.reshape(-1) for operand in operands])
        raw[: flat.size] = flat
        texels = run(plan, raw=raw.reshape(storage.height, storage.width, 1))["records"]
        count, stride = len(operands[0]), length + -length % texels.shape[-1]
        found = texels.reshape(-1)
        assert not found[count * stride :].any()
        found = found[: count * stride].reshape(count, stride)
        assert not found[:, length:].any()
        return found[:, :length]

    return records


def both_ways(records, operands, equilibrate=True):
    """Records of systems, or of inverses: of the one pass, and of the passes of larger matrices."""
    columns, n = operands[-1].shape[-1], operands[0].shape[-1]
    return [
        records(way(forms(*operands), equilibrate=equilibrate), n * (columns + 3), *operands)
        for way in (stack_small.solve, stack.solve)
    ]


def assert_same(records_):
    """Equal where there is something to compare, and not finite in the same places."""
    small, large = records_
    np.testing.assert_array_equal(np.isfinite(small), np.isfinite(large))
    np.testing.assert_allclose(small, large, rtol=2e-5, atol=1e-6)  # a GPU may divide in another way


def hard_members(n, rng):
    """Matrices that elimination may trip over: name -> matrix, all of them regular."""
    reverse = np.eye(n)[::-1]
    graded = rng.integers(1, 9, (n, n)) * 4.0 ** -np.arange(n)[:, np.newaxis] + 8 * np.eye(n)
    made = {
        "identity": np.eye(n),
        "reversed": reverse * 2.0 ** rng.integers(-9, 9, n),
        "shifted": np.roll(np.eye(n), 1, axis=0) * -3,
        "graded rows": graded,
        "graded columns": graded.T,
        "tiny": 2.0**-39 * testing.conditioned(n, n, rng),
        "huge": 2.0**39 * testing.conditioned(n, n, rng),
        "two sizes": testing.conditioned(n, n, rng) * 2.0 ** np.array([-30, 30, 0, 10])[:n],
        "hilbert": 1 / (1 + np.arange(n)[:, np.newaxis] + np.arange(n)),
    }
    return {name: matrix.astype(np.float32) for name, matrix in made.items()}


def exact_inverse(a):
    """By Gauss and Jordan, in fractions."""
    n = len(a)
    rows = [[Fraction(float(x)) for x in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(a)]
    for k in range(n):
        p = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return np.array([[float(x) for x in row[n:]] for row in rows])


# The same numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "equilibrate"), [(1, True), (2, True), (3, True), (4, True), (3, False), (4, False)])
def test_systems_are_those_of_the_longer_way(records, rng, n, equilibrate):
    for count, columns in ((1, 1), (2, 1), (7, 2), (50, 5), (1, 70)):
        a = rng.standard_normal((count, n, n)) * 2.0 ** rng.integers(-9, 9, (count, n, 1))
        b = rng.standard_normal((count, n, columns))
        assert_same(both_ways(records, (a.astype(np.float32), b.astype(np.float32)), equilibrate))


@every_order
def test_inverses_are_those_of_the_longer_way(records, rng, n):
    for count in (1, 2, 50):
        assert_same(both_ways(records, (rng.standard_normal((count, n, n)).astype(np.float32),)))


@every_order
def test_hard_members_are_as_on_the_longer_way(records, rng, n):
    assert_same(both_ways(records, (np.stack(list(hard_members(n, rng).values())),)))


@every_order
def test_parts_of_determinants_are_those_of_the_longer_way(records, rng, n):
    a = rng.standard_normal((7, n, n)).astype(np.float32) * 2.0 ** rng.integers(-60, 60, (7, n, 1))
    a = np.concatenate([a.astype(np.float32), np.ones((1, n, n), np.float32), np.zeros((1, n, n), np.float32)])
    small, large = (records(way(forms(a)), 4 * n, a) for way in (stack_small.determinant, stack.determinant))
    assert_same((small, large))
    testing.assert_exact(small[:, 2 * n :], large[:, 2 * n :])  # pivots and exponents


@every_order
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_member(records, rng, n, bad):
    a, b = rng.standard_normal((2, 5, n, n)).astype(np.float32)
    expected, _ = both_ways(records, (a, b))
    a[3, n - 1, 0] = bad
    found, _ = both_ways(records, (a, b))
    assert not np.isfinite(found[3]).all()
    testing.assert_exact(np.delete(found, 3, axis=0), np.delete(expected, 3, axis=0))


@every_order
def test_nan_stays_in_its_right_hand_side(records, rng, n):
    a, b = rng.standard_normal((3, n, n)).astype(np.float32), rng.standard_normal((3, n, 3)).astype(np.float32)
    expected, _ = both_ways(records, (a, b))
    b[1, :, 2] = np.nan
    found, _ = both_ways(records, (a, b))
    column = np.zeros_like(found, dtype=bool)
    column[1, 2 : 3 * n : 3] = True
    assert np.isnan(found[column]).all()
    testing.assert_exact(found[~column], expected[~column])


# The call ----------------------------------------------------------------------------------------------------------


@every_order
@pytest.mark.parametrize("on_device", [False, True])
def test_hard_members_keep_their_bounds(rng, n, on_device):
    members = hard_members(n, rng)
    a = np.stack(list(members.values()))
    b = testing.integers(a.shape[0] * n, 2, rng).reshape(-1, n, 2)
    given = glla.asarray(a) if on_device else a
    inverse, x, d = np.asarray(glla.inv(given)), np.asarray(glla.solve(given, b)), glla.slogdet(given)
    for i, (name, matrix) in enumerate(members.items()):
        testing.assert_inverse(matrix, inverse[i])
        testing.assert_solve(matrix, x[i], b[i])
        exact = exact_inverse(matrix)
        assert (
            abs(inverse[i] - exact).sum(0).max()
            <= 30 * n * np.linalg.cond(matrix, 1) * 2.0**-24 * abs(exact).sum(0).max()
        ), name
        expected = np.linalg.slogdet(matrix.astype(np.float64))
        assert d.sign[i] == expected.sign and abs(d.logabsdet[i] - expected.logabsdet) < 1e-4, name


def test_integers_are_exact(rng):
    """Unimodular matrices have inverses of integers, and these have determinants of 1."""
    lower, upper = (np.tril(rng.integers(-2, 3, (1000, 3, 3)), -1) + np.eye(3) for _ in range(2))
    a = lower @ np.swapaxes(upper, 1, 2)
    testing.assert_exact(glla.inv(lower), np.linalg.inv(lower).round())
    testing.assert_exact(glla.det(lower), np.ones(1000))
    np.testing.assert_allclose(glla.inv(a), np.linalg.inv(a).round(), atol=1e-3)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize(
    "member", [[[0, 0, 0]] * 3, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 1, 0], [1, 1, 0], [0, 0, 1]]]
)
def test_singular_members_are_named(rng, on_device, member):
    a = np.stack([testing.conditioned(3, 3, rng)] * 1000)
    a[777] = member
    given = glla.asarray(a) if on_device else a
    with pytest.raises(SingularMatrixError, match=r"^inv: Singular matrix at index \(777\) of the stack: pivot "):
        glla.inv(given)
    with pytest.raises(SingularMatrixError, match=r"^solve: Singular matrix at index \(777\) of the stack: pivot "):
        glla.solve(given, np.ones((1000, 3, 1)))
    d = np.asarray(glla.det(given))
    assert abs(d[777]) < 1e-5
    testing.assert_exact(np.delete(d, 777), np.full(999, d[0]))


def test_sizes_of_members_are_judged_together_as_one_by_one(rng):
    a = testing.normal(400, 6, rng).reshape(400, 2, 3) * 2.0 ** rng.integers(-60, 60, (400, 1, 3))
    for i, special in enumerate(
        (0, np.nan, np.inf, 2.0**40, 2.0**-40, np.nextafter(np.float32(2.0**40), np.float32(3e38)))
    ):
        a[i::9] = rng.choice([0, 1], (2, 3))
        a[i::9, 1, 1] = special
    with np.errstate(all="ignore"):
        one_by_one = [trust.near_one(member) for member in a]
        assert trust.each_near_one(a).tolist() == one_by_one and 50 < sum(one_by_one) < 350
        columns = [trust.largest_near_one(member) for member in a]
        assert trust.each_near_one(trust.largest_of_columns(a)).tolist() == columns


@pytest.mark.parametrize("scale", [1e-13, 1e13, 3.6e27])
def test_determinants_out_of_range_do_no_harm(rng, scale):
    a = (np.stack([testing.conditioned(4, 4, rng) for _ in range(5)]) * scale).astype(np.float32)
    for matrix, inverse in zip(a, glla.inv(a), strict=True):
        testing.assert_inverse(matrix, inverse)


@every_order
@pytest.mark.parametrize("shape", [(0,), (1,), (2, 0), (2, 3)])
def test_stacks_of_every_shape(rng, n, shape):
    a = rng.standard_normal((*shape, n, n)).astype(np.float32) + 4 * np.eye(n, dtype=np.float32)
    inverse, x, d = glla.inv(a), glla.solve(a, a[..., :1]), glla.det(a)
    assert (inverse.shape, x.shape, np.shape(d)) == (a.shape, a[..., :1].shape, shape)
    np.testing.assert_allclose(inverse @ a, np.broadcast_to(np.eye(n), a.shape), atol=1e-5)
    np.testing.assert_allclose(d, np.linalg.det(a), rtol=1e-4)
    for index in np.ndindex(shape):
        testing.assert_exact(inverse[index], glla.inv(a[index]))


@pytest.mark.parametrize("on_device", [False, True])
def test_nothing_is_left_on_the_device(device, rng, on_device):
    a = rng.standard_normal((1000, 3, 3)).astype(np.float32)
    given = glla.asarray(a) if on_device else a

    def held():
        np.asarray(glla.inv(given))
        glla.det(given)
        return device.stats().textures - device.stats().idle_textures

    assert held() == held()


@pytest.mark.parametrize("name", ["inv", "solve", "det"])
def test_stacks_on_the_device_are_judged_by_the_same_figures(device, records, rng, name):
    batch, given = OPERATIONS[name].batch, tuple(rng.standard_normal((2, 5, 3, 3)).astype(np.float32))
    given = given[: len(OPERATIONS[name].operands)]
    expected = records(batch.plan(forms(*given), device.limits), batch.length(forms(*given)), *given)
    stacks = tuple(glla.asarray(one, device=device).value for one in given)
    made = residents.plan(batch, tuple(one.form for one in stacks), device.limits)
    found = device.run(made, **{one: stack_.texture for one, stack_ in zip("AB", stacks, strict=False)})
    matrices, figures = batch.parted(forms(*given), expected)
    testing.assert_exact(found["figures"][: figures.size].reshape(figures.shape), figures)
    if "matrices" in found:
        testing.assert_exact(device.read(found["matrices"]).reshape(-1)[: matrices.size], matrices.reshape(-1))


# Passes ------------------------------------------------------------------------------------------------------------


@every_order
@pytest.mark.parametrize("name", ["inv", "solve", "det", "slogdet"])
@pytest.mark.parametrize("count", [1, 1000, 10**6])
def test_one_pass(name, n, count):
    shapes = [(count, n, n), (count, n, 3)][: len(OPERATIONS[name].operands)]
    plan = glla.plan(name, *shapes, limits=Limits())
    draws = [step.shader for step in plan.flat.steps]
    assert set(draws) == {"stack/pivoted_small"} and len(draws) == -(-count // most(name, n))


def most(name, n):
    shapes = [(9, n, n), (9, n, 3)][: len(OPERATIONS[name].operands)]
    return OPERATIONS[name].batch.most(tuple(map(Form, shapes)), Limits())


@every_order
@pytest.mark.parametrize("side", [4, 7, 64])
def test_pieces_fit_small_textures(n, side):
    limits = Limits(texture_size=side)
    for name, columns in (("solve", 1), ("solve", 7), ("inv", 0), ("det", 0)):
        shapes = [(n, n), (n, columns)][: len(OPERATIONS[name].operands)]
        count = OPERATIONS[name].batch.most(tuple(Form((1, *shape)) for shape in shapes), limits)
        if count:
            OPERATIONS[name].batch.plan(tuple(Form((count, *shape)) for shape in shapes), limits).check(limits)
        assert count or side < 8


@pytest.mark.parametrize("software", [False, True])
def test_right_hand_sides_may_be_many(rng, device, software):
    forms = Form((9, 3, 3)), Form((9, 3, 3000))
    assert OPERATIONS["solve"].batch.most(forms, Limits(software=software)) > 9
    far = Form((9, 3, 3)), Form((9, 3, 2 * stack_small.LONGEST // 3))
    assert OPERATIONS["solve"].batch.most(far, Limits(software=software)) == 0
    a, b = rng.standard_normal((5, 3, 3)).astype(np.float32), rng.standard_normal((5, 3, 700)).astype(np.float32)
    with glla.trace() as trace:
        x = glla.solve(a, b, device=device)
    assert [one.draw.shader for one in trace.passes if one.draw] == ["stack/pivoted_small"]
    for given in zip(a, x, b, strict=True):
        testing.assert_solve(*given)


def test_larger_matrices_go_the_longer_way():
    assert len(glla.plan("inv", (10, 5, 5), limits=Limits()).steps) > 1
    assert not stack_small.is_small(resident((5, 5)))
