// K = (alpha, beta, gamma, stop), F = (state, iterations, 0, 0): the numbers of an iteration of conjugate gradients.
//
//     gamma' = r r, beta = gamma' / gamma, alpha = gamma' / (w r - beta gamma' / alpha); stop at gamma' <= tolerance^2 gamma'_0
//
// One fragment. State 1: it is solved; 2: it breaks down. From then on alpha and beta are zero, and x stays as it is.
// D      sums of r r and w r      K, F   of the iteration before; zero before the first one
// K_next, F_next   of this one
// Cost per fragment: 3 fetches.
// Chronopoulos and Gear 1989.

#include "lib/ieee.glsl"

uniform sampler2D D;
uniform sampler2D K;
uniform sampler2D F;
uniform float tolerance;

layout(location = 0) out vec4 K_next;
layout(location = 1) out vec4 F_next;

void main() {
    vec4 sums = texelFetch(D, ivec2(0), 0);
    vec4 old = texelFetch(K, ivec2(0), 0);
    float done = texelFetch(F, ivec2(0), 0).g;
    bool first = done == 0.0;
    float gamma = sums.g;
    float stop = first ? tolerance * tolerance * gamma : old.a;
    float beta = first ? 0.0 : gamma / old.b;
    float taken = first ? 0.0 : beta * gamma / old.r;
    float pivot = sums.b - taken;
    float alpha = gamma / pivot;
    bool solved = gamma <= stop;
    bool broken = !solved && (is_nan(alpha) || is_infinite(alpha) || pivot <= 0.0);
    bool over = solved || broken;
    K_next = over ? vec4(0.0, 0.0, gamma, stop) : vec4(alpha, beta, gamma, stop);
    F_next = vec4(broken ? 2.0 : (solved ? 1.0 : 0.0), over ? done : done + 1.0, 0.0, 0.0);
}
