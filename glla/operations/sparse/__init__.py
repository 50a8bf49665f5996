"""Sparse matrices: their layouts in textures, and the plans that multiply and solve with them.

Read `compressed` first, the rows on the host; then `layout`, common to all formats, and the formats in `diagonals`,
`stencil`, `circular`, `pointers`, `points`, `blocks`, and `tiles` with `sell`. `spmv` is the product's record.
"""
