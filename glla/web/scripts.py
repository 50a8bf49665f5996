"""The scripts of a page: those that every page has, and those of its operation with their dependencies."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

FIRST, LAST = ("player", "stages", "judge"), ("view",)
"""What every page has, before and behind the scripts of its operation."""

OTHERS = ("loops", "large")
"""What a page has whose plans have loops, and one that shows large matrices."""

_OF_AN_OPERATION = re.compile(r"\b(?:JUDGES|SETTLE)\.(\w+) =")
_HOSTS = re.compile(r'\bHOSTS\["([^"]+)"\] =')
_NEEDS = re.compile(r"Needs (\w+/\w+\.js)")
_INDENT = re.compile(r"^ +", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n|  // .*$|^\n", re.MULTILINE)
_SPACED = re.compile(r"^[^\"'`/\n]+$", re.MULTILINE)
_SPACES = re.compile(r" ?(=>|===|!==|[<>=*]=?|[,;:?{}()]) ?")


def joined(operation: str, *others: str) -> str:
    """Join the scripts of a page, with others that it needs, without comments, indentation and spaces at signs."""
    files = [FOLDER / f"{name}.js" for name in (*FIRST, *others)]
    files += [*of(operation), *(FOLDER / f"{name}.js" for name in LAST)]
    text = '"use strict";\n' + "".join(read(path).removeprefix('"use strict";\n') for path in files)
    return _SPACED.sub(lambda line: _SPACES.sub(r"\1", line[0]), unindented(_COMMENT.sub("", text)))


def unindented(text: str) -> str:
    """Text without the blanks that lines begin with."""
    return _INDENT.sub("", text)


@cache
def of(operation: str) -> tuple[Path, ...]:
    """Files of an operation: its judge, its `settle`, and the dependencies of both before them."""
    known = [*sorted((FOLDER / "judges").glob("*.js")), *sorted((FOLDER / "after").glob("*.js"))]
    found: dict[Path, None] = {}

    def add(path: Path) -> None:
        for name in _NEEDS.findall(read(path)):
            add(FOLDER / name)
        found.setdefault(path)

    for path in known:
        if operation in _OF_AN_OPERATION.findall(read(path)):
            add(path)
    return tuple(found)


def settles(operation: str) -> bool:
    """Whether a page decides which stage follows an operation."""
    return any(f"SETTLE.{operation} =" in read(path) for path in of(operation))


def hosts(operation: str) -> frozenset[str]:
    """Steps of the host that a page of an operation can do, in their words."""
    return frozenset(words for path in of(operation) for words in _HOSTS.findall(read(path)))


@cache
def read(path: Path) -> str:
    """Text of a file."""
    return path.read_text(encoding="utf-8")
