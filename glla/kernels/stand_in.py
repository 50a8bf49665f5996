"""Users' shaders in plans: one shader of a plan is replaced, the rest stays.

The record of an operation names the shader that may be replaced, and its inputs: its `Interface`. A comparison of the
lab replaces it temporarily; `glla.register` makes a variant of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from glla.errors import OptionError, ShaderError
from glla.operations.record import Interface
from glla.passes import Call, DeviceStep, Pass, Plan
from glla.passes.glsl import find as shaders
from glla.passes.glsl.conditions import SHOWN, uncommented
from glla.passes.glsl.declarations import READING

SUFFIX = ".frag"

RESERVED = {"CONTINUE", "UPPER", "UNIT", "TRANSPOSED", "STACK", "TRANSPOSE_A", "TRANSPOSE_B"}
"""Names that glla defines itself: not parameters, even if a file gives them a default."""

_PARAMETER = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]+(-?\d+)[ \t]*(?://(.*))?$", re.MULTILINE
)
_VALUES = re.compile(r"\(([-\d,\s]+)\)\s*$")
_DECLARED = re.compile(r"^\s*uniform\s+(\w+)\s+(\w+)\s*;")


def read(source: str | os.PathLike[str], name: str | None) -> tuple[str, str, Path | None]:
    """Text of a shader, the name of its file, and the file's folder.

    Raises OptionError: it is a text, and has no name. Raises ShaderError: it is not UTF-8. Raises OSError: the file
    cannot be read.
    """
    if shaders.is_text(source):
        if not name:
            raise OptionError("register: a shader given as text needs a name, got none")
        return shaders.unix(str(source)), f"{name}{SUFFIX}", None
    path = Path(source)
    return shaders.read(path), str(path) if path.suffix else f"{path}{SUFFIX}", path.parent


def parameters(text: str) -> dict[str, tuple[int, ...]]:
    r"""Parameters that a text declares, with their values, the default first.

    >>> parameters("#ifndef UNROLL\n#define UNROLL 1  // trips in one (1, 2, 4)\n#endif\n")
    {'UNROLL': (1, 2, 4)}
    """
    found = {}
    for match in _PARAMETER.finditer(text):
        if match[1] in RESERVED:
            continue
        listed = _VALUES.search(match[3] or "")
        values = re.findall(r"-?\d+", listed[1]) if listed else []
        found[match[1]] = tuple(dict.fromkeys(map(int, [match[2], *values])))
    return found


def refusal(shader: str, values: Mapping[str, int]) -> str:
    """Message of the shader's own ``#error`` for values of its parameters; '' if none."""
    return "; ".join(shaders.resolve(shader, values).refusals)


def put_into(
    plan: Plan, operation: str, interface: Interface, shader: str, values: Mapping[str, int], name: str
) -> Plan:
    """Plan with the shader in the place of glla's.

    `plan`: that draws with `Interface.stands_for`. `operation`, `interface`: whose it is. `shader`: as it was adopted.
    `values`: of its parameters. `name`: what the plan is called.
    Raises ShaderError: the shader does not keep to the interface: the file, the line and what to do.
    """
    flat = plan.flat
    several = sum(isinstance(step, Pass) and step.shader == interface.stands_for for step in flat.passes) > 1
    steps = tuple(
        step if not isinstance(step, Pass) else _exchanged(step, operation, interface, shader, values, several)
        for step in flat.steps
        if not isinstance(step, Call)  # a flat plan calls none
    )
    return replace(flat, operation=name, steps=steps)


def _exchanged(
    step: Pass, operation: str, interface: Interface, shader: str, values: Mapping[str, int], several: bool
) -> DeviceStep:
    """Let a pass of glla's shader draw with the user's, which gets those inputs that it declares."""
    if step.shader != interface.stands_for:
        return step
    defines = {**step.defines, **values}
    declared = shaders.resolve(shader, defines)
    _check(declared, operation, interface, step, several)
    return replace(
        step,
        shader=shader,
        defines=defines,
        inputs={name: slot for name, slot in step.inputs.items() if name in declared.samplers},
        uniforms={name: value for name, value in step.uniforms.items() if name in declared.uniforms},
    )


def _check(shader: shaders.Shader, operation: str, interface: Interface, step: Pass, several: bool) -> None:
    """Raise ShaderError where a shader departs from its interface."""
    stage, given, file = shader.fragment, interface.given, shaders.called(shader.name)
    see = f"see `glla shader interface {operation}`"
    names = ", ".join(f"{kind} {name}" for name, kind in given.items())
    active = shader.samplers | shader.uniforms
    own = {}  # what its fragment stage declares; the vertex stage is glla's
    for number, line in enumerate(uncommented(stage.text).splitlines(), 1):
        at = f"{stage.where(number)}: "
        found = _DECLARED.match(line)
        read = READING.search(line)
        if read is not None:
            raise ShaderError(f"{at}textures are read by texelFetch alone, got {read[0]}; {see}{_shown(line)}")
        if re.match(r"\s*#\s*include\b", line):
            raise ShaderError(f'{at}what is included stands in quotes, `#include "lib/packed.glsl"`{_shown(line)}')
        if re.match(r"\s*(layout\b[^;]*)?uniform\b", line) and found is None and stage.lines[number - 1][0] == file:
            raise ShaderError(
                f"{at}a uniform is declared in a statement of its own, `uniform int first;`{_shown(line)}"
            )
        if found is None or found[2] not in active:
            continue
        kind, name = found[1], found[2]
        own[name] = kind
        if name not in given and name not in step.uniforms and name not in step.inputs:
            raise ShaderError(f"{at}{name} is not given to a shader of {operation}, but {names}; {see}{_shown(line)}")
        if name not in step.uniforms and name not in step.inputs:
            rule = f"{name} is given only where CONTINUE is 1: put it between #if CONTINUE and #endif"
            raise ShaderError(f"{at}{rule}{_shown(line)}")
        if given.get(name, kind) != kind:
            raise ShaderError(f"{at}{name} is given as {given[name]}, not as {kind}; {see}{_shown(line)}")
    needed = [*interface.needed, *(("first", "count") if several and "first" in given else ())]
    needed += [name for name in step.inputs if name == "C"]
    missing = [f"{given[name]} {name}" for name in needed if name not in own]
    if missing:
        more = " where CONTINUE is 1" if missing == ["sampler2D C"] else ""
        raise ShaderError(f"{file}: must declare `uniform {missing[0]};`{more}; {see}")
    if len(shader.outputs) != 1:
        got = ", ".join(shader.outputs) or "none"
        raise ShaderError(f"{file}: must declare one output, `layout(location = 0) out vec4 result;`, got {got}")


def _shown(line: str) -> str:
    return f"\n      {line.strip()[:SHOWN]}"
