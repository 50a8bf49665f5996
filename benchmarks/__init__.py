"""Benchmarks of glla: verify, then time; see `benchmarks.__main__`."""
