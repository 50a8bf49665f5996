"""A trace as a page in one file: pictures to step through, the shader of each pass, and its summary."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

from glla._version import __version__
from glla.gl.recorder import Recorder, TracedPass
from glla.lab import frames
from glla.passes.glsl import find as shaders

TEMPLATE = Path(__file__).with_name("page.html")
STYLE = "friendly"


def document(trace: Recorder) -> str:
    """Write the page; it asks for nothing from anywhere. `trace`: with values."""
    from jinja2 import Environment, StrictUndefined
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import GLShaderLexer

    formatter = HtmlFormatter(style=STYLE)
    pictures = ["data:image/png;base64," + b64encode(png).decode() for png in frames.pictures(trace)]
    passes = [_described(one) for one in frames.drawn(trace)]
    names = sorted({one.shader for one in trace.passes if one.draw is not None})
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=", ".join(dict.fromkeys(one.operation for one in trace.passes)),
        renderer=", ".join(dict.fromkeys(one.renderer for one in trace.passes)),
        version=__version__,
        timing=trace.timing,
        dropped=trace.dropped,
        passes=passes,
        data={"passes": passes, "pictures": pictures},
        sources=[(name, highlight(shaders.source(name), GLShaderLexer(), formatter)) for name in names],
        style=formatter.get_style_defs(".highlight"),
    )


def _described(one: TracedPass) -> dict[str, Any]:
    reads = (slot if name == slot else f"{name} = {slot}" for name, slot in one.inputs.items())
    gpu = "" if one.gpu is None else f"{1e6 * one.gpu:.1f} µs on the GPU, "
    return {
        "title": frames.title(one),
        "words": frames.words(one) + ".",
        "shader": one.shader,
        "rows": [
            ["reads", ", ".join(reads) or "nothing"],
            ["draws", f"{', '.join(one.outputs)}, texels {one.region}"],
            ["uniforms", ", ".join(f"{name} = {value}" for name, value in frames.settings(one).items()) or "none"],
            ["defines", ", ".join(f"{name} = {value}" for name, value in one.defines.items()) or "none"],
            ["time", f"{gpu}{1e6 * one.wall:.1f} µs on the wall"],
        ],
    }
