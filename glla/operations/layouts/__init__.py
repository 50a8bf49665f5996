"""Layouts of matrices: transfers, packing, blocks of a matrix, permutations, and checks of shapes."""
