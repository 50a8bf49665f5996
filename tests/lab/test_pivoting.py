"""`glla pivoting` and complete pivoting: the norms differ where they should, and what is wrong is refused."""

import json
import math

import numpy as np
import pytest

import glla
from glla import testing
from glla.cli import main
from glla.errors import NonFiniteError, ShapeError
from glla.lab import pivoting
from glla.lab.pivoting import STRATEGIES, pivoting_study, pluq
from glla.operations.elimination import plu
from glla.passes import resident

pytest.importorskip("matplotlib")
pytest.importorskip("rich")
pytest.importorskip("scipy")

SIZE = 24
MULTIPLIERS = 1 + 8 * testing.ROUNDOFF


@pytest.fixture(scope="module")
def records():
    return pivoting_study(pivoting.matrices(SIZE))


def find(records, matrix, operation, strategy):
    (record,) = (r for r in records if (r.matrix, r.operation, r.pivoting) == (matrix, operation, strategy))
    return record


# -- complete pivoting ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), testing.SHAPES)
def test_pluq_of_every_shape(m, n, rng):
    for kind in ("normal", "singular", "permutation"):
        a = testing.MATRICES[kind](m, n, rng)
        P, L, U, Q = pluq(a)
        assert [part.shape for part in (P, L, U, Q)] == [(m, m), (m, min(m, n)), (min(m, n), n), (n, n)]
        testing.assert_exact(Q @ Q.T, np.eye(n))
        testing.assert_plu(a @ Q.T, P, L, U, multiplier_limit=MULTIPLIERS)
        assert (np.abs(U) <= np.abs(np.diagonal(U))[:, None]).all()


def test_pluq_of_a_matrix_of_a_device(rng):
    a = testing.normal(5, 7, rng)
    A = glla.asarray(a)
    for part, expected in zip(pluq(A), pluq(a), strict=True):
        testing.assert_exact(part, expected)
    testing.assert_exact(A.numpy(), a)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pluq([1, 2, 3]), ShapeError, r"^pluq: A must be two-dimensional, got shape \(3,\); reshape it$"),
        (lambda: pluq([[np.nan]]), NonFiniteError, r"^pluq: A must not hold NaN or infinity, got nan at \(0, 0\)"),
        (
            lambda: pivoting_study({"a": np.zeros((0, 3))}), ShapeError,
            r"^pivoting_study: a must be two-dimensional and not empty, got shape \(0, 3\)$",
        ),
    ],
)  # fmt: skip
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


# -- the study --------------------------------------------------------------------------------------------------------


def test_every_matrix_by_every_strategy(records):
    expected = [
        (name, operation, strategy)
        for name in pivoting.matrices(SIZE)
        for operation, strategies in STRATEGIES.items()
        for strategy in strategies
    ]
    assert [(r.matrix, r.operation, r.pivoting) for r in records] == expected
    assert all((r.rows, r.columns) == (SIZE, SIZE) for r in records)


def test_what_is_wrong_is_refused_and_what_is_returned_is_within_its_bound(records):
    """The check on the device lets nothing through that its bound would not; block norms alone are refused."""
    assert pivoting.sound(records)
    for operation in STRATEGIES:
        assert max(r.returned for r in records if r.operation == operation) > 0
    assert all(r.refused for r in records if not r.error <= 1)
    assert any(r.refused and not r.error <= 1 for r in records)
    assert {r.pivoting for r in records if r.refused} == {"harmonic", "geometric"}
    for r in records:
        assert math.isnan(r.pivot) == (r.pivoting in ("partial", "complete"))
        assert math.isnan(r.growth) == (r.operation == "rref" and r.pivoting == "partial")


@pytest.mark.parametrize("operation", STRATEGIES)
@pytest.mark.parametrize("norm", ["harmonic", "geometric"])
def test_bad_pairs_are_refused_and_good_ones_are_not(records, operation, norm):
    for name, refused in (("rows e0 e2 e1 e3", True), ("near-singular blocks", True), ("spd", False)):
        assert find(records, name, operation, norm).refused == refused, name


def test_norms_on_uneven_pairs_and_wilkinsons_matrix(device, records):
    a = pivoting.uneven_pairs(SIZE, np.random.default_rng(1))
    first = {}
    for norm in ("harmonic", "geometric"):
        plan = plu.plan(resident(a.shape), variant="rank2", pivoting=norm)
        first[norm] = int(device.read(device.run(plan, A=device.upload(a))["pivots"])[0, 0, 0])
    assert first["geometric"] < SIZE // 2 <= first["harmonic"]
    assert find(records, "Wilkinson", "plu", "partial").growth == 2.0 ** (SIZE - 1)
    assert find(records, "Wilkinson", "plu", "complete").growth == 2
    assert find(records, "Wilkinson", "plu", "harmonic").refused
    for operation in STRATEGIES:
        passes = {r.pivoting: r.passes for r in records if r.operation == operation and r.matrix == "normal"}
        assert passes["harmonic"] == passes["geometric"] < passes["partial"]
    # Multipliers of about 256; with partial pivoting they are at most 1.
    block, partial = (find(records, "near-singular blocks", "plu", norm) for norm in ("harmonic", "partial"))
    assert block.growth > 1.5 * partial.growth
    assert block.error > 3 * partial.error


def test_growth_and_given_matrices(rng):
    a = testing.normal(9, 9, rng)
    record = find(pivoting_study({"a": a}), "a", "plu", "partial")
    assert record.growth == pytest.approx(np.abs(glla.plu(a).U).max() / np.abs(a).max(), rel=1e-6)
    given = {"tall": np.eye(5, 2), "wide": [[1, 2, 3]], "zeros": np.zeros((3, 3))}
    records = pivoting_study(given)
    assert [(r.matrix, r.rows, r.columns) for r in records[::7]] == [("tall", 5, 2), ("wide", 1, 3), ("zeros", 3, 3)]
    assert pivoting.sound(records)


def test_a_wrong_result_is_not_sound(monkeypatch):
    monkeypatch.setattr(testing.bounds, "residual_plu", lambda *factors: 31.0)
    assert not pivoting.sound(pivoting_study({"a": np.eye(4)}))


@pytest.mark.data
def test_real_matrices(data):
    found = pivoting.real_matrices(data)
    assert {name: a.shape for name, a in found.items()} == {
        "can_144": (144, 144), "gre_115": (115, 115), "mhdb416": (416, 416), "west0156": (156, 156),
    }  # fmt: skip
    records = pivoting_study({"gre_115": found["gre_115"]})
    assert pivoting.sound(records)


# -- the command ------------------------------------------------------------------------------------------------------


def test_command_in_json(tmp_path, capsys):
    made = tmp_path / "records.json"
    assert main(["study", "pivoting", "--size", "8", "--out", str(made)]) == 0
    output, errors = capsys.readouterr()
    assert errors == "" and glla.default_device().info.renderer in output
    records = json.loads(made.read_text(encoding="utf-8"))["records"]
    assert len(records) == 7 * len(pivoting.matrices(8))
    assert [records[0][name] for name in ("matrix", "operation", "pivoting")] == ["uniform", "plu", "harmonic"]
    assert records[0]["error"] <= 1


def test_command_with_real_matrices(tmp_path, capsys):
    (tmp_path / "three.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 3 4\n3 2 -1\n")
    (tmp_path / "vector.mtx").write_text("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
    (tmp_path / "README").write_text("not a matrix")
    assert main(["study", "pivoting", "--size", "8", "--data", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "three" in output and "3 x 3" in output and "vector" not in output
