"""Shaders of a user's own on arrays: what a call gives, takes and refuses, files that change; any plan on arrays."""

import copy
import gc
import pickle
import re
import weakref
from pathlib import Path

import numpy as np
import pytest

import glla
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    OptionError,
    OptionTypeError,
    ShaderError,
    ShapeError,
)
from glla.lab.examples import next_generation, summed
from glla.passes import Draft, Storage, matrix
from glla.passes.glsl import find as shaders

SHAPES = [(1, 1), (1, 2), (2, 1), (1, 7), (7, 1), (2, 3), (5, 4), (8, 8), (33, 17)]

SCALE = """\
#include "lib/elements.glsl"
uniform sampler2D A;
uniform float factor;
layout(location = 0) out vec4 result;
float scaled(int i, int j) { return factor * element(A, i, j); }
void main() { result = each_element(scaled); }
"""

# Leapfrog: two fields, each of which needs the other one.
WAVE = """\
#include "lib/elements.glsl"
uniform sampler2D U;
uniform sampler2D V;
layout(location = 1) out vec4 v;  // in any order
layout(location = 0) out vec4 u;
float moved(int i, int j) { return element(U, i, j) + element(V, i, j); }
float turned(int i, int j) { return element(V, i, j) - element_or(U, i, j - 1, 3.0); }
void main() { v = each_element(turned); u = each_element(moved); }
"""

CONTINUED = shaders.source("matmul/inner_product")

NANS = """\
uniform float zero;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
void main() {
    second = vec4(7.0);
    first = vec4(zero / zero);
    if (gl_FragCoord.x < 1.0) return;
    second = first;
}
"""


def texels_of(result):
    return result.device.read(result.texture)


# ---- against NumPy ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_life_is_exact(shape, rng):
    cells = expected = (rng.random(shape) < 0.4).astype(np.float32)
    life = glla.kernel("examples/life")
    for repeat in (1, 2, 37):
        for _ in range(repeat):
            expected = next_generation(expected)
        cells = life(A=cells, repeat=repeat)
        assert (cells.numpy() == expected).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_stencil_keeps_its_bound(shape, rng):
    a, weights = rng.standard_normal(shape).astype(np.float32), rng.standard_normal((3, 3)).astype(np.float32)
    result = glla.kernel("examples/stencil")(A=a, weights=weights).numpy()
    assert (np.abs(result - summed(a, weights)) <= 9 * 2.0**-24 * summed(np.abs(a), np.abs(weights))).all()


def test_operands_may_be_anywhere(device, rng):
    """In NumPy's memory in any order and dtype, on the device, transposed there; nothing is changed."""
    a = rng.integers(-9, 9, (5, 8))
    scale, resident = glla.kernel(SCALE, name="scale.frag"), glla.asarray(a.T)
    for given in (a, a.tolist(), np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2].astype(">f8"), resident.T):
        result = scale(A=given, factor=3)
        assert isinstance(result, glla.Array)
        assert (result.numpy() == 3 * a).all()
    assert (resident.numpy() == a.T).all()
    assert scale(A=resident, factor=1).device is resident.device
    assert scale(A=np.zeros((0, 3)), factor=1).numpy().shape == (0, 3)


def test_several_outputs_feed_each_other(rng):
    wave = glla.kernel(WAVE, feedback={"u": "U", "v": "V"})
    u, v = rng.integers(-3, 3, (2, 5, 3)).astype(np.float32)
    found = wave(U=u, V=v, repeat=5)
    for _ in range(5):
        before = np.pad(u, ((0, 0), (1, 0)), constant_values=3)[:, :-1]
        u, v = u + v, v - before
    assert found._fields == ("u", "v")
    assert (found.u.numpy() == u).all()
    assert (found[1].numpy() == v).all()


def test_an_output_that_is_not_fed_back_is_that_of_the_last_pass():
    kernel = glla.kernel(WAVE, feedback={"v": "V"})
    found = kernel(U=[[1.0, 1.0]], V=[[8.0, 8.0]], repeat=3)
    assert found.v.numpy().tolist() == [[-1.0, 5.0]]
    assert found.u.numpy().tolist() == [[1 + 2.0, 1 + 6.0]]


