// Elementary cellular automaton: next[i] = the bit of `rule` whose number A[i-1] A[i] A[i+1] are the digits of.
//
// A fragment computes four cells. The ends meet, as on a ring.
// A   int32, 1 is a live cell, 0 a dead one      next   as A
// Cost per fragment: 12 fetches.
// S. Wolfram, "Statistical mechanics of cellular automata", Reviews of Modern Physics 55, 1983.

#include "lib/array.glsl"
uniform isampler2D A;
uniform int rule;
layout(location = 0) out ivec4 next;

int cell(int i) { return element(A, wrapped(i, size)); }

int following(int i) { return rule >> (4 * cell(i - 1) + 2 * cell(i) + cell(i + 1)) & 1; }

void main() { next = each_element(following); }
