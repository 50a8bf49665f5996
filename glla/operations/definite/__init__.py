"""Cholesky factors, and systems with positive definite matrices."""
