"""Inverses: the plan of every variant, operands and results on the device."""

import pytest

from glla.lab import operations
from glla.operations.inverse import INV
from glla.testing import JUDGES

VARIANTS = INV.variants


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_inverts_a_matrix(device, rng, variant, n):
    arrays = INV.example(n, rng)
    job = operations.prepare(device, INV, operations.contenders(INV.name)[variant], arrays)
    assert JUDGES[INV.name].verdict(arrays, job.fetch(job.run())).ok
