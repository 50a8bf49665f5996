"""Users' shaders on arrays: `glla.kernel`; and any plan on arrays: `glla.run`.

A kernel belongs to this package because it works as a public function does: it checks its operands, finds the plan,
runs it, and returns arrays. Its plan is like any other: it can be printed, explained and traced.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts
from glla.array.array import Array
from glla.array.convert import as_float32
from glla.array.slots import as_int32, as_slot
from glla.array.value import Resident, Shape
from glla.display import html
from glla.errors import DTypeError, OptionError, OptionTypeError, ShaderError, ShapeError, integer
from glla.gl import Device, DeviceLike, Texture
from glla.linalg.operands import device_of
from glla.operations.linear.view import laid
from glla.passes import Draft, HostArray, PingPong, Plan, Slot, Storage, Uniform, matrix, texture
from glla.passes.glsl import find as shaders
from glla.passes.glsl import padding
from glla.passes.glsl.declarations import (
    INDICES,
    OUTPUTS,
    SAMPLERS,
    Declarations,
    Declared,
    declarations,
    takes_part,
    uniform_value,
)
from glla.registry import delegating

SUFFIX = ".frag"
UNNAMED = f"kernel{SUFFIX}"
"""Name of a shader text in messages, if it has none."""

ANY_SIZE = 2**31 - 1
"""Texels on a side: the width of a linear texture depends on a device's limit only where it would not fit."""

KEPT = 256
"""Plans of a kernel that are cached, the most recently used ones."""

OPTIONS = ("shape", "dtype", "repeat", "device", "check_finite")
"""Options of a call; no sampler or uniform of a kernel may have such a name, except `shape`, which is set by glla."""

ARRAYS, MATRICES = "lib/array.glsl", "lib/packed.glsl"
"""A kernel that includes the first takes arrays in the linear layout; any other takes packed ones, see the second."""

REPEAT = "repeat_number"
"""Uniform that is set if it is declared: number of earlier draws of the kernel in this call."""


@dataclass(frozen=True, eq=False)
class _Version:
    """A kernel as its files are now. Plans are kept by it, so each text has its own."""

    shader: str  # name by which a pass draws with it
    defines: Mapping[str, shaders.Define]
    declared: Declarations
    files: Mapping[Path, str]  # the user's own files, and what they hold
    wrapped: bool  # its arrays are linear, and have any number of dimensions; else packed

    def storage(self, shape: Shape, dtype: str) -> Storage:
        """Texture of one of its arrays."""
        if self.wrapped:
            return laid(shape, dtype, ANY_SIZE)
        rows, columns = shape
        return matrix((rows, columns))

    def given(self, shapes: Mapping[str, Shape], size: Shape) -> dict[str, Uniform | None]:
        """Return values of the uniforms that need not be given, None for a shape of more than four dimensions."""
        values: dict[str, Uniform | None] = {"shape": _index(size)}
        values |= {f"{sampler}_shape": _index(shape) for sampler, shape in shapes.items()}
        if self.wrapped:
            values |= {"size": math.prod(size), "row_texels": self.storage(size, "float32").width}
            values |= {f"{sampler}_size": math.prod(shape) for sampler, shape in shapes.items()}
        return values

    def may_lack(self, uniform: Declared) -> bool:
        """Whether a uniform has a value without the user's."""
        shapes = ["shape", *(f"{sampler}_shape" for sampler in self.declared.samplers)]
        if uniform.name in shapes:
            return uniform.kind in (INDICES if self.wrapped else ("ivec2",))
        sizes = ["size", "row_texels", *(f"{sampler}_size" for sampler in self.declared.samplers)]
        return uniform.kind == "int" and uniform.name in (REPEAT, *(sizes if self.wrapped else ()))


