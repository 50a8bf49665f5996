"""Matrix products of linear arrays: batches and integers, for which the packed layout has no form."""

from __future__ import annotations

from dataclasses import replace

from glla.errors import PlanError
from glla.operations.linear.view import Over, View, broadcast_shapes, integer, laid, operands
from glla.passes import Draft, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

SLICE = 4096
"""Most terms of a sum that one pass adds up, far below the 65535 trips after which llvmpipe ends a loop."""


@cached_plan
def product(a: View, b: View, texture_size: int) -> Plan:
    """Plan of C = A B, of every pair of matrices of two stacks that spread over each other.

    Operands ``A`` and ``B``, result ``C`` (..., m, n), linear. A pass for every 4096 of k, 2 m k n flop.
    `a`, `b`: operands ``A`` (..., m, k) and ``B`` (..., k, n) of one type; bool counts as int32.

    Of float32 abs(C - C^) <= (min(k, 4096) + k / 4096) u abs(A) abs(B), u = 2^-24; int32 wraps around.
    """
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise PlanError(f"product: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    if a.texel_dtype != b.texel_dtype:
        raise PlanError(f"product: operands have one dtype, got {a.dtype} and {b.dtype}; cast one of them")
    rows, columns, inner = a.shape[-2], b.shape[-1], a.shape[-1]
    shape = (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), rows, columns)
    left = replace(a, shape=(*a.shape[:-1], columns), strides=(*a.strides[:-1], 0))
    right = replace(b, shape=(*b.shape[:-2], rows, columns), strides=(*b.strides[:-2], 0, b.strides[-1]))
    draft = Draft("product")
    inputs = operands(draft, texture_size, A=a, B=b)
    over = Over(shape, texture_size, straight=False, A=left, B=right)
    for first in range(0, max(inner, 1), SLICE):
        target = draft.slot(f"C_{first}", laid(shape, a.texel_dtype, texture_size))
        uniforms: dict[str, Uniform] = {**over.uniforms}
        uniforms["slice"] = (first, min(first + SLICE, inner), a.strides[-1], b.strides[-2])
        defines: dict[str, Define] = {"INTEGER": integer(a), "FIRST": int(first == 0), **over.defines}
        draft.draw("wrapped/product", inputs, target, uniforms, defines)
        inputs = {**inputs, "P": target}
    return draft.plan({"C": target}, flops=2 * over.elements * inner)
