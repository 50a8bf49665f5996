// The largest eigenvalues of the matrix of order 2n, descending: the singular values.
//
// L   a line of n texels (eigenvalue, ...), ascending, all or the largest ones
// S   a line of texels (value, 0, 0, 0)
// Cost per fragment: 1 fetch.

uniform sampler2D L;
uniform int n;

layout(location = 0) out vec4 S;

void main() {
    S = vec4(max(texelFetch(L, ivec2(n - 1 - int(gl_FragCoord.x), 0), 0).r, 0.0), 0.0, 0.0, 0.0);
}
