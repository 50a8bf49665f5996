"""What is run: the operations, and the table of cases.

An `Operation` knows how to make its input, run on a device, judge what came out, and who else does the same. The table
`CASES` says which variants of it run up to which size: it is the only list. ``"*"`` stands for every variant that the
kernel's own table has and that has no line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from glla import Device, Matrix, testing
from glla.factors import Factors, permutation_of
from glla.kernels import matmul, plu, rref
from glla.passes import Limits, Plan
from glla.testing import Verdict

Array = NDArray[np.float32]

SMALL_SIZES = (8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Line:
    """A line of the table of cases.

    Attributes
    ----------
    operation, variant : str
        What; the variant ``"*"`` stands for all that have no line of their own.
    largest, largest_software : int
        Sizes above are left out: on a GPU, and on a software rasteriser.
    """

    operation: str
    variant: str
    largest: int = 1 << 30
    largest_software: int = 1 << 30


CASES = (
    Line("matmul", "*"),
    Line("matmul", "virtual_cube", largest=1024, largest_software=256),  # 16 GFLOP/s on an H200: blend-bound
    Line("matmul", "virtual_cube_ping_pong", largest=1024, largest_software=256),
    Line("matmul", "rank_one", largest=1024, largest_software=256),
    Line("plu", "*"),
    Line("plu", "rank2", largest_software=512),
    *(Line("plu", name, largest=1024, largest_software=256) for name in plu.MANNERS),  # 9 passes for two columns
    Line("rref", "*", largest_software=512),
    Line("solve", ""),
    Line("inv", "", largest_software=256),
    Line("small", ""),
)


@dataclass(frozen=True)
class Case:
    """One thing to verify and time: an operation, a variant of it, an order of matrix."""

    operation: str
    variant: str
    n: int

    def __str__(self) -> str:
        return f"{self.operation}{f'[{self.variant}]' if self.variant else ''} n = {self.n}"


@dataclass(frozen=True)
class Work:
    """A case made ready on a device.

    Attributes
    ----------
    run : callable
        Do it, operands and results on the device.
    fetch : callable
        Turn what `run` returned into arrays, to be judged.
    """

    run: Callable[[], Any]
    fetch: Callable[[Any], Any]


@dataclass(frozen=True)
class Operation:
    """How an operation is made, run and judged.

    Attributes
    ----------
    kernel : module or None
        Whose ``VARIANTS`` there are.
    thesis : str
        The thesis's own variant, that others are compared with.
    operands : callable
        (n, random numbers) -> arrays.
    flops : callable
        n -> additions and multiplications.
    build : callable or None
        (device, n, variant) -> a fresh plan.
    prepare : callable
        (device, arrays, plan) -> `Work`; None for an operation that is only timed end to end.
    end_to_end : callable
        (device, arrays, variant) -> arrays, from NumPy to NumPy.
    judge : callable
        (arrays, result) -> verdict.
    peer_name, peer : str, callable
        Who does the same on the CPU, and how.
    """

    kernel: ModuleType | None
    thesis: str
    operands: Callable[[int, np.random.Generator], tuple[Array, ...]]
    flops: Callable[[int], int]
    build: Callable[[Device, int, str], Plan] | None
    prepare: Callable[[Device, tuple[Array, ...], Plan | None], Work] | None
    end_to_end: Callable[[Device, tuple[Array, ...], str], Any]
    judge: Callable[[tuple[Array, ...], Any], Verdict]
    peer_name: str
    peer: Callable[..., Any]
    sizes: Sequence[int] = field(default=())

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants, the thesis's own first: others are compared with it."""
        if self.kernel is None:
            return ("",)
        table: Mapping[str, Any] = self.kernel.VARIANTS
        names = [name for name in table if name != "row_operations_full"]  # A = P L U Q is another operation
        return tuple(sorted(names, key=lambda name: name != self.thesis))


