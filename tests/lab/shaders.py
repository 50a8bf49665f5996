"""A shader of a user's: a product as the interface wants it, and the same with one wrong element."""

HEAD = """\
// Mine.

uniform sampler2D A;
uniform sampler2D B;
uniform int first;
uniform int count;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 sum = vec4(0.0);
    for (int k = first; k < first + count; ++k) {
        vec4 a = texelFetch(A, ivec2(k, texel.y), 0);
        vec4 b = texelFetch(B, ivec2(texel.x, k), 0);
        sum += a.rrbb * b.rgrg;
        sum += a.ggaa * b.baba;
    }
    result = sum;
"""
PRODUCT = HEAD + "}\n"
WRONG = HEAD + "    if (texel == ivec2(2, 1)) result.b += 1.0;  // C[3, 4]\n}\n"
