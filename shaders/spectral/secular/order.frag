// Poles of each block in ascending order, out of the ascending values of its two parts: (d, z, index it had, 0).
//
// z holds the last row of Q_1 and the first of Q_2 (with the sign of the coupling): the vector of the rank-1 change. It is
// zero where the coupling is below the tolerance, which is tested before anything is squared.
// A fragment finds the pole at its own position by bisection: how many of those before it come from the first part.
// L   texel i = (value, ...)      Q   vectors of the parts, packed, block-diagonal      T   (d, e)      tolerance
// Cost per fragment: 2 fetches per trip, log2 s + 1 trips; 4 or 5 fetches more.
// Odeh, Green, Mwassi, Shmueli and Birk, "Merge path: parallel merging made simple" (2012); Cuppen 1981.

#include "spectral/secular/block.glsl"

uniform sampler2D L;
uniform sampler2D Q;
uniform sampler2D T;
uniform sampler2D tolerance;

layout(location = 0) out vec4 S;

float element(int i, int j) {
    vec4 block = texelFetch(Q, ivec2(j >> 1, i >> 1), 0);
    vec2 row = (i & 1) == 0 ? block.rg : block.ba;
    return (j & 1) == 0 ? row.x : row.y;
}

void main() {
    int p = int(gl_FragCoord.x);
    Block b = block_of(p);
    int t = p - b.start, low = max(0, p - b.start - (b.end - b.mid)), high = min(t, b.mid - b.start);
    while (low < high) {
        int half_way = (low + high) / 2;
        if (line(L, b.start + half_way).r <= line(L, b.mid + t - half_way - 1).r) low = half_way + 1;
        else high = half_way;
    }
    int one = b.start + low, other = b.mid + t - low;
    bool first = one < b.mid && (other >= b.end || line(L, one).r <= line(L, other).r);
    int from = first ? one : other;
    float e = coupling(T, b), z = 0.0;
    if (b.mid < b.end) z = from < b.mid ? element(b.mid - 1, from) : (e < 0.0 ? -1.0 : 1.0) * element(b.mid, from);
    if (!(abs(e) * abs(z) > line(tolerance, 0).r)) z = 0.0;
    S = vec4(line(L, from).r, z, float(from), 0.0);
}
