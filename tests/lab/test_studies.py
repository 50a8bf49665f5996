"""Demonstrations and studies: what each prints and draws at a small size, and the wrong results that it notices."""

import numpy as np
import pytest

from glla import testing
from glla.cli import main
from glla.cli.study import DEMOS, STUDIES
from glla.kernels.kernel import kernel
from glla.lab import elimination, examples, restoration, water, windows
from glla.lab import pivoting as pivots
from glla.operations import window_squares

image = pytest.importorskip("matplotlib.image")
pytest.importorskip("pywt")
pytest.importorskip("rich")
pytest.importorskip("scipy")


@pytest.fixture
def short(tmp_path, monkeypatch):
    """Leave out what a size does not make short: generations, steps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(examples, "GENERATIONS", (0, 1, 5))
    monkeypatch.setattr(water, "STEPS", 2)
    monkeypatch.setattr(water.film, "__defaults__", (3,))
    return tmp_path


SHOWN = {
    "elimination": ("--size 6 --out a.svg", ["x is 1, 2, ..., 6"]),
    "life": ("--size 16 --out a.png", ["is as NumPy has it"]),
    "stencil": ("--size 16 --out a.png", ["is within its bound of NumPy's float64"]),
    "restoration": ("--size 16 --out a.png", [
        "6.61e-05", "0.247", "1.04e-11", "blurred, Gaussian noise", "FFT (NumPy)", "not published", "C1060",
        "solveh_banded", "glla inverse"]),
    "windows": ("--size 16 --out a.png", [
        "5.558", "8.492", "theirs, global memory", "ours, frames", "not published", "RTX 2060", "cumsum",
        "every element is that of the definition"]),
    "water": ("--size 16 --out a.gif", [
        "1.47e-07", "4.48e-08", "table 5.1", "CPU and GPU against CPU", "ShallowWater, adi", "every field is"]),
    "pivoting": ("--size 8 --out a.png", [
        *pivots.matrices(8), "harmonic", "geometric", "partial", "complete", "refused", "growth",
        "every result that was returned is within its bound"]),
    "convergence": ("--size 5 --out a.png", ["cg, merged"]),
    "sweeps": ("--size 24 --count 3", [
        "\n3 sweeps ", "\ngauss_jordan ", "sweeps and residual not published", "Tesla C1060, 2012"]),
    "adjugate": ("--count 50 --size 16", ["\ncovariances of the photograph, damped by 1e-05 "]),
    "thesis": ("--quick --section norms --out a.html --out a.json", ["figure 4.5", "written: a.html, a.json"]),
}  # fmt: skip
"""By name: options, and words of the report. That of the operations has tests of its own."""


def command(name):
    return ["demo" if name in DEMOS else "study", name]


@pytest.mark.parametrize("name", [name for name in (*DEMOS, *STUDIES) if name != "operations"])
def test_each_reports_and_draws(name, short, capsys):
    options, words = SHOWN[name]
    assert main([*command(name), *options.split()]) == 0
    report, errors = capsys.readouterr()
    assert errors == "" and all(word in report for word in words)
    for path in short.glob("*.png"):
        assert image.imread(path).std() > 0.02
    if name in ("life", "stencil"):
        height, width = image.imread(short / "a.png").shape[:2]
        assert width > 2 * height
    if name == "water":
        with pytest.importorskip("PIL.Image").open(short / "a.gif") as film:
            assert (film.n_frames, film.size) == (3, (64, 64))
    if name == "elimination":
        assert "after 3 steps" in (short / "a.svg").read_text() and (short / "a.svg").stat().st_size > 10_000


def slightly_off(source):
    right = kernel(source)
    return lambda **given: right(**given) + 0.01


WRONG = {
    "elimination": ([(elimination, "matrix", lambda n, seed: np.eye(n, n + 1, dtype=np.float32))], "NOT"),
    "life": ([(examples, "kernel", slightly_off)], "NOT"),
    "stencil": ([(examples, "kernel", slightly_off)], "NOT"),
    "restoration": ([(restoration, "restore", lambda image, *rest, **options: image + 0.5),
                     (restoration, "timings", lambda *given: [])], ""),
    "windows": ([(windows, "on_host", lambda a: window_squares.on_host(a) + 1)], "NOT that of the definition"),
    "water": ([(water, "on_cpu", lambda bands: 1.5 * water.tridiagonal(bands))], "NOT those of the CPU"),
    "pivoting": ([(testing.bounds, "residual_plu", lambda *factors: 31.0)], "results FAILED"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_results_are_noticed(name, short, capsys, monkeypatch):
    changes, words = WRONG[name]
    for place, function, wrong in changes:
        monkeypatch.setattr(place, function, wrong)
    assert main([*command(name), *SHOWN[name][0].split()]) == 1
    assert words in capsys.readouterr().out


def test_pictures_are_of_the_size_that_is_asked_for(device):
    pictures, right = examples.stencil(device, 32)
    assert right
    assert {picture.shape for _, picture in pictures} == {(32, 32)}
    assert np.ptp(pictures[1][1]) < np.ptp(pictures[0][1])
