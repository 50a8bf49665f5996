"""glla.explain: plans in words, from the headers of their shaders."""

import subprocess
import sys

import pytest

import glla
from glla import shader as shaders
from glla.explanation import Loop, Steps, folded
from glla.kernels import matmul, plu, rref

ENTRY_POINTS = sorted(
    path.relative_to(shaders.root()).with_suffix("").as_posix() for path in shaders.root().rglob("*.frag")
)
PLANS = {
    "matmul": [matmul.plan(20, 30, 20, variant) for variant in matmul.VARIANTS],
    "plu": [glla.plan("plu", (70, 67), variant=variant) for variant in plu.VARIANTS],
    "rref": [glla.plan("rref", (67, 70), variant=variant) for variant in rref.VARIANTS],
    "triangular": [glla.plan("triangular", (7, 7), (7, 2))],
}


def flat(items):
    """Steps that the items stand for, each once."""
    return sorted(number for item in items for number in item.numbers)


def fold(text):
    return folded([Steps((letter,), (number,)) for number, letter in enumerate(text)])


def shape(items):
    """Nested: letters, and (fewest, most, body)."""
    return [item.key[0] if isinstance(item, Steps) else (*item.times, shape(item.body)) for item in items]


# ---- summaries -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_every_shader_says_what_it_does_in_a_sentence(name):
    summary = shaders.summary(name)
    assert 15 <= len(summary) <= 160, f"{name}.frag: begin the header with a sentence of 15 to 160 characters"
    assert len([word for word in summary.split() if word.strip("(),:").isalpha()]) >= 3, f"{name}.frag: say it in words"
    assert summary == summary.strip(" .:")
    assert "//" not in summary
    assert "\n" not in summary


@pytest.mark.parametrize(
    ("header", "summary"),
    [
        ("// One thing. Another.\n", "One thing"),
        ("// A . B of lib/a.glsl, in\n// two lines.\n//\n// More.\n", "A . B of lib/a.glsl, in two lines"),
        ("// Three steps:\n//\n//     x\n", "Three steps"),
        ("// C0 ... C7, no end\n\nvoid main() {}\n", "C0 ... C7, no end"),
    ],
)
def test_summary_and_cost(shader_files, header, summary):
    shader_files({"own.frag": header + "// T   a table      Cost per fragment: 2 fetches (3. with X).\n"})
    assert shaders.summary("own") == summary
    assert shaders.cost("own") == "2 fetches (3. with X)"


def test_cost_may_be_missing(shader_files):
    shader_files({"own.frag": "// Nothing.\n"})
    assert shaders.cost("own") == ""


def test_unknown_shader():
    with pytest.raises(glla.errors.ShaderError, match=r"^shader: no file no/such\.frag; shaders are looked for below"):
        shaders.summary("no/such")


# ---- folding ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("abc", ["a", "b", "c"]),
        ("aaa", [(3, 3, ["a"])]),
        ("abababc", [(3, 3, ["a", "b"]), "c"]),
        ("xaabaab", ["x", (2, 2, [(2, 2, ["a"]), "b"])]),
        ("aabaaab", [(2, 2, [(2, 3, ["a"]), "b"])]),
        ("abcabcdabcabcd", [(2, 2, [(2, 2, ["a", "b", "c"]), "d"])]),
    ],
)
def test_folding(text, expected):
    items = fold(text)
    assert shape(items) == expected
    assert flat(items) == list(range(len(text)))


def test_a_loop_keeps_which_steps_are_which():
    (loop,) = fold("ababab")
    assert isinstance(loop, Loop)
    assert [item.numbers for item in loop.body] == [(0, 2, 4), (1, 3, 5)]


# ---- explanations ----------------------------------------------------------------------------


@pytest.mark.parametrize("plan", [plan for plans in PLANS.values() for plan in plans], ids=lambda plan: plan.operation)
def test_every_pass_is_explained(plan):
    explanation = glla.explain(plan)
    assert flat(explanation.items) == list(range(len(plan.steps)))
    text = str(explanation)
    assert text.startswith(f"{plan.operation}: {len(plan.steps)} pass")
    flowing = " ".join(text.split())
    for step in plan.steps:
        if hasattr(step, "shader"):
            assert shaders.summary(step.shader, step.defines) in flowing
    assert f"{plan.cost.texels} texels written, {plan.cost.nbytes} bytes" in text
    assert explanation.cost == plan.cost
    assert max(map(len, text.splitlines())) <= 120 or len(plan.results) > 2  # the head is not wrapped
    assert len(text.splitlines()) < 140  # however many passes there are


def test_plu_is_a_loop_of_three_passes():
    text = str(glla.explain(glla.plan("plu", (64, 64))))
    assert "1. 32 times (96 passes, passes 0 to 95):" in text
    assert "1.3. plu/eliminate (passes 2, 5 ... 95): One step of the Doolittle factorisation" in text
    assert "reads A = A or LU_ping or LU_pong, candidates; draws LU_ping or LU_pong" in text
    assert "2. pivot/factor_records (pass 96)" in text
    assert "In all 97 passes: 97 draws, 0 transfers, 3 shaders" in text


def test_blending_and_transfers_are_told():
    text = str(glla.explain(glla.plan("matmul", (4, 6), (6, 4), variant="virtual_cube")))
    assert "adds to C, 2 x 2 texels each time" in text
    text = str(glla.explain(glla.plan("matmul", (20, 6), (6, 20), variant="panel_broadcast")))
    assert "3. transfer (pass 2): A texture, copied row by row into a buffer." in text
    assert "reads panels; fills panel_buffer" in text
    assert "5 draws, 1 transfer, 4 shaders" in " ".join(text.split())


def test_html_is_escaped():
    html = glla.explain(glla.plan("plu", (4, 4)))._repr_html_()
    assert html.startswith("<pre>plu[")
    assert "<=" not in glla.explain(glla.plan("plu", (4, 4)))._repr_html_()


def test_explaining_needs_no_gpu():
    script = """
import glcontext
glcontext.default_backend = glcontext.get_backend_by_name = None
import glla
assert "Doolittle" in str(glla.explain(glla.plan("plu", (6, 6))))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
