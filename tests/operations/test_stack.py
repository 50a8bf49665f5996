"""Batches of small matrices: cells, pivots, probes; order 4 at most in one pass, with the numbers of the longer way."""

from itertools import product

import numpy as np
import pytest
from scipy.linalg.lapack import sgetrf

import glla
from glla import testing
from glla.errors import LimitError
from glla.operations import OPERATIONS, acceptance
from glla.operations.batches import linear_batches, stack
from glla.operations.definite import stack_definite
from glla.operations.elimination import plu_batches
from glla.operations.host.scaling import both
from glla.operations.product import matmul
from glla.passes import PLAIN, Form, Limits, resident


def forms(*arrays):
    return tuple(Form(array.shape) for array in arrays)


def matrices(make, count, *arguments):
    return np.stack([make(*arguments) for _ in range(count)])


@pytest.fixture
def records(run):
    """Run a plan on batches; give the record of each matrix. Texels beyond the records are not read, or are zero."""

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


# -- cells ------------------------------------------------------------------------------------------------------------


def test_a_stack_that_has_no_room_is_refused():
    with pytest.raises(LimitError, match=r"^stack\[matmul\]: a texture may have 4 texels a side on this device"):
        matmul.batched((Form((1, 20, 20)),) * 2, Limits(texture_size=4)).check(Limits(texture_size=4))


def test_a_huge_stack_is_cut():
    assert stack.capacity((4, 4), 64, 16384) == stack.MOST_TEXELS // 16
    assert stack.capacity((4096, 2048), 64, 16384) == 1


BATCHED = [name for name, record in OPERATIONS.items() if record.batch is not None and name != "inv3"]


@pytest.mark.parametrize("name", BATCHED)
def test_pieces_fit_small_textures(name, rng):
    for n, side in product((1, 2, 3, 4, 9, 20), (4, 7, 8, 64)):
        batch, limits = OPERATIONS[name].batch, Limits(texture_size=side)
        shapes = [one.shape for one in OPERATIONS[name].example(n, rng)]
        count = batch.most(tuple(Form((9, *shape)) for shape in shapes), limits)
        assert count or side < 64
        if count:
            batch.records_plan(tuple(Form((count, *shape)) for shape in shapes), limits).check(limits)


def test_large_matrices_go_one_by_one(device):
    given = Form((3, 129, 129)), Form((3, 129, 1))
    most = stack_definite.most_batched
    assert most(given, Limits(software=True)) == 0 < most(given, PLAIN)
    assert most((Form((129, 129)),), PLAIN) == 0
    assert glla.plan("cholesky", (3, 150, 150), device=device).times == (3 if device.limits.software else 1)


# -- pivots and diagnostics ------------------------------------------------------------------------------------------


@pytest.mark.threaded
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (8, 8), (17, 17), (9, 4), (4, 9), (7, 1), (1, 7), (33, 20)])
def test_pivots_are_lapacks(records, rng, shape):
    """So are the diagnostics: U's diagonal, and the largest magnitude of each column of U."""
    (m, n), order = shape, min(shape)
    a = matrices(testing.normal, 6, *shape, rng)
    a[5] = 1  # of equal entries the first is the pivot
    result = records(plu_batches.factor(forms(a)), m * n + 3 * order, a)
    for one, record in zip(a, result, strict=True):
        packed, diagnostics = record[: m * n].reshape(m, n), record[m * n :].reshape(3, order)
        np.testing.assert_array_equal(diagnostics[2].astype(int), sgetrf(one)[1])
        testing.assert_exact(diagnostics[0], np.diagonal(packed))
        testing.assert_exact(diagnostics[1], np.abs(np.triu(packed)).max(axis=0)[:order])


def test_a_single_system_is_substituted_in_textures_of_one_size():
    """A first result waits for a variant of the program for each size of textures that llvmpipe tells apart."""
    plan = plu_batches.solve((Form((1, 64, 64)), Form((1, 64, 1))))
    steps = [step for step in plan.passes if step.shader == "stack/substitute"]
    assert len({plan.slots[slot] for step in steps for slot in step.inputs.values()}) == 1


