"""Every operation on integers and powers of two: where nothing is rounded, the result is the exact one.

It is what tells a dropped term or a swapped index apart from a rounding error.
"""

import numpy as np
import pytest

import glla
from glla.testing import permutation_from_piv, unpack_lu
from tests.matrix import (
    CALLS,
    EDGES,
    ORDERS,
    SPELLINGS,
    arrays,
    choices,
    every_place,
    every_spelling,
    exact,
    matrix_of,
    operands_of,
    run_core,
    settings,
    stacked,
    verdict,
)

INEXACT = ("qr", "lstsq", "rref")  # square roots; pairs of rows that a norm chooses, whose quotients are rounded
OTHERWISE = (("lu_factor", "row_operations_full"), ("plu", "row_operations_full"))
"""Complete pivoting takes rows and columns in another order."""


def factors(found):
    """Rows' order, L and U: what a call gives, or a plan."""
    if isinstance(found, tuple) and len(found) == 3 and np.ndim(found[1]) == 2:
        return found
    lu, piv = (found["LU"], found["pivots"]) if isinstance(found, dict) else tuple(found)[:2]
    return permutation_from_piv(np.asarray(piv), len(lu)), *unpack_lu(np.asarray(lu))


def assert_is(name, found, expected):
    """Compare a result with the exact one."""
    if name in ("plu", "lu_factor"):
        p, lower, upper = factors(found)
        low, up = expected
        assert (p == np.eye(len(p))).all() and (lower == low).all() and (upper == up).all()
    elif name == "cho_factor":
        assert found[1] is True and (np.tril(found[0]) == expected).all()
    elif name == "slogdet":
        assert found[0] == expected[0] and np.isfinite(found[1])
    elif name == "det":  # a plan of its own has the logarithm
        assert np.isclose(found, expected[0], rtol=1e-5)
    elif name == "solve_pos_banded" and not glla.default_device().limits.software:  # a GPU's quotients may be off
        np.testing.assert_allclose(found, expected, rtol=2.0**-20, atol=2.0**-20 * np.max(np.abs(expected)))
    else:
        assert (np.asarray(found) == expected).all()


@pytest.mark.newer_gl
@pytest.mark.parametrize(
    ("name", "variant"), [one for one in choices() if one[0] not in INEXACT and one not in OTHERWISE]
)
def test_every_variants_plan_is_exact(device, name, variant, rng):
    for n in ORDERS + EDGES:
        operands, expected = exact(name, n, rng)
        assert_is(name, run_core(device, name, variant, operands), expected)


@pytest.mark.newer_gl
@pytest.mark.parametrize(("name", "variant", "parameters"), list(settings()), ids=str)
def test_every_parameter_changes_nothing(device, name, variant, parameters, rng):
    """Exact, and within the bound where there is rounding."""
    for n in (6, 33, 131):
        if name not in INEXACT and (name, variant) not in OTHERWISE:
            operands, expected = exact(name, n, rng)
            assert_is(name, run_core(device, name, variant, operands, parameters=parameters), expected)
        operands = operands_of(name, n, rng)
        assert verdict(name, operands, run_core(device, name, variant, operands, parameters=parameters)).ok


@every_spelling
@every_place
def test_every_other_form_of_a_call_is_exact(name, spelling, place, rng):
    call = SPELLINGS[name][spelling]
    for n in ORDERS:
        made = [exact(name, n, rng) for _ in range(3)]
        for i, (operands, expected) in enumerate(made):
            if i == 0:
                assert_is(name, arrays(call(place, *operands)), expected)
                found = arrays(call(place, *stacked([operands for operands, _ in made])))
            assert_is(name, matrix_of(found, i), expected)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in INEXACT])
@every_place
def test_every_call_is_exact(name, place, rng):
    for n in ORDERS:
        made = [exact(name, n, rng) for _ in range(3)]
        operands, expected = made[0]
        assert_is(name, arrays(CALLS[name].call(*map(place, operands))), expected)
        if CALLS[name].stacks:
            found = arrays(CALLS[name].call(*map(place, stacked([operands for operands, _ in made]))))
            for i, (_, expected) in enumerate(made):
                assert_is(name, matrix_of(found, i), expected)
