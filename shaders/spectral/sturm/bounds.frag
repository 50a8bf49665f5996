// An interval that holds all eigenvalues of T: (least, largest) of d_i -+ (|e_{i-1}| + |e_i|).
//
// One fragment computes it.
// T   texel i = (d_i, e_i, 0, 0)
// Cost per fragment: n fetches.
// Fetches: n.
// Gershgorin 1931.

uniform sampler2D T;
uniform int n;

layout(location = 0) out vec4 interval;

void main() {
    float before = 0.0;
    vec2 found = texelFetch(T, ivec2(0), 0).rr;
    for (int i = 0; i < n; ++i) {
        vec2 own = texelFetch(T, ivec2(i, 0), 0).rg;
        float radius = before + abs(own.g);
        found = vec2(min(found.x, own.r - radius), max(found.y, own.r + radius));
        before = abs(own.g);
    }
    interval = vec4(found, 0.0, 0.0);
}
