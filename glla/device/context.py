"""OpenGL 3.3 core contexts: found, opened, made current and given back; through EGL or with a hidden GLFW window.

moderngl takes any *loader*: an object that finds OpenGL's functions and makes its context current. The two loaders
here do what moderngl's own do not: every call is checked, and the context that was current before comes back
afterwards. That matters because OpenGL is silent about a wrong, missing or foreign context: draws do nothing and
reads return old memory.

`open_context` chooses a loader. The environment overrides what the code asks for:

=================  ==============================================  =========================
variable           values                                          overrides
=================  ==============================================  =========================
``GLLA_BACKEND``   ``auto``, ``egl``, ``glfw``                     ``backend``
``GLLA_DEVICE``    an EGL device's index, ``software``,            ``index`` and ``software``
                   ``hardware``
=================  ==============================================  =========================
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn, Protocol, Self

import moderngl

from glla.errors import ContextError, ReleasedError, ThreadError

BACKENDS = ("auto", "egl", "glfw")
MEND_EGL = (
    "apt install libegl1 libegl-mesa0 libgl1-mesa-dri; "
    "for NVIDIA in a container, NVIDIA_DRIVER_CAPABILITIES must include graphics"
)
MEND_GLFW = "pip install glfw, and set DISPLAY or WAYLAND_DISPLAY, or run under xvfb-run (apt install xvfb)"
MEND_VERSION = "update the driver, or ask for a software rasteriser (software=True)"

_SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "swiftshader", "software r", "gdi generic")

_FORKED = (
    "an OpenGL context was made before this process was forked, and OpenGL would hang here; "
    "use multiprocessing's 'spawn' start method"
)


# ------------------------------------------------------------------------------------------------------------ forks

# A fork has the memory of its parent, but of its threads only the one that forked. The driver's threads are missing,
# and locks that they held are held for ever. So OpenGL must not be touched there: not by us, which `check_process` sees
# to, and not by the driver's own functions that C's exit() calls, which may wait for such a lock or such a thread:
# beside NVIDIA's driver a forked process hung at its end. So exit() leaves out all that the parent had registered.

_opengl_used = False  # this process has started a driver, and with it the driver's threads
_forked = False  # this process is a fork of one that had: those threads and their locks are broken here


def check_process() -> None:
    """Raise where OpenGL must not be touched: in a fork of a process that already used it.

    Raises
    ------
    ThreadError
        A context was made before this process was forked.
    """
    if _forked:
        raise ThreadError(_FORKED)


def _mark_opengl_used() -> None:
    """Note that a driver is about to start; called before the first call that does so, even if that call then fails."""
    global _opengl_used
    check_process()
    _exit_functions()  # looked up here, as a forked process should do as little as it can
    _opengl_used = True


@functools.cache
def _exit_functions() -> tuple[Callable[..., Any], Callable[..., Any], int, int] | None:
    """on_exit, __cxa_atexit, and the addresses of _exit and fflush; None where the C library is not glibc."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    try:
        on_exit, at_exit = libc.on_exit, libc.__cxa_atexit
        leave, flush = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (libc._exit, libc.fflush))
    except AttributeError:
        return None
    on_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    at_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return on_exit, at_exit, leave, flush


def _leave_out_the_parents_exit() -> None:
    """Have C's exit() flush its files and leave, before it calls what was registered before the fork.

    It calls what was registered last first. So Python ends as ever, and what is registered from now on is called;
    the exit status is handed to `_exit`, as to any function that on_exit registers.
    """
    functions = _exit_functions()
    if functions is not None:
        on_exit, at_exit, leave, flush = functions
        on_exit(leave, None)
        at_exit(flush, None, None)  # fflush(NULL): all files


def _after_fork_in_child() -> None:
    global _forked
    _forked = _opengl_used
    if _forked:
        _leave_out_the_parents_exit()


if hasattr(os, "register_at_fork"):  # Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork_in_child)


# ---------------------------------------------------------------------------------------------------- EGL's functions

_EGL_LIBRARIES = ("libEGL.so.1", "libEGL.so")

_EGL_NONE = 0x3038
_EGL_EXTENSIONS = 0x3055
_EGL_DRAW = 0x3059
_EGL_READ = 0x305A
_EGL_OPENGL_API = 0x30A2
_EGL_BAD_ACCESS = 0x3002
_EGL_PLATFORM_DEVICE_EXT = 0x313F
_EGL_PLATFORM_SURFACELESS_MESA = 0x31DD
_EGL_DRM_RENDER_NODE_FILE_EXT = 0x3377
_EGL_CUDA_DEVICE_NV = 0x323A
_EGL_ANY_OPENGL_CONFIG = (0x3033, 0x0001, 0x3040, 0x0008, _EGL_NONE)  # SURFACE_TYPE PBUFFER, RENDERABLE_TYPE OPENGL
_VERSIONS = ((4, 3), (3, 3))
"""What is asked for, the first that there is: 3.3 will do, but some drivers give no more than was asked for."""
_EGL_ANY_VERSION = (_EGL_NONE,)

