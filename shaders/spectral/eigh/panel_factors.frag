// Factors of the change of A by a panel, V W^T + W V^T = F^T G: (v_i, w_i) are rows 2i and 2i + 1 of F, (w_i, v_i) of G.
//
// A fragment copies a 2x2 block to both.
// P   see spectral/eigh/panel.glsl
// Cost per fragment: 1 fetch.
// Fetches: 1.

#ifndef P_AT
#define P_AT 0  // column where it begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D P;

layout(location = 0) out vec4 F;
layout(location = 1) out vec4 G;

void main() {
    F = texelFetch(P, ivec2(gl_FragCoord.xy) + ivec2(P_AT, 0), 0);
    G = F.barg;
}
