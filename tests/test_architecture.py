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

import numpy as np
import pytest

from glla.lab import examples
from glla.operations import OPERATIONS, Operation, elementwise, linear, reduce
from glla.operations.elimination.pivot import NORMS
from glla.operations.linear.view import View
from glla.operations.shallow_water import Water
from glla.operations.sparse import bicgstab, cg, gmres, minres, polynomial, spmv
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.formats import FORMATS
from glla.operations.sparse.layout import vector
from glla.operations.spectral import filter as filters
from glla.passes import COMPUTE, Call, Dispatch, Draft, Form, Limits, Pass, stages

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

SHIPPED = sorted(
    path
    for folder in (PACKAGE, SHADERS)
    for path in folder.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)
MODULES = sorted(PACKAGE.rglob("*.py"))
SHADER_FILES = sorted(path for path in SHADERS.rglob("*") if path.suffix in {".frag", ".vert", ".comp", ".glsl"})
ENTRY_POINTS = [path for path in SHADER_FILES if path.suffix in {".frag", ".comp"}]


def module_of(path):
    """The module that a file of the package holds."""
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


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
    **{name: [((5, 4),), ((4, 7),), ((70, 3),), ((67, 400),)] for name in ("rref", "plu", "lu_factor")},
    "tridiagonal": [((3, 70), (70, 1))],  # one right side: straight from the bands
    **{name: [((5, 5), (5, 300))] for name in ("solve", "lu_solve", "triangular")},
}
ORDERS = (1, 5, 70)  # of examples: the last is more than one block, and more than a panel
COUNTS = (1, 3)  # matrices of a stack


def layouts(shapes):
    """Forms of operands: in the host's memory, on the device, and transposed, each with each."""
    choices = [
        [Form(shape, resident, transposed) for resident in (False, True) for transposed in (False, True)]
        for shape in shapes
    ]
    return [tuple(forms) for forms in product(*choices)]


def given_to(function, record):
    """Every choice of options of a builder: variants with the pivoting that they know, and flags."""
    choices = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in getattr(function, "keywords", {}):
            continue  # is settled
        if name in ("variant", "way", "chosen"):
            choices["variant"] = [None, *record.variants]
        elif name == "pivoting":
            choices[name] = [None, *NORMS] if parameter.default is None else list(NORMS)
        elif parameter.annotation == "bool":
            choices[name] = [False, True]
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


# What the parameters of other builders may be, by name; a bool is both, anything else its default.
PARAMETERS = {
    "shape": [(5, 4), (4, 7), (70, 3), (70, 67)],
    "size": [(5, 4)],
    "m": [5], "k": [6], "n": [5], "rows": [5], "columns": [4], "steps": [2], "layers": [3],
    "texture_size": [4],
    "sweeps": [0, 2],
    "tile": [(0, 0, 2, 2)],
    "trips": [(1, 2)],
    "which": ["L", "U"],
    "water": [
        Water((7, 5)), Water((40, 300), pieces=2, tide="west"), Water((5, 6), convection=False, periodic=(True, True)),
    ],
    "field": ["z", "u", "v", "h"], "first": [0, 1],
}  # fmt: skip
PLACEMENTS = [(1, 1, 0), (0, 1, 1)]
# Where a name means something else.
PARAMETERS_OF = {
    ("equilibrate", "scale"): {"rows": [-1, 0, 1], "columns": [-1, 0, 1]},
    ("elementwise", "unary"): {"operation": [*elementwise.UNARY], "placement": PLACEMENTS},
    ("elementwise", "binary"): {"operation": [*elementwise.BINARY], "left": PLACEMENTS, "right": PLACEMENTS},
    ("blocks", "assign"): {"count": [(1, 3)], "placement": PLACEMENTS},
    ("blocks", "gather"): {"source": [(5, 7)]},
    ("inv3", "formula"): {"count": [7], "texture_size": [16], "variant": ["adjugate", "adjugate_fused"]},
    ("linear_batches", "extremes_of"): {"a": [View.of((3, 4, 4))]},
    ("linear_batches", "flags"): {"kind": ["system", "definite", "factors", "determinant"], "lines": [(7, 4, 2)]},
    ("linear_batches", "flags_of_triangles"): {"count": [7]},
    ("reduce", "fold"): {"operation": [*reduce.FOLDS], "axis": [None, 0, 1]},
}


def builders(module):
    """The public functions of a module that make a plan of a pass or two, for shapes: neither forms nor limits."""
    for name, function in vars(module).items():
        own = inspect.isroutine(inspect.unwrap(function)) and function.__module__ == module.__name__
        if own and not name.startswith("_"):
            signature = inspect.signature(function)
            if signature.return_annotation == "Plan" and not {"forms", "limits"} & set(signature.parameters):
                yield name, function


def values(kernel, builder, parameter):
    """What a parameter may be."""
    own = PARAMETERS_OF.get((kernel, builder), {})
    if parameter.name in own:
        return own[parameter.name]
    if parameter.annotation == "bool":
        return [False, True]
    if parameter.name in PARAMETERS:
        return PARAMETERS[parameter.name]
    assert parameter.default is not parameter.empty, f"{kernel}.{builder}: add {parameter.name} to PARAMETERS"
    return [parameter.default]


def plans_of_kernel(kernel):
    """Every plan that the builders of a module make over all their parameters."""
    plans = []
    for name, function in builders(module_of(DRAWING[kernel])):
        parameters = inspect.signature(function).parameters
        choices = [values(kernel, name, parameter) for parameter in parameters.values()]
        plans += [function(**dict(zip(parameters, chosen, strict=True))) for chosen in product(*choices)]
    return plans


