"""Sizes as they are asked for on a command line: ``64:2048:log8``, ``513,1023``, ``64:512:64``."""

from __future__ import annotations

import re
from itertools import islice

from glla.errors import OptionError

GRAMMAR = (
    "comma-separated sizes and ranges: 513,1023 are two sizes; 64:512:64 runs from 64 to 512 by 64; "
    "64:2048:log8 is 8 sizes from 64 to 2048, each larger by the same factor"
)
_RANGE = re.compile(r"(\d+):(\d+):(log)?(\d+)")
MOST = 1000
"""Sizes that one text may stand for."""
LARGEST = 2**24
"""The largest size: NumPy still counts the bytes of a few such matrices, to say that there is no memory for them."""


def parse(text: str) -> tuple[int, ...]:
    """Read sizes.

    Each size once, the smallest first.
    `text`: sizes ``n``, ranges ``first:last:step`` and ``first:last:logcount``, separated by commas. A range ends at
    its last size, or with the last step that does not pass it.
    Raises OptionError: it cannot be read; the message gives the grammar.

    >>> parse("64:2048:log6")
    (64, 128, 256, 512, 1024, 2048)
    >>> parse("513,1023,64:256:64")
    (64, 128, 192, 256, 513, 1023)
    """
    found: set[int] = set()
    for part in text.split(","):
        found.update(_part(text, part.strip()))
    if min(found) < 1 or len(found) > MOST:
        raise OptionError(f"sizes: 1 to {MOST} sizes, from 1 on, got {text!r}")
    if max(found) > LARGEST:
        raise OptionError(f"sizes: {LARGEST} at most, got {text!r}")
    return tuple(sorted(found))


def _part(text: str, part: str) -> list[int]:
    if re.fullmatch(r"\d+", part):
        return [int(part)]
    matched = _RANGE.fullmatch(part)
    if matched is None:
        raise OptionError(f"sizes: {GRAMMAR}; got {text!r}")
    first, last, count = int(matched[1]), int(matched[2]), int(matched[4])
    if not 1 <= first <= last or count < 1 or (matched[3] and count < 2):
        rule = "a range runs from a size to a larger one, by a step from 1 on, or in 2 or more sizes"
        raise OptionError(f"sizes: {rule}, got {part!r}")
    if not matched[3]:
        return list(islice(range(first, last + 1, count), MOST + 1))
    if count > MOST:
        raise OptionError(f"sizes: 1 to {MOST} sizes, from 1 on, got {text!r}")
    return [round(first * (last / first) ** (i / (count - 1))) for i in range(count)]
