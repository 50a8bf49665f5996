"""`glla compare`: checks the files, measures, shows, and writes the files, also when it is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from glla.lab import mistakes, plots, saved, show
from glla.lab.comparison import Comparison, Experiment
from glla.lab.extra import check_files, require
from glla.lab.measurement import Measurement

INTERRUPTED = 130

NEEDS = {
    ".json": (), ".csv": (), ".tex": (), ".html": ("matplotlib", "jinja2", "pygments"),
    **dict.fromkeys(plots.SUFFIXES, ("matplotlib",)),
}  # fmt: skip
"""Packages that a file needs, by its ending: which decides what is written."""


@dataclass(frozen=True)
class Files:
    """Files to write, and a folder for pictures of wrong results."""

    paths: Sequence[Path] = ()
    pictures: Path = Path()

    def check(self) -> None:
        """Raise before the work the errors that would follow it, see `check_files`."""
        require("compare", "rich")
        check_files("compare", self.paths, NEEDS)

    def write(self, comparison: Comparison) -> list[Path]:
        """Write them; return those that were written."""
        written: list[Path] = []
        for path in self.paths:
            suffix = path.suffix.lower()
            if suffix in plots.SUFFIXES:
                written += plots.save(comparison, path)
                continue
            if suffix == ".html":
                from glla.lab import report

                report.save(comparison, path)
            else:
                {".json": saved.save_json, ".csv": saved.save_csv, ".tex": show.save_tex}[suffix](comparison, path)
            written.append(path)
        return [*written, *self._draw(comparison)]

    def _draw(self, comparison: Comparison) -> list[Path]:
        """Draw where results are wrong, if matplotlib is there."""
        if not comparison.mistakes or find_spec("matplotlib") is None:
            return []
        self.pictures.mkdir(parents=True, exist_ok=True)
        return [mistakes.save(mistake, self.pictures) for mistake in comparison.mistakes]


def run(experiment: Experiment, files: Files, quiet: bool = False) -> int:
    """Measure, show and write.

    Exit status: 1 if a result was wrong or a variant failed, 130 when interrupted, else 0.
    `experiment`: the comparison to measure. `files`: files to write; `Files.check` was called. `quiet`: print nothing.
    """
    status = 0
    try:
        if quiet:
            for _ in experiment.run():
                pass
        else:
            show.watch(experiment)
            show.conclude(experiment.result)
    except KeyboardInterrupt:
        status = INTERRUPTED
    result = experiment.result
    for mistake in () if quiet else result.mistakes:
        print(f"where it is wrong: {mistake.words}")
    written = files.write(result) if result.ceilings else []
    if written and not quiet:
        print(f"written: {', '.join(map(str, written))}")
    if status:
        print(f"glla: interrupted after {len(result)} of {experiment.total} measurements", file=sys.stderr)
        return status
    return verdict(result.records)


def verdict(records: Sequence[Measurement]) -> int:
    """Exit status for records: 1 if one is wrong or failed."""
    return int(any(record.status in ("wrong", "failed") for record in records))
