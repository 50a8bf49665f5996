// A finished panel of L, put into its columns, with zeros above the diagonal.
//
// A fragment copies one texel.
// P   the panel, packed      Cost per fragment: 1 fetch; above the diagonal 0.
// Fetches: 0 to 1.

#ifndef P_AT
#define P_AT 0  // column where P begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D P;
uniform int left;  // texel column of L that is column 0 of the panel

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texel.y < texel.x ? vec4(0.0) : texelFetch(P, texel + ivec2(P_AT - left, 0), 0);
}
