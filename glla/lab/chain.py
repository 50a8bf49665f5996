"""Several plans as one, so that an operation made of several can be costed, checked and compared like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from glla.passes import Block, Plan, Step, Storage, Transfer


class Chain:
    """A plan made of plans: each takes operands, or results of those before it.

    Parameters
    ----------
    operation : str
        Name of the whole.

    Examples
    --------
    >>> from glla.kernels import matmul, packing
    >>> chain = Chain("square of I")
    >>> i = chain.add(packing.identity((4, 4)))["I"]
    >>> c = chain.add(matmul.plan(4, 4, 4), A=i, B=i)["C"]
    >>> chain.plan({"C": c}).cost.passes
    2
    """

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self._slots: dict[str, Storage] = {}
        self._operands: list[str] = []
        self._steps: list[Step] = []
        self._flops = 0
        self._links = 0

    def operand(self, name: str, storage: Storage) -> str:
        """Add a slot that the caller provides."""
        self._slots[name] = storage
        self._operands.append(name)
        return name

    def add(self, plan: Plan, **operands: str) -> dict[str, str]:
        """Add the passes of a plan.

        Parameters
        ----------
        plan : Plan
            The next link; its own slots are renamed.
        **operands : str
            A slot of the chain for each operand of the plan.

        Returns
        -------
        dict of str to str
            Its results, by the slots that hold them.
        """
        self._links += 1
        names = {slot: f"{self._links}.{slot}" for slot in plan.slots} | operands
        self._slots.update({names[slot]: storage for slot, storage in plan.slots.items()})
        self._steps += [_renamed(step, names) for step in plan.steps]
        self._flops += plan.flops
        return {result: names[slot] for result, slot in plan.results.items()}

    def plan(self, results: Mapping[str, str], flops: int | None = None) -> Plan:
        """Finish; by default `flops` are those of all plans together."""
        total = self._flops if flops is None else flops
        return Plan(self.operation, self._slots, tuple(self._operands), dict(results), tuple(self._steps), total)


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    if isinstance(step, Transfer):
        return Transfer(names[step.source], names[step.target])
    return replace(
        step,
        inputs={sampler: names[slot] for sampler, slot in step.inputs.items()},
        outputs=tuple(names[slot] for slot in step.outputs),
        blocks={name: Block(names[block.slot], block.first, block.count) for name, block in step.blocks.items()},
    )