class Kernel:
    """A fragment shader that is called with arrays; see `kernel`, which makes it.

    ``kernel(source)(A=A, ..., shape=None, dtype=None, repeat=1, device=None, check_finite=True)`` draws with it:

    - an array for each sampler by its name in the GLSL: an array_like, which is uploaded, or a `glla.Array`, which
      stays where it is. ``uniform sampler2D A`` reads float32, to which others are converted; ``uniform isampler2D
      A`` reads int32 and bool, see docs/facts/methods.md;
    - a value for each uniform, a number, a tuple, or rows of numbers for a ``mat3``. A plan is made for each set
      of values, so what changes at every call is faster in an array;
    - these are given where they are declared, unless you give them: ``ivec2 shape``, rows and columns of the
      result; ``ivec2 A_shape``, those of the array A; ``int repeat_number``, 0 in the first pass;
    - `shape` of the result, by default that of the first sampler's array;
    - `dtype` of the result, which must be what the shader writes, and is checked: float32 for ``out vec4``, int32
      for ``out ivec4``. With "bool" integers other than 0 become True;
    - `repeat`, how often it is drawn; each time the result takes the place of the array, see `feedback`.

    It gives an `Array`; for several outputs a named tuple of them, by their names. Does not synchronise.
    ``kernel(source).plan(A=(m, n), ...)`` gives the plan. With a `glla.Pending` among the arrays the call is queued on
    its coprocessor, and gives a `glla.Pending`. Raises OptionError, ShapeError, DTypeError or NonFiniteError.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        name: str | None,
        defines: Mapping[str, shaders.Define],
        feedback: Mapping[str, str] | None,
    ) -> None:
        if not isinstance(source, str | os.PathLike):
            raise OptionTypeError(f"kernel: source must be a text in GLSL or the path of a file, got {source!r}")
        self._defines = _checked_defines(defines)
        self._feedback = None if feedback is None else dict(feedback)
        self._lock = Lock()
        text = shaders.is_text(source)
        self._text = shaders.unix(str(source)) if text else ""
        self._own = not text and isinstance(source, str) and shaders.is_own(f"{source}{SUFFIX}")
        self._path = None if text or self._own else Path(source).absolute()  # the program may change its folder
        self.name = str(source) if self._own else name or (UNNAMED if text else str(source))
        if not self._own and "." not in self.name.rpartition("/")[2]:
            self.name += SUFFIX
        self._version = self._read()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process too, reads the files itself."""
        return Kernel, (self._text or self._path or self.name, self.name, self._defines, self._feedback)

    def __repr__(self) -> str:
        declared = self._version.declared
        given = ", ".join(map(str, (*declared.samplers.values(), *declared.uniforms.values())))
        return f"<glla.Kernel {self.name}({given}) -> {', '.join(one.name for one in declared.outputs)}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook: its inputs and outputs, and its text with the comments paler."""
        own = "".join(self._version.files.values()) or self._text or shaders.source(self.name)
        return html.source(repr(self).strip("<>"), own)

    # -- its files ----------------------------------------------------------------------------------------------

    def _read(self) -> _Version:
        """Read the files, and find their declarations."""
        files: dict[Path, str] = {}
        shader, folder = self.name, None
        if not self._own:
            text = self._text
            if self._path is not None:
                folder = self._path.parent
                files[self._path] = text = shaders.read(self._path)
            shader = shaders.adopt(self.name, text, folder=folder, keep=True)
        resolved = shaders.resolve(shader, self._defines)
        if "compute" in resolved.stages:
            raise ShaderError(f"kernel: {self.name} is a compute shader; a kernel is a fragment shader")
        if resolved.refusals:
            raise ShaderError(f"kernel: {self.name} refuses its defines: {'; '.join(resolved.refusals)}")
        _check_macros(self.name, self._defines, resolved)
        if folder is not None:
            names = {name for name, _ in resolved.fragment.lines if not shaders.is_own(name)}
            files |= {path: shaders.read(path) for path in (folder / name for name in names) if path.is_file()}
        declared = declarations(resolved)
        wrapped = takes_part(resolved.fragment, ARRAYS)
        version = _Version(shader, self._defines, declared, files, wrapped)
        own = {self.name if path == self._path else path.name: text for path, text in files.items()}
        if wrapped and takes_part(resolved.fragment, MATRICES):
            _refuse_both(self.name, own or {self.name: self._text})
        _check_names(version)
        _check_feedback(self._feedback or {}, declared)
        self._planned = lru_cache(maxsize=KEPT)(_planned)  # with a kernel go its plans, and with them its programs
        return version

    def _now(self) -> _Version:
        """Reread the files of the kernel if they have changed."""
        with self._lock:
            changed = any(shaders.read(path) != text for path, text in self._version.files.items())
            if changed or not shaders.touch(self._version.shader):
                self._version = self._read()
            return self._version

    # -- running it ---------------------------------------------------------------------------------------------

    def plan(self, /, *, shape: Any = None, dtype: Any = None, repeat: int = 1, **values: Any) -> Plan:
        """Make the plan of a call: its passes, as data. Needs no GPU.

        Parameters
        ----------
        shape, dtype, repeat
            As in a call.
        **values
            As in a call; a shape, a tuple such as (rows, columns), may stand for an array.

        Returns
        -------
        Plan
            Its operands are the samplers, its results the outputs.

        Raises
        ------
        ShaderError, OptionError, ShapeError
            As a call.

        Examples
        --------
        >>> import glla
        >>> print(glla.kernel("examples/life").plan(A=(4, 6), repeat=2))
        examples/life: 2 passes, 0 flop, 192 bytes written
          operand   A: 2x3x4
          result    next: 2x3x4
          temporary next_ping: 2x3x4
        pass  shader         reads        draws      region (texels)  uniforms
        0     examples/life  A=A          next_ping  x 0:3 y 0:2      shape=(4, 6)
        1     examples/life  A=next_ping  next_pong  x 0:3 y 0:2      shape=(4, 6)
        """
        version = self._now()
        arrays, uniforms = _split(self.name, version, values)
        shapes = {name: _shape_of(name, one, version.wrapped) for name, one in arrays.items()}
        return self._plan(version, shapes, uniforms, shape, dtype, repeat)

    @delegating
    def __call__(
        self,
        /,
        *,
        shape: Any = None,
        dtype: Any = None,
        repeat: int = 1,
        device: DeviceLike | None = None,
        check_finite: bool = True,
        **values: Any,
    ) -> Any:
        """Draw with the kernel; see `kernel`."""
        version = self._now()
        arrays, uniforms = _split(self.name, version, values)
        target = device_of("kernel", device, *arrays.values())
        found = {name: _operand(version, name, one, check_finite) for name, one in arrays.items()}
        plan = self._plan(version, {name: one.shape for name, one in found.items()}, uniforms, shape, dtype, repeat)
        textures = {
            name: as_slot("kernel", name, one, texture(plan.slots[name]), target, place=_as_declared(version, name))
            for name, one in found.items()
        }
        results = _results(target, plan, textures)
        if len(results) == 1:
            return next(iter(results.values()))
        return _named(tuple(results))(*results.values())

    def _plan(
        self,
        version: _Version,
        shapes: Mapping[str, Shape],
        uniforms: Mapping[str, Any],
        shape: Any,
        dtype: Any,
        repeat: int,
    ) -> Plan:
        declared = version.declared
        dtypes = _dtypes(declared, dtype)
        times = integer("kernel", "repeat", repeat)
        if times < 1:
            raise OptionError(f"kernel: repeat must be at least 1, got {times}")
        size = _result_shape(version, self.name, shape, [shapes[name] for name in declared.samplers])
        fed = tuple(self._fed_back(declared, shapes, size).items()) if times > 1 else ()
        values = tuple((name, uniform_value("kernel", declared.uniforms[name], one)) for name, one in uniforms.items())
        return self._planned(version, self.name, tuple(shapes.items()), values, size, dtypes, times, fed, repr(values))

    def _fed_back(self, declared: Declarations, shapes: Mapping[str, Shape], size: Shape) -> dict[str, str]:
        """Which output becomes which sampler's texture in the next pass: as it was asked for, or the only way."""
        outputs, feedback = {one.name: one for one in declared.outputs}, self._feedback
        if feedback is None:
            if len(outputs) != 1 or len(declared.samplers) != 1:
                raise OptionError(
                    f"kernel: repeat must know which output of {self.name} ({', '.join(outputs)}) becomes which "
                    f"sampler ({', '.join(declared.samplers) or 'none'}); make it with feedback={{output: sampler}}"
                )
            feedback = {next(iter(outputs)): next(iter(declared.samplers))}
        for output, sampler in feedback.items():
            if shapes[sampler] != size or OUTPUTS[outputs[output].kind] != SAMPLERS[declared.samplers[sampler].kind]:
                raise ShapeError(
                    f"kernel: an output that is fed back must be as its sampler is, got {outputs[output]} {size} and "
                    f"{declared.samplers[sampler]} {shapes[sampler]}"
                )
        return feedback


