"""The functions of glla as methods. Written by ``python -m glla.generate``; do not edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from glla import linalg
from glla.array.convert import Array
from glla.gl import DeviceLike
from glla.linalg.results import PLU, RREF, QRResult, RefinedSolution, SlogdetResult
from glla.queue.pending import Pending


class Methods:
    """The functions of glla, queued."""

    def _queue(self, function: Callable[..., Any], /, *operands: Any, **options: Any) -> Pending[Any]:
        """Queue one of them."""
        raise NotImplementedError

    def cho_factor(
        self,
        a: Any,
        lower: bool = False,
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[tuple[Array, bool]]:
        """Cholesky factor for `cho_solve`, with the semantics of `scipy.linalg.cho_factor`.

        Queued; see `glla.cho_factor`.
        """
        return self._queue(linalg.cho_factor, a, lower=lower, variant=variant, device=device, check_finite=check_finite)

    def cho_solve(
        self, c_and_lower: Any, b: Any, *, device: DeviceLike | None = None, check_finite: bool = True
    ) -> Pending[Array]:
        """Solve A x = b from the Cholesky factor of A, as `scipy.linalg.cho_solve`.

        Queued; see `glla.cho_solve`.
        """
        return self._queue(linalg.cho_solve, c_and_lower, b, device=device, check_finite=check_finite)

    def cho_solve_banded(
        self,
        cb_and_lower: Any,
        b: Any,
        overwrite_b: bool = False,
        check_finite: bool = True,
        *,
        device: DeviceLike | None = None,
    ) -> Pending[Array]:
        """Solve A x = b from the Cholesky factor of a band, as `scipy.linalg.cho_solve_banded`.

        Queued; see `glla.cho_solve_banded`.
        """
        return self._queue(
            linalg.cho_solve_banded, cb_and_lower, b, overwrite_b=overwrite_b, check_finite=check_finite, device=device
        )

    def cholesky(
        self,
        a: Any,
        *,
        upper: bool = False,
        lower: None = None,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array]:
        """Cholesky factor with the semantics of `numpy.linalg.cholesky`: A = L L^T.

        Queued; see `glla.cholesky`.
        """
        return self._queue(
            linalg.cholesky, a, upper=upper, lower=lower, variant=variant, device=device, check_finite=check_finite
        )

    def cholesky_banded(
        self,
        ab: Any,
        *,
        lower: bool = False,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array]:
        """Cholesky factor of a banded matrix in LAPACK's storage, with the semantics of `scipy.linalg.cholesky_banded`.

        Queued; see `glla.cholesky_banded`.
        """
        return self._queue(
            linalg.cholesky_banded, ab, lower=lower, variant=variant, device=device, check_finite=check_finite
        )

    def det(
        self, a: Any, *, device: DeviceLike | None = None, check_finite: bool = True
    ) -> Pending[np.float32 | Array]:
        """Determinant, as `numpy.linalg.det`.

        Queued; see `glla.det`.
        """
        return self._queue(linalg.det, a, device=device, check_finite=check_finite)

    def inv(
        self,
        a: Any,
        *,
        assume_a: str = "gen",
        lower: bool = False,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array]:
        """Inverse with the semantics of `numpy.linalg.inv`.

        Queued; see `glla.inv`.
        """
        return self._queue(
            linalg.inv, a, assume_a=assume_a, lower=lower, variant=variant, device=device, check_finite=check_finite
        )

    def lstsq(
        self,
        a: Any,
        b: Any,
        rcond: float | None = None,
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[tuple[Array, Array, int, Array]]:
        """Least-squares solution of A x = b, of least norm, with the semantics of `numpy.linalg.lstsq`.

        Queued; see `glla.lstsq`.
        """
        return self._queue(linalg.lstsq, a, b, rcond=rcond, variant=variant, device=device, check_finite=check_finite)

    def lu_factor(
        self,
        a: Any,
        pivoting: str = "partial",
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[tuple[Array, NDArray[np.int32]]]:
        """Packed PLU factors and LAPACK's pivots, as `scipy.linalg.lu_factor`.

        Queued; see `glla.lu_factor`.
        """
        return self._queue(
            linalg.lu_factor, a, pivoting=pivoting, variant=variant, device=device, check_finite=check_finite
        )

    def lu_solve(
        self, lu_and_piv: Any, b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True
    ) -> Pending[Array]:
        """Solve A x = b from the factors of A, as `scipy.linalg.lu_solve`.

        Queued; see `glla.lu_solve`.
        """
        return self._queue(linalg.lu_solve, lu_and_piv, b, trans=trans, device=device, check_finite=check_finite)

    def matmul(
        self,
        a: Any,
        b: Any,
        *,
        out: Any = None,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array]:
        """Matrix product with the semantics of `numpy.matmul`.

        Queued; see `glla.matmul`.
        """
        return self._queue(linalg.matmul, a, b, out=out, variant=variant, device=device, check_finite=check_finite)

    def plu(
        self,
        a: Any,
        pivoting: str = "partial",
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[PLU[Array]]:
        """PLU factorisation A = P @ L @ U, as `scipy.linalg.lu`.

        Queued; see `glla.plu`.
        """
        return self._queue(linalg.plu, a, pivoting=pivoting, variant=variant, device=device, check_finite=check_finite)

    def qr(
        self,
        a: Any,
        mode: str = "reduced",
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[QRResult[Array] | Array | tuple[Array, Array]]:
        """QR factorisation A = Q R with the semantics of `numpy.linalg.qr`.

        Queued; see `glla.qr`.
        """
        return self._queue(linalg.qr, a, mode=mode, variant=variant, device=device, check_finite=check_finite)

    def rcond(
        self, a: Any, *, device: DeviceLike | None = None, check_finite: bool = True
    ) -> Pending[np.float32 | Array]:
        """Reciprocal condition number in the 1-norm, as LAPACK's `getrf` and `gecon` estimate it.

        Queued; see `glla.rcond`.
        """
        return self._queue(linalg.rcond, a, device=device, check_finite=check_finite)

    def rref(
        self,
        a: Any,
        tol: float | None = None,
        pivoting: str = "harmonic",
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[RREF[Array]]:
        """Reduced row echelon form and pivot columns.

        Queued; see `glla.rref`.
        """
        return self._queue(
            linalg.rref, a, tol=tol, pivoting=pivoting, variant=variant, device=device, check_finite=check_finite
        )

    def slogdet(
        self, a: Any, *, device: DeviceLike | None = None, check_finite: bool = True
    ) -> Pending[SlogdetResult[Array]]:
        """Sign and logarithm of the determinant, as `numpy.linalg.slogdet`.

        Queued; see `glla.slogdet`.
        """
        return self._queue(linalg.slogdet, a, device=device, check_finite=check_finite)

    @overload
    def solve(
        self,
        a: Any,
        b: Any,
        refine: Literal[True],
        equilibrate: bool = True,
        *,
        assume_a: str = "gen",
        lower: bool = False,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[RefinedSolution]: ...

    @overload
    def solve(
        self,
        a: Any,
        b: Any,
        refine: Literal[False] = False,
        equilibrate: bool = True,
        *,
        assume_a: str = "gen",
        lower: bool = False,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array]: ...

    @overload
    def solve(
        self,
        a: Any,
        b: Any,
        refine: bool = False,
        equilibrate: bool = True,
        *,
        assume_a: str = "gen",
        lower: bool = False,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Array | RefinedSolution]: ...

    def solve(
        self,
        a: Any,
        b: Any,
        refine: bool = False,
        equilibrate: bool = True,
        *,
        assume_a: str = "gen",
        lower: bool = False,
        device: DeviceLike | None = None,
        check_finite: bool = True,
    ) -> Pending[Any]:
        """Solve A x = b with the semantics of `numpy.linalg.solve`.

        Queued; see `glla.solve`.
        """
        return self._queue(
            linalg.solve,
            a,
            b,
            refine=refine,
            equilibrate=equilibrate,
            assume_a=assume_a,
            lower=lower,
            device=device,
            check_finite=check_finite,
        )

    def solve_banded(
        self,
        l_and_u: tuple[int, int],
        ab: Any,
        b: Any,
        overwrite_ab: bool = False,
        overwrite_b: bool = False,
        check_finite: bool = True,
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
    ) -> Pending[Array]:
        """Solve A x = b for a matrix in bands, as `scipy.linalg.solve_banded`.

        Queued; see `glla.solve_banded`.
        """
        return self._queue(
            linalg.solve_banded,
            l_and_u,
            ab,
            b,
            overwrite_ab=overwrite_ab,
            overwrite_b=overwrite_b,
            check_finite=check_finite,
            variant=variant,
            device=device,
        )

    def solve_triangular(
        self,
        a: Any,
        b: Any,
        trans: int | str = 0,
        lower: bool = False,
        unit_diagonal: bool = False,
        overwrite_b: bool = False,
        check_finite: bool = True,
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
    ) -> Pending[Array]:
        """Solve a x = b for a triangular matrix, as `scipy.linalg.solve_triangular`.

        Queued; see `glla.solve_triangular`.
        """
        return self._queue(
            linalg.solve_triangular,
            a,
            b,
            trans=trans,
            lower=lower,
            unit_diagonal=unit_diagonal,
            overwrite_b=overwrite_b,
            check_finite=check_finite,
            variant=variant,
            device=device,
        )

    def solveh_banded(
        self,
        ab: Any,
        b: Any,
        overwrite_ab: bool = False,
        overwrite_b: bool = False,
        lower: bool = False,
        check_finite: bool = True,
        *,
        variant: str | None = None,
        device: DeviceLike | None = None,
    ) -> Pending[Array]:
        """Solve A x = b for a symmetric positive definite matrix in bands, as `scipy.linalg.solveh_banded`.

        Queued; see `glla.solveh_banded`.
        """
        return self._queue(
            linalg.solveh_banded,
            ab,
            b,
            overwrite_ab=overwrite_ab,
            overwrite_b=overwrite_b,
            lower=lower,
            check_finite=check_finite,
            variant=variant,
            device=device,
        )