@pytest.mark.parametrize("equilibrate", [True, False])
@pytest.mark.parametrize(("n", "columns"), [(1, 1), (2, 3), (5, 4), (33, 1)])
def test_probes_tell_the_size_of_the_inverse(records, rng, equilibrate, n, columns):
    """The mean of the sums of squares is near the square of the inverse's Frobenius norm."""
    a, b = matrices(testing.conditioned, 3, n, n, rng), matrices(testing.normal, 3, n, columns, rng)
    result = records(plu_batches.solve(forms(a, b), equilibrate=equilibrate), n * (columns + 3), a, b)
    squares = result[:, n * (columns + 2) :].sum(axis=1) / stack.BATCH_PROBES
    for one, square in zip(a.astype(np.float64), squares, strict=True):
        rows, shares = both(one) if equilibrate else (0, 0)
        norm = np.linalg.norm(np.linalg.inv(np.ldexp(one, -rows - shares)))
        assert norm / 8 <= np.sqrt(square) <= norm * np.sqrt(3 * n)


def test_sizes_are_judged_batched_as_one_by_one(rng):
    a = testing.normal(400, 6, rng).reshape(400, 2, 3) * 2.0 ** rng.integers(-60, 60, (400, 1, 3))
    for i, special in enumerate(
        (0, np.nan, np.inf, 2.0**40, 2.0**-40, np.nextafter(np.float32(2.0**40), np.float32(3e38)))
    ):
        a[i::9] = rng.choice([0, 1], (2, 3))
        a[i::9, 1, 1] = special
    with np.errstate(all="ignore"):
        one_by_one = [acceptance.near_one(matrix) for matrix in a]
        assert acceptance.each_near_one(a).tolist() == one_by_one and 50 < sum(one_by_one) < 350
        columns = [acceptance.largest_near_one(matrix) for matrix in a]
        assert acceptance.each_near_one(acceptance.largest_of_columns(a)).tolist() == columns


@pytest.mark.threaded
@pytest.mark.parametrize("name", ["inv", "solve", "det"])
def test_batches_on_the_device_have_the_same_diagnostics(device, records, rng, name):
    batch, given = OPERATIONS[name].batch, tuple(rng.standard_normal((2, 5, 3, 3)).astype(np.float32))
    given = given[: len(OPERATIONS[name].operands)]
    expected = records(batch.records_plan(forms(*given), device.limits), batch.layout.length(forms(*given)), *given)
    stacks = tuple(glla.asarray(one, device=device).value for one in given)
    made = linear_batches.plan(batch, tuple(one.form for one in stacks), device.limits)
    found = device.run(made, **{one: stack_.texture for one, stack_ in zip("AB", stacks, strict=False)})
    parts, diagnostics = batch.layout.parted(forms(*given), expected)
    testing.assert_exact(found["diagnostics"][: diagnostics.size].reshape(diagnostics.shape), diagnostics)
    if "matrices" in found:
        testing.assert_exact(device.read(found["matrices"]).reshape(-1)[: parts.size], parts.reshape(-1))


# -- order 4 at most --------------------------------------------------------------------------------------------------


def hard(n, rng):
    """Regular matrices that elimination may trip over, and others: of zeros, of ones, with NaN, with infinity."""
    graded = rng.integers(1, 9, (n, n)) * 4.0 ** -np.arange(n)[:, np.newaxis] + 8 * np.eye(n)
    made = [
        np.eye(n), np.eye(n)[::-1] * 2.0 ** rng.integers(-9, 9, n), np.roll(np.eye(n), 1, axis=0) * -3,
        graded, graded.T, 2.0**-39 * testing.conditioned(n, n, rng), 2.0**39 * testing.conditioned(n, n, rng),
        testing.conditioned(n, n, rng) * 2.0 ** np.array([-30, 30, 0, 10])[:n],
        1 / (1 + np.arange(n)[:, np.newaxis] + np.arange(n)), np.ones((n, n)), np.zeros((n, n)),
        *rng.standard_normal((9, n, n)),
    ]  # fmt: skip
    bad = [np.where(np.arange(n * n).reshape(n, n) == n - 1, one, made[-1]) for one in (np.nan, np.inf)]
    return np.stack(made + bad).astype(np.float32)


