// after[i] = panel[later[i]]: the exchanges of one more panel, in front of those of all later ones.
//
// A fragment computes the answer for two rows.
// later   column of texels: where each final row stood after this panel's exchanges
// rows    a column of texels for each panel: where each row stood before them
// Fetches: 3.

uniform sampler2D later;
uniform sampler2D rows;
uniform int column;  // of `rows`: the number of the panel

layout(location = 0) out vec4 after;

float before(int i) {
    vec4 pair = texelFetch(rows, ivec2(column, i >> 1), 0);
    return (i & 1) == 0 ? pair.r : pair.g;
}

void main() {
    ivec2 row = ivec2(texelFetch(later, ivec2(0, int(gl_FragCoord.y)), 0).rg);
    after = vec4(before(row.x), before(row.y), 0.0, 0.0);
}
