"""A comparison as JSON and CSV."""

import csv
import json

import pytest

from glla.lab import extra, saved
from glla.lab.comparison import Comparison
from glla.lab.measurement import FIGURES, Measurement


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c"


def rows_of(comparison, path):
    """Rows of a comparison as CSV, as they are read back."""
    saved.save_csv(comparison, path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_json_comes_back_as_it_was(measured, path, load):
    saved.save_json(measured, path)
    assert load(path) == measured
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["format"] == saved.FORMAT
    assert [one["variant"] for one in report["summaries"]] == ["inner_product", "register_blocked", "BLAS gemm"]
    assert report["summaries"][0]["fit"]["b"] == measured.summaries()[0].fit.b
    assert [tuple(one["samples"]) for one in report["records"]] == [record.samples for record in measured]
    assert all(all(one["best"]["blocks"]) and all(one["usual"]["blocks"]) for one in report["peers"])
    assert report["environment"]["machine"]["blas"]
    record = Measurement("matmul", "x[A=2 B=3]", 4, "wrong", "r", (("A", 2), ("B", 3)), error=float("inf"), bound=1.0)
    saved.save_json(Comparison("matmul", records=[record]), path)
    assert "Infinity" not in path.read_text(encoding="utf-8")
    assert load(path).records == [record]


def test_csv_has_a_row_for_each_record(measured, path):
    rows = rows_of(measured, path)
    assert list(rows[0]) == list(FIGURES)
    for row, record in zip(rows, measured, strict=True):
        for name, value in record.as_dict().items():
            assert row[name] == ("" if value is None else str(value))


def test_check_writable(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("kept")
    for path in (old, new):
        extra.check_writable(path)
    assert old.read_text() == "kept"
    assert not new.exists()
    with pytest.raises(FileNotFoundError):
        extra.check_writable(tmp_path / "nowhere" / "file")


FORMULAS = [
    "=1+1", "=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-cmd|' /C calc'!A0", "\uff1d1",
]  # fmt: skip


@pytest.mark.parametrize("name", [*FORMULAS, "a;=1"])
def test_csv_has_no_formulas(path, name):
    """A spreadsheet calculates a cell that begins like a formula, and names come from the files of strangers."""
    (row,) = rows_of(Comparison("matmul", records=[Measurement("matmul", name, 4, "failed", f"{name}: no")]), path)
    if name == "a;=1":  # where the comma is the decimal point, a semicolon would end the cell
        assert '"a;=1"' in path.read_text(encoding="utf-8") and row["variant"] == name
    else:
        assert (row["variant"], row["reason"]) == (f"'{name}", f"'{name}: no")


def test_cells_of_a_csv_stay_as_they_are(path):
    reason = 'line, "one"\nline two'
    record = Measurement("matmul", "-1", 4, "failed", reason, error=-1.5, bound=float("-inf"), mean_error=-1e-9)
    (row,) = rows_of(Comparison("matmul", records=[record]), path)
    assert [row[name] for name in ("variant", "error", "bound", "mean_error")] == ["-1", "-1.5", "-inf", "-1e-09"]
    assert row["reason"] == reason
