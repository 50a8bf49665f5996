"""The public functions of eigenvalues."""
