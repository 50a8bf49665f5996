"""Types: that mypy checks tests/typing, that every function is there, and that what is asserted is true."""

import ast
import importlib.util
import inspect
import tomllib
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import numpy as np
import pytest

import glla
from glla import generate
from glla.array.array import Array
from glla.linalg.results import QRResult, SlogdetResult
from glla.linalg.spectral.results import EighResult, SVDResult

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "typing" / "calls.py"
TREE = ast.parse(FILE.read_text(encoding="utf-8"))
SECTIONS = [node.name for node in TREE.body if isinstance(node, ast.FunctionDef)]
X = np.array([[4.0, 1.0], [1.0, 3.0]])


def is_of(value, kind):
    """Whether a value is of a type as annotations have it, down to the dtype and the members of tuples."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if hasattr(origin, "__value__"):  # an alias: NumPy's NDArray from Python 3.12 on
        return is_of(value, origin.__value__[inner])
    if origin in (Union, types.UnionType):
        return any(is_of(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inner[1])[0]
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else inner
        return len(value) == len(kinds) and all(map(is_of, value, kinds))
    if origin is glla.Pending:
        return isinstance(value, glla.Pending) and is_of(value.result(), inner[0])
    if origin in (glla.PLU, glla.RREF, QRResult, EighResult, SVDResult):
        matrices = value[:1] if origin is glla.RREF else value
        return type(value) is origin and all(is_of(one, inner[0]) for one in matrices)
    if origin is SlogdetResult:
        return type(value) is origin and all(is_of(one, np.float32 | inner[0]) for one in value)
    return isinstance(value, kind)


def test_the_check_fails():
    single = np.float32(X)
    for value, kind in [
        (X, np.ndarray[Any, np.dtype[np.float32]]), (glla.plu(X), glla.PLU[Array]), ((1, "a"), tuple[int, ...]),
        (single, Array | float), (glla.rref(X), glla.RREF[Array]), ((single,), tuple[int]), ((1,), tuple[int, int]),
        (glla.slogdet([X]), SlogdetResult[Array]),
    ]:  # fmt: skip
        assert not is_of(value, kind)


@pytest.mark.parametrize("section", SECTIONS)
def test_what_type_checkers_see_is_true(section):
    spec = importlib.util.spec_from_file_location("typing_calls", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen = []

    def assert_type(value, kind):
        seen.append(kind)
        assert is_of(value, kind), f"assertion {len(seen)} of {section}: a {type(value)} is no {kind}"

    module.assert_type = assert_type
    function = getattr(module, section)
    with glla.coprocessor() as gpu:
        known = {"x": X, "A": glla.asarray(X), "gpu": gpu, "exact": True}
        function(**{name: known[name] for name in inspect.signature(function).parameters})
    assert seen


def called():
    """Names of the functions, by the section and what they are called on: ("arrays", "glla", "inv")."""
    for section in TREE.body:
        for node in ast.walk(section):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield getattr(section, "name", ""), ast.unparse(node.func.value), node.func.attr


def test_every_public_function_is_asserted():
    found = set(called())
    for name in generate.public():
        for section in ("arrays", "matrices"):
            line = f"assert_type(glla.{name}(...), ...)"
            assert (section, "glla", name) in found, f"tests/typing/calls.py: add {line} to {section}()"


def test_mypy_checks_the_assertions():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"]
    assert "tests/typing" in settings["files"]
    assert "-m mypy" in (ROOT / ".ci" / "test").read_text(encoding="utf-8")


def test_overloads_follow_from_the_annotation():
    def function(a: "Any", pair: "tuple[Any, Any]", refine: "bool" = False):
        return None

    function.__annotations__["return"] = "PLU[Array] | Float32 | RefinedSolution"
    ways = [(one.types, one.returns, one.flag) for one in generate.overloads(function)]
    off = {"refine": "Literal[False]"}
    assert ways == [
        ({"a": "Overriding[Given]"}, "Given", ""),
        ({"pair": "Overriding[Given]"}, "Given", ""),
        ({"pair": "tuple[Overriding[Given], Any]"}, "Given", ""),
        ({"refine": "Literal[True]"}, "RefinedSolution", "refine"),
        ({"a": "Array"} | off, "PLU[Array]", ""),
        ({"pair": "tuple[Array, Any]"} | off, "PLU[Array]", ""),
        (off, "Float32", ""),
        ({}, "PLU[Array] | Float32 | RefinedSolution", ""),
    ]
    function.__annotations__["return"] = "np.float32 | Float32 | Array"  # a number is for either kind of operand
    returns = [one.returns for one in generate.overloads(function) if one.returns != "Given" and not one.flag]
    assert returns == ["np.float32 | Array"] * 2 + ["np.float32 | Float32", "np.float32 | Float32 | Array"]
