"""`glla compare`: checks the files, measures, shows, and writes the files, also when it is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from glla.lab import mistakes, plots, saved, show
from glla.lab.comparison import Comparison, Experiment
from glla.lab.measurement import Measurement

INTERRUPTED = 130

NEEDS = {
    ".json": (), ".csv": (), ".tex": (), ".html": ("matplotlib", "jinja2", "pygments"),
    **dict.fromkeys(plots.SUFFIXES, ("matplotlib",)),
}  # fmt: skip
"""Packages that a file needs, by its ending: which decides what is written."""


def write(comparison: Comparison, paths: Sequence[Path], pictures: Path) -> list[Path]:
    """Write files, and pictures of wrong results if matplotlib is there; return those that were written."""
    written: list[Path] = []
    for path in paths:
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
    if not comparison.mistakes or find_spec("matplotlib") is None:
        return written
    pictures.mkdir(parents=True, exist_ok=True)
    return [*written, *(mistakes.save(mistake, pictures) for mistake in comparison.mistakes)]


def run(experiment: Experiment, paths: Sequence[Path], pictures: Path, quiet: bool = False) -> int:
    """Measure, show and write.

    Exit status: 1 if a result was wrong or a variant failed, 130 when interrupted, else 0.
    `experiment`: the comparison to measure. `paths`: files to write, which were checked. `pictures`: the folder for
    pictures of wrong results. `quiet`: print nothing.
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
    written = write(result, paths, pictures) if result.ceilings else []
    if written and not quiet:
        print(f"written: {', '.join(map(str, written))}")
    if status:
        print(f"glla: interrupted after {len(result)} of {experiment.total} measurements", file=sys.stderr)
        return status
    return verdict(result.records)


def verdict(records: Sequence[Measurement]) -> int:
    """Exit status for records: 1 if one is wrong or failed."""
    return int(any(record.status in ("wrong", "failed") for record in records))
