"""QR factorisation A = Q R: Q with orthonormal columns, R upper triangular.

    columns scaled by powers of two --> reflectors, two columns a step --> R, scaled back
                                                      |
                                                      +--> I, reflected from the last pair to the first --> Q

Scaling columns rounds nothing and leaves Q as it is, so that no square leaves float32's range. R's diagonal has the
signs that LAPACK gives it: it may be negative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError
from glla.operations import equilibrate, packing
from glla.operations.crossing import bring_in, read_back, read_texels
from glla.operations.record import Array, Choice, Operation
from glla.passes import (
    PLAIN,
    Draft,
    Forms,
    Limits,
    Parameters,
    PingPong,
    Plan,
    Region,
    Storage,
    Uniform,
    Variant,
    matrix,
    resident,
)
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

VARIANTS = {
    "householder": Variant(
        "two columns a step: three passes, each over all that remains",
        'Golub and Van Loan, "Matrix computations" (2013), section 5.2; LAPACK geqr2',
    ),
}

MODES = ("reduced", "complete", "r", "raw")
"""What is given, as NumPy names it: Q and R with as few columns as rows allow, with all, R alone, or the reflectors."""

SLICE, SLICES = 64, 32
"""Texels of a column that a fragment sums on a GPU, and most slices; a guess: a fetch that waits for nothing takes as
long as one fragment needs for a trip. A software rasteriser sums each column in one piece."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: what was tuned on the device, else by size."""
    m, n = forms[0].matrix
    tuned = limits.tuning("qr", m, n)
    return ("householder", ()) if tuned is None else (tuned.variant, tuned.parameters)


def check(forms: Forms) -> None:
    """Accept matrices of every shape."""


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


