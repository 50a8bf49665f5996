"""Measured times: kept in the process or, on request, between processes.

For that they are stored in a small JSON file for each device.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from glla.errors import OptionError
from glla.gl import DeviceInfo
from glla.hybrid.cores import own_cores
from glla.hybrid.share import Pace

FORMAT = 2
"""Version of the file's format, raised when times in older files are invalid. In 2 the CPU side became faster."""

DAYS = 30
"""Days without an update after which times are measured again: an idle side gets no other update."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables that set the threads of the CPU side, and so its speed."""


_in_process: dict[str, dict[str, Pace]] = {}  # by conditions


def folder(remember: bool = False) -> Path | None:
    """Folder of the files: $XDG_CACHE_HOME/glla/hybrid, by default in ~/.cache.

    None unless files are requested, by the argument or by GLLA_HYBRID=on; and with GLLA_HYBRID=off.

    Raises OptionError: GLLA_HYBRID has another value.
    """
    wish = os.environ.get("GLLA_HYBRID", "").lower()
    if wish not in ("", "on", "off"):
        raise OptionError(f"GLLA_HYBRID: must be on or off, got {wish!r}; or leave it out, and ask by remember=True")
    if wish == "off" or not (remember or wish == "on"):
        return None
    cache = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
    except RuntimeError:  # no home
        return None
    return base / "glla" / "hybrid"


class Memory:
    """Times of one device, by operation and size.

    An invalid file counts as empty, and a failure to write is ignored: measuring again costs less than an error. Files
    of another driver or another number of cores do not count, nor do old ones.

    `remember`: keep them in a file, see `folder`; otherwise in the process only.
    """

    def __init__(self, info: DeviceInfo, remember: bool = False) -> None:
        where = folder(remember)
        slug = re.sub(r"[^a-z0-9]+", "-", info.renderer.lower()).strip("-")
        self.path = where and where / f"{slug}.json"
        self._conditions = {
            "renderer": info.renderer,
            "driver": info.version,
            "numpy": np.__version__,
            "cores": own_cores(),
            "threads": {name: os.environ[name] for name in THREADS if name in os.environ},
        }
        self._paces = self._read()

    def get(self, key: str) -> Pace | None:
        """Return the times of an operation at a size."""
        return self._paces.get(key)

    def put(self, paces: dict[str, Pace]) -> None:
        """Store times, merged with those written by other processes."""
        self._paces = {**self._read(), **self._paces, **paces}
        if self.path is None:
            _in_process[str(self._conditions)] = self._paces
        if self.path is None or not paces:
            return
        record = {
            "format": FORMAT,
            "conditions": self._conditions,
            "paces": {name: list(pace.times) for name, pace in sorted(self._paces.items())},
        }
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, suffix=".tmp")
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=1)
                os.replace(name, self.path)  # readers see the old file or the new one
            except BaseException:
                os.unlink(name)
                raise

    def _read(self) -> dict[str, Pace]:
        if self.path is None:
            return _in_process.get(str(self._conditions), {})
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
    if not all(0 < seconds < 1e6 for seconds in pace.times):
        raise ValueError(f"not seconds: {times}")
    return pace
