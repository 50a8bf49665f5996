"""Gauss-Seidel: the residual of each sweep is that of float64, and stands beside its time."""

import json

import numpy as np
import pytest

from glla.cli import main
from glla.lab import sweeps


def test_the_residuals_are_those_of_float64(device):
    a = sweeps.matrix(60)
    found = sweeps.sweeps(a, 12, device)
    assert [one["number"] for one in found] == [1, 2, 5, 10, 12]
    assert all(one["seconds"] > 0 for one in found)
    wide, x = a.astype(np.float64), np.zeros((60, 60))
    expected = []
    for _ in range(12):
        x = np.linalg.solve(np.tril(wide), np.eye(60) - np.triu(wide, 1) @ x)
        expected.append(np.linalg.norm(wide @ x - np.eye(60)))
    for one in found:
        assert one["residual"] == pytest.approx(expected[one["number"] - 1], abs=1e-4)
    assert np.diff([one["residual"] for one in found]).max() < 0


def test_the_command_in_json(capsys):
    assert main(["study", "sweeps", "--size", "8", "--count", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in found["sweeps"]] == [1, 2]
    assert found["others"]["inv"]["residual"] < 1e-4
