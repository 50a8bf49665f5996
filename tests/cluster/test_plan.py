"""Schedules of a cluster: what each process does, whether it ends, and how long it takes."""

from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest

from glla import cluster
from glla.cluster import layout as layouts
from glla.cluster.algorithms import OPERATIONS, branch
from glla.cluster.steps import Receive, Schedule, Send, Work
from glla.errors import PlanError

GRIDS = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (1, 4), (5, 1)]


def test_every_row_has_one_owner_and_one_place():
    for n, nb, processes in product((0, 1, 7, 8, 33), (2, 4, 8), (1, 2, 3, 5)):
        seen = [layouts.owned(n, nb, p, processes) for p in range(processes)]
        assert sorted(np.concatenate(seen).tolist()) == list(range(n))
        for p, rows in enumerate(seen):
            assert len(rows) == layouts.local_count(n, nb, p, processes)
            places, local = layouts.Layout((n, n), nb, (processes, 1)).held(np.arange(n), p)
            assert (places.tolist(), local.tolist()) == (rows.tolist(), list(range(len(rows))))
            for k in range(n + 1):
                assert layouts.local_count(k, nb, p, processes) == int((rows < k).sum())


def test_descriptors_and_work():
    """ScaLAPACK's descriptor; a factorisation takes two thirds of n^3."""
    layout = layouts.Layout((10, 6), 4, (2, 2))
    assert layout.descriptor(1, context=3) == (1, 3, 10, 6, 4, 4, 0, 0, 4)
    schedule = cluster.plan("plu", 512, 16, (2, 2))
    flop = sum(schedule.totals(rank).flop for rank in range(4))
    assert 1 <= flop / (2 * 512**3 / 3) < 1.2


@pytest.mark.parametrize("size", range(1, 18))
def test_a_tree_reaches_every_process_once(size):
    for root in (0, size // 2, size - 1):
        pairs = [(child, me) for me in range(size) for child in branch(range(size), root, me).children]
        assert sorted(child for child, _ in pairs) == [one for one in range(size) if one != root]
        assert all(branch(range(size), root, child).parent == me for child, me in pairs)


@pytest.mark.parametrize(("operation", "grid"), [*product(OPERATIONS, GRIDS)])
def test_every_schedule_comes_to_its_end(operation, grid):
    for n, nb, variant, look_ahead in product((0, 1, 5, 16, 33), (2, 8), cluster.VARIANTS, (True, False)):
        schedule = cluster.plan(operation, n, nb, grid, variant=variant, look_ahead=look_ahead)
        cluster.check(schedule)
        cluster.simulate(schedule)
        totals = [schedule.totals(rank) for rank in range(len(schedule.ranks))]
        assert sum(one.sent_bytes for one in totals) == sum(one.received_bytes for one in totals)


def test_listing_a1_of_the_thesis_fails():
    """And a message of another size."""
    with pytest.raises(PlanError, match="rank 0 sends 'data' to itself"):
        cluster.check(cluster.listing_a1())
    with pytest.raises(PlanError, match="in a circle: 0 waits for 'data 101' of 1, 1 waits for 'data 100' of 0"):
        cluster.check(cluster.listing_a1(mended=True))
    first, second = cluster.listing_a1(mended=True).ranks
    cluster.check(Schedule("one receives, the other sends first", (1, 2), (first, second[::-1])))
    ranks = ((Send(0, "x", 1, 8),), (Receive(0, "x", 0, 4),))
    with pytest.raises(PlanError, match="rank 0 sends 8 bytes of 'x' in panel 0, rank 1 expects 4"):
        cluster.check(Schedule("wrong", (1, 2), ranks))


@pytest.mark.parametrize("lost", range(0, 12))
def test_a_lost_message_is_found(lost):
    schedule = cluster.plan("plu", 16, 4, (2, 2))
    steps = list(schedule.ranks[1])
    messages = [place for place, step in enumerate(steps) if isinstance(step, Send | Receive)]
    del steps[messages[lost]]
    with pytest.raises(PlanError, match=r"wait|never|expects"):
        cluster.check(replace(schedule, ranks=(schedule.ranks[0], tuple(steps), *schedule.ranks[2:])))


def test_the_model_gives_the_designs_predictions():
    """Of H200 nodes, without the time of U = L^-1 A, which the design leaves out, as it leaves out that P = 1 saves."""
    h200 = cluster.Parameters(triangle_rate=inf)
    for n, grid, seconds, efficiency in (
        (65536, (2, 2), 41.8, 0.86), (131072, (4, 4), 84, 0.86),
        (1048576, (32, 32), 686, 0.84), (131072, (32, 32), 12.0, 0.09),
    ):  # fmt: skip
        found = cluster.predict(n, 512, grid, h200)
        assert abs(found.seconds / seconds - 1) < 0.006
        assert round(found.efficiency, 2) == efficiency
    assert found.binds == "panel"
    assert round(cluster.predict(131072, 512, (4, 4), h200, look_ahead=False).efficiency, 2) == 0.55


@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (2, 2), (4, 4)])
def test_the_simulation_agrees_with_the_closed_form(grid):
    n = 16384 * max(grid)
    for look_ahead in (True, False):
        simulated = cluster.simulate(cluster.plan("plu", n, 512, grid, look_ahead=look_ahead)).seconds
        assert 0.95 < simulated / cluster.predict(n, 512, grid, look_ahead=look_ahead).seconds < 1.25


