// Whether a matrix of a stack is accepted by its certificate, a texel by spectral/eigh/judge.frag.

uniform sampler2D certificate;
uniform float most;  // square of an error, relative to that of norm(A), that is accepted

bool accepted() {
    vec3 found = texelFetch(certificate, at(ivec2(0)), 0).rgb;
    return found.r <= most * found.b && found.g <= most;
}
