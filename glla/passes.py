"""Render passes and plans: an algorithm as data.

A `Pass` says which shader draws which region of which textures from which others. A `Plan` is a list of passes over
named slots. Neither knows OpenGL, a device or the values of a matrix: the same plan serves every matrix of its shape,
can be printed, costed and checked without a GPU, and is cached by whoever builds it.

`Plan.check` proves, before GL sees anything, what GL would not tell: that no pass reads the texture it draws to, that
nothing is read before it is written, that the targets of a pass agree in size, and that the uniforms given are those
that the shader declares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar, NamedTuple

from glla import shader as shaders
from glla.errors import LimitError, OptionError, PlanError
from glla.layout import ELEMENT_BYTES, Shape

BLOCK_ALIGNMENT = 16
"""A uniform block starts at a multiple of so many texels in its buffer: 256 bytes, the most that a driver asks for."""

COMPUTE = 430
"""The version of OpenGL that has compute shaders, as `Limits.opengl` counts it."""

MOST_GROUPS = 65535
"""Most work groups of a dispatch in either direction that every OpenGL 4.3 grants."""

Uniform = int | float | tuple[int, ...] | tuple[float, ...]

Parameters = tuple[tuple[str, int], ...]
"""Values of a variant's parameters, as pairs (name, value): part of a plan's key, so hashable."""


class Tuned(NamedTuple):
    """What `glla tune` found the fastest on a device: of an operation, for matrices of an order."""

    operation: str
    size: int
    variant: str
    parameters: Parameters = ()


MOST_UNEQUAL = 4
"""Sides of an operation may differ by this factor for what was tuned with equal ones to hold."""

BEYOND = 2
"""What was tuned holds for sizes up to so many times the largest that was tuned, or the smallest over it."""


@dataclass(frozen=True)
class Limits:
    """What a plan must keep to.

    Attributes
    ----------
    texture_size : int
        Largest height or width of a texture, in texels.
    draw_buffers : int
        Most targets that one pass can write.
    loop_trips : int
        Most loop iterations of one shader invocation, all its loops added. llvmpipe ends loops silently after 65535
        trips in all; the default keeps a little below.
    uniform_block : int
        Largest uniform block, in texels of 16 bytes. OpenGL 3.3 grants 1024.
    software : bool
        A software rasteriser: no limit, but what is fast there is not what is fast on a GPU.
    opengl : int
        Version of OpenGL, 330 for 3.3. Only a plan with a `Dispatch` needs more than that.
    tuned : tuple of Tuned
        No limit either: what `glla tune` measured on this device, if it did.
    """

    texture_size: int = 16384
    draw_buffers: int = 8
    loop_trips: int = 60000
    uniform_block: int = 1024
    software: bool = False
    opengl: int = 330
    tuned: tuple[Tuned, ...] = ()

    def tuning(self, operation: str, *sides: int) -> Tuned | None:
        """Find what was tuned for an operation: at the nearest size, by their ratio.

        Parameters
        ----------
        operation : str
            For example ``"matmul"``.
        *sides : int
            Its sizes; the size is their geometric mean.

        Returns
        -------
        Tuned or None
            None where measurements do not speak: nothing was tuned, the size is more than twice the largest that was,
            less than half of the smallest, one side is more than four times another, or larger than a texture is.

        Examples
        --------
        >>> tuned = Limits(tuned=(Tuned("matmul", 64, "inner_product"), Tuned("matmul", 512, "register_blocked")))
        >>> tuned.tuning("matmul", 200, 200, 200).size, tuned.tuning("matmul", 4096, 4096, 4096)
        (512, None)
        """
        known = [one for one in self.tuned if one.operation == operation]
        if not known or not 0 < max(sides) <= min(MOST_UNEQUAL * min(sides), self.texture_size):
            return None
        size = round(math.prod(sides) ** (1 / len(sides)), 3)
        nearest = min(known, key=lambda one: abs(math.log(one.size / size)))
        inside = min(one.size for one in known) / BEYOND <= size <= BEYOND * max(one.size for one in known)
        return nearest if inside else None


@dataclass(frozen=True)
class Storage:
    """What a texture must look like: texels high, texels wide, float32 channels per texel (1, 2 or 4).

    With `buffer` it is a linear buffer that holds the rows of such a texture one after the other, for uniform blocks;
    with `staging` too, one in memory that the host reaches as well, for transfers.
    `shape`, rows and columns of the matrix that lies in it packed, is for those who look at it, and no part of what
    the texture must be.
    """

    height: int
    width: int
    channels: int = 4
    buffer: bool = False
    shape: Shape | None = field(default=None, compare=False, repr=False)
    staging: bool = field(default=False, repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.height * self.width * self.channels * ELEMENT_BYTES

    def __str__(self) -> str:
        return f"{self.height}x{self.width}x{self.channels}" + (" buffer" if self.buffer else "")


@dataclass(frozen=True)
class Region:
    """Rectangle of texels: columns x to x + width, rows y to y + height."""

    x: int
    y: int
    width: int
    height: int

    def __str__(self) -> str:
        return f"x {self.x}:{self.x + self.width} y {self.y}:{self.y + self.height}"


@dataclass(frozen=True)
class Block:
    """Part of a buffer that a uniform block reads: from texel `first` on, `count` texels of 16 bytes."""

    slot: str
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Transfer:
    """A step that is no draw: copy a texture, row by row, into a buffer."""

    source: str
    target: str


@dataclass(frozen=True, eq=False)
class Pass:
    """One draw.

    Attributes
    ----------
    shader : str
        Name below ``shaders/``.
    inputs : mapping of str to str
        Sampler in the GLSL -> slot of the plan.
    outputs : tuple of str
        Slots written, in the order of the shader's output locations; several are several render targets.
    uniforms : mapping
        Values set for this draw.
    defines : mapping
        Values baked into the shader's text.
    region : Region or None
        Texels drawn; None for the whole target.
    accumulate : bool
        Add to the target (float blending) instead of replacing it.
    blocks : mapping of str to Block
        Uniform block in the GLSL -> part of a buffer.
    step : int
        A number for the vertex stage that costs nothing, see ``lib/fullscreen.glsl``.
    """

    shader: str
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]
    uniforms: Mapping[str, Uniform] = field(default_factory=dict)
    defines: Mapping[str, shaders.Define] = field(default_factory=dict)
    region: Region | None = None
    accumulate: bool = False
    blocks: Mapping[str, Block] = field(default_factory=dict)
    step: int = 0

    @property
    def reads(self) -> tuple[str, ...]:
        """Slots that it reads."""
        return (*self.inputs.values(), *(block.slot for block in self.blocks.values()))


@dataclass(frozen=True, eq=False)
class Dispatch:
    """A step that is no draw: a compute shader, which needs OpenGL 4.3.

    Attributes
    ----------
    shader : str
        Name below ``shaders/``.
    inputs : mapping of str to str
        Sampler in the GLSL -> slot of the plan.
    outputs : tuple of str
        Slots that it stores to, in the order of the shader's image bindings. It writes every texel of them.
    groups : tuple of int
        Work groups side by side, and one above the other.
    uniforms : mapping
        Values set for this dispatch.
    defines : mapping
        Values baked into the shader's text.
    """

    shader: str
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]
    groups: tuple[int, int]
    uniforms: Mapping[str, Uniform] = field(default_factory=dict)
    defines: Mapping[str, shaders.Define] = field(default_factory=dict)

    # What a pass may have, and a dispatch never has: so that whoever looks at a plan need not tell them apart.
    accumulate: ClassVar[bool] = False
    region: ClassVar[None] = None
    blocks: ClassVar[Mapping[str, Block]] = {}
    step: ClassVar[int] = 0

    @property
    def reads(self) -> tuple[str, ...]:
        """Slots that it reads."""
        return tuple(self.inputs.values())


Step = Pass | Transfer | Dispatch


@dataclass(frozen=True)
class Cost:
    """What running a plan costs: render passes, float operations, texels and bytes written."""

    passes: int
    flops: int
    texels: int
    nbytes: int


@dataclass(frozen=True, eq=False)
class Plan:
    """A list of render passes over named slots.

    Attributes
    ----------
    operation : str
        Name of the operation, with its variant if there are several.
    slots : mapping of str to Storage
        Every texture the plan touches.
    operands : tuple of str
        Slots that the caller provides. They are only read.
    results : mapping of str to str
        Name of a result -> slot that holds it after the last pass.
    steps : tuple of Pass, Transfer or Dispatch
        In order.
    flops : int
        Additions and multiplications of the algorithm (not of the padding).
    """

    operation: str
    slots: Mapping[str, Storage]
    operands: tuple[str, ...]
    results: Mapping[str, str]
    steps: tuple[Step, ...]
    flops: int = 0

    @property
    def temporaries(self) -> tuple[str, ...]:
        """Slots that live only while the plan runs."""
        kept = {*self.operands, *self.results.values()}
        return tuple(name for name in self.slots if name not in kept)

    def drawn(self, step: Pass | Dispatch) -> Region:
        """Texels that a pass draws, or a dispatch stores."""
        target = self.slots[step.outputs[0]]
        return step.region or Region(0, 0, target.width, target.height)

    @property
    def cost(self) -> Cost:
        """Passes, flops, texels and bytes written."""
        texels = nbytes = 0
        for step in self.steps:
            if isinstance(step, Transfer):
                nbytes += self.slots[step.target].nbytes
                continue
            region = self.drawn(step)
            area = region.width * region.height
            texels += area * len(step.outputs)
            nbytes += area * sum(self.slots[name].channels for name in step.outputs) * ELEMENT_BYTES
        return Cost(len(self.steps), self.flops, texels, nbytes)

    def check(self, limits: Limits | None = None) -> None:
        """Prove the rules that GL does not enforce.

        Raises
        ------
        PlanError
            A rule is broken: which pass, which slot.
        LimitError
            A texture is larger than `limits` allow, a pass has too many targets, or a compute shader is asked of an
            OpenGL that has none.
        """
        limits = limits or Limits()
        for name, storage in self.slots.items():
            self._check_storage(name, storage, limits)
        written: set[str] = set(self.operands)
        for number, step in enumerate(self.steps):
            if isinstance(step, Transfer):
                self._check_transfer(f"{self.operation}: step {number}", step, written)
                written.add(step.target)
                continue
            where = f"{self.operation}: pass {number} ({step.shader})"
            if isinstance(step, Dispatch):
                self._check_groups(where, step, limits)
            self._check_targets(where, step, limits)
            self._check_inputs(where, step, written)
            if isinstance(step, Pass):
                self._check_blocks(where, step, written, limits)
            self._check_names(where, step)
            written.update(step.outputs)
        for name, slot in self.results.items():
            if slot not in written or slot in self.operands:
                raise PlanError(f"{self.operation}: result {name} is never written (slot {slot})")

    def _check_transfer(self, where: str, step: Transfer, written: set[str]) -> None:
        if step.source not in written:
            raise PlanError(f"{where}: transfers {step.source} before any pass has written it")
        if step.target not in self.slots or step.target in self.operands:
            raise PlanError(f"{where}: transfers to {step.target}, which is no slot that the plan itself writes")
        source, target = self.slots[step.source], self.slots[step.target]
        if source.buffer or not target.buffer or source.nbytes != target.nbytes:
            raise PlanError(
                f"{where}: a transfer goes from a texture to a buffer of its size, got {source} to {target}"
            )

    def _check_groups(self, where: str, step: Dispatch, limits: Limits) -> None:
        if limits.opengl < COMPUTE:
            raise LimitError(
                f"{where}: a compute shader needs OpenGL {_version(COMPUTE)}, this device has "
                f"{_version(limits.opengl)}; choose another variant",
                COMPUTE,
                limits.opengl,
            )
        if len(step.groups) != 2 or not all(1 <= count <= MOST_GROUPS for count in step.groups):
            raise PlanError(f"{where}: a dispatch has 1 to {MOST_GROUPS} groups in either direction, got {step.groups}")

    def _check_blocks(self, where: str, step: Pass, written: set[str], limits: Limits) -> None:
        for name, block in step.blocks.items():
            if block.slot not in written:
                raise PlanError(f"{where}: reads {block.slot} (as {name}) before any step has written it")
            storage = self.slots[block.slot]
            inside = block.first >= 0 and block.count > 0 and 16 * (block.first + block.count) <= storage.nbytes
            if not storage.buffer or not inside or block.first % BLOCK_ALIGNMENT:
                raise PlanError(f"{where}: block {name} must lie in a buffer, at a multiple of 256 bytes, got {block}")
            if block.count > limits.uniform_block:
                raise LimitError(
                    f"{where}: a uniform block may have {limits.uniform_block} texels, {name} needs {block.count}",
                    block.count,
                    limits.uniform_block,
                )

    def _check_storage(self, name: str, storage: Storage, limits: Limits) -> None:
        longest = max(storage.height, storage.width)
        if min(storage.height, storage.width) < 1 or storage.channels not in (1, 2, 4):
            raise PlanError(f"{self.operation}: slot {name} has no possible storage, got {storage}")
        if longest > limits.texture_size and not storage.buffer:
            raise LimitError(
                f"{self.operation}: a texture may have {limits.texture_size} texels a side on this device, "
                f"slot {name} needs {longest}; cut the matrix into blocks",
                longest,
                limits.texture_size,
            )

    def _check_targets(self, where: str, step: Pass | Dispatch, limits: Limits) -> None:
        if not step.outputs or any(slot not in self.slots for slot in step.outputs):
            raise PlanError(f"{where}: every output must be a slot of the plan, got {step.outputs}")
        if set(step.outputs) & set(self.operands):
            raise PlanError(f"{where}: an operand is never written, got outputs {step.outputs}")
        if len(step.outputs) > limits.draw_buffers:
            raise LimitError(
                f"{where}: {limits.draw_buffers} targets at most, got {len(step.outputs)}",
                len(step.outputs),
                limits.draw_buffers,
            )
        if any(slot in self.slots and self.slots[slot].buffer for slot in (*step.outputs, *step.inputs.values())):
            raise PlanError(f"{where}: a pass draws to textures and samples textures, a buffer is for uniform blocks")
        sizes = {(self.slots[slot].height, self.slots[slot].width) for slot in step.outputs}
        if len(sizes) > 1 or len(set(step.outputs)) < len(step.outputs):
            raise PlanError(f"{where}: targets must be distinct and agree in size, got {step.outputs} of {sizes}")
        height, width = sizes.pop()
        region = self.drawn(step)
        inside = region.x >= 0 and region.y >= 0 and region.x + region.width <= width
        if not (inside and region.y + region.height <= height and region.width > 0 and region.height > 0):
            raise PlanError(f"{where}: the region must lie in the {height}x{width} target, got {region}")

    def _check_inputs(self, where: str, step: Pass | Dispatch, written: set[str]) -> None:
        for sampler, slot in step.inputs.items():
            if slot in step.outputs:
                raise PlanError(f"{where}: reads {slot} (as {sampler}) while drawing to it")
            if slot not in written:
                raise PlanError(f"{where}: reads {slot} (as {sampler}) before any pass has written it")
        if isinstance(step, Pass) and step.accumulate and not set(step.outputs) <= written:
            raise PlanError(f"{where}: accumulates into {step.outputs} before any pass has written it")

    def _check_names(self, where: str, step: Pass | Dispatch) -> None:
        declared = shaders.resolve(step.shader, step.defines)
        blocks = step.blocks if isinstance(step, Pass) else {}
        for kind, asked, given in (
            ("samplers", declared.samplers, set(step.inputs)),
            ("uniforms", declared.uniforms, set(step.uniforms)),
            ("uniform blocks", declared.blocks, set(blocks)),
        ):
            if asked != given:
                raise PlanError(f"{where}: {kind} declared {sorted(asked)}, given {sorted(given)}")
        if len(declared.outputs) != len(step.outputs):
            raise PlanError(f"{where}: the shader writes {declared.outputs}, the pass takes {step.outputs}")

    def __str__(self) -> str:
        """Table with a line per pass."""
        cost = self.cost
        head = f"{self.operation}: {cost.passes} passes, {cost.flops} flop, {cost.nbytes} bytes written\n" + "".join(
            f"  {role:9} {name}: {self.slots[slot]}\n" for role, name, slot in self._roles()
        )
        rows: list[tuple[str, ...]] = [("pass", "shader", "reads", "draws", "region (texels)", "uniforms")]
        for number, step in enumerate(self.steps):
            if isinstance(step, Transfer):
                rows.append((str(number), "(transfer)", step.source, step.target, "", ""))
                continue
            reads = " ".join(f"{sampler}={slot}" for sampler, slot in step.inputs.items())
            uniforms = " ".join(f"{name}={value}" for name, value in {**step.defines, **step.uniforms}.items())
            if isinstance(step, Dispatch):
                groups = "{} x {} groups".format(*step.groups)
                rows.append((str(number), step.shader, reads, " ".join(step.outputs), groups, uniforms))
                continue
            sign = " +=" if step.accumulate else ""
            uniforms += f" step={step.step}" if step.step else ""
            reads += "".join(f" {name}={b.slot}[{b.first}:{b.first + b.count}]" for name, b in step.blocks.items())
            draws = " ".join(step.outputs) + sign
            rows.append((str(number), step.shader, reads, draws, str(self.drawn(step)), uniforms))
        return head + table(rows)

    def _roles(self) -> Iterable[tuple[str, str, str]]:
        yield from (("operand", name, name) for name in self.operands)
        yield from (("result", name, slot) for name, slot in self.results.items())
        yield from (("temporary", name, name) for name in self.temporaries)


def _version(code: int) -> str:
    return f"{code // 100}.{code % 100 // 10}"


def table(rows: list[tuple[str, ...]]) -> str:
    """Lay out rows of cells in columns, the first row being the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


