"""GLFW: hidden windows, and the current one of a thread. GLFW itself is imported when it is needed."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Protocol

from glla.errors import ContextError, ThreadError
from glla.gl.calls import GL_VERSION, VERSIONS, string
from glla.gl.forks import mark_opengl_used
from glla.gl.hints import HINT_GLFW, HINT_VERSION

_GLFW_NOT_INITIALIZED = 0x00010001


class Owner(Protocol):
    """The loader of a window."""

    released: bool
    thread: int | None

    def take(self) -> None:
        """Make the window's context current in this thread, where nothing is."""


windows: dict[int, Owner] = {}  # address of a GLFW window: its loader
_lock = threading.RLock()  # GLFW has one error callback for all threads
_is_ours = False  # whether GLFW was initialised here, and must be terminated with the last loader


def check_main_thread(verb: str) -> None:
    """Raise a ThreadError in any other thread; `verb` names GLFW's action on windows."""
    if threading.current_thread() is not threading.main_thread():
        raise ThreadError(
            f"GLFW {verb} windows on the main thread only, got thread {threading.current_thread().name!r}; "
            "do it there, or use backend='egl'"
        )


def import_glfw() -> ModuleType:
    """Import the glfw package, or raise a ContextError with a remedy."""
    try:
        return importlib.import_module("glfw")  # only here: the import starts a process to look at the library
    except ImportError as error:
        raise ContextError(f"the glfw package cannot be imported ({error}); {HINT_GLFW}") from error


@contextlib.contextmanager
def collect_errors(glfw: ModuleType) -> Iterator[list[tuple[int, str]]]:
    """Collect GLFW's errors as (code, text), which the package would otherwise make into warnings."""
    errors: list[tuple[int, str]] = []
    with _lock:
        previous = glfw.set_error_callback(lambda code, text: errors.append((code, text.decode(errors="replace"))))
        try:
            yield errors
        finally:
            glfw.set_error_callback(previous)


def open_window(glfw: ModuleType) -> Any:
    """Open a window, and initialise GLFW if need be; a failure leaves GLFW as it was."""
    with collect_errors(glfw) as errors:
        try:
            _initialise(glfw, errors)
            return _create_window(glfw, errors)
        except BaseException:
            terminate_if_unused(glfw)
            raise


def _initialise(glfw: ModuleType, errors: list[tuple[int, str]]) -> None:
    """Initialise GLFW unless it is initialised, and remember who did so."""
    global _is_ours
    mark_opengl_used()
    glfw.get_time()  # its clock runs only then: GLFW has no query for it
    uninitialised = any(code == _GLFW_NOT_INITIALIZED for code, _ in errors)
    errors.clear()
    if not uninitialised:
        return
    if sys.platform == "darwin":  # GLFW would change the working directory and add a menu bar
        glfw.init_hint(glfw.COCOA_CHDIR_RESOURCES, False)
        glfw.init_hint(glfw.COCOA_MENUBAR, False)
    if not glfw.init():
        raise ContextError(f"glfw.init failed: {_join(errors)}; {HINT_GLFW}")
    _is_ours = True


def _create_window(glfw: ModuleType, errors: list[tuple[int, str]]) -> Any:
    glfw.default_window_hints()
    glfw.window_hint(glfw.VISIBLE, False)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, sys.platform == "darwin")  # macOS has no other core profile
    window = None
    try:
        for major, minor in VERSIONS:
            errors.clear()
            glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, major)
            glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, minor)
            window = glfw.create_window(16, 16, "glla", None, None)
            if window:
                break
    finally:
        glfw.default_window_hints()
    if not window:
        version = _find_version(glfw)
        raise ContextError(f"OpenGL 3.3 core is needed, found {version} ({_join(errors)}); {HINT_VERSION}")
    return window


def _find_version(glfw: ModuleType) -> str:
    """Return the OpenGL version of a window for which none is requested."""
    glfw.window_hint(glfw.VISIBLE, False)
    window = glfw.create_window(16, 16, "glla", None, None)
    glfw.default_window_hints()
    if not window:
        return "no OpenGL at all"
    try:
        glfw.make_context_current(window)
        return string(lambda name: ctypes.cast(glfw.get_proc_address(name), ctypes.c_void_p).value or 0, GL_VERSION)
    finally:
        glfw.make_context_current(None)
        glfw.destroy_window(window)


def terminate_if_unused(glfw: ModuleType) -> None:
    """Terminate GLFW with the last window, if it was initialised here."""
    global _is_ours
    if _is_ours and not windows:
        with collect_errors(glfw):
            glfw.terminate()
        _is_ours = False


def current_window() -> Any:
    """Return GLFW's current window in this thread, whoever made it; None if there is none or no GLFW."""
    glfw = sys.modules.get("glfw")
    if glfw is None:
        return None
    with collect_errors(glfw):  # not initialised is an error for GLFW, and no window for us
        return glfw.get_current_context() or None


def bind_window(window: Any) -> None:
    """Make a GLFW window's context current in this thread; None leaves no GLFW context current."""
    glfw = import_glfw()
    with collect_errors(glfw) as errors:
        glfw.make_context_current(window)
    if errors:
        raise ContextError(f"glfw.make_context_current failed: {_join(errors)}")


def unbind_window(owner: Owner | None) -> None:
    """Leave no window current in this thread; `owner` is the current one's."""
    bind_window(None)
    if owner is not None:
        owner.thread = None


def address_of(window: Any) -> int:
    """Address of a window, the same for all pointers to it."""
    return ctypes.addressof(window.contents)


def _join(errors: list[tuple[int, str]]) -> str:
    return "; ".join(f"{text} (0x{code:08X})" for code, text in errors) or "GLFW gives no reason"
