"""`python -m benchmarks cluster`: writes what it promises, predicts before it runs, and outlives parts that hang."""

import json
import sys
import time
from importlib.util import find_spec

import pytest

from benchmarks import cluster
from benchmarks.study import perform

pytest.importorskip("scipy", reason="panels are factored by SciPy's LAPACK")

launched = pytest.mark.skipif(
    find_spec("mpi4py") is None or cluster.mpiexec() is None,
    reason="there is no MPI: pip install 'glla[cluster]' mpich",
)


@launched
def test_what_is_told(tmp_path, capsys):
    status = perform(cluster.STUDY, ["--size", "48", "--repeats", "1", "--output", str(tmp_path), "--commit", "this"])
    shown = capsys.readouterr()
    assert status == 0, shown.err
    (path,) = tmp_path.rglob("*.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["commit"] == "this"
    assert [(part["kind"], part["ranks"], part["ended"]) for part in told["parts"]] == [
        ("ranks", 2, True), ("ranks", 1, True), ("several", 1, True),
    ]  # fmt: skip
    for part in told["parts"][:2]:
        lines = {line["what"]: line for line in part["lines"]}
        assert lines["predicted"]["at"] <= lines["ready"]["at"] <= lines["product"]["at"] <= lines["end"]["at"]
        assert len(lines["who"]["ranks"]) == part["ranks"]
        assert set(lines["predicted"]["seconds"]) == {"product", "PLU, look-ahead", "PLU, no look-ahead"}
    assert all(one["ok"] and one["seconds"] > 0 and one["gflops"] > 0 for one in told["runs"])
    assert {(one["kind"], one["what"]) for one in told["speedups"]} == {
        ("ranks", "product"), ("ranks", "PLU, look-ahead"), ("ranks", "PLU, no look-ahead"),
        ("several", "product"), ("several", "right-hand sides"),
    }  # fmt: skip
    assert "x the prediction" in shown.out


def test_a_part_that_hangs_is_ended_and_keeps_what_it_had(tmp_path):
    lines, start = tmp_path / "lines", time.monotonic()
    program = (
        f"""import time; open({str(lines)!r}, "w").write('{{"what": "product"}}\\n'); print("here"); time.sleep(60)"""
    )
    status, _ = cluster._watched([sys.executable, "-u", "-c", program], {}, lines, 2.0, print)
    assert status != 0
    assert time.monotonic() - start < 20
    assert json.loads(lines.read_text(encoding="utf-8"))["what"] == "product"


def test_records_see_what_is_wrong():
    def part(count, seconds, residual):
        lines = [
            {"what": "predicted", "seconds": {"product": 2.0}},
            {"what": "product", "seconds": seconds, "residual": residual},
        ]
        return {"kind": "ranks", "n": 100, "ranks": count, "lines": lines}

    found = cluster.records([part(1, [5.0, 4.0], 0.5), part(2, [2.0], 1.5), part(2, [2.5], 0.5)])
    assert [one["ok"] for one in found] == [True, False, True]
    assert [one["ratio_to_predicted"] for one in found] == [2.0, 1.0, 1.25]
    assert found[0]["gflops"] == 2e6 / 4.0 / 1e9
    assert [one.get("speedup") for one in cluster.best(cluster.with_gains(found))] == [None, 1.6]
    assert not any("speedup" in one for one in cluster.with_gains(found[1:]))
