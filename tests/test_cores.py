"""Cores for BLAS: what is taken for a while is given back, and nobody gets more than the user allowed."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from glla.hybrid import cores

pytest.importorskip("scipy.linalg")  # its BLAS counts, too


def blas_threads():
    controller = pytest.importorskip("threadpoolctl").ThreadpoolController()
    return [one.num_threads for one in controller.lib_controllers if one.user_api == "blas"]


def test_blas_has_its_threads_back():
    """Whoever leaves first: ranks that are threads of one process factor panels at the same time."""
    before = blas_threads()
    with cores.one_thread, ThreadPoolExecutor(1) as other:
        other.submit(cores.one_thread.__enter__).result()
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {1}
    cores.one_thread.__exit__()
    assert blas_threads() == before


@pytest.mark.parametrize(("sharing", "left"), [(1, 0), (1, 1), (2, 1), (10_000, 1)])
def test_a_process_takes_its_part_of_the_cores_and_no_more_than_the_user_gave(sharing, left):
    before = blas_threads()
    with cores.for_blas(sharing, left):
        assert all(1 <= one <= max(1, cores.own_cores(sharing) - left) for one in blas_threads())
        with cores.for_blas(1, 0):
            assert max(blas_threads()) <= max(1, cores.own_cores(sharing) - left)
    assert blas_threads() == before
