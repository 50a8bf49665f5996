"""`glla compare`, `tune`, `ceilings` and `shader`: variants beside each other, and shaders of a user's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from glla.cli.options import document, names, opened, parameter, shared, sizes
from glla.errors import OptionError
from glla.lab.sizes import GRAMMAR
from glla.lab.study import at_least

SIZES = "orders of the matrices: 512, or 64,128, or 64:2048:log8 (8 sizes)"
GRAMMAR_OF_SIZES = f"SIZES are {GRAMMAR}."


def compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla compare`."""
    from glla.lab.custom import INTERFACES
    from glla.operations import OPERATIONS

    parser.description = "Verify each variant of an operation against its error bound, then time it."
    parser.epilog = f"{GRAMMAR_OF_SIZES} {parser.epilog}"
    parser.add_argument("operation", choices=tuple(OPERATIONS), metavar="OP", help=", ".join(OPERATIONS))
    parser.add_argument(
        "--variants", type=names, metavar="NAMES",
        help="some, separated by commas (each in its usual pivoting); all: with every pivot norm",
    )  # fmt: skip
    parser.add_argument("--size", type=sizes, metavar="SIZES", help="orders of the matrices, see below")
    parser.add_argument(
        "--baseline", choices=("auto", "numpy", "scipy", "none"), default="auto", metavar="B",
        help="numpy, scipy or none, in their fastest way (auto)",
    )  # fmt: skip
    parser.add_argument("--repeats", type=at_least(1), default=7, metavar="N", help="repeats of a measurement (7)")
    parser.add_argument(
        "--param", type=parameter, action="append", default=[], metavar="NAME=V1,V2",
        help="run the variants that have this parameter with each value; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--shader", type=Path, action="append", default=[], metavar="FILE",
        help=f"let your fragment shader take part (of {', '.join(INTERFACES)}); may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--pictures", type=Path, default=Path(), metavar="FOLDER", help="where to draw wrong results (this folder)"
    )
    shared(
        parser, seed=True, table=True, quick="measure the ceilings with less work",
        out="FILE.json, .csv, .tex, .html; .png, .svg, .pdf: plots",
    )  # fmt: skip
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from glla.cli import comparing
    from glla.lab import comparison, custom, saved
    from glla.lab.extra import check_files, require

    require("compare", "rich")
    check_files("compare", options.out, comparing.NEEDS)
    own = custom.contenders(options.operation, options.shader)
    experiment = comparison.Experiment(
        options.operation, options.variants, options.size, baseline=options.baseline, repeats=options.repeats,
        seed=options.seed, quick=options.quick, sweep=dict(options.param), also=own, command=options.line,
    )  # fmt: skip
    with opened(options) as device:
        experiment.device = device
        custom.compile_all(device, options.operation, own)
        status = comparing.run(experiment, options.out, options.pictures, quiet=options.json)
        if options.json:
            print(document(options, device, saved.as_dict(experiment.result)))
        return status


# -- tune -------------------------------------------------------------------------------------------------------------


