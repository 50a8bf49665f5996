// The strips of C that a pass draws: that of the first 8 rows is the step of the pass.

#include "matmul/strip_corner.glsl"
