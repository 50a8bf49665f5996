"""Chapters 4 and 5 and the appendices, figure by figure: a function for each section of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil, sqrt
from typing import Any

import numpy as np

from glla import linalg
from glla.lab import water
from glla.lab.fits import Fit
from glla.linalg.echelon import eliminated
from glla.queue import coprocessor
from glla.testing.references import textbook_plu
from glla.thesis import appendix, loops, published
from glla.thesis.measure import (
    Place,
    cubic,
    dominant,
    exponent,
    planned,
    polynomial,
    restored,
    speedup,
    streamed,
    their_curve,
    theirs,
    uniform,
)
from glla.thesis.parts import Cell, Drawing, Section, Series, Table, coarse

BY_PLACE, FIVE = 1000, 5
"""Order at most of the matrices whose error is shown by place (the thesis does not say its own), and how many."""

TEXTBOOK, INTERPRETED = 400, 64
"""Largest orders of the textbook's loops: those over rows in NumPy, and those over elements in Python."""

SHARED = 1024
"""Largest order of the streams that CPU and GPU share: 25 systems, in four ways."""

NONE = "-"

PUBLISHED_GAP = "CPU and GPU against CPU"
"""Name of the comparison that table 5.1 publishes."""

ARROWS = 20
"""Velocities on a side of figure 5.4."""


Lines = dict[str, tuple[Series, Fit | None, str]]
"""Name of a way -> its curve, its fit, and the fit in words."""


def _fits(section: Section, figure: str, lines: Lines, names: Mapping[str, str], runs: Mapping[str, str]) -> None:
    """Table of the fits, ours beside those of the thesis by their names, each with the plan or the CPU's call."""
    head = ("run time in seconds", f"theirs ({published.DEVICE})", "ours", "what runs, at our largest n")
    rows = [(name, theirs(names[name]) if name in names else NONE, line[2], runs[name]) for name, line in lines.items()]
    section.tables.append(Table(f"{figure}: fits a + b n^3", head, tuple(rows)))
    section.values["fits"] = {name: line[1] for name, line in lines.items()}


def _growth(
    section: Section, figure: str, label: str, sizes: Sequence[int], means: Sequence[float], degree: int = 1
) -> None:
    """Mean errors over n, and the polynomial that the thesis fits to its own."""
    series, text = polynomial(label, sizes, means, degree)
    curve, kind = {1: ("a line", "linear"), 2: ("a quadratic", "second order polynomial")}[degree]
    section.drawings.append(Drawing(f"{figure}: mean error", y="|error|", series=(series,), logarithmic=False))
    row = (f"{kind}, coefficients {published.NOT_PUBLISHED}", text)
    section.tables.append(Table(f"{figure}: {curve}", ("theirs", "ours"), (row,)))
    section.values["growth"] = {"exponent": exponent(sizes, means), "fit": text}


def _by_place(place: Place, error: Callable[[int], Any]) -> tuple[int, Any, dict[str, float]]:
    """Order, mean error by place of some matrices, and the largest of mean and single errors."""
    n = min(place.sizes[-1], BY_PLACE)
    errors = np.stack([error(n) for _ in range(FIVE)])
    mean = errors.mean(axis=0)
    return n, mean, {"largest mean error": float(mean.max()), "largest error": float(errors.max())}


# -- 4.1.1: the product -----------------------------------------------------------------------------------------------


