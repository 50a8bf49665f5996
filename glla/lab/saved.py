"""A comparison as files: JSON, and CSV, a row for each record."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from glla.lab.comparison import Comparison
from glla.lab.measurement import FIGURES, SAMPLES, Measurement
from glla.lab.plain import save
from glla.lab.roofline import Roof
from glla.lab.samples import Samples

FORMAT = 2
"""Version of the JSON format; raised when an older reader would misread it."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of formulas in a spreadsheet; the last four are the full-width forms of the first four."""

NUMBERS = ("cold_seconds", "thesis_seconds", "error", "bound", "mean_error")
"""Fields of a measurement that are numbers, which may be infinite: a text in JSON."""


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Give a comparison as plain data, with the fitted lines."""
    data = asdict(comparison)
    summaries = [asdict(summary) for summary in comparison.summaries()]
    records = [plain_record(record) for record in comparison.records]
    data |= {"records": records, "mistakes": [{**one, "ratios": None} for one in data["mistakes"]]}
    return {"format": FORMAT, **data, "summaries": summaries}


def save_json(comparison: Comparison, path: Path) -> None:
    """Write a comparison as JSON."""
    save(as_dict(comparison), path)


def save_csv(comparison: Comparison, path: Path) -> None:
    """Write the records as CSV, a column for each field; fields not measured are empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(FIGURES), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in comparison.to_dicts())


def _cell(value: Any) -> Any:
    """Keep a text from being a formula, as OWASP recommends against CSV injection: an apostrophe before it.

    >>> _cell("=1+1"), _cell("-1"), _cell(-1.0)
    ("'=1+1", '-1', -1.0)
    """
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
        return value
    except ValueError:
        return f"'{value}"


def plain_record(one: Measurement) -> dict[str, Any]:
    """A measurement as plain data: its figures, and all that `measurement` makes it of again."""
    timed = {role: list(samples.times) for role, samples in one.timed.items()}
    rest = {"timed": timed, "ways": dict(one.ways), "cost": dict(one.cost), "thesis_seconds": one.thesis_seconds}
    roof = None if one.roof is None else asdict(one.roof)
    return one.as_dict() | {name: list(getattr(one, name)) for name in SAMPLES} | rest | {"roof": roof}


def measurement(data: dict[str, Any]) -> Measurement:
    """Read a measurement that `plain_record` wrote."""
    pairs = (pair.partition("=") for pair in data["parameters"].split())
    given = {one.name: data[one.name] for one in fields(Measurement)}
    return Measurement(
        **given
        | {name: None if given[name] is None else float(given[name]) for name in NUMBERS}
        | {
            "parameters": tuple((name, int(value)) for name, _, value in pairs),
            "timed": {role: Samples.of(times) for role, times in given["timed"].items()},
            "roof": None if given["roof"] is None else Roof(**given["roof"]),
        }
    )
