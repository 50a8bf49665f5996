"""Every exception of glla, and the wording of messages.

A message reads *function: rule, got values; what to do*, for example
``matmul: inner dimensions must agree, got A (3, 4) and B (5, 2)``. Each class is also the standard
exception that a NumPy or SciPy user would catch, so ``except ValueError`` and
``except numpy.linalg.LinAlgError`` go on working.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class GllaError(Exception):
    """Base class of every exception raised by glla."""


class ShapeError(GllaError, np.linalg.LinAlgError, ValueError):
    """The shapes of the operands do not fit the operation.

    NumPy raises ValueError for some shapes and LinAlgError for others; this is both.
    """


class DTypeError(GllaError, TypeError):
    """An operand holds values that float32 textures cannot represent (complex, object, text)."""


class UnsupportedError(GllaError, TypeError):
    """A function of NumPy, or an option of it, that does not run on the device; the message names an alternative."""


class IndexingError(GllaError, IndexError):
    """An index is out of range, or of a kind that an array on a device cannot take."""


class PlaceError(ShapeError, IndexingError):
    """An index of a slice is outside its dimension: NumPy's IndexError."""


class OptionError(GllaError, ValueError):
    """An option has an invalid value; the message lists the valid ones."""


class OptionTypeError(OptionError, TypeError):
    """An option has an invalid type, such as a float where NumPy, too, requires an integer."""


class AxisError(OptionError, np.exceptions.AxisError):
    """An axis is outside the array's dimensions."""


class NonFiniteError(GllaError, ValueError):
    """A NaN or an infinity where a finite float32 is needed, or a result too large or too small for float32."""


class ReleasedError(GllaError, RuntimeError):
    """A device, or an object on it, is used after it was released."""


class DeviceMismatchError(GllaError, ValueError):
    """Operands are on different devices."""


class ThreadError(GllaError, RuntimeError):
    """A device is used from a thread, or a forked process, that does not own its context."""


class GrowthWarning(UserWarning):
    """Entries grew so much in a factorisation that the factors miss their bound; the message has both numbers."""


class ThreadWarning(UserWarning):
    """A second thread gets its own default device; the message tells how threads share one."""


class DampingWarning(UserWarning):
    """Steps are so long that short waves are hardly damped; the message gives the Courant number."""


class TuningWarning(UserWarning):
    """A file of `glla tune` is ignored; the message has its name and the reason."""


class PlanError(GllaError, ValueError):
    """A plan breaks a rule of `glla.passes.Plan.check`: a bug of ours, found before GL sees it."""


class TraceError(GllaError, RuntimeError):
    """A trace begins while another one runs in its thread, or cannot be shown in the requested form."""


class DeviceError(GllaError, RuntimeError):
    """The GPU, its driver, or the connection to it failed."""


class ContextError(DeviceError):
    """No OpenGL 3.3 context could be made; the message lists every attempt, and a remedy."""


class LimitError(DeviceError):
    """A request exceeds a limit of the device: `asked` and `allowed`, in the unit of the message."""

    def __init__(self, message: str, asked: int, allowed: int) -> None:
        super().__init__(message)
        self.asked = asked
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[LimitError], tuple[str, int, int]]:
        """Pickle with both numbers, as a pool of processes does with errors."""
        return type(self), (str(self), self.asked, self.allowed)


class ShaderError(DeviceError):
    """A shader does not resolve, compile or link; the message has file, line, source and the driver's text."""


class OutOfMemoryError(DeviceError, MemoryError):
    """The device, or the limit set on it, has no memory for an allocation."""


class SingularMatrixError(GllaError, np.linalg.LinAlgError):
    """The matrix is singular to working precision."""


class NotPositiveDefiniteError(GllaError, np.linalg.LinAlgError):
    """The matrix is not positive definite.

    Attributes
    ----------
    pivot : float or None
        The first pivot that is not positive, if known: NaN or infinite only for a matrix with such entries.
    """

    pivot: float | None = None


class CoprocessorError(GllaError, RuntimeError):
    """The queue of a coprocessor is closed, its thread has ended, or an operand of the operation was cancelled."""


class ClusterError(GllaError, RuntimeError):
    """A rank of a cluster has failed, does not answer, or was started by the wrong launcher; the message names it."""


class AbandonedError(GllaError, RuntimeError):
    """A plan was stopped between two of its passes by `Device.interrupt`."""


class ConvergenceError(GllaError, np.linalg.LinAlgError):
    """An iteration stopped before it reached the requested accuracy."""


class DryCellError(GllaError, ArithmeticError):
    """A cell of a simulation has no water left, so its equations are no longer valid."""


def one_of(what: str, value: T, allowed: Iterable[object]) -> T:
    """Return an option, or raise with its valid values.

    >>> one_of("compare: operation", "plu", ("matmul", "plu"))
    'plu'
    """
    allowed = tuple(allowed)
    if not isinstance(value, Hashable) or value not in allowed:
        raise OptionError(f"{what} must be one of {among(allowed, value)}")
    return value


def among(allowed: Iterable[object], value: object) -> str:
    """List valid names, at most eight, an invalid one, and the name that it resembles.

    >>> among(("matmul", "plu"), "matmull")
    "matmul, plu, got 'matmull'; did you mean 'matmul'?"
    >>> among(("inv", "gauss_jordan"), "gaus")
    "inv, gauss_jordan, got 'gaus'; did you mean 'gauss_jordan'?"
    """
    from difflib import get_close_matches

    names, text = list(map(str, allowed)), str(value)
    beginnings = {name[: len(text) + 1]: name for name in names}
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    near = get_close_matches(text, names, 1) or [beginnings[one] for one in get_close_matches(text, beginnings, 1, 0.7)]
    return f"{', '.join(names[:8])}{more}, got {value!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def integer(function: str, name: str, value: Any) -> int:
    """Convert an option to an int, or raise if it is not an integer.

    >>> integer("trace", "offset", np.int8(-1))
    -1
    """
    try:
        return operator.index(value)
    except TypeError:
        raise OptionTypeError(f"{function}: {name} must be an integer, got {value!r}") from None


def real(function: str, name: str, value: Any) -> float:
    """Convert an option to a float, or raise if it is not a number.

    >>> real("rref", "tol", np.float32(0.5))
    0.5
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, numbers.Real | np.bool_):
        raise OptionTypeError(f"{function}: {name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:  # an int past float64
        return math.inf if bool(value > 0) else -math.inf  # type: ignore[operator]