def test_what_is_given_unless_you_give_it():
    text = """\
uniform sampler2D A;
uniform ivec2 shape;
uniform ivec2 A_shape;
uniform int repeat_number;
layout(location = 0) out vec4 result;
void main() { result = vec4(shape, A_shape) + 100 * repeat_number + texelFetch(A, ivec2(0), 0).r; }
"""
    kernel = glla.kernel(text)
    assert kernel(A=np.zeros((5, 7)), shape=(2, 2)).numpy().tolist() == [[2, 2], [5, 7]]
    assert kernel(A=np.zeros((2, 2)), repeat=3).numpy()[0, 1] == 0 + 2 + 102 + 202 - 0 * 2
    assert kernel(A=np.zeros((2, 2)), shape=(2, 2), A_shape=(8, 9), repeat_number=1).numpy()[1].tolist() == [108, 109]


@pytest.mark.parametrize(
    ("kind", "value", "expression", "expected"),
    [
        ("float", np.float64(0.5), "x", 0.5),
        ("float", -0.0, "1.0 / x < 0.0 ? 1.0 : 2.0", 1),
        ("float", 0.0, "1.0 / x < 0.0 ? 1.0 : 2.0", 2),
        ("int", -7, "float(x)", -7),
        ("int", True, "float(x)", 1),
        ("uint", 2**32 - 1, "x == 4294967295u ? 1.0 : 0.0", 1),
        ("bool", True, "x ? 3.0 : 4.0", 3),
        ("bool", np.False_, "x ? 3.0 : 4.0", 4),
        ("vec3", np.arange(3), "x.z", 2),
        ("ivec2", [4, -5], "float(x.y)", -5),
        ("uvec4", (1, 2, 3, 4), "float(x.w)", 4),
        ("bvec2", (False, True), "x.y && !x.x ? 1.0 : 0.0", 1),
        ("mat2", [[1, 2], [3, 4]], "x[1][0]", 2),
        ("mat3x2", [[1, 2, 3], [4, 5, 6]], "x[2][1] + 10.0 * x[2][0]", 36),
        ("mat4", np.arange(16).reshape(4, 4).T, "x[1][3]", 7),
    ],
)  # fmt: skip
def test_uniforms_of_every_kind(kind, value, expression, expected):
    text = f"uniform {kind} x;\nlayout(location = 0) out vec4 r;\nvoid main() {{ r = vec4({expression}); }}\n"
    assert glla.kernel(text)(x=value, shape=(1, 1)).numpy() == expected


def test_zeros_of_both_signs_are_two_values():
    scale = glla.kernel(SCALE)
    assert [bool(np.signbit(scale(A=[[1]], factor=zero).numpy()[0, 0])) for zero in (0.0, -0.0, 0.0)] == [0, 1, 0]


def test_defines():
    text = "#ifndef N\n#define N 1\n#endif\nlayout(location = 0) out vec4 r;\nvoid main() { r = vec4(N); }\n"
    kernels = [glla.kernel(text, defines=given) for given in ({}, {"N": np.int64(4)})]
    for copies in (kernels, pickle.loads(pickle.dumps(kernels)), copy.deepcopy(kernels)):
        assert [kernel(shape=(1, 1)).numpy()[0, 0] for kernel in copies] == [1, 4]
    with pytest.raises(OptionTypeError, match="kernel: defines are names with numbers or words, got 'N': None"):
        glla.kernel(text, defines={"N": None})
    with pytest.raises(OptionError, match=r"^kernel: k\.frag has no macro 'mian'; did you mean 'main'\?$"):
        glla.kernel(text, name="k.frag", defines={"N": "M", "M": 2, "mian": 1})
    with pytest.raises(ShaderError, match=r"kernel: k\.frag refuses its defines: N is 1"):
        glla.kernel("#if N == 1\n#error N is 1\n#endif\n" + text, name="k.frag", defines={"N": 1})


def test_a_shader_of_glla_s_is_a_kernel_too():
    assert (glla.kernel("packing/identity")(shape=(3, 5)).numpy() == np.eye(3, 5)).all()
    product = glla.kernel("matmul/inner_product")(A=[[1, 2], [3, 4]], B=[[5], [6]], first=0, count=1, shape=(2, 1))
    assert product.numpy().tolist() == [[17], [39]]


