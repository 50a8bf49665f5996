"""`glla demo restoration` and `glla demo windows`: their tables and pictures, what they notice and refuse."""

import struct
import zlib

import numpy as np
import pytest

from glla.cli import main
from glla.lab import peers, photograph, restoration, windows
from glla.operations import window_squares as kernel

image = pytest.importorskip("matplotlib.image")
pytest.importorskip("pywt")
pytest.importorskip("rich")
pytest.importorskip("scipy")


def test_pictures_of_the_users_own(tmp_path, capsys):
    levels = np.linspace(0, 1, 40 * 50 * 3).reshape(40, 50, 3)
    image.imsave(tmp_path / "colours.png", levels)
    np.save(tmp_path / "plain.npy", levels[:, :, 0])
    for name in ("colours.png", "plain.npy"):
        found = restoration.load(tmp_path / name, 20)
        assert found.shape == (20, 20)
        assert (found.min(), found.max()) == (0, 1)
        assert (np.diff(found, axis=0) > 0).all()
    assert photograph.shrunk(np.arange(50.0) * np.ones((40, 1)), 20)[0, :2].tolist() == [5.5, 7.5]  # the middle
    (tmp_path / "text.png").write_text("no picture")
    for name, message in (("plain.npy", "must have 64 rows"), ("text.png", "no picture"), ("none.png", "No such file")):
        arguments = ["demo", "restoration", "--data", str(tmp_path / name), "--out", str(tmp_path / "a.png")]
        assert main(arguments) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "mode"),
    [*((suffix, "RGB") for suffix in ("png", "jpg", "bmp", "gif", "webp", "ppm")),
     *(("tiff", mode) for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "I;16", "F")),
     *(("png", mode) for mode in ("1", "L", "LA", "P", "RGBA", "I;16"))],
)  # fmt: skip
def test_pictures_of_every_kind(tmp_path, suffix, mode):
    from PIL import Image

    dark = np.arange(40)[:, np.newaxis] * np.ones(50) < 20
    picture = Image.fromarray(np.uint8(np.where(dark, 0, 255)))
    if mode == "I;16":
        picture = Image.fromarray(np.uint16(np.where(dark, 0, 60000)))
    elif mode != "L":
        picture = picture.convert(mode)
    picture.save(tmp_path / f"a.{suffix}")
    found = restoration.load(tmp_path / f"a.{suffix}", 20)
    np.testing.assert_allclose(found, np.repeat([[0.0], [1.0]], 10, axis=0) * np.ones(20), atol=0.1)


def header(rows, columns):
    """A file that says it is a PNG of a size, and ends where the pixels begin."""
    size = b"IHDR" + struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + size
        + struct.pack(">I", zlib.crc32(size))
        + struct.pack(">I", 99)
        + b"IDAT"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jpg", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 99 99\n%%EndComments\n", "cannot identify"),
        ("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 99 99\n%%EndComments\n", "cannot identify"),
        ("a.png", header(9000, 9000), "may have 50000000 pixels at most, got 9000 x 9000"),
        ("a.gif", header(90000, 90000), "exceeds limit"),
        ("a.png", header(99, 99), "truncated"),
        ("a.png", b"", "cannot identify"),
        ("a.npy", b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (90000, 90000)}"
         .ljust(117) + b"\n", "mmap length is greater than file"),
        ("a.npy", b"PK\x05\x06" + bytes(18), "no picture"),
    ],
)  # fmt: skip
def test_pictures_that_are_none(tmp_path, capsys, monkeypatch, name, content, message):
    from PIL import EpsImagePlugin

    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *arguments, **options: started.append(arguments))
    (tmp_path / name).write_bytes(content)
    for demo in ("restoration", "windows"):
        assert main(["demo", demo, "--data", str(tmp_path / name), "--out", str(tmp_path / "b.png")]) == 2
        errors = capsys.readouterr().err
        assert errors.startswith("glla: demo: ") and message in errors and errors.count("\n") == 1
    assert not started


def test_the_fft_wraps_around(rng):
    picture, mild = rng.uniform(0, 1, (9, 8)), 0.1 * rng.uniform(0, 1, (3, 5)) + np.eye(3, 5, 1)
    degraded = restoration.degraded(picture, mild, "wrap")
    np.testing.assert_allclose(restoration.by_fourier(degraded, mild, 0), picture, atol=1e-6)


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
    assert [row[-1] for row in restoration.TABLE_6_3][1] == (0.0087, 0.0112)
