"""Programs: compiled once for each resolved text; the driver's errors are mapped back to the source."""

from __future__ import annotations

import ctypes
import re
import struct
import weakref
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from glla.errors import ShaderError
from glla.gl import interrupts
from glla.gl.calls import GL_PROGRAM_BINARY_LENGTH, Calls
from glla.gl.hints import moderngl
from glla.passes.glsl import conditions
from glla.passes.glsl import find as shaders

# Mesa "0:12(5): error", NVIDIA "0(12) : error", others "ERROR: 0:12:"
_LINE = re.compile(r"(?:ERROR: )?\b0[:(](\d+)\)?(?:\(\d+\))?\s*:?\s*")  # columns are unreliable


MOST_PROGRAMS = 1024
"""Programs kept although no plan uses them, the most recently used ones."""

MOST_PROGRAM_BYTES = 256 << 20
"""Bytes of these programs at most, as `Program.nbytes` estimates them."""

SOFTWARE_BYTES = 256
"""Host memory that llvmpipe takes for each byte of a program's binary: from 190 to 300 bytes in measurements."""

BINARY_LENGTH_SINCE = 410
"""Version of OpenGL, times 100, since which each driver reports the length of a program's binary."""


SAMPLERS = 0x8B5E, 0x8DCA, 0x8DC2
"""OpenGL's numbers of the types of samplers: ``sampler2D``, ``isampler2D``, ``samplerBuffer``."""


class Program:
    """A linked program, to draw with or to compute with.

    `nbytes`: memory of the program, roughly: OpenGL does not report it. `units`: of its samplers, set once.
    """

    def __init__(self, gl: moderngl.Program | moderngl.ComputeShader, nbytes: int, calls: Calls) -> None:
        self.gl = gl
        self.nbytes = nbytes
        # A uniform that the compiler found without effect is not there; setting it would be a KeyError.
        self.live = frozenset(name for name in gl)
        samplers = sorted(name for name in self.live if getattr(gl[name], "gl_type", None) in SAMPLERS)
        self.units = {name: unit for unit, name in enumerate(samplers)}
        if self.units:
            calls.use_program(gl.glo)
        for name, unit in self.units.items():  # moderngl sets no samplerBuffer
            calls.uniform_1i(gl[name].location, unit)  # type: ignore[union-attr]


def pack_uniform(uniform: moderngl.Uniform, value: Any) -> bytes:
    """Convert a value to the bytes that `uniform.write` takes; an array is passed as a tuple of numbers."""
    layout: str = uniform.fmt  # type: ignore[attr-defined]  # missing in moderngl's stubs
    if uniform.dimension == 1 and isinstance(value, tuple):  # the compiler cuts off what has no effect at the end
        return b"".join(struct.pack(layout, element) for element in value[: uniform.array_length])
    return struct.pack(layout, *value) if uniform.dimension > 1 else struct.pack(layout, value)


class Programs:
    """Cache of programs, keyed by their text: those used last, within two bounds, and those that a plan holds.

    A program may be dropped in any thread; it is released when the next one is compiled, while the context is current.
    """

    def __init__(self, context: moderngl.Context, calls: Calls, software: bool) -> None:
        self.context = context
        self._calls, self._software = calls, software
        self._alive: weakref.WeakValueDictionary[tuple[str, ...], Program] = weakref.WeakValueDictionary()
        self._recent: OrderedDict[tuple[str, ...], Program] = OrderedDict()
        self._recent_bytes = 0
        self._dropped: deque[moderngl.Program | moderngl.ComputeShader] = deque()
        self._array: moderngl.VertexArray | None = None

    @property
    def vertex_array(self) -> int:
        """GL name of the vertex array that all programs share; 0 before the first program."""
        return self._array.glo if self._array is not None else 0

    def __len__(self) -> int:
        return len(self._alive)

    @property
    def nbytes(self) -> int:
        """Memory of all programs, roughly."""
        return sum(program.nbytes for program in self._alive.values())

    def get(self, name: str, defines: Mapping[str, shaders.Define]) -> Program:
        """Compile a shader, or return it from the cache.

        Raises ShaderError: with file, line, the line's text, and the driver's message.
        """
        shader = shaders.resolve(name, defines)
        program = self._alive.get(shader.key)
        if program is None:
            self._release_dropped()
            program = self._alive[shader.key] = self._compile(shader)
            weakref.finalize(program, self._dropped.append, program.gl).atexit = False
        if shader.key not in self._recent:
            self._recent[shader.key] = program
            self._recent_bytes += program.nbytes
        self._recent.move_to_end(shader.key)
        while len(self._recent) > MOST_PROGRAMS or self._recent_bytes > MOST_PROGRAM_BYTES:
            self._recent_bytes -= self._recent.popitem(last=False)[1].nbytes
        return program

    def _release_dropped(self) -> None:
        while self._dropped:
            self._dropped.popleft().release()

    def _compile(self, shader: shaders.Shader) -> Program:
        try:
            with interrupts.put_off():
                # moderngl would insert a file at "#include", in comments too, or raise KeyError
                texts = [stage.text.replace("#include", "# include") for stage in shader.stages.values()]
                if self._software and not shaders.is_adopted(shader.name) and not shader.buffers:
                    texts = [text.replace("\n", f"\n{SAMPLED}\n#line 2\n", 1) for text in texts]  # behind the version
                if "compute" in shader.stages:
                    compute = self.context.compute_shader(*texts)
                    return Program(compute, self._bytes(compute, shader), self._calls)
                gl = self.context.program(vertex_shader=texts[0], fragment_shader=texts[1])
        except moderngl.Error as error:
            raise ShaderError(explain(shader, str(error))) from None
        if self._array is None:
            self._array = self.context.vertex_array(gl, [])
        return Program(gl, self._bytes(gl, shader), self._calls)

    def _bytes(self, gl: moderngl.Program | moderngl.ComputeShader, shader: shaders.Shader) -> int:
        """Estimate a program's memory, from the length of its binary, or of its text if there is none."""
        length = ctypes.c_int(0)
        context = self.context
        if context.version_code >= BINARY_LENGTH_SINCE or "GL_ARB_get_program_binary" in context.extensions:
            self._calls.get_program(gl.glo, GL_PROGRAM_BINARY_LENGTH, ctypes.byref(length))
        return (length.value or sum(map(len, shader.key))) * (SOFTWARE_BYTES if self._software else 1)

    def release(self) -> None:
        """Release all programs."""
        for program in self._alive.values():
            program.gl.release()
        self._recent.clear()
        self._recent_bytes = 0
        self._alive.clear()
        self._release_dropped()
        if self._array is not None:
            self._array.release()
            self._array = None


SAMPLED = """#define SOFTWARE 1
#define texelFetch(texels, at, level) texture(texels, (vec2(at) + 0.5) / vec2(textureSize(texels, 0)))"""
"""Fetch of a texel by a filter at its centre: the same bits, and on llvmpipe a third of the instructions, since it
computes the addresses of all lanes together. A GPU takes twice as long for it. A user's shader keeps its own fetches,
which may be outside of the texture. SOFTWARE tells a shader where loops are better left to run: LLVM takes long to
compile them written out."""


def explain(shader: shaders.Shader, log: str) -> str:
    """Rewrite a driver's log: each line number is replaced by the file, line and source line."""
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
        words = line[: found.start()] + line[found.end() :]
        rows.append(f"  {stage.where(number)}: {words.strip()}\n      {text}")
    return f"shader {shaders.called(shader.name)} does not compile:\n" + ("\n".join(rows) or log)
