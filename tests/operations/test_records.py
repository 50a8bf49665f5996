"""Every record of an operation is complete: what it names is there, and its example comes out right."""

import inspect
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import glla
from glla.errors import OptionError, ShapeError
from glla.gl.recorder import unpacked
from glla.operations import OPERATIONS, Operation
from glla.passes import PLAIN, Limits, Storage, forms_of, resident
from glla.passes.glsl import find as shaders
from glla.testing import JUDGES

pytestmark = pytest.mark.newer_gl

SOFTWARE = Limits(software=True)
ORDERS = [1, 2, 5, 33]

every_record = pytest.mark.parametrize("record", OPERATIONS.values(), ids=OPERATIONS)
every_order = pytest.mark.parametrize("n", ORDERS)
with_variants = pytest.mark.parametrize(  # of its own: a solver borrows those of its factors, which choose
    "record", [one for one in OPERATIONS.values() if one.choose is not Operation.choose], ids=lambda record: record.name
)


def called(record, operands):
    """What the public function gives."""
    return getattr(glla, record.name)(*record.arguments(*operands))


def judged(record, operands):
    """Inputs, as the judge takes them: a pair of factors is two."""
    arguments = record.arguments(*operands)
    return tuple(part for one in arguments for part in (one if isinstance(one, tuple) else (one,)))


@every_record
def test_it_is_said_what_it_is(record):
    assert record.formula
    assert record.name in JUDGES, "glla.testing.judges wants a judge of it"
    assert record.parts in (1, len(record.results))
    assert all(variant.summary and variant.source for variant in record.variants.values())
    assert OPERATIONS[record.name] is record


@every_record
def test_the_public_function_takes_its_operands(record):
    assert record.public == hasattr(glla, record.name)
    if record.public:
        parameters = inspect.signature(getattr(glla, record.name)).parameters.values()
        taken = [one for one in parameters if one.kind is not one.KEYWORD_ONLY and one.default is one.empty]
        assert len(taken) == len(record.operands)


@every_record
@every_order
def test_the_example_comes_out_right(record, n, rng):
    operands = record.example(n, rng)
    assert len(operands) == len(record.operands)
    assert all(array.dtype == np.float32 and array.ndim == 2 for array in operands)
    record.check(forms_of(operands))
    if record.public:
        verdict = JUDGES[record.name].verdict(judged(record, operands), called(record, operands))
        assert verdict.ok, verdict


# lu_factor and qr take any stack; what takes one matrix of any shape refuses a stack.
REFUSED = {
    name: [(3, 4), (5, 6)] for name in OPERATIONS if name not in ("lu_factor", "qr", "cholesky_banded")
} | dict.fromkeys(("rref", "plu", "syrk"), ((2, 3, 3),))


@pytest.mark.parametrize(
    ("name", "variant"), [(name, variant) for name, one in OPERATIONS.items() for variant in (None, *one.variants)]
)
@every_order
def test_every_variant_of_the_core_comes_out_right(device, name, variant, n, rng):
    """What variants are compared by, judged as the public function is."""
    record = OPERATIONS[name]
    if record.values is None:
        pytest.skip("its value takes more than its core")
    lacks = variant and record.variants[variant].lacks(device.limits)
    if lacks:
        pytest.skip(lacks)
    operands = record.example(n, rng)
    forms = resident(*(array.shape for array in operands))
    plan = record.core(forms, SOFTWARE, variant=variant)
    given = {operand.lower(): device.upload(array) for operand, array in zip(record.operands, operands, strict=True)}
    laid = record.aside(forms) if record.textures is None else record.textures(plan, SOFTWARE, operands)
    given |= {one.lower(): device.write_texels(texels) for one, texels in laid.items()}
    results = device.run(plan, **{operand: given[operand.lower()] for operand in plan.operands})
    arrays = {one: unpacked(device.read(texture), plan.slots[plan.results[one]]) for one, texture in results.items()}
    verdict = JUDGES[name].verdict(judged(record, operands), record.values(forms, arrays))
    assert verdict.ok, verdict


@pytest.mark.parametrize("name", REFUSED)
def test_operands_that_do_not_fit_together_are_refused(name):
    record = OPERATIONS[name]
    forms = forms_of(REFUSED[name][: len(record.operands)])
    with pytest.raises(ShapeError, match=rf"^{name}: .*\b3\b"):
        record.check(forms)


@every_record
def test_flops_grow_with_the_operands(record, rng):
    small, large = (record.flops(forms_of(record.example(n, rng))) for n in (8, 64))
    assert 0 < small < large
    for variant in record.variants:
        forms = resident(*(array.shape for array in record.example(8, rng)))
        assert record.core(forms, PLAIN, variant=variant).flops == small


@every_record
def test_the_cpus_counterpart_can_be_imported(record):
    if record.host:
        module, _, function = record.host.partition(":")
        assert callable(getattr(import_module(module), function))


@every_record
def test_what_comes_after_its_plans_is_settled(record, rng):
    """What has plans that may come after has what decides between them."""
    forms = forms_of(record.example(8, rng))
    calls = record.whole(forms, PLAIN)
    together = (
        ()
        if record.batch is None
        else record.batch.plan(tuple(replace(f, shape=(2, *f.shape)) for f in forms), PLAIN).after
    )
    assert (record.settle is not None) == bool(calls.after)
    stages = [then for then in together if then.plan is not None]
    assert len(stages) == (record.batch is not None and record.batch.doubtful is not None)


@with_variants
@pytest.mark.parametrize("limits", [PLAIN, SOFTWARE], ids=["GPU", "software"])
def test_what_is_chosen_is_there(record, limits, rng):
    assert record.thesis in record.variants
    for n in (1, 8, 100, 1000, 5000):
        shapes = [array.shape for array in record.example(8, rng)]
        scaled = resident(*(tuple(n if side == 8 else side for side in shape) for shape in shapes))
        variant, parameters = record.choose(scaled, limits)
        assert not record.variants[variant].lacks(limits)
        record.variants[variant].settle(variant, parameters, limits)


@with_variants
def test_an_unknown_variant_is_refused(record, rng):
    forms = resident(*(array.shape for array in record.example(4, rng)))
    message = f"variant must be one of {', '.join(record.variants)}, got 'none of them'$"
    with pytest.raises(OptionError, match=message):
        record.core(forms, PLAIN, variant="none of them")
    with pytest.raises(OptionError, match=message):
        record.known("none of them")
    record.known(None)


@pytest.mark.parametrize(
    "record", [one for one in OPERATIONS.values() if one.interface is not None], ids=lambda record: record.name
)
def test_the_shader_that_may_be_replaced_has_what_is_needed(record, rng):
    interface = record.interface
    assert set(interface.needed) <= set(interface.given)
    plan = interface.plan(resident(*(array.shape for array in record.example(8, rng))), PLAIN, {})
    passes = [step for step in plan.steps if getattr(step, "shader", "") == interface.stands_for]
    assert passes, f"no pass of {plan.operation} draws {interface.stands_for}"
    assert isinstance(plan.slots[plan.results[interface.result]], Storage)
    for step in passes:
        declared = shaders.resolve(step.shader, step.defines)
        assert set(interface.needed) <= declared.samplers | declared.uniforms
