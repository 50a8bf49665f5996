// A finished panel in its place in H: T or B, the reflectors below it, those from the right beyond it.
//
// A fragment computes one 2x2 block, in columns or in rows of the panel.
// R, C   see spectral/eigh/panel.glsl
// Cost per fragment: 0 to 3 fetches for each of four elements.

#ifndef SIDES
#define SIDES 1  // as in spectral/eigh/panel.glsl
#endif
#ifndef R_AT
#define R_AT 0  // columns where they begin in one texture, see lib/sheet.glsl
#endif
#ifndef C_AT
#define C_AT 0
#endif

#include "lib/divide.glsl"
#include "lib/packed.glsl"

uniform sampler2D R;
uniform sampler2D C;
uniform int start;
uniform int n;

layout(location = 0) out vec4 result;

vec2 of_rows(int r, int i) {  // a of column i, x of row i - 1
    vec4 pair = texelFetch(R, ivec2(R_AT + (r >> 1), i), 0);
    return (r & 1) == 0 ? pair.rb : pair.ga;
}

vec2 of_columns(int c, int i) {  // y of column i, b of row i
    vec4 pair = texelFetch(C, ivec2(C_AT + (c >> 1), i), 0);
    return (c & 1) == 0 ? pair.rb : pair.ga;
}

float element(int row, int column) {
    bool right = column > row;
    if (row >= n || column >= n || SIDES == 1 && right) return 0.0;
    int k = min(row, column), i = k - start, own = max(row, column), top = SIDES == 1 || right ? k + 1 : k;
    if (own < top) return of_rows(k, i).x;  // the diagonal of T
    float beta = top > k ? of_rows(k, i + 1).y : of_columns(k, i).x;
    if (own == top) return beta;
    float alpha = right ? of_columns(top, i).y : of_rows(top, i).x;
    float entry = right ? of_columns(own, i).y : of_rows(own, i).x;
    return alpha == beta ? 0.0 : quotient(entry, alpha - beta);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = BLOCK_OF(element, texel);
}
