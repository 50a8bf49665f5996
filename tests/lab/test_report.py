"""The report: one file, complete, escaped, and looked at in a browser."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from glla.lab import extra, report
from glla.lab.comparison import Source
from glla.lab.measurement import Measurement
from tests.markup import Page

pytest.importorskip("jinja2")
pytest.importorskip("pygments")
pytest.importorskip("matplotlib")

EVIL = "<script>alert('x')</script>"


def troubled(measured):
    """A comparison in which everything that can go wrong did."""
    records = [
        *measured.records,
        Measurement("matmul", EVIL, 32, "failed", f"RuntimeError: {EVIL}"),
        Measurement("matmul", "off", 32, "wrong", "product: error 9", error=9.0, bound=1.0),
        Measurement("matmul", "new", 32, "skipped", "needs OpenGL 9.9"),
    ]
    about = {"summary": EVIL, "source": EVIL, "needs": [EVIL], "text": f"// {EVIL}\n"}
    return replace(
        measured,
        records=records,
        variants={**measured.variants, EVIL: about},
        sources=[*measured.sources, Source("off", EVIL, ((EVIL, 1, f"// {EVIL} & more\nvoid main() {{}}"),))],
        environment={**measured.environment, "command": EVIL, "renderer": EVIL, "variables": {EVIL: EVIL}},
    )


@pytest.fixture
def no_plots(monkeypatch):
    """Leave the plots out, which take most of the time."""
    monkeypatch.setattr(report.plots, "svg", lambda comparison, draw, which: "<svg></svg>")


@pytest.fixture(scope="module")
def html(measured):
    return report.render(measured)


def test_the_page_holds_everything(html, measured, device):
    """And loads nothing from elsewhere."""
    page = Page(html)
    assert page.tags["svg"] == 4
    assert page.tags["table"] == 5
    for text in (
        "C = A B", "inner_product", "register_blocked", device.info.renderer, device.info.version, "BLAS gemm", "a @ b",
        "All 8 results are within their error bound", "fragment_fma", "equation 4.7", "Jiang and Snir 2005",
        "matmul/interleave.frag", "lib/packed.glsl", "layout(location = 0) out vec4 result;", "void main() {",
        measured.environment["date"], "At n = 32", f"glla {measured.environment['versions']['glla']}",
    ):  # fmt: skip
        assert text in page.text
    for record in measured:
        assert report.milliseconds(record.seconds) in page.text
    assert all(link.startswith("#") for link in page.links)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    styles = "".join(re.findall(r"<style.*?</style>", html, re.DOTALL))
    assert "@import" not in styles
    assert not re.search(r"url\((?!#)", html)
    for part in ("prefers-color-scheme: dark", "@media print", "color-scheme: light dark"):
        assert part in html
    assert '<span class="kt">vec4</span>' in html  # sources are highlighted
    assert re.search(r'<div class="included" data-n="\d+">', html)
    assert re.search(r'<div class="included file" data-n="">lib/packed.glsl</div>', html)


def test_no_line_of_a_source_is_lost(measured):
    """And each keeps its elements to itself."""
    for source in measured.sources:
        (listing,) = (one for one in report.listings(measured)[source.variant] if one["name"] == source.shader)
        markup = [line for part in listing["parts"] for _, line in part["lines"]]
        assert [Page(str(line)).text for line in markup] == source.text.split("\n")
    source = Source("v", "a.frag", (("a.frag", 1, "\n\n/* one\n   two */ int x;\n\n"),))
    (part,) = report._listing(source)["parts"]
    assert [Page(str(line)).text for _, line in part["lines"]] == ["", "", "/* one", "   two */ int x;", "", ""]
    assert [number for number, _ in part["lines"]] == [1, 2, 3, 4, 5, 6]


def test_everything_is_escaped(measured):
    html = report.render(troubled(measured))
    page = Page(html)
    assert "script" not in page.tags
    assert page.text.count(EVIL) >= 8
    assert "<script>" not in html


def busy(measured):
    return replace(measured, troubles=["busy machine? it took 1, then 2 ms"])


SAID = {
    "wrong": (troubled, ["1 of 11 results is wrong", "wrong: off, n = 32: product: error 9",
                         "skipped: new, n = 32: needs OpenGL 9.9"]),
    "interrupted": (lambda of: replace(of, records=of.records[:1], complete=False),
                    ["Interrupted: 1 measurements are here"]),
    "nothing": (lambda of: replace(of, records=[], sources=[], variants={}, complete=False), ["Interrupted"]),
    "skipped": (lambda of: replace(of, records=[*of, Measurement("matmul", "new", 32, "skipped", "needs OpenGL 9.9")]),
                ["1 of 9 could not be measured"]),
    "busy": (busy, ["WARNING: busy machine? it took 1, then 2 ms", "The machine was busy: do not trust the times"]),
    "peers": (lambda of: of, ["as fast as the CPU at its best: BLAS gemm", "as fast as the usual call a @ b"]),
    "three sizes": (lambda of: replace(of, records=[one for one in of if one.size != 17]),
                    ["no line is fitted to the times: that takes 4 sizes or more"]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_is_said(measured, no_plots, case):
    change, texts = SAID[case]
    page = Page(report.render(replace(change(measured), troubles=change(measured).troubles if case == "busy" else [])))
    assert all(text in page.text for text in texts)
    assert page.text.count(", on a busy machine") == 2 * (case == "busy")  # the cards of the CPU
    assert ("busy" in page.text) == (case == "busy")
    assert "crossover" not in page.text or case != "three sizes"


def test_the_best_and_its_card(measured, no_plots, monkeypatch):
    page, best = Page(report.render(measured)), report.best(measured)
    assert f"half of 3 repeats took {report.show.spread(best)} ms" in page.text and best.baseline_way in page.text
    assert best.size == 32
    assert best.seconds == min(record.seconds for record in measured if record.size == 32)
    assert report.best(replace(measured, records=[])) is None
    monkeypatch.setattr(extra, "find_spec", lambda name: None if name == "jinja2" else object())
    with pytest.raises(extra.MissingPackageError, match="a report: needs jinja2; pip install"):
        report.render(measured)


# ---- in a browser ----------------------------------------------------------------------------

PROBE = """<script>
addEventListener("error", event => document.title = "error: " + event.message);
addEventListener("load", () => {
  const box = element => { const b = element.getBoundingClientRect(); return [b.width, b.height]; };
  const answer = {
    plots: [...document.querySelectorAll("figure svg")].map(box),
    marks: [...document.querySelectorAll("figure svg")].map(svg => svg.querySelectorAll("use").length),
    tables: [...document.querySelectorAll("table")].map(table => [table.rows.length, ...box(table)]),
    shaders: [...document.querySelectorAll("pre.code")].map(box),
    side: [...document.querySelectorAll(".source")].map(s => s.getBoundingClientRect().top),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    requests: performance.getEntriesByType("resource").length,
    ink: getComputedStyle(document.body).color,
    plot_ink: getComputedStyle(document.querySelector("figure svg")).color,
  };
  const pre = document.createElement("pre");
  pre.id = "answer";
  pre.textContent = JSON.stringify(answer);
  document.body.append(pre);
});
</script>"""


def console(errors):
    """What the page itself complained of, among all that a browser without a desktop complains of."""
    return [line for line in errors.splitlines() if "CONSOLE" in line]


@pytest.mark.browser
def test_a_browser_shows_the_report(browser, html, tmp_path):
    from matplotlib.image import imread

    page, picture = tmp_path / "report.html", tmp_path / "report.png"
    page.write_text(html, encoding="utf-8")
    _, errors = browser(page, f"--screenshot={picture}")
    assert console(errors) == []
    image = imread(picture)[:, :, :3]
    assert image.shape[:2] == (3000, 1400)
    varied = np.ptp(image.reshape(len(image), -1), axis=1) > 0.2  # rows of pixels that hold more than paper
    assert varied.mean() > 0.5
    for colour in ((0x2F, 0x7F, 0xC1), (0xE0, 0x82, 0x14)):  # of the two variants, in the plots
        assert (np.abs(image * 255 - colour).max(axis=2) < 2).sum() > 100


@pytest.mark.browser
def test_a_browser_finds_everything_in_its_place(browser, html, tmp_path):
    """A copy of the page measures itself; the page's own policy forbids scripts, so the copy goes without."""
    copy = tmp_path / "probe.html"
    policy = re.search(r"<meta http-equiv=.*?>", html)[0]
    copy.write_text(html.replace(policy, PROBE), encoding="utf-8")
    dom, errors = browser(copy, "--dump-dom", "--blink-settings=preferredColorScheme=0")
    assert console(errors) == []
    answer = json.loads(re.search(r'<pre id="answer">(.*?)</pre>', dom, re.DOTALL)[1])
    assert answer["requests"] == 0
    assert answer["wide"] == 0
    assert len(answer["plots"]) == 4
    assert all(width > 400 and height > 250 for width, height in answer["plots"])
    assert min(answer["marks"]) >= 6
    assert [rows for rows, _, _ in answer["tables"]] == [3, 4, 9, 3, 13]
    assert all(width > 400 and height > 50 for _, width, height in answer["tables"])
    assert len(answer["shaders"]) == 3
    assert all(width > 300 and height > 300 for width, height in answer["shaders"])
    assert answer["side"][0] == answer["side"][1]  # side by side
    assert answer["ink"] == answer["plot_ink"] == "rgb(227, 232, 239)"  # dark, as asked for


@pytest.mark.browser
def test_the_policy_forbids_scripts(browser, html, tmp_path):
    """Should anything ever slip through, the page does not run it."""
    copy, script = tmp_path / "script.html", "<script>document.body.innerHTML = 'gone'</script>"
    copy.write_text(html.replace("</main>", f"</main>{script}"), encoding="utf-8")
    dom, errors = browser(copy, "--dump-dom")
    assert "The variants" in dom
    assert any("Content Security Policy" in line for line in console(errors))
