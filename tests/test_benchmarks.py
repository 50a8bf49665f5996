"""`python -m benchmarks`: writes what it promises, and never times a wrong result."""

import builtins
import json

import numpy as np
import pytest

import glla
from benchmarks import __main__ as command
from benchmarks import cases, measure, report
from benchmarks.cases import OPERATIONS, Case
from glla import Device, testing
from glla.kernels import matmul, plu, rref
from glla.lab import ceilings
from glla.passes import Limits, Variant

pytest.importorskip("scipy")

TIMED = {
    "resident", "end_to_end", "cold_start", "peer", "gflops", "fraction_of_fma", "ratio_to_peer",
    "ratio_to_peer_end_to_end", "ratio_to_thesis",
}  # fmt: skip
UNTIMED = {"operation", "variant", "n", "flops", "ok", "verdict", "passes"}
KEYS = {
    "date", "commit", "renderer", "driver", "backend", "software", "cores", "versions", "environment", "quick", "sizes",
    "seconds", "ceilings", "cases",
}  # fmt: skip
FEW = {matmul: ("inner_product", "register_blocked"), plu: ("rank2",), rref: ("rank2",)}


@pytest.fixture(autouse=True)
def few_variants(monkeypatch):
    """Leave out variants whose texts take a software rasteriser seconds to compile; their own tests run them."""
    for kernel, names in FEW.items():
        monkeypatch.setattr(kernel, "VARIANTS", {name: kernel.VARIANTS[name] for name in names})


@pytest.fixture(autouse=True, scope="module")
def known_ceilings():
    """Measure no ceilings: tests/lab does."""
    with pytest.MonkeyPatch.context() as patch:
        told = {
            "renderer": "it", "driver": "1", "cores": 2, "seconds": 0.0, "quick": True,
            "ceilings": {"fragment_fma": {"value": 10.0, "unit": "GFLOP/s", "what": "all of it", "spread": 0.0}},
        }  # fmt: skip
        patch.setattr(ceilings, "report", lambda device, quick: told)
        yield


def run(folder, *arguments):
    """Run quickly at tiny sizes: exit status, and what the file says."""
    status = command.main(["--quick", "--output", str(folder), "--sizes", "6", "16", *arguments])
    (path,) = folder.rglob("*.json")
    assert path.parent.name == report.slug(glla.default_device().info.renderer)
    return status, json.loads(path.read_text(encoding="utf-8"))


def test_all_operations(tmp_path, capsys):
    status, told = run(tmp_path)
    output, progress = capsys.readouterr()
    assert status == 0
    assert set(told) == KEYS
    assert told["renderer"] == glla.default_device().info.renderer
    assert told["sizes"] == [6, 16]
    assert set(told["versions"]) == {"glla", "python", "numpy", "scipy", "moderngl", "glfw"}
    seen = {(one["operation"], one["variant"], one["n"]) for one in told["cases"]}
    wanted = {
        *(("matmul", variant, n) for variant in FEW[matmul] for n in (6, 16)),
        *((name, "rank2", n) for name in ("plu", "rref") for n in (6, 16)),
        *((name, "", n) for name in ("solve", "inv") for n in (6, 16)),
        ("small", "", 8), ("small", "", 16),
    }  # fmt: skip
    assert seen == wanted
    for one in told["cases"]:
        check_record(one)
    assert "every result was verified" in output
    assert len(progress.splitlines()) == 1 + len(seen)


def check_record(one):
    assert set(one) == UNTIMED | TIMED
    assert one["ok"] is True
    assert one["verdict"]["error"] <= one["verdict"]["bound"]
    assert one["passes"] > 0
    resident = one["resident"]
    assert (resident is None) is (one["operation"] == "small")
    seconds = (resident or one["end_to_end"])["seconds"]
    assert 0 < one["end_to_end"]["fastest"] <= one["end_to_end"]["seconds"] <= one["end_to_end"]["slowest"]
    assert one["cold_start"] > 0
    assert one["gflops"] == pytest.approx(one["flops"] / seconds / 1e9)
    assert one["fraction_of_fma"] == pytest.approx(one["gflops"] / 10)
    assert one["ratio_to_peer"] == pytest.approx(one["peer"]["seconds"] / seconds)
    thesis = OPERATIONS[one["operation"]].thesis
    assert (one["ratio_to_thesis"] is None) is (thesis == "")
    if thesis and one["variant"] == thesis:
        assert one["ratio_to_thesis"] == 1


