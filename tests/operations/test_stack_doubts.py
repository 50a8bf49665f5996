"""Which members of a stack on the device the host must look at: all whom it would doubt, and few others."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.linalg import resident
from glla.operations import OPERATIONS, residents, stack_doubts
from glla.operations.elimination.pivot import allowed_growth

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
@pytest.mark.parametrize("name", ["solve", "inv", "rcond", "det", "cholesky", "inv_pos", "solve_pos", "cho_solve"])
@pytest.mark.parametrize("n", [1, 3, 4, 7, 24])
@pytest.mark.parametrize("equilibrate", [True, False])
def test_whom_the_host_doubts_the_device_doubts_too(name, n, equilibrate, device, rng, monkeypatch):
    operation = OPERATIONS[name]
    options = {"equilibrate": equilibrate} if name in ("solve", "inv") else {}
    if not equilibrate and not options:
        pytest.skip("has no such option")
    a, b = suspicious(n, rng), rng.standard_normal((COUNT, n, 2)).astype(np.float32)
    b[::7] *= np.float32(2.0**50)
    b[3::7, :, 1] = 0
    b[4::7, 0, 0] = np.inf
    stacks = tuple(glla.asarray(one, device, check_finite=False).value for one in (a, b)[: len(operation.operands)])
    monkeypatch.setattr(residents, "READ_WHOLE", 0)
    most = operation.batch.most
    anew = replace(operation.batch, most=lambda *given: most(*given))  # whose plan is none that was made before
    judged = resident.together(device, replace(operation, batch=anew), stacks, False, **options)
    everyone = replace(operation, batch=replace(operation.batch, judged="", kept=()))
    found = resident.together(device, everyone, stacks, False, **options)
    assert (found.places == np.arange(COUNT)).all()
    batch = operation.batch
    doubted = set(batch.doubtful(found.extremes, found.upper, found.figures, **options))
    doubted |= set(np.flatnonzero(~np.isfinite(found.norms).all(axis=1))) if name != "rcond" else set()
    if batch.judged in ("definite", "factors"):
        doubted |= set(np.flatnonzero(~(found.figures[:, 0] > 0).all(axis=1)))
    assert doubted <= set(judged.places)
    assert len(judged.places) - len(doubted) < COUNT / 3  # who holds infinity, or is at a limit
    assert 0 < len(judged.places) < COUNT
    np.testing.assert_array_equal(judged.figures, found.figures[judged.places])
    for mine, all_ in zip(judged.extremes, found.extremes, strict=True):
        np.testing.assert_array_equal(mine, all_[judged.places])
    expected = found.norms if name == "rcond" else found.norms[judged.places]
    np.testing.assert_array_equal(judged.norms, expected)


@pytest.mark.parametrize("name", ["solve", "inv", "cholesky", "cho_solve"])
def test_pieces_know_whom_they_looked_at(name, device, monkeypatch):
    """A stack that goes in pieces: places are those in all of it."""
    a = np.stack([np.eye(3, dtype=np.float32)] * 23)
    a[[0, 9, 10, 22]] *= np.float32(2.0**-90)
    operation = OPERATIONS[name]
    stacks = tuple(glla.asarray(one, device).value for one in (a, a)[: len(operation.operands)])
    monkeypatch.setattr(residents, "READ_WHOLE", 0)
    pieces = replace(operation, batch=replace(operation.batch, most=lambda forms, limits: 5))
    found = resident.together(device, pieces, stacks, True)
    assert found.places.tolist() == [0, 9, 10, 22]
    assert found.count == 23 and found.matrices.shape == (23, 3, 3)
    assert (found.figures_of(22) == found.figures[-1]).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("equilibrate", [True, False])
@pytest.mark.parametrize("order", [1, 3, 200])
def test_each_limit_by_itself(order, equilibrate, device, rng):
    """Figures that fail one limit alone, a little or by far, and figures that fail none."""
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
    figures = np.stack([u, largest, squares], axis=1).astype(np.float32)
    ends = {name: one.astype(np.float32) for name, one in ends.items()}
    stand_ins = tuple(np.stack([ends[f"L_{x}"], ends[f"M_{x}"]], axis=1)[:, np.newaxis] for x in "AB")
    expected = np.isin(np.arange(count), batch.doubtful(stand_ins, np.zeros(0), figures, equilibrate))
    plan = stack_doubts.plan("system", False, figures.shape, True, equilibrate, device.limits.texture_size)
    given = {name: glla.asarray(one, device, check_finite=False) for name, one in {"F": figures, **ends}.items()}
    made = device.run(plan, **{name: one.value.texture for name, one in given.items()})["doubts"]
    found = device.read(made).reshape(-1)[:count] != 0
    assert found[expected].all() and expected[kinds > 0].any() and not expected[kinds == 0].any()
    assert (found & ~expected).sum() < count / 20  # a little within a limit
    for kind in range(1, 6):
        assert expected[kinds == kind].any()
