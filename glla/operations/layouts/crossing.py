"""Transfers as steps of a plan: matrices of the host uploaded and packed, results unpacked and read back."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from glla.operations import elementwise
from glla.operations.layouts import packing
from glla.operations.record import Float32
from glla.operations.reduce import max_magnitude
from glla.passes import Draft, Form, Forms, HostArray, Limits, Plan, Storage, matrix, texture
from glla.passes.layout import Shape, packed

FEW = 2**16
"""Elements of a matrix up to which the host packs it for a software rasteriser: a pass takes as long there, and a first
one the compilation of its program besides."""


def bring_in(
    draft: Draft, name: str, form: Form, limits: Limits, results: dict[str, str] | None = None, as_stored: bool = False
) -> str:
    """Add an operand; give the slot where it is packed.

    An array of the host is uploaded first. A transpose on the device is written out, unless the caller takes it
    `as_stored`. With `results` an operand on the device is watched, see `watch`: arithmetic there may have left NaN or
    infinity, whereas arrays of the host were looked at as they came in.
    """
    shape = form.matrix
    if not form.resident:
        return upload(draft, draft.operand(name, HostArray(shape)), shape, limits, form.transposed)
    slot = draft.operand(name, matrix(shape[::-1] if form.transposed else shape))
    if form.transposed and not as_stored:
        slot = draft.call(f"transpose {name}", elementwise.unary(shape, "positive", (1, 1, 1)), A=slot)["result"]
    if results is not None:
        watch(draft, name, slot, shape, results)
    return slot


def at_home(draft: Draft, name: str, form: Form, limits: Limits, results: dict[str, str] | None = None) -> str:
    """Add an operand as `bring_in` does; give the slot where it is in the host's memory, read back if need be."""
    if not form.resident:
        return draft.operand(name, HostArray(form.matrix))
    return read_back(draft, bring_in(draft, name, form, limits, results), form.matrix, limits, f"{name} of the host")


def watch(draft: Draft, name: str, slot: str, shape: Shape, results: dict[str, str]) -> None:
    """Add the read-back of the largest entry of a packed matrix that stays on the device, as ``largest_NAME``."""
    largest = draft.call(f"largest {name}", max_magnitude(shape), A=slot)["max"]
    results[f"largest_{name}"] = read_texels(draft, largest, f"largest_{name}")


def called(
    device_plan: Plan,
    forms: Forms,
    limits: Limits,
    shape: Shape,
    step: str,
    as_stored: bool = False,
    few: bool = False,
) -> Plan:
    """Plan of a call: uploads, the device plan, and the read-back of its result unless an operand is on the device.

    `shape`: of the result. `step`: name of the step, and of its read-back. `as_stored`: see `bring_in`. `few`: the host
    may pack operands and unpack the result, see `FEW`.
    """
    if all(form.resident for form in forms):
        return device_plan
    draft, (result,) = Draft(device_plan.operation), device_plan.results
    at_home = not any(form.resident for form in forms)
    sizes = [prod(one) for one in (shape, *(form.matrix for form in forms))]
    by_host = few and at_home and limits.software and max(sizes) <= FEW
    slots = {
        name: _packed_by_host(draft, name, form) if by_host else bring_in(draft, name, form, limits, None, as_stored)
        for name, form in zip(device_plan.operands, forms, strict=False)  # one of a matrix and its transpose
    }
    x = draft.call(step, device_plan, **slots)[result]
    if by_host:
        x = _unpacked_by_host(draft, x, shape, step)
    elif at_home:
        x = read_back(draft, x, shape, limits, step)
    return draft.plan({result: x})


def _packed_by_host(draft: Draft, name: str, form: Form) -> str:
    """Add an operand of the host, and its upload; give the slot where it is packed."""
    a, storage = draft.operand(name, HostArray(form.matrix)), matrix(form.matrix)
    made = {f"{name} packed": texels_of(storage)}
    (texels,) = draft.host(f"pack {name}", lambda a: (packing.packed_by_host(a),), (a,), made)
    return write_texels(draft, texels, storage)


