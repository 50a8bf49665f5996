// u with the signs with which its columns agree with those of v.
//
// u   packed, of order n      S   a line of texels, see `agree`
// Cost per fragment: 3 fetches.

uniform sampler2D u;
uniform sampler2D S;
uniform int n;

layout(location = 0) out vec4 result;

float sign_of(int column) {
    return texelFetch(S, ivec2(min(column, n - 1), 0), 0).g;
}

void main() {
    ivec2 own = ivec2(gl_FragCoord.xy);
    result = texelFetch(u, own, 0) * vec2(sign_of(2 * own.x), sign_of(2 * own.x + 1)).rgrg;
}
