"""Choice of a context: the best one that the request, the environment and the machine allow.

`open_context` chooses. The environment overrides the arguments:

=================  ==============================================  =========================
variable           values                                          overrides
=================  ==============================================  =========================
``GLLA_BACKEND``   ``auto``, ``egl``, ``glfw``                     ``backend``
``GLLA_DEVICE``    an EGL device's index, ``software``,            ``index`` and ``software``
                   ``hardware``                                    (and so a ``device=`` by name)
=================  ==============================================  =========================
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from glla.errors import ContextError, OptionError, OptionTypeError, ThreadError
from glla.gl.calls import GL_RENDERER, GL_VERSION, string
from glla.gl.current import Loader, is_foreign
from glla.gl.egl import EGLDevice, query_devices
from glla.gl.forks import check_process
from glla.gl.hints import HINT_EGL, HINT_GLFW, HINT_VERSION, moderngl
from glla.gl.loaders import EGLLoader, GLFWLoader

BACKENDS = ("auto", "egl", "glfw")
_SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "swiftshader", "software r", "gdi generic")


def is_software_renderer(renderer: str) -> bool:
    """Whether OpenGL's GL_RENDERER names a rasteriser that runs on the CPU."""
    return any(name in renderer.lower() for name in _SOFTWARE_RENDERERS)


def _check(loader: Loader, software: bool | None) -> None:
    """Raise unless the current context is desktop OpenGL 3.3 or newer, and of the kind requested: EGL may be wrong."""
    text = string(loader.load_opengl_function, GL_VERSION)
    number = re.match(r"(\d+)\.(\d+)", text)  # "OpenGL ES 3.2 ..." does not begin with a number
    if number is None or (int(number[1]), int(number[2])) < (3, 3):
        raise ContextError(f"OpenGL 3.3 core is needed, found {text}; {HINT_VERSION}")
    renderer = string(loader.load_opengl_function, GL_RENDERER)
    if software and not is_software_renderer(renderer):
        raise ContextError(f"a software rasteriser is asked for, found {renderer}; {HINT_EGL}")
    if software is not None and not software and is_software_renderer(renderer):
        raise ContextError(f"hardware is asked for, found the software rasteriser {renderer}; install the GPU's driver")


@dataclass(frozen=True)
class _Request:
    """A request for a context, and the environment variables that have changed it."""

    backend: str
    index: int | None
    software: bool | None
    overrides: str = ""


_Candidate = tuple[str, Callable[[], Loader]]
"""The name of a context, for messages, and the function that makes it."""


def open_context(
    backend: str = "auto", index: int | None = None, software: bool | None = None
) -> tuple[moderngl.Context, Loader]:
    """Open an OpenGL 3.3 core context and leave it current in this thread, unless somebody else's is.

    Results: `context`: its ``release()`` releases the loader too. Its objects are not garbage collected (``gc_mode`` is
    None). `loader`: makes the context current, and tells whether it is.
    `backend` ("auto", "egl", "glfw"): ``"auto"`` tries EGL's devices, EGL without one, GLFW if there is a display; on
    macOS and Windows only GLFW. `index`: the only EGL device to try; see `list_egl_devices`. `software`: True tries
    software rasterisers only, False hardware only, None hardware first.
    Raises ContextError: None could be opened; the message lists each attempt and a remedy. Or an argument or a variable
    is wrong. Raises ThreadError: OpenGL was used before this process was forked.
    """
    check_process()
    request = _requested(backend, index, software)
    if request.backend == "glfw" and request.index is not None:
        raise ContextError(
            f"open_context: index chooses an EGL device, got index {request.index} with backend 'glfw'"
            f"{request.overrides}; leave one of them out"
        )
    failures = []
    for label, make in _candidates(request):
        try:
            return _open(make, request.software)
        except (ContextError, ThreadError) as error:
            failures.append(f"\n  - {label}: {error}")
    raise ContextError(f"open_context: no OpenGL 3.3 core context{request.overrides}; tried:{''.join(failures)}")


