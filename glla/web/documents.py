"""A plan as a document: all that a page needs to run its passes, as plain data.

    {"format": 1, "glla": "0.1.0", "operation": "rref", "size": 8, "variant": "rank2", "seed": 2007,
     "head":     ["#version 300 es", ...]              # lines that every text begins with
     "plans":    [{"name": "rref[rank2, harmonic]", "stage": "",
                   "slots":    {"A": {"h": 4, "w": 5, "c": 4, "shape": [8, 9]}, "panel": {"bytes": 384},
                                "LU of the host": {"host": [8, 8]}, ...},
                   "operands": ["A", "tolerance"], "results": {"R": "R_pong", ...},
                   "shared":   {"factor.LU": "LU_pong", ...},   # slots that are slots of the first plan
                   "also":     {"LU": "LU_pong", ...},          # of the first plan: what are results of a call, too
                   "draws":    [{"p": 0, "in": {"A": "A"}, "out": ["R_ping"], "u": {"shape": [8, 9]}, "add": 1}, ...],
                   "steps":    [{"d": 0, "r": [0, 0, 5, 4], "u": {"k": 0}, "s": 3, "b": {"Panel": ["panel", 0, 24]}},
                                {"copy": ["from", "to"]},
                                {"host": "what it does, in words", "in": ["A of the host"], "out": ["R"]},
                                {"host": "what it does", "set": "slot", "shape": [8, 4], "data": "..."}, ...],
                   "scopes":   [["step", 0, 0, 3], ...],        # name, turn, first step, end
                   "loops":    [{"first": 0, "end": 7, "carry": {"new": "v"}, "until": "done", "most": 20}],
                   "cost":     {"passes": 12, "flops": 1000, "texels": 99, "bytes": 1600}}],
     "programs": [{"name": "rref/eliminate", "v": 0, "f": 1, "defines": {}, "summary": "...", "cost": "...",
                   "outputs": {"pivots": "(p, q, rank before, rank after)"}}],
     "texts":    [["#define K 1", ["lib/packed.glsl", 1, 20, 25, 3], ...]],  # lines that stand in no file; a file's
                                                         # lines from 1 on, 20 of them, from 25 on, 3
     "sources":  {"rref/eliminate.frag": "...", ...},    # of what is included the lines that stand in texts
     "needs":    {"targets": 2, "texture": 5, "block": 0, "blend": false, "transfer": false, "units": 3},
     "idea": "...", "source": "...",                     # of the variant
     "operands": {"A": {"shape": [8, 9], "data": "<base64 of float32>"}}, "aside": {"tolerance": {"data": "..."}},
     "known":    {},                                     # operands that only judges read, since they lie otherwise
     "picture": {"R": {..., "of": [8, 9]}},              # the result, for a browser that cannot run the passes
     "judge":    "rref", "after": [{"stage": "", "when": "...", "then": "..."}],      # all that a call may do
     "thresholds": {"NEAR_ONE": 40, ...}}                # of results that stand, by the names of glla/operations

With ``points`` in ``draws`` that many points are drawn instead of a triangle. A step draws as its entry in ``draws``
says; ``r`` is its region, by default the whole target; its uniforms come on top of those of the entry. Of large
operands there are ``halves`` instead of ``data``: the upper 16 bits of each number, the others being zero. The plan
with the stage "" is that of a call; where it is not the first, it is what a call does beside the passes of the first.
What it gives decides which plan comes next. Of a loop each turn runs its steps once; then what a slot of ``carry``
holds is what the operand behind it holds in the next turn. Types of uniforms are asked of the compiled program.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from glla._version import __version__
from glla.errors import LimitError, OptionError, one_of
from glla.lab import custom, operations
from glla.operations import OPERATIONS, Operation
from glla.operations.acceptance import THRESHOLDS
from glla.operations.bands.banded import DOMINANT, LARGEST_RATIO, LEAST_LEFT, MOST_ERROR, NORMAL
from glla.operations.host.bands import NOISE, SINGULAR_RATIO
from glla.operations.record import Float32
from glla.operations.systems.gauss_jordan import EXACTLY
from glla.operations.systems.rcond import MOST_STEPS
from glla.passes import Call, Dispatch, Forms, Host, Limits, Loop, Pass, Plan, Region, Transfer, Wrapped
from glla.passes import stages as stages_of
from glla.passes.glsl import find as shaders
from glla.passes.glsl.es import GENERATED, HEAD, Part, Span, translated
from glla.passes.storage import Buffer, HostArray, Slot, Storage, texture
from glla.testing import RESIDUAL_LIMIT
from glla.web import pictures, scripts, stages

Document = dict[str, Any]

FORMAT = 1
"""Version of the document's format; raised when an older reader would misread it."""

