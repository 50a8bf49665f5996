"""The `glla` command."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import glla
from glla import Device
from glla.errors import ContextError, GllaError, OptionError
from glla.gl.select import parsed, requested
from glla.gl.selftest import examine, passed
from glla.lab.machine import version_of
from glla.lab.plain import plain

PACKAGES = ("numpy", "moderngl", "glfw")
"""Distributions that glla requires."""

SMALLEST_DEMO, LARGE_DEMO = 8, 512
DEMOS = {"operations": "demo.png", "restoration": "restoration.png", "windows": "windows.png", "water": "water.gif"}
"""Subjects of `glla demo`, each with its picture."""

KINDS = {True: "software", False: "hardware"}
LABELS = {"renderer": "renderer", "vendor": "vendor", "OpenGL": "opengl", "GLSL": "glsl", "context": "backend"}
NAME_WIDTH = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the arguments of the process.

    Returns
    -------
    int
        Exit status: 0 for success, 1 for a failure, 2 for wrong usage, 130 when interrupted.
    """
    with _streams():
        return _run(arguments)


@contextmanager
def _streams() -> Iterator[None]:
    """Make every text printable: characters outside a stream's encoding become escape sequences.

    Closed streams (``>&-``) have no replacement: Python has none, and would fail to print.
    """
    with ExitStack() as stack:
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
            stack.callback(sys.stdout.reconfigure, errors="strict")
            sys.stdout.reconfigure(errors="backslashreplace")
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if stream is None:
                stack.enter_context(redirect(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
        yield


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
        options.line = shlex.join(["glla", *(sys.argv[1:] if arguments is None else arguments)])
        status: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Python would flush again at its end, into the same broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except GllaError as error:
        return _failure(str(error))
    except OSError as error:
        return _failure(f"{error.filename or 'system'}: {error.strerror or error}")
    except MemoryError as error:
        return _failure(f"not enough memory: {str(error) or 'the system gave no reason'}; ask for a smaller size")
    return status


def _failure(message: str) -> int:
    print(f"glla: {message}", file=sys.stderr)
    return 1


# -- arguments ---------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="glla", description="Linear algebra through OpenGL 3.3 fragment shaders.")
    parser.add_argument("--version", action="version", version=f"glla {glla.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    info = commands.add_parser("info", help="what the device is, can do, and how it calculates")
    info.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_device_options(info)
    info.set_defaults(command=_info)

    for add in (_add_demos, _add_compare, _add_rates, _add_traces, _add_cluster, _add_seeds, _add_thesis, _add_choices):
        add(commands)
    return parser


def _add_demos(commands: Any) -> None:
    demo = commands.add_parser("demo", help="run, verify, time and draw the operations")
    demo.add_argument(
        "what", nargs="?", choices=DEMOS, default="operations", metavar="WHAT", help=f"{', '.join(DEMOS)} (operations)"
    )
    demo.add_argument(
        "--size", type=_demo_size, metavar="N",
        help="order of the matrices (512), or rows of the picture (restoration: 64, windows: 512, water: 121)",
    )  # fmt: skip
    demo.add_argument("--output", type=Path, metavar="PNG", help="picture (WHAT.png; water: a film, water.gif)")
    demo.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrix (2007)")
    demo.add_argument("--image", type=Path, metavar="FILE", help="a picture of your own, for restoration and windows")
    demo.add_argument(
        "--seconds", type=_positive, default=20, metavar="S", help="restoration: leave out what would take longer (20)"
    )
    demo.add_argument("--json", action="store_true", help="water: print JSON instead of tables")
    demo.add_argument("--window", action="store_true", help="water: run live in a window, where the mouse makes waves")
    _add_device_options(demo)
    demo.set_defaults(command=_demo)

    for name, size, what in (("life", 128, "the Game of Life"), ("stencil", 256, "3 x 3 stencils of a photograph")):
        example = commands.add_parser(name, help=f"a kernel of ten lines: {what}, checked and drawn")
        example.add_argument("--size", type=_positive, default=size, metavar="N", help=f"rows and columns ({size})")
        example.add_argument(
            "--output", type=Path, default=Path(f"{name}.png"), metavar="PNG", help=f"picture ({name}.png)"
        )
        if name == "life":
            example.add_argument("--seed", type=_natural, default=2007, help="seed of the first generation (2007)")
        _add_device_options(example)
        example.set_defaults(command=_life if name == "life" else _stencil)


def _add_rates(commands: Any) -> None:
    """Add the commands that measure the device's speed, and the convergence of solvers."""
    ceilings = commands.add_parser("ceilings", help="how fast the device can be at most: arithmetic, memory, draws")
    ceilings.add_argument("--json", action="store_true", help="print JSON instead of a table")
    ceilings.add_argument("--quick", action="store_true", help="less work and fewer repeats")
    _add_device_options(ceilings)
    ceilings.set_defaults(command=_ceilings)
    convergence = commands.add_parser("convergence", help="how the sparse solvers converge, by true residuals")
    convergence.add_argument("--size", type=_positive, default=32, metavar="N", help="points of a grid's side (32)")
    convergence.add_argument("--rtol", type=float, default=1e-6, help="residual that is asked for (1e-6)")
    convergence.add_argument("--seed", type=_natural, default=2007, help="seed of the right-hand side (2007)")
    convergence.add_argument("--output", type=Path, metavar="FILE", help="picture: .png, .svg or .pdf")
    convergence.add_argument("--times", action="store_true", help="time them, in turns with SciPy's on the CPU")
    convergence.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_device_options(convergence)
    convergence.set_defaults(command=_convergence)


def _add_choices(commands: Any) -> None:
    """Add the commands that compare variants, and pivots."""
    variants = commands.add_parser("variants", help="every variant of every operation, and what it costs")
    variants.add_argument(
        "operation", nargs="*", metavar="OPERATION", help=_operations("those with variants of their own")
    )
    variants.add_argument("--size", type=_positive, default=256, metavar="N", help="order of the matrices (256)")
    variants.add_argument(
        "--count",
        action="store_true",
        help="run them and count what they fetch, instead of telling it from their plans",
    )
    variants.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_device_options(variants)
    variants.set_defaults(command=_variants)

    pivoting = commands.add_parser("pivoting", help="growth and error with the harmonic, geometric and partial pivots")
    pivoting.add_argument("--size", type=_demo_size, default=64, metavar="N", help="order of the matrices (64)")
    pivoting.add_argument(
        "--data", type=Path, metavar="FOLDER", help="also real matrices, MatrixMarket files up to 512"
    )
    pivoting.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrices (2007)")
    pivoting.add_argument("--json", type=Path, metavar="JSON", help="write the records to a file")
    pivoting.add_argument("--plot", type=Path, metavar="PNG", help="draw them")
    _add_device_options(pivoting)
    pivoting.set_defaults(command=_pivoting)


def _add_compare(commands: Any) -> None:
    from glla.gl import tuning
    from glla.lab import custom, sizes
    from glla.operations import OPERATIONS

    compare = commands.add_parser(
        "compare",
        help="every variant of an operation side by side: verified, timed, drawn",
        description="Verify each variant of an operation against its error bound, then time it.",
        epilog=f"SIZES are {sizes.GRAMMAR}. The exit status is 1 if a result was wrong or a variant failed.",
    )
    compare.add_argument("operation", choices=tuple(OPERATIONS), metavar="operation", help=", ".join(OPERATIONS))
    compare.add_argument(
        "--variants", type=_names, metavar="NAMES",
        help="some of its variants, separated by commas (each in its usual pivoting); all: with every pivot norm",
    )  # fmt: skip
    compare.add_argument("--sizes", type=_sizes, metavar="SIZES", help="orders of the matrices, see below")
    compare.add_argument(
        "--baseline",
        choices=("auto", "numpy", "scipy", "none"),
        default="auto",
        help="whose functions, in their fastest way (auto)",
    )
    compare.add_argument("--repeats", type=_positive, default=7, metavar="N", help="repeats of a measurement (7)")
    compare.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrices (2007)")
    compare.add_argument("--quick", action="store_true", help="measure the ceilings with less work")
    for name, what in (
        ("json", "everything, for programs"),
        ("csv", "a row for each variant and size"),
        ("plot", "the plots: png, svg or pdf"),
        ("html", "a report in one file, to be mailed"),
    ):
        compare.add_argument(f"--{name}", type=Path, metavar="FILE", help=what)
    compare.add_argument(
        "--param", type=_parameter, action="append", default=[], metavar="NAME=V1,V2",
        help="run the variants that have this parameter with each value; may be given again",
    )  # fmt: skip
    own = compare.add_argument_group("a shader of your own", f"for {', '.join(custom.INTERFACES)}")
    own.add_argument(
        "--shader", type=Path, action="append", default=[], metavar="FILE",
        help="let this fragment shader take part; may be given again",
    )  # fmt: skip
    own.add_argument("--interface", action="store_true", help="print what such a shader is given and must give")
    own.add_argument(
        "--pictures", type=Path, default=Path(), metavar="FOLDER", help="where to draw wrong results (this folder)"
    )
    _add_device_options(compare)
    compare.set_defaults(command=_compare)

    gallery = commands.add_parser("gallery", help="shaders to start your own from: list them, or print one")
    gallery.add_argument("name", nargs="?", metavar="NAME", help="which one (all are listed)")
    gallery.set_defaults(command=_gallery)

    tune = commands.add_parser(
        "tune",
        help="find the fastest variants and parameters on this device, for all later calls",
        description="Time every variant with every combination of its parameters, verify the fastest, and store it "
        "where glla looks for it, by renderer. GLLA_TUNING names another folder than the user's; GLLA_TUNING=off "
        "makes glla look for nothing.",
        epilog=f"SIZES are {sizes.GRAMMAR}. The exit status is 1 if a result was wrong or a variant failed.",
    )
    tune.add_argument("operation", nargs="*", metavar="OPERATION", help=f"{', '.join(tuning.operations())} (all)")
    tune.add_argument("--sizes", type=_sizes, metavar="SIZES", help="orders of the matrices, see below")
    tune.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrices (2007)")
    tune.add_argument("--out", type=Path, metavar="FILE", help="store it in this file instead")
    what = tune.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="print what is stored, and where")
    what.add_argument("--forget", action="store_true", help="remove it")
    _add_device_options(tune)
    tune.set_defaults(command=_tune)


def _add_seeds(commands: Any) -> None:
    """Add the commands that demonstrate sources of algorithms: cancellation in formulas, and slow sweeps."""
    adjugate = commands.add_parser(
        "adjugate", help="the adjugate formula beside pivoted elimination, on covariances of a photograph"
    )
    adjugate.add_argument("--count", type=_positive, default=20000, metavar="N", help="random matrices (20000)")
    adjugate.add_argument("--size", type=_positive, default=512, metavar="N", help="side of the photograph (512)")
    adjugate.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_device_options(adjugate)
    adjugate.set_defaults(command=_adjugate)
    sweeps = commands.add_parser("sweeps", help="the inverse by Gauss-Seidel sweeps: time and residual of each")
    sweeps.add_argument("--size", type=_positive, default=200, metavar="N", help="order of the matrix (200)")
    sweeps.add_argument("--count", type=_positive, default=100, metavar="N", help="sweeps (100)")
    sweeps.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_device_options(sweeps)
    sweeps.set_defaults(command=_sweeps)


def _add_cluster(commands: Any) -> None:
    from glla.lab import cluster

    cluster.add(commands)


def _add_thesis(commands: Any) -> None:
    from glla.thesis import command

    command.add(commands, _add_device_options).set_defaults(command=_thesis)


def _add_device_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("device")
    group.add_argument("--backend", choices=("auto", "egl", "glfw"), default="auto", help="how to get a context (auto)")
    group.add_argument("--index", type=_natural, metavar="I", help="the EGL device, as `glla info` lists them")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--software", action="store_true", default=None, help="a software rasteriser only")
    kind.add_argument("--device", type=_named, metavar="NAME", help="software, hardware, or an EGL device's index")
    kind.add_argument("--hardware", action="store_false", dest="software", default=None, help="no software rasteriser")


def _operations(default: str = "") -> str:
    """List all operations, for the help of an option."""
    from glla.operations import OPERATIONS

    return f"{', '.join(OPERATIONS)}{f' ({default})' if default else ''}"


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, got {text!r}")
    return int(text)


def _named(text: str) -> str:
    if parsed(text) is None:
        raise argparse.ArgumentTypeError(f"must be 'software', 'hardware' or an index of `glla info`, got {text!r}")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def _names(text: str) -> str | list[str]:
    return text if text == "all" else text.split(",")


def _parameter(text: str) -> tuple[str, tuple[int, ...]]:
    matched = re.fullmatch(r"(\w+)=(-?\d+(?:,-?\d+)*)", text)
    if matched is None:
        raise argparse.ArgumentTypeError(f"must be NAME=V1,V2,... with whole numbers, got {text!r}")
    return matched[1], tuple(map(int, matched[2].split(",")))


def _sizes(text: str) -> tuple[int, ...]:
    from glla.lab.sizes import parse

    try:
        return parse(text)
    except GllaError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _demo_size(text: str) -> int:
    size = _natural(text)
    if size < SMALLEST_DEMO:
        raise argparse.ArgumentTypeError(f"must be at least {SMALLEST_DEMO}, got {size}")
    return size


def _open(options: argparse.Namespace) -> Device:
    index, software = options.index, options.software
    if options.device is not None:
        if index is not None:
            raise OptionError(f"--device stands for --index, got {options.device!r} and {index}; leave one of them out")
        index, software = requested("--device", options.device)
    return Device(options.backend, index, software)


# -- demo -------------------------------------------------------------------------------------------------------------


def _demo(options: argparse.Namespace) -> int:
    from glla.lab import demo, restoration, water, windows  # heavy, and only here

    output = options.output or Path(DEMOS[options.what])
    if options.what in ("operations", "water") and options.image is not None:
        raise OptionError("demo: --image is for restoration and windows; leave it out")
    if options.what != "water" and (options.json or options.window):
        raise OptionError("demo: --json and --window are for water; leave them out")
    if options.window:
        with Device(backend="glfw") as device:
            water.live(device, options.size or water.SIDE)
        return 0
    {"operations": demo, "restoration": restoration, "windows": windows, "water": water}[options.what].check(output)
    with _open(options) as device:
        if options.what == "restoration":
            right = restoration.run(device, options.size or restoration.SIDE, output, options.image, options.seconds)
        elif options.what == "windows":
            right = windows.run(device, options.size or LARGE_DEMO, output, options.image)
        elif options.what == "water":
            right = water.run(device, options.size or water.SIDE, output, options.json)
        else:
            right = demo.run(device, options.size or LARGE_DEMO, output, options.seed)
        return 0 if right else 1


# -- life, stencil ----------------------------------------------------------------------------------------------------


def _life(options: argparse.Namespace) -> int:
    from glla.lab import examples

    examples.check(options.output)
    with _open(options) as device:
        pictures, right = examples.life(device, options.size, options.seed)
        print(f"{device.info.renderer}: every cell {'is' if right else 'is NOT'} as NumPy has it")
    examples.draw(options.output, pictures, dpi=160)  # so that a cell is larger than a pixel
    print(f"written: {options.output}")
    return 0 if right else 1


def _stencil(options: argparse.Namespace) -> int:
    from glla.lab import examples

    examples.check(options.output, "pywt")
    with _open(options) as device:
        pictures, right = examples.stencil(device, options.size)
        print(f"{device.info.renderer}: every pixel is {'' if right else 'NOT '}within its bound of NumPy's float64")
    examples.draw(options.output, pictures)
    print(f"written: {options.output}")
    return 0 if right else 1


# -- compare ----------------------------------------------------------------------------------------------------------


def _compare(options: argparse.Namespace) -> int:
    from glla.lab import command, comparison, custom

    if options.interface:
        print(custom.explanation(options.operation))
        return 0
    files = command.Files(options.json, options.csv, options.plot, options.html, options.pictures)
    files.check()
    own = custom.contenders(options.operation, options.shader)
    experiment = comparison.Experiment(
        options.operation,
        options.variants,
        options.sizes,
        baseline=options.baseline,
        repeats=options.repeats,
        seed=options.seed,
        quick=options.quick,
        sweep=dict(options.param),
        also=own,
        command=options.line,
    )
    with _open(options) as device:
        experiment.device = device
        custom.compile_all(device, options.operation, own)
        return command.run(experiment, files)


# -- gallery, tune ----------------------------------------------------------------------------------------------------


def _gallery(options: argparse.Namespace) -> int:
    from glla.lab import custom
    from glla.passes.glsl import find as shader

    if options.name is not None:
        print(custom.gallery(options.name).read_text(encoding="utf-8"), end="")
        return 0
    for path in custom.exhibits():
        text = path.read_text(encoding="utf-8")
        print(f"{path.stem:17} {custom.operation_of(path):11} {shader.summary(shader.adopt(str(path), text))}")
    return 0


def _tune(options: argparse.Namespace) -> int:
    from glla.gl import tuning as files
    from glla.lab import progress, tuning

    for name in options.operation:
        files.variants(name)  # raises before a device is made
    with _open(options) as device:
        renderer = device.info.renderer
        file = tuning.destination(renderer, options.out)
        if options.forget:
            print(f"removed: {file}" if file.exists() else f"nothing is stored in {file}")
            file.unlink(missing_ok=True)
            return 0
        if options.show:
            print(f"{file}:" if file.exists() else f"nothing is stored in {file}")
            for entry in files.read(file, renderer) if file.exists() else []:
                print(tuning.line(entry))
            return 0
        file.parent.mkdir(parents=True, exist_ok=True)
        _check_writable(file)
        print(f"{renderer}, OpenGL {device.info.version}")
        with progress.shown("tuning") as say:
            found = tuning.tune(
                options.operation or None,
                options.sizes,
                device=device,
                seed=options.seed,
                progress=lambda outcome: print(tuning.line(outcome.entry), flush=True),
                trying=say,
            )
        tuning.store(file, renderer, found)
    troubles = [trouble for outcome in found for trouble in outcome.troubles]
    for trouble in troubles:
        print(f"glla: not stored: {trouble}", file=sys.stderr)
    print(f"written: {file}")
    return 1 if troubles else 0


def _check_writable(file: Path) -> None:
    from glla.lab.extra import check_writable

    check_writable(file)


# -- ceilings ---------------------------------------------------------------------------------------------------------


def _ceilings(options: argparse.Namespace) -> int:
    from glla.lab import ceilings, progress

    with _open(options) as device, progress.shown("measuring") as say:
        report = {"glla": glla.__version__, **ceilings.report(device, options.quick, say)}
    print(json.dumps(plain(report), indent=2, allow_nan=False) if options.json else ceilings.table(report))
    return 0


def _convergence(options: argparse.Namespace) -> int:
    from glla.lab import convergence, plots, progress

    if options.output is not None:
        plots.check_suffix(options.output)
    with _open(options) as device, progress.shown("solving") as say:
        rounds = convergence.ROUNDS if options.times else 0
        found = convergence.histories(device, options.size, options.rtol, options.seed, say, rounds)
    if options.output is not None:
        convergence.save(found, options.output, options.size, options.rtol)
    solvers = [one.as_dict() for one in found]
    report = {"glla": glla.__version__, "size": options.size, "rtol": options.rtol, "solvers": solvers}
    print(json.dumps(report, indent=2) if options.json else convergence.table(found, options.size, options.rtol))
    return 0


# -- trace, explain ---------------------------------------------------------------------------------------------------


def _add_traces(commands: Any) -> None:
    trace = commands.add_parser("trace", help="every render pass of an operation: a film, a page, a time line, a table")
    _add_operation_options(trace)
    trace.add_argument("--out", type=Path, metavar="FILE", help="FILE.gif, FILE.html or FILE.json (a table is printed)")
    trace.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrices (2007)")
    trace.add_argument(
        "--ranks", type=_positive, metavar="N", help="on a cluster of N ranks: a time line each, messages as arrows"
    )
    _add_device_options(trace)
    trace.set_defaults(command=_trace)

    export = commands.add_parser("export", help="the render passes of an operation for a browser; needs no GPU")
    _add_operation_options(export, 8, "?")
    export.add_argument("--out", type=Path, metavar="FILE", help="FILE.html, a page; or FILE.json")
    export.add_argument(
        "--all", type=Path, metavar="FOLDER", help="a page for every operation and variant, and an index"
    )
    export.add_argument("--seed", type=_natural, default=2007, help="seed of the random matrices (2007)")
    export.add_argument(
        "--data", type=Path, action="append", default=[], metavar="FILE",
        help="the matrix A, as .npy or as rows of numbers; given again: B",
    )  # fmt: skip
    export.add_argument("--shader", type=Path, metavar="FILE", help="your fragment shader in the place of glla's")
    export.set_defaults(command=_export)

    explain = commands.add_parser("explain", help="the render passes of an operation in words; needs no GPU")
    _add_operation_options(explain)
    explain.set_defaults(command=_explain)


def _add_operation_options(parser: argparse.ArgumentParser, size: int = 16, count: str | None = None) -> None:
    parser.add_argument("operation", metavar="OP", nargs=count, help=_operations())
    parser.add_argument("--size", type=_positive, default=size, metavar="N", help=f"order of the matrices ({size})")
    parser.add_argument("--variant", metavar="V", help="the plan of this variant (what a call would run)")


def _trace(options: argparse.Namespace) -> int:
    from glla.lab import cluster, trace

    if options.ranks is not None:
        if options.out is None:
            raise OptionError("trace: --ranks needs --out, a file that ends in .json, .png, .svg or .pdf")
        cluster.trace(options.operation, options.size, options.ranks, options.out, options.seed)
        return 0
    trace.check(options.operation, options.out)
    with _open(options) as device:
        trace.run(device, options.operation, options.size, options.out, options.variant, options.seed)
    return 0


def _export(options: argparse.Namespace) -> int:
    from glla.web import course, export

    if (options.all is None) == (options.operation is None) or (options.all is None) == (options.out is None):
        raise OptionError("export: wants an operation and --out FILE, or --all FOLDER alone")
    if options.all is not None:
        files = course.write(options.all, options.size, options.seed)
        print(f"{files[0]}: {len(files) - 1} pages")
        return 0
    data = [export.read(file) for file in options.data]
    made = export.export(
        options.operation,
        options.out,
        size=options.size,
        variant=options.variant,
        data=data,
        shader=options.shader,
        seed=options.seed,
    )
    first = made["plans"][0]
    print(f"{options.out}: {len(first['steps'])} passes of {first['name']}, order {made['size']}")
    return 0


def _explain(options: argparse.Namespace) -> int:
    from glla.lab import trace
    from glla.operations import OPERATIONS

    print(glla.explain(trace.plan(options.operation, options.size, options.variant)))
    if options.variant:
        variant = OPERATIONS[options.operation].variants[options.variant]
        print(f"\n{options.variant}: {variant.summary}\nsource: {variant.source}")
    return 0


# -- variants ---------------------------------------------------------------------------------------------------------


def _variants(options: argparse.Namespace) -> int:
    from glla.lab import collection, progress

    chosen = options.operation or collection.names()
    if options.count:
        with _open(options) as device, progress.shown("counting fetches") as say:
            found = collection.entries(device, chosen, options.size, say)
    else:
        found = collection.entries(None, chosen, options.size)
    print(json.dumps([asdict(entry) for entry in found], indent=2) if options.json else collection.text(found))
    return 0


# -- pivoting ---------------------------------------------------------------------------------------------------------


def _pivoting(options: argparse.Namespace) -> int:
    from glla.lab import extra, pivoting, progress

    extra.require("pivoting", "rich", *(("matplotlib",) if options.plot else ()), *(("scipy",) if options.data else ()))
    chosen = pivoting.matrices(options.size, options.seed)
    if options.data:
        chosen |= pivoting.real_matrices(options.data)
    for path in filter(None, (options.json, options.plot)):
        path.open("ab").close()  # check that it can be written, before the work is done
    with _open(options) as device:
        with progress.shown("factoring") as say:
            records = pivoting.pivoting_study(given=chosen, device=device, progress=say)
        title = f"glla {glla.__version__} on {device.info.renderer}: the choice of pivots"
    pivoting.show(records, title)
    if options.json:
        found = plain({"title": title, "records": [asdict(record) for record in records]})
        text = json.dumps(found, indent=2, allow_nan=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.plot:
        pivoting.draw(records, title, options.plot)
    return 0 if pivoting.sound(records) else 1


# -- sources of algorithms --------------------------------------------------------------------------------------------


def _adjugate(options: argparse.Namespace) -> int:
    from glla.lab import covariances, extra

    extra.require("adjugate", "pywt")
    with _open(options) as device:
        records = covariances.study(device, options.count, options.size)
    print(json.dumps(covariances.plain(records), indent=2) if options.json else covariances.table(records))
    return 0


def _sweeps(options: argparse.Namespace) -> int:
    from glla.lab import sweeps

    a = sweeps.matrix(options.size)
    with _open(options) as device:
        found, others = sweeps.sweeps(a, options.count, device), sweeps.beside(a, device)
    if options.json:
        print(json.dumps(sweeps.plain(options.size, found, others), indent=2))
    else:
        print(sweeps.table(options.size, found, others))
    return 0


# -- thesis -----------------------------------------------------------------------------------------------------------


def _thesis(options: argparse.Namespace) -> int:
    from glla.thesis import command

    if options.sources is not None:
        if options.html is None:
            raise OptionError("thesis: --from needs --html FILE, the page to make")
        command.draw(options.sources, options.html)
        return 0
    if options.largest is not None and options.largest < 8:
        raise OptionError(f"thesis: --largest must be at least 8, got {options.largest}")
    with _open(options) as device:
        command.run(device, options.section, options.html, options.json, options.quick, options.largest, options.only)
    return 0


# -- info -------------------------------------------------------------------------------------------------------------


def _info(options: argparse.Namespace) -> int:
    try:
        with _open(options) as device:
            report = _report(device)
    except ContextError as error:
        if not options.json:
            raise
        report = {"ok": False, "error": str(error), "versions": _versions(), "egl_devices": _egl_devices(None)}
    if options.json:
        print(json.dumps(plain(report), indent=2, allow_nan=False))
    else:
        print(_text(report))
    return 0 if report["ok"] else 1


def _report(device: Device) -> dict[str, Any]:
    """Return the report of `glla info` as plain data."""
    findings = examine(device)
    info, stats = device.info, device.stats()
    return {
        "ok": passed(findings),
        "device": {
            "renderer": info.renderer,
            "vendor": info.vendor,
            "opengl": info.version,
            "glsl": info.glsl,
            "backend": info.backend,
            "software": info.software,
        },
        "limits": _limits(device),
        "memory": {
            "textures_in_use": stats.textures,
            "bytes_in_use": stats.bytes,
            "textures_idle": stats.idle_textures,
            "bytes_idle": stats.idle_bytes,
            "bytes_idle_at_most": stats.max_idle_bytes,
            "bytes_peak": stats.peak_bytes,
            "bytes_of_plans": stats.plan_bytes,
            "bytes_of_plans_at_most": stats.max_plan_bytes,
            "bytes_of_prepared_plans": stats.call_bytes,
            "bytes_of_prepared_plans_at_most": stats.max_call_bytes,
            "framebuffers": stats.framebuffers,
            "programs": stats.programs,
            "bytes_of_programs": stats.program_bytes,
            "bytes_of_programs_at_most": stats.max_program_bytes,
        },
        "egl_devices": _egl_devices(device),
        "versions": _versions(),
        "self_test": [
            {
                "name": finding.name,
                "verdict": finding.verdict,
                "necessary": finding.necessary,
                "detail": finding.detail,
                "figures": dict(finding.figures),
            }
            for finding in findings
        ],
    }


def _limits(device: Device) -> dict[str, dict[str, Any]]:
    """Return all relevant limits, with their units."""
    info, limits = device.info, device.limits
    rows: list[tuple[str, Any, str]] = [
        ("texture_side", limits.texture_size, "texels"),
        ("matrix_side_in_one_texture", 2 * limits.texture_size, "elements"),
        ("viewport", list(info.viewport), "pixels"),
        ("targets_of_a_pass", limits.draw_buffers, "textures"),
        ("loop_trips_of_a_fragment", limits.loop_trips, "trips"),
        ("fragment_texture_units", info.extra.get("GL_MAX_TEXTURE_IMAGE_UNITS"), "textures"),
        ("vertex_texture_units", info.extra.get("GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS"), "textures"),
        ("fragment_uniforms", info.extra.get("GL_MAX_FRAGMENT_UNIFORM_COMPONENTS"), "components"),
        ("uniform_block", info.uniform_block_bytes, "bytes"),
    ]
    return {name: {"value": value, "unit": unit} for name, value, unit in rows if value is not None}


def _egl_devices(device: Device | None) -> list[dict[str, Any]]:
    used = "" if device is None else device.info.backend
    return [
        {
            "index": one.index,
            "name": one.name,
            "software": one.software,
            "render_node": one.render_node,
            "cuda": one.cuda,
            "in_use": used.startswith(f"EGL device {one.index} "),
        }
        for one in glla.list_egl_devices()
    ]


def _versions() -> dict[str, str]:
    return {
        "glla": glla.__version__,
        "Python": platform.python_version(),
        **{name: version_of(name) for name in PACKAGES},
    }


def _text(report: dict[str, Any]) -> str:
    """Format the report as aligned text."""
    parts = []
    for title, rows in _sections(report).items():
        parts.append("\n".join([title, *(f"  {name.replace('_', ' '):{NAME_WIDTH}}{value}" for name, value in rows)]))
    parts.append(
        "self-test passed (a note is worth knowing, and no failure)"
        if report["ok"]
        else "self-test FAILED: results of glla are wrong on this device"
    )
    return "\n\n".join(parts)


def _sections(report: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    device, limits = report["device"], report["limits"]
    return {
        "device": [*((key, device[name]) for key, name in LABELS.items()), ("kind", KINDS[device["software"]])],
        "limits": [(name, _quantity(limit["value"], limit["unit"])) for name, limit in limits.items()],
        "memory": _memory_rows(report["memory"]),
        "EGL devices": [_egl_row(one) for one in report["egl_devices"]] or [("none", "")],
        "versions": list(report["versions"].items()),
        "self-test": [(f"{test['verdict']:8}{test['name']}", test["detail"]) for test in report["self_test"]],
    }


def _memory_rows(memory: dict[str, int]) -> list[tuple[str, str]]:
    return [
        ("textures in use", f"{memory['textures_in_use']}, {memory['bytes_in_use']} bytes"),
        (
            "textures kept for reuse",
            f"{memory['textures_idle']}, {memory['bytes_idle']} bytes of {memory['bytes_idle_at_most']}",
        ),
        ("plans kept", f"about {memory['bytes_of_plans']} bytes of {memory['bytes_of_plans_at_most']}"),
        (
            "prepared plans kept",
            f"about {memory['bytes_of_prepared_plans']} bytes of {memory['bytes_of_prepared_plans_at_most']}",
        ),
        ("most so far", f"{memory['bytes_peak']} bytes"),
        (
            "programs kept",
            f"{memory['programs']}, about {memory['bytes_of_programs']} bytes of {memory['bytes_of_programs_at_most']}",
        ),
        ("framebuffers", f"{memory['framebuffers']}"),
    ]


def _egl_row(one: dict[str, Any]) -> tuple[str, str]:
    return f"index {one['index']}", f"{KINDS[one['software']]}: {one['name']}{', in use' if one['in_use'] else ''}"


def _quantity(value: Any, unit: str) -> str:
    return f"{' x '.join(map(str, value)) if isinstance(value, list) else value} {unit}"
