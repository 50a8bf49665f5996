"""Claims that follow from measurements of the other sections."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glla.lab import fits
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, Claim, claim
from glla.thesis.measure import lasting
from glla.thesis.parts import Section

ABOUT = {
    "product": {"where": "4.1.1", "what": "the product", "curve": "a second order polynomial"},
    "rref": {"where": "4.1.2", "what": "RREF", "curve": "a line"},
    "plu": {"where": "4.1.3", "what": "PLU", "curve": "a line"},
}
"""Section of the page -> section of the thesis, subject, and curve of the errors."""

FITS = {
    "product": ("product, virtual cube", "product, CPU"),
    "rref": ("RREF, GPU", "RREF, CPU's LU"),
    "plu": ("PLU, GPU", "PLU, CPU"),
}
"""Section -> their fits of GPU and CPU."""

LINES = {"product": ("virtual cube", "CPU"), "rref": ("GPU, rank 2", "CPU's LU"), "plu": ("GPU, rank 2", "CPU")}
"""Section -> our lines of GPU and CPU."""

NEAR = 0.1
"""Part by which a speed-up may differ from its estimate by the fits."""


def claims(done: dict[str, Section]) -> Iterator[Claim]:
    """Judge the sections done; those of old files have no figures."""
    done = {name: section for name, section in done.items() if section.values or name == "sharing"}
    for name in ABOUT:
        if name in done:
            yield from (judge(done[name]) for judge in (_negligible, _growth, _cubic, _crossover, _estimate))
    if "rref" in done:
        yield _unblocked(done["rref"])
    if "plu" in done:
        yield _diagonal(done["plu"])
    if "sharing" in done:
        yield from _shared(done["sharing"])
    if "water" in done:
        yield from _water(done["water"])


def _about(section: Section, key: str, holds: bool | None, *results: object, **named: object) -> Claim:
    """One of the claims that the thesis makes of the product, of RREF and of PLU."""
    return claim(f"sections.{key}", holds, *results, section=section.name, **ABOUT[section.name], **named)


def _negligible(section: Section) -> Claim:
    found, kind = (section.values[key] for key in ("relative error", "of"))
    return _about(section, "negligible", found < published.RELATIVE_ERROR, 100 * found, kind=kind)


def _growth(section: Section) -> Claim:
    exponent, fit = (section.values["growth"][key] for key in ("exponent", "fit"))
    few = exponent is None or fit.startswith("no fit: fewer")
    ours = fit if exponent is None else f"n^{exponent:.2g}; {fit}"
    return _about(section, "growth", None if few else not fit.startswith("no fit"), ours)


def _cubic(section: Section) -> Claim:
    lines = section.values["fits"]
    fitting = [name for name, line in lines.items() if line is not None]
    names = ", ".join(fitting) or "none"
    return _about(section, "cubic", len(fitting) == len(lines), len(fitting), len(lines), names)


def _crossover(section: Section) -> Claim:
    gpu, cpu = (fits.Fit(*published.FITS[name], 0, 4096) for name in FITS[section.name])
    sizes, own, base = section.values["measured"]
    start, found = fits.crossover(gpu, cpu), lasting(sizes, np.less(own, base).tolist())
    ours = f"from n = {found:.0f}" if found is not None else f"nowhere up to n = {max(sizes):.0f}"
    theirs = f"from n = {start:.0f}, by their fits" if start else "everywhere, by their fits"
    return _about(section, "crossover", found is not None, ours, theirs=theirs)


def _estimate(section: Section) -> Claim:
    gpu, cpu = (section.values["fits"][name] for name in LINES[section.name])
    sizes, own, base = section.values["measured"]
    found, ours = None, "no fit"
    if gpu is not None and cpu is not None:
        ratios = np.divide(base, own) / (cpu.b / gpu.b)
        found = lasting(sizes, (abs(ratios - 1) <= NEAR).tolist())
        ours = f"not within 10 % up to {max(sizes):.0f}" if found is None else f"from n = {found:.0f} on within 10 %"
    return _about(section, "estimate", found is not None, ours, theirs=published.ESTIMATES[section.name])


def _unblocked(section: Section) -> Claim:
    n, own = section.values["unblocked"]
    (m, loop), (order, _, gpu) = published.MATLAB_RREF[-1], published.RREF[-1]
    return claim("sections.unblocked", own > ALIKE, theirs=loop / gpu, m=m, order=order, own=own, n=n)


def _diagonal(section: Section) -> Claim:
    on, off = section.values["diagonal"]
    return claim("sections.diagonal", on > off, on=on, off=off)


def _shared(section: Section) -> Iterator[Claim]:
    pairs = [(float(by_ratio), float(own)) for *_, by_ratio, own in section.tables[0].rows]
    gains, automatic = [max(pair) for pair in pairs], float(np.median([own / by_ratio for by_ratio, own in pairs]))
    yield claim("sections.automatic", automatic > ALIKE, automatic=automatic)
    yield claim("sections.both", max(gains) > ALIKE, min(gains), max(gains))


def _water(section: Section) -> Iterator[Claim]:
    took, largest = section.values["milliseconds"], section.values["largest"]
    dense, both, bands, gradients = (
        took[name]
        for name in ("CPU, dense systems (LAPACK)", "CPU and GPU, dense systems", "NumPy, tridiagonal, float32",
                     "ShallowWater, semi_implicit")
    )  # fmt: skip
    yield claim("sections.minimal", dense / both < 1.25, dense / both)
    yield claim("sections.tridiagonal", dense / bands > 2, dense / bands, dense / gradients)
    courant, highest = section.values["stable"]
    yield claim("sections.stable", highest <= 1, highest=highest, courant=courant)
    yield claim("sections.elevation", largest < published.RELATIVE_ERROR, largest=largest)
