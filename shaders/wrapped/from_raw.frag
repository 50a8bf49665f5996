// result[i] = raw[start + record (i / length) + i % length]: parts of records, from one element per texel to wrapped.
//
// A fragment computes four elements.
// raw   one element per texel, row by row      result   wrapped
// Cost per fragment: 4 fetches.

#include "lib/wrapped.glsl"

uniform sampler2D raw;
uniform ivec3 part;  // place of the first element, elements of a record, elements that are taken of each

layout(location = 0) out vec4 result;

void main() {
    result = vec4(0.0);
    if (is_spare()) return;
    ivec4 own = own_elements();
    ivec4 record = own / part.z;
    ivec4 place = part.x + record * part.y + (own - record * part.z);
    int width = textureSize(raw, 0).x;
    vec4 texel;
    for (int c = 0; c < 4; ++c) texel[c] = texelFetch(raw, place_of(place[c], width), 0).r;
    result = without_spare(texel);
}
