"""
Write a shader
==============

A fragment shader becomes a function of arrays: the Game of Life, and a product that joins the variants of ``matmul``.
"""

# %%
# ``each_element`` calls a function for the four elements of a texel. ``element_wrapped`` reads across the border.

import matplotlib.pyplot as plt
import numpy as np

import glla
from glla.lab.custom import gallery

life = glla.kernel(
    """
#include "lib/elements.glsl"
uniform sampler2D A;
layout(location = 0) out vec4 next;

float life(int i, int j) {
    float near = 0.0;
    for (int k = 0; k < 9; ++k) near += element_wrapped(A, i + k / 3 - 1, j + k % 3 - 1);
    return near == 3.0 || (near == 4.0 && element(A, i, j) == 1.0) ? 1.0 : 0.0;
}

void main() { next = each_element(life); }
"""
)
world = (np.random.default_rng(1).random((64, 64)) < 0.3).astype(float)
later = life(A=world, repeat=100)
plt.imshow(later.numpy(), cmap="gray_r")

# %%
# A mistake is an error that names the line.

try:
    glla.kernel("void main() { next = 1.0; }")(A=world)
except glla.errors.GllaError as error:
    print(str(error).splitlines()[0])

# %%
# A shader that computes a product becomes a variant.

glla.register("matmul", "mine", gallery("naive_product"))
C = glla.matmul(world, world, variant="mine")
glla.unregister("matmul", "mine")

# %%
around = sum(np.roll(world, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
expected = (around == 3) | ((around == 4) & (world == 1))
assert (life(A=world).numpy() == expected).all()
assert np.array_equal(C, world @ world)
