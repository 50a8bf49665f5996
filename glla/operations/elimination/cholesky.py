"""Cholesky factorisation A = L L^T of a symmetric positive definite matrix."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from glla.errors import NotPositiveDefiniteError, OptionError, ShapeError
from glla.operations import blocks
from glla.operations.crossing import at_home, bring_in, read_back, upload
from glla.operations.record import Array, Choice, Operation
from glla.operations.trust import near_one
from glla.operations.verdict import Done, Go, Values, Verdict
from glla.passes import (
    PLAIN,
    Draft,
    Form,
    Forms,
    HostArray,
    Limits,
    Next,
    Parameters,
    PingPong,
    Plan,
    Region,
    Variant,
    matrix,
    resident,
)
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

VARIANTS = {
    "rank2": Variant(
        "two columns a step, each step a rank-2 update of the lower half of the rest of the matrix",
        '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, in 2x2 blocks',
    ),
}

SCALED = "scale rows and columns by powers of two"
"""Work of the host, by the words that a plan and a trace have for it."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: there is one so far."""
    return "rank2", ()


def check(forms: Forms) -> None:
    """Raise ShapeError unless A is square."""
    (a,) = forms
    if a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"cholesky: the last two dimensions of A must be square, got shape {a.shape}")


def flops(forms: Forms) -> int:
    """Additions and multiplications: about n^3 / 3."""
    n = forms[0].shape[-1]
    return forms[0].count * (n**3 // 3)


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, *, variant: str | None = None, parameters: Parameters = ()) -> Plan:
    """Plan of the factorisation of an n x n matrix on the device, n > 0.

    Parameters
    ----------
    forms : (Form,)
        Of A, of which the lower half is read.
    limits : Limits
        Of the device.
    variant : str, optional
        A key of `VARIANTS`.
    parameters : tuple of (str, int)
        Of the variant: none.

    Returns
    -------
    Plan
        Operand ``A``, result ``L`` with zeros above the diagonal, both packed. ceil(n / 2) passes.
    """
    name = variant or "rank2"
    if name not in VARIANTS:
        raise OptionError(f"cholesky: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    VARIANTS[name].settle(f"cholesky[{name}]", parameters, limits)
    shape = forms[0].matrix
    side = texels(shape[0])
    draft = Draft(f"cholesky[{name}]")
    factor = PingPong(draft, "L", matrix(shape), draft.operand("A", matrix(shape)))
    for k in range(side):
        first = max(k - 1, 0)  # rows and columns are final one step after their own, when both textures hold them
        with draft.scope("step", k):
            draft.draw(
                "cholesky/rank2",
                {"A": factor.front},
                factor.back,
                {"k": k, "shape": shape},
                region=Region(first, first, side - first, side - first),
            )
        factor.swap()
    return draft.plan({"L": factor.front}, flops(forms))


@cached_plan
def whole(forms: Forms, limits: Limits = PLAIN, *, variant: str | None = None, parameters: Parameters = ()) -> Plan:
    """Plan of a call: the factor, and its diagonal, which says whether the matrix is positive definite."""
    (form,) = forms
    draft = Draft("cholesky")
    a = bring_in(draft, "A", form, limits)
    results = _factor(draft, a, form.matrix, limits, variant, parameters)
    if not form.resident:
        results["L"] = read_back(draft, results["L"], form.matrix, limits, "L")
    again = partial(care, form, limits, variant, parameters)
    far = Next("entries of the diagonal are beyond 2^-40 to 2^40", "care", again)
    return draft.plan(results, after=(far, _NOT_DEFINITE))


_NOT_DEFINITE = Next("a pivot is not above zero", error="NotPositiveDefiniteError: names the leading minor")


@cached_plan
def care(form: Form, limits: Limits, variant: str | None = None, parameters: Parameters = ()) -> Plan:
    """Plan of the factor of a matrix that was scaled on the host, so that its diagonal is near 1."""
    shape = form.matrix
    draft = Draft("care")
    a, scaled = at_home(draft, "A", form, limits), draft.slot("scaled A", HostArray(shape))
    exponents_ = draft.slot("exponents", HostArray((shape[0], 1)))
    draft.host(SCALED, equilibrated, (a,), (scaled, exponents_))
    results = _factor(draft, upload(draft, scaled, shape, limits), shape, limits, variant, parameters)
    results["L"] = read_back(draft, results["L"], shape, limits, "L")
    return draft.plan({**results, "exponents": exponents_}, after=(_NOT_DEFINITE,))


def _factor(
    draft: Draft, a: str, shape: Shape, limits: Limits, variant: str | None, parameters: Parameters
) -> dict[str, str]:
    """Add the factorisation, and the read-back of the diagonal of L."""
    core = plan(resident(shape), limits, variant=variant, parameters=parameters)
    made = draft.call("factor", core, A=a)["L"]
    column = (shape[0], 1)
    diagonal = draft.call("diagonal", blocks.gather(shape, column, down=(1, 1)), A=made)["block"]
    return {"L": made, "diagonal": read_back(draft, diagonal, column, limits, "diagonal of L")}


def exponents(a: Array) -> NDArray[np.int32]:
    """Powers of two d, a column, that bring the diagonal of a_ij 2^-(d_i + d_j) near 1."""
    diagonal = np.abs(np.diagonal(a).astype(np.float64))
    usable = np.isfinite(diagonal) & (diagonal > 0)
    found = np.where(usable, (np.frexp(np.where(usable, diagonal, 1.0))[1] - 1) // 2, 0)
    return found.astype(np.int32)[:, np.newaxis]


def equilibrated(a: Array) -> tuple[Array, NDArray[np.int32]]:
    """Scale rows and columns by powers of two, which rounds nothing; give the `exponents`, too."""
    d = exponents(a)
    return np.ldexp(a.astype(np.float64), -d - d.T).astype(np.float32), d


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Decide from the diagonal of L: done, an error that names the first leading minor that is not positive, or care.

    `Done` has ``L`` where it was scaled on the host.
    """
    diagonal = values["diagonal"][:, 0]
    if not stage and not near_one(diagonal):
        return Go("care")
    bad = np.flatnonzero(~(diagonal > 0))
    if len(bad):
        place = int(bad[0])
        return NotPositiveDefiniteError(
            f"cholesky: Matrix is not positive definite{values['member']}: its leading minor of order {place + 1} is "
            f"not, as pivot {place} is {diagonal[place]:.3g}; a covariance matrix may need a small number added to its "
            "diagonal"
        )
    if not stage:
        return Done()
    return Done({"L": np.ldexp(values["L"].astype(np.float64), values["exponents"]).astype(np.float32)})


def on_host(a: Array) -> Array:
    """Factor on the CPU, by LAPACK.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero.
    """
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise NotPositiveDefiniteError("cholesky: Matrix is not positive definite") from None


def example(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A symmetric positive definite matrix, B B^T / n + I with B normal."""
    b = rng.standard_normal((n, n))
    return ((b @ b.T / n + np.eye(n)).astype(np.float32),)


CHOLESKY = Operation(
    name="cholesky",
    formula="A = L L^T",
    operands=("A",),
    results=("L",),
    check=check,
    flops=flops,
    core=plan,
    whole=whole,
    example=example,
    values=lambda forms, results: results["L"],
    settle=settle,
    fits=True,
    variants=VARIANTS,
    choose=choose,
    host="glla.operations.elimination.cholesky:on_host",
    thesis="rank2",
)
