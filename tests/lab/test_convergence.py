"""`glla study convergence`: every solver, its true residuals, a table and a picture."""

import json

import pytest

from glla.cli import main
from glla.errors import OptionError
from glla.lab import convergence


def test_every_solver_reaches_what_is_asked_for(device):
    named = []
    found = convergence.histories(device, 5, 1e-5, progress=named.append)
    assert [one["name"] for one in found] == named
    assert len(found) == 7
    for one in found:
        assert one["info"] == 0
        assert one["residuals"][-1] <= 1.001e-5 and one["residuals"][-1] <= one["residuals"][0]
    text = convergence.table(found, 5, 1e-5)
    assert all(one["name"] in text for one in found)


def test_times_beside_scipys(capsys, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.setattr(convergence, "ROUNDS", 1)
    assert main(["study", "convergence", "--size", "4", "--times", "--rtol", "1e-5", "--json"]) == 0
    report = {one["name"]: one for one in json.loads(capsys.readouterr().out)["solvers"]}
    assert len(report) == 9 and {"SciPy cg", "SciPy bicgstab"} <= set(report)
    for one in report.values():
        assert len(one["seconds"]) == convergence.ROUNDS and all(second > 0 for second in one["seconds"])
        assert one["info"] == 0
        assert one["residuals"][-1] <= 1.1e-5 or one["name"] == "SciPy bicgstab"  # ends in the midst of an iteration
    assert abs(len(report["SciPy cg"]["residuals"]) - len(report["cg, merged"]["residuals"])) <= 1
    found = [{"name": "a", "products": 2, "residuals": [0.5, 0.1], "info": 0, "seconds": [0.002, 0.004, 0.003]}]
    assert convergence.table(found, 5, 1e-5).splitlines()[-1].split()[-2:] == ["3", "1.5"]


def test_a_picture_of_another_kind(device, tmp_path):
    with pytest.raises(OptionError):
        convergence.save([], tmp_path / "a.txt", 4, 1e-5)
