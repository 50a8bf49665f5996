// dot = value: one number for every texel
//
// As little as a fragment can do: what remains is the price of the draw.
//
// A fragment computes one texel.
// Cost per fragment: nothing.

uniform float value;

layout(location = 0) out vec4 dot_;

void main() {
    dot_ = vec4(value);
}
