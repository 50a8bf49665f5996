// C += A B for 2x2 blocks held in texels (thesis, equation 4.6):
//
//     r g     rA rB + gA bB    rA gB + gA aB
//     b a     bA rB + aA bB    bA gB + aA aB
//
// Two statements, not one: a sum of two swizzled products in one expression is miscompiled by some drivers.

vec4 add_block_product(vec4 C, vec4 A, vec4 B) {
    C += A.rrbb * B.rgrg;
    C += A.ggaa * B.baba;
    return C;
}

vec4 subtract_block_product(vec4 C, vec4 A, vec4 B) {
    C -= A.rrbb * B.rgrg;
    C -= A.ggaa * B.baba;
    return C;
}
