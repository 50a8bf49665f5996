"""Programs: compiled once for each resolved text, with the driver's complaints led back to the source."""

from __future__ import annotations

import re
import struct
import weakref
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

import moderngl

from glla.errors import ShaderError
from glla.gl import interrupts
from glla.passes import conditions
from glla.passes import shader as shaders

# Mesa "0:12(5): error", NVIDIA "0(12) : error", others "ERROR: 0:12:"
_LINE = re.compile(r"\b0[:(](\d+)\)?")


MOST_PROGRAMS = 1024
"""Programs that are kept although no plan draws with them, the most recently used ones."""


class Program:
    """A linked program, to draw with or to compute with."""

    def __init__(self, gl: moderngl.Program | moderngl.ComputeShader) -> None:
        self.gl = gl
        # A uniform that the compiler found without effect is not there; setting it would be a KeyError.
        self.live = frozenset(name for name in gl)

    def release(self) -> None:
        """Release it."""
        self.gl.release()


def pack_uniform(uniform: moderngl.Uniform, value: Any) -> bytes:
    """Turn a value into the bytes that `uniform.write` takes; an array of numbers is given as a tuple of them."""
    layout: str = uniform.fmt  # type: ignore[attr-defined]  # missing in moderngl's stubs
    if uniform.dimension == 1 and isinstance(value, tuple):  # the compiler cuts off what has no effect at the end
        return b"".join(struct.pack(layout, element) for element in value[: uniform.array_length])
    return struct.pack(layout, *value) if uniform.dimension > 1 else struct.pack(layout, value)


class Programs:
    """Cache of programs, keyed by their text: the `MOST_PROGRAMS` used last, and those that a plan holds.

    A program may be dropped in any thread; it is released when the next one is compiled, while the context is current.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self.context = context
        self._alive: weakref.WeakValueDictionary[tuple[str, ...], Program] = weakref.WeakValueDictionary()
        self._recent: OrderedDict[tuple[str, ...], Program] = OrderedDict()
        self._dropped: deque[moderngl.Program | moderngl.ComputeShader] = deque()
        self._array: moderngl.VertexArray | None = None

    @property
    def vertex_array(self) -> int:
        """GL name of the vertex array that all programs share; there once a program is."""
        return self._array.glo if self._array is not None else 0

    def __len__(self) -> int:
        return len(self._alive)

    def get(self, name: str, defines: Mapping[str, shaders.Define]) -> Program:
        """Compile a shader, or find it compiled.

        Raises
        ------
        ShaderError
            With file, line, the line's text, and what the driver says.
        """
        shader = shaders.resolve(name, defines)
        program = self._alive.get(shader.key)
        if program is None:
            self._release_dropped()
            program = self._alive[shader.key] = self._compile(shader)
            weakref.finalize(program, self._dropped.append, program.gl).atexit = False
        self._recent[shader.key] = program
        self._recent.move_to_end(shader.key)
        if len(self._recent) > MOST_PROGRAMS:
            self._recent.popitem(last=False)
        return program

    def _release_dropped(self) -> None:
        while self._dropped:
            self._dropped.popleft().release()

    def _compile(self, shader: shaders.Shader) -> Program:
        try:
            with interrupts.put_off():
                texts = {f"{kind}_shader": _for_moderngl(stage.text) for kind, stage in shader.stages.items()}
                if "compute" in shader.stages:
                    return Program(self.context.compute_shader(texts["compute_shader"]))
                gl = self.context.program(**texts)
        except moderngl.Error as error:
            raise ShaderError(explain(shader, str(error))) from None
        if self._array is None:
            self._array = self.context.vertex_array(gl, [])
        return Program(gl)

    def release(self) -> None:
        """Release all programs."""
        for program in self._alive.values():
            program.release()
        self._recent.clear()
        self._alive.clear()
        self._release_dropped()
        if self._array is not None:
            self._array.release()
            self._array = None


def _for_moderngl(text: str) -> str:
    """Text whose ``#include`` moderngl does not find: it would put a file there, in comments too, or raise KeyError."""
    return text.replace("#include", "# include")


def explain(shader: shaders.Shader, log: str) -> str:
    """Rewrite a driver's log: each line that names a line gets the file and line we know, and its source."""
    *_, last = shader.stages.values()
    stage = next((stage for name, stage in shader.stages.items() if f"{name}_shader" in log), last)
    source = stage.text.splitlines()
    rows = []
    for line in log.splitlines():
        found = _LINE.search(line)
        if found is None:
            continue
        number = int(found[1])
        text = source[number - 1].strip()[: conditions.SHOWN] if 1 <= number <= len(source) else ""
        rows.append(f"  {stage.where(number)}: {line.strip()}\n      {text}")
    return f"shader {shaders.called(shader.name)} does not compile:\n" + ("\n".join(rows) or log)
