// Unknowns of all systems one after the other, from rows that end in padding: those of a system begin a texel there.
//
// A fragment computes a texel of the result: four neighbours, of one system, or of the end of one and the next.
// X        pitch texels for each system, four unknowns in each
// result   wrapped: n unknowns of each system
// Cost per fragment: 2 fetches, 4 where a system ends.
// Hockney, "A fast direct solution of Poisson's equation using Fourier analysis" (1965), for what comes before.

#include "tridiagonal/wrapped_places.glsl"

uniform sampler2D X;
uniform ivec4 lay;  // n, texels of X for each system, systems, texels in a row of `result`

layout(location = 0) out vec4 result;

// Four neighbours of X, from one element on.
vec4 neighbours(int place) {
    return from_element(texel(X, place >> 2), texel(X, (place >> 2) + 1), place & 3);
}

void main() {
    int place = 4 * (int(gl_FragCoord.y) * lay.w + int(gl_FragCoord.x));
    int system = whole_part(place, lay.x);
    int i = place - system * lay.x;
    int from = system * 4 * lay.y + i;
    vec4 four = neighbours(from);
    ivec4 after = i + ivec4(0, 1, 2, 3);
    if (i + 3 >= lay.x) four = mix(four, neighbours(from + 4 * lay.y - lay.x), greaterThanEqual(after, ivec4(lay.x)));
    bvec4 none = greaterThanEqual(system * lay.x + after, ivec4(lay.x * lay.z));
    result = mix(four, vec4(0.0), none);
}
