// Parts of order 1: d_i less both couplings, which the levels put back as T = (T_1, T_2) + |e| v v^T.
//
// A fragment computes one of them.
// T   texel i = (d_i, e_i, 0, 0)
// Cost per fragment: 2 fetches.
// Fetches: 2.
// Cuppen, "A divide and conquer method for the symmetric tridiagonal eigenproblem" (1981).

uniform sampler2D T;

layout(location = 0) out vec4 L;

void main() {
    int i = int(gl_FragCoord.x);
    vec2 own = texelFetch(T, ivec2(i, 0), 0).rg;
    float before = i == 0 ? 0.0 : abs(texelFetch(T, ivec2(max(i - 1, 0), 0), 0).g);
    L = vec4(own.r - before - abs(own.g), 0.0, 0.0, 0.0);
}
