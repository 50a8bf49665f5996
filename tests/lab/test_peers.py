"""The CPU's side: every way is right, the fastest wins, and figures that disagree are found out."""

import time

import numpy as np
import pytest

from glla.lab import extra, peers
from glla.lab.peers import Candidate, Effort, Figure, Peer, Way
from glla.lab.samples import Samples
from glla.operations import OPERATIONS
from glla.testing import JUDGES

pytest.importorskip("scipy")

SHORT = Effort(fewest=2, most=2, seconds=0.0, warm=0.0)

WAYS = [(name, way) for name, one in OPERATIONS.items() if peers.peer_of(one) for way in peers.peer_of(one).ways]
WAYS += [("stack", way) for way in peers.STACK.ways]
SYMMETRIC = {"syrk": np.triu, "inv_pos": np.tril}
"""The halves that BLAS and LAPACK fill of results that are symmetric."""


def problem(name, n, rng):
    """Operands of an operation, or of a stack of systems; and those that its peer gets, which solves the same."""
    if name == "stack":
        arrays = tuple(map(np.stack, zip(*(OPERATIONS["solve"].example(n, rng) for _ in range(5)), strict=True)))
        return arrays, arrays
    arrays = OPERATIONS[name].example(n, rng)
    return arrays, peers.peer_of(OPERATIONS[name]).given(*arrays)


def is_right(name, arrays, result):
    """Judge what any of the ways gives, in the form that glla's operation has; rref's peer is a factorisation."""
    if name == "stack":
        return all(JUDGES["solve"].verdict(one, x).ok for *one, x in zip(*arrays, result, strict=True))
    if name == "rref":
        name, arrays = "lu_factor", peers.peer_of(OPERATIONS[name]).given(*arrays)
    if name in ("plu", "lu_factor"):
        result = np.ascontiguousarray(result[0]), result[1].astype(np.int32)
        result = dict(zip(("LU", "pivots"), result, strict=True)) if name == "plu" else result
    elif name in SYMMETRIC:
        half = SYMMETRIC[name]
        result = half(result) + half(result, {np.triu: 1, np.tril: -1}[half]).T
    elif name in ("cholesky", "cho_factor"):  # spotrf leaves the other half as it was
        result = np.tril(result) if name == "cholesky" else (np.ascontiguousarray(result), True)
    elif isinstance(result, tuple):
        result = tuple(map(np.float32, result))
    else:
        result = np.float32(result) if np.ndim(result) == 0 else np.ascontiguousarray(result)
    return JUDGES[name].verdict(arrays, result).ok


