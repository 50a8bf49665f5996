// The state of a shallow-water simulation, one cell in a texel: (z, u, v, h), on the staggered C grid.
//
//        +-----v-----+         z   elevation, at the middle of the cell       H = h + z, the depth of the water
//        |           |         h   depth of still water, there too
//        |    z,h    u         u   velocity along x, on the face to the next cell along x
//        |           |         v   velocity along y, on the face to the next cell along y
//        +-----------+
//
// Cell (i, j) is texel (i, j): i along x, j along y. The faces before the first cells are walls, where the velocity is
// zero and nothing is stored; so are those of the last cells. Where the basin is periodic they are one face.

#ifndef PERIODIC_X
#define PERIODIC_X 0  // closed walls at the ends of x (0), or one end joined to the other (1)
#endif
#ifndef PERIODIC_Y
#define PERIODIC_Y 0  // likewise of y
#endif
#ifndef TIDE
#define TIDE 0  // a side of given elevation: 0 none, 1 i = 0, 2 i = last, 3 j = 0, 4 j = last
#endif
#ifndef ALONG
#define ALONG 0  // the direction that a pass works in: x and u (0), or y and v (1)
#endif

#if ALONG
#define NEXT ivec2(0, 1)
#define SIDE ivec2(1, 0)
#define PERIODIC PERIODIC_Y
#define OWN(texel) (texel).b
#define OTHER(texel) (texel).g
#define END(c) ((c).y == cells.y - 1)
#define START(c) ((c).y == 0)
#else
#define NEXT ivec2(1, 0)
#define SIDE ivec2(0, 1)
#define PERIODIC PERIODIC_X
#define OWN(texel) (texel).g
#define OTHER(texel) (texel).b
#define END(c) ((c).x == cells.x - 1)
#define START(c) ((c).x == 0)
#endif

uniform ivec2 cells;  // along x and y

int around(int i, int n) {  // of a ring of n
    return i - n * int(floor((float(i) + 0.5) / float(n)));
}

// A cell of the basin: shadow cells beyond a wall are their neighbours, those beyond a periodic end the other end's.
ivec2 inside(ivec2 c) {
    if (PERIODIC_X == 1) c.x = around(c.x, cells.x);
    if (PERIODIC_Y == 1) c.y = around(c.y, cells.y);
    return clamp(c, ivec2(0), cells - 1);
}

vec4 cell(sampler2D state, ivec2 c) {
    return texelFetch(state, inside(c), 0);
}

float u_at(sampler2D state, ivec2 c) {
    return PERIODIC_X == 0 && c.x < 0 ? 0.0 : cell(state, c).g;
}

float v_at(sampler2D state, ivec2 c) {
    return PERIODIC_Y == 0 && c.y < 0 ? 0.0 : cell(state, c).b;
}

bool is_given(ivec2 c) {  // whether the tide gives the elevation of a cell
    if (TIDE == 1 || TIDE == 2) return c.x == (TIDE == 1 ? 0 : cells.x - 1);
    return TIDE != 0 && c.y == (TIDE == 3 ? 0 : cells.y - 1);
}

float depth_of(vec4 texel) {
    return texel.a + texel.r;
}

float depth_at_face(vec4 a, vec4 b) {
    return 0.5 * (depth_of(a) + depth_of(b));
}
