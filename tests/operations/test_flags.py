"""Which matrices of a stack on the device the host must look at: all that it rejects, and few others."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.errors import GllaError
from glla.linalg import device_stacks
from glla.linalg.caller import Caller
from glla.operations import OPERATIONS, acceptance
from glla.operations.acceptance import allowed_growth
from glla.operations.batches import linear_batches, stack
from glla.operations.triangles import solve_triangular
from glla.passes.cache import PLANS
from tests.beside import spied

COUNT = 300


def suspicious(n, rng):
    """Matrices of every kind that is looked at, and sound ones."""
    a = rng.standard_normal((COUNT, n, n))
    kinds = np.arange(COUNT) % 12
    for place in np.flatnonzero(kinds == 1):
        a[place, 0] = a[place, -1] * (1 + (n == 1))  # dependent rows
    a[kinds == 2] *= 2.0 ** rng.integers(35, 45, ((kinds == 2).sum(), 1, 1))
    a[kinds == 3] *= 2.0 ** -rng.integers(35, 45, ((kinds == 3).sum(), 1, 1))
    a[kinds == 4, 0, 0] = 0
    a[kinds == 5] = 0
    a[kinds == 6, 0, -1] = np.inf
    a[kinds == 7, -1, 0] = np.nan
    for place in np.flatnonzero(kinds == 8):  # near singular: pivots and inverses at the limits
        u, s, v = np.linalg.svd(a[place])
        s[-1] = s[0] * 2.0 ** -rng.uniform(4, 22)
        a[place] = (u * s) @ v
    a[kinds == 9, 0, 0] = 2.0 ** -rng.integers(36, 44, (kinds == 9).sum())
    a[kinds == 10] = a[kinds == 10] @ a[kinds == 10].swapaxes(1, 2) + np.eye(n)  # definite
    a[kinds == 11, 0, 0] = -1  # not definite
    return a.astype(np.float32)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name, options",
    [
        *((name, {"equilibrate": equilibrate}) for name in ("solve", "inv") for equilibrate in (True, False)),
        *((name, {}) for name in ("rcond", "det", "cholesky", "inv_pos", "solve_pos", "cho_solve")),
    ],
)
@pytest.mark.parametrize("n", [1, 3, 4, 7, 24])
def test_what_the_host_rejects_the_device_flags(name, options, n, device, rng, monkeypatch):
    operation = OPERATIONS[name]
    a, b = suspicious(n, rng), rng.standard_normal((COUNT, n, 2)).astype(np.float32)
    b[::7] *= np.float32(2.0**50)
    b[3::7, :, 1] = 0
    b[4::7, 0, 0] = np.inf
    stacks = tuple(glla.asarray(one, device, check_finite=False).value for one in (a, b)[: len(operation.operands)])
    monkeypatch.setattr(linear_batches, "READ_WHOLE", 0)
    most = operation.batch.most
    anew = replace(operation.batch, most=lambda *given: most(*given))  # whose plan is none that was made before
    call = Caller(name, name, device, False, ("A", "b"), options=options)
    monkeypatch.setitem(OPERATIONS, name, replace(operation, batch=anew))
    judged = call.solved(stacks, COUNT, False)
    every = replace(operation.batch, filter=replace(anew.filter, kind=""), layout=replace(anew.layout, kept=()))
    monkeypatch.setitem(OPERATIONS, name, replace(operation, batch=every))
    found = call.solved(stacks, COUNT, False)
    assert (found.places == np.arange(COUNT)).all()
    rejected = set(found.rejected(**options))
    assert rejected <= set(judged.places)
    if name == "cho_solve":  # a given factor may have a negative diagonal, which the device reports
        rejected |= set(np.flatnonzero(~(found.diagnostics[:, 0] > 0).all(axis=1)))
    assert len(judged.places) - len(rejected) < COUNT / 3  # who holds infinity, or is at a limit
    assert 0 < len(judged.places) < COUNT
    np.testing.assert_array_equal(judged.diagnostics, found.diagnostics[judged.places])
    for mine, all_ in zip(judged.extremes, found.extremes, strict=True):
        np.testing.assert_array_equal(mine, all_[judged.places])
    if "norms" in found.read:
        every = slice(None) if name == "rcond" else judged.places
        np.testing.assert_array_equal(judged.read["norms"], found.read["norms"][every])


@pytest.mark.parametrize("name", ["solve", "inv", "cholesky", "cho_solve"])
def test_pieces_know_whom_they_looked_at(name, device, monkeypatch):
    """A stack that goes in pieces: places are those in all of it."""
    a = np.stack([np.eye(3, dtype=np.float32)] * 23)
    a[[0, 9, 10, 22]] *= np.float32(2.0**-90)
    operation = OPERATIONS[name]
    stacks = tuple(glla.asarray(one, device).value for one in (a, a)[: len(operation.operands)])
    monkeypatch.setattr(linear_batches, "READ_WHOLE", 0)
    found = Caller(name, name, device, True, ("A", "b")).solved(stacks, 5, True)
    assert found.places.tolist() == [0, 9, 10, 22]
    assert found.count == 23 and found.matrices.shape == (23, 3, 3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("equilibrate", [True, False])
@pytest.mark.parametrize("order", [1, 3, 200])
def test_each_limit_by_itself(order, equilibrate, device, rng):
    """Diagnostics that fail one limit alone, a little or by far, and diagnostics that fail none."""
    batch, count = OPERATIONS["solve"].batch, 240
    u = rng.uniform(0.5, 1, (count, order)) * rng.choice([-1, 1], (count, order))
    largest, squares = np.ones((count, order)), rng.uniform(0, 1e-3, (count, order))
    most_a = rng.uniform(1, 2, count)
    ends = {"L_A": most_a / 4, "M_A": most_a, "L_B": np.ones(count), "M_B": np.full(count, 2.0)}
    beyond = np.linspace(0.9, 1.3, count)
    kinds, last = np.arange(count) % 6, rng.integers(0, order, count)
    for place in range(count):
        j, by = last[place], beyond[place]
        if kinds[place] == 1:  # growth
            largest[place, j] = by * allowed_growth(order) * (1 if equilibrate else most_a[place])
            u[place, j] = largest[place, j]
        elif kinds[place] == 2:  # a small pivot
            u[place, j] = 2.0**-10 / by
        elif kinds[place] == 3:  # a large inverse
            squares[place] = (by * 2.0**18) ** 2 * 2 / order**2
        elif kinds[place] == 4:  # the range
            name = rng.choice(list(ends))
            ends[name][place] = 2.0**40 * by if name[0] == "M" else 2.0**-40 / by
        elif kinds[place] == 5:  # no number
            one = (u, squares)[place % 2] if place % 4 else largest
            one[place, j] = rng.choice([np.nan, np.inf])
    diagnostics = np.stack([u, largest, squares], axis=1).astype(np.float32)
    ends = {name: one.astype(np.float32) for name, one in ends.items()}
    stand_ins = tuple(np.stack([ends[f"L_{x}"], ends[f"M_{x}"]], axis=1)[:, np.newaxis] for x in "AB")
    expected = np.isin(np.arange(count), batch.filter.rejected(stand_ins, np.zeros(0), diagnostics, equilibrate))
    plan = linear_batches.flags("system", False, diagnostics.shape, True, equilibrate, device.limits.texture_size)
    given = {name: glla.asarray(one, device, check_finite=False) for name, one in {"F": diagnostics, **ends}.items()}
    made = device.run(plan, **{name: one.value.texture for name, one in given.items()})["flags"]
    found = device.read(made).reshape(-1)[:count] != 0
    assert found[expected].all() and expected[kinds > 0].any() and not expected[kinds == 0].any()
    assert (found & ~expected).sum() < count / 20  # a little within a limit
    for kind in range(1, 6):
        assert expected[kinds == kind].any()


SIZES = np.float32([0, 2.0**-127, 2.0**-126, 2.0**-61, 2.0**-60, 2.0**-41, 2.0**-40, 1, 1.5, 2.0**40, 2.0**41, np.inf])
"""Magnitudes beside each limit."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("unit_diagonal", [False, True])
def test_each_limit_of_triangles_by_itself(unit_diagonal, device, rng):
    """Diagnostics that are sound but for one or two."""
    count, columns = 2000, 2
    diagnostics = {name: np.ones((count, 1), np.float32) for name in ("whole", "least", "row", "diagonal")}
    diagnostics |= {name: np.ones((count, columns), np.float32) for name in ("columns_B", "columns_X")}
    spoil(diagnostics, rng)
    row, diagonal = diagnostics["row"][:, 0], diagnostics["diagonal"][:, 0]
    if unit_diagonal:
        row, diagonal = np.ones(count), np.full(count, np.inf)
    sizes = (row, diagnostics["whole"][:, 0], diagnostics["least"][:, 0], diagonal)
    expected = solve_triangular.lost_by(*sizes, diagnostics["columns_B"], diagnostics["columns_X"]) | (diagonal == 0)
    expected |= ~np.isfinite(np.hstack([diagnostics[name] for name in ("whole", "columns_B", "columns_X")])).all(axis=1)
    plan = linear_batches.flags_of_triangles(count, columns, False, unit_diagonal, device.limits.texture_size)
    np.testing.assert_array_equal(judged_by(plan, diagnostics, device), expected)
    assert 0.1 < expected.mean() < 0.9


