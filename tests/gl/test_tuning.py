"""What was tuned: where its file lies, what makes it worthless, and how `choose` follows it."""

import json
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glla
from glla import testing
from glla.errors import OptionError, TuningWarning, among
from glla.gl import tuning
from glla.operations.elimination import plu, rref
from glla.operations.product import matmul
from glla.operations.triangles import triangular
from glla.passes import Limits, Tuned, parameter_space, resident
from tests.beside import started

RENDERER = "llvmpipe (LLVM 15.0.6, 256 bits)"
ENTRY = {"operation": "matmul", "size": 64, "variant": "inner_product", "parameters": {"UNROLL": 4}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLLA_TUNING", str(tmp_path))
    return tmp_path


@pytest.fixture
def one_fingerprint(monkeypatch):
    """Do without reading all shaders for each file, which takes 5 ms and more."""
    monkeypatch.setattr(tuning, "fingerprint", lambda: "the same")


def limits(*tuned, **others):
    return Limits(tuned=tuple(Tuned(*one) for one in tuned), **others)


# ---- the file --------------------------------------------------------------------------------


def homeless():
    raise RuntimeError("no home")


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
    for name in ("GLLA_TUNING", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert tuning.folder() is None


def test_what_is_written_is_read(folder, device):
    assert device.limits.tuned == ()  # nothing is read in tests
    file, other = tuning.path(RENDERER), folder / "other"
    assert tuning.load(RENDERER) == ((), {})  # no file is no fault
    tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY]))
    assert tuning.load(RENDERER)[0] == (Tuned("matmul", 64, "inner_product", (("UNROLL", 4),)),)
    assert list(folder.iterdir()) == [file]
    assert tuning.read(file, RENDERER) == ([ENTRY], {})
    assert tuning.load("another") == ((), {})
    other.touch()
    assert file.stat().st_mode == other.stat().st_mode  # as readable as any other


def spoilt(file, **changes):
    report = json.loads(file.read_text(encoding="utf-8"))
    report.update(changes)
    file.write_text(json.dumps(report), encoding="utf-8")


CORRUPT = [
    "", "{", "[]", "3", '{"format": 1}', "[" * 100_000, '{"a":' * 100_000, "9" * 10_000, "NaN", '"\\ud800"', "\0",
    '{"format": 1, "renderer": ' + "[" * 900 + "]" * 900 + "}",
]  # fmt: skip
BYTES = [*(text.encode() for text in CORRUPT), b"\xff\xfe", b"\x80", b'{"format": 1, "x": "\xe9"}']


def tuned(**changes):
    """Spoil the one entry of a file."""
    return lambda file: spoilt(file, tuned=[ENTRY | changes])


def replaced(make):
    return lambda file: (file.unlink(), make(file))


@pytest.mark.parametrize(
    ("spoil", "report"),
    [
        (lambda file: spoilt(file, format=0), "its format is 0, not 1"),
        (lambda file: spoilt(file, renderer="another"), f"it is of another, this is {RENDERER}"),
        (lambda file: spoilt(file, shaders="0123"), "it was measured with other shaders, those of glla 1.2"),
        (lambda file: spoilt(file, tuned=[{"operation": "matmul"}]), "no 'size'"),
        (lambda file: spoilt(file, tuned=3), "'int' object is not iterable"),
        (tuned(variant="fast"), "variant of matmul must be one of inner_product, virtual_cube"),
        (tuned(variant="compute_tiled", parameters={}), "got 'compute_tiled'"),
        (tuned(operation="eig"), f"operation must be one of {among(tuning.operations(), 'eig')}"),
        (tuned(operation="plu", variant="row_vectors"), "must be one of rank2, blocked, got"),
        (tuned(size=0), "size must be a whole number from 1, got 0"),
        (tuned(size=2.5), "size must be a whole number from 1, got 2.5"),
        (tuned(parameters={"UNROLL": 3}), "UNROLL must be one of 1, 2, 4, 8, got 3"),
        (tuned(parameters={"UNROLL": 2.0}), "must be whole numbers, got {'UNROLL': 2.0}"),
        (tuned(parameters=None), "'NoneType' object has no attribute 'items'"),
        *((lambda file, content=content: file.write_bytes(content), "") for content in BYTES),
        (replaced(os.mkfifo), "it is no regular file"),  # nor is what is larger than any file of ours read
        (replaced(os.mkdir), "it is no regular file"),
        (lambda file: file.write_text("[" + " " * tuning.LARGEST + "]"), "it has more than"),
    ],
)
def test_a_worthless_file_is_ignored_with_a_warning_that_names_it(folder, spoil, report):
    file = tuning.path(RENDERER)
    tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY]))
    spoil(file)
    with pytest.warns(TuningWarning) as caught:
        assert tuning.load(RENDERER) == ((), {})
    (message,) = (str(one.message) for one in caught)
    assert message.startswith(f"ignored: tuning: {file}: ") and report in message and len(message) < 1000
    assert message.endswith("; run `glla tune` again, or `glla tune --forget`")
    with pytest.raises(OptionError):
        tuning.read(file, RENDERER)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.sampled_from([*ENTRY, "tuned", "format", "glla"]), JSON)
