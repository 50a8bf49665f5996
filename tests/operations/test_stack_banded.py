"""Stacks of positive definite bands by one plan: the bits of single ones, members that are named or scaled alone."""

import numpy as np
import pytest
import scipy.linalg

import glla
from glla.errors import NonFiniteError, NotPositiveDefiniteError
from glla.operations import OPERATIONS
from glla.operations.elimination import stack_banded as kernel
from glla.passes import PLAIN, Form, Limits

every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray])
every_half = pytest.mark.parametrize("lower", [False, True])


def bands(count, n, w, rng, lower=False):
    """Matrices that their diagonals dominate, whole and in LAPACK's storage."""
    a = np.tril(np.triu(rng.uniform(-1, 1, (count, n, n)), -w), -1) / (2 * w + 1)
    a = (a + a.swapaxes(1, 2) + rng.uniform(1, 2, (count, 1, n)) * np.eye(n)).astype(np.float32)
    ab = np.zeros((count, w + 1, n), dtype=np.float32)
    for d in range(min(w + 1, n)):
        if lower:
            ab[:, d, : n - d] = np.diagonal(a, -d, 1, 2)
        else:
            ab[:, w - d, d:] = np.diagonal(a, d, 1, 2)
    return a, ab


@every_place
@every_half
@pytest.mark.parametrize(("n", "w"), [(1, 0), (3, 5), (5, 2), (17, 16), (40, 3), (33, 20)])
def test_members_are_what_they_are_alone(n, w, lower, place, device, rng):
    a, ab = bands(6, n, w, rng, lower)
    ab, b = ab.reshape(2, 3, w + 1, n), rng.standard_normal((2, 3, n, 3)).astype(np.float32)
    factors = np.asarray(glla.cholesky_banded(place(ab), lower=lower))
    x = np.asarray(glla.solveh_banded(place(ab), place(b), lower=lower))
    assert factors.shape == ab.shape and x.shape == b.shape
    for number, i in enumerate(np.ndindex(2, 3)):
        alone = glla.cholesky_banded(ab[i], lower=lower, variant="block16")
        assert (factors[i] == alone).all() if device.limits.software else np.abs(factors[i] - alone).max() < 1e-5
        assert np.abs(a[number] @ x[i].astype(float) - b[i]).max() < 1e-4


@every_place
def test_shapes_broadcast_as_scipy_s(place, rng):
    _, ab = bands(3, 7, 2, rng)
    for shape in ((7,), (7, 2), (3, 7, 2), (2, 1, 7, 1), (1, 7, 2)):
        b = rng.standard_normal(shape).astype(np.float32)
        for left in (ab, ab[0], ab[:1]):
            x = np.asarray(glla.solveh_banded(place(left), place(b)))
            right = b[:, np.newaxis] if b.ndim == 1 else b
            stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
            wide, rights = (np.broadcast_to(one, (*stack, *one.shape[-2:])) for one in (left.astype(float), right))
            expected = np.empty((*stack, *right.shape[-2:]))
            for i in np.ndindex(stack):
                expected[i] = scipy.linalg.solveh_banded(wide[i], rights[i])
            expected = expected[..., 0] if b.ndim == 1 else expected
            assert x.shape == expected.shape and np.abs(x - expected).max() < 1e-5


@every_place
@every_half
@pytest.mark.parametrize("scale", [1.0, 2.0**60])
def test_one_bad_member_is_named(lower, place, scale, rng):
    """Also where it must be scaled first."""
    _, ab = bands(12, 20, 3, rng, lower)
    ab[6, 0 if lower else -1, 17] = -1
    ab[6] *= np.float32(scale)
    ab[8, 0 if lower else -1, 0] = -1
    ab = ab.reshape(3, 4, 4, 20)
    for name, call in (
        ("cholesky_banded", lambda: glla.cholesky_banded(place(ab), lower=lower)),
        ("solveh_banded", lambda: glla.solveh_banded(place(ab), place(np.ones((20, 1), np.float32)), lower=lower)),
    ):
        with pytest.raises(
            NotPositiveDefiniteError, match=rf"^{name}: .* at index \(1, 2\) of the stack: .* order 18 is not"
        ):
            call()


