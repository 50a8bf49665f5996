// max |a_ij| over `chunk` x `chunk` texels: one step of a reduction over a whole matrix.
//
// A fragment computes one texel (max, 0, 0, 0); passes follow each other until one texel is left. NaN stays NaN
// (GLSL's max would drop it).
// A   any texture whose unused channels and padding are zero
// Cost per fragment: chunk^2 fetches.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 2.2.4 (reduction by rendering to ever smaller targets).

uniform sampler2D A;
uniform int chunk;
uniform ivec2 size;  // height and width of A in texels

layout(location = 0) out vec4 result;

float larger(float a, float b) {
    return a != a || b != b ? a + b : max(a, b);
}

void main() {
    ivec2 start = ivec2(gl_FragCoord.xy) * chunk;
    ivec2 end = min(start + chunk, size.yx);
    float most = 0.0;
    for (int y = start.y; y < end.y; ++y) {
        for (int x = start.x; x < end.x; ++x) {
            vec4 block = abs(texelFetch(A, ivec2(x, y), 0));
            most = larger(most, larger(larger(block.r, block.g), larger(block.b, block.a)));
        }
    }
    result = vec4(most, 0.0, 0.0, 0.0);
}
