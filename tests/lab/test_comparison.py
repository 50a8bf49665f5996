"""Comparisons as records: what is measured, and what becomes of what goes wrong."""

import math
from dataclasses import replace

import pytest

import glla.lab
from glla.errors import OptionError, among
from glla.lab import bench, comparison, extra, machine, operations, peers, show
from glla.lab.comparison import Comparison, Experiment, Source
from glla.lab.fits import Fit
from glla.lab.measurement import FIGURES, Measurement
from glla.lab.samples import Samples
from glla.operations.elimination import plu
from glla.operations.product import matmul
from glla.passes import Plan, resident
from glla.passes.glsl.find import Stage
from tests.beside import run_python


def test_names_and_imports_of_the_laboratory():
    """Importing it is light."""
    code = "import sys, glla.lab; assert not {'glla.lab.comparison', 'scipy', 'rich', 'matplotlib'} & set(sys.modules)"
    run_python(code)
    assert glla.lab.compare is comparison.compare
    assert {"compare", "Comparison", "Measurement"} <= set(dir(glla.lab))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        glla.lab.nothing  # noqa: B018


def test_records(measured, roofs):
    assert [(r.variant, r.size) for r in measured] == [
        (variant, size) for size in (8, 17, 24, 32) for variant in ("inner_product", "register_blocked")
    ]
    assert len(measured) == 8
    assert measured.complete
    assert measured.names == ["inner_product", "register_blocked"]
    for record in measured:
        assert (record.operation, record.status, record.reason) == ("matmul", "ok", "")
        assert record.fastest <= record.lower <= record.seconds <= record.upper <= record.slowest
        assert record.repeats == len(record.samples) == 3
        assert sorted(record.samples)[1] == record.seconds
        assert record.cold_seconds > 0
        assert record.end_to_end_seconds > 0
        assert record.flops == 2 * record.size**3
        assert record.gflops == pytest.approx(record.flops / record.seconds / 1e9)
        shape = (record.size, record.size)
        cost = matmul.plan(resident(shape, shape), variant=record.variant).cost
        assert (record.passes, record.draws, record.bytes_written) == (cost.passes, cost.passes, cost.nbytes)
        assert record.gbytes_per_second == pytest.approx(cost.nbytes / record.seconds / 1e9)
        assert record.fraction_of_arithmetic == pytest.approx(record.gflops / roofs["fragment_fma"].value)
        assert record.fraction_of_bandwidth > 0
        assert record.intensity == record.flops / record.bytes_moved
        assert 0 < record.error_over_bound < 1
        assert record.error_over_bound == pytest.approx(record.error / record.bound)
        assert 0 < record.mean_error < record.size * 1e-3
        assert (record.baseline, record.usual) == ("BLAS gemm", "a @ b")
        assert record.ratio_to_usual == pytest.approx(record.usual_seconds / record.seconds)
        assert record.baseline_lower <= record.baseline_seconds <= record.baseline_upper
        assert record.ratio_to_baseline == pytest.approx(record.baseline_seconds / record.seconds)
    for size in (8, 17, 24, 32):
        thesis, other = (record for record in measured if record.size == size)
        assert thesis.ratio_to_thesis == 1.0
        assert other.ratio_to_thesis == pytest.approx(thesis.seconds / other.seconds)
        assert thesis.baseline_seconds == other.baseline_seconds <= thesis.usual_seconds


def test_where_and_when(measured, device):
    place = measured.environment
    assert place["renderer"] == device.info.renderer
    assert place["seed"] == 2007
    assert place["versions"]["glla"] == glla.__version__
    assert place["date"].endswith("+00:00")
    assert place["cores"] >= 1
    assert {"fragment_fma", "write_1", "fetch_rgba32f"} <= set(measured.ceilings)


def test_a_data_frame_in_one_line(measured):
    first = measured.to_dicts()[0]
    assert (first["variant"], first["parameters"]) == ("inner_product", "")
    assert all(isinstance(value, str | int | float | None) for value in first.values())
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(measured.to_dicts())
    assert list(frame.columns) == list(FIGURES)
    assert frame.groupby("variant")["seconds"].count().to_dict() == {"inner_product": 4, "register_blocked": 4}
    assert (frame["status"] == "ok").all()


