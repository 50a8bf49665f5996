"""Measure what is promised of sparse matrices, tridiagonal systems and shallow water, beside SciPy and LAPACK.

    spmv           A x, A the five points of an N x N grid, with constant and with any coefficients: GFLOP/s of formats,
                   beside SciPy's csr and dia
    unstructured   A x, A a triangulation of as many points (mesh), 16 entries a row anywhere (scattered), and rows of
                   very different lengths (power law)
    cg             (A + shift I) x = b for the same grids, to 1e-5 of the true residual: ms an iteration, beside SciPy's
                   cg in float32
    tridiagonal    N definite systems of order N: beside LAPACK's sptsv in a loop, as one long system, on all cores
    water          a step of shallow water, N x N cells, beside the same scheme in NumPy
    streamed       many systems of order 300 from NumPy to NumPy, a million on a GPU

Every way is judged first; a wrong result is not timed. The others are timed in turns, a call
of each in every round behind a moment of the same, at most R rounds and about S seconds of each; medians count.
Ceilings of the device are measured by the same run: `limit` is the time that texels written, texels fetched and draws
would take one after the other.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks import turns
from benchmarks.study import NOTHING, Columns, Data, laid_out, listed, read, some
from benchmarks.turns import Way, timed
from glla import Device
from glla.gl import Texture
from glla.lab import ceilings, fetches, machine, peers, water
from glla.lab.convergence import laplacian
from glla.lab.study import Report, Run, Say
from glla.lab.table import aligned, digits, markdown, milliseconds
from glla.operations.bands import banded
from glla.operations.sparse import cg as iteration
from glla.operations.sparse import spmv
from glla.passes import Call, Form, Plan

Floats = NDArray[np.floating[Any]]

U = 2.0**-24
ORDER = 300
"""Order of the systems that are streamed."""

SIZES = {
    # name: (on a GPU, in software)
    "spmv": (1024, 256),
    "unstructured": (1024, 256),
    "cg": (1024, 256),
    "tridiagonal": (1024, 256),
    "water": (1024, 128),
    "streamed": (1_000_000, 20_000),
}
"""Sides of grids, orders of systems, numbers of systems."""

ROUNDS, SECONDS = 5, 4.0
"""Calls of each way at most, and seconds of each after which it is called no more."""

WARM = 0.1
"""Seconds that each way works before a call of it is timed."""

SHIFT, RTOL = 0.02, 1e-5
"""Added to the diagonal of the five points, 0 to 8 of itself, so that about a hundred iterations are enough; and the
residual that is asked for, against the right-hand side."""

TOGETHER = 16
"""Columns of a product with a matrix."""

MOST_ERROR = 16 * U
"""Componentwise backward error that `solveh_banded` allows."""


def _run(run: Run) -> Report:
    """Measure the systems that are asked for."""
    options, device, figures = run.options, run.device, list[Data]()
    run.say("ceilings")
    roofs = ceilings.report(device, quick=True)
    for name in options.systems:
        size = options.size or SIZES[name][int(bool(device.limits.software))]
        for system, ways in SYSTEMS[name](device, size, run.say):
            rows = timed(ways, options.rounds, options.seconds, lambda way, s=system: run.say(f"{s}: {way}"), WARM)
            for way, row in zip(ways, rows, strict=True):
                row |= limit(device, way.plan, roofs["ceilings"], row.get("seconds"))
                figures.append({"system": system, "size": size, **row})
    data = {"peak_bytes": device.stats().peak_bytes, "ceilings": roofs, "figures": figures}
    return Report(text(figures), data, not any(one["flaw"] for one in figures))


def profile(device: Device, plan: Plan, operands: Mapping[str, Texture]) -> dict[str, float]:
    """Seconds of the passes of a plan; those of one shader are added up, and those that draw next to nothing."""
    found = dict[str, float]()
    for one in turns.recorded(partial(device.run, plan, **operands)):
        name = one.shader if one.region.width > 1 else "one texel"
        found[name] = found.get(name, 0.0) + one.seconds
    return found


def limit(
    device: Device,
    planned: tuple[Plan, Mapping[str, Texture]] | None,
    roofs: Data,
    seconds: float | None,
) -> dict[str, float]:
    """Seconds that a plan takes at the ceilings: all that it writes, fetches and draws, one after the other.

    Fetches are counted, by running the plan once more.
    """
    if planned is None:
        return {}
    plan, operands = planned
    write = max(one["value"] for name, one in roofs.items() if name.startswith("write_"))
    parts = {
        "writing": plan.cost.nbytes / write / 1e9,
        "fetching": fetches.count(device, plan, operands) / roofs["fetch_rgba32f"]["value"] / 1e9,
        "drawing": plan.cost.passes * roofs["ping_pong"]["value"] / 1e6,
    }
    whole = sum(parts.values())
    return {**parts, "limit": whole, **({} if seconds is None else {"of_limit": whole / seconds})}


# -- products ---------------------------------------------------------------------------------------------------------

Systems = Iterator[tuple[str, list[Way]]]


def grid(n: int) -> Any:
    """The five-point Laplacian of an n x n grid, float32."""
    return peers.in_scipy(laplacian(n))


def varied(n: int) -> Any:
    """The five points of an n x n grid whose coefficients are random: diffusion between 0.5 and 1.5; float32."""
    from scipy.sparse import dia_array

    rng, point = np.random.default_rng(14), np.arange(n * n)
    right, below = (0.5 + rng.random(n * n) for _ in range(2))
    right[point % n == n - 1] = below[-n:] = 0
    left, above = np.roll(right, 1), np.roll(below, n)  # of the point itself
    own = right + below + left + above + 0.5 * ((point % n == 0) | (point % n == n - 1))
    stored = [-below, -right, own, -left, -above]  # by columns, as SciPy has it: A[j - offset, j]
    return dia_array((np.stack(stored).astype(np.float32), [-n, -1, 0, 1, n]), shape=(n * n, n * n))


def mesh(n: int, rng: np.random.Generator) -> Any:
    """Adjacency of a triangulation: an n x n grid, each cell cut at random, points shuffled, then ordered by RCM."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    point = np.arange(n * n).reshape(n, n)
    cut = rng.random((n - 1, n - 1)) < 0.5
    one = np.where(cut, point[:-1, :-1], point[:-1, 1:])
    two = np.where(cut, point[1:, 1:], point[1:, :-1])
    pairs = [(point[:-1], point[1:]), (point[:, :-1], point[:, 1:]), (one, two)]
    shuffled = rng.permutation(n * n).astype(np.int32)
    a = shuffled[np.concatenate([first.ravel() for first, _ in pairs])]
    b = shuffled[np.concatenate([second.ravel() for _, second in pairs])]
    own = np.arange(n * n, dtype=np.int32)
    rows, columns = np.concatenate([a, b, own]), np.concatenate([b, a, own])
    values = rng.standard_normal(len(rows)).astype(np.float32)
    found = coo_array((values, (rows, columns)), shape=(n * n, n * n)).tocsr()
    order = reverse_cuthill_mckee(found, symmetric_mode=True)
    return found[order][:, order].tocsr()


