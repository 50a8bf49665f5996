// The inner products of a cycle, as partial sums, and norms that follow from them.
//
// Four at a time have a block of texels: blocks of a round of Gram and Schmidt lie below one another, then those of the other
// round; vectors are side by side, by the number of vectors of the basis before, `count`.

#include "krylov/gmres.glsl"
#include "krylov/krylov.glsl"

uniform sampler2D products;

vec4 four(int count, int turn, int group) {
    ivec2 size = textureSize(products, 0) / ivec2(STEPS + 1, 2 * GROUPS);
    return folded(products, size * ivec2(count, turn * GROUPS + group), size);
}

vec4 along(int count, int turn, int group) {  // four products with vectors of the basis, 0 for others
    vec4 found = four(count, turn, group);
    ivec4 k = (ivec4(0, 1, 2, 3) + 4 * group) % STRIDE - 1;
    for (int t = 0; t < 4; ++t)
        if (k[t] < 0 || k[t] >= PART || 4 * group / STRIDE * PART + k[t] >= count) found[t] = 0.0;
    return found;
}

// Norm of what the last round leaves of w, by Pythagoras, `whole` = w . w before. The round before has left little along the
// basis, unless w is in its space but for rounding errors.
float norm(float left, float whole) {
    return is_finite(whole) && left <= 1e-4 * whole ? 0.0 : sqrt(left);
}
