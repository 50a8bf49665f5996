// x = X + C: a correction is added.
//
// A fragment computes one pair.
// X, C, x   n pairs of each system
// Cost per fragment: 2 fetches.
// Skeel, "Iterative refinement implies numerical stability for Gaussian elimination" (1980).

uniform sampler2D X;
uniform sampler2D C;

layout(location = 0) out vec2 x;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    x = texelFetch(X, texel, 0).rg + texelFetch(C, texel, 0).rg;
}
