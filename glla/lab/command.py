"""`glla compare`: checks the options, measures, shows, and writes the files, also when it is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from glla.lab import mistakes, saved, show
from glla.lab.comparison import Comparison, Experiment, Record
from glla.lab.extra import require

INTERRUPTED = 130


@dataclass(frozen=True)
class Files:
    """Paths of files; None writes no file."""

    json: Path | None = None
    csv: Path | None = None
    plot: Path | None = None
    html: Path | None = None
    pictures: Path = Path()  # a folder, for pictures of wrong results

    def check(self) -> None:
        """Raise early the errors that would follow the measurements: unwritable files, missing packages.

        Raises
        ------
        OSError, OptionError, MissingPackageError
            What, and how to mend it.
        """
        require("compare", "rich")
        if self.plot is not None:
            from glla.lab import plots

            plots.check_suffix(self.plot)
        if self.plot is not None or self.html is not None:
            require("compare", "matplotlib")
        if self.html is not None:
            require("compare", "jinja2", "pygments")
        saved.check_writable(self.json, self.csv, self.plot, self.html)

    def write(self, comparison: Comparison) -> list[Path]:
        """Write them; give those that were written."""
        if self.json is not None:
            saved.save_json(comparison, self.json)
        if self.csv is not None:
            saved.save_csv(comparison, self.csv)
        if self.plot is not None:
            from glla.lab import plots

            plots.save(comparison, self.plot)
        if self.html is not None:
            from glla.lab import report

            report.save(comparison, self.html)
        pictures = self._draw(comparison)
        return [*(path for path in (self.json, self.csv, self.plot, self.html) if path is not None), *pictures]

    def _draw(self, comparison: Comparison) -> list[Path]:
        """Draw where results are wrong; without matplotlib it is only said."""
        for mistake in comparison.mistakes:
            print(f"where it is wrong: {mistake.words}")
        if not comparison.mistakes or find_spec("matplotlib") is None:
            return []
        self.pictures.mkdir(parents=True, exist_ok=True)
        return [mistakes.save(mistake, self.pictures) for mistake in comparison.mistakes]


def run(experiment: Experiment, files: Files) -> int:
    """Measure, show and write.

    Parameters
    ----------
    experiment : Experiment
        What to measure.
    files : Files
        What to write; `Files.check` was called.

    Returns
    -------
    int
        Exit status: 1 if a result was wrong or a variant failed, 130 when interrupted, else 0.
    """
    status = 0
    try:
        show.watch(experiment)
        show.conclude(experiment.result)
    except KeyboardInterrupt:
        status = INTERRUPTED
    result = experiment.result
    written = files.write(result) if result.ceilings else []
    if written:
        print(f"written: {', '.join(map(str, written))}")
    if status:
        print(f"glla: interrupted after {len(result)} of {experiment.total} measurements", file=sys.stderr)
        return status
    return verdict(result.records)


def verdict(records: Sequence[Record]) -> int:
    """Exit status for records: 1 if one is wrong or failed."""
    return int(any(record.status in ("wrong", "failed") for record in records))
