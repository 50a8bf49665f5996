// [A | B]: two matrices side by side; B starts at a whole texel.
//
// A fragment copies one 2x2 block.
// A   rows x columns, packed, in `left` columns of texels      B   rows x columns, packed
// Fetches: 1.

uniform sampler2D A;
uniform sampler2D B;
uniform int left;  // texel column where B starts

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    if (texel.x < left) {
        result = texelFetch(A, texel, 0);
    } else {
        result = texelFetch(B, texel - ivec2(left, 0), 0);
    }
}
