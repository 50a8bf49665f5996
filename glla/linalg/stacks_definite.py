"""Stacks of positive definite matrices on their way: all members by one plan, on the host's side or on the device's.

A member that is not positive definite is an error that names it. One that must be scaled goes on alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glla.array.convert import Array, finite_result
from glla.array.value import Resident
from glla.errors import GllaError
from glla.gl import Device
from glla.linalg import resident
from glla.linalg.routes import batched, doubtful
from glla.linalg.walk import Perform, walk
from glla.operations import OPERATIONS, Operation
from glla.operations.elimination.cholesky import flaw
from glla.operations.elimination.definite import settle_solve
from glla.operations.trust import member_of_stack
from glla.operations.verdict import Done, Verdict
from glla.passes import Forms

Index = tuple[int, ...]
"""Place in a stack."""

GIVEN_FACTORS = ("cho_solve", "cho_solve_banded")
"""Operations whose stacks are factors."""


def of_arrays(
    name: str, function: str, operands: Sequence[Array], result: str, device: Device, stack: Index, **options: Any
) -> Any:
    """Do a stack of arrays of the host together.

    Parameters
    ----------
    name : str
        Of the operation.
    function : str
        That was called, for messages.
    operands : sequence of ndarray of float32
        Stacks with one dimension, of which the lower halves are read.
    result : str
        What a member gives that goes on alone, by its name in the values of a walk.
    device : Device
        Where.
    stack : tuple of int
        Dimensions of the stack, for messages.
    **options
        Of the operation.

    Returns
    -------
    ndarray of float32 or None
        None if the members go one by one.
    """
    operation = OPERATIONS[name]
    records = batched(device, operation, operands, **options)
    if records is None:
        return None
    found, figures = records
    alone = doubtful(device, operation, tuple(operands), *records, **options)
    far = {index: (forms, perform) for index, forms, perform in alone}
    for index in _looked_at(figures, far):
        member = member_of_stack(place(index, stack))
        if index in far:
            values = {**_values(operation, function, [part[index] for part in operands], member), **options}
            found[index] = walk(operation, far[index][0], far[index][1], values, _stage(operation, far[index][0]))[
                result
            ]
        else:
            _refuse_a_flaw(operation, function, figures[index, 0], member)
    return found


def on_device(
    name: str,
    function: str,
    operands: tuple[Resident, ...],
    result: str,
    device: Device,
    stack: Index,
    check_finite: bool,
    refuse: bool = True,
    **options: Any,
) -> Resident | None:
    """Do a stack on the device together; None if the members go one by one.

    As `of_arrays`. With `refuse` NaN and infinity in operands are errors, unless `check_finite` is false.
    """
    operation = OPERATIONS[name]
    found = resident.together(device, operation, operands, check_finite and refuse, **options)
    if found is None or found.matrices is None:
        return None
    batch = operation.batch
    assert batch is not None and batch.doubtful is not None
    if not len(found.places):
        return found.matrices
    lost = np.flatnonzero(~np.isfinite(found.norms).all(axis=1))
    lost = np.union1d(lost, batch.doubtful(found.extremes, found.upper, found.figures))
    far, fixes = set(found.places[lost].tolist()), dict[int, Array]()
    read = dict(resident.read_back(operands, np.array(sorted(far), dtype=np.intp)))
    for index in _looked_at(found.figures, far, found.places):
        member = member_of_stack(place(index, stack))
        if index in far:
            given = read[index]
            values = {**_values(operation, function, given, member), **options}
            forms, perform = _alone(device, operation, given, options)
            made = walk(operation, forms, perform, values, _stage(operation, forms))[result]
            fixes[index] = finite_result(function, made, check_finite)
        else:
            _refuse_a_flaw(operation, function, found.figures_of(index)[0], member)
    return resident.mended(found.matrices, fixes)


def place(index: int, stack: Index) -> Index:
    """Place of a member in a stack of these dimensions."""
    return tuple(int(i) for i in np.unravel_index(index, stack))


def _looked_at(figures: Array, far: Any, places: Any = None) -> Iterator[int]:
    """Members that are far from 1, or may not be positive definite, in order; figures are of all, or of some."""
    bad = np.flatnonzero(~(figures[:, 0] > 0).all(axis=1))
    bad = bad if places is None else places[bad]
    return iter(sorted({*far, *map(int, bad)}))


def _alone(
    device: Device, operation: Operation, given: Sequence[Array], options: dict[str, Any]
) -> tuple[Forms, Perform]:
    first, members = np.zeros(1, dtype=np.intp), tuple(one[np.newaxis] for one in given)
    ((_, forms, perform),) = doubtful(device, operation, members, places=first, **options)
    return forms, perform


def _stage(operation: Operation, forms: Forms) -> str:
    """Name of the stage that comes for a member."""
    return "one by one" if operation.name in GIVEN_FACTORS else "care"


def _values(operation: Operation, function: str, given: Sequence[Array], member: str) -> dict[str, Any]:
    return {**dict(zip(operation.operands, given, strict=True)), "function": function, "member": member}


def _refuse_a_flaw(operation: Operation, function: str, diagonal: Array, member: str) -> None:
    """Raise if the diagonal of L is that of a matrix that is not positive definite, or of no factor."""
    verdict: Verdict
    if operation.name in GIVEN_FACTORS:
        verdict = settle_solve((), "", {"diagonal": diagonal, "member": member, "function": function})
    else:
        verdict = flaw(function, diagonal, member) or Done()
    if isinstance(verdict, GllaError):
        raise verdict
