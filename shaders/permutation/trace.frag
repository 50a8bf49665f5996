// Where does row i of the factored matrix come from? The row exchanges of all steps, undone one by one.
//
// A fragment computes the answer for two rows: (source of row 2y, source of row 2y+1, 0, 0).
// With INVERSE, where row i of the original went.
// pivots_even, pivots_odd   records of pivot/record.frag, alternating
// Cost per fragment: 1 fetch per trip, `steps` trips.

#ifndef INVERSE
#define INVERSE 0  // follow the rows forward instead (0, 1)
#endif

#include "lib/exchange.glsl"

uniform sampler2D pivots_even;
uniform sampler2D pivots_odd;
uniform int steps;

layout(location = 0) out vec4 rows;

ivec2 record_of(int k) {
    ivec2 slot = ivec2(k >> 1, 0);
    return ivec2(((k & 1) == 0 ? texelFetch(pivots_even, slot, 0) : texelFetch(pivots_odd, slot, 0)).rg);
}

void main() {
    int y = int(gl_FragCoord.y);
    ivec2 row = ivec2(2 * y, 2 * y + 1);
#if INVERSE
    for (int k = 0; k < steps; ++k) {
        ivec2 pivot = record_of(k);
        row.x = exchanged(exchanged(row.x, 2 * k, pivot.x), 2 * k + 1, pivot.y);
        row.y = exchanged(exchanged(row.y, 2 * k, pivot.x), 2 * k + 1, pivot.y);
    }
#else
    for (int k = steps - 1; k >= 0; --k) {
        ivec2 pivot = record_of(k);
        row.x = source_row(row.x, 2 * k, pivot.x, 2 * k + 1, pivot.y);
        row.y = source_row(row.y, 2 * k, pivot.x, 2 * k + 1, pivot.y);
    }
#endif
    rows = vec4(row, 0.0, 0.0);
}
