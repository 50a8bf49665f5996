// one of two loops of multiply-adds, by the fragment's place: what it costs if neighbours take different branches
//
// Fragments of even columns of 2^shift texels take the one loop, those of odd ones the other. With shift = 0 neighbours
// differ; with columns of half the target nearly all groups of fragments are of one mind.
// rounds   of either loop
// shift    logarithm of the width of a column
// Cost per fragment: no fetches, 16 flop a round.
// Brodtkorb 2007: branching, section 2.2.5.

uniform int rounds;
uniform int shift;

layout(location = 0) out vec4 result;

void main() {
    vec4 s = vec4(1.0, 1.25, 1.5, 1.75) + fract(gl_FragCoord.y / 64.0);
    if (((int(gl_FragCoord.x) >> shift) & 1) == 0) {
        for (int round = 0; round < rounds; ++round) {
            s = s * 0.75 + 0.25;
            s = s.gbar * 1.125 - 0.125;
        }
    } else {
        for (int round = 0; round < rounds; ++round) {
            s = s * 0.625 + 0.5;
            s = s.abgr * 1.25 - 0.375;
        }
    }
    result = s;
}
