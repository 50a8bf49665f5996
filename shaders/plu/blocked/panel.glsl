// Places beside and below a panel of 64 columns.

#define CANDIDATES 32  // texel column of the candidates beside a panel at work, see plu/blocked/panel_step.frag
#define RECORDS 33     // and of the steps' records
#define ACROSS 256     // texels across a settled panel: pairs of rows in a row of texels of its order
