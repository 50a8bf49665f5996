"""`python -m benchmarks cliffs` finds sizes that are slow beside their neighbours; costs of plans have no cliffs."""

import json
from functools import partial
from itertools import pairwise, product

import pytest

import glla
from benchmarks import cliffs
from benchmarks.cliffs import SUBJECTS, neighbours
from benchmarks.study import perform, slug
from glla.operations import OPERATIONS
from glla.operations.elimination import plu
from glla.operations.triangles import triangular
from glla.passes import Call, Limits, resident


def sample(shape, rate, operation="matmul"):
    return {"operation": operation, "shape": shape, "flops": 1000, "seconds": 1000 / rate}


# ---- what is a cliff -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "are"),
    [
        ((100, 100), (115, 100), True),
        ((100, 100), (116, 100), False),
        ((115, 100), (100, 115), True),
        ((100, 7), (100, 8), True),
        ((100, 6), (100, 7), False),
    ],
)
def test_neighbours(a, b, are):
    assert neighbours(a, b) is neighbours(b, a) is are


def test_cliffs():
    even, slow, fast, far = sample((100,), 10), sample((101,), 4), sample((110,), 11), sample((130,), 100)
    assert cliffs.cliffs([even, slow, fast, far]) == [(slow, fast)]
    assert cliffs.cliffs([even, sample((101,), 5), sample((102,), 10)]) == []  # half as fast is no cliff
    assert cliffs.cliffs([even, sample((100,), 1, "plu")]) == []


# ---- which shapes ----------------------------------------------------------------------------


@pytest.mark.parametrize("operation", SUBJECTS)
def test_every_square_size_has_a_neighbour(operation):
    """From 7 on: there is none within 15 % below. And both sides of every threshold are tried."""
    thresholds = cliffs.THRESHOLDS.get(operation, ())
    found = cliffs.squares(thresholds, 4096)
    assert all(neighbours((a,), (b,)) for a, b in pairwise(found) if a >= 7)
    assert {n + d for n in (*thresholds, 64, 96, 2048) for d in (-1, 0, 1)} <= set(found)
    assert {1, 4096} <= set(found)


@pytest.mark.parametrize("operation", SUBJECTS)
def test_flops_are_positive(operation):
    assert all(SUBJECTS[operation].flops(shape) > 0 for shape in cliffs.shapes(operation, 40))


# ---- the search ------------------------------------------------------------------------------


class Clock:
    """Takes the place of `cliffs.seconds`: as many seconds as flops, but for some shapes, the first times or always."""

    def __init__(self, late, times=1 << 30):
        self.late, self.times, self.shape, self.asked, self.others = late, times, None, [], []

    def install(self, monkeypatch):
        def prepared(device, operation, shape):
            self.shape = shape
            return partial(str, operation)

        monkeypatch.setattr(cliffs, "prepared", prepared)
        monkeypatch.setattr(cliffs, "seconds", lambda device, work, effort: self.seconds(work()))

    def seconds(self, operation):
        asked = self.asked if operation == "solve" else self.others
        asked.append(self.shape)
        factor = 3 if self.shape == self.late and asked.count(self.shape) <= self.times else 1
        return factor * SUBJECTS[operation].flops(self.shape)


def found(tmp_path, *arguments, operation="solve"):
    status = perform(cliffs.STUDY, ["--quick", "--operation", operation, "--output", str(tmp_path), *arguments])
    (path,) = tmp_path.rglob("*.json")
    assert path.parent.parent.name == slug(glla.default_device().info.renderer)
    assert path.parent.name == "cliffs"
    return status, json.loads(path.read_text(encoding="utf-8"))


def test_a_cliff_is_reported(tmp_path, capsys, monkeypatch):
    clock = Clock((22, 1))
    clock.install(monkeypatch)
    status, outcome = found(tmp_path, "--size", "20,22,30")
    assert status == 1
    (one,) = outcome["cliffs"]
    assert one["ratio"] == pytest.approx(1 / 3)
    assert (one["slow"]["shape"], one["neighbour"]["shape"]) == ([22, 1], [20, 1])
    assert clock.asked.count((22, 1)) == clock.asked.count((20, 1)) == 1 + cliffs.ROUNDS
    assert clock.asked.count((30, 1)) == 1
    assert clock.asked[:3] == [(20, 1), (22, 1), (30, 1)]  # again when all others are done
    assert [s["shape"] for s in outcome["samples"]] == [[20, 1], [22, 1], [30, 1]]
    head, row, last, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["operation", "shape", "GFLOP/s", "plans", "neighbour", "GFLOP/s", "plans", "ratio"]
    assert row.startswith("solve")
    assert row.endswith("0.33")
    assert last == "1 cliffs in 3 shapes"


def test_noise_is_no_cliff(tmp_path, capsys, monkeypatch):
    Clock((22, 1), times=2).install(monkeypatch)
    status, outcome = found(tmp_path, "--size", "20,22,30")
    assert (status, outcome["cliffs"]) == (0, [])
    assert "no cliffs" in capsys.readouterr().out