# ---- padding, memory -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_padding_gets_out(shape):
    """NaN in every channel of every texel, by an early return too: outside of the result there are zeros."""
    for result, inside in zip(glla.kernel(NANS)(shape=shape, zero=0), (np.isnan, None), strict=True):
        texels = texels_of(result)
        height, width, _ = texels.shape
        whole = texels.reshape(height, width, 2, 2).transpose(0, 2, 1, 3).reshape(2 * height, 2 * width)
        outside = np.ones(whole.shape, bool)
        outside[: shape[0], : shape[1]] = False
        assert (whole[outside] == 0).all()
        if inside is not None:
            assert inside(whole[~outside]).all()


def test_nothing_is_left_on_the_device(device):
    life, before = glla.kernel("examples/life"), device.stats().textures
    result = life(A=np.zeros((9, 9)), repeat=7)
    assert device.stats().textures == before + 1
    result.release()
    with pytest.raises(ShapeError):
        glla.kernel(WAVE, feedback={"u": "U"})(U=np.zeros((2, 2)), V=np.zeros((3, 3)), shape=(3, 3), repeat=2)
    assert device.stats().textures == before


def test_a_plan_is_found_again():
    scale = glla.kernel(SCALE, name="scale.frag")
    plan = scale.plan(A=(4, 4), factor=2)
    assert scale.plan(A=np.zeros((4, 4)), factor=2.0) is plan
    assert scale.plan(A=(4, 4), factor=3) is not plan
    assert glla.run(plan, A=np.ones((4, 4)))["result"].numpy().sum() == 32
    assert "scale.frag" in str(plan) and "scale.frag@padded" not in str(plan)
    assert "scale.frag@padded" in str(scale.plan(A=(4, 5), factor=2))
    assert "scale.frag" in str(glla.explain(scale.plan(A=(4, 5), factor=2)))


# ---- arrays of every dimension and type ------------------------------------------------------

BOTH = """\
#include "lib/array.glsl"
uniform {i}sampler2D A;
uniform {i}sampler2D B;
layout(location = 0) out {i}vec4 sum;
layout(location = 1) out {i}vec4 number;
{kind} added(int i) {{ return element(A, i) + 2 * element(B, i); }}
{kind} counted(int i) {{ return {kind}(i); }}
void main() {{ sum = each_element(added); number = each_element(counted); }}
"""

ARRAY_SHAPES = [(), (1,), (3,), (4,), (17,), (2, 3), (3, 4, 5), (2, 1, 3, 2), (2,) * 6, (0,), (3, 0, 2), (10007,)]


@pytest.fixture(scope="module")
def both():
    kinds = {np.int32: ("i", "int"), np.float32: ("", "float")}
    return {dtype: glla.kernel(BOTH.format(i=i, kind=kind)) for dtype, (i, kind) in kinds.items()}


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("shape", ARRAY_SHAPES, ids=str)
def test_arrays_of_every_shape(both, shape, dtype, rng):
    most = 2**29 if dtype is np.int32 else 2**20  # int32 holds what float32 would round
    a, b = rng.integers(-most, most, (2, *shape)).astype(dtype)
    found = both[dtype](A=a, B=glla.asarray(b, dtype=dtype))
    for result, expected in zip(found, (a + 2 * b, np.arange(a.size).reshape(shape)), strict=True):
        assert (result.dtype, result.shape) == (dtype, shape)
        assert (result.numpy() == expected).all()
        assert result.value.packed == (dtype is np.float32 and result.ndim == 2)  # as all arrays are
        if result.size and not result.value.packed:
            assert (texels_of(result).ravel()[result.size :] == 0).all()


def test_arrays_may_be_anywhere(both, rng):
    a = rng.integers(-9, 9, (4, 5, 6))
    A, flags = glla.asarray(a, dtype="int32"), rng.random((4, 5, 6)) < 0.5
    found = both[np.int32](A=A.T[::-1, :, 1:3], B=flags.T[:, :, ::2]).sum
    assert (found.numpy() == a.T[::-1, :, 1:3] + 2 * flags.T[:, :, ::2]).all()
    assert (both[np.int32](A=flags, B=glla.asarray(flags, dtype="bool")).sum.numpy() == 3 * flags).all()
    assert (both[np.float32](A=A, B=a).sum.numpy() == 3 * a).all()  # converted, as everywhere
    with pytest.raises(DTypeError, match=r"A must be int32 as kernel\.frag:2 declares isampler2D A, got float32; use"):
        both[np.int32](A=glla.asarray(0.5 * a), B=flags)
    matrix = rng.integers(-9, 9, (5, 3)).astype(np.float32)
    result = both[np.float32](A=glla.asarray(matrix).T, B=matrix.T).sum
    assert (result @ result.T).numpy().tolist() == (9 * matrix.T @ matrix).tolist()


