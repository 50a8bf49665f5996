"""Views of arrays in the linear layout: shape, strides and offset over the elements of a texture, as in NumPy.

Element i of a texture is channel i % 4 of texel i // 4, and the texels fill rows of the texture in order
(`glla.passes.wrapped`). A `View` selects the elements of an array. Broadcasting, permuting, slicing, reversing and
splitting dimensions make another view and no pass.

A shader reads an operand through numbers only (``lib/wrapped.glsl``), so one program serves every shape: `Over`
converts views to its uniforms. Dimensions contiguous in all operands are merged first, mostly to a single one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

from glla.errors import PlanError
from glla.passes import Draft, Form, Plan, Storage, Uniform, single_pass, wrapped
from glla.passes.glsl.find import Define
from glla.passes.layout import Wrapped

Shape = tuple[int, ...]
"""Lengths of the dimensions of an array."""

Index = int | slice | EllipsisType | None
"""Basic index, of one dimension or of several."""

RANKS = (2, 4, 8, 32)
"""Ranks that shaders are compiled for; missing dimensions have length 1."""

DTYPES = ("float32", "int32", "bool")
"""Types of elements."""


@dataclass(frozen=True)
class View:
    """An array as stored in a linear texture.

    >>> View.of((3, 4)).sliced((slice(None), 1))
    View(shape=(3,), strides=(4,), offset=1, size=12, dtype='float32')
    """

    shape: Shape  # lengths of its dimensions
    # elements from one index to the next, in each dimension; 0 broadcasts, a negative one goes backwards
    strides: Shape
    offset: int  # place of the first element
    size: int  # elements in the texture
    # ("float32", "int32", "bool"): type of the elements; bool is stored as 0 and 1 in a texture of int32
    dtype: str = "float32"

    @staticmethod
    def of(shape: Sequence[int], dtype: str = "float32") -> View:
        """View of a whole texture: C order.

        >>> View.of((2, 3), "int32").strides
        (3, 1)
        """
        shape = tuple(shape)
        return View(shape, c_strides(shape), 0, math.prod(shape), dtype)

    @staticmethod
    def of_form(form: Form) -> View:
        """View of an operand, by its form; in C order without one."""
        return form.view if isinstance(form.view, View) else View.of(form.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """Elements that are seen."""
        return math.prod(self.shape)

    @property
    def texel_dtype(self) -> str:
        """Type of the texture's channels."""
        return texel_dtype(self.dtype)

    def storage(self, texture_size: int) -> Storage:
        """Texture that it is a view of."""
        return wrapped(self.size, texture_size, self.dtype)

    @property
    def contiguous(self) -> bool:
        """Whether the elements are contiguous, the first one at the beginning of a texel."""
        shape, (strides,) = merged(self.shape, self.strides)
        return self.count == 0 or (self.offset % 4 == 0 and (shape, strides) in (((self.count,), (1,)), ((1,), (0,))))

    @property
    def whole(self) -> bool:
        """Whether it is all of its texture, in order: such a view needs no copy."""
        return self.contiguous and self.offset == 0 and self.count == self.size

    def broadcast_to(self, shape: Sequence[int]) -> View:
        """Spread it over a shape, as `numpy.broadcast_to` does. Raises PlanError: the shapes do not go together."""
        shape = tuple(shape)
        added = len(shape) - self.ndim
        fits = added >= 0 and all(have in (want, 1) for have, want in zip(self.shape, shape[added:], strict=True))
        if not fits:
            raise PlanError(f"broadcast: shape {self.shape} does not spread over {shape}")
        own = zip(self.shape, shape[added:], self.strides, strict=True)
        strides = (0,) * added + tuple(stride if have == want else 0 for have, want, stride in own)
        return replace(self, shape=shape, strides=strides)

    def permute(self, axes: Sequence[int]) -> View:
        """Permute the dimensions, as `numpy.transpose` does.

        >>> View.of((2, 3, 4)).permute((2, 0, 1)).shape
        (4, 2, 3)
        """
        if sorted(axes) != list(range(self.ndim)):
            raise PlanError(f"permute: axes must name each of {self.ndim} dimensions once, got {tuple(axes)}")
        return replace(
            self, shape=tuple(self.shape[axis] for axis in axes), strides=tuple(self.strides[axis] for axis in axes)
        )

    def moved(self, axis: int, to: int) -> View:
        """Move a dimension, the others staying in order."""
        axes = [one for one in range(self.ndim) if one != axis % self.ndim]
        axes.insert(to % self.ndim, axis % self.ndim)
        return self.permute(axes)

    def flip(self, axes: Sequence[int]) -> View:
        """Reverse some dimensions."""
        key: tuple[Index, ...] = tuple(
            slice(None, None, -1) if axis in axes else slice(None) for axis in range(self.ndim)
        )
        return self.sliced(key)

    def sliced(self, key: Index | tuple[Index, ...]) -> View:
        """Apply basic indices, as NumPy does: integers, slices, None and an Ellipsis.

        Raises IndexError: an integer is out of range, or there are too many indices.
        """
        shape, strides, offset, axis = [], [], self.offset, 0
        for index in expanded(key, self.ndim):
            if index is None:
                shape.append(1)
                strides.append(0)
                continue
            first, step, count = _range(index, self.shape[axis], axis)
            offset += first * self.strides[axis] if count else 0
            if isinstance(index, slice):
                shape.append(count)
                strides.append(step * self.strides[axis])
            axis += 1
        return replace(self, shape=tuple(shape), strides=tuple(strides), offset=offset)

    def reshape(self, shape: Sequence[int]) -> View | None:
        """View in another shape, in C order; None if that needs a copy.

        >>> View.of((6, 4)).reshape((2, 3, 4)).strides
        (12, 4, 1)
        >>> View.of((2, 3)).permute((1, 0)).reshape((6,)) is None
        True
        """
        shape = tuple(shape)
        if math.prod(shape) != self.count:
            raise PlanError(f"reshape: an array of {self.count} elements has no shape {shape}")
        if self.count == 0:
            return replace(self, shape=shape, strides=c_strides(shape))
        lengths, (steps,) = merged(self.shape, self.strides)
        strides: list[int] = []
        left = list(zip(lengths, steps, strict=True))  # runs of elements with one stride, the innermost at the end
        length, step = left.pop()
        for want in reversed(shape):
            if want == 1:
                strides.append(0)
                continue
            if length == 1 and left:
                length, step = left.pop()
            if length % want:
                return None
            strides.append(step)
            length, step = length // want, step * want
        return replace(self, shape=shape, strides=tuple(reversed(strides)))


