"""Restoration of degraded images: the regularised (Tikhonov) least squares solution of g = H f.

Every pixel of a degraded image g is a weighted sum of the pixels around it in f: the weights are the point spread
function, and beyond the border f is zero. `restore` returns the f that minimises norm(H f - g)^2 + balance norm(f)^2,

    f = (H^T H + balance I)^-1 H^T g.

The author forms H, of as many rows and columns as there are pixels, and inverts. The fast variants need no H.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import linalg
from glla.array.array import Array, asarray
from glla.array.convert import LARGEST, Float32, as_float32, finite_result
from glla.errors import (
    ConvergenceError,
    LimitError,
    NonFiniteError,
    NotPositiveDefiniteError,
    OptionError,
    ShapeError,
    SingularMatrixError,
    one_of,
    real,
)
from glla.gl import Device, DeviceLike
from glla.kernels.kernel import run
from glla.linalg.definite import solve_definite_band
from glla.linalg.operands import device_of, operand
from glla.operations import restoration
from glla.operations.acceptance import PROMISED, UNIT_ROUNDOFF
from glla.operations.host.scaling import exponent_of, scaled_back
from glla.operations.layouts import packing
from glla.operations.sparse.layout import MOST_TEXELS
from glla.passes import Plan, Variant
from glla.registry import delegating
from glla.sparse.linalg import LinearOperator, cg

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

    def run(self, plan: Plan, **operands: Any) -> Array:
        """Run a plan that takes the kernel."""
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

    def applied(self, images: Array, adjoint: bool = False) -> Array:
        """Compute H F, or H^T F, without H."""
        return self.run(restoration.apply(*self.terms, images.shape[1], adjoint), F=images)

    def factors(self) -> tuple[Float64, Float64] | None:
        """Return v and w of a kernel that is v w^T to the last bit of float32, or None."""
        u, s, vh = np.linalg.svd(self.kernel.astype(np.float64))
        if len(s) > 1 and s[1] > 4 * UNIT_ROUNDOFF * s[0]:
            return None
        return u[:, 0] * s[0], vh[0]


SEED = '"Linear algebra on GPUs: applications in image restoration" (2012), chapter 6'
"""Source of the author's variant."""

VARIANTS = {
    "inverse": Variant("the matrix H, H^T H + balance I, its explicit inverse, and three products", SEED),
    "cholesky": Variant("H^T H + balance I straight from the PSF, in one pass; its Cholesky factor", "LAPACK potrf"),
    "banded": Variant("the same, of which nothing is stored but its band", "LAPACK pbtrf"),
    "cg": Variant(
        "conjugate gradients on the normal equations, a stencil for their product: no matrix at all",
        "Hestenes and Stiefel 1952; Bolz et al. 2003",
    ),
    "separable": Variant(
        "of a PSF that is a column times a row: two small systems, or two small SVDs", "Andrews and Hunt 1977"
    ),
}

RESIDUAL, WORST_RESIDUAL = 1e-6, 1e-4
"""Residual at which conjugate gradients end, and largest one that is accepted if float32 holds no better solution. Each
is the norm of the true residual of the normal equations over that of their right-hand side."""

MOST_ITERATIONS = 5000

MOST_CORRECTIONS = 8
"""Most corrections of the solution by an explicit inverse. A guess."""

MODELS = ("convolve", "correlate")
WIDE = 4
"""Ratio of pixels to diagonals of H^T H from which the matrix is factored as a band. A guess."""

NEAR_ONE = 20
"""A PSF, or an image, whose largest element is between 2^-20 and 2^20 is not scaled; any other is scaled by a power of
two."""


# -- the variants -----------------------------------------------------------------------------------------------------


def _inverse(model: Model, images: Images, as_printed: bool = False) -> Images:
    """Invert, and multiply, as the author does, who prints H H^T instead of H^T H."""
    _must_fit(model)
    h = model.run(restoration.system(*model.terms))
    normal = h @ h.T if as_printed else h.T @ h
    if model.balance:
        normal = normal + run(packing.identity((model.pixels, model.pixels)), device=model.device)["I"] * model.balance
    inverse = linalg.inv(normal, assume_a="pos", variant="cholesky_gets_product", lower=True)
    seen = model.columns(images)
    return model.images(_corrected(model, normal, inverse, h.T @ seen, (inverse @ h.T) @ seen))


