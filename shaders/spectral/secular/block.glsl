// Which block of a level an index belongs to: two parts of order s, and where they end, the last ones cut off at n.

uniform int n;
uniform int s;  // order of the parts

struct Block {
    int start;
    int mid;
    int end;
};

Block block_of(int i) {
    int start = i / (2 * s) * (2 * s);
    return Block(start, min(start + s, n), min(start + 2 * s, n));
}

vec4 line(sampler2D T, int i) {  // texel i of a line of texels
    return texelFetch(T, ivec2(i, 0), 0);
}

float coupling(sampler2D T, Block b) {  // the entry beside the diagonal between the two parts
    return b.mid < b.end ? line(T, b.mid - 1).g : 0.0;
}
