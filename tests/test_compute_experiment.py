"""`python -m benchmarks.compute`: runs, judges, and tells every repeat of every history."""

import json

import pytest

from benchmarks import compute
from glla.lab import machine
from glla.testing import Verdict

SMALL = ("--sizes", "8", "17", "--repeats", "3", "--idle", "0", "--variant", "inner_product")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(machine, "LISTEN", 0.0)
    monkeypatch.setattr(compute.shutil, "which", lambda name: None)


def test_every_history_is_reported(tmp_path, capsys):
    assert compute.main([*SMALL, "--output", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("compute/*.json")
    report = json.loads(path.read_text(encoding="utf-8"))
    names = ["idle", "idle, zeros", "after fragments", "after transfers", "fresh result"]
    assert [(one["n"], one["history"]) for one in report["records"]] == [(n, name) for n in (8, 17) for name in names]
    for one in report["records"]:
        assert len(one["wall_seconds"]) == 3 and min(one["wall_seconds"]) > 0
        assert one["flops"] == 2 * one["n"] ** 3
    output = capsys.readouterr().out
    assert output.count("after transfers") == 2 and "TFLOP/s" in output


def test_a_wrong_result_is_not_timed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compute.testing, "judge_product", lambda *given: Verdict("product", 2.0, 1.0))
    assert compute.main([*SMALL, "--output", str(tmp_path)]) == 1
    assert "n = 8: product: error 2" in capsys.readouterr().err


def test_a_line_tells_clock_and_extremes():
    record = {
        "n": 4096, "history": "idle", "flops": 10**12, "wall_seconds": [3.0, 4.0, 5.0], "gpu_seconds": [2.0, 1.0, 4.0],
        "sensors": [["345", "1", "90", "30", "0x1"], ["1980", "1", "600", "60", "0x4"]],
    }  # fmt: skip
    words = compute.line(record).split()
    assert words[:9] == ["4096", "idle", "2000.000", "1000.000", "2000.000", "4000.000", "4000.000", "1", "0.5"]
    assert words[9:] == ["345-1980", "MHz", "0x1", "0x4"]


def test_readings_are_those_of_the_time():
    read = compute.Sensors([(1.0, ["a"]), (2.0, ["b"]), (3.0, ["c"])])
    assert read.between(1.5, 2.5) == [["b"]]
