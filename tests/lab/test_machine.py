"""What a run says of its CPU, and of who else used it."""

import subprocess
import sys

import pytest

from glla.lab import machine

STAT = "cpu  100 10 50 900 40 1 2 3 70 0\ncpu0 50 5 25 450 20 1 1 1 35 0\ncpu1 50 5 25 450 20 0 1 2 35 0\nintr 5\n"


@pytest.fixture
def proc(tmp_path):
    (tmp_path / "stat").write_text(STAT)
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n\nmodel name\t: another\n")
    return tmp_path


def test_what_the_system_tells(proc, monkeypatch, tmp_path_factory):
    monkeypatch.setattr(machine.os, "sysconf", lambda name: 100)
    assert machine.machine_seconds(proc) == (100 + 10 + 50 + 1 + 2 + 3) / 100  # guests are among the users
    assert machine.cpu_model(proc) == "A CPU @ 2 GHz"
    nothing = tmp_path_factory.mktemp("nothing")
    assert machine.machine_seconds(nothing) is machine.physical_cores(nothing) is machine.others(0.0) is None
    assert machine.cpu_model(nothing) != ""


def test_hardware_threads_are_no_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_usable", lambda: {0, 1, 2, 3})
    for number, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert machine.physical_cores(tmp_path) == 2


def test_the_description_names_cpu_and_blas():
    report = machine.describe()
    assert report["cpu"] and report["cores"] >= 1
    assert {"used_by", "name", "version", "threads", "kernels"} == set(report["blas"][0])
    assert report["cpu"] in machine.written(report)
    assert "/" not in "".join(one["used_by"] + one["name"] for one in report["blas"])  # no paths


def test_the_order_in_which_libraries_were_loaded_does_not_show(monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    known = {"user_api": "blas", "internal_api": "openblas", "version": "1", "num_threads": 2}
    listed = [{**known, "filepath": f"/lib/{name}.libs/libopenblas.so"} for name in ("scipy", "numpy")]
    for one in (listed, listed[::-1]):
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda one=one: one)
        assert [found["used_by"] for found in machine.blas()] == ["numpy", "scipy"]


def test_without_threadpoolctl_the_build_of_numpy_is_reported(monkeypatch):
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    (found,) = machine.blas()
    assert (found["used_by"], found["threads"]) == ("numpy", None) and found["version"] != ""


@pytest.mark.skipif(machine.machine_seconds() is None, reason="there is no /proc/stat")
def test_another_process_is_seen():
    """It is this process's child, but does not count as its own until it has ended."""
    with subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=-1) as process:
        process.stdout.readline()
        try:
            watch = machine.Watch(listen=0.2)
            report = watch.load()
        finally:
            process.kill()
    assert max(used for used in report["others_cores"].values() if used is not None) > 0.2
    assert report["load_average"]["start"] is None or report["load_average"]["start"] >= 0
