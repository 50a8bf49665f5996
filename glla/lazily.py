"""Lazy imports: names of a module whose files are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def attach(module: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module (PEP 562) that import names when they are first used.

    `places` has the location of each name: ``"module:name"``, or ``"module"``. A name that was found is stored.

    >>> find, names = attach(__name__, {"sha256": "hashlib:sha256", "digests": "hashlib"})
    >>> find("sha256") is find("digests").sha256, "digests" in names()
    (True, True)
    >>> find("nothing")
    Traceback (most recent call last):
    AttributeError: module 'glla.lazily' has no attribute 'nothing'
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{_elsewhere(module, name)}")
        file, _, member = places[name].partition(":")
        found = import_module(file)
        value = getattr(found, member) if member else found
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted(getattr(sys.modules[module], "__all__", places))

    return find, names


def _elsewhere(module: str, name: str) -> str:
    """Name the function of NumPy's in place of one that glla lacks, or the name that resembles one."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    if module == "glla" and hasattr(import_module("numpy.linalg"), name):
        symmetric = "; for symmetric A use eigh" if name in ("eig", "eigvals") else ""
        return f"; use numpy.linalg.{name}(A), for an Array numpy.linalg.{name}(A.numpy()){symmetric}"
    if module == "glla" and hasattr(import_module("glla.errors"), name):
        return f"; it is glla.errors.{name}"
    near = get_close_matches(name, dir(sys.modules[module]), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


class Later:
    """A module that is imported when a name of it is first used."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


def load(module: ModuleType) -> None:
    """Import all public names of a module."""
    for name in module.__all__:
        getattr(module, name)