Kernel.__call__.__wrapped__.__name__ = "kernel"  # type: ignore[attr-defined]  # what it is called in messages


def kernel(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    defines: Mapping[str, shaders.Define] | None = None,
    feedback: Mapping[str, str] | None = None,
) -> Kernel:
    r"""Make a function of arrays of a fragment shader of your own.

    Examples
    --------
    >>> import glla
    >>> twice = glla.kernel('''
    ... #include "lib/elements.glsl"
    ... uniform sampler2D A;
    ... uniform float factor;
    ... layout(location = 0) out vec4 result;
    ... float scaled(int i, int j) { return factor * element(A, i, j) + float(i); }
    ... void main() { result = each_element(scaled); }
    ... ''', name="twice.frag")
    >>> twice(A=[[1, 2, 3], [4, 5, 6], [7, 8, 9]], factor=2).numpy()
    array([[ 2.,  4.,  6.],
           [ 9., 11., 13.],
           [16., 18., 20.]], dtype=float32)
    >>> twice(A=[[1, 2]])
    Traceback (most recent call last):
    glla.errors.OptionError: kernel: twice.frag:4 declares float factor, which was not given; pass factor=...

    Parameters
    ----------
    source : path or str
        A file; or the text itself (a str with a line end or a semicolon); or the name of one of glla's own shaders,
        such as ``"examples/life"``. GLSL 3.30 core without ``#version``.
    name : str, optional
        What it is called in messages and plans; by default its path, or ``kernel.frag`` for a text.
    defines : mapping of str to int, float or str, optional
        Values of its macros: ``#define NAME VALUE`` is above the text.
    feedback : mapping of str to str, optional
        Output -> sampler, for calls with ``repeat``. Where there is one of each, it need not be given.

    Returns
    -------
    Kernel
        Called with the arrays and values that the shader declares, it draws with it: see `glla.Kernel`.

    Raises
    ------
    OptionError, ShaderError, OSError
        The shader has no such macro, declares an unknown name, or does not compile; the file cannot be read.
    """
    return Kernel(source, name, defines or {}, feedback)