def _corrected(model: Model, normal: Array, inverse: Array, right: Array, f: Array) -> Array:
    """Correct the solution by the explicit inverse until its residual meets the bound of the other variants.

    A product with an inverse loses as many digits as the condition number has; the corrections restore them.
    """
    of_normal, of_right = abs(normal).sum(axis=1).max(), abs(right).max(axis=0)
    for _ in range(MOST_CORRECTIONS + 1):
        residual = right - normal @ f
        scale = (of_normal * abs(f).max(axis=0) + of_right).numpy(check_finite=False).astype(np.float64)
        left = abs(residual).max(axis=0).numpy(check_finite=False)
        if (left <= PROMISED * model.pixels * UNIT_ROUNDOFF * scale).all():
            return f
        f = f + inverse @ residual
    raise ConvergenceError(
        f"restore: H^T H + balance I with balance={model.balance:g} is too ill-conditioned for an explicit inverse; "
        "pass a larger balance, or take another variant"
    )


def _cholesky(model: Model, images: Images) -> Images:
    _must_fit(model)
    _must_be_narrow(model)
    normal = model.run(restoration.normal(*model.terms, model.balance))  # without H
    factor = linalg.cho_factor(normal, lower=True)
    return model.images(linalg.cho_solve(factor, model.applied(model.columns(images), adjoint=True)))


def _banded(model: Model, images: Images) -> Images:
    """Factor the band: for a picture of 64 x 64, 131 diagonals of 4096. Pixels are numbered along the shorter side."""
    if model.turned.diagonals < model.diagonals:
        return [image.T for image in _banded(model.turned, [image.T for image in images])]
    _must_fit(model)
    _must_be_narrow(model)
    right = model.applied(model.columns(images), adjoint=True)
    band = model.run(restoration.normal(*model.terms, model.balance, band=True))
    return model.images(solve_definite_band("restore", band, right, lower=True))


def _cg(model: Model, images: Images) -> Images:
    """Iterate, until the true residual is small."""
    _must_be_narrow(model)
    side, weights = min(model.device.limits.texture_size, MOST_TEXELS), model.kernel.ravel()
    product = restoration.normal_stencil(*model.terms, model.balance, side)
    normal = LinearOperator((model.pixels, model.pixels), product, model.device, K=weights)
    adjoint = restoration.adjoint_stencil(*model.terms, side)
    found = []
    for image in images:
        right = run(adjoint, device=model.device, K=weights, x=image.reshape(model.pixels))["y"]
        f, info = cg(normal, right, rtol=RESIDUAL, maxiter=MOST_ITERATIONS)
        if info:
            if info < 0:
                raise NotPositiveDefiniteError("restore: conjugate gradients broke down")
            ratio = _norm(right - normal @ f) / _norm(right)
            if not ratio <= WORST_RESIDUAL:
                raise ConvergenceError(
                    f"restore: conjugate gradients reached a residual of {ratio:.2g} of H^T g after {info} iterations; "
                    f"pass a larger balance than {model.balance:g}, or take another variant"
                )
        found.append(f.reshape(*model.shape))
    _must_be_regular(model, normal)
    return found


def _must_be_regular(model: Model, normal: LinearOperator) -> None:
    """Raise NotPositiveDefiniteError if the normal equations are singular to float32, as the other variants do.

    An image may be in the range of a singular matrix; random numbers are not, so no iteration solves for them.
    """
    norm = float(np.sum(np.abs(model.kernel.astype(np.float64)))) ** 2 + model.balance  # at least that of the matrix
    if model.balance >= 4 * UNIT_ROUNDOFF * norm:
        return
    probe = asarray(np.random.default_rng(0).standard_normal(model.pixels), device=model.device)
    goal = 1 / (8 * np.sqrt(model.pixels))  # an eighth of a random vector's part in the null space
    f, info = cg(normal, probe, rtol=goal, maxiter=MOST_ITERATIONS)
    if info and not _norm(probe - normal @ f) <= goal * _norm(probe):
        raise NotPositiveDefiniteError("restore: conjugate gradients find no solution for random numbers")


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x.numpy(check_finite=False).astype(np.float64)))


def _separable(model: Model, images: Images) -> Images:
    """Solve G = V F W^T for kernel = v w^T: V and W are of the order of a side, not of the number of pixels."""
    factors = model.factors()
    if factors is None:
        raise OptionError(
            "restore: variant 'separable' needs a PSF of rank 1, a column times a row, got another one; take 'cholesky'"
        )
    v, w = (
        _band(weights, centre, side) for weights, centre, side in zip(factors, model.centre, model.shape, strict=True)
    )
    if model.balance:
        solve = _weighted(model, v, w)
        return [solve(image) for image in images]
    left, right = (asarray(one, device=model.device) for one in (v, w))  # F = V^-1 G W^-T, two systems
    return [linalg.solve(right, linalg.solve(left, image).T).T for image in images]


