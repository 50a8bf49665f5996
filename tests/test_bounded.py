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
    """What a call gives is right; with one mistake in any of its parts it is not."""
    operands = operands_of(name, 8, rng) if name in CALLS else OPERATIONS[name].example(8, rng)
    right = result_of(device, name, operands)
    inputs, judge = judged(OPERATIONS[name], operands), JUDGES[name]
    assert verdict(name, operands, right).ok and judge.deviation(inputs, right) < 1e-3
    parts = right if isinstance(right, tuple) else (right,)
    for i, part in enumerate(parts[:1] if name == "lstsq" else parts):  # of whose results the solution is judged
        for what, wrong in mistakes(part):
            if (name, i, what) in SIGNS_ARE_FREE:
                continue
            result = with_part(right, i, wrong)
            found = verdict(name, operands, result)
            assert not found.ok and not found.ratio <= 1, (i, what)
            assert "must be" in str(found) or what not in ("float64", "list"), (i, what)
            if i == 0 and what in ("smaller", "larger", "NaN") and name != "slogdet":  # whose is the logarithm's
                assert not judge.deviation(inputs, result) < 1e-3, what


@pytest.mark.parametrize("name", [name for name in OPERATIONS if JUDGES[name].ratios is not JUDGES["det"].ratios])
def test_ratios_show_where_a_result_is_wrong(device, name, rng):
    """Error over bound is above 1 where an entry is wrong; a determinant has none."""
    operands = operands_of(name, 8, rng) if name in CALLS else OPERATIONS[name].example(8, rng)
    right, inputs, ratios = result_of(device, name, operands), judged(OPERATIONS[name], operands), JUDGES[name].ratios
    assert (ratios(inputs, right) >= 0).all() and (ratios(inputs, right) <= 1).all()
    i = 1 if name == "plu" else 0  # after P
    wrong = np.array(right[i] if isinstance(right, tuple) else right)
    wrong[3, -1] += np.float32(0.02) * np.abs(wrong).max()
    found = ratios(inputs, with_part(right, i, wrong))
    assert found.ndim == 2 and found[3].max() > 1


def with_part(result, i, part):
    return (*result[:i], part, *result[i + 1 :]) if isinstance(result, tuple) else part


SIGNS_ARE_FREE = {("eigh", 1, "sign"), ("tridiagonal_pairs", 1, "sign")}
"""Eigenvectors have either."""


def mistakes(part):
    """Each with one mistake, and what it is."""
    if isinstance(part, tuple):  # pivots of an echelon form
        yield from {"another pivot": (*part[:-1], part[-1] + 1), "one pivot less": part[:-1]}.items()
    elif isinstance(part, bool):
        yield "the other half", not part
    elif part.dtype.kind == "i":  # rows' exchanges
        yield from {"other rows": np.roll(part, 1), "beyond the rows": part + len(part)}.items()
    else:
        yield from {"sign": -part, "NaN": part * np.float32("nan")}.items()
        yield from {"smaller": np.float32(0.98) * part, "larger": np.float32(20) * part}.items()
        if part.ndim:
            yield from wrong_entries(part)
            shapes = part[:-1], np.concatenate([part, part], -1), part[np.newaxis], np.zeros((0, 0), np.float32)
            yield from ((f"shape {one.shape}", one) for one in shapes)
            yield from {"float64": part.astype(np.float64), "list": part.tolist()}.items()


def wrong_entries(part):
    for place in (0, part.size // 2, part.size - 1, np.abs(part).argmax()):
        for value in (np.nan, np.inf, part.flat[place] + np.float32(0.02) * np.abs(part).max()):
            wrong = part.copy()
            wrong.flat[place] = value
            yield f"{value} at {place}", wrong
    if len(part) > 4:
        yield "two rows exchanged", part[[0, 1, 2, 4, 3, *range(5, len(part))]]
