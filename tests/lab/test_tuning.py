"""`glla tune`: the fastest right combination, stored, shown, forgotten."""

import json
from dataclasses import replace

import pytest

import glla
from glla import testing
from glla.cli import main
from glla.errors import OptionError, PlanError, among
from glla.gl import tuning as files
from glla.lab import operations, tuning
from glla.lab.tuning import Outcome, tune
from glla.passes import PLAIN
from glla.passes.rates import HARDWARE, SOFTWARE
from glla.testing import JUDGES
from tests.beside import spied

pytest.importorskip("rich")

RATES = {"flops": 1e12, "write": 1e10, "issue": 1e-6, "latency": 1e-5}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLLA_TUNING", str(tmp_path / "tuned"))
    return tmp_path / "tuned"


@pytest.fixture
def rasteriser(device):
    """Skip where the parameters that are named here are not those by default."""
    if not device.limits.software:
        pytest.skip("names the parameters of a software rasteriser")


@pytest.fixture
def clock(monkeypatch):
    """Let time go by the wish of a test: (seconds for a variant's name and parameters)."""
    wanted = {}

    def seconds(device, job, best):
        job.run()
        return next((wanted[key] for key in wanted if key in job.plan.operation), 1.0)

    monkeypatch.setattr(tuning, "_seconds", seconds)
    return wanted


def test_the_fastest_is_found(clock, device):
    clock |= {"rank_one": 0.5, "multi_pass": 0.25}
    seen = []
    found = tune(["matmul"], [9, 5, 9], progress=seen.append)
    assert seen == found
    assert [(one.size, one.variant, one.seconds) for one in found] == [(5, "multi_pass", 0.25), (9, "multi_pass", 0.25)]
    first = found[0]
    assert first.parameters == (("BLOCK", 64), ("UNROLL", 1))  # of equals the first
    assert (first.untuned, first.untuned_seconds, first.troubles) == ("inner_product", 1.0, ())
    assert first.tried == sum(1 for _ in tuning._candidates("matmul", "inner_product", device.limits))
    assert "multi_pass[BLOCK=64 UNROLL=1]: 250 ms, 4 times as fast as inner_product untuned" in tuning.line(first.entry)


def test_what_is_hardly_faster_is_chance(clock, rasteriser):
    clock |= {"rank2": 0.98}
    (found,) = tune(["triangular"], [4])
    assert found.variant == found.untuned == "blocked"
    assert tuning.line(found.entry).endswith("blocked[ROWS=16 UNROLL=0 BUFFERS=0]: 1000 ms, as untuned")


def test_candidates_keep_the_rules():
    found = list(tuning._candidates("matmul", "register_blocked", PLAIN))
    assert found[0][0].name == "register_blocked"
    assert found[0][1] == (("ROWS", 4), ("COLUMNS", 2), ("UNROLL", 1), ("PASSES", 1), ("BUFFERS", 0))
    assert {contender.name for contender, _ in found} == set(files.variants("matmul"))
    assert all(dict(p).get("ROWS", 1) * dict(p).get("COLUMNS", 1) <= 8 for _, p in found)
    assert {contender.name for contender, _ in tuning._candidates("plu", "rank2", PLAIN)} == {"rank2", "blocked"}


def test_a_wrong_result_is_never_stored(clock, rasteriser, monkeypatch, folder, capsys):
    """However fast it is: here the first entry is 0 where `blocked` has run last, and the judge wants 1."""
    clock |= {"blocked": 0.001}
    right, current = operations.fetched, spied(monkeypatch, operations, "prepare", lambda *given: given[2])

    def judge(arrays, x):
        return testing.Verdict("solve", 99.0 if x[0, 0] == 0.0 else 0.0, 30.0)

    def fetched(*given):
        found = right(*given)
        found[0, 0] = float("blocked" not in current[-1].name)
        return found

    monkeypatch.setattr(operations, "fetched", fetched)
    monkeypatch.setitem(JUDGES, "triangular", replace(JUDGES["triangular"], verdict=judge))
    assert main(["tune", "triangular", "--size", "6"]) == 1
    first, *others = capsys.readouterr().err.splitlines()
    label = "triangular blocked[ROWS=16 UNROLL=0 BUFFERS=0]"
    assert first == f"glla: not stored: {label}, n = 6: solve: error 99, bound 30, ratio 3.3: FAILED"
    assert all(line.startswith("glla: not stored: triangular blocked[") for line in others)
    (file,) = folder.iterdir()
    (entry,) = json.loads(file.read_text(encoding="utf-8"))["tuned"]
    assert entry["variant"] in ("rank2", "panel_broadcast")


def test_nothing_right_at_all(clock, monkeypatch):
    wrong = testing.Verdict("plu", 99.0, 30.0)
    monkeypatch.setitem(JUDGES, "plu", replace(JUDGES["plu"], verdict=lambda arrays, result: wrong))
    with pytest.raises(OptionError, match=r"tune: no variant of plu gives a right result at n = 3: plu rank2, n = 3: "):
        tune(["plu"], [3])


