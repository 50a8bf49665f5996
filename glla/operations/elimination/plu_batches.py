"""Batches of PLU factorisations, determinants and systems: the passes of a single matrix, over all of them.

Pivots are searched by one fragment for each matrix, see `glla.operations.elimination.pivot.BatchSearch`. Right-hand
sides beside a matrix are eliminated with it: that is the row exchanges and the forward substitution.

Matrices of order 4 at most take one pass, in which every fragment eliminates a whole matrix in registers. Larger
ones need dependent passes for loading, exchanges, steps, substitutions and storing. In that one pass a fragment spends
100 to 200 flop, most of which its neighbours repeat. Records, diagnostics, and all numbers are those of the longer
plan, so the same acceptance tests apply.
"""

from __future__ import annotations

from glla.operations.batches import stack
from glla.operations.batches.stack import BATCH_PROBES, LARGEST, Passes, Stack, one_pass
from glla.operations.elimination import equilibrate
from glla.operations.elimination.pivot import BatchSearch, NoSearch, rank2
from glla.operations.elimination.pivot import flops as plu_flops
from glla.passes import PLAIN, Forms, Limits, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, packed, texels

WIDEST_IN_SOFTWARE = 272
"""Most columns and right-hand sides together of a batch in software, where passes cost little and multipliers are
computed again for each right-hand side (llvmpipe-llvm-15-0-6-256-bits/experiments/2026-11-20.json)."""


def most_factors(forms: Forms, limits: Limits) -> int:
    """Factorisations, or determinants, that one plan may make at once; 0: they are looped."""
    m, n = forms[0].matrix
    if max(m, n) > LARGEST:
        return 0
    return stack.capacity((texels(m), texels(n)), max(m * n + 3 * min(m, n), 4 * n), limits.texture_size)


def most_systems(forms: Forms, limits: Limits) -> int:
    """Systems that one plan may solve at once; 0: they are looped. Without B it is the identity."""
    n, columns = forms[-1].matrix
    if max(n, columns) > LARGEST or (limits.software and n + columns > WIDEST_IN_SOFTWARE):
        return 0
    tile = texels(n), texels(n) + texels(columns) + texels(BATCH_PROBES)
    return stack.capacity(tile, max(n * (n + columns), n * (columns + 3)), limits.texture_size)


def _find_exponents(passes: Passes, n: int) -> None:
    """Find the exponents by which square matrices are equilibrated as they are packed."""
    passes.exponents = equilibrate.exponents(passes.draft, passes.bring_in("A", (n, n)), (n, n), passes.stack)


def eliminated(passes: Passes, start: str, shape: Shape, steps: int, alone: bool = False) -> tuple[str, str]:
    """Eliminate `steps` column pairs; give the slots of the factors and of the pivots, which one `alone` has not."""
    if alone:
        return rank2(passes.draft, start, shape, steps, NoSearch(shape), passes.stack), ""
    search = BatchSearch(passes.draft, shape, steps, passes.stack)
    return rank2(passes.draft, start, shape, steps, search, passes.stack), search.inputs["pivots"]


