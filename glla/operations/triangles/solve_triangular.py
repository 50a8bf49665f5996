"""Triangular systems T X = B of the public function: `triangular` with transfers and acceptance.

The other triangle is never read. Results are checked on the host: if numbers are so near float32's limits that some
were lost, the system is substituted again there, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import SingularMatrixError
from glla.operations.acceptance import FALLBACK, NORMAL, TINY, Values, largest_of_columns, matrix_of_stack
from glla.operations.elimination import plu_batches
from glla.operations.host.substitution import ROWS, in_rounded_rows, of_given_factors
from glla.operations.layouts.blocks import read_diagonal
from glla.operations.layouts.crossing import (
    at_home,
    bring_in,
    read_back,
    records_of,
    texels_of,
    upload,
    watch,
)
from glla.operations.layouts.shapes import aligned, system
from glla.operations.product.tiles import columns_at_once, in_blocks
from glla.operations.record import Batch, Filter, Float32, Function, Layout, Operation, Taken, Way, kept
from glla.operations.systems.streams import needed
from glla.operations.triangles import triangle_batches, triangular
from glla.passes import PLAIN, Draft, Form, Forms, HostArray, Limits, Plan, Transition, matrix, resident, texture
from glla.passes.cache import cached_plan

FACTORS, AGAIN = "triangles as factors", "substitute again in float64, where numbers are near float32's limits"
IN_FLOAT64 = "substitute in float64"
"""Work of the host, by its name in plans and traces."""


class Options(Way, total=False):
    """Options of every plan of a triangular system."""

    lower: bool
    unit_diagonal: bool
    transposed: bool


def of_triangle(options: Mapping[str, Any]) -> dict[str, bool]:
    """Options of the triangle itself, without those of the variant."""
    return {name: options.get(name, False) for name in ("lower", "unit_diagonal", "transposed")}


@kept(triangular.VARIANTS)
def device_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    lower: bool = False,
    unit_diagonal: bool = False,
    transposed: bool = False,
    **way: Unpack[Way],
) -> Plan:
    """Plan of the substitution on the device: operands ``T``, of which a triangle is read, and ``B``; result ``X``."""
    return triangular.plan(forms, limits, **way, upper=lower == transposed, unit=unit_diagonal, transposed=transposed)


# -- plans of a call --------------------------------------------------------------------------------------------------

_SINGULAR = Transition("T has a zero on its diagonal", error="SingularMatrixError: names the place")


def after(again: partial[Plan]) -> tuple[Transition, ...]:
    """Stages after a substitution: an error, or once more on the host."""
    far = Transition("numbers are near float32's limits", FALLBACK, again)
    return (far,) if again.keywords["unit_diagonal"] else (_SINGULAR, far)


@kept(triangular.VARIANTS)
def call_plan(forms: Forms, limits: Limits = PLAIN, **options: Unpack[Options]) -> Plan:
    """Plan of a call: upload host operands, substitute, read back a host result.

    Of operands on the device the largest entries are read back, and T's diagonal.
    """
    (t_form, b_form), kind = forms, of_triangle(options)
    n, columns = b_form.matrix
    draft, results = Draft("solve_triangular"), dict[str, str]()
    turned = t_form.resident and t_form.transposed  # the texture holds the transpose of a
    t = bring_in(draft, "T", t_form, limits, as_stored=True)
    if t_form.resident:
        watch(draft, "T", t, (n, n), results)
        if not kind["unit_diagonal"]:
            results["diagonal"] = read_diagonal(draft, t, n, limits, "diagonal of T")
    b = bring_in(draft, "B", b_form, limits, results)
    stored = {**options, **{name: kind[name] != turned for name in ("lower", "transposed")}}
    inner = device_plan(resident((n, n), (n, columns)), limits, **stored)
    x = draft.call("substitution", inner, T=t, B=b)["X"]
    if t_form.resident or b_form.resident:
        watch(draft, "X", x, (n, columns), results)
    else:
        x = read_back(draft, x, (n, columns), limits, "X")
    return draft.plan({**results, "X": x}, after=after(partial(fallback_plan, forms, limits, **kind)))


@cached_plan
def fallback_plan(forms: Forms, limits: Limits = PLAIN, **options: bool) -> Plan:
    """Plan of the substitution on the host, in float64."""
    draft = Draft(FALLBACK)
    t, b = (at_home(draft, name, form, limits) for name, form in zip("TB", forms, strict=True))
    x = draft.host(IN_FLOAT64, lambda t, b: in_float64(t, b, **options), (t, b), {"X": forms[1].matrix})
    return draft.plan(x, triangular.flops(forms))


@cached_plan
def batched(
    forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, unit_diagonal: bool = False, transposed: bool = False
) -> Plan:
    """Plan of a stack of systems: a triangle, or its transpose, is one of two factors, and the other one is I.

    So what solves stacks with factors solves these.
    """
    flipped = lower != unit_diagonal
    inner = plu_batches.substitute(forms, limits, transposed=transposed != flipped)
    (n, columns), count = forms[1].matrix, forms[0].count
    triangles, sides = (count, n, n), (count, n, columns)
    storage = texture(inner.slots["raw"])
    options = {"lower": lower, "unit_diagonal": unit_diagonal, "transposed": transposed}

    def parted(raw: Float32) -> tuple[Float32, Float32]:
        flat = raw.reshape(-1)
        return flat[: prod(triangles)].reshape(triangles), flat[prod(triangles) :].reshape(sides)

    def factors(raw: Float32) -> tuple[Float32]:
        t, b = parted(raw)
        t = np.swapaxes(t, -1, -2) if flipped else t
        lu = np.tril(t, -1) + np.eye(n, dtype=np.float32) if unit_diagonal else np.triu(t)
        spare = np.zeros(storage.height * storage.width - raw.size, dtype=np.float32)
        return (np.concatenate([lu.reshape(-1), b.reshape(-1), spare]).reshape(-1, 1),)

    def again(raw: Float32, records: Float32) -> tuple[Float32]:
        t, b = parted(raw)
        x = records.reshape(-1)[: prod(sides)].reshape(sides)
        places = np.flatnonzero(lost(t, b, x, **options))
        if len(places):
            x = x.copy()
            (x[places],) = in_float64(t[places], b[places], **options)
        return (x,)

    draft = Draft(inner.operation)
    raw = draft.operand("raw", HostArray((count * n * (n + columns), 1)))
    (elements,) = draft.host(FACTORS, factors, (raw,), {"factors": texels_of(storage)})
    (x,) = draft.host(AGAIN, again, (raw, records_of(draft, "substitute", inner, elements)), {"X": sides})
    return draft.plan({"records": x}, after=() if unit_diagonal else (_SINGULAR,))


@cached_plan
def on_device(forms: Forms, limits: Limits = PLAIN, **options: bool) -> Plan:
    """Plan of a batch on the device, with transitions for single matrices."""
    made = triangle_batches.with_triangles(forms, limits, **options)
    again = partial(fallback_plan, tuple(Form(form.matrix) for form in forms), limits, **of_triangle(options))
    return replace(made, after=after(again))


@np.errstate(all="ignore")
def not_accepted(numbers: Mapping[str, Float32], *, unit_diagonal: bool = False, **options: bool) -> NDArray[np.bool_]:
    """Which systems of a batch lost numbers, or have a zero on the diagonal, by the diagnostics of its plan."""
    row, most = (np.maximum(numbers[name][:, 0], np.float32(unit_diagonal)) for name in ("row", "most"))
    diagonal = numbers["diagonal"][:, 0] if "diagonal" in numbers else np.full(len(row), np.inf, dtype=np.float32)
    sizes = row, most, numbers["least"][:, 0], diagonal, numbers["columns_B"], numbers["columns_X"]
    bad: NDArray[np.bool_] = lost_by(*sizes) | (diagonal == 0)
    return bad


def most(forms: Forms, limits: Limits) -> int:
    """Systems of a stack that may go at once. One alone takes fewer passes as a whole."""
    return 0 if forms[0].count == 1 else plu_batches.most_systems(forms, limits)


# -- more right-hand sides than fit at once ---------------------------------------------------------------------------


@kept(triangular.VARIANTS)
def solution(forms: Forms, limits: Limits = PLAIN, **options: Any) -> Plan:
    """Plan of the solution for a block of right-hand sides, with T on the device: a plan of one call."""
    draft = Draft("solution")
    t, b = (draft.operand(name, matrix(form.matrix)) for name, form in zip("TB", forms, strict=True))
    return draft.plan({"X": draft.call("substitution", device_plan(forms, limits, **options), T=t, B=b)["X"]})


def tiles(forms: Forms, limits: Limits = PLAIN, room: int | None = None, **options: Unpack[Options]) -> Plan | None:
    """Plan of a solution block by block of the right-hand sides; None if it goes as a whole."""
    (n, _), (_, columns) = forms[0].matrix, forms[1].matrix
    if not needed(columns, limits, room):
        return None

    def part_of(count: int) -> Plan:
        return solution(resident((n, n), (n, count)), limits, **options)

    draft = Draft("solve_triangular in blocks")
    source, b = draft.operand("T", HostArray((n, n))), draft.operand("B", HostArray((n, columns)))
    t = upload(draft, source, (n, n), limits, forms[0].transposed)
    left = None if room is None else room - matrix((n, n)).nbytes
    size = columns_at_once((n, columns), limits, left, part_of, matrix((n, n)))
    done = in_blocks(draft, b, (n, columns), size, limits, part_of(size), T=t)
    again = partial(fallback_plan, forms, limits, **of_triangle(options))
    return draft.plan({"X": done}, after=after(again))


# -- on the host ------------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")  # the range is checked afterwards
def in_float64(t: Float32, b: Float32, **options: bool) -> tuple[Float32]:
    """Substitute on the host, in float64, and round each row of the solution to float32 before it is used.

    No product of two numbers of float32 leaves float64's range. Rounded in the end instead, a solution below 2^-126
    times a large entry of T would leave a large residual. A solution of which float32 keeps too little is an error.

    >>> in_float64(np.float32([[2, 9], [0, 4]]), np.float32([[22], [8]]))[0].tolist()
    [[2.0], [2.0]]
    """
    return (in_rounded_rows("solve_triangular", t, b.astype(np.float64), **options),)


@np.errstate(all="ignore")
def lost(
    t: Float32, b: Float32, x: Float32, *, lower: bool = False, unit_diagonal: bool = False, transposed: bool = False
) -> NDArray[np.bool_]:
    """Whether numbers were lost at float32's limits, too large or too small, for each system.

    Systems that are not finite have lost nothing.
    """
    left, below = (np.swapaxes(t, -1, -2), not lower) if transposed else (t, lower)
    row, largest, least = _sizes(left, below, unit_diagonal)
    diagonal = np.inf if unit_diagonal else np.min(np.abs(np.diagonal(t, 0, -2, -1)), axis=-1, initial=np.inf)
    return lost_by(row, largest, least, diagonal, largest_of_columns(b), largest_of_columns(x))


@np.errstate(all="ignore")
def lost_by(
    row: Float32, largest: Float32, least: Float32, diagonal: Any, of_b: Float32, of_x: Float32
) -> NDArray[np.bool_]:
    """The same from sizes alone.

    `row`, `largest`, `least`: of the triangle: the smallest of the rows' largest entries, the largest, and the least
    that is not zero. `diagonal`: least magnitude on it; infinity for a diagonal of ones. `of_b`, `of_x`: largest
    magnitudes of the columns, in the last dimension.
    """
    most_x = np.max(of_x, axis=-1)
    small = (row < TINY) | ((of_b > 0) & ((of_b < TINY) | (of_x < TINY))).any(axis=-1)
    small |= (least < NORMAL) & (most_x > 1)
    small |= diagonal < NORMAL
    large = ~np.isfinite(most_x)
    finite = np.isfinite(largest) & np.isfinite(of_b).all(axis=-1)
    result: NDArray[np.bool_] = (small | large) & finite
    return result


def _sizes(t: Float32, lower: bool, unit_diagonal: bool) -> tuple[Float32, Float32, Float32]:
    """Of a triangle the smallest of the rows' largest entries, the largest entry, and the least that is not zero."""
    n = t.shape[-1]
    stack_ = t.shape[:-2]
    row, least = np.full(stack_, np.inf, dtype=np.float32), np.full(stack_, np.inf, dtype=np.float32)
    largest = np.zeros(stack_, dtype=np.float32)
    for top in range(0, n, ROWS):
        rows, columns = slice(top, top + ROWS), slice(0, top + ROWS) if lower else slice(top, n)
        part = t[..., rows, columns]
        edge = top - unit_diagonal if lower else unit_diagonal - 1
        mask = np.tri(part.shape[-2], part.shape[-1], edge)
        sizes = np.abs(np.where(mask.astype(bool) == lower, part, 0))
        of_rows = np.max(sizes, axis=-1, initial=float(unit_diagonal))
        row = np.minimum(row, np.min(of_rows, axis=-1))
        largest = np.maximum(largest, np.max(of_rows, axis=-1))
        least = np.minimum(least, np.min(sizes, axis=(-2, -1), initial=np.inf, where=sizes > 0))
    return row, largest, least