_EGL_ERRORS = {
    0x3000: "EGL_SUCCESS",
    0x3001: "EGL_NOT_INITIALIZED",
    0x3002: "EGL_BAD_ACCESS",
    0x3003: "EGL_BAD_ALLOC",
    0x3004: "EGL_BAD_ATTRIBUTE",
    0x3005: "EGL_BAD_CONFIG",
    0x3006: "EGL_BAD_CONTEXT",
    0x3007: "EGL_BAD_CURRENT_SURFACE",
    0x3008: "EGL_BAD_DISPLAY",
    0x3009: "EGL_BAD_MATCH",
    0x300A: "EGL_BAD_NATIVE_PIXMAP",
    0x300B: "EGL_BAD_NATIVE_WINDOW",
    0x300C: "EGL_BAD_PARAMETER",
    0x300D: "EGL_BAD_SURFACE",
    0x300E: "EGL_CONTEXT_LOST",
    0x322B: "EGL_BAD_DEVICE_EXT",
}
_EGL_GONE = frozenset((0x3006, 0x3008, 0x300B, 0x300D))  # the context, display, window or surface no longer exists

_int, _enum, _handle, _text, _array = ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
_EGL_CORE: dict[str, tuple[Any, ...]] = {  # name: (result, *arguments)
    "eglGetError": (_int,),
    "eglGetProcAddress": (_handle, _text),
    "eglInitialize": (_enum, _handle, _array, _array),
    "eglQueryString": (_text, _handle, _int),
    "eglQueryAPI": (_enum,),
    "eglBindAPI": (_enum, _enum),
    "eglChooseConfig": (_enum, _handle, _array, _array, _int, _array),
    "eglCreateContext": (_handle, _handle, _handle, _handle, _array),
    "eglDestroyContext": (_enum, _handle, _handle),
    "eglMakeCurrent": (_enum, _handle, _handle, _handle, _handle),
    "eglGetCurrentDisplay": (_handle,),
    "eglGetCurrentSurface": (_handle, _int),
}
_EGL_EXTENDED: dict[str, tuple[Any, ...]] = {
    "eglGetPlatformDisplayEXT": (_handle, _enum, _handle, _array),
    "eglQueryDevicesEXT": (_enum, _int, _array, _array),
    "eglQueryDeviceStringEXT": (_text, _handle, _int),
    "eglQueryDeviceAttribEXT": (_enum, _handle, _int, _array),
}


class _EGL:
    """The functions of libEGL, each call checked.

    Parameters
    ----------
    file_name : str
        The shared library; an `OSError` says that it cannot be loaded.
    """

    def __init__(self, file_name: str) -> None:
        library = ctypes.CDLL(file_name)
        self._functions: dict[str, Callable[..., Any]] = {}
        for name, signature in _EGL_CORE.items():
            self._functions[name] = ctypes.CFUNCTYPE(*signature)((name, library))
        for name, signature in _EGL_EXTENDED.items():
            if address := self.address(name):
                self._functions[name] = ctypes.CFUNCTYPE(*signature)(address)
        # Asked before every plan, and never blocks: PyDLL saves the release of the interpreter lock.
        self.current_context: Callable[[], int | None] = ctypes.PYFUNCTYPE(_handle)(
            ("eglGetCurrentContext", ctypes.PyDLL(file_name))
        )

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a function whose zero or NULL is an answer, not a failure."""
        if name not in self._functions:
            raise ContextError(f"{name} is missing from libEGL; {MEND_EGL}")
        return self._functions[name](*arguments)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function, and raise a ContextError with EGL's error where it returns zero or NULL."""
        result = self.ask(name, *arguments)
        if not result:
            raise ContextError(f"{name} failed with {_egl_error_name(self.error())}")
        return result

    def error(self) -> int:
        """EGL's error code for the last call of this thread."""
        return int(self._functions["eglGetError"]())

    def address(self, function: str) -> int:
        """Where a function of EGL or OpenGL is, 0 if it is unknown."""
        return int(self._functions["eglGetProcAddress"](function.encode()) or 0)

    def extensions(self, display: int | None) -> list[str]:
        """Return the extensions of a display, or of libEGL itself for None."""
        return (self.ask("eglQueryString", display, _EGL_EXTENSIONS) or b"").decode().split()

    def devices(self) -> list[int]:
        """Return the handles of all devices, in eglQueryDevicesEXT's order."""
        count = _int()
        self.call("eglQueryDevicesEXT", 0, None, ctypes.byref(count))
        handles = (_handle * max(1, count.value))()
        self.call("eglQueryDevicesEXT", count.value, handles, ctypes.byref(count))
        return [handle or 0 for handle in handles[: count.value]]

    def device_text(self, device: int, name: int) -> str:
        """Return a text that a device tells about itself, empty if it keeps silent."""
        return (self.ask("eglQueryDeviceStringEXT", device, name) or b"").decode()


def _egl_error_name(code: int) -> str:
    return f"{_EGL_ERRORS.get(code, 'an unknown EGL error')} (0x{code:04X})"


