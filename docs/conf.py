"""The site: ``make docs``. Everything that follows from the code is written anew, by `_ext.generated`."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # of an example; before SciPy is imported

import generated  # noqa: E402

import glla  # noqa: E402

project = "glla"
version = release = glla.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",
    "examples_first",
    "generated",
]
exclude_patterns = [
    "_ext",
    "contribute/CONTRIBUTING.md",
    "examples/*.ipynb",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_extra_path = [str(generated.EXTRA)]
html_css_files = ["glla.css"]
html_js_files = ["glla.js"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "logo": {"text": "glla"},
}
html_sidebars = {"index": []}
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "doc_module": ("glla",),
    "reference_url": {"glla": None},
}
suppress_warnings = ["config.cache", "myst.xref_missing"]  # the gallery's functions cannot be pickled
nitpicky = False
