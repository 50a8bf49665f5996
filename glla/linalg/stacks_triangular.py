"""Stacks on a device that are solved with triangles, all members by one plan: see `glla.operations.resident_triangles`.

Members that were lost at float32's limits, and those that may be singular, are read back and done again by the host.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import shaping
from glla.array.convert import Array, finite_result
from glla.array.value import Resident, from_array
from glla.gl import Device
from glla.gl.observe import host_step
from glla.linalg import resident
from glla.linalg.stacks_definite import Index, place
from glla.operations import OPERATIONS, Operation, lu_solve, trust
from glla.operations import solve_triangular as kernel
from glla.passes import Form

Figures = dict[str, NDArray[np.float32]]
"""Figures of a stack that were read back, by name: an array (members, 1) or (members, columns)."""


def with_triangles(
    function: str,
    operands: tuple[Resident, Resident],
    flaw: Callable[[Array, int], None],
    device: Device,
    check_finite: bool,
    **options: bool,
) -> Resident | None:
    """Solve T X = B for a stack on the device together; None if the members go one by one.

    Parameters
    ----------
    function : str
        That was called, for messages.
    operands : (Resident, Resident)
        T and B, stacks of one shape.
    flaw : callable
        (T of a member, its number) -> nothing, or raises an error if it is singular.
    device : Device
        Where.
    check_finite : bool
        NaN and infinity in operands are errors, and so are solutions that do not fit float32.
    **options
        Of `glla.operations.solve_triangular`.
    """
    found = _together(device, OPERATIONS["solve_triangular"], operands, {}, **options)
    if found is None:
        return None
    x, figures = found
    if check_finite:
        resident.refuse_nonfinite(function, "A" if function == "inv" else "a", figures["whole"])
        resident.refuse_nonfinite(function, "b", figures["columns_B"].max(axis=1))
    unit = 1.0 if options["unit_diagonal"] else 0.0
    diagonal = figures.get("diagonal", np.full((len(figures["row"]), 1), np.inf, dtype=np.float32))[:, 0]
    row, most = (np.maximum(figures[name][:, 0], np.float32(unit)) for name in ("row", "most"))
    least = figures["least"][:, 0]
    lost = kernel.lost_by(row, most, least, diagonal, figures["columns_B"], figures["columns_X"])
    fixes = {}
    for index, (t, b) in resident.read_back(operands, np.flatnonzero(lost | (diagonal == 0))):
        flaw(t, index)
        (fixes[index],) = host_step(kernel.CARE)(kernel.in_float64)(t, b, **options)
    stands = np.setdiff1d(np.arange(len(row)), list(fixes))
    for one in (figures["columns_X"][stands], *fixes.values()):
        finite_result(function, one, check_finite)
    return resident.mended(x, fixes)


def with_factors(
    operands: tuple[Resident, Resident],
    order: NDArray[np.intp],
    transposed: bool,
    stack: Index,
    careful: Callable[[Array, Array, NDArray[np.intp]], Array],
    device: Device,
    check_finite: bool,
) -> Resident | None:
    """Solve P L U X = B, or with the transpose, for a stack on the device together; None if they go one by one.

    Parameters
    ----------
    operands : (Resident, Resident)
        Packed factors and B, stacks of one shape.
    order : ndarray of int, shape (members, n)
        Which row of B comes to which place.
    transposed : bool
        With the transpose.
    stack : tuple of int
        Dimensions of the stack, for messages.
    careful : callable
        (factors, B, their numbers) -> X of members that were read back.
    device, check_finite
        As in `with_triangles`.
    """
    rows = np.argsort(order) if transposed else order
    numbers = from_array(rows.astype(np.int32).reshape(*operands[1].shape[:-1], 1), device)
    found = _together(device, OPERATIONS["lu_solve"], operands, {"I": numbers}, transposed=transposed)
    if found is None:
        return None
    x, figures = found
    if check_finite:
        resident.refuse_nonfinite("lu_solve", "lu", figures["whole"])
        resident.refuse_nonfinite("lu_solve", "b", figures["most_B"])
    ends = [figures[f"{end}_{name}"][:, 0] for name in "UB" for end in ("least", "most")]
    near = trust.each_near_one(np.stack([*ends, figures["diagonal"][:, 0]], axis=1))
    far = np.flatnonzero(~near | (figures["diagonal"][:, 0] == 0))
    given = dict(resident.read_back(operands, far))
    diagonals = np.ones((*stack, rows.shape[1]), dtype=np.float32)
    for index, (lu, _) in given.items():
        diagonals[place(index, stack)] = np.diagonal(lu)
    verdict = lu_solve.settle((Form(operands[0].shape),), "", {"diagonal": diagonals})
    if isinstance(verdict, Exception):
        raise verdict
    fixes: dict[int, Array] = {}
    if given:
        lus, rights = map(np.stack, zip(*given.values(), strict=True))
        fixes = dict(zip(given, careful(lus, rights, far), strict=True))
    finite_result("lu_solve", np.delete(figures["most_X"], far), check_finite)
    for one in fixes.values():
        finite_result("lu_solve", one, check_finite)
    return resident.mended(x, fixes)


def _together(
    device: Device,
    operation: Operation,
    operands: tuple[Resident, Resident],
    beside: dict[str, Resident],
    **options: Any,
) -> tuple[Resident, Figures] | None:
    """Send stacks through the plan of an operation; give solutions and figures."""
    batch, given = operation.batch, (*operands, *beside.values())
    assert batch is not None
    assert batch.stacked is not None
    forms = tuple(Form((prod(one.shape[:-2]), *one.shape[-2:])) for one in operands)
    plan = batch.stacked

    def run(*piece: Resident) -> tuple[Resident, Figures]:
        made = plan(tuple(one.form for one in piece[:2]), device.limits, **options)
        textures = {name: one.texture for name, one in zip(("A", "B", *beside), piece, strict=True)}
        results: dict[str, Any] = device.run(made, **textures)
        count, shape = prod(piece[1].shape[:-2]), piece[1].shape[-2:]
        x = Resident.wrapped(device, results.pop("matrices"), (count, *shape), "float32")
        width = {name: shape[1] if name.startswith("columns") else 1 for name in results}
        return x, {name: one[: count * width[name]].reshape(count, -1) for name, one in results.items()}

    parts = resident.in_pieces(batch.most(forms, device.limits), given, run)
    if parts is None:
        return None
    solutions, figures = zip(*parts, strict=True)
    joined = solutions[0] if len(parts) == 1 else shaping.concat("stack", solutions, 0)
    return joined, {name: np.concatenate([one[name] for one in figures]) for name in figures[0]}
