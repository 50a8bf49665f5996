"""glla.explain: plans in words, from the headers of their shaders."""

import re

import numpy as np
import pytest

import glla
from glla.display.outline import outline
from glla.operations import OPERATIONS, elementwise
from glla.passes import Draft, Host, Storage, forms_of, iterate, matrix, resident, stages
from glla.passes.glsl import find as shaders
from tests.beside import run_python

ENTRY_POINTS = sorted(
    path.relative_to(shaders.root()).with_suffix("").as_posix() for path in shaders.root().rglob("*.frag")
)
SOFTWARE, GPU = glla.Limits(software=True), glla.Limits()
FORMS = {
    "matmul": resident((20, 30), (30, 20)),
    "plu": resident((70, 67)),
    "rref": resident((67, 70)),
    "triangular": resident((7, 7), (7, 2)),
}
COMPUTE = glla.Limits(opengl=430)
PLANS = [
    OPERATIONS[name].device_plan(forms, limits, variant=variant)
    for name, forms in FORMS.items()
    for limits in (COMPUTE, SOFTWARE)
    for variant in OPERATIONS[name].tunable() | (OPERATIONS[name].variants if limits is COMPUTE else {})
]


def flat(items):
    """Steps that the items stand for, each once."""
    return sorted(number for item in items for number in item.numbers)


# ---- summaries -------------------------------------------------------------------------------


def test_every_shader_says_what_it_does_in_a_sentence():
    for name in ENTRY_POINTS:
        summary = shaders.summary(name)
        assert 15 <= len(summary) <= 160, f"{name}.frag: begin the header with a sentence of 15 to 160 characters"
        assert len([word for word in summary.split() if word.strip("(),:").isalpha()]) >= 3, (
            f"{name}.frag: say it in words"
        )
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


def test_unknown_shader():
    with pytest.raises(glla.errors.ShaderError, match=r"^shader: no file no/such\.frag; shaders are looked for below"):
        shaders.summary("no/such")


# ---- outlines --------------------------------------------------------------------------------


def drafted(text):
    """A plan of one-texel passes: letters are defines, ``(name 0 ...)`` scopes, ``(name - ...)`` parts."""
    draft = Draft("text")
    draft.operand("A", Storage(1, 1))
    draft.slot("X", Storage(1, 1))

    def add(words):
        while words:
            word = words.pop(0)
            if word == ")":
                return
            if word == "(":
                name, number = words.pop(0), words.pop(0)
                with draft.scope(name, None if number == "-" else int(number)):
                    add(words)
            else:
                draft.draw("ceilings/increment", {"before": "A"}, "X", defines={word: 1})

    add(text.replace("(", " ( ").replace(")", " ) ").split())
    return draft.plan({"X": "X"})


