// (a b + c, (a + d) - a, ((a + d) 1) - a, 0): which expressions the compiler changes
//
// What the compiler makes of an expression. With c = -(a b rounded), the first is 0 where the product is rounded
// before the sum, and the rounding error where the two are contracted into one operation. With d far below a, the
// second is 0 as written and d where the compiler simplified it. The third is the same behind a factor that the
// compiler cannot know.
//
// A fragment computes the three numbers of one texel.
// operands   a, b, c, d in the channels r, g, b, a
// Cost per fragment: 1 fetch and 7 flop.
// Dekker, "A floating-point technique for extending the available precision" (1971), for what folding would destroy.

uniform sampler2D operands;
uniform float one;  // 1.0

layout(location = 0) out vec4 result;

void main() {
    vec4 v = texelFetch(operands, ivec2(gl_FragCoord.xy), 0);
    result = vec4(v.r * v.g + v.b, (v.r + v.a) - v.r, ((v.r + v.a) * one) - v.r, 0.0);
}
