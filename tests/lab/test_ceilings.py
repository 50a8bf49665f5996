"""`glla ceilings`: every figure is there and plausible, and bare moderngl draws the same as the plans."""

import json

import numpy as np
import pytest

import glla
from glla.cli import main
from glla.lab import ceilings
from glla.operations import ceilings as kernels
from glla.operations.layouts import packing


@pytest.fixture(scope="module")
def outcome():
    """Return what is measured on a device that does not check every pass, as the command makes one."""
    with glla.Device(debug=False) as device:
        return ceilings.report(device, quick=True)


def value(outcome, name):
    return outcome["ceilings"][name]["value"]


def test_report(outcome):
    assert outcome["renderer"] == glla.default_device().info.renderer
    assert outcome["cores"] >= 1 and outcome["quick"] is True
    for one in outcome["ceilings"].values():
        assert set(one) == {"value", "unit", "what", "spread"}
        assert np.isfinite(one["value"]) and one["value"] > 0 and one["spread"] >= 0
    assert json.loads(json.dumps(outcome, allow_nan=False)) == outcome
    text = ceilings.table(outcome)
    assert all(name in text for name in outcome["ceilings"]) and outcome["renderer"] in text
    assert max(map(len, text.splitlines())) <= 132
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_plausible_order(outcome):
    """With room for a machine that is busy with something else."""
    assert value(outcome, "blend") <= 1.5 * max(value(outcome, f"write_{targets}") for targets in ceilings.TARGETS)
    assert value(outcome, "fetch_rgba32f") <= 4 * value(outcome, "fetch_r32f")
    assert value(outcome, "draw") <= 4 * value(outcome, "ping_pong")
    assert value(outcome, "fragment_fma") > value(outcome, "fetch_rgba32f")  # there is more to a fetch than to a flop


@pytest.mark.parametrize("json_asked", [False, True])
def test_command(capsys, monkeypatch, outcome, json_asked):
    monkeypatch.setattr(ceilings, "report", lambda device, quick, progress: outcome | {"quick": quick})
    assert main(["ceilings", "--quick", *(["--json"] if json_asked else [])]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    if json_asked:
        found = json.loads(output.out)
        assert found.pop("command") == "glla ceilings --quick --json"
        assert found == {"glla": glla.__version__, "device": outcome["renderer"], **outcome}
    else:
        assert output.out == ceilings.table(outcome) + "\n"


def test_draws_on_the_device(device, rng):
    """Bare draws run, and leave a device behind that still works; packing on the host is that of the device."""
    with ceilings.bare_draws(device) as bare:
        assert set(bare) == {"draw", "draw_uniform", "ping_pong"}
        for draw in bare.values():
            draw()
    device.finish()
    dot = device.run(kernels.draws(2))["dot"]
    assert device.read(dot)[0, 0].tolist() == [1] * 4
    a = rng.random((6, 8)).astype(np.float32)
    assert np.array_equal(packing.packed_by_host(a), device.read(device.upload(a)))
    apart, together = (device.read(device.run(kernels.branches((4, 8), 2, 3, shift))["result"]) for shift in (0, 2))
    first, second = together[:, :4], together[:, 4:]
    assert np.array_equal(apart[:, ::2], np.hstack([first, first])[:, ::2])
    assert np.array_equal(apart[:, 1::2], np.hstack([second, second])[:, 1::2])
    assert not np.array_equal(first, second)
    found = ceilings.in_place(device, 8, 3)
    assert found.shape == (8, 8, 4) and np.isin(found, (1, 2, 3)).all()
    start = device.write_texels(np.zeros((2, 2, 4), dtype=np.float32))
    after = device.read(device.run(kernels.ping_pong(3), start=start)["count"])  # the device's state is what it was
    assert (after[0, 0] == 3).all()


def test_the_work_grows_to_the_time_wanted(device):
    """A repeat takes as long as asked for, however fast the action is."""
    effort = ceilings.Effort(side=4, matrix=4, rounds=1, steps=1, seconds=0.01, repeats=3, warm=0.0)
    calls = []
    meter = ceilings.Meter(device, quick=True)
    meter.effort = effort
    timed = meter.time(lambda: calls.append(0))
    assert len(calls) * timed.median > 0.005
    assert timed.median < 0.01
