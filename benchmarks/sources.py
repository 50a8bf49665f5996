"""Time the author's variants of an algorithm, the fast ones, and the CPU, side by side: with and without transfer.

    product        A B: the author's two kernels, the thesis's, what `matmul` takes, and BLAS; and how far they are off
    syrk           M M^T: every version of the source, the plain product of the same matrices, and BLAS
    inv3           many 3 x 3 inverses from NumPy to NumPy: the formula, elimination, and NumPy
    gauss_jordan   inverses of a positive definite matrix: the author's two ways, the fast ones, and LAPACK
    cholesky, triangular_inverse, window_squares   every variant of these operations
    sweeps         Gauss-Seidel: the residual of each sweep beside its time
    covariances    the adjugate formula beside elimination, on covariances of a photograph: no times, but errors

All ways are judged first; a wrong result is not timed. They are timed in turns, a call of
each in every round, so that what else the machine does falls on all alike, R rounds at most and about S seconds of each
way; medians count. The file is written anew after each system; the ratios can be trusted where the times cannot.
`benchmarks.seeds` makes the table of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks import turns
from benchmarks.study import SIZES as ORDERS
from benchmarks.study import listed, some
from benchmarks.turns import Way
from glla import Device
from glla.lab import covariances, operations, peers, sweeps
from glla.lab.study import Report, Run, Say
from glla.lab.table import aligned, milliseconds
from glla.operations import OPERATIONS
from glla.passes import Parameters, resident
from glla.testing import JUDGES

Array = NDArray[np.float32]

SIZES = {
    # name: (on a GPU, in software)
    "product": ((1024, 4096), (256, 512)),
    "syrk": ((1024, 4096), (256, 512)),
    "inv3": ((10_000, 1_000_000), (10_000, 100_000)),
    "gauss_jordan": ((1024,), (128, 256)),
    "cholesky": ((1024, 4096), (256, 512)),
    "triangular_inverse": ((1024, 4096), (256, 512)),
    "window_squares": ((15, 512), (15, 512)),
    "sweeps": ((1024,), (200,)),
    "covariances": ((512,), (512,)),
}
"""Sizes by default: orders, numbers of matrices, sides of the photograph."""

ROUNDS, SECONDS = 5, 4.0
"""Calls of each way at most, and seconds of each after which it is called no more."""

SLOW = {"single_component": 1100, "gauss_jordan": 1100}
"""Largest order at which these are timed: their work is memory traffic, seconds of it beyond."""


def _run(run: Run) -> Report:
    """Time all systems that are asked for, and keep their figures after each."""
    options, device, ok = run.options, run.device, True
    data: dict[str, Any] = {"figures": []}
    for name in options.systems:
        for size in options.size or SIZES[name][int(bool(device.limits.software))]:
            run.say(f"{name}, {size}")
            if name in LOOKED_AT:
                data.setdefault(name, []).extend(LOOKED_AT[name](device, size))
                continue
            ways = WAYS[name](device, size)
            made, fine = timed(
                ways, options.rounds, options.seconds, lambda way, text=f"{name}, {size}": run.say(f"{text}: {way}")
            )
            ok &= fine
            found = _differences(device, size) if name == "product" else {}
            data["figures"] += [{"system": name, "size": size, **one, **found.get(one["variant"], {})} for one in made]
        if name == "sweeps":
            data["figures"] += [one for found in data[name] for one in _figures_of_sweeps(found)]
        run.keep(Report("", data))
    return Report(text(data), data, ok)


def timed(
    ways: Mapping[str, Mapping[str, Way]], rounds: int, seconds: float, say: Say
) -> tuple[list[dict[str, Any]], bool]:
    """Judge all ways by kind of timing ("resident", "end_to_end") and name, then time them in turns.

    A figure for each name: seconds of each kind, its flaw if any; and whether all are right.
    """
    places = {f"{name}, {kind}": (name, kind) for kind, named in ways.items() for name in named}
    flaws, spent = turns.timed(
        {label: ways[kind][name] for label, (name, kind) in places.items()}, rounds, seconds, say
    )
    figures: dict[str, dict[str, Any]] = {}
    for label, (name, kind) in places.items():
        one = figures.setdefault(name, {"variant": name, "flaw": ""})
        one["flaw"] = one["flaw"] or flaws[label]
        if label in spent:
            one[kind] = spent[label].per()
    return list(figures.values()), not any(flaws.values())


# -- products ---------------------------------------------------------------------------------------------------------


AUTHORS_PRODUCTS = ("single_component", "inner_product", "compute_tiled")
"""Variants of `matmul` that stand for a thread an element, the same in 2x2 blocks, and tiles in shared memory."""


def _products(device: Device, n: int) -> dict[str, tuple[operations.Contender, Parameters]]:
    """Variants of the product that the device can run, and what `matmul` takes."""
    named = operations.contenders("matmul")
    chosen, parameters = OPERATIONS["matmul"].choose(resident((n, n), (n, n)), device.limits)
    found = {
        name: (named[name], ())
        for name in AUTHORS_PRODUCTS
        if not operations.unmet(named[name].needs, device.limits) and n <= SLOW.get(name, n)
    }
    return {**found, "matmul": (named[chosen], parameters)}


def _product(device: Device, n: int) -> dict[str, dict[str, Way]]:
    arrays = operations.inputs(OPERATIONS["matmul"], n)
    resident, whole = {}, {}
    for name, (contender, parameters) in _products(device, n).items():
        resident[name], whole[name] = _ways(device, "matmul", name, contender, arrays, parameters)
    return {"resident": resident, "end_to_end": {**whole, **_peers("matmul", arrays)}}


def _differences(device: Device, n: int) -> dict[str, dict[str, float]]:
    """Mean absolute differences of products to double precision, which is what the author gives."""
    arrays = operations.inputs(OPERATIONS["matmul"], n)
    exact = np.matmul(*(one.astype(np.float64) for one in arrays))
    found = {}
    for name, (contender, parameters) in _products(device, n).items():
        job = operations.prepare(device, OPERATIONS["matmul"], contender, arrays, parameters)
        found[name] = {"difference": float(abs(job.end_to_end() - exact).mean())}
    return found


# -- M M^T ------------------------------------------------------------------------------------------------------------


def _variants(operation: str, device: Device, n: int) -> dict[str, dict[str, Way]]:
    """Every variant of an operation that the device can run."""
    arrays = operations.inputs(OPERATIONS[operation], n)
    resident, whole = {}, {}
    for name, contender in operations.contenders(operation).items():
        if not operations.unmet(contender.needs, device.limits) and n <= SLOW.get(name, n):
            resident[name], whole[name] = _ways(device, operation, name, contender, arrays)
    return {"resident": resident, "end_to_end": {**whole, **_peers(operation, arrays)}}


def _peers(operation: str, arrays: tuple[Array, ...]) -> dict[str, Way]:
    """Who does it on the CPU, in each of its ways."""
    found = peers.peer_of(OPERATIONS[operation])
    if found is None:
        return {}
    peer, operands = found
    return {way.label: _of_peer(way, operands(*arrays)) for way in peer.installed()}


def _syrk(device: Device, n: int) -> dict[str, dict[str, Way]]:
    (a,) = operations.inputs(OPERATIONS["syrk"], n)
    resident, whole = _variants("syrk", device, n).values()
    other = np.ascontiguousarray(a.T)  # not a's own memory, so nothing is known of the pair
    chosen = OPERATIONS["matmul"].choose(operations.forms((a, other)), device.limits)
    plain = operations.contenders("matmul")[chosen[0]]
    resident["plain product"], whole["plain product"] = _ways(
        device, "matmul", f"plain product, {chosen[0]}", plain, (a, other), chosen[1]
    )
    return {"resident": resident, "end_to_end": whole}


def _ways(
    device: Device, operation: str, name: str, contender: operations.Contender, arrays: Any, parameters: Any = ()
) -> tuple[Way, Way]:
    """With operands and result on the device, and from NumPy to NumPy."""
    job = operations.prepare(device, OPERATIONS[operation], contender, arrays, parameters)

    @cache  # one judgement serves both
    def check() -> str:
        verdict = JUDGES[operation].verdict(arrays, job.fetch(job.run()))
        return "" if verdict.ok else str(verdict)

    def run() -> None:
        for texture in job.run().values():
            texture.release()

    return Way(name, run, check, device), Way(name, job.end_to_end, check)


def _of_peer(way: peers.Way, arrays: tuple[Array, ...]) -> Way:
    call, wanted = way.bind(), way.operands(*arrays)
    return Way(way.label, partial(call, *(one.copy(order="K") for one in wanted)), lambda: "")


# -- inverses ---------------------------------------------------------------------------------------------------------


def _inv3(device: Device, count: int) -> dict[str, dict[str, Way]]:
    (rows,) = operations.inputs(OPERATIONS["inv3"], count)
    a = rows.reshape(-1, 3, 3)
    ways = {}
    for variant in covariances.WAYS:
        ways[variant] = _inverse(partial(glla.inv, a, variant=variant, device=device), a)
    for way in peers.INVERSES3.installed():
        ways[way.label] = _of_peer(way, (rows,))
    return {"end_to_end": ways}


def _inverse(call: Callable[[], Any], a: Array) -> Way:
    def check() -> str:
        worst = float(covariances.ratios(a, call()).max())
        return "" if worst < covariances.LIMIT else f"norm(A X - I) is {worst:.3g} n norm(A) norm(X) u"

    return Way("", call, check)


def _gauss_jordan(device: Device, n: int) -> dict[str, dict[str, Way]]:
    a = sweeps.matrix(n)
    given = glla.asarray(a, device)
    pos = {"assume_a": "pos"}
    options: dict[str, dict[str, Any]] = {
        "gauss_jordan": {"variant": "gauss_jordan"},
        "cholesky_gets_product": {**pos, "variant": "cholesky_gets_product"},
        "potri": {**pos, "variant": "potri"},
        "inv": {},
    }
    resident, whole = {}, {}
    for name, chosen in options.items():
        if n > SLOW.get(name, n):
            continue

        def check(chosen: dict[str, Any] = chosen) -> str:
            verdict = JUDGES["inv"].verdict((a,), glla.inv(a, device=device, **chosen))
            return "" if verdict.ok else str(verdict)

        resident[name] = Way(name, partial(glla.inv, given, **chosen), check, device)
        whole[name] = Way(name, partial(glla.inv, a, device=device, **chosen), check)
    for way in peers.INVERSE.installed("numpy"):
        whole[way.label] = _of_peer(way, (a,))
    return {"resident": resident, "end_to_end": whole}


def _sweeps(device: Device, n: int) -> list[dict[str, Any]]:
    return [sweeps.study(n, 100, device)]


def _figures_of_sweeps(found: dict[str, Any]) -> list[dict[str, Any]]:
    """All sweeps together, and the inverses that end by themselves, as figures."""
    every = {"sweeps": found["sweeps"][-1], **found["others"]}
    return [
        {"system": "sweeps", "size": found["n"], "variant": name, "flaw": "", "residual": one["residual"],
         "resident": {"seconds": one["seconds"]}}
        for name, one in every.items()
    ]  # fmt: skip


def _covariances(device: Device, size: int) -> list[dict[str, Any]]:
    return covariances.plain(covariances.study(device, size=size))


WAYS: dict[str, Callable[[Device, int], dict[str, dict[str, Way]]]] = {
    "product": _product,
    "syrk": _syrk,
    "inv3": _inv3,
    "gauss_jordan": _gauss_jordan,
    **{name: partial(_variants, name) for name in ("cholesky", "triangular_inverse", "window_squares")},
}
"""Systems that are timed in turns."""

LOOKED_AT: dict[str, Callable[[Device, int], list[dict[str, Any]]]] = {"sweeps": _sweeps, "covariances": _covariances}
"""Systems of which something other than times is reported."""


# -- the report -------------------------------------------------------------------------------------------------------


def text(data: dict[str, Any]) -> str:
    """Write the figures as tables."""
    rows = [
        (
            one["system"], str(one["size"]), one["variant"],
            *(milliseconds(one.get(kind, {}).get("seconds")) for kind in ("resident", "end_to_end")),
            f"WRONG: {one['flaw']}" if one["flaw"] else "",
        )
        for one in data["figures"]
    ]  # fmt: skip
    parts = [aligned(("system", "size", "variant", "resident ms", "with transfer ms", ""), rows)]
    if "covariances" in data:
        parts.append(covariances.table([covariances.Record(**one) for one in data["covariances"]]))
    return "\n".join(parts)


STUDY = listed("sources", _run, some("systems", SIZES, nargs="?"), ORDERS, *turns.options(ROUNDS, SECONDS))
