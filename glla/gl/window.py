"""A window that shows pictures of a device, and reports the mouse's position. It uses the device's context."""

from __future__ import annotations

import ctypes
from typing import Any

from glla.errors import ContextError
from glla.gl.calls import GL_FRAMEBUFFER
from glla.gl.device import Device
from glla.gl.glfw import check_main_thread
from glla.gl.loaders import GLFWLoader
from glla.gl.pool import Texture

READ_FRAMEBUFFER, DRAW_FRAMEBUFFER, COLOR_BUFFER_BIT, LINEAR = 0x8CA8, 0x8CA9, 0x4000, 0x2601


class Window:
    """The window of a device that was made with ``backend="glfw"``, made visible.

    `device`: the device that has the window. On the main thread. `width`, `height`: of the window, in pixels. `title`:
    its title.
    Raises ContextError: the device has no window.
    """

    def __init__(self, device: Device, width: int, height: int, title: str) -> None:
        loader = device._loader
        if not isinstance(loader, GLFWLoader):
            raise ContextError(f"window: {device!r} has none; Device(backend='glfw') has, which needs a display")
        check_main_thread("shows")
        self._device, self._glfw, self._window = device, loader._glfw, loader._window
        self._glfw.set_window_title(self._window, title)
        self._glfw.set_window_size(self._window, width, height)
        self._glfw.show_window(self._window)
        with device.current():
            self._glfw.swap_interval(1)
            address = loader.load_opengl_function("glBlitFramebuffer")
        self._blit: Any = ctypes.CFUNCTYPE(None, *8 * [ctypes.c_int], ctypes.c_uint, ctypes.c_uint)(address)

    def show(self, picture: Texture) -> None:
        """Show a texture of colours from 0 to 1, its first row at the bottom, in the whole window; process events."""
        width, height = self._glfw.get_framebuffer_size(self._window)
        with self._device.current():
            calls = self._device.calls
            calls.bind_framebuffer(READ_FRAMEBUFFER, self._device._pool.framebuffer((picture,)).glo)
            calls.bind_framebuffer(DRAW_FRAMEBUFFER, 0)
            size = picture.storage.width, picture.storage.height  # type: ignore[union-attr]  # a texture, no buffer
            self._blit(0, 0, *size, 0, 0, width, height, COLOR_BUFFER_BIT, LINEAR)
            self._glfw.swap_buffers(self._window)
            calls.bind_framebuffer(GL_FRAMEBUFFER, 0)
            calls.check("window")
        self._glfw.poll_events()

    def mouse(self) -> tuple[float, float] | None:
        """Mouse position while its left button is down, as fractions of width and height from below; else None."""
        if not self._glfw.get_mouse_button(self._window, self._glfw.MOUSE_BUTTON_LEFT):
            return None
        x, y = self._glfw.get_cursor_pos(self._window)
        width, height = self._glfw.get_window_size(self._window)
        return (x / max(width, 1), 1 - y / max(height, 1))

    @property
    def closed(self) -> bool:
        """Whether the user has closed it, or pressed Escape."""
        pressed = self._glfw.get_key(self._window, self._glfw.KEY_ESCAPE)
        return bool(self._glfw.window_should_close(self._window)) or bool(pressed)
