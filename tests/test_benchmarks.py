"""The benchmarks: each writes what it promises, and never times a wrong result; tables and plots show the newest."""

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import glla
from benchmarks import __main__ as listing
from benchmarks import (
    applications,
    cases,
    cliffs,
    cluster,
    exact,
    hybrid,
    manners,
    operations,
    overlap,
    readme,
    sources,
    sparse,
    study,
)
from benchmarks import thesis as evaluation
from benchmarks.cases import OPERATIONS, Case
from benchmarks.study import perform
from glla import Device
from glla.lab import ceilings, machine, peers, restoration, windows
from glla.lab.bench import EFFORTS, Bench
from glla.lab.operations import ALONE
from glla.lab.peers import Figure
from glla.lab.roofline import Roof
from glla.operations import OPERATIONS as RECORDS
from glla.passes import Limits, Variant, resident
from tests.beside import spied

pytest.importorskip("scipy")

FEW = {
    "matmul": ("inner_product", "register_blocked"),
    "plu": ("rank2",),
    "rref": ("rank2",),
    "triangular": ("rank2", "blocked"),
    "cholesky": ("rank2",),
    "cho_factor": ("rank2",),
    "solve_triangular": ("rank2",),
    "triangular_inverse": ("gets",),
    "spmv": ("circular",),
    "syrk": ("single_component", "symmetric"),
}


@pytest.fixture(autouse=True)
def few_variants(monkeypatch):
    """Leave out variants whose texts take a software rasteriser seconds to compile; their own tests run them."""
    for operation, names in FEW.items():
        with_variants(monkeypatch, operation, {name: RECORDS[operation].variants[name] for name in names})


def hurry_peers(patch):
    """Time peers for milliseconds: their figures are not looked at."""
    patch.setattr(peers, "TRIAL", replace(peers.TRIAL, seconds=0.002, warm=0.0))
    for key, effort in EFFORTS.items():
        patch.setitem(EFFORTS, key, replace(effort, peer=replace(effort.peer, seconds=0.002, warm=0.0)))


def with_variants(monkeypatch, operation, variants):
    """Let an operation have these variants."""
    monkeypatch.setitem(RECORDS, operation, replace(RECORDS[operation], variants=variants))


@pytest.fixture(autouse=True, scope="module")
def known_ceilings():
    """Measure no ceilings: tests/lab does."""
    with pytest.MonkeyPatch.context() as patch:
        outcome = {
            "renderer": "it", "driver": "1", "cores": 2, "seconds": 0.0, "quick": True,
            "ceilings": {
                name: {"value": 10.0, "unit": "GFLOP/s", "what": "all of it", "spread": 0.0}
                for name in ("fragment_fma", "write_1", "fetch_rgba32f")
            },
        }  # fmt: skip
        patch.setattr(ceilings, "report", lambda device, quick=True: outcome)
        patch.setattr(machine, "LISTEN", 0.0)
        hurry_peers(patch)
        yield


@pytest.fixture
def ask(tmp_path):
    """A function that performs a study: exit status, and its file's data."""

    def ask(module, *arguments):
        status = perform(module.STUDY, [*map(str, arguments), "--output", str(tmp_path / "results")])
        (path,) = (tmp_path / "results").rglob("*.json")
        kind = study.KINDS.get(module.STUDY.name, module.STUDY.name)
        folder = tmp_path / "results" / study.slug(glla.default_device().info.renderer) / kind
        assert path.parent == folder
        return status, json.loads(path.read_text(encoding="utf-8"))

    return ask


def run(ask, *arguments, busy=True):
    """Run the operations quickly at tiny sizes."""
    return ask(operations, "--quick", "--size", "6,16", *(["--tolerate-busy"] if busy else []), *arguments)


def test_every_study_is_listed_and_parsed(capsys, monkeypatch):
    monkeypatch.setattr(listing, "environment", lambda name: {})
    assert (listing.main([]), listing.main(["paint"])) == (0, 2)
    text = capsys.readouterr().out
    assert all(text.count(f"\n  {name} ") == 2 for name in listing.STUDIES)
    for name in listing.STUDIES:
        with pytest.raises(SystemExit) as stop:
            listing.main([name, "--help"])
        assert stop.value.code == 0


