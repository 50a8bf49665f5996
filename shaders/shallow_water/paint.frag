// colour = the surface of the water from above, lit from one side: (red, green, blue, 1), each in 0 to 1.
//
// A fragment computes one texel of the picture, `zoom` x `zoom` of which are a cell; the elevation is interpolated between
// the middles of cells. Its colour follows from its sign, by the square root; slopes turn the light, shallow ground is grey.
// state    (z, u, v, h) of each cell
// colour   zoom cells across and down
// Cost per fragment: 5 fetches.
// Horn, "Hill shading and the reflectance map" (1981).

#include "shallow_water/water.glsl"

uniform sampler2D state;
uniform int zoom;
uniform vec3 look;   // slope that turns the light by half, elevation of full colour, depth of white ground
uniform vec3 above;  // colours of elevations above zero and below it
uniform vec3 below;

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
    float strength = min(sqrt(abs(z) / look.y), 1.0);
    vec3 water = mix(vec3(mix(0.8, 1.0, deep)), z < 0.0 ? below : above, strength);
    colour = vec4(clamp(water * (0.6 + 0.62 * max(light, 0.0)), 0.0, 1.0), 1.0);
}
