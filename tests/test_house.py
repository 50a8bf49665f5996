"""The size of the house, as a ratchet: each count has a budget, which may only fall.

``python tests/test_house.py`` prints every count beside its budget and its goal; with ``lower`` it writes budgets that
are well above their counts anew. Whoever makes a count smaller lowers its budget; nobody raises one. Capabilities that
came later are counted on their own: ``SPECTRAL``, and ``ADDED`` where they touch what was there.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, TESTS, SHADERS = ROOT / "glla", ROOT / "tests", ROOT / "shaders"

SLACK = 0.02
"""Part of a budget by which a count may lie below it: more means that somebody forgot to lower the budget."""

ROOM = 0.005
"""Part of a count by which a lowered budget exceeds it: a change that takes a few lines need not lower another room."""


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def files_of(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Files of a folder, those of the spectral capability left out: they are counted on their own."""
    found = (path for path in folder.rglob(pattern) if path.is_file())
    return tuple(sorted(path for path in found if not is_spectral(path)))


def is_spectral(path: Path) -> bool:
    """Whether a file is of the capability that came after the counts began: eigenvalues and singular values."""
    return "spectral" in path.relative_to(ROOT).parts


def spectral(folder: Path, pattern: str = "*.py") -> int:
    """Lines of the spectral capability in a folder."""
    return sum(text_of(path).count("\n") for path in folder.rglob(pattern) if is_spectral(path))


def lines(folder: Path, pattern: str = "*.py") -> int:
    """Lines of the files in a folder, or of one file."""
    paths = files_of(folder, pattern) if folder.is_dir() else (folder,)
    return sum(text_of(path).count("\n") for path in paths)


def top_files() -> int:
    """Lines of the files directly in the package."""
    return sum(lines(path) for path in PACKAGE.glob("*.py"))


def matches(folder: Path, pattern: str) -> int:
    """Lines of Python in which an expression is found."""
    found = re.compile(pattern)
    return sum(bool(found.search(line)) for path in files_of(folder, "*.py") for line in text_of(path).splitlines())


def holding(folder: Path, pattern: str) -> int:
    """Files of Python in which an expression is found."""
    return sum(bool(re.search(pattern, text_of(path))) for path in files_of(folder, "*.py"))


def imports_of(path: Path) -> Iterator[Path]:
    """Files of `linalg` and `operations` that a file imports."""
    for node in ast.walk(ast.parse(text_of(path))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("glla"):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("glla")]
        else:
            continue
        for name in names:
            base = ROOT.joinpath(*name.split("."))
            file = base.with_suffix(".py")
            if file.is_file() and file.relative_to(PACKAGE).parts[0] in ("linalg", "operations"):
                yield file


def closure(start: str) -> set[Path]:
    """Files of `linalg` and `operations` that one must be able to open to read a file."""
    found, waiting = set[Path](), [PACKAGE / start]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imports_of(path)
    return found


def files_to_read(start: str) -> int:
    return len(closure(start))


def lines_to_read(start: str) -> int:
    return sum(map(lines, closure(start)))


def docstrings() -> Iterator[str]:
    for path in files_of(PACKAGE, "*.py"):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield text


def whats() -> int:
    """First lines of docstrings with a "what" in the place of a noun."""
    return sum(bool(re.search(r"\bwhat\b", text.splitlines()[0], re.IGNORECASE)) for text in docstrings())


def outside_the_order() -> int:
    """Folders of shaders that the reading order does not name."""
    order = text_of(SHADERS / "README.md")
    return sum(f"{path.name}/" not in order for path in SHADERS.iterdir() if path.is_dir())


def shaders_to_read(name: str) -> int:
    """Files of both stages of a shader, with all that they include."""
    found, waiting = set[str](), [f"{name}.vert", f"{name}.frag"]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += re.findall(r'^#include "(.*)"', text_of(SHADERS / file), re.MULTILINE)
    return len(found)