def test_all_operations(ask, capsys):
    status, outcome = run(ask)
    output, progress = capsys.readouterr()
    assert status == 0
    assert outcome["renderer"] == glla.default_device().info.renderer
    assert outcome["sizes"] == [6, 16]
    assert set(outcome["versions"]) == {"glla", "Python", "numpy", "scipy", "moderngl", "glfw"}
    records = operations.measurements(outcome)
    seen = {(one.operation, one.variant, one.size) for one in records}
    wanted = {
        *(("matmul", variant, n) for variant in FEW["matmul"] for n in (6, 16)),
        *((name, "rank2", n) for name in ("plu", "rref") for n in (6, 16)),
        *((name, "", n) for name in ("solve", "inv", "det") for n in (6, 16)),
        ("small", "", 8), ("small", "", 16),
        ("stack_1000", "", 8), ("stack_100", "", 6), ("stack_64", "", 6),
        *((one.name, ALONE, n) for one in RECORDS.values() if not one.variants for n in (6, 16)),
    }  # fmt: skip
    others = {(one.name, variant, n) for one in RECORDS.values() for variant in one.variants for n in (6, 16)}
    assert wanted <= seen <= wanted | {one for one in others if one[0] not in {name for name, _, _ in wanted}}
    for one in records:
        check_record(one)
    assert "every result was verified" in output
    for one in records:
        assert f"  {Case(one.operation, one.variant, one.size)}: " in progress
    check_peers(outcome)


def check_peers(outcome):
    """One figure for each peer and size, whoever stands beside it, with all its samples."""
    for key, peer in outcome["peers"].items():
        assert key == f"{peer['name']}, {peer['size']}"
        for one in (peer["best"], peer["usual"]):
            assert len(one["blocks"]) >= 2
            assert one["repeats"] == sum(map(len, one["blocks"]))
        assert peer["best"]["seconds"] <= peer["usual"]["seconds"]
    for one in operations.measurements(outcome):
        peer = outcome["peers"][one.ways["key"]]
        assert (one.baseline_way, one.usual) == (peers.described(peer["best"]), peer["usual"]["way"])
        for ours, theirs in ((one.timed["peer"], peer["best"]), (one.timed["usual"], peer["usual"])):
            assert (ours.median, ours.lower, ours.upper) == (theirs["seconds"], theirs["lower"], theirs["upper"])


def test_work_that_is_the_same_has_one_figure():
    """So one run cannot have two figures for LAPACK's getrf of one size, as one had (161 and 87 ms)."""
    assert operations.key_of(Case("plu", "rank2", 8)) == operations.key_of(Case("rref", "blocked", 8))
    assert operations.key_of(Case("solve", "", 8)) == operations.key_of(Case("small", "", 8))
    assert operations.key_of(Case("plu", "rank2", 8)) != operations.key_of(Case("plu", "rank2", 9))
    keys = {operations.key_of(Case(name, "", 8)) for name in OPERATIONS}
    # plu and rref, cholesky and cho_factor, solve and small, inv and gauss_jordan
    assert len(keys) == len(OPERATIONS) - 4
    for subject in OPERATIONS.values():
        assert subject.peer.usual.bind()(*subject.peer.usual.operands(*subject.peer_operands(8))) is not None
        assert subject.thesis in ("", next(iter(subject.contenders), ""))  # whose time the others are compared with
    for pair in (("plu", "rref"), ("solve", "small")):
        for one, other in zip(*(OPERATIONS[name].peer_operands(8) for name in pair), strict=True):
            np.testing.assert_array_equal(one, other)
            assert other.flags.c_contiguous
    assert {subject for subject, _ in cases.LARGEST} <= set(OPERATIONS)


# ---- a busy machine --------------------------------------------------------------------------


def busy(monkeypatch, answers):
    """Let the peers' figures disagree, as `answers` say; count the measurements."""
    outcome = iter(answers)
    monkeypatch.setattr(Figure, "disagreement", lambda figure: next(outcome))
    return spied(monkeypatch, operations.Run, "measure", lambda run, case: case)


