"""`glla trace` and `glla explain`: an operation recorded and drawn, or said in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from glla import Device
from glla.errors import OptionError
from glla.lab import chrome, frames, page
from glla.lab.extra import check_writable, require
from glla.passes import Plan
from glla.recorder import Recorder

Array = NDArray[np.float32]

FRAME, LAST_FRAME = 900, 3000
"""Milliseconds for which a film shows a pass."""

PLANS = ("matmul", "rref", "plu", "triangular")
"""Operations that are one plan."""

FUNCTIONS: dict[str, Callable[[Array, Array, Device], Any]] = {
    "solve": lambda a, b, device: glla.solve(a, b, device=device),
    "inv": lambda a, b, device: glla.inv(a, device=device),
    "det": lambda a, b, device: glla.det(a, device=device),
}
"""Operations that are several, put together by a function."""

OPERATIONS = (*PLANS, *FUNCTIONS)


# -- files ------------------------------------------------------------------------------------------------------------


def _save_json(trace: Recorder, path: Path) -> None:
    path.write_text(json.dumps(chrome.document(trace), allow_nan=False) + "\n", encoding="utf-8")


def _save_gif(trace: Recorder, path: Path) -> None:
    from PIL import Image

    images = [Image.open(BytesIO(png)).convert("P", palette=Image.Palette.ADAPTIVE) for png in frames.pictures(trace)]
    durations = [FRAME] * (len(images) - 1) + [LAST_FRAME]
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)


def _save_html(trace: Recorder, path: Path) -> None:
    path.write_text(page.document(trace), encoding="utf-8")


WRITERS: dict[str, tuple[Callable[[Recorder, Path], None], tuple[str, ...]]] = {
    ".gif": (_save_gif, ("matplotlib", "PIL")),
    ".html": (_save_html, ("jinja2", "matplotlib")),
    ".json": (_save_json, ()),
}
"""For each suffix what writes it, and the packages that this needs."""


def _writer(path: Path) -> Callable[[Recorder, Path], None]:
    """Find the writer of a suffix; its packages are there."""
    if path.suffix.lower() not in WRITERS:
        raise OptionError(f"trace: a file must end in {', '.join(WRITERS)}, got {path.name!r}")
    writer, packages = WRITERS[path.suffix.lower()]
    require("trace", *packages)
    return writer


def save(trace: Recorder, path: Path) -> None:
    """Write a trace in the format that the suffix names: see `glla.tracing.Trace.save`."""
    _writer(path)(trace, path)


# -- commands ---------------------------------------------------------------------------------------------------------


def check(operation: str, output: Path | None) -> None:
    """Raise what can be known to fail before the work.

    Raises
    ------
    OptionError, MissingPackageError, OSError
        No such operation or format; a package is missing; the file cannot be written.
    """
    if operation not in OPERATIONS:
        raise OptionError(f"trace: operation must be one of {', '.join(OPERATIONS)}, got {operation!r}")
    if output is not None:
        _writer(output)
        check_writable(output)


def run(
    device: Device, operation: str, size: int, output: Path | None = None, variant: str | None = None, seed: int = 2007
) -> Recorder:
    """Trace an operation, and save the trace or print it.

    Parameters
    ----------
    device : Device
        Where.
    operation : str
        One of `OPERATIONS`.
    size : int
        Order of the matrices.
    output : Path, optional
        A file ending in .gif, .html or .json; by default a table is printed.
    variant : str, optional
        Of an operation that is one plan.
    seed : int
        Of the random matrices.

    Returns
    -------
    Recorder
        What ran. It was run before, untraced, so that no pass's time holds the compiling.
    """
    work = _work(device, operation, size, variant, seed)
    work()
    device.finish()
    with glla.trace(values=output is not None and output.suffix.lower() != ".json") as recorded:
        work()
    if output is None:
        print(recorded)
    else:
        save(recorded, output)
        more = f", {recorded.dropped} more left out" if recorded.dropped else ""
        print(f"{output}: {len(recorded)} passes of {operation}, size {size}, on {device.info.renderer}{more}")
    return recorded


def plan(operation: str, size: int, variant: str | None = None) -> Plan:
    """Plan of an operation on matrices of one order; the echelon form's has a quarter more columns.

    Raises
    ------
    OptionError
        The operation is no single plan, or has no such variant.
    """
    if operation not in PLANS:
        raise OptionError(
            f"plan: operation must be one of {', '.join(PLANS)}, got {operation!r}; "
            "trace it to see the plans that it is put together from"
        )
    shapes = [_shape(operation, name, size) for name in ("A", "B")]
    options: dict[str, Any] = {} if variant is None else {"variant": variant}
    return glla.plan(operation, *shapes[: 2 if operation in ("matmul", "triangular") else 1], **options)


def _shape(operation: str, name: str, size: int) -> tuple[int, int]:
    more = -(-size // 4)
    if operation == "rref":
        return size, size + more
    return (size, more) if operation == "triangular" and name == "B" else (size, size)


def _work(device: Device, operation: str, size: int, variant: str | None, seed: int) -> Callable[[], object]:
    """Make the operands, and give what runs the operation on them."""
    rng = np.random.default_rng(seed)
    if operation in FUNCTIONS:
        if variant is not None:
            raise OptionError(f"trace: {operation} has no variants, got {variant!r}; leave it out")
        a, b = rng.uniform(-1, 1, (size, size)), rng.uniform(-1, 1, (size, 1))
        return lambda: FUNCTIONS[operation](a.astype(np.float32), b.astype(np.float32), device)
    steps = plan(operation, size, variant)
    operands = {name: _operand(device, steps, name, rng) for name in steps.operands}
    return lambda: device.run(steps, **operands)


def _operand(device: Device, steps: Plan, name: str, rng: np.random.Generator) -> Any:
    shape = steps.slots[name].shape
    if shape is None:  # the tolerance of an echelon form: random matrices need none
        storage = steps.slots[name]
        return device.write_texels(np.zeros((storage.height, storage.width, storage.channels), dtype=np.float32))
    matrix = rng.uniform(-1, 1, shape)
    if name == "T":
        matrix = np.tril(matrix, -1) / 2 + np.eye(shape[0])  # well-conditioned
    return device.upload(matrix.astype(np.float32))