def test_indices_and_shapes_of_arrays(rng):
    text = """\
#include "lib/array.glsl"
uniform isampler2D A;
uniform ivec3 A_shape;
uniform int A_size;
uniform ivec4 shape;
layout(location = 0) out ivec4 r;
int f(int i) {
    ivec4 at = index_of(i, shape);
    if (!inside(at.yzw - 1, A_shape)) return A_size + number_of(at, shape);
    return element(A, wrapped(at.yzw - 7, A_shape), A_shape) + 1000 * element(A, clamped(at.yzw - 3, A_shape), A_shape);
}
void main() { r = each_element(f); }
"""
    a = rng.integers(0, 999, (2, 3, 4))
    found = glla.kernel(text, name="k.frag")(A=a, shape=(2, *a.shape)).numpy()
    for at in np.ndindex(2, *a.shape):
        i, j, k = at[1:]
        clamped = a[max(i - 3, 0), max(j - 3, 0), max(k - 3, 0)]
        inside = a[(i - 7) % 2, (j - 7) % 3, (k - 7) % 4] + 1000 * clamped
        assert found[at] == (inside if i and j and k else 24 + np.ravel_multi_index(at, (2, *a.shape)))
    with pytest.raises(ShapeError, match=r"k\.frag:3 declares ivec3 A_shape, for 3 dimensions, got 2 dimensions; "):
        glla.kernel(text, name="k.frag")(A=a[0], shape=(1, 2, 3, 4))
    with pytest.raises(ShapeError, match=r"k\.frag:5 declares ivec4 shape, for 4 dimensions, got none or more than"):
        glla.kernel(text, name="k.frag")(A=a, shape=())


def following(cells, rule):
    return rule >> (4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)) & 1


@pytest.mark.parametrize("size", [1, 3, 64, 1001])
def test_an_automaton_is_exact(size, rng):
    cells = expected = rng.integers(0, 2, size)
    automaton = glla.kernel("examples/automaton")
    for rule, repeat in ((30, 1), (110, 2), (90, 37)):
        for _ in range(repeat):
            expected = following(expected, rule)
        cells = automaton(A=cells, rule=rule, repeat=repeat)
        assert (cells.numpy() == expected).all()
    shorter = automaton(A=cells, rule=204, shape=size - 1, dtype="bool")  # rule 204 changes nothing
    assert shorter.dtype == bool
    assert (shorter.numpy() == expected[:-1]).all()


def test_integers_become_truths():
    text = '#include "lib/array.glsl"\nlayout(location = 0) out ivec4 r;\nvoid main() { r = ivec4(own_element(0) - 4, '
    kernel = glla.kernel(text + "-2147483648, 7, 9); }\n", name="k.frag")
    found = kernel(shape=7, dtype=bool)
    assert found.numpy().tolist() == [True] * 4 + [False, True, True]
    assert texels_of(found).ravel().tolist() == [1, 1, 1, 1, 0, 1, 1, 0]
    assert kernel(shape=7).numpy().tolist() == [-4, -(2**31), 7, 9, 0, -(2**31), 7]
    with pytest.raises(DTypeError, match=r"k\.frag:2 declares ivec4 r, so the dtype is int32 or bool, got float32"):
        kernel(shape=7, dtype=np.float32)


def test_one_text_for_both_layouts():
    text = """\
#ifdef ARRAYS
#include "lib/array.glsl"
float f(int i) { return float(i); }
#else
#include "lib/elements.glsl"
float f(int i, int j) { return float(10 * i + j); }
#endif
layout(location = 0) out vec4 r;
void main() { r = each_element(f); }
"""
    assert glla.kernel(text)(shape=(2, 3)).numpy().tolist() == [[0, 1, 2], [10, 11, 12]]
    assert glla.kernel(text, defines={"ARRAYS": 1})(shape=(2, 3)).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