@functools.cache
def _find_egl() -> tuple[_EGL | None, str]:
    """Load libEGL once: the library, or None and the reason."""
    reasons = []
    for file_name in _EGL_LIBRARIES:
        try:
            return _EGL(file_name), ""
        except (OSError, AttributeError) as error:  # AttributeError: a library of that name without EGL's functions
            reasons.append(str(error))
    return None, f"libEGL cannot be loaded ({'; '.join(reasons)}); {MEND_EGL}"


def _load_egl() -> _EGL:
    egl, reason = _find_egl()
    if egl is None:
        raise ContextError(reason)
    return egl


# ------------------------------------------------------------------------------------------------------- EGL's devices


@dataclass(frozen=True)
class EGLDevice:
    """A GPU, or a software rasteriser, as EGL lists it.

    Attributes
    ----------
    index : int
        Its place in eglQueryDevicesEXT's order, which `open_context` takes.
    name : str
        A label, as far as EGL tells: the renderer's name is known only once a context is open.
    software : bool
        Whether it says that it rasterises on the CPU.
    render_node : str or None
        Its file under /dev/dri.
    cuda : int or None
        Its number in CUDA.
    """

    index: int
    name: str
    software: bool
    render_node: str | None
    cuda: int | None


def list_egl_devices() -> list[EGLDevice]:
    """List EGL's devices; opens none of them.

    Returns
    -------
    list of EGLDevice
        In eglQueryDevicesEXT's order; empty where there is no EGL or no driver, and `egl_problem` then says why.
    """
    return _query_devices()[0]


def egl_problem() -> str | None:
    """Say why `list_egl_devices` finds none, and what mends it; None if it does find some."""
    return _query_devices()[1]


def _query_devices() -> tuple[list[EGLDevice], str | None]:
    check_process()
    try:
        egl = _load_egl()
        if "EGL_EXT_platform_device" not in egl.extensions(None):
            return [], f"EGL lists no devices, so no driver is installed for it; {MEND_EGL}"
        devices = [_describe_device(egl, index, handle) for index, handle in enumerate(egl.devices())]
    except ContextError as error:
        return [], str(error)
    return devices, None if devices else f"EGL's list of devices is empty; {MEND_EGL}"


def _describe_device(egl: _EGL, index: int, handle: int) -> EGLDevice:
    extensions = egl.device_text(handle, _EGL_EXTENSIONS).split()
    software = "EGL_MESA_device_software" in extensions
    render_node = None
    if "EGL_EXT_device_drm_render_node" in extensions:
        render_node = egl.device_text(handle, _EGL_DRM_RENDER_NODE_FILE_EXT) or None
    cuda = _cuda_index(egl, handle) if "EGL_NV_device_cuda" in extensions else None
    if software:
        name = "software rasteriser (Mesa)"
    else:
        cuda_name = "" if cuda is None else f"CUDA device {cuda}"
        name = ", ".join(filter(None, (cuda_name, render_node))) or " ".join(extensions) or "unnamed"
    return EGLDevice(index, name, software, render_node, cuda)


def _cuda_index(egl: _EGL, handle: int) -> int | None:
    number = ctypes.c_ssize_t()  # EGLAttrib is as wide as a pointer
    found = egl.ask("eglQueryDeviceAttribEXT", handle, _EGL_CUDA_DEVICE_NV, ctypes.byref(number))
    return number.value if found else None


# --------------------------------------------------------------------------------------- what is current in this thread


@dataclass(frozen=True)
class _Binding:
    """What is current in a thread: for EGL, for GLFW, or for both where GLFW itself goes through EGL.

    The two are kept together because a thread has one OpenGL context: EGL refuses to bind while GLX, behind GLFW, holds
    one, and GLX refuses while EGL does.
    """

    egl: tuple[int, int, int, int] | None = None  # display, draw surface, read surface, context
    window: Any = None  # GLFW's pointer
    owner: GLFWLoader | None = None  # of that window, if it is one of ours

    @classmethod
    def now(cls) -> _Binding:
        """Take what is current in this thread."""
        egl, _ = _find_egl()
        window = _current_window()
        owner = None if window is None else _windows.get(_address(window))
        return cls(None if egl is None else _current_egl(egl), window, owner)

    def restore(self) -> None:
        """Make current in this thread what was current when this was taken.

        A context that was destroyed in the meantime cannot come back; nothing is current then.
        """
        before = _Binding.now()
        if before.window is not None:
            _unbind_window(before)
        if before.egl is not None and (self.egl is None or self.window is not None):
            _unbind_egl()
        if self.owner is None:
            if self.window is not None:
                _bind_window(self.window)
        elif not self.owner.released:
            self.owner.take()
        if self.egl is not None:
            _bind_egl(self.egl)


_NOTHING = _Binding()


def _current_egl(egl: _EGL) -> tuple[int, int, int, int] | None:
    context = egl.current_context()
    if not context:
        return None
    display = egl.ask("eglGetCurrentDisplay") or 0
    draw = egl.ask("eglGetCurrentSurface", _EGL_DRAW) or 0
    return display, draw, egl.ask("eglGetCurrentSurface", _EGL_READ) or 0, context


