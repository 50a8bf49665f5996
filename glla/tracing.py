"""`glla.trace`: the recorder, with export of its records as films, pages and time lines.

The exporters belong to the laboratory, so this module is above it.
"""

from __future__ import annotations

from pathlib import Path

from glla.gl import DeviceLike, named_device
from glla.gl.recorder import LIMIT, Recorder


class Trace(Recorder):
    """The result of `trace`: a `Recorder` that can be saved."""

    def save(self, path: str | Path) -> None:
        """Write the passes to a file, in the format of its suffix.

        `path`: ``.json``: the Chrome trace event format, for Perfetto (https://ui.perfetto.dev) or ``about:tracing``.
        ``.gif``: a film, one picture for each pass, of its inputs and outputs. ``.html``: a page in one file with the
        same pictures, the shaders, and explanations. The last two need ``trace(values=True)`` and the extra
        ``glla[lab]``.
        Raises OptionError: another suffix. Raises TraceError: no pass was recorded, or no values, or too many for
        pictures. Raises MissingPackageError, OSError: matplotlib is missing; the file cannot be written.

        >>> import glla, tempfile
        >>> with glla.trace() as t:
        ...     product = glla.matmul([[1, 2], [3, 4]], [[5], [6]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     t.save(f"{folder}/product.json")
        """
        from glla.lab.trace import save  # heavy, and only here

        save(self, Path(path))


def trace(*, values: bool = False, limit: int = LIMIT, device: DeviceLike | None = None) -> Trace:
    """Record every render pass that runs inside a ``with`` block.

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

    Parameters
    ----------
    values : bool
        Keep the inputs and outputs of each pass, too: each texture is read back after each pass that draws to it.
    limit : int
        Bytes to keep at most (256 MiB). Later passes run, and are counted in ``dropped``.
    device : Device, str or int, optional
        Record only this one, or the one of this name (see `glla.gl.named_device`); by default all of this thread.

    Returns
    -------
    Trace
        ``passes`` is a list of `glla.gl.recorder.TracedPass`: operation, number, shader, inputs, outputs, region,
        uniforms, times, values. ``print`` shows a table, ``save`` writes a file.

    Raises
    ------
    TraceError
        Another trace runs in this thread, or this one was used before.
    OptionError, ContextError
        A limit of 0 bytes, or an invalid name of a device; the named device does not open.

    Notes
    -----
    The results are the same bit for bit, and there is no cost while no trace runs. Inside, the host waits for a
    software rasteriser after each pass, so wall times are those of passes; for a GPU once a plan, for its time stamps.
    The first run of a plan compiles: run it once before, if times matter. Other threads' devices are not recorded.
    """
    return Trace(values=values, limit=limit, device=None if device is None else named_device("trace", device))
