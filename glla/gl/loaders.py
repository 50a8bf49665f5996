"""The two loaders of OpenGL contexts: through EGL, without a window, and with a hidden GLFW window."""

from __future__ import annotations

import ctypes
import threading

from glla.errors import ContextError
from glla.gl import forks, glfw
from glla.gl.calls import GL_VERSION, VERSIONS, string
from glla.gl.current import NOTHING, Binding, Loader, contexts
from glla.gl.egl import (
    ANY_VERSION,
    BAD_ACCESS,
    EGL,
    NONE,
    OPENGL_API,
    EGLDevice,
    choose_config,
    error_name,
    integers,
    load_egl,
    open_display,
)
from glla.gl.forks import check_process
from glla.gl.glfw import (
    address_of,
    bind_window,
    check_main_thread,
    collect_errors,
    import_glfw,
    open_window,
    terminate_if_unused,
    unbind_window,
)
from glla.gl.hints import HINT_VERSION


class EGLLoader(Loader):
    """A headless OpenGL 3.3 core context through EGL. Making one leaves the current context current.

    The display is never terminated: EGL returns the same one to all who open the same device, and other users in this
    process would lose their contexts.

    `device`: one of `list_egl_devices`; None uses EGL_PLATFORM_SURFACELESS_MESA, where Mesa chooses.
    Raises ContextError: EGL, the device or OpenGL 3.3 is missing; the message has a remedy.
    """

    kind = "egl"

    def __init__(self, device: EGLDevice | None) -> None:
        super().__init__()
        self.description = "EGL surfaceless" if device is None else f"EGL device {device.index} ({device.name})"
        check_process()
        self._egl = load_egl()
        self._display = open_display(self._egl, device)
        self._context = create_egl_context(self._egl, self._display)
        contexts.add(self._context)
        self._current_context = self._egl.current_context  # one look-up less in is_current

    def load_opengl_function(self, name: str) -> int:
        """Return the address of an OpenGL function, 0 if it is unknown."""
        return self._egl.address(name)

    def is_current(self) -> bool:
        """Whether the context is current in this thread."""
        return self._current_context() == self._context and not (self.released or forks.forked)

    def release(self) -> None:
        """Destroy the context; where it is current in another thread, EGL does so once that thread unbinds it."""
        if self.released or forks.forked:
            return
        self.unbind()
        self.released = True
        contexts.discard(self._context)
        self._egl.call("eglDestroyContext", self._display, self._context)

    def _bind(self, before: Binding) -> None:
        if before.window is not None:
            unbind_window(before.owner)
        if self._egl.ask("eglMakeCurrent", self._display, None, None, self._context):
            return
        code = self._egl.error()
        if code == BAD_ACCESS:
            raise self._held_elsewhere("another thread holds it (or GLX has a context in this thread)")
        raise ContextError(f"{self.description}: eglMakeCurrent failed with {error_name(code)}")


def create_egl_context(egl: EGL, display: int) -> int:
    """Create an OpenGL core context of 3.3 or newer; on failure the error names the version that is available."""
    # Which API eglCreateContext makes contexts of is a setting of the thread, and not ours to keep.
    api = egl.ask("eglQueryAPI")
    egl.call("eglBindAPI", OPENGL_API)
    try:
        config = choose_config(egl, display)
        reason = ""
        for major, minor in VERSIONS:
            core = integers((0x3098, major, 0x30FB, minor, 0x30FD, 1, NONE))  # MAJOR, MINOR, PROFILE core
            try:
                return int(egl.call("eglCreateContext", display, config, None, core))
            except ContextError as error:
                reason = str(error)
        version = find_egl_version(egl, display, config)
        raise ContextError(f"OpenGL 3.3 core is needed, found {version} ({reason}); {HINT_VERSION}")
    finally:
        if api:
            egl.call("eglBindAPI", api)


def find_egl_version(egl: EGL, display: int, config: int | None) -> str:
    """Return the OpenGL version of a device for which none is requested."""
    context = egl.ask("eglCreateContext", display, config, None, integers(ANY_VERSION))
    if not context:
        return "no OpenGL at all"
    before = Binding.now()
    try:
        NOTHING.restore()
        egl.call("eglMakeCurrent", display, None, None, context)
        return string(egl.address, GL_VERSION)
    finally:
        before.restore()
        egl.call("eglDestroyContext", display, context)


class GLFWLoader(Loader):
    """An OpenGL 3.3 core context with a hidden GLFW window. Making one leaves the current context current.

    It is made and released on the main thread, as window systems demand; other threads may make it current. GLFW is
    terminated with the last of them, unless it was initialised elsewhere: a program with windows of its own does that
    first. GLFW's window hints are left at their defaults.

    Raises ThreadError: the calling thread is not the main thread. Raises ContextError: the glfw package, a display or
    OpenGL 3.3 is missing; the message has a remedy.
    """

    kind = "glfw"

    def __init__(self) -> None:
        super().__init__()
        self.description = "GLFW hidden window"
        self.thread: int | None = None  # that holds it: the window system is not sure to refuse a second one
        check_process()
        check_main_thread("makes")
        self._glfw = import_glfw()
        before = Binding.now()
        NOTHING.restore()  # GLFW makes a new window's context current for a moment, which an EGL context would forbid
        try:
            self._window = open_window(self._glfw)
        finally:
            before.restore()
        self._window_address = address_of(self._window)
        glfw.windows[self._window_address] = self

    def load_opengl_function(self, name: str) -> int:
        """Return the address of an OpenGL function, 0 if it is unknown."""
        return ctypes.cast(self._glfw.get_proc_address(name), ctypes.c_void_p).value or 0

    def is_current(self) -> bool:
        """Whether the context is current in this thread."""
        if self.released or forks.forked:
            return False
        window = self._glfw.get_current_context()
        return bool(window) and address_of(window) == self._window_address

    def release(self) -> None:
        """Destroy the window and its context, on the main thread."""
        if self.released or forks.forked:
            return
        check_main_thread("releases")
        with collect_errors(self._glfw):  # collected and dropped: whoever terminated GLFW has destroyed the window too
            self.unbind()
            if self.thread not in (None, threading.get_ident()):
                raise self._held_elsewhere("another thread holds it")
            self._glfw.destroy_window(self._window)
        self.released = True
        del glfw.windows[self._window_address]
        terminate_if_unused(self._glfw)

    def take(self) -> None:
        """Make the window's context current in this thread, where nothing is."""
        if self.thread not in (None, threading.get_ident()):
            raise self._held_elsewhere("another thread holds it")
        bind_window(self._window)
        self.thread = threading.get_ident()

    def _bind(self, before: Binding) -> None:
        NOTHING.restore()
        self.take()