def scattered(n: int, rng: np.random.Generator) -> Any:
    """16 entries in each of n^2 rows, in any columns."""
    from scipy.sparse import csr_array

    count = n * n
    columns = rng.integers(0, count, (count, 16), dtype=np.int32)
    columns.sort(axis=1)
    values = rng.standard_normal(16 * count).astype(np.float32)
    found = csr_array((values, columns.ravel(), 16 * np.arange(count + 1, dtype=np.int64)), shape=(count, count))
    found.sum_duplicates()
    return found


def power_law(n: int, rng: np.random.Generator) -> Any:
    """Rows of 8 entries on average and 20000 at most, in any columns; n^2 rows. One in 5000 has over 800."""
    from scipy.sparse import csr_array

    count = n * n
    lengths = np.minimum(2.7 * (1 - rng.random(count)) ** (-2 / 3), min(20000, count)).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    values = rng.standard_normal(starts[-1]).astype(np.float32)
    found = csr_array((values, rng.integers(0, count, starts[-1], dtype=np.int32), starts), shape=(count, count))
    found.sum_duplicates()
    return found


def _spmv(device: Device, n: int, say: Say) -> Systems:
    say("spmv: matrix")
    yield "spmv", _products(device, grid(n), ("diagonals", "stencil", "circular", "sell"), ("csr", "dia"))
    say("spmv, any coefficients: matrix")
    yield "spmv, any coefficients", _products(device, varied(n), ("diagonals",), ("csr", "dia"))


