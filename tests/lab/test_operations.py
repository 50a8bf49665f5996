"""The table of operations: every contender is right, every judge can fail."""

from types import SimpleNamespace

import numpy as np
import pytest

from glla.errors import OptionError
from glla.kernels import matmul, plu, rref, triangular
from glla.lab import operations
from glla.lab.operations import OPERATIONS, Contender, contenders, find, prepare, unmet
from glla.testing import ROUNDOFF

CASES = [(name, contender) for name in OPERATIONS for contender in contenders(name).values()]


@pytest.mark.parametrize(("name", "contender"), CASES, ids=lambda one: getattr(one, "name", one))
def test_contenders_are_right(device, name, contender):
    operation = OPERATIONS[name]
    if lacking := unmet(contender.needs, device):
        pytest.skip(lacking)
    for n in (1, 2, 19):
        arrays = operation.inputs(n, seed=3)
        copies = [array.copy() for array in arrays]
        job = prepare(device, operation, contender, arrays)
        job.plan.check(device.limits)
        for result in (job.fetch(job.run()), job.end_to_end()):
            verdict = operation.judge(arrays, result)
            assert verdict.ok, str(verdict)
            assert operation.deviation(arrays, result) <= 1e3 * n * ROUNDOFF
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("poison", [np.nan, 1e6])
def test_judges_see_a_wrong_entry(device, name, poison):
    operation = OPERATIONS[name]
    arrays = operation.inputs(12)
    job = prepare(device, operation, contenders(name)[operation.thesis], arrays)
    result = job.fetch(job.run())
    matrix = result[0] if isinstance(result, tuple) else result
    assert operation.judge(arrays, result).ok
    small = operation.deviation(arrays, result)
    matrix[-1, -1] = poison
    assert operation.judge(arrays, result).ratio > 1
    assert not operation.deviation(arrays, result) <= 1000 * small


def test_a_pivot_that_is_no_row_is_wrong(device):
    operation = OPERATIONS["plu"]
    arrays = operation.inputs(6)
    packed, rows, columns = prepare(device, operation, contenders("plu")["rank2"], arrays).end_to_end()
    rows[2] = 6
    assert operation.judge(arrays, (packed, rows, columns)).detail == "a pivot is no row of the matrix"
    rows[2], columns[5] = 5, -1
    assert operation.judge(arrays, (packed, rows, columns)).detail == "a pivot is no column of the matrix"


@pytest.mark.parametrize("name", OPERATIONS)
def test_baselines_are_right(name):
    """They solve the problem that the contenders solve: the flops and the ratio would mean nothing else."""
    operation = OPERATIONS[name]
    arrays = operation.inputs(30)
    for way in operation.peer.ways:
        copies = [np.array(array, order="K") for array in way.operands(*operation.peer_operands(*arrays))]
        result = way.bind()(*copies)
        if name == "rref":
            assert result[0].shape == (30, 30)
        elif name == "plu":
            assert operation.judge(arrays, (result[0], result[1].astype(np.int32), np.arange(30))).ok
        else:
            verdict = operation.judge(arrays, np.ascontiguousarray(result))
            assert verdict.ok, str(verdict)


@pytest.mark.parametrize("name", OPERATIONS)
def test_inputs_depend_on_size_and_seed_only(name):
    operation = OPERATIONS[name]
    for one, other in zip(operation.inputs(5, 1), operation.inputs(5, 1), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.float32
        assert one.flags.c_contiguous
    assert not np.array_equal(operation.inputs(5, 1)[0], operation.inputs(5, 2)[0])


@pytest.mark.parametrize(
    ("name", "kernel"), [("matmul", matmul), ("plu", plu), ("rref", rref), ("triangular", triangular)]
)
def test_every_variant_of_a_kernel_is_a_contender(name, kernel):
    listed = contenders(name)
    assert set(kernel.VARIANTS) == {one.name for one in listed.values() if not one.special}
    assert next(iter(listed)) == OPERATIONS[name].thesis
    for variant, about in kernel.VARIANTS.items():
        assert (listed[variant].summary, listed[variant].needs) == (about.summary, about.needs)


def test_a_variant_added_to_a_kernel_joins(monkeypatch):
    monkeypatch.setitem(matmul.VARIANTS, "new", matmul.VARIANTS["inner_product"])
    assert "new" in contenders("matmul")


def test_shaders_of_a_plan():
    names = [name for name, _ in operations.shaders(matmul.plan(9, 9, 9, "register_blocked"))]
    assert names == ["matmul/register_blocked", "matmul/interleave"]
    ((_, defines),) = operations.shaders(matmul.plan(9, 9, 9, "inner_product"))
    assert defines == {"CONTINUE": 0}


def test_parameters_reach_the_builder(device):
    seen = []

    def build(n, limits, parameters):
        seen.append((n, limits, parameters))
        return matmul.plan(n, n, n)

    operation = find("matmul")
    prepare(device, operation, Contender("x", build), operation.inputs(4), (("UNROLL", 2),))
    assert seen == [(4, device.limits, (("UNROLL", 2),))]


def test_add_and_remove(add):
    add("short_sum")
    assert list(contenders("matmul"))[-1] == "short_sum"
    operations.remove("matmul", "short_sum")
    assert "short_sum" not in contenders("matmul")
    with pytest.raises(OptionError, match="matmul: 'virtual_cube' is a variant of glla's; choose another name"):
        operations.add("matmul", Contender("virtual_cube", matmul.plan))
    with pytest.raises(OptionError, match=r"operation must be one of matmul, rref, plu.*got 'svd'"):
        operations.add("svd", Contender("x", matmul.plan))


@pytest.mark.parametrize(
    ("version", "needs", "expected"),
    [
        ("3.3 (Core Profile) Mesa 22.3.6", (), ""),
        ("3.3 (Core Profile) Mesa 22.3.6", ("OpenGL 3.3",), ""),
        ("3.3.0 NVIDIA 580.1", ("OpenGL 4.3",), "needs OpenGL 4.3, the device has OpenGL 3.3"),
        ("4.6.0 NVIDIA 580.1", ("OpenGL 4.3",), ""),
        ("4.10.0", ("OpenGL 4.3",), ""),
        ("4.6.0", ("OpenGL 4.3", "GL_EXT_x"), "needs GL_EXT_x, which cannot be counted on"),
    ],
)
def test_needs(version, needs, expected):
    device = SimpleNamespace(info=SimpleNamespace(version=version))
    assert unmet(needs, device) == expected
