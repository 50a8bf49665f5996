"""Compressed rows: a sparse matrix on the host, the source of every format."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations.record import Float32
from glla.passes.layout import Shape

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Compressed:
    """Rows of a sparse matrix one after the other, columns in order within each, no entry twice."""

    shape: Shape
    starts: Integers  # (rows + 1,): where each row begins among the entries, and where the last one ends
    columns: Integers  # (entries,): of each entry
    values: Float32

    @staticmethod
    def of_triplets(shape: Shape, rows: Any, columns: Any, values: NDArray[Any]) -> Compressed:
        """Sort entries; those of one place are summed in float64 first. Zeros are no entries.

        >>> made = Compressed.of_triplets((2, 3), [1, 0, 1], [2, 1, 2], np.array([1, 5, 2]))
        >>> made.starts.tolist(), made.columns.tolist(), made.values.tolist()
        ([0, 1, 2], [1, 2], [5.0, 3.0])
        """
        rows, columns = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        keys = rows * max(shape[1], 1) + columns
        with np.errstate(over="ignore", invalid="ignore"):
            if (keys[1:] > keys[:-1]).all():  # in order, and each once
                return _without_zeros(shape, rows, columns, values.astype(np.float64).astype(np.float32))
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order].astype(np.float64)
            first = np.flatnonzero(np.diff(keys, prepend=-1))
            sums = (np.add.reduceat(values, first) if len(first) < len(keys) else values).astype(np.float32)
        return _without_zeros(shape, rows[order[first]], columns[order[first]], sums)

    @cached_property
    def rows(self) -> Integers:
        """Row of each entry."""
        return np.repeat(np.arange(self.shape[0]), self.lengths)

    @cached_property
    def lengths(self) -> Integers:
        """Entries of each row."""
        return np.diff(self.starts)

    @property
    def entries(self) -> int:
        """How many there are."""
        return len(self.values)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Diagonals that have entries: column minus row, in order."""
        rows, columns = self.shape
        found = np.bincount(self.columns - self.rows + rows - 1, minlength=max(rows + columns - 1, 0))
        return tuple((np.flatnonzero(found) - (rows - 1)).tolist())

    @cached_property
    def norm_of_magnitudes(self) -> float:
        """A bound of the 2-norm of |A|: the root of its 1-norm times its infinity-norm. NaN if an entry is."""
        magnitudes = np.abs(self.values.astype(np.float64))
        columns, rows = (np.bincount(places, magnitudes).max(initial=0.0) for places in (self.columns, self.rows))
        return float(np.sqrt(columns) * np.sqrt(rows))

    def transpose(self) -> Compressed:
        """Its transpose."""
        order = np.argsort(self.columns, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.columns, minlength=self.shape[1]))))
        return Compressed(self.shape[::-1], starts, self.rows[order], self.values[order])

    def __matmul__(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """A x in float64, of a vector: the residual of a refinement."""
        products = self.values.astype(np.float64) * x[self.columns]
        filled = self.lengths > 0
        result = np.zeros(self.shape[0])
        if self.entries:
            result[filled] = np.add.reduceat(products, self.starts[:-1][filled])
        return result

    def diagonal(self) -> Float32:
        """The entries with equal row and column; 0 where there is none."""
        result = np.zeros(min(self.shape), dtype=np.float32)
        own = self.columns == self.rows
        result[self.columns[own]] = self.values[own]
        return result

    def dense(self) -> Float32:
        """As a matrix with all its zeros."""
        result = np.zeros(self.shape, dtype=np.float32)
        result[self.rows, self.columns] = self.values
        return result


def _without_zeros(shape: Shape, rows: Integers, columns: Integers, values: Float32) -> Compressed:
    kept = values != 0  # NaN is kept
    rows, columns, values = rows[kept], columns[kept], values[kept]
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=shape[0]))))
    return Compressed(shape, starts.astype(np.int64), columns, values)
