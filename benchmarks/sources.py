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

`table` sets them beside the figures that the authors printed, theirs / ours. `ROWS` is data: a row for each system of a
document. Ours are the newest figures of each renderer, of restoration those that `benchmarks.applications` writes: of
the largest size, the author's variant and the fast one, from NumPy to NumPy where nothing else is said. Where a
document has only a picture that is lost, the table says "not published", and never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks import turns
from benchmarks.study import SIZES as ORDERS
from benchmarks.study import listed, read, some
from benchmarks.turns import Row, Way, timed
from glla import Device
from glla.lab import covariances, operations, peers, sweeps
from glla.lab.operations import Arrays
from glla.lab.study import Report, Run
from glla.lab.table import aligned, markdown, milliseconds
from glla.operations import OPERATIONS
from glla.passes import Parameters
from glla.testing import JUDGES

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
    options, device = run.options, run.device
    data: dict[str, Any] = {"figures": []}
    for name in options.systems:
        for size in options.size or SIZES[name][int(bool(device.limits.software))]:
            run.say(f"{name}, {size}")
            if name in LOOKED_AT:
                data.setdefault(name, []).extend(LOOKED_AT[name](device, size))
                continue
            ways = WAYS[name](device, size)
            rows = timed(
                ways, options.rounds, options.seconds, lambda way, at=f"{name}, {size}": run.say(f"{at}: {way}")
            )
            data["figures"] += [{"system": name, "size": size, **one} for one in figures(ways, rows)]
        if name == "sweeps":
            data["figures"] += [one for found in data[name] for one in _figures_of_sweeps(found)]
        run.keep(Report("", data))
    return Report(text(data), data, not any(one["flaw"] for one in data["figures"]))


def figures(ways: Sequence[Way], rows: Sequence[Row]) -> list[Row]:
    """Join the rows of ways with one name: its seconds by kind of timing, and its flaw, if any."""
    found: dict[str, Row] = {}
    for way, row in zip(ways, rows, strict=True):
        one = found.setdefault(way.name, {"variant": way.name, "flaw": "", **way.noted})
        one["flaw"] = one["flaw"] or row["flaw"]
        if not row["flaw"]:
            one[way.kind] = {name: row[name] for name in ("seconds", "fastest", "cpu_seconds")}
    return list(found.values())


# -- products and factors ---------------------------------------------------------------------------------------------


AUTHORS_PRODUCTS = ("single_component", "inner_product", "compute_tiled")
"""Variants of `matmul` that stand for a thread an element, the same in 2x2 blocks, and tiles in shared memory."""


def _product(device: Device, n: int) -> list[Way]:
    """The author's products, and what `matmul` takes: all held against double precision, as the author does."""
    arrays = operations.inputs(OPERATIONS["matmul"], n)
    exact = np.matmul(*(one.astype(np.float64) for one in arrays))
    named = {name: (name, ()) for name in AUTHORS_PRODUCTS} | {"matmul": _chosen(device, arrays)}
    ways = [_ways(device, "matmul", arrays, *variant, name, exact) for name, variant in named.items()]
    return [*chain(*ways), *_peers("matmul", arrays)]


def _variants(operation: str, device: Device, n: int) -> list[Way]:
    """Every variant of an operation that the device can run."""
    arrays = operations.inputs(OPERATIONS[operation], n)
    ways = [_ways(device, operation, arrays, name) for name in operations.contenders(operation)]
    return [*chain(*ways), *_peers(operation, arrays)]


def _syrk(device: Device, n: int) -> list[Way]:
    """Every version of M M^T, and the plain product of the same matrices."""
    (a,) = operations.inputs(OPERATIONS["syrk"], n)
    arrays = a, np.ascontiguousarray(a.T)  # not a's own memory, so nothing is known of the pair
    return _variants("syrk", device, n) + _ways(device, "matmul", arrays, *_chosen(device, arrays), "plain product")


def _chosen(device: Device, arrays: Arrays) -> tuple[str, Parameters]:
    """Variant that `matmul` takes."""
    return OPERATIONS["matmul"].choose(operations.forms(arrays), device.limits)


