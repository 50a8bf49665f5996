"""`glla demo restoration` and `glla demo windows`: their tables and pictures, what they notice and refuse."""

import numpy as np
import pytest

from glla.cli import main
from glla.lab import peers, restoration, windows
from glla.operations import window_squares as kernel

image = pytest.importorskip("matplotlib.image")
pytest.importorskip("pywt")
pytest.importorskip("rich")
ndimage = pytest.importorskip("scipy.ndimage")


@pytest.fixture
def short(monkeypatch):
    """Leave the timings out that the order of a picture decides: methods of the source at order 512."""
    report = {"Cholesky alone": {"author's": 1.25, "fast": 0.5}}
    monkeypatch.setattr(restoration, "methods", lambda device, order, say: report)


def test_restoration(tmp_path, capsys, short):
    output = tmp_path / "a.png"
    assert main(["demo", "restoration", "--size", "16", "--output", str(output)]) == 0
    report, errors = capsys.readouterr()
    assert errors == ""
    for word in ("6.61e-05", "0.247", "1.04e-11", "blurred, Gaussian noise", "FFT (NumPy)", "not published", "C1060",
                 "1.25", "Gauss-Jordan", "19.66", "solveh_banded", "glla inverse (the author)"):  # fmt: skip
        assert word in report, word
    assert image.imread(output).std() > 0.1


def test_methods_of_the_source_stand_beside_the_fast_ones(device, monkeypatch):
    """All but Gauss-Seidel; Gauss-Jordan up to an order, beyond which it takes minutes."""
    theirs = {name for name, *_ in restoration.THEIR_METHODS}
    ours = restoration.methods(device, 12)
    assert theirs - set(ours) == {"Gauss-Seidel, accuracy unknown"} and set(ours) < theirs
    assert all(set(both) == {"author's", "fast"} and min(both.values()) > 0 for both in ours.values())
    monkeypatch.setattr(restoration, "MOST_COLUMNS", 11)
    assert set(ours) - set(restoration.methods(device, 12)) == {"Gauss-Jordan"}


def test_windows(tmp_path, capsys):
    output = tmp_path / "a.png"
    assert main(["demo", "windows", "--size", "16", "--output", str(output)]) == 0
    report, errors = capsys.readouterr()
    assert errors == ""
    for word in ("5.558", "8.492", "theirs, global memory", "ours, frames", "not published", "RTX 2060", "cumsum"):
        assert word in report, word
    assert "every element is that of the definition" in report
    assert image.imread(output).std() > 0.1


def test_a_wrong_sum_is_noticed(device, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(windows, "on_host", lambda a: kernel.on_host(a) + 1)
    assert not windows.run(device, 16, tmp_path / "a.png")
    assert "NOT that of the definition" in capsys.readouterr().out


def test_a_restoration_that_is_worse_than_nothing_is_noticed(device, tmp_path, short, monkeypatch):
    monkeypatch.setattr(restoration, "restore", lambda image, *rest, **options: image + 0.5)
    monkeypatch.setattr(restoration, "timings", lambda *arguments: [])
    assert not restoration.run(device, 16, tmp_path / "a.png", most=0.001)


def test_pictures_of_the_users_own(tmp_path, capsys):
    levels = np.linspace(0, 1, 40 * 50 * 3).reshape(40, 50, 3)
    image.imsave(tmp_path / "colours.png", levels)
    np.save(tmp_path / "plain.npy", levels[:, :, 0])
    for name in ("colours.png", "plain.npy"):
        found = restoration.load(tmp_path / name, 20)
        assert found.shape == (20, 20)
        assert (found.min(), found.max()) == (0, 1)
        assert (np.diff(found, axis=0) > 0).all()
    (tmp_path / "text.png").write_text("no picture")
    for name, message in (("plain.npy", "must have 64 rows"), ("text.png", "no picture"), ("none.png", "No such file")):
        arguments = ["demo", "restoration", "--image", str(tmp_path / name), "--output", str(tmp_path / "a.png")]
        assert main(arguments) == 1
        assert message in capsys.readouterr().err
    assert main(["demo", "--image", "a.png"]) == 1
    assert "--image is for restoration and windows" in capsys.readouterr().err


def test_degrading_is_the_model(rng):
    picture = rng.uniform(0, 1, (9, 8))
    for shape in ((3, 3), (3, 5), (2, 3), (4, 1)):
        psf = rng.uniform(0, 1, shape)
        expected = ndimage.convolve(picture, psf, mode="constant")
        np.testing.assert_allclose(restoration.degraded(picture, psf), expected, atol=1e-12)
    psf = rng.uniform(0, 1, (3, 5))
    np.testing.assert_allclose(
        restoration.wrapped(picture, psf), ndimage.convolve(picture, psf, mode="wrap"), atol=1e-12
    )
    mild = 0.1 * psf + np.eye(3, 5, 1)
    np.testing.assert_allclose(restoration.by_fourier(restoration.wrapped(picture, mild), mild, 0), picture, atol=1e-6)


def test_peers_agree(device, rng):
    picture = rng.uniform(0, 1, (9, 8))
    psf = restoration.BLUR + 0.1 * rng.uniform(0, 1, (3, 3))
    g = restoration.degraded(picture, psf)
    peers_of = restoration.peers(1e-3)
    sparse = peers_of["scipy.sparse.linalg.splu, symmetric"](g, psf)
    band = peers_of["scipy.linalg.solveh_banded"](g, psf)
    np.testing.assert_allclose(sparse, band, atol=1e-10)
    np.testing.assert_allclose(restoration.restore(g, psf, 1e-3, device=device), band, atol=1e-3)
    for way in peers.WINDOWS.ways:
        (a,) = kernel.example(7, rng)
        assert (way.bind()(a) == kernel.on_host(a)).all()


def test_figures_of_the_sources():
    """Sums and means are printed there, too."""
    sums = {name: sum(row) for name, row in windows.THEIRS.items()}
    assert sums["global memory"] == pytest.approx(5.557568, abs=1e-9)
    assert sums["shared memory"] == pytest.approx(8.492, abs=1e-9)
    assert restoration.THEIR_INVERSIONS[128] == 1496.89
    assert [row.theirs for row in restoration.TABLE_6_3][1] == (0.0087, 0.0112)
