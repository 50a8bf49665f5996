// f_j = floor(log2(max_i |a_ij| 2^-e_i)): the exponents of the columns once the rows are scaled.
//
// A fragment computes the exponents of two columns: (f_2y, f_2y+1, 0, 0); 0 for a column of zeros. They stand in a
// column of texels, like those of the rows, because they will scale the rows of a solution.
// A   m x n, packed      row_exponents   column of texels (e_2y, e_2y+1, 0, 0)
// Cost per fragment: 2 fetches per trip, ceil(m/2) trips.
// LAPACK geequb.

#include "lib/exponent.glsl"

uniform sampler2D A;
uniform sampler2D row_exponents;
uniform int height;  // texels in a column of A

layout(location = 0) out vec4 exponents;

int less_row(float a, float e) {
    int own = exponent_of(a);
    return own == NO_EXPONENT ? own : own - int(e);
}

void main() {
    int x = int(gl_FragCoord.y);
    ivec2 most = ivec2(NO_EXPONENT);
    for (int y = 0; y < height; ++y) {
        vec4 block = texelFetch(A, ivec2(x, y), 0);
        vec2 e = texelFetch(row_exponents, ivec2(0, y), 0).rg;
        most.x = max(most.x, max(less_row(block.r, e.x), less_row(block.b, e.y)));
        most.y = max(most.y, max(less_row(block.g, e.x), less_row(block.a, e.y)));
    }
    exponents = vec4(most.x == NO_EXPONENT ? 0 : most.x, most.y == NO_EXPONENT ? 0 : most.y, 0.0, 0.0);
}