@cached_plan
def factor(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the factorisation of a stack of m x n matrices with partial pivoting, m, n > 0.

    Operand ``raw``: the matrices. Result ``records``: for each matrix LU, L below the diagonal and U on and above it,
    U's diagonal, the largest entries of U's columns, and LAPACK's pivots: m n + 3 min(m, n) elements. Passes: 2
    ceil(min(m, n) / 2) + 2.
    """
    shape, count = forms[0].matrix, forms[0].count
    order = min(shape)
    own = Stack.of(count, packed(shape), limits.texture_size)
    passes = Passes("stack[factor]", own, shape[0] * shape[1])
    factors, pivots = eliminated(passes, passes.bring_in("A", shape), shape, texels(order))
    result = passes.unpack(factors, shape, order, factors, pivots)
    return passes.draft.plan({"records": result}, count * plu_flops(shape))


@cached_plan
def determinant(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the parts of the determinants of a stack of n x n matrices, n > 0.

    Operand ``raw``: the matrices. Result ``records``: for each matrix, equilibrated, U's diagonal, the largest entries
    of U's columns, LAPACK's pivots, and the sums of exponents e_i + f_i that row i and column i were scaled by: 4 n
    elements. Passes: 2 ceil(n / 2) + 5.
    """
    n, count = forms[0].shape[-1], forms[0].count
    own = Stack.of(count, (texels(n), texels(n)), limits.texture_size)
    passes = Passes("stack[determinant]", own, n * n)
    a, start = passes.bring_in("A", (n, n)), passes.matrices("scaled", (n, n))
    passes.exponents = equilibrate.add(passes.draft, a, (n, n), start, passes.stack)
    factors, pivots = eliminated(passes, start, (n, n), texels(n))
    return passes.draft.plan({"records": passes.unpack("", (0, 0), n, factors, pivots)}, count * plu_flops((n, n)))


@cached_plan
def solve(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True) -> Plan:
    """Plan of the solution of a stack of systems A X = B, A being n x n and B n x columns, both > 0.

    Operand ``raw``: all A, then all B. Result ``records``: for each system X, U's diagonal, the largest entries of U's
    columns, and for each row the sum of the squares of the solutions for `BATCH_PROBES` random right-hand sides
    (of A as it was scaled): n (columns + 3) elements. Passes: 2 ceil(n / 2) + ceil(n / 8) + 3, and 2 more to
    equilibrate; for a single system ceil(n / 2) less, as the vertex stage of the elimination has time to search its
    pivots.

    `forms`: of both stacks, with the same number of matrices each, in the host's memory. Without B it is the identity,
    which is not uploaded. `equilibrate`: scale rows and columns by powers of two first.
    """
    inverse = len(forms) == 1
    (n, _), (_, columns), count = forms[0].matrix, forms[-1].matrix, forms[0].count
    size, right = texels(n), texels(columns) + texels(BATCH_PROBES)
    width = size + right
    own = Stack.of(count, (size, width), limits.texture_size)
    passes = Passes("stack[inverse]" if inverse else "stack[solve]", own, n * (n if inverse else n + columns))
    start = passes.matrices("augmented", (n, 2 * width))
    if equilibrate:
        _find_exponents(passes, n)
    else:
        passes.pack(start, (n, n))
    passes.pack(start, (n, columns), count * n * n, size, inverse, equilibrate, BATCH_PROBES)
    factors, _ = eliminated(passes, start, (n, 2 * width), size, alone=count == 1)
    x = passes.substitute(factors, factors, (n, 2 * right), upper=True, left=size)
    result = passes.unpack(x, (n, columns), n, factors, probes=True)
    return passes.draft.plan({"records": result}, count * (plu_flops((n, n)) + 2 * n * n * (columns + BATCH_PROBES)))


@cached_plan
def substitute(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of the solution of a stack of systems L U X = B, or with the transpose of L U, all sides > 0.

    Operand ``raw``: all packed factors LU, then all B. Result ``records``: all X. Passes: 2 ceil(n / 8) + 3.

    `forms`: of the stacks of packed factors and of right-hand sides, in the host's memory. `transposed`: solve with the
    transpose.
    """
    (n, columns), count = forms[1].matrix, forms[0].count
    size, width = texels(n), texels(columns)
    own = Stack.of(count, (size, max(size, width)), limits.texture_size)
    passes = Passes("stack[substitute]", own, n * (n + columns))
    lu, start = passes.bring_in("LU", (n, n)), passes.bring_in("B", (n, columns), count * n * n)
    first = passes.substitute(lu, start, (n, columns), False, not transposed, transposed)
    x = passes.substitute(lu, first, (n, columns), True, transposed, transposed)
    return passes.draft.plan({"records": passes.unpack(x, (n, columns))}, 2 * count * n * n * columns)


@cached_plan
def solve_small(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True) -> Plan:
    """Plan of the solution of a stack of small systems, see `solve`. One pass.

    The ``records`` have four elements to a texel and begin with one, see `glla.operations.batches.stack.stride`.
    """
    inverse = len(forms) == 1
    (n, _), (_, columns), count = forms[0].matrix, forms[-1].matrix, forms[0].count
    own: dict[str, Uniform] = {} if inverse else {"start": count * n * n}
    return one_pass(
        "stack/pivoted_small",
        "stack[inverse, pivoted_small]" if inverse else "stack[solve, pivoted_small]",
        count,
        n * (n if inverse else n + columns),
        (columns, n * (columns + 3)),
        own,
        {"ORDER": n, "IDENTITY": int(inverse), "EQUILIBRATE": int(equilibrate)},
        plu_flops((n, n)) + 2 * n * n * (columns + BATCH_PROBES),
        limits,
    )


@cached_plan
def determinant_small(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the parts of the determinants of a stack of small matrices, see `determinant`.

    One pass; ``records`` as those of `solve_small`.
    """
    n, count = forms[0].shape[-1], forms[0].count
    defines = {"ORDER": n, "DETERMINANT": 1}
    name = "stack[determinant, pivoted_small]"
    return one_pass("stack/pivoted_small", name, count, n * n, (0, 4 * n), {}, defines, plu_flops((n, n)), limits)
