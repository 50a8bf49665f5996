"""A claim: the thesis's statement, the result here, and the reason.

`claims.toml` has the words of all claims, by group: ``says`` and ``where`` (the claim, and its section), ``theirs`` and
``ours`` (results with their units; without ``theirs`` the thesis prints none), ``command`` (what measures it; without
one, it is measured for this table alone), ``because`` and ``although`` (one sentence: why it holds, and why it does
not). Results stand in braces, as `str.format` takes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glla.thesis import published
from glla.thesis.measure import Place

ALIKE = 1.05
"""Ratio of times below which two ways are as fast: a smaller gain is noise."""

HERE = "glla study thesis --section claims"
"""Command of what is measured for this table alone."""

WORDS: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class Claim:
    """A statement of the thesis, and the result here; `holds` is None where there is a figure that cannot be wrong."""

    says: str
    where: str
    ours: str
    because: str
    holds: bool | None
    theirs: str = published.NOT_PUBLISHED
    command: str = HERE
    although: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """Its row in the table."""
        verdict = {True: "holds", False: "does not hold", None: "measured"}[self.holds]
        why = self.although if self.holds is False and self.although else self.because
        return self.says, self.where, self.theirs, self.ours, verdict, self.command, why


def claim(name: str, holds: bool | None, /, *results: Any, **named: Any) -> Claim:
    """Make the claim `group.name` of claims.toml, with results in the place of its braces."""
    group, _, key = name.partition(".")
    return Claim(**{part: text.format(*results, **named) for part, text in WORDS[group][key].items()}, holds=holds)


def faster(name: str, ratio: float, least: float = ALIKE, /, **named: Any) -> Claim:
    """Make a claim that holds if a ratio of times is above 1 by more than noise, or above `least`."""
    return claim(name, ratio > least, ratio=ratio, **named)


def collected(*measures: Callable[[Place], Claim | Iterable[Claim]]) -> Callable[[Place], Iterator[Claim]]:
    """Make a group of functions that measure, each a claim or several."""

    def claims(place: Place) -> Iterator[Claim]:
        for measure in measures:
            made = measure(place)
            yield from [made] if isinstance(made, Claim) else made

    return claims
