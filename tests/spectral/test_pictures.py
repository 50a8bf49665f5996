"""`glla study convergence` of Jacobi's method and of divide and conquer: what is drawn, and that it is right."""

import json

import numpy as np

from glla.cli import main
from glla.lab.spectral import levels, rotations


def test_jacobi_step_by_step(tmp_path, capsys):
    files = [tmp_path / "a.png", tmp_path / "a.gif"]
    paths = [word for path in files for word in ("--out", str(path))]
    assert main(["study", "convergence", "--operation", "eigh", "--size", "3", "--json", *paths]) == 0
    found = json.loads(capsys.readouterr().out)["histories"]
    assert [(one["matrix"], one["rule"]) for one in found[:2]] == [("normal", "left alone"), ("normal", "turned")]
    for one in found:
        assert one["stopped"] and len(one["masses"]) == 3 * one["sweeps"] + 1 and one["masses"][-1] < 1e-5
    assert all(path.stat().st_size > 1000 for path in files)
    assert "left alone" in rotations.table(found, 4)


def test_the_secular_function_level_by_level(tmp_path, capsys, device):
    path = tmp_path / "a.png"
    assert main(["study", "convergence", "--operation", "secular", "--size", "12", "--out", str(path)]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:6]] == ["2", "4", "8", "12"]
    found = levels.levels(device, 12, 0)
    assert all(map(levels.interlace, found)) and path.stat().st_size > 1000
    found[2]["roots"] = np.roll(found[2]["roots"], 1)
    assert not levels.interlace(found[2])
