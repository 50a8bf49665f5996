"""`glla cluster bench` and `glla trace --ranks`, and time lines."""

import json
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("scipy", reason="panels are factored by SciPy's LAPACK")

from glla import cluster
from glla.cli import main
from glla.cluster import DistributedMatrix
from glla.cluster.bench import bench, entries, product_residual, send_all
from glla.cluster.steps import Receive, Send
from glla.cluster.timeline import recording
from glla.lab import timeline

from .conftest import uniform


def test_the_command_measures_one_rank(tmp_path, capsys):
    path = tmp_path / "bench.json"
    assert main(["cluster", "bench", "--size", "64", "--nb", "16", "--out", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "rank 0, process (0, 0)" in printed and "passed" in printed
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["hpl_residual"] < 16 and found["parameters"]["rate"] > 0
    assert main(["cluster", "bench", "--nb", "0"]) == 2 and "nb must be an even number" in capsys.readouterr().err


def test_ranks_say_who_they_are(on_grid):
    said = []
    found = on_grid((2, 2), lambda grid: bench(grid, 48, 8, "tournament", said.append if grid.rank == 0 else len))
    assert [one["process"] for one in found[0]["ranks"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert all(one["hpl_residual"] < 16 for one in found)
    assert any("passed" in line for line in said)


@pytest.mark.parametrize(("shape", "wrong"), [((2, 2), (0, 0)), ((1, 2), (36, 4)), ((2, 1), (11, 30))])
def test_residuals_see_one_wrong_element(shape, wrong, on_grid):
    def work(grid):
        a, b = (DistributedMatrix.from_function(grid, entries, size, 4) for size in ((37, 23), (23, 31)))
        c = cluster.matmul(a, b)
        whole = c.gather()
        right = product_residual(a, b, c)
        whole[wrong] += 0.01
        return right, product_residual(a, b, DistributedMatrix.load(grid, whole, 4))

    for right, other in on_grid(shape, work):
        assert right < 1 < other


@pytest.mark.parametrize("variant", ["tournament", "partial"])
def test_messages_alone_are_those_of_the_plan(variant, on_grid):
    def work(grid):
        before = np.array([grid.sent, grid.received])
        with grid.operation():
            pass
        plain = np.array([grid.sent, grid.received]) - before
        send_all(grid, 37, 4, variant)
        return (np.array([grid.sent, grid.received]) - before - 2 * plain).tolist()

    planned = cluster.plan("plu", 37, 4, (2, 2), variant=variant, look_ahead=False)
    for rank, found in enumerate(on_grid((2, 2), work)):
        one = planned.totals(rank)
        assert found == [[one.sent, one.sent_bytes], [one.received, one.received_bytes]]


def test_a_time_line_has_every_message(on_grid):
    def work(grid):
        a = DistributedMatrix.load(grid, uniform(40, 40, 1), 8)
        with recording(grid) as found:
            cluster.lu_factor(a)
        return found

    found = on_grid((2, 2), work)[0]
    schedule = cluster.plan("plu", 40, 8, (2, 2), look_ahead=False)
    planned = Counter(type(step).__name__ for steps in schedule.ranks for step in steps)
    seen = Counter(type(event.step).__name__ for event in found.events)
    assert (seen["Send"], seen["Receive"]) == (planned["Send"], planned["Receive"])
    messages = list(found.messages())
    assert len(messages) == planned["Send"]
    for sent, received in messages:
        assert isinstance(sent.step, Send)
        assert isinstance(received.step, Receive)
        assert (sent.rank, sent.step.to) == (received.step.source, received.rank)
        assert sent.start <= received.end
    document = timeline.document(found, "plu")
    phases = Counter(event["ph"] for event in document["traceEvents"])
    assert phases["s"] == phases["f"] == planned["Send"]
    assert phases["X"] == len(found.events)


@pytest.mark.parametrize("suffix", ["json", "png"])
def test_the_command_traces_ranks(suffix, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"trace.{suffix}"
    assert main(["trace", "matmul", "--ranks", "2", "--size", "32", "--out", str(path)]) == 0
    assert "matmul, n = 32, on 2 ranks" in capsys.readouterr().out
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trace", "plu", "--ranks", "2"], "--ranks needs --out"),
        (["trace", "rref", "--ranks", "2", "--out", "t.json"], "must be one of plu, matmul, solve with --ranks"),
        (["trace", "plu", "--ranks", "2", "--out", "t.gif"], "must end in .json, .png, .svg or .pdf"),
    ],
)
def test_wrong_traces_say_what_is_right(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
