"""The benchmarks: each writes what it promises, and never times a wrong result; tables and plots show the newest."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree

import numpy as np
import pytest

import glla
from benchmarks import __main__ as listing
from benchmarks import applications, cases, exact, operations, plots, readme, study, tables
from benchmarks import thesis as evaluation
from benchmarks.cases import OPERATIONS, Case
from benchmarks.study import perform
from glla import Device
from glla.lab import ceilings, machine, peers, restoration, windows
from glla.lab.bench import EFFORTS, Bench
from glla.lab.measurement import Measurement
from glla.lab.operations import ALONE
from glla.lab.peers import Figure
from glla.lab.roofline import Roof
from glla.lab.samples import Samples
from glla.operations import OPERATIONS as RECORDS
from glla.passes import Limits, Variant
from glla.thesis.parts import Section, Table

pytest.importorskip("scipy")

KEYS = {
    "date", "commit", "renderer", "driver", "backend", "software", "cores", "versions", "environment", "vendor", "glsl",
    "system", "quick", "sizes",
    "seconds", "ceilings", "records", "machine", "load", "busy", "peers",
}  # fmt: skip
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
    for name in listing.STUDIES.keys() - {"page"}:  # which has no options
        with pytest.raises(SystemExit) as stop:
            listing.main([name, "--help"])
        assert stop.value.code == 0


def test_all_operations(ask, capsys):
    status, outcome = run(ask)
    output, progress = capsys.readouterr()
    assert status == 0
    assert set(outcome) == KEYS
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


def test_what_is_run_on_request(ask):
    names = [name for name in OPERATIONS if name not in cases.USUAL]
    assert names == ["triangular_1", "triangular_64", "triangular_n"]
    _, outcome = run(ask, "--operations", ",".join(names))
    records = operations.measurements(outcome)
    seen = [(one.operation, one.variant, one.size) for one in records]
    assert seen == [(name, variant, 6) for name in names for variant in FEW["triangular"]]
    flops = {one.operation: one.flops for one in records}
    assert flops == {"triangular_1": 36, "triangular_64": 36 * 64, "triangular_n": 216}
    for one in records:
        check_record(one)


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
        result = subject.peer.usual.bind()(*subject.peer.usual.operands(*subject.peer_operands(8)))
        assert result is not None


def test_peers_of_one_name_work_on_the_same_matrix():
    pairs = [("plu", "rref"), ("solve", "small")]
    for pair in pairs:
        one, other = (OPERATIONS[name].peer_operands(8) for name in pair)
        for first, second in zip(one, other, strict=True):
            np.testing.assert_array_equal(first, second)
            assert second.flags.c_contiguous


# ---- a busy machine --------------------------------------------------------------------------


def busy(monkeypatch, answers):
    """Let the peers' figures disagree, as `answers` say; count the measurements."""
    outcome = iter(answers)
    monkeypatch.setattr(Figure, "disagreement", lambda figure, allowed=None: next(outcome))
    measured = []
    right = operations.Run.measure
    monkeypatch.setattr(operations.Run, "measure", lambda run, case: measured.append(case) or right(run, case))
    return measured


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
    monkeypatch.setattr(device, "gpu_clock", FakeClock)
    subject = OPERATIONS["matmul"]
    job = subject.prepare(device, subject.operands(6), "inner_product")
    timed = Bench(device, EFFORTS[True, True]).time(job)
    assert len(timed["gpu"].times) == len(timed["ours"].times)
    assert set(timed["gpu"].times) == {1.0}


class FakeClock:
    """Stamps a second apart."""

    def __init__(self):
        self.stamps = 0

    def stamp(self):
        self.stamps += 1

    def read(self):
        found = [float(number) for number in range(self.stamps)]
        self.stamps = 0
        return found


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
    assert (first.status, first.reason, first.timed) == ("failed", "PlanError: plu: broken", {})
    check_record(second)


