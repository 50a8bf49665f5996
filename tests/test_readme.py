"""The code of the README, of the documentation and of CONTRIBUTING.md runs, and its output is true."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def name(path):
    return path.relative_to(ROOT).as_posix()


def pages_with_code():
    """Pages, those that open a software rasteriser where there is one."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if ">>>" in text:
            marks = [pytest.mark.mesa] if "Device(software=True)" in text else []
            yield pytest.param(page, id=name(page), marks=marks)


@pytest.mark.parametrize("page", list(pages_with_code()))
def test_code_of_a_page_is_true(page):
    pytest.importorskip("scipy")
    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert failures == 0


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of_a_page_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    built = ("../examples/index.rst", "examples/index.rst", "commands.md")  # written with the site
    missing = [one for one in links if "://" not in one and one not in built and not (page.parent / one).exists()]
    assert not missing


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=name)
def test_an_example_ends_in_its_assertion(script, monkeypatch):
    pyplot, *_ = (pytest.importorskip(needed) for needed in ("matplotlib.pyplot", "scipy", "sklearn"))
    pyplot.switch_backend("Agg")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which an example sets
    runpy.run_path(str(script), run_name="__main__")
    pyplot.close("all")
    assert "\nassert " in script.read_text(encoding="utf-8").rpartition("# %%")[2]
