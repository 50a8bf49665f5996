"""`python -m benchmarks overlap` and `python -m benchmarks hybrid`: run, judge, and write what they promise."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from glla.gl import list_egl_devices

ROOT = Path(__file__).resolve().parents[1]

with_software = pytest.mark.skipif(
    not any(device.software for device in list_egl_devices()), reason="there is no software rasteriser"
)


def run(module, folder, *arguments):
    """Run a benchmark in a process of its own, as it sets the environment: exit status, what it says, its file."""
    command = [sys.executable, "-m", "benchmarks", module, "--output", str(folder), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "GLLA_DEBUG"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    (path,) = folder.rglob("*.json")
    assert path.parent.name == module
    return done, json.loads(path.read_text(encoding="utf-8"))


@with_software
def test_overlap(tmp_path):
    done, report = run(
        "overlap", tmp_path, "--seconds", "0.05", "--rounds", "1", "--work", "systems", "--device", "software"
    )
    assert [(pair["queue"], pair["cpu"]) for pair in report["pairs"]] == [("systems", "numpy"), ("systems", "python")]
    for pair in report["pairs"]:
        rates = pair["rates"]
        assert rates["cpu_alone"] > 0 and rates["gpu_alone"] > 0 and rates["cpu_beside_process"] > 0
        assert pair["cpu_kept"] == rates["cpu"] / rates["cpu_alone"]
        assert pair["gpu_kept"] == rates["gpu"] / rates["gpu_alone"]
    assert done.returncode == (0 if report["pairs"][0]["cpu_kept"] >= 0.9 else 1), done.stderr
    assert report["environment"]["LP_NUM_THREADS"] == "0"
    assert "NumPy keeps at least" in done.stdout


@with_software
def test_hybrid(tmp_path):
    done, report = run("hybrid", tmp_path, "--size", "24,40", "--count", "4", "--rounds", "1", "--device", "software")
    assert [(record["n"], record["count"], record["ok"]) for record in report["records"]] == [
        (24, 4, True),
        (40, 4, True),
    ]
    for record in report["records"]:
        seconds = record["seconds"]
        assert (record["source"], record["ratio"]) == ("software", "inf")
        assert (record["gpu_systems"], record["cpu_systems"]) == (0, 4)
        assert record["gain"] == min(seconds["cpu"], seconds["cpu_usual"]) / seconds["pair"]
        assert record["gain_over_best"] == min(seconds[name] for name in seconds if name != "pair") / seconds["pair"]
        assert record["usual"] == "scipy.linalg.lu_factor(a)"
        assert record["peer"] == record["trials"][0]
    assert report["machine"]["cpu"] and "others_cores" in report["load"]
    assert done.returncode == (0 if min(record["gain"] for record in report["records"]) >= 1 / 1.05 else 1), done.stderr
    assert "inf (software)" in done.stdout


def test_the_hybrid_benchmark_as_on_a_gpu(tmp_path, monkeypatch):
    """Times the GPU, every split, and draws; a wrong result is not timed."""
    from benchmarks import hybrid
    from glla.hybrid import tasks

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(hybrid, "WARM", 0.01)
    monkeypatch.setattr(tasks, "WARM", 0.01)
    with hybrid.glla.coprocessor() as gpu:
        hardware = replace(gpu.info, software=False)
        monkeypatch.setattr(type(gpu), "info", hardware)
        for operation in ("lu_factor", "solve", "inv", "plu"):
            work = hybrid.Work(operation, 12, 3, gpu)
            record = hybrid.measure(work, 1, True, software=False)
            assert record["ok"] and set(record["seconds"]) == {"cpu", "cpu_usual", "cpu_best", "gpu", "pair"}
            assert len(record["splits"]) == 4 and record["gpu_systems"] + record["cpu_systems"] == 3
            assert record["source"] == "measured"
        report = {"records": [record], "renderer": "r", "cores": 2, "operation": "plu"}
        hybrid.plot(report, tmp_path / "plot.png")
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
        work = hybrid.Work("solve", 12, 3, gpu)
        right = work.host
        work.host = lambda a, b: right(a, b) * 1.01
        record = hybrid.measure(work, 1, False, software=False)
        assert not record["ok"] and "seconds" not in record and "WRONG" in hybrid.text([record])
