// A - tau v (v^T A), and in column k beta with v below it in the place of what became zero: a step of the bidiagonal form.
//
// A    packed, square
// D    a line of texels, see `dots`
// next packed
// Cost per fragment: 4 fetches, 20 flop.
// Golub and Kahan, "Calculating the singular values and pseudo-inverse of a matrix" (1965); LAPACK gebd2.

#include "qr/reflector.glsl"
#include "spectral/svd/view.glsl"

uniform sampler2D D;

layout(location = 0) out vec4 next;

void main() {
    ivec2 own = turned(ivec2(gl_FragCoord.xy));
    ivec2 rows = 2 * own.y + ivec2(0, 1);
    ivec2 columns = 2 * own.x + ivec2(0, 1);
    bvec2 counts = greaterThanEqual(rows, ivec2(first));
    vec4 d = texelFetch(D, ivec2(own.x, 0), 0);
    Reflector h = reflector(d.a, d.b);
    vec2 x = column(own.y);
    vec2 v = mix(x * h.inverse, vec2(1.0), equal(rows, ivec2(first)));
    vec2 made = mix(x, mix(v, vec2(h.beta), equal(rows, ivec2(first))), counts);
    v = mix(vec2(0.0), v, counts);
    vec4 top = seen(own.x, first >> 1);
    vec2 w = h.tau * h.inverse * (d.rg - h.beta * ((first & 1) == 0 ? top.rg : top.ba));
    w = mix(vec2(0.0), w, greaterThan(columns, ivec2(k)));
    vec4 block = seen(own.x, own.y) - vec4(v.x * w, v.y * w);
    if (columns.x == k) block.rb = made;
    if (columns.y == k) block.ga = made;
    next = turned(block);
}
