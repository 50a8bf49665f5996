"""Pages that follow from the code: the course, its players, the list of functions, the command's options.

They are written before a build, into folders that git ignores. A public name without a place in `GROUPS` stops it.
"""

from __future__ import annotations

import os
import re
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from io import StringIO
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
EXTRA = ROOT / "build" / "extra"
TABLES = ROOT / "build" / "tables"
"""Tables of measurements and of variants, which pages include."""

PLAYERS = EXTRA / "players"
"""Pages that run the passes of a variant in the browser."""

GROUPS = {
    "Multiply": ["matmul"],
    "Solve": [
        "solve",
        "lu_solve",
        "cho_solve",
        "cho_solve_banded",
        "solve_triangular",
        "solve_banded",
        "solveh_banded",
    ],
    "Factor": ["plu", "lu_factor", "cholesky", "cho_factor", "cholesky_banded", "qr", "rref"],
    "Invert, and numbers of a matrix": ["inv", "det", "slogdet", "rcond"],
    "Least squares": ["lstsq"],
    "Eigenvalues and singular values": ["eigh", "eigvalsh", "eigh_tridiagonal", "eigen_bounds", "svd", "svdvals"],
    "From singular values": ["pinv", "matrix_rank", "cond", "polar", "orth", "null_space", "sqrtm"],
    "Results": ["PLU", "RREF", "QRResult", "EighResult", "SVDResult", "RefinedSolution", "SlogdetResult"],
    "Arrays": ["Array", "asarray", "from_dlpack"],
    "Shaders of your own": ["kernel", "Kernel", "run", "iterate", "register", "unregister"],
    "Plans": ["plan", "explain", "trace", "Form", "Limits"],
    "Devices": ["Device", "default_device", "devices"],
    "Queues": ["coprocessor", "coprocessors", "Coprocessor", "Coprocessors", "Pending"],
}
MODULES = {
    "sparse.asarray": "sparse", "sparse.linalg": "sparse", "applications": "applications", "cluster": "cluster",
    "dask": "dask", "hybrid": "hybrid", "array_api": "array_api", "errors": "errors",
}  # fmt: skip
MEMBERS = {
    "sparse": ["asarray", "SparseMatrix"],
    "sparse.linalg": [
        "cg",
        "minres",
        "bicgstab",
        "gmres",
        "eigsh",
        "svds",
        "jacobi",
        "block_jacobi",
        "chebyshev",
        "LinearOperator",
    ],
    "applications": ["restore", "window_squares", "ShallowWater"],
    "hybrid": ["map"],
    "lab": ["compare", "Comparison", "Measurement", "tune", "register", "export"],
}
"""Public names of modules, each with a page."""


os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}


def write_functions() -> None:
    """Write the lists of the reference."""
    import glla

    placed = {name for names in GROUPS.values() for name in names} | set(MODULES.values())
    missing = set(glla.__all__) - placed - {"__version__"}
    if missing:
        raise SystemExit(f"docs/_ext/generated.py: give {', '.join(sorted(missing))} a place in GROUPS")
    text = ""
    groups = {title: [f"glla.{name}" for name in names] for title, names in GROUPS.items()}
    groups |= {f"glla.{module}": [f"glla.{module}.{name}" for name in names] for module, names in MEMBERS.items()}
    for title, names in groups.items():
        listed = "".join(f"   {name}\n" for name in names)
        text += f".. rubric:: {title}\n\n.. autosummary::\n   :toctree: generated\n\n{listed}\n"
    keep(DOCS / "reference" / "functions.rst", f":orphan:\n\nFunctions\n=========\n\n{text}")


def write_course() -> None:
    """Write a page for each folder of shaders, and the players."""
    from glla.web import course

    if outdated(PLAYERS / "stamp"):
        lessons = [one for one in course._lessons(6, course.SEED) if one.document is not None]
        course.write(PLAYERS, 6)
        listed = "".join(f"{course._folder(one.document)} {one.file} {one.title}\n" for one in lessons)
        (PLAYERS / "folders").write_text(listed)
    players: dict[str, list[tuple[str, str]]] = {}
    for line in (PLAYERS / "folders").read_text().splitlines():
        folder, file, title = line.split(" ", 2)
        players.setdefault(folder, []).append((file, title))
    order = [name for name in course._reading_order() if (ROOT / "shaders" / name).is_dir()]
    for name in order:
        keep(DOCS / "course" / "shaders" / f"{name}.md", lesson(name, players.get(name, [])))
    tree = "".join(f"shaders/{name}\n" for name in order)
    text = (ROOT / "shaders" / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"`(\w+)/`", r"[\1/](shaders/\1.md)", text.partition("\n")[2])
    keep(
        DOCS / "course" / "folders.md", f"# The shaders in their order\n{text}\n```{{toctree}}\n:hidden:\n\n{tree}```\n"
    )


