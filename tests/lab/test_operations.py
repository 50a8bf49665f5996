"""The table of operations: every record has what the lab asks for, every contender is right, every judge can fail."""

import numpy as np
import pytest

from glla.errors import OptionError
from glla.lab import operations, peers
from glla.lab.operations import Contender, contenders, find, inputs, prepare
from glla.operations import OPERATIONS
from glla.operations.product import matmul
from glla.passes import Limits, forms_of, resident
from glla.testing import JUDGES

NINE = resident((9, 9), (9, 9))
CASES = [(name, contender) for name in OPERATIONS for contender in contenders(name).values()]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_record_has_what_the_lab_asks_for(name):
    """A judge, an example, a peer on the CPU, a plan, and the thesis's variant first."""
    operation = OPERATIONS[name]
    assert set(JUDGES) == set(OPERATIONS)
    assert peers.peer_of(operation) is not None, f"add a peer of {name} to glla.lab.peers.BEST, or `host` to its record"
    arrays = inputs(operation, 5)
    forms = forms_of(arrays)
    operation.check(forms)
    assert len(arrays) == len(operation.operands)
    assert operation.flops(forms) > 0
    for contender in contenders(name).values():
        plan = contender.build(operations.forms(arrays), Limits(opengl=430), ())
        plan.check(Limits(opengl=430))
        assert operation.trial.values is None or len(plan.operands) >= len(arrays)
    assert operation.thesis == "" or next(iter(contenders(name))) == operation.thesis


@pytest.mark.parametrize(("name", "contender"), CASES, ids=lambda one: getattr(one, "name", one))
def test_contenders_are_right(device, name, contender):
    operation, judge = OPERATIONS[name], JUDGES[name]
    if lacking := contender.lacks(device.limits):
        pytest.skip(lacking)
    for n in (1, 2, 19):
        arrays = inputs(operation, n, seed=3)
        copies = [array.copy() for array in arrays]
        job = prepare(device, operation, contender, arrays)
        for result in (job.fetch(job.run()), job.end_to_end()):
            verdict = judge.verdict(arrays, result)
            assert verdict.ok, str(verdict)
            assert judge.deviation(arrays, result) < 0.1
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", OPERATIONS)
def test_inputs_depend_on_size_and_seed_only(name):
    operation = OPERATIONS[name]
    for one, other in zip(inputs(operation, 5, 1), inputs(operation, 5, 1), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.float32
        assert one.flags.c_contiguous
    assert not np.array_equal(inputs(operation, 5, 1)[0], inputs(operation, 5, 2)[0])


@pytest.mark.parametrize("name", [name for name in OPERATIONS if OPERATIONS[name].variants])
def test_every_variant_is_a_contender(name, monkeypatch):
    listed, variants = contenders(name), OPERATIONS[name].variants
    assert set(variants) == {one.name for one in listed.values() if not one.special}
    for variant, about in variants.items():
        assert (listed[variant].summary, listed[variant].needs) == (about.summary, about.needs)
    monkeypatch.setitem(variants, "new", about)
    assert "new" in contenders(name)


def test_shaders_of_a_plan_and_parameters_of_a_builder(device):
    names = [name for name, _ in operations.shaders(matmul.plan(NINE, variant="register_blocked"))]
    assert names == ["matmul/register_blocked", "matmul/interleave"]
    ((_, defines),) = operations.shaders(matmul.plan(NINE, variant="inner_product"))
    assert defines == {"CONTINUE": 0}
    seen = []

    def build(forms, limits, parameters):
        seen.append((forms, limits, parameters))
        return matmul.plan(forms)

    operation = find("matmul")
    prepare(device, operation, Contender("", "", name="x", build=build), inputs(operation, 4), (("UNROLL", 2),))
    assert seen == [(resident((4, 4), (4, 4)), device.limits, (("UNROLL", 2),))]


def test_add_and_remove(add):
    add("short_sum")
    assert list(contenders("matmul"))[-1] == "short_sum"
    operations.remove("matmul", "short_sum")
    assert "short_sum" not in contenders("matmul")
    for name, contender, message in (
        ("matmul", "virtual_cube", "matmul: 'virtual_cube' is a variant of glla's; choose another name"),
        ("eig", "x", r"operation must be one of cho_factor, .*, got 'eig'"),
    ):
        with pytest.raises(OptionError, match=message):
            operations.add(name, Contender("", "", name=contender, build=matmul.plan))
