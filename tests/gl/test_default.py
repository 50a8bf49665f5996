"""Devices by name: what ``device=`` takes, and that all functions take it."""

import gc
import inspect
from functools import partial

import numpy as np
import pytest

import glla
from glla import array_api, lab, registry
from glla.errors import ContextError, DeviceMismatchError, OptionError, OptionTypeError
from glla.gl import default, named_device
from glla.lab import comparison, pivoting
from glla.operations import OPERATIONS
from glla.passes import Plan
from tests.beside import in_thread

A = np.float32([[4, 1], [1, 3]])
PUBLIC = [name for name in registry.PUBLIC if name in glla.__all__]


@pytest.fixture
def software(device):
    if not device.info.software:
        pytest.skip("the default device is no software rasteriser")
    return device


# One for each name ---------------------------------------------------------------------------------------------------


def test_names_of_the_default_device_are_the_default_device(software):
    index = int(software.info.backend.split()[2])
    for name in ("software", "Software ", index, str(index), np.int64(index), software, None):
        assert named_device("f", name) is software


def elsewhere(function):
    """Call a function in a fresh thread, whose devices are released."""

    def body():
        try:
            return function()
        finally:
            for device in list(default._known()):
                if not device.released:
                    device.release()

    found = in_thread(body)
    gc.collect()
    return found


def made_anew():
    first = named_device("f", "software")
    first.release()
    second = named_device("f", "software")
    return first is not second, not second.released, glla.matmul(A, A, device="software").tolist() == (A @ A).tolist()


def beside_another():
    """A second context of the same kind leaves the first one current."""
    named, stored = named_device("f", 0), glla.asarray(A, "software")
    found = glla.default_device() is named  # opens one, and lets it go
    return found, (stored @ stored).numpy().tolist() == (A @ A).tolist(), stored.device is named


@pytest.mark.parametrize(
    "names",
    [
        lambda: (named_device("f", "software") is named_device("f", 0), named_device("f", 0) is glla.default_device()),
        lambda: (named_device("f", 0) is named_device("f", "software"), named_device("f", 0) is glla.default_device()),
        made_anew,
        beside_another,
    ],
    ids=["kind first", "index first", "released", "second context"],
)
def test_a_name_is_one_device_in_a_thread(software, names):
    found = elsewhere(lambda: (*names(), named_device("f", "software") is not software))
    assert all(found), found


def test_the_environment_wins(software, monkeypatch):
    monkeypatch.setenv("GLLA_DEVICE", "software")
    assert elsewhere(lambda: named_device("f", "hardware").info.software) is True


@pytest.mark.mesa
def test_hardware_where_there_is_none(software):
    if not all(one.software for one in glla.devices()):
        pytest.skip("there is hardware")
    for call in (
        lambda: glla.matmul(A, A, device="hardware"),
        lambda: glla.plan("matmul", A, A, device="hardware"),
        lambda: glla.coprocessor(device="hardware"),
    ):
        with pytest.raises(ContextError, match="none of them is hardware"):
            call()


# What is none --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["gpu", "", "-1", "1.0", "0x0", -1, 99, "99", np.int64(-1), True, 1.0, b"0", [], {}])
def test_what_is_no_device(wrong):
    kind = OptionError if isinstance(wrong, (str, int, np.integer)) and wrong is not True else OptionTypeError
    listed = ", ".join(str(one.index) for one in glla.devices())
    with pytest.raises(OptionError) as caught:
        named_device("f", wrong)
    assert type(caught.value) is kind
    assert str(caught.value) == (
        f"f: device must be a glla.Device, 'software', 'hardware' or an index of `glla info` ({listed}), got {wrong!r}"
    )


def test_true_is_not_the_index_that_it_equals(monkeypatch):
    monkeypatch.setattr(default._local, "named", {1: glla.default_device()}, raising=False)
    assert named_device("f", 1) is glla.default_device()
    with pytest.raises(OptionTypeError):
        named_device("f", True)


# Every function ------------------------------------------------------------------------------------------------------


def arguments(name):
    """Arguments of a public function, that it takes as arrays and as matrices."""
    more = {"matmul": (A, A), "solve": (A, A), "lu_solve": ((A, np.int32([0, 1])), A), "cho_solve": ((A, False), A),
            "cho_solve_banded": ((A, False), A),
            "lstsq": (A, A), "solve_triangular": (A, A), "solve_banded": ((1, 0), A, A),
            "solveh_banded": (A, A), "eigen_bounds": (A, A[0], A), "eigh_tridiagonal": (A[0], A[0, 1:])}  # fmt: skip
    return more.get(name, (A,))


class Later:
    """Stands for a matrix that is made when the test runs."""


