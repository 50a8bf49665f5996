"""Remedies appended to the messages of ContextError; and moderngl, imported when a context is made."""

from typing import TYPE_CHECKING

from glla.lazily import Later

if TYPE_CHECKING:
    import moderngl as moderngl
else:
    moderngl = Later("moderngl")

HINT_EGL = (
    "apt install libegl1 libegl-mesa0 libgl1-mesa-dri; "
    "for NVIDIA in a container, NVIDIA_DRIVER_CAPABILITIES must include graphics"
)
HINT_GLFW = "pip install glfw, and set DISPLAY or WAYLAND_DISPLAY, or run under xvfb-run (apt install xvfb)"
HINT_VERSION = "update the driver, or ask for a software rasteriser (software=True)"
