"""The device: one OpenGL context of 3.3 or newer, and the execution of plans on it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from glla import registry
from glla.display import html
from glla.errors import DeviceMismatchError, ReleasedError, ThreadError, UnsupportedError
from glla.gl import forks
from glla.gl.calls import Calls
from glla.gl.clock import GPUClock
from glla.gl.composed import Value
from glla.gl.fence import Fence
from glla.gl.forks import check_process
from glla.gl.info import Stats, describe
from glla.gl.pool import Pool, Texture, handle
from glla.gl.programs import MOST_PROGRAM_BYTES, Programs
from glla.gl.runner import MOST_CALL_BYTES, Runner
from glla.gl.select import open_context
from glla.gl.staging import Download, Staging, Uploads
from glla.gl.transfers import Transfers
from glla.operations.layouts import packing
from glla.operations.record import Float32
from glla.passes import Buffer, Iterated, Loop, Plan, Storage
from glla.passes.cache import PLANS, byte_limit
from glla.passes.layout import Shape

_HERE = nullcontext()
"""In place of a context that is already current."""


class Device:
    """An OpenGL context that runs plans: of version 3.3, or newer where compute shaders are available.

    It belongs to the thread that made it; calls from others raise `ThreadError`. A context manager; or call `release`.

    Examples
    --------
    >>> import glla
    >>> with glla.Device() as device:
    ...     glla.solve([[2, 0], [0, 4]], [2, 8], device=device)
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    backend : {"auto", "egl", "glfw"}
        How to make the context; ``auto``: EGL on Linux, GLFW elsewhere. ``GLLA_BACKEND`` overrides it.
    index : int, optional
        EGL device, as listed by `glla info`. ``GLLA_DEVICE`` (an index, ``software``, ``hardware``) overrides it.
    software : bool, optional
        True for a software rasteriser only, False for none; by default hardware comes first.
    max_bytes : int, optional
        Limit on the memory of all textures, in bytes.
    max_texture_size : int, optional
        Texels on a side of a texture, at least 2; lowers the driver's limit.
    max_idle_bytes : int, optional
        Bytes of released textures kept for reuse; beyond it those released longest ago are freed. Default:
        ``GLLA_MAX_IDLE_BYTES``, or the larger of 256 MiB and 1.5 times the recent peak use.
    max_call_bytes : int, optional
        Bytes of host memory for prepared plans, approximately; the plan that ran last is always kept. Default:
        ``GLLA_MAX_CALL_BYTES``, or 128 MiB.
    debug : bool
        Check GL's error flag after each pass instead of each plan, and fill each texture with NaN before it is used.
        ``GLLA_DEBUG=1`` does the same. Slow.
    release_gil : bool, optional
        Release the interpreter lock while a draw is issued; transfers and waits always do. Taking it back may cost far
        more than a draw. None releases it on software rasterisers: for draws of `LARGE` regions, and the draw behind.

    Raises
    ------
    ContextError
        No context could be made; the message lists every attempt and a remedy.
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
        max_idle_bytes: int | None = None,
        max_call_bytes: int | None = None,
        debug: bool = False,
        release_gil: bool | None = False,
    ) -> None:
        self._thread = threading.get_ident()
        debug = debug or os.environ.get("GLLA_DEBUG", "") not in ("", "0")
        idle_bytes = byte_limit("max_idle_bytes", max_idle_bytes, None)
        call_bytes = byte_limit("max_call_bytes", max_call_bytes, MOST_CALL_BYTES)
        self._gl, self._loader = open_context(backend, index, software)
        try:
            with self._loader:
                given, opengl = self._gl.info, int(self._gl.version_code)
            self.info = describe(given, opengl, self._loader.description, max_texture_size)
        except BaseException:
            self._loader.release()
            raise
        self._closed = False
        # Where memory is short, products do not copy their operands into buffers.
        self.limits = self.info.limits if max_bytes is None else replace(self.info.limits, buffer_texels=0)
        blocking = self.info.software if release_gil is None else release_gil
        with self._loader:
            self.calls = Calls(self._loader.load_opengl_function, blocking, debug)
            self.staging = Staging(self.calls)
            specify, is_current = self.staging.specify, self._loader.is_current
            self._pool = Pool(self._gl, self.limits, max_bytes, debug, specify, idle_bytes, is_current, self.calls)
            self._programs = Programs(self._gl, self.calls, self.info.software)
            self._transfers = Transfers(self.calls, self._pool, self._gl.max_texture_units - 1, self.info.software)
            self._runner = Runner(
                self._gl, self.calls, self._pool, self._programs, self._transfers, self.limits, debug, call_bytes
            )

    # -- what it is ---------------------------------------------------------------------------------------------

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(
            "device: cannot be copied or pickled, nor what holds one; make another where it is to be used, by "
            "glla.Device() or glla.default_device()"
        )

    def __repr__(self) -> str:
        state = "released" if self._closed else f"{self.info.renderer}, {self.info.backend}"
        return f"<glla.Device {state}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook, with its limits and the memory in use."""
        if self._closed:
            return html.line(repr(self).strip("<>"))
        info, stats = self.info, self.stats()
        known = {"renderer": info.renderer, "OpenGL": info.version, "context": info.backend}
        known["largest texture"] = f"{self.limits.texture_size} texels a side"
        known["in use"] = f"{stats.textures} textures, {stats.bytes} bytes"
        return html.facts("glla.Device", known)

    def stats(self) -> Stats:
        """Return counts of the device's textures, programs and plans (see `Stats`). Does not synchronise."""
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
                plans=self._runner.plans,
                passes=self._runner.passes,
                max_idle_bytes=pool.max_idle_bytes,
                call_bytes=self._runner.call_bytes,
                max_call_bytes=self._runner.max_call_bytes,
                plan_bytes=PLANS.nbytes,
                max_plan_bytes=PLANS.most,
                program_bytes=self._programs.nbytes,
                max_program_bytes=MOST_PROGRAM_BYTES,
            )

    @property
    def room(self) -> int | None:
        """Bytes that textures may still take once idle ones are freed; None without a limit."""
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
        check_process()
        if threading.get_ident() != self._thread:
            raise ThreadError(
                "device: belongs to the thread that made it; make a Device in this thread, or send the work to that one"
            )
        if self._closed:
            raise ReleasedError("device: is used after it was released; make another Device")

    def current(self) -> AbstractContextManager[object]:
        """Make the context current for a block, and then whatever was current before."""
        self.check()
        return _HERE if self._loader.is_current() else self._loader

    def finish(self) -> None:
        """Wait until all queued work is done. Synchronises; other threads of Python run meanwhile."""
        with self.current():
            self.calls.finish()
            self.calls.check("finish")

    def fence(self) -> Fence:
        """Mark the end of the work queued so far, and flush it to the GPU. Does not synchronise."""
        with self.current():
            return Fence(self.calls, self.current)

    def free(self) -> None:
        """Release the idle textures of the pool."""
        with self.current():
            self._pool.free()

    def forget(self) -> None:
        """Forget every compiled program and prepared plan: the next run of each is a cold start.

        The driver's own caches, in memory or on disk, stay.
        """
        with self.current():
            self._runner.forget()
            self._programs.release()

    def release(self) -> None:
        """Release the context and everything in it; a second call does nothing."""
        if self._closed:
            return
        self.check()
        with self._loader:
            self._runner.forget()
            self._pool.release()
            self._programs.release()
            self._gl.release()
        self._closed = True
        self._loader.release()

    def __enter__(self) -> Device:
        self.check()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def __del__(self) -> None:
        # Only the owner may touch the context; elsewhere, and while the interpreter ends (when modules may be gone
        # already, sys too), the process' end will free it.
        if self._closed or sys is None or sys.is_finalizing() or forks.forked:
            return
        if threading.get_ident() == self._thread:
            with contextlib.suppress(Exception):
                self.release()
        else:
            warnings.warn(
                f"{self!r} was dropped in another thread than its own, and stays until the process ends; call its "
                "release() in the thread that made it, or use it in a with block there",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    # -- plans --------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop the running plan between two passes, and start no other, until `resume`. From any thread.

        `run` then raises an AbandonedError. Queued work is drawn; all textures of the plan go back to the pool, and the
        next plan sets all the state that it needs.
        """
        self._runner.interrupted = True

    def resume(self) -> None:
        """Allow plans to run again after `interrupt`. From any thread."""
        self._runner.interrupted = False

    @contextlib.contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Run the plans of a block to their ends, interrupted or not."""
        self._runner.uninterrupted += 1
        try:
            yield
        finally:
            self._runner.uninterrupted -= 1

    @overload
    def run(self, plan: Loop, **operands: Texture) -> Iterated: ...
    @overload
    def run(self, plan: Plan, **operands: Texture) -> dict[str, Texture]: ...
    @overload
    def run(self, plan: Plan, **operands: Value) -> dict[str, Any]: ...
    def run(self, plan: Plan, **operands: Any) -> dict[str, Any]:
        """Queue all passes of a plan; of a plan of plans, do the work of the host too.

        Parameters
        ----------
        plan : Plan
            Checked, compiled and kept ready at its first run.
        **operands : Texture or ndarray
            One for each operand of the plan: an array where its slot is a host array, else a texture.

        Returns
        -------
        dict of str to Texture or ndarray
            The results. Textures are on loan: release them, or drop them. A `glla.passes.Loop` returns an `Iterated`, a
            dict that also says how the loop ended; that synchronises.

        Raises
        ------
        PlanError, LimitError, ShaderError
            The plan cannot run here.
        OutOfMemoryError
            Not enough memory for a result or a temporary.
        DeviceError
            GL flagged an error.
        AbandonedError
            The device was interrupted.
        """
        with self.current():
            return self._runner.run(self, plan, operands)

    def gpu_clock(self) -> GPUClock | None:
        """Return the GPU's clock, or None on a software rasteriser, whose clock times the last tile only."""
        if self.info.software:
            return None
        with self.current():
            clock = GPUClock(self.calls)
        return clock if clock.bits else None

    # -- transfer -----------------------------------------------------------------------------------------------

    def matrix(self, value: Any, *, check_finite: bool = True) -> Any:
        """Copy a 2-D array onto this device, as `glla.asarray` does.

        Parameters
        ----------
        value : array_like, shape (m, n)
            Real numbers; a `glla.Array` of this device is returned as it is.
        check_finite : bool
            Refuse NaN and infinity.

        Returns
        -------
        glla.Array
            Does not synchronise.

        Examples
        --------
        >>> import glla
        >>> glla.default_device().matrix([[1, 2], [3, 4]]).shape
        (2, 2)
        """
        return registry.announced("matrix")(value, self, check_finite=check_finite)

    def upload(self, array: NDArray[Any]) -> Texture:
        """Pack a 2-D float32 array into a texture.

        Parameters
        ----------
        array : ndarray of float32, shape (m, n), m, n > 0
            An array in C order is sent as it is, one in Fortran order is transposed by the shader; any other is copied
            first.

        Returns
        -------
        Texture
            Packed.
        """
        shape: Shape = (array.shape[0], array.shape[1])
        transposed = array.flags.f_contiguous and not array.flags.c_contiguous
        cut, plan = packing.in_tiles(shape, self.limits.texture_size, transposed)
        if len(cut) > 1:
            plan.check(self.limits)  # before anything travels
        raw: dict[str, Texture] = {}
        with self.current():
            for name, (top, left, rows, columns) in zip(plan.operands, cut, strict=True):
                part = array[top : top + rows, left : left + columns]
                raw[name] = self.write(np.ascontiguousarray(part.T if transposed else part))
            packed = self.run(plan, **raw)["packed"]
            for texture in raw.values():
                texture.release()
        return packed

    def write(self, array: Float32) -> Texture:
        """Copy a C-contiguous 2-D float32 array into a raw texture, one element per texel."""
        return self.write_texels(array[:, :, np.newaxis])

    def write_texels(self, texels: Float32) -> Texture:
        """Copy a height x width x channels float32 array into a texture as it is."""
        with self.current():
            return self._transfers.write(texels)

    def download(self, texture: Texture, shape: Shape) -> Float32:
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

    def read(self, texture: Texture) -> Float32:
        """Read a texture as it is: height x width x channels. Synchronises."""
        with self.current():
            handle(texture)
            if texture._pool is not self._pool:
                raise DeviceMismatchError("device: the matrix lives on another device; copy it over")
            return self._transfers.read(texture)

    def lend(self, storage: Storage | Buffer) -> Texture:
        """Lend a texture, or a buffer, whose content is undefined.

        Raises
        ------
        LimitError, OutOfMemoryError
            The device has none like that, or no memory for it.
        """
        with self.current():
            return self._pool.acquire(storage)

    def uploads(self, elements: int) -> Uploads:
        """Return an object that uploads arrays of at most `elements` elements in turn, while the GPU computes."""
        return Uploads(self, elements)

    def download_later(self, texture: Texture, shape: Shape) -> Download:
        """Unpack a packed matrix and queue its copy to the host. Does not synchronise.

        The texture may be released, or drawn to, at once.

        Returns
        -------
        Download
            Call its `result`; until then it takes the matrix's bytes on the device.
        """
        with self.current():
            download = Download(self, texture, shape)
            self.calls.check("read back")
        return download
