"""The device: one OpenGL context of 3.3 or newer, and the running of plans on it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, ClassVar

import moderngl
import numpy as np
from numpy.typing import NDArray

from glla.device import context as contexts
from glla.device import tuning
from glla.device.observe import GPUClock, watching
from glla.device.programs import Program, Programs, pack_uniform
from glla.device.textures import Pool, Texture, handle
from glla.device.transfers import Download, Staging, Uploads
from glla.errors import (
    AbandonedError,
    DeviceError,
    DeviceMismatchError,
    LimitError,
    OutOfMemoryError,
    PlanError,
    ReleasedError,
    ThreadError,
)
from glla.kernels import packing
from glla.layout import Shape
from glla.passes import Dispatch, Limits, Pass, Plan, Storage, Transfer

Array = NDArray[np.float32]

LLVMPIPE_LOOP_TRIPS = 60000
"""llvmpipe ends all loops of an invocation after 65535 trips, silently."""


@dataclass(frozen=True)
class Stats:
    """What a device holds and has done.

    Attributes
    ----------
    textures, idle_textures : int
        On loan, and waiting in the pool.
    bytes, idle_bytes, peak_bytes : int
        Their sizes; the largest sum of both so far.
    framebuffers, programs : int
        Kept for reuse.
    plans, passes : int
        Run since the device was made.
    """

    textures: int
    idle_textures: int
    bytes: int
    idle_bytes: int
    peak_bytes: int
    framebuffers: int
    programs: int
    plans: int
    passes: int


@dataclass(frozen=True)
class DeviceInfo:
    """What the driver says of itself, and the limits that matter here."""

    renderer: str
    vendor: str
    version: str
    glsl: str
    backend: str
    software: bool
    limits: Limits
    uniform_block_bytes: int = 0
    viewport: tuple[int, ...] = ()
    extra: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class _Draw:
    """A pass made ready: everything looked up that does not depend on the operands."""

    step: Pass
    program: int
    samplers: tuple[tuple[int, str], ...]
    uniforms: tuple[tuple[moderngl.Uniform, bytes], ...]
    viewport: tuple[int, int, int, int]


@dataclass(frozen=True)
class _Computation:
    """A dispatch made ready."""

    step: Dispatch
    program: moderngl.ComputeShader
    samplers: tuple[tuple[int, str], ...]
    uniforms: tuple[tuple[moderngl.Uniform, bytes], ...]


GL_FRAMEBUFFER = 0x8D40
GL_TEXTURE_2D = 0x0DE1
GL_PIXEL_PACK_BUFFER = 0x88EB
GL_FLOAT = 0x1406
GL_FORMATS = {1: 0x1903, 2: 0x8227, 3: 0x1907, 4: 0x1908}
"""Channels of a texel: GL_RED, GL_RG, GL_RGB, GL_RGBA."""

GL_ERRORS = {
    0x0500: "GL_INVALID_ENUM",
    0x0501: "GL_INVALID_VALUE",
    0x0502: "GL_INVALID_OPERATION",
    0x0505: "GL_OUT_OF_MEMORY",
    0x0506: "GL_INVALID_FRAMEBUFFER_OPERATION",
    0x0507: "GL_CONTEXT_LOST",
}

GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117
GL_SYNC_FLUSH_COMMANDS_BIT = 0x0001
GL_TIMEOUT_EXPIRED = 0x911B
GL_WAIT_FAILED = 0x911D
FOR_EVER = 2**63  # nanoseconds

Ready = list[_Draw | _Computation | Transfer]
Call = Callable[[], Any]

LARGE = 32 * 32
"""Texels whose drawing may take a software rasteriser longer than Python needs to change threads."""

REMEMBERED = 4
"""Sets of textures for which a plan's calls are kept: a result that replaces the one before takes turns with it, and in
a chain of plans these turns go round in more than two."""


class Device:
    """An OpenGL context that runs plans: of version 3.3, or newer where compute shaders are to be had.

    A device belongs to the thread that made it; every call from another thread raises `ThreadError`. Use it as a
    context manager, or call `release`.

    Parameters
    ----------
    backend : {"auto", "egl", "glfw"}
        How to make the context. ``auto`` takes EGL on Linux and GLFW elsewhere. The environment variable
        ``GLLA_BACKEND`` overrides it.
    index : int, optional
        Which EGL device, as `glla info` lists them. ``GLLA_DEVICE`` overrides it (an index, ``software`` or
        ``hardware``).
    software : bool, optional
        True for a software rasteriser only, False for none; by default hardware comes first.
    max_bytes : int, optional
        Cap on the memory of all textures together.
    max_texture_size : int, optional
        Texels on a side of a texture, at least 2; lowers what the driver allows.
    debug : bool
        Check GL's error flag after each pass instead of each plan, and fill each texture with NaN before it is used.
        ``GLLA_DEBUG=1`` does the same. Slow.
    release_gil : bool, optional
        Let Python's other threads run while a draw is issued. Transfers and waits always do, but a draw is so short a
        call that taking the interpreter lock back may cost far more than it: as much as ``sys.getswitchinterval()``
        where the other thread is busy in pure Python. A software rasteriser draws inside the call, though: None
        releases it for those. It is released for draws of `LARGE` regions, and for the draw behind one, which may have
        to wait for it.

    Raises
    ------
    ContextError
        No context could be made; the message lists every attempt and what mends it.

    Examples
    --------
    >>> import glla
    >>> with glla.Device() as device:
    ...     product = glla.matmul([[1, 2], [3, 4]], [[0, 1], [1, 0]], device=device)
    >>> product
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """

    _closed = True  # until the context is there

    def __init__(
        self,
        backend: str = "auto",
        index: int | None = None,
        software: bool | None = None,
        *,
        max_bytes: int | None = None,
        max_texture_size: int | None = None,
        debug: bool = False,
        release_gil: bool | None = False,
    ) -> None:
        self._thread = threading.get_ident()
        self._debug = debug or os.environ.get("GLLA_DEBUG", "") not in ("", "0")
        self._gl, self._loader = contexts.open_context(backend, index, software)
        self._closed = False
        try:
            self.info = self._describe(max_texture_size)
        except BaseException:
            self._loader.release()
            raise
        self.limits = self.info.limits
        self._release_gil = self.info.software if release_gil is None else release_gil
        # Transfers bind their texture where no pass looks: a plan's calls count on what they have bound before.
        self._transfer_unit: int = self._gl.max_texture_units - 1
        self.staging = Staging(self._loader.load_opengl_function)
        self._pool = Pool(self._gl, self.limits, max_bytes, self._debug, self.staging.specify)
        self._programs = Programs(self._gl)
        # moderngl's Framebuffer.use sets draw buffers, masks and scissor each time. They belong to the framebuffer, or
        # never change here; only the binding and the viewport do.
        self._bind_framebuffer = self._function("glBindFramebuffer")
        self._set_viewport = self._function("glViewport")
        self._use_program = self._function("glUseProgram")
        self._bind_vertex_array = self._function("glBindVertexArray")
        self._draw_arrays = self._function("glDrawArrays")
        self._draw_arrays_slowly = self._function("glDrawArrays", may_block=self._release_gil)
        self._get_error = self._function("glGetError", returns=ctypes.c_uint, may_block=self._release_gil)
        # moderngl would hold the interpreter lock during these, and other threads with it.
        self._bind_buffer = self._function("glBindBuffer")
        self._finish = self._function("glFinish", may_block=True)
        self._write_texels = self._function("glTexSubImage2D", before_pointer=8, may_block=True)
        self._read_texels = self._function("glGetTexImage", before_pointer=4, may_block=True)
        self._flush = self._function("glFlush", may_block=True)
        self._fence_sync = self._function("glFenceSync", returns=ctypes.c_void_p)
        self._client_wait = self._bound(
            ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64), "glClientWaitSync"
        )
        self._delete_sync = self._function("glDeleteSync", before_pointer=0)
        self._ready: weakref.WeakKeyDictionary[Plan, Ready] = weakref.WeakKeyDictionary()
        self._calls: weakref.WeakKeyDictionary[Plan, dict[tuple[int, ...], list[Call]]] = weakref.WeakKeyDictionary()
        self._plans = 0
        self._passes = 0
        self._interrupted = False
        self._uninterrupted = 0  # blocks of `uninterrupted` that are open

    def _function(
        self, name: str, *, before_pointer: int | None = None, returns: Any = None, may_block: bool = False
    ) -> Callable[..., Any]:
        """Call into GL without moderngl, with int arguments of at most 32 bits.

        They are not declared: to convert four that are, ctypes takes three times as long as for the call itself. A
        pointer must be, as the last argument: `before_pointer` ints come before it. CFUNCTYPE gives up the GIL during
        the call, for those that may block; PYFUNCTYPE keeps it, which for a short call is cheaper.
        """
        kinds = [] if before_pointer is None else [ctypes.c_uint] * before_pointer + [ctypes.c_void_p]
        return self._bound((ctypes.CFUNCTYPE if may_block else ctypes.PYFUNCTYPE)(returns, *kinds), name)

    def _bound(self, prototype: Any, name: str) -> Callable[..., Any]:
        bound: Callable[..., Any] = prototype(self._loader.load_opengl_function(name))
        return bound

    # -- what it is ---------------------------------------------------------------------------------------------

    def _describe(self, max_texture_size: int | None) -> DeviceInfo:
        with self._loader:
            given = self._gl.info
            glsl = str(given.get("GL_SHADING_LANGUAGE_VERSION", "")) or f"3.30 (GL {self._gl.version_code})"
        renderer = str(given["GL_RENDERER"])
        software = contexts.is_software_renderer(renderer)
        side = int(given["GL_MAX_TEXTURE_SIZE"])
        side = min(side, *(int(length) for length in given["GL_MAX_VIEWPORT_DIMS"]))
        if max_texture_size is not None:
            if not 2 <= max_texture_size <= side:
                raise LimitError(
                    f"device: max_texture_size must be 2 to {side} on this device, got {max_texture_size}",
                    max_texture_size,
                    side,
                )
            side = max_texture_size
        limits = Limits(
            texture_size=side,
            draw_buffers=min(int(given["GL_MAX_DRAW_BUFFERS"]), 8),
            loop_trips=LLVMPIPE_LOOP_TRIPS,
            uniform_block=int(given["GL_MAX_UNIFORM_BLOCK_SIZE"]) // 16,
            software=software,
            opengl=int(self._gl.version_code),
            tuned=tuning.load(renderer),
        )
        return DeviceInfo(
            renderer=renderer,
            vendor=str(given["GL_VENDOR"]),
            version=str(given["GL_VERSION"]),
            glsl=glsl,
            backend=self._loader.description,
            software=software,
            limits=limits,
            uniform_block_bytes=int(given["GL_MAX_UNIFORM_BLOCK_SIZE"]),
            viewport=tuple(int(length) for length in given["GL_MAX_VIEWPORT_DIMS"]),
            extra={
                name: int(given[name])
                for name in (
                    "GL_MAX_TEXTURE_IMAGE_UNITS",
                    "GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS",
                    "GL_MAX_FRAGMENT_UNIFORM_COMPONENTS",
                    "GL_MAX_3D_TEXTURE_SIZE",
                    "GL_MAX_ARRAY_TEXTURE_LAYERS",
                )
                if name in given
            },
        )

    def __repr__(self) -> str:
        state = "released" if self._closed else f"{self.info.renderer}, {self.info.backend}"
        return f"<glla.Device {state}>"

    def stats(self) -> Stats:
        """Count what the device holds (see `Stats`). Does not synchronise."""
        with self.current():
            self._pool.collect()
            pool = self._pool
            return Stats(
                textures=pool.used,
                idle_textures=pool.idle,
                bytes=pool.used_bytes,
                idle_bytes=pool.idle_bytes,
                peak_bytes=pool.peak_bytes,
                framebuffers=pool.framebuffers,
                programs=len(self._programs),
                plans=self._plans,
                passes=self._passes,
            )

    @property
    def room(self) -> int | None:
        """Bytes that textures may still take, idle ones being given up; None without a cap on them."""
        with self.current():
            self._pool.collect()
            return None if self._pool.max_bytes is None else self._pool.max_bytes - self._pool.used_bytes

    # -- life ---------------------------------------------------------------------------------------------------

    @property
    def released(self) -> bool:
        """Whether it was released."""
        return self._closed

    def check(self) -> None:
        """Raise unless the device can be used here and now.

        Raises
        ------
        ThreadError
            From another thread, or in a forked process.
        ReleasedError
            After `release`.
        """
        contexts.check_process()
        if threading.get_ident() != self._thread:
            raise ThreadError(
                "device: belongs to the thread that made it; make a Device in this thread, or send the work to that one"
            )
        if self._closed:
            raise ReleasedError("device: is used after it was released; make another Device")

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Make the context current for a while, and then whatever was current before."""
        self.check()
        if self._loader.is_current():
            yield
            return
        with self._loader:
            yield

    def finish(self) -> None:
        """Wait until everything queued is done. Synchronises; other threads of Python run meanwhile."""
        with self.current():
            self._finish()
            self._check_error("finish")

    def fence(self) -> Fence:
        """Mark the end of what is queued so far, and have the GPU start on it. Does not synchronise."""
        with self.current():
            sync = self._fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
            self._flush()  # a fence that lies in the driver's buffer would never be reached
            if not sync:
                raise DeviceError("fence: the driver gives none; call finish instead")
        return Fence(self, sync)

    def free(self) -> None:
        """Release the textures that wait in the pool."""
        with self.current():
            self._pool.free()

    def forget(self) -> None:
        """Forget every compiled program and prepared plan: the next run of each is a cold start again.

        What the driver keeps, in memory or on the disk, it keeps.
        """
        with self.current():
            self._ready.clear()
            self._calls.clear()
            self._programs.release()

    def release(self) -> None:
        """Release the context and all that lives in it; a second call does nothing."""
        if self._closed:
            return
        self.check()
        with self._loader:
            self._ready.clear()
            self._calls.clear()
            self._pool.release()
            self._programs.release()
            self._gl.release()
        self._closed = True
        self._loader.release()

    def __enter__(self) -> Device:
        self.check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        # Only the owner may touch the context; elsewhere, and while the interpreter ends (when modules may be gone
        # already, sys too), the process' end will free it.
        if self._closed or sys is None or sys.is_finalizing():
            return
        if threading.get_ident() == self._thread:
            with contextlib.suppress(Exception):
                self.release()

    # -- plans --------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Have the plan that runs end between two passes, and later ones not begin, until `resume`. From any thread.

        `run` raises an AbandonedError then. What is queued on the GPU is drawn; all textures of the plan go back to
        the pool, and the next plan sets whatever it needs, so the device is as good as before.
        """
        self._interrupted = True

    def resume(self) -> None:
        """Let plans run again after `interrupt`. From any thread."""
        self._interrupted = False

    @contextlib.contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Let the plans of a block run to their ends, interrupted or not."""
        self._uninterrupted += 1
        try:
            yield
        finally:
            self._uninterrupted -= 1

    def _check_interrupted(self, plan: Plan) -> None:
        if self._interrupted and not self._uninterrupted:
            raise AbandonedError(
                f"{plan.operation}: was abandoned between two passes, as the device was interrupted; resume() it first"
            )

    def run(self, plan: Plan, **operands: Texture) -> dict[str, Texture]:
        """Queue all passes of a plan.

        Parameters
        ----------
        plan : Plan
            Checked, compiled and kept ready at its first run.
        **operands : Texture
            One for each operand of the plan.

        Returns
        -------
        dict of str to Texture
            The results, on loan: release them, or drop them.

        Raises
        ------
        PlanError, LimitError, ShaderError
            The plan cannot run here.
        OutOfMemoryError
            No memory for a result or a temporary.
        DeviceError
            GL flagged an error.
        AbandonedError
            The device was interrupted.
        """
        with self.current():
            draws = self._ready.get(plan)
            if draws is None:
                draws = self._ready[plan] = self._prepare(plan)
            textures = self._bind(plan, operands)
            try:
                observer = watching.observer
                if observer is None:
                    for call in self._bound_calls(plan, draws, textures):
                        if self._interrupted:
                            self._check_interrupted(plan)
                        call()
                else:
                    steps = [partial(self._call_all, plan, calls) for calls in self._bind_calls(plan, draws, textures)]
                    observer.watch(self, plan, textures, steps)
                self._check_error(plan.operation)
            except BaseException:
                for slot in plan.slots:
                    if slot not in plan.operands and slot in textures:
                        textures[slot].release()
                raise
            for slot in plan.temporaries:
                textures[slot].release()
            self._plans += 1
            self._passes += len(draws)
        return {name: textures[slot] for name, slot in plan.results.items()}

    def _call_all(self, plan: Plan, calls: list[Call]) -> None:
        """Do one step, while somebody watches."""
        self._check_interrupted(plan)
        for call in calls:
            call()

    def _prepare(self, plan: Plan) -> Ready:
        """Check a plan, compile its shaders, and find out which uniforms each pass must set."""
        plan.check(self.limits)
        known: dict[moderngl.Uniform, bytes] = {}  # what an earlier pass of this plan has set
        ready: Ready = []
        for step in plan.steps:
            if isinstance(step, Transfer):
                ready.append(step)
                continue
            program = self._programs.get(step.shader, step.defines)
            changed = []
            for uniform, value in self._uniforms(program, step):
                data = pack_uniform(uniform, value)
                if known.get(uniform) != data:
                    known[uniform] = data
                    changed.append((uniform, data))
            live = tuple((unit, slot) for unit, (name, slot) in enumerate(step.inputs.items()) if name in program.live)
            if isinstance(step, Dispatch):
                assert isinstance(program.gl, moderngl.ComputeShader)
                ready.append(_Computation(step, program.gl, live, tuple(changed)))
                continue
            region = plan.drawn(step)
            for binding, name in enumerate(sorted(step.blocks)):  # plans share programs, so not in each one's order
                program.gl[name].binding = binding  # type: ignore[union-attr]
            ready.append(
                _Draw(
                    step=step,
                    program=program.gl.glo,
                    samplers=live,
                    uniforms=tuple(changed),
                    viewport=(region.x, region.y, region.width, region.height),
                )
            )
        return ready

    def _uniforms(self, program: Program, step: Pass | Dispatch) -> Iterator[tuple[moderngl.Uniform, Any]]:
        """Uniforms of a pass, those that the compiler has kept: the unit of each sampler, and the pass's own values."""
        units = {name: unit for unit, name in enumerate(step.inputs)}
        for name, value in {**units, **step.uniforms}.items():
            if name in program.live:
                member = program.gl[name]
                assert isinstance(member, moderngl.Uniform)
                yield member, value

    def _bind(self, plan: Plan, operands: Mapping[str, Texture]) -> dict[str, Texture]:
        """Find a texture for every slot: operands as given, the others from the pool."""
        if set(operands) != set(plan.operands):
            raise PlanError(f"{plan.operation}: operands are {sorted(plan.operands)}, got {sorted(operands)}")
        for name, texture in operands.items():
            handle(texture)
            if texture._pool is not self._pool:
                raise DeviceMismatchError(f"{plan.operation}: operand {name} lives on another device; copy it over")
            if texture.storage != plan.slots[name]:
                raise PlanError(f"{plan.operation}: operand {name} must be {plan.slots[name]}, got {texture.storage}")
        textures = dict(operands)
        try:
            for slot, storage in plan.slots.items():
                if slot not in textures:
                    textures[slot] = self._pool.acquire(storage)
        except BaseException:
            for slot in textures.keys() - operands.keys():
                textures[slot].release()
            raise
        return textures

    def _bound_calls(self, plan: Plan, ready: Ready, textures: Mapping[str, Texture]) -> list[Call]:
        """GL calls of a plan for these textures, kept for the next time: Python is what small passes cost."""
        names = (self._pool.generation, *(textures[slot].gl.glo for slot in plan.slots))
        kept = self._calls.setdefault(plan, {})
        calls = kept.pop(names, None)
        if calls is None:
            calls = [call for step in self._bind_calls(plan, ready, textures) for call in step]
            if len(kept) >= REMEMBERED:
                del kept[next(iter(kept))]
        kept[names] = calls
        return calls

    def _bind_calls(self, plan: Plan, ready: Ready, textures: Mapping[str, Texture]) -> list[list[Call]]:
        """Turn each step into GL calls. What stays as it was from pass to pass is not set again."""
        gl = self._gl
        # No pass has vertex attributes, so one vertex array serves all.
        calls: list[Call] = [partial(self._bind_vertex_array, self._programs.vertex_array)]
        steps = [calls]
        state: dict[Any, Any] = {}  # what the calls so far have set

        def set_once(key: Any, value: Any, *todo: Call) -> None:
            if state.get(key) != value:
                state[key] = value
                calls.extend(todo)

        large = False  # whether the draw before was
        for number, draw in enumerate(ready):
            if number:
                calls = []
                steps.append(calls)
            if isinstance(draw, Transfer):
                calls.append(partial(self._read_into_buffer, textures[draw.source], textures[draw.target].gl.glo))
                continue
            for unit, slot in draw.samplers:
                set_once(("unit", unit), slot, partial(textures[slot].gl.mglo.use, unit))
            calls += [partial(uniform.write, data) for uniform, data in draw.uniforms]
            where = f"{plan.operation}: pass {number} ({draw.step.shader})"
            if isinstance(draw, _Computation):
                calls += self._compute_calls(draw, textures)
                state.pop("program", None)  # it has made its own program current
                if self._debug:
                    calls.append(partial(self._check_error, where))
                continue
            step = draw.step
            target = self._pool.framebuffer(tuple(textures[slot] for slot in step.outputs))
            set_once("target", target.glo, partial(self._bind_framebuffer, GL_FRAMEBUFFER, target.glo))
            set_once("view", draw.viewport, partial(self._set_viewport, *draw.viewport))
            if step.accumulate:
                set_once("blend", True, partial(gl.enable_only, moderngl.BLEND), self._add_when_blending)
            else:
                set_once("blend", False, partial(gl.enable_only, moderngl.NOTHING))
            for binding, (_, block) in enumerate(sorted(step.blocks.items())):
                bind = partial(
                    textures[block.slot].gl.mglo.bind_to_uniform_block, binding, 16 * block.first, 16 * block.count
                )
                set_once(("block", binding), block, bind)
            set_once("program", draw.program, partial(self._use_program, draw.program))
            before, large = large, draw.viewport[2] * draw.viewport[3] >= LARGE
            draw_arrays = self._draw_arrays_slowly if large or before else self._draw_arrays
            calls.append(partial(draw_arrays, moderngl.TRIANGLES, 3 * step.step, 3))
            if self._debug:
                calls.append(partial(self._check_error, where))
        return steps

    def gpu_clock(self) -> GPUClock | None:
        """Give the GPU's clock, or None where it tells nothing: a software rasteriser's times the last tile only."""
        if self.info.software:
            return None
        with self.current():
            clock = GPUClock(self._loader.load_opengl_function)
        return clock if clock.bits else None

    def _compute_calls(self, computation: _Computation, textures: Mapping[str, Texture]) -> list[Call]:
        """Turn a dispatch into GL calls; whatever comes next sees what it stored."""
        stored = [textures[slot].gl for slot in computation.step.outputs]
        binds: list[Call] = [partial(gl.bind_to_image, unit, False, True) for unit, gl in enumerate(stored)]
        run = partial(computation.program.run, *computation.step.groups, 1)
        return [*binds, run, self._gl.memory_barrier]

    def _add_when_blending(self) -> None:
        self._gl.blend_func = (moderngl.ONE, moderngl.ONE)

    def _check_error(self, where: str) -> None:
        """Turn GL's error flag into an exception."""
        code = self._get_error()
        if code == 0:
            return
        flag = GL_ERRORS.get(code, f"error 0x{code:04X}")
        if flag == "GL_OUT_OF_MEMORY":
            raise OutOfMemoryError(f"{where}: the device is out of memory; release matrices, or use smaller blocks")
        hint = "" if self._debug else "; run with GLLA_DEBUG=1 to learn which pass"
        raise DeviceError(f"{where}: the driver reports {flag}{hint}")

    # -- transfer -----------------------------------------------------------------------------------------------

    make_matrix: ClassVar[Callable[..., Any]]
    """What `matrix` calls; `glla.matrix` puts its `asarray` here."""

    def matrix(self, value: Any, *, check_finite: bool = True) -> Any:
        """Put a 2-D array onto this device, as `glla.asarray` does.

        Parameters
        ----------
        value : array_like, shape (m, n)
            Real numbers; a `glla.Matrix` of this device is returned as it is.
        check_finite : bool
            Refuse NaN and infinity.

        Returns
        -------
        glla.Matrix
            Does not synchronise.

        Examples
        --------
        >>> import glla
        >>> glla.default_device().matrix([[1, 2], [3, 4]]).shape
        (2, 2)
        """
        return Device.make_matrix(value, self, check_finite=check_finite)

    def upload(self, array: NDArray[Any]) -> Texture:
        """Pack a 2-D float32 array into a texture.

        Parameters
        ----------
        array : ndarray of float32, shape (m, n), m, n > 0
            C order goes as it is; so does Fortran order, by transposing in the shader. Anything else is copied first.

        Returns
        -------
        Texture
            Packed.
        """
        shape: Shape = (array.shape[0], array.shape[1])
        side = self.limits.texture_size
        with self.current():
            if max(shape) > side:
                cut = [
                    np.ascontiguousarray(array[top : top + rows, left : left + columns])
                    for top, left, rows, columns in packing.tiles(shape, side)
                ]
                plan = packing.pack_tiles(shape, side)
                plan.check(self.limits)  # before anything travels
                raw = {f"raw_{number}": self.write(tile) for number, tile in enumerate(cut)}
            else:
                transposed = array.flags.f_contiguous and not array.flags.c_contiguous
                plan = packing.pack(shape, transposed)
                raw = {"raw": self.write(np.ascontiguousarray(array.T if transposed else array))}
            packed = self.run(plan, **raw)["packed"]
            for texture in raw.values():
                texture.release()
        return packed

    def write(self, array: Array) -> Texture:
        """Copy a C-contiguous 2-D float32 array into a raw texture, one element per texel."""
        return self.write_texels(array[:, :, np.newaxis])

    def write_texels(self, texels: Array) -> Texture:
        """Copy a height x width x channels float32 array into a texture as it is."""
        height, width, channels = texels.shape
        with self.current():
            texture = self._pool.acquire(Storage(height, width, channels))
            data = np.ascontiguousarray(texels, dtype=np.float32)
            texture.gl.use(self._transfer_unit)
            self._write_texels(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_FORMATS[channels], GL_FLOAT, data.ctypes.data)
            self._check_error("upload")
        return texture

    def download(self, texture: Texture, shape: Shape) -> Array:
        """Unpack a packed matrix and read it back. Synchronises.

        Returns
        -------
        ndarray of float32
            C-contiguous, of the given shape.
        """
        result = np.empty(shape, dtype=np.float32)
        side = self.limits.texture_size
        for tile in packing.tiles(shape, side):
            top, left, rows, columns = tile
            raw = self.run(packing.unpack(shape, tile), packed=texture)["raw"]
            block = self.read(raw)[:, :, 0]
            raw.release()
            if (rows, columns) == shape:
                return block
            result[top : top + rows, left : left + columns] = block
        return result

    def read(self, texture: Texture) -> Array:
        """Read a texture as it is: height x width x channels. Synchronises."""
        storage = texture.storage
        result = np.empty((storage.height, storage.width, storage.channels), dtype=np.float32)
        with self.current():
            self._check_owner(texture)
            if storage.buffer:
                self._finish()  # which lets other threads run, and leaves a copy to moderngl
                handle(texture).read_into(result)
            else:
                self._read_into(texture, result.ctypes.data)
            self._check_error("read back")
        return result

    def _read_into(self, texture: Texture, address: int) -> None:
        """Have GL copy a texture into memory, or to a place in the buffer that is bound for it."""
        texture.gl.use(self._transfer_unit)
        self._read_texels(GL_TEXTURE_2D, 0, GL_FORMATS[texture.storage.channels], GL_FLOAT, address)

    def _read_into_buffer(self, texture: Texture, buffer: int) -> None:
        self._bind_buffer(GL_PIXEL_PACK_BUFFER, buffer)
        self._read_into(texture, 0)
        self._bind_buffer(GL_PIXEL_PACK_BUFFER, 0)

    def lend(self, storage: Storage) -> Texture:
        """Lend a texture, or a buffer, whose content is undefined.

        Raises
        ------
        LimitError, OutOfMemoryError
            The device has none like that, or no memory for it.
        """
        with self.current():
            return self._pool.acquire(storage)

    def uploads(self, elements: int) -> Uploads:
        """Give a way to upload arrays of at most so many elements, one after the other, while the GPU computes."""
        return Uploads(self, elements)

    def download_later(self, texture: Texture, shape: Shape) -> Download:
        """Unpack a packed matrix and have it copied to where the host can fetch it. Does not synchronise.

        The texture may be given back, or drawn to, at once.

        Returns
        -------
        Download
            Call its `result`; until then it takes the bytes of the matrix on the device.
        """
        with self.current():
            download = Download(self, texture, shape)
            self._check_error("read back")
        return download

    def _check_owner(self, texture: Texture) -> None:
        handle(texture)
        if texture._pool is not self._pool:
            raise DeviceMismatchError("device: the matrix lives on another device; copy it over")


