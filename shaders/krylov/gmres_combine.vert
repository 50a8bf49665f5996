// What a vector loses along a part of the basis. The pass's number: the round, 0 or 1, how many vectors there are, the part.

#include "lib/fullscreen.glsl"
#include "krylov/products.glsl"

flat out int held;            // vectors of the part
flat out vec4 c[STRIDE / 4];
flat out float factor;        // of what is left: it is normalised in the last round

void main() {
    int number = step_of_pass();
    int turn = number & 1, count = number / 2 % (STEPS + 1), part = number / 2 / (STEPS + 1);
    held = min(count - part * PART, PART);
    bool last = turn == 1 && held + part * PART == count;
    float whole = last ? four(count, 1, part * STRIDE / 4).r : 0.0, left = whole;
    for (int g = 0; 4 * g <= held; ++g) {
        c[g] = along(count, turn, part * STRIDE / 4 + g);
        left -= dot(c[g], c[g]);
    }
    factor = last ? quotient(1.0, norm(left, whole)) : 1.0;
    if (!is_finite(factor)) factor = 0.0;
    gl_Position = triangle_corner();
}
