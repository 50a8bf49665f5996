// One step of the Cholesky factorisation A = L L^T, two columns of it.
//
//     l00 = sqrt(a00)     l10 = a10 / l00     l11 = sqrt(a11 - l10^2)      the block (k, k) of the step
//     below it            l0 = a0 / l00       l1 = (a1 - l0 l10) / l11     two columns of L are final
//     right of it         a - l_i l_j^T                                    what remains, in its lower half
//
// A fragment computes one 2x2 block of the new matrix; it computes the rows of L that it needs from column k of A anew.
// A   n x n, packed: finished columns of L at the left, the lower half of what remains; its upper half is not read
// A pivot that is not above zero (or NaN) is written as it is, with zeros below it: no infinity spreads, and whoever
// reads the diagonal finds the first one.
// Cost per fragment: up to 4 fetches, 16 flop, 6 divisions and 2 roots.
// Fetches: 1 to 4.
// "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2, in 2x2 blocks; LAPACK potf2.

#include "lib/packed.glsl"
#include "lib/divide.glsl"

uniform sampler2D A;   // before the step
uniform int k;         // texel column of the step
uniform ivec2 shape;   // rows and columns of A

layout(location = 0) out vec4 result;

// A root that is right to the last bit where the driver's is off by two: one step of Newton's method.
float root(float x) {
    if (!(x > 0.0)) return x;
    float s = sqrt(x);
    float rest = x - s * s;
    return x < 1e37 ? s + 0.5 * rest / s : s;
}

// a / l, corrected likewise; zero below a pivot that is none.
float below(float a, float l) {
    if (!(l > 0.0)) return 0.0;
    float q = quotient(a, l);
    float rest = a - q * l;
    return q + quotient(rest, l);
}

vec2 multipliers(vec2 lead, vec3 pivot) {  // pivot: l00, l10, l11
    float l0 = below(lead.x, pivot.x);
    float rest = lead.y - l0 * pivot.y;
    return vec2(l0, below(rest, pivot.z));
}

vec4 column(int y, vec3 pivot) {  // rows 2y and 2y + 1 of the two columns of L
    vec4 lead = texelFetch(A, ivec2(k, y), 0);
    return vec4(multipliers(lead.rg, pivot), multipliers(lead.ba, pivot));
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = vec4(0.0);
    if (texel.x > texel.y) return;
    vec4 own = texelFetch(A, texel, 0);
    if (texel.x < k) {
        result = own;
        return;
    }
    vec4 block = texelFetch(A, ivec2(k, k), 0);
    float l00 = root(block.r);
    float l10 = below(block.b, l00);
    float l11 = root(block.a - l10 * l10);
    vec3 pivot = vec3(l00, l10, l11);
    if (texel.x == k) {
        result = texel.y == k ? vec4(l00, 0.0, l10, l11) : column(texel.y, pivot);
    } else {
        vec4 rows = column(texel.y, pivot);
        vec4 columns = texel.x == texel.y ? rows : column(texel.x, pivot);
        own -= rows.rrbb * columns.rbrb;
        own -= rows.ggaa * columns.gaga;
        result = own;
    }
    result = without_padding(result, texel, shape);
}
