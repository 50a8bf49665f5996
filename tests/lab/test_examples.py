"""`glla demo life` and `glla demo stencil`: reports, pictures, and wrong results that are noticed."""

import numpy as np
import pytest

from glla.cli import main
from glla.kernels.kernel import kernel
from glla.lab import examples

image = pytest.importorskip("matplotlib.image")
pytest.importorskip("pywt")


@pytest.mark.parametrize("name", ["life", "stencil"])
def test_a_picture_is_made(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(examples, "GENERATIONS", (0, 1, 5))
    output = tmp_path / f"{name}.png"
    assert main(["demo", name, "--size", "16", "--out", str(output)]) == 0
    report = capsys.readouterr().out
    assert ("is as NumPy has it" if name == "life" else "is within its bound of NumPy's float64") in report
    picture = image.imread(output)
    assert picture.std() > 0.1
    assert picture.shape[1] > 2 * picture.shape[0]


@pytest.mark.parametrize("name", ["life", "stencil"])
def test_a_wrong_result_is_noticed(name, tmp_path, capsys, monkeypatch):
    def wrong(source):
        right = kernel(source)
        return lambda **given: right(**given) + 0.01

    monkeypatch.setattr(examples, "GENERATIONS", (0, 1))
    monkeypatch.setattr(examples, "kernel", wrong)
    assert main(["demo", name, "--size", "16", "--out", str(tmp_path / "a.png")]) == 1
    assert "NOT" in capsys.readouterr().out


def test_pictures_are_of_the_size_that_is_asked_for(device):
    pictures, right = examples.stencil(device, 32)
    assert right
    assert {picture.shape for _, picture in pictures} == {(32, 32)}
    assert np.ptp(pictures[1][1]) < np.ptp(pictures[0][1])
