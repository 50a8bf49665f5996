"""Claims that follow from measurements of the other sections."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glla.lab import fits
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, Claim
from glla.thesis.measure import estimate_from, faster_from
from glla.thesis.parts import Section

WHERE = {"product": ("4.1.1", "the product"), "rref": ("4.1.2", "RREF"), "plu": ("4.1.3", "PLU")}
"""Section of the page -> section of the thesis, and what it is about."""

FITS = {
    "product": ("product, virtual cube", "product, CPU"),
    "rref": ("RREF, GPU", "RREF, CPU's LU"),
    "plu": ("PLU, GPU", "PLU, CPU"),
}
"""Section -> their fits of GPU and CPU."""

LINES = {"product": ("virtual cube", "CPU"), "rref": ("GPU, rank 2", "CPU's LU"), "plu": ("GPU, rank 2", "CPU")}
"""Section -> our lines of GPU and CPU."""

POLYNOMIAL = {"product": "a second order polynomial", "rref": "a line", "plu": "a line"}


def claims(done: dict[str, Section]) -> Iterator[Claim]:
    """Judge the sections done; those of old files have no figures."""
    done = {name: section for name, section in done.items() if section.values or name == "sharing"}
    for name, (where, what) in WHERE.items():
        if name in done:
            yield _negligible(done[name], where, what)
            yield _growth(done[name], where, what)
            yield _cubic(done[name], where, what)
            yield _crossover(done[name], where, what)
            yield _estimate(done[name], where, what)
    if "rref" in done:
        yield _unblocked(done["rref"])
    if "plu" in done:
        yield _diagonal(done["plu"])
    if "sharing" in done:
        yield from _shared(done["sharing"])
    if "water" in done:
        yield from _water(done["water"])


def _negligible(section: Section, where: str, what: str) -> Claim:
    found, kind = (section.values[key] for key in ("relative error", "of"))
    return Claim(
        f"The relative error of {what} is negligible", where, "below 0.001 %", f"{100 * found:.2g} % ({kind})",
        found < published.RELATIVE_ERROR, f"glla thesis --section {section.name}",
        "float32 starts at 0.000006 %, and the errors of a sum mostly cancel.",
        "The error of a solution is float32's times the condition of the matrix, thousands and more for random ones.",
    )  # fmt: skip


def _growth(section: Section, where: str, what: str) -> Claim:
    growth = section.values["growth"]
    few = growth["exponent"] is None or growth["fit"].startswith("no fit: fewer")
    return Claim(
        f"The mean error of {what} grows with n like {POLYNOMIAL[section.name]}", where, "closely",
        growth["fit"] if growth["exponent"] is None else f"n^{growth['exponent']:.2g}; {growth['fit']}",
        None if few else not growth["fit"].startswith("no fit"),
        f"glla thesis --section {section.name}",
        "Rounding errors add up like a random walk, by the square root of n to n times the size of a result; over this "
        "range such a curve fits.",
        "Errors of single matrices differ by their condition far more than by n.",
    )  # fmt: skip


def _cubic(section: Section, where: str, what: str) -> Claim:
    lines = section.values["fits"]
    fitting = [name for name, line in lines.items() if line is not None]
    return Claim(
        f"Run times of {what} follow a + b n^3", where, "fits very well",
        f"{len(fitting)} of {len(lines)} do: {', '.join(fitting) or 'none'}", len(fitting) == len(lines),
        f"glla thesis --section {section.name}", "The work is cubic, and the rate does not depend on n.",
        "The rate still rises with n over this range (caches, threads, more work a pass), which a + b n^3 has no place "
        "for; or the machine was busy.",
    )  # fmt: skip


def _crossover(section: Section, where: str, what: str) -> Claim:
    gpu, cpu = (fits.Fit(*published.FITS[name], 0, 4096) for name in FITS[section.name])
    theirs, (ours, largest) = fits.crossover(gpu, cpu), faster_from(*section.values["measured"])
    return Claim(
        f"On the GPU {what} is faster than ATLAS from some n on", where,
        f"from n = {theirs:.0f}, by their fits" if theirs else "everywhere, by their fits",
        f"from n = {ours:.0f}" if ours is not None else f"nowhere up to n = {largest:.0f}", ours is not None,
        f"glla thesis --section {section.name}",
        "The GPU has more arithmetic, and needs n to fill it and to pay for its passes.",
        "BLAS and LAPACK use all cores and wide registers now, and are blocked; this algorithm is the thesis's.",
    )  # fmt: skip


def _estimate(section: Section, where: str, what: str) -> Claim:
    gpu, cpu = (section.values["fits"][name] for name in LINES[section.name])
    sizes, own, base = section.values["measured"]
    found = None
    if gpu is None or cpu is None:
        words = "no fit"
    else:
        found = estimate_from(sizes, own, base, cpu.b / gpu.b)
        words = (
            f"from n = {found:.0f} on within 10 %" if found is not None else f"not within 10 % up to {max(sizes):.0f}"
        )
    return Claim(
        f"The ratio of the coefficients b estimates the speed-up of {what} well for large n", where,
        f"from about n = {published.ESTIMATES[section.name]}", words, found is not None,
        f"glla thesis --section {section.name}", "The constants a are small beside the cubic work there.",
        "The rates of one side or of both still rise with n, so that one line through all sizes is off at the ends.",
    )  # fmt: skip


def _unblocked(section: Section) -> Claim:
    n, own = section.values["unblocked"]
    (m, loop), (order, _, gpu) = published.MATLAB_RREF[-1], published.RREF[-1]
    return Claim(
        "MATLAB's rref must be sub-optimal", "4.1.2", f"{loop / gpu:.0f} times the GPU's time, n = {m} and {order}",
        f"{own:.2g} times, n = {n}", own > ALIKE, "glla thesis --section rref",
        "A loop over rows in an interpreter does little in each of its n^2 steps; it falls further behind with n.",
        "At this order the loop over rows in NumPy is as fast as the passes.",
    )  # fmt: skip


def _diagonal(section: Section) -> Claim:
    on, off = section.values["diagonal"]
    return Claim(
        "The largest error of PLU is on the diagonal of a dominant matrix", "4.1.3", published.NOT_PUBLISHED,
        f"mean error {on:.2g} on it, {off:.2g} beside it", on > off, "glla thesis --section plu",
        "An error is proportional to the entry, and the diagonal has the largest.",
    )  # fmt: skip


def _shared(section: Section) -> Iterator[Claim]:
    pairs = [(float(by_ratio), float(own)) for *_, by_ratio, own in section.tables[0].rows]
    gains, automatic = [max(pair) for pair in pairs], float(np.median([own / by_ratio for by_ratio, own in pairs]))
    yield Claim(
        "A fully automatic distribution of the work improves on the ratio r", "7.3", published.NOT_PUBLISHED,
        f"{automatic:.2f} times as fast as by r, the median of all operations and orders", automatic > ALIKE,
        "glla thesis --section sharing",
        "It corrects itself as it goes, and leaves the slower side out where that is better.",
        "The ratio r is as good where both sides keep their rates.",
    )  # fmt: skip
    yield Claim(
        "CPU and GPU together are faster than either", "4.2.4", published.NOT_PUBLISHED,
        f"{min(gains):.2f} to {max(gains):.2f} times the better one", max(gains) > ALIKE,
        "glla thesis --section sharing",
        "They add up where they are two devices of like speed, for some operations and orders.",
        "They are no two devices of like speed: one would only be waited for, or they share their cores.",
    )  # fmt: skip


def _water(section: Section) -> Iterator[Claim]:
    took, largest = section.values["milliseconds"], section.values["largest"]
    dense, both, bands, gradients = (
        took[name]
        for name in ("CPU, dense systems (LAPACK)", "CPU and GPU, dense systems", "NumPy, tridiagonal, float32",
                     "ShallowWater, semi_implicit")
    )  # fmt: skip
    command = "glla thesis --section water"
    yield Claim(
        "At 121 x 121 cells the gain of CPU and GPU together is minimal", "5.3", "minimal",
        f"{dense / both:.2f} times", dense / both < 1.25, command,
        "Systems of order 121 are too small for a GPU, so the CPU does nearly all; handing them out takes time, too.",
        "The CPU alone leaves enough to do.",
    )  # fmt: skip
    yield Claim(
        "The systems can be solved far more efficiently as tridiagonal ones", "5.2", published.NOT_PUBLISHED,
        f"{dense / bands:.0f} times; the whole basin at once by conjugate gradients {dense / gradients:.2g} times",
        dense / bands > 2, command, "A tridiagonal system takes 8 n flop, a dense one 2 n^3 / 3.",
    )  # fmt: skip
    courant, highest = section.values["stable"]
    yield Claim(
        "The implicit scheme is stable whatever the steps", "5.1", "no condition on the velocity",
        f"{highest:.2g} m are left of 1 m, Courant number {courant:.2g}", highest <= 1, command,
        "Waves are implicit, so that steps may be longer than a wave takes to cross a cell.",
        "Something in the step is explicit: the elevation grows.",
    )  # fmt: skip
    yield Claim(
        "CPU and GPU together give the elevation of the CPU alone", "5.3", "relative error below 0.001 %",
        f"largest difference {largest:.2g} m of a wave of 1 m", largest < published.RELATIVE_ERROR, command,
        "The systems are well conditioned, so float32's rounding errors stay what they are.",
        "Differences of rounding have grown over the steps.",
    )  # fmt: skip