def test_an_older_file_is_read():
    """One from before a record was a measurement: its figures are the same."""
    path = study.RESULTS / "llvmpipe-llvm-15-0-6-256-bits" / "2026-11-22T041717Z.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    records = operations.measurements(run)
    assert len(records) == len(run["cases"])
    for case, one in zip(run["cases"], records, strict=True):
        assert (one.operation, one.variant, one.size, one.passes, one.ok) == tuple(
            case[name] for name in ("operation", "variant", "n", "passes", "ok")
        )
        ours = case["resident"] or case["end_to_end"]
        assert (one.seconds, one.lower, one.slowest) == (ours["seconds"], ours["lower"], ours["slowest"])
        assert (one.gflops, one.fraction_of_arithmetic) == (case["gflops"], case["fraction_of_fma"])
        assert (one.ratio_to_baseline, one.usual_seconds) == (case["ratio_to_peer"], case["usual"]["seconds"])
        assert one.ratio_to_thesis == pytest.approx(case["ratio_to_thesis"])


# ---- the table of cases ----------------------------------------------------------------------


def test_select(monkeypatch):
    lines = (cases.Line("matmul", "*"), cases.Line("matmul", "register_blocked", largest=100, largest_software=10))
    monkeypatch.setattr(cases, "CASES", lines)
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


def test_every_line_names_an_operation():
    assert {line.subject for line in cases.CASES} == set(cases.ASKED)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_thesis_comes_first(name):
    """Its time must be there when the others are compared with it."""
    subject = OPERATIONS[name]
    assert subject.thesis in ("", next(iter(subject.contenders), ""))


