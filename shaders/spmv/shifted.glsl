// Texels of x, the vector of a sparse product, that are some texels behind the fragment's own: LOAD(name, q).
//
// q is a constant. One outside of x is any texel of x; it meets zeros of A. With SAMPLED rows of x and of the result are
// equally wide, so that a texel's place follows from the own one; otherwise it is worked out of its number.
// x is a sampler of the shader that includes this file.

#ifndef LOADS
#define LOADS LOAD(x0, 0)  // LOAD(name, q) of each texel of x
#endif
#ifndef X_FETCHES
#define X_FETCHES 1  // number of them
#endif
#ifndef X_TEXELS
#define X_TEXELS 1  // texels of x
#endif
#ifndef X_WIDTH
#define X_WIDTH 1  // texels in a row of x
#endif
#ifndef X_HEIGHT
#define X_HEIGHT 1  // texels in a column of x
#endif

#if SAMPLED
// Some texels to the right of the own place, 0 to X_WIDTH - 1, and some rows below; or where that leaves the row, in the next.
vec4 x_beside(int right, int down) {
    vec2 place = gl_FragCoord.xy;
    vec2 within = vec2(right, down);
    vec2 beyond = vec2(right - X_WIDTH, down + 1);
    place += right == 0 || place.x < float(X_WIDTH - right) ? within : beyond;
    return texture(x, place * vec2(1.0 / float(X_WIDTH), 1.0 / float(X_HEIGHT)));
}

#define ROWS_BELOW(q) ((q) >= 0 ? (q) / X_WIDTH : -((X_WIDTH - 1 - (q)) / X_WIDTH))
#define LOAD(name, q) vec4 name = x_beside((q) - ROWS_BELOW(q) * X_WIDTH, ROWS_BELOW(q));
#else
vec4 x_texel(int t) {
    t = clamp(t, 0, X_TEXELS - 1);
    int row = t / X_WIDTH;
    return texelFetch(x, ivec2(t - row * X_WIDTH, row), 0);
}

#define LOAD(name, q) vec4 name = x_texel(own_texel() + (q));
#endif