def product(place: Place) -> Section:
    """Figures 4.3 and 4.4, tables B.2: run times and errors of the product."""
    section = Section("product", "Matrix product", "section 4.1.1, figures 4.3 and 4.4, table B.2")
    published_at = {
        "CPU": published.PRODUCT_CPU,
        "inner product": published.PRODUCT_SINGLE_PASS,
        "virtual cube": published.PRODUCT_MULTI_PASS,
        "glla's choice": (),
    }
    variants = {"inner product": "inner_product", "virtual cube": "virtual_cube_ping_pong", "glla's choice": None}
    found: dict[str, dict[int, tuple[float, float]]] = {name: {} for name in published_at}
    at = {name: place.shared([n for n, _ in table]) for name, table in published_at.items()}
    runs: dict[str, str] = {}
    for n in sorted({n for orders in at.values() for n in orders}):
        m, inner, o = (int(n + place.rng.integers(0, 11)) for _ in range(3))  # as the thesis perturbs them
        place.say(f"product {m} x {inner} x {o}")
        a, b = uniform(place, m, inner), uniform(place, inner, o)
        for name in (name for name, orders in at.items() if n in orders):
            if name == "CPU":
                seconds, runs[name] = place.cpu("matmul", a, b), place.called["matmul"]
            else:
                made = planned(place, "matmul", a.shape, b.shape, variant=variants[name])
                seconds, runs[name] = place.gpu(made, "matmul", a, b), made.operation
            found[name][n] = sqrt((m * inner + inner * o) / 2), seconds
    lines = {name: cubic(name, *zip(*points.values(), strict=True)) for name, points in found.items()}
    names = {name: f"product, {name}" for name in published_at if f"product, {name}" in published.FITS}
    cube, cpu = ([found[name][n][1] for n in place.sizes] for name in ("virtual cube", "CPU"))
    section.values["measured"] = place.sizes, cube, cpu
    section.values["last"] = {name: points[place.sizes[-1]][1] for name, points in found.items()}
    curves = (*(line[0] for line in lines.values()), *map(their_curve, names.values()))
    section.drawings.append(Drawing("Figure 4.3: the product", "sqrt((mn + no) / 2)", series=curves))
    _fits(section, "Figure 4.3", lines, names, runs)
    for title, name in (
        ("Table B.2a: product on the CPU", "CPU"),
        ("Table B.2b: single pass, the inner product", "inner product"),
        ("Table B.2c: multi pass, the virtual cube", "virtual cube"),
    ):
        section.tables.append(_sizes_beside(title, published_at[name], found[name]))
    section.notes.append("Residuals of their fits, here and below, are over the measurements that appendix B prints.")
    _textbook_product(place, section)
    _product_errors(place, section)
    return section


def _sizes_beside(title: str, table: Sequence[tuple[float, float]], found: dict[int, tuple[float, float]]) -> Table:
    """Their sizes and seconds, and ours of about the same size: both are perturbed by 0 to 10 at random."""
    theirs_at = {int(size): (size, seconds) for size, seconds in table}
    rows = tuple((*theirs_at.get(n, (NONE, NONE)), *found.get(n, (NONE, NONE))) for n in sorted({*theirs_at, *found}))
    return Table(f"{title}; sizes sqrt((mn + no) / 2)", ("size, theirs", "seconds", "size, ours", "seconds"), rows)


def _textbook_product(place: Place, section: Section) -> None:
    n = min(place.sizes[-1], INTERPRETED)
    a, b = uniform(place, n, n), uniform(place, n, n)
    own, best = place.host(lambda: loops.product(a, b)), place.cpu("matmul", a, b)
    gpu = place.gpu(planned(place, "matmul", (n, n), (n, n)), "matmul", a, b)
    rows = (("three loops in Python", own, own / gpu), ("BLAS at its best", best, best / gpu), ("glla", gpu, 1.0))
    section.tables.append(Table(f"Kinds of peers, n = {n}", ("who", "seconds", "over glla"), rows))


def _product_errors(place: Place, section: Section) -> None:
    n, mean, found = _by_place(place, lambda n: _product_error(place, n)[0])
    least = published.PRODUCT_ERRORS["largest error"] / published.RELATIVE_ERROR
    section.notes.append(
        "The thesis does not print the order of figure 4.4a. An error of "
        f"{published.PRODUCT_ERRORS['largest error']} that is below 0.001 % is that of an entry above {least:.0f}, "
        f"which a product of U[0, 10) has from about n = {least / 25:.0f} on."
    )
    section.drawings.append(Drawing("Figure 4.4a: mean error by place", y="|error|", image=coarse(mean)))
    errors, bounds = zip(*(_product_error(place, size) for size in place.sizes), strict=True)
    title = f"Figure 4.4a: five products, n = {n}"
    section.tables.append(_largest(title, published.PRODUCT_ERRORS, found, ("largest", max(bounds))))
    _growth(section, "Figure 4.4b", "mean error", place.sizes, [float(error.mean()) for error in errors], 2)
    section.values |= {"relative error": max(bounds), "of": "largest"}


