// w' = factor (w - c_0 V_0 - c_1 V_1 - ...): a vector without its part along those of a basis (Gram and Schmidt).
//
// A fragment computes four elements.
// w  wrapped        V  vectors of the basis, one below the other
// Cost per fragment: 1 fetch and 4 for each four vectors, 8 flop for each vector.
// Fetches: 1 to 1 + PART.
// Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986).

#include "lib/sampled.glsl"
#include "krylov/gmres.glsl"

uniform sampler2D w;
uniform sampler2D V;

flat in int held;
flat in vec4 c[STRIDE / 4];  // the first coefficient is 0
flat in float factor;

layout(location = 0) out vec4 w_next;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    int height = textureSize(w, 0).y;
    vec2 scale = 1.0 / vec2(textureSize(V, 0));
    FIND_OWN(w)
    w_next = OWN(w);
    for (int g = 0; 4 * g <= held; ++g) {
        ivec4 rows = height * max(min(ivec4(0, 1, 2, 3) + 4 * g, held) - 1, 0);
        w_next -= c[g].r * AT(V, own + ivec2(0, rows.r), scale);
        w_next -= c[g].g * AT(V, own + ivec2(0, rows.g), scale);
        w_next -= c[g].b * AT(V, own + ivec2(0, rows.b), scale);
        w_next -= c[g].a * AT(V, own + ivec2(0, rows.a), scale);
    }
    w_next *= factor;
}
