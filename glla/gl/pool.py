"""Textures and framebuffers: made once, counted, handed out again.

Making a texture costs more than drawing a small pass, and under some drivers waits for the GPU, so a released texture
stays in the pool, idle, until memory is short or `Pool.free` is called. Idle textures are bounded in bytes: beyond the
bound the one released longest ago goes first. A framebuffer is kept with its textures and released before them (a
texture that is released while attached leaks).
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NoReturn

from glla.errors import LimitError, OutOfMemoryError, ReleasedError, UnsupportedError
from glla.gl.calls import GL_RGBA32F, GL_TEXTURE0, GL_TEXTURE_BUFFER, Calls
from glla.gl.hints import moderngl
from glla.passes import Buffer, Limits, Storage

DTYPES = {"float32": "f4", "int32": "i4"}
"""moderngl's names of the types of a texture's channels."""

NAN, LEAST = float("nan"), -(2**31)
"""Fill values of poisoned textures: of float channels, and of integer ones."""

Held = Storage | Buffer
"""Storage that a pool can lend: of a texture or of a buffer."""


MOST_IDLE_BYTES = 256 << 20
"""Bytes of idle textures that a pool keeps: four matrices of n = 4096. After larger work it keeps more, see
`KEPT_OF_WORK`. A number that the user sets replaces both."""

MOST_IDLE = 4096
"""Idle textures that a pool keeps at most: a driver may take a page of memory for each small one."""

KEPT_OF_WORK = 1.6
"""Idle bytes that a pool keeps for each byte of recent peak use, so repeated work makes no new textures. Calls leave up
to 1.53 idle (`svd`; `plu` of an Array 1.44, others 0.03 to 1.37)."""

RECENT = 1024
"""Textures lent in a span. The peak use of this span and the one before counts as recent."""


def _never() -> bool:
    return False


class Texture:
    """A texture (or a buffer, as its storage tells) on loan from a pool.

    Dropping the last reference returns it to the pool; so does `release`. Both may happen in any thread: the texture
    joins a queue that the owner of the context empties.
    """

    __slots__ = ("_pool", "gl", "number", "storage")

    def __init__(self, pool: Pool, number: int, gl: Any, storage: Held) -> None:
        self._pool: Pool | None = pool
        self.number = number  # of the texture in its pool; unlike GL's name it is never given again
        self.gl = gl
        self.storage = storage

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError("texture: cannot be copied or pickled: it goes back once; copy its Array")

    @property
    def released(self) -> bool:
        """Whether it was returned to the pool."""
        return self._pool is None

    def release(self) -> None:
        """Return it to the pool; a second call does nothing."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.give_back(self.number, self.gl, self.storage)

    def __del__(self) -> None:
        self.release()


class BufferTexture:
    """A texture over a buffer of moderngl: shaders fetch its texels by their number. It has the interface of both."""

    def __init__(self, calls: Calls, buffer: moderngl.Buffer) -> None:
        self._calls, self._buffer, self._name = calls, buffer, ctypes.c_uint()
        self.glo, self.read_into, self.mglo = buffer.glo, buffer.read_into, self
        calls.gen_textures(1, ctypes.byref(self._name))
        self.use(0)
        calls.tex_buffer(GL_TEXTURE_BUFFER, GL_RGBA32F, buffer.glo)

    def use(self, unit: int) -> None:
        """Bind it to a texture unit."""
        self._calls.active_texture(GL_TEXTURE0 + unit)
        self._calls.bind_texture(GL_TEXTURE_BUFFER, self._name.value)

    def release(self) -> None:
        """Release it and the buffer."""
        self._calls.delete_textures(1, ctypes.byref(self._name))
        self._buffer.release()
        del self.mglo  # a circle


