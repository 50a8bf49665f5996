"""The coprocessor on a device: the functions of glla, queued; what is released, what is reported, how it ends."""

import inspect
import sys
import textwrap
import threading

import numpy as np
import pytest

import glla
from glla import generate
from glla.errors import ContextError, CoprocessorError, DeviceMismatchError, NonFiniteError, OutOfMemoryError
from glla.operations import OPERATIONS
from glla.testing import assert_exact, integers
from tests.beside import PATIENCE, in_thread, run_python

pytestmark = pytest.mark.timeout(100)


@pytest.fixture(scope="module")
def shared():
    """A coprocessor for all tests that leave it open."""
    with glla.coprocessor() as gpu:
        yield gpu


@pytest.fixture
def gpu(shared):
    """A coprocessor that must hold no texture at the end."""
    yield shared
    assert shared.stats(PATIENCE).textures == 0


RNG = np.random.default_rng(4)
SQUARE = integers(5, 5, RNG) + 9 * np.eye(5, dtype=np.float32)
WIDE = integers(3, 7, RNG)
STACK = np.stack([SQUARE, SQUARE.T])
CALLS = {  # what functions are called with, besides those of one matrix
    "matmul": [(SQUARE, SQUARE), (WIDE, WIDE.T), (WIDE, np.arange(7)), (np.arange(3), np.arange(3)), (STACK, SQUARE)],
    "solve": [(SQUARE, SQUARE), (SQUARE, np.arange(5)), (SQUARE, np.ones((2, 5, 1))), (STACK, np.ones((5, 2)))],
    "lu_solve": [(glla.lu_factor(SQUARE), np.arange(5)), (glla.lu_factor(SQUARE), SQUARE)],
    "eigen_bounds": [(SQUARE, np.arange(5), SQUARE)],
    "eigh_tridiagonal": [(np.arange(5), np.ones(4)), (np.arange(3), np.ones(2), True)],
    "rref": [(SQUARE,), (WIDE,), (np.zeros((0, 3)),)],
    "plu": [(SQUARE,), (WIDE,), (WIDE.T,), (np.zeros((3, 0)),), ([[1, 2], [3, 4]],)],
}
ONE_MATRIX = [(SQUARE,), (STACK,), ([[2.0, 1.0], [1.0, 3.0]],), (np.float64([[3.0]]),)]
CALLS |= dict.fromkeys(
    ["det", "inv", "rcond", "slogdet", *(one for one in ("lu_factor", "plu", "rref") if one not in CALLS)], ONE_MATRIX
)
CALLS |= dict.fromkeys(["svdvals", "pinv", "matrix_rank", "cond", "polar"], ONE_MATRIX)
CALLS |= dict.fromkeys(("orth", "null_space"), ONE_MATRIX[::2]) | {"sqrtm": ONE_MATRIX[2:]}
BANDS = np.stack([integers(3, 6, RNG) + np.float32([[0], [30], [0]]) for _ in range(2)])
CALLS |= {  # whose operation has another name
    "solve_banded": [((1, 1), BANDS[0], np.arange(6)), ((1, 1), BANDS, np.ones((2, 6, 3)))],
    "solveh_banded": [(BANDS[0, :2], np.arange(6)), (BANDS[:, :2], np.ones((2, 6, 1)))],
}
EXAMPLES = {
    name: [OPERATIONS[name].function.arguments(*OPERATIONS[name].example(n, np.random.default_rng(n))) for n in (2, 7)]
    for name in generate.public()
    if name in OPERATIONS
}
ALL_CALLS = [(name, *call) for name in generate.public() for call in CALLS.get(name) or EXAMPLES[name]]


def same(found, expected):
    """Exactly what the function gives without a queue; a number of a matrix on the device comes as an array of it."""
    found = found[()] if isinstance(expected, np.generic) else found
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, strict=True)
    else:
        assert found == expected


@pytest.mark.threaded
@pytest.mark.parametrize(("name", "operands"), [(name, operands) for name, *operands in ALL_CALLS])
def test_functions_give_what_they_give_without_a_queue(gpu, name, operands, device):
    found, expected = getattr(gpu, name)(*operands).result(PATIENCE), getattr(glla, name)(*operands)
    if name in ("cond", "pinv") and not device.info.software:  # a queue divides on the device
        np.testing.assert_allclose(found, expected, rtol=4e-6, atol=1e-7 * np.abs(expected).max())
    else:
        same(found, expected)


