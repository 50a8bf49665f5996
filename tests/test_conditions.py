"""Conditions of the preprocessor: C's integers, a place for each mistake, and an end, whatever stands in a file."""

import random
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glla.errors import ShaderError
from glla.passes import Draft, Storage
from glla.passes.glsl import find as shader

LIMIT = 2**31


def taken(text, **macros):
    """Whether the preprocessor takes the branch below ``#if TEXT``."""
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    return "yes" in active(f"{defines}#if {text}\nyes\n#endif\n")


def active(text):
    lines = tuple(("a.frag", number) for number, _ in enumerate(text.split("\n"), 1))
    return shader.active_text(shader.Stage(text, lines))


def refused(text):
    with pytest.raises(ShaderError) as caught:
        active(text)
    return str(caught.value)


# ---- values ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "equation",
    [
        "0X1f == 31", "- - 3 == 3", "-+-3 == 3", "1 << 2 + 1 == 8", "3 > 2 > 1 == 0",
        "1 || 1/0", "!(0 && 1/0)", "!(0 && (1 || 1/0) && 1 << 99)",
        "defined A && defined(B) && !defined ( C )", "A == 5", "B == -2", "C == 0",
        "__VERSION__ == 0",  # of this text, which has no #version
    ],
)  # fmt: skip
def test_values_are_c_s(equation):
    assert taken(equation, A="B + 7", B="-2")


def test_the_version_is_known(shader_files):
    text = "#if __VERSION__ >= 330 && __VERSION__ < 400 && GL_core_profile\nuniform int a;\n#endif\n"
    shader_files({"a.frag": text})
    assert shader.resolve("a").uniforms == {"a"}


