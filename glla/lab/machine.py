"""The CPU's side of a measurement: which CPU and BLAS there are, and who else was using them meanwhile."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from glla._version import __version__
from glla.gl import DeviceInfo

BUSY = 0.1
"""Fraction of the machine's cores that other processes may use before a run says that the machine was busy."""

LISTEN = 0.3
"""Seconds for which the use of the CPU is observed at the start and at the end of a run, which then does nothing."""

SHORT = 0.05
"""Seconds below which nothing is said: the system counts in hundredths of a second."""

PROC = Path("/proc")
SYSTEM = Path("/sys/devices/system/cpu")


def cores() -> int:
    """Count the CPU cores that this process may use."""
    return len(_usable())


def _usable() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


def version_of(package: str) -> str:
    """Version of a package; one that is not installed, or was put in place by hand, has none that is known."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def physical_cores(system: Path = SYSTEM) -> int | None:
    """Count the physical cores behind them: two hardware threads of one core count once; None if unknown."""
    siblings = [_read(system / f"cpu{number}" / "topology" / "thread_siblings_list") for number in sorted(_usable())]
    return len(set(siblings)) if all(siblings) else None


def cpu_model(proc: Path = PROC) -> str:
    """Name of the CPU."""
    lines = (line.partition(":") for line in _read(proc / "cpuinfo").splitlines())
    names = (value.strip() for key, _, value in lines if key.strip() in ("model name", "Hardware", "cpu model"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def blas() -> list[dict[str, Any]]:
    """Tell which BLAS libraries NumPy and SciPy use: name, version, threads, and the kernels chosen for this CPU.

    By threadpoolctl; without it only what NumPy was built with, whose threads are not known then (None).
    """
    if find_spec("threadpoolctl") is None:
        built = np.show_config(mode="dicts")
        found = built.get("Build Dependencies", {}).get("blas", {})
        name, version = found.get("name", "unknown"), found.get("version", "unknown")
        return [{"used_by": "numpy", "name": name, "version": version, "threads": None, "kernels": ""}]
    from threadpoolctl import threadpool_info

    if find_spec("scipy") is not None:
        import scipy.linalg  # noqa: F401 - loads its BLAS, so that it is listed
    brought = ("numpy", "scipy")
    libraries: list[dict[str, Any]] = [
        {
            # the package that it came with, '' for the system's: NumPy's wheel and SciPy's each bring one
            "used_by": next((name for name in brought if re.search(rf"{name}(\.libs|/\.dylibs)", one["filepath"])), ""),
            "name": one["internal_api"],
            "version": one["version"] or "unknown",
            "threads": one["num_threads"],
            "kernels": one.get("architecture", ""),
        }
        for one in threadpool_info()
        if one["user_api"] == "blas"
    ]
    return sorted(libraries, key=lambda one: str(one["used_by"]))  # in which order they were loaded tells nothing


VARIABLES = (
    "GLLA_DEBUG", "GLLA_DEVICE", "LP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES", "__GL_SHADER_DISK_CACHE", "MESA_SHADER_CACHE_DISABLE", "mesa_glthread",
    "MESA_GL_VERSION_OVERRIDE",
)  # fmt: skip
"""Environment variables that change the times."""


def place(info: DeviceInfo) -> dict[str, Any]:
    """Device, CPU and versions, as plain data: where something was measured."""
    packages = ("numpy", "scipy", "moderngl", "glfw")
    return {
        "renderer": info.renderer, "vendor": info.vendor, "driver": info.version, "glsl": info.glsl,
        "backend": info.backend, "software": info.software, "cores": cores(), "machine": describe(),
        "system": platform.platform(), "versions": versions(packages),
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }  # fmt: skip


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of glla, of Python, and of packages."""
    own = {"glla": __version__, "Python": platform.python_version()}
    return own | {name: version_of(name) for name in packages}


def describe() -> dict[str, Any]:
    """Model, cores and BLAS of the CPU, as plain data."""
    return {"cpu": cpu_model(), "cores": cores(), "physical_cores": physical_cores(), "blas": blas()}


