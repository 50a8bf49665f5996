// A window of texels: result(x, y) = A(x + left, y + top), wherever it is drawn.
//
// A fragment copies one texel.
// A   packed      corner   (left, top); negative where a block is put into a larger matrix
// Cost per fragment: 1 fetch.

#ifndef A_AT
#define A_AT 0  // column where A begins in one texture, see lib/sheet.glsl
#endif

uniform sampler2D A;
uniform ivec2 corner;

layout(location = 0) out vec4 result;

void main() {
    result = texelFetch(A, ivec2(gl_FragCoord.xy) + corner + ivec2(A_AT, 0), 0);
}