# -- from a call to a plan --------------------------------------------------------------------------------------------


def _planned(
    version: _Version,
    name: str,
    shapes: tuple[tuple[str, Shape], ...],
    values: tuple[tuple[str, Uniform], ...],
    size: Shape,
    dtypes: tuple[str, ...],
    repeat: int,
    feedback: tuple[tuple[str, str], ...],
    written: str,  # the values, different where they are equal: 0.0 and -0.0
) -> Plan:
    """Plan of a call. Where a texel has elements outside of the result, the shader is one that puts zeros there."""
    declared, draft = version.declared, Draft(name)
    front = {
        sampler: draft.operand(sampler, version.storage(shape, SAMPLERS[declared.samplers[sampler].kind]))
        for sampler, shape in shapes
    }
    given = version.given(dict(shapes), size) | dict(values)
    shader, own = _without_padding(version, size, dtypes)
    fed = dict(feedback)
    names = [one.name for one in declared.outputs]
    storages = {output: version.storage(size, dtype) for output, dtype in zip(names, dtypes, strict=True)}
    turns = {output: PingPong(draft, output, storages[output], front[sampler]) for output, sampler in feedback}
    still = {output: draft.slot(output, storages[output]) for output in names if output not in fed}
    for number in range(repeat):
        uniforms = {key: _fitting(one, {REPEAT: number, **given}[key]) for key, one in declared.uniforms.items()} | own
        inputs = front | {sampler: turns[output].front for output, sampler in feedback}
        outputs = tuple(turns[one].back if one in fed else still[one] for one in names)
        draft.draw(shader, inputs, outputs, uniforms, version.defines)
        for turn in turns.values():
            turn.swap()
    return draft.plan({one: turns[one].front if one in fed else still[one] for one in names})


