"""The packages of the extra ``glla[lab]``: asked for where they are used, missed with one clear message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from glla.errors import GllaError, OptionError


def check_writable(path: Path) -> None:
    """Raise unless a file can be written: before the work, not after it. Raises OSError: says why not."""
    existed = path.exists()
    path.open("ab").close()
    if not existed:
        path.unlink()


def check_files(purpose: str, paths: Iterable[Path], endings: Mapping[str, Sequence[str]]) -> None:
    """Raise before the work the errors that would follow it.

    `endings`: those that a file may have, each with the packages that it needs.
    Raises MissingPackageError, OptionError, OSError: a package is missing; a file has another ending; it cannot be
    written.
    """
    for path in paths:
        check_writable(path)
        if path.suffix.lower() not in endings:
            raise OptionError(f"{purpose}: a file must end in {', '.join(endings)}, got {path.name!r}")
        require(purpose, *endings[path.suffix.lower()])


class MissingPackageError(GllaError, ImportError):
    """A package of the extra ``glla[lab]`` is not installed."""


def require(purpose: str, *packages: str) -> None:
    """Raise unless packages can be imported.

    `purpose`: who needs them, for the message. `packages`: by their import names.
    Raises MissingPackageError: names those that are missing.

    >>> require("an example", "no_such_package")
    Traceback (most recent call last):
    ...
    glla.lab.extra.MissingPackageError: an example: needs no_such_package; pip install 'glla[lab]'
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingPackageError(f"{purpose}: needs {', '.join(missing)}; pip install 'glla[lab]'")
