"""A few eigenvalues and singular values of sparse matrices. Read `subspace`, then `pairs`."""
