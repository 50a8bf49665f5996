"""The thesis's figures, each with the place where it is printed; no other module has a number of it.

Brodtkorb, "A MATLAB Interface to the GPU", Master's thesis, University of Oslo, 1 May 2007. Its GPU is a GeForce
7800 GT, its CPU a Pentium IV, which ran MATLAB with ATLAS.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


def _printed(table: str) -> tuple[Any, ...]:
    """Rows of a table of the appendices: numbers, and tuples of numbers."""
    return tuple(tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in _TABLES[table])


def _named(table: str) -> dict[str, Any]:
    """Rows of a table of chapter 4 or appendix A, by their names."""
    return {name: tuple(row) for name, row in _TABLES[table].items()}


DEVICE = "GeForce 7800 GT against Pentium IV, 2007"
"""What the figures were measured on."""

NOT_PUBLISHED = "not published"
"""Stands for what the thesis shows as a picture only."""

FITS: dict[str, tuple[float, float]] = _named("fits")
"""Run times a + b n^3 in seconds, as (a, b): sections 4.1.1, 4.1.2 and 4.1.3."""

SPEEDUPS = _named("speedups")
"""Speed-ups for large matrices, b_CPU / b_GPU: value, section, what it was against."""

ESTIMATES = {"product": 700, "rref": 1200, "plu": 800}
"""Orders from which on the speed-ups are called good estimates; sections 4.1.1 to 4.1.3."""

PRODUCT_ERRORS = {"largest mean error": 0.14, "largest error": 0.17}
"""Of five products of U[0, 10); section 4.1.1."""

PLU_ERRORS = {"largest mean error": 1.0827e-5, "largest error": 3.8586e-5}
"""Of five factorisations of diagonally dominant matrices; section 4.1.3."""

RELATIVE_ERROR = 1e-5
"""Bound of every relative error: "negligible (< 0.001 %)"; sections 4.1.1 to 4.1.3."""

MATLAB_RREF = _printed("B.1a")
"""n, seconds of MATLAB's rref of n x (n + 1); table B.1a."""

RREF = _printed("B.1b")
"""n, seconds of MATLAB's LU, seconds of the GPU's RREF; table B.1b."""

PRODUCT_CPU = _printed("B.2a")
"""sqrt((mn + no) / 2), seconds of MATLAB's product; table B.2a, whose heading has c for 2."""

PRODUCT_SINGLE_PASS = _printed("B.2b")
"""Size, seconds of the inner product on the GPU; table B.2b."""

PRODUCT_MULTI_PASS = _printed("B.2c")
"""Size, seconds of the virtual cube on the GPU; table B.2c."""

PLU = _printed("B.3")
"""n, seconds of MATLAB's LU, seconds of the GPU's PLU; table B.3."""

CLUSTER = _printed("A.1")
"""n, subsize, seconds on 1, 2, 3 and 4 nodes; table A.1."""

EPSILON = 2.0**-23
"""Norm of a pivot block that counts as zero, "close to the machine epsilon"; section 4.1.2."""

RATES = _named("rates")
"""GFLOPS and order; section A.4.1."""

PROCESSES = 4
"""Processes of tables A.1 and A.3."""

LARGEST = 8192
"""Order of table A.2, which does not state it: its best time, 86.3 s, and the 4.2 GFLOPS that are printed give it."""

NUMBERS = _printed("A.2")
"""Processes, subsize, seconds on 4 nodes, percent of them for the network; table A.2."""

MESSAGES = _printed("A.3")
"""n, subsize, seconds of the messages alone on 1, 2, 3 and 4 nodes; table A.3."""

ONE_NODE = _printed("A.4")
"""n, seconds of the local PLU on one node; table A.4."""

MEASURED = {
    "product, CPU": PRODUCT_CPU,
    "product, inner product": PRODUCT_SINGLE_PASS,
    "product, virtual cube": PRODUCT_MULTI_PASS,
    "RREF, CPU's LU": tuple((n, cpu) for n, cpu, _ in RREF),
    "RREF, GPU": tuple((n, gpu) for n, _, gpu in RREF),
    "PLU, CPU": tuple((n, cpu) for n, cpu, _ in PLU),
    "PLU, GPU": tuple((n, gpu) for n, _, gpu in PLU),
}
"""What appendix B has of the measurements behind `FITS`: size, seconds."""