@pytest.mark.parametrize("name", generate.public())
def test_methods_are_the_functions(name):
    method, function = getattr(glla.Coprocessor, name), getattr(glla, name)
    _, *own = inspect.signature(method).parameters.values()
    theirs = inspect.signature(function).parameters.values()
    assert [(one.name, one.kind, one.default) for one in own] == [(one.name, one.kind, one.default) for one in theirs]
    assert inspect.getdoc(method) == f"{inspect.getdoc(function).splitlines()[0]}\n\nQueued; see `glla.{name}`."
    assert {one.kind for one in theirs} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def test_generated_files_are_those_of_today():
    for file, text in generate.FILES.items():
        assert file.read_text(encoding="utf-8") == text(), "write it again: python -m glla.generate"


def test_every_function_is_there():
    public = {name for name in glla.__all__ if inspect.isfunction(getattr(glla, name))}
    makers = "asarray from_dlpack coprocessor coprocessors default_device devices plan explain trace"
    makers += " iterate kernel register run unregister"
    assert set(generate.public()) == public - set(makers.split())


@pytest.mark.parametrize(
    ("name", "operands", "options"),
    [
        ("matmul", (np.ones((3, 4)), np.ones((5, 2))), {}),
        ("matmul", (np.ones((2, 2)) * 1j, np.eye(2)), {}),
        ("matmul", ([[1, 2], [3]], np.eye(2)), {}),
        ("matmul", (3.0, np.eye(2)), {}),
        ("matmul", (np.full((2, 2), 1e30), np.full((2, 2), 1e30)), {}),
        ("matmul", (np.eye(2), np.eye(2)), {"variant": "none"}),
        ("solve", (np.ones((2, 2)), np.ones(2)), {}),
        ("solve", ([[np.nan, 1], [1, 1]], np.ones(2)), {}),
        ("inv", (np.ones((2, 3)),), {}),
        ("det", (np.ones(3),), {}),
        ("rref", (np.ones((2, 3)),), {"tol": -1}),
        ("plu", (np.ones((2, 2, 2)),), {}),
        ("lu_solve", ((np.eye(2), [0, 7]), np.ones(2)), {}),
    ],
)
def test_errors_are_those_of_the_functions(gpu, name, operands, options):
    with pytest.raises(glla.errors.GllaError) as expected:
        getattr(glla, name)(*operands, **options)
    error = getattr(gpu, name)(*operands, **options).exception(PATIENCE)
    assert type(error) is expected.type
    assert str(error) == str(expected.value)


def test_wrong_arguments_are_refused_at_once(gpu):
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        gpu.matmul(SQUARE)
    with pytest.raises(DeviceMismatchError, match=r"^inv: the coprocessor has a device of its own; leave device out"):
        gpu.inv(SQUARE, device=glla.default_device())
    with pytest.raises(AttributeError):
        gpu.plan  # noqa: B018


def test_results_stay_on_the_device(gpu):
    """Of a chain nothing is read but its end, and nothing is uploaded twice."""
    a = gpu.asarray(SQUARE)
    before = gpu.stats(PATIENCE)
    chain = a
    for _ in range(5):
        chain = gpu.matmul(chain, a)
    assert gpu.submit(type, chain).result(PATIENCE) is glla.Array
    assert gpu.stats(PATIENCE).plans == before.plans + 5
    assert chain.shape == (5, 5)
    del chain, a


def test_results_are_operands_everywhere(gpu):
    a, b = gpu.asarray(SQUARE), SQUARE.T.copy()
    expected = SQUARE @ b
    for product in (glla.matmul(a, b), np.matmul(a, b), a @ b, gpu.matmul(a, b), glla.matmul(SQUARE, gpu.asarray(b))):
        assert isinstance(product, glla.Pending)
        assert_exact(product.result(PATIENCE), expected)
    assert_exact((b @ a).result(PATIENCE), b @ SQUARE)
    assert_exact((2 * a - b).result(PATIENCE), 2 * SQUARE - b)
    assert_exact(a.T.result(PATIENCE), SQUARE.T)
    assert_exact(a[1:3, ::2].result(PATIENCE), SQUARE[1:3, ::2])
    solved = np.linalg.solve(a, gpu.asarray(b))
    same(solved.result(PATIENCE), glla.solve(SQUARE, b))
    assert isinstance(glla.matmul(glla.asarray(SQUARE), SQUARE), glla.Array)  # without one, nothing is queued
    del a, product, solved


@pytest.mark.parametrize("name", [name for name in EXAMPLES if OPERATIONS[name].function.parts > 1])
def test_tuples_can_be_taken_apart(gpu, name):
    operands = (CALLS.get(name) or EXAMPLES[name])[0]
    parts = list(getattr(gpu, name)(*operands))
    expected = getattr(glla, name)(*operands)
    assert len(parts) == len(expected)
    for part, value in zip(parts, expected, strict=True):
        same(part.result(PATIENCE), value)
    del parts, part


