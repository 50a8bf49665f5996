// Deflation: poles within the tolerance of a leader form a group, and a reflector I - 2 w w^T takes their z to the leader:
// (d, z, w, leader). A pole whose z is zero then is an eigenvalue as it is.
//
// Nothing is removed, so that no size depends on values. A fragment looks for its leader from the start of its block on,
// and then over its group.
// S   poles (secular/order.frag)      T   (d, e)      tolerance
// Cost per fragment: 1 fetch per trip, at most twice the order of the block.
// Dongarra and Sorensen 1987; a reflector in place of their rotations, one after the other.

#include "lib/root.glsl"
#include "spectral/secular/block.glsl"

uniform sampler2D S;
uniform sampler2D T;
uniform sampler2D tolerance;

layout(location = 0) out vec4 G;

void main() {
    int p = int(gl_FragCoord.x), leader = block_of(p).start, count = 0;
    Block b = block_of(p);
    float most = line(tolerance, 0).r, sum = 0.0;
    vec4 own = line(S, p), lead = line(S, b.start);
    for (int j = b.start + 1; j <= p; ++j) {
        vec4 pole = line(S, j);
        if (pole.r - lead.r > most) {
            leader = j;
            lead = pole;
        }
    }
    for (int j = leader; j < b.end; ++j) {
        vec4 pole = line(S, j);
        if (pole.r - lead.r > most) break;
        sum += pole.g * pole.g;
        ++count;
    }
    float z = own.g, w = 0.0;
    if (count > 1 && sum > 0.0) {
        float size = root(sum), along = lead.g < 0.0 ? -size : size;
        w = (own.g + (p == leader ? along : 0.0)) / root(2.0 * size * (size + abs(lead.g)));
        z = p == leader ? -along : 0.0;
    }
    if (!(abs(coupling(T, b)) * abs(z) > most)) z = 0.0;
    G = vec4(own.r, z, w, float(leader));
}
