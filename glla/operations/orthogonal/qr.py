"""QR factorisation A = Q R: Q with orthonormal columns, R upper triangular.

    columns scaled by powers of two --> reflectors, two columns a step --> R, scaled back
                                                      |
                                                      +--> I, reflected from the last pair to the first --> Q

Scaling columns is exact and keeps Q, so that no square leaves float32's range. R's diagonal has LAPACK's signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, one_of
from glla.operations.elimination import equilibrate
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import bring_in, read_back, read_texels, watch
from glla.operations.orthogonal import qr_blocks, qr_rows
from glla.operations.orthogonal.qr_pairs import applied, pairs, reflectors, upper
from glla.operations.orthogonal.qr_stack import MOST_COLUMNS, batch
from glla.operations.orthogonal.qr_tall import Tree
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Trial, Way, builder, resolved
from glla.operations.routes import must_fit_a_texture
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

VARIANTS = {
    "householder": Variant(
        "two columns a step: three passes, each over all that remains",
        'Golub and Van Loan, "Matrix computations" (2013), section 5.2; LAPACK geqr2',
    ),
    "blocked": Variant(
        "panels of 32 columns; what remains is updated by matrix products and a substitution",
        'Joffrain, Low, Quintana-Orti, van de Geijn and Van Zee, "Accumulating Householder transformations, revisited" '
        "(2006); LAPACK geqrf",
        parameters={"PANEL": (32, 16, 64)},
        on_gpu={"PANEL": 64},  # a guess
    ),
    "tsqr": Variant(
        "blocks of rows all at once, then their R's likewise: a tree, for tall matrices; modes reduced and r",
        'Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU factorizations" '
        "(2012)",
        parameters={"ROWS": (128, 64, 256)},
    ),
}

MODES = ("reduced", "complete", "r", "raw")
"""Results, by NumPy's names: Q and R with min(m, n) columns, with all columns, R only, or the reflectors."""

BLOCKED_FROM, BLOCKED_FROM_IN_SOFTWARE = MOST_COLUMNS + 1, 96
"""Smaller sides from which `blocked` is chosen, on a GPU and on a software rasteriser; the first one is a guess."""

BLOCKED_TO = 64
"""Rows for each column up to which `blocked` is chosen: errors of its sums, by two levels, grow with the rows."""

TALL, TALL_FROM = 16, 512
"""Rows for each column, and rows, from which `tsqr` is chosen on a GPU; a guess."""


def choose(forms: Forms, limits: Limits, mode: str = "reduced") -> Choice:
    """Pick the variant: the tuned one, else by size."""
    m, n = forms[0].matrix
    tuned = limits.tuning("qr", m, n)
    if tuned is not None and (tuned.variant != "tsqr" or mode in ("reduced", "r")):
        return tuned.variant, tuned.parameters
    if not limits.software and mode in ("reduced", "r") and m >= TALL * n and m > TALL_FROM:
        return "tsqr", ()
    blocked = min(m, n) >= (BLOCKED_FROM_IN_SOFTWARE if limits.software else BLOCKED_FROM)
    return ("blocked" if blocked and m <= BLOCKED_TO * n else "householder"), ()


def flops(forms: Forms) -> int:
    """Additions and multiplications for Q, reduced, and R, as LAPACK counts them for geqrf and orgqr."""
    m, n = forms[0].matrix
    k = min(m, n)
    third = 2 * k**3 // 3
    return forms[0].count * (2 * max(m, n) * k * k - third + 2 * m * k * k - third)


def sides(shape: Shape, mode: str) -> tuple[Shape, Shape]:
    """Shapes of Q and R.

    >>> sides((3, 2), "reduced"), sides((3, 2), "complete")
    (((3, 2), (2, 2)), ((3, 3), (3, 2)))
    """
    m, n = shape
    inner = m if mode == "complete" else min(m, n)
    return (m, inner), (inner, n)


@builder("qr", VARIANTS, choose, heeds=("mode",))
def plan(forms: Forms, limits: Limits, chosen: Chosen, mode: str = "reduced") -> Plan:
    """Plan of the factorisation of an m x n matrix on the device, m and n > 0.

    Operand ``A``. Results ``Q`` and ``R``; with "r" ``R`` alone; with "raw" ``H``, R with the reflectors below its
    diagonal, and ``T``, a row of texels with tau of columns 2k and 2k + 1 in its first and last channel. With k =
    min(m, n), ``householder`` takes 3 ceil(k / 2) passes for R and 2 ceil(k / 2) for Q, and 5 beside; ``blocked`` those
    for R, and some 15 for each panel.

    `mode`: one of `MODES`.
    """
    one_of("qr: mode", mode, MODES)
    shape = forms[0].matrix
    if chosen.variant == "tsqr" and mode not in ("reduced", "r"):
        raise OptionError(f"qr: mode must be reduced or r with variant tsqr, got {mode!r}; use householder or blocked")
    draft = Draft(chosen.title)
    way: Way = {"variant": chosen.variant, "parameters": tuple(chosen.values.items())}
    found = factored(draft, draft.operand("A", matrix(shape)), shape, limits, **way)
    exponents, lying = {"column_exponents": found.exponents}, found.lying
    tall, wide = sides(shape, mode)
    if mode == "raw":
        h = draft.call("R", upper(shape, shape, keep=True), H=found.packed, **exponents)["R"]
        return draft.plan({"H": h, "T": found.pairs(draft)}, flops(forms))
    results = {"R": draft.call("R", upper(lying, wide), H=found.packed, **exponents)["R"]}
    if mode != "r":
        results["Q"] = orthogonal(draft, found, tall, limits)
    return draft.plan(results, flops(forms))