# ---- results that are not there yet ----------------------------------------------------------


def test_a_pending_result_is_an_operand():
    automaton, cells = glla.kernel("examples/automaton"), np.array([0, 0, 1, 0, 0])
    loop = glla.iterate(automaton.plan(A=(5,), rule=30), carry={"next": "A"}, most=2)
    with glla.coprocessor() as gpu:
        once = automaton(A=gpu.submit(np.copy, cells), rule=30)
        assert isinstance(once, glla.Pending)
        assert "(kernel, test_kernels.py" in repr(once)
        read = loop(A=once).result()
        assert (read["next"] == following(following(following(cells, 30), 30), 30)).all()
        assert read.iterations == 2
        plan = glla.plan("matmul", glla.asarray([[1]]), glla.asarray([[1]]))
        product = glla.run(plan, A=gpu.matmul([[2]], [[3]]), B=[[7]])
        assert (product["C"] + 1).result() == 43
        own = np.ones((2, 2))
        wave = glla.kernel(WAVE)(U=gpu.matmul(own, own), V=own)
        own[:] = 99  # the arrays are those of the call
        assert wave.result().u.tolist() == [[3, 3], [3, 3]]
        with pytest.raises(DeviceMismatchError, match="kernel: the coprocessor has a device of its own; leave"):
            automaton(A=once, rule=30, device="software")
        with pytest.raises(OptionError, match="declares no B"):
            automaton(A=once, B=1).result()


# ---- files -----------------------------------------------------------------------------------


def test_a_change_of_a_file_holds_from_the_next_call_on(tmp_path):
    path, part = tmp_path / "mine.frag", tmp_path / "part.glsl"
    part.write_text("const float ADDED = 1.0;\n")
    text = SCALE.replace("uniform float", '#include "part.glsl"\nuniform float')
    path.write_text(text.replace("factor *", "ADDED +"))
    kernel, ones = glla.kernel(path), np.ones((3, 3))
    assert kernel(A=ones, factor=0).numpy()[0, 0] == 2
    old = kernel.plan(A=(3, 3), factor=0)
    part.write_text("const float ADDED = 5.0;\n")  # of the same size, in the same tick of the clock
    assert kernel(A=ones, factor=0).numpy()[0, 0] == 6
    path.write_text(path.read_text().replace("ADDED +", "7.0 + "))
    assert kernel(A=ones, factor=0).numpy()[0, 0] == 8
    path.write_text(path.read_text().replace("uniform float factor;", "uniform float factor, other;"))
    for _ in range(2):
        with pytest.raises(ShaderError, match=r"mine\.frag:4: a uniform is declared in a statement and a line of"):
            kernel(A=ones, factor=0)
    path.write_text(SCALE)
    assert kernel(A=ones, factor=9).numpy()[0, 0] == 9
    path.unlink()
    with pytest.raises(FileNotFoundError):
        kernel(A=ones, factor=9)
    assert glla.run(old, A=ones)["result"].numpy()[0, 0] in (2, 6)


def test_a_file_is_found_from_any_folder_and_called_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    (tmp_path / "mine.frag").write_text(SCALE)
    monkeypatch.chdir(tmp_path)
    kernel = glla.kernel("mine.frag")
    monkeypatch.chdir(tmp_path / "below")
    for one in (kernel, pickle.loads(pickle.dumps(kernel))):
        assert one(A=[[2]], factor=3).numpy() == 6
        with pytest.raises(OptionError, match=r"kernel: mine\.frag:3 declares float factor, which was not given"):
            one(A=[[2]])


def test_kernels_of_one_name_stay_apart():
    one, other = (glla.kernel(SCALE.replace("factor *", word), name="same.frag") for word in ("1.0 +", "2.0 +"))
    assert [kernel(A=[[1]], factor=0).numpy()[0, 0] for kernel in (one, other, one)] == [2, 3, 2]