class Fence:
    """A place in what is queued on a device, made by `Device.fence`. Belongs to the device's thread.

    Examples
    --------
    >>> import glla
    >>> with glla.Device() as device:
    ...     product = glla.asarray([[2]], device) @ glla.asarray([[3]], device)
    ...     device.fence().wait()
    True
    """

    __slots__ = ("_device", "_sync")

    def __init__(self, device: Device, sync: int) -> None:
        self._device = device
        self._sync: int | None = sync

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the GPU has come here; other threads of Python run meanwhile.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 0 only asks. By default for as long as it takes.

        Returns
        -------
        bool
            False if the time was up.

        Raises
        ------
        DeviceError
            The driver cannot wait: the context is lost.
        """
        if self._sync is None:
            return True
        device = self._device
        with device.current():
            nanoseconds = FOR_EVER if timeout is None else int(timeout * 1e9)
            answer = device._client_wait(self._sync, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds)
            if answer == GL_WAIT_FAILED:
                raise DeviceError("fence: the driver cannot wait for it; the context is lost, make another Device")
            if answer != GL_TIMEOUT_EXPIRED:
                device._delete_sync(self._sync)
                self._sync = None
        return self._sync is None


_local = threading.local()


def set_default_device(device: Device) -> None:
    """Make a device the default one of this thread, which must be the one that made it."""
    device.check()
    _local.device = device


def default_device() -> Device:
    """Device that functions use when none is given: made at the first need, one for each thread.

    Raises
    ------
    ContextError
        No context could be made.
    """
    contexts.check_process()
    device: Device | None = getattr(_local, "device", None)
    if device is None or device.released:
        device = _local.device = Device()
    return device