def tune(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla tune`."""
    from glla.gl import tuning

    parser.description = (
        "Time every variant with every combination of its parameters, verify the fastest, and store it where glla "
        "looks for it, by renderer. GLLA_TUNING names another folder than the user's; GLLA_TUNING=off makes glla "
        "look for nothing."
    )
    parser.epilog = f"{GRAMMAR_OF_SIZES} {parser.epilog}"
    parser.add_argument("operation", nargs="*", metavar="OP", help=f"{', '.join(tuning.operations())} (all)")
    parser.add_argument("--size", type=sizes, metavar="SIZES", help="orders of the matrices, see below")
    shared(parser, seed=True, out="store it in this file instead", table=True)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--show", action="store_true", help="print the entries that are stored, and their file")
    action.add_argument("--forget", action="store_true", help="remove the file")
    parser.set_defaults(run=_tune)


def _tune(options: argparse.Namespace) -> int:
    from glla.gl import tuning as files
    from glla.lab import ceilings, progress, tuning
    from glla.lab.extra import check_writable

    for name in options.operation:
        files.variants(name)  # raises before a device is made
    if len(options.out) > 1:
        raise OptionError(f"tune: --out takes one file, got {', '.join(map(str, options.out))}")
    say = (lambda text: None) if options.json else print
    with opened(options) as device:
        renderer = device.info.renderer
        file = tuning.destination(renderer, *options.out)
        if options.forget:
            say(f"removed: {file}" if file.exists() else f"nothing is stored in {file}")
            file.unlink(missing_ok=True)
            return 0
        if options.show:
            stored = files.read(file, renderer) if file.exists() else files.Stored()
            lines = [*map(tuning.line, stored.entries), *tuning.rate_lines(stored.rates)]
            say("\n".join([f"{file}:" if lines else f"nothing is stored in {file}", *lines]))
            if options.json:
                print(document(options, device, {"file": str(file), "tuned": stored.entries, "rates": stored.rates}))
            return 0
        file.parent.mkdir(parents=True, exist_ok=True)
        check_writable(file)
        say(f"{renderer}, OpenGL {device.info.version}")
        with progress.shown("tuning") as trying:
            found = tuning.tune(
                options.operation or None, options.size, device=device, seed=options.seed,
                progress=lambda outcome: say(tuning.line(outcome.entry)), trying=trying,
            )  # fmt: skip
            trying("the rates of the device")
            rates = ceilings.of_rates(device)
        tuning.store(file, renderer, found, rates)
        if options.json:
            entries = [outcome.entry for outcome in found]
            print(document(options, device, {"file": str(file), "tuned": entries, "rates": rates}))
    troubles = [trouble for outcome in found for trouble in outcome.troubles]
    for trouble in troubles:
        print(f"glla: not stored: {trouble}", file=sys.stderr)
    say(f"written: {file}")
    return 1 if troubles else 0


# -- ceilings ---------------------------------------------------------------------------------------------------------


def ceilings(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla ceilings`."""
    shared(parser, table=True, quick="less work and fewer repeats")
    parser.add_argument(
        "--store", action="store_true", help="also store the rates by which glla chooses variants, where `tune` does"
    )
    parser.set_defaults(run=_ceilings)


def _ceilings(options: argparse.Namespace) -> int:
    from glla.lab import ceilings, progress, tuning
    from glla.lab.extra import check_writable

    with opened(options) as device, progress.shown("measuring") as say:
        file = tuning.destination(device.info.renderer) if options.store else None
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            check_writable(file)
        report = ceilings.report(device, options.quick, say)
        if file is not None:
            say("the rates of the device")
            tuning.store(file, device.info.renderer, rates=ceilings.of_rates(device, options.quick))
        print(document(options, device, report) if options.json else ceilings.table(report))
    if file is not None and not options.json:
        print(f"written: {file}")
    return 0


# -- shader -----------------------------------------------------------------------------------------------------------


def shader(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla shader`."""
    from glla.lab.custom import INTERFACES

    actions = parser.add_subparsers(metavar="ACTION")
    listing = actions.add_parser("list", help="list the shaders to start your own from (the default)")
    shared(listing, table=True, device=False)
    listing.set_defaults(run=_list)
    show = actions.add_parser("show", help="print one of them")
    show.add_argument("name", metavar="NAME", help="its name in the list")
    show.set_defaults(run=_show)
    interface = actions.add_parser("interface", help="print the interface of a shader for `glla compare --shader`")
    interface.add_argument("operation", choices=tuple(INTERFACES), metavar="OP", help=", ".join(INTERFACES))
    interface.set_defaults(run=_interface)
    parser.set_defaults(run=_list, json=False)


def _list(options: argparse.Namespace) -> int:
    from glla.lab import custom
    from glla.passes.glsl import find

    rows = [
        (path.stem, custom.operation_of(path), find.summary(find.adopt(str(path), path.read_text(encoding="utf-8"))))
        for path in custom.exhibits()
    ]
    if options.json:
        shaders = [dict(zip(("name", "operation", "summary"), row, strict=True)) for row in rows]
        print(document(options, None, {"shaders": shaders}))
        return 0
    for name, operation, summary in rows:
        print(f"{name:17} {operation:11} {summary}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from glla.lab import custom

    print(custom.gallery(options.name).read_text(encoding="utf-8"), end="")
    return 0


def _interface(options: argparse.Namespace) -> int:
    from glla.lab import custom

    print(custom.explanation(options.operation))
    return 0