def select(
    operations: Sequence[str], sizes: Sequence[int], software: bool, limits: Limits | None = None
) -> Iterator[Case]:
    """List the cases of some operations that a device can run, small sizes first."""
    for name in operations:
        operation = OPERATIONS[name]
        chosen = [n for n in operation.sizes if n <= max(sizes)] or sizes[:1] if operation.sizes else sizes
        for n in sorted(chosen):
            for variant in operation.variants:
                line = _line(name, variant)
                if variant and operation.kernel and operation.kernel.VARIANTS[variant].lacks(limits or Limits()):
                    continue
                if line and n <= (line.largest_software if software else line.largest):
                    yield Case(name, variant, n)


def _line(operation: str, variant: str) -> Line | None:
    own = {line.variant: line for line in CASES if line.operation == operation}
    return own.get(variant) or own.get("*")


# -- matmul -----------------------------------------------------------------------------------------------------------


def fresh(builder: Any, *arguments: Any, **options: Any) -> Plan:
    """Call a builder of plans past its cache."""
    plan: Plan = getattr(builder, "__wrapped__", builder)(*arguments, **options)
    return plan


def _pair(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    return testing.normal(n, n, rng), testing.normal(n, n, rng)


def _matmul_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    operands = {name: device.upload(array) for name, array in zip("AB", arrays, strict=True)}
    shape = (arrays[0].shape[0], arrays[1].shape[1])
    return Work(lambda: device.run(plan, **operands), lambda results: device.download(results["C"], shape))


# -- plu --------------------------------------------------------------------------------------------------------------


def _square(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    return (testing.uniform(n, n, rng),)


def _plu_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    (a,) = arrays
    operand = device.upload(a)
    return Work(lambda: device.run(plan, A=operand), lambda results: _factors(device, results, a.shape))


def _factors(device: Device, results: dict[str, Any], shape: tuple[int, int]) -> tuple[Array, NDArray[np.int32]]:
    """Read LAPACK's (lu, piv)."""
    factors = Factors(Matrix(device, results["LU"], shape), results["pivots"])
    return factors.lu.numpy(), factors.pivots


def _plu_end_to_end(device: Device, arrays: tuple[Array, ...], variant: str) -> Any:
    (a,) = arrays
    plan = plu.plan(a.shape, variant=variant, unroll=not device.limits.software)
    return _factors(device, device.run(plan, A=device.upload(a)), a.shape)


def _judge_plu(arrays: tuple[Array, ...], result: tuple[Array, NDArray[np.int32]]) -> Verdict:
    (a,) = arrays
    packed, pivots = result
    p = np.zeros(a.shape, dtype=np.float32)
    p[permutation_of(pivots, len(a)), np.arange(len(a))] = 1
    return testing.judge_plu(a, p, *testing.unpack_lu(packed))


def _getrf(a: Array, *rest: Array) -> Any:
    import scipy.linalg

    return scipy.linalg.lu_factor(a, check_finite=False)


# -- rref -------------------------------------------------------------------------------------------------------------


def _augmented(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """[A | b] of the thesis's experiment: A uniform in [0, 10), b the sums of its rows."""
    a = testing.uniform(n, n, rng)
    return (np.column_stack([a, a.sum(axis=1, dtype=np.float64).astype(np.float32)]),)


def _rref_plan(device: Device, n: int, variant: str) -> Plan:
    return fresh(rref.plan, (n, n + 1), variant=variant, unroll=not device.limits.software)


def _rref_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    (a,) = arrays
    operands = {"A": device.upload(a)}
    if "tolerance" in plan.operands:
        operands["tolerance"] = device.write_texels(np.zeros((1, 1, 2), dtype=np.float32))
    return Work(lambda: device.run(plan, **operands), lambda results: device.download(results["R"], a.shape))


def _rref_end_to_end(device: Device, arrays: tuple[Array, ...], variant: str) -> Array:
    plan = rref.plan(arrays[0].shape, variant=variant, unroll=not device.limits.software)
    work = _rref_work(device, arrays, plan)
    result: Array = work.fetch(work.run())
    return result


def _judge_rref(arrays: tuple[Array, ...], result: Array) -> Verdict:
    """Judge as `testing.judge_rref` does, whose check of the form takes minutes at n = 4096: here it is [I | x]."""
    (a,) = arrays
    n = len(a)
    bound = testing.RESIDUAL_LIMIT
    if result.shape != a.shape or not np.isfinite(result).all() or not np.array_equal(result[:, :n], np.eye(n)):
        return Verdict("rref", float("inf"), bound, detail="is not [I | x]")
    return Verdict("rref", testing.residual_rref(a, result, tuple(range(n))), bound)


# -- solve, inv -------------------------------------------------------------------------------------------------------


def _system(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    return testing.uniform(n, n, rng), testing.normal(n, 1, rng)


def _resident(function: Callable[..., Any]) -> Callable[[Device, tuple[Array, ...], Plan | None], Work]:
    """Work of a public function on `Matrix` operands: what its users call, checks and all."""

    def prepare(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
        operands = [glla.asarray(array, device) for array in arrays]
        return Work(lambda: function(*operands), lambda result: result.numpy())

    return prepare


# -- all --------------------------------------------------------------------------------------------------------------

OPERATIONS: dict[str, Operation] = {
    "matmul": Operation(
        kernel=matmul,
        thesis="inner_product",
        operands=_pair,
        flops=lambda n: 2 * n**3,
        build=lambda device, n, variant: fresh(matmul.plan, n, n, n, variant, device.limits),
        prepare=_matmul_work,
        end_to_end=lambda device, arrays, variant: glla.matmul(*arrays, variant=variant, device=device),
        judge=lambda arrays, result: testing.judge_product(result, *arrays),
        peer_name="numpy.matmul",
        peer=np.matmul,
    ),
    "plu": Operation(
        kernel=plu,
        thesis="rank2",
        operands=_square,
        flops=lambda n: plu.flops((n, n)),
        build=lambda device, n, variant: fresh(plu.plan, (n, n), variant=variant, unroll=not device.limits.software),
        prepare=_plu_work,
        end_to_end=_plu_end_to_end,
        judge=_judge_plu,
        peer_name="LAPACK getrf",
        peer=_getrf,
    ),
    "rref": Operation(
        kernel=rref,
        thesis="rank2",
        operands=_augmented,
        flops=lambda n: rref.flops((n, n + 1)),
        build=_rref_plan,
        prepare=_rref_work,
        end_to_end=_rref_end_to_end,
        judge=_judge_rref,
        peer_name="LAPACK getrf",
        peer=lambda a: _getrf(a[:, :-1]),
    ),
    "solve": Operation(
        kernel=None,
        thesis="",
        operands=_system,
        flops=lambda n: (2 * n**3) // 3 + 2 * n * n,
        build=None,
        prepare=_resident(glla.solve),
        end_to_end=lambda device, arrays, variant: glla.solve(arrays[0], arrays[1], device=device),
        judge=lambda arrays, result: testing.judge_solve(arrays[0], result, arrays[1]),
        peer_name="numpy.linalg.solve",
        peer=np.linalg.solve,
    ),
    "inv": Operation(
        kernel=None,
        thesis="",
        operands=_square,
        flops=lambda n: 2 * n**3,
        build=None,
        prepare=_resident(glla.inv),
        end_to_end=lambda device, arrays, variant: glla.inv(*arrays, device=device),
        judge=lambda arrays, result: testing.judge_inverse(arrays[0], result),
        peer_name="numpy.linalg.inv",
        peer=np.linalg.inv,
    ),
    "small": Operation(
        kernel=None,
        thesis="",
        operands=_system,
        flops=lambda n: (2 * n**3) // 3 + 2 * n * n,
        build=None,
        prepare=None,
        end_to_end=lambda device, arrays, variant: glla.solve(arrays[0], arrays[1], device=device),
        judge=lambda arrays, result: testing.judge_solve(arrays[0], result, arrays[1]),
        peer_name="numpy.linalg.solve",
        peer=np.linalg.solve,
        sizes=SMALL_SIZES,
    ),
}
