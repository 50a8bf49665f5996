// s = r - alpha v: the residual after half a step.
//
// A fragment computes four elements.
// r, v  wrapped        K  (alpha, ...), a texel
// Cost per fragment: 3 fetches, 8 flop.
// Fetches: 3.
// Van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992).

uniform sampler2D r;
uniform sampler2D v;
uniform sampler2D K;

layout(location = 0) out vec4 s;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    float alpha = texelFetch(K, ivec2(0), 0).r;
    s = texelFetch(r, own, 0) - alpha * texelFetch(v, own, 0);
}
