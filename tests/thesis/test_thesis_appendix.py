"""Appendix A of the thesis: ours are taken from files of `python -m benchmarks cluster --thesis`."""

import json

import pytest

from glla.thesis import appendix, published
from glla.thesis.measure import Place

pytest.importorskip("scipy", reason="panels are factored by SciPy's LAPACK")

from benchmarks import cluster, cluster_rank


def run(count, n, nb, seconds, network, ok=True):
    return {"count": count, "n": n, "nb": nb, "seconds": seconds, "network": network, "ok": ok}


def write(folder, name, renderer, runs, thesis=True):
    path = folder / "somewhere" / "cluster" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"date": f"{name}T00:00", "commit": name, "cores": 8, "gpus": [1, 2], "times_mean_something": True}
    path.write_text(json.dumps({**about, "renderer": renderer, "thesis": thesis, "runs": runs}), encoding="utf-8")


@pytest.fixture
def place(device, tmp_path, monkeypatch):
    monkeypatch.setattr(appendix, "RESULTS", tmp_path)
    return Place(device, True)


def test_without_files_the_command_is_reported(place):
    section = appendix.spread(place)
    assert [table.title[:9] for table in section.tables] == [
        *("Table A.1", "Table A.2", "Table A.3", "Table A.4"), "Section A",
    ]  # fmt: skip
    assert all(row[-1] == "-" for table in section.tables[:3] for row in table.rows)
    assert appendix.COMMAND in section.notes[-1]


def test_ours_stand_beside_theirs(place, tmp_path, device):
    renderer = device.info.renderer
    write(tmp_path, "2026-01-01", renderer, [run(4, 512, 128, 99.0, 9.0)])
    write(tmp_path, "2026-01-02", renderer, [
        run(4, 512, 128, 0.25, 0.1), run(4, 2048, 256, 2.0, 0.5), run(16, 8192, 256, 10.0, 1.0),
        run(4, 512, 256, 9, 9, ok=False),
    ])  # fmt: skip
    write(tmp_path, "2026-01-03", "another device", [run(4, 512, 128, 77.0, 7.0)])
    write(tmp_path, "2026-01-04", renderer, [run(4, 512, 128, 66.0, 6.0)], thesis=False)
    section = appendix.spread(place)
    orders, processes, messages, _, rates = section.tables
    assert [row[3:] for row in rates.rows[:2]] == [(2e-9 * 2048**3 / 3 / 2, 2048), (2e-9 * 8192**3 / 3 / 10, 8192)]
    assert [row[1:3] for row in rates.rows] == [*published.RATES.values()]
    report = {row[:2]: row for row in orders.rows}
    assert report[512, 128][-2:] == (0.25, 0.32307 / 0.25)
    assert report[512, 256][-2:] == ("-", "-")  # that was a wrong result
    assert {row[:2]: row[4:] for row in processes.rows}[16, 256] == (10.0, 10.0, 86.30310 / 10)
    assert {row[0]: row[-2:] for row in messages.rows}[256] == (0.5, 0.595 / 0.5)
    assert "commit 2026-01-02" in section.notes[-1] and "8 cores and 2 GPUs" in section.notes[-1]
    assert "processes that share a GPU wait for each other" in section.notes[-1]


def test_all_cells_of_the_thesis_are_run():
    asked = [(part.ranks, *cell) for part in cluster.tables(8192, [4, 16, 64]) for cell in part.cells]
    assert asked[:16] == [(4, n, nb) for n, nb, _ in published.CLUSTER]
    assert asked[16:] == [(count, 8192, nb) for count, nb, *_ in published.NUMBERS]
    assert {(4, n, nb) for n, nb, _ in published.MESSAGES} <= set(asked)


def test_a_cell_is_factored_and_its_messages_are_sent(tmp_path):
    lines = tmp_path / "lines"
    cluster_rank.thesis(lines, [(24, 8), (16, 4)], "numpy", 2)
    report = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [one["what"] for one in report] == ["who", "cell", "cell"]
    found = cluster.records([{"kind": "thesis", "n": 24, "ranks": 1, "lines": report}])
    assert [(one["n"], one["nb"], one["count"], one["ok"]) for one in found] == [(24, 8, 1, True), (16, 4, 1, True)]


def test_a_page_that_is_made_later_has_the_newest_runs(place, tmp_path, device):
    section = appendix.spread(place)
    section.notes.append("Measured well.")
    assert "makes them" in section.notes[1]
    renderer = device.info.renderer
    assert appendix.anew(section, renderer) == section
    write(tmp_path, "2026-01-02", renderer, [run(4, 512, 128, 0.25, 0.1)])
    later = appendix.anew(section, renderer)
    assert later.tables[3] == section.tables[3]
    assert later.tables[4].rows[-1] == section.tables[4].rows[-1]
    assert {row[:2]: row[-2] for row in later.tables[0].rows}[512, 128] == 0.25
    assert "commit 2026-01-02" in later.notes[1] and later.notes[2] == "Measured well."
