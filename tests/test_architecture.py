"""The rules of the house that a machine can check: who imports whom, what ships, what each operation needs."""

import ast
import importlib
import inspect
import re
import sys
from dataclasses import replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from pkgutil import iter_modules
from typing import get_type_hints

import numpy as np
import pytest

from glla.operations import OPERATIONS, Operation
from glla.operations.elimination.pivot import NORMS
from glla.passes import COMPUTE, Form, Limits, stages

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "glla"
SHADERS = ROOT / "shaders"
RESULTS = ROOT / "benchmarks" / "results"

# Imports point down only, those under TYPE_CHECKING counted. `glla` is the facade (__init__.py), which the lab
# stands below; `tracing` adds to the recorder the saving, which the lab does.
ORDER = [
    "_version", "errors", "lazily", "registry", "passes", "display", "operations", "gl", "array", "linalg", "kernels",
    "interop", "sparse", "queue", "hybrid", "applications", "cluster", "dask", "testing", "lab", "web", "thesis",
    "tracing", "glla", "array_api", "generate", "cli", "__main__",
]  # fmt: skip

# testing.py judges the library, so it must not be built from what it judges.
TESTING_MAY_IMPORT = {"errors", "numpy"}

GL_PACKAGES = {"moderngl", "glfw", "glcontext"}
LAB_PACKAGES = {
    "scipy", "matplotlib", "rich", "pywt", "jinja2", "pygments", "pandas", "threadpoolctl", "mpi4py", "dask", "shtab",
}  # fmt: skip

# Paths of the machines that this was written on.
FORBIDDEN = [f"/{folder}/".encode() for folder in ("work", "root")]

BELOW = sorted(path for folder in (PACKAGE, SHADERS) for path in folder.rglob("*") if path.is_file())
SHIPPED = [path for path in BELOW if "__pycache__" not in path.parts]
MODULES = sorted(PACKAGE.rglob("*.py"))
SHADER_FILES = sorted(path for path in SHADERS.rglob("*") if path.suffix in {".frag", ".vert", ".comp", ".glsl"})
ENTRY_POINTS = [path for path in SHADER_FILES if path.suffix in {".frag", ".comp"}]


def draws(path):
    """Whether a module of operations adds passes to a draft itself; others are made of the plans of these."""
    return bool(re.search(r"draft\.(draw|dispatch)\(|single_pass\(", path.read_text(encoding="utf-8")))


# Modules of operations that draw, by name, and the variants of others whose steps they write. Those of wrapped arrays
# share a folder of shaders, and take views: `plans_of_wrapped`.
WRAPPED = PACKAGE / "operations" / "linear"
SPARSE = PACKAGE / "operations" / "sparse"  # likewise; they take structures: `plans_of_sparse`
SPECTRAL = PACKAGE / "operations" / "spectral"  # parts of its records, whose plans are looked at
DRAWING = {
    path.stem: path
    for path in sorted((PACKAGE / "operations").rglob("[!_]*.py"))
    if draws(path) and path.parent not in (WRAPPED, SPARSE, SPECTRAL)
}
TESTED_WITH = {
    "panels": "plu", "columns": "plu", "plu_batches": "stack", "linear_batches": "stack", "cholesky_blocks": "cholesky",
    "band_columns": "definite_band", "known": "rref",
    "stack_definite": "cholesky",
    "blocked_product": "matmul", "register_blocks": "matmul", "solved_blocks": "triangular",
    "qr_blocks": "qr", "qr_pairs": "qr", "qr_stack": "qr", "qr_tall": "qr",
}  # fmt: skip
KERNELS = sorted(set(DRAWING) - set(TESTED_WITH))


def relative(path):
    return path.relative_to(ROOT).as_posix()


def component(path):
    """The name in ORDER that a file of the package counts by: glla/lab/plots.py is in `lab`."""
    first = path.relative_to(PACKAGE).parts[0]
    return "glla" if first == "__init__.py" else first.removesuffix(".py")


