// A step of a panel, see spectral/eigh/panel.glsl.
//
// Of a tridiagonal form it is w and the next column, of a bidiagonal form from the left y and the next row, from the right
// x and the next column. The row before is copied: final rows are in both textures.
//
// A fragment computes rows 2r and 2r + 1 of one of them.
// E   sums of the step (spectral/eigh/panel_fold.frag)      P, S   see spectral/eigh/panel.glsl
// Cost per fragment: 2 fetches and 16 flop for each row before it; 3 fetches more.
// LAPACK latrd, labrd.

#ifndef SIDES
#define SIDES 1  // as in spectral/eigh/panel.glsl
#endif
#ifndef AT_ONCE
#define AT_ONCE 1  // fetches under way at once: a GPU waits for each, a software rasteriser for none
#endif

#include "lib/packed.glsl"
#include "spectral/eigh/column.glsl"

uniform sampler2D E;
uniform sampler2D P;
uniform sampler2D S;

flat in int k;
flat in int j;
flat in int side;
flat in int first;
flat in int part;
flat in int groups;
flat in vec4 reflection;  // see spectral/eigh/reflection.glsl
flat in float lead;

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    int r = own.x, rows = j + side, q = max(r - first, 0), behind = rows + 1 + groups;
    if (own.y < rows) {
        result = texelFetch(P, at_second(own), 0);
        return;
    }
    vec2 beside = side == 0 ? across(S, k, r) : SIDES == 1 ? across(S, k + 1, r) : column(S, k + 1, r);
    result = vec4(beside, 0.0, 0.0);
    if (j < 0) return;
    vec4 halves = texelFetch(E, at(ivec2(behind + (q < part ? q : q - part), 0)), 0);
    vec2 product = q < part ? halves.rg : halves.ba;
    for (int i = 0; i < rows; i += AT_ONCE) {
        vec4 before[AT_ONCE];
        vec4 sums[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) {
            before[t] = texelFetch(P, at_second(ivec2(r, min(i + t, rows - 1))), 0);
            sums[t] = texelFetch(E, at(ivec2(min(i + t, rows - 1), 0)), 0);
        }
        for (int t = 0; t < AT_ONCE; ++t) {
            if (i + t >= rows) break;
            product -= before[t].rg * sums[t].r + before[t].ba * sums[t].g;
            beside -= before[t].rg * sums[t].b + before[t].ba * sums[t].a;
        }
    }
    vec2 w = reflection.b * (product - reflection.r * beside), next = beside;
#if SIDES == 1
    vec2 v = below(texelFetch(P, at_second(ivec2(r, j)), 0).rg * reflection.g, r, k + 1);
    if (2 * r == k + 1) v.x = 1.0;
    if (2 * r == k) v.y = 1.0;
    w -= reflection.a * v;
    next -= v * lead;
#endif
    w = below(w, r, k);
    next -= w;
    w *= reflection.g;
    if (2 * r == k) w.x = reflection.r;
    if (2 * r + 1 == k) w.y = reflection.r;
    result = side == 0 ? vec4(w, next) : vec4(next, w);
}
