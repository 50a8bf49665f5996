"""Linear algebra on Dask arrays: matmul, lu with tournament pivoting, solve, tsqr, for any chunks.

Chunks between tasks are NumPy arrays, so any scheduler moves them: threads, processes, `distributed`. Each worker
process has one coprocessor for all its threads, and keeps recently used operands on its device (`glla.dask.worker`).
All functions return Dask arrays; nothing is computed before ``compute()``, which also raises errors of values.

Users' tasks should return NumPy arrays, too: a `glla.Array` belongs to the thread that made it. A task on another
worker waits for it forever: `distributed` (2026.8.0) logs there that it could not be pickled, and its scheduler ignores
an error of a task whose result it counts as present.

- `products`: `matmul`, and the alignment of two arrays' chunks.
- `factors`: `lu`, a graph of tasks on blocks; `systems`: `solve` with it; `orthogonal`: `tsqr`.
"""

from glla.dask.factors import lu
from glla.dask.orthogonal import tsqr
from glla.dask.products import matmul
from glla.dask.systems import solve

__all__ = ["lu", "matmul", "solve", "tsqr"]
