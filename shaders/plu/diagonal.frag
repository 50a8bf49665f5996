// (u_ii, max_k |u_ki|): the diagonal of U, and beside it the largest entry of its column, for k <= i.
//
// A u_ii that is small beside its column may be rounding error alone; the host then looks into it.
//
// A fragment computes the diagnostics of two diagonal elements: (u_2y, u_2y+1, s_2y, s_2y+1).
// LU   n x n, packed factors
// Cost per fragment: 1 fetch per trip, y trips.
// Fetches: 1 to region_height.
// Higham, "Accuracy and Stability of Numerical Algorithms", chapter 9.

uniform sampler2D LU;

layout(location = 0) out vec4 diagonal;

void main() {
    int y = int(gl_FragCoord.y);
    vec4 block = texelFetch(LU, ivec2(y, y), 0);
    vec2 largest = vec2(abs(block.r), max(abs(block.g), abs(block.a)));
    for (int x = 0; x < y; ++x) {
        vec4 above = abs(texelFetch(LU, ivec2(y, x), 0));
        largest = max(largest, max(above.rg, above.ba));
    }
    diagonal = vec4(block.r, block.a, largest);
}
