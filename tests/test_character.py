"""What holds of every call whatever the numbers: operands stay, results have their place, NaN stays in its part."""

import numpy as np
import pytest

import glla
from glla.errors import NotPositiveDefiniteError
from glla.operations import OPERATIONS
from tests.matrix import (
    CALLS,
    DEFINITE,
    SCALED,
    arrays,
    every_call,
    every_place,
    every_system,
    host,
    matrix_of,
    on_device,
    operands_of,
    parts,
    scaled,
    spelled,
    stacked,
)

STACKS = [name for name, call in CALLS.items() if call.stacks]
HALVES = [name for name, call in CALLS.items() if call.one_half]


def assert_same(found, expected):
    for one, other in zip(parts(arrays(found)), parts(arrays(expected)), strict=True):
        np.testing.assert_array_equal(one, other)


@every_call
@every_place
def test_operands_stay_as_they_are_and_results_are_where_they_belong(name, place, rng):
    for n in (1, 2, 7):
        operands = operands_of(name, n, rng)
        for given in (operands, stacked([operands] * 3)) if CALLS[name].stacks else (operands,):
            lent, before = [place(one) for one in given], [one.copy() for one in given]
            result = CALLS[name].call(*lent)
            for one, was in zip(lent, before, strict=True):
                np.testing.assert_array_equal(arrays(one), was)
            for one in result if isinstance(result, tuple) else (result,):
                if isinstance(one, (np.ndarray, glla.Array)) and np.ndim(arrays(one)) > 1 and arrays(one).dtype == "f4":
                    assert isinstance(one, glla.Array) == (place is not host)


@pytest.mark.parametrize("name", [name for name in CALLS if len(operands_of(name, 2, np.random.default_rng(0))) > 1])
def test_one_operand_may_be_on_the_device(name, rng):
    """So does the result; a vector gives a vector."""
    operands = operands_of(name, 7, rng)
    for count in (1, 3) if CALLS[name].stacks else (1,):
        a, b = stacked([operands] * count) if count > 1 else operands
        for right in (b, b[..., 0]) if count == 1 else (b,):
            expected = CALLS[name].call(on_device(a), on_device(right))
            for given in ((on_device(a), right), (a, on_device(right))):
                found = CALLS[name].call(*given)
                assert isinstance(found[0] if isinstance(found, tuple) else found, glla.Array)
                assert_same(found, expected)


@every_call
def test_arrays_of_any_type_and_strides_are_taken(name, rng):
    """float64, the other byte order, Fortran's order, reversed and read-only arrays, lists: the same bits."""
    alone = operands_of(name, 7, rng)
    for operands in (alone, stacked([alone, operands_of(name, 7, rng)])) if CALLS[name].stacks else (alone,):
        expected = CALLS[name].call(*operands)
        read_only = [one.copy() for one in operands]
        for one in read_only:
            one.flags.writeable = False
        for given in (
            [one.astype(np.float64) for one in operands],
            [one.astype(">f4") for one in operands],
            [np.asfortranarray(one) for one in operands],
            [one[::-1].copy()[::-1] for one in operands],
            [np.stack([one, one], axis=-1)[..., 1] for one in operands],
            read_only,
        ):
            assert_same(CALLS[name].call(*given), expected)


