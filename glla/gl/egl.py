"""EGL: its functions, each call checked; its devices; the current context of a thread."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glla.errors import ContextError, ThreadError
from glla.gl.forks import check_process, mark_opengl_used
from glla.gl.hints import HINT_EGL, HINT_VERSION

LIBRARIES = ("libEGL.so.1", "libEGL.so")
"""Names of EGL's library, the first that can be loaded."""

# Values of egl.h and eglext.h, by their names there.
NONE = 0x3038
_EGL_EXTENSIONS = 0x3055
_EGL_DRAW = 0x3059
_EGL_READ = 0x305A
OPENGL_API = 0x30A2
BAD_ACCESS = 0x3002
_EGL_PLATFORM_DEVICE_EXT = 0x313F
_EGL_PLATFORM_SURFACELESS_MESA = 0x31DD
_EGL_DRM_RENDER_NODE_FILE_EXT = 0x3377
_EGL_CUDA_DEVICE_NV = 0x323A
_EGL_ANY_OPENGL_CONFIG = (0x3033, 0x0001, 0x3040, 0x0008, NONE)  # SURFACE_TYPE PBUFFER, RENDERABLE_TYPE OPENGL
ANY_VERSION = (NONE,)

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


class EGL:
    """The functions of libEGL, each call checked.

    `file_name`: the shared library; an `OSError` means that it cannot be loaded.
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
        """Call a function for which zero or NULL is a valid answer."""
        if name not in self._functions:
            raise ContextError(f"{name} is missing from libEGL; {HINT_EGL}")
        return self._functions[name](*arguments)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function, and raise a ContextError with EGL's error where it returns zero or NULL."""
        result = self.ask(name, *arguments)
        if not result:
            raise ContextError(f"{name} failed with {error_name(self.error())}")
        return result

    def error(self) -> int:
        """EGL's error code for the last call of this thread."""
        return int(self._functions["eglGetError"]())

    def address(self, function: str) -> int:
        """Address of a function of EGL or OpenGL, 0 if it is unknown."""
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
        """Return a string that a device has of itself, empty where it has none."""
        return (self.ask("eglQueryDeviceStringEXT", device, name) or b"").decode()


def error_name(code: int) -> str:
    """Name an error of EGL, for messages."""
    return f"{_EGL_ERRORS.get(code, 'an unknown EGL error')} (0x{code:04X})"


@functools.cache
def find_egl() -> tuple[EGL | None, str]:
    """Load libEGL once: the library, or None and the reason."""
    reasons = []
    for file_name in LIBRARIES:
        try:
            return EGL(file_name), ""
        except (OSError, AttributeError) as error:  # AttributeError: a library of that name without EGL's functions
            reasons.append(str(error))
    return None, f"libEGL cannot be loaded ({'; '.join(reasons)}); {HINT_EGL}"


def load_egl() -> EGL:
    """Load libEGL once, or raise a ContextError with the reason."""
    egl, reason = find_egl()
    if egl is None:
        raise ContextError(reason)
    return egl


@dataclass(frozen=True)
class EGLDevice:
    """A GPU, or a software rasteriser, as EGL lists it.

    Attributes
    ----------
    index : int
        Its place in eglQueryDevicesEXT's order, which `open_context` takes.
    name : str
        A label: EGL knows no renderer's name until a context is open.
    software : bool
        The device rasterises on the CPU, according to EGL.
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
        In eglQueryDevicesEXT's order; empty without EGL or without a driver: `query_devices` also returns the reason.
    """
    return query_devices()[0]


def query_devices() -> tuple[list[EGLDevice], str | None]:
    """List EGL's devices, and the reason where there are none, with a remedy."""
    check_process()
    try:
        egl = load_egl()
        if "EGL_EXT_platform_device" not in egl.extensions(None):
            return [], f"EGL lists no devices, so no driver is installed for it; {HINT_EGL}"
        devices = [_describe_device(egl, index, handle) for index, handle in enumerate(egl.devices())]
    except ContextError as error:
        return [], str(error)
    return devices, None if devices else f"EGL's list of devices is empty; {HINT_EGL}"


