// Two columns of a Cholesky factor at a time: 2x2 blocks of L, packed.

#include "lib/root.glsl"

// The factor of a block on the diagonal, of which the element above the diagonal is not used.
vec4 factored(vec4 block) {
    float l00 = root(block.r);
    float l10 = below(block.b, l00);
    return vec4(l00, 0.0, l10, root(block.a - l10 * l10));
}

vec2 divided_row(vec2 lead, vec4 pivot) {
    float l0 = below(lead.x, pivot.r);
    float rest = lead.y - l0 * pivot.b;
    return vec2(l0, below(rest, pivot.a));
}

// Two rows of L below the block `pivot` of the diagonal: lead pivot^-T.
vec4 divided_rows(vec4 lead, vec4 pivot) {
    return vec4(divided_row(lead.rg, pivot), divided_row(lead.ba, pivot));
}

// block - rows columns^T, one product after the other.
vec4 less_product(vec4 block, vec4 rows, vec4 columns) {
    block -= rows.rrbb * columns.rbrb;
    block -= rows.ggaa * columns.gaga;
    return block;
}