def _unpacked_by_host(draft: Draft, slot: str, shape: Shape, name: str) -> str:
    """Add the read-back of a packed matrix; give the slot of the array of the host."""
    read, size = read_texels(draft, slot, f"{name} packed"), (*packed(shape), 4)
    (result,) = draft.host(
        f"unpack {name}", lambda a: (packing.unpacked_by_host(a.reshape(size), shape),), (read,), {name: shape}
    )
    return result


def upload(draft: Draft, source: str, shape: Shape, limits: Limits, transposed: bool = False) -> str:
    """Add the upload of an array of the host; give the slot where it is packed."""
    side = limits.texture_size
    if max(shape) > side:
        tiles, plan = packing.in_tiles(shape, side)
        sizes = {f"{source} tile {number}": tile[2:] for number, tile in enumerate(tiles)}

        def cutting(a: Float32) -> tuple[Float32, ...]:
            return tuple(np.ascontiguousarray(a[y : y + height, x : x + width]) for y, x, height, width in tiles)

        cut = draft.host("tiles that a texture holds", cutting, (source,), sizes)
        raw = {}
        for name, tile, (_, _, rows, columns) in zip(plan.operands, cut, tiles, strict=True):
            raw[name] = draft.slot(f"{tile} raw", Storage(rows, columns, 1))
            draft.transfer(tile, raw[name])
        return draft.call(f"pack {source}", plan, **raw)["packed"]
    rows, columns = shape
    target = draft.slot(f"{source} raw", Storage(columns, rows, 1) if transposed else Storage(rows, columns, 1))
    draft.transfer(source, target, transposed)
    return draft.call(f"pack {source}", packing.pack(shape, transposed), raw=target)["packed"]


def read_back(draft: Draft, slot: str, shape: Shape, limits: Limits, name: str) -> str:
    """Add the read-back of a packed matrix; give the slot of the array of the host."""
    tiles = list(packing.tiles(shape, limits.texture_size))
    parts = []
    for number, tile in enumerate(tiles):
        raw = draft.call(f"unpack {name}", packing.unpack(shape, tile), packed=slot)["raw"]
        parts.append(draft.slot(name if len(tiles) == 1 else f"{name} tile {number}", HostArray(tile[2:])))
        draft.transfer(raw, parts[-1])
    if len(tiles) == 1:
        return parts[0]

    def joining(*arrays: Float32) -> tuple[Float32]:
        joined = np.empty(shape, dtype=np.float32)
        for (y, x, height, width), array in zip(tiles, arrays, strict=True):
            joined[y : y + height, x : x + width] = array
        return (joined,)

    return draft.host("tiles put together", joining, tuple(parts), {name: shape})[name]


def read_texels(draft: Draft, slot: str, name: str) -> str:
    """Add the read-back of a texture as it is; give the slot of the array, a row for each texel."""
    target = draft.slot(name, texels_of(texture(draft.slots[slot])))
    draft.transfer(slot, target)
    return target


def write_texels(draft: Draft, source: str, storage: Storage) -> str:
    """Add the upload of an array of texels, height x width x channels; give the slot of the texture."""
    target = draft.slot(f"{source} texels", storage)
    draft.transfer(source, target)
    return target


def records_of(draft: Draft, step: str, plan: Plan, raw: str) -> str:
    """Add a plan of a batch whose operands the host has laid out, `raw`; give the slot of its records, read back."""
    made = draft.call(step, plan, raw=write_texels(draft, raw, texture(plan.slots["raw"])))
    return read_texels(draft, made["records"], "records")


def texels_of(storage: Storage) -> HostArray:
    """Array of the host that holds the texels of a texture, a row for each."""
    return HostArray((storage.height * storage.width, storage.channels))


def laid_out(storage: Storage, *operands: Float32) -> tuple[Float32]:
    """Texels of stacks, one after the other."""
    texels = np.empty(texels_of(storage).shape, dtype=np.float32)
    lay_out(texels.reshape(-1), operands)
    return (texels,)


def lay_out(elements: Float32, operands: Sequence[Float32]) -> None:
    """Fill an array with operands, one after the other, and zeros behind them."""
    start = 0
    for operand in operands:
        elements[start : start + operand.size].reshape(operand.shape)[...] = operand
        start += operand.size
    elements[start:] = 0
