// Places beside and below a panel of 64 columns.

#define CANDIDATES 32  // texel column of the candidates beside a panel at work, see plu/blocked/panel_step.frag
#define RECORDS 33     // and of the steps' records
#define ACROSS 256     // texels across a settled panel: pairs of rows in a row of texels of its order

#ifndef SEARCHED
#define SEARCHED 4  // texels that a fragment searches where fragments meet (1, 2, 4), fetched at once
#endif

#ifndef P0_AT
#define P0_AT 0  // columns where the two textures of a panel at work begin in one, see lib/sheet.glsl
#endif
#ifndef P1_AT
#define P1_AT 0
#endif
