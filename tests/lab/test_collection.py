"""The collection: every variant is in it, with figures that are made; `glla variants`; the README's table."""

import json
import re
from dataclasses import asdict, replace

import pytest

import glla
from glla.cli import look, main
from glla.errors import ShaderError
from glla.lab import collection, fetches
from glla.lab.operations import contenders
from glla.operations import OPERATIONS
from glla.passes import Draft, Storage, parameter_space
from glla.passes.glsl import find as shader

EVERY = [(operation, variant) for operation in collection.names() for variant in OPERATIONS[operation].variants]


def planned_for(operation, variant, n, limits):
    return collection.plan(operation, contenders(operation)[variant], n, limits)


@pytest.fixture(scope="module")
def small():
    return collection.entries(glla.default_device(), n=10)


@pytest.fixture(scope="module")
def planned():
    return collection.entries(n=10)


def test_every_variant_is_there(small):
    assert [(entry.operation, entry.variant) for entry in small] == EVERY


def test_figures_are_those_of_the_plans(device, small):
    for entry in small:
        plan = planned_for(entry.operation, entry.variant, 10, device.limits)
        variant = OPERATIONS[entry.operation].variants[entry.variant]
        assert (entry.passes, entry.flops) == (len(plan.flat.steps), plan.flops)
        assert (entry.summary, entry.source, entry.needs) == (variant.summary, variant.source, variant.needs)
        assert entry.parameters == variant.parameters
        assert (entry.fetches is None) == bool(variant.lacks(device.limits))
        assert entry.fetches is None or entry.fetches > 0
        assert plan.operation.startswith(entry.operation)


@pytest.mark.newer_gl
@pytest.mark.parametrize("n", [1, 35, 70])
def test_fetches_lie_where_the_headers_say(device, n):
    """The headers' bounds hold the count of every variant, and are no wider than it takes."""
    some = EVERY if n < 64 else [one for one in EVERY if one[1] in ("blocked", "panel_broadcast")]  # several blocks
    for operation, name in some:
        report = fetches.estimate(planned_for(operation, name, n, device.limits))
        if report is None:  # its shaders do not say
            continue
        least, most = report
        if OPERATIONS[operation].variants[name].lacks(device.limits):
            continue
        counted = collection.count(device, operation, contenders(operation)[name], n)
        assert least <= counted <= most, (operation, name)
        if n > 30:
            # Groups of a compute shader are large; fragments above a triangle's diagonal fetch nothing, and in a block
            # or strip of a Cholesky factor those of the first columns fetch little. A GPU's strips are wider.
            allowed = 6 if operation in ("cholesky", "cholesky_banded", "solve_pos_banded") else 2.25
            allowed = allowed if device.limits.software else 8
            assert most <= {"compute_tiled": 4}.get(name, allowed) * counted, (operation, name)


def test_most_products_are_known_exactly(planned):
    exact = {entry.variant for entry in planned if entry.fewest_fetches == entry.fetches}
    assert {"inner_product", "virtual_cube", "register_blocked", "rank_one", "multi_pass", "blocked_output"} <= exact
    cells = {entry.variant: collection.cells(entry)[4] for entry in planned if entry.operation == "rref"}
    assert re.fullmatch(r"\d+ to \d+", cells["rank2"])


def test_plans_need_no_device(monkeypatch, capsys):
    """So they take no time: at n = 2048 it took hours."""
    monkeypatch.setattr(look, "opened", None)
    assert main(["variants", "--size", "128"]) == 0
    assert "524288" in capsys.readouterr().out


def test_headers_that_say_nothing_and_that_cannot_be_calculated(shader_files):
    shader_files({"a.frag": "// Nothing.\nuniform sampler2D A;\nlayout(location = 0) out vec4 r;\nvoid main() {}"})
    draft = Draft("silent")
    draft.draw("a", {"A": draft.operand("A", Storage(2, 2))}, draft.slot("R", Storage(2, 2)))
    assert fetches.estimate(draft.plan({"R": "R"})) is None
    text = "// A.\n// Fetches: 1 / (count - 1).\nuniform int count;\nlayout(location = 0) out vec4 r;\nvoid main() {}"
    shader_files({"a.frag": text})
    draft = Draft("wrong")
    draft.draw("a", {}, draft.slot("R", Storage(2, 2)), uniforms={"count": 1})
    with pytest.raises(ShaderError, match=r"1 / \(count - 1\): cannot evaluate .* divides by zero"):
        fetches.estimate(draft.plan({"R": "R"}))


def test_headers_can_be_calculated():
    """Every name in one is a macro, a uniform, or a size: another would count as 0."""
    for path in shader.root().rglob("*.frag"):
        name = path.relative_to(shader.root()).with_suffix("").as_posix()
        report = shader.fetches(name)
        if report is None:
            continue
        resolved = shader.resolve(name)
        text = path.read_text(encoding="utf-8") + "".join(stage.text for stage in resolved.stages.values())
        for word in re.findall(r"\b[A-Za-z_]\w*", " ".join(report)):
            plain = re.sub(r"_(x|y|width|height)$", "", word)
            assert word.startswith("region_") or re.search(rf"\b{plain}\b", text), word


@pytest.mark.newer_gl
def test_fetches_of_a_variant_fall_with_its_blocks(device):
    """What the collection is for: 64 rows and columns, and ever fewer fetches for the same product."""
    found = {entry.variant: entry.fetches for entry in collection.entries(device, ["matmul"], 64)}
    order = ["single_component", "packed_4x1", "inner_product", "register_blocked", "panel_broadcast", "compute_tiled"]
    counts = [found[variant] for variant in order if found[variant] is not None]
    assert counts == sorted(counts, reverse=True) and len(set(counts)) == len(counts)


def test_text(small):
    lines = collection.text(small, "a GPU").splitlines()
    assert lines[0] == "n = 10, for a GPU"
    assert lines[1].split() == list(collection.HEAD)
    assert len(lines) == 2 + 2 * len(EVERY) + 1
    lacking = replace(small[0], fetches=None, needs=("OpenGL 9.9",))
    assert collection.cells(lacking)[-3:] == ("-", str(lacking.flops), "OpenGL 9.9")
    assert not any(line != line.rstrip() for line in lines)
    assert (
        "  matmul multi_pass: passes over slices of the inner dimension that the texture cache holds; BLOCK = 64,"
        in lines[2 + len(EVERY) + 1 + EVERY.index(("matmul", "multi_pass"))]
    )


def test_the_command_prints_the_table(capsys):
    assert main(["variants", "plu", "rref", "--size", "6"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("n = 6, for OpenGL 3.3 on a GPU")
    assert "Brodtkorb 2007, section 4.1.3" in output and "rref " in output and "matmul " not in output


def test_the_command_prints_json(device, capsys):
    for option, counting in (([], None), (["--count"], device)):
        assert main(["variants", "matmul", "--size", "7", "--json", *option]) == 0
        expected = [asdict(entry) for entry in collection.entries(counting, ["matmul"], 7)]
        assert json.loads(capsys.readouterr().out)["variants"] == json.loads(json.dumps(expected))


def test_parameters_are_declared_with_values():
    for operation, variant in EVERY:
        declared = OPERATIONS[operation].variants[variant]
        assert all(values and len(set(values)) == len(values) for values in declared.parameters.values())
        assert len(list(parameter_space(declared))) >= max([1, *map(len, declared.parameters.values())])
