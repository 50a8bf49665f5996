// A vector of zeros.
//
// Cost per fragment: nothing.
// Fetches: 0.

layout(location = 0) out vec4 zeros;

void main() {
    zeros = vec4(0.0);
}