def _bind_egl(binding: tuple[int, int, int, int]) -> None:
    """Make a foreign or an earlier EGL context current again, unless it is gone."""
    egl = _load_egl()
    if egl.current_context() == binding[3] or egl.ask("eglMakeCurrent", *binding):
        return
    code = egl.error()
    _unbind_egl()
    if code == _EGL_BAD_ACCESS:
        raise ThreadError("the context that was current before cannot be restored, as another thread holds it now")
    if code not in _EGL_GONE:
        raise ContextError(f"the context that was current before cannot be restored: {_egl_error_name(code)}")


def _unbind_egl() -> None:
    egl = _load_egl()
    if egl.current_context():
        egl.call("eglMakeCurrent", egl.ask("eglGetCurrentDisplay"), None, None, None)


# ------------------------------------------------------------------------------------------------------------- loaders


class Loader(Protocol):
    """An OpenGL context that can be made current: what ``moderngl.create_context(context=...)`` takes, and more.

    Attributes
    ----------
    kind : str
        ``"egl"`` or ``"glfw"``.
    description : str
        The device or the window system, in words.
    """

    kind: str
    description: str

    def load_opengl_function(self, name: str) -> int:
        """Give the address of an OpenGL function, 0 if it is unknown. The context must be current."""

    def __enter__(self) -> Self:
        """Make the context current in this thread, and remember what was."""

    def __exit__(self, *error: object) -> None:
        """Make current again what was current before."""

    def make_current(self) -> None:
        """Make the context current in this thread."""

    def is_current(self) -> bool:
        """Whether the context is current in this thread. Cheap."""

    def unbind(self) -> None:
        """Leave the context current nowhere, if it is current in this thread; another thread may then take it."""

    def release(self) -> None:
        """Destroy the context. A second call does nothing."""


class _Loader:
    """What the two loaders share: the memory of what was current before.

    A subclass adds `load_opengl_function`, `is_current`, `release`, and `_bind`, which makes the context current in
    place of `before`, and where it fails may leave nothing current.
    """

    kind: str
    description: str

    def __init__(self) -> None:
        self.released = False
        # A stack per thread: `with` blocks of two threads may overlap, where the first one unbinds half-way.
        self._entered = threading.local()

    def is_current(self) -> bool:
        """Whether the context is current in this thread."""
        raise NotImplementedError

    def _bind(self, before: _Binding) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        before = None if self.is_current() else self._switch()
        self._stack().append(before)
        return self

    def __exit__(self, *error: object) -> None:
        before = self._stack().pop()
        if before is not None and not _forked:
            before.restore()

    def make_current(self) -> None:
        """Make the context current in this thread."""
        if not self.is_current():
            self._switch()

    def unbind(self) -> None:
        """Leave nothing current in this thread, if the context is current in it."""
        if self.is_current():
            _NOTHING.restore()

    def _switch(self) -> _Binding:
        """Make the context current and return what was; on failure that is current still."""
        check_process()
        if self.released:
            raise ReleasedError(f"{self.description}: the context was released; open another one")
        before = _Binding.now()
        try:
            self._bind(before)
        except BaseException:
            before.restore()
            raise
        return before

    def _stack(self) -> list[_Binding | None]:
        try:
            stack: list[_Binding | None] = self._entered.stack
        except AttributeError:
            stack = self._entered.stack = []
        return stack

    def _held_elsewhere(self, reason: str) -> ThreadError:
        here = threading.current_thread().name
        return ThreadError(
            f"{self.description}: the context cannot be used in thread {here!r}, as {reason}; "
            "call unbind() in the thread that holds it"
        )


class EGLLoader(_Loader):
    """A headless OpenGL 3.3 core context through EGL. Making one leaves what is current as it is.

    The display is never terminated: EGL gives the same one to everybody who opens the same device, and whoever else in
    this process uses it would lose its contexts.

    Parameters
    ----------
    device : EGLDevice or None
        One of `list_egl_devices`; None takes EGL_PLATFORM_SURFACELESS_MESA, where Mesa chooses.

    Raises
    ------
    ContextError
        EGL, the device or OpenGL 3.3 is not there; the message says what mends it.
    """

    kind = "egl"

    def __init__(self, device: EGLDevice | None) -> None:
        super().__init__()
        self.description = "EGL surfaceless" if device is None else f"EGL device {device.index} ({device.name})"
        check_process()
        self._egl = _load_egl()
        self._display = _open_display(self._egl, device)
        self._context = _create_egl_context(self._egl, self._display)
        self._current_context = self._egl.current_context  # one look-up less in is_current

    def load_opengl_function(self, name: str) -> int:
        """Give the address of an OpenGL function, 0 if it is unknown."""
        return self._egl.address(name)

    def is_current(self) -> bool:
        """Whether the context is current in this thread."""
        return self._current_context() == self._context and not (self.released or _forked)

    def release(self) -> None:
        """Destroy the context; where another thread holds it, EGL does so as soon as that thread lets go."""
        if self.released or _forked:
            return
        self.unbind()
        self.released = True
        self._egl.call("eglDestroyContext", self._display, self._context)

    def _bind(self, before: _Binding) -> None:
        if before.window is not None:
            _unbind_window(before)
        if self._egl.ask("eglMakeCurrent", self._display, None, None, self._context):
            return
        code = self._egl.error()
        if code == _EGL_BAD_ACCESS:
            raise self._held_elsewhere("another thread holds it (or GLX has a context in this thread)")
        raise ContextError(f"{self.description}: eglMakeCurrent failed with {_egl_error_name(code)}")


