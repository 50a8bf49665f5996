"""glla.plan: the passes of an operation, without a GPU."""

import os
import subprocess
import sys

import pytest

import glla
from glla.errors import GllaError, LimitError, OptionError, PlanError, ShapeError
from glla.kernels import matmul, pivot, plu, triangular
from glla.passes import COMPUTE, Limits, Plan

OPERATIONS = {"matmul": [(8, 6), (6, 4)], "rref": [(8, 6)], "plu": [(8, 6)], "triangular": [(6, 6), (6, 3)]}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_a_plan_that_prints(operation):
    plan = glla.plan(operation, *OPERATIONS[operation])
    assert isinstance(plan, Plan)
    lines = str(plan).splitlines()
    assert lines[0].startswith(operation)
    assert f" {len(plan.steps)} passes" in lines[0]
    assert len([line for line in lines if line[:1].isdigit()]) == len(plan.steps)


def test_plu_of_eight():
    """The example of the issue: a line for each pass, none of them a read-back."""
    text = str(glla.plan("plu", (8, 8)))
    assert text.count("plu/eliminate") == 4
    assert "pivot/measure" in text


@pytest.mark.parametrize("variant", matmul.VARIANTS)
def test_variants(variant):
    limits = Limits(opengl=COMPUTE)
    plan = glla.plan("matmul", (4, 10), (10, 3), limits=limits, variant=variant)
    assert f"matmul[{variant}]" in str(plan)
    # panel_broadcast: repack A, transfer it, repack B, one panel, put C together.
    other = {
        "virtual_cube": 5,
        "virtual_cube_ping_pong": 5,
        "panel_broadcast": 5,
        "register_blocked": 2,
        "rank_one": 13,
    }
    repacking = {"single_component": 4, "packed_4x1": 4, "packed_1x4": 4}
    assert len(plan.steps) == {**other, **repacking}.get(variant, 1)
    assert plan.flops == 2 * 4 * 10 * 3


def test_parameters_of_a_variant():
    steps = glla.plan("matmul", (8, 8), (8, 8), variant="register_blocked", parameters=(("PASSES", 2),)).steps
    assert [step.shader for step in steps] == ["matmul/register_blocked", "matmul/interleave"] * 2


def test_variants_of_plu():
    assert "plu/update" not in str(glla.plan("plu", (70, 70)))
    text = str(glla.plan("plu", (70, 70), variant="blocked"))
    assert text.startswith("plu[blocked, partial]: ") and "plu/update" in text and "(transfer)" in text


@pytest.mark.parametrize("variant", triangular.VARIANTS)
def test_variants_of_triangular(variant):
    plan = glla.plan("triangular", (40, 40), (40, 3), variant=variant)
    assert str(plan).startswith(f"triangular[{variant}, lower]: ")
    # Two rows a pass; 16 rows in two passes; one block: into strips, panels, transfer, solved, put back.
    assert len(plan.steps) == {"rank2": 20, "blocked": 5, "panel_broadcast": 5}[variant]


@pytest.mark.parametrize("operation", ["rref", "plu"])
def test_block_norms_need_fewer_passes(operation):
    count = {norm: len(glla.plan(operation, (64, 64), pivoting=norm).steps) for norm in pivot.NORMS}
    assert count["harmonic"] == count["geometric"] < count["partial"]


def test_the_loop_limit_splits_a_product():
    limits = Limits(texture_size=2**20, loop_trips=1000)
    for k, passes in ((2000, 1), (2001, 2), (4000, 2), (4001, 3)):
        assert len(glla.plan("matmul", (2, k), (k, 2), limits=limits).steps) == passes


def test_needs_no_context():
    code = "import glla; print(glla.plan('rref', (5, 7))); import sys; sys.exit('moderngl' in sys.modules and 0)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"GLLA_BACKEND": "none of them", "PATH": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rref[rank2, harmonic]: ")


def test_too_large_for_the_limits():
    with pytest.raises((LimitError, PlanError)) as caught:
        glla.plan("plu", (200, 200), limits=Limits(texture_size=64))
    assert "64" in str(caught.value)
    assert "100" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("qr", (2, 2)), {}, OptionError, "plan: operation must be one of matmul, rref, plu, triangular, got 'qr'"),
        (
            ("plu", 8, 8),
            {},
            ShapeError,
            "plan: plu takes 1 shape(s) (rows, columns) of at least 1, got (8, 8)",
        ),
        (("plu", 8), {}, ShapeError, "plan: plu takes 1 shape(s) (rows, columns) of at least 1, got (8,)"),
        (("plu",), {}, ShapeError, "plan: plu takes 1 shape(s) (rows, columns) of at least 1, got ()"),
        (("rref", (0, 3)), {}, ShapeError, "plan: rref takes 1 shape(s) (rows, columns) of at least 1, got ((0, 3),)"),
        (
            ("rref", (2, 3, 4)),
            {},
            ShapeError,
            "plan: rref takes 1 shape(s) (rows, columns) of at least 1, got ((2, 3, 4),)",
        ),
        (
            ("matmul", (2, 3)),
            {},
            ShapeError,
            "plan: matmul takes 2 shape(s) (rows, columns) of at least 1, got ((2, 3),)",
        ),
        (
            ("matmul", (2, 3), (4, 5)),
            {},
            ShapeError,
            "matmul: inner dimensions must agree, got A (2, 3) and B (4, 5)",
        ),
        (
            ("triangular", (2, 3), (3, 1)),
            {},
            ShapeError,
            "triangular: T must be square and have as many rows as B, got T (2, 3) and B (3, 1)",
        ),
        (
            ("matmul", (2, 3), (3, 5)),
            {"variant": "fast"},
            OptionError,
            f"matmul: variant must be one of {', '.join(matmul.VARIANTS)}, got 'fast'",
        ),
        (
            ("plu", (2, 2)),
            {"variant": "recursive"},
            OptionError,
            f"plu: variant must be one of {', '.join(plu.VARIANTS)}, got 'recursive'",
        ),
        (("plu", (2, 2)), {"stop": 0}, OptionError, "plu: stop must be at least 1, got 0"),
        (
            ("plu", (2, 2)),
            {"variant": "blocked", "stop": 1},
            OptionError,
            "plu: variant blocked takes no stop, its columns are not done two by two; use rank2",
        ),
        (
            ("plu", (2, 2)),
            {"pivoting": "rook"},
            OptionError,
            "pivoting: must be one of partial, harmonic, geometric, got 'rook'",
        ),
    ],
)
def test_messages(arguments, options, error, message):
    with pytest.raises(error) as caught:
        glla.plan(*arguments, **options)
    assert str(caught.value) == message


def test_unknown_options():
    with pytest.raises(OptionError, match=r"^plan: plu: .*unexpected keyword argument 'speed'") as caught:
        glla.plan("plu", (2, 2), speed=9)
    assert isinstance(caught.value, GllaError)
