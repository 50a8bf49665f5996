"""`glla export`: the passes of an operation in a browser, by WebGL 2, one page in one file.

``documents`` writes a plan as data, `glla.passes.glsl.es` its shaders in the browser's dialect. ``player.js`` runs
the passes.
"""

from glla.web.documents import document, of_plan

__all__ = ["document", "of_plan"]