def conditionals() -> int:
    """Most conditionals of the preprocessor in a shader, include guards and defaults of parameters left out."""
    paths = [path for kind in ("*.frag", "*.glsl", "*.vert") for path in files_of(SHADERS, kind)]
    return max(len(re.findall(r"^#(?:if |ifdef |elif )", text_of(path), re.MULTILINE)) for path in paths)


# -- budgets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """A count, its budget today, and its goal."""

    name: str
    count: Callable[[], int]
    row: int
    goal: int

    @property
    def added(self) -> int:
        """Lines by which later capabilities exceed the row."""
        return sum(brought.get(self.name, 0) for brought in ADDED.values())

    @property
    def budget(self) -> int:
        return self.row + self.added


ADDED: dict[str, dict[str, int]] = {
    "product through buffers": {
        "lines of glla": 200,
        "lines of glla/operations": 125,
        "files to read for linalg/systems.py": 2,
        "lines to read for linalg/systems.py": 245,
        "files to read for a product": 1,
        "lines of glla/gl": 42,
        "lines of glla/passes": 25,
        "lines of shaders": 12,
    },
    "products in few passes, a choice by the device's rates": {
        "lines of shaders": 150,
        "lines of glla/operations": 110,
        "lines of glla/gl": 25,
        "lines of glla/passes": 90,
        "lines of glla/display": 20,
        "lines of glla/cli": 16,
    },
    "passes in one texture": {
        "lines of glla/gl": 64,
        "lines of glla/operations": 20,
        "lines of glla/passes": 130,
        "lines of shaders": 370,
        "files of shaders/lib": 2,
    },
    "eigenvalues and singular values": {
        "lines of README": 1,
        "lines of the package's own files": 1,
        "lines of glla/testing": 20,
        "lines of glla/operations": 2,
        "lines of glla/web": 13,
    },
}
"""Lines that a capability brought which came after the counts began: its name, then the counts that it touches."""


def room(name: str, budget: int, goal: int) -> Count:
    """Lines of a room of the package."""
    return Count(f"lines of glla/{name}", partial(lines, PACKAGE / name), budget, goal)


COUNTS = [
    room("operations", 18348, 16300),
    room("linalg", 4334, 3500),
    room("kernels", 950, 950),
    room("gl", 5069, 5100),
    room("lab", 8614, 8000),
    room("thesis", 2879, 2800),
    room("web", 1440, 1400),
    room("cluster", 4822, 4600),
    room("passes", 3183, 3800),
    room("display", 1220, 1000),
    room("array", 2903, 2800),
    room("interop", 1754, 1800),
    room("testing", 2021, 2100),
    room("queue", 1805, 1750),
    room("sparse", 1529, 1530),
    room("hybrid", 1341, 1400),
    room("applications", 986, 950),
    room("dask", 875, 850),
    room("cli", 1152, 1200),
    Count("lines of the package's own files", top_files, 917, 1500),
    Count("lines of glla", partial(lines, PACKAGE), 66649, 61000),
    Count("lines of tests", partial(lines, TESTS), 36915, 33000),
    Count("lines of benchmarks", partial(lines, ROOT / "benchmarks"), 4535, 4500),
    Count("lines of shaders", partial(lines, SHADERS, "*.[fgvc]*"), 13098, 12500),
    Count("lines of README", partial(lines, ROOT / "README.md"), 163, 400),
    Count("files to read for linalg/systems.py", partial(files_to_read, "linalg/systems.py"), 40, 40),
    Count("lines to read for linalg/systems.py", partial(lines_to_read, "linalg/systems.py"), 8860, 9000),
    Count("files to read for a Cholesky factor", partial(files_to_read, "operations/definite/cholesky.py"), 15, 14),
    Count("files to read for a product", partial(files_to_read, "operations/product/matmul.py"), 11, 12),
    Count("isinstance(..., Array) in linalg", partial(matches, PACKAGE / "linalg", r"isinstance\(.*\bArray\b"), 23, 25),
    Count("definitions of settle in operations", partial(matches, PACKAGE / "operations", r"def settle"), 8, 8),
    Count("files of operations with frexp", partial(holding, PACKAGE / "operations", r"np\.frexp"), 2, 2),
    Count("files of glla with frexp", partial(holding, PACKAGE, r"np\.frexp"), 2, 5),
    Count("files of benchmarks with an ArgumentParser", partial(holding, ROOT / "benchmarks", r"ArgumentParser"), 3, 3),
    Count("functions called newest in benchmarks", partial(matches, ROOT / "benchmarks", r"def .*newest"), 2, 1),
    Count("definite matrices made in tests", partial(matches, TESTS, r"def definite\("), 0, 0),
    Count("names for float32 arrays", partial(matches, PACKAGE, r"^(?!Float32 )\w+ = NDArray\[np\.float32\]$"), 0, 0),
    Count('first lines of docstrings with "what"', whats, 3, 120),
    Count("folders of shaders outside the reading order", outside_the_order, 0, 0),
    Count("files of shaders/lib", lambda: len(files_of(SHADERS / "lib", "*")), 27, 35),
    Count("shader files to read for plu/rank2/eliminate", partial(shaders_to_read, "plu/rank2/eliminate"), 6, 6),
    Count("most conditionals in a shader", conditionals, 6, 6),
]