@every_place
@every_half
def test_members_far_from_one_are_scaled_alone(lower, place, rng):
    a, ab = bands(5, 12, 2, rng, lower)
    y, d = rng.standard_normal((5, 12, 1)), np.ones((5, 12))
    d[1], d[3] = np.ldexp(1.0, np.linspace(-60, 60, 12).astype(int)), 2.0**55
    graded = ab.astype(np.float64)
    for k in range(3):
        if lower:
            graded[:, k, : 12 - k] *= d[:, k:] * d[:, : 12 - k]
        else:
            graded[:, 2 - k, k:] *= d[:, k:] * d[:, : 12 - k]
    graded = graded.astype(np.float32)
    factors = np.asarray(glla.cholesky_banded(place(graded), lower=lower)).astype(float)
    for i in range(5):
        expected = scipy.linalg.cholesky_banded(graded[i].astype(float), lower=lower)
        assert np.abs((factors[i] - expected) / np.where(expected == 0, 1, expected)).max() < 1e-3
    x = np.asarray(glla.solveh_banded(place(graded), place((y * d[..., np.newaxis]).astype(np.float32)), lower=lower))
    assert np.abs(x * d[..., np.newaxis] - np.linalg.solve(a.astype(float), y)).max() < 1e-4


@every_place
def test_corners_are_never_read(place, rng):
    _, ab = bands(4, 9, 3, rng)
    b, expected = np.ones((9, 1), np.float32), glla.cholesky_banded(ab)
    x = glla.solveh_banded(ab, b)
    ab[:, 0, :3] = ab[:, 1, :2] = ab[:, 2, 0] = np.nan
    given = ab if place is np.asarray else glla.asarray(ab, check_finite=False)
    assert (np.asarray(glla.cholesky_banded(given, check_finite=False)) == expected).all()
    assert (np.asarray(glla.solveh_banded(given, b, check_finite=False)) == x).all()


def test_all_members_go_by_one_plan(device, rng):
    for name, shapes in (("cholesky_banded", [(500, 4, 40)]), ("solve_pos_banded", [(500, 4, 40), (500, 40, 1)])):
        forms = tuple(map(Form, shapes))
        plan = OPERATIONS[name].batch.plan(forms, PLAIN)
        plan.check()
        assert (
            plan.cost.passes
            == {"cholesky_banded": 3 * 3 - 1 + 2 + 2 + 2, "solve_pos_banded": 8 + 2 + 6 + 1 + 2 + 2}[name]
        )
        then, _ = plan.after
        then.plan().check()
    _, ab = bands(50, 40, 3, rng)
    with glla.trace() as trace:
        glla.cholesky_banded(ab, device=device)
    assert sum(bool(one.draw) for one in trace.passes) == 14


def test_pieces_fit_small_textures():
    for side in (8, 16, 64):
        for shape in ((4, 9), (20, 30)):
            forms = Form((9, *shape)), Form((9, shape[1], 2))
            for batch, given in (
                (OPERATIONS["cholesky_banded"].batch, forms[:1]),
                (OPERATIONS["solve_pos_banded"].batch, forms),
            ):
                count = batch.most(given, limits := Limits(texture_size=side))
                assert count or side < 32
                if count:
                    batch.plan(tuple(Form((count, *one.matrix)) for one in given), limits).check(limits)


def test_many_members_and_none(rng):
    _, ab = bands(1, 6, 2, rng)
    many = np.repeat(ab, 3000, axis=0)
    expected = glla.cholesky_banded(ab[0], variant="block16")
    assert np.abs(glla.cholesky_banded(many) - expected).max() < 1e-6
    for shape in ((0, 3, 6), (2, 0, 3, 6), (2, 3, 0)):
        assert glla.cholesky_banded(np.empty(shape)).shape == shape
        b = np.empty((*shape[:-2], shape[-1], 1))
        assert glla.solveh_banded(np.empty(shape), b).shape == b.shape
    assert kernel.most_together((Form((3, 6)),), PLAIN) == 0


def test_a_result_that_does_not_fit():
    ab = np.float32([[[1e-38]], [[1]]])
    with pytest.raises(NonFiniteError):
        glla.linalg.definite_band.solve_definite_band("solveh_banded", ab, np.float32([[[1e38]], [[1]]]))


@pytest.mark.parametrize("shapes", [[(9, 4, 40)], [(4, 40)]])
def test_what_is_shown_is_what_runs(shapes, device, rng):
    _, ab = bands(9, 40, 3, rng)
    ab = ab if len(shapes[0]) > 2 else ab[0]
    for name, operands, call in (
        ("cholesky_banded", shapes, lambda: glla.cholesky_banded(ab, device=device)),
        ("cho_solve_banded", [*shapes, (*ab.shape[:-2], 40, 1)], lambda: glla.cho_solve_banded(
            (ab, False), np.ones((*ab.shape[:-2], 40, 1), np.float32), device=device)),
    ):  # fmt: skip
        shown = glla.plan(name, *operands, device=device)
        with glla.trace() as trace:
            call()
        assert [one.draw.shader for one in trace.passes if one.draw] == [
            step.shader for step in shown.flat.steps if hasattr(step, "shader")
        ]
