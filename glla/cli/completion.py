"""`glla completion`: scripts that complete commands and options, by shtab."""

from __future__ import annotations

import argparse


def completion(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="print the script for this shell")
    parser.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> int:
    from glla import cli
    from glla.lab.extra import require

    require("completion", "shtab")
    import shtab

    print(shtab.complete(cli.parser(), shell=options.shell))
    return 0
