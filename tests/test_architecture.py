"""The rules of the house that a machine can check: who imports whom, what ships, what each operation needs."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from glla.kernels import elementwise, reduce
from glla.kernels.pivot import NORMS
from glla.passes import COMPUTE, Limits, Transfer

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "glla"
SHADERS = ROOT / "shaders"

# Imports point down only. `glla` is the package itself (its public names, from __init__.py). `tracing` adds to the
# recorder the saving, which the lab does.
ORDER = [
    "errors", "layout", "conditions", "shader", "passes", "kernels", "device", "character", "dispatch", "resident",
    "matrix", "factors", "refine", "remedies", "condition", "stacks", "tiling", "echelon", "modular", "gauss_jordan",
    "linalg", "protocols", "array_api", "queue", "hybrid", "explanation", "recorder", "testing", "adversaries", "glla",
    "lab", "tracing", "cli", "__main__",
]  # fmt: skip

# testing.py judges the library, so it must not be built from what it judges.
TESTING_MAY_IMPORT = {"errors", "numpy"}

GL_PACKAGES = {"moderngl", "glfw", "glcontext"}
LAB_PACKAGES = {"scipy", "matplotlib", "rich", "pywt", "jinja2", "pygments", "pandas", "threadpoolctl"}

# Paths of the machines that this was written on.
FORBIDDEN = [f"/{folder}/".encode() for folder in ("work", "root")]

SHIPPED = sorted(
    path
    for folder in (PACKAGE, SHADERS)
    for path in folder.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)
MODULES = sorted(PACKAGE.rglob("*.py"))
SHADER_FILES = sorted(path for path in SHADERS.rglob("*") if path.suffix in {".frag", ".vert", ".comp", ".glsl"})
ENTRY_POINTS = [path for path in SHADER_FILES if path.suffix in {".frag", ".comp"}]
# kernels/_name.py is a helper, not an operation.
OPERATIONS = sorted(path.stem for path in (PACKAGE / "kernels").glob("[!_]*.py"))


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


# What the parameters of plan builders may be, by name; a bool is both, anything else its default.
PARAMETERS = {
    "shape": [(5, 4), (4, 7), (70, 3), (70, 67)],  # the third has several candidates, the last two panels
    "size": [(5, 4)],
    "m": [5], "k": [6], "n": [5], "rows": [5], "columns": [4], "steps": [2], "layers": [3],
    "texture_size": [4],
    "sweeps": [0, 2],
    "count": [1, 3],
    "tile": [(0, 0, 2, 2)],
    "trips": [(1, 2)],
    "which": ["L", "U"],
}  # fmt: skip
LIES = [(1, 1, 0), (0, 1, 1)]
# Where a name means something else.
PARAMETERS_OF = {
    ("equilibrate", "scale"): {"rows": [-1, 0, 1], "columns": [-1, 0, 1]},
    ("elementwise", "unary"): {"operation": [*elementwise.UNARY], "lies": LIES},
    ("elementwise", "binary"): {"operation": [*elementwise.BINARY], "left": LIES, "right": LIES},
    ("blocks", "assign"): {"count": [(1, 3)], "lies": LIES},
    ("blocks", "gather"): {"source": [(5, 7)]},
    ("reduce", "fold"): {"operation": [*reduce.FOLDS], "axis": [None, 0, 1]},
    ("triangular", "plan"): {"n": [5, 70]},  # one block and two
    **{
        ("stack", builder): {"texture_size": [64]}
        for builder in ("matmul", "factor", "determinant", "solve", "substitute")
    },
}


def builders(module):
    """The public functions of a kernels module that return a plan."""
    for name, function in vars(module).items():
        own = inspect.isroutine(inspect.unwrap(function)) and function.__module__ == module.__name__
        if own and not name.startswith("_") and inspect.signature(function).return_annotation == "Plan":
            yield name, function


def values(operation, builder, parameter, module):
    """What a parameter may be."""
    own = PARAMETERS_OF.get((operation, builder), {})
    if parameter.name in own:
        return own[parameter.name]
    if parameter.name == "variant":
        return list(module.VARIANTS)
    if parameter.name == "pivoting":
        return list(dict.fromkeys([parameter.default, *NORMS]))
    if parameter.annotation == "bool":
        return [False, True]
    if parameter.name in PARAMETERS:
        return PARAMETERS[parameter.name]
    assert parameter.default is not parameter.empty, f"{operation}.{builder}: add {parameter.name} to PARAMETERS"
    return [parameter.default]


@cache
def plans_of(operation):
    """Every plan that the builders of an operation make over all their parameters."""
    module = importlib.import_module(f"glla.kernels.{operation}")
    plans = []
    for name, function in builders(module):
        parameters = inspect.signature(function).parameters
        choices = [values(operation, name, parameter, module) for parameter in parameters.values()]
        named = (dict(zip(parameters, chosen, strict=True)) for chosen in product(*choices))
        plans += [function(**given) for given in named if goes_together(module, given)]
    return plans


def goes_together(module, given):
    """Whether a variant knows a pivoting strategy; an operation without `pivotings` says that each knows all."""
    known = getattr(module, "pivotings", lambda variant: NORMS)
    return given.get("pivoting") is None or "variant" not in given or given["pivoting"] in known(given["variant"])


@cache
def reached_shaders():
    """The entry points that some plan draws or dispatches, as paths below shaders/ without their suffix."""
    plans = (plan for operation in OPERATIONS for plan in plans_of(operation))
    return {step.shader for plan in plans for step in plan.steps if not isinstance(step, Transfer)}


# ---- imports ---------------------------------------------------------------------------------


def test_import_scanner_sees_every_form():
    source = """
