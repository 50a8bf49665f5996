// Q with the signs of R's diagonal in its columns: as the half was, made orthonormal.
//
// Q, R   packed, square
// Cost per fragment: 2 fetches.

uniform sampler2D Q;
uniform sampler2D R;

layout(location = 0) out vec4 result;

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    vec2 diagonal = texelFetch(R, own.xx, 0).ra;
    result = texelFetch(Q, own, 0) * mix(vec2(1.0), vec2(-1.0), lessThan(diagonal, vec2(0.0))).rgrg;
}
