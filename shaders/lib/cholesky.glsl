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

// The same with reciprocals in place of divisions, which are long on a GPU. A step of Newton's method makes roots and
// quotients right to the last bit or next to it. The quotient is multiplied with one reciprocal, and what it lacks with
// another one: of a r + (a - a r l) r a compiler would make (a + (a - a r l)) r, which rounds that step away.

float root(float x, out vec2 reciprocals) {
    reciprocals = vec2(0.0);  // below a pivot that is none all is zero
    if (!(x > 0.0)) return x;
    float s = sqrt(x);
    float r = 1.0 / s;
    s = x < 1e37 ? s + 0.5 * (x - s * s) * r : s;
    reciprocals = vec2(r + r * (1.0 - r * s), r);
    return s;
}

vec2 reciprocals_of(float l) {
    if (!(l > 0.0)) return vec2(0.0);
    float r = 1.0 / l;
    return vec2(r + r * (1.0 - r * l), r);
}

float below(float a, float l, vec2 reciprocals) {
    float q = a * reciprocals.x;
    return q + (a - q * l) * reciprocals.y;
}

vec4 factored(vec4 block, out vec4 reciprocals) {
    vec2 one, two;
    float l00 = root(block.r, one);
    float l10 = below(block.b, l00, one);
    float l11 = root(block.a - l10 * l10, two);
    reciprocals = vec4(one, two);
    return vec4(l00, 0.0, l10, l11);
}

vec2 divided_row(vec2 lead, vec4 pivot, vec4 reciprocals) {
    float l0 = below(lead.x, pivot.r, reciprocals.rg);
    return vec2(l0, below(lead.y - l0 * pivot.b, pivot.a, reciprocals.ba));
}

vec4 divided_rows(vec4 lead, vec4 pivot, vec4 reciprocals) {
    return vec4(divided_row(lead.rg, pivot, reciprocals), divided_row(lead.ba, pivot, reciprocals));
}

// block - rows columns^T, one product after the other.
vec4 less_product(vec4 block, vec4 rows, vec4 columns) {
    block -= rows.rrbb * columns.rbrb;
    block -= rows.ggaa * columns.gaga;
    return block;
}
