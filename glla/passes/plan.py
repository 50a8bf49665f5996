"""A plan: a list of steps over named slots, and its transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count

from glla import registry
from glla.passes.check import check
from glla.passes.layout import ELEMENT_BYTES, Layout
from glla.passes.limits import Limits
from glla.passes.rates import Rates
from glla.passes.screen import screen
from glla.passes.steps import DeviceStep, Dispatch, Host, Pass, Region, Step, Transfer, renamed
from glla.passes.storage import Slot, Storage, texture


@dataclass(frozen=True)
class Cost:
    """Cost of running a plan: render passes, float operations, texels and bytes written."""

    passes: int
    flops: int
    texels: int
    nbytes: int


@dataclass(frozen=True)
class Scope:
    """Steps that belong together, with a name: one turn of a loop, or a plan within a plan."""

    name: str  # the same for all turns of a loop: ``"panel"``
    number: int | None  # which turn, from 0; None where there is no loop
    first: int  # its steps: from `first` to `end` - 1. Scopes are within each other, or apart
    end: int
    often: str = ""  # how often a plan within a plan runs, in words; "" for once


@dataclass(frozen=True, eq=False)
class Call:
    """A step that is a whole plan."""

    name: str  # what it is here, in a word or two; prefix of its slots in `Plan.flat`
    plan: Plan  # what runs
    # its operands and results -> slots of the plan that calls. A result that is not named is given back at once
    operands: Mapping[str, str]
    results: Mapping[str, str]


def read(step: Step | Call) -> tuple[str, ...]:
    """Slots that a step reads; those that a pass adds to are among them."""
    if isinstance(step, Transfer):
        return (step.source,)
    if isinstance(step, Call):
        return tuple(step.operands.values())
    if isinstance(step, Host):
        return step.inputs
    blocks = (block.slot for block in step.blocks.values())
    return (*step.inputs.values(), *blocks, *(step.outputs if step.accumulate else ()))


def written(step: Step | Call) -> tuple[str, ...]:
    """Slots that a step writes."""
    if isinstance(step, Transfer):
        return (step.target,)
    return tuple(step.results.values()) if isinstance(step, Call) else step.outputs


def touched(step: Step | Call) -> tuple[str, ...]:
    """Slots that a step reads or writes."""
    return (*read(step), *written(step))


@dataclass(frozen=True, eq=False)
class Transition:
    """Transition from a plan, where the values decide."""

    when: str  # in which case, in words: "a pivot may be nothing but rounding error"
    stage: str = ""  # name of the next plan; "" for an error
    plan: Callable[[], Plan] | None = None  # makes the next plan; None for an error
    error: str = ""  # the error, as ``Class: words``

    def __str__(self) -> str:
        """Describe it in a line."""
        return f"if {self.when}: then {self.stage or self.error}"


@dataclass(frozen=True, eq=False)
class Plan:
    """A list of steps over named slots.

    Attributes
    ----------
    operation : str
        Name of the operation, with its variant if there are several.
    slots : mapping of str to Storage
        Every texture the plan touches, and every array of the host.
    operands : tuple of str
        Slots that the caller provides. They are only read.
    results : mapping of str to str
        Name of a result -> slot that holds it after the last step.
    steps : tuple
        In order: `Pass`, `Dispatch` and `Transfer` within the device; or, of a plan of plans, `Call`, `Host` and
        transfers to and from the host. A plan has steps of the one kind or of the other.
    flops : int
        Additions and multiplications of the algorithm (not of the padding).
    scopes : tuple of Scope
        Loops and parts, an outer one before those in it.
    after : tuple of Transition
        What may come after it.
    times : int
        How often it runs: once for each matrix of a stack that is looped.
    target : str
        What it was made for, in words: the device, or the limits.
    rates : Rates, optional
        Those of the device that it was made for.
    """

    operation: str
    slots: Mapping[str, Slot]
    operands: tuple[str, ...]
    results: Mapping[str, str]
    steps: tuple[Step | Call, ...]
    flops: int = 0
    scopes: tuple[Scope, ...] = ()
    after: tuple[Transition, ...] = ()
    times: int = 1
    target: str = ""
    rates: Rates | None = None

    @property
    def often(self) -> str:
        """How often it runs, in words; "" for once."""
        return f"{self.times} times" if self.times > 1 else ""

    @property
    def composed(self) -> bool:
        """Whether it is a plan of plans."""
        return any(isinstance(step, Call | Host) or self._crosses(step) for step in self.steps)

    def _crosses(self, step: Step | Call) -> bool:
        """Whether a step is a transfer between host and device."""
        ends = (step.source, step.target) if isinstance(step, Transfer) else ()
        return any(self.slots[end].host for end in ends)

    @property
    def flat(self) -> Plan:
        """The same plan with the steps of the plans that it calls in their place."""
        return self if self._flat is None else self._flat

    @cached_property
    def _flat(self) -> Plan | None:
        """As `flat`; None for the plan itself, which with its programs would live on if it referred to itself."""
        if not any(isinstance(step, Call) for step in self.steps):
            return None
        slots, steps, scopes = dict(self.slots), list[Step](), list[Scope]()
        starts = []  # where each step of this plan begins among all
        for step in self.steps:
            starts.append(len(steps))
            if not isinstance(step, Call):
                steps.append(step)
                continue
            inner = step.plan.flat
            given = {inner.results[name]: slot for name, slot in step.results.items()} | dict(step.operands)
            names = given | {slot: _unused(f"{step.name}.{slot}", slots) for slot in inner.slots if slot not in given}
            slots |= {names[slot]: storage for slot, storage in inner.slots.items() if slot not in given}
            scopes.append(Scope(step.name, None, len(steps), len(steps) + len(inner.steps), step.plan.often))
            scopes += [replace(one, first=one.first + len(steps), end=one.end + len(steps)) for one in inner.scopes]
            steps += [renamed(one, names) for one in inner.steps if not isinstance(one, Call)]
        starts.append(len(steps))
        own = [replace(one, first=starts[one.first], end=starts[one.end]) for one in self.scopes]
        ordered = sorted((*own, *scopes), key=lambda one: (one.first, -one.end))
        return replace(self, slots=slots, steps=tuple(steps), scopes=tuple(ordered))

    @cached_property
    def temporaries(self) -> tuple[str, ...]:
        """Slots that live only while the plan runs."""
        kept = {*self.operands, *self.results.values()}
        return tuple(name for name in self.slots if name not in kept)

    @cached_property
    def passes(self) -> tuple[DeviceStep, ...]:
        """Steps on the device, those of the plans that it calls in their place."""
        flat = self.flat
        return tuple(one for one in flat.steps if not isinstance(one, Host | Call) and not flat._crosses(one))

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """Results that are arrays on the device, with their layouts."""
        flat = self.flat
        storages = ((name, flat.slots[slot]) for name, slot in flat.results.items())
        return {name: one.layout for name, one in storages if isinstance(one, Storage) and one.layout is not None}

    def drawn(self, step: Pass | Dispatch) -> Region:
        """Texels that a pass draws, or a dispatch stores."""
        target = texture(self.slots[step.outputs[0]])
        return step.region or Region(0, 0, target.width, target.height)

    @property
    def cost(self) -> Cost:
        """Passes, flops, texels and bytes written, of one run."""
        flat = self.flat
        texels = nbytes = 0
        for step in flat.steps:
            if isinstance(step, Pass | Dispatch):
                region = flat.drawn(step)
                area = step.points or region.width * region.height
                texels += area * len(step.outputs)
                nbytes += area * sum(texture(flat.slots[name]).channels for name in step.outputs) * ELEMENT_BYTES
            elif isinstance(step, Transfer) and not flat._crosses(step):
                nbytes += flat.slots[step.target].nbytes
        return Cost(len(self.passes), self.flops, texels, nbytes)

    def check(self, limits: Limits | None = None) -> None:
        """Prove the rules that GL does not enforce, see `glla.passes.check`.

        Raises PlanError: a rule is broken: which pass, which slot. Raises LimitError: a texture is larger than `limits`
        allow, a pass has too many targets, or a compute shader is asked of an OpenGL that has none.
        """
        flat = self.flat
        check(flat, tuple(step for step in flat.steps if not isinstance(step, Call)), limits or Limits())

    def __str__(self) -> str:
        """Table with a line per step, and the transitions, see `glla.display.table`."""
        text: str = registry.announced("text of a plan")(self)
        return text

    def __repr__(self) -> str:
        """Show as much of the table as fits a screen, the operation itself first, without the temporaries."""
        return screen(registry.announced("text of a plan")(self, short=True))

    def _repr_html_(self) -> str:
        """Show it in a notebook: a table that folds, and the passes to run in the browser."""
        markup: str = registry.announced("html of a plan")(self) + registry.announced("player of a plan")(self)
        return markup

    def roles(self) -> Iterator[tuple[str, str, str]]:
        """Role, name and slot of all that the plan touches."""
        yield from (("operand", name, name) for name in self.operands)
        yield from (("result", name, slot) for name, slot in self.results.items())
        yield from (("temporary", name, name) for name in self.flat.temporaries)


def _unused(name: str, slots: Mapping[str, Slot]) -> str:
    """Name of a slot within a call: a result of the call may have the same one."""
    return next(one for one in chain((name,), (f"{name} {k}" for k in count(2))) if one not in slots)


def stages(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield a plan and all that may come after it, each once: name of the stage ("" for the plan itself), and plan."""
    known: set[str] = set()
    waiting: list[tuple[str, Plan]] = [("", plan)]
    while waiting:
        name, one = waiting.pop(0)
        yield name, one
        for then in one.after:
            if then.plan is not None and then.stage not in known:
                known.add(then.stage)
                waiting.append((then.stage, then.plan()))