def divided(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


# ---- oracles ---------------------------------------------------------------------------------

LEVELS = ["||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"]
UNARY, NUMBER = len(LEVELS), len(LEVELS) + 1
C = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": divided, "%": lambda a, b: a - b * divided(a, b),
    "==": lambda a, b: int(a == b), "<": lambda a, b: int(a < b), ">=": lambda a, b: int(a >= b),
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "!=": lambda a, b: int(a != b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    "<<": lambda a, b: a * 2**b if 0 <= b < 32 else None, ">>": lambda a, b: a // 2**b if 0 <= b < 32 else None,
}  # fmt: skip


def fitting(value):
    return value if value is not None and -LIMIT <= value < LIMIT else None


def grown(rng, depth):
    """Text of a random expression with no more parentheses than it needs, and its level.

    Then C's value, None for none; and whether all its parts have one, those that do not count, too.
    """
    kind = rng.random() if depth else 1.0
    if kind > 0.85:
        n = rng.choice([0, 1, 2, 3, 7, 31, 32, rng.randrange(100), rng.randrange(LIMIT)])
        return rng.choice([str(n), hex(n), f"0{n:o}"]), NUMBER, n, True
    if kind > 0.7:
        sign, (text, level, value, whole) = rng.choice("-+~!"), grown(rng, depth - 1)
        text = f"{sign} {text}" if level >= UNARY else f"{sign}({text})"
        applied = {"-": lambda a: -a, "+": int, "~": lambda a: -a - 1, "!": lambda a: int(a == 0)}[sign]
        value = None if value is None else fitting(applied(value))
        return text, UNARY, value, whole and value is not None
    level = rng.randrange(len(LEVELS))
    word = rng.choice(LEVELS[level].split())
    (left, left_level, a, left_whole), (right, right_level, b, right_whole) = (grown(rng, depth - 1) for _ in "ab")
    left = left if left_level >= level else f"({left})"
    right = right if right_level > level else f"({right})"
    space = rng.choice(["", " "])
    text = f"{left}{space}{word} {right}"
    if a is None:
        value = None
    elif word in ("||", "&&") and (a != 0) == (word == "||"):
        value = int(a != 0)  # whatever stands behind it
    elif b is None or (word in "/%" and b == 0):
        value = None
    else:
        value = int(b != 0) if word in ("||", "&&") else fitting(C[word](a, b))
    return text, level, value, left_whole and right_whole and value is not None


def expressions(count, seed=2007):
    rng = random.Random(seed)
    return [(text, value, whole) for text, _, value, whole in (grown(rng, rng.randrange(1, 6)) for _ in range(count))]


def written(value):
    return str(value) if value > -LIMIT else f"-{LIMIT - 1} - 1"


def test_random_expressions_have_c_s_values():
    known = 0
    for text, value, _ in expressions(1500):
        if value is None:
            assert "a.frag:1: cannot evaluate the condition: " in refused(f"#if {text}\n#endif")
        else:
            known += 1
            assert taken(f"({text}) == {written(value)}"), (text, value)
    assert 700 < known < 1400


def counted(known, hit):
    """Text that has `hit` for each expression that has the value that it should have, and not one that it has not."""
    right = "".join(f"#if ({text}) == {written(value)}\n{hit}\n#endif\n" for text, value in known)
    return right + "".join(f"#if ({text}) != {written(value)}\n{hit}{hit}\n#endif\n" for text, value in known)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_c_preprocessor_agrees():
    known = [(text, value) for text, value, _ in expressions(1500) if value is not None]
    command = ["cc", "-E", "-P", "-w", "-x", "c", "-"]
    result = subprocess.run(
        command, input=counted(known, "hit"), capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.split().count("hit") == len(known)


def test_the_driver_agrees(device, shader_files):
    """Mesa's preprocessor: of expressions, of lines that go on, and comments of several lines.

    Mesa calculates what stands behind && and || even where it does not count, so all parts must have values.
    """
    if not device.info.software:
        pytest.skip("what other drivers make of a name without a meaning is not known")
    known = [(text, value) for text, value, whole in expressions(300) if whole]
    more = (
        "#define NONE\n// a comment that goes on \\\n+ 100\n"
        "#if 1 /* and\n */ && 0\n+ 1000\n#endif\n"
        "#define SUM 1 /* and\n on */ + 1\n#if SUM * 3 == 4\n+ 1\n#endif\n"
        "#if 1\\\n2 == 12\n+ 1\n#endif\n"
        "#if undefined == 0 && 1 - undefined\n+ 1\n#endif\n"
    )
    text = f"layout(location = 0) out vec4 result;\nvoid main() {{ result = vec4(0\n{counted(known, '+ 1')}{more}); }}"
    assert active(text).split().count("1") == len(known) + 3
    assert "100" not in active(text)
    shader_files({"oracle.frag": text})
    draft = Draft("oracle")
    draft.draw("oracle", {}, draft.slot("result", Storage(1, 1)))
    assert device.read(device.run(draft.plan({"result": "result"}))["result"])[0, 0, 0] == len(known) + 3


@pytest.mark.parametrize(
    "text",
    [
        "\n/* 2\n 3 */ \\\n \n#if __LINE__ == 5 && defined __LINE__\nyes\n#endif",
        "#if 0\n#if 1 +\n#elif 1/0\n#endif\n#elif 1\nyes\n#elif 9**9\n#endif",  # what is left out may say anything
        "#define N 1\n#undef N\n#ifdef N\nno\n#endif\nyes",
        "#if 1 && \\\n 0\nno\n#endif\n#define A \\\n 3\n#if A == 3\nyes\n#endif",
    ],
)
def test_what_is_active(text):
    assert active(text).strip() == "yes"


# ---- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("9**9**9**9", "a number, a name or ( is missing before '*'"),
        ("1 +", "a number, a name or ( is missing at the end"),
        ("", "a number, a name or ( is missing at the end"),
        ("1/0", "it divides by zero"),
        ("1 % 0", "it divides by zero"),
        ("08", "'08' is no integer"),
        ("1.5", "'1.5' is no integer"),
        ("1e5", "'1e5' is no integer"),
        ("0x", "'0x' is no integer"),
        ("1(2)", "an operator is missing before '('"),
        ("1 2", "an operator is missing before '2'"),
        ("(1", "a ) is missing"),
        ("1)", "an operator is missing before ')'"),
        ("2147483648", "2147483648 does not fit 32 bits"),
        ("2147483647 + 1", "2147483648 does not fit 32 bits"),
        ("1 << 40", "it shifts by 40 bits"),
        ("1 << -1", "it shifts by -1 bits"),
        ("1 << 9999999999", "9999999999 does not fit 32 bits"),
        ("9" * 5000, "does not fit 32 bits"),
        ("1 ? 2 : 3", "'?' is no operator of a condition"),
        ("N = 1", "'=' is no operator of a condition"),
        ('__import__("os")', "an operator is missing before '('"),
        ('"a"', "'\"' is no operator of a condition"),
        ("(" * 100 + "1" + ")" * 100, "are nested more than 32 deep"),
        ("defined", "defined wants a name"),
        ("defined(", "defined wants a name"),
        ("defined(A", "defined wants a name"),
        ("defined(1)", "defined wants a name"),
        ("\u0663", "'\u0663' is no operator of a condition"),  # a digit, and no C
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_a_condition_that_has_no_value(condition, reason):
    report = refused(f"one\n#if {condition}\n#endif\n")
    assert report.startswith("a.frag:2: cannot evaluate the condition: ")
    assert reason in report
    assert report.split("\n")[1].strip().startswith(f"#if {condition}".strip()[:60])
    assert len(report) < 600


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("#endif", "a.frag:1: #endif without an #if\n      #endif"),
        ("\n #else // so", "a.frag:2: #else without an #if\n      #else"),
        ("#elif 1", "a.frag:1: #elif without an #if\n      #elif 1"),
        ("#if 1\n#else\n#else\n#endif", "a.frag:3: #else after #else\n      #else"),
        ("#if 1\n#else\n#elif 1\n#endif", "a.frag:3: #elif after #else\n      #elif 1"),
        ("#if 0\n#if 1\n#endif", "a.frag:1: this #if has no #endif\n      #if 0"),
        ("a\n#ifndef N", "a.frag:2: this #ifndef has no #endif\n      #ifndef N"),
        ("#ifdef\n#endif", "a.frag:1: #ifdef wants a name\n      #ifdef"),
        ("#ifdef 3\n#endif", "a.frag:1: #ifdef wants a name\n      #ifdef 3"),
        ("#define\n", "a.frag:1: #define wants a name\n      #define"),
        ("/* a\n b */\n#endif", "a.frag:3: #endif without an #if\n      #endif"),
        ("#if 1 + \\\n  )\n#endif", "a.frag:1: cannot evaluate the condition: a number, a name or ( is missing"),
    ],
)
def test_conditionals_that_do_not_pair(text, report):
    assert refused(text).startswith(report)


