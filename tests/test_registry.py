"""The ways up: operands that take a call over, announcements, and the decorator of public functions."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import glla
import glla.interop.numpy
from glla import linalg, registry
from glla.errors import UnsupportedError
from tests.beside import run_python

FUNCTIONS = [
    "asarray",
    *(n for n in linalg.__all__ if inspect.isfunction(getattr(linalg, n)) and n not in ("plan", "explain")),
]


class Pending:
    """Not computed yet: keeps the call."""

    @staticmethod
    def __glla_function__(name, function, args, kwargs):
        return name, function, args, kwargs

    def __radd__(self, other):
        return "added", other

    def __rmatmul__(self, other):
        return "multiplied", other


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_hands_over(name):
    pending, function = Pending(), getattr(glla, name)
    for args, kwargs in [
        ((pending,), {}),
        ((np.eye(2), pending), {}),
        (((pending, [0]), [1]), {"check_finite": False}),
    ]:
        called, plain, passed, options = function(*args, **kwargs)
        assert called == name
        assert plain is function.__wrapped__
        assert (passed, options) == (args, kwargs)


def test_signatures_stay():
    assert list(inspect.signature(glla.matmul).parameters) == ["a", "b", "out", "variant", "device", "check_finite"]


# Announcements -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.ANNOUNCEMENTS)
def test_everything_is_announced(name):
    assert registry.announced(name)


def test_what_is_missing_is_imported_or_named(monkeypatch):
    monkeypatch.setattr(registry, "_announced", {"matrix": glla.asarray})
    assert glla.default_device().matrix([[1]]).shape == (1, 1)
    with pytest.raises(RuntimeError, match=r"nothing is announced as 'spam'; import the module that announces it$"):
        registry.announced("spam")


def test_half_an_import_announces_nothing(monkeypatch, tmp_path):
    """Two threads ask first at the same time: the second one waits until the module that the first imports is whole."""
    first = "import time\nfrom glla import registry\nHALF = []\nregistry.announce('slow', HALF)\n"
    (tmp_path / "announces_slowly.py").write_text(f"{first}time.sleep(0.3)\nHALF.append(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.ANNOUNCEMENTS, "slow", "announces_slowly")
    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(lambda: list(registry.announced("slow"))) for _ in range(4)]
    assert [one.result() for one in found] == [[1]] * 4


# The decorator ------------------------------------------------------------------------------------------------------

SPD = np.float32([[4, 2], [2, 5]])


def test_numpy_s_options_are_accepted_at_their_defaults(monkeypatch):
    monkeypatch.setitem(registry.PUBLIC, "eigvalsh", None)  # so that glla's own comes back

    @registry.public(numpy="linalg.eigvalsh")
    def eigvalsh(a):
        return np.linalg.eigvalsh(a.numpy())

    A = glla.asarray(SPD)
    assert np.linalg.eigvalsh(A, UPLO="L").tolist() == pytest.approx(np.linalg.eigvalsh(SPD).tolist())
    with pytest.raises(UnsupportedError, match=r"^numpy\.linalg\.eigvalsh: takes \(a\) on an Array, got an unexpected"):
        np.linalg.eigvalsh(A, UPLO="U")


def test_functions_written_out_come_first():
    """The decorator changes nothing where an implementation is written out."""

    @registry.public(numpy="trace", namespace="trace")
    def trace(a):
        raise AssertionError("is never called")

    try:
        assert glla.interop.numpy.implementation(np.trace) is glla.interop.numpy.FUNCTIONS[np.trace]
        assert glla.array_api.linalg.trace(glla.asarray(SPD)) == np.trace(SPD)
    finally:
        del registry.PUBLIC["trace"]


def test_a_misspelt_name_is_noticed_at_once():
    with pytest.raises(AttributeError, match="choleski"):
        registry.public(numpy="linalg.choleski")


# Names that are imported when they are first used --------------------------------------------------------------------


def test_every_public_name_is_found_and_kept():
    """Those of the facade and of `glla.linalg` are the same, and in the module once they were used."""
    for name in glla.__all__:
        assert getattr(glla, name) is vars(glla)[name], name
    for name in linalg.__all__:
        assert getattr(linalg, name) is getattr(glla, name), name
    assert dir(glla) == sorted(glla.__all__)
    assert dir(linalg) == sorted(linalg.__all__)


@pytest.mark.parametrize(
    "first",
    [
        "print(np.linalg.solve(A, A).numpy())",
        "print(A.__array_namespace__().linalg.solve(A, A).numpy())",
        "with glla.coprocessor() as gpu: print(gpu.solve([[2.0]], [[2.0]]).result())",
        "from glla import *; print(solve([[2.0]], [[2.0]]))",
    ],
    ids=["numpy", "array_api", "coprocessor", "star"],
)
def test_the_first_call_of_a_process_finds_its_function(first):
    assert run_python(f"import numpy as np, glla; A = glla.asarray([[2.0]])\n{first}") == "[[1.]]\n"
