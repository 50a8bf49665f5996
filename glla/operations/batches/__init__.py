"""Batches of matrices: their layout, the filter of rejected matrices, and batches that stay on the device."""
