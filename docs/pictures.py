"""The pictures of the README: ``python docs/pictures.py``. Needs ``glla[lab]`` and a device.

`elimination.svg` shows a matrix of integers before and after passes of its elimination; `ladder.svg` the products of
the newest results of a GPU, from the slowest variant to the fastest; `page.png`, which takes Chromium, an exported page
in the middle of an elimination.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import glla
from glla.display.colours import LABELS, NEGATIVE, POSITIVE, TEXELS
from glla.lab.plots import signed

FOLDER = Path(__file__).parent / "pictures"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "nvidia-h200-pcie-sse2"
NAMES = {
    "rank_one": "rank one, 2001",
    "virtual_cube": "virtual cube, 2007",
    "single_component": "one element a texel, 2003",
    "packed_4x1": "four of a column, 2003",
    "inner_product": "inner product, 2007",
    "register_blocked": "several render targets, 2005",
    "panel_broadcast": "glla: panels",
}
ORDER = 1024
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STATE = "#pass=6&kind=random+integers&seed=12"
"""What the page shows: a pass in the middle, and its matrix."""


def states(a: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the matrix after each pass of its elimination, without the columns that check it."""
    with glla.trace(values=True) as trace:
        glla.rref(a, variant="rank2")
    m, n = a.shape
    return [next(iter(one.values.values()))[:m, :n] for one in trace.passes if one.shader == "rref/eliminate"]


def elimination() -> None:
    """Draw a matrix of 16 rows with a right-hand side, five times."""
    a = np.random.default_rng(2007).integers(-9, 10, (16, 17)).astype(float)
    steps = states(a)
    picked = [a, *(steps[round(part * len(steps)) - 1] for part in (0.25, 0.5, 0.75, 1))]
    passes = [0, *(round(part * len(steps)) for part in (0.25, 0.5, 0.75, 1))]
    figure, axes = plt.subplots(1, 5, figsize=(10, 2.4))
    for axis, values, number in zip(axes, picked, passes, strict=True):
        axis.imshow(np.sign(values) * np.sqrt(np.minimum(abs(values) / 12, 1)), cmap=signed(), vmin=-1, vmax=1)
        axis.set_xticks(np.arange(-0.5, 17, 2), minor=True)
        axis.set_yticks(np.arange(-0.5, 16, 2), minor=True)
        axis.grid(which="minor", color=TEXELS, linewidth=0.4)
        axis.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        axis.set_title(f"after {number} of 8 eliminations" if number else "16 equations", fontsize=9, color=LABELS)
    save(figure, "elimination")


def ladder() -> None:
    """Draw the rates of products as bars."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    whole = [run for run in runs if not run["quick"] and sum(c["operation"] == "matmul" for c in run["cases"]) > 9]
    run = whole[-1]
    cases = [case for case in run["cases"] if case["operation"] == "matmul" and case["n"] == ORDER]
    rates = sorted((case["gflops"], NAMES[case["variant"]]) for case in cases if case["variant"] in NAMES)
    figure, axis = plt.subplots(figsize=(8, 2.8))
    bars = axis.barh([name for _, name in rates], [rate for rate, _ in rates], color=POSITIVE, height=0.7)
    axis.bar_label(bars, fmt="%.0f", padding=3, color=LABELS, fontsize=9)
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    axis.axvline(ceiling, color=NEGATIVE)
    axis.text(ceiling, -0.4, "ceiling of fragments ", ha="right", va="bottom", color=NEGATIVE, fontsize=9)
    axis.set_xlabel(f"GFLOP/s, product of order {ORDER}, {run['renderer']}", color=LABELS, fontsize=9)
    axis.tick_params(colors=LABELS, labelsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    save(figure, "ladder")


def save(figure: Any, name: str) -> None:
    """Write an SVG that has no date and no random names."""
    mpl.rcParams["svg.hashsalt"] = "glla"
    mpl.rcParams["svg.fonttype"] = "none"
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None}, transparent=True)
    plt.close(figure)


def page() -> None:
    """Let a browser run an exported page, and keep what it shows."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("page.png: Chromium is not installed (apt install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rref.html"
        glla.lab.export("rref", file, size=8, variant="rank2")
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
            "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=5000",
            f"--user-data-dir={folder}/profile", "--window-size=1280,820", f"--screenshot={FOLDER / 'page.png'}",
        ]  # fmt: skip
        subprocess.run([browser, *options, file.as_uri() + STATE], check=True, capture_output=True, timeout=110)


if __name__ == "__main__":
    elimination()
    ladder()
    page()