def _ways(
    device: Device, operation: str, arrays: Arrays, variant: str, parameters: Parameters = (), name: str = "",
    exact: NDArray[np.float64] | None = None,
) -> list[Way]:  # fmt: skip
    """With operands and result on the device, and from NumPy to NumPy; none if the device cannot, or it takes long."""
    contender = operations.contenders(operation)[variant]
    if contender.lacks(device.limits) or len(arrays[0]) > SLOW.get(variant, len(arrays[0])):
        return []
    job, noted = operations.prepare(device, OPERATIONS[operation], contender, arrays, parameters), dict[str, Any]()

    @cache  # one judgement serves both
    def check() -> str:
        found = job.fetch(job.run())
        if exact is not None:
            noted["difference"] = float(abs(found - exact).mean())
        return _flaw(operation, arrays, found)

    def run() -> None:
        for texture in job.run().values():
            texture.release()

    resident = Way(name or variant, run, check, device, noted=noted, kind="resident")
    return [resident, replace(resident, call=job.end_to_end, device=None, kind="end_to_end")]


def _flaw(operation: str, arrays: Arrays, found: Any) -> str:
    verdict = JUDGES[operation].verdict(arrays, found)
    return "" if verdict.ok else str(verdict)


def _peers(operation: str, arrays: Arrays) -> list[Way]:
    """Who does it on the CPU, in each of its ways."""
    peer = peers.peer_of(OPERATIONS[operation])
    return _of_peer(peer, peer.given(*arrays)) if peer else []


def _of_peer(peer: peers.Peer, arrays: Arrays, package: str | None = None) -> list[Way]:
    return [
        Way(way.label, partial(way.bind(), *(one.copy(order="K") for one in way.operands(*arrays))), kind="end_to_end")
        for way in peer.installed(package)
    ]


# -- inverses ---------------------------------------------------------------------------------------------------------


def _inv3(device: Device, count: int) -> list[Way]:
    (rows,) = operations.inputs(OPERATIONS["inv3"], count)
    a = rows.reshape(-1, 3, 3)

    def check(call: Callable[[], Any]) -> str:
        worst = float(covariances.ratios(a, call()).max())
        return "" if worst < covariances.LIMIT else f"norm(A X - I) is {worst:.3g} n norm(A) norm(X) u"

    calls = {variant: partial(glla.inv, a, variant=variant, device=device) for variant in covariances.WAYS}
    ways = [Way(name, call, partial(check, call), kind="end_to_end") for name, call in calls.items()]
    return ways + _of_peer(peers.INVERSES3, (rows,))


def _gauss_jordan(device: Device, n: int) -> list[Way]:
    """Inverses of a positive definite matrix: the author's two, the fast ones, and LAPACK's."""
    a, pos = sweeps.matrix(n), {"assume_a": "pos"}
    given, ways = glla.asarray(a, device), list[Way]()
    options: dict[str, dict[str, Any]] = {
        "gauss_jordan": {"variant": "gauss_jordan"},
        "cholesky_gets_product": {**pos, "variant": "cholesky_gets_product"},
        "potri": {**pos, "variant": "potri"},
        "inv": {},
    }
    for name, chosen in options.items():
        if n <= SLOW.get(name, n):
            whole = partial(glla.inv, a, device=device, **chosen)
            check = partial(lambda call: _flaw("inv", (a,), call()), whole)
            ways += [
                Way(name, partial(glla.inv, given, **chosen), check, device, kind="resident"),
                Way(name, whole, check, kind="end_to_end"),
            ]
    return ways + _of_peer(peers.INVERSE, (a,), "numpy")


def _figures_of_sweeps(found: dict[str, Any]) -> list[dict[str, Any]]:
    """All sweeps together, and the inverses that end by themselves, as figures."""
    every = {"sweeps": found["sweeps"][-1], **found["others"]}
    return [
        {"system": "sweeps", "size": found["n"], "variant": name, "flaw": "", "residual": one["residual"],
         "resident": {"seconds": one["seconds"]}}
        for name, one in every.items()
    ]  # fmt: skip


WAYS: dict[str, Callable[[Device, int], list[Way]]] = {
    "product": _product,
    "syrk": _syrk,
    "inv3": _inv3,
    "gauss_jordan": _gauss_jordan,
    **{name: partial(_variants, name) for name in ("cholesky", "triangular_inverse", "window_squares")},
}
"""Systems that are timed in turns."""