# -- what comes after -------------------------------------------------------------------------------------------------


def singular(forms: Forms, values: Values, function: str = "") -> SingularMatrixError | None:
    """Error for a triangle, or one of a batch, with a zero on its diagonal. An inverse names its `function`."""
    zeros = None if values["unit_diagonal"] else np.argwhere(diagonal(values) == 0)
    if zeros is None or not len(zeros):
        return None
    *index, place = (int(i) for i in zeros[0])
    which, inverse = values.get("which") or matrix_of_stack(tuple(index)), "inv" in (function, values.get("function"))
    return SingularMatrixError(
        f"{'inv' if inverse else 'solve_triangular'}: Singular matrix{which}: {'the triangle' if inverse else 'a'} is "
        f"zero at place {place} of its diagonal; "
        f"{'it has no inverse' if inverse else 'the system has no unique solution'}"
    )


def diagonal(values: Values) -> Float32:
    """Diagonal of T, or of all T of a stack."""
    found = values.get("diagonal")
    return np.diagonal(values["T"], axis1=-2, axis2=-1) if found is None else found[..., 0]


def was_lost(forms: Forms, values: Values) -> bool:
    """`lost`, of one system; of operands on the device by their largest entries."""
    if "largest_X" not in values:
        return bool(lost(values["T"], values["B"], values["X"], **of_triangle(values)))
    sizes = [_size(values, name) for name in "TBX"]
    some = all(size != 0 for size in sizes[:2])
    flushed = not values["unit_diagonal"] and bool((np.abs(diagonal(values)) < NORMAL).any())  # by GPUs, to zero
    return not np.isfinite(sizes[-1]) or (some and any(size < TINY for size in sizes)) or flushed


def _size(values: Values, name: str) -> float:
    """Largest entry of an operand or of the solution."""
    largest = values.get(f"largest_{name}")
    return float(np.max(np.abs(values[name])) if largest is None else largest.flat[0])


settle = of_given_factors(singular, was_lost)


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """An upper triangle that is well-conditioned, and as many right-hand sides as rows."""
    t = np.triu(rng.uniform(-1, 1, (n, n)), 1) / n + np.diag(rng.uniform(1, 2, n))
    return t.astype(np.float32), rng.uniform(0, 10, (n, n)).astype(np.float32)


SOLVE_TRIANGULAR = Operation(
    name="solve_triangular",
    formula="T X = B",
    operands=("T", "B"),
    results=("X",),
    check=partial(system, "solve_triangular", name="a"),
    flops=triangular.flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    variants=triangular.VARIANTS,
    choose=triangular.choose,
    taken=Taken(aligned=aligned, fits=True),
    batch=Batch(
        most,
        batched,
        Layout(lambda forms: forms[1].matrix),
        Filter(lost=not_accepted, host_work=(IN_FLOAT64, in_float64)),
        on_device,
    ),
    tiles=tiles,
    function=Function(vectors={"B": 1}),
    thesis="rank2",
)
