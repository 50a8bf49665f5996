// e_i = floor(log2(max_j |a_ij| 2^-f_j)): scaled by 2^-(e_i + f_j), the largest entry of each line is in [1, 2).
//
// Lines are rows, or, turned, columns. One program serves both: it compiles in much longer than it runs.
// A fragment computes the exponents of two lines: (e_2y, e_2y+1, 0, 0); 0 for a line of zeros. Those of columns are in a
// column of texels, too, because they will scale the rows of a solution.
// Zeros, infinities and NaN do not count. Which entry is the largest depends on how the other lines were scaled before.
// A   m x n, packed      others   column of texels (f_2x, f_2x+1, 0, 0), if they are known; f = 0 otherwise
// Cost per fragment: 1 (known: 2) fetches per trip, `count` trips.
// Fetches: count * (1 + known).
// LAPACK geequb (powers of the radix, so that scaling rounds nothing).

#include "lib/packed.glsl"
#include "lib/exponent.glsl"

uniform sampler2D A;
uniform sampler2D others;
uniform int count;   // texels in a line of A
uniform int turned;  // lines are rows (0), columns (1)
uniform int known;   // whether the other lines are scaled by exponents (0, 1)

layout(location = 0) out vec4 exponents;

const int NONE = -100000;  // of a line of zeros; smaller than every exponent

// Take the entry a, whose column (row) is scaled by 2^-f, into the largest exponent of a line.
void take(inout int line, float a, float f) {
    int own = exponent_of(a);
    if (own != NO_EXPONENT) line = max(line, own - int(f));
}

void main() {
    int y = own_texel().y;
    int first = NONE;
    int second = NONE;
    for (int x = 0; x < count; ++x) {
        vec4 block = texelFetch(A, at(turned == 1 ? ivec2(y, x) : ivec2(x, y)), 0);
        if (turned == 1) block = block.rbga;
        vec2 f = vec2(0.0);
        if (known == 1) f = texelFetch(others, at(ivec2(0, x)), 0).rg;
        take(first, block.r, f.x);
        take(first, block.g, f.y);
        take(second, block.b, f.x);
        take(second, block.a, f.y);
    }
    exponents = vec4(first == NONE ? 0 : first, second == NONE ? 0 : second, 0.0, 0.0);
}
