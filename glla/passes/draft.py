"""A plan in the making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from glla.errors import PlanError
from glla.passes.glsl import find as shaders
from glla.passes.plan import Call, Plan, Scope, Transition, touched
from glla.passes.steps import Block, Dispatch, Host, Pass, Region, Step, Transfer, Uniform
from glla.passes.storage import HostArray, Slot, Storage


class Draft:
    """A plan in the making: slots and passes are added one by one.

    >>> draft = Draft("copy")
    >>> source = draft.operand("A", Storage(1, 1))
    """

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self.slots: dict[str, Slot] = {}
        self.operands: list[str] = []
        self.steps: list[Step | Call] = []
        self._scopes: list[Scope] = []
        self._flops = 0
        self._calls: Counter[str] = Counter()

    def operand(self, name: str, storage: Slot) -> str:
        """Add a slot that the caller provides."""
        self.operands.append(name)
        return self.slot(name, storage)

    def slot(self, name: str, storage: Slot) -> str:
        """Add a slot that the plan itself writes."""
        if name in self.slots:
            raise PlanError(f"{self.operation}: two slots are named {name}")
        self.slots[name] = storage
        return name

    def draw(
        self,
        shader: str,
        inputs: Mapping[str, str],
        outputs: str | tuple[str, ...] | Mapping[str, Slot],
        uniforms: Mapping[str, Uniform] | None = None,
        defines: Mapping[str, shaders.Define] | None = None,
        region: Region | None = None,
        accumulate: bool = False,
        blocks: Mapping[str, Block] | None = None,
        step: int = 0,
        points: int = 0,
        barrier: bool = False,
    ) -> dict[str, str]:
        """Add a pass, to slots or to new ones by name; give them. With a `barrier` they may share one: `passes.sheet`.

        Several targets may then be the `inputs` drawn behind barriers; a fragment fetches its own texel of these alone.
        """
        for one, slot in outputs.items() if isinstance(outputs, Mapping) else ():
            self.slot(one, slot)
        targets = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        given = uniforms or {}, defines or {}, region, accumulate, blocks or {}, step, points, barrier
        self.steps.append(Pass(shader, inputs, targets, *given))
        return dict(zip(targets, targets, strict=True))

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

    def transfer(self, source: str, target: str, transposed: bool = False, region: Region | None = None) -> None:
        """Add a copy of a texture into a buffer, or into a region of another one, or between host and device."""
        self.steps.append(Transfer(source, target, transposed, region))

    def host(
        self,
        name: str,
        function: Callable[..., tuple[Any, ...]],
        inputs: tuple[str, ...],
        outputs: Mapping[str, Slot | tuple[int, ...]],
        flops: int = 0,
    ) -> dict[str, str]:
        """Add work of the CPU; `outputs`: new slots by name, shapes for arrays. Give them by name."""
        for one, slot in outputs.items():
            self.slot(one, HostArray(slot) if isinstance(slot, tuple) else slot)
        self.steps.append(Host(name, function, inputs, tuple(outputs), flops))
        self._flops += flops
        return {one: one for one in outputs}

    def call(self, name: str, plan: Plan, /, **operands: str) -> dict[str, str]:
        """Add a whole plan; give its results, by the slots that hold them.

        `name`: what it is here; its slots are called ``name.slot``. `plan`: what runs; a `Loop` runs until it stops.
        `operands`: a slot for each of its operands.

        >>> from glla.operations.layouts import packing
        >>> from glla.operations.product import matmul
        >>> from glla.passes import resident
        >>> draft = Draft("square of I")
        >>> i = draft.call("I", packing.identity((4, 4)))["I"]
        >>> c = draft.call("product", matmul.plan(resident((4, 4), (4, 4))), A=i, B=i)["C"]
        >>> draft.plan({"C": c}).cost.passes
        2
        """
        if set(operands) != set(plan.operands):
            raise PlanError(f"{self.operation}: {name} takes {sorted(plan.operands)}, got {sorted(operands)}")
        self._calls[name] += 1
        label = name if self._calls[name] == 1 else f"{name} {self._calls[name]}"
        results = {result: self.slot(f"{label}.{result}", plan.slots[slot]) for result, slot in plan.results.items()}
        self.steps.append(Call(label, plan, operands, results))
        self._flops += plan.flops
        return dict(results)

    @contextmanager
    def scope(self, name: str, number: int | None = None) -> Iterator[None]:
        """Name the steps that are added meanwhile: a turn of a loop (`number`, from 0), or a part.

        >>> draft = Draft("loop")
        >>> for k in range(3):
        ...     with draft.scope("turn", k):
        ...         pass
        """
        place, first = len(self._scopes), len(self.steps)
        try:
            yield
        finally:
            self._scopes.insert(place, Scope(name, number, first, len(self.steps)))

    def plan(self, results: Mapping[str, str], flops: int | None = None, after: tuple[Transition, ...] = ()) -> Plan:
        """Finish; by default `flops` are those of the plans that were called, and of the host's work."""
        used = {name for step in self.steps for name in touched(step)}
        slots = {n: s for n, s in self.slots.items() if n in used or n in self.operands}
        scopes = tuple(scope for scope in self._scopes if scope.end > scope.first)
        flops = self._flops if flops is None else flops
        return Plan(self.operation, slots, tuple(self.operands), dict(results), tuple(self.steps), flops, scopes, after)


def single_pass(
    operation: str,
    shader: str,
    operands: Mapping[str, Slot],
    results: Mapping[str, Slot],
    uniforms: Mapping[str, Uniform] | None = None,
    defines: Mapping[str, shaders.Define] | None = None,
    flops: int = 0,
) -> Plan:
    """Plan of one pass, from operands that are named as the shader's samplers to results, in its order of outputs."""
    draft = Draft(operation)
    inputs = {name: draft.operand(name, slot) for name, slot in operands.items()}
    return draft.plan(draft.draw(shader, inputs, results, uniforms, defines), flops)


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
        """Storage to draw to."""
        return self._pair[self._turn]

    def swap(self) -> None:
        """Make the drawn texture the front."""
        self.front = self.back
        self._turn = 1 - self._turn
