"""Claims about costs of a pass, a transfer and a call, and about calls that return at once."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.gl.clock import clock
from glla.operations.layouts import packing
from glla.passes import Pass
from glla.queue import coprocessor
from glla.thesis.claims.claim import Claim, claim, collected
from glla.thesis.measure import Place, planned, uniform

SLOW = 10.0
"""Microseconds of a pass from which starting one counts as a large overhead: ten thousand of them take a tenth of a
second."""


def _issue(place: Place) -> Claim:
    n = place.compared[-1]
    tiny = planned(place, "matmul", (2, n), (n, 2), variant="virtual_cube")
    each = 1e6 * place.gpu(tiny, "matmul", uniform(place, 2, n), uniform(place, n, 2)) / tiny.cost.passes
    return claim("passes.issue", each > SLOW, each=each)


def _search(place: Place) -> Claim:
    """Passes that search a pivot, in a plan of the thesis's factorisation."""
    n = place.compared[-1]
    made = planned(place, "plu", (n, n), variant="rank2", pivoting="harmonic")
    found = sum(isinstance(step, Pass) and step.shader.startswith("pivot/") for step in made.flat.steps) / (n / 2)
    theirs = log(n / 2) / log(4)
    return claim("passes.search", found >= theirs / 2, theirs=theirs, n=n, found=found)


def _transfers(place: Place) -> Iterator[Claim]:
    n, device = place.compared[-1], place.device
    a, b = uniform(place, n, n), uniform(place, n, n)
    left, right = (asarray(m, device) for m in (a, b))
    whole = place.host(lambda: linalg.matmul(a, b, device=device))
    alone = place.finished(lambda: linalg.matmul(left, right))
    yield claim("passes.transfers", None, 1000.0 * max(0.0, whole - alone), 1000.0 * whole, n=n)
    even = a[: n - n % 4, : n - n % 4]
    blocks = place.host(lambda: packing.packed_by_host(even))
    lines = place.host(lambda: np.ascontiguousarray(even).copy().reshape(len(even), -1, 4))
    yield claim("passes.packing", blocks > lines, blocks / lines, len(even))


def _at_once(place: Place) -> Iterator[Claim]:
    n, device = place.compared[-1], place.device
    a, b = uniform(place, n, n), uniform(place, n, n)
    made = planned(place, "matmul", a.shape, b.shape)
    textures = {"A": device.upload(a), "B": device.upload(b)}
    device.download(device.run(made, **textures)["C"], (n, n))
    device.download_later(device.run(made, **textures)["C"], (n, n)).result()
    issued, result = clock(lambda: device.run(made, **textures)["C"])
    total = issued + clock(device.finish)[0]
    yield claim("passes.call", issued < total / 2, _until(issued, total, n))
    waited = place.host(lambda: device.download(result, (n, n)))
    later = []
    for _ in range(3):
        seconds, download = clock(lambda: device.download_later(result, (n, n)))
        later.append(seconds)
        download.result()
    asked = min(later)
    yield claim("passes.read_back", asked < waited / 2, _until(asked, waited, n))
    with coprocessor() as gpu:
        A, B = gpu.asarray(a), gpu.asarray(b)
        gpu.matmul(A, B).result()
        queued, pending = clock(lambda: gpu.matmul(A, B))
        all_of_it = queued + clock(pending.result)[0]
    yield claim("passes.thread", queued < all_of_it / 2, _until(queued, all_of_it, n))


def _until(some: float, all_: float, n: int) -> str:
    return f"returns after {1e6 * some:.0f} of {1e6 * all_:.0f} us, n = {n}"


claims = collected(_issue, _search, _transfers, _at_once)
