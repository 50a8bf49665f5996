"""`glla info`, `explain`, `trace`, `export` and `variants`: a device, and the render passes of operations."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import glla
from glla.array.convert import within_float32
from glla.cli.options import document, opened, shared
from glla.errors import ContextError, OptionError
from glla.lab.study import at_least

MATRICES = "a matrix of your own, as .npy or as rows of numbers: A; given again: B"


def info(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla info`."""
    shared(parser, table=True)
    parser.set_defaults(run=_info)


def _info(options: argparse.Namespace) -> int:
    from glla.cli import report
    from glla.lab import machine

    try:
        with opened(options) as device:
            found = report.of(device)
    except ContextError as error:
        if not options.json:
            raise
        found = {
            "ok": False,
            "error": str(error),
            "versions": machine.versions(report.PACKAGES),
            "egl_devices": report.egl_devices(),
        }
        print(document(options, None, found))
        return 3
    print(document(options, None, found) if options.json else report.text(found))
    return 0 if found["ok"] else 1


# -- passes of an operation -------------------------------------------------------------------------------------------


def explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla explain`."""
    _add_operation(parser)
    shared(parser, data=MATRICES, device=False)
    parser.set_defaults(run=_explain)


def trace(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla trace`."""
    _add_operation(parser)
    shared(parser, seed=True, data=MATRICES, out="FILE.gif, FILE.html or FILE.json (a table is printed)", table=True)
    parser.add_argument(
        "--ranks", type=at_least(1, 256), metavar="N", help="on a cluster of N ranks: a time line each, and messages"
    )
    parser.set_defaults(run=_trace)


def export(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla export`."""
    _add_operation(parser, 8, "?")
    shared(parser, seed=True, data=MATRICES, out="FILE.html, a page; or FILE.json", device=False)
    parser.add_argument(
        "--all", type=Path, metavar="FOLDER", help="a page for every operation and variant, and an index"
    )
    parser.add_argument("--shader", type=Path, metavar="FILE", help="your fragment shader in the place of glla's")
    parser.set_defaults(run=_export)


def _add_operation(parser: argparse.ArgumentParser, size: int = 16, count: str | None = None) -> None:
    from glla.operations import OPERATIONS

    parser.add_argument("operation", metavar="OP", nargs=count, help=", ".join(OPERATIONS))
    parser.add_argument("--variant", metavar="V", help="the plan of this variant (as a call would run it)")
    if count is None:
        parser.add_argument("--all", action="store_true", help="also the steps of the call around the operation")
    shared(parser, size=(size, "order of the matrices"), device=False)


def _explain(options: argparse.Namespace) -> int:
    from glla.lab import trace
    from glla.operations import OPERATIONS

    arrays = [_matrix("explain", path) for path in options.data]
    explained = glla.explain(trace.plan(options.operation, options.size, options.variant, data=arrays))
    print(explained if options.all else explained.short)
    if options.variant:
        variant = OPERATIONS[options.operation].variants[options.variant]
        print(f"\n{options.variant}: {variant.summary}\nsource: {variant.source}")
    return 0


def _trace(options: argparse.Namespace) -> int:
    from glla.lab import chrome, cluster, trace

    if options.ranks is not None:
        if len(options.out) != 1:
            raise OptionError("trace: --ranks needs --out, a file that ends in .json, .png, .svg or .pdf")
        cluster.trace(options.operation, options.size, options.ranks, options.out[0], options.seed)
        return 0
    trace.check(options.operation, options.out)
    arrays = [_matrix("trace", path) for path in options.data]
    with opened(options) as device:
        recorded = trace.run(
            device, options.operation, options.size, options.out, options.variant, options.seed, arrays, options.json,
            options.all,
        )  # fmt: skip
        if options.json:
            print(document(options, device, {"trace": chrome.document(recorded)}))
    return 0


def _export(options: argparse.Namespace) -> int:
    from glla.web import course, export

    if (options.all is None) == (options.operation is None) or (options.all is None) == (not options.out):
        raise OptionError("export: wants an operation and --out FILE, or --all FOLDER alone")
    if options.all is not None:
        files = course.write(options.all, options.size, options.seed)
        print(f"{files[0]}: {len(files) - 1} pages")
        return 0
    data = [_matrix("export", path) for path in options.data]
    for path in options.out:
        made = export.export(
            options.operation, path, size=options.size, variant=options.variant, data=data, shader=options.shader,
            seed=options.seed,
        )  # fmt: skip
        first = made["plans"][0]
        of = " and ".join("x".join(map(str, one["shape"])) for one in made["operands"].values() if "shape" in one)
        print(f"{path}: {len(first['steps'])} passes of {first['name']}, of {of}")
    return 0


def _matrix(command: str, path: Path) -> NDArray[np.float32]:
    """Read a matrix: ``.npy``, or text with a row on each line, numbers apart by blanks or commas."""
    try:
        if path.suffix.lower() == ".npy":
            found = np.load(path, allow_pickle=False)
        else:
            lines = path.read_text(encoding="utf-8-sig").splitlines()  # spreadsheets begin a file with a mark
            rows = [row for line in lines if (row := line.partition("#")[0].rstrip(" \t,"))]
            if not rows:
                raise ValueError("no numbers")
            if any(re.search(r"(^|,)\s*,|\S,[^\s,]+\s+[^\s,]|[^\s,]\s+[^\s,]+,\S", row) for row in rows):
                raise ValueError("a value is missing between commas, or a comma is within a number")
            found = np.loadtxt([row.replace(",", " ") for row in rows], ndmin=2)
    except (ValueError, TypeError, EOFError) as error:
        raise OptionError(f"{command}: {path} must hold a matrix, as .npy or as rows of numbers ({error})") from None
    return within_float32(command, str(path), found)


# -- variants ---------------------------------------------------------------------------------------------------------


def variants(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla variants`."""
    from glla.operations import OPERATIONS

    about = f"{', '.join(OPERATIONS)} (those with variants of their own)"
    parser.add_argument("operation", nargs="*", metavar="OP", help=about)
    shared(parser, size=(256, "order of the matrices"), table=True)
    parser.add_argument(
        "--count", action="store_true", help="run them and count their fetches, instead of taking plans' bounds"
    )
    parser.set_defaults(run=_variants)


def _variants(options: argparse.Namespace) -> int:
    from glla.lab import collection, progress

    chosen = options.operation or collection.names()
    where = "OpenGL 3.3 on a GPU (--device D: for another one)"
    if options.count or options.device is not None:
        with opened(options) as device, progress.shown("counting fetches") as say:
            where, count = device.info.renderer, device if options.count else None
            found = collection.entries(count, chosen, options.size, say, device.limits)
    else:
        found = collection.entries(None, chosen, options.size)
    listed = {"variants": [asdict(entry) for entry in found], "for": where}
    print(document(options, None, listed) if options.json else collection.text(found, where))
    return 0
