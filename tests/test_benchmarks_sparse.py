"""`python -m benchmarks sparse`: every way is judged and timed, and judges can fail."""

import json

import numpy as np
import pytest

from benchmarks import sparse
from benchmarks.study import perform
from glla.lab import machine

pytest.importorskip("scipy")

WAYS = {
    "spmv": {"A @ x, diagonals, resident", "SciPy csr", "SciPy dia"},
    "spmv, any coefficients": {"A @ x, diagonals, resident", "SciPy csr", "SciPy dia"},
    "unstructured, mesh": {"A @ x, sell, resident", "SciPy csr"},
    "unstructured, power law": {"A @ x, sell, resident", "SciPy csr"},
    "cg": {"cg, merged, diagonals, resident", "cg, classic, stencil, resident", "SciPy cg, csr, float32"},
    "cg, any coefficients": {"cg, merged, diagonals, resident", "SciPy cg, csr, float32"},
    "tridiagonal": {"solveh_banded, resident", "LAPACK sptsv in a loop, 1 core"},
    "water": {"ShallowWater, adi", "ShallowWater, semi_implicit"},
    "streamed": {"solveh_banded, from NumPy to NumPy", "LAPACK sptsv as one long system, 1 core"},
}


def _hurry(patch):
    """Measure no ceilings, warm nothing up."""
    names = ("write_1", "fetch_rgba32f", "ping_pong")
    patch.setattr(sparse.ceilings, "report", lambda *given, **options: {"ceilings": {n: {"value": 2.0} for n in names}})
    patch.setattr(sparse, "WARM", 0.0)
    patch.setattr(machine, "LISTEN", 0.0)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One run of all, as small as can be."""
    folder = tmp_path_factory.mktemp("results")
    patch = pytest.MonkeyPatch()
    _hurry(patch)
    try:
        assert perform(sparse.STUDY, ["--size", "12", "--rounds", "1", "--output", str(folder)]) == 0
    finally:
        patch.undo()
    (path,) = folder.rglob("sparse/*.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("system", WAYS)
def test_every_way_is_judged_and_timed(report, system):
    found = {one["variant"]: one for one in report["figures"] if one["system"] == system}
    assert set(found) >= WAYS[system]
    assert all(one["seconds"] > 0 and not one["flaw"] for one in found.values())
    limited = [one for one in found.values() if "limit" in one]
    assert bool(limited) == (system != "streamed")
    for one in limited:
        assert all(one[part] > 0 for part in ("writing", "fetching", "drawing", "of_limit"))
        assert one["limit"] == pytest.approx(one["writing"] + one["fetching"] + one["drawing"])
    if system == "cg":
        passes = found["cg, merged, diagonals, resident"]["passes"]
        assert {"krylov/cg_merged", "spmv/diagonals", "one texel"} <= set(passes) and passes["spmv/diagonals"] >= 0
        assert all(0 < one["residual"] <= 1.1e-5 and one["iterations"] > 1 for one in found.values())


def test_a_wrong_result_is_reported(tmp_path, monkeypatch, capsys):
    _hurry(monkeypatch)
    monkeypatch.setitem(sparse.SYSTEMS, "spmv", lambda *given: [("spmv", [sparse.Way("A @ x", print, lambda: "bad")])])
    arguments = ["spmv", "--size", "8", "--rounds", "1", "--output", str(tmp_path)]
    assert perform(sparse.STUDY, arguments) == 1
    assert "WRONG: bad" in capsys.readouterr().out


def test_judges_of_products_can_fail(device, monkeypatch, rng):
    ways = sparse._products(device, sparse.grid(4), ("diagonals",), ("csr",))
    assert not any(way.check() for way in ways)
    monkeypatch.setattr(sparse, "U", 1e-12)
    assert "times the bound" in sparse._products(device, sparse.grid(4), ("sell",), ())[0].check()


@pytest.mark.parametrize("solve", [sparse.in_a_loop, lambda *given: sparse.on_threads(*given, 3)])
def test_lapack_solves_what_the_judge_knows(solve, rng):
    ab, b = sparse.diffusion(7, 5, rng)
    kept = ab.copy(), b.copy()
    x = solve(ab, b)
    assert sparse.backward_error(ab, b, x) < sparse.MOST_ERROR
    assert (ab == kept[0]).all() and (b == kept[1]).all()
    x[3, 2] += 1e-4
    assert sparse.backward_error(ab, b, x) > sparse.MOST_ERROR


def test_matrices_are_what_they_are_called(rng):
    five = sparse.grid(3).toarray()
    assert (
        (five == five.T).all() and (five.diagonal() == 4).all() and (five[4] == [0, -1, 0, -1, 4, -1, 0, -1, 0]).all()
    )
    mesh, anywhere = sparse.mesh(6, rng), sparse.scattered(6, rng)
    pattern = mesh.toarray() != 0
    assert (pattern == pattern.T).all() and mesh.nnz == 36 + 2 * (2 * 30 + 25)
    assert np.abs(mesh.tocoo().row - mesh.tocoo().col).max() < 20
    assert anywhere.shape == (36, 36) and np.diff(anywhere.indptr).max() <= 16
    lengths = np.diff(sparse.power_law(64, rng).indptr)
    assert 6 < lengths.mean() < 10 and np.median(lengths) < 5 and lengths.max() > 200
