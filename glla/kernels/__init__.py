"""Kernels: one file for each operation, pure functions from shapes and options to a plan."""