def _describe_device(egl: EGL, index: int, handle: int) -> EGLDevice:
    extensions = egl.device_text(handle, _EGL_EXTENSIONS).split()
    software = "EGL_MESA_device_software" in extensions
    render_node = None
    if "EGL_EXT_device_drm_render_node" in extensions:
        render_node = egl.device_text(handle, _EGL_DRM_RENDER_NODE_FILE_EXT) or None
    cuda, number = None, ctypes.c_ssize_t()  # EGLAttrib is as wide as a pointer
    if "EGL_NV_device_cuda" in extensions:
        known = egl.ask("eglQueryDeviceAttribEXT", handle, _EGL_CUDA_DEVICE_NV, ctypes.byref(number))
        cuda = number.value if known else None
    if software:
        name = "software rasteriser (Mesa)"
    else:
        cuda_name = "" if cuda is None else f"CUDA device {cuda}"
        name = ", ".join(filter(None, (cuda_name, render_node))) or " ".join(extensions) or "unnamed"
    return EGLDevice(index, name, software, render_node, cuda)


# -- the current context of this thread


def current_egl(egl: EGL) -> tuple[int, int, int, int] | None:
    """Return EGL's current binding in this thread: display, draw surface, read surface, context."""
    context = egl.current_context()
    if not context:
        return None
    display = egl.ask("eglGetCurrentDisplay") or 0
    draw = egl.ask("eglGetCurrentSurface", _EGL_DRAW) or 0
    return display, draw, egl.ask("eglGetCurrentSurface", _EGL_READ) or 0, context


def bind_egl(binding: tuple[int, int, int, int]) -> None:
    """Make a foreign or an earlier EGL context current again, unless it is gone."""
    egl = load_egl()
    if egl.current_context() == binding[3] or egl.ask("eglMakeCurrent", *binding):
        return
    code = egl.error()
    unbind_egl()
    if code == BAD_ACCESS:
        raise ThreadError("the context that was current before cannot be restored, as another thread holds it now")
    if code not in _EGL_GONE:
        raise ContextError(f"the context that was current before cannot be restored: {error_name(code)}")


def unbind_egl() -> None:
    """Leave no EGL context current in this thread."""
    egl = load_egl()
    if egl.current_context():
        egl.call("eglMakeCurrent", egl.ask("eglGetCurrentDisplay"), None, None, None)


# -- a display


def open_display(egl: EGL, device: EGLDevice | None) -> int:
    """Return the initialised display of a device, once its extensions are checked."""
    platform = "EGL_MESA_platform_surfaceless" if device is None else "EGL_EXT_platform_device"
    if platform not in egl.extensions(None):
        raise ContextError(f"{platform} is missing from libEGL; {HINT_EGL}")
    if device is None:
        display = egl.call("eglGetPlatformDisplayEXT", _EGL_PLATFORM_SURFACELESS_MESA, None, None)
    else:
        handles = egl.devices()
        if not 0 <= device.index < len(handles):
            raise ContextError(f"there is no EGL device {device.index}, of {len(handles)}; see glla.devices()")
        display = egl.call("eglGetPlatformDisplayEXT", _EGL_PLATFORM_DEVICE_EXT, handles[device.index], None)
    mark_opengl_used()
    try:
        egl.call("eglInitialize", display, None, None)
    except ContextError as error:
        mend = f"{HINT_EGL}; for a GPU, this user must be allowed to open /dev/dri/renderD*"
        raise ContextError(f"{error}, so the driver does not start; {mend}") from None
    if "EGL_KHR_surfaceless_context" not in egl.extensions(display):
        raise ContextError(f"EGL_KHR_surfaceless_context is missing from this driver; {HINT_VERSION}")
    return int(display)


def choose_config(egl: EGL, display: int) -> int | None:
    """Return any configuration for OpenGL, or None where contexts need none."""
    if "EGL_KHR_no_config_context" in egl.extensions(display):
        return None
    config, count = _handle(), _int()
    egl.call("eglChooseConfig", display, integers(_EGL_ANY_OPENGL_CONFIG), ctypes.byref(config), 1, ctypes.byref(count))
    if count.value < 1:
        raise ContextError(f"EGL has no configuration for OpenGL on this device; {HINT_EGL}")
    return config.value


def integers(values: tuple[int, ...]) -> Any:
    """Make a C array of attributes."""
    return (_int * len(values))(*values)