def _band(weights: Float64, centre: int, side: int) -> Float64:
    """Make the matrix whose row i has the weights around index i."""
    i = np.arange(side)
    t = i - i[:, np.newaxis] + centre
    return np.where((t >= 0) & (t < len(weights)), weights[np.clip(t, 0, len(weights) - 1)], 0.0)


def _weighted(model: Model, v: Float64, w: Float64) -> Callable[[Array], Array]:
    """Solve by the singular values s_i t_j of H: those of V times those of W, computed on the host, which is fast."""
    (vu, vs, vz), (wu, ws, wz) = np.linalg.svd(v), np.linalg.svd(w)
    products = np.outer(vs, ws)
    gains = products / (products**2 + model.balance)
    on_device = [asarray(one, device=model.device) for one in (vu.T, wu, gains, vz.T, wz)]

    def solve(g: Array) -> Array:
        into_left, into_right, gain, left, right = on_device
        return left @ ((into_left @ g @ into_right) * gain) @ right

    return solve


_SOLVERS: dict[str, Callable[..., Images]] = {
    "inverse": _inverse,
    "cholesky": _cholesky,
    "banded": _banded,
    "cg": _cg,
    "separable": _separable,
}


def choose(model: Model) -> str:
    """Choose the variant: `separable` for a PSF of rank 1, else `banded`, or `cholesky` for a wide PSF.

    `cg` for images with more pixels than a texture has rows.

    A band of half of the diagonals needs as many operations as the whole matrix, p w^2 beside p^3 / 3, in smaller
    blocks.
    """
    if model.factors() is not None:
        return "separable"
    if model.pixels > 2 * model.device.limits.texture_size:
        return "cg"
    narrowest = min(model.diagonals, model.turned.diagonals)
    return "banded" if WIDE * narrowest <= model.pixels else "cholesky"


# -- the function -----------------------------------------------------------------------------------------------------


