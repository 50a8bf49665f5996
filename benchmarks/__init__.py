"""Benchmarks of glla: verify, then time; see `benchmarks.__main__`."""

STUDIES = {
    "operations": "every variant of every operation: verified, then timed, beside the CPU at its best",
    "sources": "variants of the authors of algorithms, the fast ones, and the CPU, side by side",
    "sparse": "sparse products, iterations, tridiagonal systems and shallow water, beside SciPy and LAPACK",
    "applications": "restoration and window squares beside the figures of their sources",
    "thesis": "the evaluation of the thesis, kept",
    "kernels": "the kernels of an author, one by one, and the passes that correspond to them",
    "differences": "squared differences of M M^T to a sequential sum",
    "exact": "exact factors of exact integer matrices, counted",
    "doubt": "figures that tell singular matrices from regular ones",
    "cliffs": "sizes at which an operation is suddenly slow",
    "tiled": "a product too large for the memory allowed, streamed in tiles",
    "hybrid": "systems shared by GPU and CPU, with every split",
    "overlap": "the CPU's rate beside a busy queue",
    "cluster": "one GPU against two: products, PLU and solutions over MPI",
    "manners": "memory that plans take, and the price of a small call",
    "readme": "write the README's table of speed",
}
"""Studies by name: each is a module with a `STUDY`, or a `main` where nothing is measured."""
