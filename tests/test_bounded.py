"""Every operation within its bound: every variant's own plan, and every call, wherever operands are, in stacks too."""

from dataclasses import replace

import numpy as np
import pytest

from glla.operations import OPERATIONS
from glla.testing import JUDGES
from tests.matrix import (
    CALLS,
    EDGES,
    FAMILIES,
    ORDERS,
    SCALED,
    SYSTEMS,
    arrays,
    cases,
    every_call,
    every_choice,
    every_place,
    judged,
    matrix_of,
    operands_of,
    run_core,
    scaled,
    spelled,
    stacked,
    verdict,
)


@pytest.mark.newer_gl
@every_choice
def test_every_variants_plan_keeps_the_bound(device, name, variant, rng):
    family, wrong = FAMILIES[CALLS[name].family], []
    if name == "rref" and variant != "blocked":  # by a block norm: a call goes on where there is no good pair
        family = replace(family, kinds=("diagonal",))
    for kind, n in cases(family, ORDERS + EDGES):
        operands = family.make(kind, n, rng)
        found = verdict(name, operands, run_core(device, name, variant, operands))
        wrong += [(kind, n, found)] * (not found.ok)
    assert not wrong


@every_call
@every_place
def test_every_form_of_a_call_keeps_the_bound(name, place, rng):
    family, wrong = FAMILIES[CALLS[name].family], []
    every = replace(family, kinds=tuple(dict.fromkeys(family.kinds + family.hard)))
    for call in spelled(name):
        for kind, n in cases(every, ORDERS):
            operands = family.make(kind, n, rng)
            found = verdict(name, operands, arrays(call(place, *operands)))
            wrong += [(kind, n, found)] * (not found.ok)
    assert not wrong


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.stacks])
@every_place
def test_every_matrix_of_a_stack_keeps_the_bound(name, place, rng):
    """A stack of all types of matrices, batched where possible."""
    call, family, wrong = CALLS[name], FAMILIES[CALLS[name].family], []
    kinds = (family.kinds + family.hard) * 2
    for n in ORDERS:
        made = [family.make(kind, n, rng) for kind in kinds]
        result = call.call(*map(place, stacked(made)))
        for i, operands in enumerate(made):
            found = verdict(name, operands, arrays(matrix_of(arrays(result), i)))
            wrong += [(kinds[i], n, found)] * (not found.ok)
    assert not wrong


@pytest.mark.parametrize("name", [*SYSTEMS, "lstsq"])
@every_place
def test_any_number_of_right_hand_sides_keeps_the_bound(name, place, rng):
    for n, columns in ((1, 3), (2, 131), (5, 300), (33, 64), (3, 1025)):
        a, b = operands_of(name, n, rng)
        b = rng.standard_normal((len(b), columns)).astype(np.float32)
        found = verdict(name, (a, b), arrays(CALLS[name].call(place(a), place(b))))
        assert found.ok, (n, columns, found)


# -- scaled by powers of two, which rounds nothing --------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALED)
@every_place
@pytest.mark.parametrize("spread", [20, 55])
def test_scaling_takes_nothing_from_the_bound(name, place, spread, rng):
    """Rows and columns of any size, graded from tiny to huge; alone, and in a stack beside others that are not."""
    for n in (1, 2, 4, 9, 20):
        made = [operands_of(name, n, rng) for _ in range(5)]
        exponents = np.linspace(-spread, spread, n).astype(int)
        flat = np.zeros(n, int)
        pairs = [(flat, flat), (exponents, -exponents), (exponents[::-1], flat), (flat + spread, flat), (flat, flat)]
        given, backs = zip(*(scaled(name, one, *pair) for one, pair in zip(made, pairs, strict=True)), strict=True)
        batched = arrays(CALLS[name].call(*map(place, stacked(list(given)))))
        for i, (operands, back) in enumerate(zip(made, backs, strict=True)):
            alone = arrays(CALLS[name].call(*map(place, given[i])))
            for result in (alone, matrix_of(batched, i)):
                found = verdict(name, operands, back(result))
                assert found.ok, (n, i, found)


# -- judges -----------------------------------------------------------------------------------------------------------


def result_of(device, name, operands):
    """What a call gives, or the plan of what has no call in the table."""
    if name in CALLS:
        return arrays(CALLS[name].call(*operands))
    return run_core(device, name, None, operands)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_judge_can_fail(device, name, rng):
    """A result is right; scaled, without its largest entry, with two rows exchanged, or with one NaN, it is not."""
    operands = operands_of(name, 8, rng) if name in CALLS else OPERATIONS[name].example(8, rng)
    right = result_of(device, name, operands)
    inputs, deviation = judged(OPERATIONS[name], operands), JUDGES[name].deviation
    assert verdict(name, operands, right).ok and deviation(inputs, right) < 1e-3
    first, *rest = right if isinstance(right, tuple) else (right,)
    for spoil in (scaled_down, enlarged, without_the_largest, exchanged, not_a_number):
        if np.ndim(first) or spoil is not exchanged:
            changed = spoil(np.array(first))
            wrong = (changed, *rest) if rest else changed
            assert not verdict(name, operands, wrong).ok, spoil.__name__
            if spoil is not exchanged and name != "slogdet":  # whose deviation is that of the logarithm
                assert not deviation(inputs, wrong) < 1e-3, spoil.__name__


def scaled_down(x):
    return x * np.float32(0.98)


def enlarged(x):
    return x * np.float32(20)


def without_the_largest(x):
    x.flat[np.abs(x).argmax()] = 0
    return x


def exchanged(x):
    x[[3, 4] if len(x) > 4 else [0, 1]] = x[[4, 3] if len(x) > 4 else [1, 0]]
    return x


def not_a_number(x):
    x.flat[-1] = np.nan
    return x