@pytest.mark.parametrize(
    ("answers", "tolerant", "orders", "status", "trouble", "said"),
    [
        (["apart", ""], False, [6, 6], 0, [], "busy machine? apart; measured 1 of 3 times"),
        (["", *["apart"] * 3], False, [6, 16, 16, 16], 1, ["benchmarks: a peer's figures must agree, got apart"], ""),
        (["apart", ""], True, [6, 16], 0, ["apart"], ""),
    ],
    ids=["again", "given up", "tolerated"],
)
def test_a_busy_machine(ask, capsys, monkeypatch, answers, tolerant, orders, status, trouble, said):
    measured = busy(monkeypatch, answers)
    size = "6" if orders == [6, 6] else "6,16"
    options = ["--tolerate-busy"] if tolerant else []
    found, outcome = ask(operations, "--quick", "--size", size, "--operations", "plu", *options)
    assert (found, [case.n for case in measured]) == (status, orders)
    assert len(outcome["busy"]) == len(trouble)
    output, errors = capsys.readouterr()
    assert said in errors
    for text, start in zip(outcome["busy"], trouble, strict=True):
        assert text.startswith(start) and f"WARNING: {text}" in output
    assert {one["size"] for one in outcome["records"]} == ({6} if status else set(orders))
    assert all(len(outcome["peers"][one["ways"]["key"]]["best"]["blocks"]) == 2 for one in outcome["records"])


def test_earlier_blocks_are_kept_where_a_size_is_measured_again(monkeypatch, device):
    """What plu's size found out of getrf stands, when rref's is measured again."""
    busy(monkeypatch, ["", "apart", ""])
    run = operations.Run(lambda: Device(), EFFORTS[True, True], Roof(10.0, 10.0, 10.0))
    run.measure_all([Case("plu", "rank2", 6)])
    (figure,) = run.beside.figures.values()
    first = [list(one.blocks) for one in figure.finalists]
    run.measure_all([Case("rref", "rank2", 6)])
    assert list(run.beside.figures.values()) == [figure]
    assert [one.blocks[:2] for one in figure.finalists] == first
    assert figure.blocks == 4


def test_a_stack_is_wrong_if_one_system_is(device):
    subject = OPERATIONS["stack_64"]
    arrays = subject.operands(5)
    assert [array.shape for array in arrays] == [(64, 5, 5), (64, 5, 1)]
    result = subject.prepare(device, arrays, "").end_to_end()
    assert subject.judge(arrays, result).ok
    result[37, 2] *= 2
    assert not subject.judge(arrays, result).ok


def test_repeats_are_timed_by_both_clocks_where_there_are_two(device, monkeypatch):
    stamps = []  # a second apart
    clock = SimpleNamespace(
        stamp=lambda: stamps.append(float(len(stamps))), read=lambda: [stamps.pop(0) for _ in range(len(stamps))]
    )
    monkeypatch.setattr(device, "gpu_clock", lambda: clock)
    subject = OPERATIONS["matmul"]
    job = subject.prepare(device, subject.operands(6), "inner_product")
    timed = Bench(device, EFFORTS[True, True]).time(job)
    assert len(timed["gpu"].times) == len(timed["ours"].times)
    assert set(timed["gpu"].times) == {1.0}


def check_record(one):
    assert one.ok and one.error <= one.bound and one.passes > 0 and one.cold_seconds > 0
    assert one.resident is not one.operation.startswith(("small", "stack"))
    assert one.gpu_seconds is None or not glla.default_device().info.software  # which has no clock of its own
    whole = one.timed["whole"]
    assert 0 < min(whole.times) <= whole.lower <= whole.median <= whole.upper <= max(whole.times)
    assert one.gflops == pytest.approx(one.flops / one.seconds / 1e9)
    assert one.fraction_of_arithmetic == pytest.approx(one.gflops / 10)
    thesis = OPERATIONS[one.operation].thesis
    assert (one.ratio_to_thesis is None) is (thesis == "")
    assert one.ratio_to_thesis == 1 or not thesis or one.variant != thesis


@pytest.mark.parametrize("operation", ["matmul", "plu", "rref", "inv"])
def test_a_wrong_result_is_not_timed(ask, capsys, monkeypatch, operation):
    right = Device.download

    def wrong(device, texture, shape):
        result = right(device, texture, shape)
        result[-1, -1] += 1 + abs(result[-1, -1])
        return result

    monkeypatch.setattr(Device, "download", wrong)
    monkeypatch.setattr(Bench, "time", None)
    status, outcome = run(ask, "--operations", operation)
    assert status == 1
    records = operations.measurements(outcome)
    assert records and all(one.status == "wrong" and not one.timed for one in records)
    output = capsys.readouterr().out
    assert f"{len(records)} of {len(records)} results FAILED" in output
    assert f"FAILED {operation}" in output


