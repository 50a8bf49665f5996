"""The device layer: contexts, textures, programs, and the running of plans. Only here is OpenGL spoken."""

from glla.device.context import EGLDevice, list_egl_devices
from glla.device.device import Device, DeviceInfo, Fence, Stats, default_device, set_default_device
from glla.device.observe import GPUClock, Observer, observe
from glla.device.textures import Texture

__all__ = [
    "Device",
    "DeviceInfo",
    "EGLDevice",
    "Fence",
    "GPUClock",
    "Observer",
    "Stats",
    "Texture",
    "default_device",
    "list_egl_devices",
    "observe",
    "set_default_device",
]
