// For vertex shaders of passes behind a barrier: their slots may be side by side in one texture (SHEET columns from one to
// the next), or each in a texture of its own, as in WebGL and wherever there is no barrier.
//
// In one texture no state changes from pass to pass. So the first vertex has it all: the step of the pass, the slot that
// is drawn, and those that are sampled. A draw is two rectangles of six vertices, where the shader wants them; one may be
// empty. In a texture of its own a slot is drawn as ever: one triangle, which the viewport cuts to the region.

#include "lib/fullscreen.glsl"

#ifndef SHEET
#define SHEET 0
#endif

#if SHEET
#define PLACED 1
uniform ivec2 sheet;  // width and height of the texture

flat out int drawn_at;    // columns where slots begin: of the one that is drawn,
flat out int sampled_at;  // of the first sampler, and of the second one
flat out int second_at;

// Column where a slot begins: of the one that is drawn (0), or of a sampler, by the order of their names (1 to 3).
int column_of(int slot) {
    return SHEET * ((gl_VertexID / 12 >> 3 * slot) & 7);
}

int begin_pass() {  // gives the step of the pass
    drawn_at = column_of(0);
    sampled_at = column_of(1);
    second_at = column_of(2);
    return gl_VertexID / 12 >> 12;
}

vec4 corner_of(ivec4 one, ivec4 two) {  // x, y, width, height in the slot that is drawn
    int corner = gl_VertexID % 6;  // (0,0) (1,0) (0,1), (0,1) (1,0) (1,1)
    ivec4 box = gl_VertexID % 12 < 6 ? one : two;
    ivec2 texel = box.xy + box.zw * (ivec2(50, 44) >> corner & 1) + ivec2(column_of(0), 0);
    return vec4(2.0 * vec2(texel) / vec2(sheet) - 1.0, 0.0, 1.0);
}
#else
int column_of(int slot) {
    return 0;
}

int begin_pass() {
    return step_of_pass();
}

vec4 corner_of(ivec4 one, ivec4 two) {
    return triangle_corner();
}
#endif
