"""OpenGL's functions that glla calls directly, each bound once, and the constants that they take.

moderngl creates and deletes objects. Calls made for every pass, blocking calls, and calls that it lacks are made here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from glla.errors import ContextError, DeviceError, OutOfMemoryError
from glla.gl.hints import HINT_EGL

VERSIONS = ((4, 3), (3, 3))
"""Versions of OpenGL that are requested, in order: 3.3 is enough, but some drivers give exactly the requested one."""

GL_TEXTURE_2D, GL_FRAMEBUFFER = 0x0DE1, 0x8D40
GL_TEXTURE_BUFFER, GL_TEXTURE0, GL_RGBA32F = 0x8C2A, 0x84C0, 0x8814
GL_FLOAT, GL_INT = 0x1406, 0x1404
GL_FORMATS = {1: 0x1903, 2: 0x8227, 3: 0x1907, 4: 0x1908}
"""Channels of a texel: GL_RED, GL_RG, GL_RGB, GL_RGBA."""
GL_INTEGER_FORMATS = {1: 0x8D94, 2: 0x8228, 4: 0x8D99}
"""Channels of a texel of integers: GL_RED_INTEGER, GL_RG_INTEGER, GL_RGBA_INTEGER."""

GL_PIXEL_PACK_BUFFER, GL_UNIFORM_BUFFER, GL_STREAM_READ = 0x88EB, 0x8A11, 0x88E1
GL_MAP_READ_BIT, GL_MAP_WRITE_BIT, GL_MAP_UNSYNCHRONIZED_BIT = 0x01, 0x02, 0x20

GL_SYNC_GPU_COMMANDS_COMPLETE, GL_SYNC_FLUSH_COMMANDS_BIT = 0x9117, 0x01
GL_TIMEOUT_EXPIRED, GL_WAIT_FAILED = 0x911B, 0x911D

GL_QUERY_COUNTER_BITS, GL_QUERY_RESULT, GL_TIMESTAMP = 0x8864, 0x8866, 0x8E28

GL_PROGRAM_BINARY_LENGTH, GL_COLOR_LOGIC_OP = 0x8741, 0x0BF2

GL_RENDERER, GL_VERSION = 0x1F01, 0x1F02

GL_ERRORS = {
    0x0500: "GL_INVALID_ENUM",
    0x0501: "GL_INVALID_VALUE",
    0x0502: "GL_INVALID_OPERATION",
    0x0505: "GL_OUT_OF_MEMORY",
    0x0506: "GL_INVALID_FRAMEBUFFER_OPERATION",
    0x0507: "GL_CONTEXT_LOST",
}

Function = Callable[..., Any]
_name, _size, _pointer, _long = ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint64
_names = ctypes.POINTER(ctypes.c_uint)


class Calls:
    """The functions of one context, which must be current in every call.

    Prototypes of PYFUNCTYPE keep the interpreter lock, which is cheaper for a short call; those of CFUNCTYPE release
    it, for calls that may block. Calls made for every pass declare no argument types, because ctypes takes three times
    as long to convert four arguments as to make the call. So their arguments must be ints of at most 32 bits.

    `load`: address of a function, 0 if it is unknown: an unknown function fails only when it is called.
    `draws_may_block`: let other threads run during `draw_large` and `get_error`. `debug`: `check` is called after every
    pass, so the failing pass is known.
    """

    def __init__(self, load: Callable[[str], int], draws_may_block: bool = False, debug: bool = False) -> None:
        def short(name: str, *arguments: Any, returns: Any = None) -> Function:
            return ctypes.PYFUNCTYPE(returns, *arguments)(load(name))

        def blocking(name: str, *arguments: Any, returns: Any = None) -> Function:
            return ctypes.CFUNCTYPE(returns, *arguments)(load(name))

        self._debug = debug
        drawing = blocking if draws_may_block else short
        # drawing; moderngl's Framebuffer.use sets draw buffers, masks and scissor each time, too. They belong to the
        # framebuffer, or never change here; only the binding and the viewport do
        self.bind_framebuffer = short("glBindFramebuffer")
        self.viewport = short("glViewport")
        self.use_program = short("glUseProgram")
        self.enable, self.disable = short("glEnable"), short("glDisable")
        self.texture_barrier = short("glTextureBarrier" if load("glTextureBarrier") else "glTextureBarrierNV")
        self.bind_vertex_array = short("glBindVertexArray")
        self.bind_buffer_range = short("glBindBufferRange")
        self.draw = short("glDrawArrays")
        self.draw_large = drawing("glDrawArrays")
        self.get_error = drawing("glGetError", returns=_name)
        # waiting
        self.finish = blocking("glFinish")
        self.flush = blocking("glFlush")
        self.fence_sync = short("glFenceSync", _name, _name, returns=_pointer)
        self.client_wait_sync = blocking("glClientWaitSync", _pointer, _name, _long, returns=_name)
        self.delete_sync = short("glDeleteSync", _pointer)
        # textures over buffers, which moderngl lacks
        self.gen_textures = short("glGenTextures", ctypes.c_int, _names)
        self.delete_textures = short("glDeleteTextures", ctypes.c_int, _names)
        self.active_texture = short("glActiveTexture")
        self.bind_texture = short("glBindTexture")
        self.tex_buffer = short("glTexBuffer")
        self.uniform_1i = short("glUniform1i")
        # transfers; moderngl would hold the interpreter lock
        self.tex_sub_image = blocking("glTexSubImage2D", *8 * [_name], _pointer)
        self.copy_tex_sub_image = blocking("glCopyTexSubImage2D")
        self.get_tex_image = blocking("glGetTexImage", *4 * [_name], _pointer)
        # buffers
        self.bind_buffer = short("glBindBuffer")
        self.buffer_data = blocking("glBufferData", _name, _size, _pointer, _name)
        self.map_buffer_range = blocking("glMapBufferRange", _name, _size, _size, _name, returns=_pointer)
        self.unmap_buffer = blocking("glUnmapBuffer", _name, returns=ctypes.c_ubyte)
        # timestamps; moderngl's queries keep 32 bits of them, and wait for each
        self.gen_queries = blocking("glGenQueries", ctypes.c_int, _names)
        self.delete_queries = blocking("glDeleteQueries", ctypes.c_int, _names)
        self.query_counter = blocking("glQueryCounter", _name, _name)
        self.get_query = blocking("glGetQueryiv", _name, _name, ctypes.POINTER(ctypes.c_int))
        self.get_query_object = blocking("glGetQueryObjectui64v", _name, _name, ctypes.POINTER(_long))
        self.get_program = blocking("glGetProgramiv", _name, _name, ctypes.POINTER(ctypes.c_int))
        self.get_integer = blocking("glGetInteger64v", _name, ctypes.POINTER(ctypes.c_int64))

    def check(self, where: str) -> None:
        """Raise an exception if GL's error flag is set.

        `where`: beginning of the message. Raises OutOfMemoryError, DeviceError: the flag is set.
        """
        code = self.get_error()
        if code == 0:
            return
        flag = GL_ERRORS.get(code, f"error 0x{code:04X}")
        if flag == "GL_OUT_OF_MEMORY":
            raise OutOfMemoryError(f"{where}: the device is out of memory; release matrices, or use smaller blocks")
        hint = "" if self._debug else "; run with GLLA_DEBUG=1 to learn which pass"
        raise DeviceError(f"{where}: the driver reports {flag}{hint}")


def string(address_of: Callable[[str], int], name: int) -> str:
    """Return a string of the current context; through ctypes, as moderngl crashes where functions are missing.

    Raises ContextError: the function is missing, or no context is current.
    """
    address = address_of("glGetString")
    if not address:
        raise ContextError(f"the driver has no glGetString; {HINT_EGL}")
    text: bytes | None = ctypes.CFUNCTYPE(ctypes.c_char_p, _name)(address)(name)
    if text is None:
        raise ContextError("glGetString answers nothing, so no context is current; report the driver")
    return text.decode(errors="replace")