LIMITS = Limits(texture_size=2048, draw_buffers=4, software=True)
"""What every browser with WebGL 2 has. As for software: texts without unrolled loops, which browsers compile slowly."""

WIDE = replace(LIMITS, draw_buffers=8)
"""What most browsers have; a page says where one has less."""

CALLS = ("rcond",)
"""Operations whose page shows the plan of a call: their record's `core` is only what can be timed."""

FIGURES: Mapping[str, Mapping[str, Any]] = {"inv3": {"diagnostics": True}}
"""Options with which the passes of an operation give the diagnostics by which a call decides."""

WRITTEN_OUT: Mapping[str, tuple[int, tuple[tuple[str, int], ...]]] = {"jacobi": (8, (("SWEEPS", 5),))}
"""Variants whose loop is written out up to an order, so that a page has a line for each pass: it, and parameters."""

CALL = "what a call does beside it"
"""Name of that plan."""

LONG = 140
"""Passes of one of its plans from which a page has none for what is not accepted: it would be too large."""

MOST_PASSES = 500
"""Passes of a plan at most, all turns of its loops counted: a page holds a line for each."""

MOST_ORDER = 128
"""Largest order of an operand: 64 KiB of float32 in the page. A longer one is narrow."""

ROUNDED_FROM = 64
"""Orders from which an example is rounded to the upper halves of its float32s, 8 bits: half the bytes in the page."""

MOST_PICTURED = 16
"""Rows and columns of a result that a page holds as a picture."""

SHOWN = (".vert", ".frag")
"""Files that a page shows as they are written, so that it has all their lines."""

SEED = 2007

_BANDS = {
    "MOST_ERROR": MOST_ERROR, "LEAST_LEFT": LEAST_LEFT, "DOMINANT": DOMINANT, "LARGEST_RATIO": LARGEST_RATIO,
    "NORMAL": NORMAL, "NOISE": NOISE, "SINGULAR_RATIO": SINGULAR_RATIO,
}  # fmt: skip
_THRESHOLDS = THRESHOLDS | {
    "RESIDUAL_LIMIT": RESIDUAL_LIMIT, "MOST_STEPS": MOST_STEPS, "EXACTLY": EXACTLY, "BANDS": _BANDS,
}  # fmt: skip
"""What the scripts of a page compare with, by the names that it has in glla."""


def document(
    operation: str,
    size: int = 8,
    variant: str | None = None,
    *,
    data: Sequence[Float32] | None = None,
    shader: Path | None = None,
    seed: int = SEED,
) -> Document:
    """Write an operation as a document.

    `operation`: a key of `glla.operations.OPERATIONS`. `size`: order of the operands. `variant`: by default the one
    that is chosen for this order. `data`: the first operands, instead of those of the operation's example; their order
    is the size then. `shader`: a fragment shader that takes the place of glla's, as in ``glla compare --shader``.
    `seed`: of the example.
    Raises OptionError: no such operation or variant; the plan is too long or too large; or a browser cannot run one of
    its steps. Raises ShaderError: a shader cannot be translated.
    """
    one_of("export: operation", operation, OPERATIONS)
    found = OPERATIONS[operation]
    arrays = _operands(found, size, seed, data)
    name, plan, whole = _plans(found, arrays, variant, shader)
    writer = _Writer(scripts.hosts(operation))
    written = [writer.plan(plan, name)]
    if whole is not None and scripts.settles(operation):
        behind = stages.after(plan, whole, scripts.hosts(operation), MOST_PASSES)
        if behind is not None and any(len(one.flat.steps) >= LONG for one in (plan, *(each.plan for each in behind))):
            behind = [one for one in behind if not one.stage]
        for one in behind or ():
            written.append(writer.plan(one.plan, one.stage or CALL) | {"stage": one.stage, "shared": dict(one.shared)})
            written[0] |= {"also": dict(one.also)} if one.also else {}
        if behind is not None and (not behind or behind[0].stage):
            written[0]["stage"] = ""
    given, aside = _given(found, plan, arrays)
    beside = () if found.trial.textures is None else zip(found.operands, arrays, strict=True)
    return _page(operation, operation, max(arrays[0].shape) if data else size, writer, written, given, aside) | {
        "formula": found.formula, "variant": variant or "", "seed": seed,
        **_idea(found, plan, arrays, variant, shader), "picture": _picture(found, arrays),
        "known": {name: _data(array) for name, array in beside if name not in given},
        "after": [] if whole is None else list(_after(whole)),
    }  # fmt: skip


