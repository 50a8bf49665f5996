// y[i] = sum over d of c_d x[i + o_d]: the product of a matrix whose rows are all alike.
//
// A fragment computes four consecutive rows, whose entries are uniforms: nothing of the matrix is fetched. Rows that are
// not like these get another value by `stencil_others`. A diagonal that has no entry in a row has no term there.
// usual  the distinct entries        x, y  wrapped
// Cost per fragment: X_FETCHES fetches, 8 flop for each diagonal.
// Fetches: X_FETCHES.
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 3.1.2.

#ifndef VALUES
#define VALUES 1  // distinct entries
#endif
#ifndef TERMS
#define TERMS y += VALUE(0) * x0;  // the sum, of VALUE(number of an entry)
#endif
#ifndef TEXELS
#define TEXELS 0  // texels of y, where its texture has more: those are zero (0 where it has not)
#endif

#if VALUES > 1
uniform float usual[VALUES];
#define VALUE(number) usual[number]
#else
uniform float usual;
#define VALUE(number) usual
#endif
uniform sampler2D x;

layout(location = 0) out vec4 y;

#include "lib/sampled.glsl"
#include "spmv/sparse.glsl"
#include "spmv/shifted.glsl"

void main() {
    y = vec4(0.0);
    LOADS
    TERMS
#if TEXELS
    if (own_texel() >= TEXELS) y = vec4(0.0);
#endif
}
