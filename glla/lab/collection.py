"""The collection: every variant of every operation, with what it costs. The table is made, not written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from glla import testing
from glla.device import Device, Texture
from glla.errors import OptionError
from glla.kernels import matmul, plu, rref
from glla.lab import fetches
from glla.passes import Plan, Variant

SIZE = 256
"""Order of the matrices by default: large enough that a blocked factorisation has more than one block."""

SEED = 2007

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Entry:
    """A line of the collection.

    Attributes
    ----------
    operation, variant : str
        Which one.
    summary, source : str
        What is particular to it, and whose it is.
    needs : tuple of str
        What it needs beyond plain OpenGL 3.3.
    n : int
        Order of the matrices that these hold for.
    passes : int
        Render passes, transfers and dispatches.
    fetches : int or None
        Texels that fragments fetch, at most; None where a shader does not say, or the device that should count them
        cannot run the variant.
    fewest_fetches : int or None
        Texels that they fetch at least: fewer where it depends on the matrix, or on the place in it.
    flops : int
        Additions and multiplications of the algorithm.
    parameters : mapping of str to tuple of int
        What may be chosen, the default first.
    """

    operation: str
    variant: str
    summary: str
    source: str
    needs: tuple[str, ...]
    n: int
    passes: int
    fetches: int | None
    fewest_fetches: int | None
    flops: int
    parameters: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class _Operation:
    """How the collection makes plans and operands: (n, variant) -> plan, (n, random numbers) -> arrays."""

    kernel: ModuleType
    plan: Callable[[int, str], Plan]
    operands: Callable[[int, np.random.Generator], dict[str, Array]]

    @property
    def variants(self) -> Mapping[str, Variant]:
        """The table of its variants."""
        table: Mapping[str, Variant] = self.kernel.VARIANTS
        return table


def _augmented(n: int, rng: np.random.Generator) -> Array:
    a = testing.uniform(n, n, rng)
    return np.column_stack([a, a.sum(axis=1)]).astype(np.float32)


OPERATIONS = {
    "matmul": _Operation(
        matmul,
        lambda n, variant: matmul.plan(n, n, n, variant),
        lambda n, rng: {"A": testing.normal(n, n, rng), "B": testing.normal(n, n, rng)},
    ),
    "plu": _Operation(
        plu,
        lambda n, variant: plu.plan((n, n), variant=variant),
        lambda n, rng: {"A": testing.uniform(n, n, rng)},
    ),
    "rref": _Operation(
        rref,
        lambda n, variant: rref.plan((n, n + 1), variant=variant),
        lambda n, rng: {"A": _augmented(n, rng)},
    ),
}
"""What there are several variants of: the product of two matrices of order n, the factors of one, [A | b] reduced."""


def entries(
    device: Device | None = None,
    operations: Iterable[str] = tuple(OPERATIONS),
    n: int = SIZE,
    progress: Callable[[str], object] = lambda name: None,
) -> list[Entry]:
    """Cost every variant of some operations, each with its default parameters.

    Parameters
    ----------
    device : Device, optional
        Counts the fetches, which takes minutes where n is large, and synchronises. Without one, all figures come from
        the plans, and fetches are bounds where they depend on the matrix.
    operations : iterable of str
        Keys of `OPERATIONS`.
    n : int
        Order of the matrices, at least 1.
    progress : callable
        Called with the name of each variant, before it is looked at.

    Returns
    -------
    list of Entry
        In the order of the tables of variants. Passes and flops depend on n alone. So do counted fetches, but for the
        pivot search, whose branches depend on the matrix: it is always the same one.

    Raises
    ------
    OptionError
        No such operation.
    LimitError, OutOfMemoryError
        n is too large for the device.

    Examples
    --------
    >>> [(entry.variant, entry.fetches) for entry in entries(operations=["matmul"], n=4096)][:2]
    [('inner_product', 17179869184), ('virtual_cube', 17179869184)]
    """
    found = []
    for operation in list(map(_known, operations)):
        for name in OPERATIONS[operation].variants:
            progress(f"{operation} {name}")
            found.append(_entry(device, operation, name, n))
    return found


def _known(operation: str) -> str:
    if operation not in OPERATIONS:
        raise OptionError(f"variants: operation must be one of {', '.join(OPERATIONS)}, got {operation!r}")
    return operation


def _entry(device: Device | None, operation: str, name: str, n: int) -> Entry:
    maker = OPERATIONS[operation]
    variant = maker.variants[name]
    plan = maker.plan(n, name)
    if device is None:
        fewest, most = fetches.estimate(plan) or (None, None)
    else:
        fewest = most = None if variant.lacks(device.limits) else _fetches(device, maker, plan, n)
    return Entry(
        operation=operation,
        variant=name,
        summary=variant.summary,
        source=variant.source,
        needs=variant.needs,
        n=n,
        passes=plan.cost.passes,
        fetches=most,
        fewest_fetches=fewest,
        flops=plan.flops,
        parameters=variant.parameters,
    )


def _fetches(device: Device, maker: _Operation, plan: Plan, n: int) -> int:
    arrays = maker.operands(n, np.random.default_rng(SEED))
    textures: dict[str, Texture] = {name: device.upload(array) for name, array in arrays.items()}
    if "tolerance" in plan.operands:
        textures["tolerance"] = device.write_texels(np.zeros((1, 1, 2), dtype=np.float32))
    return fetches.count(device, plan, textures)


BOUNDS = "fetches: the fewest to the most that plan and shaders allow; --count runs them, and counts"
HEAD = ("operation", "variant", "source", "passes", "fetches", "flop", "needs")


def cells(entry: Entry) -> tuple[str, ...]:
    """Write an entry as a row below `HEAD`."""
    return (
        entry.operation,
        entry.variant,
        entry.source,
        str(entry.passes),
        _fetched(entry),
        str(entry.flops),
        ", ".join(entry.needs) or "OpenGL 3.3",
    )


def _fetched(entry: Entry) -> str:
    if entry.fetches is None:
        return "-"
    return str(entry.fetches) if entry.fewest_fetches == entry.fetches else f"{entry.fewest_fetches} to {entry.fetches}"


def text(found: list[Entry]) -> str:
    """Write the table as aligned text, what is particular to each variant and its parameters below."""
    rows = [HEAD, *map(cells, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    numbers = {HEAD.index(name) for name in ("passes", "fetches", "flop")}
    table = [
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    notes = [f"  {entry.operation} {entry.variant}: {entry.summary}{_choices(entry)}" for entry in found]
    bounded = any(entry.fewest_fetches != entry.fetches for entry in found)
    return "\n".join([f"n = {found[0].n}", *table, *([BOUNDS] if bounded else []), "", *notes])


def _choices(entry: Entry) -> str:
    return "".join(f"; {name} = {', '.join(map(str, values))}" for name, values in entry.parameters.items())


def markdown(found: list[Entry]) -> str:
    """Write the table as Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (HEAD, *map(cells, found))]
    return "\n".join([lines[0], "|" + "---|" * len(HEAD), *lines[1:]])
