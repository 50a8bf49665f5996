"""Eigenvalues and eigenvectors of symmetric matrices: `eigh`, and its parts in the order of its passes.

`symmetric` (the named triangle, scaled), `tridiagonal_form` (by reflectors), `secular` (divide and conquer),
`certificate` (the result judged). The reflectors are applied to the vectors by the passes of QR.
"""
