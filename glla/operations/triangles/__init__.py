"""Systems with triangles, and inverses of triangles."""