def _open_display(egl: _EGL, device: EGLDevice | None) -> int:
    """Return the initialised display of a device, after a look at what it must be able to do."""
    platform = "EGL_MESA_platform_surfaceless" if device is None else "EGL_EXT_platform_device"
    if platform not in egl.extensions(None):
        raise ContextError(f"{platform} is missing from libEGL; {MEND_EGL}")
    if device is None:
        display = egl.call("eglGetPlatformDisplayEXT", _EGL_PLATFORM_SURFACELESS_MESA, None, None)
    else:
        handles = egl.devices()
        if not 0 <= device.index < len(handles):
            raise ContextError(f"there is no EGL device {device.index}, of {len(handles)}; see list_egl_devices()")
        display = egl.call("eglGetPlatformDisplayEXT", _EGL_PLATFORM_DEVICE_EXT, handles[device.index], None)
    _mark_opengl_used()
    try:
        egl.call("eglInitialize", display, None, None)
    except ContextError as error:
        mend = f"{MEND_EGL}; for a GPU, this user must be allowed to open /dev/dri/renderD*"
        raise ContextError(f"{error}, so the driver does not start; {mend}") from None
    if "EGL_KHR_surfaceless_context" not in egl.extensions(display):
        raise ContextError(f"EGL_KHR_surfaceless_context is missing from this driver; {MEND_VERSION}")
    return int(display)


def _create_egl_context(egl: _EGL, display: int) -> int:
    """Create an OpenGL core context of 3.3 or newer, and where there is none, find out which version there is."""
    # Which API eglCreateContext makes contexts of is a setting of the thread, and not ours to keep.
    api = egl.ask("eglQueryAPI")
    egl.call("eglBindAPI", _EGL_OPENGL_API)
    try:
        config = _choose_config(egl, display)
        reason = ""
        for major, minor in _VERSIONS:
            core = _integers((0x3098, major, 0x30FB, minor, 0x30FD, 1, _EGL_NONE))  # MAJOR, MINOR, PROFILE core
            try:
                return int(egl.call("eglCreateContext", display, config, None, core))
            except ContextError as error:
                reason = str(error)
        version = _find_egl_version(egl, display, config)
        raise ContextError(f"OpenGL 3.3 core is needed, found {version} ({reason}); {MEND_VERSION}")
    finally:
        if api:
            egl.call("eglBindAPI", api)


def _choose_config(egl: _EGL, display: int) -> int | None:
    """Return any configuration for OpenGL, or None where contexts need none."""
    if "EGL_KHR_no_config_context" in egl.extensions(display):
        return None
    config, count = _handle(), _int()
    egl.call(
        "eglChooseConfig", display, _integers(_EGL_ANY_OPENGL_CONFIG), ctypes.byref(config), 1, ctypes.byref(count)
    )
    if count.value < 1:
        raise ContextError(f"EGL has no configuration for OpenGL on this device; {MEND_EGL}")
    return config.value


def _find_egl_version(egl: _EGL, display: int, config: int | None) -> str:
    """Return the version of OpenGL that a device gives when none is asked for."""
    context = egl.ask("eglCreateContext", display, config, None, _integers(_EGL_ANY_VERSION))
    if not context:
        return "no OpenGL at all"
    before = _Binding.now()
    try:
        _NOTHING.restore()
        egl.call("eglMakeCurrent", display, None, None, context)
        return _opengl_string(egl.address, _GL_VERSION)
    finally:
        before.restore()
        egl.call("eglDestroyContext", display, context)


def _integers(values: tuple[int, ...]) -> Any:
    return (_int * len(values))(*values)


# ---------------------------------------------------------------------------------------------------------------- GLFW

_GLFW_NOT_INITIALIZED = 0x00010001

_windows: dict[int, GLFWLoader] = {}  # address of a GLFW window: its loader
_glfw_lock = threading.RLock()  # GLFW has one error callback for all threads
_glfw_is_ours = False  # whether GLFW was initialised here, and must be terminated with the last loader