def test_odd_values_anywhere(folder, one_fingerprint, name, value):
    file = tuning.path(RENDERER)
    tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY]))
    spoilt(file, **({"tuned": [ENTRY | {name: value}]} if name in ENTRY else {name: value}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TuningWarning)
        assert isinstance(tuning.load(RENDERER), tuple)


def test_solve_goes_on_without_a_file_that_cannot_be_read(folder, device):
    tuning.path(device.info.renderer).write_text("[" * 100_000, encoding="utf-8")
    with pytest.warns(TuningWarning, match="it is nested too deep"), glla.Device() as fresh:
        assert glla.solve([[2.0]], [4.0], device=fresh).tolist() == [2.0]


# ---- writing ---------------------------------------------------------------------------------


def test_writers_do_not_disturb_each_other(folder, one_fingerprint):
    file = tuning.path(RENDERER)

    def write(number):
        for size in range(1, 101):
            tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY | {"size": 100 * number + size}] * 20))
            assert len({entry["size"] for entry in tuning.read(file, RENDERER).entries}) == 1

    assert [writer.exception(60) for writer in [started(write, number) for number in range(8)]] == [None] * 8
    assert list(folder.iterdir()) == [file]


def test_a_link_is_not_followed_by_the_unfinished_file(folder, tmp_path_factory):
    """Others may write into a shared folder: a name that they can guess would lead to any file of the user's."""
    file, other = tuning.path(RENDERER), tmp_path_factory.mktemp("other") / "precious"
    other.write_text("precious")
    file.with_name(f"{file.name}.{os.getpid()}").symlink_to(other)
    tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY]))
    assert other.read_text() == "precious"
    assert not file.is_symlink()


def test_a_failed_write_leaves_what_was_there(folder, monkeypatch):
    file = tuning.path(RENDERER)
    tuning.write(file, RENDERER, "1.2", tuning.Stored([ENTRY]))
    before = file.read_text()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        tuning.write(file, RENDERER, "1.3", tuning.Stored([]))
    assert (file.read_text(), list(folder.iterdir())) == (before, [file])


def test_other_shaders_have_another_fingerprint(shader_files):
    before = tuning.fingerprint()
    shader_files({"a.frag": "// a\n"})
    changed = tuning.fingerprint()
    shader_files({"README.md": "no shader"})
    assert before != changed == tuning.fingerprint()


def test_what_may_be_tuned():
    for operation in tuning.operations():
        for name, variant in tuning.variants(operation).items():
            assert not variant.needs
            for parameters in parameter_space(variant):
                tuning.tuned({"operation": operation, "size": 1, "variant": name, "parameters": dict(parameters)})
    with pytest.raises(OptionError, match=f"tune: operation must be one of {among(tuning.operations(), 'eig')}"):
        tuning.variants("eig")


# ---- what is chosen --------------------------------------------------------------------------