def test_a_case_that_cannot_run_is_a_failure(ask, monkeypatch):
    """The others are still run."""
    right = RECORDS["plu"].device_plan

    def broken(forms, *limits, **options):
        if forms[0].matrix == (6, 6):
            raise glla.errors.PlanError("plu: broken")
        return right(forms, *limits, **options)

    monkeypatch.setitem(RECORDS, "plu", replace(RECORDS["plu"], device_plan=broken))
    status, outcome = run(ask, "--operations", "plu")
    assert status == 1
    first, second = operations.measurements(outcome)
    assert (first.status, first.reason, first.timed) == ("failed", "plu: broken", {})
    check_record(second)


# ---- the table of cases ----------------------------------------------------------------------


def test_select(monkeypatch):
    monkeypatch.setattr(cases, "LARGEST", {("matmul", "register_blocked"): (100, 10)})
    hardware = list(cases.select(["matmul"], [64, 16, 200], software=False))
    thesis, blocked = (
        [Case("matmul", name, n) for n in sizes]
        for name, sizes in (("inner_product", (16, 64, 200)), ("register_blocked", (16, 64)))
    )
    assert set(hardware) == {*thesis, *blocked}
    assert [case.n for case in hardware] == sorted(case.n for case in hardware)
    assert all(case.variant == "inner_product" for case in cases.select(["matmul"], [64], software=True))


def test_select_leaves_out_what_the_device_lacks(monkeypatch):
    table = {"plain": Variant("", ""), "computing": Variant("", "", needs=("OpenGL 4.3",))}
    with_variants(monkeypatch, "matmul", table)

    def variants(*limits):
        return [case.variant for case in cases.select(["matmul"], [64], False, *limits)]

    assert variants(Limits(opengl=430)) == ["plain", "computing"]
    assert variants() == variants(Limits(opengl=410)) == ["plain"]


@pytest.mark.parametrize(
    ("of", "arguments"),
    [(operations, "--size 0"), (operations, "--size x"), (operations, "--operations matmul,paint"),
     (cliffs, "--size 0"), (cliffs, "--largest x"), (cliffs, "--operation dance")],
)  # fmt: skip
def test_wrong_usage(capsys, of, arguments):
    with pytest.raises(SystemExit) as stop:
        perform(of.STUDY, arguments.split())
    assert stop.value.code == 2
    assert "got '" in capsys.readouterr().err


# ---- files -----------------------------------------------------------------------------------


def test_files_are_told_apart_and_lists_of_numbers_take_a_line(tmp_path):
    assert study.slug("llvmpipe (LLVM 15.0.6, 256 bits)") == "llvmpipe-llvm-15-0-6-256-bits"
    data = {"renderer": "A (1)", "a": [1, 2.5, -1e-7], "b": ["x", 1], "c": [[1, 2], [3, 4]], "d": [], "ok": True}
    for day in (1, 2):
        study.save(data | {"ok": day == 1}, tmp_path, "exact", datetime(2026, 1, day, tzinfo=UTC))
    (path, _) = sorted((tmp_path / "a-1" / "exact").iterdir())
    text = path.read_text(encoding="utf-8")
    assert '"a": [1, 2.5, -1e-07]' in text and "[3, 4]" in text
    assert json.loads(text) == {"date": "2026-01-01T00:00:00+00:00", **data}
    assert [run["date"][:10] for run in study.newest(tmp_path, "exact")] == ["2026-01-02"]
    assert [run["date"][:10] for run in study.newest(tmp_path, "exact", lambda run: run["ok"])] == ["2026-01-01"]
    assert study.newest(tmp_path, "doubt") == study.newest(tmp_path / "none", "doubt") == []