@cached_plan
def plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    variant: str | None = None,
    parameters: Parameters = (),
    mode: str = "reduced",
) -> Plan:
    """Plan of the factorisation of an m x n matrix on the device, m and n > 0.

    Parameters
    ----------
    forms : (Form,)
        Of A.
    limits : Limits
        Of the device.
    variant : str, optional
        A key of `VARIANTS`; by default that of `choose`, with its parameters.
    parameters : tuple of (str, int)
        Of the variant.
    mode : str
        One of `MODES`.

    Returns
    -------
    Plan
        Operand ``A``. Results ``Q`` and ``R``; with "r" ``R`` alone; with "raw" ``H``, R with the reflectors below its
        diagonal, and ``T``, a row of texels with tau of columns 2k and 2k + 1 in its first and last channel. With k =
        min(m, n), ``householder`` takes 3 ceil(k / 2) passes for R and 2 ceil(k / 2) for Q, and 5 beside.
    """
    if mode not in MODES:
        raise OptionError(f"qr: mode must be one of {', '.join(MODES)}, got {mode!r}")
    if variant is None:
        variant, parameters = choose(forms, limits)
    if variant not in VARIANTS:
        raise OptionError(f"qr: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    VARIANTS[variant].settle(f"qr[{variant}]", parameters, limits)
    shape = forms[0].matrix
    draft = Draft(f"qr[{variant}]")
    source = draft.operand("A", matrix(shape))
    given = draft.call("scaled", equilibrate.columns(shape), A=source)
    packed = draft.call("reflectors", reflectors(shape, limits), A=given["scaled"])["H"]
    exponents = {"column_exponents": given["column_exponents"]}
    results = {}
    (tall, wide) = sides(shape, mode)
    if mode == "raw":
        results["H"] = draft.call("R", upper(shape, shape, keep=True), H=packed, **exponents)["R"]
        results["T"] = draft.call("pairs", pairs(shape), H=packed)["T"]
        return draft.plan(results, flops(forms))
    results["R"] = draft.call("R", upper(shape, wide), H=packed, **exponents)["R"]
    if mode != "r":
        t = draft.call("pairs", pairs(shape), H=packed)["T"]
        start = draft.call("identity", packing.identity(tall))["I"]
        results["Q"] = draft.call("Q", applied(shape, tall[1], limits), H=packed, T=t, B=start)["B"]
    return draft.plan(results, flops(forms))


@cached_plan
def upper(source: Shape, shape: Shape, keep: bool = False) -> Plan:
    """Plan of R, `shape`, from the factors, with columns scaled back; `keep` leaves what is below the diagonal."""
    draft = Draft("qr/upper")
    inputs = {"H": draft.operand("H", matrix(source))}
    inputs["column_exponents"] = draft.operand("column_exponents", Storage(texels(source[1]), 1))
    result = draft.slot("R", matrix(shape))
    draft.draw("qr/upper", inputs, result, {"shape": shape}, {"KEEP": int(keep)})
    return draft.plan({"R": result})


def slices(height: int, limits: Limits) -> tuple[int, int]:
    """How many slices a column of texels is cut into for a sum, and the texels of each.

    >>> slices(1000, Limits()), slices(1000, Limits(software=True))
    ((16, 63), (1, 1000))
    """
    count = 1 if limits.software else min(-(-height // SLICE), SLICES)
    return count, -(-height // count)


@cached_plan
def reflectors(shape: Shape, limits: Limits) -> Plan:
    """Plan of the reflectors, two columns a step: operand ``A``, result ``H``. 3 ceil(min(m, n) / 2) passes."""
    height, width = (texels(side) for side in shape)
    draft = Draft("qr/reflectors")
    rest = PingPong(draft, "H", matrix(shape), draft.operand("A", matrix(shape)))
    for k in range(texels(min(shape))):
        count, chunk = slices(height - k, limits)
        size: dict[str, Uniform] = {"k": k, "height": height, "chunk": chunk}
        sums = [draft.slot(f"sums_{name}_{k}", Storage(count, width)) for name in ("first", "both")]
        beside, last = Region(k, 0, width - k, count), max(k - 1, 0)
        left = Region(last, last, width - last, height - last)  # what is final lies in both textures a step later
        with draft.scope("step", k):
            draft.draw("qr/dots", {"A": rest.front}, sums[0], size, {"SECOND": 0}, beside)
            cut = {**size, "slices": count}
            draft.draw("qr/dots", {"A": rest.front, "D": sums[0]}, sums[1], cut, {"SECOND": 1}, beside)
            inputs = {"A": rest.front, "D": sums[1]}
            draft.draw("qr/reflect", inputs, rest.back, {"k": k, "slices": count, "shape": shape}, {}, left)
            rest.swap()
    return draft.plan({"H": rest.front})


@cached_plan
def pairs(shape: Shape) -> Plan:
    """Plan of T of each pair of reflectors: operand ``H``, result ``T``, a row of texels. One pass."""
    draft = Draft("qr/pairs")
    source = draft.operand("H", matrix(shape))
    result = draft.slot("T", Storage(1, texels(min(shape))))
    draft.draw("qr/pairs", {"H": source}, result, {"height": texels(shape[0])})
    return draft.plan({"T": result})


@cached_plan
def applied(shape: Shape, columns: int, limits: Limits) -> Plan:
    """Plan of H_1 H_2 ... H_k B, from the last pair on, two passes for each.

    Parameters
    ----------
    shape : tuple of int
        Of the matrix that was factored.
    columns : int
        Of B.
    limits : Limits
        Of the device.

    Returns
    -------
    Plan
        Operands ``H``, ``T`` and ``B``; result ``B``.
    """
    height, pairs_ = texels(shape[0]), texels(min(shape))
    size = (shape[0], columns)
    draft = Draft("qr/applied")
    given = {"H": draft.operand("H", matrix(shape)), "T": draft.operand("T", Storage(1, pairs_))}
    found = PingPong(draft, "B", matrix(size), draft.operand("B", matrix(size)))
    for k in reversed(range(pairs_)):
        count, chunk = slices(height - k, limits)
        sums = draft.slot(f"W_{k}", Storage(count, texels(columns)))
        with draft.scope("pair", k):
            inputs = {"H": given["H"], "Q": found.front}
            draft.draw("qr/project", inputs, sums, {"k": k, "height": height, "chunk": chunk})
            inputs = {**given, "Q": found.front, "W": sums}
            uniforms: dict[str, Uniform] = {"k": k, "slices": count, "shape": size}
            draft.draw("qr/apply", inputs, found.back, uniforms, {"TRANSPOSED": 0})
            found.swap()
    return draft.plan({"B": found.front})


@cached_plan
def whole(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    variant: str | None = None,
    parameters: Parameters = (),
    mode: str = "reduced",
) -> Plan:
    """Plan of a call: the factors, and their read-back where the matrix came from the host."""
    (form,) = forms
    draft = Draft("qr")
    a = bring_in(draft, "A", form, limits)
    core = plan(resident(form.matrix), limits, variant=variant, parameters=parameters, mode=mode)
    found = draft.call("factors", core, A=a)
    results = dict(found)
    shapes = dict(zip("QR", sides(form.matrix, mode), strict=True)) | {"H": form.matrix}
    if "T" in found:
        results["T"] = read_texels(draft, found["T"], "T_read")
    for name in () if form.resident else [name for name in found if name != "T"]:
        results[name] = read_back(draft, found[name], shapes[name], limits, name)
    return draft.plan(results)


def taus(texels_: NDArray[np.float32], count: int) -> Array:
    """The factors tau of the reflectors, from the texels of ``T``.

    >>> taus(np.float32([[1, 2, 0, 3], [4, 5, 0, 6]]), 3)
    array([1., 3., 4.], dtype=float32)
    """
    found: Array = texels_.reshape(-1, 4)[:, [0, 3]].reshape(-1)[:count]
    return found


def on_host(a: Array) -> tuple[Array, Array]:
    """Factor on the CPU, by LAPACK."""
    q, r = np.linalg.qr(a)
    return q, r


def example(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A square matrix, normal."""
    return (rng.standard_normal((n, n)).astype(np.float32),)


QR = Operation(
    name="qr",
    formula="A = Q R",
    operands=("A",),
    results=("Q", "R"),
    check=check,
    flops=flops,
    core=plan,
    whole=whole,
    example=example,
    values=lambda forms, results: (results["Q"], results["R"]),
    fits=True,
    variants=VARIANTS,
    choose=choose,
    host="glla.operations.qr:on_host",
    parts=2,
    thesis="householder",
)
