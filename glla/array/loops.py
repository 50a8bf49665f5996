"""Loops on arrays: operands are uploaded, results stay on the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glla import registry
from glla.array import layouts
from glla.array.array import Array, device_of
from glla.array.slots import as_slot
from glla.array.value import Resident
from glla.errors import PlanError
from glla.gl import Device
from glla.passes import Iterated, Loop, texture


def run(loop: Loop, device: Device | None, operands: Mapping[str, Any]) -> Iterated:
    """Run a loop on arrays, see `Loop.__call__`."""
    function = f"iterate: {loop.operation}"
    if set(operands) != set(loop.operands):
        raise PlanError(f"{function}: operands are {sorted(loop.operands)}, got {sorted(operands)}")
    place = device_of(function, device, *operands.values())
    values = {}
    for name, value in operands.items():
        slot = texture(loop.slots[name])
        if slot.layout is None:
            raise PlanError(f"{function}: operand {name} is no array; run the loop by Device.run")
        values[name] = as_slot(function, name, value, slot, place)
    results = place.run(loop, **values)
    for name, made in results.items():
        slots = (loop.results[name], loop.carry.get(name))  # a carried result has the shape of its operand
        known = (texture(loop.slots[slot]).layout for slot in slots if slot)
        layout = next((one for one in known if one is not None), None)
        if layout is not None:
            results[name] = Array._of(layouts.best(Resident.of_texture(place, made, layout)))
    return results


registry.announce("loop", run)
