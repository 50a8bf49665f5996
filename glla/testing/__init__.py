"""Test matrices by type, references in float64 and exact arithmetic, and judges, which compare results with bounds.

It needs no GPU and only NumPy:

* `glla.testing.matrices`: a function for each type of matrix, listed in `MATRICES`; `SHAPES` and `PRODUCT_SHAPES` are
  critical sizes for packing and tiling. `glla.testing.adversaries`: critical matrices for elimination;
* `glla.testing.references`: `product`, `exact_rref`, `unpack_lu`, `permutation_from_piv`;
* `glla.testing.bounds`: ``judge_*`` compares a result with a bound and returns a `Verdict`; ``assert_*`` is the same
  and raises AssertionError; ``residual_*`` is the bare number;
* `glla.testing.judges`: `JUDGES`, the judge of each public function.

No judge has a relative tolerance. A tolerance such as 1e-3 accepts a product of length 1024 that lost a term and
rejects a good result whose inputs were scaled; a bound that is derived from the operands does neither. Before the
comparison, a result must be an array, of the right shape, of the right dtype, and free of NaN and infinity.

Throughout, ``u = 2**-24`` is the unit roundoff of float32, `ROUNDOFF`.

Examples
--------
>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> a, b = uniform(40, 1024, rng), uniform(1024, 30, rng)
>>> assert_product(a @ b, a, b)
>>> lost = a[:, 1:] @ b[1:]
>>> judge_product(lost, a, b).ok
False
"""

from __future__ import annotations

from glla.testing.bounds import (
    RESIDUAL_LIMIT,
    ROUNDOFF,
    SMALLEST_NORMAL,
    BackwardError,
    assert_exact,
    assert_inverse,
    assert_plu,
    assert_product,
    assert_rref,
    assert_rref_exact,
    assert_solve,
    backward_error,
    judge_exact,
    judge_inverse,
    judge_plu,
    judge_product,
    judge_rref,
    judge_rref_exact,
    judge_solve,
    product_ratios,
    residual_inverse,
    residual_plu,
    residual_rref,
    residual_solve,
)
from glla.testing.judges import JUDGES, Judge, PackedFactors
from glla.testing.matrices import (
    MATRICES,
    NONSINGULAR,
    PRODUCT_SHAPES,
    SHAPES,
    SIZES,
    Maker,
    antidiagonal,
    bad_pairs,
    conditioned,
    diagonal,
    embedded,
    graded,
    hilbert,
    huge,
    identity,
    integers,
    lower,
    normal,
    ones,
    permutation,
    product_shapes,
    shapes,
    singular,
    sizes,
    spd,
    swapped_pairs,
    tiny,
    toeplitz,
    uniform,
    upper,
    wilkinson_growth,
    zeros,
)
from glla.testing.references import Array, Float32, Float64, exact_rref, permutation_from_piv, product, unpack_lu
from glla.testing.verdicts import BoundWarning, Verdict

__all__ = [
    "JUDGES", "MATRICES", "NONSINGULAR", "PRODUCT_SHAPES", "RESIDUAL_LIMIT", "ROUNDOFF", "SHAPES", "SIZES",
    "SMALLEST_NORMAL", "Array", "BackwardError", "BoundWarning", "Float32", "Float64", "Judge", "Maker",
    "PackedFactors", "Verdict", "antidiagonal", "assert_exact", "assert_inverse", "assert_plu", "assert_product",
    "assert_rref", "assert_rref_exact", "assert_solve", "backward_error", "bad_pairs", "conditioned", "diagonal",
    "embedded", "exact_rref", "graded", "hilbert", "huge", "identity", "integers", "judge_exact", "judge_inverse",
    "judge_plu", "judge_product", "judge_rref", "judge_rref_exact", "judge_solve", "lower", "normal", "ones",
    "permutation", "permutation_from_piv", "product", "product_ratios", "product_shapes", "residual_inverse",
    "residual_plu", "residual_rref", "residual_solve", "shapes", "singular", "sizes", "spd", "swapped_pairs", "tiny",
    "toeplitz", "uniform", "unpack_lu", "upper", "wilkinson_growth", "zeros",
]  # fmt: skip