@pytest.mark.parametrize(("changes", "name"), [("", "abc1234"), (" M a.py", "abc1234+"), (None, "unknown")])
def test_commit(monkeypatch, changes, name):
    def git(*arguments):
        if changes is None:
            raise FileNotFoundError("git")
        return "abc1234" if arguments[0] == "rev-parse" else changes

    monkeypatch.setattr(study, "_git", git)
    assert study.commit() == name


# ---- README and plots ------------------------------------------------------------------------


def test_exact_factors_are_counted(device):
    """glla's are all exact; of LAPACK's those whose pivots are powers of two."""
    pytest.importorskip("scipy")
    found = exact.measured(device, (10,), 3)
    assert len(found) == 2 * (1 + len(RECORDS["cholesky"].variants))
    assert all(one["exact"] == 3 and not one["refused"] for one in found if one["way"] != "LAPACK spotrf")
    assert next(one["exact"] for one in found if one["way"] == "LAPACK spotrf") == 3
    b, a = exact.example(4, (1, 2), np.random.default_rng(1))
    examples = [(b, a), (b, a), (b, a)]
    assert exact.counted(lambda a: None, examples) == {"exact": 0, "refused": 3}
    assert exact.counted(lambda a: b + np.float32(1e-6), examples) == {"exact": 0, "refused": 0}


def test_the_readme_shows_the_newest_results():
    """Mend it: python -m benchmarks readme."""
    page = readme.README.read_text(encoding="utf-8")
    assert readme.rewritten(page) == page


def test_the_site_has_each_table():
    pages = (readme.ROOT / "docs" / "facts").glob("*.md")
    shown = [name for page in pages for name in re.findall(r"build/tables/([a-z-]+)\.md", page.read_text("utf-8"))]
    made = readme.parts(study.RESULTS)
    assert sorted(shown) == sorted([*made, "variants"])
    assert all("\n|---|" in text or text.count("![") > 1 for text in made.values())
    runs = readme.whole(study.RESULTS)
    shown = [f"{study.slug(run['renderer'])}-{name}.svg" for run in runs for name in readme.plotted(run, [])]
    assert re.findall(r"build/tables/(.*?)\)", made["plots"]) == shown


BUSY = {"load_average": {}, "others_cores": {"start": 0.0, "during": 3.0, "end": None}, "of_cores": 4}
H200 = "nvidia-h200-pcie-sse2"


SHOW = {
    "": lambda results: [readme.section(run) for run in readme.whole(results)],
    "overlap": overlap.table,
    "hybrid": hybrid.table,
    "cluster": cluster.table,
    "thesis": lambda results: evaluation.claims(results) + evaluation.speedups(results),
}
"""By kind of results, what is shown of them."""


def doubled(data, spared=("switch_interval", "gpus", "cores", "n", "format")):
    """The same with other figures."""
    if isinstance(data, dict):
        return {name: value if name in spared else doubled(value) for name, value in data.items()}
    if isinstance(data, list):
        return [doubled(one) for one in data]
    return 2 * data if isinstance(data, float) else data


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("", {"quick": True}),
        ("", {"busy": ["it took 1, then 2 ms"]}),
        ("", {"peers": None}),
        ("overlap", lambda run: {"pairs": run["pairs"][:1]}),
        ("hybrid", lambda run: {"records": run["records"][:1]}),
        ("hybrid", {"software": True}),
        ("cluster", {"times_mean_something": False}),
        ("cluster", {"load": BUSY}),
        ("cluster", {"thesis": True}),
        ("thesis", {"busy": "it was busy"}),
        ("thesis", {"quick": True}),
        ("thesis", {"load": BUSY}),
    ],
)
def test_what_does_not_count_is_not_shown(kind, change, tmp_path):
    """A newer run that was made in a hurry, on a busy machine, or is not whole; one that does count is shown."""
    folder, show = tmp_path / "device" / kind, SHOW[kind]
    shutil.copytree(study.RESULTS / H200 / kind, folder)
    before = show(tmp_path)
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    whole = runs[-1]["commit"] if kind else readme.whole(tmp_path)[0]["commit"]
    run = doubled(next(one for one in runs if one["commit"] == whole))
    changed = {**run, **(change(run) if callable(change) else change)}
    later = folder / "9999.json"
    later.write_text(json.dumps({name: one for name, one in changed.items() if one is not None}), encoding="utf-8")
    assert show(tmp_path) == before
    later.write_text(json.dumps({**run, "commit": "newest"}), encoding="utf-8")
    assert show(tmp_path) != before
    assert kind or [one["commit"] for one in readme.whole(tmp_path)] == ["newest"]
    if kind == "hybrid":
        good = show(tmp_path).count("\n")
        later.write_text(json.dumps({**run, "records": [{**one, "ok": False} for one in run["records"]]}), "utf-8")
        assert show(tmp_path).count("\n") == good - len(run["records"])


