"""The authors' variants are judged and timed, and the README's table of them is made of results."""

import json
import re
import time
from functools import partial

import numpy as np
import pytest

from benchmarks import differences, kernels, sources
from benchmarks.study import perform
from glla.operations import OPERATIONS


@pytest.mark.parametrize("system", ["syrk", "inv3", "gauss_jordan", "window_squares"])
def test_every_way_is_judged_and_timed(system, tmp_path, capsys):
    arguments = [system, "--size", "16", "--rounds", "1", "--output", str(tmp_path)]
    assert perform(sources.STUDY, arguments) == 0
    (path,) = tmp_path.rglob("sources/*.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    assert {"commit", "renderer", "machine", "load"} <= set(data)
    assert all(one["system"] == system and not one["flaw"] for one in data["figures"])
    named = {one["variant"]: one for one in data["figures"]}
    wanted = [name for name, one in OPERATIONS[system].variants.items() if not one.needs]
    for name in wanted:
        assert named[name]["end_to_end"]["seconds"] > 0
        assert system == "inv3" or named[name]["resident"]["seconds"] > 0
    if system == "syrk":
        assert {"a @ a.T", "plain product"} <= set(named) and any("ssyrk" in name for name in named)
    assert any(line.split()[:3] == [system, "16", wanted[0]] for line in capsys.readouterr().out.splitlines())


def test_products_are_timed_and_held_against_double_precision(tmp_path, device):
    assert perform(sources.STUDY, ["product", "--size", "16", "--rounds", "1", "--output", str(tmp_path)]) == 0
    (figures,) = sources.figures_of(tmp_path).values()
    named = {one["variant"]: one for _, one in figures}
    wanted = {"single_component", "inner_product", "matmul"}
    assert ("compute_tiled" in named) == (device.limits.opengl >= 430)
    assert wanted <= set(named) and any("numpy" in name or "@" in name for name in named)
    assert all(0 < named[name]["difference"] < 1e-6 for name in wanted)
    row = next(one for one in sources.ROWS if one.author == "single_component" and one.measured == "product")
    assert re.search(r", 16: .* x; mean differences \S+ / \S+$", sources.cell(row, figures))


def test_what_is_wrong_is_not_timed():
    calls = []
    ways = [sources.Way("bad", lambda: calls.append(1), lambda: "error 5, bound 1", kind="resident")]
    figures = sources.figures(ways, sources.timed(ways, 3, 1.0))
    assert not calls
    assert figures == [{"variant": "bad", "flaw": "error 5, bound 1"}]
    assert "WRONG: error 5" in sources.text({"figures": [{"system": "x", "size": 3, **figures[0]}]})


def test_what_takes_long_is_called_once():
    ways = [sources.Way(name, partial(time.sleep, seconds)) for name, seconds in (("a", 0.03), ("b", 0))]
    said = []
    sources.timed(ways, 3, 0.02, said.append)
    assert [text.split(",")[0] for text in said if "call" in text] == ["a", "b", "b", "b"]


def test_rows_are_complete():
    for row in sources.ROWS:
        assert row.document and row.section and row.system and row.function
        assert re.search(rf"\d|{sources.NOT_PUBLISHED}", row.theirs)
        record = OPERATIONS.get("matmul" if row.measured == "product" else row.measured)
        if record is not None and row.measured != "gauss_jordan":
            assert {row.author, row.fast} <= {*record.variants, "inv", "matmul"}, row


def test_each_kernel_of_the_author_has_its_passes(tmp_path):
    assert perform(kernels.STUDY, ["--size", "40", "--output", str(tmp_path / "results")]) == 0
    (path,) = tmp_path.rglob("kernels/*.json")
    outcome = json.loads(path.read_text(encoding="utf-8"))
    assert {one["shader"]: one["passes"] for one in outcome["kernels"]} == {
        **{f"gauss_jordan/{part}": 40 for part in ("exchange", "normalise", "eliminate")},
        "cholesky/diagonal": 3, "cholesky/strip": 3, "cholesky/update": 2,
        "triangular_inverse/gets": 40,
    }  # fmt: skip
    assert all(one["microseconds"] > 0 for one in outcome["kernels"])
    lines = kernels.table(tmp_path / "results").splitlines()[2:]
    assert len(lines) == len(kernels.KERNELS) and sum(", 40: " in line for line in lines) == len(outcome["kernels"])
    assert "not measured yet" in kernels.table(tmp_path / "other")


def test_differences_are_those_of_rounding(device):
    """Of the same order of additions there is none in software; stripes are as far off as the sequential sum itself."""
    one, other = differences.measured(device, (10, 100))
    assert all(one[name] < 1e-4 for name in differences.VARIANTS)
    assert all(0 < other[name] < 8 * other["sequential"] for name in ("stripes", "stripes_transposed"))
    assert all(other[name] == 0 or not device.limits.software for name in ("single_component", "symmetric"))
    m = np.arange(49, dtype=np.float32).reshape(7, 7)
    assert differences.squared(differences.one_after_the_other(m), m @ m.T) == 0
    assert differences.squared(np.float32([[1, 2]]), np.array([[1.0, 4.0]])) == 4