def test_a_macro_with_arguments_is_none_of_a_condition():
    assert "F takes arguments" in refused("#define F(x) x\n#if F(1)\n#endif")
    assert taken("defined(F)", **{"F(x)": "x"})


def test_macros_end():
    """Names that stand for each other, for many others, or for nothing at all many times."""
    assert not taken("A", A="B", B="A")
    assert taken("A + 1", A="A")
    doubled = {f"A{i}": f"A{i + 1} A{i + 1}" for i in range(64)} | {"A64": ""}
    assert "its macros stand for more than" in refused(
        "".join(f"#define {name} {value}\n" for name, value in doubled.items()) + "#if A0\n#endif"
    )
    long = {f"A{i}": f"A{i + 1}" for i in range(3000)} | {"A3000": "1"}
    assert taken("A0", **long)


def test_comments_without_an_end_take_no_time():
    assert active("/* " * 200_000).strip() == ""


def test_a_long_text_takes_no_time(shader_files):
    """Half a megabyte of nothing: each pattern looks at it once, not once for each of its lines."""
    shader_files({"a.frag": "\n" * 250_000 + " " * 250_000 + "\n#error" + " " * 50_000 + "so"})
    assert shader.resolve("a").refusals == ("so",)


TEXTS = st.text("0189xX.eE()+-*/%<>=!&|^~? \t\\#NdefinA_\"'\u00b2", max_size=60) | st.text(max_size=30)
DIRECTIVES = st.sampled_from(
    ["if", "ifdef", "ifndef", "elif", "else", "endif", "define A", "define B", "undef", "error"]
)


@settings(deadline=2000, max_examples=500)
@given(TEXTS)
def test_any_condition_has_a_value_or_a_place(text):
    try:
        assert taken(text) in (True, False)
    except ShaderError as error:
        assert str(error).startswith("a.frag:")


@settings(deadline=2000, max_examples=200)
@given(st.lists(st.builds("#{} {}".format, DIRECTIVES, TEXTS), max_size=8))
def test_any_text_is_preprocessed_or_has_a_place(lines):
    try:
        active("\n".join(lines))
    except ShaderError as error:
        assert str(error).startswith("a.frag:")