@pytest.mark.parametrize("arguments", [["--size", "0"], ["--size", "x"], ["--operations", "matmul,paint"]])
def test_wrong_usage(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        perform(operations.STUDY, arguments)
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


def test_a_page_without_marks_stays():
    start, end = study.marks("speed")
    assert study.between(f"a {start} old {end} b", "speed", "new") == f"a {start}\n\nnew\n\n{end} b"
    assert study.between("a", "speed", "new") == "a"


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


def test_the_pages_show_the_newest_results():
    """Mend it: python -m benchmarks readme --measurements."""
    made = readme.parts(study.RESULTS)
    for page in (readme.README, readme.FRONT):
        text = page.read_text(encoding="utf-8")
        assert readme.rewritten(text, made) == text
    assert all(study.marks(name)[0] in readme.README.read_text(encoding="utf-8") for name in made if name != "speed")
    assert evaluation.CLAIMS.read_text(encoding="utf-8") == evaluation.claims(study.RESULTS)


def test_the_plots_show_the_newest_results():
    """By the digest in each file, so that another matplotlib changes nothing; no file is left over."""
    pictures = readme.drawn(study.RESULTS)
    assert set(study.RESULTS.glob("*/*.svg")) == set(pictures)
    for path, picture in pictures.items():
        text = path.read_text(encoding="utf-8")
        assert plots.is_current(text, picture), f"{path}: run python -m benchmarks readme"
        check_svg(text)


def check_svg(text):
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(text) < 100_000
    assert "<text" in text
    assert "<image" not in text
    assert "<dc:date>" not in text


def timing(way, seconds, threads=None):
    """A timing of a peer."""
    lower, upper = 0.9 * seconds, 1.2 * seconds
    spread = {"seconds": seconds, "lower": lower, "upper": upper, "fastest": lower, "slowest": upper}
    return {"way": way, "threads": threads, **spread}


def made_up(**changes):
    """Results of a renderer, as far as they are shown."""
    usual, best = timing("numpy.get(a)", 4e-3), timing("sget(a)", 1e-3, threads=2)
    found = [
        Measurement(
            operation,
            "v" if operation == "matmul" else "",
            n,
            timed={
                "ours": Samples((2e-3,)), "whole": Samples((4e-3,)), "peer": Samples.summarised(best),
                "usual": Samples.summarised(usual),
            },
            ways={
                "baseline": "LAPACK", "key": f"LAPACK, n = {n}", "peer": "sget(a), 2 threads", "usual": "numpy.get(a)",
            },
            cost={"flops": n**3, "passes": 3},
            roof=Roof(n**3 / 1e6, 1.0, 1.0),  # twice the rate
        )
        for operation in sorted(readme.WHOLE | {"small", "stack_64"})
        for n in (64, 256)
    ]  # fmt: skip
    ceiling = {"ceilings": {"fragment_fma": {"value": 5.0}}}
    outcome = {
        "renderer": "It", "cores": 2, "software": True, "quick": False, "environment": {}, "ceilings": ceiling,
        "commit": "c", "date": "2026-11-22T00:00:00+00:00", "busy": [],
        "machine": {"cpu": "A CPU", "cores": 2, "physical_cores": 1, "blas": []},
        "peers": {
            f"LAPACK, n = {n}": {"name": "LAPACK", "size": f"n = {n}", "best": best, "usual": usual} for n in (64, 256)
        },
    }  # fmt: skip
    return {**outcome, "records": found, **changes}


def stored(folder, *runs):
    """Store results, oldest first."""
    (folder / "it").mkdir()
    for number, outcome in enumerate(runs):
        outcome = {**outcome, "records": list(map(operations.stored, outcome["records"]))}
        (folder / "it" / f"{number}.json").write_text(json.dumps(outcome), encoding="utf-8")


def test_only_a_whole_run_represents_a_renderer(tmp_path):
    whole = made_up(commit="whole")
    part = made_up(commit="part", records=[one for one in whole["records"] if one.operation == "small"])
    hurry, busy = made_up(commit="hurry", quick=True), made_up(commit="busy", busy=["it took 1, then 2 ms"])
    without = {name: value for name, value in made_up(commit="without").items() if name != "peers"}
    stored(tmp_path, made_up(commit="old"), whole, part, hurry, busy, without)
    assert [outcome["commit"] for outcome in readme.whole(tmp_path)] == ["whole"]


def test_small_systems_are_shown_for_each_setting_of_threads(tmp_path):
    single = {"environment": {"LP_NUM_THREADS": "0"}}
    stored(tmp_path, made_up(commit="old"), made_up(commit="a"), made_up(commit="b", **single))
    (outcome,) = readme.whole(tmp_path)
    assert [small["commit"] for small in readme.smalls(tmp_path, outcome)] == ["a", "b"]
    *_, last = plots.systems(outcome, readme.smalls(tmp_path, outcome)).panels
    assert [curve.name for curve in last.series] == [
        "glla", "glla, LP_NUM_THREADS=0", "LAPACK, 2 cores, fastest way", "usual call: numpy.get(a)",
    ]  # fmt: skip
    rows = [row for small in readme.smalls(tmp_path, outcome) for row in readme._small_rows(small)]
    assert rows[0] == ("It", "1", "64", "4", "1", "0.25", "4", "1")
    assert rows[-1] == ("It, LP_NUM_THREADS=0", "64", "256", "4", "1", "0.25", "4", "1")


def test_what_a_plot_shows():
    picture = plots.products(made_up())
    (panel,) = picture.panels
    assert panel.level == ("fragment multiply-add ceiling", 5.0)
    assert [(curve.name, curve.peer) for curve in panel.series] == [
        ("v", ""), ("LAPACK, 2 cores, fastest way", "best"), ("usual call: numpy.get(a)", "usual"),
    ]  # fmt: skip
    assert panel.series[0].points == ((64, pytest.approx(0.131072)), (256, pytest.approx(8.388608)))
    assert panel.series[1].points == ((64, pytest.approx(0.262144)), (256, pytest.approx(16.777216)))
    assert panel.series[1].bars[1] == (pytest.approx(16.777216 / 1.2), pytest.approx(16.777216 / 0.9))
    assert picture.alt == (
        "GFLOP/s of each variant of the matrix product against n on It: at n = 256 the fastest of OpenGL 3.3, v, "
        "reaches 8.389, 168% of the fragment ceiling; on 2 CPU cores sget(a), 2 threads 16.78; numpy.get(a) 4.194"
    )


def test_a_compute_shader_is_not_held_against_the_fragment_ceiling(monkeypatch):
    monkeypatch.setattr(plots, "BEYOND", {"computing"})
    outcome = made_up()
    faster = replace(outcome["records"][1], operation="matmul", variant="computing", cost={"flops": 10**12})
    outcome["records"].append(faster)
    assert "the fastest of OpenGL 3.3, v, reaches 8.389" in plots.products(outcome).alt


def test_wrong_results_are_not_plotted():
    outcome = made_up()
    outcome["records"] = [replace(one, status="wrong") if one.size == 64 else one for one in outcome["records"]]
    (panel,) = plots.products(outcome).panels
    assert [curve.peer for curve in panel.series] == ["best", "usual"]  # a single point is no curve
    assert panel.series[0].points == ((256, pytest.approx(16.777216)),)


BUSY = {"load_average": {}, "others_cores": {"start": 0.0, "during": 3.0, "end": None}, "of_cores": 4}
H200 = {"renderer": "NVIDIA H200/PCIe/SSE2", "software": False}


@pytest.mark.parametrize(
    ("changes", "there", "absent"),
    [
        ({}, [
            "| plu | - | 256 | 3 | 2 | 2-2 | 8.39 | 50.0% | 0.5 | 2 | - |", "A CPU, 2 cores (1 physical)",
            "| LAPACK | n = 256 | `sget(a), 2 threads` | 1 | 0.9-1.2 | `numpy.get(a)` | 4 | 3.6-4.8 |",
        ], ["% (a)", "Mind:"]),
        ({"load": BUSY}, [
            "Mind: the machine was busy: other processes used 3 of its 4 cores during the run.",
        ], []),
        (H200, [
            "| matmul | v | 256 | 3 | 2 | 2-2 | 8.39 | 50.0% (a) |", "(a) A compute shader", "4 of this GPU's 132",
        ], []),
        ({"software": False}, ["(a) A compute shader"], ["132"]),
    ],
    ids=["peers", "busy", "compute shader", "another GPU"],
)  # fmt: skip
def test_a_section(monkeypatch, changes, there, absent):
    monkeypatch.setattr(plots, "BEYOND", {"v"})
    text = readme.section(made_up(**changes))
    assert [word for word in there if word not in text] == [word for word in absent if word in text] == []


def repeats(fastest, middle, slowest):
    """Nine samples."""
    return Samples((fastest, *[middle] * 7, slowest))


def test_repeats_that_do_not_agree_are_reported():
    outcome = made_up()
    first = outcome["records"][0]
    timed = {**first.timed, "ours": repeats(1e-3, 4e-3, 5e-3)}
    outcome["records"][0] = replace(first, timed=timed, size=256)
    name = f"`{first.operation}[{first.variant}]`, n = 256"
    assert f"{name}: its 9 repeats took 1 to 5 ms, and the table has their median" in readme.section(outcome)


@pytest.mark.parametrize(("fastest", "outcome"), [(1e-3, True), (9e-3, False)])
def test_an_explanation_is_reported_only_where_it_holds(fastest, outcome):
    """Where even the fastest repeat is slower per flop than a smaller size, the shader may be slow."""
    (renderer, variant, n), text = next(iter(readme.NOT_THE_CACHE.items()))
    run = made_up(renderer=renderer)
    template = next(one for one in run["records"] if one.operation == "matmul")
    timings = ((2048, repeats(2e-3, 2e-3, 2e-3)), (n, repeats(fastest, 30e-3, 31e-3)))
    run["records"] = [
        replace(template, variant=variant, size=size, cost={"flops": 20e9}, timed={**template.timed, "ours": one})
        for size, one in timings
    ]
    assert (text in readme.section(run)) is outcome


def test_a_plot_is_the_same_each_time_and_current_until_a_figure_changes():
    pytest.importorskip("matplotlib")
    outcome = made_up()
    for picture in plots.pictures(outcome, [outcome]):
        text = plots.svg(picture)
        assert text == plots.svg(picture)
        check_svg(text)
        assert plots.is_current(text, picture)
        for panel in picture.panels:
            assert panel.title in text
    changed = made_up(ceilings={"ceilings": {"fragment_fma": {"value": 5.1}}})
    old, new = plots.products(outcome), plots.products(changed)
    assert not plots.is_current(plots.svg(old), new)


# ---- GPU and CPU side by side ----------------------------------------------------------------


GAINS = {"gain": 1.6, "gain_over_best": 1.2}


def test_the_newest_complete_runs_are_reported_side_by_side(tmp_path):
    def keep(kind, name, **outcome):
        path = tmp_path / "device" / kind / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"renderer": "R", "cores": 4, "software": False, **outcome}), encoding="utf-8")

    def pairs(kept, *works):
        return [
            {"queue": work, "n": 8, "cpu": cpu, "cpu_kept": kept, "gpu_kept": 0.8, "cpu_kept_beside_process": 1.0}
            for work in works
            for cpu in ("numpy", "python")
        ]

    def record(n, ok=True):
        seconds = {"cpu": 3.0, "cpu_usual": 2.0, "cpu_best": 1.5, "gpu": 4.0, "pair": 1.25}
        return {"operation": "inv", "n": n, "count": 5, "ok": ok, "seconds": seconds} | GAINS

    keep("overlap", "1", switch_interval=1e-5, pairs=pairs(0.5, *tables.WORK))
    keep("overlap", "2", switch_interval=1e-5, pairs=pairs(0.9, "product", "systems", "transfers"))
    keep("overlap", "3", switch_interval=5e-3, pairs=pairs(0.6, "product", "systems", "transfers"))
    keep("overlap", "4", switch_interval=1e-5, pairs=pairs(0.1, "systems"))  # not complete
    keep("hybrid", "1", records=[record(8), record(16), record(32, ok=False)])
    keep("hybrid", "2", records=[record(64)])
    lines = [line for line in tables.side_by_side(tmp_path).splitlines() if line.startswith("| R")]
    assert lines == [
        *(f"| R | 4 | 5000 | {work} | 8 | 60% | 80% | 100% |" for work in ("product", "systems", "transfers")),
        *(f"| R | 4 | 10 | {work} | 8 | 90% | 80% | 100% |" for work in ("product", "systems", "transfers")),
        *(f"| R | 4 | 5 `inv` | {n} | 3 | 2 | 1.5 | 4 | 1.25 | 1.60 | 1.20 |" for n in (8, 16)),
    ]


