"""What a user gets from `pip install glla`: built, installed in a clean environment, used away from the checkout."""

import email
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.timeout(400)

# Prints the version and where the package and its shaders come from.
USE = """
import json

import numpy as np

import glla, glla.passes.glsl.find

a = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
x = np.array([[1.0], [2.0], [3.0]])
b = a @ x

np.testing.assert_array_equal(np.asarray(glla.matmul(a, x)), b)  # small integers: exact
np.testing.assert_allclose(np.asarray(glla.solve(a, b)), x, rtol=1e-5)
print(json.dumps([glla.__version__, glla.__file__, str(glla.passes.glsl.find.root())]))
"""


def run(*command, cwd):
    """Run a command as a user would: no path of the checkout in its environment. Returns what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def files_below(folder):
    """The files that a distribution should hold: without byte code, relative to the folder."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def version_in_source():
    return re.search(r'^__version__ = "(.+)"$', (ROOT / "glla" / "_version.py").read_text(), re.MULTILINE)[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built *from* it: so the sdist, too, is complete."""
    try:
        run(sys.executable, "-c", "import build, hatchling", cwd=ROOT)
    except AssertionError:
        pytest.skip("build and hatchling are not among the packages of the interpreter itself")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return SimpleNamespace(sdist=sdist, wheel=wheel)


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """An environment that holds the wheel and what it asks for, in the locked versions, and nothing else."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    scripts = folder / "venv" / "bin"
    run(
        scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--constraint", ROOT / "requirements.lock", built.wheel, cwd=folder,
    )  # fmt: skip
    return SimpleNamespace(folder=folder, scripts=scripts, python=scripts / "python")


def test_wheel_holds_package_and_shaders(built):
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = {f"glla/{name}" for name in files_below(ROOT / "glla")}
    shaders = {f"glla/_shaders/{name}" for name in files_below(ROOT / "shaders") if not name.endswith(".png")}
    assert names == package | shaders
    assert "glla/py.typed" in names


def test_metadata_names_what_users_install_and_where_it_was_tried(built):
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        about = email.message_from_bytes(archive.read(name))
    assert set(about.get_all("Provides-Extra")) == {"all", "cluster", "dask", "lab"}
    trove = set(about.get_all("Classifier"))
    assert {one for one in trove if one.startswith("Operating System")} == {"Operating System :: POSIX :: Linux"}
    assert about["Keywords"] and about["Requires-Python"] == ">=3.11"


def test_the_lock_holds_what_the_groups_name():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    named = {re.match(r"[\w-]+", one)[0].lower() for group in groups.values() for one in group if isinstance(one, str)}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert named and named <= set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))


def test_sdist_holds_what_tests_need(built):
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("glla", "shaders", "tests"):
        assert {f"{folder}/{name}" for name in files_below(ROOT / folder)} <= names
    assert {"pyproject.toml", "README.md", "Makefile", "requirements.lock"} <= names


def test_version_is_the_source_s(built):
    version = version_in_source()
    assert built.wheel.name.startswith(f"glla-{version}-")
    assert built.sdist.name == f"glla-{version}.tar.gz"


def test_core_dependencies_only(installed):
    listed = run(installed.python, "-m", "pip", "list", "--format=freeze", cwd=installed.folder)
    names = {line.partition("==")[0].lower() for line in listed.splitlines()} - {"pip", "setuptools"}
    assert names == {"glla", "moderngl", "glcontext", "glfw", "numpy"}


def test_installed_package_computes(installed):
    version, package, shaders = json.loads(run(installed.python, "-W", "error", "-c", USE, cwd=installed.folder))
    assert version == version_in_source()
    package = Path(package).resolve().parent
    assert package.is_relative_to(installed.folder.resolve())
    assert Path(shaders).resolve() == package / "_shaders"


def test_command_is_installed(installed):
    run(installed.scripts / "glla", "info", cwd=installed.folder)
