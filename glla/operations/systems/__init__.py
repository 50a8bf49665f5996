"""Systems with general matrices, inverses, determinants and condition numbers."""