def test_each_limit_of_given_factors_by_itself(device, rng):
    count = 2000
    names = ("whole", "least", "most", "diagonal", "least_B", "most_B", "most_X")
    diagnostics = {name: np.ones((count, 1), np.float32) for name in names}
    spoil(diagnostics, rng)
    far = ~acceptance.each_near_one(np.hstack([diagnostics[name] for name in names if name not in ("whole", "most_X")]))
    far |= diagnostics["diagonal"][:, 0] == 0
    far |= ~np.isfinite(np.hstack([diagnostics[name] for name in ("whole", "most_B", "most_X")])).all(axis=1)
    plan = linear_batches.flags_of_triangles(count, 2, True, False, device.limits.texture_size)
    np.testing.assert_array_equal(judged_by(plan, diagnostics, device), far)
    assert 0.1 < far.mean() < 0.9


def spoil(diagnostics, rng):
    for one in diagnostics.values():
        places = rng.random(one.shape) < 1 / len(diagnostics)
        one[places] = rng.choice(np.append(SIZES, np.float32(np.nan)), places.sum())


def judged_by(plan, diagnostics, device):
    given = {name: glla.asarray(diagnostics[name].reshape(-1), device, check_finite=False) for name in plan.operands}
    made = device.run(plan, **{name: one.value.texture for name, one in given.items()})["flags"]
    return device.read(made).reshape(-1)[: len(diagnostics["whole"])] != 0