def test_a_kernel_that_is_dropped_drops_its_plans():
    """With their programs, and at once: collections of garbage come too seldom where a program takes a megabyte."""
    gc.collect()
    gc.disable()
    try:
        kernel = glla.kernel(SCALE)
        kernel(A=np.ones((2, 2)), factor=-77)
        plan = weakref.ref(kernel.plan(A=(2, 2), factor=-77))
        assert plan() is not None
        del kernel
        assert plan() is None
    finally:
        gc.enable()


def test_texts_are_kept_by_use(monkeypatch):
    monkeypatch.setattr(shaders, "MOST_ADOPTED", 5)
    texts = [SCALE.replace("factor *", f"{number}.0 +") for number in range(16)]
    first, other = (glla.kernel(text, name="many.frag") for text in texts[:2])
    before, plan = (kernel.plan(A=(2, 2), factor=0) for kernel in (first, other))
    del other
    glla.register("matmul", "kept", CONTINUED)
    try:
        for number, text in enumerate(texts):
            result = glla.kernel(text, name="many.frag")(A=[[1]], factor=0)
            assert result.numpy() == number + 1
            assert sum(not one.pinned for one in shaders._ADOPTED.values()) <= shaders.MOST_ADOPTED
            if number < 8:
                assert first.plan(A=(2, 2), factor=0) is before  # in use, so it stays
        with pytest.raises(ShaderError, match=r"shader: many\.frag \(2\) is not kept: glla keeps the .* make the"):
            glla.run(plan, A=np.ones((2, 2)))
        assert glla.matmul([[2]], [[3]], variant="kept") == 6
        assert first(A=[[5]], factor=0).numpy() == 5  # a kernel has its text itself
    finally:
        glla.unregister("matmul", "kept")


# ---- what is refused -------------------------------------------------------------------------

OUT = "layout(location = 0) out vec4 r;\nvoid main() { r = vec4(1.0); }\n"


def test_what_is_left_out_is_not_looked_at():
    text = "#if 0\nuniform float a, b;\n#endif\n// uniform float c, d;\n//discard;\n"
    text += "void f(inout vec4 x, out vec4 y) { y = x; }\n"
    assert glla.kernel(text + OUT)(shape=(1, 1)).numpy() == 1


@pytest.mark.parametrize(
    "text", ["// shader " + "x" * 300 + "\n" + OUT, " " * 300 + "\n" + OUT, OUT.replace("\n", "\r"),
             OUT.replace("\n", " ") + "/*" + "x" * 300 + "*/", "\ufeff" + OUT,
             "// no \x85 line \u2028 end \v\f\n" + OUT]
)  # fmt: skip
def test_a_text_is_no_name_of_a_file(text):
    """A file system refuses to look for a name of 300 bytes."""
    assert glla.kernel(text)(shape=(1, 1)).numpy() == 1
    with pytest.raises(ShaderError, match=r"^long\.frag: must declare"):
        glla.register("matmul", "long", text)
    assert glla.kernel(OUT, name="x" * 300)(shape=(1, 1)).numpy() == 1


def test_a_file_of_a_long_name(tmp_path):
    path = tmp_path / ("{x}" * 83 + ".frag")
    path.write_text(OUT)
    for given in (path, str(path)):
        assert glla.kernel(given)(shape=(1, 1)).numpy() == 1


@pytest.mark.parametrize("source", ["x" * 300, "a\0b.frag", "\ud800.frag", "x/" * 3000])
def test_a_path_that_no_file_can_have(source):
    for make in (glla.kernel, lambda path: glla.register("matmul", "none", path)):
        for path in (source, Path(source)):
            with pytest.raises(OSError, match=r"name too long|no file can have"):
                make(path)


@pytest.mark.parametrize(
    "comment",
    [
        '// #include "nothing.glsl"', '//#include  "nothing.glsl"', '/* #include "nothing.glsl" */',
        '/*\n#include "nothing.glsl"\n*/', 'float f() { return 1.0; } // #include\t"nothing.glsl"',
        '// goes on \\\n#include "nothing.glsl"',
    ],
)  # fmt: skip
def test_an_include_in_a_comment_is_none(comment):
    assert glla.kernel(f"{comment}\n{OUT}", name="k.frag")(shape=(1, 1)).numpy() == 1


def test_a_comment_behind_an_include():
    for comment in ('/* "of" */', '// "elements"', "/* one */ // two"):
        text = SCALE.replace('glsl"\n', f'glsl" {comment}\n')
        assert glla.kernel(text)(A=[[2]], factor=3).numpy() == 6


