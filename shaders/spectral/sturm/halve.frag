// Bisection of all eigenvalues of T at once: fragment k halves the interval of number first + k, (middle, low, high, 0).
//
//     q_i = d_i - x - e_{i-1}^2 / q_{i-1}       as many eigenvalues lie below x as there are negative q_i
//
// All fragments read the same texels at the same time. Numbers in order have intervals in order, whatever rounding does:
// at the same x they see the same count.
// T   texel i = (d_i, e_i, 0, 0)      B   the intervals as a pass before has left them; with START one for all, (low, high)
// Cost per fragment: n fetches and 5 flop per trip for each of HALVINGS; 1 fetch more.
// Fetches: n * HALVINGS + 1.
// Barth, Martin and Wilkinson, "Calculation of the eigenvalues of a symmetric tridiagonal matrix by the method of bisection"
// (1967); LAPACK stebz.

#ifndef HALVINGS
#define HALVINGS 1  // in one pass
#endif
#ifndef START
#define START 0  // all intervals are the same one (0, 1)
#endif

uniform sampler2D T;
uniform sampler2D B;
uniform int n;
uniform int first;  // number of the eigenvalue of fragment 0

layout(location = 0) out vec4 result;

const float LEAST = 1e-30;  // entries are near 1: a q below counts as negative, and its quotient stays in the range

int below(float x) {
    int count = 0;
    float q = 1.0, e = 0.0;
    for (int i = 0; i < n; ++i) {
        vec2 own = texelFetch(T, ivec2(i, 0), 0).rg;
        q = own.r - x - e * e / q;
        if (abs(q) < LEAST) q = -LEAST;
        count += int(q < 0.0);
        e = own.g;
    }
    return count;
}

void main() {
    int k = int(gl_FragCoord.x);
    vec4 before = texelFetch(B, ivec2(START == 1 ? 0 : k, 0), 0);
    vec2 interval = START == 1 ? before.rg : before.gb;
    for (int halving = 0; halving < HALVINGS; ++halving) {
        float x = 0.5 * (interval.x + interval.y);
        if (below(x) > first + k) interval.y = x;
        else interval.x = x;
    }
    result = vec4(0.5 * (interval.x + interval.y), interval, 0.0);
}
