"""A claim: the thesis's statement, the result here, and the reason."""

from __future__ import annotations

from dataclasses import dataclass

ALIKE = 1.05
"""Ratio of times below which two ways are as fast: a smaller gain is noise."""

HERE = "glla thesis --section claims"
"""Command of what is measured for this table alone."""


@dataclass(frozen=True)
class Claim:
    """A statement of the thesis, and the result here.

    Attributes
    ----------
    says, where : str
        The claim, and its section.
    theirs, ours : str
        Figures with their units.
    holds : bool or None
        None where there is a figure only, which cannot be wrong.
    command : str
        What measures it.
    because, although : str
        One sentence: why it holds, and why it does not; the first, too, where there is a figure only.
    """

    says: str
    where: str
    theirs: str
    ours: str
    holds: bool | None
    command: str
    because: str
    although: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """Its row in the table."""
        verdict = {True: "holds", False: "does not hold", None: "measured"}[self.holds]
        why = self.although if self.holds is False and self.although else self.because
        return self.says, self.where, self.theirs, self.ours, verdict, self.command, why
