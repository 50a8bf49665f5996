"""The device: contexts, textures, programs, and the execution of plans. Only this package calls OpenGL.

Read `device`, which puts the others together; for a context `select` (which one), `loaders`, `current` (made current
and put back), `egl`, `glfw`, `forks`; then `calls` (OpenGL's functions), `pool` (textures), `programs`, `prepare` and
`runner` (a plan turned into calls), `composed` (plans of plans), `transfers`, `staging` and `fence`; `observers`,
`clock` and `recorder` (traces); `tuning` and `selftest`.
"""

from glla.gl.clock import GPUClock
from glla.gl.default import DeviceLike, default_device, named_device, set_default_device
from glla.gl.device import Device
from glla.gl.egl import EGLDevice, list_egl_devices
from glla.gl.fence import Fence
from glla.gl.info import DeviceInfo, Stats
from glla.gl.observers import Observer, observe
from glla.gl.pool import Texture
from glla.gl.staging import Download, Uploads
from glla.passes.cache import set_max_plan_bytes

__all__ = [
    "Device", "DeviceInfo", "DeviceLike", "Download", "EGLDevice", "Fence", "GPUClock", "Observer", "Stats", "Texture",
    "Uploads", "default_device", "list_egl_devices", "named_device", "observe", "set_default_device",
    "set_max_plan_bytes",
]  # fmt: skip
