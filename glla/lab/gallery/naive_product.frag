// C = A B, as simply as it can be written: a texel of C is a 2x2 block, the sum of products of 2x2 blocks of A and B.
//
// A fragment computes one texel of C: it walks along a row of texels of A, and down a column of texels of B.
// A   rows x inner, packed      B   inner x columns, packed
// Cost per fragment: 2 fetches and 16 flop per trip, `count` trips.
//
// Try it:    glla shader show naive_product > my.frag && glla compare matmul --shader my.frag
// Break it:  leave out a term, and see the picture of where it is wrong.

uniform sampler2D A;
uniform sampler2D B;
uniform int first;  // first texel of the inner dimension
uniform int count;  // texels of the inner dimension

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);  // x: column of texels, y: row of texels
    vec4 sum = vec4(0.0);
    for (int k = first; k < first + count; ++k) {
        vec4 a = texelFetch(A, ivec2(k, texel.y), 0);
        vec4 b = texelFetch(B, ivec2(texel.x, k), 0);
        //  r g     ar br + ag bb    ar bg + ag ba
        //  b a     ab br + aa bb    ab bg + aa ba
        sum.r += a.r * b.r + a.g * b.b;
        sum.g += a.r * b.g + a.g * b.a;
        sum.b += a.b * b.r + a.a * b.b;
        sum.a += a.b * b.g + a.a * b.a;
    }
    result = sum;  // where A and B are padded with zeros, so is the sum
}
