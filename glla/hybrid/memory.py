"""What was measured, kept from one run to the next: a small JSON file for each device."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from glla.gl import DeviceInfo
from glla.hybrid.share import Pace

FORMAT = 2
"""Number of the file's format, raised when the paces in older files hold no more. In 2 the CPU side became faster."""

DAYS = 30
"""Days without a change after which paces are measured again: a side that was left idle has no other chance."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables that set the threads of the CPU side, and with them its pace."""


def folder() -> Path | None:
    """Where the files lie: $XDG_CACHE_HOME/glla/hybrid, by default in ~/.cache; None with GLLA_HYBRID=off."""
    if os.environ.get("GLLA_HYBRID", "").lower() == "off":
        return None
    cache = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
    except RuntimeError:  # no home
        return None
    return base / "glla" / "hybrid"


class Memory:
    """Paces of one device, by operation and size.

    Whatever is wrong with the file counts as nothing remembered, and what cannot be written is lost: it is measured
    again, which costs less than an error. Files of another driver or another number of cores do not count, nor do old
    ones.

    Parameters
    ----------
    info : DeviceInfo
        Of the device.
    """

    def __init__(self, info: DeviceInfo) -> None:
        where = folder()
        slug = re.sub(r"[^a-z0-9]+", "-", info.renderer.lower()).strip("-")
        self.path = where and where / f"{slug}.json"
        self._conditions = {
            "renderer": info.renderer,
            "driver": info.version,
            "numpy": np.__version__,
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "threads": {name: os.environ[name] for name in THREADS if name in os.environ},
        }
        self._paces = self._read()

    def get(self, key: str) -> Pace | None:
        """Recall the pace of an operation at a size."""
        return self._paces.get(key)

    def put(self, paces: dict[str, Pace]) -> None:
        """Remember paces, beside what others may have written meanwhile."""
        self._paces = {**self._read(), **self._paces, **paces}
        if self.path is None or not paces:
            return
        record = {
            "format": FORMAT,
            "conditions": self._conditions,
            "paces": {name: list(astuple(pace)) for name, pace in sorted(self._paces.items())},
        }
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, suffix=".tmp")
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=1)
                os.replace(name, self.path)  # whoever reads sees the old file or the new one
            except BaseException:
                os.unlink(name)
                raise

    def _read(self) -> dict[str, Pace]:
        if self.path is None:
            return {}
        try:
            if time.time() - self.path.stat().st_mtime > 86400 * DAYS:
                return {}
            record = json.loads(self.path.read_text(encoding="utf-8"))
            if record["format"] != FORMAT or record["conditions"] != self._conditions:
                return {}
            return {str(name): _pace(times) for name, times in record["paces"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}


def _pace(times: Any) -> Pace:
    gpu_alone, cpu_alone, gpu, cpu = (float(seconds) for seconds in times)
    pace = Pace(gpu_alone, cpu_alone, gpu, cpu)
    if not all(0 < seconds < 1e6 for seconds in astuple(pace)):
        raise ValueError(f"not seconds: {times}")
    return pace