def _unstructured(device: Device, n: int, say: Say) -> Systems:
    for make, formats in ((mesh, ("sell", "pointers")), (scattered, ("sell", "pointers")), (power_law, ("sell",))):
        name = f"unstructured, {make.__name__.replace('_', ' ')}"
        say(f"{name}: matrix")
        yield name, _products(device, make(n, np.random.default_rng(14)), formats, ("csr",))


def _products(device: Device, A: Any, formats: Sequence[str], theirs: Sequence[str]) -> list[Way]:
    """Products in some formats of ours, whose operands lie on the device, and of SciPy's."""
    rng = np.random.default_rng(2007)
    x = rng.standard_normal(A.shape[1]).astype(np.float32)
    rows = A.tocsr()
    exact, size = rows.astype(np.float64) @ x.astype(np.float64), abs(rows) @ np.abs(x)
    bound = (np.diff(rows.indptr).max() + 2) * U * size
    given, flop = glla.asarray(x, device), 2.0 * rows.nnz
    resident = partial(Way, device=device, repeats=4 if device.limits.software else 32)

    def judged(make: Callable[[], Floats]) -> str:
        worst = float(np.max(np.abs(make() - exact) / bound, initial=0.0))
        return "" if worst <= 1 else f"error {worst:.3g} times the bound"

    ways = []
    for name in formats:
        matrix = glla.sparse.asarray(rows, name, device=device)
        textures = {**matrix.operands, "x": given.value.texture}
        planned = matrix.plan, textures

        def bare(plan: Plan = matrix.plan, textures: Any = textures) -> None:
            device.run(plan, **textures)["y"].release()

        check = partial(judged, lambda matrix=matrix: (matrix @ given).numpy())
        product = partial(matrix.__matmul__, given)
        ways.append(resident(f"A @ x, {name}, resident", product, check, flop=flop, plan=planned))
        ways.append(resident(f"plan alone, {name}, resident", bare, check, flop=flop, plan=planned))
        if name == formats[0]:
            whole = partial(matrix.__matmul__, x)
            ways.append(Way(f"A @ x, {name}, x and y in NumPy", whole, partial(judged, whole), flop=flop))
            ways.append(_together(resident, device, matrix))
    for name in theirs:
        own = rows.asformat(name)
        product = partial(own.__matmul__, x)
        ways.append(Way(f"SciPy {name}", product, partial(judged, product), flop=flop))
    X = rng.standard_normal((A.shape[1], TOGETHER), dtype=np.float32)
    ways.append(Way(f"SciPy csr, {TOGETHER} columns", partial(rows.__matmul__, X), flop=TOGETHER * flop))
    return ways


