"""A sparse matrix on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts, shaping
from glla.array.array import Array, upload
from glla.array.convert import checked_device, within_float32
from glla.array.value import Resident
from glla.display import sparse as display
from glla.errors import DeviceMismatchError, ShapeError, UnsupportedError, one_of
from glla.gl import Device, DeviceLike, Texture, default_device
from glla.operations.sparse import spmv
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.formats import FORMATS, chosen
from glla.operations.sparse.layout import Structure
from glla.passes import Form, Plan
from glla.passes.layout import Shape
from glla.registry import overrides
from glla.sparse.convert import compressed, is_scipy


def asarray(
    A: Any, format: str | None = None, *, device: DeviceLike | None = None, check_finite: bool = True
) -> SparseMatrix:
    """Copy a sparse matrix to a device.

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> A = glla.sparse.asarray([[2, 0, 0], [0, 3, 1]])
    >>> A
    <SparseMatrix 2 x 3 of float32, 3 entries, format diagonals>
    [[2. 0. 0.]
     [0. 3. 1.]]
    >>> A @ [1, 2, 3]
    array([2., 9.], dtype=float32)
    >>> (A.T @ [1, 1]).tolist()
    [2.0, 3.0, 1.0]

    Parameters
    ----------
    A : sparse matrix or array of SciPy, array_like, glla.Array or SparseMatrix
        Real numbers, m x n; of any format and type of SciPy. Duplicate entries are summed, in float64, before they are
        rounded to float32. Stored zeros are dropped.
    format : str, optional
        Layout in textures: ``"diagonals"``, ``"stencil"``, ``"circular"``, ``"pointers"``, ``"points"``, ``"sell"`` or
        ``"blocks"``. Default: diagonals, if there are at most 64 and at least half full; else sell. On a software
        rasteriser stencil, if nearly all rows have the same entries on at most 16 diagonals, as constant coefficients
        on a grid have: such rows fetch no entries. It gives the same bits as diagonals.
    device : Device, str or int, optional
        As in `glla.asarray`.
    check_finite : bool
        Refuse NaN and infinity.

    Returns
    -------
    SparseMatrix
        Its rows are also kept on the host, for the transpose and for residuals in float64. Does not synchronise.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        Not a matrix, not real, not finite.
    OptionError
        No such format, or an unfit one: circular diagonals need a square matrix, a stencil has at most 16 diagonals.
    LimitError
        Larger than textures of this device, or than int32 indices.
    """
    if format is not None:
        one_of("sparse: format", format, FORMATS)
    place = checked_device("sparse", device)
    if isinstance(A, SparseMatrix):
        if place in (None, A.device) and format in (None, A.format):
            return A
        return SparseMatrix(A.rows, place or A.device, format)
    if isinstance(A, Array) and place is None:
        place = A.device
    return SparseMatrix(compressed(A, check_finite), place or default_device(), format)


def applied(device: Device, plan: Plan, textures: Mapping[str, Texture], x: Resident, rows: int) -> Array:
    """Run the plan of a product with a vector on the device."""
    y = device.run(plan, **textures, x=layouts.whole(layouts.as_type(x, "float32")).texture)["y"]
    return Array._of(Resident.wrapped(device, y, (rows,), "float32"))


def _from_pickle(rows: Compressed, format: str) -> SparseMatrix:
    return SparseMatrix(rows, default_device(), format)


class SparseMatrix:
    """A sparse matrix of float32 on a device. It never changes. Make one with `asarray`.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    device : Device
        The device of its textures.
    format : str
        Its layout, see `asarray`.
    nnz : int
        Number of entries.

    Notes
    -----
    ``A @ x`` takes a vector of n elements or a matrix of n rows. For a glla.Array the result is one, and nothing
    synchronises; for other arrays the product is read back as float32. Three columns and more are multiplied four at a
    time, so that an entry is fetched once for four of them, in blocks of 256 MB at most; with ``points`` one at a time,
    and a ``stencil`` is converted to diagonals for them, once. ``x @ A`` is ``A.T @ x``, for a vector.

    *Error.* abs(y - y^) <= (k + 2) u abs(A) abs(x) for a row of k entries, u = 2^-24: exact for integers whose sums
    stay below 2^24. NaN and infinity reach only the rows that have an entry there. A finite x outside float32's range
    raises NonFiniteError. Denormal entries may count as zero.

    *Cost.* 2 nnz flop and mostly one pass; see `glla.explain`: ``glla.explain("spmv", A, (n,))``.

    Sources: Brodtkorb 2007, section 3.1.2; Krüger and Westermann 2003; Bolz et al. 2003; Kreutzer et al. 2014.
    """

    __array_ufunc__ = None  # x @ A asks this class
    ndim = 2
    dtype = np.dtype(np.float32)

    def __init__(self, rows: Compressed, device: Device, format: str | None = None) -> None:
        self.rows, self.device = rows, device
        self.structure: Structure = FORMATS[format or chosen(rows, device.limits)](rows, device.limits)

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.rows.shape

    @property
    def format(self) -> str:
        """Its layout on the device."""
        return self.structure.name

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return self.rows.entries

    @property
    def form(self) -> Form:
        """Its shape and layout: all that a plan may depend on."""
        return Form(self.shape, resident=True, view=self.structure)

    @cached_property
    def textures(self) -> dict[str, Texture]:
        """Textures of its entries, uploaded when they are first needed."""
        return self._laid(self.structure)

    @cached_property
    def of_columns(self) -> dict[str, Texture]:
        """Textures for products with several columns at once."""
        structure = spmv.for_columns(self.structure, self.device.limits)
        return self.textures if structure is self.structure else self._laid(structure)

    def _laid(self, structure: Structure) -> dict[str, Texture]:
        laid = structure.texels(self.rows, self.device.limits)
        return {name: self.device.write_texels(texels) for name, texels in laid.items()}

    @property
    def plan(self) -> Plan:
        """Plan of ``A @ x`` on the device: its operands are those of `operands`, and ``x``; its result is ``y``."""
        return spmv.plan((self.form, Form((self.shape[1], 1), resident=True)), self.device.limits)

    @property
    def operands(self) -> dict[str, Texture]:
        """Textures for `plan`, by name: for `glla.Device.run`, and for your own plans."""
        return dict(self.textures)

    @cached_property
    def T(self) -> SparseMatrix:
        """Its transpose, with textures of its own, in the same format."""
        return SparseMatrix(self.rows.transpose(), self.device, self.format)

    def diagonal(self) -> NDArray[np.float32]:
        """Its diagonal, from the host's rows."""
        return self.rows.diagonal()

    def toarray(self) -> NDArray[np.float32]:
        """The dense matrix, from the host's rows."""
        return self.rows.dense()

    def __copy__(self) -> SparseMatrix:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseMatrix:
        return self

    def __reduce__(self) -> tuple[Callable[..., SparseMatrix], tuple[Compressed, str]]:
        """Pickle the host's rows: the matrix is uploaded again to the default device of the thread that loads it."""
        return _from_pickle, (self.rows, self.format)

    def __repr__(self) -> str:
        """Show it with its numbers, as NumPy prints a matrix; reads nothing back."""
        head = f"SparseMatrix {self.shape[0]} x {self.shape[1]} of float32, {self.nnz} entries, format {self.format}"
        return f"<{head}>\n{display.text(self.rows)}"

    def _repr_html_(self) -> str:
        return display.markup(repr(self), self.rows)

    def __matmul__(self, x: Any) -> Any:
        if overrides(x) is not None:
            return NotImplemented
        if is_scipy(x) or isinstance(x, SparseMatrix):
            raise UnsupportedError("sparse: the product of two sparse matrices is not on the device; multiply by SciPy")
        resident = isinstance(x, Array)
        array: Any = x if resident else within_float32("sparse", "x", x)
        if array.ndim not in (1, 2) or array.shape[0] != self.shape[1]:
            raise ShapeError(f"sparse: shapes of A {self.shape} and x {array.shape} are incompatible")
        if resident and array.device is not self.device:
            raise DeviceMismatchError("sparse: A and x must live on one device; use to_device")
        if 0 in (*self.shape, *array.shape):
            nothing = np.zeros((self.shape[0], *array.shape[1:]), dtype=np.float32)
            return upload(nothing, self.device) if resident else nothing
        if array.ndim == 1:
            return self._resident(array.value) if resident else self._array(array)
        most, (m, k) = spmv.columns_at_once(self.structure.tallest), (self.shape[0], array.shape[1])
        if resident:
            parts = [self._block(array[:, first : first + most]).value for first in range(0, k, most)]
            return Array._of(layouts.best(parts[0] if len(parts) == 1 else shaping.concat("sparse", parts, 1)))
        if self._rows(k) is None:  # one small plan, repeated
            return np.stack([self._array(array[:, column]) for column in range(k)], axis=1)
        forms = self.form, Form(array.shape)
        plan = spmv.call_plan(forms, self.device.limits)
        return self.device.run(plan, **self.of_columns, x=array)["y"].reshape(m, k)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a vector from the left: the product of the transpose."""
        return self.T @ x if np.ndim(x) == 1 else (self.T @ x.T).T

    def _array(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        found = self.device.run(self._plan(resident=False), **self.textures, x=x[:, np.newaxis])
        result: NDArray[np.float32] = found["y"]
        return result

    def _resident(self, x: Resident) -> Array:
        return applied(self.device, self._plan(resident=True), self.textures, x, self.shape[0])

    def _block(self, x: Array) -> Array:
        """Multiply by some columns on the device, all at once if the format allows it."""
        columns = x.shape[1]
        plan = self._rows(columns)
        if plan is None:
            products = [self._resident(x[:, column].value).value for column in range(columns)]
            return Array._of(shaping.stack("sparse", products, 1))
        value, pad = layouts.as_type(x.value, "float32"), -columns % 4
        if pad:
            beside = upload(np.zeros((self.shape[1], pad), dtype=np.float32), self.device).value
            value = shaping.concat("sparse", [value, beside], 1)
        y = self.device.run(plan, **self.of_columns, X=layouts.whole(value).texture)["Y"]
        made = Array._of(Resident.wrapped(self.device, y, (self.shape[0], columns + pad), "float32"))
        return made[:, :columns] if pad else made

    def _rows(self, columns: int) -> Plan | None:
        """Plan of the product with several columns at once; None if they are multiplied one at a time."""
        if columns < spmv.LEAST_AT_ONCE:
            return None
        return spmv.rows(self.form, -(-columns // 4), self.device.limits)

    def _plan(self, resident: bool) -> Plan:
        return spmv.call_plan((self.form, Form((self.shape[1], 1), resident=resident)), self.device.limits)