def plans_of_wrapped():
    """A plan or more of every builder of plans for wrapped arrays: of floats and integers, in order and not."""
    plans, side = [], 64
    for dtype, turned in product(("float32", "int32", "bool"), (False, True)):
        a = View.of((4, 4, 4), dtype)
        a = a.permute((2, 0, 1)) if turned else a
        truth, index, line = View.of((4, 4, 4), "bool"), View.of((4, 4, 4), "int32"), View.of((9,), dtype)
        plans += [
            *(linear.elementwise.cast(a, to, side) for to in ("float32", "int32", "bool")),
            linear.elementwise.unary(a, "positive", side),
            linear.elementwise.binary(a, a, "less", side),
            linear.elementwise.where(truth, a, a, side),
            *(linear.fold.fold(a, one, axes, side) for one in ("sum", "any") for axes in ((0,), (0, 2), (2,))),
            linear.fold.place(line.broadcast_to((3, 9)), "argmax", (1,), side),
            linear.fold.place(View.of((700,), dtype), "argmin", (0,), side),
            linear.scan.cumulative(a, "cumulative_sum", 1, side, turned),
            linear.product.product(a, a, side),
            linear.product.product(View.of((2, 5000), dtype), View.of((5000, 2), dtype), side),
            linear.move.assign(a, (1, slice(None, None, -2)), View.of((), dtype), side),
            *(linear.move.concat((a,) * count, 1, side) for count in (1, 2, 3, 9)),
            linear.move.roll(a, 3, 1, side),
            linear.move.take(a, View.of((9,), "int32"), 1, side),
            linear.move.take_along_axis(a, index, 1, side),
            *(linear.move.triangle(a, upper, 1, side) for upper in (False, True)),
            linear.move.pack(a.sliced(1), side),
            *(linear.create.full((5,), 1, dtype, side), linear.create.eye((3, 4), dtype, side)),
            linear.create.arange(0, 1, 9, dtype, side),
            *(linear.order.sort(a, axis, turned, side) for axis in (1, 2)),
            *(linear.order.argsort(a, axis, turned, side) for axis in (1, 2)),
            linear.order.searchsorted(line, a, turned, side),
        ]
        if dtype == "float32":
            plans += [linear.move.to_raw(parts, side) for parts in ((a,), (a, a))]
            plans += [linear.fold.fold(a, "sum_squares", (1,), side)]
    plans += [linear.move.unpack((4, 5), (5, 4), side, down=(0, 1), right=(1, 0))]
    plans += [linear.move.from_raw((4, 5), 23, side, matrices=3), linear.create.linspace(0, 1, 9, side)]
    return plans


def plans_of_sparse():
    """Products of sparse matrices that the record's own, of a grid, has no example of: sorted rows, sums in parts."""
    rng, limits, found = np.random.default_rng(0), Limits(opengl=COMPUTE, loop_trips=16), []
    for shape, entries in (((70, 70), 300), ((5, 4), 9), ((70, 70), 3000), ((70, 70), 0)):
        rows, columns = rng.integers(0, shape[0], entries) ** 2 // shape[0], rng.integers(0, shape[1], entries)
        if not entries:  # most rows alike
            rows = columns = np.arange(70)
            entries = 70
        matrix = Compressed.of_triplets(shape, rows, columns, np.ones(entries))
        for name, make in FORMATS.items():
            if (name != "circular" or shape[0] == shape[1]) and (name != "stencil" or len(matrix.offsets) <= 16):
                forms = (Form(shape, resident=True, view=make(matrix, limits)), Form((shape[1], 1), resident=True))
                blocks = [*filter(None, [spmv.rows(forms[0], 2, limits)])]
                found += [spmv.plan(forms, limits), *blocks]
                found += [filters.filtered((block,), 3) for block in blocks if shape[0] == shape[1]]
    for n, variant, own in product((5, 70000), cg.VARIANTS, LIMITS):
        stencil = Draft("an operator")
        x, y = stencil.operand("x", vector(n, own)), stencil.slot("y", vector(n, own))
        stencil.draw("krylov/fold", {"sums": x}, y)
        a = stencil.plan({"y": y}, 0)
        m = polynomial.chebyshev(a, n, 3, 1.0, 2.0, own)
        found += [make(a, one, n, own, variant=variant) for make in (cg.begin, cg.turn) for one in (None, m)]
        found += [make(a, m, n, own) for method in (bicgstab, minres) for make in (method.begin, method.turn)]
        found += [gmres.begin(a, m, n, own), *(gmres.cycle(a, one, n, own, steps=min(n, 6)) for one in (None, m))]
    return found


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
    package = module_of(folder)
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


def test_every_plan_keeps_the_rules_and_every_shader_is_drawn_by_one():
    plans = [plan for kernel in (*KERNELS, "linear_batches") for plan in plans_of_kernel(kernel)]
    plans += plans_of_wrapped() + plans_of_sparse()
    plans += [plan for name in OPERATIONS for plan in plans_of_record(name)]
    for plan in dict.fromkeys(plans):
        plan.check(Limits(opengl=COMPUTE))
    plans, seen, shaders = [*plans, *examples.plans()], set(), set()
    while plans:  # a plan that others call is looked at once, which takes a tenth of the time of all their passes
        plan = plans.pop()
        if plan not in seen:
            seen.add(plan)
            plans += [step.plan for step in plan.steps if isinstance(step, Call)]
            shaders |= {step.shader for step in plan.steps if isinstance(step, Pass | Dispatch)}
    unused = {path.relative_to(SHADERS).with_suffix("").as_posix() for path in ENTRY_POINTS} - shaders
    assert not unused, "no variant draws these: add one, or delete the file"


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
