"""What a plan moves, and the roofs above it."""

import pytest

from glla.lab.roofline import Roof, traffic
from glla.operations.elimination import plu
from glla.operations.product import matmul
from glla.passes import resident

BYTES = 4 * 64 * 64  # of a 64 x 64 matrix


@pytest.mark.parametrize(
    ("variant", "moved"),
    [
        ("inner_product", 3),
        ("virtual_cube", 3 + 31 * 4),  # blending reads its target
        ("register_blocked", 2 + 1 + 1 + 1),  # 8 targets of 1/8 of the texels need all of A and B; then they are joined
    ],
)
def test_matrices_that_a_product_moves(variant, moved):
    assert traffic(matmul.plan(resident((64, 64), (64, 64)), variant=variant)) == moved * BYTES


def test_transfers_and_what_an_elimination_reads_count():
    plan = matmul.plan(resident((64, 64), (64, 64)), variant="panel_broadcast")
    assert traffic(plan) >= plan.cost.nbytes + 2 * plan.slots["panel_buffer"].nbytes
    plan = plu.plan(resident((64, 64)), variant="rank2")
    assert plan.cost.nbytes < traffic(plan) < 3 * plan.cost.nbytes


def test_roofs_out_of_ceilings():
    values = {"fragment_fma": 100.0, "write_1": 5.0, "write_8": 7.0, "fetch_rgba32f": 2.0, "blend": 99.0}
    report = {name: {"value": value} for name, value in values.items()}
    assert Roof.of(report) == Roof(arithmetic=100.0, write=7.0, fetch=32.0)