def test_factors_are_used_again_and_refinement_sees_float64(gpu):
    factors, b = gpu.lu_factor(SQUARE), np.arange(5)
    for trans in (0, 1):
        expected = glla.lu_solve(glla.lu_factor(SQUARE), b, trans)
        same(gpu.lu_solve(factors, b, trans).result(PATIENCE), expected)
    del factors
    a = SQUARE.astype(np.float64) + 1e-12
    x = gpu.solve(a, np.arange(5.0), refine=True).result(PATIENCE)
    assert x.dtype == np.float64 and x.backward_error < 1e-14


def test_overflows_and_foreign_matrices_are_errors(gpu):
    """What overflows unless it is asked for; a matrix of another device."""
    big = np.full((2, 2), 1e30)
    p = gpu.asarray(big)
    q = gpu.matmul(p, p)
    with pytest.raises(NonFiniteError, match="matmul: the result does not fit float32"):
        q.result(PATIENCE)
    assert np.isinf(gpu.matmul(p, p, check_finite=False).result(PATIENCE)).all()
    del p, q
    foreign = glla.asarray(SQUARE)
    assert isinstance(gpu.matmul(foreign, SQUARE).exception(PATIENCE), DeviceMismatchError)
    assert isinstance(gpu.inv(foreign).exception(PATIENCE), DeviceMismatchError)


def test_matrices_too_large_for_a_texture_go_by_blocks():
    """And memory that runs out is reported, and the queue goes on."""
    with glla.coprocessor(max_texture_size=4, max_bytes=100_000) as gpu:
        a = integers(9, 11, RNG)
        assert_exact(gpu.matmul(a, a.T).result(PATIENCE), a @ a.T)
        assert gpu.info.limits.texture_size == 4
    with glla.coprocessor(max_bytes=100_000) as gpu:
        assert isinstance(gpu.asarray(np.ones((200, 200))).exception(PATIENCE), OutOfMemoryError)
        assert_exact(gpu.matmul(SQUARE, SQUARE).result(PATIENCE), SQUARE @ SQUARE)


def test_textures_go_with_their_results_dropped_in_any_thread(gpu):
    kept = [gpu.asarray(SQUARE) for _ in range(6)]
    assert gpu.stats(PATIENCE).textures == 6
    in_thread(kept.clear)
    assert gpu.stats(PATIENCE).textures == 0
    p = gpu.solve(np.ones((9, 9)), np.ones(9))
    assert isinstance(p.exception(PATIENCE), glla.errors.SingularMatrixError)
    assert gpu.stats(PATIENCE).textures == 0


def test_the_device_belongs_to_the_worker(gpu):
    assert gpu.submit(glla.default_device).result(PATIENCE) is not glla.default_device()
    assert gpu.submit(threading.get_ident).result(PATIENCE) != threading.get_ident()
    assert_exact(gpu.submit(glla.matmul, SQUARE, SQUARE).result(PATIENCE), SQUARE @ SQUARE)
    gpu.finish(PATIENCE)


def test_two_coprocessors_work_side_by_side():
    with glla.coprocessor() as one, glla.coprocessor() as other:
        p, q = one.matmul(SQUARE, SQUARE), other.matmul(SQUARE, SQUARE)
        text = "matmul: operands must belong to one coprocessor; pass the result"
        with pytest.raises(DeviceMismatchError, match=text):
            p @ q
    assert_exact(p.result(0), q.result(0))  # the block's end has read them


def test_a_lost_device_is_reported():
    with pytest.raises(ContextError, match="EGL device 77: EGL lists"):  # one that is not there, at once
        glla.coprocessor(index=77)
    gpu = glla.coprocessor()
    p = gpu.asarray(SQUARE)
    lost = gpu.submit(lambda: glla.default_device().release())
    assert isinstance(lost.exception(PATIENCE), glla.errors.ReleasedError)
    gpu._worker.thread.join(PATIENCE)
    ended = r"the coprocessor's thread has ended \(ReleasedError: device: is"
    for call, begin in (
        (lambda: p.result(PATIENCE), "is lost: "),
        (lambda: gpu.matmul(SQUARE, SQUARE), "matmul: "),
        (gpu.close, "close: "),
    ):
        with pytest.raises(CoprocessorError, match=begin + ended):
            call()


# ---- processes ---------------------------------------------------------------------------------------------------


def run(script):
    """Words that a program prints, which ends by itself."""
    return run_python(script, "-X", "faulthandler").split()


