"""A variant of a user's own: every way that a product may go runs it, and every list of variants has it."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

import glla
from glla.errors import OptionError, ShaderError
from glla.kernels import stand_in
from glla.lab import collection
from glla.lab.custom import gallery
from glla.operations import OPERATIONS
from glla.passes import PLAIN, resident
from glla.passes.glsl import find as shaders
from tests.beside import PATIENCE, started

PRODUCT = gallery("naive_product").read_text(encoding="utf-8")
CONTINUED = shaders.source("matmul/inner_product")  # goes on from the sums of an earlier pass, as naive_product cannot
TEN_TIMES = PRODUCT.replace("result = ", "result = 10.0 * ")


@contextmanager
def registered(operation, source, name="mine", **options):
    glla.register(operation, name, source, **options)
    try:
        yield
    finally:
        glla.unregister(operation, name)


@pytest.fixture
def tens():
    """A product that is ten times too large, so that nobody mistakes it for one of glla's."""
    assert TEN_TIMES != PRODUCT
    with registered("matmul", TEN_TIMES):
        yield


def test_arrays_matrices_stacks_and_transposes(tens, rng):
    a, b = rng.integers(-9, 9, (2, 3, 5, 5))
    A, B = glla.asarray(a[0]), glla.asarray(b[0])
    assert (glla.matmul(a, b, variant="mine") == 10 * (a @ b)).all()
    assert (glla.matmul(a[0], b[0, :, 0], variant="mine") == 10 * (a[0] @ b[0, :, 0])).all()
    assert (glla.matmul(A.T, B.T, variant="mine").numpy() == 10 * (a[0].T @ b[0].T)).all()
    assert (glla.matmul(A, b[0].T, variant="mine").numpy() == 10 * (a[0] @ b[0].T)).all()
    assert (glla.matmul(a, b) == a @ b).all()
    assert (glla.asarray(a[0]) @ B).numpy().tolist() == (a[0] @ b[0]).tolist()


def test_tiles(rng):
    """A product that does not fit: its tiles run the variant too, and slabs are added up on the device."""
    a, b = rng.integers(-9, 9, (2, 40, 40)).astype(np.float32)
    with registered("matmul", CONTINUED), glla.Device(max_texture_size=8) as small:
        plan = glla.plan("matmul", a, b, device=small, variant="mine")
        assert "mine.frag" in str(plan)
        assert (glla.matmul(a, b, variant="mine", device=small) == a @ b).all()


def test_the_loop_limit_splits_its_sum():
    with registered("matmul", CONTINUED):
        forms, limits = resident((4, 40), (40, 4)), glla.Limits(loop_trips=8)
        assert OPERATIONS["matmul"].device_plan(forms, limits, variant="mine").cost.passes == 3
    with registered("matmul", PRODUCT), pytest.raises(ShaderError, match="declare `uniform sampler2D C;` where CONT"):
        OPERATIONS["matmul"].device_plan(forms, limits, variant="mine")
    with registered("matmul", gallery("split_product")):
        plan = glla.plan("matmul", (64, 64), (64, 64), limits=PLAIN, variant="mine", parameters=(("PASSES", 4),))
        assert sum("split_product" in step.shader for step in plan.passes if hasattr(step, "shader")) == 4


def test_every_list_has_it(tens):
    plan = glla.plan("matmul", (4, 4), (4, 4), limits=PLAIN, variant="mine")
    assert "matmul[mine]" in plan.operation
    assert "mine.frag" in str(plan)
    with glla.trace() as trace:
        glla.matmul([[1]], [[2]], variant="mine")
    assert "mine.frag" in str(trace)
    with pytest.raises(OptionError, match=r"variant must be one of inner_product, .* and \d+ more, got 'x'"):
        glla.matmul([[1]], [[1]], variant="x")
    assert "mine" in [entry.variant for entry in collection.entries(operations=["matmul"], n=16)]
    assert "mine" not in OPERATIONS["matmul"].tunable()
    with glla.coprocessor() as gpu:
        assert gpu.matmul([[1]], [[2]], variant="mine").result().tolist() == [[20]]


