// T from its diagonals: texel i = (d_i, e_i, 0, 0).
//
// A fragment computes one texel.
// d, e   columns, packed: the diagonal, of n entries, and the one beside it
// Cost per fragment: 2 fetches.
// Fetches: 2.

uniform sampler2D d;
uniform sampler2D e;
uniform int n;

layout(location = 0) out vec4 T;

float entry(vec4 texel, int i) {
    return (i & 1) == 0 ? texel.r : texel.b;
}

void main() {
    int i = int(gl_FragCoord.x);
    float own = entry(texelFetch(d, ivec2(0, i >> 1), 0), i);
    float beside = entry(texelFetch(e, ivec2(0, min(i, max(n - 2, 0)) >> 1), 0), i);
    T = vec4(own, i + 1 < n ? beside : 0.0, 0.0, 0.0);
}
