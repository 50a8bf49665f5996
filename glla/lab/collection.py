"""The collection: every variant of every operation, with its costs. The table is generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from glla.errors import one_of
from glla.gl import Device, tuning
from glla.lab import fetches
from glla.lab.operations import Contender, contenders, find, forms, inputs, uploaded
from glla.lab.table import aligned
from glla.lab.table import markdown as in_markdown
from glla.operations import OPERATIONS
from glla.passes import PLAIN, Limits, Plan

SIZE = 256
"""Order of the matrices by default: large enough that a blocked factorisation has more than one block."""

SEED = 2007


@dataclass(frozen=True)
class Entry:
    """A line of the collection."""

    operation: str  # which one
    variant: str
    summary: str  # what is particular to it, and whose it is
    source: str
    needs: tuple[str, ...]  # what it needs beyond plain OpenGL 3.3
    n: int  # order of the matrices that these hold for
    passes: int  # render passes, transfers and dispatches
    # texels that fragments fetch, at most; None where a shader does not say, or the device that should count them
    # cannot run the variant
    fetches: int | None
    # texels that they fetch at least: fewer where it depends on the matrix, or on the place in it
    fewest_fetches: int | None
    flops: int  # additions and multiplications of the algorithm
    parameters: Mapping[str, tuple[int, ...]]  # what may be chosen, the default first


def names() -> tuple[str, ...]:
    """Operations that the collection shows by default: those with variants of their own, as `solve` has those of `plu`.

    >>> {"matmul", "plu", "rref", "triangular"} <= set(names()), "solve" in names()
    (True, False)
    """
    uses = Counter(id(variant) for one in OPERATIONS.values() for variant in one.variants.values())
    chosen = tuning.operations()
    return tuple(
        name
        for name, one in OPERATIONS.items()
        if name in chosen or (one.variants and all(uses[id(variant)] == 1 for variant in one.variants.values()))
    )


def entries(
    device: Device | None = None,
    operations: Iterable[str] | None = None,
    n: int = SIZE,
    progress: Callable[[str], object] = lambda name: None,
    limits: Limits = PLAIN,
) -> list[Entry]:
    """Cost every variant of some operations, each with its default parameters.

    In the order of the tables of variants. Passes and flops depend on n alone. So do counted fetches, but for the pivot
    search, whose branches depend on the matrix: it is always the same one.
    `device`: counts the fetches, which takes minutes where n is large, and synchronises. Without one, all figures come
    from the plans, and fetches are bounds where they depend on the matrix. `operations`: some of
    `glla.operations.OPERATIONS`; by default those of `names`. `n`: order of the matrices, at least 1. `progress`:
    called with the name of each variant, before it is looked at.
    Raises OptionError: no such operation. Raises LimitError, OutOfMemoryError: n is too large for the device.

    >>> [(entry.variant, entry.fetches) for entry in entries(operations=["matmul"], n=256)][:2]
    [('inner_product', 4194304), ('virtual_cube', 4194304)]
    """
    found = []
    for operation in [one_of("variants: operation", one, OPERATIONS) for one in operations or names()]:
        for contender in contenders(operation).values():
            if not contender.special:
                progress(f"{operation} {contender.name}")
                found.append(_entry(device, operation, contender, n, limits if device is None else device.limits))
    return found


def plan(operation: str, contender: Contender, n: int, limits: Limits = PLAIN) -> Plan:
    """Plan of a contender, for matrices of order n, with its default parameters."""
    return contender.build(forms(inputs(find(operation), n, SEED)), limits, ())


def _entry(device: Device | None, operation: str, contender: Contender, n: int, limits: Limits) -> Entry:
    steps = plan(operation, contender, n, limits)
    if device is None:
        fewest, most = fetches.estimate(steps) or (None, None)
    else:
        fewest = most = None if contender.lacks(device.limits) else count(device, operation, contender, n)
    return Entry(
        operation=operation,
        variant=contender.name,
        summary=contender.summary,
        source=contender.source,
        needs=contender.needs,
        n=n,
        passes=steps.cost.passes,
        fetches=most,
        fewest_fetches=fewest,
        flops=steps.flops,
        parameters=contender.parameters,
    )


def count(device: Device, operation: str, contender: Contender, n: int) -> int:
    """Run a contender, and count the texels that its fragments fetch. Synchronises."""
    found, steps = find(operation), plan(operation, contender, n, device.limits)
    return fetches.count(device, steps, uploaded(device, found, steps, inputs(found, n, SEED)))


BOUNDS = "fetches: the fewest to the most that plan and shaders allow; --count runs them, and counts"
HEAD = ("operation", "variant", "source", "passes", "fetches", "flop", "needs")


def cells(entry: Entry) -> tuple[str, ...]:
    """Write an entry as a row below `HEAD`."""
    known = {} if entry.fetches is None else dict.fromkeys((entry.fewest_fetches, entry.fetches))
    fetched, needs = " to ".join(map(str, known)) or "-", ", ".join(entry.needs) or "OpenGL 3.3"
    return entry.operation, entry.variant, entry.source, str(entry.passes), fetched, str(entry.flops), needs


def text(found: list[Entry], where: str) -> str:
    """Write the table as aligned text, with the device that it is for; below it summary and parameters."""
    notes = [
        f"  {entry.operation} {entry.variant}: {entry.summary}"
        + "".join(f"; {name} = {', '.join(map(str, values))}" for name, values in entry.parameters.items())
        for entry in found
    ]
    bounded = any(entry.fewest_fetches != entry.fetches for entry in found)
    table = aligned(HEAD, list(map(cells, found)))
    return "\n".join([f"n = {found[0].n}, for {where}", table, *([BOUNDS] if bounded else []), "", *notes])


def markdown(found: list[Entry]) -> str:
    """Write the table as Markdown."""
    return in_markdown(HEAD, map(cells, found))