@pytest.mark.parametrize("operation", ["plu", "rref"])
def test_a_step_of_an_elimination(operation, rng):
    """glla's own step, as if it were the user's: the same bits, whatever the shape."""
    text = shaders.source(OPERATIONS[operation].interface.stands_for)
    function = getattr(glla, operation)
    with registered(operation, text):
        for shape in ((1, 1), (5, 5), (4, 7), (7, 3)):
            a = rng.standard_normal(shape).astype(np.float32)
            own, theirs = function(a, variant="mine"), function(a, variant="rank2")
            assert all(np.array_equal(one, other) for one, other in zip(own, theirs, strict=True))
        assert "mine.frag" in str(glla.plan(operation, (5, 5), limits=PLAIN, variant="mine"))
        if operation == "plu":
            square = rng.standard_normal((5, 5))
            for one, other in zip(*(glla.lu_factor(square, variant=v) for v in ("mine", "rank2")), strict=True):
                assert np.array_equal(one, other)
            assert "mine.frag" in str(glla.plan("lu_factor", (5, 5), limits=PLAIN, variant="mine"))


def test_a_step_of_a_substitution(rng):
    lower, x = np.tril(rng.integers(1, 4, (9, 9))).astype(np.float32), rng.integers(-9, 9, (9, 2))
    lower[np.diag_indices(9)] = 1
    with registered("triangular", gallery("substitution")):
        plan = OPERATIONS["triangular"].device_plan(resident((9, 9), (9, 2)), PLAIN, variant="mine")
        assert (glla.run(plan, T=lower, B=lower @ x)["X"].numpy() == x).all()


def test_registered_anew_it_is_another(rng):
    """No plan of the old shader is found under its name."""
    a = rng.integers(-9, 9, (6, 6))
    A = glla.asarray(a)
    for text, factor in ((TEN_TIMES, 10), (PRODUCT, 1), (TEN_TIMES, 10)):
        with registered("matmul", text):
            assert (glla.matmul(a, a, variant="mine") == factor * (a @ a)).all()
            assert (glla.matmul(A, A, variant="mine").numpy() == factor * (a @ a)).all()
    with pytest.raises(OptionError, match=r"matmul: variant must be one of .*, got 'mine'"):
        glla.matmul(a, a, variant="mine")


def test_what_is_refused(tmp_path):
    with registered("matmul", PRODUCT), pytest.raises(OptionError, match="has a variant 'mine'; choose another name"):
        glla.register("matmul", "mine", TEN_TIMES)
    path = tmp_path / "broken.frag"
    path.write_text(PRODUCT.replace("uniform int first;", "uniform uint first;"))
    with pytest.raises(ShaderError, match=r"broken\.frag:\d+: first is given as int, not as uint"):
        glla.register("matmul", "mine", path)
    assert "mine" not in OPERATIONS["matmul"].variants
    path.write_text(PRODUCT.replace("result = ", "result = nothing + "))
    with registered("matmul", path), pytest.raises(ShaderError, match=r"broken\.frag:\d+: .*nothing"):
        glla.matmul([[1]], [[1]], variant="mine")


def test_threads_register_and_look(monkeypatch):
    """One of many wins a name; whoever goes over the variants meanwhile sees a table that does not change."""
    stop, all_have_looked = threading.Event(), threading.Barrier(8)
    read = stand_in.read

    def late(*args):
        all_have_looked.wait(10)  # whether the name is taken: it is not
        return read(*args)

    monkeypatch.setattr(stand_in, "read", late)

    def look():
        while not stop.is_set():
            for name, variant in OPERATIONS["matmul"].variants.items():
                assert name and variant.summary

    looking = started(look)
    taking = [started(glla.register, "matmul", "contested", PRODUCT) for _ in range(8)]
    lost = [error for one in taking if (error := one.exception(PATIENCE))]
    stop.set()
    assert looking.exception(PATIENCE) is None
    glla.unregister("matmul", "contested")
    assert [type(error) for error in lost] == [OptionError] * 7