def _together(resident: Callable[..., Way], device: Device, matrix: glla.sparse.SparseMatrix) -> Way:
    """The product with some columns at once, on the device; judged by the columns one by one."""
    X = np.random.default_rng(14).standard_normal((matrix.shape[1], TOGETHER), dtype=np.float32)
    given, flat = glla.asarray(X, device), glla.asarray(X.reshape(-1), device)

    def check() -> str:
        found, one = (matrix @ given).numpy(), matrix @ np.ascontiguousarray(X[:, TOGETHER - 1])
        size = np.abs(found).max()
        worst = float(np.abs(found[:, -1] - one).max() / size)
        return "" if worst <= 64 * U else f"columns together differ by {worst:.3g} of the largest"

    flop, name = 2.0 * TOGETHER * matrix.nnz, f"A @ X, {TOGETHER} columns, {matrix.format}, resident"
    plan = spmv.rows(matrix.form, TOGETHER // 4, device.limits)
    assert plan is not None
    textures = {**matrix.operands, "X": flat.value.texture}
    return resident(name, partial(matrix.__matmul__, given), check, flop=flop, plan=(plan, textures))


# -- conjugate gradients ----------------------------------------------------------------------------------------------


def _cg(device: Device, n: int, say: Say) -> Systems:
    say("cg: matrix")
    yield "cg", _iterations(device, grid(n), ("diagonals", "stencil"), say)
    say("cg, any coefficients: matrix")
    yield "cg, any coefficients", _iterations(device, varied(n), ("diagonals",), say)


def _iterations(device: Device, points: Any, formats: Sequence[str], say: Say) -> list[Way]:
    """Conjugate gradients for five points of a grid, shifted, in some formats of ours, and SciPy's."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import cg

    count = points.shape[0]
    A = (points.tocsr() + np.float32(SHIFT) * eye_array(count, dtype=np.float32)).tocsr()
    assert A.dtype == np.float32
    b = np.random.default_rng(14).standard_normal(count).astype(np.float32)
    wide = A.astype(np.float64)
    flop = 2.0 * A.nnz + 10.0 * count

    def judged(solve: Callable[..., Any], noted: Data) -> str:
        steps: list[None] = []
        x, info = solve(callback=lambda xk: steps.append(None))
        noted["iterations"] = len(steps)
        found = x.numpy() if isinstance(x, glla.Array) else x
        noted["residual"] = float(np.linalg.norm(b - wide @ found.astype(np.float64)) / np.linalg.norm(b))
        if info != 0 or found.dtype != np.float32:
            return f"info {info}, {found.dtype}"
        # SciPy's verdict, 0, is of the recurrence: its true residual may be larger, and is noted
        return "" if noted["residual"] <= 1.01 * RTOL or solve in others else f"true residual {noted['residual']:.3g}"

    given, ways = glla.asarray(b, device), []
    others = [partial(cg, A.asformat(name), b, rtol=RTOL) for name in ("csr", "dia")]
    for form, name in itertools.product(formats, iteration.VARIANTS):
        matrix = glla.sparse.asarray(A, form, device=device)
        solve = partial(glla.sparse.linalg.cg, matrix, given, rtol=RTOL, variant=name)
        noted: Data = {}
        say(f"cg: passes of {name}, {form}")
        plan = _one_iteration(device, matrix, given, name)
        noted["passes"] = profile(device, *plan)
        check = partial(judged, solve, noted)
        ways.append(Way(f"cg, {name}, {form}, resident", solve, check, device, 1, flop, plan, noted))
    for name, solve in zip(("csr", "dia"), others, strict=True):
        noted = {}
        ways.append(Way(f"SciPy cg, {name}, float32", solve, partial(judged, solve, noted), flop=flop, noted=noted))
    return ways


def _one_iteration(
    device: Device, matrix: glla.sparse.SparseMatrix, b: glla.Array, variant: str
) -> tuple[Plan, Mapping[str, Texture]]:
    """Plan of an iteration, and what it takes before the first one."""
    n, limits = matrix.shape[0], device.limits
    given = {f"A.{name}": texture for name, texture in matrix.operands.items()}
    given["bound"] = device.write_texels(np.zeros((1, 1, 4), dtype=np.float32))
    begins = iteration.begin(matrix.plan, None, n, limits, variant=variant)
    needed = {name: texture for name, texture in given.items() if name in begins.operands}
    given |= device.run(begins, b=b.value.texture, **needed)
    plan = iteration.turn(matrix.plan, None, n, limits, variant=variant)
    return plan, {name: given[name] for name in plan.operands}


# -- tridiagonal systems ----------------------------------------------------------------------------------------------


def diffusion(count: int, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Lower bands of definite systems as an implicit step of a diffusion has them, (count, 2, n), and right sides."""
    beside = rng.random((count, n + 1), dtype=np.float32) + np.float32(0.5)
    beside[:, 0] = beside[:, n] = 0
    ab = np.empty((count, 2, n), dtype=np.float32)
    ab[:, 0] = np.float32(0.5) + beside[:, :n] + beside[:, 1:]
    ab[:, 1] = -beside[:, 1:]
    return ab, rng.standard_normal((count, n, 1), dtype=np.float32)


def backward_error(ab: Floats, b: Floats, x: Floats) -> float:
    """Largest componentwise backward error, in float64."""
    ab, b, x = (one.astype(np.float64) for one in (ab, b[..., 0], x[..., 0]))
    found, size = ab[:, 0] * x - b, np.abs(ab[:, 0] * x) + np.abs(b)
    for target, source in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        part = ab[:, 1, :-1] * x[:, source]
        found[:, target] += part
        size[:, target] += np.abs(part)
    return float(np.max(np.abs(found) / size, initial=0.0))


def _sptsv() -> Any:
    """LAPACK's own function, which lets other threads run: pointers alone go in."""
    from scipy.linalg import cython_lapack

    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = cython_lapack.__pyx_capi__["sptsv"]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 7)(
        api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    )


