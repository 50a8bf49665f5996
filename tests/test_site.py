"""The site that `make docs` has built: it loads nothing from elsewhere, its links are valid, and it is complete."""

import inspect
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.test_import import PUBLIC
from tests.web.conftest import SWIFTSHADER, told

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


def test_a_public_name_has_a_page_with_its_example_first():
    for name in PUBLIC:
        if inspect.ismodule(PUBLIC[name]) or name in {"glla.__version__", "glla.hybrid.Report", "glla.hybrid.Stream"}:
            continue
        text = (SITE / "reference" / "generated" / f"{name}.html").read_text(encoding="utf-8")
        first = ">&gt;&gt;&gt; " in text.partition("Parameters<")[0]
        assert first or "Parameters<" not in text or inspect.isclass(PUBLIC[name]), f"{name}: no example"


def test_every_shader_is_on_a_page_of_the_course():
    for folder in sorted(path for path in (ROOT / "shaders").iterdir() if path.is_dir() and path.name != "lib"):
        text = (SITE / "course" / "shaders" / f"{folder.name}.html").read_text(encoding="utf-8")
        missing = [one.name for one in folder.glob("*.*") if one.suffix in {".frag", ".comp"} and one.name not in text]
        assert not missing, folder.name
        players = re.findall(r"players/([\w.-]+\.html)", text)
        assert all((SITE / "players" / one).exists() for one in players)


# -- in a browser -----------------------------------------------------------------------------------------------------

SEEN = (
    "index", "reference/generated/glla.solve", "reference/commands", "course/shaders/rref",
    "examples/watch_an_elimination", "facts/speed", "facts/tables", "start/coming-from",
)  # fmt: skip

LOOK = """<iframe id="open" hidden></iframe><script>
const open = document.getElementById("open").contentDocument;
open.open();
const until = async (found) => { while (!found()) await new Promise((done) => setTimeout(done, 20)); };
async function framed(page, width) {
  const frame = document.createElement("iframe");
  frame.width = width;
  frame.height = 900;
  frame.src = page;
  document.body.append(frame);
  await new Promise((done) => frame.addEventListener("load", done, { once: true }));
  return frame;
}
async function tell(found) {
  document.getElementById("told").textContent = JSON.stringify(await found());
  open.close();
}
</script>"""
LOCAL = (*SWIFTSHADER, "--allow-file-access-from-files")


@pytest.mark.browser
def test_no_page_scrolls_to_the_side(browser, tmp_path):
    """On a phone and on a desk, by day and by night."""
    pages = [(SITE / f"{page}.html").as_uri() for page in SEEN]
    script = f"""<script>tell(async () => {{
      const told = [];
      for (const page of {json.dumps(pages)}) for (const width of [390, 1280]) {{
        const frame = await framed(page, width);
        const root = frame.contentDocument.documentElement;
        for (const theme of ["light", "dark"]) {{
          root.dataset.theme = theme;
          const paper = frame.contentWindow.getComputedStyle(frame.contentDocument.body).backgroundColor;
          told.push([page, width, theme, root.scrollWidth - root.clientWidth, paper]);
        }}
        frame.remove();
      }}
      return told;
    }})</script>"""
    found, _ = told(browser, tmp_path / "wide.html", LOOK + script, LOCAL)
    assert len(found) == 4 * len(SEEN)
    assert not [one for one in found if one[3] > 0]
    assert len({paper for *_, theme, _, paper in found if theme == "dark"} & {"rgb(255, 255, 255)"}) == 0


@pytest.mark.browser
@pytest.mark.mesa
@pytest.mark.parametrize("width", [390, 1280])
def test_the_player_of_the_first_page_runs(browser, tmp_path, width):
    """From the first pass to the last, with the verdict that it is right; it takes the theme of the page."""
    script = f"""<script>tell(async () => {{
      const page = await framed({json.dumps((SITE / "index.html").as_uri())}, {width});
      const frame = page.contentDocument.querySelector("iframe.player");
      frame.scrollIntoView();
      const at = (id) => frame.contentDocument?.getElementById(id);
      await until(() => at("count")?.textContent);
      const first = at("count").textContent;
      page.contentDocument.documentElement.dataset.theme = "dark";
      await until(() => frame.contentDocument.documentElement.dataset.theme === "dark");
      while (!at("forward").disabled) at("forward").click();
      const root = frame.contentDocument.documentElement;
      return [first, at("count").textContent, at("mark").textContent, root.scrollWidth - root.clientWidth];
    }})</script>"""
    (first, last, mark, beyond), _ = told(browser, tmp_path / "player.html", LOOK + script, LOCAL)
    passes = int(first.removeprefix("1 / "))
    assert passes <= 24 and last == f"{passes} / {passes}"
    assert (mark, beyond) == ("✓ right", 0)


@pytest.mark.browser
def test_search_works_from_a_file(browser, tmp_path):
    script = f"""<script>tell(async () => {{
      const frame = await framed({json.dumps((SITE / "search.html").as_uri() + "?q=harmonic")}, 1280);
      const links = () => [...frame.contentDocument.querySelectorAll("#search-results li a")];
      await until(() => links().length > 2);
      return links().map((one) => one.href);
    }})</script>"""
    found, _ = told(browser, tmp_path / "search.html", LOOK + script, LOCAL)
    assert any(link.endswith("generated/glla.plu.html") for link in found), found
