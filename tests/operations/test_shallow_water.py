"""Plans of shallow water: what a step costs, and the record of the shallowest cell."""

import numpy as np
import pytest

from glla.operations import shallow_water as kernel
from glla.operations.shallow_water import Water


def test_a_step_takes_the_passes_that_are_stated():
    """Two half steps of 3 passes, cyclic reduction, and the search of the shallowest cell."""
    for n, searches in ((121, 2), (1024, 3)):
        levels = n.bit_length() - 1
        assert kernel.adi(Water((n, n))).cost.passes == 2 * (3 + 2 * levels + 1 + searches)


@pytest.mark.parametrize("periodic", [(False, False), (True, False), (False, True), (True, True)])
def test_fields_come_back_as_they_went(device, periodic, rng):
    water = Water((7, 4), periodic=periodic)
    fields = {name: rng.standard_normal(water.shape(name)).astype(np.float32) for name in kernel.FIELDS}
    for name, axis in (("u", 0), ("v", 1)):
        walls = np.moveaxis(fields[name], axis, 0)
        walls[0] = walls[-1] if periodic[axis] else 0
    state = device.run(kernel.pack(water), **{name: device.upload(field) for name, field in fields.items()})["state"]
    for name, field in fields.items():
        found = device.run(kernel.unpack(water, name), state=state)["field"]
        assert (device.download(found, water.shape(name)) == field).all()


def test_the_record_keeps_the_first_dry_cell(device):
    water = Water((40, 20))
    step = kernel.adi(water)
    still = np.full((40, 20), 2.0, np.float32)
    zero = {"u": np.zeros((41, 20), np.float32), "v": np.zeros((40, 21), np.float32)}

    def state(z):
        given = {"z": z, "h": still, **zero}
        return device.run(kernel.pack(water), **{name: device.upload(field) for name, field in given.items()})["state"]

    record = device.write_texels(np.float32([[[np.inf, 0, 0, 4]]]))
    lake = np.zeros((40, 20), np.float32)
    found = device.run(step, state=state(lake), record=record)
    assert device.read(found["record'"]).ravel().tolist() == [2, 0, 0, 5]
    lake[33, 17] = np.nan
    found = device.run(step, state=state(lake), record=found["record'"])
    depth, *_, steps = device.read(found["record'"]).ravel().tolist()
    assert depth == -np.inf and steps == 5
    dry = device.write_texels(np.float32([[[-0.5, 3, 2, 7]]]))
    kept = device.run(step, state=state(0 * still), record=dry)["record'"]
    assert device.read(kept).ravel().tolist() == [-0.5, 3, 2, 7]
    again = device.run(step, state=state(0 * still), record=found["record'"])
    assert (device.read(again["record'"]) == device.read(found["record'"])).all()
