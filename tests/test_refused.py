"""What every call refuses, and how: the function is named, the operand, the matrix of a stack, and the place in it."""

from functools import partial

import numpy as np
import pytest

import glla
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    OptionError,
    ShapeError,
    SingularMatrixError,
)
from glla.operations import OPERATIONS
from tests.matrix import (
    CALLS,
    FAMILIES,
    arrays,
    every_call,
    every_place,
    host,
    on_device,
    operands_of,
    spelled,
    stacked,
    verdict,
)
from tests.matrix import DEFINITE as INDEFINITE

SINGULAR = [name for name, call in CALLS.items() if FAMILIES[call.family].bad == "singular"]
BANDS = ("tridiagonal", "pentadiagonal", "solve_pos_banded", "cholesky_banded", "cho_solve_banded")


def spoilt(name, n, rng):
    """Operands of which no result follows, and the order of the minor, or the place, that is to blame."""
    operands, place = list(operands_of(name, n, rng)), max(n - 2, 0)
    a = operands[0] = operands[0].copy()
    if name in BANDS:  # the diagonal, and what is left and right of it
        middle = -1 if "banded" in name else len(a) // 2
        a[:, place] = 0
        a[middle, place] = -1 if name in INDEFINITE else 0
        if name in ("tridiagonal", "pentadiagonal"):
            a[...] = 0
    elif name in INDEFINITE:
        a[place, place] = -1
    elif CALLS[name].family in ("system", "regular"):
        a[place] = 0
    else:
        a[place, place] = 0
    return operands, place


@pytest.mark.parametrize("name", INDEFINITE)
@every_place
def test_what_is_not_definite_is_refused_by_its_leading_minor(name, place, rng):
    """By every variant, if there are some to choose from."""
    variants = OPERATIONS[name].variants if name in ("cholesky", "cholesky_banded", "inv_pos") else ()
    for n in (1, 2, 5, 17, 70):
        operands, at = spoilt(name, n, rng)
        message = rf"^{CALLS[name].function}: .*its leading minor of order {at + 1} is not"
        for call in [*spelled(name), *(partial(spelled(name)[0], variant=variant) for variant in variants)]:
            with pytest.raises(NotPositiveDefiniteError, match=message):
                call(place, *operands)


@pytest.mark.parametrize("name", SINGULAR)
@every_place
def test_what_is_singular_is_refused(name, place, rng):
    for n in (1, 2, 5, 17, 70):
        operands, _ = spoilt(name, n, rng)
        for call in spelled(name):
            with pytest.raises(SingularMatrixError, match=r"(?i)^\w+: singular matrix"):
                call(place, *operands)


@pytest.mark.parametrize("name", [name for name in [*INDEFINITE, *SINGULAR] if CALLS[name].stacks])
@every_place
@pytest.mark.parametrize("scale", [0, 60])
def test_the_rejected_matrix_is_named(name, place, scale, rng):
    """The first of two; also where it must be scaled first."""
    for n in (2, 3, 6, 17):
        made = [operands_of(name, n, rng) for _ in range(12)]
        for i in (6, 9):
            made[i] = tuple(spoilt(name, n, rng)[0])
            made[i] = (np.ldexp(made[i][0], scale), *made[i][1:])
        operands = [one.reshape(3, 4, *one.shape[1:]) for one in stacked(made)]
        for call in spelled(name):
            with pytest.raises(np.linalg.LinAlgError, match=r"^\w+: .*at index \(1, 2\) of the stack"):
                call(place, *operands)


@every_call
@every_place
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(name, place, bad, rng):
    """On the device it is found by what comes of it; a product there may hold anything."""
    operands = operands_of(name, 5, rng)
    for which in range(len(operands)):
        given = [one.copy() for one in operands]
        given[which][(-1, 0) if name in BANDS or CALLS[name].one_half == "lower" else (0, 1)] = bad
        if place is host:
            with pytest.raises(
                NonFiniteError, match=rf"^{CALLS[name].function}: .* must not hold NaN or infinity, got -?(nan|inf) at"
            ):
                CALLS[name].call(*given)
        elif name not in ("matmul", "syrk"):
            with pytest.raises((NonFiniteError, NotPositiveDefiniteError), match=rf"^{CALLS[name].function}: "):
                CALLS[name].call(*map(place, given))


OBLONG = ("product", "one factor", "tall", "form", "least squares")


@every_call
def test_operands_that_do_not_fit_together_are_refused(name, rng):
    operands, call = operands_of(name, 5, rng), CALLS[name]
    wrong = [] if len(operands) == 1 else [[operands[0], operands[1][:-1]]]
    if call.family not in OBLONG and name not in (*BANDS, "lu_solve"):
        wrong += [[np.ones((3, 4), np.float32), *operands[1:]]]
    if name not in ("syrk", "lu_solve"):  # whose dimensions are looked at before
        wrong += [[np.float32(3)] * len(operands)]
    for given in wrong:
        with pytest.raises((ShapeError, np.linalg.LinAlgError), match=rf"^{call.function}: "):
            call.call(*given)


@every_call
def test_operands_live_on_one_device(name, rng):
    operands, call = operands_of(name, 3, rng), CALLS[name]
    message = rf"^{call.function}: operands must live on one device"
    with glla.Device() as other:
        first, *rest = map(on_device, operands)
        if rest:
            with pytest.raises(DeviceMismatchError, match=message):
                call.call(first, glla.asarray(operands[1], other))
        for given in ([first, *operands[1:]], [first, *rest]):
            with pytest.raises(DeviceMismatchError, match=message):
                call.call(*given, device=other)
        assert verdict(name, operands, arrays(call.call(*operands, device=other))).ok


@every_call
def test_what_is_no_real_number_of_float32_is_refused(name, rng):
    operands, call = operands_of(name, 3, rng), CALLS[name]
    for which in range(len(operands)):
        for bad, error, words in (
            (operands[which] * 1j, DTypeError, r"real numbers \(bool, integer or float\), got dtype complex64"),
            (operands[which].astype(str), DTypeError, r"real numbers \(bool, integer or float\), got dtype <U32"),
            (
                np.full(operands[which].shape, 1e39),
                NonFiniteError,
                r"fit float32 \(largest 3\.403e\+38\), got 1e\+39 at",
            ),
        ):
            given = [*operands[:which], bad, *operands[which + 1 :]]
            with pytest.raises(error, match=rf"^{call.function}: \w+ must (be )?{words}"):
                call.call(*given)


@pytest.mark.parametrize(
    "name", ["inv", "cholesky", "lu_factor", "plu", "rref", "matmul", "qr", "lstsq", "solve_triangular", "inv_pos"]
)
def test_an_unknown_variant_is_refused(name, rng):
    message = rf"^{CALLS[name].function}: variant must be one of .*, got 'fast'"
    with pytest.raises(OptionError, match=message):
        CALLS[name].call(*operands_of(name, 3, rng), variant="fast")
