// sums = partial sums of w . w and of V_k . w, four at once, see `gmres.glsl`; nobody reads those of vectors to come.
//
// A fragment sums BLOCK x BLOCK texels, as `dots.frag` does.
// w  wrapped        V  vectors of the basis, one below the other        block  texels of a block, see `products.glsl`
// Cost per fragment: 5 BLOCK^2 fetches, 32 BLOCK^2 flop at most.
// Fetches: 0 to 5 * BLOCK * BLOCK.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#ifndef BLOCK
#define BLOCK 16  // texels of a side
#endif

#include "lib/sampled.glsl"
#include "krylov/gmres.glsl"

uniform sampler2D w;
uniform sampler2D V;
uniform ivec2 block;

layout(location = 0) out vec4 sums;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    ivec2 size = textureSize(w, 0);
    ivec4 rows = (ivec4(0, 1, 2, 3) + 4 * (own.y / block.y % GROUPS)) % STRIDE - 1;
    bool squares = rows.r < 0;
    rows = min(max(rows, 0) * size.y, textureSize(V, 0).y - size.y);
    own %= block;
    ivec2 first = 4 * BLOCK * (own >> 2) + (own & 3);
    ivec2 end = min(first + 4 * BLOCK, size);
    vec2 scale = 1.0 / vec2(size), scale_of_V = 1.0 / vec2(textureSize(V, 0));
    vec4 total[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (int y = first.y; y < end.y; y += 4) {
        for (int x = first.x; x < end.x; x += 4) {
            vec4 mine = AT(w, ivec2(x, y), scale);  // fetches are written out: a processor fetches ahead for each
            total[0] += mine * (squares ? mine : AT(V, ivec2(x, y + rows.r), scale_of_V));
            total[1] += mine * AT(V, ivec2(x, y + rows.g), scale_of_V);
            total[2] += mine * AT(V, ivec2(x, y + rows.b), scale_of_V);
            total[3] += mine * AT(V, ivec2(x, y + rows.a), scale_of_V);
        }
    }
    for (int t = 0; t < 4; ++t) sums[t] = (total[t].r + total[t].g) + (total[t].b + total[t].a);
}
