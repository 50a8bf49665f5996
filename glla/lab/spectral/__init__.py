"""Pictures of methods for eigenvalues."""
