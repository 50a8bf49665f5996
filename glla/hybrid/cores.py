"""Cores for BLAS beside a thread that drives a GPU.

OpenBLAS waits at a barrier for its slowest thread, dozens of times in a panel. With a thread on every core, one of them
shares its core with the thread that issues draws, and all threads wait for it.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from typing import Any


@lru_cache
def control() -> Any:
    """Control over the threads of BLAS, from threadpoolctl; None where that is missing."""
    if find_spec("threadpoolctl") is None:
        return None
    if find_spec("scipy") is not None:
        import scipy.linalg  # noqa: F401 - loads its BLAS, so that threadpoolctl finds it
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def own_cores(sharing: int = 1) -> int:
    """Cores for one of several processes on this machine: those it is bound to, or else its share of all.

    >>> own_cores() >= own_cores(sharing=4) >= 1
    True
    """
    every = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    return max(1, min(allowed, every // sharing))


def for_blas(sharing: int = 1, left: int = 1) -> AbstractContextManager[Any]:
    """Limit BLAS to the cores of this process, without one that is left to the thread that drives the GPU.

    On an NVIDIA H200 with 16 cores this is decisive: with 16 threads of BLAS, GPU and CPU together factor no faster
    than the CPU alone, with 15 they are 0.89, 0.91 and 1.38 times as fast as the better one of the two (n = 512, 1024,
    2048): ``benchmarks/results/nvidia-h200-pcie-sse2/hybrid/2026-11-22T042746Z.json``. Needs threadpoolctl; without it,
    set ``OPENBLAS_NUM_THREADS`` before NumPy is imported.

    `sharing`: processes on this machine that share its cores. `left`: cores left to other threads.
    """
    threads = control()
    if threads is None:
        return nullcontext()
    wanted = [max(1, own_cores(sharing) - left)]
    set_before = [one.num_threads for one in threads.lib_controllers if one.user_api == "blas"]  # upper bounds
    limited: AbstractContextManager[Any] = threads.limit(limits=min(wanted + set_before), user_api="blas")
    return limited


class _OneThread:
    """Context in which BLAS has one thread; the last exit restores the number of threads."""

    def __init__(self) -> None:
        self._lock, self._within = Lock(), 0
        self._limited: AbstractContextManager[Any] = nullcontext()

    def __enter__(self) -> None:
        with self._lock:
            if self._within == 0 and (threads := control()) is not None:
                self._limited = threads.limit(limits=1, user_api="blas")
                self._limited.__enter__()
            self._within += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._limited.__exit__(None, None, None)
                self._limited = nullcontext()


one_thread = _OneThread()
"""Limits BLAS to one thread, for panels of a factorisation. Threads wait for each other at every column, so on a busy
machine one thread is many times as fast as all of them."""