def test_a_variant_that_fails_is_reported(clock, rasteriser, monkeypatch):
    def fail(device, operation, contender, *rest):
        if contender.name == "blocked":
            raise PlanError("out of luck")
        return prepare(device, operation, contender, *rest)

    prepare = operations.prepare
    monkeypatch.setattr(operations, "prepare", fail)
    (found,) = tune(["plu"], [3])
    assert found.variant == "rank2"
    assert found.troubles[0] == "plu blocked[UNROLL=0 STRIPS=0 BUFFERS=0], n = 3: out of luck"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["eig"],), f"operation must be one of {among(files.operations(), 'eig')}"),
        ((["plu"], [0]), r"tune: sizes must be 1 or more, at least one of them, got \(0,\)"),
        ((["plu"], []), r"got \(\)"),
    ],
)
def test_wrong_options(arguments, message):
    with pytest.raises(OptionError, match=message):
        tune(*arguments)


def test_the_whole_command(folder, capsys, device, rng):
    """For real: it measures, writes, and a new device follows."""
    assert main(["tune", "triangular", "plu", "--size", "8,16"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    lines = output.out.splitlines()
    (file,) = folder.iterdir()
    assert lines[0].startswith(device.info.renderer)
    assert [line.split()[0] for line in lines[1:5]] == ["triangular", "triangular", "plu", "plu"]
    assert lines[5] == f"written: {file}"
    with glla.Device() as tuned:
        assert [(one.operation, one.size) for one in tuned.limits.tuned] == [
            ("triangular", 8), ("triangular", 16), ("plu", 8), ("plu", 16),
        ]  # fmt: skip
    assert device.limits.tuned == ()

    assert main(["tune", "rref", "--size", "8"]) == 0  # the others are kept
    capsys.readouterr()
    assert main(["tune", "--show"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"{file}:"
    assert [line.split()[0] for line in shown[1:]] == [
        "triangular", "triangular", "plu", "plu", "rref", "rates:",
    ]  # fmt: skip

    assert main(["tune", "--forget"]) == 0
    assert capsys.readouterr().out == f"removed: {file}\n"
    assert list(folder.iterdir()) == []
    for option in ("--forget", "--show"):
        assert main(["tune", option]) == 0
        assert capsys.readouterr().out == f"nothing is stored in {file}\n"


def test_ceilings_store_the_rates_by_which_variants_are_chosen(folder, capsys, device):
    assert device.limits.rates is None
    assert main(["tune", "triangular", "--size", "4"]) == 0
    assert main(["ceilings", "--quick", "--store"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"written: {files.path(device.info.renderer)}"
    stored = files.read(files.path(device.info.renderer), device.info.renderer)
    assert len(stored.entries) == 1  # what was tuned is kept
    with glla.Device() as measured:
        kind = SOFTWARE if device.info.software else HARDWARE
        assert measured.limits.rates == kind.measured(**stored.rates)
        assert measured.limits.known_rates.flops > 1e8
        assert "at measured rates" in str(glla.plan("matmul", (4, 4), (4, 4), device=measured))
    assert "at assumed rates" in str(glla.plan("matmul", (4, 4), (4, 4), device=device))


@pytest.mark.parametrize(
    "rates", [{"flops": 1e12}, RATES | {"write": 0}, RATES | {"issue": "1"}, RATES | {"issue": True}, 7]
)
def test_rates_that_are_none(folder, device, rates):
    renderer = device.info.renderer
    folder.mkdir()
    files.write(files.path(renderer), renderer, glla.__version__, files.Stored([], rates))
    with pytest.warns(glla.errors.TuningWarning), glla.Device() as unmeasured:
        assert unmeasured.limits.rates is None


def test_matmul_for_real(device):
    (found,) = tune(["matmul"], [6])
    assert found.tried > 50
    assert found.troubles == ()
    files.tuned(found.entry)


def test_a_worthless_file_does_not_hinder(folder, capsys, device):
    file = files.path(device.info.renderer)
    folder.mkdir()
    file.write_text("{", encoding="utf-8")
    with pytest.warns(glla.errors.TuningWarning):
        assert main(["tune", "--show"]) == 2
    assert capsys.readouterr().err.startswith(f"glla: tuning: {file}: ")
    with pytest.warns(glla.errors.TuningWarning):
        assert main(["tune", "triangular", "--size", "4"]) == 0
    assert len(files.load(device.info.renderer)[0]) == 1


def test_where_it_is_stored(tmp_path, monkeypatch, device):
    out = tmp_path / "mine.json"
    assert main(["tune", "triangular", "--size", "4", "--out", str(out)]) == 0
    assert len(files.read(out, device.info.renderer).entries) == 1
    monkeypatch.setattr(files, "folder", lambda: None)
    monkeypatch.delenv("GLLA_TUNING")
    with pytest.raises(OptionError, match=r"no folder for the outcome \(no home\)"):
        tuning.destination("x")


@pytest.mark.parametrize("times", [{}, {"seconds": "1"}, {"seconds": 0.0, "untuned_seconds": 1.0}, {"seconds": None}])
def test_a_line_without_usable_times(times):
    entry = {"operation": "plu", "size": 64, "variant": "rank2", "parameters": {}, **times}
    assert tuning.line(entry).startswith("plu         n = 64     rank2")
    outcome = Outcome("plu", 8, "rank2", (), 0.001, "blocked", float("nan"), 1)
    assert tuning.line(outcome.entry) == "plu         n = 8      rank2: 1 ms"
