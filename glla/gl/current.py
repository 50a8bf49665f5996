"""The current OpenGL context of a thread: making one current, and restoring the previous one.

moderngl takes any *loader*: an object that finds OpenGL's functions and makes its context current. The loaders of glla
(`glla.gl.loaders`) do what moderngl's own do not: every call is checked, and the context that was current before comes
back afterwards. That matters because OpenGL is silent about a wrong, missing or foreign context: draws do nothing and
reads return old memory.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Self

from glla.errors import ReleasedError, ThreadError
from glla.gl import forks, glfw
from glla.gl.egl import bind_egl, current_egl, find_egl, unbind_egl
from glla.gl.glfw import address_of, bind_window, current_window, unbind_window


@dataclass(frozen=True)
class Binding:
    """The current contexts of a thread: for EGL, for GLFW, or for both where GLFW itself goes through EGL.

    The two are kept together because a thread has one OpenGL context: EGL refuses to bind while GLX, behind GLFW, holds
    one, and GLX refuses while EGL does.
    """

    egl: tuple[int, int, int, int] | None = None  # display, draw surface, read surface, context
    window: Any = None  # GLFW's pointer
    owner: glfw.Owner | None = None  # of that window, if it is one of ours

    @classmethod
    def now(cls) -> Binding:
        """Return the current contexts of this thread."""
        egl, _ = find_egl()
        window = current_window()
        owner = None if window is None else glfw.windows.get(address_of(window))
        return cls(None if egl is None else current_egl(egl), window, owner)

    def restore(self) -> None:
        """Make these contexts current in this thread again.

        A context that was destroyed in the meantime cannot come back; nothing is current then.
        """
        before = Binding.now()
        if before.window is not None:
            unbind_window(before.owner)
        if before.egl is not None and (self.egl is None or self.window is not None):
            unbind_egl()
        if self.owner is None:
            if self.window is not None:
                bind_window(self.window)
        elif not self.owner.released:
            self.owner.take()
        if self.egl is not None:
            bind_egl(self.egl)


NOTHING = Binding()
"""No context: restoring it leaves nothing current."""

contexts: set[int] = set()  # EGL's handles of those that are glla's; `glla.gl.glfw.windows` has the others


def is_foreign() -> bool:
    """Whether this thread has a current context that is somebody else's."""
    now = Binding.now()
    return now.owner is None and now != NOTHING and (now.egl is None or now.egl[3] not in contexts)


class Loader:
    """An OpenGL context that can be made current: what ``moderngl.create_context`` takes, and more.

    A subclass adds `load_opengl_function`, `is_current`, `release`, and `_bind`, which makes the context current in
    place of `before`, and where it fails may leave nothing current.
    """

    kind: str  # ``"egl"`` or ``"glfw"``
    description: str  # the device or the window system, in words

    def __init__(self) -> None:
        self.released = False
        # A stack per thread: `with` blocks of two threads may overlap, where the first one unbinds half-way.
        self._entered = threading.local()

    def load_opengl_function(self, name: str) -> int:
        """Return the address of an OpenGL function, 0 if it is unknown. The context must be current."""
        raise NotImplementedError

    def is_current(self) -> bool:
        """Whether the context is current in this thread. Cheap."""
        raise NotImplementedError

    def release(self) -> None:
        """Destroy the context. A second call does nothing."""
        raise NotImplementedError

    def _bind(self, before: Binding) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        before = None if self.is_current() else self._switch()
        self._stack().append(before)
        return self

    def __exit__(self, *error: object) -> None:
        before = self._stack().pop()
        if before is not None and not forks.forked:
            before.restore()

    def make_current(self) -> None:
        """Make the context current in this thread."""
        if not self.is_current():
            self._switch()

    def unbind(self) -> None:
        """Leave no context current in this thread if this one is; another thread may then use it."""
        if self.is_current():
            NOTHING.restore()

    def _switch(self) -> Binding:
        """Make the context current and return the previous ones; on failure those stay current."""
        forks.check_process()
        if self.released:
            raise ReleasedError(f"{self.description}: the context was released; open another one")
        before = Binding.now()
        try:
            self._bind(before)
        except BaseException:
            before.restore()
            raise
        return before

    def _stack(self) -> list[Binding | None]:
        stack: list[Binding | None] = self._entered.__dict__.setdefault("stack", [])
        return stack

    def _held_elsewhere(self, reason: str) -> ThreadError:
        here = threading.current_thread().name
        return ThreadError(
            f"{self.description}: the context cannot be used in thread {here!r}, as {reason}; "
            "call unbind() in the thread that holds it"
        )
