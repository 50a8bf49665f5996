// A step of T X = B, T lower triangular: texel row t of X is solved, the rows below lose their multiples of it.
//
//     row t           X[t] = T[t, t]^-1 B[t]      a 2x2 block, solved from the top down
//     rows below      B[i] - T[i, t] X[t]
//     rows above      as they are: solved before
//
// A fragment computes one texel of the right-hand sides. Below row t it solves X[t] again, instead of waiting for
// another pass. glla draws one such pass for each texel row of T.
// T   n x n, packed, lower triangular      B   n x columns, packed
// Cost per fragment: 4 fetches, 24 flop and 4 divisions.
//
// Try it:  glla shader show substitution > my.frag && glla compare triangular --shader my.frag

uniform sampler2D T;
uniform sampler2D B;
uniform int t;        // texel row to solve
uniform ivec2 shape;  // rows and columns of B

layout(location = 0) out vec4 result;

// X of D X = R for a 2x2 block D = (r 0; b a). In the last row of an odd n there is padding, and nothing to divide by.
vec4 solved(vec4 D, vec4 R, bool two_rows) {
    vec2 top = R.rg / D.r;
    vec2 low = two_rows ? (R.ba - D.b * top) / D.a : vec2(0.0);
    return vec4(top, low);
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(B, texel, 0);
    if (texel.y < t) return;
    vec4 D = texelFetch(T, ivec2(t, t), 0);
    vec4 X = solved(D, texelFetch(B, ivec2(texel.x, t), 0), 2 * t + 1 < shape.x);
    if (texel.y == t) {
        result = X;
        return;
    }
    vec4 M = texelFetch(T, ivec2(t, texel.y), 0);
    result.rg -= M.r * X.rg + M.g * X.ba;
    result.ba -= M.b * X.rg + M.a * X.ba;
}
