"""What `import glla` costs, how far one comes without an OpenGL binding, and what the documentation looks like."""

import importlib
import inspect
import subprocess
import sys

import pytest

import glla
from tests.test_architecture import LAB_PACKAGES

BLOCKED = "import sys; sys.modules |= dict.fromkeys(('moderngl', 'glfw', 'glcontext')); import glla; "


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)


def test_names_are_imported_when_they_are_used():
    late = {"numpy", "moderngl", "glfw"} | {f"glla.{name}" for name in ("linalg.systems", "interop", "queue")}
    late.add("glla.operations.systems.solve")
    code = f"import sys, glla; names = {LAB_PACKAGES} | {late}; print(names & {{*sys.modules}})"
    outcome = run(f"{code}; glla.matmul; print(names & {{*sys.modules}})")
    assert outcome.stdout == "set()\n{'numpy'}\n", outcome.stderr


def test_a_product_imports_no_other_operations():
    others = {"numpy.ma", "glla.operations.sparse.sell"}
    outcome = run(f"import sys, glla; glla.matmul([[2.0]], [[3.0]]); print({others} & {{*sys.modules}})")
    assert outcome.stdout == "set()\n", outcome.stderr


def test_plans_and_exports_need_no_binding_of_opengl(tmp_path):
    page = tmp_path / "page.html"
    outcome = run(f"{BLOCKED} glla.plan('rref', (6, 6)); glla.lab.export('rref', {str(page)!r}, size=3)")
    assert outcome.returncode == 0 and page.exists(), outcome.stderr


def test_a_context_without_a_binding_names_the_package_to_install():
    outcome = run(f"{BLOCKED} glla.solve([[1, 2], [3, 4]], [1, 2])")
    assert "ContextError" in outcome.stderr and "pip install moderngl" in outcome.stderr


PUBLIC = {f"glla.{name}": getattr(glla, name) for name in glla.__all__} | {
    f"glla.{room}.{name}": getattr(module, name)
    for room in ("sparse", "sparse.linalg", "applications", "hybrid", "lab")
    for module in [importlib.import_module(f"glla.{room}")]
    for name in module.__all__
}
BARE = {"glla.default_device", "glla.devices", "glla.unregister"}
"""Functions whose documentation fits without an example."""


@pytest.mark.parametrize(
    "name", [name for name, one in PUBLIC.items() if inspect.isfunction(one) or inspect.isclass(one)]
)
def test_documentation_fits_a_screen_and_begins_with_the_example(name):
    lines = inspect.getdoc(PUBLIC[name]).splitlines()
    assert len(lines) <= 45
    first = next((k for k, line in enumerate(lines) if line.startswith(">>> ")), None)
    parameters = next((k for k, line in enumerate(lines) if line == "Parameters"), len(lines))
    assert first < parameters if first is not None else inspect.isclass(PUBLIC[name]) or name in BARE