@pytest.mark.parametrize(
    "name", [name for name in STACKS if name != "solve_pos_banded"]
)  # it gives the one or the other
@every_place
def test_nan_stays_in_its_matrix(name, place, rng):
    """A pivot that is NaN is none above zero: of what must be positive definite the matrix is named."""
    for n in (2, 5, 17):
        operands = stacked([operands_of(name, n, rng) for _ in range(5)])
        clean = arrays(CALLS[name].call(*map(place, operands), check_finite=False))
        operands[0][3, -1 if "banded" in name else operands[0].shape[-2] // 2, n // 2] = np.nan
        if name in DEFINITE:
            with pytest.raises(NotPositiveDefiniteError, match=r"at index \(3\) of the stack: .*nan"):
                CALLS[name].call(*map(place, operands), check_finite=False)
            continue
        found = arrays(CALLS[name].call(*map(place, operands), check_finite=False))
        assert any(np.isnan(one).any() for one in parts(matrix_of(found, 3)))
        for i in (0, 1, 2, 4):
            assert_same(matrix_of(found, i), matrix_of(clean, i))


@every_system
@every_place
def test_nan_stays_in_its_right_hand_side(name, place, rng):
    for n in (3, 17, 40):
        for count in (1, 3):
            made = [operands_of(name, n, rng) for _ in range(count)]
            operands = list(stacked(made) if count > 1 else made[0])
            clean = arrays(CALLS[name].call(*map(place, operands), check_finite=False))
            operands[1] = operands[1].copy()
            operands[1][..., n // 2, 1] = np.nan
            found = arrays(CALLS[name].call(*map(place, operands), check_finite=False))
            assert np.isnan(found[..., 1]).any()
            # some solve all columns again on the host beside one that is not finite
            close = 0 if name in ("solve", "lu_solve") else 1e-5 * np.abs(clean).max()
            np.testing.assert_allclose(found[..., 0], clean[..., 0], rtol=0, atol=close)


@pytest.mark.parametrize("name", HALVES)
@every_place
def test_the_other_half_is_never_read(name, place, rng):
    for n in (2, 5, 17, 33):
        for count in (1, 3):
            made = [operands_of(name, n, rng) for _ in range(count)]
            operands = list(stacked(made) if count > 1 else made[0])
            read = np.tri(n, dtype=bool) if CALLS[name].one_half == "lower" else np.tri(n, dtype=bool).T
            half = [np.where(read, operands[0], np.nan).astype(np.float32), *operands[1:]]
            for call in spelled(name):
                assert_same(call(place, *half, check_finite=False), call(place, *operands, check_finite=False))


@pytest.mark.parametrize("name", [name for name in CALLS if "band" in CALLS[name].family])
@every_place
def test_corners_of_bands_are_never_read(name, place, rng):
    for n in (2, 5, 17, 33):
        for count in (1, 3):
            made = [operands_of(name, n, rng) for _ in range(count)]
            ab, *b = stacked(made) if count > 1 else made[0]
            middle = ab.shape[-2] - 1 if name.endswith("_banded") else ab.shape[-2] // 2
            rows = np.arange(n)[np.newaxis] + np.arange(ab.shape[-2])[:, np.newaxis] - middle  # of A
            spoilt = np.where((rows >= 0) & (rows < n), ab, np.nan).astype(np.float32)
            for call in spelled(name):
                assert_same(call(place, spoilt, *b, check_finite=False), call(place, ab, *b, check_finite=False))


@pytest.mark.parametrize("name", STACKS)
def test_pieces_are_as_the_whole(name, rng):
    """On devices of small textures, and of little memory."""
    operands = stacked([operands_of(name, 5, rng) for _ in range(12)])
    whole = parts(arrays(CALLS[name].call(*operands)))
    for limits in ({"max_texture_size": 16}, {"max_bytes": 40_000}):
        with glla.Device(**limits) as small:
            for one, other in zip(parts(CALLS[name].call(*operands, device=small)), whole, strict=True):
                # pivots are searched elsewhere in pieces of one matrix, which compilers may round in another way
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3)])
def test_stacks_of_every_shape(name, shape, rng):
    operands = operands_of(name, 4, rng)
    given = [np.broadcast_to(one, (*shape, *one.shape)) for one in operands]
    alone = parts(arrays(CALLS[name].call(*operands)))
    for place in (host, on_device):
        for one, other in zip(parts(arrays(CALLS[name].call(*map(place, given)))), alone, strict=True):
            assert one.shape == (other.shape if other.dtype == bool else (*shape, *other.shape))
            if one.size and name != "qr":
                np.testing.assert_allclose(one, np.broadcast_to(other, one.shape), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in STACKS if name != "gauss_jordan"])  # which goes one by one
@pytest.mark.parametrize("place", [host, on_device], ids=["host", "device"])
def test_the_work_does_not_depend_on_how_many_there_are(name, place, device, rng):
    """Plans and passes: of matrices that are accepted at once, and of those that must be scaled first."""

    def work(far, count):
        exponents = np.linspace(-50, 50, 7).astype(int)
        made = [operands_of(name, 7, rng) for _ in range(count)]
        if name in SCALED:
            made = [scaled(name, one, exponents, -exponents)[0] if i < far else one for i, one in enumerate(made)]
        given, before = [place(one) for one in stacked(made)], device.stats()
        CALLS[name].call(*given)
        return device.stats().plans - before.plans, device.stats().passes - before.passes

    assert work(0, 5) == work(0, 12)
    if name in SCALED and name not in ("cholesky_banded", "cho_solve_banded"):
        assert work(2, 12) == work(9, 12)


ASKED = ("matmul", "plu", "lu_factor", "rref", "cholesky", "cho_factor", "cholesky_banded", "solve_triangular")


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, one) for name in ASKED for one in OPERATIONS[name].variants if one != "row_operations_full"],
)  # which exchanges columns, too: factors are none of P L U
def test_a_variant_that_is_asked_for_is_the_one_that_runs(name, variant, device, rng):
    if lacks := OPERATIONS[name].variants[variant].lacks(device.limits):
        pytest.skip(lacks)
    with glla.trace() as trace:
        CALLS[name].call(*map(on_device, operands_of(name, 6, rng)), variant=variant)
    assert any(f"[{variant}" in one.operation for one in trace.passes)