def shape(items, runs=1):
    """Nested: letters, and (name, first, last, [body]); with how many in a row, and in how many turns if not in all."""
    result = []
    for item in items:
        often = () if item.turns == runs else (item.turns,)
        if item.name:
            result.append((item.name, *(item.loop or ()), shape(item.items, item.runs), *often))
        else:
            letter, times = item.key[1][0][0], "" if item.times == (1, 1) else "{}-{}".format(*item.times)
            result.append((letter + times, *often) if often else letter + times)
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a b c", ["a", "b", "c"]),
        ("a a a b", ["a3-3", "b"]),
        ("(i 0 a b)(i 1 a b)(i 2 a b) c", [("i", 0, 2, ["a", "b"]), "c"]),
        ("(i 0 a b)", [("i", 0, 0, ["a", "b"])]),
        ("(i 0 a)(i 0 a)", [("i", 0, 0, ["a"]), ("i", 0, 0, ["a"])]),  # two loops, one behind the other
        ("(i 0 a)(j 0 a)", [("i", 0, 0, ["a"]), ("j", 0, 0, ["a"])]),
        ("(i 0 a)b(i 1 a)", [("i", 0, 0, ["a"]), "b", ("i", 1, 1, ["a"])]),
        ("(p - a b)(p - a b)", [("p", ["a", "b"]), ("p", ["a", "b"])]),  # parts are no loop
        ("(i 0 a b)(i 1 b)(i 2 b c)", [("i", 0, 2, [("a", 1), "b", ("c", 1)])]),
        ("(i 0 x)(i 1 a x)(i 2 a x)", [("i", 0, 2, [("a", 2), "x"])]),
        ("(i 0 a a)(i 1 a)", [("i", 0, 1, ["a1-2"])]),
        ("(i 0 (k 0 a)(k 1 a b))(i 1 (k 0 a))", [("i", 0, 1, [("k", 0, 1, ["a", ("b", 1)])])]),
        ("(i 0 a (p - b))(i 1 a)", [("i", 0, 1, ["a", ("p", ["b"], 1)])]),
        ("(i 0 (k 0 (s 0 a)))", [("i", 0, 0, [("k", 0, 0, [("s", 0, 0, ["a"])])])]),
    ],
)
def test_outline(text, expected):
    plan = drafted(text) if text else Draft("nothing").plan({})
    items = outline(plan)
    assert shape(items) == expected
    assert flat(items) == list(range(len(plan.steps)))


def test_a_loop_keeps_which_steps_are_which():
    (loop,) = outline(drafted("(i 0 a b)(i 1 a b)(i 2 a b)"))
    assert [item.numbers for item in loop.items] == [(0, 2, 4), (1, 3, 5)]
    assert loop.runs == 3


# ---- explanations ----------------------------------------------------------------------------


WHOLE = [
    *(operation.call_plan(forms_of(operation.example(n, np.random.default_rng(n))), limits)
      for operation in OPERATIONS.values() for limits in (SOFTWARE, GPU) for n in (9, 130)),
    *(glla.plan(name, *OPERATIONS[name].example(9, np.random.default_rng(9)), limits=limits)
      for name in OPERATIONS for limits in (SOFTWARE, GPU)),
    glla.plan("matmul", (400, 300), (300, 200), limits=glla.Limits(texture_size=128)),
]  # fmt: skip


@pytest.mark.parametrize("plan", [*PLANS, *WHOLE], ids=lambda p: p.operation)
def test_every_step_is_explained(plan):
    explanation = glla.explain(plan)
    steps = plan.flat.steps
    assert flat(explanation.items) == list(range(len(steps)))
    text = str(explanation)
    flowing = " ".join(text.split())
    for step in steps:
        if hasattr(step, "shader"):
            assert shaders.summary(step.shader, step.defines) in flowing
        if isinstance(step, Host):
            assert step.name in flowing
    assert f"In all {len(plan.passes)} pass" in flowing
    assert f"{plan.cost.texels} texels written, {plan.cost.nbytes} bytes" in text
    assert explanation.cost == plan.cost
    assert max(map(len, text.splitlines())) <= 120
    for name, stage in stages(plan):
        assert not name or f"\n{name}:\n" in text
        for then in stage.after:
            assert f"if {then.when}: then {then.stage or then.error}" in flowing
            assert not then.stage or text.count(f"\n{then.stage}:\n") == 1
    assert len(text.splitlines()) < 500 * len(list(stages(plan)))  # however many passes there are


def test_plu_is_a_loop_of_three_passes():
    text = str(glla.explain(OPERATIONS["plu"].device_plan(resident((64, 64)), GPU, variant="rank2")))
    assert "1. 32 times, step 0 to 31 (96 passes, steps 0 to 95):" in text
    assert "1.3. plu/rank2/eliminate (steps 2, 5 ... 95): One step of the Doolittle factorisation" in text
    assert "reads A = A or LU_ping or LU_pong, candidates; draws LU_ping or LU_pong" in text
    assert "2. pivot/factor_records (step 96)" in text
    assert "In all 97 passes: 97 draws, 0 transfers, 4 shaders" in text


