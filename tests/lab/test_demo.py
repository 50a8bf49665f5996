"""`glla demo`: runs at a small size, fails with a verdict, and says clearly why it cannot run."""

import json
import struct

import numpy as np
import pytest

import glla
from glla import testing
from glla.cli import main
from glla.lab import demo, photograph, picture
from glla.testing import Verdict

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")
pytest.importorskip("scipy")

SIZE = 48


def run(tmp_path, *arguments):
    return main(["demo", "--size", str(SIZE), "--out", str(tmp_path / "demo.png"), *arguments])


def failing(*arguments, **options):
    return Verdict("plu", 99.0, 30.0, detail="made to fail")


@pytest.fixture(scope="module")
def made():
    return demo.problem(SIZE, seed=1)


FIRST, LAST = ["matmul", "solve", "refined", "inv", "plu", "rref", "qr"], ["solve", "refined"]
OPERATIONS = [*FIRST, "cholesky", "lstsq", "eigh", "svd", *LAST]


def test_demo(tmp_path, capsys, device):
    assert run(tmp_path) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert device.info.renderer in output
    for word in ("every verdict is ok", "next: glla compare", "photograph", "passes"):
        assert word in output
    lines = output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("operation"))
    assert [line.split()[0] for line in lines[start + 1 : start + 14]] == OPERATIONS
    assert (demo.SOFTWARE in output) is ("numpy.linalg.inv" not in output) is device.info.software
    content = (tmp_path / "demo.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000
    assert height > 500


def test_demo_in_json(tmp_path, capsys):
    assert run(tmp_path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["operation"] for one in found["outcomes"]] == OPERATIONS
    assert found["ok"] and found["recovered"] and found["size"] == SIZE and found["command"].startswith("glla demo")


@pytest.mark.parametrize(
    ("place", "name", "value", "words"),
    [
        (testing, "judge_solve", failing, ("FAILED (made to fail)", "2 of 14 verdicts FAILED")),
        (demo, "HALF_A_GREY_LEVEL", 0.0, ("half a grey level: NO",)),
    ],
    ids=["verdict", "photograph"],
)
def test_what_is_wrong_fails_the_demo(tmp_path, capsys, monkeypatch, place, name, value, words):
    monkeypatch.setattr(place, name, value)
    assert run(tmp_path) == 1
    output = capsys.readouterr().out
    assert all(word in output for word in words)


def test_every_case_is_judged(device, made):
    """No judge lets an altered result pass."""
    for case in demo.cases(device, made):
        assert (case.usual == "") is (case.usual_work is None)
        result = case.work()
        assert case.judge(result).ok, case
        first = result[0] if isinstance(result, tuple) else result
        first = np.array(first)
        first.flat[0] += 0.5 * np.abs(first).max()
        altered = (first, *result[1:]) if isinstance(result, tuple) else first
        if case.operation == "rref":
            altered = glla.RREF(*altered)
        assert not case.judge(altered).ok, case


def test_measure_counts_passes(device, made):
    a = glla.asarray(made.a, device)
    case = demo.Case("matmul", "", lambda: glla.matmul(a, a, variant="virtual_cube"), failing)
    one, _, _ = demo.measure(device, case, SIZE)
    assert one.passes == SIZE // 2 and one.end_to_end_seconds > 0
    assert one.usual_seconds is None and one.status == "wrong"


# ---- photograph ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [8, 48, 200, 512])
def test_picture_is_shrunk(size):
    image, whole = photograph.picture(size), photograph.picture(512)
    assert image.shape == (size, size)
    assert 0 <= image.min() < image.max() <= 255
    assert photograph.picture(256)[3, 5] == whole[6:8, 10:12].mean()


@pytest.mark.parametrize("n", [1, 8, 48, 129, 512])
def test_blur_is_regular_and_keeps_grey(n):
    blur = photograph.gaussian_blur(n, photograph.SPREAD)
    np.testing.assert_allclose(blur.sum(axis=1), 1, rtol=1e-6)
    assert np.linalg.cond(blur.astype(np.float64)) < 1e5
    i = np.arange(n)
    assert not blur[np.abs(i[:, None] - i) > 9].any()


# ---- picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "stops"), [(2, [0, 2]), (8, [0, 2, 4, 6, 8]), (9, [0, 2, 4, 8, 9]), (16, [0, 4, 8, 12, 16])]
)
def test_stages(device, rng, n, stops):
    a = testing.normal(n, n, rng)
    stages = picture.factorisation(device, a)
    assert [done for done, _ in stages] == stops
    assert np.array_equal(stages[0][1], a)
    assert np.array_equal(stages[-1][1], glla.lu_factor(a)[0])