def on_threads(ab: Floats, b: Floats, threads: int) -> Floats:
    """Solve by LAPACK's sptsv: a part of the systems on each thread, all of a part as one long system.

    Entries between systems are zero, so one call does a part, without a loop; d, e and b are its own copies.
    """
    solve, count = _sptsv(), len(ab)
    x = np.empty_like(b)

    def part(first: int, end: int) -> None:
        d, e = ab[first:end, 0].ravel().copy(), ab[first:end, 1].ravel().copy()  # e ends a system with zero
        x[first:end] = b[first:end]
        sizes = [ctypes.c_int(one) for one in (d.size, 1, d.size, 0)]
        rows, columns, leading, info = (ctypes.addressof(one) for one in sizes)
        solve(rows, columns, d.ctypes.data, e.ctypes.data, x[first:end].ctypes.data, leading, info)

    ends = np.linspace(0, count, min(threads, count) + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, ends[:-1].tolist(), ends[1:].tolist()))
    return x


def in_a_loop(ab: Floats, b: Floats) -> Floats:
    """Solve by a loop of LAPACK's sptsv, as SciPy wraps it."""
    from scipy.linalg.lapack import sptsv

    return np.stack([sptsv(one[0], one[1, :-1], right)[2] for one, right in zip(ab, b, strict=True)])


