"""Determinants: the plan of every variant, operands and results on the device."""

import pytest

from glla.lab import operations
from glla.operations.det import DET, SLOGDET
from glla.testing import JUDGES

VARIANTS = DET.variants


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("record", [DET, SLOGDET], ids=lambda record: record.name)
def test_every_variant_has_the_determinant(device, rng, record, variant, n):
    arrays = record.example(n, rng)
    job = operations.prepare(device, record, operations.contenders(record.name)[variant], arrays)
    assert JUDGES[record.name].verdict(arrays, job.fetch(job.run())).ok
