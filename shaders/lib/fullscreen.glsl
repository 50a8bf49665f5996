// For vertex shaders: one triangle, larger than the target, so that every texel of the viewport is exactly one fragment.
//
//   corner 0 (-1,-1)   corner 1 (3,-1)   corner 2 (-1,3)
//
// A quad would be two triangles, and the fragments along their common edge would be shaded in half-empty groups.
// The corners come from gl_VertexID: there is no vertex buffer. A pass may carry a number, its `step`, without a uniform
// (setting one costs about as much as a draw): the draw starts at vertex 3 step. WebGL has it as a uniform, because
// browsers on Direct3D were seen to count vertices from 0 whatever the first one is (KhronosGroup/WebGL#2770).

vec4 triangle_corner() {
    int corner = gl_VertexID % 3;
    return vec4(corner == 1 ? 3.0 : -1.0, corner == 2 ? 3.0 : -1.0, 0.0, 1.0);
}

#ifdef GL_ES
uniform int number_of_step;

int step_of_pass() {
    return number_of_step;
}
#else
int step_of_pass() {
    return gl_VertexID / 3;
}
#endif
