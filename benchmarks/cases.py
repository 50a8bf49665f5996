"""What is run: the operations, and the table of cases.

An `Operation` knows how to make its input, run on a device, judge what came out, and who else does the same. The table
`CASES` says which variants of it run up to which size: it is the only list. ``"*"`` stands for every variant that the
kernel's own table has and that has no line of its own. Inputs, judges and readers are those of `glla.lab.operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from glla import Device, testing
from glla.kernels import matmul, plu, rref, triangular
from glla.lab import peers
from glla.lab.operations import find, fresh
from glla.lab.peers import Peer
from glla.passes import Limits, Plan
from glla.testing import Verdict

Array = NDArray[np.float32]

SMALL_SIZES = (8, 16, 32, 64, 128, 256)

STACKS = ((1000, 8), (100, 32), (64, 64))
"""(systems in a stack, their order)."""

TRIANGULAR_SIZES = (256, 1024, 4096)


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
    *(  # of historical interest, and up to ten times slower than what there is above
        Line("matmul", name, largest=1024, largest_software=512)
        for name in ("single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output")
    ),
    Line("plu", "*"),
    Line("plu", "rank2", largest_software=512),
    *(Line("plu", name, largest=1024, largest_software=256) for name in plu.MANNERS),  # 9 passes for two columns
    Line("rref", "*", largest_software=512),
    Line("solve", ""),
    Line("inv", "", largest_software=256),
    Line("det", "", largest_software=512),
    Line("small", ""),
    *(Line(f"stack_{count}", "") for count, _ in STACKS),
    Line("triangular_1", "*"),
    Line("triangular_64", "*"),
    Line("triangular_n", "*"),
    Line("triangular_n", "rank2", largest=1024, largest_software=256),  # writes all of X n / 2 times
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
    peer : Peer
        Who does the same on the CPU; operations with one peer share its figure, where their sizes are the same.
    peer_operands : callable
        arrays -> the peer's.
    peer_size : callable
        n -> what is said of the size of the peer's work.
    sizes : sequence of int
        Orders of its own, up to the largest that is asked for; by default those that are asked for.
    on_request : bool
        Left out unless named: it answers one question, and the time on a GPU machine is short.
    """

    kernel: ModuleType | None
    thesis: str
    operands: Callable[[int, np.random.Generator], tuple[Array, ...]]
    flops: Callable[[int], int]
    build: Callable[[Device, int, str], Plan] | None
    prepare: Callable[[Device, tuple[Array, ...], Plan | None], Work] | None
    end_to_end: Callable[[Device, tuple[Array, ...], str], Any]
    judge: Callable[[tuple[Array, ...], Any], Verdict]
    peer: Peer
    peer_operands: Callable[..., tuple[Array, ...]] = lambda *arrays: arrays
    peer_size: Callable[[int], str] = lambda n: f"n = {n}"
    sizes: Sequence[int] = field(default=())
    on_request: bool = False

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