LOOKED_AT: dict[str, Callable[[Device, int], list[dict[str, Any]]]] = {
    "sweeps": lambda device, size: [sweeps.study(size, 100, device)],
    "covariances": lambda device, size: covariances.study(device, size=size),
}
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
        parts.append(covariances.table(data["covariances"]))
    return "\n".join(parts)


# -- the table of the site ---------------------------------------------------------------------------------------------

SITE_HEAD = ("source", "system", "function", "author's variant", "fast variant", "theirs", "ours: author's / fast")

NOT_PUBLISHED = "not published"

RESTORATION = '"Linear algebra on GPUs: applications in image restoration" (2012)'
SYRK = "COMP 633, PA2 (course report, 2013)"
FORUM = '"PyCuda code to invert a high number of 3x3 matrixes" (forum answer)'
WINDOWS = "aksoyyusuf/DenseMatrixMultiplication"

C1060 = "Tesla C1060, 2012"


@dataclass(frozen=True)
class Published:
    """A system of a document."""

    document: str  # which document, and where in it
    section: str
    system: str  # what is computed
    function: str  # how glla's users call it
    author: str  # the author's variant, and the fast one
    fast: str
    theirs: str  # what is printed or follows from what is printed, or `NOT_PUBLISHED`; with device and year
    measured: str = ""  # name of the system in ``figures`` of the results; "" if nothing measures it yet
    kind: str = "end_to_end"  # ("end_to_end", "resident"): which timing is shown
    size: int | None = None  # of which size ours are; None: of the largest


ROWS = (
    Published(
        RESTORATION, "5.2.1", "Gauss-Jordan inverse", '`inv(a, variant="gauss_jordan")`', "gauss_jordan", "inv",
        f"n = 4096: 4.80 ms a column, 19.7 s in all, derived; curve {NOT_PUBLISHED} ({C1060})", "gauss_jordan",
    ),
    Published(
        RESTORATION, "5.2.2", "Cholesky factor", "`cholesky(a)`", "block16", "blocked",
        f"n = 4096: 1.68 s, derived; curve {NOT_PUBLISHED} ({C1060})", "cholesky", "resident",
    ),
    Published(
        RESTORATION, "5.2.3", "inverse of a triangle", '`inv(a, assume_a="lower triangular")`', "gets", "blocked",
        f"n = 4096: 3.30 s, derived; curve {NOT_PUBLISHED} ({C1060})", "triangular_inverse", "resident",
    ),
    Published(
        RESTORATION, "5.2.4", "product, a thread an element", "`matmul(a, b)`", "single_component", "matmul",
        f"{NOT_PUBLISHED} ({C1060})", "product", "resident",
    ),
    Published(
        RESTORATION, "5.2.4", "product, tiles of 16 x 16 in shared memory", "`matmul(a, b)`", "compute_tiled", "matmul",
        f"times {NOT_PUBLISHED}; mean absolute difference to MATLAB 5e-5 ({C1060})", "product", "resident",
    ),
    Published(
        RESTORATION, "5.2", "inverse of a positive definite matrix", '`inv(a, assume_a="pos")`',
        "cholesky_gets_product", "potri", f'n = 4096: 6.1 s, derived from "4 times" ({C1060})', "gauss_jordan",
    ),
    Published(
        RESTORATION, "5.3", "Gauss-Seidel, 100 sweeps", "`glla study sweeps`", "sweeps", "inv",
        f'n = 4096: 3.0 s, derived from "up to 8 times"; sweeps and residual {NOT_PUBLISHED} ({C1060})', "sweeps",
        "resident",
    ),
    Published(
        RESTORATION, "6", "restoration of a blurred picture", "`applications.restore(image, psf)`", "inverse", "banded",
        f"mean square error 6.6e-5 of a blur; times {NOT_PUBLISHED} ({C1060})", "restore",
    ),
    Published(
        SYRK, "2.1", "M Mᵀ, a thread an element", "`matmul(a, a.T)`", "single_component", "symmetric",
        f"{NOT_PUBLISHED} (a GPU that is not named, 2013)", "syrk",
    ),
    Published(
        SYRK, "2.2", "M Mᵀ, stripes added by atomics", "`matmul(a, a.T)`", "stripes", "symmetric",
        f"{NOT_PUBLISHED} (a GPU that is not named, 2013)", "syrk",
    ),
    Published(
        FORUM, "answer", "many 3 x 3 inverses", '`inv(a, variant="adjugate")`', "adjugate", "adjugate_fused",
        NOT_PUBLISHED, "inv3",
    ),
    Published(
        FORUM, "answer", "the same with pivots", "`inv(a)`", "adjugate", "pivoted_small", NOT_PUBLISHED, "inv3",
    ),
    Published(
        WINDOWS, "README", "squares of all windows", "`applications.window_squares(image)`", "frames", "separable",
        "15 x 15: 5.56 ms, in shared memory 8.49 ms (GeForce RTX 2060, a card of 2019)", "window_squares", size=15,
    ),
    Published(
        WINDOWS, "README", "the same, a photograph of 512 x 512", "`applications.window_squares(image)`", "frames",
        "separable", NOT_PUBLISHED, "window_squares", size=512,
    ),
)  # fmt: skip