def triangles_of_every_kind(n, rng):
    """Triangles that need the fallback for one reason or other, and right-hand sides likewise."""
    t = rng.uniform(0.5, 1, (COUNT, n, n)) + 2 * np.eye(n)
    b, kinds, by = rng.standard_normal((COUNT, n, 2)), np.arange(COUNT) % 13, np.arange(COUNT) // 13 % 4
    for kind, place in zip(kinds, range(COUNT), strict=True):
        near = 2.0 ** (by[place] - 2)  # around a limit
        if kind == 1:
            t[place, -1] *= 2.0**-60 * near
        elif kind == 2:
            t[place, 0, 0] = 2.0**-126 * near
        elif kind == 3:
            t[place, 0, 0] = 0
        elif kind == 4:
            t[place, -1, 0] = 2.0**-126 * near
            b[place] *= 16
        elif kind == 5:
            b[place, :, 1] *= 2.0**-60 * near
        elif kind == 6:
            b[place, :, 0] = 0
        elif kind == 7:
            t[place] *= 2.0**100
            b[place] *= 2.0**30
        elif kind == 8:
            t[place], b[place] = t[place] * 2.0**-50, b[place] * 2.0**90
        elif kind == 9:
            t[place] *= 2.0 ** (40 * (-1) ** by[place]) * near
        elif kind == 10:
            b[place] *= 2.0 ** (40 * (-1) ** by[place]) * near
        elif kind == 11:
            (t, b)[by[place] % 2][place, 0, 0] = (np.nan, np.inf)[by[place] // 2]
        elif kind == 12:
            t[place, 0, 0] = 2.0**-40 * near
    return t.astype(np.float32), b.astype(np.float32)


def factors(**options):
    return lambda T, B: glla.lu_solve((T, np.broadcast_to(np.arange(T.shape[-1]), T.shape[:-1])), B, **options)


BY_TRIANGLES = {
    **{
        f"solve_triangular {given}": lambda *pair, given=given, **options: glla.solve_triangular(
            *pair, **given, **options
        )
        for given in ({}, {"lower": True, "unit_diagonal": True, "trans": 1})
    },
    "inv": lambda T, B, **options: glla.inv(T, assume_a="upper triangular", **options),
    "lu_solve": lambda T, B, **options: factors(**options)(T, B),
    "lu_solve transposed": lambda T, B, **options: factors(trans=1, **options)(T, B),
}  # fmt: skip


def forget_plans():
    """Every builder's: those that call a builder keep what it made, too."""
    for entries in PLANS.builders:
        PLANS.forget(entries)


def result_or_error(call, *operands, **options):
    try:
        return call(*operands, **options).numpy(check_finite=False)
    except GllaError as error:
        return np.array(f"{type(error).__name__}: {error}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BY_TRIANGLES)
def test_triangles_that_the_host_rejects_the_device_flags(name, device, rng, monkeypatch):
    """What is solved, done again and refused is the same, whoever finds the rejected matrices."""
    t, b = triangles_of_every_kind(3, rng)
    kinds, made = np.arange(COUNT) % 13, []
    for bytes_ in (2**30, 0):
        forget_plans()
        monkeypatch.setattr(linear_batches, "READ_WHOLE", bytes_)
        made.append([])
        for some in (kinds != 3, *(kinds == kind for kind in (3, 7, 8, 11))):
            T, B = (glla.asarray(one[some], device, check_finite=False) for one in (t, b))
            made[-1].append(result_or_error(BY_TRIANGLES[name], T, B, check_finite=len(T) < COUNT / 2))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(one.dtype.kind == "U" for one in made[0]) and made[0][0].dtype == np.float32  # some are refused


@pytest.mark.parametrize("name", ["solve_triangular {}", "inv", "lu_solve"])
def test_few_triangles_are_looked_at(name, device, rng, monkeypatch):
    t, b = triangles_of_every_kind(3, rng)
    calm = np.arange(COUNT) % 13 == 0
    t, b = t[calm], b[calm]
    t[[4, 17]] *= np.float32(2.0**-64)
    monkeypatch.setattr(linear_batches, "READ_WHOLE", 0)
    forget_plans()
    seen = spied(monkeypatch, device_stacks, "gathered", lambda *given: given[1].tolist())
    T, B = glla.asarray(t, device), glla.asarray(b, device)
    expected = BY_TRIANGLES[name](t, b)
    np.testing.assert_array_equal(BY_TRIANGLES[name](T, B).numpy(), expected)
    assert seen.pop() == [4, 17]
    monkeypatch.setattr(stack, "capacity", lambda *_: 10)  # in pieces
    np.testing.assert_array_equal(BY_TRIANGLES[name](T, B).numpy(), expected)
    assert seen == [[4], [], [1]]  # 8 matrices each