def written(machine: dict[str, Any]) -> str:
    """Format the result of `describe` as a line.

    >>> openblas = {"used_by": "numpy", "name": "openblas", "version": "0.3.31", "threads": 16, "kernels": "Zen"}
    >>> written({"cpu": "EPYC", "cores": 16, "physical_cores": 8, "blas": [openblas]})
    'EPYC, 16 cores (8 physical); BLAS of numpy: openblas 0.3.31 (Zen), 16 threads'
    """
    physical = machine["physical_cores"]
    other = f" ({physical} physical)" if physical not in (None, machine["cores"]) else ""
    parts = [f"{machine['cpu']}, {machine['cores']} core{'' if machine['cores'] == 1 else 's'}{other}"]
    for one in machine["blas"]:
        whose = f" of {one['used_by']}" if one["used_by"] else ""
        kernels = f" ({one['kernels']})" if one["kernels"] else ""
        threads = f", {one['threads']} thread{'' if one['threads'] == 1 else 's'}" if one["threads"] else ""
        parts.append(f"BLAS{whose}: {one['name']} {one['version']}{kernels}{threads}")
    return "; ".join(parts)


# -- who else -------------------------------------------------------------------------------------------------------


class Watch:
    """Looks at the machine's load while something is measured: make it before, ask `load` after.

    Other processes' use of the CPU is all of the machine's less this process's own, in cores: 1.5 is one core and a
    half. It is None where the system has no ``/proc/stat``, or the time was short. Making it, and `load`, take `LISTEN`
    seconds each.

    `listen`: seconds to observe at either end; `LISTEN` by default.
    """

    def __init__(self, listen: float | None = None) -> None:
        self._listen = listen = LISTEN if listen is None else listen
        self._load = load_average()
        self._at_start = others(listen)
        self._begun = _Usage()

    def load(self) -> dict[str, Any]:
        """Give load average and other processes' use of the CPU, at the start, during the run and at the end."""
        during = self._begun.others()
        return {
            "load_average": {"start": self._load, "end": load_average()},
            "others_cores": {"start": self._at_start, "during": during, "end": others(self._listen)},
            "of_cores": os.cpu_count() or 1,  # of the machine, of which this process may use fewer
        }


def load_average() -> float | None:
    """Processes that ran or wanted to, on average over the last minute; this process's threads are among them."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def others(seconds: float) -> float | None:
    """Cores that other processes use, observed for some seconds."""
    usage = _Usage()
    time.sleep(seconds)
    return usage.others()


class _Usage:
    """Seconds of CPU used so far, by all and by this process with its children."""

    def __init__(self) -> None:
        spent = os.times()
        self.own = spent.user + spent.system + spent.children_user + spent.children_system
        self.clock, self.all = time.perf_counter(), machine_seconds()

    def others(self) -> float | None:
        """Cores that others used since then."""
        now = _Usage()
        passed = now.clock - self.clock
        if self.all is None or now.all is None or passed < SHORT:
            return None
        return round(max(0.0, (now.all - self.all) - (now.own - self.own)) / passed, 2)


def machine_seconds(proc: Path = PROC) -> float | None:
    """Seconds of CPU that the whole machine has used since it started, stolen time included; None if unknown."""
    name, *fields = _read(proc / "stat").partition("\n")[0].split() or [""]
    if name != "cpu" or len(fields) < 5:
        return None
    user, nice, system, _idle, _waiting, *interrupts = map(int, fields)
    return (user + nice + system + sum(interrupts[:3])) / os.sysconf("SC_CLK_TCK")  # the guests' are in the user's


def busy(load: dict[str, Any]) -> str:
    """Say that other processes used more than `BUSY` of the machine, '' if they did not.

    >>> quiet = {"start": 0.1, "during": 0.0, "end": None}
    >>> busy({"others_cores": quiet, "of_cores": 2})
    ''
    >>> busy({"others_cores": {**quiet, "during": 1.5}, "of_cores": 2})
    'the machine was busy: other processes used 1.5 of its 2 cores during the run'
    """
    found = {when: used for when, used in load["others_cores"].items() if used and used > BUSY * load["of_cores"]}
    if not found:
        return ""
    when = max(found, key=lambda name: found[name])
    place = {"start": "at the start of the run", "during": "during the run", "end": "at the end of the run"}[when]
    return f"the machine was busy: other processes used {found[when]:g} of its {load['of_cores']} cores {place}"