def of_shapes(operation: str, shapes: Sequence[tuple[int, int]]) -> Document:
    """Write an operation on operands of these shapes: those of its example where they have them, or random numbers.

    Raises OptionError: as `document`.
    """
    random = np.random.default_rng(SEED)
    example = operations.inputs(OPERATIONS[operation], min(shapes[0][0], MOST_ORDER))
    data = [
        one if one.shape == shape else random.uniform(0, 10, shape).astype(np.float32)
        for one, shape in zip(example, shapes, strict=False)
    ]
    return document(operation, data=data)


def of_plan(plan: Plan, operands: Mapping[str, Float32] | None = None) -> Document:
    """Write any plan of passes as a document; operands that are not given are made at random, or zero.

    Raises OptionError: as `document`.
    """
    writer = _Writer()
    written = writer.plan(plan, plan.operation)
    name = re.split(r"[\[ ]", plan.operation)[0]
    examples = _examples(name, plan)
    given, aside = {}, {}
    for operand in plan.operands:
        storage = texture(plan.slots[operand])
        shape = _shape(storage)
        if operands is not None and operand in operands:
            given[operand] = _data(operands[operand])
        elif shape is not None and storage.dtype == "float32":
            if max(shape) > MOST_ORDER and min(shape) > 1:
                raise OptionError(f"export: a page shows matrices up to order {MOST_ORDER}, {operand} is {shape}")
            given[operand] = _data(examples(operand, shape))
        else:
            aside[operand] = _texels(plan, operand, np.zeros((storage.height, storage.width, storage.channels)))
    sides = [max(one["shape"], default=1) for one in given.values()]
    judge = name if set(plan.operands) == set(given) and name in OPERATIONS else ""
    return _page(name, judge, max(sides, default=1), writer, [written], given, aside)


def _page(
    operation: str, judge: str, size: int, writer: _Writer, plans: list[Any], given: Document, aside: Document
) -> Document:
    """Entries that every document has."""
    return {
        "format": FORMAT, "glla": __version__, "operation": operation, "formula": "", "size": size, "variant": "",
        "seed": SEED, "idea": "", "source": "", "head": list(HEAD), "plans": plans, **writer.shared(),
        "operands": given, "aside": aside, "judge": judge, "after": [], "thresholds": _thresholds(judge),
    }  # fmt: skip


def _thresholds(operation: str) -> dict[str, Any]:
    """Thresholds that the scripts of an operation's page compare with."""
    text = scripts.joined(operation)
    return {name: value for name, value in _THRESHOLDS.items() if f"THRESHOLDS.{name}" in text}


def _shape(storage: Storage) -> tuple[int, int] | None:
    """Shape of the matrix in a texture: packed, a vector, or an element to a texel; None for other layouts."""
    if storage.shape is not None:
        return storage.shape
    if isinstance(storage.layout, Wrapped):
        return (storage.layout.shape[0], 1) if len(storage.layout.shape) == 1 else None
    return (storage.height, storage.width) if storage.channels == 1 else None


def _examples(name: str, plan: Plan) -> Callable[[str, tuple[int, int]], Float32]:
    """Function for operands of a plan: those of the operation's example if the shape fits, or random numbers."""
    random = np.random.default_rng(SEED)
    shapes = {operand: _shape(texture(plan.slots[operand])) for operand in plan.operands}
    order = max((shape[0] for shape in shapes.values() if shape), default=1)
    found = OPERATIONS.get(name)
    arrays = operations.inputs(found, order) if found is not None and order <= MOST_ORDER else ()
    known = dict(zip(plan.operands, arrays, strict=False))

    def example(operand: str, shape: tuple[int, int]) -> Float32:
        if operand in known and known[operand].shape == shape:
            return known[operand]
        return random.uniform(0, 10, shape).astype(np.float32)

    return example


