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
from glla.gl.observers import host_step
from glla.linalg import resident
from glla.linalg.routes import place
from glla.operations import OPERATIONS, Operation, lu_solve, trust
from glla.operations import solve_triangular as kernel
from glla.passes import Form

Index = tuple[int, ...]
"""Place in a stack."""

Figures = dict[str, NDArray[np.float32]]
"""Figures of the members that were looked at, by name: an array (members, 1) or (members, columns)."""

Found = tuple[Resident, NDArray[np.intp], Figures]
"""Solutions, the places of the members that were looked at, and their figures."""


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
    x, places, figures = found
    if check_finite:
        resident.refuse_nonfinite(function, "A" if function == "inv" else "a", figures["whole"][:, 0], places)
        resident.refuse_nonfinite(function, "b", figures["columns_B"].max(axis=1, initial=0), places)
    unit = 1.0 if options["unit_diagonal"] else 0.0
    diagonal = figures.get("diagonal", np.full((len(figures["row"]), 1), np.inf, dtype=np.float32))[:, 0]
    row, most = (np.maximum(figures[name][:, 0], np.float32(unit)) for name in ("row", "most"))
    least = figures["least"][:, 0]
    lost = kernel.lost_by(row, most, least, diagonal, figures["columns_B"], figures["columns_X"])
    fixes, far = {}, lost | (diagonal == 0)
    for index, (t, b) in resident.read_back(operands, places[far]):
        flaw(t, index)
        (fixes[index],) = host_step(kernel.CARE)(kernel.in_float64)(t, b, **options)
    for one in (figures["columns_X"][~far], *fixes.values()):
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
    x, places, figures = found
    if check_finite:
        resident.refuse_nonfinite("lu_solve", "lu", figures["whole"][:, 0], places)
        resident.refuse_nonfinite("lu_solve", "b", figures["most_B"][:, 0], places)
    ends = [figures[f"{end}_{name}"][:, 0] for name in "UB" for end in ("least", "most")]
    near = trust.each_near_one(np.stack([*ends, figures["diagonal"][:, 0]], axis=1))
    is_far = ~near | (figures["diagonal"][:, 0] == 0)
    far = places[is_far]
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
    finite_result("lu_solve", figures["most_X"][~is_far], check_finite)
    for one in fixes.values():
        finite_result("lu_solve", one, check_finite)
    return resident.mended(x, fixes)


def _together(
    device: Device,
    operation: Operation,
    operands: tuple[Resident, Resident],
    beside: dict[str, Resident],
    **options: Any,
) -> Found | None:
    """Send stacks through the plan of an operation; give solutions, and figures of all members or of doubtful ones."""
    batch, given = operation.batch, (*operands, *beside.values())
    assert batch is not None
    assert batch.stacked is not None
    forms = tuple(Form((prod(one.shape[:-2]), *one.shape[-2:])) for one in operands)
    plan = batch.stacked

    def run(*piece: Resident) -> Found:
        made = plan(tuple(one.form for one in piece[:2]), device.limits, **options)
        textures = {name: one.texture for name, one in zip(("A", "B", *beside), piece, strict=True)}
        results: dict[str, Any] = device.run(made, **textures)
        count, shape = prod(piece[1].shape[:-2]), piece[1].shape[-2:]
        x = Resident.wrapped(device, results.pop("matrices"), (count, *shape), "float32")
        places = np.arange(count)
        if "doubts" in results:
            places = np.flatnonzero(results.pop("doubts").reshape(-1)[:count])
        widths = {name: shape[1] if name.startswith("columns") else 1 for name in results}
        return x, places, resident.gathered(device, results, places, widths, count)

    parts = resident.in_pieces(batch.most(forms, device.limits), given, run)
    if parts is None:
        return None
    if len(parts) == 1:
        return parts[0]
    solutions, places, figures = zip(*parts, strict=True)
    firsts = np.cumsum([0, *(one.shape[0] for one in solutions[:-1])])
    return (
        shaping.concat("stack", solutions, 0),
        np.concatenate([one + first for one, first in zip(places, firsts, strict=True)]),
        {name: np.concatenate([one[name] for one in figures]) for name in figures[0]},
    )
