// 8 u max(|d_i|, |e_i|) of the whole of T: two poles that are closer, or a coupling that is smaller, are none.
//
// One fragment computes it.
// T   texel i = (d_i, e_i, 0, 0)
// Cost per fragment: n fetches.
// Fetches: n.
// Dongarra and Sorensen, "A fully parallel algorithm for the symmetric eigenvalue problem" (1987): deflation.

uniform sampler2D T;
uniform int n;

layout(location = 0) out vec4 tolerance;

void main() {
    vec2 most = vec2(0.0);
    for (int i = 0; i < n; ++i) most = max(most, abs(texelFetch(T, ivec2(i, 0), 0).rg));
    tolerance = vec4(4.76837158e-7 * max(most.x, most.y), 0.0, 0.0, 0.0);
}
