"""The picture of an exported page that the README shows: ``python -m benchmarks page``. Needs Chromium, and no GPU."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from glla.lab import export

PICTURE = Path(__file__).parent / "results" / "page.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PASS, KIND, SEED = 6, "random integers", 12
"""The pass that the picture shows, in the middle of an elimination; kind and seed of the page's matrix."""

WIDTH, HEIGHT = 1280, 820
"""Size of the picture in pixels."""


def main(arguments: Sequence[str] = ()) -> None:
    """Export a page, let a browser run it to the pass, and keep what it shows."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("benchmarks.page: Chromium is not installed (apt install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "rref.html"
        export("rref", page, size=8, variant="rank2")
        state = f"#pass={PASS}&kind={KIND.replace(' ', '+')}&seed={SEED}"
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
            "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=5000",
            f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={PICTURE}",
            f"{page.as_uri()}{state}",
        ]  # fmt: skip
        subprocess.run([browser, *options], check=True, capture_output=True, timeout=110)
    print(f"written: {PICTURE}")
