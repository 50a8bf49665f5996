// A (+) B (+) C ...: one step of a reduction by +, max or min, over rows, over columns, or over both.
//
// A fragment reduces `chunk` texels, lines first and then the lines, so that no rounding error passes through more than
// chunk.x + chunk.y additions; passes follow each other until one texel is left (in each direction that is reduced).
// The four channels stay apart until the last pass (LAST) brings them together.
// A       FIRST: rows x columns, packed; else the result of the pass before, padding already neutral
// S       SCALED: the largest magnitudes of the lines that are reduced, packed; placed over A as lib/operand.glsl says.
//         Elements are scaled by a power of two before they are squared: no square overflows, and none underflows that
//         would count beside the largest
// result  LAST: packed; (total, 0, 0, 0) if all is reduced
// Cost per fragment: chunk.x chunk.y fetches (SCALED: twice that).
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction by rendering to ever smaller targets);
// Higham, "Accuracy and Stability of Numerical Algorithms" (2002), section 4.2 (error bound of sums in any order);
// Blue, "A portable Fortran program to find the Euclidean norm of a vector" (1978) (scaling).

#ifndef COMBINE
#define COMBINE sum_of  // sum_of, maximum_of, minimum_of
#endif
#ifndef NEUTRAL
#define NEUTRAL 0  // start of the combination: 0, -1 for minus infinity, 1 for infinity
#endif
#ifndef ENTRY
#define ENTRY itself  // function of an element of A in the first pass: itself, absolute, squared
#endif
#ifndef FIRST
#define FIRST 1  // A is the matrix (0, 1)
#endif
#ifndef SCALED
#define SCALED 0  // elements are scaled by the largest of their line, S (0, 1)
#endif
#ifndef LAST
#define LAST 0  // bring the channels together: 0 no, 1 all, 2 rows, 3 columns
#endif

#include "lib/packed.glsl"
#include "lib/operand.glsl"
#include "lib/ieee.glsl"
#include "lib/exponent.glsl"

uniform sampler2D A;
uniform ivec2 chunk;  // texels across and down that one fragment reduces
uniform ivec2 size;   // height and width of A in texels

layout(location = 0) out vec4 result;

#define START (NEUTRAL == 0 ? 0.0 : NEUTRAL == 1 ? INFINITY : -INFINITY)

float sum_of(float a, float b) { return a + b; }
float itself(float a) { return a; }
float absolute(float a) { return abs(a); }
float squared(float a) { return a * a; }

vec4 both(vec4 a, vec4 b) {
    return vec4(COMBINE(a.r, b.r), COMBINE(a.g, b.g), COMBINE(a.b, b.b), COMBINE(a.a, b.a));
}

#if SCALED
uniform sampler2D S;
uniform ivec3 placement;  // of S over A

int line_exponent(float largest) {  // 0 where there is nothing to scale, or nothing that scaling would help
    int e = exponent_of(largest);
    return e == NO_EXPONENT ? 0 : e;
}

vec4 scaled_block(vec4 block, ivec2 at) {
    vec4 largest = block_over(S, at, placement);
    block.r = scaled(block.r, -line_exponent(largest.r));
    block.g = scaled(block.g, -line_exponent(largest.g));
    block.b = scaled(block.b, -line_exponent(largest.b));
    block.a = scaled(block.a, -line_exponent(largest.a));
    return block;
}
#else
#define scaled_block(block, at) (block)
#endif

#if FIRST
uniform ivec2 shape;  // rows and columns of A

vec4 entries(ivec2 at) {
    vec4 block = scaled_block(texelFetch(A, at, 0), at);
    block = vec4(ENTRY(block.r), ENTRY(block.g), ENTRY(block.b), ENTRY(block.a));
    bool last_row = 2 * at.y + 1 >= shape.x;
    bool last_column = 2 * at.x + 1 >= shape.y;
    if (last_column) block.ga = vec2(START);
    if (last_row) block.ba = vec2(START);
    return block;
}
#else
#define entries(at) texelFetch(A, at, 0)
#endif

#if LAST
uniform ivec2 result_shape;

vec4 together(vec4 t, ivec2 texel) {
    vec4 total = vec4(COMBINE(COMBINE(t.r, t.g), COMBINE(t.b, t.a)), 0.0, 0.0, 0.0);
    if (LAST == 2) total = vec4(COMBINE(t.r, t.b), COMBINE(t.g, t.a), 0.0, 0.0);
    if (LAST == 3) total = vec4(COMBINE(t.r, t.g), 0.0, COMBINE(t.b, t.a), 0.0);
    return without_padding(total, texel, result_shape);
}
#else
#define together(total, texel) (total)
#endif

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 start = texel * chunk;
    ivec2 end = min(start + chunk, size.yx);
    vec4 total = vec4(START);
    for (int y = start.y; y < end.y; ++y) {
        vec4 line = vec4(START);
        for (int x = start.x; x < end.x; ++x) line = both(line, entries(ivec2(x, y)));
        total = both(total, line);
    }
    result = together(total, texel);
}