@pytest.mark.parametrize("letter", ["\ud800", "\udc80", "\0"], ids=ascii)
def test_letters_that_no_shader_can_have(letter):
    """Encoded as UTF-8, these texts do not arrive at the compiler, or only in part."""
    for text, defines in ((OUT + f"// {letter}", None), (OUT, {"K": letter})):
        place = "(generated):2" if defines else "k.frag:3"
        with pytest.raises(ShaderError, match=rf"^{re.escape(place)}: a shader is UTF-8 text, which has no "):
            glla.kernel(text, name="k.frag", defines=defines)
    assert glla.kernel(OUT + "// \u03b1\U0001f600\n")(shape=(1, 1)).numpy() == 1


@pytest.mark.parametrize("shape", [(2, 2), (3, 3)], ids=["even", "odd"])
def test_a_compile_error_names_file_and_line(tmp_path, shape):
    path = tmp_path / "broken.frag"
    path.write_text(SCALE.replace("factor * element", "factor * elephant"))
    with pytest.raises(ShaderError, match=rf"{re.escape(str(path))}:5: .*elephant"):
        glla.kernel(path)(A=np.zeros(shape), factor=1)


def test_files_that_are_not_there_and_numbers_that_are_none():
    with pytest.raises(FileNotFoundError):
        glla.kernel("nothing.frag")
    assert glla.kernel(SCALE)(A=[[np.inf]], factor=1, check_finite=False).numpy() == np.inf


# ---- any plan --------------------------------------------------------------------------------


def test_run_takes_every_kind_of_slot(rng):
    a, b = rng.integers(-9, 9, (2, 5, 5))
    for operands in ((a, b), (glla.asarray(a), b), (glla.asarray(a), glla.asarray(b))):
        forms = [one if isinstance(one, glla.Array) else one.shape for one in operands]
        plan = glla.plan("matmul", *forms, variant="inner_product")
        result = glla.run(plan, **dict(zip(plan.operands, operands, strict=True)))["C"]
        assert (np.asarray(result) == a @ b).all()
    raw = glla.plan("matmul", (5, 5), (5, 5))
    elements = np.zeros(raw.slots["raw"].height * raw.slots["raw"].width)
    elements[:50] = np.concatenate([a.ravel(), b.ravel()])
    storage = raw.slots["raw"]
    records = glla.run(raw, raw=elements.reshape(storage.height, storage.width))["records"]
    assert (records.ravel()[:25] == (a @ b).ravel()).all()


def test_run_refuses_what_are_no_texels():
    draft = Draft("quads")
    source, target = draft.operand("A", Storage(1, 2)), draft.slot("B", matrix((2, 2)))
    draft.draw("packing/identity", {}, target, {"shape": (2, 2)})
    made = draft.plan({"I": target})
    with pytest.raises(ShapeError, match=r"run: A must be texels of shape \(1, 2, 4\) for this plan, got \(1, 2\)"):
        glla.run(made, **{source: [[1, 2]]})
    with pytest.raises(OptionTypeError, match=r"run: A must be an array for this plan, got an Array; pass A\.num"):
        glla.run(made, A=glla.asarray([[1, 2]]))
    assert glla.run(made, A=np.zeros((1, 2, 4)))["I"].numpy().tolist() == [[1, 0], [0, 1]]


def test_run_takes_textures_of_integers():
    text = """\
uniform isampler2D N;
layout(location = 0) out ivec4 doubled;
void main() { doubled = 2 * texelFetch(N, ivec2(gl_FragCoord.xy), 0); }
"""
    draft, storage = Draft("twice"), Storage(1, 2, dtype="int32")
    draft.draw(shaders.adopt("twice.frag", text), {"N": draft.operand("N", storage)}, draft.slot("twice", storage))
    plan, large = draft.plan({"twice": "twice"}), np.arange(8).reshape(1, 2, 4) + 2**29
    assert (glla.run(plan, N=large)["twice"] == 2 * large).all()  # float32 would round it
    for wrong in (large * 1.0, large * 8):
        with pytest.raises(DTypeError, match="run: N must be integers that fit int32 for this plan, got dtype"):
            glla.run(plan, N=wrong)