@pytest.mark.parametrize(("name", "way"), WAYS, ids=lambda one: getattr(one, "label", one))
def test_every_way_is_right_and_leaves_the_input_alone(name, way, rng):
    """Also at its second call, on operands that were copied anew: ways in place destroy them."""
    arrays, theirs = problem(name, 23, rng)
    copies, seen = [array.copy() for array in theirs], []

    def bind():
        call = way.bind()

        def noting(*operands):
            result = call(*operands)
            kept = result if isinstance(result, tuple) else np.array(result)
            seen.append(tuple(map(np.array, kept)) if isinstance(kept, tuple) else kept)
            return result

        return noting

    samples = peers.repeats(Way(way.label, way.package, way.operands, bind), theirs, None, SHORT)
    assert len(samples.times) == 2 and len(seen) == 4  # one warms up, one tells how long a call takes
    assert all(is_right(name, arrays, result) for result in seen)
    for array, copy in zip(theirs, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", sorted({name for name, _ in WAYS}))
def test_the_judge_of_this_test_can_fail(name, rng):
    arrays, theirs = problem(name, 23, rng)
    usual = next(way for one, way in WAYS if one == name)
    result = usual.bind()(*[array.copy() for array in usual.operands(*theirs)])
    wrong = (result[0] * 1.5, *result[1:]) if isinstance(result, tuple) else result * np.float32(15)
    assert not is_right(name, arrays, wrong)


IN_PLACE = "lapack.sgetrf(a, overwrite_a=1), in place, Fortran order"


def test_there_are_several_ways_and_the_usual_call_comes_first():
    for peer in peers.PEERS:
        assert len(peer.ways) >= 2 and peer.ways[0] is peer.usual
        assert len({way.label for way in peer.ways}) == len(peer.ways)
    assert peers.FACTORS.usual.label == "scipy.linalg.lu_factor(a)"
    assert IN_PLACE in [way.label for way in peers.FACTORS.others]
    # Not the record's counterpart as it is called: that of the factor was, until this test.
    few = {name for name, one in OPERATIONS.items() if one.function.host and name not in peers.BEST}
    assert not few & {"cholesky", "cho_factor"}
    labels = [way.label for way in peers.peer_of(OPERATIONS["cholesky"]).ways]
    assert any("spotrf" in label and "in place" in label for label in labels)


def test_ways_in_place_get_fortran_order():
    way = next(way for way in peers.FACTORS.others if way.label == IN_PLACE)
    (operand,) = way.operands(np.ones((4, 4), dtype=np.float32))
    assert operand.flags.f_contiguous
    given = []
    noting = Way("", "numpy", way.operands, lambda: lambda a: given.append(a.flags.f_contiguous))
    peers.repeats(noting, (np.arange(16, dtype=np.float32).reshape(4, 4),), None, SHORT)
    assert given == [True] * 4


# ---- which one counts ------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Let ways take the seconds that a table says: label -> seconds, one after the other, the last for ever."""
    table = {}

    def repeats(way, arrays, threads, effort, hopeless=np.inf):
        found = table[way.label]
        return Samples((found.pop(0) if len(found) > 1 else found[0],) * 3)

    monkeypatch.setattr(peers, "repeats", repeats)
    monkeypatch.setattr(peers, "thread_counts", lambda: (None,))
    return table


def made(*labels):
    usual, *others = (Way(label, "numpy", lambda a: (a,), lambda: lambda a: a) for label in labels)
    return Peer("work", usual, tuple(others))


def test_the_fastest_way_is_the_peer_and_the_usual_call_stands_beside(clock):
    clock |= {"usual": [3.0], "slow": [2.0], "fast": [1.0]}
    figure = Figure(made("usual", "slow", "fast"), "n = 4", ())
    figure.time(())
    figure.time(())
    report = figure.as_dict()
    assert (report["best"]["way"], report["best"]["seconds"]) == ("fast", 1.0)
    assert (report["usual"]["way"], report["usual"]["seconds"]) == ("usual", 3.0)
    assert [trial["way"] for trial in report["trials"]] == ["fast", "slow", "usual"]
    assert report["best"]["blocks"] == [[1.0] * 3] * 2 and figure.disagreement() == ""
    clock["usual"] = [0.5]
    figure = Figure(made("usual", "slow", "fast"), "n = 4", ())
    figure.time(())
    assert figure.best.way.label == "usual"


def timed_twice(peer):
    """A figure of two finalists, at the start and at the end of a run."""
    figure = Figure(peer, "n = 4", ())
    figure.finalists = [figure.usual, Candidate(peer.others[0], None)]
    figure.time(())
    figure.time(())
    return figure


@pytest.mark.parametrize(("later", "agrees"), [(1.2, True), (1.3, False), (0.7, False)])
def test_blocks_must_agree(clock, later, agrees):
    clock |= {"usual": [3.0], "fast": [1.0, 1.0, later]}  # when it is tried, at the start, at the end
    figure = timed_twice(made("usual", "fast"))
    text = figure.disagreement()
    assert (text == "") is agrees
    if not agrees:
        first = f"work at n = 4 (fast) took 1e+03, then {1e3 * later:.3g} ms: "
        assert text.startswith(first) and text.endswith("times apart, where 1.25 is allowed")
    figure.keep(1)
    assert figure.blocks == 1 and figure.disagreement() == ""


def test_what_is_not_shown_may_disagree(clock):
    """A second finalist that lost appears nowhere."""
    clock |= {"usual": [1.0], "lost": [1.1, 1.1, 9.0]}
    figure = timed_twice(made("usual", "lost"))
    assert figure.finalists[1].disagreement > 8 and figure.disagreement() == ""


def calls_of(call, **effort):
    """Calls that a way gets, and its samples."""
    calls = []
    way = Way("", "numpy", lambda a: (a,), lambda: lambda a: calls.append(1) or call(len(calls)))
    hopeless = effort.pop("hopeless", np.inf)
    return calls, peers.repeats(way, (np.ones(3, dtype=np.float32),), None, Effort(**effort), hopeless=hopeless)


def test_how_often_a_way_is_called():
    """A hopeless one twice, but not for a slow start: the threads of another BLAS may hold up the first call."""
    assert len(calls_of(abs, fewest=5, hopeless=0.0)[0]) == 2
    _, samples = calls_of(lambda number: number == 1 and time.sleep(0.05), fewest=5, warm=0, hopeless=0.04)
    assert len(samples.times) >= 5
    calls, samples = calls_of(abs, fewest=2, most=4, seconds=1e-3, warm=0)  # a repeat is the mean of several
    assert len(samples.times) <= 4 and len(calls) > 20


def test_threads_are_limited_in_the_block_alone(monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def counts():
        return {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}

    before = counts()
    with peers.with_threads(1):
        assert counts() == {1}
    assert counts() == before
    with peers.with_threads(None):
        assert counts() == before
    pytest.importorskip("threadpoolctl")
    monkeypatch.setattr(peers.machine, "cores", lambda: 16)
    monkeypatch.setattr(peers.machine, "physical_cores", lambda: 8)
    assert peers.thread_counts() == (16, 8, 1)
    monkeypatch.setattr(peers.machine, "physical_cores", lambda: None)
    monkeypatch.setattr(peers.machine, "cores", lambda: 2)
    assert peers.thread_counts() == (2, 1)
    monkeypatch.setattr(peers, "control", lambda: None)
    assert peers.thread_counts() == (None,)


def test_without_scipy_numpy_is_the_peer_where_it_can(monkeypatch, rng):
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "scipy" else object())
    figure = Figure(peers.SYSTEM, "n = 4", problem("solve", 4, rng)[0], SHORT)
    assert {trial.way.package for trial in figure.trials} == {"numpy"}
    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    with pytest.raises(extra.MissingPackageError, match="LAPACK getrf as a peer: needs scipy"):
        Figure(peers.FACTORS, "n = 4", problem("plu", 4, rng)[0], SHORT)
