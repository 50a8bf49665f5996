"""Stacks of small matrices through the public functions: one plan for all, and each as good as by itself."""

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import SingularMatrixError
from glla.operations.host import substitution
from glla.operations.systems import lu_scaling
from tests.beside import spied


def stack_of(make, shape, *arguments):
    each = [make(*arguments) for _ in range(int(np.prod(shape)))]
    return np.stack(each).reshape(*shape, *each[0].shape)


@pytest.fixture
def work(device):
    """Count the plans and passes that a call takes."""

    def work(call, device=device):
        before = device.stats()
        call()
        after = device.stats()
        return after.plans - before.plans, after.passes - before.passes

    return work


# Work --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [8, 64])
def test_a_single_system_is_one_plan(n, work, rng):
    a = testing.conditioned(n, n, rng)
    assert work(lambda: glla.solve(a, np.ones(n))) == (1, n // 2 + n // 8 + 5)


def test_one_matrix_for_all_is_factored_once(work, rng):
    a, b = testing.conditioned(9, 9, rng), testing.normal(9, 60, rng)
    stack = b.T.reshape(4, 5, 9, 3)
    assert work(lambda: glla.solve(a, stack)) == work(lambda: glla.solve(a, b))
    x = glla.solve(a[np.newaxis], stack)
    assert x.shape == stack.shape
    for index in np.ndindex(4, 5):
        testing.assert_solve(a, x[index], stack[index])
    testing.assert_exact(glla.lu_solve(glla.lu_factor(a), stack)[3, 2], glla.lu_solve(glla.lu_factor(a), stack[3, 2]))


def test_one_right_factor_for_all_is_one_product(work, rng):
    a, b = testing.integers(6 * 5, 300, rng).reshape(2, 3, 5, 300), testing.integers(300, 4, rng)
    assert work(lambda: glla.matmul(a, b)) == work(lambda: glla.matmul(a.reshape(30, 300), b))
    testing.assert_exact(glla.matmul(a, b), a @ b)
    testing.assert_exact(glla.matmul(a, b[:, 0]), a @ b[:, 0])


# Members that are special ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_rejected_small_matrices_are_solved_or_refused(order, resident, device, rng):
    """Singular values in float64 accept small matrices; zeros, and integers of lower rank, are refused still."""
    lend = glla.asarray if resident else np.asarray
    nearly = np.linalg.qr(rng.standard_normal((40, order, order)))[0].astype(np.float32)
    nearly[:, :, -1] = nearly[:, :, 0] * (order > 1) + nearly[:, :, -1] * np.float32(2.0**-12)
    plans = device.stats().plans
    inverses = np.asarray(glla.inv(lend(nearly)))
    assert resident or device.stats().plans - plans < 40  # of the resident ones each is read back, by a plan
    for a, x in zip(nearly, inverses, strict=True):
        testing.assert_inverse(a, x)
    for _ in range(10):
        bad = rng.integers(-9, 10, (order, order)).astype(np.float32)
        bad[-1] = bad[:-1].sum(axis=0)
        for singular in (bad, np.zeros_like(bad)):
            with pytest.raises(SingularMatrixError, match=r"\(7\)"):
                glla.inv(lend(np.insert(nearly, 7, singular, axis=0)))


REJECTED = {
    "solve": lambda a: glla.solve(a, np.ones((len(a), a.shape[-1], 2), np.float32)),
    "inv": glla.inv,
    "slogdet": lambda a: np.stack([np.asarray(one) for one in glla.slogdet(a)], -1),
    "rcond": glla.rcond,
}


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("name", REJECTED)
def test_ill_conditioned_matrices_are_batched(name, resident, work, rng):
    """However many there are: the plans and passes are those of two of them."""
    a, costs = stack_of(testing.conditioned, (40,), 7, 7, rng), []
    for count in (2, 31):
        q, p = (np.linalg.qr(rng.standard_normal((count, 7, 7)))[0] for _ in range(2))
        a[:count] = q * np.logspace(0, -5, 7) @ p
        given = glla.asarray(a) if resident else a
        costs.append(work(lambda given=given: REJECTED[name](given)))
    assert costs[0] == costs[1]


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("name", ["lu_solve", "solve_triangular"])
def test_matrices_near_the_limits_are_batched_on_the_host(name, resident, rng, monkeypatch):
    lend, n = glla.asarray if resident else np.asarray, 70  # more than a block of the host's
    calls = [spied(monkeypatch, module, "substituted") for module in (lu_scaling, substitution)]
    t = (rng.standard_normal((9, n, n)) / n + 2 * np.eye(n)).astype(np.float32)
    b = rng.standard_normal((9, n, 3)).astype(np.float32)
    t[:7, 1] *= np.float32(2.0**-80)
    for other in (False, True):
        for one in calls:
            one.clear()
        if name == "lu_solve":
            x = glla.lu_solve((lend(t), np.zeros((9, n), int) + np.arange(n)), lend(b), trans=int(other))
            a = (np.tril(t, -1) + np.eye(n)) @ np.triu(t).astype(np.float64)
        else:
            x = glla.solve_triangular(lend(t.mT if other else t), lend(b), trans=int(other), lower=other)
            a = np.triu(t).astype(np.float64)
        assert sum(map(len, calls)) == (2 if name == "lu_solve" else 1)
        a = a.mT if other and name == "lu_solve" else a
        error = np.abs(b - a @ np.asarray(x).astype(np.float64)).sum(axis=1)
        size = np.abs(a).sum(axis=1).max(axis=1, keepdims=True) * np.abs(np.asarray(x, np.float64)).sum(axis=1)
        assert (error <= 30 * n * 2.0**-24 * (size + np.abs(b).sum(axis=1))).all()


@pytest.mark.parametrize("name", REJECTED)
def test_a_tiny_entry_is_accepted(name, work):
    """Of rotations by right angles the cosine is 6e-17: no row and no column needs scaling for that."""
    c, s = np.cos(np.pi / 2 * np.arange(1, 30)), np.sin(np.pi / 2 * np.arange(1, 30))
    turns = np.moveaxis(np.array([[c, -s, 0 * c], [s, c, 0 * c], [0 * c, 0 * c, 1 + 0 * c]]), -1, 0)
    calm = np.where(np.abs(turns) < 0.5, 0.25, turns)
    assert work(lambda: REJECTED[name](turns)) == work(lambda: REJECTED[name](calm)) == (1, 1)


def test_large_singular_matrices_of_a_stack_are_named(rng):
    a = np.stack([np.eye(3), np.ones((3, 3))])
    with glla.Device(max_texture_size=2) as small:
        with pytest.raises(SingularMatrixError, match=r"^inv: .* at index \(1\) of the stack: pivot 1 of 3"):
            glla.inv(a, device=small)
        with pytest.raises(SingularMatrixError, match=r"^solve: Singular matrix at index \(1\) of the stack: pivot"):
            glla.solve(a, np.ones(3), device=small)


def test_small_pivots_that_are_none_of_rounding_pass(rng):
    a = stack_of(testing.graded, (3,), 8, 8, rng)
    b = np.ones((8, 1))
    for i, x in enumerate(glla.solve(a, b, equilibrate=False)):
        testing.assert_solve(a[i], x, b)
