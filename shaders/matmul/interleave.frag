// C out of the targets of matmul/register_blocked.frag: texel (x, y) of C is in target ROWS-COLUMNS remainder.
//
// A fragment copies one texel. With MIRROR C is symmetric, and what is right of its diagonal is taken from below it.
// C0 ... C7   every ROWS-th row and COLUMNS-th column of texels      C   rows x columns, packed
// start       with ONTO, a matrix to add to
// Cost per fragment: 1 fetch (2 with ONTO).
// Fetches: 1 + ONTO.

#ifndef ROWS
#define ROWS 4  // as in register_blocked.frag
#endif
#ifndef COLUMNS
#define COLUMNS 2
#endif
#ifndef ONTO
#define ONTO 0  // add to `start` (0, 1)
#endif
#ifndef GATHERED
#define GATHERED 0  // the targets are parts of one texture, in ROWS rows of COLUMNS (0, 1)
#endif
#ifndef SUBTRACT
#define SUBTRACT 0  // subtract from it instead, with ONTO (0, 1)
#endif
#ifndef MIRROR
#define MIRROR 0  // only what is on and below the diagonal was drawn (0, 1)
#endif

#include "matmul/mirror.glsl"
#include "matmul/fold.glsl"

#if GATHERED
uniform sampler2D targets;
uniform ivec2 size;  // of a target
#define OF_TARGET(target, at) texelFetch(targets, (at) + size * ivec2((target) % COLUMNS, (target) / COLUMNS), 0)
#else
uniform sampler2D C0;
#if ROWS * COLUMNS > 1
uniform sampler2D C1;
#else
#define C1 C0
#endif
#if ROWS * COLUMNS > 2
uniform sampler2D C2;
uniform sampler2D C3;
#else
#define C2 C0
#define C3 C0
#endif
#if ROWS * COLUMNS > 4
uniform sampler2D C4;
uniform sampler2D C5;
uniform sampler2D C6;
uniform sampler2D C7;
#else
#define C4 C0
#define C5 C0
#define C6 C0
#define C7 C0
#endif

vec4 of_target(int target, ivec2 at) {  // GLSL 3.30 has no array of samplers with a computed index
    vec4 block;
    if (target == 0) block = texelFetch(C0, at, 0);
    else if (target == 1) block = texelFetch(C1, at, 0);
    else if (target == 2) block = texelFetch(C2, at, 0);
    else if (target == 3) block = texelFetch(C3, at, 0);
    else if (target == 4) block = texelFetch(C4, at, 0);
    else if (target == 5) block = texelFetch(C5, at, 0);
    else if (target == 6) block = texelFetch(C6, at, 0);
    else if (target == 7) block = texelFetch(C7, at, 0);
    return block;
}
#define OF_TARGET(target, at) of_target(target, at)
#endif
#if ONTO
uniform sampler2D start;
#define ONTO_START(block) ((SUBTRACT == 1 ? -block : block) + texelFetch(start, texel, 0))
#else
#define ONTO_START(block) block
#endif
uniform ivec2 shape;  // rows and columns of C

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 source = drawn_texel(texel);
    ivec2 at = source / ivec2(COLUMNS, ROWS);
    int target = (source.y - at.y * ROWS) * COLUMNS + source.x - at.x * COLUMNS;
    at = folded(at);
    vec4 block = mirrored(OF_TARGET(target, at), texel);
    result = without_padding(ONTO_START(block), texel, shape);
}
