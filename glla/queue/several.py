"""Several devices of one host, without MPI: each a coprocessor; they share products and right-hand sides.

    C = A B    bands of rows of A and C, one per device; B goes to all of them
    A X = B    bands of columns of B and X; every device factors A

A band that exceeds a device's memory is streamed in tiles, as with one device (`glla.linalg.tiling`). Streams of
systems are spread over all devices by ``glla.hybrid.map(..., gpu=several)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from glla import linalg
from glla.array.convert import Float32, as_float32, finite_result
from glla.errors import CoprocessorError, OptionError, ShapeError
from glla.gl import list_egl_devices
from glla.queue.pending import Pending
from glla.queue.single import Coprocessor, coprocessor


class Spread:
    """A result that several devices compute, each its own part of one array."""

    def __init__(self, parts: Sequence[Pending], value: Float32) -> None:
        self._parts, self._value = parts, value

    def done(self) -> bool:
        """Whether all parts are done, or have failed."""
        return all(part.done() for part in self._parts)

    def result(self, timeout: float | None = None) -> Float32:
        """Wait for all parts.

        Raises
        ------
        TimeoutError
            The time ran out; the work goes on.
        Exception
            Exception of a device; of several, the first band's.
        """
        end = None if timeout is None else time.monotonic() + timeout
        for part in self._parts:
            part.result(None if end is None else max(0.0, end - time.monotonic()))
        return self._value


def bands(length: int, count: int) -> list[slice]:
    """Split a length into at most `count` bands, of even lengths so that texels stay whole; none is empty.

    >>> bands(10, 3), bands(1, 2)
    ([slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)], [slice(0, 1, None)])
    """
    each = -(-length // (2 * count)) * 2
    return [slice(start, min(start + each, length)) for start in range(0, length, each)] if length else []


class Coprocessors:
    """Several devices, each with a thread and a queue of its own; made by `coprocessors`. A context manager.

    Attributes
    ----------
    members : tuple of Coprocessor
        One per device.
    """

    def __init__(self, members: Sequence[Coprocessor]) -> None:
        self.members = tuple(members)

    def __repr__(self) -> str:
        return f"<glla.coprocessors: {', '.join(member.info.renderer for member in self.members)}>"

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Coprocessor]:
        return iter(self.members)

    @property
    def closed(self) -> bool:
        """Whether a device accepts no more calls."""
        return any(member.closed for member in self.members)

    def matmul(self, a: Any, b: Any, out: Float32 | None = None) -> Spread:
        """Product of two matrices in the host's memory, a band of rows on each device.

        Parameters
        ----------
        a, b : array_like, shapes (m, k) and (k, n)
            Must stay unchanged until the result is done.
        out : ndarray of float32, shape (m, n), optional
            Target of the product; may be a memory map.

        Raises
        ------
        ShapeError, DTypeError, NonFiniteError, OptionError
            At once.

        Notes
        -----
        Error and results: those of `glla.matmul`; each element is computed by one device. Cost: 2 m k n / N flop and 4
        (m k / N + k n + m n / N) bytes to and from each of N devices.
        """
        left, right = _matrix("matmul", "A", a), _matrix("matmul", "B", b)
        if left.shape[1] != right.shape[0]:
            raise ShapeError(f"matmul: inner dimensions must agree, got A {left.shape} and B {right.shape}")
        whole = _target("matmul", out, (left.shape[0], right.shape[1]))
        if np.may_share_memory(whole, left) or np.may_share_memory(whole, right):
            raise OptionError("matmul: out shares memory with an operand, which other devices still read; pass another")

        def part(band: slice) -> None:
            finite_result("matmul", linalg.matmul(left[band], right, out=whole[band], check_finite=False), True)

        return self._spread(part, bands(len(left), len(self)), whole)

    def solve(self, a: Any, b: Any) -> Spread:
        """Solve A X = B for matrices in the host's memory, a band of columns of B on each device.

        Parameters
        ----------
        a : array_like, shape (n, n)
            Regular. Every device factors it.
        b : array_like, shape (n,) or (n, k)
            Must stay unchanged until the result is done.

        Raises
        ------
        ShapeError, DTypeError, NonFiniteError
            At once. Errors of `glla.solve` that depend on values are raised by ``result``.

        Notes
        -----
        Error and results: those of `glla.solve`. Cost: 2/3 n^3 + 2 n^2 k / N flop on each of N devices: it pays for
        more than n / 3 right-hand sides; for many systems use `glla.hybrid.map`.
        """
        left, right = _matrix("solve", "A", a), as_float32("solve", "b", b)
        if left.shape[0] != left.shape[1]:
            raise ShapeError(f"solve: A must be square, got shape {left.shape}")
        if right.ndim not in (1, 2) or len(right) != len(left):
            raise ShapeError(f"solve: b must have {len(left)} rows, got shape {right.shape}")
        wide = right[:, None] if right.ndim == 1 else right
        whole = np.empty(wide.shape, dtype=np.float32)

        def part(band: slice) -> None:
            whole[:, band] = linalg.solve(left, wide[:, band])

        return self._spread(part, bands(wide.shape[1], len(self)), whole if right.ndim == 2 else whole[:, 0])

    def _spread(self, part: Callable[[slice], None], cut: Sequence[slice], whole: Float32) -> Spread:
        return Spread([member.submit(part, band) for member, band in zip(self.members, cut, strict=False)], whole)

    def close(self, cancel: bool = False, timeout: float | None = None) -> None:
        """Close all of them, see `Coprocessor.close`."""
        with ExitStack() as stack:  # closes the others where one raises
            for member in self.members:
                stack.callback(member.close, cancel, timeout)

    def __enter__(self) -> Coprocessors:
        if self.closed:
            raise CoprocessorError("coprocessors: they are closed; make others")
        return self

    def __exit__(self, *error: Any) -> None:
        with ExitStack() as stack:
            for member in self.members:
                stack.callback(member.__exit__, *error)


def coprocessors(devices: str | Sequence[str | int] = "all", **options: Any) -> Coprocessors:
    """Start several devices of this host, each with a thread and a queue of its own.

    Examples
    --------
    >>> import glla
    >>> with glla.coprocessors([0, 0]) as several:
    ...     several.matmul([[1, 2], [3, 4], [5, 6]], [[1, 0], [0, 2]]).result()
    array([[ 1.,  4.],
           [ 3.,  8.],
           [ 5., 12.]], dtype=float32)

    Parameters
    ----------
    devices : "all", or sequence of str or int
        Names as in `coprocessor`: "software", "hardware", or an EGL device's index. "all" means every GPU, or a
        software rasteriser where there is none. A name may occur twice, for two contexts. ``GLLA_DEVICE`` overrides
        every one of them.
    **options
        For each, as for `coprocessor`.

    Returns
    -------
    Coprocessors
        Its ``matmul`` and ``solve`` spread matrices over the devices; ``glla.hybrid.map(op, systems, gpu=...)`` takes
        it.

    Raises
    ------
    OptionError
        No devices; an invalid name.
    ContextError
        A device cannot be opened; the opened ones are closed.
    """
    if not isinstance(devices, Iterable) or (isinstance(devices, str) and devices != "all"):
        raise OptionError(f"coprocessors: devices must be 'all' or a list of names and indices, got {devices!r}")
    chosen: list[str | int] = [*devices]
    if devices == "all":
        chosen = [one.index for one in list_egl_devices() if not one.software] or ["software"]
    if not chosen:
        raise OptionError("coprocessors: devices must name one device at least, got none")
    members: list[Coprocessor] = []
    with ExitStack() as opened:  # closes the others where one cannot be opened
        for device in chosen:
            members.append(coprocessor(device=device, **options))
            opened.callback(members[-1].close, cancel=True)
        opened.pop_all()
    return Coprocessors(members)


def _matrix(function: str, name: str, value: Any) -> Float32:
    array = as_float32(function, name, value)
    if array.ndim != 2:
        raise ShapeError(f"{function}: {name} must be one matrix in the host's memory, got shape {array.shape}")
    return array


def _target(function: str, out: Float32 | None, shape: tuple[int, int]) -> Float32:
    if out is None:
        return np.empty(shape, dtype=np.float32)
    if out.shape != shape or out.dtype != np.float32:
        raise ShapeError(f"{function}: out must be float32 of shape {shape}, got {out.dtype} of shape {out.shape}")
    return out