def _requested(backend: str, index: int | None, software: bool | None) -> _Request:
    """Check the arguments, which GLLA_BACKEND and GLLA_DEVICE override; an empty variable counts as unset."""
    if backend not in BACKENDS:
        raise ContextError(f"open_context: backend must be one of {', '.join(map(repr, BACKENDS))}, got {backend!r}")
    if index is not None and (not isinstance(index, int) or isinstance(index, bool) or index < 0):
        raise ContextError(f"open_context: index must be an int from 0, or None, got {index!r}; see glla.devices()")
    if software not in (None, True, False):
        raise ContextError(f"open_context: software must be True, False or None, got {software!r}")
    in_force = []
    if value := os.environ.get("GLLA_BACKEND", "").strip():
        backend = value.lower()
        in_force.append(f"GLLA_BACKEND={value}")
        if backend not in BACKENDS:
            raise ContextError(f"open_context: GLLA_BACKEND must be one of {', '.join(BACKENDS)}, got {value!r}")
    if value := os.environ.get("GLLA_DEVICE", "").strip():
        named = parsed(value)
        if named is None:
            raise ContextError(
                f"open_context: GLLA_DEVICE must be an EGL device's index, 'software' or 'hardware', got {value!r}"
            )
        index, software = named
        in_force.append(f"GLLA_DEVICE={value}")
    overrides = f" (in force: {', '.join(in_force)})" if in_force else ""
    return _Request(backend, index, software, overrides)


def parsed(name: str) -> tuple[int | None, bool | None] | None:
    """Parse a device's name, an index, ``software`` or ``hardware``, as (index, software); None for another text.

    >>> parsed("1"), parsed("Software"), parsed("gpu")
    ((1, None), (None, True), None)
    """
    text = name.strip().lower()
    if re.fullmatch("[0-9]+", text):
        return int(text), None
    return (None, text == "software") if text in ("software", "hardware") else None


def requested(function: str, device: object, instead: str = "") -> tuple[int | None, bool | None]:
    """Parse the argument ``device`` of a function, a name or an index, as (index, software).

    `function`: for the message. `device`: the argument. `instead`: other values that the function takes, with a comma
    behind them, for the message.
    Raises OptionError: it is another text, or an index that `list_egl_devices` does not have. Raises OptionTypeError:
    it is neither a text nor an integer.
    """
    whole = isinstance(device, (int, np.integer)) and not isinstance(device, bool)
    request = parsed(str(device)) if whole or isinstance(device, str) else None
    if request is not None and request[0] is None:
        return request
    devices, problem = query_devices()
    if request is not None and (problem is not None or int(request[0] or 0) < len(devices)):
        return request  # where EGL lists none, opening it says why
    known = f" ({', '.join(str(one.index) for one in devices)})" if devices else ""
    wrong = OptionError if whole or isinstance(device, str) else OptionTypeError
    raise wrong(
        f"{function}: device must be {instead}'software', 'hardware' or an index of `glla info`{known}, got {device!r}"
    )


def _candidates(request: _Request) -> list[_Candidate]:
    """List the candidates for a request, best first, with those that fail, for their reasons."""
    if request.backend == "egl" or request.index is not None:
        return _egl_candidates(request)
    if request.backend == "glfw" or sys.platform in ("darwin", "win32"):
        return [("GLFW", GLFWLoader)]
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return [*_egl_candidates(request), ("GLFW", GLFWLoader)]
    return [*_egl_candidates(request), _failing("GLFW", f"there is no display; {HINT_GLFW}")]


def _egl_candidates(request: _Request) -> list[_Candidate]:
    devices, problem = query_devices()
    if request.index is not None:
        if request.index < len(devices):
            return [_device_candidate(devices[request.index])]
        counted = f"EGL lists {len(devices)} of them, from 0; see glla.devices()"
        return [_failing(f"EGL device {request.index}", problem or counted)]
    surfaceless = "EGL surfaceless", functools.partial(EGLLoader, None)
    if problem is not None:
        return [_failing("EGL devices", problem), surfaceless]
    wanted = [device for device in devices if request.software in (None, device.software)]
    if not wanted:
        kind = "software rasteriser" if request.software else "hardware"
        there = "; ".join(f"{device.index} is {device.name}" for device in devices)
        return [_failing("EGL devices", f"none of them is {kind} ({there})"), surfaceless]
    wanted.sort(key=lambda device: device.software)  # stable: hardware first, else EGL's order
    return [*map(_device_candidate, wanted), surfaceless]


def _device_candidate(device: EGLDevice) -> _Candidate:
    return f"EGL device {device.index} ({device.name})", functools.partial(EGLLoader, device)


def _failing(label: str, reason: str) -> _Candidate:
    return label, functools.partial(_fail, reason)


def _fail(reason: str) -> NoReturn:
    raise ContextError(reason)


def _open(make: Callable[[], Loader], software: bool | None) -> tuple[moderngl.Context, Loader]:
    """Open one candidate and leave it current in place of none or of glla's; a failure restores the state before."""
    loader = make()
    try:
        with loader:
            _check(loader, software)
            context = _wrap(loader)
        if not is_foreign():
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
        remedy = "pip install moderngl" if isinstance(error, ImportError) else HINT_VERSION
        raise ContextError(f"moderngl.create_context failed: {error}; {remedy}") from error
    context.clear_errors()  # moderngl's look at the default framebuffer must not be blamed on the first plan
    return context
