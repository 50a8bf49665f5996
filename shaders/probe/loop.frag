// 1 + 1 + ... + 1, `trips` times: how often a loop really goes round
//
// The summand is fetched, so that the compiler cannot know the sum beforehand.
//
// A fragment computes one count.
// unit   1 x 1, holds 1
// Cost per fragment: 1 fetch and 1 flop per trip.

uniform sampler2D unit;
uniform int trips;

layout(location = 0) out float count;

void main() {
    count = 0.0;
    for (int k = 0; k < trips; ++k) {
        count += texelFetch(unit, ivec2(k >> 30, 0), 0).r;
    }
}