def test_slopes_follow_latency_and_network():
    """What is made worse on purpose counts as often as the longest chain of messages has it."""
    free = cluster.Parameters(0.0, inf, inf, inf, inf, inf)
    schedule = cluster.plan("plu", 64, 8, (1, 2), look_ahead=False)
    seconds = [cluster.simulate(schedule, replace(free, latency=each)).seconds for each in (1.0, 2.0)]
    assert seconds == [8.0, 16.0]  # L of eight panels, one after the other
    sent = [step.nbytes for steps in schedule.ranks for step in steps if isinstance(step, Send)]
    assert cluster.simulate(schedule, replace(free, network=1.0)).seconds == sum(sent)


@pytest.mark.parametrize("look_ahead", [True, False])
def test_slopes_follow_issue_and_memory(look_ahead):
    """Steps of a GPU are issued one after the other; what is copied beside it is copied by one thread."""
    free = cluster.Parameters(0.0, inf, inf, inf, inf, 1e30)
    schedule = cluster.plan("plu", 64, 16, (1, 1), look_ahead=look_ahead)
    work = [step for step in schedule.ranks[0] if isinstance(step, Work)]
    for each in (1.0, 2.0):
        seconds = cluster.simulate(schedule, replace(free, issue=each)).seconds
        assert seconds == pytest.approx(each * sum(step.engine for step in work))
        closed = cluster.predict(64, 16, (1, 1), replace(free, issue=each), look_ahead=look_ahead).seconds
        assert closed == pytest.approx(each * 3 * 4)  # U, the next panel, the rest, of four panels
    copied = sum(step.memory for step in work)
    assert copied > 64 * 64 * 4
    assert cluster.simulate(schedule, replace(free, memory=1.0)).seconds == pytest.approx(copied)
    both = cluster.simulate(schedule, replace(free, memory=1.0, issue=copied / 12)).seconds
    assert both < 1.5 * copied  # at the same time
    host = replace(free, memory=1.0, bus=inf, rate=12.0)  # an engine in the host's thread
    flop = sum(step.flop for step in work if step.name.startswith("update"))
    assert cluster.simulate(schedule, host).seconds == pytest.approx(copied + flop / 12.0)


def test_the_command_predicts_and_draws(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from glla.cli import main

    picture = tmp_path / "cluster.png"
    assert main(["cluster", "predict", "--nodes", "1024", "--out", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "32 x 32 processes" in printed
    assert "what binds: update" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["cluster", "predict", "--nodes", "2x2", "--size", "4096", "--nb", "256"]) == 0
    assert "simulated" in capsys.readouterr().out
    assert main(["cluster", "plan", "plu", "--size", "16", "--nb", "4"]) == 0
    assert "checked" in capsys.readouterr().out