def _pair(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    return testing.normal(n, n, rng), testing.normal(n, n, rng)


def _matmul_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    operands = {name: device.upload(array) for name, array in zip("AB", arrays, strict=True)}
    shape = (arrays[0].shape[0], arrays[1].shape[1])
    return Work(lambda: device.run(plan, **operands), lambda results: device.download(results["C"], shape))


# -- plu --------------------------------------------------------------------------------------------------------------


PLU, RREF = find("plu"), find("rref")


def _plu_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    (a,) = arrays
    operand = device.upload(a)
    return Work(lambda: device.run(plan, A=operand), lambda results: PLU.fetch(device, results, len(a)))


def _plu_end_to_end(device: Device, arrays: tuple[Array, ...], variant: str) -> Any:
    (a,) = arrays
    plan = plu.plan(a.shape, variant=variant, unroll=not device.limits.software)
    return PLU.fetch(device, device.run(plan, A=device.upload(a)), len(a))


# -- rref -------------------------------------------------------------------------------------------------------------


def _rref_plan(device: Device, n: int, variant: str) -> Plan:
    return fresh(rref.plan, (n, n + 1), variant=variant, unroll=not device.limits.software)


def _rref_work(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
    assert plan is not None
    (a,) = arrays
    operands = {"A": device.upload(a)}
    if "tolerance" in plan.operands:
        operands["tolerance"] = device.write_texels(np.zeros((1, 1, 2), dtype=np.float32))
    return Work(lambda: device.run(plan, **operands), lambda results: RREF.fetch(device, results, len(a)))


def _rref_end_to_end(device: Device, arrays: tuple[Array, ...], variant: str) -> Array:
    plan = rref.plan(arrays[0].shape, variant=variant, unroll=not device.limits.software)
    work = _rref_work(device, arrays, plan)
    result: Array = work.fetch(work.run())
    return result


# -- solve, inv -------------------------------------------------------------------------------------------------------


def _system(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    return testing.uniform(n, n, rng), testing.normal(n, 1, rng)


def _resident(function: Callable[..., Any]) -> Callable[[Device, tuple[Array, ...], Plan | None], Work]:
    """Work of a public function on `Matrix` operands: what its users call, checks and all."""

    def prepare(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
        operands = [glla.asarray(array, device) for array in arrays]
        return Work(lambda: function(*operands), lambda result: result.numpy())

    return prepare


def _only_told(function: Callable[..., Any]) -> Callable[[Device, tuple[Array, ...], Plan | None], Work]:
    """Work of a public function whose result is no matrix: reading it belongs to the function."""

    def prepare(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
        operands = [glla.asarray(array, device) for array in arrays]
        return Work(lambda: function(*operands), lambda result: result)

    return prepare


def _judge_logarithm(arrays: tuple[Array, ...], result: Any) -> Verdict:
    """Judge sign and logarithm of a determinant.

    An error E in A changes log(abs(det A)) by at most ||inv(A)|| ||E|| (Frobenius norms) to first order; E is what the
    judge of a factorisation allows.
    """
    a = arrays[0].astype(np.float64)
    sign, logarithm = np.linalg.slogdet(a)
    allowed = testing.RESIDUAL_LIMIT * len(a) * testing.ROUNDOFF * np.linalg.norm(a) * np.linalg.norm(np.linalg.inv(a))
    error = abs(float(result[1]) - logarithm) if float(result[0]) == sign else np.inf
    return Verdict("slogdet", float(error), float(allowed))


# -- small and many ---------------------------------------------------------------------------------------------------


SMALL = Operation(
    kernel=None,
    thesis="",
    operands=_system,
    flops=lambda n: (2 * n**3) // 3 + 2 * n * n,
    build=None,
    prepare=None,
    end_to_end=lambda device, arrays, variant: glla.solve(arrays[0], arrays[1], device=device),
    judge=lambda arrays, result: testing.judge_solve(arrays[0], result, arrays[1]),
    peer=peers.SYSTEM,
    sizes=SMALL_SIZES,
)
"""A system at a time, from NumPy to NumPy."""


def _stack(count: int, n: int) -> Operation:
    """As many systems at once, from NumPy to NumPy: a stack is no `Matrix`."""

    def operands(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
        systems = [_system(n, rng) for _ in range(count)]
        return tuple(np.stack(part) for part in zip(*systems, strict=True))

    def judge(arrays: tuple[Array, ...], result: Array) -> Verdict:
        verdicts = [testing.judge_solve(a, x, b) for a, b, x in zip(*arrays, result, strict=True)]
        return max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))

    return replace(
        SMALL,
        operands=operands,
        flops=lambda n: count * SMALL.flops(n),
        judge=judge,
        peer=peers.STACK,
        peer_size=lambda n: f"{count} of n = {n}",
        sizes=(n,),
    )


# -- triangular -------------------------------------------------------------------------------------------------------


def _triangular(columns: int | None) -> Operation:
    """T X = B with so many right-hand sides, or n: by them `glla.kernels.triangular.choose` decides."""
    lab = find("triangular")

    def shape(n: int) -> tuple[int, int]:
        return n, columns or n

    def operands(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
        return testing.lower(n, n, rng), testing.uniform(*shape(n), rng)

    def plan(builder: Any, device: Device, n: int, variant: str) -> Plan:
        made: Plan = builder(*shape(n), variant=variant, unroll=not device.limits.software)
        return made

    def prepare(device: Device, arrays: tuple[Array, ...], plan: Plan | None) -> Work:
        assert plan is not None
        operands = {name: device.upload(array) for name, array in zip("TB", arrays, strict=True)}
        return Work(
            lambda: device.run(plan, **operands), lambda results: device.download(results["X"], arrays[1].shape)
        )

    def end_to_end(device: Device, arrays: tuple[Array, ...], variant: str) -> Array:
        work = prepare(device, arrays, plan(triangular.plan, device, len(arrays[0]), variant))
        result: Array = work.fetch(work.run())
        return result

    return Operation(
        kernel=triangular,
        thesis="rank2",
        operands=operands,
        flops=lambda n: n * n * (columns or n),
        build=partial(plan, partial(fresh, triangular.plan)),
        prepare=prepare,
        end_to_end=end_to_end,
        judge=lab.judge,
        peer=peers.TRIANGULAR,
        peer_size=lambda n: f"n = {n}, {'1 right-hand side' if columns == 1 else f'{columns or n} right-hand sides'}",
        sizes=TRIANGULAR_SIZES,
        on_request=True,
    )


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
        peer=peers.PRODUCT,
    ),
    "plu": Operation(
        kernel=plu,
        thesis="rank2",
        operands=PLU.made,
        flops=PLU.flops,
        build=lambda device, n, variant: fresh(plu.plan, (n, n), variant=variant, unroll=not device.limits.software),
        prepare=_plu_work,
        end_to_end=_plu_end_to_end,
        judge=PLU.judge,
        peer=peers.FACTORS,
    ),
    "rref": Operation(
        kernel=rref,
        thesis="rank2",
        operands=RREF.made,
        flops=RREF.flops,
        build=_rref_plan,
        prepare=_rref_work,
        end_to_end=_rref_end_to_end,
        judge=RREF.judge,
        peer=peers.FACTORS,
        peer_operands=lambda augmented: (np.ascontiguousarray(augmented[:, :-1]),),
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
        peer=peers.SYSTEM,
    ),
    "inv": Operation(
        kernel=None,
        thesis="",
        operands=PLU.made,
        flops=lambda n: 2 * n**3,
        build=None,
        prepare=_resident(glla.inv),
        end_to_end=lambda device, arrays, variant: glla.inv(*arrays, device=device),
        judge=lambda arrays, result: testing.judge_inverse(arrays[0], result),
        peer=peers.INVERSE,
    ),
    "det": Operation(
        kernel=None,
        thesis="",
        operands=PLU.made,
        flops=PLU.flops,
        build=None,
        prepare=_only_told(glla.slogdet),
        end_to_end=lambda device, arrays, variant: glla.slogdet(*arrays, device=device),
        judge=_judge_logarithm,
        peer=peers.DETERMINANT,
    ),
    "small": SMALL,
    **{f"stack_{count}": _stack(count, n) for count, n in STACKS},
    "triangular_1": _triangular(1),
    "triangular_64": _triangular(64),
    "triangular_n": _triangular(None),
}

USUAL = tuple(name for name, operation in OPERATIONS.items() if not operation.on_request)
"""What is run unless names are given."""