@pytest.mark.parametrize("operation", SUBJECTS)
def test_what_is_measured_is_what_users_call(device, operation):
    """Times are anybody's guess, but the plans and their passes are not. Systems up to 64 take the plan of a batch."""
    measured = cliffs.measured(
        device, operation, SUBJECTS[operation].square(66 if operation == "solve" else 6), (1, 0.0)
    )
    assert measured["seconds"] > 0
    factors = "rank2" if device.limits.software else "blocked"
    wanted = {
        "matmul": "matmul[inner_product]",
        "plu": "plu[rank2, partial]",
        "solve": f"plu[{factors}, partial], triangular[blocked, lower], triangular[blocked, upper]",
        "rref": "matmul[inner_product], rref[rank2, harmonic]",
        "cholesky": "cholesky[rank2]",
        "inv_pos": "cholesky[rank2], triangular_inverse[blocked, upper], syrk[symmetric]",
        "solve_pos": "cholesky[rank2], triangular[blocked, lower], triangular[blocked, upper]",
        "solve_triangular": "triangular[blocked, upper]",
        "triangular_inverse": "triangular_inverse[blocked, lower]",
        "syrk": "syrk[inner_product]",
        "qr": "qr/reflectors, qr/upper, qr/pairs, qr/applied",
        "lstsq": "qr/reflectors",
        "cholesky_banded": f"cholesky_banded[{'block16' if device.limits.software else 'sixteen'}]",
        "solve_pos_banded": "tridiagonal[redundant]",
        "stacks": "stack[inverse, pivoted_small]",
        "window_squares": "window_squares[separable]",
    }
    assert measured["plans"] == wanted[operation] if operation in cliffs.OWN else operation not in wanted
    assert measured["passes"] > 0


def test_every_public_operation_is_searched():
    """By its record: nothing here names a new one."""
    searched = SUBJECTS.keys() | {subject.operation for subject in SUBJECTS.values()}
    assert {name for name, record in OPERATIONS.items() if record.function.public} <= searched


# ---- what needs no clock ----------------------------------------------------------------------


BLOCKED = [1001, 1023, 1024, 1025, 1088, 1100, 1536, 1537]
"""Orders from which a GPU takes the variants with many passes, and where they begin another block or panel."""


ONE_BLOCK = {"solve_triangular": 96, "triangular_inverse": 96}
"""Orders up to which a triangle is one block, or a block and a bit: one pass becomes three, and a call costs more."""


def plans(operation, shape, limits):
    """Give the variants that `choose` picks, and the plans that do the arithmetic."""
    forms = resident(*SUBJECTS[operation].operands(shape))
    if operation != "solve":
        record, stacked = OPERATIONS[SUBJECTS[operation].operation], len(forms[0].shape) > 2
        name, _ = record.choose(forms, limits)
        own = partial(record.device_plan, variant=name or None)
        made = (record.batch.records_plan if stacked else own)(forms, limits)
        parts = [step.plan.operation for step in made.steps if isinstance(step, Call)]
        return tuple(parts or [made.operation]), [made]
    (name, _), (substitution, _) = plu.choose(forms[:1], limits), triangular.choose(forms, limits)
    made = [plu.plan(forms[:1], limits, variant=name)]
    made += [triangular.plan(forms, limits, variant=substitution, upper=upper) for upper in (False, True)]
    return (name, substitution), made


def costs(operation, tried, limits):
    """Give (shape, variants, passes for a flop, bytes written for a flop) of each shape."""
    for shape in tried:
        variants, made = plans(operation, shape, limits)
        flops = SUBJECTS[operation].flops(shape)
        total = [plan.cost for plan in made]
        yield shape, variants, sum(c.passes for c in total) / flops, sum(c.nbytes for c in total) / flops


def uneven(found):
    """List the neighbours with the same variants of which one costs more than twice as much for a flop."""
    alike = [(a, b) for a, b in product(found, found) if a[1] == b[1] and neighbours(a[0], b[0])]
    return [(a, b) for a, b in alike if a[2] > 2 * b[2] or a[3] > 2 * b[3]]


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("operation", cliffs.OWN)
def test_neighbours_with_one_variant_cost_alike(operation, software):
    """Passes and bytes written for a flop are within a factor of two, whatever a pass and a byte cost.

    That is necessary, and not enough: where neighbours have different variants, only the clock can tell what a pass of
    one takes beside one of the other, and nor is counted here what a fragment does.
    """
    orders = [n for n in cliffs.squares(cliffs.THRESHOLDS[operation], 400) if n % 4 < 2] + ([] if software else BLOCKED)
    orders = [n for n in orders if n > ONE_BLOCK.get(operation, 0)]
    tried = [*map(SUBJECTS[operation].square, orders), *SUBJECTS[operation].others(400)]
    found = list(costs(operation, tried, Limits(software=software)))
    one_for_all = operation == "window_squares" or (software and operation != "matmul")
    assert len({variants for _, variants, _, _ in found}) > 1 - one_for_all
    assert uneven(found) == []


def test_uneven_costs_are_seen():
    few, many, bytes_ = ((100,), "v", 1.0, 1.0), ((110,), "v", 2.5, 1.0), ((90,), "v", 1.0, 2.5)
    assert uneven([few, many]) == [(many, few)]
    assert uneven([few, bytes_]) == [(bytes_, few)]
    assert uneven([few, ((110,), "other", 2.5, 1.0), ((200,), "v", 9.0, 9.0), ((105,), "v", 2.0, 0.5)]) == []
