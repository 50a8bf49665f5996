"""
The rank is exact
=================

``rref`` decides the rank of a matrix of integers exactly. ``numpy.linalg.matrix_rank`` decides by singular values in
float64, and is wrong for this one.
"""

# %%
import numpy as np

import glla

L = np.array([[1, 0, 0], [1000, 1, 0], [999, 1001, 1]])
U = np.array([[1, 1000, 998], [0, 1, 1003], [0, 0, 1]])
A = L @ U
print(A)

# %%
# The determinant of A is 1, since L and U have ones on their diagonals.

R, pivots = glla.rref(A)
print("by rref:", len(pivots), "  by singular values:", np.linalg.matrix_rank(A))

# %%
# A matrix that really is deficient: the last column is the sum of the others.

B = np.column_stack([A[:, :2], A[:, 0] + A[:, 1]])
assert pivots == (0, 1, 2)
assert glla.rref(B).pivots == (0, 1)
