// The step of plu/rank2/eliminate.frag for other shaders, of panels or of users: all its functions, and no main.
// It declares A, top, k, exchange and block.

#define INCLUDED 1

#include "plu/rank2/eliminate.frag"
