"""What the tests of comparisons share: one that was measured, and broken contenders."""

import gc
import json
from dataclasses import replace
from functools import partial

import pytest

from glla.errors import LimitError, PlanError
from glla.lab import ceilings, comparison, machine, mistakes, operations, peers, saved
from glla.lab.bench import EFFORTS
from glla.lab.comparison import Comparison, Source
from glla.lab.operations import Contender
from glla.operations.product import matmul
from glla.passes import Pass, Plan


@pytest.fixture(scope="session")
def roofs(device):
    """The ceilings of the device, measured once for all tests."""
    found = ceilings.of_fragments(device, quick=True)
    gc.collect()  # textures in cycles, which the first test that asks for this would miss at its end
    return found


def hurried(patch, roofs):
    """Let comparisons take the ceilings as measured, and not wait; none depends on how busy the machine is."""
    patch.setattr(ceilings, "of_fragments", lambda device, quick=False: roofs)
    patch.setattr(machine, "LISTEN", 0.0)
    patch.setattr(peers, "AGREEMENT", 1e9)
    effort = partial(peers.Effort, fewest=2, most=2, seconds=0.001, warm=0.0)
    patch.setattr(peers, "TRIAL", effort())
    patch.setattr(peers, "Effort", effort)
    for key, one in EFFORTS.items():
        patch.setitem(EFFORTS, key, replace(one, peer=effort()))


@pytest.fixture
def load():
    """Reads a comparison that `saved.save_json` wrote."""

    def load(path):
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data.pop("format") == saved.FORMAT and data.pop("summaries")
        data["records"] = [saved.measurement(record) for record in data["records"]]
        data["sources"] = [Source(**one | {"parts": tuple(map(tuple, one["parts"]))}) for one in data["sources"]]
        data["mistakes"] = [mistakes.Mistake(**one) for one in data["mistakes"]]
        return Comparison(**data)

    return load


@pytest.fixture
def quick(monkeypatch, roofs):
    """A comparison takes hardly any time."""
    hurried(monkeypatch, roofs)


@pytest.fixture(scope="session")
def measured(roofs):
    """A comparison of two products at four sizes, as a fitted line needs; tests must not change it."""
    with pytest.MonkeyPatch.context() as patch:
        hurried(patch, roofs)
        return comparison.compare("matmul", ["inner_product", "register_blocked"], [8, 17, 24, 32], repeats=3)


def short_sum(forms, limits, parameters):
    """Plan of a product that leaves out the last inner indices."""
    plan = matmul.plan(forms, limits, variant="inner_product")
    (step,) = plan.steps
    assert isinstance(step, Pass)
    fewer = replace(step, uniforms={**step.uniforms, "count": step.uniforms["count"] - 1})
    return Plan(plan.operation, plan.slots, plan.operands, plan.results, (fewer,), plan.flops)


def broken(forms, limits, parameters):
    raise RuntimeError("out of luck")


def too_large(forms, limits, parameters):
    n, _ = forms[0].matrix
    raise LimitError(f"matmul[too_large]: 16 at most, got {n}", n, 16)


def bad_plan(forms, limits, parameters):
    raise PlanError("matmul[bad_plan]: no plan")


CONTENDERS = {
    "short_sum": Contender("leaves out a term", "a test", name="short_sum", build=short_sum),
    "broken": Contender("<b>raises</b>", "a test", name="broken", build=broken),
    "too_large": Contender("", "", name="too_large", build=too_large),
    "bad_plan": Contender("", "", name="bad_plan", build=bad_plan),
    "newest": Contender("", "", name="newest", build=short_sum, needs=("OpenGL 9.9",)),
    "extended": Contender("", "", name="extended", build=short_sum, needs=("GL_ARB_compute_shader",)),
}


@pytest.fixture
def add():
    """A function that lets contenders of matmul take part, by their names above or as they are."""
    added = []

    def add(*names):
        for name in names:
            contender = CONTENDERS[name] if isinstance(name, str) else name
            operations.add("matmul", contender)
            added.append(contender.name)

    yield add
    for name in added:
        operations.remove("matmul", name)
