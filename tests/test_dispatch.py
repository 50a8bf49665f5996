"""Operands that take a call over: what a queue's results stand on."""

import inspect

import numpy as np
import pytest

import glla
from glla import linalg

FUNCTIONS = ["asarray", *(n for n in linalg.__all__ if inspect.isfunction(getattr(linalg, n)) and n != "plan")]


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


def test_the_function_handed_over_computes():
    _, plain, _, _ = glla.matmul(Pending(), [[1]])
    assert plain([[2]], [[3]]).tolist() == [[6]]


def test_signatures_stay():
    assert list(inspect.signature(glla.matmul).parameters) == ["a", "b", "out", "variant", "device", "check_finite"]


def test_operators_give_way():
    A, pending = glla.asarray(np.eye(2)), Pending()
    product, left = A @ pending
    assert product == "multiplied"
    assert left is A
