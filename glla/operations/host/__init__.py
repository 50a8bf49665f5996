"""Numerics of the host: pure functions of NumPy's arrays."""
