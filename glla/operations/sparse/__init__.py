"""Sparse matrices: how they lie in textures, and the plans that multiply and solve with them.

Read `compressed` first, rows as the host has them; then `layout`, what all formats share, and a format each in
`diagonals`, `stencil`, `circular`, `pointers`, `points`, `blocks`, and `tiles` with `sell`. `spmv` is the record of the
product.
"""
