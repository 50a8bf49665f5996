"""Array: what lives on a device, how it goes there and comes back, and when it is gone."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import ReleasedError
from tests.beside import run_python


@pytest.mark.parametrize(("m", "n"), [*testing.SHAPES, (0, 1), (1, 0)])
def test_there_and_back(m, n, device, rng):
    a = testing.normal(m, n, rng)
    A = glla.asarray(a)
    testing.assert_exact(A.numpy(), a)
    testing.assert_exact(np.asarray(A), a)
    assert A.shape == a.shape
    assert (A.ndim, A.dtype, A.size, A.nbytes, len(A)) == (2, np.float32, a.size, a.nbytes, m)
    assert A.numpy().flags.c_contiguous
    assert A.numpy().flags.writeable
    passes = device.stats().passes
    B = A.T
    assert device.stats().passes == passes and B.shape == A.transpose().shape == (n, m)
    testing.assert_exact(B.numpy(), np.ascontiguousarray(a.T))


def test_array_protocol():
    A = glla.asarray([[1, 2], [3, 4]])
    testing.assert_exact(np.array(A), [[1, 2], [3, 4]])
    testing.assert_exact(np.asarray(A, dtype=np.float64), [[1, 2], [3, 4]], dtype=np.float64)
    testing.assert_exact(np.asarray(A, dtype=int), [[1, 2], [3, 4]], dtype=int)
    testing.assert_exact(np.array(A, copy=True), [[1, 2], [3, 4]])
    np.testing.assert_allclose((np.linalg.norm(A, axis=0) ** 2).numpy(), [10, 20], rtol=1e-6)


def test_repr():
    A = glla.asarray(np.zeros((2, 3)))
    assert repr(A) == repr(np.zeros((2, 3), np.float32)).replace("array(", "Array(")
    A.release()
    assert repr(A).startswith("<glla.Array 2 x 3: Array: is used after it was released")
    assert repr(glla.asarray(7)) == "Array(7., dtype=float32)" and str(glla.asarray([1, 2])) == "[1. 2.]"
    assert repr(glla.asarray([True], dtype=bool)) == "Array([ True], dtype=bool)"
    assert f"{glla.asarray(0.5):.3f}" == "0.500"


@pytest.mark.parametrize("shape", [(1001,), (40, 60), (7, 200), (12, 3, 40)])
def test_repr_of_a_large_array_shows_its_corners(shape):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    A = glla.asarray(values)
    with np.printoptions(threshold=1000):
        assert str(A) == str(values)
        assert f", shape={shape}, dtype=float32)" in repr(A)


def test_asarray_of_a_matrix_is_the_matrix(device):
    A = glla.asarray([[1.0]])
    assert glla.asarray(A) is A
    assert glla.asarray(A, device) is A
    assert A.device is device
    assert device.matrix(A) is A
    testing.assert_exact(device.matrix([[1, 2]]).numpy(), [[1, 2]])
    assert np.isnan(device.matrix([[np.nan]], check_finite=False).item())


def test_astype():
    A = glla.asarray([[1, 2]])
    assert A.astype(np.float32, copy=False) is A
    B = A.astype("f4")
    B += 1
    testing.assert_exact(A.numpy(), [[1, 2]])
    for dtype in (np.int32, np.bool_, np.float32):
        for a in ([[1.5, -2.7, 0.0]], [1, 0, -3], 2.0, np.zeros((2, 0, 3))):
            testing.assert_exact(glla.asarray(a).astype(dtype).numpy(), np.float32(a).astype(dtype), dtype=dtype)


# Copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda E: glla.inv(E),
        lambda E: glla.solve(E, glla.asarray(np.zeros((0, 0)))),
        lambda E: glla.solve(E, E),
        lambda E: glla.rref(E).matrix,
        lambda E: glla.lu_factor(E)[0],
        lambda E: E + 0,
        lambda E: E[:],
    ],
)
def test_empty_results_are_not_their_operands(call):
    E = glla.asarray(np.zeros((0, 0)))
    call(E).release()
    assert E.numpy().shape == (0, 0)


# Lifetime ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda A: A.numpy(),
        lambda A: A + 1,
        lambda A: A.T,
        lambda A: A.sum(),
        lambda A: A[0],
        lambda A: A.__setitem__(0, 1),
        lambda A: A.__iadd__(1),
        lambda A: pickle.dumps(A),
        lambda A: np.from_dlpack(A),
        lambda A: glla.matmul(A, A),
        lambda A: glla.lu_solve((A, [0, 1]), np.eye(2)),
        lambda A: glla.solve(A, np.eye(2)),
    ],
)
def test_use_after_release(use):
    A = glla.asarray(np.eye(2))
    A.release()
    with pytest.raises(ReleasedError) as caught:
        use(A)
    assert str(caught.value) == "Array: is used after it was released; keep it until its last use is done"
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("shape", [(2, 2), (0, 2)])
def test_textures_go_back(shape, device):
    gc.collect()
    before, count = device.stats().textures, min(np.prod(shape), 1)
    with glla.asarray(np.ones(shape)) as A:
        assert device.stats().textures == before + count
    A.release()  # again, which does nothing
    assert device.stats().textures == before
    with pytest.raises(ReleasedError):
        A.numpy()
    B = glla.asarray(np.ones(shape))
    assert device.stats().textures == before + count
    del B
    assert device.stats().textures == before


def test_results_outlive_their_operands(rng):
    a = testing.integers(3, 3, rng)
    A = glla.asarray(a)
    C = A @ A
    A.release()
    other = glla.asarray(np.full((3, 3), 7))  # may well take the texture that A had
    testing.assert_exact(C.numpy(), a @ a)
    testing.assert_exact(other.numpy(), np.full((3, 3), 7))


def test_in_place_gives_the_old_texture_back(device):
    gc.collect()
    before = device.stats().textures
    A = glla.asarray(np.eye(4))
    for _ in range(5):
        A += 1
        A[0] = 0
    assert device.stats().textures == before + 1


def test_references_may_be_dropped_in_any_thread(device):
    gc.collect()
    before = device.stats().textures
    matrices = [glla.asarray(np.eye(3)) for _ in range(40)]
    assert device.stats().textures == before + 40

    def drop(count):
        for number in range(count):
            A = matrices.pop()
            if number % 2:
                A.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(drop, [10] * 4))
    assert device.stats().textures == before


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "sys.exit(0)",
        "keep.append(keep)",
        "import atexit; atexit.register(lambda: A.release())",
        "import threading; threading.Thread(target=lambda: (keep.clear(), globals().clear())).start()",
        "glla.default_device().release(); del A, keep",
    ],
)
def test_the_interpreter_ends_quietly(ending):
    script = (
        "import sys, glla\n"
        "A = glla.asarray([[1, 2], [3, 4]])\n"
        "keep = [A.T, A[:1], A @ A, A.copy()]\n"
        "glla.kept = keep[1]\n"
        f"{ending}\n"
    )
    assert run_python(script) == ""


# -- what describes it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("shape", (2, 8), "A.reshape(...) is an Array of another shape"),
        ("T", np.eye(4), "make a new Array"),
        ("dtype", np.float64, "A.astype(...) is an Array of another type"),
        ("device", None, "A.to_device(device) is an Array on another device"),
        ("size", 3, "make a new Array"),
        ("ndim", 1, "make a new Array"),
        ("nbytes", 1, "make a new Array"),
        ("itemsize", 1, "make a new Array"),
    ],
)
def test_what_describes_it_cannot_be_set(name, value, instead):
    A = glla.asarray(np.arange(16.0).reshape(4, 4))
    before = getattr(A, name)
    for change in (lambda: setattr(A, name, value), lambda: delattr(A, name)):
        with pytest.raises(AttributeError) as caught:
            change()
        assert str(caught.value).startswith(f"Array: {name} cannot be changed; {instead}")
    assert name == "T" or getattr(A, name) == before
    assert A.numpy().shape == (4, 4)


def test_other_attributes_are_none_of_a_matrix():
    A = glla.asarray([[1.0]])
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        A.colour = 3
    A += 1
    assert A.numpy().tolist() == [[2.0]]


@pytest.mark.parametrize("kind", [kind for kind in vars(glla.errors).values() if isinstance(kind, type)], ids=str)
def test_errors_can_be_pickled(kind):
    """As a pool of processes passes them on: what cannot be taken out of the pickle would break the pool."""
    if not issubclass(kind, glla.errors.GllaError):
        return
    made = kind("what", 3, 2) if kind is glla.errors.LimitError else kind("what")
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), again.args, vars(again)) == (kind, made.args, vars(made))