class GLFWLoader(_Loader):
    """An OpenGL 3.3 core context with a hidden GLFW window. Making one leaves what is current as it is.

    It is made and released on the main thread, as window systems demand; other threads may make it current. GLFW is
    terminated with the last of them, unless somebody else had initialised it: a program with windows of its own does
    that first. GLFW's window hints are left at their defaults.

    Raises
    ------
    ThreadError
        The calling thread is not the main thread.
    ContextError
        The glfw package, a display or OpenGL 3.3 is not there; the message says what mends it.
    """

    kind = "glfw"

    def __init__(self) -> None:
        super().__init__()
        self.description = "GLFW hidden window"
        self.thread: int | None = None  # that holds it: the window system is not sure to refuse a second one
        check_process()
        _check_main_thread("makes")
        self._glfw = _import_glfw()
        before = _Binding.now()
        _NOTHING.restore()  # GLFW makes a new window's context current for a moment, which an EGL context would forbid
        try:
            self._window = _open_window(self._glfw)
        finally:
            before.restore()
        self._window_address = _address(self._window)
        _windows[self._window_address] = self

    def load_opengl_function(self, name: str) -> int:
        """Give the address of an OpenGL function, 0 if it is unknown."""
        return ctypes.cast(self._glfw.get_proc_address(name), ctypes.c_void_p).value or 0

    def is_current(self) -> bool:
        """Whether the context is current in this thread."""
        if self.released or _forked:
            return False
        window = self._glfw.get_current_context()
        return bool(window) and _address(window) == self._window_address

    def release(self) -> None:
        """Destroy the window and its context, on the main thread."""
        if self.released or _forked:
            return
        _check_main_thread("releases")
        with _glfw_errors(self._glfw):  # collected and dropped: whoever terminated GLFW has destroyed the window too
            self.unbind()
            if self.thread not in (None, threading.get_ident()):
                raise self._held_elsewhere("another thread holds it")
            self._glfw.destroy_window(self._window)
        self.released = True
        del _windows[self._window_address]
        _terminate_glfw_if_unused(self._glfw)

    def take(self) -> None:
        """Make the window's context current in this thread, where nothing is."""
        if self.thread not in (None, threading.get_ident()):
            raise self._held_elsewhere("another thread holds it")
        _bind_window(self._window)
        self.thread = threading.get_ident()

    def _bind(self, before: _Binding) -> None:
        _NOTHING.restore()
        self.take()


def _check_main_thread(verb: str) -> None:
    if threading.current_thread() is not threading.main_thread():
        raise ThreadError(
            f"GLFW {verb} windows on the main thread only, got thread {threading.current_thread().name!r}; "
            "do it there, or use backend='egl'"
        )


def _import_glfw() -> ModuleType:
    try:
        return importlib.import_module("glfw")  # only here: the import starts a process to look at the library
    except ImportError as error:
        raise ContextError(f"the glfw package cannot be imported ({error}); {MEND_GLFW}") from error


@contextlib.contextmanager
def _glfw_errors(glfw: ModuleType) -> Iterator[list[tuple[int, str]]]:
    """Collect GLFW's errors as (code, text), which the package would otherwise make into warnings."""
    errors: list[tuple[int, str]] = []
    with _glfw_lock:
        previous = glfw.set_error_callback(lambda code, text: errors.append((code, text.decode(errors="replace"))))
        try:
            yield errors
        finally:
            glfw.set_error_callback(previous)


def _open_window(glfw: ModuleType) -> Any:
    """Make a window, in a GLFW that is initialised if it was not; where that fails, GLFW is as it was."""
    with _glfw_errors(glfw) as errors:
        try:
            _initialise_glfw(glfw, errors)
            return _create_window(glfw, errors)
        except BaseException:
            _terminate_glfw_if_unused(glfw)
            raise


def _initialise_glfw(glfw: ModuleType, errors: list[tuple[int, str]]) -> None:
    """Initialise GLFW, unless it is, and remember whose it is."""
    global _glfw_is_ours
    _mark_opengl_used()
    if _is_initialised(glfw, errors):
        return
    if sys.platform == "darwin":  # GLFW would change the working directory and add a menu bar
        glfw.init_hint(glfw.COCOA_CHDIR_RESOURCES, False)
        glfw.init_hint(glfw.COCOA_MENUBAR, False)
    if not glfw.init():
        raise ContextError(f"glfw.init failed: {_join(errors)}; {MEND_GLFW}")
    _glfw_is_ours = True


def _is_initialised(glfw: ModuleType, errors: list[tuple[int, str]]) -> bool:
    """Ask for the time: GLFW has no other question, and its clock runs only once it is initialised."""
    glfw.get_time()
    uninitialised = any(code == _GLFW_NOT_INITIALIZED for code, _ in errors)
    errors.clear()
    return not uninitialised


def _create_window(glfw: ModuleType, errors: list[tuple[int, str]]) -> Any:
    glfw.default_window_hints()
    glfw.window_hint(glfw.VISIBLE, False)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, sys.platform == "darwin")  # macOS has no other core profile
    window = None
    try:
        for major, minor in _VERSIONS:
            errors.clear()
            glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, major)
            glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, minor)
            window = glfw.create_window(16, 16, "glla", None, None)
            if window:
                break
    finally:
        glfw.default_window_hints()
    if not window:
        version = _find_glfw_version(glfw)
        raise ContextError(f"OpenGL 3.3 core is needed, found {version} ({_join(errors)}); {MEND_VERSION}")
    return window


def _find_glfw_version(glfw: ModuleType) -> str:
    """Return the version of OpenGL that a window has when none is asked for."""
    glfw.window_hint(glfw.VISIBLE, False)
    window = glfw.create_window(16, 16, "glla", None, None)
    glfw.default_window_hints()
    if not window:
        return "no OpenGL at all"
    try:
        glfw.make_context_current(window)
        return _opengl_string(lambda name: ctypes.cast(glfw.get_proc_address(name), _handle).value or 0, _GL_VERSION)
    finally:
        glfw.make_context_current(None)
        glfw.destroy_window(window)


