"""Transfers that are done when the call returns: texels written to a texture, or read from it.

moderngl would hold the interpreter lock during these, and other threads with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.gl.calls import GL_FLOAT, GL_FORMATS, GL_PIXEL_PACK_BUFFER, GL_TEXTURE_2D, Calls
from glla.gl.pool import Pool, Texture, handle
from glla.passes import Storage

Array = NDArray[np.float32]


class Transfers:
    """Transfers of one context, which must be current in every call.

    Parameters
    ----------
    calls : Calls
        Of the context.
    pool : Pool
        Its textures.
    unit : int
        The texture unit to bind to. No pass may use it: its calls count on what they have bound before.
    """

    def __init__(self, calls: Calls, pool: Pool, unit: int) -> None:
        self._calls, self._pool, self._unit = calls, pool, unit

    def write(self, texels: Array) -> Texture:
        """Copy a height x width x channels array into a texture."""
        height, width, channels = texels.shape
        texture = self._pool.acquire(Storage(height, width, channels))
        data = np.ascontiguousarray(texels, dtype=np.float32)
        texture.gl.use(self._unit)
        self._calls.tex_sub_image(
            GL_TEXTURE_2D, 0, 0, 0, width, height, GL_FORMATS[channels], GL_FLOAT, data.ctypes.data
        )
        self._calls.check("upload")
        return texture

    def read(self, texture: Texture) -> Array:
        """Copy a texture, or a buffer, into a height x width x channels array. Synchronises."""
        storage = texture.storage
        result = np.empty((storage.height, storage.width, storage.channels), dtype=np.float32)
        if storage.buffer:
            self._calls.finish()  # which lets other threads run, and leaves a copy to moderngl
            handle(texture).read_into(result)
        else:
            self._read_into(texture, result.ctypes.data)
        self._calls.check("read back")
        return result

    def copy(self, texture: Texture, buffer: int) -> None:
        """Queue the copy of a texture into a buffer, by its name."""
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, buffer)
        self._read_into(texture, 0)
        self._calls.bind_buffer(GL_PIXEL_PACK_BUFFER, 0)

    def _read_into(self, texture: Texture, address: int) -> None:
        """Have GL copy a texture into memory, or to a place in the buffer that is bound for it."""
        texture.gl.use(self._unit)
        self._calls.get_tex_image(GL_TEXTURE_2D, 0, GL_FORMATS[texture.storage.channels], GL_FLOAT, address)
