// One triangle, larger than the target, so that every texel of the viewport becomes exactly one fragment.
//
//   vertex 0 (-1,-1)   vertex 1 (3,-1)   vertex 2 (-1,3)
//
// A quad would be two triangles, and the fragments along their common edge would be shaded in half-empty groups.
// The corners come from gl_VertexID: there is no vertex buffer.

void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
