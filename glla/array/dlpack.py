"""DLPack's export of a value on a device: a copy on the host.

It is below `glla.Array`, whose method ``__dlpack__`` calls it; the import is in `glla.interop.dlpack`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glla.array.convert import Float32

CPU = (1, 0)
"""DLPack's name of the host: (kDLCPU, device 0)."""


def export(
    read: Callable[[], Float32],
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """Export the result of `read` as a capsule, or raise the BufferError that the protocol asks for.

    `read`: reads the value back. `stream`, `max_version`, `dl_device`, `copy`: as passed to ``__dlpack__``.
    """
    if copy is False:
        raise BufferError("Array: DLPack gets a copy on the host; use copy=None or copy=True")
    if stream is not None:
        raise BufferError(f"Array: DLPack gets a copy on the host, which has no stream, got stream {stream!r}")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(f"Array: DLPack gets a copy on the CPU, device (1, 0), got {tuple(dl_device)}")
    return read().__dlpack__(max_version=max_version)
