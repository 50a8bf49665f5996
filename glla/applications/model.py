"""The linear model of a degraded image, with its matrix, products and normal equations on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.gl import Device
from glla.kernels.kernel import run
from glla.operations import restoration
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.passes import Plan

Float64 = NDArray[np.float64]
Index = tuple[int, int]
Images = list[Array]
"""Images of one shape: the channels of a colour image."""


@dataclass(frozen=True, eq=False)
class Model:
    """Model of the degradation: g[i] = sum over t of kernel[t] f[i + t - centre]."""

    shape: Index  # rows and columns of the image
    kernel: Float32  # the weights
    centre: Index  # index of the weight of the pixel itself
    balance: float  # tikhonov's regularisation weight
    device: Device  # the device of the computation

    @property
    def pixels(self) -> int:
        """Number of unknowns."""
        return self.shape[0] * self.shape[1]

    @property
    def terms(self) -> tuple[Index, Index, Index]:
        """Parameters of plans: rows and columns of the image and of the kernel, and the centre."""
        rows, columns = self.kernel.shape
        return self.shape, (rows, columns), self.centre

    def _run(self, plan: Plan, **operands: Any) -> Array:
        (found,) = run(plan, device=self.device, K=self.kernel, **operands).values()
        return found  # type: ignore[no-any-return]

    @property
    def diagonals(self) -> int:
        """Diagonals of H^T H from the main one down to the last one that is not zero."""
        return restoration.diagonals(*self.terms[:2])

    @property
    def turned(self) -> Model:
        """The model of transposed images."""
        (m, n), (i, j) = self.shape, self.centre
        return replace(self, shape=(n, m), kernel=np.ascontiguousarray(self.kernel.T), centre=(j, i))

    def columns(self, images: Images) -> Array:
        """Join images as columns of pixels."""
        columns: Any = [image.reshape(self.pixels, 1) for image in images]
        return columns[0] if len(images) == 1 else np.concatenate(columns, axis=1)  # type: ignore[return-value]

    def images(self, columns: Any) -> Images:
        """Split such columns into images."""
        return [columns[:, k].reshape(*self.shape) for k in range(columns.shape[1])]

    def system(self) -> Array:
        """Make H."""
        return self._run(restoration.system(*self.terms))

    def normal(self) -> Array:
        """Make H^T H + balance I, without H."""
        return self._run(restoration.normal(*self.terms, self.balance))

    def normal_band(self) -> Array:
        """Make the band of the same matrix, its diagonals as rows."""
        return self._run(restoration.normal_band(*self.terms, self.balance))

    def applied(self, images: Array, adjoint: bool = False) -> Array:
        """Compute H F, or H^T F, without H."""
        return self._run(restoration.apply(*self.terms, images.shape[1], adjoint), F=images)

    def factors(self) -> tuple[Float64, Float64] | None:
        """Return v and w of a kernel that is v w^T to the last bit of float32, or None."""
        u, s, vh = np.linalg.svd(self.kernel.astype(np.float64))
        if len(s) > 1 and s[1] > 4 * UNIT_ROUNDOFF * s[0]:
            return None
        return u[:, 0] * s[0], vh[0]
