"""`glla demo`: runs at a small size, fails with a verdict, and says clearly why it cannot run."""

import struct

import numpy as np
import pytest

import glla
from glla import testing
from glla.cli import main
from glla.lab import demo, photograph, picture
from glla.operations import matmul
from glla.testing import Verdict

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")
pytest.importorskip("rich")
pytest.importorskip("scipy")

SIZE = 48


def variants():
    """Those that this device can run."""
    return [name for name, one in matmul.VARIANTS.items() if not one.lacks(glla.default_device().limits)]


def run(tmp_path, *arguments):
    return main(["demo", "--size", str(SIZE), "--output", str(tmp_path / "demo.png"), *arguments])


def failing(*arguments, **options):
    return Verdict("plu", 99.0, 30.0, detail="made to fail")


@pytest.fixture(scope="module")
def made():
    return demo.problem(SIZE, seed=1)


def test_demo(tmp_path, capsys):
    assert run(tmp_path) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert glla.default_device().info.renderer in output
    assert "every verdict is ok" in output
    for word in (*variants(), "rref", "plu", "inv", "refined", "passes", "NumPy", "scipy.linalg.lu", "end to end"):
        assert word in output
    content = (tmp_path / "demo.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000
    assert height > 500


@pytest.mark.parametrize(
    ("place", "name", "value", "words"),
    [
        (testing, "judge_plu", failing, ("FAILED (made to fail)", "2 of {} verdicts FAILED")),
        (demo, "HALF_A_GREY_LEVEL", 0.0, ("every pixel within half a level: NO",)),
    ],
    ids=["verdict", "photograph"],
)
def test_what_is_wrong_fails_the_demo(tmp_path, capsys, monkeypatch, place, name, value, words):
    monkeypatch.setattr(place, name, value)
    assert run(tmp_path) == 1
    output = capsys.readouterr().out
    assert all(word.format(10 + len(variants())) in output for word in words)


def test_check_leaves_no_file_and_keeps_an_old_one(tmp_path):
    path = tmp_path / "demo.png"
    demo.check(path)
    assert not path.exists()
    path.write_text("old")
    demo.check(path)
    assert path.read_text() == "old"


def test_every_case_is_judged(device, made):
    """No judge lets an altered result pass."""
    cases = demo.cases(device, made)
    assert len(cases) == 9 + len(variants())
    assert [case.variant for case in cases if case.matrix == "A A"] == variants()
    for case in cases:
        assert (case.peer == "") is (case.peer_work is None)
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
    case = demo.Case("matmul", "virtual_cube", "", "", lambda: glla.matmul(a, a, variant="virtual_cube"), failing)
    outcome = demo.measure(device, case)
    assert outcome.passes == SIZE // 2
    assert outcome.milliseconds > 0
    assert outcome.peer_milliseconds is None
    assert not outcome.verdict.ok


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
