"""DLPack's import: tensors of other libraries become Arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, asarray
from glla.array.dlpack import CPU
from glla.errors import DeviceMismatchError, DTypeError, GllaError, UnsupportedError
from glla.gl import DeviceLike


def from_dlpack(value: Any, device: DeviceLike | None = None, *, dtype: Any = None, check_finite: bool = True) -> Array:
    """Copy a tensor of another library to a device, through the DLPack protocol.

    Examples
    --------
    >>> from_dlpack(np.ones((2, 3))).shape
    (2, 3)

    Parameters
    ----------
    value : object with ``__dlpack__``
        On the CPU; real numbers. It is copied.
    device, dtype, check_finite
        As in `asarray`: float32 by default.

    Returns
    -------
    Array
        Does not synchronise. An Array comes back as it is.

    Raises
    ------
    UnsupportedError
        It has no DLPack export.
    DeviceMismatchError
        It is on a device that is not the CPU.
    DTypeError, NonFiniteError
        As `asarray`.
    """
    if isinstance(value, Array):
        return asarray(value, device, dtype=dtype)
    return asarray(on_host(value), device, dtype=dtype, check_finite=check_finite)


def on_host(value: Any) -> NDArray[Any]:
    """Return a tensor of another library as an array of the host, which shares its memory."""
    if not hasattr(value, "__dlpack__"):
        raise UnsupportedError(
            f"from_dlpack: value must have __dlpack__, got {type(value).__name__}; use asarray for arrays"
        )
    try:
        return np.from_dlpack(value)
    except GllaError:
        raise
    except (BufferError, RuntimeError) as error:
        if value.__dlpack_device__()[0] != CPU[0]:
            raise DeviceMismatchError(
                f"from_dlpack: value must lie on the CPU; NumPy says: {error}; copy it to the CPU first"
            ) from None
        raise DTypeError(
            f"from_dlpack: value must hold what NumPy can; NumPy says: {error}; convert it to float32 first"
        ) from None