def test_the_nearest_size_by_its_ratio():
    """Unequal sides and large ones are not tuned."""
    tuned = limits(("matmul", 64, "rank_one"), ("matmul", 1024, "multi_pass"), ("plu", 256, "blocked"))
    found = {n: tuned.tuning("matmul", n, n, n) for n in (31, 32, 64, 255, 257, 1024, 2048, 2049)}
    assert {n: one and one.size for n, one in found.items()} == {
        31: None, 32: 64, 64: 64, 255: 64, 257: 1024, 1024: 1024, 2048: 1024, 2049: None,
    }  # fmt: skip
    assert tuned.tuning("rref", 256, 256) is None
    tuned = limits(("matmul", 64, "rank_one"), texture_size=128)
    for sides, found in (
        ((32, 64, 128), True), ((31, 64, 125), False), ((128, 128, 128), True), ((128, 128, 129), False),
        ((0, 64, 64), False),
    ):  # fmt: skip
        assert (tuned.tuning("matmul", *sides) is not None) is found, sides


def test_choices_follow():
    tuned = limits(
        ("matmul", 64, "multi_pass", (("UNROLL", 4),)),
        ("plu", 64, "rank2"),
        ("rref", 64, "rank2"),
        ("triangular", 64, "rank2"),
    )
    plain = Limits()
    square, wide, column = resident((64, 64)), resident((64, 65)), resident((64, 1))
    assert matmul.choose((*square, *square), tuned) == ("multi_pass", (("UNROLL", 4),))
    assert matmul.choose((*square, *square), plain) == ("inner_product", ())
    assert (plu.choose(square, tuned)[0], plu.choose(square, plain)[0]) == ("rank2", "blocked")
    assert (rref.choose(wide, tuned)[0], rref.choose(wide, plain)[0]) == ("rank2", "blocked")
    assert triangular.choose((*square, *square), tuned)[0] == "rank2"
    assert triangular.choose((*square, *square), plain)[0] == "blocked"
    assert triangular.choose((*square, *column), tuned)[0] == "blocked"


def test_panels_that_do_not_fit_are_not_chosen():
    """Found at n = 512 they may be too many for a texture at 1024: then it is as if nothing had been tuned."""
    tuned = limits(("matmul", 512, "panel_broadcast", (("DEPTH", 16),)), texture_size=1200)
    small, large = resident((512, 512), (512, 512)), resident((1024, 1024), (1024, 1024))
    assert matmul.choose(small, tuned)[0] == "panel_broadcast"
    variant, parameters = matmul.choose(large, tuned)
    assert (variant, parameters) == matmul.choose(large, replace(tuned, tuned=()))
    matmul.plan(large, tuned, variant=variant, parameters=parameters).check(tuned)


def test_a_device_follows_its_file(folder, device, rng):
    renderer = device.info.renderer
    entries = [
        {"operation": "matmul", "size": 20, "variant": "packed_4x1", "parameters": {"PASSES": 2}},
        {"operation": "plu", "size": 20, "variant": "blocked", "parameters": {"STRIPS": 1}},
        {"operation": "rref", "size": 20, "variant": "blocked", "parameters": {"STRIPS": 1}},
        {"operation": "triangular", "size": 20, "variant": "rank2", "parameters": {}},
    ]
    tuning.write(tuning.path(renderer), renderer, glla.__version__, tuning.Stored(entries))
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
            x = glla.lu_solve(glla.lu_factor(square), right)
        testing.assert_exact(product.numpy(), a @ b)
        testing.assert_plu(regular, *(factor.numpy() for factor in factors))
        testing.assert_solve(regular, x.numpy(), b)
        assert pivots == tuple(range(20))
        del left, right, square, product, factors, x
    for trace, shader, count in (
        (of_product, "matmul/quads", 2),
        (of_factors, "strips/to_strips", 1),
        (of_form, "strips/to_strips", 1),
        (of_solution, "triangular/substitute", 20),
    ):
        assert [one.shader for one in trace.passes].count(shader) == count, shader
