"""Claims about costs of a pass, a transfer and a call, and about calls that return at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import log

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.lab import ceilings
from glla.passes import Pass
from glla.queue import coprocessor
from glla.thesis import published
from glla.thesis.claims.claim import HERE, Claim
from glla.thesis.measure import Place, planned, uniform

SLOW = 10.0
"""Microseconds of a pass from which starting one counts as a large overhead: ten thousand of them take a tenth of a
second."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    yield _issue(place)
    yield _search(place)
    yield from _transfers(place)
    yield from _at_once(place)


def _issue(place: Place) -> Claim:
    n = place.compared[-1]
    tiny = planned(place, "matmul", (2, n), (n, 2), variant="virtual_cube")
    each = 1e6 * place.gpu(tiny, "matmul", uniform(place, 2, n), uniform(place, n, 2)) / tiny.cost.passes
    return Claim(
        "Starting a computation has a large overhead", "4.1.1", published.NOT_PUBLISHED,
        f"{each:.1f} us a pass of one fragment", each > SLOW, "glla ceilings",
        "A driver checks its state for each draw, and a GPU begins each pass anew.",
        "It is a few microseconds, which thousands of passes feel and a large one does not.",
    )  # fmt: skip


def _search(place: Place) -> Claim:
    """Passes that search a pivot, in a plan of the thesis's factorisation."""
    n = place.compared[-1]
    made = planned(place, "plu", (n, n), variant="rank2", pivoting="harmonic")
    found = sum(isinstance(step, Pass) and step.shader.startswith("pivot/") for step in made.flat.steps) / (n / 2)
    theirs = log(n / 2) / log(4)
    return Claim(
        "A pivot is found in log4(n - i) passes", "4.1.2", f"up to {theirs:.1f} passes for n = {n}",
        f"{found:.1f} passes on average, n = {n}", found >= theirs / 2, f"glla explain plu --size {n} --variant rank2",
        "A reduction of four to one is what a fragment does best.",
        "A fragment may fetch far more than four candidates now, so that a search takes fewer passes.",
    )  # fmt: skip


def _transfers(place: Place) -> Iterator[Claim]:
    n, device = place.compared[-1], place.device
    a, b = uniform(place, n, n), uniform(place, n, n)
    left, right = (asarray(m, device) for m in (a, b))

    def multiply() -> None:
        linalg.matmul(left, right)
        device.finish()

    whole = place.host(lambda: linalg.matmul(a, b, device=device))
    alone = place.host(multiply)
    yield Claim(
        "Transfer, packing and read-back are left out of the times", "3.3.1 and 4.1.1", "not in its times",
        f"{1e3 * max(0.0, whole - alone):.2g} of {1e3 * whole:.2g} ms from host to host, n = {n}", None,
        f"glla compare matmul --sizes {n} (end to end)",
        "They are quadratic and the product cubic, so that what is left out is a matter of n.",
    )  # fmt: skip
    even = a[: n - n % 4, : n - n % 4]
    blocks = place.host(lambda: ceilings.pack(even))
    lines = place.host(lambda: np.ascontiguousarray(even).copy().reshape(len(even), -1, 4))
    yield Claim(
        "Packing 2 x 2 needs more restructuring than packing 4 x 1", "3.1.1", published.NOT_PUBLISHED,
        f"{blocks / lines:.2g} times on the CPU, n = {len(even)}", blocks > lines, HERE,
        "Four elements of a row lie beside each other already, those of a block in two rows; glla packs on the device.",
        "Both are copies of the same bytes.",
    )  # fmt: skip


def _at_once(place: Place) -> Iterator[Claim]:
    n, device = place.compared[-1], place.device
    a, b = uniform(place, n, n), uniform(place, n, n)
    made = planned(place, "matmul", a.shape, b.shape)
    textures = {"A": device.upload(a), "B": device.upload(b)}
    device.download(device.run(made, **textures)["C"], (n, n))
    device.download_later(device.run(made, **textures)["C"], (n, n)).result()
    start = time.perf_counter()
    result = device.run(made, **textures)["C"]
    issued = time.perf_counter() - start
    device.finish()
    total = time.perf_counter() - start
    yield Claim(
        "A call returns at once, and the CPU goes on", "4.2.1", "virtually free", _until(issued, total, n),
        issued < total / 2, HERE, "OpenGL queues what a GPU draws.",
        "A software rasteriser draws on the same cores, most of it within the call.",
    )  # fmt: skip
    waited = place.host(lambda: device.download(result, (n, n)))
    later = []
    for _ in range(3):
        start = time.perf_counter()
        download = device.download_later(result, (n, n))
        later.append(time.perf_counter() - start)
        download.result()
    asked = min(later)
    yield Claim(
        "A read-back blocks, unless it goes through a pixel buffer and is asked for early", "4.2.1 and A.3.2",
        published.NOT_PUBLISHED, _until(asked, waited, n), asked < waited / 2, HERE,
        "The copy to the buffer is queued like a pass, and waited for when its result is wanted.",
        "A software rasteriser makes the copy within the call.",
    )  # fmt: skip
    with coprocessor() as gpu:
        A, B = gpu.asarray(a), gpu.asarray(b)
        gpu.matmul(A, B).result()
        start = time.perf_counter()
        pending = gpu.matmul(A, B)
        queued = time.perf_counter() - start
        pending.result()
        all_of_it = time.perf_counter() - start
    yield Claim(
        "With a thread of its own for the GPU every call returns instantly", "4.2.3", "instantly",
        _until(queued, all_of_it, n), queued < all_of_it / 2, "glla.coprocessor()",
        "The call is put into a queue, whatever the driver does with it.",
        "The other thread takes the interpreter's lock before the call has returned.",
    )  # fmt: skip


def _until(some: float, all_: float, n: int) -> str:
    return f"returns after {1e6 * some:.0f} of {1e6 * all_:.0f} us, n = {n}"
