"""Pages that tell what they found."""

import json
import re
from html import unescape
from pathlib import Path

SWIFTSHADER = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PERFORMANCE = "GPU stall due to ReadPixels"  # what Chromium says of every page that reads pixels


def script(name):
    """A script that drives a page."""
    return (Path(__file__).parent / "scripts" / f"{name}.js").read_text(encoding="utf-8")


def told(browser, path, body, rasteriser=SWIFTSHADER):
    """What a page writes into its element `told`, as JSON; and what its console complains of."""
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><pre id="told"></pre>{body}', encoding="utf-8")
    dom, errors = browser(path, "--dump-dom", *rasteriser)
    found = json.loads(unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)[1]))
    return found, [line for line in errors.splitlines() if "CONSOLE" in line and PERFORMANCE not in line]
