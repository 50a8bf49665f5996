"""The coprocessor that tasks share is released after each test."""

from collections.abc import Iterator

import pytest

pytest.importorskip("dask", reason="dask is not installed: pip install 'glla[dask]'")
pytest.importorskip("scipy", reason="scipy is not installed: pip install 'glla[dask]'")

import dask

from glla.dask import worker


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield
    worker.close()
