// S = (x, r, p, s) = (0, b, 0, 0): conjugate gradients start from zero.
//
// A fragment computes one cell.
// C   from `system`      S   four vectors, a texel for each cell
// Cost per fragment: 1 fetch.
// Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems" (1989).

uniform sampler2D C;

layout(location = 0) out vec4 S_ij;

void main() {
    S_ij = vec4(0.0, texelFetch(C, ivec2(gl_FragCoord.xy), 0).b, 0.0, 0.0);
}