@dataclass(frozen=True)
class Factored:
    """Slots of a factorisation."""

    shape: Shape  # of A
    packed: str  # R of the scaled matrix, with the reflectors below its diagonal
    exponents: str  # of the columns, by which R is scaled back
    panels: dict[str, str]  # of a factorisation by panels: the results of `qr_blocks.factors`
    width: int = 0  # ... and columns of a panel
    tree: Tree | None = None

    @property
    def lying(self) -> Shape:
        """Shape of the matrix in `packed`: of a tree the last level."""
        return self.shape if self.tree is None else self.tree.last

    def pairs(self, draft: Draft) -> str:
        """Slot of T of each pair of reflectors, added to a draft if need be."""
        return self.panels.get("T") or draft.call("pairs", pairs(self.shape), H=self.packed)["T"]


def factored(draft: Draft, source: str, shape: Shape, limits: Limits, **way: Unpack[Way]) -> Factored:
    """Add a factorisation to a draft that is made of plans."""
    variant, values = resolved("qr", VARIANTS, choose, resident(shape), limits, **way)
    given = draft.call("scaled", equilibrate.columns(shape), A=source)
    scaled, exponents = given["scaled"], given["column_exponents"]
    if variant == "tsqr":
        tree = Tree(draft, shape, values["ROWS"], limits)
        return Factored(shape, tree.factor(scaled), exponents, {}, tree=tree)
    if variant == "householder":
        return Factored(shape, draft.call("reflectors", reflectors(shape, limits), A=scaled)["H"], exponents, {})
    width = values["PANEL"]
    panels = draft.call("panels", qr_blocks.factors(shape, width, limits), A=scaled)
    return Factored(shape, panels["H"], exponents, panels, width)


def orthogonal(draft: Draft, found: Factored, shape: Shape, limits: Limits) -> str:
    """Add the first columns of Q to the draft; give their slot."""
    if found.tree is not None:
        return found.tree.q()
    if found.panels:
        return draft.call("Q", qr_blocks.orthogonal(found.shape, shape[1], found.width, limits), **found.panels)["Q"]
    start = draft.call("identity", packing.identity(shape))["I"]
    made = applied(found.shape, shape[1], limits)
    return draft.call("Q", made, H=found.packed, T=found.pairs(draft), B=start)["B"]


@cached_plan
def call_plan(
    forms: Forms, limits: Limits = PLAIN, *, mode: str = "reduced", watched: bool = True, **way: Unpack[Way]
) -> Plan:
    """Plan of a call: the factors, and their read-back where the matrix came from the host.

    If factors that stay on the device are `watched`, the largest entry of R, or of H, is read: it is finite only if
    they are. A matrix taller than a texture goes block by block of rows, in modes "reduced" and "r", see
    `glla.operations.orthogonal.qr_rows`.
    """
    (form,) = forms
    if mode in ("reduced", "r") and qr_rows.is_tall(form.matrix, limits):
        return _in_blocks_of_rows(form, limits, mode, watched, **way)
    if not form.resident:
        must_fit_a_texture("qr", form.matrix, limits)
    draft = Draft("qr")
    a = bring_in(draft, "A", form, limits)
    device_plan = plan(resident(form.matrix), limits, **way, mode=mode)
    found = draft.call("factors", device_plan, A=a)
    results = dict(found)
    shapes = dict(zip("QR", sides(form.matrix, mode), strict=True)) | {"H": form.matrix}
    if "T" in found:
        results["T"] = read_texels(draft, found["T"], "T_read")
    if form.resident and watched:
        upper = "R" if "R" in found else "H"
        watch(draft, upper, found[upper], shapes[upper], results)
    for name in () if form.resident else [name for name in found if name != "T"]:
        results[name] = read_back(draft, found[name], shapes[name], limits, name)
    return draft.plan(results)


def _in_blocks_of_rows(form: Form, limits: Limits, mode: str, watched: bool, **way: Unpack[Way]) -> Plan:
    """Plan of a call for a matrix taller than a texture."""

    def block(one: Form) -> Plan:
        return call_plan((one,), limits, **way, mode=mode, watched=False)

    draft, side = Draft("qr"), form.matrix[1]
    results = qr_rows.factored(draft, qr_rows.operand(draft, "A", form, limits), form, limits, block)
    if form.resident and watched:
        watch(draft, "R", results["R"], (side, side), results)
    return draft.plan(results)


def taus(texels_: NDArray[np.float32], count: int) -> Float32:
    """The factors tau of the reflectors, from the texels of ``T``, of one matrix or of a batch.

    >>> taus(np.float32([[1, 2, 0, 3], [4, 5, 0, 6]]), 3)
    array([1., 3., 4.], dtype=float32)
    """
    found: Float32 = texels_[..., [0, 3]].reshape(*texels_.shape[:-2], -1)[..., :count]
    return found


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A square matrix, normal."""
    return (rng.standard_normal((n, n)).astype(np.float32),)


QR = Operation(
    name="qr",
    formula="A = Q R",
    operands=("A",),
    results=("Q", "R"),
    check=lambda forms: None,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    trial=Trial(values=lambda forms, results: (results["Q"], results["R"])),
    batch=batch("reduced", modes={mode: batch(mode) for mode in MODES}),
    variants=VARIANTS,
    choose=choose,
    function=Function(host="numpy.linalg:qr", parts=2),
    thesis="householder",
)
