"""Transfers that let the CPU go on: through staging buffers, which the host fills or empties while the GPU computes.

OpenGL takes commands in order, so what is queued is safe: a texture may be given back as soon as the last command that
reads it is queued. Only host memory is not part of that order. Therefore a transfer goes by a staging buffer, and a
fence tells when the GPU is done with it:

    upload      host writes the buffer | queued: buffer -> raw texture, pack, fence | the host may write it again
    read-back   queued: unpack, raw texture -> buffer, fence | the host may read the buffer
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla.device.textures import Texture, handle
from glla.errors import DeviceError, OptionError, ReleasedError, ShapeError
from glla.kernels import packing
from glla.layout import Shape
from glla.passes import Storage

if TYPE_CHECKING:
    from glla.device.device import Device

Array = NDArray[np.float32]

GL_PIXEL_PACK_BUFFER, GL_STREAM_READ = 0x88EB, 0x88E1
GL_MAP_READ_BIT, GL_MAP_WRITE_BIT, GL_MAP_UNSYNCHRONIZED_BIT = 0x01, 0x02, 0x20
GL_SYNC_GPU_COMMANDS_COMPLETE, GL_SYNC_FLUSH_COMMANDS_BIT = 0x9117, 0x01
GL_TIMEOUT_EXPIRED, GL_WAIT_FAILED = 0x911B, 0x911D
FOR_EVER = 2**63  # nanoseconds


def staging(elements: int) -> Storage:
    """Storage of a staging buffer for so many float32."""
    return Storage(1, elements, 1, buffer=True, staging=True)


class Staging:
    """What OpenGL does with the staging buffers of one context, which must be current in every call.

    Parameters
    ----------
    load : callable
        Address of an OpenGL function.
    """

    def __init__(self, load: Callable[[str], int]) -> None:
        name, pointer, length = ctypes.c_uint, ctypes.c_void_p, ctypes.c_ssize_t
        # CFUNCTYPE lets other threads of Python run; what never blocks does without (PYFUNCTYPE), which is cheaper.
        self._bind = ctypes.PYFUNCTYPE(None, name, name)(load("glBindBuffer"))
        self._specify = ctypes.CFUNCTYPE(None, name, length, pointer, name)(load("glBufferData"))
        self._map = ctypes.CFUNCTYPE(pointer, name, length, length, name)(load("glMapBufferRange"))
        self._unmap = ctypes.CFUNCTYPE(ctypes.c_ubyte, name)(load("glUnmapBuffer"))
        self._make_fence = ctypes.PYFUNCTYPE(pointer, name, name)(load("glFenceSync"))
        self._wait_for = ctypes.CFUNCTYPE(name, pointer, name, ctypes.c_uint64)(load("glClientWaitSync"))
        self._delete_fence = ctypes.PYFUNCTYPE(None, pointer)(load("glDeleteSync"))
        self._flush = ctypes.CFUNCTYPE(None)(load("glFlush"))
        self._fences: dict[int, int] = {}  # by the name of the buffer that the GPU still uses

    def specify(self, buffer: int, nbytes: int) -> None:
        """Give a new buffer memory that host and GPU both reach: where the driver puts others, a map waits for it."""
        self._bind(GL_PIXEL_PACK_BUFFER, buffer)
        self._specify(GL_PIXEL_PACK_BUFFER, nbytes, None, GL_STREAM_READ)
        self._bind(GL_PIXEL_PACK_BUFFER, 0)

    def send(self, buffer: Texture, texture: Texture) -> None:
        """Queue the copy of a buffer's first bytes to a texture."""
        handle(texture).write(handle(buffer))
        self._mark(buffer)

    def fetch(self, texture: Texture, buffer: Texture) -> None:
        """Queue the copy of a texture to a buffer."""
        handle(texture).read_into(handle(buffer))
        self._mark(buffer)

    def _mark(self, buffer: Texture) -> None:
        self._forget(buffer)
        self._fences[buffer.gl.glo] = self._make_fence(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        self._flush()  # a fence that lies in the driver's queue is never reached

    def _forget(self, buffer: Texture) -> None:
        fence = self._fences.pop(buffer.gl.glo, None)
        if fence:
            self._delete_fence(fence)

    def done(self, buffer: Texture, wait: bool) -> bool:
        """Tell whether the GPU is done with a buffer, or wait until it is.

        Raises
        ------
        DeviceError
            The driver cannot wait.
        """
        fence = self._fences.get(buffer.gl.glo)
        if not fence:
            return True
        answer = self._wait_for(fence, GL_SYNC_FLUSH_COMMANDS_BIT, FOR_EVER if wait else 0)
        if answer == GL_WAIT_FAILED:
            raise DeviceError("transfer: the driver cannot wait for it; the context is lost, make another Device")
        if answer == GL_TIMEOUT_EXPIRED:
            return False
        self._forget(buffer)
        return True

    @contextmanager
    def mapped(self, buffer: Texture, elements: int, write: bool) -> Iterator[Array]:
        """Give the first elements of a buffer as an array, to read or to write, once the GPU is done with it."""
        self.done(buffer, wait=True)
        access = GL_MAP_WRITE_BIT | GL_MAP_UNSYNCHRONIZED_BIT if write else GL_MAP_READ_BIT
        self._bind(GL_PIXEL_PACK_BUFFER, handle(buffer).glo)
        address = self._map(GL_PIXEL_PACK_BUFFER, 0, 4 * elements, access)
        self._bind(GL_PIXEL_PACK_BUFFER, 0)
        if not address:
            raise DeviceError("transfer: the driver does not map the buffer; release matrices, or use smaller blocks")
        try:
            yield np.ctypeslib.as_array((ctypes.c_float * elements).from_address(address))
        finally:
            self._bind(GL_PIXEL_PACK_BUFFER, buffer.gl.glo)
            self._unmap(GL_PIXEL_PACK_BUFFER)
            self._bind(GL_PIXEL_PACK_BUFFER, 0)


class Uploads:
    """Uploads through two staging buffers that take turns. Use it as a context manager: at the end they are given back.

    Parameters
    ----------
    device : Device
        Where to.
    elements : int
        Most elements of one array.
    """

    def __init__(self, device: Device, elements: int) -> None:
        self._device = device
        self._elements = elements
        self._buffers: list[Texture] = []

    def __enter__(self) -> Uploads:
        try:
            for _ in range(2):
                self._buffers.append(self._device.lend(staging(self._elements)))
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        for buffer in self._buffers:
            buffer.release()
        self._buffers.clear()

    def upload(self, array: Array, shape: Shape | None = None) -> Texture:
        """Pack a 2-D float32 array into a texture. Waits for the upload before the last one, and for nothing else.

        Parameters
        ----------
        array : ndarray of float32, shape (m, n), m, n > 0
            Of any strides, or mapped from a file. It is copied before this returns.
        shape : tuple of int, optional
            At least (m, n): zeros are put below and to the right of the array.

        Returns
        -------
        Texture
            Packed.
        """
        shape = shape or (array.shape[0], array.shape[1])
        if shape[0] * shape[1] > self._elements or array.shape[0] > shape[0] or array.shape[1] > shape[1]:
            raise OptionError(
                f"upload: {self._elements} elements at most were asked for, got shape {array.shape} in {shape}"
            )
        device, side = self._device, self._device.limits.texture_size
        raw: dict[str, Texture] = {}
        with device.current():
            try:
                if max(shape) > side:
                    plan = packing.pack_tiles(shape, side)
                    for number, (top, left, rows, columns) in enumerate(packing.tiles(shape, side)):
                        part = array[top : top + rows, left : left + columns]
                        raw[f"raw_{number}"] = self._send(part, (rows, columns))
                else:
                    transposed = abs(array.strides[0]) < abs(array.strides[1])
                    plan = packing.pack(shape, transposed)
                    raw["raw"] = self._send(*((array.T, shape[::-1]) if transposed else (array, shape)))
                return device.run(plan, **raw)["packed"]
            finally:
                for texture in raw.values():
                    texture.release()

    def _send(self, array: Array, shape: Shape) -> Texture:
        """Copy an array to a buffer, and queue the copy from there to a raw texture."""
        device, buffer = self._device, self._buffers[0]
        with device.staging.mapped(buffer, shape[0] * shape[1], write=True) as elements:
            _fill(elements.reshape(shape), array)
        self._buffers.reverse()
        texture = device.lend(Storage(*shape, 1))
        device.staging.send(buffer, texture)
        return texture


def _fill(target: Array, array: Array) -> None:
    """Copy an array to the upper left corner, and zeros beside it."""
    rows, columns = array.shape
    target[:rows, :columns] = array
    target[rows:] = 0
    target[:rows, columns:] = 0


class Download:
    """A matrix on its way to the host, made by `Device.download_later`.

    Examples
    --------
    >>> import glla
    >>> device = glla.default_device()
    >>> download = device.download_later(glla.asarray([[1, 2]], device).texture, (1, 2))
    >>> download.result()
    array([[1., 2.]], dtype=float32)
    """

    def __init__(self, device: Device, texture: Texture, shape: Shape) -> None:
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
        """Tell whether `result` need not wait."""
        with self._device.current():
            return all(self._device.staging.done(buffer, wait=False) for _, buffer in self._live())

    def result(self, out: Array | None = None) -> Array:
        """Wait until it has come, copy it out, and give the memory on the device back. For one call.

        Parameters
        ----------
        out : ndarray of float32, optional
            Where to put it, with any strides; by default a new C-contiguous array.

        Returns
        -------
        ndarray of float32
            `out`, or the new array.
        """
        pieces = self._live()
        if out is not None and out.shape != self.shape:
            raise ShapeError(f"download: out must have shape {self.shape}, got {out.shape}")
        result = np.empty(self.shape, dtype=np.float32) if out is None else out
        with self._device.current():
            for (top, left, rows, columns), buffer in pieces:
                with self._device.staging.mapped(buffer, rows * columns, write=False) as elements:
                    result[top : top + rows, left : left + columns] = elements.reshape(rows, columns)
        self.release()
        return result

    def _live(self) -> list[tuple[Any, Texture]]:
        if not self._pieces:
            raise ReleasedError("download: its result was fetched, or it was released; start another one")
        return self._pieces

    def release(self) -> None:
        """Do without the result; a second call does nothing."""
        for _, buffer in self._pieces:
            buffer.release()
        self._pieces = []