def _product_error(place: Place, n: int) -> tuple[Any, float]:
    """Error of the thesis's product by place, and the largest relative one."""
    a, b = uniform(place, n, n), uniform(place, n, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(np.asarray(linalg.matmul(a, b, variant="inner_product", device=place.device)) - exact)
    return error, float((error / exact).max())


def _largest(
    title: str, expected: dict[str, float], found: dict[str, float], relative: tuple[str, float]
) -> Table:  # fmt: skip
    rows: list[tuple[Cell, ...]] = [(name, expected[name], found[name]) for name in expected]
    rows.append((f"{relative[0]} relative error, all orders", f"below {published.RELATIVE_ERROR:g}", relative[1]))
    return Table(title, ("error", f"theirs ({published.DEVICE})", "ours"), tuple(rows))


# -- 4.1.2: the reduced row echelon form ------------------------------------------------------------------------------


def norms(place: Place) -> Section:
    """Figure 4.5: the two norms of a pivot block, over its two diagonal elements."""
    section = Section("norms", "Norms that choose a pivot", "section 4.1.2, figure 4.5")
    x = np.linspace(0.01, 2, 40)
    first, second = np.meshgrid(x, x)
    for name, values in (("geom: a b", first * second), ("harm: a b / (a + b)", first * second / (first + second))):
        section.drawings.append(Drawing(f"Figure 4.5, {name}", y=name, image=coarse(values)))
    section.notes.append("The two elements of the diagonal go from 0 to 2, from the upper left corner on.")
    n = place.sizes[-1]
    a = uniform(place, n, n)
    norm, rows = float(np.abs(a).sum(axis=0).max()), []
    for pivoting in ("harmonic", "geometric", "partial"):
        P, L, U = map(np.asarray, linalg.plu(a, pivoting, device=place.device))
        error = np.abs(P.astype(np.float64) @ L.astype(np.float64) @ U - a)
        rows.append((pivoting, float(np.abs(L).max()), float(error.sum(axis=0).max()) / norm))
    head = ("pivoting", "largest multiplier", "norm(P L U - A) / norm(A)")
    section.tables.append(Table(f"What they do to a factorisation of U[0, 10), n = {n}", head, tuple(rows)))
    return section


THEIR_WAY = "GPU, rank 2"
"""Name of the thesis's own elimination."""


def _eliminated(
    place: Place, section: Section, operation: str, cpu: str, sizes: Sequence[int], matrix: Callable[[int], Any],
    loop: Callable[[Any], Any],
) -> tuple[Lines, dict[str, str], dict[str, list[float]], list[tuple[int, float, float, float]]]:  # fmt: skip
    """Time the thesis's elimination, glla's choice, the CPU, and for small orders the textbook's loop.

    Gives the lines, what has run, the seconds, and the kinds of peers: n, the loop, the CPU, the thesis's way.
    """
    ways: dict[str, dict[str, Any]] = {
        THEIR_WAY: {"variant": "rank2", "pivoting": "harmonic"},
        "GPU, glla's choice": {},
    }
    seconds: dict[str, list[float]] = {name: [] for name in (*ways, cpu)}
    runs, peers = dict[str, str](), list[tuple[int, float, float, float]]()
    for n in sizes:
        place.say(f"{operation} n = {n}")
        a = matrix(n)
        for name, options in ways.items():
            made = planned(place, operation, a.shape, **options)
            runs[name] = made.operation
            seconds[name].append(place.gpu(made, operation, a))
        seconds[cpu].append(place.cpu(operation, a))
        if n <= TEXTBOOK:
            peers.append((n, place.host(partial(loop, a)), seconds[cpu][-1], seconds[THEIR_WAY][-1]))
    runs[cpu] = place.called[operation]
    section.values["measured"] = sizes, seconds[THEIR_WAY], seconds[cpu]
    at = sizes.index(place.sizes[-1])
    section.values["last"] = {name: found[at] for name, found in seconds.items()}
    return {name: cubic(name, sizes, found) for name, found in seconds.items()}, runs, seconds, peers


def rref(place: Place) -> Section:
    """Figures 4.7 to 4.9, tables B.1: run times and error of the echelon form."""
    section = Section("rref", "Reduced row echelon form", "section 4.1.2, figures 4.7 to 4.9, table B.1")
    sizes, cpu = place.shared([n for n, *_ in published.RREF]), "CPU's LU"
    lines, runs, seconds, unblocked = _eliminated(
        place, section, "rref", cpu, sizes, partial(_augmented, place), loops.rref
    )
    orders, own = zip(*((float(n), loop) for n, loop, *_ in unblocked), strict=True)
    by_rows = Series("unblocked rref on the CPU", orders, own)
    names = {cpu: "RREF, CPU's LU", THEIR_WAY: "RREF, GPU"}
    their_orders, their_seconds = zip(*published.MATLAB_RREF, strict=True)
    matlab = Series("theirs: MATLAB's rref", their_orders, their_seconds, theirs=True)
    section.drawings += [
        Drawing(
            "Figure 4.7: against an unblocked rref",
            series=(by_rows, lines[THEIR_WAY][0], matlab, their_curve("RREF, GPU")),
        ),
        Drawing(
            "Figure 4.8: RREF against LU",
            series=(*(line[0] for line in lines.values()), *map(their_curve, names.values())),
        ),
    ]
    _fits(section, "Figure 4.8", lines, names, runs)
    section.tables += [
        _kinds("Figure 4.7, ours: kinds of peers, seconds", "loop over rows, NumPy", unblocked),
        Table("Table B.1a, theirs: MATLAB's rref", ("n", "seconds"), published.MATLAB_RREF),
        _beside("Table B.1b: RREF on the GPU, LU on the CPU", published.RREF, sizes, seconds[cpu], seconds[THEIR_WAY]),
    ]
    errors = [float(np.median([_rref_error(place, n) for _ in range(FIVE)])) for n in place.compared]
    _growth(section, "Figure 4.9", "mean |x - 1|", place.compared, errors)
    section.values |= {"relative error": max(errors), "of": f"mean of x, the median of {FIVE} systems"}
    n, loop, _, gpu = unblocked[-1]
    section.values["unblocked"] = n, loop / gpu
    section.notes.append(
        f"Ours in figure 4.9 is the median of {FIVE} systems of each order: the error of one is proportional to the "
        "condition of its matrix, which differs by powers of ten between random matrices."
    )
    return section


def _augmented(place: Place, n: int) -> Any:
    """[A | b], b the sums of A's rows: the solution is 1."""
    a = uniform(place, n, n)
    return np.column_stack([a, a.sum(axis=1, dtype=np.float64)]).astype(np.float32)


def _rref_error(place: Place, n: int) -> float:
    """Mean error of a solution, by one elimination without anything to fall back on."""
    R, _, _ = eliminated(_augmented(place, n), (published.EPSILON, 0.0), "harmonic", place.device)
    return float(np.abs(np.asarray(R)[:, -1].astype(np.float64) - 1).mean())


def _kinds(title: str, unblocked: str, rows: Sequence[tuple[int, float, float, float]]) -> Table:
    """The thesis's kind of peer, the CPU at its best, and its algorithm on the GPU."""
    head = ("n", unblocked, "LAPACK's LU at its best", "GPU, rank 2", "unblocked / GPU", "LAPACK / GPU")
    return Table(title, head, tuple((n, loop, best, gpu, loop / gpu, best / gpu) for n, loop, best, gpu in rows))


def _beside(
    title: str, table: Sequence[tuple[int, float, float]], sizes: Sequence[int], cpu: Sequence[float],
    gpu: Sequence[float],
) -> Table:  # fmt: skip
    """Their rows, and ours of the same n where it was measured."""
    ours = {n: (c, g) for n, c, g in zip(sizes, cpu, gpu, strict=True)}
    rows: list[tuple[Cell, ...]] = []
    for n, c, g in table:
        own: tuple[Cell, ...] = (*ours[n], ours[n][0] / ours[n][1]) if n in ours else (NONE, NONE, NONE)
        rows.append((n, c, g, c / g, *own))
    rows += [(n, NONE, NONE, NONE, c, g, c / g) for n, (c, g) in ours.items() if n not in {row[0] for row in table}]
    head = ("n", "CPU, theirs", "GPU, theirs", "CPU / GPU", "CPU, ours", "GPU, ours", "CPU / GPU")
    return Table(f"{title}, seconds", head, tuple(sorted(rows, key=lambda row: float(row[0]))))


# -- 4.1.3: PLU -------------------------------------------------------------------------------------------------------


def plu(place: Place) -> Section:
    """Figures 4.11 and 4.12, table B.3: run times and errors of the factorisation."""
    section = Section("plu", "PLU factorisation", "section 4.1.3, figures 4.11 and 4.12, table B.3")
    sizes = place.shared(sorted({n for n, *_ in published.PLU}))
    lines, runs, seconds, textbook = _eliminated(
        place, section, "plu", "CPU", sizes, partial(dominant, place), textbook_plu
    )
    names = {"CPU": "PLU, CPU", THEIR_WAY: "PLU, GPU"}
    curves = (*(line[0] for line in lines.values()), *map(their_curve, names.values()))
    section.drawings.append(Drawing("Figure 4.11: PLU", series=curves))
    _fits(section, "Figure 4.11", lines, names, runs)
    section.tables.append(_beside("Table B.3: PLU", published.PLU, sizes, seconds["CPU"], seconds[THEIR_WAY]))
    section.tables.append(_kinds("Kinds of peers, seconds", "unblocked, NumPy", textbook))
    matrices = [dominant(place, n) for n in place.compared]
    errors = [_plu_error(place, a) for a in matrices]
    relative = max(float((error / np.abs(a)).mean()) for error, a in zip(errors, matrices, strict=True))
    n, mean, found = _by_place(place, lambda n: _plu_error(place, dominant(place, n)))
    title = f"Figure 4.12a: five factorisations, n = {n}"
    section.tables.append(_largest(title, published.PLU_ERRORS, found, ("mean", relative)))
    section.notes.append(
        "The thesis prints neither the order nor the diagonal of figure 4.12a; an absolute error is proportional to "
        "the diagonal, and ours is ten row sums or more."
    )
    section.drawings.append(Drawing("Figure 4.12a: mean |P L U - A| by place", y="|error|", image=coarse(mean)))
    means = [float(error.mean()) for error in errors]
    _growth(section, "Figure 4.12b", "mean |P L U - A|", place.compared, means)
    section.values |= {"relative error": relative, "of": "mean"}
    section.values["diagonal"] = float(np.diag(mean).mean()), float((mean.sum() - np.trace(mean)) / (n * n - n))
    return section


def _plu_error(place: Place, a: Any) -> Any:
    return np.abs(restored(place, a, "harmonic", variant="rank2") - a)


# -- speed-ups --------------------------------------------------------------------------------------------------------


def speedups(place: Place, done: dict[str, Section]) -> Section:
    """The four speed-ups by equation 4.7, from the fits of the sections before, and as measured at the end."""
    section = Section("speedups", "Speed-ups for large matrices", "equation 4.7, sections 4.1.1 to 4.1.3")
    where = {
        "inner product": ("product", "inner product", "CPU"),
        "virtual cube": ("product", "virtual cube", "CPU"),
        "RREF": ("rref", THEIR_WAY, "CPU's LU"),
        "PLU": ("plu", THEIR_WAY, "CPU"),
    }
    rows = []
    for name, (value, at, against) in published.SPEEDUPS.items():
        part, ours, base = where[name]
        best = "GPU, glla's choice" if part != "product" else "glla's choice"
        lines, seconds = done[part].values["fits"], done[part].values["last"]
        fitted = (speedup(lines[way], lines[base]) for way in (ours, best))
        measured = (seconds[base] / seconds[way] for way in (ours, best))
        rows.append((name, at, value, *fitted, *measured, against))
    n = place.sizes[-1]
    head = (
        "algorithm", "section", "theirs", "ours, their algorithm", "ours, best",
        f"their algorithm, n = {n}", f"best, n = {n}", "theirs against",
    )  # fmt: skip
    title = "b_CPU / b_GPU; ours against BLAS and LAPACK in float32 in their fastest way"
    section.tables.append(Table(title, head, tuple(rows)))
    section.notes.append(
        f"Theirs: {published.DEVICE}. Columns with n = {n} are ratios of times that were measured there: of their "
        'algorithm on our device, and of glla\'s choice. "no fit": one of the two curves is none of a + b n^3, so that '
        "its b says nothing."
    )
    return section


# -- 4.2: both at once ------------------------------------------------------------------------------------------------


def sharing(place: Place) -> Section:
    """Figure 4.16: a stream of systems on the CPU, on the GPU, and on both."""
    section = Section("sharing", "CPU and GPU at once", "section 4.2.4, figure 4.16, equation 4.46")
    count = 4 if place.quick else 25
    rows, series = list[tuple[Cell, ...]](), dict[str, list[tuple[int, float]]]()
    with coprocessor() as gpu:
        for operation in ("plu", "rref", "matmul"):
            for n in [n for n in place.compared if n <= SHARED] or place.compared[:1]:
                place.say(f"sharing {operation} {n}")
                systems = [_system(place, operation, n) for _ in range(count)]
                cpu, alone = (place.repeated(partial(streamed, operation, systems, gpu, r)) for r in (np.inf, 0.0))
                ratio = ceil(alone / cpu)
                theirs_way, ours = (
                    place.repeated(partial(streamed, operation, systems, gpu, r)) for r in (ratio, None)
                )
                better = min(cpu, alone)
                rows.append((operation, n, cpu, alone, ratio, theirs_way, ours, better / theirs_way, better / ours))
                for name, value in (("CPU", cpu), ("GPU", alone), ("both", min(theirs_way, ours))):
                    series.setdefault(f"{operation}, {name}", []).append((n, value))
    head = (
        "operation", "n", "CPU", "GPU", "r", "both, by r", "both, hybrid",
        "gain by r", "gain, hybrid",
    )  # fmt: skip
    section.tables.append(Table(f"Ours, {count} in a row, seconds with transfers", head, tuple(rows)))
    for operation in ("plu", "rref", "matmul"):
        curves = [
            Series(name, tuple(float(n) for n, _ in points), tuple(t for _, t in points))
            for name, points in series.items()
            if name.startswith(operation)
        ]
        section.drawings.append(Drawing(f"Figure 4.16: {count} times {operation}", series=tuple(curves)))
    section.notes.append(
        f"Theirs, 25 PLU factorisations in a row: {published.NOT_PUBLISHED} but as a picture. A gain is over the "
        "better one of CPU and GPU alone. By r = ceil(t_GPU / t_CPU), the CPU does r systems for each one on the GPU; "
        "glla.hybrid measures first (once for each size, not counted here), and lets one side alone where both would "
        "not pay: beside a software rasteriser, which takes the same cores, the CPU."
    )
    return section


def _system(place: Place, operation: str, n: int) -> Any:
    """Operands of one system, as `glla.hybrid.map` takes them."""
    if operation == "matmul":
        return uniform(place, n, n), uniform(place, n, n)
    return _augmented(place, n) if operation == "rref" else dominant(place, n)


# -- chapter 5 --------------------------------------------------------------------------------------------------------


def shallow(place: Place) -> Section:
    """Table 5.1: the shallow water equations, CPU against both."""
    section = Section("water", "Shallow water", "section 5.3, figure 5.4, table 5.1")
    n, steps = (12, 2) if place.quick else (water.SIDE, water.STEPS)
    found = water.case(place.device, n, steps, place.say)
    rows = []
    for name, gaps in found["differences"].items():
        for value, (mean, largest) in gaps.items():
            published_gap: tuple[Cell, Cell] = water.THEIRS[value] if name == PUBLISHED_GAP else (NONE, NONE)
            rows.append((name, value, *published_gap, mean, largest))
    head = ("what", "field", "mean, theirs", "max, theirs", "mean, ours", "max, ours")
    section.tables.append(Table(f"Table 5.1: {n} x {n} cells, {steps} steps", head, tuple(rows)))
    took = tuple(found["milliseconds"].items())
    section.tables.append(Table("Milliseconds of a step (theirs: not published)", ("way", "ms"), took))
    section.drawings += [
        _surface(f"Figure 5.4{letter}: {words}, t = {steps * water.DT:.0f} s", found[key])
        for letter, words, key in (("a", "CPU alone", "cpu"), ("b", "CPU and GPU", "hybrid"))
    ]
    gap = found["differences"][PUBLISHED_GAP]["z"]
    section.values = {"milliseconds": dict(took), "largest": gap[1], "stable": _long_steps(place, n, steps)}
    section.notes.append("Their mean of z is above their maximum, so one of the two is a misprint.")
    return section


def _long_steps(place: Place, n: int, steps: int) -> tuple[float, float]:
    """Courant number of steps that are ten times as long, and the highest elevation after them, where 1 m was."""
    dt = 10 * water.DT
    simulation = water.resident(place.device, n, dt=dt)
    simulation.step(steps)
    courant = dt * sqrt(water.GRAVITY * water.DEPTH) / water.SPACING
    return courant, float(np.abs(simulation.z.numpy()).max())


def _surface(title: str, simulation: water.Reference) -> Drawing:
    """Elevation and velocities: x to the right, y down."""
    u, v = simulation.u, simulation.v
    arrows = tuple(coarse(part.T, ARROWS) for part in ((u[1:] + u[:-1]) / 2, (v[:, 1:] + v[:, :-1]) / 2))
    return Drawing(title, y="z [m], and velocities", image=coarse(simulation.z.T), arrows=arrows)


SECTIONS: dict[str, Callable[[Place], Section]] = {
    "product": product,
    "norms": norms,
    "rref": rref,
    "plu": plu,
    "sharing": sharing,
    "water": shallow,
    "cluster": appendix.spread,
}
"""Sections that can be measured by themselves, in the order of the thesis."""

AFTER = {"speedups": ("product", "rref", "plu")}
"""Sections that are made of others."""

NAMES = (*SECTIONS, *AFTER, "claims")
"""All sections of the page, in its order."""