def _terminate_glfw_if_unused(glfw: ModuleType) -> None:
    global _glfw_is_ours
    if _glfw_is_ours and not _windows:
        with _glfw_errors(glfw):
            glfw.terminate()
        _glfw_is_ours = False


def _current_window() -> Any:
    """Return GLFW's current window in this thread, whoever made it; None if there is none or no GLFW."""
    glfw = sys.modules.get("glfw")
    if glfw is None:
        return None
    with _glfw_errors(glfw):  # not initialised is an error for GLFW, and no window for us
        return glfw.get_current_context() or None


def _bind_window(window: Any) -> None:
    """Make a GLFW window's context current in this thread; None leaves none of GLFW's."""
    glfw = _import_glfw()
    with _glfw_errors(glfw) as errors:
        glfw.make_context_current(window)
    if errors:
        raise ContextError(f"glfw.make_context_current failed: {_join(errors)}")


def _unbind_window(binding: _Binding) -> None:
    _bind_window(None)
    if binding.owner is not None:
        binding.owner.thread = None


def _address(window: Any) -> int:
    return ctypes.addressof(window.contents)


def _join(errors: list[tuple[int, str]]) -> str:
    return "; ".join(f"{text} (0x{code:08X})" for code, text in errors) or "GLFW gives no reason"


# ---------------------------------------------------------------------------------------------------- what a context is

_GL_RENDERER = 0x1F01
_GL_VERSION = 0x1F02


def is_software_renderer(renderer: str) -> bool:
    """Whether OpenGL's GL_RENDERER names a rasteriser that runs on the CPU."""
    return any(name in renderer.lower() for name in _SOFTWARE_RENDERERS)


def _opengl_string(address_of: Callable[[str], int], name: int) -> str:
    """Ask the current context for a string; through ctypes, as moderngl crashes where functions are missing."""
    address = address_of("glGetString")
    if not address:
        raise ContextError(f"the driver has no glGetString; {MEND_EGL}")
    text: bytes | None = ctypes.CFUNCTYPE(_text, _enum)(address)(name)
    if text is None:
        raise ContextError("glGetString answers nothing, so no context is current; report the driver")
    return text.decode(errors="replace")


def _check_version(loader: Loader) -> None:
    """Raise unless the current context is one of desktop OpenGL 3.3 or newer."""
    text = _opengl_string(loader.load_opengl_function, _GL_VERSION)
    number = re.match(r"(\d+)\.(\d+)", text)  # "OpenGL ES 3.2 ..." does not begin with a number
    if number is None or (int(number[1]), int(number[2])) < (3, 3):
        raise ContextError(f"OpenGL 3.3 core is needed, found {text}; {MEND_VERSION}")


def _check_renderer(loader: Loader, software: bool | None) -> None:
    """Raise unless the current context is of the kind asked for; EGL may be wrong about it, and GLFW is silent."""
    if software is None:
        return
    renderer = _opengl_string(loader.load_opengl_function, _GL_RENDERER)
    if software and not is_software_renderer(renderer):
        raise ContextError(f"a software rasteriser is asked for, found {renderer}; {MEND_EGL}")
    if not software and is_software_renderer(renderer):
        raise ContextError(f"hardware is asked for, found the software rasteriser {renderer}; install the GPU's driver")


# ----------------------------------------------------------------------------------------------------------- the choice


@dataclass(frozen=True)
class _Request:
    """What is asked for, and the environment variables that had a say in it."""

    backend: str
    index: int | None
    software: bool | None
    overrides: str = ""


@dataclass(frozen=True)
class _Candidate:
    label: str
    make: Callable[[], Loader]


def open_context(
    backend: str = "auto", index: int | None = None, software: bool | None = None
) -> tuple[moderngl.Context, Loader]:
    """Open an OpenGL 3.3 core context and leave it current in this thread.

    Parameters
    ----------
    backend : {"auto", "egl", "glfw"}
        ``"auto"`` takes EGL's devices, then EGL without a device, then GLFW if there is a display; on macOS and
        Windows it takes GLFW.
    index : int or None
        The EGL device to take, and no other; see `list_egl_devices`.
    software : bool or None
        True takes software rasterisers only, False hardware only, None hardware first.

    Returns
    -------
    context : moderngl.Context
        Its ``release()`` releases the loader too. Nothing on it is collected behind your back (``gc_mode`` is None).
    loader : Loader
        Makes the context current and tells whether it is.

    Raises
    ------
    ContextError
        None could be opened; the message lists what was tried, why it failed, and what mends it. Or an argument or
        one of ``GLLA_BACKEND`` and ``GLLA_DEVICE``, which override the arguments, has a bad value.
    ThreadError
        OpenGL was used before this process was forked.
    """
    check_process()
    request = _apply_environment(_check_arguments(backend, index, software))
    if request.backend == "glfw" and request.index is not None:
        raise ContextError(
            f"open_context: index chooses an EGL device, got index {request.index} with backend 'glfw'"
            f"{request.overrides}; leave one of them out"
        )
    failures = []
    for candidate in _candidates(request):
        try:
            return _open(candidate, request.software)
        except (ContextError, ThreadError) as error:
            failures.append(f"\n  - {candidate.label}: {error}")
    raise ContextError(f"open_context: no OpenGL 3.3 core context{request.overrides}; tried:{''.join(failures)}")