# -- operands and plans -----------------------------------------------------------------------------------------------


def _operands(found: Operation, size: int, seed: int, data: Sequence[Float32] | None) -> tuple[Float32, ...]:
    """Operands of the operation's example, the first ones replaced by data."""
    given, example = operations.operands("export", found, size, seed, data)
    arrays = (*given, *(_rounded(one) if min(one.shape) >= ROUNDED_FROM else one for one in example))
    for array in arrays:
        if min(array.shape) > MOST_ORDER or array.size > 2 * MOST_ORDER**2:
            shape = " x ".join(map(str, array.shape))
            raise OptionError(
                f"export: a page shows matrices up to order {MOST_ORDER}, got {shape}; take a smaller one"
            )
    found.check(operations.forms(arrays))
    return arrays


def _given(
    found: Operation, plan: Plan, arrays: tuple[Float32, ...]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Operands that are matrices, or wrapped vectors, which a page lets edit; and those that it takes as texels."""
    if found.trial.textures is None:
        texels = {
            name: one for name, one in found.trial.aside(operations.forms(arrays)).items() if name in plan.operands
        }
        names = [name for name in plan.operands if name not in texels]
        if len(names) < len(arrays):
            raise OptionError(
                f"export: for these shapes the passes of {found.name} take {', '.join(names)} alone, the rest is done "
                "on the host; take other shapes"
            )
        given = {name: _data(array) for name, array in zip(names, arrays, strict=True)}
    else:
        texels = dict(found.trial.textures(plan, LIMITS, arrays))
        layouts = {name: texture(plan.slots[name]).layout for name in texels}
        given = {
            name: _data(np.ravel(texels.pop(name))[: layout.shape[0]].reshape(-1, 1))
            for name, layout in layouts.items()
            if isinstance(layout, Wrapped) and len(layout.shape) == 1 and layout.dtype == "float32"
        }
    return given, {name: _texels(plan, name, one) for name, one in texels.items()}


def _texels(plan: Plan, name: str, texels: Any) -> dict[str, Any]:
    """Texels as base64, row by row."""
    whole = texture(plan.slots[name]).dtype != "float32"
    return {"data": b64encode(np.ascontiguousarray(texels, "<i4" if whole else "<f4").tobytes()).decode()}


def _plans(
    found: Operation, arrays: tuple[Float32, ...], variant: str | None, shader: Path | None
) -> tuple[str, Plan, Plan | None]:
    """Plan whose passes a page shows, with its name, and the plan of a call, if there is one."""
    forms = operations.forms(arrays)
    if shader is not None:
        plan = custom.contender(found.name, shader).build(forms, LIMITS, ())
        return f"{found.name}[{shader.name}]", plan, None
    found.known(variant)
    whole = stages.whole_of(found, forms, LIMITS, variant)
    if whole is not None and found.name in CALLS:
        return whole.operation, whole, whole
    options: dict[str, Any] = {} if variant is None else {"variant": variant}
    order, parameters = WRITTEN_OUT.get(variant or "", (0, ()))
    if forms[0].shape[-1] <= order:
        options["parameters"] = parameters
    plan = _core(found, forms, options | dict(FIGURES.get(found.name, {})))
    return plan.operation, plan, whole


def _core(found: Operation, forms: Forms, options: Mapping[str, Any]) -> Plan:
    """Plan of an operation within the limits that all browsers keep to, or else within those that most do."""
    try:
        plan: Plan = found.device_plan(forms, LIMITS, **options)
        plan.check(LIMITS)
        return plan
    except LimitError:
        wider: Plan = found.device_plan(forms, WIDE, **options)
        return wider


def _idea(
    found: Operation, plan: Plan, arrays: tuple[Float32, ...], variant: str | None, shader: Path | None
) -> dict[str, str]:
    """The idea of a variant, or of an operation without any, and where it comes from."""
    if shader is not None:
        return {"idea": "", "source": ""}
    known = found.variants.get(variant or _chosen(found, plan, arrays), found.about)
    return {"idea": known.summary, "source": known.source}


def _chosen(found: Operation, plan: Plan, arrays: tuple[Float32, ...]) -> str:
    """Name of the variant that makes the same passes, where none was asked for."""
    forms = operations.forms(arrays)
    name = found.choose(forms, LIMITS)[0]
    if name or not found.variants:
        return name
    shaders_ = [step.shader for step in plan.flat.steps if isinstance(step, Pass)]
    for name in found.variants:
        made = _core(found, forms, {"variant": name}).flat
        if [step.shader for step in made.steps if isinstance(step, Pass)] == shaders_:
            return name
    return ""


def _picture(found: Operation, arrays: tuple[Float32, ...]) -> dict[str, dict[str, Any]]:
    """The result for the operands of a page, in float64 and rounded; of a large one the part in its first corner."""
    made = {name: np.atleast_2d(one) for name, one in pictures.of(found.name, arrays).items()}
    part = slice(0, MOST_PICTURED)
    return {
        name: {**_data(np.asarray(one[part, part], dtype=np.float32)), "of": list(one.shape)}
        for name, one in made.items()
    }


def _after(whole: Plan) -> Iterator[dict[str, str]]:
    """Transitions after the plan of a call, in the words of the plan."""
    for stage, plan in stages_of(whole):
        yield from ({"stage": stage, "when": one.when, "then": one.stage or one.error} for one in plan.after)


def _data(array: Float32) -> dict[str, Any]:
    """A matrix as base64; only the upper halves of its numbers, where the others are zero."""
    words = np.ascontiguousarray(array, "<f4").view("<u4")
    name, kept = ("data", words) if (words & 0xFFFF).any() else ("halves", (words >> 16).astype("<u2"))
    return {"shape": list(array.shape), name: b64encode(kept.tobytes()).decode()}


def _rounded(array: Float32) -> Float32:
    """Round an array to the upper halves of its numbers."""
    words = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded: Float32 = ((words + np.uint32(0x8000)) & np.uint32(0xFFFF0000)).view(np.float32)
    return rounded


# -- writing ----------------------------------------------------------------------------------------------------------


@dataclass
class _Writer:
    """Writes plans; programs and texts that they share are written once. `hosts`: see `_check`."""

    hosts: frozenset[str] | None = None
    programs: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    texts: dict[tuple[str, bool], list[Any]] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    used: set[tuple[str, int]] = field(default_factory=set)
    needs: dict[str, Any] = field(
        default_factory=lambda: {"targets": 1, "texture": 1, "block": 0, "units": 1, "blend": False, "transfer": False}
    )

    def shared(self) -> dict[str, Any]:
        """Shared parts of the plans. Of included files the sources keep lines that a text has, the rest blank."""
        kept = {
            name: [
                line if name.endswith(SHOWN) or (name, number) in self.used else ""
                for number, line in enumerate(lines, 1)
            ]
            for name, lines in self.sources.items()
        }
        return {
            "programs": list(self.programs.values()),
            "texts": list(self.texts.values()),
            "sources": {_file_name(name): "\n".join(lines).rstrip("\n") + "\n" for name, lines in kept.items()},
            "needs": self.needs,
        }

    def plan(self, plan: Plan, name: str) -> dict[str, Any]:
        flat, loops = plan.flat, list(_loops(plan, 0, {}))
        _check(plan, loops, self.hosts)
        draws: dict[str, dict[str, Any]] = {}
        steps = [self._step(flat, step, draws) for step in flat.steps]
        _hoist(list(draws.values()), steps)
        for slot in flat.slots.values():
            if isinstance(slot, Storage):
                self._need("texture", max(slot.height, slot.width))
        cost = plan.cost
        return {
            "name": name,
            "slots": {slot: _slot(storage) for slot, storage in flat.slots.items()},
            "operands": list(plan.operands),
            "results": dict(flat.results),
            "draws": list(draws.values()),
            "steps": steps,
            "scopes": [[one.name, one.number, one.first, one.end] for one in flat.scopes if one.first < one.end],
            "loops": loops,
            "cost": {"passes": cost.passes, "flops": cost.flops, "texels": cost.texels, "bytes": cost.nbytes},
        }

    def _need(self, what: str, least: int | bool) -> None:
        self.needs[what] = max(self.needs[what], least)

    def _step(self, flat: Plan, step: Any, draws: dict[str, dict[str, Any]]) -> dict[str, Any]:
        if isinstance(step, Transfer):
            self._need("transfer", self.needs["transfer"] or not flat._crosses(step))
            return {"copy": [step.source, step.target]}
        if isinstance(step, Host):
            if step.inputs:
                return {"host": step.name, "in": list(step.inputs), "out": list(step.outputs)}
            (constant,), (slot,) = step.function(), step.outputs
            return {"host": step.name, "set": slot, **_data(np.asarray(constant))}
        assert isinstance(step, Pass)
        self._need("targets", len(step.outputs))
        self._need("units", len(step.inputs))
        self._need("blend", step.accumulate)
        draw = {"p": self._program(step), "in": dict(step.inputs), "out": list(step.outputs)}
        draw |= {"add": 1} if step.accumulate else {}
        draw |= {"points": step.points} if step.points else {}
        number = list(draws).index(key) if (key := json.dumps(draw)) in draws else len(draws)
        draws.setdefault(key, draw)
        written: dict[str, Any] = {"d": number}
        region = step.region
        target = texture(flat.slots[step.outputs[0]])
        if region is not None and region != Region(0, 0, target.width, target.height):
            written["r"] = [region.x, region.y, region.width, region.height]
        if step.uniforms:
            written["u"] = dict(step.uniforms)
        if step.step:
            written["s"] = step.step
        if step.blocks:
            self._need("block", max(block.count for block in step.blocks.values()))
            written["b"] = {name: [one.slot, one.first, one.count] for name, one in step.blocks.items()}
        return written

    def _program(self, step: Pass) -> int:
        shader = shaders.resolve(step.shader, step.defines)
        key = (*shader.key, step.shader, tuple(step.defines.items()), bool(step.points))
        if key not in self.programs:
            described = {
                "defines": dict(step.defines),
                "cost": _plain(shaders.cost(step.shader)),
                "outputs": dict(_outputs(step.shader, shader.outputs)),
            }
            self.programs[key] = {
                "name": _file_name(shaders.called(step.shader)),
                "v": self._text(shader.vertex, bool(step.points)),
                "f": self._text(shader.fragment),
                "summary": _plain(shaders.summary(step.shader, step.defines)),
                **{name: value for name, value in described.items() if value},
            }
        return list(self.programs).index(key)

    def _text(self, stage: shaders.Stage, points: bool = False) -> int:
        key = (stage.text, points)
        if key not in self.texts:
            for file in dict.fromkeys(file for file, _ in stage.lines if file != GENERATED):
                if file not in self.sources:
                    self.sources[file] = _lines(file, stage)
            parts = translated(stage, self.sources, points)
            spans = (part for part in parts if isinstance(part, Span))
            self.used |= {(one.file, one.first + k) for one in spans for k in range(one.count)}
            self.texts[key] = _grouped(parts)
        return list(self.texts).index(key)


def _lines(file: str, stage: shaders.Stage) -> list[str]:
    """Lines of a file: glla's own as it stands; of a user's those that the stage has, an include being one of them."""
    if shaders.is_own(file):
        return (shaders.root() / file).read_text(encoding="utf-8").splitlines()
    lines = zip(stage.text.splitlines(), stage.lines, strict=True)
    found = {number: line for line, (name, number) in lines if name == file}
    return [found.get(number, "") for number in range(1, max(found) + 1)]


def _grouped(parts: Iterable[Part]) -> list[Any]:
    """Parts of a text, lines of a file in a row together.

    >>> _grouped(["#define K 1", Span("a.glsl", 1, 5), Span("a.glsl", 9, 2)])
    ['#define K 1', ['a.glsl', 1, 5, 9, 2]]
    """
    found: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif found and isinstance(found[-1], list) and found[-1][0] == _file_name(part.file):
            found[-1] += [part.first, part.count]
        else:
            found.append([_file_name(part.file), part.first, part.count])
    return found


def _plain(words: str) -> str:
    """Words without the marks around names of variables, which a page would show as they are."""
    return words.replace("`", "")


def _file_name(file: str) -> str:
    """Name of a file of glla's; of a user's without its folder, which is nobody else's business."""
    return file if not Path(file).is_absolute() else Path(file).name


def _outputs(name: str, outputs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Descriptions of outputs in a shader's header: the words behind the name, to the end of the sentence."""
    header = [line.removeprefix("//") for line in takewhile(re.compile("//").match, shaders.source(name).splitlines())]
    for output in outputs:
        text = "\n".join(header)
        match = re.search(
            rf"(?:^| {{3,}}) ?{re.escape(output)} {{2,}}(\S[^\n]*?)(?= {{3,}}|\n|$)((?:\n {{6,}}[^\n]*)*)", text, re.M
        )
        if match:
            words = _plain(" ".join(f"{match[1]} {match[2]}".split()))
            yield output, re.split(r"(?<=[^.])\.(?= +[A-Z]|$)", words)[0]


def _slot(storage: Slot) -> dict[str, Any]:
    if isinstance(storage, Buffer):
        return {"bytes": storage.nbytes}
    if isinstance(storage, HostArray):
        return {"host": [*storage.shape, 1][:2]}
    one = texture(storage)
    written: dict[str, Any] = {"h": one.height, "w": one.width, "c": one.channels}
    if one.dtype != "float32":
        written["int"] = 1
    if one.shape is not None:
        written["shape"] = list(one.shape)
    elif isinstance(one.layout, Wrapped):
        written["wrapped"] = list(one.layout.shape)
    return written


def _hoist(draws: list[dict[str, Any]], steps: list[dict[str, Any]]) -> None:
    """Move uniforms that all steps of a draw have alike from the steps to the draw."""
    for number, draw in enumerate(draws):
        uses = [step for step in steps if step.get("d") == number]
        first = uses[0].get("u", {})
        same = {
            name: value for name, value in first.items() if all(step.get("u", {}).get(name) == value for step in uses)
        }
        if same:
            draw["u"] = same
        for step in uses:
            own = {name: value for name, value in step.pop("u", {}).items() if name not in same}
            if own:
                step["u"] = own


# -- loops, and what cannot be --------------------------------------------------------------------------------------


def _loops(plan: Plan, first: int, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Loops of a plan, an outer one before those in it; `first` is its first step in the flat plan.

    `names` leads from its slots to those of the flat plan.
    """
    if isinstance(plan, Loop):
        yield {
            "first": first,
            "end": first + len(plan.flat.steps),
            "carry": {
                _named(names, plan.results[name]): _named(names, operand) for name, operand in plan.carry.items()
            },
            "until": None if plan.until is None else _named(names, plan.results[plan.until]),
            "most": plan.most,
        }
    for step in plan.steps:
        if isinstance(step, Call):
            inner = step.plan.flat
            given = {inner.results[name]: slot for name, slot in step.results.items()} | dict(step.operands)
            own = {slot: _named(names, f"{step.name}.{slot}") for slot in inner.slots if slot not in given}
            yield from _loops(step.plan, first, {**own, **{a: _named(names, b) for a, b in given.items()}})
            first += len(inner.steps)
        else:
            first += 1


def _named(names: Mapping[str, str], slot: str) -> str:
    return names.get(slot, slot)


def _check(plan: Plan, loops: list[dict[str, Any]], hosts: frozenset[str] | None) -> None:
    """Raise where a browser could not run a plan, or a page not show it; `hosts` are steps of the host that it can do.

    Without them all must be on the device.
    """
    name, flat = plan.operation, plan.flat
    passes = len(flat.steps)
    if not passes:
        raise OptionError(f"export: {name} has no passes")
    for step in flat.steps:
        if isinstance(step, Dispatch):
            raise OptionError(
                f"export: {name} runs a compute shader ({step.shader}), which WebGL 2 lacks; choose another variant"
            )
        if isinstance(step, Host) and (hosts is None or (step.inputs and step.name not in hosts)):
            raise OptionError(f"export: {name} has a step of the host ({step.name}), which a page cannot run")
        if isinstance(step, Transfer) and flat._crosses(step):
            if hosts is None:
                raise OptionError(
                    f"export: {name} uploads or reads back ({step.source}), export the plan on the device"
                )
        elif isinstance(step, Transfer):
            source = flat.slots[step.source]
            if texture(source).channels != 4:
                raise OptionError(
                    f"export: {name} copies a texture of {texture(source).channels} channels, which WebGL 2 pads"
                )
    for loop in loops:
        if any(one is not loop and one["first"] <= loop["first"] and loop["end"] <= one["end"] for one in loops):
            raise OptionError(f"export: {name} has a loop within a loop, which a page does not run")
        unknown = {*loop["carry"], *loop["carry"].values(), loop["until"]} - {*flat.slots, None}
        if unknown:
            raise OptionError(f"export: {name} has a loop over slots that its plan does not show: {sorted(unknown)}")
    if passes > MOST_PASSES:
        raise OptionError(f"export: a page shows up to {MOST_PASSES} passes, {name} has {passes}; take a smaller size")
    plan.check(WIDE)
