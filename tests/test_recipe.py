"""The recipe of a new operation is true: its files, taken out of the documentation, work in a copy of the tree.

Where a line of them is missing, a check says which one, and where it belongs.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "contribute" / "operation.md"
COPIED = ("glla", "shaders", "tests", "docs", "benchmarks", "pyproject.toml", "README.md")

RECORD = "glla/operations/symmetrize.py"
FUNCTION = "glla/linalg/symmetric.py"
JUDGES = "glla/testing/judges.py"
TEST = "tests/operations/test_symmetrize.py"
CALLS = "tests/typing/calls.py"
READING_ORDER = "shaders/README.md"


def blocks():
    """Blocks of code by the heading above them."""
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [re.findall(r"^```\w+\n(.*?)^```$", part, re.MULTILINE | re.DOTALL) for part in parts]


def ends_of(text, *functions):
    """Places behind the last lines of functions."""
    return [re.search(rf"^def {name}\(.*?(?=^\n\n|\Z)", text, re.MULTILINE | re.DOTALL).end() for name in functions]


def recipe():
    """Texts of the files that a new operation adds or changes, and the commands."""
    (shader, folder), (record,), (function,), (judge, entry), (test,), types, (commands,) = blocks()
    order, judges, calls = ((ROOT / name).read_text(encoding="utf-8") for name in (READING_ORDER, JUDGES, CALLS))
    table = judges.index("\nJUDGES")
    inside = judges.index("{\n", table) + 2
    for end, line in sorted(zip(ends_of(calls, "arrays", "matrices"), types, strict=True), reverse=True):
        calls = calls[:end] + line + calls[end:]
    files = {
        "shaders/symmetrize/sum.frag": shader,
        READING_ORDER: order + folder,
        RECORD: record,
        FUNCTION: function,
        JUDGES: f"{judges[:table]}\n{judge}\n{judges[table:inside]}{entry}{judges[inside:]}",
        TEST: test,
        CALLS: calls,
    }
    return files, commands.splitlines()


class Tree:
    """A copy of the tree, with a new operation."""

    def __init__(self, folder):
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "results")
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=ignored)
            else:
                shutil.copy(ROOT / name, folder / name)
        (folder / "benchmarks" / "results").symlink_to(ROOT / "benchmarks" / "results")
        files, commands = recipe()
        for name, text in files.items():
            self.write(name, text)
        for command in commands:
            outcome = self.run(*command.split()[1:])
            assert outcome.returncode == 0, outcome.stderr

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *arguments):
        """Run Python in the copy."""
        path = os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"PYTHONPATH": path, "GLLA_DEBUG": "0"}
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    def tested(self, *tests):
        """Output of tests, ``FILE::part of a name``, of which only the cases of the operation run."""
        parts = [test.split("::") for test in tests]
        names = " or ".join(name for _, name in parts)
        options = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "-k", f"({names}) and (symmetrize or not [)")
        return self.run("-m", "pytest", *options, *{file: None for file, _ in parts}).stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return Tree(tmp_path_factory.mktemp("tree"))


USED = """
import numpy as np
import glla
from glla.cli import main
from glla.lab import bench, ceilings

a = np.arange(18.0).reshape(2, 3, 3)
expected = (a + a.swapaxes(1, 2)) / 2
assert (glla.symmetrize(a) == expected).all()
assert (glla.symmetrize(a[0]) == expected[0]).all()
assert (glla.symmetrize(glla.asarray(a)).numpy() == expected).all()
assert "symmetrize" in dir(glla) and "symmetrize" in glla.__all__
print(glla.plan("symmetrize", (9, 3, 3)))
with glla.coprocessor() as gpu:
    assert (gpu.symmetrize(a).result() == expected).all()
for arguments in ("explain symmetrize", "trace symmetrize", "variants symmetrize", "export symmetrize -o page.html"):
    assert main(arguments.split()) == 0