SPECTRAL = [
    ("lines of glla, eigenvalues and singular values", partial(spectral, PACKAGE), 4500),
    ("lines of their tests", partial(spectral, TESTS), 2500),
    ("lines of their shaders", partial(spectral, SHADERS, "*.[fgvc]*"), 2500),
]
"""Counts of the spectral capability, which still grows, and the lines that each may have."""


@pytest.mark.parametrize(("name", "count", "most"), SPECTRAL, ids=[name for name, _, _ in SPECTRAL])
def test_the_spectral_capability_keeps_to_its_lines(name, count, most):
    assert count() <= most, f"{name}: {count()} of {most}"


def test_the_house_is_counted_as_a_whole():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    counted = {count.name.removeprefix("lines of glla/") for count in COUNTS if count.name.startswith("lines of glla/")}
    assert rooms <= counted, f"give {rooms - counted} a budget in tests/test_house.py"


def least_of(budget: int) -> int:
    """Smallest count that a budget may have."""
    return budget - max(2, int(SLACK * budget))


@pytest.mark.parametrize("one", COUNTS, ids=lambda one: one.name)
def test_a_budget_may_only_fall(one):
    found = one.count()
    assert found <= one.budget, f"{one.name}: {found} is over the budget of {one.budget}; make it smaller elsewhere"
    assert found >= least_of(one.budget), (
        f"{one.name}: {found} is well below its budget of {one.budget}: `python tests/test_house.py lower`"
    )


def lower() -> int:
    """Write budgets that are well above their counts anew; return how many counts are over theirs."""
    counts = {one.name: one for one in COUNTS}
    rows = Path(__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    for node in ast.walk(ast.parse("".join(rows))):
        made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("room", "Count")
        if made and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            one = counts[f"lines of glla/{name}" if node.func.id == "room" else name]
            place = node.args[1 if node.func.id == "room" else 2]
            row, found = rows[place.lineno - 1], one.count()
            if found < least_of(one.budget):
                lowered = str(int(found * (1 + ROOM)) - one.added)
                rows[place.lineno - 1] = row[: place.col_offset] + lowered + row[place.end_col_offset :]
            elif found > one.budget:
                print(f"{one.name}: {found} is over the budget of {one.budget}")
    Path(__file__).write_text("".join(rows), encoding="utf-8")
    return sum(one.count() > one.budget for one in COUNTS)


def main() -> None:
    if sys.argv[1:] == ["lower"]:
        sys.exit(lower())
    width = max(len(one.name) for one in COUNTS)
    print(f"{'':{width}} {'count':>7} {'budget':>7} {'goal':>7}")
    for one in COUNTS:
        found = one.count()
        print(f"{one.name:{width}} {found:7} {one.budget:7} {one.goal:7}{'' if found > one.goal else '  met'}")
    for name, count, most in SPECTRAL:
        print(f"{name:{width}} {count():7} {most:7}")


if __name__ == "__main__":
    main()
