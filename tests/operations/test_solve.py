"""Systems of equations: the plan of every variant, operands and results on the device."""

import pytest

from glla.lab import operations
from glla.operations.solve import SOLVE
from glla.testing import JUDGES

VARIANTS = SOLVE.variants


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_solves_a_system(device, rng, variant, n):
    arrays = SOLVE.example(n, rng)
    job = operations.prepare(device, SOLVE, operations.contenders(SOLVE.name)[variant], arrays)
    assert JUDGES[SOLVE.name].verdict(arrays, job.fetch(job.run())).ok
