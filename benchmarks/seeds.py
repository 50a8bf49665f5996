"""The table of sources: figures that their authors printed, beside those that glla measures, theirs / ours.

`ROWS` is data: a row for each system of a document. Ours are the newest figures of each renderer in
``benchmarks/results/<renderer>/sources``, which `benchmarks.sources` writes, of restoration those that
`benchmarks.applications` writes: of the largest size, the author's variant and the fast one, from NumPy to NumPy where
nothing else is said. Where a document has only a picture that is lost, the table says "not published", and never a
guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.study import read
from glla.lab.table import markdown

HEAD = ("source", "system", "function", "author's variant", "fast variant", "theirs", "ours: author's / fast")

NOT_PUBLISHED = "not published"

RESTORATION = '"Linear algebra on GPUs: applications in image restoration" (2012)'
SYRK = "COMP 633, PA2 (course report, 2013)"
FORUM = '"PyCuda code to invert a high number of 3x3 matrixes" (forum answer)'
WINDOWS = "aksoyyusuf/DenseMatrixMultiplication"

C1060 = "Tesla C1060, 2012"


@dataclass(frozen=True)
class Row:
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
    Row(
        RESTORATION, "5.2.1", "Gauss-Jordan inverse", '`inv(a, variant="gauss_jordan")`', "gauss_jordan", "inv",
        f"n = 4096: 4.80 ms a column, 19.7 s in all, derived; curve {NOT_PUBLISHED} ({C1060})", "gauss_jordan",
    ),
    Row(
        RESTORATION, "5.2.2", "Cholesky factor", "`cholesky(a)`", "block16", "blocked",
        f"n = 4096: 1.68 s, derived; curve {NOT_PUBLISHED} ({C1060})", "cholesky", "resident",
    ),
    Row(
        RESTORATION, "5.2.3", "inverse of a triangle", '`inv(a, assume_a="lower triangular")`', "gets", "blocked",
        f"n = 4096: 3.30 s, derived; curve {NOT_PUBLISHED} ({C1060})", "triangular_inverse", "resident",
    ),
    Row(
        RESTORATION, "5.2.4", "product, a thread an element", "`matmul(a, b)`", "single_component", "matmul",
        f"{NOT_PUBLISHED} ({C1060})", "product", "resident",
    ),
    Row(
        RESTORATION, "5.2.4", "product, tiles of 16 x 16 in shared memory", "`matmul(a, b)`", "compute_tiled", "matmul",
        f"times {NOT_PUBLISHED}; mean absolute difference to MATLAB 5e-5 ({C1060})", "product", "resident",
    ),
    Row(
        RESTORATION, "5.2", "inverse of a positive definite matrix", '`inv(a, assume_a="pos")`',
        "cholesky_gets_product", "potri", f'n = 4096: 6.1 s, derived from "4 times" ({C1060})', "gauss_jordan",
    ),
    Row(
        RESTORATION, "5.3", "Gauss-Seidel, 100 sweeps", "`glla study sweeps`", "sweeps", "inv",
        f'n = 4096: 3.0 s, derived from "up to 8 times"; sweeps and residual {NOT_PUBLISHED} ({C1060})', "sweeps",
        "resident",
    ),
    Row(
        RESTORATION, "6", "restoration of a blurred picture", "`applications.restore(image, psf)`", "inverse", "banded",
        f"mean square error 6.6e-5 of a blur; times {NOT_PUBLISHED} ({C1060})", "restore",
    ),
    Row(
        SYRK, "2.1", "M Mᵀ, a thread an element", "`matmul(a, a.T)`", "single_component", "symmetric",
        f"{NOT_PUBLISHED} (a GPU that is not named, 2013)", "syrk",
    ),
    Row(
        SYRK, "2.2", "M Mᵀ, stripes added by atomics", "`matmul(a, a.T)`", "stripes", "symmetric",
        f"{NOT_PUBLISHED} (a GPU that is not named, 2013)", "syrk",
    ),
    Row(
        FORUM, "answer", "many 3 x 3 inverses", '`inv(a, variant="adjugate")`', "adjugate", "adjugate_fused",
        NOT_PUBLISHED, "inv3",
    ),
    Row(
        FORUM, "answer", "the same with pivots", "`inv(a)`", "adjugate", "pivoted_small", NOT_PUBLISHED, "inv3",
    ),
    Row(
        WINDOWS, "README", "squares of all windows", "`applications.window_squares(image)`", "frames", "separable",
        "15 x 15: 5.56 ms, in shared memory 8.49 ms (GeForce RTX 2060, a card of 2019)", "window_squares", size=15,
    ),
    Row(
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


def cell(row: Row, figures: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Write ours, for each renderer: the largest size at which both variants were timed.

    >>> timing = {"system": "x", "size": 8, "flaw": "", "end_to_end": {"seconds": 0.5}}
    >>> row = Row("", "", "", "", "slow", "fast", "", "x")
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
    return markdown(HEAD, rows)
