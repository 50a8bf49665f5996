// x = X + D: a correction is added.
//
// A fragment computes one unknown.
// X, D, x   n unknowns of each system
// Cost per fragment: 2 fetches.
// Skeel, "Iterative refinement implies numerical stability for Gaussian elimination" (1980).

uniform sampler2D X;
uniform sampler2D D;

layout(location = 0) out float x;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    x = texelFetch(X, texel, 0).r + texelFetch(D, texel, 0).r;
}
