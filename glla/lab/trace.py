"""`glla trace` and `glla explain`: an operation recorded and drawn, or said in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from io import BytesIO
from pathlib import Path

from glla.display import trace as display
from glla.gl import Device
from glla.gl.recorder import Recorder
from glla.lab import chrome, frames, operations, page
from glla.lab.extra import check_files
from glla.lab.plain import replace
from glla.linalg.plans import shown
from glla.operations import OPERATIONS, Operation
from glla.operations.record import Float32
from glla.passes import PLAIN, Limits, Plan, forms_of

SEED = 2007

FRAME, LAST_FRAME = 900, 3000
"""Milliseconds for which a film shows a pass."""

# -- files ------------------------------------------------------------------------------------------------------------


def _save_gif(trace: Recorder, path: Path) -> None:
    from PIL import Image

    images = [Image.open(BytesIO(png)).convert("P", palette=Image.Palette.ADAPTIVE) for png in frames.pictures(trace)]
    durations = [FRAME] * (len(images) - 1) + [LAST_FRAME]
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)


NEEDS = {".gif": ("matplotlib", "PIL"), ".html": ("jinja2", "matplotlib", "pygments"), ".json": ()}
"""Packages that a file needs, by its ending."""

WRITERS: dict[str, Callable[[Recorder, Path], None]] = {
    ".gif": _save_gif,
    ".html": lambda trace, path: replace(path, page.document(trace)),
    ".json": lambda trace, path: replace(path, json.dumps(chrome.document(trace), allow_nan=False) + "\n"),
}


def save(trace: Recorder, path: Path) -> None:
    """Write a trace in the format that the suffix names: see `glla.tracing.Trace.save`."""
    check_files("trace", [path], NEEDS)
    WRITERS[path.suffix.lower()](trace, path)


# -- commands ---------------------------------------------------------------------------------------------------------


def check(operation: str, outputs: Sequence[Path]) -> None:
    """Raise errors that are known before the work: no such operation, and those of `check_files`."""
    operations.find(operation, "trace")
    check_files("trace", outputs, NEEDS)


def run(
    device: Device,
    operation: str,
    size: int,
    outputs: Sequence[Path] = (),
    variant: str | None = None,
    seed: int = SEED,
    data: Sequence[Float32] = (),
    quiet: bool = False,
    whole: bool = True,
) -> Recorder:
    """Trace an operation, and save the trace or print it.

    What ran. It was run before, untraced, so that no pass's time holds the compiling.
    `operation`: a key of `glla.operations.OPERATIONS`. `size`: order of the matrices. `outputs`: files ending in .gif,
    .html or .json; without one a table is printed. `variant`: trace the plan of this variant, operands on the device;
    by default a call of the public function is traced. `seed`: of the operands. `data`: the first operands, in place of
    the example's. `quiet`: print nothing. `whole`: show the plans around the operation, too.
    """
    arrays = _arrays("trace", OPERATIONS[operation], size, seed, data)
    work = _work(device, OPERATIONS[operation], arrays, variant)
    work()
    device.finish()
    with Recorder(values=any(output.suffix.lower() != ".json" for output in outputs)) as recorded:
        work()
    if not outputs and not quiet:
        print(recorded if whole else display.text(recorded, short=True))
    of = " and ".join("x".join(map(str, array.shape)) for array in arrays)
    drawn = copy(recorded)
    if not whole:
        drawn.passes = list(display.in_plans(recorded)[0])
    for output in outputs:
        kept = recorded if output.suffix.lower() == ".json" else drawn
        save(kept, output)
        more = f", {recorded.dropped} more left out" if recorded.dropped else ""
        more += f"; --all: {len(recorded)}" if len(kept) < len(recorded) else ""
        if not quiet:
            print(f"{output}: {len(kept)} passes of {operation}, of {of}, on {device.info.renderer}{more}")
    return recorded


def plan(
    operation: str, size: int, variant: str | None = None, limits: Limits = PLAIN, data: Sequence[Float32] = ()
) -> Plan:
    """Plan of an operation on its example of an order; `data`: the first operands, in place of the example's.

    With a variant its plan, operands on the device; by default what a call of the public function would run.
    Raises OptionError: no such operation or variant.
    """
    found = operations.find(operation, "plan")
    return _plan(found, _arrays("explain", found, size, SEED, data), variant, limits)


def _arrays(command: str, found: Operation, size: int, seed: int, data: Sequence[Float32]) -> tuple[Float32, ...]:
    given, example = operations.operands(command, found, size, seed, data)
    arrays = (*given, *example)
    found.check(operations.forms(arrays))
    return arrays


def _plan(found: Operation, arrays: tuple[Float32, ...], variant: str | None, limits: Limits) -> Plan:
    if variant is None:
        return shown(found, arrays, limits)
    found.known(variant)
    return found.device_plan(operations.forms(arrays), limits, variant=variant)


def _work(device: Device, found: Operation, arrays: tuple[Float32, ...], variant: str | None) -> Callable[[], object]:
    """Return a function that runs the operation: a call, or a variant's plan."""
    if variant is None and found.function.public:
        return partial(operations.public(found), *arrays, device=device)
    steps = _plan(found, arrays, variant, device.limits)
    if variant is not None:
        return partial(device.run, steps, **operations.uploaded(device, found, steps, arrays))
    if len(steps.operands) != len(arrays):  # small ones go as a stack, which has one operand
        steps = found.call_plan(forms_of(arrays), device.limits)
    return partial(device.run, steps, **dict(zip(steps.operands, arrays, strict=True)))
