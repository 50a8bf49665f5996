// (1000 y + x, (A_r, A_g, A_b, A_a) . (1, 2, 3, 4), 100 ((7 x + 3 y) / 5) + (7 x + 3 y) % 5, 2^24 - 1 - x):
// numbers whose values are known
//
// Every other shader relies on this: that a fragment knows its texel and fetches that very texel, that
// integers divide as integers do, and that a target keeps all 24 bits, unclamped. All four numbers are integers that
// float32 holds exactly.
//
// A fragment computes the four numbers of its texel (x, y).
// A   any size, four integers per texel
// Cost per fragment: 1 fetch.

uniform sampler2D A;

layout(location = 0) out vec4 answers;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 a = texelFetch(A, texel, 0);
    float sum = a.r;
    sum += 2.0 * a.g;
    sum += 3.0 * a.b;
    sum += 4.0 * a.a;
    int mixed = 7 * texel.x + 3 * texel.y;
    answers = vec4(1000 * texel.y + texel.x, sum, 100 * (mixed / 5) + mixed % 5, 16777215 - texel.x);
}
