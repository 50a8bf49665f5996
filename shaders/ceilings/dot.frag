// dot = value: one number for every texel
//
// The least that a fragment can do, so the pass costs as much as the draw itself.
//
// A fragment computes one texel.
// Cost per fragment: nothing.

uniform float value;

layout(location = 0) out vec4 dot_;

void main() {
    dot_ = vec4(value);
}