def _tridiagonal(device: Device, n: int, say: Say) -> Systems:
    from scipy.linalg import solveh_banded

    say("tridiagonal: systems")
    ab, b = diffusion(n, n, np.random.default_rng(14))
    flop, cores = 8.0 * b.size, machine.cores()
    given = glla.asarray(ab, device), glla.asarray(b, device)
    forms = tuple(Form(one.shape, resident=True) for one in given)
    plan = banded.resident_stack(forms, device.limits, lines=((1, -1), (0, 0), (1, 0)), definite=True)
    passes = next(step.plan for step in plan.steps if isinstance(step, Call))  # all but the read-back
    planned = passes, dict(zip("AB", (one.value.texture for one in given), strict=True))
    resident = partial(Way, device=device, repeats=1 if device.limits.software else 8, flop=flop, plan=planned)

    def bare() -> None:
        made = device.run(plan, **planned[1])
        made["matrices"].release()
        made["diagnostics"].release()

    def solutions() -> Floats:
        return device.read(device.run(plan, **planned[1])["matrices"]).reshape(-1)[: b.size].reshape(b.shape)

    def judged(make: Callable[[], Any]) -> str:
        x = make()
        worst = backward_error(ab, b, x.numpy() if isinstance(x, glla.Array) else x)
        return "" if worst <= MOST_ERROR else f"backward error {worst / U:.3g} u"

    stays = partial(glla.solveh_banded, *given, lower=True)
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("solveh_banded, from NumPy to NumPy", partial(glla.solveh_banded, ab, b, lower=True, device=device)),
        ("LAPACK sptsv in a loop, 1 core", partial(in_a_loop, ab, b)),
        ("LAPACK sptsv as one long system, 1 core", partial(on_threads, ab, b, 1)),
        (f"LAPACK sptsv as {cores} long systems, {cores} cores", partial(on_threads, ab, b, cores)),
        ("SciPy solveh_banded of the stack", partial(solveh_banded, ab, b, lower=True, check_finite=False)),
    ]
    yield (
        "tridiagonal",
        [
            resident("plan alone, resident", bare, partial(judged, solutions)),
            resident("solveh_banded, resident", stays, partial(judged, stays)),
            *(Way(name, run, partial(judged, run), flop=flop) for name, run in calls),
        ],
    )


def _streamed(device: Device, count: int, say: Say) -> Systems:
    say(f"streamed: {count} systems of order {ORDER}")
    ab, b = diffusion(count, ORDER, np.random.default_rng(14))
    flop, cores, noted = 8.0 * b.size, machine.cores(), Data()
    some = np.unique(np.linspace(0, count - 1, 5000).astype(int))
    last: dict[str, Floats] = {}

    def ours() -> None:
        last["x"] = glla.solveh_banded(ab, b, lower=True, check_finite=False, device=device)

    def judged(run: Callable[[], Any], noted: Data) -> str:
        x = run()
        x = last["x"] if x is None else x
        noted["peak_bytes"] = device.stats().peak_bytes
        worst = backward_error(ab[some], b[some], x[some])
        return "" if worst <= MOST_ERROR else f"backward error {worst / U:.3g} u"

    ways = [Way("solveh_banded, from NumPy to NumPy", ours, partial(judged, ours, noted), flop=flop, noted=noted)]
    for count, name in ((cores, f"{cores} long systems, {cores} cores"), (1, "one long system, 1 core")):
        lapack = partial(on_threads, ab, b, count)
        ways.append(Way(f"LAPACK sptsv as {name}", lapack, partial(judged, lapack, {}), flop=flop))
    yield "streamed", ways


# -- shallow water ----------------------------------------------------------------------------------------------------


def _water(device: Device, n: int, say: Say) -> Systems:
    say("water: humps")
    start, repeats = water.hump(n).astype(np.float32), 2 if device.limits.software else 16
    reference = water.Reference(start)

    exact = water.Reference(water.hump(n))
    for _ in range(2):
        exact.step()

    def judged(scheme: str, noted: Data) -> str:
        basin = water.resident(device, n, scheme)
        before = basin.volume()
        basin.step(2)
        noted["differences"] = {name: most for name, (_, most) in water.differences(basin, exact).items()}
        noted["volume_lost"] = abs(basin.volume() / before - 1)
        allowed = 1e-5 if scheme == "adi" else 0.2  # the other scheme does not damp
        worst = max(noted["differences"].values())
        if noted["volume_lost"] > 1e-6:
            return f"volume changed by {noted['volume_lost']:.3g} of itself"
        return "" if worst <= allowed else f"differs by {worst:.3g} from NumPy in float64"

    ways = []
    for scheme in ("adi", "semi_implicit"):
        basin, noted = water.resident(device, n, scheme), Data()
        plan = (basin.plan(), basin.operands()) if scheme == "adi" else None
        check = partial(judged, scheme, noted)
        ways.append(Way(f"ShallowWater, {scheme}", basin.step, check, device, repeats, plan=plan, noted=noted))
    ways.append(Way("the same scheme (adi) in NumPy, float32", reference.step))
    yield "water", ways


