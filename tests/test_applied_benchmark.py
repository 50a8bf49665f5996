"""`python -m benchmarks.applications`: writes what it promises, and the README has the sources' figures beside ours."""

import json

import numpy as np
import pytest

import glla
from benchmarks import applications, report, theirs
from glla.lab import machine, restoration, windows

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")
pytest.importorskip("scipy")


@pytest.fixture
def small(monkeypatch):
    """Let it be short: one small image, and no inversions."""
    monkeypatch.setattr(applications, "SIDES", (8,))
    monkeypatch.setattr(restoration, "methods", lambda device, order, say: {"Cholesky alone": {"fast": 0.5}})
    monkeypatch.setattr(restoration, "REPEATS", 1)
    monkeypatch.setattr(windows, "REPEATS", 1)
    monkeypatch.setattr(machine, "LISTEN", 0.0)
    load = restoration.load
    monkeypatch.setattr(restoration, "load", lambda path, side: load(path, min(side, 16)))


def test_what_is_reported_and_shown(small, tmp_path, capsys):
    results = tmp_path / "benchmarks" / "results"
    assert applications.main(["--size", "16", "--output", str(results)]) == 0
    folder = results / report.slug(glla.default_device().info.renderer) / "applications"
    (path,) = folder.glob("*.json")
    assert capsys.readouterr().out.strip() == str(path)
    outcome = json.loads(path.read_text(encoding="utf-8"))
    assert outcome["windows"]["ok"]
    assert len(outcome["windows"]["frames"]) == 11
    assert {one["way"] for one in outcome["restoration"]["timings"]} >= {"inverse", "cholesky", "separable"}
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in applications.PICTURES.values())
    text = theirs.restored(results)
    for word in (
        "| blurred | 0.0032 |",
        "1.04e-11",
        "FFT (NumPy)",
        "| glla inverse |",
        "MATLAB inv (theirs)",
        "(benchmarks/",
    ):
        assert word in text, word
    text = theirs.squared(results)
    for word in ("| global memory (theirs) | 5.558 | not published |", "glla separable", "RTX 2060"):
        assert word in text, word


def test_a_wrong_result_is_reported(small, tmp_path, monkeypatch):
    monkeypatch.setattr(applications, "restored", lambda *arguments: {})
    monkeypatch.setattr(applications, "window_squares", lambda a, **options: np.zeros(a.shape))
    assert applications.main(["--size", "16", "--output", str(tmp_path)]) == 1