def imported_names(source, package):
    """Every dotted name that a module's source imports, anywhere in it; `package` is the one that holds the module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # from . import x, from ..layout import y
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def imports_of(path):
    """What a file imports: (components of glla, other top-level packages)."""
    ours, others = set(), set()
    package = ".".join(path.relative_to(ROOT).parent.parts)
    for name in imported_names(path.read_text(encoding="utf-8"), package):
        top, _, rest = name.partition(".")
        if top != "glla":
            others.add(top)
        else:
            first = rest.partition(".")[0]
            ours.add(first if first in ORDER else "glla")  # `from glla import matmul` is the package itself
    return ours, others


LIMITS = [Limits(opengl=COMPUTE), Limits(opengl=COMPUTE, software=True)]

# Shapes of operands beside those of a record's example.
SHAPES = {
    "matmul": [((5, 6), (6, 5)), ((70, 131), (131, 34))],
    "cholesky": [((140, 140),)],  # more than FUSED
    "qr": [((5, 4),), ((4, 7),), ((70, 3),), ((300, 3),)],
    "lstsq": [((5, 4), (5, 2)), ((4, 7), (4, 1))],
    "eigh": [((258, 258),)],  # more than WHOLE
    "svd": [((5, 4),), ((4, 7),)],
    **{name: [((5, 4),), ((4, 7),), ((70, 3),), ((130, 400),)] for name in ("rref", "plu", "lu_factor")},
    "tridiagonal": [((3, 70), (70, 1))],  # one right side: straight from the bands
    **{name: [((5, 5), (5, 300))] for name in ("solve", "lu_solve", "triangular")},
}
ORDERS = (1, 5, 70)  # of examples: the last is more than one block, and more than a panel
COUNTS = (1, 3)  # matrices of a stack


def layouts(shapes):
    """Forms of operands: in the host's memory, on the device, and transposed, each with each."""
    ways = list(product((False, True), repeat=2))
    return list(product(*([Form(shape, *way) for way in ways] for shape in shapes)))


def given_to(function, record):
    """Every choice of options of a builder: variants with the pivoting that they know, and flags."""
    choices = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in getattr(function, "keywords", {}):
            continue  # is settled
        if name in ("variant", "way", "options", "chosen"):
            choices["variant"] = [None, *record.variants]
        elif name == "pivoting":
            choices[name] = [None, *NORMS] if parameter.default is None else list(NORMS)
        elif parameter.annotation == "bool":
            choices[name] = [False, True]
        if parameter.annotation == "Unpack[Options]":
            own = get_type_hints(sys.modules[getattr(function, "func", function).__module__].Options)
            choices |= {one: [False, True] for one, kind in own.items() if kind is bool}
    for values in product(*choices.values()):
        options = dict(zip(choices, values, strict=True))
        known = None if record.pivotings is None or not options.get("variant") else record.pivotings(options["variant"])
        if known is None or options.get("pivoting") in (None, *known):
            yield options


def goes_with(options, shapes):
    """Whether operands of these shapes may have these options: a product is symmetric by a transpose alone."""
    return not options.get("symmetric") or shapes[0] == shapes[1][::-1]


def plans_of_record(name):
    """Every plan of an operation: of itself, of calls, and of what may come after them."""
    record, rng = OPERATIONS[name], np.random.default_rng(0)
    examples = [tuple(array.shape for array in record.example(order, rng)) for order in ORDERS]
    plans = []
    for shapes, limits in product([*examples, *SHAPES.get(name, [])], LIMITS):
        hosted = tuple(Form(shape) for shape in shapes)
        at = tuple(form.on_device for form in hosted)
        for options in (one for one in given_to(record.device_plan, record) if goes_with(one, shapes)):
            plans.append(record.device_plan(at, limits, **options))
        calls = [(forms, {}) for forms in (layouts(shapes) if shapes == examples[1] else (hosted, at))]
        given = [options for options in given_to(record.call_plan, record) if goes_with(options, shapes)]
        for forms, options in [*calls, *((hosted, options) for options in given)]:
            plans += [plan for _, plan in stages(record.call_plan(forms, limits, **options))]
        if record.batch is not None:
            for count, options in product(COUNTS, given_to(record.batch.records_plan, record)):
                forms = tuple(replace(form, shape=(count, *form.shape)) for form in hosted)
                plans += [plan for _, plan in stages(record.batch.records_plan(forms, limits, **options))]
            if record.batch.device_plan is not None:
                forms = tuple(Form((3, *form.shape), resident=True) for form in hosted)
                plans += [plan for _, plan in stages(record.batch.device_plan(forms, limits))]
    return plans


# ---- imports ---------------------------------------------------------------------------------


