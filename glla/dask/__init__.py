"""Linear algebra on Dask arrays: matmul, lu with tournament pivoting, solve, tsqr, for any chunks.

Chunks between tasks are NumPy arrays, so any scheduler moves them: threads, processes, `distributed`. Each worker
process has one coprocessor, whichever thread asks, and keeps operands that were used lately on its device
(`glla.dask.worker`). All functions give Dask arrays; nothing is computed before ``compute()``, and errors of values
come then.

Tasks of one's own should give NumPy arrays, too: a `glla.Array` belongs to the thread that made it. A task on another
worker waits for it without end: `distributed` (2026.8.0) logs there that it could not be pickled, and its scheduler
takes no notice of an error of a task whose result it counts as there.

- `products`: `matmul`, and what of two arrays' chunks must agree.
- `factors`: `lu`, a graph of tasks on blocks; `systems`: `solve` with it; `orthogonal`: `tsqr`.
"""

from glla.dask.factors import lu
from glla.dask.orthogonal import tsqr
from glla.dask.products import matmul
from glla.dask.systems import solve

__all__ = ["lu", "matmul", "solve", "tsqr"]