assert main("compare symmetrize --size 5 --repeats 1 -o compared.json".split()) == 0
"""


def test_it_is_used_in_every_way(tree):
    done = tree.run("-c", USED)
    assert done.returncode == 0, done.stderr
    assert "stack[symmetrize]: 3 passes" in done.stdout
    assert "symmetrize" in tree.read("page.html")
    assert '"status": "ok"' in tree.read("compared.json")


def test_its_own_test_passes(tree):
    assert "5 passed" in tree.tested(f"{TEST}::test")


def test_its_files_are_in_the_style_of_the_others(tree):
    pytest.importorskip("ruff")
    for arguments in (("check",), ("format", "--check")):
        done = tree.run("-m", "ruff", *arguments, RECORD, FUNCTION, JUDGES, TEST, CALLS)
        assert done.returncode == 0, done.stdout


class Gap(NamedTuple):
    """A line that is missing from a file, or the whole file; the test that finds it, and the sentence that it says."""

    file: str
    line: str | None
    instead: str
    test: str
    says: str


RECORDS, RULES = "tests/operations/test_records.py", "tests/test_architecture.py"

GAPS = {
    "files": (
        Gap(
            READING_ORDER, "`symmetrize/`", "the last", f"{RULES}::reading_order",
            "shaders/README.md: add a line that names `symmetrize/` to the reading order",
        ),
        Gap("shaders/symmetrize/sum.frag", "//", "#", f"{RULES}::headers", "begin with the header comment: formula"),
        Gap(
            TEST, None, "", f"{RULES}::has_shaders_and_tests",
            "operations/symmetrize.py wants tests/operations/test_symmetrize.py",
        ),
    ),
    "the record": (
        Gap(RECORD, '"definition"', '""', f"{RECORDS}::what_it_is", "VARIANTS: give 'sum' a summary and a source"),
        Gap(
            "tests/operations/passes.txt", "symmetrize sum: 1:1", "symmetrize sum: 1:2", f"{RECORDS}::of_the_table",
            "run `python -m tests.operations.test_records symmetrize`",
        ),
        Gap(  # as `glla.generate` writes it without the decorator
            "glla/linalg/public.py", '    "symmetrize": "glla.linalg.symmetric:symmetrize",\n', "",
            f"{RECORDS}::takes_its_operands",
            "glla has no function symmetrize: decorate it with @public() in a module of glla/linalg, run `python",
        ),
    ),
    "what belongs to it": (
        Gap(
            JUDGES, '    "symmetrize": Judge(', '    "other": Judge(', f"{RECORDS}::judge_of_it",
            'glla/testing/judges.py: add "symmetrize": Judge(...) to JUDGES',
        ),
        Gap(
            TEST, 'parametrize("variant", VARIANTS)', 'parametrize("variant", ["sum"])', f"{RULES}::cover_its_choices",
            "tests/operations/test_symmetrize.py: parametrize a test over VARIANTS",
        ),
        Gap(
            CALLS, "    assert_type(glla.symmetrize(A), Array)\n", "", "tests/test_typing.py::is_asserted",
            "tests/typing/calls.py: add assert_type(glla.symmetrize(...), ...) to matrices()",
        ),
        Gap(
            FUNCTION, "@public()", '@public(namespace="symmetrize")', "tests/test_array_api.py::standard_has_not",
            "symmetrize: the array API has no linalg.symmetrize: leave namespace= out of @public",
        ),
        Gap(
            "glla/queue/methods.pyi", "symmetrize", "other", "tests/queue/test_coprocessor.py::generated_files",
            "write it again: python -m glla.generate",
        ),
    ),
    "its shader": (Gap("shaders/symmetrize/sum.frag", None, "", f"{TEST}::exact", "no file symmetrize/sum.frag"),),
    "the record itself": (
        Gap(
            RECORD, "SYMMETRIZE = Operation(", "dict(", f"{TEST}::exact",
            "no file of glla/operations ends in a record: SYMMETRIZE = Operation(name='symmetrize', ...)",
        ),
    ),
}  # fmt: skip
"""Lines that are left out at once: none hides another."""


@pytest.mark.parametrize("gaps", GAPS.values(), ids=GAPS)
def test_a_check_says_which_line_is_missing(tree, gaps):
    whole = {gap.file: tree.read(gap.file) for gap in gaps}
    try:
        for gap in gaps:
            if gap.line is None:
                (tree.folder / gap.file).unlink()
                continue
            text = tree.read(gap.file)
            assert gap.line in text
            tree.write(gap.file, text.replace(gap.line, gap.instead, 1))
        output = tree.tested(*(gap.test for gap in gaps))
    finally:
        for name, text in whole.items():
            tree.write(name, text)
    assert not [gap.says for gap in gaps if gap.says not in output], output
