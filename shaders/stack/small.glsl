// Matrices of order 4 at most: a fragment has one of them in registers, factors it and substitutes, and computes four
// elements of its record: those of unpack.frag, filled up to whole texels. Additions and multiplications are those of the
// passes of a larger stack, one for one and in their order.
//
// raw      one element per texel, row by row: all A, then all B
// records  four elements per texel: element by element, then diagnostics

#ifndef ORDER
#define ORDER 3  // rows and columns of A (1 to 4)
#endif
#if ORDER < 1 || ORDER > 4
#error ORDER must be 1 to 4
#endif

#include "lib/divide.glsl"

uniform sampler2D raw;
uniform ivec4 extent;  // matrices, columns of X, texels of a record, texels in a row of records

layout(location = 0) out vec4 record;

// Loops have constant ends, so that they are written out and every index is known to the compiler.
#define EACH(i) int i = 0; i < ORDER; ++i

vec4 A[ORDER];  // rows: what remains of the matrix, then its factors
vec4 X[ORDER];  // right-hand sides of the four elements, then solutions
int matrix;     // of this fragment
int place;      // of the first of the four elements in the record

bool is_spare() {
    int texel = int(gl_FragCoord.y) * extent.w + int(gl_FragCoord.x);
    matrix = texel / extent.z;
    place = 4 * (texel - matrix * extent.z);
    record = vec4(0.0);
    return matrix >= extent.x;
}

int row_of(int e) {  // of element e of X
    return int((float(e) + 0.5) / float(extent.y));
}

int column_of(int e) {
    return e - row_of(e) * extent.y;
}

// Element first + i of raw; i is no longer than a matrix or two.
float raw_element(int first, int i) {
    int width = textureSize(raw, 0).x;
    int y = first / width;
    int x = first - y * width + i;
    // In floats, because a division of integers takes long: x is small, and never near a whole multiple of the width.
    int further = int((float(x) + 0.5) / float(width));
    return texelFetch(raw, ivec2(x - further * width, y + further), 0).r;
}

void fetch_matrix(bool lower_half) {
    for (EACH(i)) {
        A[i] = vec4(0.0);
        for (EACH(j)) {
            if (!lower_half || j <= i) A[i][j] = raw_element(matrix * ORDER * ORDER, ORDER * i + j);
        }
    }
}

#if RIGHT_SIDES  // come in (1), or are the identity (0)
uniform int start;  // place of the first element of the first B

float right_side(int i, int column) {
    return raw_element(start + matrix * ORDER * extent.y, i * extent.y + column);
}
#else
#define right_side(i, column) (i == column ? 1.0 : 0.0)
#endif

vec4 divided(vec4 row, float pivot) {
    for (int c = 0; c < 4; ++c) row[c] = multiplier(row[c], pivot);
    return row;
}

float upper(int i, int j);  // element of the triangle with which X is substituted back

void substitute_back(inout vec4 Y[ORDER]) {
    for (EACH(step)) {
        int i = ORDER - 1 - step;
        // Columns by pairs, the last pair first, as the blocks of larger matrices.
        for (int s = 0; s < 4; ++s) {
            int j = s < 2 ? 2 + s : s - 2;
            if (j > i && j < ORDER) Y[i] -= upper(i, j) * Y[j];
        }
        Y[i] = divided(Y[i], upper(i, i));
    }
}

float element(int e, int c);  // element e of the record, component c of the four
float diagnostic(int f);          // diagnostic number f: the lines one after the other

void put_record() {
    for (int c = 0; c < 4; ++c) {
        int f = place + c - ORDER * extent.y;
        record[c] = f < 0 ? element(place + c, c) : diagnostic(f);
    }
}
