"""QR of a tall Dask array: of each chunk of rows, then of the stacked R's."""

from __future__ import annotations

from operator import getitem
from typing import Any

import numpy as np

from glla.array.convert import Float32
from glla.dask import worker
from glla.dask.products import dask_array, operand


def tsqr(a: Any) -> tuple[Any, Any]:
    """A = Q R of a tall Dask array of any chunks.

    Parameters
    ----------
    a : dask.array.Array, shape (m, n)
        It is rechunked to whole rows.

    Returns
    -------
    Q, R : dask.array.Array of float32, shapes (m, k) and (k, n), k = min(m, n)
        Q has the chunks of A's rows, R one chunk.

    Raises
    ------
    ShapeError, DTypeError
        At once.
    NonFiniteError
        In ``compute``.

    Notes
    -----
    Rows of R may differ in sign from LAPACK's. A chunk needs n columns in a worker's memory, and one worker the R's of
    all chunks. Cost: 2 m n^2 flop for each of Q and R. Error: as in `glla.qr`. Source: Demmel, Grigori, Hoemmen, Langou
    2012.

    Examples
    --------
    >>> import dask.array as da
    >>> import glla.dask
    >>> A = da.from_array([[3, 0], [4, 5], [0, 12]], chunks=(2, 1))
    >>> Q, R = glla.dask.tsqr(A)
    >>> (Q @ R).compute(scheduler="synchronous").round(4) + 0.0
    array([[ 3.,  0.],
           [ 4.,  5.],
           [ 0., 12.]], dtype=float32)
    """
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    da = dask_array("tsqr")
    checked = operand("tsqr", "A", a)
    array = checked.rechunk({1: -1})
    (m, n), rows = array.shape, array.chunks[0]
    k, heights = min(m, n), [min(length, n) for length in rows]
    name = f"glla-tsqr-{tokenize(array.name)}"
    tasks: dict[Any, Any] = {}
    starts = np.cumsum([0, *heights]).tolist()
    for i in range(len(rows)):
        tasks[f"{name}-qr", i] = (worker.qr, (array.name, i, 0))
    tasks[f"{name}-all"] = (_combined, [(f"{name}-qr", i) for i in range(len(rows))])
    for i in range(len(rows)):
        part = (getitem, (getitem, f"{name}-all", 0), slice(starts[i], starts[i + 1]))
        tasks[f"{name}-Q", i, 0] = (worker.contract, [(getitem, (f"{name}-qr", i), 0)], [part])
    tasks[f"{name}-R", 0, 0] = (getitem, f"{name}-all", 1)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[array])
    meta = np.empty((0, 0), dtype=np.float32)
    graph = HighLevelGraph({**graph.layers, f"{name}-Q": {}, f"{name}-R": {}}, {
        **graph.dependencies, f"{name}-Q": {name}, f"{name}-R": {name},
    })  # fmt: skip
    return (
        da.Array(graph, f"{name}-Q", chunks=(rows, (k,)), meta=meta),
        da.Array(graph, f"{name}-R", chunks=((k,), (n,)), meta=meta),
    )


def _combined(parts: list[tuple[Float32, Float32]]) -> tuple[Float32, Float32]:
    return worker.qr(np.concatenate([r for _, r in parts]))
