// Where row i of the factored matrix comes from: the row exchanges of all steps, undone one by one.
//
// A fragment computes the answer for two rows: (source of row 2y, source of row 2y+1, 0, 0).
// With INVERSE, where row i of the original went. With EACH column x of texels follows the EACH steps of panel x alone.
// pivots   records of pivot/factor_records.frag, in a row of texels
// Cost per fragment: 1 fetch per trip, at most `end - first` trips.
// Fetches: 0 to INVERSE * (end - first) + (1 - INVERSE) * ((end - first + 7) / 8 * 8).

#ifndef INVERSE
#define INVERSE 0  // follow the rows forward instead (0, 1)
#endif

#ifndef EACH
#define EACH 0  // steps of a panel
#endif

#include "lib/pivots.glsl"

uniform sampler2D pivots;
uniform int first;  // steps first ... end - 1 are followed
uniform int end;

layout(location = 0) out vec4 rows;

void main() {
    int y = int(gl_FragCoord.y);
    int start = first + EACH * int(gl_FragCoord.x);
    int last = EACH == 0 ? end : min(end, start + EACH);
    ivec2 row = ivec2(2 * y, 2 * y + 1);
#if INVERSE
    for (int k = start; k < last; ++k) {
        ivec2 pivot = ivec2(texelFetch(pivots, ivec2(k, 0), 0).rg);
        row.x = exchanged(exchanged(row.x, 2 * k, pivot.x), 2 * k + 1, pivot.y);
        row.y = exchanged(exchanged(row.y, 2 * k, pivot.x), 2 * k + 1, pivot.y);
    }
#else
    for (--last; last >= start; last -= 8) {  // as many fetches are under way at once
        ivec2 some[8];
        for (int i = 0; i < 8; ++i) some[i] = ivec2(texelFetch(pivots, ivec2(max(last - i, start), 0), 0).rg);
        for (int i = 0; i < 8; ++i) {
            int k = last - i;
            if (k < start) break;
            row.x = source_row(row.x, 2 * k, some[i].x, 2 * k + 1, some[i].y);
            row.y = source_row(row.y, 2 * k, some[i].x, 2 * k + 1, some[i].y);
        }
    }
#endif
    rows = vec4(row, 0.0, 0.0);
}
