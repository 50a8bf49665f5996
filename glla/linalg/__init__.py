"""The public functions: check the operands, choose the route, run the plan, check the results.

Every function takes arrays or `glla.Array`. Arrays in, arrays out; if an operand is an Array, matrices among the
results are Array too. Operands are not modified. Results are float32 unless said otherwise.

Read `operands` (accepted operands), `caller` (one call: batched, looped or streamed), `batches` (what a batch takes),
`execution` (from plan to plan, as the operations' `settle` decides), then the functions: `systems`, `triangular`,
`definite`, `banded`, `factorise`, `determinants`, `products`, `echelon`, `orthogonal`. ``glla.plan`` (`plans`) carries
out a call with an operand on the device on one that runs nothing, `recording`, and shows the plan of the route of
others. Also here: `tiling`, `streaming` and `spectral`.

``glla.solve`` of a batch on the device goes from `systems` to `caller.Caller`, `operations.routes.route` (batched or
looped), `batches.Batches`, `operations.batches.linear_batches` (the plan on the device), `retry.with_retry` beside it,
`operations.systems.solve.batched`, `operations.elimination.plu_batches.solve` and `pivot.rank2` (its passes), to the
shaders ``stack/search``, ``plu/rank2/eliminate`` and ``stack/substitute``. `operations.systems.solve.rejected_systems`
judges each matrix by its extremes, or those alone that ``stack/flag`` finds where diagnostics are many, and rejected
ones again by all entries. These go from `Batches._repair` to `operations.batches.retry`, and then one by one to
`operations.elimination.fallback`.

``glla.eigh`` goes from `spectral.symmetric` and `caller.Caller` to `operations.spectral.eigh.call_plan`. Its passes are
those of `symmetric`, `tridiagonal_form`, `secular` and `back` there; `certificate` judges the result, and a rejected
one is found again by another variant. Batches take `small`, up to order 5, or `jacobi`.
"""

from typing import TYPE_CHECKING

from glla.lazily import attach
from glla.linalg import public

if TYPE_CHECKING:
    from glla.linalg.plans import explain, plan
    from glla.linalg.public import *  # noqa: F403  # the functions: a list that is written by `python -m glla.generate`
    from glla.linalg.results import PLU, RREF, QRResult, RefinedSolution, SlogdetResult
    from glla.linalg.spectral.results import EighResult, SVDResult

PLACES = {
    **public.PLACES,
    "EighResult": "glla.linalg.spectral.results:EighResult",
    "PLU": "glla.linalg.results:PLU",
    "QRResult": "glla.linalg.results:QRResult",
    "RREF": "glla.linalg.results:RREF",
    "RefinedSolution": "glla.linalg.results:RefinedSolution",
    "SVDResult": "glla.linalg.spectral.results:SVDResult",
    "SlogdetResult": "glla.linalg.results:SlogdetResult",
    "explain": "glla.linalg.plans:explain",
    "plan": "glla.linalg.plans:plan",
}
"""Names that are imported when they are first used, each with its module."""

__getattr__, __dir__ = attach(__name__, PLACES)

__all__ = ["PLU", "RREF", "EighResult", "QRResult", "RefinedSolution", "SVDResult", "SlogdetResult", "explain", "plan"]
__all__ += public.__all__