def test_import_scanner_sees_every_form():
    source = """
import numpy, glla.gl
from glla import passes
from . import matmul
from ..passes.layout import Layout
def later():
    import scipy.linalg
if TYPE_CHECKING:
    from glla.lab import peers
"""
    names = set(imported_names(source, "glla.operations"))
    assert names == {
        "numpy", "glla.gl", "glla.passes", "glla.operations.matmul", "glla.passes.layout.Layout", "scipy.linalg",
        "glla.lab.peers",
    }  # fmt: skip


def test_imports_point_down():
    assert not {relative(path) for path in MODULES if component(path) not in ORDER}, "add them to ORDER"
    for path in MODULES:
        upward = {name for name in imports_of(path)[0] if ORDER.index(name) > ORDER.index(component(path))}
        assert not upward, f"{relative(path)} ({component(path)}) imports {sorted(upward)}, which stand above it"


def test_operations_do_not_ask_for_their_list():
    """It imports every one of them."""
    for path in (path for path in MODULES if component(path) == "operations"):
        package = ".".join(path.relative_to(ROOT).parent.parts)
        names = set(imported_names(path.read_text(encoding="utf-8"), package))
        assert "glla.operations.OPERATIONS" not in names, relative(path)


@pytest.mark.parametrize("room", sorted({component(path) for path in MODULES if path.parent != PACKAGE}))
def test_no_room_goes_round_in_circles(room):
    """Modules of a room import each other one way, too, those under TYPE_CHECKING and within functions counted."""
    graph = {module: ours & set(modules()) - {module} for module, ours in modules().items()}
    own = {module: used for module, used in graph.items() if module.split(".")[1:2] == [room]}
    try:
        TopologicalSorter(own).prepare()
    except CycleError as error:
        pytest.fail(f"{' <- '.join(error.args[1])}")


@cache
def modules():
    """Each module of the package, and the modules that it imports."""
    named = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES}
    found = {}
    for name, path in named.items():
        package = name.rpartition(".")[0]
        imported = set(imported_names(path.read_text(encoding="utf-8"), package))
        found[name] = {one for one in imported | {one.rpartition(".")[0] for one in imported} if one in named}
    return found


def test_only_gl_talks_to_gl():
    """And limits alone say what a device is: what is fast on a GPU is a parameter of a variant, no second flag."""
    for path in (path for path in MODULES if component(path) != "gl"):
        found = imports_of(path)[1] & GL_PACKAGES
        assert not found, f"{relative(path)} imports {sorted(found)}; only glla/gl may"
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg | ast.keyword)}
        assert not arguments & {"unroll", "fused"}, relative(path)


def test_testing_stands_alone():
    for path in (path for path in MODULES if component(path) == "testing"):
        ours, others = imports_of(path)
        extra = (ours | others) - TESTING_MAY_IMPORT - {"testing"} - set(sys.stdlib_module_names)
        assert not extra, f"{relative(path)} imports {sorted(extra)}"


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in PACKAGE.rglob("__init__.py")), ids=lambda one: one.name
)
def test_no_module_is_named_like_a_public_name_beside_it(folder):
    """Importing `glla/linalg/solve.py` would put the module in the place of the function `glla.linalg.solve`."""
    package = importlib.import_module(".".join(folder.relative_to(ROOT).parts))
    places = getattr(package, "PLACES", {})
    modules = {one.name for one in iter_modules([str(folder)])}
    for name in sorted(modules & {*getattr(package, "__all__", ()), *places}):
        meant = ":" not in places[name] if name in places else inspect.ismodule(getattr(package, name))
        assert meant, f"{package.__name__}: rename the module {name}, which would hide the public name"


# ---- files -----------------------------------------------------------------------------------


def test_no_machine_paths():
    for path in SHIPPED:
        content = path.read_bytes()
        assert not [word for word in FORBIDDEN if word in content], relative(path)