def test_sources_are_what_the_compiler_got(measured):
    """Cut where lines do not follow each other: an include that was there before leaves a gap."""
    shaders = [(source.variant, source.shader) for source in measured.sources]
    assert shaders == [
        ("inner_product", "matmul/inner_product.frag"),
        ("register_blocked", "matmul/register_blocked.frag"),
        ("register_blocked", "matmul/interleave.frag"),
    ]
    source = measured.sources[0]
    assert source.text.startswith("#version 330 core\n#define CONTINUE 0\n// C = A B")
    assert "lib/packed.glsl" in {file for file, _, _ in source.parts}
    own = [(first, text.split("\n")) for file, first, text in source.parts if file == source.shader]
    path = glla.passes.glsl.find.root() / source.shader
    lines = path.read_text(encoding="utf-8").splitlines()
    for first, texts in own:
        assert texts[: len(lines) - first + 1] == lines[first - 1 : first - 1 + len(texts)]
    # An include that was there before leaves a gap in the file that includes it again.
    lines = (("a", 1), ("a", 2), ("b", 1), ("a", 4), ("a", 5), ("a", 7))
    parts = comparison._parts(Stage("p\nq\nr\ns\nt\nu\n", lines))
    assert parts == (("a", 1, "p\nq"), ("b", 1, "r"), ("a", 4, "s\nt"), ("a", 7, "u"))
    assert Source("v", "a.frag", parts).text == "p\nq\nr\ns\nt\nu"


def test_a_vertex_stage_of_its_own_is_a_source(quick):
    found = comparison.compare("plu", ["rank2"], [4], baseline="none").sources
    assert "plu/rank2/eliminate.vert" in {source.shader for source in found}


# ---- what goes wrong -------------------------------------------------------------------------


def outcome(*names, size=16, **options):
    return comparison.compare("matmul", [*names], [size], baseline="none", repeats=1, **options)


def test_a_wrong_result_is_reported_and_not_timed(quick, add):
    add("short_sum")
    seen = []
    right, wrong = found = outcome("inner_product", "short_sum", progress=seen.append)
    assert seen == found.records
    assert right.ok
    assert wrong.status == "wrong" and wrong.error_over_bound > 1 and wrong.passes == 1
    assert wrong.reason.startswith("product: error ") and "FAILED (C[" in wrong.reason
    assert wrong.seconds is wrong.gflops is wrong.cold_seconds is wrong.ratio_to_thesis is None


@pytest.fixture
def spoilt(monkeypatch):
    """A function that lets results come back changed: by another one, of an array and its number."""

    def change(by):
        right, fetched = operations.fetched, []

        def changed(*given):
            array = right(*given)
            by(array, len(fetched))
            fetched.append(array)
            return array

        monkeypatch.setattr(operations, "fetched", changed)
        return fetched

    return change


def test_a_result_with_a_nan_is_wrong(quick, spoilt):
    spoilt(lambda array, number: array.__setitem__((3, 4), math.nan))
    (record,) = outcome("inner_product")
    assert (record.status, record.error_over_bound) == ("wrong", math.inf)
    assert "C[3, 4] is nan" in record.reason


def test_a_second_run_that_differs_is_judged_too(quick, spoilt):
    """The run that is drawn end to end is another one; here only that one is wrong."""
    fetched = spoilt(lambda array, number: array.__setitem__((0, 0), array[0, 0] + 100 * number))
    (record,) = outcome("inner_product")
    assert len(fetched) == 2 and record.status == "wrong" and "C[0, 0]" in record.reason


def test_what_fails_does_not_end_the_comparison(quick, add, device):
    names = ("broken", "bad_plan", "too_large", "newest", "extended")
    add(*names)
    opengl = device.limits.opengl
    result = outcome(*names, "inner_product")
    report = {record.variant: (record.status, record.reason) for record in result}
    assert next(iter(report)) == "inner_product"  # the thesis's own comes first
    assert report.pop("newest") == (
        "skipped",
        f"needs OpenGL 9.9, this device has {opengl // 100}.{opengl // 10 % 10}",
    )
    assert report == {
        "inner_product": ("ok", ""),
        "broken": ("failed", "RuntimeError: out of luck"),
        "bad_plan": ("failed", "matmul[bad_plan]: no plan"),
        "too_large": ("skipped", "matmul[too_large]: 16 at most, got 16"),
        "extended": ("skipped", f"needs GL_ARB_compute_shader, this device has {opengl // 100}.{opengl // 10 % 10}"),
    }
    assert result.complete


