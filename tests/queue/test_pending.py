"""What a result knows of the rest: an `Owner`, and the list of operations."""

import pickle
from concurrent.futures import Future

import numpy as np
import pytest

from glla.operations import OPERATIONS
from glla.queue.pending import Call, Pending


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
        for call, message in ((iter, "cannot be taken apart before it is there"), (pickle.dumps, "cannot be copied")):
            with pytest.raises(TypeError, match=f"{name}.* {message}"):
                call(p)
