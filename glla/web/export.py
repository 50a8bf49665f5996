"""`glla.lab.export`: a document, or the page that holds it, as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from glla.errors import OptionError
from glla.lab.extra import check_writable
from glla.web import documents
from glla.web.documents import SEED, Document
from glla.web.page import page

SUFFIXES = (".html", ".json")
"""What a file may be."""


class Written(Document):
    """The document of a page, and its file."""

    def __init__(self, made: Document, path: Path) -> None:
        super().__init__(made)
        self.path = path

    def __repr__(self) -> str:
        return f"<glla.lab.export of {self['operation']} to {self.path}: {len(self['plans'][0]['steps'])} passes>"

    def _repr_html_(self) -> str:
        return f'<a href="{escape(str(self.path))}">{escape(str(self.path))}</a>'


def export(
    operation: str,
    path: str | Path,
    *,
    size: int = 8,
    variant: str | None = None,
    data: Sequence[NDArray[Any]] | None = None,
    shader: str | Path | None = None,
    seed: int = SEED,
) -> Document:
    """Write the passes of an operation as a file for a browser.

    Needs no GPU: nothing runs here.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = export("rref", f"{folder}/rref.json", size=4, variant="rank2")
    >>> made["plans"][0]["name"], len(made["plans"][0]["steps"])
    ('rref[rank2, harmonic]', 6)

    Parameters
    ----------
    operation : str
        A key of `glla.operations.OPERATIONS`.
    path : str or Path
        ``FILE.html``: a page that runs the passes in any browser with WebGL 2. ``FILE.json``: the document in it.
    size : int
        Order of the operands, up to 128.
    variant : str, optional
        By default the one that is chosen for this order.
    data : sequence of array_like, optional
        The first operands, instead of those of the operation's example.
    shader : path, optional
        A fragment shader of your own in the place of glla's, as in ``glla compare --shader``.
    seed : int
        Of the example.

    Returns
    -------
    dict
        The document; a notebook shows it as a link to the file.

    Raises
    ------
    OptionError, ShaderError, OSError
        Unknown operation or variant; over 500 passes, or order 128; what a browser cannot run; an unwritable file.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise OptionError(f"export: a file must end in {' or '.join(SUFFIXES)}, got {path.name!r}")
    check_writable(path)
    own = None if shader is None else Path(shader)
    made = documents.document(operation, size, variant, data=data, shader=own, seed=seed)
    text = page(made) if path.suffix.lower() == ".html" else json.dumps(made, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8")
    return Written(made, path)
