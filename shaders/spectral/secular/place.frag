// The position of each index in the order of its block: the inverse of secular/order.frag.
//
// A fragment counts, by bisection, the values of the other part that come before its own.
// L   texel i = (value, ...)
// Cost per fragment: 1 fetch per trip, log2 s + 1 trips; 1 fetch more.

#include "spectral/secular/block.glsl"

uniform sampler2D L;

layout(location = 0) out vec4 P;

void main() {
    int i = int(gl_FragCoord.x);
    Block b = block_of(i);
    float own = line(L, i).r;
    bool first = i < b.mid;
    int base = first ? b.mid : b.start, low = base, high = first ? b.end : b.mid;
    while (low < high) {
        int half_way = (low + high) / 2;
        float other = line(L, half_way).r;
        if (first ? other < own : other <= own) low = half_way + 1;
        else high = half_way;
    }
    P = vec4(float(i - (first ? 0 : b.mid - b.start) + low - base), 0.0, 0.0, 0.0);
}
