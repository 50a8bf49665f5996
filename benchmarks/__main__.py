"""The benchmarks: ``python -m benchmarks`` lists them, ``python -m benchmarks NAME --help`` has the options of one.

Each verifies first, and times only results that are right. The exit status is 1 if one was wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

STUDIES = {
    "operations": "every variant of every operation: verified, then timed, beside the CPU at its best",
    "sources": "variants of the authors of algorithms, the fast ones, and the CPU, side by side",
    "sparse": "sparse products, iterations, tridiagonal systems and shallow water, beside SciPy and LAPACK",
    "applications": "restoration and window squares beside the figures of their sources",
    "thesis": "the evaluation of the thesis, kept",
    "kernels": "the kernels of an author, one by one, and the passes that correspond to them",
    "differences": "squared differences of M M^T to a sequential sum",
    "exact": "exact factors of exact integer matrices, counted",
    "doubt": "figures that tell singular matrices from regular ones",
    "cliffs": "sizes at which an operation is suddenly slow",
    "tiled": "a product too large for the memory allowed, streamed in tiles",
    "hybrid": "systems shared by GPU and CPU, with every split",
    "overlap": "the CPU's rate beside a busy queue",
    "cluster": "one GPU against two: products, PLU and solutions over MPI",
    "manners": "memory that is kept for later, and the price of a small call",
    "soak": "random work on the queue for a long time: right, and flat in memory",
    "readme": "write the tables and plots of docs/facts/tables.md, and the README's table of speed",
    "page": "draw the README's picture of an exported page; needs Chromium",
}
"""Studies by name: each is a module with a `STUDY`, or a `main` where nothing is measured."""

ONE_THREAD = {"LP_NUM_THREADS": "0"}  # best for many small passes
ENVIRONMENT = {"thesis": ONE_THREAD, "manners": ONE_THREAD, "soak": ONE_THREAD}
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
