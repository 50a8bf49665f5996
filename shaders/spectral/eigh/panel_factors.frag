// Factors of the change of A by a panel, V Y^T + X U^T = F^T G: (v_i, x_i) are rows 2i and 2i + 1 of F, (y_i, u_i) of G.
//
// A fragment makes a 2x2 block of both.
// R, C   see spectral/eigh/panel.glsl
// Cost per fragment: 3 or 4 fetches.

#ifndef SIDES
#define SIDES 1  // as in spectral/eigh/panel.glsl
#endif
#ifndef R_AT
#define R_AT 0  // columns where they begin in one texture, see lib/sheet.glsl
#endif
#ifndef C_AT
#define C_AT 0
#endif

uniform sampler2D R;
uniform sampler2D C;
uniform int start;

layout(location = 0) out vec4 F;
layout(location = 1) out vec4 G;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int k = start + texel.y;
    F = vec4(texelFetch(R, texel + ivec2(R_AT, 0), 0).rg, texelFetch(R, texel + ivec2(R_AT, 1), 0).ba);
    // The first entry of a reflector, in row k + 1, is alpha - beta. It counts behind the panel only, where k is odd.
    float beta = 0.0;
    if ((k & 1) == 1 && texel.x == k + 1 >> 1) beta = texelFetch(R, ivec2(R_AT + (k >> 1), texel.y + 1), 0).a;
    if (SIDES == 1) F.r -= beta;
    G = SIDES == 1 ? F.barg : texelFetch(C, texel + ivec2(C_AT, 0), 0);
    if (SIDES == 2) G.b -= beta;
}
