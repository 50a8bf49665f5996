"""What is run: the table of cases.

A `Subject` is an operation at the sizes and with the operands that a question asks for; inputs, plans, judges and peers
are the operation's own. `LARGEST` says which variants of it run up to which size only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glla import linalg
from glla.gl import Device
from glla.lab import operations, peers
from glla.lab.bench import SEED
from glla.lab.operations import Arrays, Contender, Job, find
from glla.lab.peers import Peer
from glla.operations import OPERATIONS as RECORDS
from glla.operations import Operation
from glla.operations.elimination import plu, rref
from glla.passes import PLAIN, Limits, forms_of
from glla.testing import JUDGES, Verdict

SMALL_SIZES = (8, 16, 32, 64, 128, 256)
"""Orders of the systems that are solved one at a time."""

STACKS = ((1000, 8), (100, 32), (64, 64))
"""(systems in a stack, their order)."""

ANY = 1 << 30
LARGEST = {
    # (subject, variant; "" for the public function): largest size on a GPU, on a software rasteriser
    **dict.fromkeys(  # blend-bound: 16 GFLOP/s on an H200
        [("matmul", name) for name in ("virtual_cube", "virtual_cube_ping_pong", "rank_one")], (1024, 256)
    ),
    **dict.fromkeys(  # of historical interest, and up to ten times slower than the others
        [("matmul", name) for name in ("single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output")],
        (1024, 512),
    ),
    **dict.fromkeys([("plu", name) for name in plu.MANNERS], (1024, 256)),  # 9 passes for two columns
    ("plu", "rank2"): (ANY, 512),
    **dict.fromkeys([("rref", name) for name in rref.VARIANTS], (ANY, 512)),
    ("inv", ""): (ANY, 256),
    ("det", ""): (ANY, 512),
    ("triangular", "rank2"): (1024, 256),  # writes all of X n / 2 times
}
"""Sizes above which a variant is left out; all others of `ASKED` have none, and other subjects 256 in software."""


@dataclass(frozen=True)
class Case:
    """One thing to verify and time: a subject, a variant of its operation, an order of matrix."""

    operation: str
    variant: str
    n: int

    def __str__(self) -> str:
        return f"{self.operation}{f'[{self.variant}]' if self.variant else ''} n = {self.n}"


@dataclass(frozen=True)
class Subject:
    """An operation, and what it is tried with."""

    operation: str  # a key of `glla.operations.OPERATIONS`
    function: Callable[..., Any] | None = None  # the public function, where that is timed; None where the variants are
    count: int = 0  # systems in a stack, which runs end to end alone; 0 for one system at a time
    stays: bool = True  # timed with operands and results on the device, too
    # orders of its own, up to the largest that is asked for; by default those that are asked for
    sizes: tuple[int, ...] = ()

    @property
    def about(self) -> Operation:
        """The operation."""
        return find(self.operation)

    @property
    def thesis(self) -> str:
        """The thesis's own variant, that others are compared with; '' where no variants are."""
        return "" if self.function else self.about.thesis

    @property
    def contenders(self) -> dict[str, Contender]:
        """The variants by name, the thesis's own first; none where the public function is timed."""
        if self.function:
            return {}
        found = operations.contenders(self.operation)
        return {name: one for name, one in found.items() if not one.special and name != "row_operations_full"}

    def operands(self, n: int) -> Arrays:
        """Make operands of order n: always the same."""
        examples = [operations.inputs(self.about, n, SEED + place) for place in range(max(1, self.count))]
        if self.count:
            return tuple(np.stack(part) for part in zip(*examples, strict=True))
        return examples[0]

    def flops(self, arrays: Arrays) -> int:
        """Additions and multiplications."""
        return self.about.flops(forms_of(arrays))

    def judge(self, arrays: Arrays, result: Any) -> Verdict:
        """Judge a result; of a stack, the worst of its members."""
        judge = JUDGES[self.operation].verdict
        if not self.count:
            return judge(arrays, result)
        verdicts = [judge(tuple(member), x) for *member, x in zip(*arrays, result, strict=True)]
        return max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))

    def prepare(self, device: Device, arrays: Arrays, variant: str) -> Job:
        """Make it ready on a device."""
        if self.function:
            return operations.called(device, self.function, arrays, self.stays)
        return operations.prepare(device, self.about, self.contenders[variant], arrays)

    @property
    def peer(self) -> Peer:
        """Who does the same on the CPU."""
        found = peers.STACK if self.count else peers.peer_of(self.about)
        assert found is not None, f"{self.operation} has no counterpart on the CPU"
        return found

    def peer_operands(self, n: int) -> Arrays:
        """Operands of the peer."""
        return self.peer.given(*self.operands(n))

    def peer_size(self, n: int) -> str:
        """What is said of the size of the peer's work."""
        return f"{self.count} of n = {n}" if self.count else f"n = {n}"


ASKED: dict[str, Subject] = {
    "matmul": Subject("matmul"),
    "plu": Subject("plu"),
    "rref": Subject("rref"),
    "solve": Subject("solve", linalg.solve),
    "inv": Subject("inv", linalg.inv),
    "det": Subject("slogdet", linalg.slogdet),
    "small": Subject("solve", linalg.solve, stays=False, sizes=SMALL_SIZES),
    **{f"stack_{m}": Subject("solve", linalg.solve, count=m, stays=False, sizes=(n,)) for m, n in STACKS},
}
"""Subjects with a name of their own in the results: sizes, stacks and shapes beside the usual ones."""


def subjects() -> dict[str, Subject]:
    """List all: those that were asked about, and every operation whose plans none of them runs."""
    known = {subject.about.device_plan for subject in ASKED.values()}
    others = {
        name: Subject(name) for name, one in RECORDS.items() if one.trial.values is None or one.device_plan not in known
    }
    return ASKED | others


OPERATIONS = subjects()
"""All subjects, by their names in the results."""


def select(names: Sequence[str], sizes: Sequence[int], software: bool, limits: Limits = PLAIN) -> Iterator[Case]:
    """List the cases of some subjects that a device can run, small sizes first."""
    for name in names:
        subject = OPERATIONS[name]
        chosen = [n for n in subject.sizes if n <= max(sizes)] or sizes[:1] if subject.sizes else sizes
        able = {variant: not one.lacks(limits) for variant, one in subject.contenders.items()} or {"": True}
        for n in sorted(chosen):
            for variant in (variant for variant in able if able[variant]):
                usual = (ANY, ANY if name in ASKED else 256)
                if n <= LARGEST.get((name, variant), usual)[software]:
                    yield Case(name, variant, n)