def outdated(mark: Path, *others: str) -> bool:
    """Say whether the code, or another folder, has changed since this was asked about a file before."""
    rooms = ("glla", "shaders", *others)
    stamp = str(max(path.stat().st_mtime for room in rooms for path in (ROOT / room).rglob("*.*")))
    before = mark.read_text() if mark.exists() else ""
    keep(mark, stamp)
    return before != stamp


def write_tables() -> None:
    """Write the tables of measurements, and that of variants."""
    from benchmarks import readme
    from glla import Device
    from glla.lab import collection

    made = {f"{name}.md": text + "\n" for name, text in readme.parts(readme.RESULTS).items()}
    if outdated(TABLES / "stamp", "benchmarks"):
        made |= readme.drawn(readme.RESULTS)
        with Device() as device:
            made["variants.md"] = collection.markdown(collection.entries(device)) + "\n"
    for name, text in made.items():
        keep(TABLES / name, text)


def lesson(name: str, players: list[tuple[str, str]]) -> str:
    """Give the page of a folder: its player, its README, its shaders."""
    folder = ROOT / "shaders" / name
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else f"# {name}\n"
    head, _, rest = text.partition("\n")
    head = re.sub(r", in the order in which to read (it|them)", "", head)
    links = " · ".join(f'<a href="../../players/{file}">{title}</a>' for file, title in players)
    frame = player(players[0][0], "../../") if players else ""
    parts = [head, f"```{{raw}} html\n{frame}<p>{links}</p>\n```" if players else "", rest, "## Shaders"]
    for path in sorted(folder.iterdir()):
        if path.suffix in {".frag", ".glsl", ".vert", ".comp"}:
            up = path.relative_to(ROOT).as_posix()
            parts.append(f":::{{dropdown}} {path.name}\n```{{literalinclude}} ../../../{up}\n:language: glsl\n```\n:::")
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def player(file: str, up: str) -> str:
    """Give the frame of a page that runs passes."""
    source = f"{up}players/{file}#view=player&amp;pass=1"
    return f'<iframe class="player" loading="lazy" title="passes of {file}" src="{source}"></iframe>'


def write_command() -> None:
    """Write what ``glla --help`` says, and that of each command."""
    whole = helped()
    parts = [f"```text\n{whole}```"]
    for name in named(whole):
        text = helped(name)
        parts.append(f"## glla {name}\n\n```text\n{text}```")
        parts += [f"### glla {name} {one}\n\n```text\n{helped(name, one)}```" for one in named(text, name)]
    keep(DOCS / "reference" / "commands.md", "# Options of each command\n\n" + "\n\n".join(parts) + "\n")


def named(text: str, *command: str) -> list[str]:
    """Find the commands that a text lists: words at the start of a line that have a help of their own."""
    words = [word for line in text.splitlines() if line.startswith("  ") for word in line.split()[:2]]
    known = dict.fromkeys(word for word in words if re.fullmatch(r"[a-z]+", word))
    return [word for word in known if helped(*command, word).startswith(f"usage: glla {' '.join((*command, word))} ")]


@cache
def helped(*command: str) -> str:
    """Give the text of --help."""
    from glla.cli import main

    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()), suppress(SystemExit):
        main([*command, "--help"])
    return out.getvalue()


def keep(path: Path, text: str) -> None:
    """Write a file, unless it is the same: Sphinx then does not read it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write(app, config) -> None:
    """Write everything."""
    write_functions()
    write_course()
    write_tables()
    write_command()


class Player(Directive):
    """A frame with the passes of an operation's variant: ``{player} rref-rank2``."""

    required_arguments = 1

    def run(self):
        """Give the frame."""
        name = self.arguments[0]
        file = next(path.name for path in sorted(PLAYERS.glob(f"{name}*.html")))
        depth = self.state.document.settings.env.docname.count("/")
        return [nodes.raw("", player(file, "../" * depth), format="html")]


def setup(app):
    """Connect."""
    PLAYERS.mkdir(parents=True, exist_ok=True)
    app.add_directive("player", Player)
    app.connect("config-inited", write)  # before the list of documents is made
    return {"parallel_read_safe": True}
