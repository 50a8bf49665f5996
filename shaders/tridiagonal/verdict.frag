// How many systems are rejected: one whose solution is not accepted by its diagnostics (error, left, rhs, x).
//
//     good = error <= bounds.error, left >= bounds.left, rhs zero or within `normal`,
//              and x <= ratio rhs unless the rows are dominant: left > dominant
//
// A fragment looks at `chunk` systems; with FOLD it adds up as many counts of the pass before.
// F          a texel of diagnostics for each system; FOLD: `across` x `down` counts
// rejected   a count for each chunk
// Cost per fragment: chunk fetches.
// Oettli and Prager 1964, for the error.

#ifndef FOLD
#define FOLD 0  // look at diagnostics (0), or at counts (1)
#endif

uniform sampler2D F;
uniform int count;     // systems, or counts of the pass before
uniform int chunk;     // of them for one fragment
#if FOLD == 0
uniform vec2 bounds;   // largest error, least that is left
uniform vec2 normal;   // least and largest right side
uniform vec2 regular;  // above the first one rows are dominant; largest ratio of x to the right side
#endif

layout(location = 0) out vec4 rejected;

#if FOLD == 0
float counted(vec4 found) {
    bool good = found.r <= bounds.x && found.g >= bounds.y;
    good = good && (found.b == 0.0 || (found.b >= normal.x && found.b <= normal.y));
    good = good && (found.g > regular.x || found.a <= regular.y * found.b);
    return good ? 0.0 : 1.0;
}
#else
float counted(vec4 found) {
    return found.r;
}
#endif

void main() {
    int width = textureSize(F, 0).x;
    int first = int(gl_FragCoord.x) * chunk;
    int end = min(first + chunk, count);
    float sum = 0.0;
    for (int place = first; place < end; ++place) {
        int y = place / width;
        sum += counted(texelFetch(F, ivec2(place - y * width, y), 0));
    }
    rejected = vec4(sum, 0.0, 0.0, 0.0);
}
