"""What a plan moves, and the roofs above it."""

from glla.lab.roofline import Roof, traffic
from glla.operations.elimination import plu
from glla.operations.product import matmul
from glla.passes import resident

BYTES = 4 * 64 * 64  # of a 64 x 64 matrix


def product(variant):
    return matmul.plan(resident((64, 64), (64, 64)), variant=variant)


def test_a_product_in_one_pass_moves_its_three_matrices():
    assert traffic(product("inner_product")) == 3 * BYTES


def test_blending_reads_its_target():
    plan = product("virtual_cube")
    first, others = 3 * BYTES, 31 * 4 * BYTES
    assert traffic(plan) == first + others


def test_what_several_targets_take_is_read_whole():
    """8 targets of 1/8 of the texels each, which need all of A and B; then all of the 8 are put together."""
    assert traffic(product("register_blocked")) == (2 + 1) * BYTES + (1 + 1) * BYTES


def test_transfers_and_blocks_count():
    plan = product("panel_broadcast")
    buffer = plan.slots["panel_buffer"].nbytes
    assert traffic(plan) >= plan.cost.nbytes + 2 * buffer


def test_an_elimination_reads_what_it_draws():
    plan = plu.plan(resident((64, 64)), variant="rank2")
    assert plan.cost.nbytes < traffic(plan) < 3 * plan.cost.nbytes


def test_roofs_out_of_ceilings():
    report = {name: {"value": value} for name, value in [
        ("fragment_fma", 100.0), ("write_1", 5.0), ("write_8", 7.0), ("fetch_rgba32f", 2.0), ("blend", 99.0),
    ]}  # fmt: skip
    assert Roof.of(report) == Roof(arithmetic=100.0, write=7.0, fetch=32.0)
