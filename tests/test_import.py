"""What `import glla` costs, and how far one comes without an OpenGL binding."""

import subprocess
import sys

from tests.test_architecture import LAB_PACKAGES

BLOCKED = "import sys; sys.modules |= dict.fromkeys(('moderngl', 'glfw', 'glcontext')); import glla; "


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)


def test_names_are_imported_when_they_are_used():
    late = {
        "numpy",
        "moderngl",
        "glfw",
        "glla.linalg.systems",
        "glla.operations.systems.solve",
        "glla.interop",
        "glla.queue",
    }
    code = f"import sys, glla; names = {LAB_PACKAGES} | {late}; print(names & {{*sys.modules}})"
    outcome = run(f"{code}; glla.matmul; print(names & {{*sys.modules}})")
    assert outcome.stdout == "set()\n{'numpy'}\n", outcome.stderr


def test_plans_and_exports_need_no_binding_of_opengl(tmp_path):
    page = tmp_path / "page.html"
    outcome = run(f"{BLOCKED} glla.plan('rref', (6, 6)); glla.lab.export('rref', {str(page)!r}, size=3)")
    assert outcome.returncode == 0 and page.exists(), outcome.stderr


def test_a_context_without_a_binding_names_the_package_to_install():
    outcome = run(f"{BLOCKED} glla.solve([[1, 2], [3, 4]], [1, 2])")
    assert "ContextError" in outcome.stderr and "pip install moderngl" in outcome.stderr
