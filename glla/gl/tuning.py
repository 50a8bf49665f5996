"""What `glla tune` found the fastest here: a file for each renderer, which a device reads when it is made.

The file is JSON. It lies in the user's folder for configuration (``$XDG_CONFIG_HOME/glla/tuned``, by default
``~/.config/glla/tuned``; ``~/Library/Application Support`` on a Mac, ``%APPDATA%`` on Windows), or in the folder that
the environment variable ``GLLA_TUNING`` names; ``GLLA_TUNING=off`` reads none. A file that cannot be read, that is of
another renderer, or that was measured with other shaders than these, is ignored with a `TuningWarning`. It only ever
picks among the variants that `choose` may pick, so it changes how fast results come, not whether they are right.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from glla.errors import GllaError, OptionError, TuningWarning, one_of
from glla.operations import OPERATIONS, Operation
from glla.passes import Limits, Tuned, Variant, forms_of
from glla.passes.glsl import find as shaders

PROBE = 8
"""Order of the matrices by which a rule is asked whether it heeds what was tuned."""

FORMAT = 1
"""Number of the files' format; files of another one are ignored."""

VARIABLE, OFF = "GLLA_TUNING", "off"
"""The environment variable that names the folder, and its value for no tuning."""

LARGEST = 1 << 20
"""Bytes that a file may have at most; an entry takes about 260."""

SHOWN = 500
"""Characters of a reason that a warning shows at most: it may quote the file."""

GLSL = (".frag", ".vert", ".comp", ".glsl")
MEND = "run `glla tune` again, or `glla tune --forget`"


def operations() -> tuple[str, ...]:
    """List the operations whose rule heeds what was tuned for them, among several variants.

    >>> {"cholesky", "matmul", "plu", "qr"} <= set(operations()), "inv" in operations()
    (True, False)
    """
    return tuple(name for name, one in OPERATIONS.items() if _heeds(one))


@cache
def _heeds(operation: Operation) -> bool:
    """Whether the rule of an operation chooses what was tuned under its name, as `plu`'s does and `lu_factor`'s not."""
    if len(operation.tunable()) < 2:
        return False
    forms = forms_of(operation.example(PROBE, np.random.default_rng(PROBE)))
    return all(
        operation.choose(forms, Limits(tuned=(Tuned(operation.name, PROBE, name),)))[0] == name
        for name in operation.tunable()
    )


def variants(operation: str) -> dict[str, Variant]:
    """List the variants that may be chosen: on plain OpenGL 3.3, and with every pivot norm.

    Raises
    ------
    OptionError
        No such operation; the message lists those there are.

    Examples
    --------
    >>> list(variants("plu"))
    ['rank2', 'blocked']
    """
    one_of("tune: operation", operation, operations())
    return OPERATIONS[operation].tunable()


def folder() -> Path | None:
    """Folder of the files; None for tuning that is off, or a user without a home."""
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


def load(renderer: str) -> tuple[Tuned, ...]:
    """Read what was tuned on a renderer; nothing, and a warning, if its file cannot be used."""
    file = path(renderer)
    try:
        if file is None or not file.exists():
            return ()
        return tuple(tuned(entry) for entry in read(file, renderer))
    except (OSError, GllaError) as error:
        warnings.warn(f"ignored: {error}", TuningWarning, stacklevel=2)
        return ()


def read(file: Path, renderer: str) -> list[dict[str, Any]]:
    """Read the entries of a file: operation, size, variant, parameters, and for readers the seconds.

    Raises
    ------
    OptionError
        It is not to be used: which file, why, and what mends it.
    OSError
        It cannot be read.
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
        return entries
    except (ValueError, LookupError, TypeError, AttributeError, OptionError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise OptionError(f"tuning: {file}: {reason[:SHOWN]}; {MEND}") from None


def _json(file: Path) -> Any:
    """Read what may be any file: it may block, have no end, or be nested deeper than Python's stack."""
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
    """Make sure that an entry names a variant that may be chosen, and give it as the limits hold it.

    Raises
    ------
    OptionError
        It does not.
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


def write(file: Path, renderer: str, version: str, entries: Iterable[Mapping[str, Any]]) -> None:
    """Write a file, all or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    document = {
        "format": FORMAT,
        "glla": version,
        "shaders": fingerprint(),
        "renderer": renderer,
        "tuned": [dict(entry) for entry in entries],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    # A name that nobody can guess, and "x", which follows no link: others may write into this folder, too. A file of
    # `tempfile` would be readable by its owner alone.
    unfinished = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
    try:
        with unfinished.open("x", encoding="utf-8") as opened:
            opened.write(json.dumps(document, indent=1) + "\n")
        os.replace(unfinished, file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def fingerprint() -> str:
    """Digest of all shaders: what was measured with others says nothing of these."""
    import hashlib  # OpenSSL: a hundredth of the time that importing glla takes

    digest = hashlib.sha256()
    for file in sorted(shaders.root().rglob("*.*")):
        if file.suffix in GLSL:
            digest.update(f"{file.relative_to(shaders.root()).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
