"""Every record of an operation is complete: what it names is there, and its example comes out right.

`passes.txt` has the passes of all plans, and the variants that are chosen; `python -m tests.operations.test_records`
writes it anew, or the lines of one operation, whose name follows.
"""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import glla
from glla.errors import OptionError, ShapeError, among
from glla.operations import OPERATIONS, Operation
from glla.operations.orthogonal.qr import MODES
from glla.passes import COMPUTE, PLAIN, Form, Limits, Plan, Storage, forms_of, resident
from glla.passes.glsl import find
from glla.testing import JUDGES
from tests.matrix import SOFTWARE, verdict

ORDERS = [1, 2, 5, 33]
PLACES = {"GPU": Limits(opengl=COMPUTE), "software": Limits(opengl=COMPUTE, software=True, buffer_texels=1 << 16)}
TABLE = Path(__file__).with_name("passes.txt")

every_record = pytest.mark.parametrize("record", OPERATIONS.values(), ids=OPERATIONS)
with_variants = pytest.mark.parametrize(  # of its own: a solver borrows those of its factors, which choose
    "record", [one for one in OPERATIONS.values() if one.choose is not Operation.choose], ids=lambda record: record.name
)


def called(record, operands):
    """What the public function gives."""
    return getattr(glla, record.name)(*record.function.arguments(*operands))


@every_record
def test_it_is_said_what_it_is(record):
    assert record.formula, "give the record a formula"
    assert record.function.parts in (1, len(record.results)), "parts of the record: 1, or as many as there are results"
    for name, variant in record.variants.items():
        assert variant.summary and variant.source, f"VARIANTS: give {name!r} a summary and a source"
    assert OPERATIONS[record.name] is record, f"two records have the name {record.name!r}"


@every_record
def test_there_is_a_judge_of_it(record):
    assert record.name in JUDGES, f'glla/testing/judges.py: add "{record.name}": Judge(...) to JUDGES'


@every_record
def test_the_public_function_takes_its_operands(record):
    assert record.function.public == hasattr(glla, record.name), (
        f"glla has no function {record.name}: decorate it with @public() in a module of glla/linalg, "
        "run `python -m glla.generate`, or give the record public=False"
        if record.function.public
        else f"glla.{record.name} is a function: leave public=False out of the record"
    )
    if record.function.public:
        parameters = inspect.signature(getattr(glla, record.name)).parameters.values()
        taken = [one for one in parameters if one.kind is not one.KEYWORD_ONLY and one.default is one.empty]
        assert len(taken) == len(record.operands)


@every_record
def test_the_example_comes_out_right(record, rng):
    for n in ORDERS:
        operands = record.example(n, rng)
        assert len(operands) == len(record.operands)
        assert all(array.dtype == np.float32 and array.ndim == 2 for array in operands)
        record.check(forms_of(operands))
        if record.function.public:
            found = verdict(record.name, operands, called(record, operands))
            assert found.ok, found


@every_record
@pytest.mark.parametrize("resident", [False, True], ids=["host", "device"])
def test_the_third_of_equal_calls_makes_no_texture(record, resident, monkeypatch, rng):
    """Also where the pool keeps no more than what recent work took, as after large matrices."""
    if not record.function.public:
        pytest.skip("has no public function")
    operands = record.example(256, rng)
    kept = [glla.asarray(one) if resident else one for one in operands]
    pool = glla.default_device()._pool
    pool.free()
    monkeypatch.setattr("glla.gl.pool.MOST_IDLE_BYTES", 0)
    for name in ("_recent", "_recent_before"):
        monkeypatch.setattr(pool, name, 0)
    made = []
    for _ in range(3):
        called(record, kept)
        made.append((pool._numbers, sorted(pool._framebuffers)))
    assert made[2] == made[1]
    if resident and record.name == "qr":
        most = 6.1 if glla.default_device().limits.software else 7.6  # 6 of a larger one, of which a panel is less
        assert pool.idle_bytes <= most * operands[0].nbytes


# lu_factor, qr and svd take any stack; what takes one matrix of any shape refuses a stack.
REFUSED = {
    name: [(3, 4), (5, 6)] for name in OPERATIONS if name not in ("lu_factor", "qr", "cholesky_banded", "svd")
} | dict.fromkeys(("rref", "plu", "syrk"), ((2, 3, 3),))


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
        assert record.device_plan(forms, PLAIN, variant=variant).flops == small


# -- the table of passes ----------------------------------------------------------------------------------------------


def shapes_of(record, n):
    """Shapes of the operands of its example."""
    return [array.shape for array in record.example(n, np.random.default_rng(n))]


def described(plan_of: Callable[[int], Plan], orders: tuple[int, ...], one: int) -> str:
    """Passes of each order, and of one how often each shader is drawn; every plan keeps the rules."""
    made = {n: plan_of(n) for n in orders}
    for plan in made.values():
        plan.check(PLACES["software"])
    whole = plan_of(one)
    drawn = Counter(step.shader for step in whole.flat.steps if hasattr(step, "shader"))
    drawn_in = ", ".join(f"{count} {shader}" for shader, count in drawn.items())
    passes = " ".join(f"{n}:{plan.cost.passes}" for n, plan in made.items())
    return f"{passes}; {one}: {whole.flops} flops, {whole.cost.texels} texels: {drawn_in}"