def laid(shape: Shape, dtype: str, texture_size: int) -> Storage:
    """Texture of an array that is in C order, and says so.

    >>> laid((2, 3), "bool", 16).layout
    Wrapped(shape=(2, 3), dtype='bool')
    """
    return replace(wrapped(math.prod(shape), texture_size, dtype), layout=Wrapped(shape, dtype))


def texel_dtype(dtype: str) -> str:
    """Type of the channels of a texture that holds elements of a type.

    >>> texel_dtype("bool")
    'int32'
    """
    if dtype not in DTYPES:
        raise PlanError(f"view: a dtype is one of {', '.join(DTYPES)}, got {dtype}")
    return "float32" if dtype == "float32" else "int32"


def c_strides(shape: Shape) -> Shape:
    """Strides of C order.

    >>> c_strides((2, 3, 4))
    (12, 4, 1)
    """
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def expanded(key: Index | tuple[Index, ...], ndim: int) -> list[int | slice | None]:
    """Write a key out: an index for each dimension, an Ellipsis replaced by slices."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, index in enumerate(keys) if index is Ellipsis]
    used = sum(index is not None and index is not Ellipsis for index in keys)
    if len(dots) > 1 or used > ndim:
        raise IndexError(f"index: {ndim} dimensions take as many indices and one Ellipsis at most, got {key}")
    place = dots[0] if dots else len(keys)
    fill: list[Any] = [slice(None)] * (ndim - used)
    return [*keys[:place], *fill, *keys[place + 1 :]]


def _range(index: int | slice, length: int, axis: int) -> tuple[int, int, int]:
    """First, step and count of an index."""
    if isinstance(index, slice):
        taken = range(*index.indices(length))
        return taken.start, taken.step, len(taken)
    if not -length <= index < length:
        raise IndexError(f"index: {index} is out of range for dimension {axis} of length {length}")
    return index % length, 1, 1


def merged(shape: Shape, *strides: Shape) -> tuple[Shape, tuple[Shape, ...]]:
    """Merge dimensions that are contiguous in all views, and drop those of length 1; at least one is left.

    >>> merged((2, 3, 4), (12, 4, 1), (0, 0, 0))
    ((24,), ((1,), (0,)))
    >>> merged((2, 3, 4), (12, 4, 1), (0, 4, 1))
    ((2, 12), ((12, 1), (0, 1)))
    """
    kept: list[tuple[int, tuple[int, ...]]] = []
    for length, *steps in zip(shape, *strides, strict=True):
        if length == 1:
            continue
        if kept and all(outer == inner * length for outer, inner in zip(kept[-1][1], steps, strict=True)):
            kept[-1] = (kept[-1][0] * length, tuple(steps))
        else:
            kept.append((length, tuple(steps)))
    kept = kept or [(1, (0,) * len(strides))]
    return tuple(length for length, _ in kept), tuple(tuple(steps[n] for _, steps in kept) for n in range(len(strides)))


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Shape that all of these spread over.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    rank = max(len(shape) for shape in shapes)
    filled = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = tuple(max(lengths, key=lambda length: (length != 1, length)) for lengths in zip(*filled, strict=True))
    if any(length not in (1, want) for shape in filled for length, want in zip(shape, result, strict=True)):
        raise PlanError(f"broadcast: shapes do not go together, got {', '.join(map(str, shapes))}")
    return result


class Over:
    """A pass in the making: operands seen over the elements of a shape, four of which a fragment computes.

    `shape`: of the result. `apart`: dimensions that the shader asks for, and so are not merged with others. `straight`:
    whether the shader can take whole texels. `views`: operands; they spread over the shape. Attributes: `elements`: of
    the result. `rank`: dimensions that the shader sees, 0 for whole texels. `at`: for each dimension that is apart:
    which one of these it is. `defines`, `uniforms`: those of ``lib/wrapped.glsl``.
    """

    def __init__(
        self, shape: Shape, texture_size: int, apart: tuple[int, ...] = (), straight: bool = True, **views: View
    ) -> None:
        spread = {name: view.broadcast_to(shape) for name, view in views.items()}
        self.shape, self.texture_size, self.views = shape, texture_size, views
        self.elements = math.prod(shape)
        self.uniforms: dict[str, Uniform] = {"extent": (self.elements, wrapped(self.elements, texture_size).width)}
        self.defines: dict[str, Define] = {}
        self.at: dict[int, int] = {}
        lengths, strides = self._merged(shape, apart, [view.strides for view in spread.values()])
        straight = straight and len(lengths) == 1 and self._straight(spread, strides)
        self.rank = 0 if straight else next((rank for rank in RANKS if rank >= len(lengths)), -1)
        if self.rank < 0:
            raise PlanError(f"view: at most {RANKS[-1]} dimensions that do not merge, got {len(lengths)}")
        if not straight:
            self._strided(lengths, spread, strides)
        self.defines["RANK"] = self.rank

    def _merged(self, shape: Shape, apart: tuple[int, ...], strides: list[Shape]) -> tuple[Shape, list[Shape]]:
        """Merge the dimensions between those that stay apart."""
        lengths: Shape = ()
        steps: list[Shape] = [()] * len(strides)
        first = 0
        for axis in (*sorted(apart), len(shape)):
            part = slice(first, axis)
            if any(length != 1 for length in shape[part]) or not (apart or lengths):
                more, own = merged(shape[part], *(stride[part] for stride in strides))
                lengths += more
                steps = [one + other for one, other in zip(steps, own, strict=True)]
            if axis < len(shape):
                self.at[axis] = len(lengths)
                lengths += (shape[axis],)
                steps = [(*one, stride[axis]) for one, stride in zip(steps, strides, strict=True)]
            first = axis + 1
        return lengths, steps

    def _straight(self, views: dict[str, View], strides: list[Shape]) -> bool:
        """Set the uniforms for whole texels, or a single element: first texel, stride in texels, channel."""
        for (name, view), (step,) in zip(views.items(), strides, strict=True):
            if step not in (0, 1) or (step == 1 and view.offset % 4):
                return False
            self.uniforms[f"{name}_view"] = (view.offset // 4, step, view.offset % 4)
        return True

    def _strided(self, lengths: Shape, views: dict[str, View], strides: list[Shape]) -> None:
        """Set the uniforms for single elements: strides, then the offset."""
        fill = self.rank - len(lengths)
        self.at = {axis: place + fill for axis, place in self.at.items()}
        self.uniforms["shape"] = (1,) * fill + lengths
        for (name, view), steps in zip(views.items(), strides, strict=True):
            self.uniforms[f"{name}_view"] = (*(0,) * fill, *steps, view.offset)

    def filled(self, numbers: dict[int, int], other: int) -> tuple[int, ...]:
        """Number for each dimension that the shader sees: those that are apart have their own."""
        own = {self.at[axis]: number for axis, number in numbers.items()}
        return tuple(own.get(place, other) for place in range(self.rank))

    def plan(
        self,
        operation: str,
        shader: str,
        dtype: str,
        defines: Mapping[str, Define] | None = None,
        uniforms: Mapping[str, Uniform] | None = None,
        flops: int = 0,
    ) -> Plan:
        """Plan of this pass: an operand for each view, and ``result``, of type `dtype`; A has the type that is read."""
        given = {name: view.storage(self.texture_size) for name, view in self.views.items()}
        made = {"result": laid(self.shape, dtype, self.texture_size)}
        own = {**(defines or {}), "INTEGER": integer(self.views["A"]), **self.defines}
        return single_pass(operation, shader, given, made, {**self.uniforms, **(uniforms or {})}, own, flops)


def operands(draft: Draft, texture_size: int, **views: View) -> dict[str, str]:
    """Add an operand for each view, of its texture."""
    return {name: draft.operand(name, view.storage(texture_size)) for name, view in views.items()}


def integer(view: View) -> int:
    """Value of a define that says that texels are integers (0, 1)."""
    return int(view.texel_dtype == "int32")
