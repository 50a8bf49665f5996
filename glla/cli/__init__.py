"""The `glla` command.

`COMMANDS` lists the commands by group; the file of a group has, for each, a function that adds its options to a parser.
It is imported, and the parser built, when the command is called: ``glla --help`` needs neither.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn

from glla._version import __version__

COMMANDS = {
    "look": {
        "info": "what the device is, can do, and how it calculates",
        "explain": "the render passes of an operation in words; needs no GPU",
        "trace": "every render pass of an operation: a film, a page, a time line, a table",
        "export": "the render passes of an operation for a browser; needs no GPU",
        "variants": "every variant of every operation, and its cost",
    },
    "try": {"demo": "the operations, judged and drawn; life, stencil, restoration, windows, water"},
    "compare": {
        "compare": "every variant of an operation side by side: verified, timed, drawn",
        "tune": "find the fastest variants and parameters on this device, for all later calls",
        "ceilings": "the peak rates of the device: arithmetic, memory, draws",
        "shader": "write your own: list the examples, show one, print the interface",
    },
    "study": {"study": "pivoting, convergence, sweeps, adjugate, and the evaluation of the thesis"},
    "several": {"cluster": "several processes: print the steps of each, predict their time, measure it"},
    "shell": {"completion": "print a script that completes commands and options: bash, zsh, tcsh"},
}
"""Summaries of the commands, by group: the name of the file below `glla.cli`."""

FILES = {"try": "study", "several": "cluster", "shell": "completion"}
"""Files of groups that are not named like their group."""

FORMER = {
    **{name: f"demo {name}" for name in ("life", "stencil", "restoration", "windows", "water")},
    **{name: f"study {name}" for name in ("pivoting", "convergence", "sweeps", "adjugate", "thesis")},
    "gallery": "shader",
}
"""Words that are no commands, each with the command that does it."""

STATUS = "exit status: 0 good, 1 a wrong result, 2 wrong usage, 3 no device, driver or memory, 130 interrupted"
WRONG, USAGE, NOTHING, INTERRUPTED = 1, 2, 3, 130
"""Exit statuses beside 0."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Exit status: 0 good, 1 a wrong result, 2 wrong usage, 3 no device, driver or memory, 130 interrupted.
    `arguments`: by default the arguments of the process.
    """
    with _streams():
        try:
            status = _run(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of our output has closed the pipe. Python would flush again at its end, into the same pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return WRONG
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            found = _failure(error)
            if found is None:
                raise
            message, status = found
            print(f"glla: {message}", file=sys.stderr)
        return status


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


def _run(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help"):
        print(overview())
        return 0
    if name == "--version":
        print(f"glla {__version__}")
        return 0
    if not any(name in group for group in COMMANDS.values()):
        print(f"glla: there is no command {name!r}{_nearest(name)}; glla --help lists them", file=sys.stderr)
        return USAGE
    options = parser(name).parse_args(arguments[1:])
    options.line = shlex.join(["glla", *arguments]).encode(errors="backslashreplace").decode()  # files are UTF-8
    status: int = options.run(options)
    return status


def _nearest(name: str) -> str:
    near = get_close_matches(name, [*FORMER, *(one for group in COMMANDS.values() for one in group)], 1)
    return f"; did you mean: glla {FORMER.get(near[0], near[0])}" if near else ""


def _failure(error: Exception) -> tuple[str, int] | None:
    """Message and exit status of an error that is not a fault of glla's; None for all others."""
    from glla.errors import ContextError, GllaError, OutOfMemoryError
    from glla.lab.extra import MissingPackageError

    if isinstance(error, GllaError):
        absent = isinstance(error, ContextError | OutOfMemoryError | MissingPackageError)
        return str(error), NOTHING if absent else USAGE
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'the system gave no reason'}; ask for a smaller size", NOTHING
    if isinstance(error, OSError):
        return f"{error.filename or 'system'}: {error.strerror or error}", USAGE
    return None


# -- parsers ----------------------------------------------------------------------------------------------------------


def overview() -> str:
    """Write the help of `glla` itself."""
    lines = ["usage: glla COMMAND ...", "", "Linear algebra through OpenGL 3.3 fragment shaders.", ""]
    for group, commands in COMMANDS.items():
        for place, (name, about) in enumerate(commands.items()):
            lines.append(f"  {'' if place else group:9}{name:12}{about}")
    return "\n".join([*lines, "", "glla COMMAND --help has its options; glla --version prints the version", STATUS])


class Parser(argparse.ArgumentParser):
    """Names the nearest word where a word is none of those that are wanted, of which it lists some."""

    def error(self, message: str) -> NoReturn:
        """Print a message, and exit as wrong usage."""
        from glla.errors import among

        found = re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message)
        if found is not None:
            message = f"{found[1]} must be one of {among(found[3].replace(chr(39), '').split(', '), found[2])}"
        super().error(message)


def parser(name: str = "") -> argparse.ArgumentParser:
    """Build the parser of a command, or of all, as completion and documents want it."""
    if name:
        about = next(commands[name] for commands in COMMANDS.values() if name in commands)
        return _filled(Parser(f"glla {name}", description=f"{about[0].upper()}{about[1:]}."), name)
    whole = Parser("glla")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for each, about in ((each, about) for listed in COMMANDS.values() for each, about in listed.items()):
        _filled(commands.add_parser(each, help=about), each)
    return whole


def _filled(made: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    file = next(FILES.get(group, group) for group, commands in COMMANDS.items() if name in commands)
    made.epilog = STATUS
    getattr(import_module(f"glla.cli.{file}"), name)(made)
    return made
