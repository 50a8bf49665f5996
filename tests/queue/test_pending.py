"""What a result knows of the rest: an `Owner`, and the list of operations."""

import ast
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

import glla
import glla.queue
from glla.operations import OPERATIONS
from glla.queue.pending import Call, Pending

ORDER = ["turns", "pending", "engine", "worker", "handle", "methods", "single", "several"]


class Owner:
    """Has all that a result needs, and no worker."""

    def __init__(self):
        self.calls = []
        self.asked = []

    def enqueue(self, name, function, args, kwargs):
        self.calls.append((name, args))
        return Pending(self, Call(name, function, args, kwargs))

    def delegated(self, function, args, kwargs):
        return self.enqueue(function.__name__, function, args, kwargs)

    def fetch(self, pending, waits=True):
        read = Future()
        read.set_result(self.value(pending))
        return read

    def value(self, pending):
        return np.ones((2, 3))

    def check_process(self):
        self.asked.append("process")

    def is_this_thread(self):
        return False


@pytest.fixture
def owner():
    return Owner()


def test_a_result_needs_no_more_than_an_owner(owner):
    p = Pending(owner, Call("zeros", np.zeros, (3,)))
    assert (p.shape, p.ndim, p.result().sum(), p.exception()) == ((2, 3), 2, 6, None)
    assert p.prefetch() is p
    p.add_done_callback(lambda done: owner.asked.append(done))
    assert p.cancel() and owner.asked == ["process", "process", p]


def test_operators_queue_calls(owner):
    p = Pending(owner, Call("zeros", np.zeros, (3,)))
    found = [p + 1, 1 + p, p - 1, 1 - p, p * 2, 2 * p, p / 2, 2 / p, p @ 2, 2 @ p, p**2, 2**p, -p, +p, abs(p)]
    found += [p < 1, p <= 1, p > 1, p >= 1, p == 1, p != 1]
    found += [p.T, p[0], np.add(p, 1), np.linalg.inv(p), glla.matmul(p, 2), glla.matmul(2, p)]
    assert all(type(one) is Pending for one in found)
    names = ["add", "subtract", "multiply", "divide", "matmul", "power"]
    both = [call for name in names for call in ((name, 0), (name, 1))]
    places = [(name, next(place for place, one in enumerate(args) if one is p)) for name, args in owner.calls]
    rest = ["negative", "positive", "absolute", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
    rest += ["transpose", "getitem", "add", "inv", "matmul"]
    assert places == both + [(name, 0) for name in rest] + [("matmul", 1)]


def test_operators_do_what_they_say(owner):
    a, b = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
    p = Pending(owner, Call("array", np.array))
    p.set_result(a)
    found = [p + b, b + p, p - b, b - p, p * b, b * p, p / b, b / p, p @ b, b @ p, p**b, b**p, -p, +p, abs(p), p.T]
    expected = [a + b, a + b, a - b, b - a, a * b, a * b, a / b, b / a, a @ b, b @ a, a**b, b**a, -a, a, abs(a), a.T]
    found += [p < 2, p <= 2, p > 2, p >= 2, p == 2, p != 2, p[0, 1], p[1], 2 + p, 2 - p, 2 / p, 2**p, np.add(1, p)]
    expected += [a < 2, a <= 2, a > 2, a >= 2, a == 2, a != 2, a[0, 1], a[1], 2 + a, 2 - a, 2 / a, 2**a, 1 + a]
    for one, value in zip(found, expected, strict=True):
        args, kwargs = one._call.resolved()
        np.testing.assert_array_equal(one._call.function(*args, **kwargs), value)


@pytest.mark.parametrize("name", OPERATIONS)
def test_parts_are_those_of_the_record(owner, name):
    p = Pending(owner, Call(name, np.zeros))
    if OPERATIONS[name].function.parts > 1:
        parts = list(p)
        assert owner.calls == [("getitem", (p, place)) for place in range(len(parts))]
        assert len(parts) == OPERATIONS[name].function.parts
    else:
        with pytest.raises(TypeError, match="cannot be taken apart before it is there"):
            iter(p)


@pytest.mark.parametrize("place", range(len(ORDER)))
def test_modules_of_the_queue_know_those_before_them(place):
    folder = Path(glla.queue.__file__).parent
    assert {path.stem for path in folder.glob("[!_]*.py")} == set(ORDER)
    tree = ast.parse((folder / f"{ORDER[place]}.py").read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {f"glla.queue.{alias.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
              and node.module == "glla.queue" for alias in node.names}  # fmt: skip
    imported = {name.removeprefix("glla.queue.") for name in names if name.startswith("glla.queue.")}
    assert imported <= set(ORDER[:place])
