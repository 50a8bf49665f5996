"""The cache of plans: bounded in bytes, the oldest goes first, for every thread and every builder."""

import threading
import tracemalloc

import pytest

from glla.errors import OptionError
from glla.operations.elimination import plu
from glla.passes import PLAIN, Draft, matrix, resident
from glla.passes.cache import ENTRY_BYTES, STEP_BYTES, Cache, cached_plan, estimate
from tests.beside import started


@pytest.fixture
def cache(monkeypatch):
    """A cache of its own, with room for three entries."""
    own = Cache()
    monkeypatch.setattr("glla.passes.cache.PLANS", own)
    own.limit(3 * ENTRY_BYTES)
    return own


def builder(built):
    @cached_plan
    def build(number, *, name=""):
        built.append(number)
        return (number, name)

    return build


def test_a_hit_builds_nothing(cache):
    built = []
    build = builder(built)
    assert build(1) is build(1) and build(1, name="a") is build(1, name="a")
    assert build(1) != build(1, name="a")
    assert built == [1, 1] and cache.count == 2 and cache.nbytes == 2 * ENTRY_BYTES
    assert build.__wrapped__(1) == (1, "") and build.__name__ == "build"


def test_arguments_by_name_are_not_those_by_position(cache):
    @cached_plan
    def build(*args, **kwargs):
        return args, kwargs

    assert build(1, ("n", 2)) != build(1, n=2)


def test_the_one_that_was_used_longest_ago_goes(cache):
    built = []
    one, other = builder(built), builder(built)
    for build, number in ((one, 1), (other, 2), (one, 3), (one, 1), (other, 4)):
        build(number)
    assert cache.count == 2 and cache.nbytes == 2 * ENTRY_BYTES  # down to seven eighths of three
    built.clear()
    for build, number in ((one, 1), (other, 4), (other, 2), (one, 3)):
        build(number)
    assert built == [2, 3]


def test_the_newest_stays_however_large(cache):
    cache.limit(0)
    built = []
    build = builder(built)
    assert build(1) is build(1) and cache.count == 1
    build(2)
    assert build(2) is build(2) and built == [1, 2] and cache.count == 1


def test_the_number_of_plans_is_bounded_too(cache, monkeypatch):
    monkeypatch.setattr("glla.passes.cache.MOST_PLANS", 8)
    cache.limit(100 * ENTRY_BYTES)
    built = []
    build = builder(built)
    for number in range(9):
        build(number)
    assert cache.count == 7
    build(2)
    assert built == [*range(9)]
    build(1)
    assert built == [*range(9), 1]


def test_clearing_one_builder_leaves_the_others(cache):
    one, other = builder([]), builder([])
    one(1)
    other(1)
    one.cache_clear()
    assert cache.count == 1 and cache.nbytes == ENTRY_BYTES


def test_builders_that_raise_keep_nothing(cache):
    @cached_plan
    def build():
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            build()
    assert cache.count == 0


def test_threads_get_one_and_the_same(cache):
    """Where both build at a time, the value of the quicker one serves; the count stays right."""
    both = threading.Barrier(2)

    @cached_plan
    def build(number):
        both.wait(20)
        return object()

    threads = [started(lambda: [build(k) for k in range(20)]) for _ in range(2)]
    one, other = (thread.result(20) for thread in threads)
    assert len(one) == 20 and all(a is b for a, b in zip(one, other, strict=True))
    assert cache.nbytes == ENTRY_BYTES * cache.count <= cache.most


def test_the_environment_sets_the_bound(monkeypatch):
    monkeypatch.setenv("GLLA_MAX_PLAN_BYTES", "77")
    assert Cache().most == 77
    monkeypatch.setenv("GLLA_MAX_PLAN_BYTES", "much")
    with pytest.raises(OptionError, match="GLLA_MAX_PLAN_BYTES: must be a number of bytes from 0, got 'much'"):
        _ = Cache().most


def test_a_plan_is_estimated_by_its_steps():
    """Measured, it takes up to a third more or less, by the version of Python."""
    build = plu.plan.__wrapped__
    build(resident((512, 512)), PLAIN)  # what it imports and looks up counts no more
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        plan = build(resident((512, 512)), PLAIN)
        measured = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert estimate(plan) == ENTRY_BYTES + STEP_BYTES * len(plan.steps) == pytest.approx(measured, rel=0.35)


def test_a_plan_of_plans_counts_what_it_calls():
    """Once it is checked, it has copies of their steps."""
    inner = plu.plan(resident((64, 64)))
    draft = Draft("outer")
    draft.operand("A", matrix((64, 64)))
    outer = draft.plan({"LU": draft.call("inner", inner, A="A")["LU"]})
    assert estimate(outer) == ENTRY_BYTES + STEP_BYTES * (1 + len(inner.steps))
