"""Synchronous transfers: texels written to a texture, or read from it.

moderngl would hold the interpreter lock during these, and block other threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.gl.calls import GL_FLOAT, GL_FORMATS, GL_INT, GL_INTEGER_FORMATS, GL_PIXEL_PACK_BUFFER, GL_TEXTURE_2D, Calls
from glla.gl.pool import Pool, Texture, handle
from glla.passes import Buffer, Region, Storage

Texels = NDArray[Any]
"""Texels as an array, height x width x channels, of float32 or int32."""


def pixels(storage: Storage) -> tuple[int, int]:
    """GL's format and type of a texture's texels in a transfer."""
    if storage.dtype == "int32":
        return GL_INTEGER_FORMATS[storage.channels], GL_INT
    return GL_FORMATS[storage.channels], GL_FLOAT


class Transfers:
    """Transfers of one context, which must be current in every call.

    `calls`: of the context. `pool`: its textures. `unit`: the texture unit to bind to. No pass may use it, because
    passes rely on their bindings. `waits`: wait until all queued work is drawn before a texture is read. OpenGL
    requires that of the driver, but llvmpipe, with threads of its own, sometimes returns an older content of a small
    texture.
    """

    def __init__(self, calls: Calls, pool: Pool, unit: int, waits: bool = False) -> None:
        self._calls, self._pool, self._unit, self._waits = calls, pool, unit, waits

    def write(self, texels: Texels) -> Texture:
        """Copy a height x width x channels array, of float32 or int32, into a texture."""
        height, width, channels = texels.shape
        dtype = "int32" if texels.dtype == np.int32 else "float32"
        storage = Storage(height, width, channels, dtype=dtype)
        texture = self._pool.acquire(storage)
        data = np.ascontiguousarray(texels, dtype=dtype)
        texture.gl.use(self._unit)
        self._calls.tex_sub_image(GL_TEXTURE_2D, 0, 0, 0, width, height, *pixels(storage), data.ctypes.data)
        self._calls.check("upload")
        return texture

    def read(self, texture: Texture) -> Texels:
        """Copy a texture into a height x width x channels array, a buffer into a vector. Synchronises."""
        storage = texture.storage
        if isinstance(storage, Buffer):
            result = np.empty(storage.nbytes // 4, dtype=np.float32)
            self._calls.finish()  # which lets other threads run, and leaves a copy to moderngl
            handle(texture).read_into(result)
        else:
            result = np.empty((storage.height, storage.width, storage.channels), dtype=storage.dtype)
            self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)  # an interrupt may have left one bound
            self._read_into(texture.gl, storage, result.ctypes.data)
        self._calls.check("read back")
        return result

    def copy(self, texture: Any, storage: Storage, buffer: int) -> None:
        """Queue the copy of a texture, as moderngl has it, into a buffer, by its name.

        It takes no `Texture`, because a call kept for the next run would keep it from returning to the pool.
        """
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, buffer)
        self._read_into(texture, storage, 0)
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)

    def copy_part(self, texture: Any, part: Region) -> None:
        """Queue the copy of the bound framebuffer's target into a region of a texture, as moderngl has it."""
        self._use(texture)
        self._calls.copy_tex_sub_image(GL_TEXTURE_2D, 0, part.x, part.y, 0, 0, part.width, part.height)

    def _read_into(self, texture: Any, storage: Storage, address: int) -> None:
        """Copy a texture into memory, or to an offset in the bound buffer."""
        self._use(texture)
        self._calls.get_tex_image(GL_TEXTURE_2D, 0, *pixels(storage), address)

    def _use(self, texture: Any) -> None:
        if self._waits:
            self._calls.finish()
        texture.use(self._unit)
