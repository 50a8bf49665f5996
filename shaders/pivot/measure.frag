// Pivot search: the best candidate among `chunk` texels of the column pair (2k, 2k+1).
//
// With NORM == 0: Pivot search, first of two: the largest entry among `chunk` texels of column 2k.
// With NORM == 1: Pivot search, second of two: the largest entry among `chunk` texels of column 2k+1 as it will be.
//
// A fragment computes one candidate (norm, p, q, w): how good it is, the row to bring up first, and where the row to
// bring up second stands after that. norm = -1: no candidate here.
//
// PARTIAL_FIRST    norm = |a[i, 2k]|, row p = i alone.
// PARTIAL_SECOND   norm = |a[i, 2k+1] - a[i, 2k] / a[p, 2k] * a[p, 2k+1]|, with p known: the next column as it will be.
//                  With FIXED the candidate also names p, so that whoever reads it need not look for p again.
// HARMONIC, GEOMETRIC   both rows at once, see lib/block_norm.glsl
//
// w is the largest entry seen (block norms, or FIXED), or the sum of magnitudes in the rows already reduced (partial
// pivoting of an echelon form): see lib/threshold.glsl.
//
// A          rows x columns, packed
// firsts     the candidates of PARTIAL_FIRST, a column of texels
// record     the record of the step before, whose alpha is the number of pivots so far; with FIXED that is top + 2k
// tolerance  1x1: absolute and relative; with FIXED zero
// Cost per fragment: `chunk` fetches (PARTIAL_SECOND: one more for each candidate of PARTIAL_FIRST); 1 to 12 flop for each row.
// Fetches: 8 to chunk + 7 + (NORM == 1) * ((shape_x / 2 + chunk) / chunk + 9) + (FIXED == 0) * (1 + (NORM > 0)).
// Brodtkorb, "A MATLAB Interface to the GPU" (2007), section 4.1.2 (norms); LAPACK getf2 (partial pivoting).

#ifndef NORM
#define NORM 0  // 0 PARTIAL_FIRST, 1 PARTIAL_SECOND, 2 HARMONIC, 3 GEOMETRIC
#endif
#ifndef FIXED
#define FIXED 1  // pivot rows are top + 2k and the next (1), or follow the rank found so far (0)
#endif
#if NORM < 0 || NORM > 3
#error NORM must be 0, 1, 2 or 3
#endif

#ifndef BESIDE
#define BESIDE 0  // firsts is a panel, and the candidates stand beside it (1), see plu/panel_step.frag
#endif

#include "lib/packed.glsl"
#include "lib/block_norm.glsl"
#include "lib/threshold.glsl"
#include "lib/best_candidate.glsl"

uniform sampler2D A;
#if NORM == 1
uniform sampler2D firsts;
#endif
#if FIXED
uniform int top;       // first row of the panel
int k;                 // texel column of the panel: that of the fragment, each step has its own
#else
uniform int k;         // texel column of the panel
uniform sampler2D record;
uniform int previous;  // texel of the record of the step before; -1 at the first step
#if NORM >= 1
uniform sampler2D tolerance;
#endif
#endif
uniform int chunk;    // texels that one fragment searches
uniform ivec2 shape;  // rows and columns of A

const int ROWS_AT_ONCE = 8;  // fetches under way at once, see lib/best_candidate.glsl

layout(location = 0) out vec4 candidate;

int rank_before() {
#if FIXED
    return top + 2 * k;
#else
    return previous < 0 ? 0 : int(texelFetch(record, ivec2(previous, 0), 0).a);
#endif
}

vec2 limits() {
#if NORM >= 1 && FIXED == 0
    return texelFetch(tolerance, ivec2(0), 0).rg;
#else
    return vec2(0.0);
#endif
}

#if NORM == 1
// Candidates of PARTIAL_FIRST: as many as fragments have searched.
vec4 first_winner() {
    int height = (shape.x + 1) >> 1;
    ivec2 first = ivec2(0);
#if BESIDE
    first = ivec2((shape.y + 1) >> 1, (top >> 1) + k);
#elif FIXED
    first = ivec2(k, 0);
#endif
#if FIXED
    height -= (top >> 1) + k;
#endif
    return best_candidate(firsts, first, (height + chunk - 1) / chunk);
}
#endif

#if NORM <= 1

// What partial pivoting knows before it looks at row i: the first pivot, if the column pair has one already.
bool found = false;
int p = -1;                  // its row
vec2 pivot = vec2(0.0);      // its entries
vec2 displaced = vec2(0.0);  // those of the row that changes places with it
int r;                       // pivots so far

float entry(vec2 row) {
#if NORM == 0
    return row.x;
#else
    return found ? row.y - multiplier(row.x, pivot.x) * pivot.y : row.y;
#endif
}

void look_at(int i, vec2 row) {
    if (i >= shape.x) return;
    bool open = i >= r + int(found && FIXED == 0) && (i > r || NORM == 0 || FIXED == 0);
    if (i == p) row = displaced;
    if (open) {
#if NORM == 0
        offer(abs(entry(row)), i, -1);
#else
        if (2 * k + 1 < shape.y) offer(abs(entry(row)), -1, i);
#endif
    }
#if FIXED
    if (open) best.w = max(best.w, max(abs(row.x), abs(row.y)));
#else
    // Row r holds the first pivot by the time the second is sought, divided by it.
    if (i < r) best.w += abs(entry(row));
    else if (found && i == r) best.w += abs(multiplier(pivot.y, pivot.x));
#endif
}

void look_at_texel(int y, vec4 block) {
    look_at(2 * y, block.rg);
    look_at(2 * y + 1, block.ba);
}

void prepare() {
#if NORM == 1
    vec4 leader = first_winner();
    found = leader.x > threshold(limits(), leader.w, float(r));
    p = found ? int(leader.y) : -1;
    if (found) {
        pivot = row_pair(A, p, k);
        displaced = row_pair(A, r, k);
    }
#endif
}

#else

int r;           // pivots so far
float smallest;  // a pivot up to this is none

void look_at_texel(int y, vec4 block) {
    look_at_block(y, block, r, shape.x, 2 * k + 1 >= shape.y, smallest);
}

void prepare() {
    smallest = limits().r;
}

#endif

void main() {
#if FIXED
    k = int(gl_FragCoord.x);
#endif
    r = rank_before();
#if FIXED
    int start = (top >> 1) + k + int(gl_FragCoord.y) * chunk;
#else
    int start = int(gl_FragCoord.y) * chunk;
#endif
    int end = min(start + chunk, (shape.x + 1) >> 1);
    prepare();
    for (int y = start; y < end; y += ROWS_AT_ONCE) {
        vec4 some[ROWS_AT_ONCE];
        for (int i = 0; i < ROWS_AT_ONCE; ++i) some[i] = texelFetch(A, ivec2(k, min(y + i, end - 1)), 0);
        for (int i = 0; i < ROWS_AT_ONCE; ++i) {
            if (y + i < end) look_at_texel(y + i, some[i]);
        }
    }
#if NORM == 1 && FIXED
    best.y = float(found ? p : r);
#endif
    candidate = best;
}
