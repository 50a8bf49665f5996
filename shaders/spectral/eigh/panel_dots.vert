// The columns of the panel up to x, from the right with one more, then the rows that remain, in two halves; a row of texels for each slice.

#include "spectral/eigh/panel.glsl"

void main() {
    begin_column();
    gl_Position = corner_of(ivec4(0, 0, j + 1 + side + part, slices), ivec4(0));
}
