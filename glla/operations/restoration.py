"""The linear model of a degraded image, g = H f, for images as columns of pixels, and its normal equations.

H is defined by a small kernel K: g[i] = sum over t of K[t] f[i + t - centre], with f zero outside of the image. H is
not formed, neither to apply it nor to compute H^T H + balance I.
"""

from __future__ import annotations

from glla.passes import Draft, Plan, Uniform, matrix, single_pass, wrapped
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

Index = tuple[int, int]

TRIPS = 65535
"""Total trips of all loops of a fragment after which llvmpipe ends them, without an error."""


def too_wide(psf: Shape) -> bool:
    """Whether a fragment, which sums over the kernel for four elements, could exceed `TRIPS`.

    >>> too_wide((127, 127)), too_wide((128, 128))
    (False, True)
    """
    return 4 * psf[0] * (psf[1] + 1) > TRIPS


def _kernel(shape: Shape, psf: Shape, centre: Index) -> dict[str, Uniform]:
    return {"image": shape, "kernel": psf, "centre": centre}


@cached_plan
def system(shape: Shape, psf: Shape = (3, 3), centre: Index = (1, 1)) -> Plan:
    """Plan of the system matrix ``H`` of images of a shape, from the kernel ``K``."""
    pixels, given = shape[0] * shape[1], {"K": matrix(psf)}
    made = {"H": matrix((pixels, pixels))}
    return single_pass("restoration_system", "restoration/system", given, made, _kernel(shape, psf, centre))


@cached_plan
def normal(shape: Shape, psf: Shape = (3, 3), centre: Index = (1, 1), balance: float = 0.0, band: bool = False) -> Plan:
    """Plan of ``N`` = H^T H + balance I, from the kernel ``K``: one pass.

    Or of its `band` ``ab``, as LAPACK stores the lower half, `diagonals` x n.
    """
    pixels, given = shape[0] * shape[1], {"K": matrix(psf)}
    name, size = ("ab", (diagonals(shape, psf), pixels)) if band else ("N", (pixels, pixels))
    uniforms: dict[str, Uniform] = {**_kernel(shape, psf, centre), "balance": balance, "shape": size}
    title, defines = f"restoration_normal{'_band' if band else ''}", {"BAND": int(band)}
    return single_pass(title, "restoration/normal", given, {name: matrix(size)}, uniforms, defines)


def diagonals(shape: Shape, psf: Shape = (3, 3)) -> int:
    """Diagonals of H^T H from its own down to the last one that is not zero, for images of a shape.

    >>> diagonals((64, 64), (3, 3))
    131
    """
    return min((psf[0] - 1) * shape[1] + psf[1], shape[0] * shape[1])


@cached_plan
def apply(shape: Shape, psf: Shape = (3, 3), centre: Index = (1, 1), columns: int = 1, adjoint: bool = False) -> Plan:
    """Plan of ``B`` = H F, or H^T F, for the images in the columns of ``F``."""
    size, defines = (shape[0] * shape[1], columns), {"ADJOINT": int(adjoint)}
    given, made = {"K": matrix(psf), "F": matrix(size)}, {"B": matrix(size)}
    uniforms: dict[str, Uniform] = {**_kernel(shape, psf, centre), "shape": size}
    flops = 2 * psf[0] * psf[1] * size[0] * columns
    return single_pass("restoration_apply", "restoration/apply", given, made, uniforms, defines, flops)


@cached_plan
def normal_stencil(
    shape: Shape, psf: Shape = (3, 3), centre: Index = (1, 1), balance: float = 0.0, side: int = 16384
) -> Plan:
    """Plan of ``y`` = (H^T H + balance I) x for one image as a vector that is linear in `side` texels: two passes.

    What `glla.sparse.linalg.LinearOperator` takes: its other operand is ``K``, the kernel row by row, linear, too.
    """
    pixels = shape[0] * shape[1]
    storage = wrapped(pixels, side)
    draft = Draft("restoration_normal_stencil")
    kernel, x = draft.operand("K", wrapped(psf[0] * psf[1], side)), draft.operand("x", storage)
    seen, y = draft.slot("H x", storage), draft.slot("y", storage)
    uniforms: dict[str, Uniform] = {**_kernel(shape, psf, centre), "width": storage.width}
    draft.draw("restoration/stencil", {"K": kernel, "x": x}, seen, uniforms, {"ADJOINT": 0})
    inputs = {"K": kernel, "x": seen, "v": x}
    draft.draw("restoration/stencil", inputs, y, {**uniforms, "balance": balance}, {"ADJOINT": 1})
    return draft.plan({"y": y}, 4 * psf[0] * psf[1] * pixels)


@cached_plan
def adjoint_stencil(shape: Shape, psf: Shape = (3, 3), centre: Index = (1, 1), side: int = 16384) -> Plan:
    """Plan of ``y`` = H^T x for such a vector."""
    storage = wrapped(shape[0] * shape[1], side)
    draft = Draft("restoration_adjoint_stencil")
    kernel, x = draft.operand("K", wrapped(psf[0] * psf[1], side)), draft.operand("x", storage)
    uniforms: dict[str, Uniform] = {**_kernel(shape, psf, centre), "width": storage.width, "balance": 0.0}
    made = draft.draw("restoration/stencil", {"K": kernel, "x": x, "v": x}, {"y": storage}, uniforms, {"ADJOINT": 1})
    return draft.plan(made, 2 * psf[0] * psf[1] * shape[0] * shape[1])