def with_devices():
    """Each function of glla that has the option ``device``, with arguments that suit it."""
    for name in PUBLIC:
        yield name, getattr(glla, name), arguments(name)
    for name in OPERATIONS:
        operands = OPERATIONS[name].example(4, np.random.default_rng(1))
        yield f"plan {name}", glla.plan, (name, *operands)
        yield f"explain {name}", glla.explain, (name, *operands)
    yield from [("asarray", glla.asarray, (A,)), ("from_dlpack", glla.from_dlpack, (A,))]
    yield "run", glla.run, (Plan("nothing", {}, (), {}, ()),)
    yield from [("trace", glla.trace, ()), ("pluq", pivoting.pluq, (A,))]
    matrix = Later()
    first = {
        **dict.fromkeys(("full_like", "zeros_like", "ones_like", "empty_like", "asarray", "from_dlpack"), (matrix,)),
        **dict.fromkeys(("zeros", "ones", "empty", "full"), ((2, 2),)),
        "astype": (matrix, np.float32),
        "eye": (2,),
        "arange": (3,),
        "linspace": (0.0, 1.0, 3),
    }
    for name in sorted(vars(array_api)):
        function = getattr(array_api, name)
        if inspect.isfunction(function) and "device" in inspect.signature(function).parameters:
            assert name in first, f"array_api.{name} has a device; give it arguments here"
            yield f"array_api.{name}", function, (*first[name], *([7.0] if name.startswith("full") else []))


CALLS = {name: call for name, *call in with_devices()}


def test_all_functions_with_a_device_are_here():
    """Whatever has the option is called below: a new function cannot be forgotten."""
    facade = {name for name in glla.__all__ if inspect.isfunction(getattr(glla, name, None))}
    having = {name for name in facade if "device" in inspect.signature(getattr(glla, name)).parameters}
    assert having - {"plan", "explain", "coprocessor"} <= CALLS.keys()
    assert set(PUBLIC) <= having
    assert len(PUBLIC) >= 11


@pytest.mark.parametrize("name", CALLS)
def test_a_function_takes_a_name(name, software):
    function, operands = CALLS[name]
    operands = [glla.asarray(A) if isinstance(one, Later) else one for one in operands]
    result = function(*operands, device="software")
    if isinstance(result, glla.Array):
        assert result.device is software
    expected = function(*operands, device=software)
    if isinstance(result, np.ndarray):
        assert (result == expected).all()
    with pytest.raises(OptionError, match=r"^\w+: device must be a glla\.Device, 'software', .*, got 'gpu'$"):
        function(*operands, device="gpu")


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_of_matrices_takes_the_name_of_their_device(name, software):
    operands = [value if isinstance(value, tuple) else glla.asarray(value) for value in arguments(name)]
    if name == "lu_solve":
        operands[0] = glla.lu_factor(operands[1])
    getattr(glla, name)(*operands, device="software")
    with pytest.raises(OptionError, match=r"got 'gpu'$"):
        getattr(glla, name)(*operands, device="gpu")


def test_matrices_of_another_device_are_refused(software):
    with glla.Device(software=True) as other:
        matrix = glla.asarray(A, other)
        with pytest.raises(DeviceMismatchError, match=r"^matmul: "):
            glla.matmul(matrix, A, device="software")
        with pytest.raises(DeviceMismatchError, match=r"^asarray: "):
            glla.asarray(matrix, "software")
        moved = matrix.to_device("software")
        assert moved.device is software
        assert moved.to_device("software") is moved
        assert (moved.numpy() == A).all()
        del matrix
    with pytest.raises(OptionError, match=r"^to_device: device must be .* got 'cpu'$"):
        moved.to_device("cpu")


def test_tune_and_compare_and_the_study_take_a_name(software):
    assert lab.tune(["triangular"], [4], device="software")
    experiment = comparison.Experiment("matmul", device="software")
    assert experiment.device is software
    with pytest.raises(OptionError, match=r"^compare: device must be .* got 'gpu'$"):
        lab.compare("matmul", device="gpu")
    for study in (lab.tune, partial(pivoting.pivoting_study, {})):
        with pytest.raises(OptionError, match=r"^\w+: device must be .* got 'gpu'$"):
            study(device="gpu")


def test_a_trace_of_one_device(software):
    with glla.Device(software=True) as other, glla.trace(device="software") as traced:
        glla.matmul(A, A, device=other)
        assert not traced.passes
        product = glla.matmul(A, A)
        there = glla.matmul(glla.asarray(A, other), A)
        assert (there.numpy() == product).all()
        del there
    assert {one.operation for one in traced.passes} == {"stack[matmul]"}
    assert {one.run for one in traced.passes} == {0}


def test_a_coprocessor_takes_a_name(software):
    with glla.coprocessor(device="software") as gpu:
        assert gpu.info.software
        assert (gpu.matmul(A, A).result() == A @ A).all()
        assert gpu.submit(lambda: glla.asarray(A, "software").device is glla.default_device()).result()
        with pytest.raises(OptionError, match=r"^hybrid\.map: device is of its own coprocessor, got 'software'"):
            glla.hybrid.map("inv", [A], gpu=gpu, device="software")
    with glla.hybrid.map("inv", [A], device="software", ratio=0) as stream:
        assert np.allclose(next(stream) @ A, np.eye(2), atol=1e-6)
