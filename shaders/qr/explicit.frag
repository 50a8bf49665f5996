// V with its ones and zeros written out: v_j = (0, ..., 0, 1, x), or zeros altogether where H_j = I.
//
// A fragment computes one 2x2 block.
// H   the factors, packed; a panel begins at texel (first, first)      T   of each pair of reflectors (qr/pairs.frag), with tau in r and a
// Cost per fragment: 1 fetch; on the diagonal 2, above it none.

#include "lib/packed.glsl"

uniform sampler2D H;
uniform sampler2D T;
uniform int first;
uniform ivec2 shape;  // rows and columns of V

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    ivec2 own = ivec2(texel.x + first, texel.y);
    result = vec4(0.0);
    if (own.y > own.x) result = texelFetch(H, own, 0);
    if (own.y == own.x) {
        vec4 t = texelFetch(T, ivec2(own.x, 0), 0);
        float below = texelFetch(H, own, 0).b;
        result = vec4(t.r == 0.0 ? 0.0 : 1.0, 0.0, below, t.a == 0.0 ? 0.0 : 1.0);
    }
    result = without_padding(result, texel, shape);
}
