"""A new operation appears everywhere by its record and its judge: nothing of the lab or of the command names it."""

import json
from dataclasses import replace

import pytest

from benchmarks import cases
from benchmarks.operations import Run
from glla import Device
from glla.cli import main
from glla.gl import tuning as files
from glla.lab.bench import EFFORTS
from glla.lab.roofline import Roof
from glla.operations import OPERATIONS
from glla.operations.triangles.triangular import TRIANGULAR
from glla.testing import JUDGES

pytest.importorskip("rich")


@pytest.fixture
def toy(monkeypatch):
    """An operation that is new, but for its shaders."""

    def choose(forms, limits):
        tuned = limits.tuning("toy", *forms[1].matrix)
        return (tuned.variant, tuned.parameters) if tuned else ("rank2", ())

    variants = {name: replace(TRIANGULAR.variants[name], summary=f"toy {name}") for name in ("rank2", "blocked")}
    record = replace(
        TRIANGULAR,
        name="toy",
        variants=variants,
        choose=choose,
        function=replace(TRIANGULAR.function, host="numpy.linalg:solve"),
    )
    monkeypatch.setitem(OPERATIONS, "toy", record)
    monkeypatch.setitem(JUDGES, "toy", JUDGES["triangular"])


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_without_a_judge_it_is_not_measured(toy, quick, capsys, monkeypatch, tmp_path, command):
    monkeypatch.setenv("GLLA_TUNING", str(tmp_path))
    monkeypatch.delitem(JUDGES, "toy")
    assert main([command, "toy", "--size", "5"]) == 2
    assert "glla: judge: toy has none, so no result can be verified; add one to glla.te" in capsys.readouterr().err


def test_it_stands_beside_its_counterpart(toy, quick, tmp_path):
    path = tmp_path / "toy.json"
    assert main(["compare", "toy", "--size", "5", "--repeats", "1", "--out", str(path)]) == 0
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    assert [record["variant"] for record in records] == ["rank2", "blocked"]
    assert all(record["usual"] == "numpy.linalg.solve" and record["status"] == "ok" for record in records)


def test_it_is_tuned_and_benchmarked(toy, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GLLA_TUNING", str(tmp_path))
    assert main(["tune", "toy", "--size", "5"]) == 0
    assert "toy" in files.operations() and "toy" in capsys.readouterr().out
    monkeypatch.setattr(cases, "ASKED", {})
    found = cases.subjects()
    assert "toy" in found or TRIANGULAR.device_plan in {subject.about.device_plan for subject in found.values()}
    monkeypatch.setitem(cases.OPERATIONS, "toy", cases.Subject("toy"))
    chosen = list(cases.select(["toy"], [6], software=True))
    assert [case.variant for case in chosen] == ["rank2", "blocked"]
    run = Run(Device, EFFORTS[True, True], Roof(10.0, 10.0, 10.0), tolerant=True)
    assert all(record.ok for record in run.measure_all(chosen))
    assert [figure.usual.way.label for figure in run.beside.figures.values()] == ["numpy.linalg.solve"]
