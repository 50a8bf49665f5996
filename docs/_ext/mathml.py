"""Formulas as MathML, which browsers draw themselves: no script, no fonts, no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(self, node):
    """Write a formula in a line."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(self, node):
    """Write a formula of its own."""
    self.body.append('<div class="math">' + tex2mathml(node.astext(), as_block=True) + "</div>")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
