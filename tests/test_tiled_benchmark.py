"""`python -m benchmarks tiled`: writes what it promises, and sees what is wrong."""

import json

import numpy as np
import pytest

import glla
from benchmarks import tiled
from benchmarks.study import perform, slug
from glla.linalg import tiling
from glla.operations.product import tiles

STEPS = {"upload", "compute", "read back", "fetch"}


def run(folder, *arguments):
    """Run at a tiny size: exit status, and what the file says."""
    sizes = ["--m", "70", "--k", "33", "--n", "90", "--max-bytes", "6e4", "--max-texture-size", "40"]
    status = perform(tiled.STUDY, [*sizes, "--resident", "16", "--blocks", "12", "--output", str(folder), *arguments])
    (path,) = folder.rglob("*.json")
    assert path.parent == folder / slug(glla.default_device().info.renderer) / "tiled"
    return status, json.loads(path.read_text(encoding="utf-8"))


def test_what_is_reported(tmp_path, capsys):
    status, outcome = run(tmp_path)
    assert status == 0
    assert outcome["shape"] == [70, 33, 90] and outcome["flops"] == 2 * 70 * 33 * 90
    assert 0 < outcome["peak_bytes"] <= outcome["max_bytes"] == 60_000
    assert outcome["tiles"][0] * outcome["tiles"][2] > 1
    assert outcome["resident"]["ok"] and outcome["resident"]["gflops"] > 0
    assert list(outcome["runs"]) == ["public", "streamed", "step by step"]
    for name, measured in outcome["runs"].items():
        assert measured["ok"] and measured["blocks"] == 12
        assert set(measured["steps"]) == (set() if name == "public" else STEPS)
        assert sum(measured["steps"].values()) <= measured["seconds"]
    shown = capsys.readouterr()
    assert f"within the cap of {outcome['max_bytes']}" in shown.out and "FAILED" not in shown.out
    assert "tile " in shown.err


def test_matrices_in_files(tmp_path):
    status, outcome = run(tmp_path / "results", "--files", str(tmp_path / "files"))
    assert status == 0 and outcome["files"]
    a, b, c = (
        np.fromfile(tmp_path / "files" / f"{name}.float32", np.float32).reshape(shape)
        for name, shape in (("A", (70, 33)), ("B", (33, 90)), ("C", (70, 90)))
    )
    glla.testing.assert_product(c, a, b)
    assert a.min() < -0.9 and a.max() > 0.9


@pytest.mark.parametrize("place", [(0, 0), (69, 89), (0, 89)])
def test_a_wrong_element_is_a_failure(tmp_path, capsys, monkeypatch, place):
    real = tiling.matmul

    def wrong(device, a, b, out, *rest, **named):
        made = real(device, a, b, out, *rest, **named)
        out[place] += 1
        return made

    monkeypatch.setattr(tiling, "matmul", wrong)
    status, outcome = run(tmp_path)
    assert status == 1
    assert not any(measured["ok"] for measured in outcome["runs"].values())
    assert capsys.readouterr().out.count("FAILED: product") == 3


def test_a_tile_that_is_left_out_is_a_failure(tmp_path, monkeypatch):
    real = tiles.Tiling.order
    monkeypatch.setattr(tiles.Tiling, "order", lambda self: list(real(self))[1:])
    status, outcome = run(tmp_path)
    assert status == 1
    assert outcome["runs"]["public"]["verdict"].startswith("NonFiniteError: matmul: the result does not fit")
    assert outcome["runs"]["streamed"]["verdict"].startswith("product: ")
    assert not any(measured["ok"] for measured in outcome["runs"].values())


def test_memory_beyond_the_cap_is_a_failure(tmp_path, capsys, monkeypatch):
    real = glla.Device.stats
    monkeypatch.setattr(glla.Device, "stats", lambda self: _raised(real(self)))
    assert run(tmp_path)[0] == 1
    assert "FAILED: beyond the cap of 60000" in capsys.readouterr().out


def _raised(stats):
    object.__setattr__(stats, "peak_bytes", stats.peak_bytes + 10**6)
    return stats


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "many", "nan"])
def test_sizes_that_are_none(text, capsys):
    with pytest.raises(SystemExit):
        perform(tiled.STUDY, ["--m", text])
    assert f"must be a whole number from 1, got '{text}'" in capsys.readouterr().err