@delegating
def restore(
    image: Any,
    psf: Any,
    balance: float = 0.0,
    variant: str | None = None,
    *,
    model: str = "convolve",
    as_printed: bool = False,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Restore an image that was blurred, or sharpened, by a known point spread function.

    Returns the f that minimises norm(H f - g)^2 + balance norm(f)^2, with f zero beyond the border, unlike Fourier
    methods, which assume a periodic image.

    Examples
    --------
    >>> import numpy as np
    >>> from glla.applications import restore
    >>> blurred = np.array([[0, 0, 0, 0, 0], [0, 2, 4, 2, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    >>> restore(blurred, [[0.25, 0.5, 0.25]]).round(3)[1] + 0
    array([0., 0., 8., 0., 0.], dtype=float32)

    Parameters
    ----------
    image : array_like or Array, shape (m, n) or (m, n, channels)
        The degraded image g. Channels are restored with the same factors.
    psf : array_like, shape (a, b)
        Weights of a pixel's neighbours, no more rows and columns than the image. The centre is (a // 2, b // 2).
    balance : float
        Tikhonov's weight, at least 0, beside the squared singular values of H, of which the largest is near sum(psf)^2.
    variant : str, optional
        A key of `VARIANTS`; by default that of `choose`.
    model : {"convolve", "correlate"}
        Degradation by the PSF: as ``scipy.ndimage.convolve(f, psf, mode="constant")``, or as ``correlate``.
    as_printed : bool
        With variant ``inverse`` use the source's formula, (H H^T + balance I)^-1 H^T g, correct for a symmetric H only.
    device
        As in `glla.matmul`.

    Returns
    -------
    ndarray of float32, or Array for an Array
        The restored image, of the shape of `image`. Nothing is clipped. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError
        H^T H + balance I is singular to float32; use a larger balance.
    ConvergenceError
        ``cg`` did not converge, or ``inverse`` did not reach a small residual.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As elsewhere; the PSF is larger than the image; ``separable`` with another PSF; a channel does not fit float32.
    """
    value = operand("restore", "image", image, True)
    weights = _checked_psf(psf, value.shape)
    number = real("restore", "balance", balance)
    if not 0 <= number < np.inf:
        raise OptionError(f"restore: balance must be a finite number from 0 on, got {balance!r}")
    balance = number
    if variant is not None:
        one_of("restore: variant", variant, VARIANTS)
    one_of("restore: model", model, MODELS)
    if as_printed and variant != "inverse":
        raise OptionError(f"restore: as_printed is for variant='inverse', got variant={variant!r}")
    exponent, level = (exponent_of(_largest(*one), NEAR_ONE) for one in (("psf", weights), ("image", value)))
    made = _model(weights, exponent, value, balance, model, device_of("restore", device, value))
    images = asarray(_scaled(value, -level), device=made.device)
    channels = [images] if value.ndim == 2 else [images[:, :, k] for k in range(value.shape[2])]
    with _explained(balance):
        found = _SOLVERS[variant or choose(made)](made, channels, **({"as_printed": True} if as_printed else {}))
    result: Any = found[0] if value.ndim == 2 else np.stack(found, axis=2)
    resident = isinstance(value, Array)
    if level == exponent:
        return result if resident else finite_result("restore", result.numpy(check_finite=False), True)
    back = finite_result("restore", _scaled_back(result, level - exponent), True)
    return asarray(back, device=made.device) if resident else back


def _scaled_back(result: Array, exponent: int) -> Float32:
    """Multiply by a power of two on the host; raise where float32 keeps too little of a channel, as `solve` does."""
    x = result.numpy(check_finite=False)
    rows, columns, *channels = x.shape
    return scaled_back("restore", x.reshape(rows * columns, *channels or (1,)), exponent)[0].reshape(x.shape)


def _model(weights: Float32, exponent: int, value: Any, balance: float, model: str, device: Device) -> Model:
    """Convert convolution to correlation with the rotated PSF; and scale its weights to near 1, which is exact."""
    centre = [side // 2 for side in weights.shape]
    if model == "convolve":
        weights, centre = weights[::-1, ::-1], [side - 1 - c for side, c in zip(weights.shape, centre, strict=True)]
    kernel = np.ldexp(np.ascontiguousarray(weights), -exponent).astype(np.float32)
    rows, columns = value.shape[:2]
    scaled = balance * 4.0**-exponent
    if scaled > LARGEST:
        raise OptionError(
            f"restore: balance must fit float32 where the PSF is near 1 (largest {LARGEST:.4g}), got {balance:g} for a "
            f"PSF up to {np.abs(weights).max():.3g}"
        )
    return Model((rows, columns), kernel, (centre[0], centre[1]), scaled, device)


def _largest(name: str, value: Any) -> float:
    """Return the largest magnitude; raise if it is not finite, as it may be for an Array. Synchronises for an Array."""
    largest = float(abs(value).max())
    if not np.isfinite(largest):
        raise NonFiniteError(f"restore: {name} must not hold NaN or infinity, got an Array that does")
    return largest


def _scaled(value: Any, exponent: int) -> Any:
    """Multiply by a power of two, which rounds nothing but what leaves float32's normal numbers."""
    if not exponent:
        return value
    if isinstance(value, Array):
        half = exponent // 2  # the whole power may not fit float32
        return value * np.float32(2.0**half) * np.float32(2.0 ** (exponent - half))
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(value.astype(np.float64), exponent).astype(np.float32)


def _checked_psf(psf: Any, shape: tuple[int, ...]) -> Float32:
    weights = as_float32("restore", "psf", psf.numpy() if isinstance(psf, Array) else psf)
    if len(shape) not in (2, 3) or 0 in shape:
        raise ShapeError(f"restore: image must be (rows, columns) or (rows, columns, channels), got shape {shape}")
    if weights.ndim != 2 or weights.size == 0:
        raise ShapeError(f"restore: psf must be two-dimensional and not empty, got shape {weights.shape}")
    if weights.shape[0] > shape[0] or weights.shape[1] > shape[1]:
        raise ShapeError(
            f"restore: psf must have no more rows and columns than the image, got psf {weights.shape} and image {shape}"
        )
    return weights


def _must_fit(model: Model) -> None:
    most = 2 * model.device.limits.texture_size
    if model.pixels > most:
        raise LimitError(
            f"restore: an image may have {most} pixels on this device with this variant, got {model.pixels}; restore "
            "it in overlapping parts, or by a PSF that is a column times a row",
            model.pixels,
            most,
        )


def _must_be_narrow(model: Model) -> None:
    rows, columns = model.kernel.shape
    if restoration.too_wide((rows, columns)):
        raise LimitError(
            f"restore: a PSF may have {restoration.TRIPS // 4} weights with this variant, got {rows} x {columns}; "
            "cut off what is next to nothing, or take one that is a column times a row",
            rows * columns,
            restoration.TRIPS // 4,
        )


@contextmanager
def _explained(balance: float) -> Iterator[None]:
    """Add a remedy to the error of a system that is singular to float32."""
    try:
        yield
    except (NotPositiveDefiniteError, SingularMatrixError) as error:
        raise NotPositiveDefiniteError(
            f"restore: H^T H + balance I is singular to float32 with balance={balance:g}, as the PSF extinguishes some "
            f"patterns; pass a larger balance, such as {max(1e-4, 10 * balance):g} ({error})"
        ) from None