def _check_arguments(backend: str, index: int | None, software: bool | None) -> _Request:
    if backend not in BACKENDS:
        raise ContextError(f"open_context: backend must be one of {', '.join(map(repr, BACKENDS))}, got {backend!r}")
    if index is not None and (not isinstance(index, int) or isinstance(index, bool) or index < 0):
        raise ContextError(f"open_context: index must be an int from 0, or None, got {index!r}; see list_egl_devices()")
    if software not in (None, True, False):
        raise ContextError(f"open_context: software must be True, False or None, got {software!r}")
    return _Request(backend, index, software)


def _apply_environment(request: _Request) -> _Request:
    """Let GLLA_BACKEND and GLLA_DEVICE override what the code asks for; an empty variable is as good as none."""
    backend, index, software = request.backend, request.index, request.software
    in_force = []
    if value := os.environ.get("GLLA_BACKEND", "").strip():
        backend = value.lower()
        in_force.append(f"GLLA_BACKEND={value}")
        if backend not in BACKENDS:
            raise ContextError(f"open_context: GLLA_BACKEND must be one of {', '.join(BACKENDS)}, got {value!r}")
    if value := os.environ.get("GLLA_DEVICE", "").strip():
        index, software = _parse_device(value)
        in_force.append(f"GLLA_DEVICE={value}")
    overrides = f" (in force: {', '.join(in_force)})" if in_force else ""
    return _Request(backend, index, software, overrides)


def _parse_device(value: str) -> tuple[int | None, bool | None]:
    """Read GLLA_DEVICE as (index, software)."""
    if re.fullmatch("[0-9]+", value):
        return int(value), None
    if value.lower() in ("software", "hardware"):
        return None, value.lower() == "software"
    raise ContextError(
        f"open_context: GLLA_DEVICE must be an EGL device's index, 'software' or 'hardware', got {value!r}"
    )


def _candidates(request: _Request) -> list[_Candidate]:
    """List what may serve a request, best first; what cannot is listed too, to fail with its reason."""
    if request.backend == "egl" or request.index is not None:
        return _egl_candidates(request)
    if request.backend == "glfw" or sys.platform in ("darwin", "win32"):
        return [_Candidate("GLFW", GLFWLoader)]
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return [*_egl_candidates(request), _Candidate("GLFW", GLFWLoader)]
    return [*_egl_candidates(request), _failing("GLFW", f"there is no display; {MEND_GLFW}")]


def _egl_candidates(request: _Request) -> list[_Candidate]:
    devices, problem = _query_devices()
    if request.index is not None:
        return [_indexed_candidate(devices, problem, request.index)]
    surfaceless = _Candidate("EGL surfaceless", functools.partial(EGLLoader, None))
    if problem is not None:
        return [_failing("EGL devices", problem), surfaceless]
    wanted = [device for device in devices if request.software in (None, device.software)]
    if not wanted:
        kind = "software rasteriser" if request.software else "hardware"
        there = "; ".join(f"{device.index} is {device.name}" for device in devices)
        return [_failing("EGL devices", f"none of them is {kind} ({there})"), surfaceless]
    wanted.sort(key=lambda device: device.software)  # stable: hardware first, else EGL's order
    return [*map(_device_candidate, wanted), surfaceless]


def _indexed_candidate(devices: list[EGLDevice], problem: str | None, index: int) -> _Candidate:
    if index < len(devices):
        return _device_candidate(devices[index])
    counted = f"EGL lists {len(devices)} of them, from 0; see list_egl_devices()"
    return _failing(f"EGL device {index}", problem or counted)


def _device_candidate(device: EGLDevice) -> _Candidate:
    return _Candidate(f"EGL device {device.index} ({device.name})", functools.partial(EGLLoader, device))


def _failing(label: str, reason: str) -> _Candidate:
    def fail() -> NoReturn:
        raise ContextError(reason)

    return _Candidate(label, fail)


def _open(candidate: _Candidate, software: bool | None) -> tuple[moderngl.Context, Loader]:
    """Open one candidate and leave it current; where it will not do, all is as it was."""
    loader = candidate.make()
    try:
        with loader:
            _check_version(loader)
            _check_renderer(loader, software)
            context = _wrap(loader)
        loader.make_current()
    except BaseException:
        loader.release()
        raise
    return context, loader


def _wrap(loader: Loader) -> moderngl.Context:
    settings: Any = {"context": loader}  # moderngl's stub wants a dict for each setting
    try:
        context = moderngl.create_context(require=330, **settings)
    except Exception as error:  # moderngl raises plain Exception
        raise ContextError(f"moderngl.create_context failed: {error}; {MEND_VERSION}") from error
    context.clear_errors()  # moderngl's look at the default framebuffer must not be blamed on the first plan
    return context
