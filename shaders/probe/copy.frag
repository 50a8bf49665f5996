// result = layer, or, drawn with blending, result += layer
//
// A fragment computes one texel.
// layer   of the target's size
// Cost per fragment: 1 fetch.

#ifndef layer_AT
#define layer_AT 0  // column where it begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D layer;

layout(location = 0) out vec4 result;

void main() {
    result = texelFetch(layer, ivec2(gl_FragCoord.xy) + ivec2(layer_AT, 0), 0);
}
