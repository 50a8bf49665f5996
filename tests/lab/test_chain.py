"""Plans made of plans."""

import numpy as np

from glla.kernels import matmul, packing, plu
from glla.lab.chain import Chain
from glla.passes import matrix
from glla.testing import assert_exact, integers


def cubed(n, variant):
    chain = Chain("cube")
    a = chain.operand("A", matrix((n, n)))
    square = chain.add(matmul.plan(n, n, n, variant), A=a, B=a)["C"]
    return chain.plan({"C": chain.add(matmul.plan(n, n, n, variant), A=square, B=a)["C"]})


def test_links_hand_on_their_results(device, rng):
    a = integers(9, 9, rng, limit=3)
    for variant, one in matmul.VARIANTS.items():  # with blending, transfers, blocks, regions, several targets
        if one.lacks(device.limits):
            continue
        plan = cubed(9, variant)
        plan.check(device.limits)
        results = device.run(plan, A=device.upload(a))
        assert_exact(device.download(results["C"], (9, 9)), np.linalg.matrix_power(a.astype(np.int64), 3))


def test_a_chain_costs_what_its_links_cost():
    link, plan = matmul.plan(8, 8, 8, "virtual_cube"), cubed(8, "virtual_cube")
    assert plan.cost.passes == 2 * link.cost.passes
    assert plan.cost.nbytes == 2 * link.cost.nbytes
    assert plan.flops == 2 * link.flops
    assert plan.operands == ("A",)


def test_flops_may_be_given():
    chain = Chain("factors of I")
    factors = chain.add(plu.plan((4, 4)), A=chain.add(packing.identity((4, 4)))["I"])
    assert chain.plan({"LU": factors["LU"]}, flops=7).flops == 7
