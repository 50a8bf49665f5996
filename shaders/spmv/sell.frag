// y[i] = sum over the entries of row i: rows in slices, each as wide as its longest row.
//
// A fragment computes four consecutive rows, the channels of its texels. A slice is SLICE texels of rows; entry number j
// of all of them stands together, so that neighbouring fragments fetch neighbouring texels. Shorter rows end in zeros.
// A       entries: texel `first + j SLICE + (own texel in the slice)`        places  of the elements of x, likewise
// slices  (first texel, longest row) of each        x, y  wrapped        before  CONTINUE: the sum over earlier entries
// Cost per fragment: 1 fetch, and 6 and 8 flop for an entry of the longest row.
// Fetches: 0 to 1 + CONTINUE + 6 * trips_y - 6 * trips_x.
// Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units" (2014), section 3.

#ifndef SLICE
#define SLICE 8  // texels of rows in a slice
#endif
#ifndef SLICES
#define SLICES 1  // slices
#endif
#ifndef SLICES_WIDTH
#define SLICES_WIDTH 1  // texels in a row of `slices`
#endif
#ifndef A_WIDTH
#define A_WIDTH 1  // texels in a row of A
#endif
#ifndef CONTINUE
#define CONTINUE 0  // go on from `before` (0, 1)
#endif

uniform sampler2D A;
uniform isampler2D places;
uniform isampler2D slices;
uniform sampler2D x;
#if CONTINUE
uniform sampler2D before;
#endif
uniform ivec2 trips;  // first entry of this pass, and the one behind its last

layout(location = 0) out vec4 y;

#include "lib/sparse.glsl"

void main() {
    int t = own_texel();
    int slice = t / SLICE;
    y = vec4(0.0);
    if (slice >= SLICES) return;
    ivec2 own = texelFetch(slices, place_of(slice, SLICES_WIDTH), 0).rg;
#if CONTINUE
    y = texelFetch(before, ivec2(gl_FragCoord.xy), 0);
#endif
    int end = min(trips.y, own.g);
    int e = own.r + trips.x * SLICE + t - slice * SLICE;
    for (int j = trips.x; j < end; ++j) {
        ivec2 at = place_of(e, A_WIDTH);
        ivec4 place = texelFetch(places, at, 0);
        y += terms(texelFetch(A, at, 0), vec4(x_at(place.r), x_at(place.g), x_at(place.b), x_at(place.a)));
        e += SLICE;
    }
}