class Pool:
    """All textures and framebuffers of one context.

    `context`: must be current in every call but `Texture.release`. `limits`: largest texture. `max_bytes`: limit on the
    memory of all textures, in use and idle, in bytes. `poison`: fill each texture with NaN before it is lent, so that
    reads of texels that no pass has written show. `specify`: called with a new staging buffer's name and bytes, to
    place it in memory that the host reaches. `max_idle_bytes`: bytes of idle textures. Default: `MOST_IDLE_BYTES`, or
    `KEPT_OF_WORK` times the recent peak use if that is more: so repeated work finds its textures, however large they
    are. `is_current`: whether the context is current. If it is, idle textures beyond the bound are freed as soon as one
    is returned; otherwise by the next call. `calls`: for textures over buffers.
    """

    def __init__(
        self,
        context: moderngl.Context,
        limits: Limits,
        max_bytes: int | None,
        poison: bool,
        specify: Callable[[int, int], None] | None = None,
        max_idle_bytes: int | None = None,
        is_current: Callable[[], bool] = _never,
        calls: Calls | None = None,
    ) -> None:
        self.context = context
        self.limits = limits
        self.max_bytes = max_bytes
        self.poison = poison
        self._specify, self._calls = specify, calls
        self._fixed_idle_bytes = max_idle_bytes
        self._is_current = is_current
        self._thread = threading.get_ident()
        self._busy = False  # in the midst of a change: the garbage collector may give textures back there
        self.returned: deque[tuple[int, Any, Held]] = deque()
        self._idle: OrderedDict[int, tuple[Any, Held]] = OrderedDict()  # by number, in the order they came back
        self._free: dict[Held, list[int]] = defaultdict(list)  # heaps of their numbers; some may be gone
        self._framebuffers: dict[tuple[int, ...], moderngl.Framebuffer] = {}
        self._attached: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        self._gone = 0  # numbers in `_free` of textures that are gone, at most
        self._numbers = 0  # given so far
        self._recent = self._recent_before = 0  # most bytes in use at a time, in the last two spans of RECENT
        self._until = RECENT
        self.used = 0
        self.used_bytes = 0
        self.idle_bytes = 0
        self.peak_bytes = 0

    @property
    def idle(self) -> int:
        """Number of idle textures."""
        return len(self._idle)

    @property
    def max_idle_bytes(self) -> int:
        """Bytes that idle textures may take now."""
        if self._fixed_idle_bytes is not None:
            return self._fixed_idle_bytes
        return max(MOST_IDLE_BYTES, int(KEPT_OF_WORK * max(self._recent, self._recent_before)))

    def acquire(self, storage: Held) -> Texture:
        """Lend a texture; its content is undefined.

        Of several idle ones always the one made first: so a plan that runs again gets the same textures, and the calls
        prepared for them are reused.

        Raises LimitError: a side is longer than the device allows. Raises OutOfMemoryError: the limit, or the device's
        memory, is exhausted.
        """
        self._busy = True
        try:
            self._collect()
            number, gl = self._lend(storage) or self._make(storage)
        finally:
            self._busy = False
        self.used += 1
        used = self.used_bytes = self.used_bytes + storage.nbytes
        if used + self.idle_bytes > self.peak_bytes:
            self.peak_bytes = used + self.idle_bytes
        if used > self._recent:
            self._recent = used
        self._until -= 1
        if not self._until:
            self._recent, self._recent_before, self._until = used, self._recent, RECENT
        texture = Texture(self, number, gl, storage)
        if self.poison and isinstance(storage, Storage):
            self._poison(texture, storage)
        return texture

    def _poison(self, texture: Texture, storage: Storage) -> None:
        """Fill a texture with values that no result should hold."""
        if storage.dtype != "float32":  # to clear is for floats
            texture.gl.write(LEAST.to_bytes(4, "little", signed=True) * (storage.nbytes // 4))
            return
        framebuffer = self.framebuffer((texture,))
        framebuffer.viewport = (0, 0, storage.width, storage.height)
        framebuffer.clear(NAN, NAN, NAN, NAN)

    def _lend(self, storage: Held) -> tuple[int, Any] | None:
        numbers = self._free.get(storage, ())
        while numbers:
            number = heappop(numbers)
            if (found := self._idle.pop(number, None)) is not None:
                self.idle_bytes -= storage.nbytes
                return number, found[0]
        return None

    def give_back(self, number: int, gl: Any, storage: Held) -> None:
        """Return a texture, from any thread, at any moment; in another thread, or during a call, it is queued."""
        self.returned.append((number, gl, storage))
        exceeds = self.used_bytes + self.idle_bytes > MOST_IDLE_BYTES or self._fixed_idle_bytes is not None
        if exceeds and not self._busy and threading.get_ident() == self._thread and self._is_current():
            self.collect()

    def collect(self, free: bool = False) -> None:
        """Collect the textures released since the last call, in any thread; free those beyond the bound, or all."""
        self._busy = True
        try:
            self._collect()
            if free:
                self._shrink(0)
        finally:
            self._busy = False

    def _collect(self) -> None:
        while self.returned:
            number, gl, storage = self.returned.popleft()
            self._idle[number] = gl, storage
            heappush(self._free[storage], number)
            nbytes = storage.nbytes
            self.used -= 1
            self.used_bytes -= nbytes
            self.idle_bytes += nbytes
        if self.idle_bytes > MOST_IDLE_BYTES or self._fixed_idle_bytes is not None or len(self._idle) > MOST_IDLE:
            self._shrink(self.max_idle_bytes)

    def free(self) -> None:
        """Release every idle texture and the framebuffers that hold it."""
        self.collect(free=True)

    def _shrink(self, most: int) -> None:
        """Release the textures idle longest, until the rest takes at most these bytes and is within `MOST_IDLE`."""
        while self.idle_bytes > most or len(self._idle) > MOST_IDLE:
            _, (gl, storage) = self._idle.popitem(last=False)
            self.idle_bytes -= storage.nbytes
            self._gone += 1
            self._release(gl, storage)
        if self._gone > len(self._idle) + RECENT:
            self._sort_anew()

    def _sort_anew(self) -> None:
        """Forget the numbers of textures that are gone."""
        self._gone = 0
        self._free.clear()
        for number, (_, storage) in self._idle.items():
            heappush(self._free[storage], number)

    def _release(self, gl: Any, storage: Held) -> None:
        """Release a texture, and the framebuffers that it is attached to before it."""
        for key in set() if isinstance(storage, Buffer) else self._attached.pop(gl.glo, set()):
            framebuffer = self._framebuffers.pop(key, None)
            if framebuffer is not None:
                if self.context.fbo is framebuffer or self.context.fbo.glo == framebuffer.glo:
                    self.context.screen.use()  # moderngl would bind a dead name again
                framebuffer.release()
                for name in key:
                    self._attached.get(name, set()).discard(key)
        gl.release()

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

    def _make(self, storage: Held) -> tuple[int, Any]:
        self._check(storage)
        if not self._fits(storage) or (gl := self._try(storage)) is None:
            self._shrink(0)  # idle textures may be in the way
            if not self._fits(storage) or (gl := self._try(storage)) is None:
                named = f"a {storage}" if storage.buffer else f"a texture of {storage} ({storage.nbytes} bytes)"
                cap = "" if self.max_bytes is None else f" of the {self.max_bytes} allowed"
                raise OutOfMemoryError(
                    f"device: no memory for {named}, {self.used_bytes} bytes are in use{cap}; release matrices, or use "
                    "smaller blocks"
                )
        self._numbers += 1
        return self._numbers, gl

    def _check(self, storage: Held) -> None:
        most = self.limits.texture_size
        if isinstance(storage, Buffer):
            return
        if min(storage.height, storage.width) < 1 or max(storage.height, storage.width) > most:
            raise LimitError(
                f"device: a texture has 1 to {most} texels a side on this device, got {storage}; "
                "cut the matrix into blocks",
                max(storage.height, storage.width),
                most,
            )

    def _fits(self, storage: Held) -> bool:
        total = self.used_bytes + self.idle_bytes + storage.nbytes
        return self.max_bytes is None or total <= self.max_bytes

    def _try(self, storage: Held) -> Any:
        """Make a texture or a buffer; None if GL raises its error flag, as moderngl raises no exception."""
        _ = self.context.error  # an older flag is not this call's
        try:
            if isinstance(storage, Buffer):
                gl: Any = self.context.buffer(reserve=storage.nbytes)
                if storage.use == "staging" and self._specify is not None:
                    self._specify(gl.glo, storage.nbytes)
                if storage.use == "texels" and self._calls is not None:
                    gl = BufferTexture(self._calls, gl)
            else:
                gl = self.context.texture(
                    (storage.width, storage.height), storage.channels, dtype=DTYPES[storage.dtype]
                )
        except moderngl.Error:
            return None
        if self.context.error != "GL_NO_ERROR":
            gl.release()
            return None
        if not storage.buffer:
            gl.filter = (moderngl.NEAREST, moderngl.NEAREST)
            gl.repeat_x = gl.repeat_y = False
        return gl

    def release(self) -> None:
        """Release everything, idle or in use."""
        self.free()
        self._is_current = _never
        for framebuffer in self._framebuffers.values():
            framebuffer.release()
        self._framebuffers.clear()


def handle(texture: Texture) -> Any:
    """Return the GL object of a texture; raise if it was released."""
    if texture.released:
        raise ReleasedError("device: a matrix is used after it was released; keep it until its last use is done")
    return texture.gl