@pytest.mark.parametrize("operation", ["matmul", "plu", "rref", "inv"])
def test_a_wrong_result_is_not_timed(tmp_path, capsys, monkeypatch, operation):
    right = Device.download

    def wrong(device, texture, shape):
        result = right(device, texture, shape)
        result[-1, -1] += 1 + abs(result[-1, -1])
        return result

    monkeypatch.setattr(Device, "download", wrong)
    monkeypatch.setattr(measure.Bench, "_time", None)
    status, told = run(tmp_path, "--operations", operation)
    assert status == 1
    assert told["cases"]
    for one in told["cases"]:
        assert set(one) == UNTIMED
        assert one["ok"] is False
    output = capsys.readouterr().out
    assert f"{len(told['cases'])} of {len(told['cases'])} results FAILED" in output
    assert f"FAILED {operation}[" in output


def test_a_case_that_cannot_run_is_a_failure(tmp_path, monkeypatch):
    """The others are still run."""
    right = plu.plan.__wrapped__

    def broken(shape, **options):
        if shape == (6, 6):
            raise glla.errors.PlanError("plu: broken")
        return right(shape, **options)

    monkeypatch.setattr(plu, "plan", broken)
    status, told = run(tmp_path, "--operations", "plu")
    assert status == 1
    first, second = told["cases"]
    assert first["ok"] is False
    assert first["verdict"]["detail"] == "PlanError: plu: broken"
    assert set(first) == UNTIMED
    check_record(second)


@pytest.mark.parametrize("name", OPERATIONS)
def test_judges_refuse_an_altered_result(device, rng, name):
    operation = OPERATIONS[name]
    arrays = operation.operands(12, rng)
    variant = operation.variants[0]
    result = operation.end_to_end(device, arrays, variant)
    assert operation.judge(arrays, result).ok
    first = np.array(result[0] if isinstance(result, tuple) else result)
    first[-1, -1] += 1 + abs(first[-1, -1])
    altered = (first, *result[1:]) if isinstance(result, tuple) else first
    assert not operation.judge(arrays, altered).ok


def test_the_judge_of_rref_agrees_with_testing(device, rng):
    arrays = OPERATIONS["rref"].operands(9, rng)
    result = OPERATIONS["rref"].end_to_end(device, arrays, "rank2")
    theirs = testing.judge_rref(arrays[0], result, tuple(range(9)))
    assert OPERATIONS["rref"].judge(arrays, result).error == theirs.error
    assert not OPERATIONS["rref"].judge(arrays, np.full_like(result, np.nan)).ok


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
    monkeypatch.setattr(matmul, "VARIANTS", table)

    def variants(*limits):
        return [case.variant for case in cases.select(["matmul"], [64], False, *limits)]

    assert variants(Limits(opengl=430)) == ["plain", "computing"]
    assert variants() == variants(Limits(opengl=410)) == ["plain"]


def test_every_line_names_an_operation():
    assert {line.operation for line in cases.CASES} == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_thesis_comes_first(name):
    """Its time must be there when the others are compared with it."""
    assert OPERATIONS[name].variants[0] == OPERATIONS[name].thesis


@pytest.mark.parametrize("arguments", [["--sizes", "0"], ["--sizes", "x"], ["--operations", "matmul,paint"]])
def test_wrong_usage(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert "must be" in capsys.readouterr().err


# ---- report ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("renderer", "folder"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe-llvm-15-0-6-256-bits"),
        ("NVIDIA H200/PCIe/SSE2", "nvidia-h200-pcie-sse2"),
    ],
)
def test_slug(renderer, folder):
    assert report.slug(renderer) == folder


def test_without_rich_the_table_is_plain(capsys, monkeypatch):
    real = builtins.__import__

    def no_rich(name, *rest):
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *rest)

    failed = {"operation": "plu", "variant": "rank2", "n": 8, **measure.failure("no")}
    monkeypatch.setattr(builtins, "__import__", no_rich)
    report.show([failed])
    head, row, *_, last = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["operation", "variant", "n", "passes"]
    assert row.split()[:3] == ["plu", "rank2", "8"]
    assert row.endswith("FAILED")
    assert last == "FAILED plu[rank2] n = 8: no"


def test_commit_without_git(monkeypatch):
    def no_git(*arguments, **options):
        raise FileNotFoundError("git")

    monkeypatch.setattr(report.subprocess, "run", no_git)
    assert report.commit() == "unknown"


@pytest.mark.parametrize(("changes", "name"), [("", "abc1234"), (" M glla/passes.py", "abc1234+")])
def test_commit(monkeypatch, changes, name):
    monkeypatch.setattr(report, "_git", lambda *arguments: "abc1234" if arguments[0] == "rev-parse" else changes)
    assert report.commit() == name


def test_the_readme_shows_the_newest_results():
    from benchmarks import readme

    text = readme.README.read_text(encoding="utf-8")
    assert readme.rewritten(text, readme.newest(readme.RESULTS)) == text
