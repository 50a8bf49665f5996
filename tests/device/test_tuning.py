"""What was tuned: where its file lies, what makes it worthless, and how `choose` follows it."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import glla
from glla import testing
from glla.device import tuning
from glla.errors import OptionError, TuningWarning
from glla.kernels import matmul, plu, rref, triangular
from glla.passes import Limits, Tuned, parameter_space

RENDERER = "llvmpipe (LLVM 15.0.6, 256 bits)"
ENTRY = {"operation": "matmul", "size": 64, "variant": "inner_product", "parameters": {"UNROLL": 4}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLLA_TUNING", str(tmp_path))
    return tmp_path


def limits(*tuned, **others):
    return Limits(tuned=tuple(Tuned(*one) for one in tuned), **others)


# ---- the file --------------------------------------------------------------------------------


def test_nothing_is_read_in_tests(device):
    assert tuning.folder() is None
    assert tuning.path(RENDERER) is None
    assert tuning.load(RENDERER) == ()
    assert device.limits.tuned == ()


@pytest.mark.parametrize(
    ("platform", "variable", "default"),
    [
        ("linux", "XDG_CONFIG_HOME", ".config"),
        ("darwin", None, "Library/Application Support"),
        ("win32", "APPDATA", "AppData/Roaming"),
    ],
)
def test_the_user_s_folder(monkeypatch, platform, variable, default):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("GLLA_TUNING", "")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert tuning.folder() == Path("/home/me") / default / "glla" / "tuned"
    if variable:
        monkeypatch.setenv(variable, "/mine")
        assert tuning.folder() == Path("/mine/glla/tuned")
    monkeypatch.setenv("GLLA_TUNING", "/other")
    assert tuning.path(RENDERER) == Path("/other/llvmpipe_LLVM_15.0.6_256_bits.json")


def test_a_user_without_a_home(monkeypatch):
    def homeless():
        raise RuntimeError("no home")

    for name in ("GLLA_TUNING", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert tuning.folder() is None


def test_what_is_written_is_read(folder):
    file = tuning.path(RENDERER)
    assert tuning.load(RENDERER) == ()  # no file is no fault
    tuning.write(file, RENDERER, "1.2", [ENTRY])
    assert tuning.load(RENDERER) == (Tuned("matmul", 64, "inner_product", (("UNROLL", 4),)),)
    assert list(folder.iterdir()) == [file]
    assert tuning.read(file, RENDERER) == [ENTRY]
    assert tuning.load("another") == ()


def spoilt(file, **changes):
    told = json.loads(file.read_text(encoding="utf-8"))
    told.update(changes)
    file.write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": 0}, "its format is 0, not 1"),
        ({"renderer": "another"}, f"it is of another, this is {RENDERER}"),
        ({"shaders": "0123"}, "it was measured with other shaders, those of glla 1.2"),
        ({"tuned": [ENTRY | {"variant": "fast"}]}, "variant of matmul must be one of inner_product, virtual_cube"),
        ({"tuned": [ENTRY | {"variant": "compute_tiled", "parameters": {}}]}, "got 'compute_tiled'"),
        (
            {"tuned": [ENTRY | {"operation": "svd"}]},
            "operation must be one of matmul, plu, rref, triangular, got 'svd'",
        ),
        ({"tuned": [ENTRY | {"operation": "plu", "variant": "row_vectors"}]}, "must be one of rank2, blocked, got"),
        ({"tuned": [ENTRY | {"size": 0}]}, "size must be a whole number from 1, got 0"),
        ({"tuned": [ENTRY | {"parameters": {"UNROLL": 3}}]}, "UNROLL must be one of 1, 2, 4, 8, got 3"),
        ({"tuned": [ENTRY | {"parameters": {"UNROLL": 2.0}}]}, "must be whole numbers, got {'UNROLL': 2.0}"),
        ({"tuned": [ENTRY | {"parameters": None}]}, "'NoneType' object has no attribute 'items'"),
        ({"tuned": [{"operation": "matmul"}]}, "no 'size'"),
        ({"tuned": 3}, "'int' object is not iterable"),
    ],
    ids=str,
)
def test_a_worthless_file_is_ignored_with_a_warning_that_names_it(folder, changes, told):
    file = tuning.path(RENDERER)
    tuning.write(file, RENDERER, "1.2", [ENTRY])
    spoilt(file, **changes)
    with pytest.warns(TuningWarning) as caught:
        assert tuning.load(RENDERER) == ()
    message = str(caught[0].message)
    assert message.startswith(f"ignored: tuning: {file}: ")
    assert told in message
    assert message.endswith("; run `glla tune` again, or `glla tune --forget`")
    with pytest.raises(OptionError):
        tuning.read(file, RENDERER)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": 1}'])
def test_a_corrupt_file(folder, text):
    file = tuning.path(RENDERER)
    file.write_text(text, encoding="utf-8")
    with pytest.warns(TuningWarning, match="ignored: tuning: "):
        assert tuning.load(RENDERER) == ()


def test_a_file_that_cannot_be_read(folder):
    tuning.path(RENDERER).mkdir()
    with pytest.warns(TuningWarning, match="Is a directory"):
        assert tuning.load(RENDERER) == ()


def test_other_shaders_have_another_fingerprint(shader_files):
    before = tuning.fingerprint()
    shader_files({"a.frag": "// a\n"})
    changed = tuning.fingerprint()
    shader_files({"README.md": "no shader"})
    assert before != changed == tuning.fingerprint()


def test_what_may_be_tuned():
    for operation in tuning.TABLES:
        for name, variant in tuning.variants(operation).items():
            assert not variant.needs
            for parameters in parameter_space(variant):
                tuning.tuned({"operation": operation, "size": 1, "variant": name, "parameters": dict(parameters)})
    with pytest.raises(OptionError, match="tune: operation must be one of matmul, plu, rref, triangular, got 'svd'"):
        tuning.variants("svd")


# ---- what is chosen --------------------------------------------------------------------------


def test_the_nearest_size_by_its_ratio():
    tuned = limits(("matmul", 64, "rank_one"), ("matmul", 1024, "multi_pass"), ("plu", 256, "blocked"))
    found = {n: tuned.tuning("matmul", n, n, n) for n in (31, 32, 64, 255, 257, 1024, 2048, 2049)}
    assert {n: one and one.size for n, one in found.items()} == {
        31: None, 32: 64, 64: 64, 255: 64, 257: 1024, 1024: 1024, 2048: 1024, 2049: None,
    }  # fmt: skip
    assert tuned.tuning("rref", 256, 256) is None


def test_unequal_sides_and_large_ones_are_not_tuned():
    tuned = limits(("matmul", 64, "rank_one"), texture_size=128)
    assert tuned.tuning("matmul", 32, 64, 128).variant == "rank_one"
    assert tuned.tuning("matmul", 31, 64, 125) is None
    assert tuned.tuning("matmul", 128, 128, 128) is not None
    assert tuned.tuning("matmul", 128, 128, 129) is None
    assert tuned.tuning("matmul", 0, 64, 64) is None


def test_choices_follow():
    tuned = limits(
        ("matmul", 64, "multi_pass", (("UNROLL", 4),)),
        ("plu", 64, "blocked"),
        ("rref", 64, "rank2"),
        ("triangular", 64, "rank2"),
    )
    plain = Limits()
    assert matmul.choice(64, 64, 64, tuned) == ("multi_pass", (("UNROLL", 4),))
    assert matmul.choose(64, 64, 64, tuned) == "multi_pass"
    assert matmul.choice(64, 64, 64, plain) == ("inner_product", ())
    assert (plu.choose((64, 64), tuned), plu.choose((64, 64), plain)) == ("blocked", "rank2")
    assert (rref.choose((64, 65), tuned), rref.choose((64, 65), plain)) == ("rank2", "blocked")
    assert (triangular.choose(64, 64, tuned), triangular.choose(64, 64, plain)) == ("rank2", "blocked")
    assert triangular.choose(64, 1, tuned) == "blocked"


def test_panels_that_do_not_fit_are_not_chosen():
    """Found at n = 512 they may be too many for a texture at 1024: then it is as if nothing had been tuned."""
    tuned = limits(("matmul", 512, "panel_broadcast", (("DEPTH", 16),)), texture_size=2100)
    assert matmul.choose(512, 512, 512, tuned) == "panel_broadcast"
    choice = matmul.choice(1024, 1024, 1024, tuned)
    assert choice == matmul.choice(1024, 1024, 1024, replace(tuned, tuned=()))
    matmul.plan(1024, 1024, 1024, choice[0], tuned, parameters=choice[1]).check(tuned)


def test_a_device_follows_its_file(folder, device, rng):
    renderer = device.info.renderer
    entries = [
        {"operation": "matmul", "size": 20, "variant": "packed_4x1", "parameters": {"PASSES": 2}},
        {"operation": "plu", "size": 20, "variant": "blocked", "parameters": {}},
        {"operation": "rref", "size": 20, "variant": "blocked", "parameters": {}},
        {"operation": "triangular", "size": 20, "variant": "rank2", "parameters": {}},
    ]
    tuning.write(tuning.path(renderer), renderer, glla.__version__, entries)
    a, b = (testing.integers(20, 20, rng) for _ in range(2))
    regular = testing.conditioned(20, 20, rng)
    with glla.Device() as tuned:
        assert [one.operation for one in tuned.limits.tuned] == ["matmul", "plu", "rref", "triangular"]
        # As matrices: arrays this small would go as stacks, which have no variants.
        left, right, square = (tuned.matrix(array) for array in (a, b, regular))
        with glla.trace(values=False) as of_product:
            product = left @ right
        with glla.trace(values=False) as of_factors:
            factors = glla.plu(square)
        with glla.trace(values=False) as of_form:
            _, pivots = glla.rref(np.column_stack([regular, regular @ np.ones(20)]), device=tuned)
        with glla.trace(values=False) as of_solution:
            x = glla.solve(square, right)
        testing.assert_exact(product.numpy(), a @ b)
        testing.assert_plu(regular, *(factor.numpy() for factor in factors))
        testing.assert_solve(regular, x.numpy(), b)
        assert pivots == tuple(range(20))
        del left, right, square, product, factors, x
    for trace, shader, count in (
        (of_product, "matmul/quads", 2),
        (of_factors, "plu/to_strips", 1),
        (of_form, "plu/to_strips", 1),
        (of_solution, "triangular/substitute", 20),
    ):
        assert [one.shader for one in trace.passes].count(shader) == count, shader