def _without_padding(version: _Version, size: Shape, dtypes: tuple[str, ...]) -> tuple[str, dict[str, Uniform]]:
    """Shader that leaves zeros outside of the result, and the uniforms that it has beside the kernel's own."""
    if not version.wrapped:
        odd = size[0] % 2 or size[1] % 2
        return (f"{version.shader}@{padding.PADDED}", {padding.SHAPE: size}) if odd else (version.shader, {})
    storage, elements = version.storage(size, "float32"), math.prod(size)
    if "bool" not in dtypes and elements == 4 * storage.height * storage.width:
        return version.shader, {}
    kind = padding.TRUTHS if "bool" in dtypes else padding.SPARED
    return f"{version.shader}@{kind}", {padding.EXTENT: (elements, storage.width)}


def _index(shape: Shape) -> Uniform | None:
    """Write a shape as a uniform has it."""
    if not 1 <= len(shape) <= len(INDICES):
        return None
    return shape[0] if len(shape) == 1 else shape


def _fitting(uniform: Declared, value: Uniform | None) -> Uniform:
    """Return a value; raise if it is a shape whose rank differs from the uniform's size."""
    if uniform.name.endswith("shape") and uniform.kind in INDICES:
        dimensions = 0 if value is None else len(value) if isinstance(value, tuple) else 1
        if uniform.kind != INDICES[dimensions - 1] or not dimensions:
            got = f"{dimensions} dimensions" if dimensions else "none or more than four"
            raise ShapeError(
                f"kernel: {uniform.place} declares {uniform}, for {INDICES.index(uniform.kind) + 1} dimensions, got "
                f"{got}; reshape the array, or take its elements by their numbers"
            )
    assert value is not None
    return value