def test_a_shader_that_does_not_compile_fails_with_its_line(quick, add):
    plan = matmul.plan(resident((4, 4), (4, 4)))
    (step,) = plan.steps
    wrong = replace(step, defines={**step.defines, "half_of": "1"})

    def build(forms, limits, parameters):
        return Plan(plan.operation, plan.slots, plan.operands, plan.results, (wrong,), plan.flops)

    add(operations.Contender("", "", name="typo", build=build))
    (record,) = outcome("typo", size=4)
    assert record.status == "failed"
    assert record.reason.startswith("shader matmul/inner_product does not compile:")
    assert "lib/packed.glsl:78: " in record.reason
    assert record.seconds is None


# ---- what is asked for -----------------------------------------------------------------------


def labels(chosen, operation="matmul"):
    return [entry.label for entry in Experiment(operation, chosen, [4], baseline="none").entries]


def test_variants_asked_for():
    assert labels(None) == list(matmul.VARIANTS)
    assert labels("virtual_cube") == ["virtual_cube"]
    assert labels(["register_blocked", "inner_product", "register_blocked"]) == ["inner_product", "register_blocked"]
    assert labels(None, "plu") == list(plu.VARIANTS)
    assert labels("all", "plu") == [
        *plu.VARIANTS, "rank2:harmonic", "rank2:geometric", "blocked:harmonic", "blocked:geometric",
    ]  # fmt: skip


def test_parameters_make_an_entry_of_their_own(quick):
    seen = []

    def build(forms, limits, parameters):
        seen.append(parameters)
        return matmul.plan(forms)

    contender = operations.Contender("", "", name="mine", build=build, parameters={"UNROLL": (1, 2)})
    result = outcome(contender, (contender, {"UNROLL": 2}), size=4)
    assert [record.variant for record in result] == ["mine", "mine[UNROLL=2]"]
    assert [record.parameters for record in result] == [(), (("UNROLL", 2),)]
    assert result.to_dicts()[1]["parameters"] == "UNROLL=2"
    assert set(seen) == {(), (("UNROLL", 2),)}
    with pytest.raises(OptionError, match="parameters of mine are UNROLL, got 'TILE'"):
        outcome((contender, {"TILE": 2}))
    with pytest.raises(OptionError, match="parameters of virtual_cube are none, got 'TILE'"):
        outcome(("virtual_cube", {"TILE": 2}))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("dance",), {}, f"operation must be one of {among(operations.OPERATIONS, 'dance')}"),
        (("plu", ["fast"]), {}, r"variants of plu are all, rank2, blocked.*, got 'fast'"),
        (("plu", []), {}, "variants must name at least one variant, got none"),
        (("plu", None, []), {}, "sizes must hold at least one size, got none"),
        (("plu", None, [4, 0]), {}, "sizes must be at least 1, got 0"),
        (("plu",), {"repeats": 0}, "repeats must be at least 1, got 0"),
        (("plu",), {"baseline": "numpy"}, "baseline of plu must be one of auto, scipy, none, got 'numpy'"),
    ],
)
def test_wrong_options(arguments, options, message):
    with pytest.raises(OptionError, match=f"^compare: {message}$"):
        comparison.compare(*arguments, **options)


def test_a_baseline_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(extra.MissingPackageError, match=r"the baseline: needs scipy; pip install 'glla\[lab\]'"):
        Experiment("plu")
    with pytest.raises(extra.MissingPackageError, match=r"baseline scipy: needs scipy; pip install 'glla\[lab\]'"):
        Experiment("plu", baseline="scipy")


def test_sizes_by_default_suit_the_device(device):
    assert Experiment("matmul").sizes == comparison.SIZES[device.info.software]
    assert Experiment("matmul", None, [9, 3, 9]).sizes == (3, 9)


def test_every_first_run_is_cold(quick, device):
    """The programs of an earlier run are forgotten before: those that are there now are the last variant's."""
    outcome("register_blocked", "virtual_cube", size=4)
    assert device.stats().programs == 3  # pack, virtual cube, unpack


