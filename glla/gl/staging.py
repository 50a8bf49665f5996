"""Asynchronous transfers: through staging buffers that the host fills or empties while the GPU computes.

OpenGL executes commands in order, so a texture may be released as soon as the last command that reads it is queued.
Host memory is not part of that order. Therefore a transfer goes through a staging buffer, and a fence signals that the
GPU is done with it:

    upload      host writes the buffer | queued: buffer -> raw texture, pack, fence | the host may write it again
    read-back   queued: unpack, raw texture -> buffer, fence | the host may read the buffer
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np

from glla.errors import DeviceError, OptionError, ReleasedError, ShapeError
from glla.gl.calls import (
    GL_MAP_READ_BIT,
    GL_MAP_UNSYNCHRONIZED_BIT,
    GL_MAP_WRITE_BIT,
    GL_PIXEL_PACK_BUFFER,
    GL_STREAM_READ,
    Calls,
)
from glla.gl.clock import GPUClock
from glla.gl.fence import Fence
from glla.gl.info import DeviceInfo
from glla.gl.pool import Texture, handle
from glla.operations.layouts import packing
from glla.operations.record import Float32
from glla.passes import Buffer, Limits, Plan, Storage
from glla.passes.layout import Shape


class Machine(Protocol):
    """The methods of a device that modules below it use, and observers while a plan runs."""

    staging: Staging

    @property
    def info(self) -> DeviceInfo:
        """Description of the device."""

    @property
    def limits(self) -> Limits:
        """Limits of the device."""

    def current(self) -> AbstractContextManager[object]:
        """Make the context current for a block."""

    def lend(self, storage: Storage | Buffer) -> Texture:
        """Return a texture or a buffer of the pool."""

    def run(self, plan: Plan, **operands: Any) -> dict[str, Any]:
        """Run a plan."""

    def read(self, texture: Texture) -> Float32:
        """Read a texture. Synchronises."""

    def write_texels(self, texels: Float32) -> Texture:
        """Copy an array into a texture."""

    def fence(self) -> Fence:
        """Mark the end of the work queued so far."""

    def finish(self) -> None:
        """Wait until all queued work is done."""

    def gpu_clock(self) -> GPUClock | None:
        """Return the GPU's clock, if it has one."""


ROUNDED = 1 << 20
"""Elements from which staging buffers have four sizes per power of two: drivers take milliseconds to make one."""


def staging(elements: int) -> Buffer:
    """Return the storage of a staging buffer for some float32 numbers; large ones are rounded up, by less than 1/4.

    >>> [staging(elements).nbytes // 4 for elements in (7, 2**20, 2**20 + 1, 7 * 2**20)]
    [7, 1048576, 1310720, 7340032]
    """
    if elements > ROUNDED:
        step = 1 << (elements - 1).bit_length() - 3
        elements = -(-elements // step) * step
    return Buffer(4 * elements, "staging")


class Staging:
    """OpenGL calls for the staging buffers of one context, which must be current in every call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._fences: dict[int, Fence] = {}  # by the name of the buffer that the GPU still uses

    def specify(self, buffer: int, nbytes: int) -> None:
        """Allocate a new buffer's memory where host and GPU both reach it: elsewhere a map would wait for it."""
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, buffer)
        self._calls.buffer_data(GL_PIXEL_PACK_BUFFER, nbytes, None, GL_STREAM_READ)
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)

    def send(self, buffer: Texture, texture: Texture) -> None:
        """Queue the copy of a buffer's first bytes to a texture."""
        handle(texture).write(handle(buffer))
        self._mark(buffer)

    def fetch(self, texture: Texture, buffer: Texture) -> None:
        """Queue the copy of a texture to a buffer."""
        handle(texture).read_into(handle(buffer))
        self._mark(buffer)

    def _mark(self, buffer: Texture) -> None:
        if (fence := self._fences.pop(buffer.gl.glo, None)) is not None:
            fence.delete()
        self._fences[buffer.gl.glo] = Fence(self._calls)

    def done(self, buffer: Texture, wait: bool | float) -> bool:
        """Whether the GPU is done with a buffer, after a wait without limit (True) or of some seconds.

        Raises DeviceError: the driver cannot wait.
        """
        fence = self._fences.get(buffer.gl.glo)
        if fence is None:
            return True
        reached = fence.wait(None if wait is True else float(wait))
        if reached:
            del self._fences[buffer.gl.glo]
        return reached

    @contextmanager
    def mapped(self, buffer: Texture, elements: int, write: bool) -> Iterator[Float32]:
        """Map the first elements of a buffer as an array, to read or to write, once the GPU is done with it."""
        self.done(buffer, wait=True)
        access = GL_MAP_WRITE_BIT | GL_MAP_UNSYNCHRONIZED_BIT if write else GL_MAP_READ_BIT
        name, address = handle(buffer).glo, None
        try:
            self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, name)
            address = self._calls.map_buffer_range(GL_PIXEL_PACK_BUFFER, 0, 4 * elements, access)
            self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)
            if not address:
                raise DeviceError(
                    "transfer: the driver does not map the buffer; release matrices, or use smaller blocks"
                )
            yield np.ctypeslib.as_array((ctypes.c_float * elements).from_address(address))
        finally:
            self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, name)
            self._calls.unmap_buffer(GL_PIXEL_PACK_BUFFER)
            if not address:  # mapped, where an interrupt came before its address, or not: then that was an error
                self._calls.get_error()
            self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)


