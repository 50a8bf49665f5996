"""DLPack's import: tensors of other libraries become matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix, asarray
from glla.array.dlpack import CPU
from glla.errors import DeviceMismatchError, DTypeError, GllaError, UnsupportedError
from glla.gl import Device


def from_dlpack(value: Any, device: Device | None = None, *, check_finite: bool = True) -> Matrix:
    """Put a 2-D tensor of another library onto a device, through the DLPack protocol.

    Parameters
    ----------
    value : object with ``__dlpack__``
        On the CPU; real numbers. It is copied.
    device, check_finite
        As in `asarray`.

    Returns
    -------
    Matrix
        Does not synchronise, unless `value` is a Matrix itself, which comes back as it is.

    Raises
    ------
    UnsupportedError
        It does not speak DLPack.
    DeviceMismatchError
        It is on a device that is not the CPU.
    ShapeError, DTypeError, NonFiniteError
        As `asarray`.

    Examples
    --------
    >>> from_dlpack(np.ones((2, 3))).shape
    (2, 3)
    """
    if isinstance(value, Matrix):
        return asarray(value, device)
    if not hasattr(value, "__dlpack__"):
        raise UnsupportedError(
            f"from_dlpack: value must have __dlpack__, got {type(value).__name__}; use asarray for arrays"
        )
    try:
        array = np.from_dlpack(value)
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
    return asarray(array, device, check_finite=check_finite)
