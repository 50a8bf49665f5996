// C += A[:, slice] B[slice, :]: the layers of the virtual cube as the first GPUs drew them, one element to a texel.
//
// Fixed-function hardware could do no more than this: multiply two textures, a column of A spread along the rows of the
// target and a row of B spread along its columns, and let the blender add the product to what is there. A pass is one
// inner index. (Theirs had 8 bits for a number; a float target is what has become of it.)
// A fragment computes one term of one element of C.
// A   rows x inner      B   inner x columns      C   rows x columns      all with one element per texel
// Cost per fragment: 2 fetches and 2 flop, one of them the blender's.
// Fetches: 2.
// Larsen and McAllister, "Fast matrix multiplies using graphics hardware" (2001).

uniform sampler2D A;
uniform sampler2D B;
uniform int slice;  // inner index

layout(location = 0) out float term;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    term = texelFetch(A, ivec2(slice, texel.y), 0).r * texelFetch(B, ivec2(texel.x, slice), 0).r;
}
