// The largest of all rows, of all matrices of a stack: (1 where the sweeps stop, or 0; the others as in `off_rows`).
//
// A fragment takes `chunk` x `chunk` texels; passes follow each other until one texel is left.
// rows  texels of `off_rows`, or of the pass before
// Cost per fragment: chunk^2 fetches.

uniform sampler2D rows;
uniform int chunk;
uniform float enough;  // ratio at which the sweeps stop

layout(location = 0) out vec4 off;

void main() {
    ivec2 start = ivec2(gl_FragCoord.xy) * chunk;
    ivec2 end = min(start + chunk, textureSize(rows, 0));
    vec3 most = vec3(0.0);
    for (int y = start.y; y < end.y; ++y) {
        for (int x = start.x; x < end.x; ++x) most = max(most, texelFetch(rows, ivec2(x, y), 0).gba);
    }
    off = vec4(most.x > enough ? 0.0 : 1.0, most);
}