SYSTEMS: dict[str, Callable[[Device, int, Say], Systems]] = {
    "spmv": _spmv,
    "unstructured": _unstructured,
    "cg": _cg,
    "tridiagonal": _tridiagonal,
    "water": _water,
    "streamed": _streamed,
}
"""Systems by the names that a user asks for: (device, size, say) -> names and ways."""


# -- the report -------------------------------------------------------------------------------------------------------

THEIRS = ("SciPy", "LAPACK", "the same scheme")
"""First words of the names of ways that run on the CPU."""

BESIDE = ("columns",)
"""Words in the names of ways that compute something other than the rest of their system."""


def _number(name: str, form: Callable[[float], str] = digits) -> Callable[[Data], str]:
    return lambda row: form(row[name]) if name in row else "-"


COLUMNS: Columns = {
    "what": lambda row: row["system"],
    "size": lambda row: str(row["size"]),
    "way": lambda row: row["variant"],
    "ms": _number("seconds", milliseconds),
    "CPU ms": _number("cpu_seconds", milliseconds),
    "GFLOP/s": _number("gflops"),
    "of the limit": _number("of_limit", "{:.0%}".format),
    "true residual": _number("residual", "{:.1e}".format),
    "iterations": _number("iterations", str),
}


def text(figures: Sequence[Data]) -> str:
    """Write the figures as a table: of a product, an iteration, a step or a whole call; below it passes alone."""
    flaw: Columns = {"": lambda row: f"WRONG: {row['flaw']}" if row["flaw"] else ""}
    lines = [aligned(*laid_out({**COLUMNS, **flaw}, figures))]
    for one in (one for one in figures if "passes" in one):
        parts = ", ".join(f"{name} {1e3 * seconds:.3g}" for name, seconds in one["passes"].items())
        lines.append(f"{one['system']} {one['size']}, {one['variant']}, ms of its passes alone: {parts}")
    return "\n".join(lines)


def table(results: Path) -> str:
    """Give the Markdown of sparse systems beside SciPy and LAPACK: of each device and system the largest size."""
    found: dict[tuple[str, str, int], Data] = {}
    for data in sorted((run for runs in read(results, "sparse").values() for run in runs), key=lambda run: run["date"]):
        for one in data["figures"]:
            found[data["renderer"], one["system"], one["size"]] = data
    largest = {place[:2]: max(each[2] for each in found if each[:2] == place[:2]) for place in found}
    rows = [row for place, data in found.items() if largest[place[:2]] == place[2] for row in fastest(data, *place[1:])]
    columns: Columns = {"device": lambda row: row["renderer"], **COLUMNS, "x theirs": _number("ratio")}
    return markdown(*laid_out(columns, rows)) if rows else NOTHING


def fastest(data: Data, system: str, size: int) -> list[Data]:
    """Give the fastest way on the device and the fastest on the CPU; none where one of them is missing.

    Of a software rasteriser seconds of the CPU count, all threads together: whoever else is busy adds nothing to them.
    """
    clock = "cpu_seconds" if data["software"] else "seconds"
    ways = [
        one
        for one in data["figures"]
        if (one["system"], one["size"]) == (system, size)
        and clock in one
        and not any(word in one["variant"] for word in BESIDE)
    ]
    sides = [[one for one in ways if one["variant"].startswith(THEIRS) == cpu] for cpu in (False, True)]
    if not all(sides):
        return []
    ours, theirs = (min(side, key=lambda one: float(one[clock])) for side in sides)
    device = {"renderer": data["renderer"]}
    return [{**device, **ours, "ratio": theirs[clock] / ours[clock]}, {**device, **theirs}]


STUDY = listed(
    "sparse",
    _run,
    some("systems", SYSTEMS, nargs="?"),
    *turns.options(ROUNDS, SECONDS),
    size=(0, "side of grids, order of systems, number of systems, in place of the usual ones"),
)
