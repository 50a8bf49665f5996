"""Results of `glla tune` and `glla ceilings --store`: a file for each renderer, read when a device is made.

The file is JSON. It is in the user's folder for configuration (``$XDG_CONFIG_HOME/glla/tuned``, by default
``~/.config/glla/tuned``; ``~/Library/Application Support`` on a Mac, ``%APPDATA%`` on Windows), or in the folder that
the environment variable ``GLLA_TUNING`` names; ``GLLA_TUNING=off`` reads none. A file that cannot be read, is of
another renderer, or was measured with other shaders, is ignored with a `TuningWarning`. It only selects among the
variants that `choose` may pick, so it changes speed, not correctness.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import warnings
from collections.abc import Mapping
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glla.errors import GllaError, OptionError, TuningWarning, one_of
from glla.operations import OPERATIONS, Operation
from glla.passes import Limits, Tuned, Variant, forms_of
from glla.passes.glsl import find as shaders

EXAMPLE_ORDER = 8
"""Order of the matrices with which `choose` is asked whether it consults tuning results."""

FORMAT = 1
"""Version of the files' format; files of another version are ignored."""

VARIABLE, OFF = "GLLA_TUNING", "off"
"""The environment variable that names the folder, and its value for no tuning."""

MEASURED = ("flops", "write", "issue", "latency")
"""Rates that a file may hold; the others are those of the kind of device."""

LARGEST = 1 << 20
"""Bytes of a file at most; an entry takes about 260."""

SHOWN = 500
"""Characters of a reason that a warning shows at most: the reason may quote the file."""

GLSL = (".frag", ".vert", ".comp", ".glsl")
MEND = "run `glla tune` again, or `glla tune --forget`"


def operations() -> tuple[str, ...]:
    """List the operations whose `choose` consults tuning results, among several variants.

    >>> {"cholesky", "matmul", "plu", "qr"} <= set(operations()), "inv" in operations()
    (True, False)
    """
    return tuple(name for name, one in OPERATIONS.items() if _consults_tuning(one))


@cache
def _consults_tuning(operation: Operation) -> bool:
    """True if `choose` consults tuning results under this operation's name (`plu`'s does, `lu_factor`'s does not)."""
    if len(operation.tunable()) < 2:
        return False
    forms = forms_of(operation.example(EXAMPLE_ORDER, np.random.default_rng(EXAMPLE_ORDER)))
    return all(
        operation.choose(forms, Limits(tuned=(Tuned(operation.name, EXAMPLE_ORDER, name),)))[0] == name
        for name in operation.tunable()
    )


def variants(operation: str) -> dict[str, Variant]:
    """List the variants that may be chosen: on plain OpenGL 3.3, and with every pivot norm.

    Raises OptionError: no such operation; the message lists the valid ones.

    >>> list(variants("plu"))
    ['rank2', 'blocked']
    """
    one_of("tune: operation", operation, operations())
    return OPERATIONS[operation].tunable()


def folder() -> Path | None:
    """Folder of the files; None if tuning is off, or the user has no home."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen:
        return None if chosen == OFF else Path(chosen)
    try:
        return _configuration() / "glla" / "tuned"
    except RuntimeError:  # no home
        return None


def _configuration() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    variable, below = ("APPDATA", "AppData/Roaming") if sys.platform == "win32" else ("XDG_CONFIG_HOME", ".config")
    given = os.environ.get(variable, "")
    return Path(given) if given else Path.home() / below


def path(renderer: str) -> Path | None:
    """File of a renderer, None where there is no folder."""
    where = folder()
    return None if where is None else where / (re.sub(r"[^A-Za-z0-9.]+", "_", renderer).strip("_") + ".json")


class Stored(NamedTuple):
    """Contents of a file: entries with operation, size, variant, parameters, and seconds for readers; and rates."""

    entries: list[dict[str, Any]] = []  # noqa: RUF012  # a default that nobody changes
    rates: dict[str, float] = {}  # noqa: RUF012  # by the names of `glla.passes.rates.Rates`; empty if not measured


def load(renderer: str) -> tuple[tuple[Tuned, ...], dict[str, float]]:
    """Read the tuning results and the rates of a renderer; empty, with a warning, if its file cannot be used."""
    file = path(renderer)
    try:
        stored = read(file, renderer) if file is not None and file.exists() else Stored()
        return tuple(tuned(entry) for entry in stored.entries), stored.rates
    except (OSError, GllaError) as error:
        warnings.warn(f"ignored: {error}", TuningWarning, stacklevel=2)
        return (), {}


def read(file: Path, renderer: str) -> Stored:
    """Read a file.

    Raises OptionError: it must not be used; the message names the file, the reason and a remedy. Raises OSError: it
    cannot be read.
    """
    try:
        document = _json(file)
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']!r}, not {FORMAT}")
        if document["renderer"] != renderer:
            raise ValueError(f"it is of {document['renderer']}, this is {renderer}")
        if document["shaders"] != fingerprint():
            raise ValueError(f"it was measured with other shaders, those of glla {document['glla']}")
        entries: list[dict[str, Any]] = document["tuned"]
        for entry in entries:
            tuned(entry)
        return Stored(entries, _rates(document.get("rates", {})))
    except (ValueError, LookupError, TypeError, AttributeError, OptionError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise OptionError(f"tuning: {file}: {reason[:SHOWN]}; {MEND}") from None


def _json(file: Path) -> Any:
    """Read any file as JSON: it may block, have no end, or be nested deeper than Python's stack."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is no regular file")
    if status.st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def tuned(entry: Mapping[str, Any]) -> Tuned:
    """Check that an entry names a variant that may be chosen, and return it as the limits hold it.

    Raises OptionError: it does not.
    """
    operation, size, name, given = (entry[key] for key in ("operation", "size", "variant", "parameters"))
    known = variants(operation)
    one_of(f"variant of {operation}", name, known)
    if type(size) is not int or size < 1:
        raise OptionError(f"size must be a whole number from 1, got {size!r}")
    parameters = tuple(given.items())
    if any(type(value) is not int for _, value in parameters):
        raise OptionError(f"values of parameters must be whole numbers, got {given}")
    known[name].settle(f"{operation}[{name}]", parameters)
    return Tuned(operation, size, name, parameters)


def _rates(given: Mapping[str, Any]) -> dict[str, float]:
    """Check rates. Raises ValueError: they are not positive numbers, or others than those that are measured."""
    rates = {name: given[name] for name in MEASURED} if given else {}
    if not all(type(rate) in (int, float) and 0 < rate < inf for rate in rates.values()):
        raise ValueError(f"its rates must be positive numbers, got {rates}")
    return rates


def write(file: Path, renderer: str, version: str, stored: Stored) -> None:
    """Write a file atomically. Raises OSError: it cannot be written."""
    document = {
        "format": FORMAT,
        "glla": version,
        "shaders": fingerprint(),
        "renderer": renderer,
        "tuned": stored.entries,
        "rates": stored.rates,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    # A name that cannot be guessed, and "x", which follows no link: others may write into this folder, too. A file of
    # `tempfile` would be readable by its owner only.
    unfinished = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
    try:
        with unfinished.open("x", encoding="utf-8") as opened:
            opened.write(json.dumps(document, indent=1) + "\n")
        os.replace(unfinished, file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def fingerprint() -> str:
    """Digest of all shaders: measurements with other shaders do not apply."""
    import hashlib  # OpenSSL: a hundredth of the time that importing glla takes

    digest = hashlib.sha256()
    for file in sorted(shaders.root().rglob("*.*")):
        if file.suffix in GLSL:
            digest.update(f"{file.relative_to(shaders.root()).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
