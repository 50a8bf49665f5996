// V with the signs of its columns.
//
// A fragment computes one 2x2 block.
// V   packed      signs   of columns 2x and 2x + 1 (spectral/eigh/signs.frag)
// Cost per fragment: 2 fetches.
// Fetches: 2.

uniform sampler2D V;
uniform sampler2D signs;

layout(location = 0) out vec4 result;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    result = texelFetch(V, texel, 0) * texelFetch(signs, ivec2(texel.x, 0), 0).rgrg;
}