import numpy, glla.device
from glla import passes
from . import matmul
from ..layout import Layout
def later():
    import scipy.linalg
"""
    names = set(imported_names(source, "glla.kernels"))
    assert names == {
        "numpy", "glla.device", "glla.passes", "glla.kernels.matmul", "glla.layout.Layout", "scipy.linalg",
    }  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_every_module_has_its_place_in_the_order(path):
    assert component(path) in ORDER, f"{relative(path)}: add it to ORDER"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_point_down(path):
    own = component(path)
    if own in {"glla", "__main__"}:
        return
    ours, _ = imports_of(path)
    upward = {name for name in ours if ORDER.index(name) > ORDER.index(own)}
    assert not upward, f"{relative(path)} ({own}) imports {sorted(upward)}, which stand above it"


@pytest.mark.parametrize("path", [path for path in MODULES if component(path) == "testing"], ids=relative)
def test_testing_stands_alone(path):
    ours, others = imports_of(path)
    extra = (ours | others) - TESTING_MAY_IMPORT - {"testing"} - set(sys.stdlib_module_names)
    assert not extra, f"{relative(path)} imports {sorted(extra)}"


@pytest.mark.parametrize("path", [path for path in MODULES if component(path) != "device"], ids=relative)
def test_only_device_talks_to_gl(path):
    _, others = imports_of(path)
    found = others & GL_PACKAGES
    assert not found, f"{relative(path)} imports {sorted(found)}; only glla/device may"


def test_import_is_light():
    """Importing glla loads nothing of the lab's, and makes no context: it must work where there is no GPU."""
    script = f"""
import sys

import glcontext, glfw, moderngl

def refuse(*args, **kwargs):
    raise AssertionError("importing glla makes a context")

moderngl.create_context = moderngl.create_standalone_context = refuse
glcontext.default_backend = glcontext.get_backend_by_name = refuse
glfw.init = glfw.create_window = refuse

import glla

loaded = {LAB_PACKAGES!r} & set(sys.modules)
assert not loaded, f"importing glla imports {{sorted(loaded)}}"
"""
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


# ---- files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SHIPPED, ids=relative)
def test_no_machine_paths(path):
    content = path.read_bytes()
    found = [word for word in FORBIDDEN if word in content]
    assert not found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_has_shaders_and_tests(operation):
    shaders, tests = SHADERS / operation, ROOT / "tests" / "kernels" / f"test_{operation}.py"
    assert any(shaders.glob("*.frag")), f"kernels/{operation}.py wants shaders in {relative(shaders)}/"
    assert tests.is_file(), f"kernels/{operation}.py wants {relative(tests)}"


@pytest.mark.parametrize("path", SHADER_FILES, ids=relative)
def test_shader_begins_with_its_header(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith(("//", "/*")), "begin with the header comment: formula, what one fragment computes, ..."
    assert not re.search(r"^\s*#\s*version\b", text, re.MULTILINE), "the resolver writes #version"


@pytest.mark.parametrize("path", ENTRY_POINTS, ids=relative)
def test_shader_is_reached_by_a_variant(path):
    reached = path.relative_to(SHADERS).with_suffix("").as_posix() in reached_shaders()
    assert reached, "no variant draws it: add one, or delete the file"


# ---- plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_plan_keeps_the_rules(operation):
    for plan in plans_of(operation):
        plan.check(Limits(opengl=COMPUTE))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_tests_of_an_operation_cover_its_choices(operation):
    """A test that names the table gets each new entry of it."""
    module = importlib.import_module(f"glla.kernels.{operation}")
    taken = {name for _, function in builders(module) for name in inspect.signature(function).parameters}
    wanted = {table for table, name in (("VARIANTS", "variant"), ("NORMS", "pivoting")) if name in taken}
    tests = ROOT / "tests" / "kernels" / f"test_{operation}.py"
    text = tests.read_text(encoding="utf-8") if tests.is_file() else ""
    named = set(re.findall(r"parametrize\([^\n]*\b(VARIANTS|NORMS)\b", text))
    assert wanted <= named, f"parametrize a test over {sorted(wanted - named)}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_variants_are_a_choice(operation):
    """More than one variant means that a plan can be asked for by name."""
    module = importlib.import_module(f"glla.kernels.{operation}")
    taken = {name for _, function in builders(module) for name in inspect.signature(function).parameters}
    assert len(getattr(module, "VARIANTS", {})) < 2 or "variant" in taken