def chosen(record, limits) -> str:
    """Variants, and the order from which each of them is chosen."""
    shapes = shapes_of(record, 8)

    def choice(n):
        forms = resident(*(tuple(n if side == 8 else side for side in shape) for shape in shapes))
        variant, parameters = record.choose(forms, limits)
        return variant + "".join(f" {name}={value}" for name, value in parameters)

    return ", ".join(f"{next(found)} {what}" for what, found in groupby(range(1, 4100), choice))


def table(record: Operation) -> Iterator[str]:
    """Lines of plans, with passes by order and the shaders of one order, of stacks, and of variants that are chosen."""
    name = record.name
    for variant in record.variants or (None,):
        for options in options_of(record, variant):
            title = " ".join([name, *filter(None, [variant]), *options.values()])
            yield from on_both(title, partial(of_core, record, variant, options))
    if record.choose is not Operation.choose:
        yield from on_both(f"{name}, chosen", partial(chosen, record))
    for mode in () if record.batch is None else ("", *record.batch.modes):
        yield from on_both(f"{name} {mode} of a stack".replace("  ", " "), partial(of_stack, record, mode))


def tables() -> dict[str, list[str]]:
    """Lines of the file, by operations."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {name: list(found) for name, found in groupby(lines, lambda line: re.split("[ ,:]", line)[0])}


def on_both(title: str, line: Callable[[Limits], str]) -> Iterator[str]:
    """One line where a GPU and a software rasteriser have the same, or else two."""
    made = {place: line(limits) for place, limits in PLACES.items()}
    same = len({*made.values()}) == 1
    yield from dict.fromkeys(f"{title}{'' if same else f', {place}'}: {text}" for place, text in made.items())


def options_of(record: Operation, variant: str | None) -> list[dict[str, str]]:
    """What a plan may be asked for: pivoting strategies, or modes."""
    if record.name == "qr":
        return [{"mode": mode} for mode in MODES[:: 2 if variant == "tsqr" else 1]]
    return [{}] if record.pivotings is None else [{"pivoting": one} for one in record.pivotings(variant)]


def of_core(record: Operation, variant: str | None, options: dict[str, str], limits: Limits) -> str:
    return described(
        lambda n: record.device_plan(resident(*shapes_of(record, n)), limits, variant=variant, **options),
        (1, 2, 5, 16, 17, 64, 130, 300),
        70,
    )


def of_stack(record: Operation, mode: str, limits: Limits) -> str:
    batch = record.batch_of({"mode": mode})
    return described(
        lambda n: batch.records_plan(tuple(Form((7, *shape)) for shape in shapes_of(record, n)), limits),
        (1, 3, 4, 5, 8, 9, 17, 33),
        20,
    )


@every_record
def test_passes_are_those_of_the_table(record):
    made = list(table(record))
    assert tables().get(record.name) == made, (
        f"if this change of passes is meant, run `python -m tests.operations.test_records {record.name}`"
    )


def test_the_table_has_no_other_operations():
    assert list(tables()) == list(OPERATIONS), "run `python -m tests.operations.test_records`"


@every_record
def test_the_cpus_counterpart_can_be_imported(record):
    if record.function.host:
        module, _, function = record.function.host.partition(":")
        assert callable(getattr(import_module(module), function))


@every_record
def test_what_comes_after_its_plans_is_settled(record, rng):
    """What has plans that may come after has what decides between them."""
    forms = forms_of(record.example(8, rng))
    calls = record.call_plan(forms, PLAIN)
    together = (
        ()
        if record.batch is None
        else record.batch.records_plan(tuple(replace(f, shape=(2, *f.shape)) for f in forms), PLAIN).after
    )
    assert (record.settle is not None) == bool((*calls.after, *together))
    stages = [then for then in together if then.plan is not None]
    refused = record.name == "inv3"  # matrices that its filter rejects
    assert len(stages) == (record.batch is not None and record.batch.filter.rejected is not None and not refused)


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


@every_record
def test_unknown_parameters_are_refused(record):
    """Those that a variant does not have, and values that its own must not have."""
    forms = resident(*shapes_of(record, 40))
    for name, variant in record.variants.items():
        with pytest.raises(OptionError, match=r"has no parameter 'SPEED'; its parameters are: "):
            record.device_plan(forms, PLAIN, variant=name, parameters=(("SPEED", 11),))
        for parameter in variant.parameters:
            with pytest.raises(OptionError, match=rf"{parameter} must be one of .*, got 12345$"):
                record.device_plan(forms, PLAIN, variant=name, parameters=((parameter, 12345),))


@with_variants
def test_an_unknown_variant_is_refused(record, rng):
    forms = resident(*(array.shape for array in record.example(4, rng)))
    message = f"variant must be one of {among(record.variants, 'none of them')}$"
    with pytest.raises(OptionError, match=message):
        record.device_plan(forms, PLAIN, variant="none of them")
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
        declared = find.resolve(step.shader, step.defines)
        assert set(interface.needed) <= declared.samplers | declared.uniforms


if __name__ == "__main__":
    made = tables() | {name: list(table(OPERATIONS[name])) for name in sys.argv[1:] or OPERATIONS}
    TABLE.write_text("".join(f"{line}\n" for name in OPERATIONS for line in made[name]), encoding="utf-8")
