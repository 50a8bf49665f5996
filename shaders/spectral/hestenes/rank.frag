// How many of n numbers come before each: descending, equal ones by their places.
//
// sizes  a line of texels (number, ...)
// ranks  a line of texels (rank, 0, 0, 0)
// Cost per fragment: n + 1 fetches.

uniform sampler2D sizes;
uniform int n;

layout(location = 0) out vec4 ranks;

void main() {
    int own = int(gl_FragCoord.x);
    float size = texelFetch(sizes, ivec2(own, 0), 0).r;
    ranks = vec4(0.0);
    for (int i = 0; i < n; ++i) {
        float other = texelFetch(sizes, ivec2(i, 0), 0).r;
        if (other > size || (other == size && i < own)) ranks.r += 1.0;
    }
}
