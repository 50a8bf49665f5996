"""The site that `make docs` has built: it loads nothing from elsewhere, its links are valid, and it is complete."""

import inspect
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import glla

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
PAGES = sorted(page for page in SITE.rglob("*.html") if "players" not in page.parts and "_static" not in page.parts)

pytestmark = pytest.mark.skipif(not PAGES, reason="the site is not built: make docs")


class Page(HTMLParser):
    """Addresses of a page: what it loads, and where its links lead; and the names of its parts."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.parts = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.parts.add(values.get("id"))
        if values.get("src") or (tag == "link" and values.get("rel") == "stylesheet"):
            self.loaded.append(values.get("src") or values["href"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


read = cache(lambda path: Page(path.read_text(encoding="utf-8")))


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere():
    for page in PAGES:
        assert not [one for one in read(page).loaded if urlsplit(one).netloc], page
        for link in map(urlsplit, read(page).links + read(page).loaded):
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            lost = link.fragment and target in PAGES and link.fragment not in read(target).parts
            assert link.scheme or (target.exists() and not lost), (page, link.geturl())


@pytest.mark.parametrize("name", [name for name in glla.__all__ if inspect.isfunction(getattr(glla, name))])
def test_a_function_has_a_page_with_its_example_first(name):
    text = (SITE / "reference" / "generated" / f"glla.{name}.html").read_text(encoding="utf-8")
    assert "Parameters<" not in text or ">&gt;&gt;&gt; " in text.partition("Parameters<")[0], f"{name}: no example"


def test_every_shader_is_on_a_page_of_the_course():
    for folder in sorted(path for path in (ROOT / "shaders").iterdir() if path.is_dir() and path.name != "lib"):
        text = (SITE / "course" / "shaders" / f"{folder.name}.html").read_text(encoding="utf-8")
        missing = [one.name for one in folder.glob("*.*") if one.suffix in {".frag", ".comp"} and one.name not in text]
        assert not missing, folder.name
        players = re.findall(r"players/([\w.-]+\.html)", text)
        assert all((SITE / "players" / one).exists() for one in players)
