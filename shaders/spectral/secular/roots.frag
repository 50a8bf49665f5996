// The root of the secular equation 1 + rho sum z_i^2 / (d_i - x) = 0 behind pole p: (lambda, offset, origin, live).
//
// It is found as an offset from the nearer of the two poles around it, which keeps the digits of lambda - d. Each turn
// solves the quadratic of Li's middle way, two poles with the slopes of the sums on their sides; a bracket with bisection
// holds it. The last root has rho |z|^2 behind its pole as a bracket. Where z is zero, lambda is the pole (live 0).
// A fragment computes one root.
// G   poles (d, z, w, leader)      T   (d, e)      R   with CONTINUE: the roots as far as they are found
// Cost per fragment: 1 fetch and 9 flop per trip, up to (TURNS + 2) trips for each pole of the block; 3 fetches more.
// Li, "Solving secular equations stably and efficiently", LAPACK working note 89 (1993); Bunch, Nielsen and Sorensen 1978.

#ifndef TURNS
#define TURNS 24  // turns at most; 5 to 17 were seen
#endif
#ifndef CONTINUE
#define CONTINUE 0  // begins at the root that a pass before has left (0, 1)
#endif

#include "spectral/secular/block.glsl"

uniform sampler2D G;
uniform sampler2D T;
#if CONTINUE
uniform sampler2D R;
#endif

layout(location = 0) out vec4 result;

const float EXACT = 2.38418579e-7;      // 4 u: f is zero as far as its terms say
const float WIDENED = 1.0 + 4.76837158e-7;  // 8 u

float rho;

float value_of(Block b, float at, float offset) {
    float f = 1.0;
    for (int j = b.start; j < b.end; ++j) {
        vec4 pole = line(G, j);
        if (pole.g != 0.0) f += rho * pole.g * pole.g / ((pole.r - at) - offset);
    }
    return f;
}

// The next offset by the quadratic through f with poles at distances `one` and `two`, and slopes psi and phi.
float middle_way(float offset, float f, float one, float two, float psi, float phi) {
    float c = f - one * psi - two * phi;
    float a = (one + two) * f - one * two * (psi + phi);
    float b = one * two * f;
    float r = sqrt(max(a * a - 4.0 * b * c, 0.0));
    return offset + (a <= 0.0 ? (a - r) / (2.0 * c) : 2.0 * b / (a + r));
}

void main() {
    int p = int(gl_FragCoord.x), next = -1;
    Block b = block_of(p);
    vec4 own = line(G, p);
    result = vec4(own.r, 0.0, float(p), 0.0);
    if (own.g == 0.0) return;
    rho = abs(coupling(T, b));
    float total = 0.0, right = 0.0;
    for (int j = b.start; j < b.end; ++j) {
        vec4 pole = line(G, j);
        total += pole.g * pole.g;
        if (j > p && next < 0 && pole.g != 0.0) {
            next = j;
            right = pole.r;
        }
    }
    float width = next < 0 ? rho * total * WIDENED : right - own.r;
#if CONTINUE
    vec4 found = line(R, p);
    bool from_left = int(found.b) == p;
    float low = from_left ? 0.0 : -width, high = from_left ? width : 0.0, offset = found.g;
#else
    bool first_half = value_of(b, own.r, 0.5 * width) >= 0.0, from_left = first_half || next < 0;
    float low = from_left && first_half ? 0.0 : (from_left ? 0.5 : -0.5) * width;
    float high = from_left ? (first_half ? 0.5 * width : width) : 0.0, offset = 0.5 * (low + high);
#endif
    float at = from_left ? own.r : right, left = from_left ? 0.0 : -width, end = from_left ? width : 0.0;
    for (int turn = 0; turn < TURNS; ++turn) {
        float f = 1.0, size = 1.0, psi = 0.0, phi = 0.0;
        for (int j = b.start; j < b.end; ++j) {
            vec4 pole = line(G, j);
            if (pole.g == 0.0) continue;
            float distance_ = (pole.r - at) - offset, term = rho * pole.g * pole.g / distance_, slope = term / distance_;
            f += term;
            size += abs(term);
            if (j <= p) psi += slope;
            else phi += slope;
        }
        if (abs(f) <= EXACT * size) break;
        if (f < 0.0) low = max(low, offset);
        else high = min(high, offset);
        float to = middle_way(offset, f, left - offset, end - offset, psi, phi);
        offset = to > low && to < high ? to : 0.5 * (low + high);
    }
    result = vec4(at + offset, offset, float(from_left ? p : next), 1.0);
}
