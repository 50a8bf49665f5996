"""Verdicts of judges, and checks before a comparison: type, shape, dtype, NaN."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import DTypeLike

from glla.testing.references import Array, quotients

Arguments = ParamSpec("Arguments")


class BoundWarning(UserWarning):
    """A result is within its proved bound, but worse than rounding errors usually are."""


@dataclass(frozen=True)
class Verdict:
    """The result of a judge.

    >>> verdict = Verdict("plu", 0.6, 30.0)
    >>> verdict.ok, verdict.ratio
    (True, 0.02)
    >>> print(verdict)
    plu: error 0.6, bound 30, ratio 0.02: ok
    """

    name: str  # name of the result
    error: float  # the error and its bound. The error is infinite for a wrong shape, dtype or form, and for a NaN
    bound: float
    usual: float = math.inf  # usual upper limit of the error of a sound result, where it is less than the bound
    detail: str = ""  # the worst entry, or the flaw in the form

    @property
    def ok(self) -> bool:
        """Whether the error is within the bound; an error or a bound that is NaN is not."""
        return self.error <= self.bound

    @property
    def suspicious(self) -> bool:
        """Whether the error is within the bound, yet larger than usual."""
        return self.ok and self.error > self.usual

    @property
    def ratio(self) -> float:
        """The error over the bound; above 1 is a failure."""
        return float(quotients(self.error, self.bound))

    def __str__(self) -> str:
        """Format the verdict in a line."""
        word = "larger than usual" if self.suspicious else "ok" if self.ok else "FAILED"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.name}: error {self.error:.3g}, bound {self.bound:.3g}, ratio {self.ratio:.3g}: {word}{detail}"


def enforce(verdict: Verdict) -> None:
    """Raise for a verdict that is not ok, warn for a suspicious one."""
    __tracebackhide__ = True
    if not verdict.ok:
        raise AssertionError(str(verdict))
    if verdict.suspicious:
        warnings.warn(str(verdict), BoundWarning, stacklevel=3)


def entry(name: str, index: tuple[Any, ...]) -> str:
    """Name an entry of a matrix, such as ``C[3, 5]``."""
    return f"{name}[{', '.join(str(int(i)) for i in index)}]"


def index_of_largest(values: Array) -> tuple[Any, ...]:
    """Return the index of the largest entry: the first NaN, if there is one, or the first True."""
    return np.unravel_index(int(np.argmax(values)), values.shape)


def flaw_of(name: str, a: object, shape: tuple[int, ...], dtype: DTypeLike, finite: bool = True) -> str:
    """Describe why a result cannot be compared: its type, shape, dtype, a NaN or an infinity; else ''."""
    if not isinstance(a, np.ndarray | np.generic):
        return f"{name} must be a NumPy array, got {type(a).__name__}"
    if a.shape != shape:
        return f"{name} must have shape {shape}, got {a.shape}"
    if a.dtype != dtype:
        return f"{name} must be {np.dtype(dtype)}, got {a.dtype}"
    values = np.asarray(a)
    bad = np.asarray(~np.isfinite(values) if finite else np.isnan(values))
    return f"{entry(name, index_of_largest(bad))} is {values[index_of_largest(bad)]!s}" if bad.any() else ""


def departure(name: str, a: Array, expected: Array, rule: str) -> str:
    """Describe where a matrix deviates from the form that it must have exactly; '' where it does not."""
    wrong = a != expected
    return f"{entry(name, index_of_largest(wrong))} is {a[index_of_largest(wrong)]!s}: {rule}" if wrong.any() else ""


def judged(name: str, bound: float, flaw: str, error: Callable[[], float]) -> Verdict:
    """Verdict on a result: its flaw, or where it has none its error."""
    return failed(name, bound, flaw) if flaw else Verdict(name, error(), bound)


def asserting(judge: Callable[Arguments, Verdict], what: str) -> Callable[Arguments, None]:
    """Make a function that takes the arguments of a judge, and raises unless its verdict is ok."""

    @wraps(judge)
    def check(*args: Arguments.args, **options: Arguments.kwargs) -> None:
        __tracebackhide__ = True
        enforce(judge(*args, **options))

    check.__name__ = check.__qualname__ = judge.__name__.replace("judge", "assert")
    check.__doc__ = f"Assert that {what}; see `{judge.__name__}`, which has the same arguments."
    check.__annotations__ = judge.__annotations__ | {"return": "None"}
    return check


def failed(name: str, bound: float, flaw: str) -> Verdict:
    """Verdict on a result with a flaw: its error is infinite."""
    return Verdict(name, math.inf, bound, detail=flaw)
