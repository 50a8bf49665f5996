"""Shape, dtype, layout and residency of operands: all a plan knows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from glla.errors import ShapeError
from glla.passes.layout import Shape


@dataclass(frozen=True)
class Form:
    """An operand without its values; hashable, part of the key of a plan.

    Examples
    --------
    >>> Form.of((3, 4))
    Form(shape=(3, 4), resident=False, transposed=False, dtype='float32')

    Attributes
    ----------
    shape : tuple of int
        Rows and columns last; dimensions before them are those of a stack.
    resident : bool
        It is on the device, packed; otherwise in the host's memory.
    transposed : bool
        What is there is the transpose: in the texture, or, for an array of the host, in Fortran's order.
    dtype : str
        Of the elements.
    view : Hashable or None
        Which elements of a texture they are, if it is linear (`glla.operations.linear.view.View`); None for
        a packed matrix.
    """

    shape: tuple[int, ...]
    resident: bool = False
    transposed: bool = False
    dtype: str = "float32"
    view: Hashable | None = field(default=None, repr=False)

    @staticmethod
    def of(value: Any) -> Form:
        """Form of an array, of a value on the device, or of an array of the host with this shape.

        Parameters
        ----------
        value : Form, tuple of int, ndarray, or value on a device
            A pair of numbers stands for a float32 matrix in the host's memory.
        """
        if isinstance(value, Form):
            return value
        if isinstance(value, tuple | list):
            if len(value) < 2 or any(not isinstance(side, Integral) or side < 0 for side in value):
                raise ShapeError(f"plan: a shape must be (rows, columns), each 0 at least, got {value!r}")
            return Form(tuple(map(int, value)))
        form = getattr(value, "form", None)
        if isinstance(form, Form):
            return form
        if getattr(value, "ndim", 0) < 2:
            raise ShapeError(f"plan: an operand must be a matrix, a stack of them, or a shape, got {value!r}")
        return Form(tuple(value.shape), transposed=value.flags.f_contiguous and not value.flags.c_contiguous)

    @property
    def matrix(self) -> Shape:
        """Rows and columns of each matrix."""
        return self.shape[-2], self.shape[-1]

    @property
    def stack(self) -> tuple[int, ...]:
        """Dimensions of the stack; () for a single matrix."""
        return self.shape[:-2]

    @property
    def count(self) -> int:
        """Matrices in the stack, 1 for a single matrix."""
        return math.prod(self.stack)

    @property
    def single(self) -> Form:
        """Form of one matrix of the stack."""
        return replace(self, shape=self.matrix)

    @property
    def on_device(self) -> Form:
        """Form of the same matrix once it is uploaded."""
        return self if self.resident else Form(self.shape, resident=True)


Forms = tuple[Form, ...]
"""Forms of the operands of an operation, in their order."""


def resident(*shapes: tuple[int, ...]) -> Forms:
    """Forms of matrices on the device.

    >>> resident((2, 3))[0].resident
    True
    """
    return tuple(Form(tuple(shape), resident=True) for shape in shapes)


def forms_of(values: Iterable[Any]) -> Forms:
    """Form of each value, see `Form.of`."""
    return tuple(map(Form.of, values))
