"""The bound on what is queued: fences behind portions of the work, and waits for the portion before."""

import numpy as np
import pytest

import glla
from glla.errors import AbandonedError
from glla.gl import runner, throttle
from glla.gl.throttle import Throttle
from glla.passes import Cost
from glla.testing import assert_exact, integers
from tests.beside import spied

PLAN = glla.plan("plu", (4, 4))


class Fences:
    """Stands for `Fence`: notes what is made and waited for."""

    def __init__(self, monkeypatch, slow=0):
        self.log, self.slow = [], slow
        monkeypatch.setattr(throttle, "Fence", self.make)

    def make(self, calls):
        self.log.append("fence")
        return self

    def wait(self, seconds):
        self.log.append("wait")
        self.slow -= 1
        return self.slow < 0


def test_each_portion_waits_for_the_one_before(monkeypatch):
    assert throttle.work(Cost(passes=1, flops=512, texels=1, nbytes=16)) == 18  # of bytes and flops
    fences = Fences(monkeypatch)
    queue = Throttle(None, lambda plan: None)
    for _ in range(3):
        queue.add(throttle.PORTION * 0.75, PLAN)
        queue.add(throttle.PORTION * 0.5, PLAN)
    assert fences.log == ["fence", "wait", "fence", "wait", "fence"]
    fences = Fences(monkeypatch)  # a pass of two portions is waited for itself
    Throttle(None, lambda plan: None).add(throttle.PORTION * 2, PLAN)
    assert fences.log == ["fence", "wait"]


def test_while_it_waits_it_may_be_ended(monkeypatch):
    def end(plan):
        raise AbandonedError(plan.operation)

    Fences(monkeypatch, slow=1)
    queue = Throttle(None, end)
    queue.add(throttle.PORTION, PLAN)
    with pytest.raises(AbandonedError):
        queue.add(throttle.PORTION, PLAN)


@pytest.mark.parametrize("heavy", [0.0, np.inf], ids=["within the plan", "behind the plan"])
def test_all_work_of_plans_is_counted(heavy, monkeypatch, rng):
    monkeypatch.setattr(runner, "HEAVY", heavy)
    counted = []
    monkeypatch.setattr(Throttle, "add", lambda self, amount, plan: counted.append((plan, amount)))
    with glla.Device() as device:
        plan = glla.plan("plu", (40, 40), device=device)
        a = integers(40, 40, rng)
        glla.plu(a, device=device)
    inner = {one for one, _ in counted}
    for one in inner:
        runs = sum(amount for other, amount in counted if other is one) / throttle.work(one.cost)
        assert runs == pytest.approx(round(runs))
        assert round(runs) >= 1
    assert sum(amount for _, amount in counted) >= throttle.work(plan.cost) * 0.99
    steps = sum(1 for _ in counted)
    assert steps > 40 / 2 if heavy == 0.0 else steps < 40 / 2  # one for each pass, or one for each plan


def test_results_are_those_without_fences(monkeypatch, rng):
    monkeypatch.setattr(throttle, "PORTION", 1000.0)
    monkeypatch.setattr(runner, "HEAVY", 250.0)
    fences = spied(monkeypatch, throttle, "Fence")
    a, b = integers(33, 21, rng), integers(21, 40, rng)
    with glla.Device() as device:
        assert_exact(glla.matmul(a, b, device=device), a @ b)
        n = len(fences)
        assert n > 3
        glla.rref(a, device=device)
    assert len(fences) > n + 10
