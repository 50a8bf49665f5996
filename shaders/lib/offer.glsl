// The candidate of a fragment that searches rows for a pivot: (norm, p, q, w).
//
// norm says how good it is; -1: there is none. p is the row to bring up first, q the place where the row to bring up second
// is after that; -1: not looked for. w goes with the search: the largest entry seen, or a sum of magnitudes.

vec4 best = vec4(-1.0, -1.0, -1.0, 0.0);

// Of equals the first stays.
void offer(float norm, int p, int q) {
    if (norm > best.x) best.xyz = vec3(norm, p, q);
}
