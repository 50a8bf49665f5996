// The candidate of a fragment that searches rows for a pivot: (norm, p, q, w), see pivot/measure.frag.

vec4 best = vec4(-1.0, -1.0, -1.0, 0.0);

// Of equals the first stays.
void offer(float norm, int p, int q) {
    if (norm > best.x) best.xyz = vec3(norm, p, q);
}
