// Conway's Game of Life: next[i, j] = 1 where three live cells are near, or four of which (i, j) is one, else 0.
//
// A fragment computes four cells. Near are a cell and its eight neighbours; the edges meet, as on a torus.
// A   rows x columns, packed: 1 is a live cell, 0 a dead one      next   rows x columns, packed
// Cost per fragment: 40 fetches. M. Gardner, "Mathematical games", Scientific American, October 1970.

#include "lib/elements.glsl"
uniform sampler2D A;
layout(location = 0) out vec4 next;

float life(int i, int j) {
    float near = 0.0;
    for (int k = 0; k < 9; ++k) near += element_wrapped(A, i + k / 3 - 1, j + k % 3 - 1);
    return near == 3.0 || (near == 4.0 && element(A, i, j) == 1.0) ? 1.0 : 0.0;
}

void main() { next = each_element(life); }
