// target i = (x, y, y, x) * scale + i: how fast colours are written
//
// A fragment computes one texel of each target. No two neighbours are alike, so that nothing compresses them.
// Cost per fragment: 4 TARGETS flop, no fetch.

#ifndef TARGETS
#define TARGETS 1  // colour outputs (1, 2, 4, 8)
#endif

uniform vec4 scale;

layout(location = 0) out vec4 target0;
#if TARGETS >= 2
layout(location = 1) out vec4 target1;
#endif
#if TARGETS >= 4
layout(location = 2) out vec4 target2;
layout(location = 3) out vec4 target3;
#endif
#if TARGETS >= 8
layout(location = 4) out vec4 target4;
layout(location = 5) out vec4 target5;
layout(location = 6) out vec4 target6;
layout(location = 7) out vec4 target7;
#endif

void main() {
    vec4 value = floor(gl_FragCoord.xyyx) * scale;
    target0 = value;
#if TARGETS >= 2
    target1 = value + 1.0;
#endif
#if TARGETS >= 4
    target2 = value + 2.0;
    target3 = value + 3.0;
#endif
#if TARGETS >= 8
    target4 = value + 4.0;
    target5 = value + 5.0;
    target6 = value + 6.0;
    target7 = value + 7.0;
#endif
}