class Uploads:
    """Uploads through two alternating staging buffers. A context manager: at its end the buffers are released.

    `device`: the target. `elements`: most elements of one array.
    """

    def __init__(self, device: Machine, elements: int) -> None:
        self._device = device
        self._elements = elements
        self._buffers: list[Texture] = []

    def __enter__(self) -> Uploads:
        try:
            for _ in range(2):
                self._buffers.append(self._device.lend(staging(min(self._elements, packing.PIECE))))
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._release()

    def _release(self) -> None:
        for buffer in self._buffers:
            buffer.release()
        self._buffers.clear()

    def upload(self, array: Float32, shape: Shape | None = None) -> Texture:
        """Pack a 2-D float32 array into a texture. Waits only for the upload before the last one.

        Packed.
        `array`, (m, n): of any strides, or a memory map. It is copied before this returns. `shape`: at least (m, n):
        the array is padded with zeros below and to the right.
        """
        shape = shape or (array.shape[0], array.shape[1])
        if shape[0] * shape[1] > self._elements or array.shape[0] > shape[0] or array.shape[1] > shape[1]:
            raise OptionError(
                f"upload: {self._elements} elements at most were asked for, got shape {array.shape} in {shape}"
            )
        device, transposed = self._device, abs(array.strides[0]) < abs(array.strides[1])
        cut, plan = packing.in_tiles(shape, packing.piece_side(shape, device.limits.texture_size), transposed)
        raw: dict[str, Texture] = {}
        with device.current():
            try:
                for name, (top, left, rows, columns) in zip(plan.operands, cut, strict=True):
                    part = array[top : top + rows, left : left + columns]
                    raw[name] = self._send(part.T, (columns, rows)) if transposed else self._send(part, (rows, columns))
                packed: Texture = device.run(plan, **raw)["packed"]
                return packed
            finally:
                for texture in raw.values():
                    texture.release()

    def _send(self, array: Float32, shape: Shape) -> Texture:
        """Copy an array to a buffer, and queue the copy from there to a raw texture."""
        device, buffer = self._device, self._buffers[0]
        with device.staging.mapped(buffer, shape[0] * shape[1], write=True) as elements:
            (rows, columns), target = array.shape, elements.reshape(shape)
            target[:rows, :columns] = array  # the rest are zeros
            target[rows:] = 0
            target[:rows, columns:] = 0
        self._buffers.reverse()
        texture = device.lend(Storage(*shape, 1))
        device.staging.send(buffer, texture)
        return texture


class Download:
    """A matrix in transfer to the host, made by `Device.download_later`.

    >>> import glla
    >>> device = glla.default_device()
    >>> download = device.download_later(glla.asarray([[1, 2]], device).texture, (1, 2))
    >>> download.result()
    array([[1., 2.]], dtype=float32)
    """

    def __init__(self, device: Machine, texture: Texture, shape: Shape) -> None:
        self._device = device
        self.shape = shape
        self._pieces: list[tuple[packing.Tile, Texture]] = []
        try:
            for tile in packing.tiles(shape, device.limits.texture_size):
                raw = device.run(packing.unpack(shape, tile), packed=texture)["raw"]
                try:
                    buffer = device.lend(staging(tile[2] * tile[3]))
                    self._pieces.append((tile, buffer))
                    device.staging.fetch(raw, buffer)
                finally:
                    raw.release()
        except BaseException:
            self.release()
            raise

    def ready(self) -> bool:
        """Whether `result` returns without waiting."""
        with self._device.current():
            return all(self._device.staging.done(buffer, wait=False) for _, buffer in self._live())

    def result(self, out: Float32 | None = None) -> Float32:
        """Wait for the transfer, copy the result out, and release the memory on the device. Call it once.

        `out`, or the new array. `out`: array of any strides to fill; by default a new C-contiguous array.
        """
        self._live()
        if out is not None and out.shape != self.shape:
            raise ShapeError(f"download: out must have shape {self.shape}, got {out.shape}")
        return self.corner(np.empty(self.shape, dtype=np.float32) if out is None else out)

    def corner(self, out: Float32) -> Float32:
        """Like `result`, for the upper left corner that fills `out`."""
        pieces = self._live()
        with self._device.current():
            for (top, left, rows, columns), buffer in pieces:
                target = out[top : top + rows, left : left + columns]
                if target.size:
                    with self._device.staging.mapped(buffer, rows * columns, write=False) as elements:
                        target[...] = elements.reshape(rows, columns)[: target.shape[0], : target.shape[1]]
        self.release()
        return out

    def _live(self) -> list[tuple[Any, Texture]]:
        if not self._pieces:
            raise ReleasedError("download: its result was fetched, or it was released; start another one")
        return self._pieces

    def release(self) -> None:
        """Discard the result; a second call does nothing."""
        for _, buffer in self._pieces:
            buffer.release()
        self._pieces = []
