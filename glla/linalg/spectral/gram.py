"""Singular values by the eigenvalues of A^T A: as fast as a product, and as inaccurate as a square.

A 2^-e --> G = A^T A --> G V = V diag(w), w descending --> s = sqrt(w) 2^e, U = A V diag(1 / s)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import NonFiniteError, OptionError
from glla.linalg.operands import turned
from glla.linalg.products import matmul
from glla.linalg.spectral.symmetric import eigh, eigvalsh
from glla.operations.host.scaling import exponents


def by_gram(function: str, a: Float32 | Array, results: tuple[str, ...], full: bool, **options: Any) -> dict[str, Any]:
    """Give the factors, or the values alone, of matrices that are not empty: see `svd`.

    The largest entry of each column of U is positive, and columns of U are zero where s is.
    """
    m, n = a.shape[-2:]
    if full and m != n:
        raise OptionError(f'{function}: variant="gram" makes no square U and Vh: pass full_matrices=False')
    tall: Any = turned(a) if m < n else a
    largest = np.asarray(abs(tall).max(axis=(-2, -1), keepdims=True))
    up = np.ldexp(np.float32(1), np.clip(exponents(largest), -126, 126)).astype(np.float32)
    tall = tall * (1 / up)
    gram = matmul(turned(tall), tall, **options)
    found: Any = (eigvalsh(gram, **options), None) if results == ("S",) else eigh(gram, **options)
    w, v = found
    s = np.sqrt(np.maximum(w[..., ::-1], np.float32(0)))
    with np.errstate(over="ignore"):
        scaled = s * up[..., 0]
    if options["check_finite"] and not np.isfinite(np.asarray(scaled)).all():
        raise NonFiniteError(f"{function}: a singular value does not fit float32; divide A by a power of two")
    if v is None:
        return {"S": scaled}
    v = v[..., ::-1]
    inverse = np.where(s > 0, 1 / np.where(s > 0, s, np.float32(1)), np.float32(0))
    u: Any = matmul(tall, v, **options) * inverse[..., np.newaxis, :]
    left, right = (v, turned(u)) if m < n else (u, turned(v))
    left, right = signed(left, right)
    return {"U": left, "S": scaled, "Vh": right}


def signed(left: Any, right: Any) -> tuple[Any, Any]:
    """Turn columns of U and rows of Vh so that the largest entry of each column of U is positive."""
    largest = np.take_along_axis(left, np.abs(left).argmax(axis=-2)[..., np.newaxis, :], -2)
    signs: Any = np.where(largest < 0, np.float32(-1), np.float32(1))
    return left * signs, right * turned(signs)
