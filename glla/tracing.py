"""`glla.trace`: the recorder, with its records written as films, pages and time lines.

The writers are the laboratory's, which is why this stands above it.
"""

from __future__ import annotations

from pathlib import Path

from glla.gl.recorder import LIMIT, Recorder


class Trace(Recorder):
    """What `trace` returns: a `Recorder` that can save what it holds."""

    def save(self, path: str | Path) -> None:
        """Write the passes into a file, in the format that its suffix names.

        Parameters
        ----------
        path : str or Path
            ``.json``: the Chrome trace event format, for Perfetto (https://ui.perfetto.dev) or ``about:tracing``.
            ``.gif``: a film, one picture for each pass, of what it reads and what it draws. ``.html``: a page in one
            file with the same pictures, the shaders, and what they do. The last two need ``trace(values=True)`` and
            the extra ``glla[lab]``.

        Raises
        ------
        OptionError
            Another suffix.
        TraceError
            No pass was recorded, or no values, or too many for pictures.
        MissingPackageError, OSError
            Matplotlib is missing; the file cannot be written.

        Examples
        --------
        >>> import glla, tempfile
        >>> with glla.trace() as t:
        ...     product = glla.matmul([[1, 2], [3, 4]], [[5], [6]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     t.save(f"{folder}/product.json")
        """
        from glla.lab.trace import save  # heavy, and only here

        save(self, Path(path))


def trace(*, values: bool = False, limit: int = LIMIT) -> Trace:
    """Record every render pass that runs inside a ``with`` block, whichever function of glla runs it.

    Parameters
    ----------
    values : bool
        Keep what each pass reads and draws, too: each texture is read back after each pass that draws to it.
    limit : int
        Bytes to keep at most (256 MiB). Passes beyond it run, and are counted in ``dropped``.

    Returns
    -------
    Trace
        ``passes`` is a list of `glla.gl.recorder.TracedPass`: operation, number, shader, inputs, outputs, region,
        uniforms, times, values. ``print`` shows a table, ``save`` writes a file.

    Raises
    ------
    TraceError
        Another trace runs in this thread, or this one has served.
    OptionError
        A limit of 0 bytes.

    Notes
    -----
    The results are the same bit for bit, and nothing is paid while no trace runs. Inside, a software rasteriser is
    waited for after each pass, whose wall time then is its own; a GPU is waited for once a plan, for its time stamps.
    The first run of a plan compiles: run it once before, where times matter. Only the devices of this thread are seen.

    Examples
    --------
    >>> import glla
    >>> with glla.trace(values=True) as t:
    ...     x = glla.matmul([[1, 2], [3, 4]], [[5], [6]], variant="virtual_cube")
    >>> [one.shader for one in t.passes]
    ['(upload)', 'packing/pack', '(upload)', 'packing/pack', 'matmul/virtual_cube', 'packing/unpack', '(read back)']
    >>> t.passes[4].values["C"]
    array([[17.],
           [39.]], dtype=float32)
    """
    return Trace(values=values, limit=limit)
