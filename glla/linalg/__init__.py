"""The public functions: check the operands, choose the way, run the plan, look at what it gives.

Every function takes arrays or `glla.Matrix`. Arrays in, arrays out; if an operand is a Matrix, the results that are
matrices are Matrix too. Nothing that is passed in is changed. Results are float32 unless said otherwise.

Read `operands` (what may come in), `routes` (together, one by one, or in tiles), then the functions: `products`,
`echelon`, `factorise`, `cholesky`, `orthogonal`, `triangular`, `definite`, `systems`, `determinants`. Behind them stand
`walk` (from plan to plan, as the operations' `settle` decides), `factors` (factors that stay on the device), and
`tiling`.
"""

from glla.linalg import public
from glla.linalg.plans import explain, plan
from glla.linalg.public import *  # noqa: F403  # the functions: a list that is written by `python -m glla.generate`
from glla.linalg.results import PLU, RREF, QRResult, RefinedSolution, SlogdetResult

__all__ = ["PLU", "RREF", "QRResult", "RefinedSolution", "SlogdetResult", "explain", "plan"]
__all__ += public.__all__