LONGER_WAY = {
    "solve": (plu_batches.solve_small, plu_batches.solve),
    "inv": (plu_batches.solve_small, plu_batches.solve),
    "slogdet": (plu_batches.determinant_small, plu_batches.determinant),
    "cholesky": (OPERATIONS["cholesky"].batch.records_plan, stack_definite.factor),
    "solve_pos": (OPERATIONS["solve_pos"].batch.records_plan, stack_definite.solve),
    "cho_solve": (OPERATIONS["cho_solve"].batch.records_plan, stack_definite.substitute),
    "inv_pos": (OPERATIONS["inv_pos"].batch.records_plan, stack_definite.invert),
}
"""Plans of one pass, and those of larger matrices."""


@pytest.mark.parametrize("columns", [1, 3, 6, 70])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", LONGER_WAY)
def test_one_pass_gives_the_numbers_of_the_longer_way(records, name, n, columns, device, rng):
    """Of what is singular or not definite, too; NaN stays in its matrix, and in its right-hand side."""
    a, definite = hard(n, rng), name in ("cholesky", "solve_pos", "cho_solve", "inv_pos")
    if definite:
        good = np.stack([testing.spd(n, rng, 1e4) for _ in range(12)])
        a = np.concatenate([good, good * np.float32(2.0**-30), good[:1] * np.float32(2.0**100), a])
        a = np.where(np.tri(n, dtype=bool), a, np.nan).astype(np.float32)
    given = [a, rng.standard_normal((len(a), n, columns)).astype(np.float32)][: len(OPERATIONS[name].operands)]
    if len(given) > 1:
        given[1][1, 0, -1] = np.nan
    length = OPERATIONS[name].batch.layout.length(forms(*given))
    one_pass, longer = (way(forms(*given), PLAIN) for way in LONGER_WAY[name])
    assert one_pass.cost.passes == 1 < longer.cost.passes
    small, large = (records(plan, length, *given) for plan in (one_pass, longer))
    if definite and name != "inv_pos":  # without the spare line
        small, large = small[:, :-n], large[:, :-n]
    bad = ~np.isfinite(large)
    if not definite:  # diagnostics of what is not finite may be anything
        assert not np.isfinite(small[-2:]).all(axis=1).any()
        bad[-2:] = np.isfinite(small[-2:]) == 0
    assert (bad == ~np.isfinite(small)).all() and np.isfinite(small[0]).any()
    small, large = (np.where(bad, 0, one) for one in (small, large))
    # A GPU may divide, and contract additions and multiplications, in another way; conditions of 1e4 enlarge that.
    close = 1e-2 * np.abs(large).max(axis=1, keepdims=True) * (not device.limits.software)
    assert (np.abs(small - large) <= close + (0 if definite else 2e-5 * np.abs(large) + 1e-6)).all()


@pytest.mark.parametrize("software", [False, True])
def test_right_hand_sides_may_be_many(rng, device, software):
    given = Form((9, 3, 3)), Form((9, 3, 3000))
    assert OPERATIONS["solve"].batch.most(given, Limits(software=software)) > 9
    far = Form((9, 3, 3)), Form((9, 3, 2 * stack.LONGEST // 3))
    assert OPERATIONS["solve"].batch.most(far, Limits(software=software)) == 0
    a, b = matrices(testing.spd, 5, 3, rng), rng.standard_normal((5, 3, 700)).astype(np.float32)
    for assumed, shader in (("gen", "stack/pivoted_small"), ("pos", "stack/definite_small")):
        with glla.trace() as trace:
            x = glla.solve(a, b, assume_a=assumed, device=device)
        assert [one.draw.shader for one in trace.passes if one.draw] == [shader]
        for one in zip(a, x, b, strict=True):
            testing.assert_solve(*one)
    assert not stack.is_small(resident((5, 5)))
