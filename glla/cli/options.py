"""Options that commands share, the texts that they take, and the device and the document that follow from them."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import glla
from glla import Device
from glla.gl.select import parsed, requested
from glla.lab.plain import plain
from glla.lab.sizes import LARGEST
from glla.lab.study import at_least


def shared(
    parser: argparse.ArgumentParser,
    *,
    size: tuple[int, str] | None = None,
    least: int = 1,
    seed: bool = False,
    data: str = "",
    out: str = "",
    table: bool = False,
    quick: str = "",
    device: bool = True,
) -> None:
    """Add options that mean the same in every command; a text is the meaning of an option, "" leaves it out.

    `size` is the default of ``--size`` (0: another one, which its meaning states) and its meaning, `least` its smallest
    value, `table` asks for ``--json``.
    """
    if size is not None:
        default, about = size
        shown = f"{about} ({default})" if default else about
        parser.add_argument("--size", type=at_least(least, LARGEST), default=default, metavar="N", help=shown)
    if seed:
        parser.add_argument("--seed", type=at_least(0), default=2007, metavar="N", help="of random numbers (2007)")
    if data:
        parser.add_argument("--data", type=Path, action="append", default=[], metavar="FILE", help=data)
    if out:
        parser.add_argument(
            "-o", "--out", type=Path, action="append", default=[], metavar="FILE", help=f"{out}; may be given again"
        )
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    if table:
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    if device:
        parser.add_argument("--device", type=_named, metavar="D", help="software, hardware, or an index of `glla info`")


# -- texts ------------------------------------------------------------------------------------------------------------


def names(text: str) -> str | list[str]:
    """Read names with commas between; "all" stays."""
    return text if text == "all" else text.split(",")


def parameter(text: str) -> tuple[str, tuple[int, ...]]:
    """Read a parameter with its values.

    >>> parameter("UNROLL=1,2")
    ('UNROLL', (1, 2))
    """
    matched = re.fullmatch(r"(\w+)=(-?\d+(?:,-?\d+)*)", text)
    if matched is None:
        raise argparse.ArgumentTypeError(f"must be NAME=V1,V2,... with whole numbers, got {text!r}")
    return matched[1], tuple(map(int, matched[2].split(",")))


def sizes(text: str) -> tuple[int, ...]:
    """Read orders of matrices, by the grammar of `glla.lab.sizes`."""
    from glla.lab.sizes import parse

    try:
        return parse(text)
    except glla.errors.GllaError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _named(text: str) -> str:
    if parsed(text) is None:
        raise argparse.ArgumentTypeError(f"must be 'software', 'hardware' or an index of `glla info`, got {text!r}")
    return text


# -- device and document ----------------------------------------------------------------------------------------------


def chosen(options: argparse.Namespace) -> tuple[int | None, bool | None]:
    """Index and kind of the device that is asked for; None for any."""
    return (None, None) if options.device is None else requested("--device", options.device)


def opened(options: argparse.Namespace, **given: Any) -> Device:
    """Open the device that is asked for, with further options of `Device`."""
    return Device("auto", *chosen(options), **given)


def document(options: argparse.Namespace, device: Device | None, data: dict[str, Any]) -> str:
    """Write the JSON that a command prints: every command begins it in the same way."""
    place = None if device is None else device.info.renderer
    whole = {"glla": glla.__version__, "command": options.line, "device": place, **data}
    return json.dumps(plain(whole), indent=2, allow_nan=False)