def _split(name: str, version: _Version, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into arrays and values of uniforms; raise for missing or undeclared ones."""
    declared = version.declared
    for given in values:
        if given not in declared.samplers and given not in declared.uniforms:
            known = ", ".join(map(str, (*declared.samplers.values(), *declared.uniforms.values()))) or "none"
            raise OptionError(f"kernel: {name} declares no {given}; its samplers and uniforms are: {known}")
    for one in (*declared.samplers.values(), *declared.uniforms.values()):
        if one.name not in values and not version.may_lack(one):
            raise OptionError(f"kernel: {one.place} declares {one}, which was not given; pass {one.name}=...")
        if one.name in values and one.place.startswith(f"{ARRAYS}:"):
            raise OptionError(f"kernel: {one.name} belongs to {ARRAYS}, and glla gives it; leave it out")
    arrays = {sampler: values[sampler] for sampler in declared.samplers}
    return arrays, {uniform: values[uniform] for uniform in declared.uniforms if uniform in values}


def _result_shape(version: _Version, name: str, shape: Any, shapes: list[Shape]) -> Shape:
    """Shape of the result: the one asked for, or that of the first array."""
    wanted = "a length or a tuple of them" if version.wrapped else "(rows, columns)"
    if shape is None:
        if not shapes:
            raise OptionError(f"kernel: shape must be given, as {name} has no sampler; pass shape=...")
        return shapes[0]
    if version.wrapped and isinstance(shape, int | np.integer):
        shape = (shape,)
    if not isinstance(shape, list | tuple) or (len(shape) != 2 and not version.wrapped):
        raise OptionTypeError(f"kernel: shape must be {wanted}, got {shape!r}")
    sides = tuple(integer("kernel", "shape", side) for side in shape)
    if any(side < 0 for side in sides):
        raise ShapeError(f"kernel: shape must have no negative side, got {shape!r}")
    return sides


def _dtypes(declared: Declarations, dtype: Any) -> tuple[str, ...]:
    """Types of the outputs; raise unless the shader writes the one that was asked for."""
    try:
        wanted = None if dtype is None else np.dtype(dtype).name
    except TypeError:
        raise DTypeError(f"kernel: dtype must be one of NumPy's, got {dtype!r}") from None
    for one in declared.outputs:
        written = OUTPUTS[one.kind]
        if wanted not in (None, written) and (wanted, written) != ("bool", "int32"):
            or_bool = " or bool" if written == "int32" else ""
            raise DTypeError(f"kernel: {one.place} declares {one}, so the dtype is {written}{or_bool}, got {wanted}")
    return tuple(wanted or OUTPUTS[one.kind] for one in declared.outputs)


def _check_names(version: _Version) -> None:
    """Refuse samplers and uniforms that a call could not name, and integers where matrices are packed."""
    declared = version.declared
    for one in (*declared.samplers.values(), *declared.uniforms.values()):
        if one.name in OPTIONS and not version.may_lack(one):
            one.refuse(f"{one.name} is an option of a kernel's call; choose another name")
    for one in (*declared.samplers.values(), *declared.outputs):
        if not version.wrapped and "int32" in (SAMPLERS.get(one.kind), OUTPUTS.get(one.kind)):
            one.refuse(f'integers do not lie as packed matrices: `#include "{ARRAYS}"` reads and writes them')


def _refuse_both(name: str, texts: Mapping[str, str]) -> NoReturn:
    """Refuse a kernel that includes the files for both layouts, where it includes the one for arrays."""
    place, line = name, f'#include "{ARRAYS}"'
    for file, text in texts.items():
        for number, found in enumerate(text.splitlines(), 1):
            if re.match(rf'\s*#\s*include\s+"{re.escape(ARRAYS)}"', found):
                place, line = f"{file}:{number}", found.strip()
    Declared("", "", place, line).refuse(
        f"{ARRAYS} is for arrays that lie wrapped, lib/elements.glsl and {MATRICES} are for packed matrices; include "
        "one of them"
    )


def _check_feedback(feedback: Mapping[str, str], declared: Declarations) -> None:
    """Raise unless each output goes to a sampler of its own."""
    outputs = [one.name for one in declared.outputs]
    for output, sampler in feedback.items():
        if output not in outputs or sampler not in declared.samplers:
            raise OptionError(
                f"kernel: feedback goes from an output ({', '.join(outputs)}) to a sampler "
                f"({', '.join(declared.samplers) or 'none'}), got {output!r}: {sampler!r}"
            )
    if len(set(feedback.values())) < len(feedback):
        raise OptionError(f"kernel: feedback gives a sampler one output, got {dict(feedback)}")


def _checked_defines(defines: Mapping[str, Any]) -> dict[str, shaders.Define]:
    for name, value in defines.items():
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(value, int | float | str | np.number):
            raise OptionTypeError(f"kernel: defines are names with numbers or words, got {name!r}: {value!r}")
    return {name: one.item() if isinstance(one, np.number) else one for name, one in defines.items()}


def _check_macros(kernel: str, defines: Mapping[str, Any], shader: shaders.Shader) -> None:
    """Raise unless the text has each of the macros beside its definition, which is above every stage."""
    words = Counter(re.findall(r"\w+", "".join(stage.text for stage in shader.stages.values())))
    for name in defines:
        if words[name] == len(shader.stages):
            near = get_close_matches(name, sorted(words.keys() - defines.keys()), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"kernel: {kernel} has no macro {name!r}{hint}")


# -- arrays -----------------------------------------------------------------------------------------------------------


@delegating
def run(
    plan: Plan, /, *, device: DeviceLike | None = None, check_finite: bool = True, **operands: Any
) -> dict[str, Any]:
    """Run a plan on arrays.

    Examples
    --------
    >>> import glla
    >>> A = glla.asarray([[1, 2], [3, 4]])
    >>> plan = glla.plan("matmul", A, A)
    >>> glla.run(plan, A=A, B=[[0, 1], [1, 0]])["C"].numpy()
    array([[2., 1.],
           [4., 3.]], dtype=float32)

    Parameters
    ----------
    plan : Plan
        Of `glla.plan`, of a kernel, or your own (`glla.passes.Draft`). It runs as it is printed: what may come after
        it, "if ...: then ...", does not.
    device : Device, str or int, optional
        Or its name, see `glla.gl.named_device`. By default that of a Array among the operands, or the default device.
    check_finite : bool
        Refuse NaN and infinity in arrays that are uploaded.
    **operands : array_like or Array
        One for each operand of the plan. Where the slot is a packed matrix: a Array, or an array, which is uploaded;
        where it is a linear array: one of as many elements, in C order, and of its type; where it is a texture
        without a layout: its texels, (height, width) or (height, width, channels); where it is in the host's memory:
        an array of as many elements. With a `glla.Pending` among them the plan is queued on its coprocessor.

    Returns
    -------
    dict of str to Array or ndarray
        Each result by its name, also if it is the only one. Matrices and arrays stay on the device as an Array, and do
        not synchronise; textures without a layout are read back as texels; what is in the host's memory is an array.

    Raises
    ------
    OptionError
        An operand is missing, or there is none of that name.
    ShapeError
        An operand does not have the shape of its slot.
    DTypeError, NonFiniteError, DeviceMismatchError
        As everywhere.
    PlanError, LimitError, ShaderError, OutOfMemoryError
        The plan cannot run on the device.
    """
    if not isinstance(plan, Plan):
        raise OptionTypeError(f"run: plan must be a glla.passes.Plan, got {type(plan).__name__}; glla.plan makes one")
    if set(operands) != set(plan.operands):
        wanted, got = (", ".join(sorted(names)) or "none" for names in (plan.operands, operands))
        raise OptionError(f"run: the operands of this plan are {wanted}, got {got}")
    target = device_of("run", device, *operands.values())
    taken = {name: _taken(name, plan.slots[name], operands[name], target, check_finite) for name in plan.operands}
    return _results(target, plan, taken)


def _taken(name: str, slot: Slot, value: Any, device: Device, check_finite: bool) -> Any:
    """Return an operand as the device takes it."""
    if isinstance(slot, Storage) and slot.layout is not None:
        return as_slot("run", name, value, slot, device, check_finite)
    if isinstance(value, Array):
        raise OptionTypeError(f"run: {name} must be an array for this plan, got an Array; pass {name}.numpy()")
    integers = isinstance(slot, Storage) and slot.dtype == "int32"
    array = as_int32("run", name, value) if integers else as_float32("run", name, value, check_finite)
    if isinstance(slot, HostArray):
        if array.size != slot.size:
            raise ShapeError(f"run: {name} must have {slot.size} elements for this plan, got shape {array.shape}")
        return array
    storage = texture(slot)
    texels = (storage.height, storage.width, storage.channels)
    if array.shape != texels and (storage.channels > 1 or array.shape != texels[:2]):
        raise ShapeError(f"run: {name} must be texels of shape {texels} for this plan, got {array.shape}")
    return device.write_texels(array.reshape(texels))


def _results(device: Device, plan: Plan, operands: Mapping[str, Any]) -> dict[str, Any]:
    """Run a plan, and give its results as arrays. Textures that were made for the call go back by themselves."""
    made = device.run(plan, **operands)
    for name, one in made.items():
        slot = plan.slots[plan.results[name]]
        if isinstance(one, Texture):
            laid = isinstance(slot, Storage) and slot.layout
            made[name] = Array._of(layouts.best(Resident.of_texture(device, one, laid))) if laid else device.read(one)
    return made


def _operand(version: _Version, name: str, value: Any, check_finite: bool) -> NDArray[Any] | Array:
    """Take an Array as it is, and anything else as an array of the type that the sampler reads."""
    declared = version.declared.samplers[name]
    integers = SAMPLERS[declared.kind] == "int32"
    if isinstance(value, Array):
        found: NDArray[Any] | Array = value if integers else value.astype("float32", copy=False)
    elif integers:
        found = as_int32("kernel", name, value, _as_declared(version, name))
    else:
        found = as_float32("kernel", name, value, check_finite)
    if not version.wrapped:
        _check_matrix(name, found.shape)
    return found


def _as_declared(version: _Version, sampler: str) -> str:
    """Place of the declaration of a sampler, for messages."""
    declared = version.declared.samplers[sampler]
    return f"as {declared.place} declares {declared}"


def _shape_of(name: str, value: Any, wrapped: bool) -> Shape:
    """Shape of an array, or the one that stands for it."""
    if isinstance(value, tuple) and (wrapped or len(value) == 2) and not any(map(np.ndim, value)):
        return tuple(integer("kernel", name, side) for side in value)
    shape = value.shape if isinstance(value, Array) else np.shape(value)
    if not wrapped:
        _check_matrix(name, shape)
    return shape


def _check_matrix(name: str, shape: Shape) -> None:
    if len(shape) != 2:
        raise ShapeError(f"kernel: {name} must be two-dimensional, got shape {shape}; reshape it, or include {ARRAYS}")


@lru_cache(maxsize=64)
def _named(names: tuple[str, ...]) -> Any:
    """Make the class of the results of a kernel with several outputs."""
    return namedtuple("Results", names, rename=True)
