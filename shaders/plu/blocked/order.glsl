// Where rows stood before the exchanges of a panel: its texture has that below the panel, for two rows in a texel
// (source of row 2y, source of row 2y+1, 0, 0), see plu/blocked/settle_panel.frag.

#include "plu/blocked/panel.glsl"

uniform sampler2D panel_order;
uniform int groups;  // rows of texels of the panel
uniform int top;     // first row of the panel

ivec2 pair_of_sources(int pair) {
    return ivec2(texelFetch(panel_order, ivec2(pair % ACROSS, groups + pair / ACROSS), 0).rg);
}

// Sources of rows i to i + 3, i even.
ivec4 sources(int i) {
    int pair = (i - top) >> 1;
    return ivec4(pair_of_sources(pair), pair_of_sources(pair + 1));
}