class Draft:
    """A plan in the making: slots and passes are added one by one.

    Examples
    --------
    >>> draft = Draft("copy")
    >>> source = draft.operand("A", Storage(1, 1))
    """

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self.slots: dict[str, Storage] = {}
        self.operands: list[str] = []
        self.steps: list[Step] = []

    def operand(self, name: str, storage: Storage) -> str:
        """Add a slot that the caller provides."""
        self.operands.append(name)
        return self.slot(name, storage)

    def slot(self, name: str, storage: Storage) -> str:
        """Add a slot that the plan itself writes."""
        if name in self.slots:
            raise PlanError(f"{self.operation}: two slots are named {name}")
        self.slots[name] = storage
        return name

    def draw(
        self,
        shader: str,
        inputs: Mapping[str, str],
        outputs: str | tuple[str, ...],
        uniforms: Mapping[str, Uniform] | None = None,
        defines: Mapping[str, shaders.Define] | None = None,
        region: Region | None = None,
        accumulate: bool = False,
        blocks: Mapping[str, Block] | None = None,
        step: int = 0,
    ) -> None:
        """Add a pass."""
        targets = (outputs,) if isinstance(outputs, str) else outputs
        self.steps.append(
            Pass(shader, inputs, targets, uniforms or {}, defines or {}, region, accumulate, blocks or {}, step)
        )

    def dispatch(
        self,
        shader: str,
        inputs: Mapping[str, str],
        outputs: str | tuple[str, ...],
        groups: tuple[int, int],
        uniforms: Mapping[str, Uniform] | None = None,
        defines: Mapping[str, shaders.Define] | None = None,
    ) -> None:
        """Add a compute shader."""
        targets = (outputs,) if isinstance(outputs, str) else outputs
        self.steps.append(Dispatch(shader, inputs, targets, groups, uniforms or {}, defines or {}))

    def transfer(self, source: str, target: str) -> None:
        """Add a copy of a texture into a buffer."""
        self.steps.append(Transfer(source, target))

    def plan(self, results: Mapping[str, str], flops: int = 0) -> Plan:
        """Finish."""
        used = {name for step in self.steps for name in touched(step)}
        slots = {n: s for n, s in self.slots.items() if n in used or n in self.operands}
        return Plan(self.operation, slots, tuple(self.operands), dict(results), tuple(self.steps), flops)