# -- the thesis's evaluation ------------------------------------------------------------------------------------------


def evaluated(renderer, commit, **changes):
    """A run of the thesis's evaluation, as far as its tables need it."""

    def section(name, head, row):
        return json.loads(json.dumps(Section(name, name, "4", [Table(name, head, [row])]).plain()))

    claim = section("claims", ["claim", "section", "theirs (2007)", "ours", "verdict", "command", "why"],
                    ["It is fast", "4.1", "2 times", f"{renderer}: 1 | 2", "holds", "c", "w"])  # fmt: skip
    ratio = section("speedups", ["algorithm", f"best at n = 3{commit}4"], ["RREF", 1.23456])
    others = [
        section(name, ["by r", "hybrid"], [1.0, 1.0])
        for name in evaluation.command.NAMES
        if name not in ("claims", "speedups")
    ]
    made = {
        "title": "The thesis", "about": [f"Ours: {renderer}, OpenGL 3.3"], "complete": True,
        "renderer": renderer, "commit": commit, "date": f"2026-11-2{commit}", "quick": False, "busy": "",
        "machine": {"cpu": "A CPU", "cores": 2, "physical_cores": 2, "blas": []}, "sections": [*others, ratio, claim],
    }  # fmt: skip
    return {**made, **changes}


def test_the_newest_whole_evaluation_of_a_quiet_machine_counts(tmp_path):
    runs = [
        evaluated("A", "1", busy="it was busy"), evaluated("A", "2"), evaluated("A", "3", busy="it was busy"),
        evaluated("A", "4", quick=True), evaluated("A", "5", sections=[]), evaluated("B", "6"),
        evaluated("C", "7", busy="it was busy"),
    ]  # fmt: skip
    for run in runs:
        folder = tmp_path / run["renderer"] / "thesis"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{run['commit']}.json").write_text(json.dumps(run), encoding="utf-8")
    assert [run["commit"] for run in evaluation.whole(tmp_path)] == ["2", "6"]
    speedups, claims = evaluation.speedups(tmp_path), evaluation.claims(tmp_path)
    assert "| A | RREF | 1.23 | 324 |\n| B | RREF | 1.23 | 364 |" in speedups and "commit 6, 2026-11-26." in speedups
    assert "| device | algorithm | best, largest n | largest n |" in speedups
    assert "| It is fast | 4.1 | 2 times | holds: A: 1 \\| 2 | holds: B: 1 \\| 2 |" in claims
    later = evaluated("B", "8")
    later["machine"]["cores"] = 4
    later["sections"] = [part for part in later["sections"] if part["name"] == "claims"]
    later["sections"][0]["tables"][0]["rows"] += [["It is new", "3.1", "-", "3", "holds", "c", "w"]]
    later["sections"][0]["tables"][0]["rows"][0][3] = "4"
    for run in (later, {**later, "commit": "9", "busy": "it was busy"}):
        (tmp_path / "B" / "thesis" / f"{run['commit']}.json").write_text(json.dumps(run), encoding="utf-8")
    outcome = evaluation.claims(tmp_path)
    assert "holds: A: 1 \\| 2 | holds: 4 |" in outcome
    assert "commit 6, 2026-11-26; claims: commit 8, 2026-11-28, 4 cores." in outcome
    assert outcome.index("| It is new | 3.1 | - | - | holds: 3 |") < outcome.index("It is fast")
    run = evaluated("A", "3", busy="")  # of two that were cut, the first one's claims and the second one's others
    parts = [part for part in run["sections"] if part["name"] != "claims"]
    for name, some in (("5", [part for part in run["sections"] if part not in parts]), ("6", parts)):
        cut = evaluated("A", name, sections=some)
        (tmp_path / "A" / "thesis" / f"{name}.json").write_text(json.dumps(cut), encoding="utf-8")
    assert [(run["commit"], len(run["later"])) for run in evaluation.whole(tmp_path)] == [("5", 1), ("6", 1)]
    nothing = tmp_path / "C"
    assert evaluation.EMPTY in evaluation.claims(nothing) and evaluation.speedups(nothing) == evaluation.EMPTY


# ---- sources ---------------------------------------------------------------------------------


def test_applications_are_reported_and_shown(ask, tmp_path, monkeypatch):
    pytest.importorskip("pywt")
    monkeypatch.setattr(restoration, "SIDES", (8,))
    monkeypatch.setattr(restoration, "methods", lambda device, order, say: {"Cholesky alone": {"fast": 0.5}})
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
    text = tables.restored(results) + tables.squared(results)
    for word in (
        "| blurred | 0.0032 |", "1.04e-11", "FFT (NumPy)", "| glla inverse |", "MATLAB inv (theirs)",
        "(../../benchmarks/",
        "| global memory (theirs) | 5.558 | not published |", "glla separable", "RTX 2060",
    ):  # fmt: skip
        assert word in text, word
    monkeypatch.setattr(windows, "window_squares", lambda a, **options: np.zeros(a.shape))
    assert perform(applications.STUDY, ["--size", "16", "--output", str(tmp_path / "again")]) == 1
