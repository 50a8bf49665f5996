// Pentadiagonal systems as block tridiagonal ones: two equations and two unknowns make a block row,
//
//     L x[k-1] + D x[k] + U x[k+1] = r          L, D, U 2 x 2, row by row in the channels of a texel; r, x pairs
//
// Systems are side by side as in lib/tridiagonal.glsl. Block rows outside of a system say x = 0.

#include "lib/tridiagonal.glsl"

uniform sampler2D L;
uniform sampler2D D;
uniform sampler2D U;
uniform sampler2D R;

struct Row {
    vec4 lower;
    vec4 diagonal;
    vec4 upper;
    vec2 rhs;
};

Row block_row(int k, int n) {
    if (k < 0 || k >= n) return Row(vec4(0.0), vec4(1.0, 0.0, 0.0, 1.0), vec4(0.0), vec2(0.0));
    ivec2 at_k = place_of(k);
    return Row(texelFetch(L, at_k, 0), texelFetch(D, at_k, 0), texelFetch(U, at_k, 0), texelFetch(R, at_k, 0).rg);
}

vec4 product(vec4 a, vec4 b) {
    vec4 first = a.rrbb * b.rgrg;
    vec4 second = a.ggaa * b.baba;
    return first + second;
}

vec2 applied(vec4 a, vec2 x) {
    vec2 first = a.rb * x.x;
    vec2 second = a.ga * x.y;
    return first + second;
}

// The solution of a x = b, with the larger entry of the first column as the pivot.
vec2 solved(vec4 a, vec2 b) {
    if (abs(a.b) > abs(a.r)) {
        a = a.barg;
        b = b.yx;
    }
    float factor = multiplier(a.b, a.r);
    float taken = factor * a.g;
    float pivot = a.a - taken;
    taken = factor * b.x;
    float y = pivot == 0.0 ? NOT_A_NUMBER : quotient(b.y - taken, pivot);
    taken = a.g * y;
    return vec2(a.r == 0.0 ? NOT_A_NUMBER : quotient(b.x - taken, a.r), y);
}

// b a^-1: each row of b is solved with the transpose.
vec4 divided(vec4 b, vec4 a) {
    return vec4(solved(a.rbga, b.rg), solved(a.rbga, b.ba));
}

float determinant_of(vec4 a) {
    float first = a.r * a.a;
    float second = a.g * a.b;
    return first - second;
}

// What is left of the determinant of a sum of blocks, beside that of their magnitudes; see left_of.
float left_of_block(vec4 sum, vec4 magnitude) {
    float most = magnitude.r * magnitude.a + magnitude.g * magnitude.b;
#if DEFINITE
    if (sum.r <= 0.0) return -1.0;
#endif
    return left_of(determinant_of(sum), most);
}
