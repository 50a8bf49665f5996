// A factorised panel, put into its columns of LU.
//
// A fragment copies one texel.
// P   the panel, packed      Cost per fragment: 1 fetch.
// Fetches: 1.

uniform sampler2D P;
uniform int left;  // texel column of LU that is column 0 of the panel

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(P, texel - ivec2(left, 0), 0);
}