@cache
def results():
    """Files of measurements, below benchmarks/results/."""
    return {path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*") if path.is_file()}


TEXTS = sorted(
    path
    for place in ("README.md", "docs", "examples", "glla", "shaders", "benchmarks")
    for path in [ROOT / place, *(ROOT / place).rglob("*")]
    if path.suffix in {".py", ".md", ".frag", ".vert", ".comp", ".glsl"} and not path.is_relative_to(RESULTS)
)


def cited(text):
    """What a text cites of the measurements: paths below benchmarks/results/, or below the folder of a renderer."""
    renderers = "|".join(sorted(re.escape(name.partition("/")[0]) for name in results() if "/" in name))
    found = re.findall(rf"benchmarks/results/([\w./-]*\w)|\b((?:{renderers})/[\w./-]*\w|thresholds\.md)", text)
    return {one or other for one, other in found}


def test_citations_are_seen():
    text = "`benchmarks/results/a/b.json`, (llvmpipe-llvm-15-0-6-256-bits/doubt), ``thresholds.md``."
    assert cited(text) == {"a/b.json", "llvmpipe-llvm-15-0-6-256-bits/doubt", "thresholds.md"}


def test_measurements_that_are_cited_are_there():
    """A text names the file of what was measured, not a folder that may hold several runs."""
    names = {relative(path): cited(path.read_text(encoding="utf-8")) - results() for path in TEXTS}
    wrong = {path: sorted(one) for path, one in names.items() if one}
    assert not wrong


TESTED_WITH = {"tridiagonal": "banded", "pentadiagonal": "banded", "permutation": "plu"}
"""Files of operations whose tests are in the file of their family."""


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_draws_has_shaders_and_tests(kernel):
    tests = ROOT / "tests" / "operations" / f"test_{TESTED_WITH.get(kernel, kernel)}.py"
    shaders = SHADERS / kernel
    assert any(shaders.rglob("*.frag")), f"operations/{kernel}.py wants shaders in {relative(shaders)}/"
    assert tests.is_file(), f"operations/{kernel}.py wants {relative(tests)}"


@pytest.mark.parametrize("folder", sorted({path.parent for path in SHADER_FILES}), ids=relative)
def test_shader_folder_has_a_reading_order(folder):
    """A folder of more than three shaders has a README.md; one that is there names every shader file beside it."""
    names = [path.name for path in SHADER_FILES if path.parent == folder]
    readme = folder / "README.md"
    assert readme.is_file() or len(names) <= 3, f"{relative(folder)}: {len(names)} files, in which order to read them?"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else "".join(f"`{name}`" for name in names)
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing, f"{relative(readme)} does not name {', '.join(missing)}"
    part = folder.relative_to(SHADERS).parts[:1]
    if part:
        order = (SHADERS / "README.md").read_text(encoding="utf-8")
        assert f"`{part[0]}/`" in order, f"shaders/README.md: add a line that names `{part[0]}/` to the reading order"


def test_shaders_begin_with_their_headers():
    for path in SHADER_FILES:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(("//", "/*")), (
            f"{relative(path)}: begin with the header comment: formula, what a fragment computes"
        )
        assert not re.search(r"^\s*#\s*version\b", text, re.MULTILINE), f"{relative(path)}: #version is not its own"


# ---- plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_plan_keeps_the_rules(name):
    """Those of records, in every layout and with all options; others are checked as they run in their tests."""
    for plan in dict.fromkeys(plans_of_record(name)):
        plan.check(Limits(opengl=COMPUTE))


def test_every_shader_is_named_by_a_module():
    text = "".join(path.read_text(encoding="utf-8") for path in MODULES)
    folders = "|".join(re.findall(r'f"([\w/]+/)\{\w+\}"', text))  # the rest of the name is a variable's
    names = (path.relative_to(SHADERS).with_suffix("").as_posix() for path in ENTRY_POINTS)
    unused = [name for name in names if f'"{name}"' not in text and not re.match(f"({folders})", name)]
    assert not unused, "no module draws these: add a variant, or delete the file"


@pytest.mark.parametrize("name", [name for name, record in OPERATIONS.items() if record.choose is not Operation.choose])
def test_tests_of_an_operation_cover_its_choices(name):
    """A test that names the table gets each new entry of it."""
    record = OPERATIONS[name]
    kernel = inspect.getmodule(inspect.unwrap(record.device_plan)).__name__.rpartition(".")[2]
    wanted = {"VARIANTS"} | ({"NORMS"} if record.pivotings is not None else set())
    folder = (
        "spectral" if ".spectral." in inspect.getmodule(inspect.unwrap(record.device_plan)).__name__ else "operations"
    )
    file = ROOT / "tests" / folder / f"test_{kernel}.py"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    named = set(re.findall(r"parametrize\([^\n]*\b(VARIANTS|NORMS)\b", text))
    assert wanted <= named, f"{relative(file)}: parametrize a test over {', '.join(sorted(wanted - named))}"