@pytest.mark.parametrize("over", ["open", "dead"])
def test_the_interpreter_ends_with_a_coprocessor_open(over):
    """And work in it, running and waiting; or with a worker that has died."""
    output = run(f"""
        import numpy as np, glla
        gpu = glla.coprocessor(capacity=1000)
        a = gpu.asarray(np.eye(64))
        print(gpu.matmul(a, a).result()[0, 0])
        if "{over}" == "open":
            for _ in range(500):
                a = a @ a
            print("open")
        else:
            lost = gpu.submit(lambda: glla.default_device().release())
            print(type(lost.exception()).__name__)
    """)
    assert output == ["1.0", "open" if over == "open" else "ReleasedError"]


SETTINGS = """
    import gc, sys, threading, glla
    from glla.queue.turns import PR_GET_TIMERSLACK, PR_SET_TIMERSLACK, _control
    def show():
        slack = _control(PR_GET_TIMERSLACK, 0) if sys.platform.startswith("linux") else 40_000
        print(round(1e6 * sys.getswitchinterval()), "own" if slack == 40_000 else slack, sep=":")
    def elsewhere(work):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    _control(PR_SET_TIMERSLACK, 40_000)
"""


def with_settings(script):
    return run(textwrap.dedent(SETTINGS) + textwrap.dedent(script))


def test_a_coprocessor_sets_nothing_of_the_process_unasked():
    output = with_settings("""
        show()
        with glla.coprocessor() as gpu:
            show()
            gpu.submit(show).result()
        show()
    """)
    assert output == ["5000:own"] * 4


def test_a_punctual_one_has_threads_change_more_often_while_it_is_open():
    """The waits of its own thread are punctual too; those of the caller's threads stay as they are."""
    output = with_settings("""
        with glla.coprocessor(punctual=True) as gpu:
            show()
            gpu.submit(show).result()
            with glla.coprocessor(switch_interval=5e-6), glla.coprocessor():
                show()
            with glla.coprocessor(switch_interval=1.0):
                show()
        show()
        gpu = glla.coprocessor(punctual=True)
        elsewhere(gpu.close)
        show()
        first, second = glla.coprocessor(punctual=True), glla.coprocessor(switch_interval=2e-5)
        first.close()  # the lives of the two overlap
        show()
        elsewhere(second.close)
        show()
        try:
            glla.coprocessor(max_texture_size=1, punctual=True)
        except glla.errors.LimitError:
            show()
        gpu = glla.coprocessor(punctual=True)
        thread = gpu._worker.thread
        del gpu
        gc.collect()
        thread.join()
        show()
    """)
    worker = "10:1" if sys.platform.startswith("linux") else "10:own"
    ends = ["5000:own", "5000:own", "20:own", "5000:own", "5000:own", "5000:own"]
    assert output == ["10:own", worker, "5:own", "10:own", *ends]


def test_a_switch_interval_that_the_user_has_set_meanwhile_stays():
    """It overrules those that wanted another one until then."""
    output = with_settings("""
        with glla.coprocessor(punctual=True):
            sys.setswitchinterval(0.002)
        show()
        with glla.coprocessor(punctual=True), glla.coprocessor(switch_interval=2e-5):
            sys.setswitchinterval(0.003)
            with glla.coprocessor(punctual=True):
                show()
            show()
        show()
        with glla.coprocessor(punctual=True):
            with glla.coprocessor(punctual=True):
                sys.setswitchinterval(0.004)
            show()
        show()
    """)
    assert output == [f"{interval}:own" for interval in (2000, 10, 3000, 3000, 4000, 4000)]


def test_what_is_set_is_set_back_when_closing_was_interrupted():
    """Python before 3.13 takes a thread for ended where a signal interrupts `Thread.join`."""
    output = with_settings("""
        import os, signal
        gpu = glla.coprocessor(punctual=True)
        held = threading.Event()
        gpu.submit(held.wait, 20)
        count = 0
        while count < 3:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                gpu.close()
            except KeyboardInterrupt:
                count += 1
        held.set()
        gpu.close()
        show()
    """)
    assert output == ["5000:own"]


def test_one_that_is_dropped_says_so():
    output = run("""
        import gc, warnings, glla
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ResourceWarning)
            gpu = glla.coprocessor()
            pending = gpu.asarray([[1]])
            del gpu
            gc.collect()
            print(pending.result()[0, 0])
            (one,) = caught
            print(one.category.__name__, str(one.message).replace(" ", "_"))
            caught.clear()
            with glla.coprocessor() as gpu:
                pass
            del gpu
            gc.collect()
            print(len(caught))
    """)
    assert output[:2] == ["1.0", "ResourceWarning"] and output[3] == "0"
    assert output[2].endswith("and_ends_when_its_queue_is_done_and_its_results_are_dropped;_use_it_in_a_with_block")