def touched(step: Step) -> tuple[str, ...]:
    """Slots that a step reads or writes."""
    return (step.source, step.target) if isinstance(step, Transfer) else (*step.reads, *step.outputs)


class PingPong:
    """Two slots that take turns: a pass reads `front` and draws to `back`, then they swap.

    The first pass reads the operand itself, which is never written.
    """

    def __init__(self, draft: Draft, name: str, storage: Storage, start: str) -> None:
        self._pair = (draft.slot(f"{name}_ping", storage), draft.slot(f"{name}_pong", storage))
        self._turn = 0
        self.front = start

    @property
    def back(self) -> str:
        """Slot to draw to."""
        return self._pair[self._turn]

    def swap(self) -> None:
        """Make what was just drawn the front."""
        self.front = self.back
        self._turn = 1 - self._turn


@dataclass(frozen=True)
class Variant:
    """One way to do an operation.

    Attributes
    ----------
    summary : str
        What is particular to it, in a line.
    source : str
        Where the algorithm comes from.
    needs : tuple of str
        What it needs beyond plain OpenGL 3.3, for example ``"OpenGL 4.3"``; empty for most.
    parameters : mapping of str to tuple of int
        Defines of its shaders, or sizes of its passes, that may be chosen, by name, with the values that make sense;
        the first is the default.
    rule : str
        What values must fulfil together, in words; empty if any go with any.
    keeps_rule : callable
        Whether values, by name, do.
    """

    summary: str
    source: str
    needs: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    rule: str = ""
    keeps_rule: Callable[[Mapping[str, int]], bool] = lambda values: True

    def lacks(self, limits: Limits) -> str:
        """Say what a device lacks for this variant, '' if nothing.

        Examples
        --------
        >>> Variant("", "", needs=("OpenGL 4.3",)).lacks(Limits(opengl=330))
        'needs OpenGL 4.3, this device has 3.3'
        """
        for need in self.needs:
            if int(need.removeprefix("OpenGL ").replace(".", "")) * 10 > limits.opengl:
                return f"needs {need}, this device has {_version(limits.opengl)}"
        return ""

    def settle(self, name: str, parameters: Parameters) -> dict[str, int]:
        """Give every parameter its value: the one asked for, or the default.

        Parameters
        ----------
        name : str
            Of the operation and the variant, for the messages.
        parameters : tuple of (str, int)
            What is asked for.

        Raises
        ------
        OptionError
            No such parameter, no such value, or values that do not go together.

        Examples
        --------
        >>> Variant("", "", parameters={"UNROLL": (1, 2)}).settle("product", (("UNROLL", 2),))
        {'UNROLL': 2}
        """
        values = {key: allowed[0] for key, allowed in self.parameters.items()}
        for key, value in parameters:
            if key not in values:
                known = ", ".join(self.parameters) or "none"
                raise OptionError(f"{name}: has no parameter {key!r}; its parameters are: {known}")
            if value not in self.parameters[key]:
                allowed = ", ".join(map(str, self.parameters[key]))
                raise OptionError(f"{name}: {key} must be one of {allowed}, got {value!r}")
            values[key] = value
        if not self.keeps_rule(values):
            got = ", ".join(f"{key} = {value}" for key, value in values.items())
            raise OptionError(f"{name}: {self.rule}, got {got}")
        return values


def parameter_space(variant: Variant) -> Iterator[Parameters]:
    """Yield every combination of a variant's parameters that goes together, the defaults first.

    Examples
    --------
    >>> list(parameter_space(Variant("", "", parameters={"UNROLL": (1, 2)})))
    [(('UNROLL', 1),), (('UNROLL', 2),)]
    """
    for values in product(*variant.parameters.values()):
        chosen = tuple(zip(variant.parameters, values, strict=True))
        if variant.keeps_rule(dict(chosen)):
            yield chosen


def matrix(shape: Shape) -> Storage:
    """Storage of a packed matrix; an empty side still takes one texel, because GL knows no empty texture.

    >>> matrix((3, 5))
    Storage(height=2, width=3, channels=4, buffer=False)
    """
    return Storage(max(1, (shape[0] + 1) // 2), max(1, (shape[1] + 1) // 2), shape=shape)
