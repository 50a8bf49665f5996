// (-, sum, sum, -): dot products of conjugate gradients, one step of their reduction.
//
// A fragment adds `chunk` x `chunk` texels, lines first.
// A       W of `product`, or the result of the pass before
// total   likewise
// Cost per fragment: chunk^2 fetches.
// Chronopoulos and Gear 1989.

uniform sampler2D A;
uniform int chunk;
uniform ivec2 size;  // texels of A across and down

layout(location = 0) out vec4 total;

void main() {
    ivec2 start = ivec2(gl_FragCoord.xy) * chunk;
    ivec2 end = min(start + chunk, size);
    vec2 sum = vec2(0.0);
    for (int y = start.y; y < end.y; ++y) {
        vec2 line = vec2(0.0);
        for (int x = start.x; x < end.x; ++x) line += texelFetch(A, ivec2(x, y), 0).gb;
        sum += line;
    }
    total = vec4(0.0, sum, 0.0);
}
