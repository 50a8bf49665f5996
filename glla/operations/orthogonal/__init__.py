"""QR factors and least squares."""
