// The strip of C that a pass draws: that of 16 rows, the step of the pass.

#include "matmul/strip_corner.glsl"
