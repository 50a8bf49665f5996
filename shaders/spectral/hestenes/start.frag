// [ R^T ; I ]: the columns that are turned, and below them those that take part in every turn.
//
// R       packed, square
// result  packed, the identity from texel row `height` on
// Cost per fragment: 1 fetch.

uniform sampler2D R;
uniform int height;  // of R in texels

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    if (own.y < height) result = texelFetch(R, own.yx, 0).rbga;
    else result = own.y - height == own.x ? vec4(1.0, 0.0, 0.0, 1.0) : vec4(0.0);
}
