"""Textures and framebuffers: made once, counted, handed out again.

Making a texture costs more than drawing a small pass, and under some drivers waits for the GPU, so a texture that is
given back stays in the pool until memory is short or `Pool.free` is called. A framebuffer is kept with its textures
and released before them (a texture that is released while attached leaks).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import moderngl

from glla.errors import LimitError, OutOfMemoryError, ReleasedError
from glla.passes import Limits, Storage

DTYPE = "f4"
NAN = float("nan")


class Texture:
    """A texture (or a buffer, if its storage says so) on loan from a pool.

    Dropping the last reference gives it back; so does `release`. Both may happen in any thread: the texture joins a
    queue that the owner of the context empties.
    """

    __slots__ = ("_pool", "gl", "storage")

    def __init__(self, pool: Pool, gl: Any, storage: Storage) -> None:
        self._pool: Pool | None = pool
        self.gl = gl
        self.storage = storage

    @property
    def released(self) -> bool:
        """Whether it was given back."""
        return self._pool is None

    def release(self) -> None:
        """Give it back; a second call does nothing."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.returned.append((self.gl, self.storage))

    def __del__(self) -> None:
        self.release()


class Pool:
    """All textures and framebuffers of one context.

    Parameters
    ----------
    context : moderngl.Context
        Must be current in every call but `Texture.release`.
    limits : Limits
        Largest texture.
    max_bytes : int or None
        Cap on the memory of all textures together, in use and idle.
    poison : bool
        Fill each texture with NaN before it is handed out, so that a read of what no pass has written shows.
    specify : callable, optional
        Called with a new staging buffer's name and bytes, to put it where the host reaches it.
    """

    def __init__(
        self,
        context: moderngl.Context,
        limits: Limits,
        max_bytes: int | None,
        poison: bool,
        specify: Callable[[int, int], None] | None = None,
    ) -> None:
        self.context = context
        self.limits = limits
        self.max_bytes = max_bytes
        self.poison = poison
        self._specify = specify
        self.returned: deque[tuple[Any, Storage]] = deque()
        self._idle: dict[Storage, list[tuple[int, Any]]] = defaultdict(list)  # heaps, by name
        self._framebuffers: dict[tuple[int, ...], moderngl.Framebuffer] = {}
        self._attached: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        self.generation = 0  # raised when GL objects are deleted: whoever remembers their names must forget them
        self.used = 0
        self.idle = 0
        self.used_bytes = 0
        self.idle_bytes = 0
        self.peak_bytes = 0

    def acquire(self, storage: Storage) -> Texture:
        """Lend a texture; its content is undefined.

        Of several idle ones always the one with the smallest name: so a plan that runs again gets the same textures,
        and what was prepared for them serves again.

        Raises
        ------
        LimitError
            A side is longer than the device allows.
        OutOfMemoryError
            The cap, or the device's memory, is exhausted.
        """
        self.collect()
        gl = heappop(self._idle[storage])[1] if self._idle.get(storage) else None
        if gl is not None:
            self.idle -= 1
            self.idle_bytes -= storage.nbytes
        else:
            gl = self._make(storage)
        self.used += 1
        self.used_bytes += storage.nbytes
        self.peak_bytes = max(self.peak_bytes, self.used_bytes + self.idle_bytes)
        texture = Texture(self, gl, storage)
        if self.poison and not storage.buffer:
            framebuffer = self.framebuffer((texture,))
            framebuffer.viewport = (0, 0, storage.width, storage.height)
            framebuffer.clear(NAN, NAN, NAN, NAN)
        return texture

    def collect(self) -> None:
        """Take back what was released since the last call, in whichever thread."""
        while self.returned:
            gl, storage = self.returned.popleft()
            heappush(self._idle[storage], (gl.glo, gl))
            self.used -= 1
            self.idle += 1
            self.used_bytes -= storage.nbytes
            self.idle_bytes += storage.nbytes

    def free(self) -> None:
        """Release every idle texture and the framebuffers that hold it."""
        self.collect()
        self.generation += 1
        for storage, textures in self._idle.items():
            for _, gl in textures:
                for key in set() if storage.buffer else self._attached.pop(gl.glo, set()):
                    framebuffer = self._framebuffers.pop(key, None)
                    if framebuffer is not None:
                        self._unbind(framebuffer)
                        framebuffer.release()
                gl.release()
                self.idle -= 1
                self.idle_bytes -= storage.nbytes
        self._idle.clear()

    def _unbind(self, framebuffer: moderngl.Framebuffer) -> None:
        """Bind the default framebuffer where the bound one is about to go: moderngl would bind a dead name again."""
        if self.context.fbo is framebuffer or self.context.fbo.glo == framebuffer.glo:
            self.context.screen.use()

    def framebuffer(self, textures: tuple[Texture, ...]) -> moderngl.Framebuffer:
        """Framebuffer that draws to these textures, in this order."""
        key = tuple(texture.gl.glo for texture in textures)
        framebuffer = self._framebuffers.get(key)
        if framebuffer is None:
            framebuffer = self.context.framebuffer([texture.gl for texture in textures])
            framebuffer.use()  # which sets its draw buffers, once
            self._framebuffers[key] = framebuffer
            for name in key:
                self._attached[name].add(key)
        return framebuffer

    @property
    def framebuffers(self) -> int:
        """Framebuffers kept."""
        return len(self._framebuffers)

    def _make(self, storage: Storage) -> Any:
        self._check(storage)
        if not self._fits(storage) or (gl := self._try(storage)) is None:
            self.free()  # idle textures may be in the way
            if not self._fits(storage) or (gl := self._try(storage)) is None:
                raise OutOfMemoryError(
                    f"device: no memory for a texture of {storage} ({storage.nbytes} bytes), "
                    f"{self.used_bytes} bytes are in use{self._cap()}; release matrices, or use smaller blocks"
                )
        return gl

    def _check(self, storage: Storage) -> None:
        most = self.limits.texture_size
        if storage.buffer:
            return
        if min(storage.height, storage.width) < 1 or max(storage.height, storage.width) > most:
            raise LimitError(
                f"device: a texture has 1 to {most} texels a side on this device, got {storage}; "
                "cut the matrix into blocks",
                max(storage.height, storage.width),
                most,
            )

    def _fits(self, storage: Storage) -> bool:
        total = self.used_bytes + self.idle_bytes + storage.nbytes
        return self.max_bytes is None or total <= self.max_bytes

    def _cap(self) -> str:
        return "" if self.max_bytes is None else f" of the {self.max_bytes} allowed"

    def _try(self, storage: Storage) -> Any:
        """Make a texture or a buffer, or nothing when GL raises its error flag: it raises no exception by itself."""
        _ = self.context.error  # an older flag is not this call's
        try:
            if storage.buffer:
                gl: Any = self.context.buffer(reserve=storage.nbytes)
                if storage.staging and self._specify is not None:
                    self._specify(gl.glo, storage.nbytes)
            else:
                gl = self.context.texture((storage.width, storage.height), storage.channels, dtype=DTYPE)
        except moderngl.Error:
            return None
        if self.context.error != "GL_NO_ERROR":
            gl.release()
            return None
        if storage.buffer:
            return gl
        gl.filter = (moderngl.NEAREST, moderngl.NEAREST)
        gl.repeat_x = gl.repeat_y = False
        return gl

    def release(self) -> None:
        """Release everything, idle or in use."""
        self.free()
        for framebuffer in self._framebuffers.values():
            framebuffer.release()
        self._framebuffers.clear()


def handle(texture: Texture) -> Any:
    """Give the GL object of a texture, or say that it is gone."""
    if texture.released:
        raise ReleasedError("device: a matrix is used after it was released; keep it until its last use is done")
    return texture.gl