def _restored(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Figures of restoration, which `benchmarks.applications` measures: by the side of the picture."""
    return [
        {"system": "restore", "size": one["side"], "variant": one["way"], "flaw": one["reason"],
         **({"end_to_end": {"seconds": one["seconds"]}} if one["seconds"] else {})}
        for one in run["restoration"]["timings"]
    ]  # fmt: skip


FOLDERS: dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]] = {
    "sources": lambda run: list(run["figures"]),
    "applications": _restored,
}
"""Kinds of results that have figures of systems, and how these are read."""


def figures_of(results: Path) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Read the newest figures of each system: its name -> (renderer and year, figure of a variant) of all sizes.

    Runs of another machine, or with only some of the systems, leave the others as they are.
    """
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    runs = {kind: read(results, kind) for kind in sorted(FOLDERS)}
    for folder in sorted({name for named in runs.values() for name in named}):
        own: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for kind, named in runs.items():
            for run in named.get(folder, ()):
                figures, place = FOLDERS[kind](run), f"{run['renderer']}, {run['date'][:4]}"
                for system in dict.fromkeys(one["system"] for one in figures):
                    own[system] = [(place, one) for one in figures if one["system"] == system]
        for system, each in own.items():
            found.setdefault(system, []).extend(each)
    return found


def cell(row: Published, figures: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Write ours, for each renderer: the largest size at which both variants were timed.

    >>> timing = {"system": "x", "size": 8, "flaw": "", "end_to_end": {"seconds": 0.5}}
    >>> row = Published("", "", "", "", "slow", "fast", "", "x")
    >>> cell(row, [("a GPU", {**timing, "variant": "slow"}), ("a GPU", {**timing, "variant": "fast"})])
    'a GPU, 8: 500 / 500 ms, 1 x'
    """
    lines = []
    known = [(renderer, one) for renderer, one in figures if not one["flaw"] and row.kind in one]
    for renderer in dict.fromkeys(name for name, _ in known):
        by_size: dict[int, dict[str, dict[str, Any]]] = {}
        for name, one in known:
            if name == renderer and row.size in (None, one["size"]):
                by_size.setdefault(one["size"], {})[one["variant"]] = one
        both = [size for size, named in by_size.items() if {row.author, row.fast} <= set(named)]
        if both:
            author, fast = (by_size[max(both)][variant] for variant in (row.author, row.fast))
            lines.append(f"{renderer}, {max(both)}: {_compared(author, fast, row.kind)}")
    return "; ".join(lines) or "not measured yet"


def _compared(author: dict[str, Any], fast: dict[str, Any], kind: str) -> str:
    """Write two times and their ratio, and how far the results are from double precision where that was measured."""
    one, other = (figure[kind]["seconds"] for figure in (author, fast))
    words = f"{1e3 * one:.3g} / {1e3 * other:.3g} ms, {one / other:.2g} x"
    if "difference" in author:
        words += f"; mean differences {author['difference']:.2g} / {fast['difference']:.2g}"
    return words


def table(results: Path) -> str:
    """Write the table."""
    figures = figures_of(results)
    rows = [
        (
            f"{row.document}, {row.section}", row.system, row.function, f"`{row.author}`", f"`{row.fast}`", row.theirs,
            cell(row, figures.get(row.measured, ())),
        )
        for row in ROWS
    ]  # fmt: skip
    return markdown(SITE_HEAD, rows)


STUDY = listed("sources", _run, some("systems", SIZES, nargs="?"), ORDERS, *turns.options(ROUNDS, SECONDS))
