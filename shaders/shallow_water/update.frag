// p = r + beta p, s = w + beta s, x = x + alpha p, r = r - alpha s: an iteration of conjugate gradients.
//
// A fragment computes one cell.
// S, S_next   (x, r, p, s)      W   (w, -, -, -)      K   (alpha, beta, -, -)
// Cost per fragment: 3 fetches.
// Chronopoulos and Gear 1989.

uniform sampler2D S;
uniform sampler2D W;
uniform sampler2D K;

layout(location = 0) out vec4 S_next;

void main() {
    ivec2 c = ivec2(gl_FragCoord.xy);
    vec4 old = texelFetch(S, c, 0);
    vec2 scalars = texelFetch(K, ivec2(0), 0).rg;
    float p = scalars.g * old.b;
    p += old.g;
    float s = scalars.g * old.a;
    s += texelFetch(W, c, 0).r;
    float x = scalars.r * p;
    float r = scalars.r * s;
    S_next = vec4(old.r + x, old.g - r, p, s);
}
