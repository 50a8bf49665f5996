// A step of a panel: v and w of column k, and the column x that comes next, as it will be then.
//
//     row k - start       v, w; above them, in row k of A, beta and the entry on the diagonal
//     the row behind it   x of column k + 1, from its diagonal on
//     the row before it   a copy: final rows are in both textures
//
// A fragment computes rows 2r and 2r + 1 of one of them.
// E   sums of the step (spectral/eigh/panel_fold.frag)      P   see spectral/eigh/panel.glsl
// S   A before the panel, n x n, packed, symmetric
// Cost per fragment: 2 fetches and 16 flop for each column of the panel before it; 3 fetches more.
// LAPACK latrd.

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
flat in int first;
flat in int part;
flat in int groups;
flat in vec4 reflection;  // see spectral/eigh/panel_step.vert
flat in float lead;

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = own_texel();
    int r = own.x, q = max(r - first, 0), behind = j + 1 + groups;
    if (own.y < j) {
        result = texelFetch(P, at_second(own), 0);
        return;
    }
    vec2 a = across(S, k + 1, r);
    result = vec4(a, 0.0, 0.0);
    if (j < 0) return;
    vec4 halves = texelFetch(E, at(ivec2(behind + (q < part ? q : q - part), 0)), 0);
    vec2 x = texelFetch(P, at_second(ivec2(r, j)), 0).rg, y = q < part ? halves.rg : halves.ba;
    for (int i = 0; i < j; i += AT_ONCE) {
        vec4 before[AT_ONCE];
        vec4 sums[AT_ONCE];
        for (int t = 0; t < AT_ONCE; ++t) {
            before[t] = texelFetch(P, at_second(ivec2(r, min(i + t, j - 1))), 0);
            sums[t] = texelFetch(E, at(ivec2(min(i + t, j - 1), 0)), 0);
        }
        for (int t = 0; t < AT_ONCE; ++t) {
            if (i + t >= j) break;
            y -= before[t].rg * sums[t].r + before[t].ba * sums[t].g;
            a -= before[t].rg * sums[t].a + before[t].ba * sums[t].b;
        }
    }
    vec2 v = below(x * reflection.g, r, k + 1);
    if (2 * r == k + 1) v.x = 1.0;
    if (2 * r == k) v.y = 1.0;
    vec2 w = below(reflection.b * (y - reflection.r * a) - reflection.a * v, r, k);
    if (own.y > j) {
        result.rg = a - v * lead - w;
        return;
    }
    if (2 * r == k) v.x = reflection.r;
    if (2 * r == k) w.x = x.x;
    if (2 * r + 1 == k) v.y = reflection.r;
    if (2 * r + 1 == k) w.y = x.y;
    result = vec4(v, w);
}