@pytest.mark.parametrize(("kind", "show"), [("sparse", sparse.table), ("sources", sources.table)])
def test_what_is_wrong_or_computes_something_else_is_no_way(kind, show, tmp_path):
    folder = tmp_path / "device" / kind
    shutil.copytree(study.RESULTS / H200 / kind, folder)
    before = show(tmp_path)
    for path in folder.glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        few = [{**one, "variant": f"{one['variant']}, 16 columns", "seconds": 1e-9} for one in run["figures"]]
        bad = [{**one, "flaw": "bad", "size": one["size"] + (kind == "sources")} for one in run["figures"]]
        bad = [{name: value for name, value in one.items() if "seconds" not in name} for one in bad]
        path.write_text(json.dumps({**run, "figures": [*run["figures"], *few, *bad]}), encoding="utf-8")
    assert show(tmp_path) == before
    assert cluster.table(tmp_path) == sparse.table(tmp_path / "none") == study.NOTHING
    assert sources.cell(sources.ROWS[0], ()) == "not measured yet"


def test_wrong_results_are_not_shown():
    (run, *_) = readme.whole(study.RESULTS)
    (largest, _) = max(readme.plotted(run, [])["matmul"].times("peer"))
    wrong = [replace(one, status="wrong") if one.size == largest else one for one in run["records"]]
    before, after = (readme.plotted({**run, "records": one}, [])["matmul"] for one in (run["records"], wrong))
    assert all(largest not in {one.size for one in after.of(name)} for name in after.names)
    assert any(largest in {one.size for one in before.of(name)} for name in before.names)
    assert "Mind: the machine was busy: other processes used 3 of its 4 cores" in readme.section({**run, "load": BUSY})


def test_plans_are_weighed(device):
    shape = resident((40, 40), (40, 40))
    found = manners._weighed(device, lambda: manners._built(manners.matmul.plan, shape, device.limits))
    assert all(found[name] > 0 for name in ("steps", "calls", "ready_bytes", "bound_bytes"))


def test_plots_are_drawn_of_the_newest_results(monkeypatch):
    (run, *_) = readme.whole(study.RESULTS)
    monkeypatch.setattr(readme, "whole", lambda results: [run])
    monkeypatch.setattr(readme, "smalls", lambda results, run: [])
    monkeypatch.setattr(readme, "PLOTTED", ("matmul",))
    found = readme.drawn(study.RESULTS)
    assert [name.rpartition("-")[2] for name in found] == ["matmul.svg", "small.svg"]
    assert all(ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg" for text in found.values())


def test_applications_are_reported_and_shown(ask, tmp_path, monkeypatch):
    pytest.importorskip("pywt")
    monkeypatch.setattr(restoration, "SIDES", (8,))
    monkeypatch.setattr(restoration, "REPEATS", 1)
    monkeypatch.setattr(windows, "REPEATS", 1)
    load = restoration.load
    monkeypatch.setattr(restoration, "load", lambda path, side: load(path, min(side, 16)))
    status, outcome = ask(applications, "--size", "16")
    assert status == 0 and outcome["windows"]["right"] and len(outcome["windows"]["frames"]) == 11
    assert {one["way"] for one in outcome["restoration"]["timings"]} >= {"inverse", "cholesky", "separable"}
    results = tmp_path / "benchmarks" / "results"
    results.parent.mkdir()
    (tmp_path / "results").rename(results)
    (folder,) = results.glob("*/applications")
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in applications.PICTURES.values())
    shown = applications.tables(results)
    assert "1.04e-11" in shown["errors"] and "global memory (theirs)" in shown["windows"]
    monkeypatch.setattr(windows, "window_squares", lambda a, **options: np.zeros(a.shape))
    assert perform(applications.STUDY, ["--size", "16", "--output", str(tmp_path / "again")]) == 1
