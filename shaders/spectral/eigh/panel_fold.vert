// The same columns, then groups of the rows that remain, then the rows.

#include "spectral/eigh/panel.glsl"

void main() {
    begin_column();
    gl_Position = corner_of(ivec4(0, 0, j + 1 + side + groups + part, 1), ivec4(0));
}