# ---- what the lines say ----------------------------------------------------------------------


CPU = {"baseline": "CPU", "peer": "a call"}


def cpu(seconds):
    return {"peer": Samples((seconds,))}


def synthetic():
    def record(variant, size, seconds):
        base = 1e-9 * size**3
        return Measurement("matmul", variant, size, timed={"ours": Samples((seconds,)), **cpu(base)}, ways=CPU)

    fast = [record("fast", n, 1e-3 + 0.5e-9 * n**3) for n in (100, 200, 300, 400)]
    slow = [record("slow", n, 2e-9 * n**3) for n in (100, 200, 300, 400)]
    lost = [Measurement("matmul", "lost", 100, status="wrong", timed=cpu(1e-3), ways=CPU)]
    return Comparison("matmul", records=fast + slow + lost)


def test_summaries_and_rough_lines():
    """Lines that miss a measurement are called rough."""
    fast, slow, lost, base = synthetic().summaries()
    none = pytest.approx(0, abs=1e-12)
    assert fast.fit == Fit(pytest.approx(1e-3), pytest.approx(0.5e-9), 100, 400, none, none)
    assert fast.speedup == pytest.approx(2.0)
    assert fast.crossover == pytest.approx((1e-3 / 0.5e-9) ** (1 / 3))
    assert slow.speedup == pytest.approx(0.5)
    assert slow.crossover is None
    assert (lost.fit, lost.speedup, lost.crossover) == (None, None, None)
    assert base.variant == "CPU"
    assert base.fit.b == pytest.approx(1e-9)
    report = synthetic()
    fast, *_ = report.summaries()
    assert not fast.rough
    report.records = [
        replace(one, timed={**one.timed, **cpu(1e-9 if one.size == 100 else 1.0)}) for one in report.records
    ]
    fast, *_ = report.summaries()
    assert fast.rough
    assert "rough guess" in show.crossing(replace(fast, speedup=1.0, crossover=200.0), "CPU")


# ---- the CPU beside it -----------------------------------------------------------------------


def test_the_cpu_is_timed_once_for_all_variants_and_again_at_the_end(quick, monkeypatch):
    figures = []

    class Spy(peers.Figure):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            figures.append(self)

    monkeypatch.setattr(bench, "Figure", Spy)
    report = comparison.compare("plu", ["rank2", "blocked"], [6, 9], repeats=1)
    assert [figure.size for figure in figures] == ["n = 6", "n = 9"]
    assert [figure.blocks for figure in figures] == [2, 2]
    assert [one["size"] for one in report.peers] == ["n = 6", "n = 9"]
    assert all(len(one["best"]["blocks"]) == 2 for one in report.peers)
    assert {record.usual for record in report} == {"scipy.linalg.lu_factor(a)"}


def test_a_cpu_that_disagrees_with_itself_is_reported(quick, monkeypatch):
    monkeypatch.setattr(peers, "AGREEMENT", 0.0)  # nothing agrees
    report = comparison.compare("matmul", ["inner_product"], [6], repeats=1)
    trouble, *_ = report.troubles  # another one may be about other processes
    assert trouble.startswith("busy machine? BLAS gemm at n = 6 (")
    assert "times apart, where 0 is allowed" in trouble


def test_other_processes_are_reported(quick, monkeypatch):
    load = {"load_average": {}, "others_cores": {"start": 0.0, "during": 3.0, "end": None}, "of_cores": 4}
    monkeypatch.setattr(machine.Watch, "load", lambda watch: load)
    report = comparison.compare("matmul", ["inner_product"], [6], baseline="none", repeats=1)
    assert report.environment["load"] == load
    assert report.troubles == ["the machine was busy: other processes used 3 of its 4 cores during the run"]


@pytest.mark.parametrize("package", ["numpy", "scipy"])
def test_the_ways_of_one_package_alone(quick, package):
    report = comparison.compare("matmul", ["inner_product"], [6], baseline=package, repeats=1)
    labels = {trial["way"] for one in report.peers for trial in one["trials"]}
    assert labels == {way.label for way in peers.PRODUCT.ways if way.package == package}
    assert report.usual == ("a @ b" if package == "numpy" else "")