def test_a_plan_of_plans():
    plan = glla.plan("solve", (300, 300), (300, 2), limits=GPU)
    text = str(glla.explain(plan))
    assert text.startswith("for OpenGL 3.3 on a GPU, textures of up to 16384 texels a side\nsolve: ")
    assert "takes A (300 x 300 array of the host), B (300 x 2 array of the host)" in text
    assert "1. upload (step 0): An array of the host, copied into a texture.\n   reads A; fills A raw" in text
    assert "host (step 418): random right-hand sides" in text or re.search(r"host \(step \d+\): random right-", text)
    assert re.search(r"read back \(step \d+\): A texture, copied into an array of the host", text)
    assert re.search(r"\d+\. factor \(377 passes, steps \d+ to \d+\):\n", text)
    assert "draws S0_ping, S1_ping" in text  # within its own scope, a slot has no prefix
    assert re.search(r"factor \(377 passes, steps 3 to 383\): as \d+\.\n", text)  # explained once
    assert "1 step of the host" in text
    assert "\nif " in text
    assert "SingularMatrixError" in text


def test_often():
    assert "3 times: " in str(glla.explain("lu_factor", (3, 300, 300), limits=GPU)).splitlines()[1]


def test_a_loop_says_how_often_and_until_what():
    draft = Draft("halves")
    x, half = draft.operand("x", matrix((1, 1))), draft.operand("half", matrix((1, 1)))
    smaller = draft.call("product", elementwise.binary((1, 1), "multiply"), A=x, B=half)["result"]
    done = draft.call("test", elementwise.binary((1, 1), "less"), A=smaller, B=half)["result"]
    body = draft.plan({"y": smaller, "done": done})
    loop = iterate(body, carry={"y": "x"}, until="done", most=40)
    lines = str(glla.explain(loop)).splitlines()
    assert lines[0].startswith("at most 40 times: halves: 2 passes")
    assert "  then y takes the place of x" in lines
    assert "  until the first element of done is not 0" in lines
    outer = Draft("outer")
    made = outer.call("inner", loop, x=outer.operand("x", matrix((1, 1))), half=outer.operand("half", matrix((1, 1))))
    text = str(glla.explain(outer.plan({"y": made["y"]})))
    assert "1. inner, at most 40 times (2 passes, steps 0 and 1):" in text


def test_explaining_by_name_is_explaining_the_plan():
    for name, forms in {"matmul": ((4, 6), (6, 2)), "rref": ((3, 5),), "det": ((4, 4),)}.items():
        assert str(glla.explain(name, *forms, limits=GPU)) == str(glla.explain(glla.plan(name, *forms, limits=GPU)))
    assert str(glla.explain("plu", (6, 6), pivoting="harmonic")).startswith("for ")


def test_blending_and_transfers_are_named():
    text = str(glla.explain(glla.plan("matmul", (4, 6), (6, 4), variant="virtual_cube", limits=GPU)))
    assert "in 2 of 3: matmul/virtual_cube" in text
    assert "adds to C, 2 x 2 texels each time" in text
    plan = OPERATIONS["matmul"].device_plan(resident((20, 6), (6, 20)), GPU, variant="panel_broadcast")
    text = str(glla.explain(plan))
    assert "3. transfer (step 2): A texture, copied row by row into a buffer." in text
    assert "reads panels; fills panel_buffer" in text
    assert "5 draws, 1 transfer, 4 shaders" in " ".join(text.split())


def test_html_is_escaped():
    html = glla.explain(OPERATIONS["det"].device_plan(resident((4, 4))))._repr_html_()
    assert html.startswith("<pre>det: ")
    assert "<=" not in html
    assert "&lt;=" in html


def test_explaining_needs_no_gpu():
    script = """
import glcontext
glcontext.default_backend = glcontext.get_backend_by_name = None
import glla
assert "Doolittle" in str(glla.explain("plu", (6, 6)))
"""
    run_python(script)
