// colour = the surface of the water from above, lit from one side: (red, green, blue, 1), each in 0 to 1.
//
// A fragment computes one texel of the picture, `zoom` x `zoom` of which are a cell; the elevation is interpolated between
// the middles of cells. Slopes turn the light, deep water is dark, and crests are white.
// state    (z, u, v, h) of each cell
// colour   zoom cells across and down
// Cost per fragment: 5 fetches.
// Horn, "Hill shading and the reflectance map" (1981).

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform int zoom;
uniform vec3 look;  // slope that turns the light by half, elevation of a white crest, depth of dark water

layout(location = 0) out vec4 colour;

void main() {
    vec2 place = gl_FragCoord.xy / float(zoom) - 0.5;
    ivec2 c = ivec2(floor(place));
    vec2 part = place - floor(place);
    float a = cell(state, c).r;
    float b = cell(state, c + ivec2(1, 0)).r;
    float d = cell(state, c + ivec2(0, 1)).r;
    float e = cell(state, c + ivec2(1, 1)).r;
    float z = mix(mix(a, b, part.x), mix(d, e, part.x), part.y);
    vec2 slope = vec2(mix(b - a, e - d, part.y), mix(d - a, e - b, part.x)) / look.x;
    float light = dot(normalize(vec3(-slope, 1.0)), normalize(vec3(-1.0, 1.0, 1.2)));
    float deep = clamp(cell(state, ivec2(gl_FragCoord.xy) / zoom).a / look.z, 0.0, 1.0);
    vec3 water = mix(vec3(0.16, 0.62, 0.66), vec3(0.03, 0.22, 0.42), deep);
    vec3 lit = water * (0.25 + 1.35 * max(light, 0.0));
    float glint = pow(max(light, 0.0), 12.0);
    lit += vec3(0.35 * glint);
    float crest = clamp(z / look.y, 0.0, 1.0);
    colour = vec4(clamp(mix(lit, vec3(0.93, 0.97, 1.0), 0.55 * crest), 0.0, 1.0), 1.0);
}
