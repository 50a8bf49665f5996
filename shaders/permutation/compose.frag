// after[x](i) = first[x](first[x + distance](i)): one round of the composition of exchanges, each with all those after it.
//
// In column x are the exchanges of panels x to x + distance - 1, and then of twice as many. A round doubles their number,
// so log2 of the panels are enough, where each panel by itself would wait for the one behind.
// A fragment computes the answer for two rows.
// first   columns of texels (permutation/trace.frag)
// Fetches: 1 to 3.

uniform sampler2D first;
uniform int distance;

layout(location = 0) out vec4 after;

float before(int i, int x) {
    vec4 pair = texelFetch(first, ivec2(x, i >> 1), 0);
    return (i & 1) == 0 ? pair.r : pair.g;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int later = min(texel.x + distance, textureSize(first, 0).x - 1);
    ivec2 row = ivec2(texelFetch(first, ivec2(later, texel.y), 0).rg);
    after = vec4(before(row.x, texel.x), before(row.y, texel.x), 0.0, 0.0);
}
