"""The benchmarks: ``python -m benchmarks`` lists them, ``python -m benchmarks NAME --help`` has the options of one.

Each verifies first, and times only results that are right. The exit status is 1 if one was wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks import STUDIES

ONE_THREAD = {"LP_NUM_THREADS": "0"}  # best for many small passes
ENVIRONMENT = {"thesis": ONE_THREAD, "manners": ONE_THREAD}
"""Environment variables that are set, unless they are set already, before NumPy is loaded and a context is made."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark, or list them; return the exit status."""
    name, *others = (sys.argv[1:] if arguments is None else list(arguments)) or ["--help"]
    if name not in STUDIES:
        lines = [f"  {each:14}{about}" for each, about in STUDIES.items()]
        print("\n".join([(__doc__ or "").strip(), "", *lines]))
        return 0 if name in ("-h", "--help") else 2
    for variable, value in environment(name).items():
        os.environ.setdefault(variable, value)
    module = import_module(f"benchmarks.{name}")
    if hasattr(module, "main"):
        return int(module.main(others) or 0)
    from benchmarks.study import perform

    return perform(module.STUDY, others)


def environment(name: str) -> dict[str, str]:
    """Environment variables of a study; NumPy leaves a core to the thread that drives the GPU, where both work."""
    if name != "overlap":
        return ENVIRONMENT.get(name, {})
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = str(max(1, cores - 1))
    return {name: threads for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")} | ONE_THREAD


if __name__ == "__main__":
    sys.exit(main())
