"""Contenders of each operation: all that can be compared, made ready on a device.

An operation is a record of `glla.operations.OPERATIONS`: it makes examples, plans, and values of what a plan gives.
`glla.testing.JUDGES` has its judge, `glla.lab.peers` who does the same on the CPU. A `Contender` is one way to do it: a
name, and a function that builds its plan.

The contenders of an operation are its variants, read anew at each call, so that a variant added to a record joins by
itself, and those that `add` has registered: a user's own shader, for example. A contender must keep the interface of
its operation, which is that of the plan ``core`` of the record.

How it is used, by `glla.lab.compare` (``glla/lab/comparison.py``) and by whatever else measures variants::

    operation = find("matmul")
    contender = contenders("matmul")["register_blocked"]
    arrays = inputs(operation, n, seed)
    job = prepare(device, operation, contender, arrays, parameters=(("ROWS", 4),))
    verdict = JUDGES["matmul"].verdict(arrays, job.fetch(job.run()))   # verdict.ratio: error over bound

``contender.lacks(device.limits)`` says why a contender cannot run on a device, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import linalg
from glla.array.array import Array, asarray
from glla.array.convert import Float32, within_float32
from glla.errors import OptionError, one_of
from glla.gl import Device, Texture
from glla.gl.clock import clock
from glla.operations import OPERATIONS, Operation
from glla.passes import Forms, Limits, Parameters, Plan, Storage, Variant, forms_of, resident
from glla.testing import JUDGES, Judge

Arrays = tuple[Float32, ...]
Textures = Mapping[str, Texture]
Builder = Callable[[Forms, Limits, Parameters], Plan]
"""(forms of the operands, limits of the device, values of parameters) -> a plan."""

ALONE = "usual"
"""Name of the contender of an operation that has no variants."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Contender(Variant):
    """One way to do an operation: a variant, and how its plan is built."""

    name: str  # unique among those of its operation
    build: Builder  # (forms, limits, parameters) -> `Plan`, a new one each time
    special: bool = False  # run only when asked for, by its name or by ``all``
    # values of all parameters by name -> why they do not go together, in more words than `rule` has
    refusal: Callable[[Mapping[str, int]], str] = lambda values: ""

    def refuses(self, parameters: Parameters) -> str:
        """Say why values of parameters cannot be had, '' if they can; the others have their defaults."""
        for name, value in parameters:
            if value not in self.parameters[name]:
                return f"{name} must be one of {', '.join(map(str, self.parameters[name]))}, got {value}"
        values = {name: allowed[0] for name, allowed in self.parameters.items()} | dict(parameters)
        return self.refusal(values) or ("" if self.keeps_rule(values) else self.rule)


@dataclass(frozen=True)
class Job:
    """A contender, or a public function, made ready on a device."""

    end_to_end: Callable[[], Any]  # () -> arrays, from NumPy to NumPy. Synchronises
    # () -> results on the device, where the operands are, too; does not synchronise. None for what runs end to end
    # alone
    run: Callable[[], Any] | None = None
    fetch: Callable[[Any], Any] = lambda result: result  # what `run` gave -> arrays to be judged. Synchronises
    building: float = 0.0  # seconds that building the plan took, which belong to a cold start


@dataclass(frozen=True)
class PlanJob(Job):
    """A job that runs a plan: `plan`, and the textures that it takes."""

    run: Callable[[], dict[str, Texture]] = field(kw_only=True)
    plan: Plan = field(kw_only=True)
    operands: Textures = field(kw_only=True)


# -- the tables -----------------------------------------------------------------------------------------------------

_added: dict[str, dict[str, Contender]] = {}


def find(name: str, command: str = "compare") -> Operation:
    """Find an operation.

    Raises OptionError: unknown; the message lists those there are.

    >>> find("matmul").formula
    'C = A B'
    """
    one_of(f"{command}: operation", name, OPERATIONS)
    return OPERATIONS[name]


def judge(operation: str) -> Judge:
    """Judge of an operation's results.

    Raises OptionError: it has none.

    >>> judge("matmul") is JUDGES["matmul"]
    True
    """
    if operation not in JUDGES:
        raise OptionError(f"judge: {operation} has none, so no result can be verified; add one to glla.testing.JUDGES")
    return JUDGES[operation]


def contenders(operation: str) -> dict[str, Contender]:
    """List the contenders of an operation by name: the thesis's own first, those that were added last.

    >>> next(iter(contenders("matmul")))
    'inner_product'
    """
    found = find(operation)
    own = sorted(_listed(found), key=lambda contender: (contender.special, contender.name != found.thesis))
    return {contender.name: contender for contender in own} | _added.get(operation, {})


def add(operation: str, contender: Contender) -> None:
    """Let a contender take part from now on; one of the same name that was added before is replaced.

    Raises OptionError: the operation is unknown, or the name is taken by a variant of glla's.
    """
    check_free(operation, contender.name)
    _added.setdefault(operation, {})[contender.name] = contender


def check_free(operation: str, name: str) -> None:
    """Raise OptionError if the name of a contender is taken by a variant of glla's."""
    if name in {own.name for own in _listed(find(operation))}:
        raise OptionError(f"{operation}: {name!r} is a variant of glla's; choose another name")


def remove(operation: str, name: str) -> None:
    """Let a contender that was added take part no more."""
    _added.get(operation, {}).pop(name, None)


def _listed(operation: Operation) -> Iterator[Contender]:
    """Contenders of glla's: each variant in its usual pivoting, then with every other strategy that it knows."""
    if not operation.variants:
        only = f"the only way there is to do {operation.name}"
        yield Contender(only, "", name=ALONE, build=partial(_built, operation, {}))
    for name, variant in operation.variants.items():
        plain = Contender(**vars(variant), name=name, build=partial(_built, operation, {"variant": name}))
        yield plain
        for pivoting in operation.pivotings(name)[1:] if operation.pivotings else ():
            if pivoting == "none":
                continue  # no matrix is refused in a comparison, and random ones need their rows exchanged
            yield replace(
                plain,
                name=f"{name}:{pivoting}",
                build=partial(_built, operation, {"variant": name, "pivoting": pivoting}),
                summary=f"{variant.summary}; {pivoting} pivoting",
                special=True,
            )


def _built(
    operation: Operation, options: Mapping[str, Any], forms: Forms, limits: Limits, parameters: Parameters
) -> Plan:
    given = {"parameters": parameters} if parameters else {}
    if operation.trial.values is None:
        return fresh(operation.call_plan, tuple(replace(form, resident=False) for form in forms), limits, **given)
    return fresh(operation.device_plan, forms, limits, **options, **given)


def shaders(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    """List the shaders that a plan draws with, in order: name, and the defines of their first use."""
    found: dict[str, dict[str, Any]] = {}
    for step in plan.passes:
        name = getattr(step, "shader", "")
        if name and name not in found:
            found[name] = dict(getattr(step, "defines", {}))
    return list(found.items())


# -- on a device ------------------------------------------------------------------------------------------------------


def inputs(operation: Operation, n: int, seed: int = 2007) -> Arrays:
    """Make operands of order n, float32; the same for the same n and seed."""
    return operation.example(n, np.random.default_rng([seed, n]))


def operands(
    command: str, operation: Operation, n: int, seed: int, data: Sequence[NDArray[Any]] | None
) -> tuple[Arrays, Arrays]:
    """Take the first operands from a user's data, and the others from the example of that order.

    Raises OptionError: there are more matrices than operands, or one is no matrix. Raises DTypeError, NonFiniteError:
    numbers are complex, or do not fit float32.
    """
    given = [within_float32(command, "data", array) for array in data or ()]
    if len(given) > len(operation.operands):
        raise OptionError(f"{command}: {operation.name} has {len(operation.operands)} operands, got {len(given)} files")
    given = [array.reshape(-1, 1) if array.ndim == 1 else array for array in given]
    if any(array.ndim != 2 or not array.size for array in given):
        raise OptionError(f"{command}: data must be matrices, got {', '.join(str(array.shape) for array in given)}")
    return tuple(given), inputs(operation, len(given[0]) if given else n, seed)[len(given) :]


def described(operation: Operation) -> str:
    """Describe the operands for matrices of order n.

    >>> described(find("rref")).partition(";")[0]
    'A n x n + 1'
    """
    few, many = (forms_of(inputs(operation, n)) for n in (10, 20))
    shapes = [
        f"{name} {' x '.join(map(_side, one.shape, other.shape))}"
        for name, one, other in zip(operation.operands, few, many, strict=True)
    ]
    words = (operation.example.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return "; ".join(filter(None, [", ".join(shapes), words[:1].lower() + words[1:]]))


def _side(few: int, many: int) -> str:
    """Write a side that is `few` at n = 10 and `many` at n = 20."""
    if (few, many) == (100, 400):
        return "n^2"
    if many - few != 10:
        return str(few)
    return "n" if few == 10 else f"n + {few - 10}"


def prepare(
    device: Device, operation: Operation, contender: Contender, arrays: Arrays, parameters: Parameters = ()
) -> PlanJob:
    """Build a contender's plan and upload its operands.

    `operation`, `contender`: what. `arrays`: from `inputs`. `parameters`: values for some of the contender's
    parameters.
    Raises GllaError: the plan cannot be built for this size, or the device has no room for the operands.
    """
    building, plan = clock(lambda: contender.build(forms(arrays), device.limits, parameters))
    if operation.trial.values is None:
        job = called(device, public(operation), arrays)
        assert job.run is not None
        return PlanJob(job.end_to_end, fetch=job.fetch, building=building, run=job.run, plan=plan, operands={})
    operands = uploaded(device, operation, plan, arrays)
    fetch = partial(fetched, device, operation, forms(arrays), plan)

    def end_to_end() -> Any:
        return fetch(device.run(plan, **uploaded(device, operation, plan, arrays)))

    def run() -> dict[str, Any]:
        return device.run(plan, **operands)

    return PlanJob(end_to_end, fetch=fetch, building=building, run=run, plan=plan, operands=operands)


def called(device: Device, function: Callable[..., Any], arrays: Arrays, stays: bool = True) -> Job:
    """Make a job of a public function, its checks included.

    `function`: of `glla.linalg`. `arrays`: its operands. `stays`: run it with operands on the device, too.
    """

    def end_to_end() -> Any:
        return function(*arrays, device=device)

    if not stays:
        return Job(end_to_end)
    operands = [asarray(array, device) for array in arrays]
    return Job(end_to_end, lambda: function(*operands), _on_the_host)


def _on_the_host(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_on_the_host, result))
    return result.numpy() if isinstance(result, Array) else result


def public(operation: Operation) -> Callable[..., Any]:
    """Find the public function of an operation, as one of the arrays of its example."""
    function = getattr(linalg, operation.name)
    return lambda *arrays, **options: function(*operation.function.arguments(*arrays), **options)


def forms(arrays: Arrays) -> Forms:
    """Forms of operands once they are on the device."""
    return resident(*((array.shape[-2], array.shape[-1]) for array in arrays))


def uploaded(device: Device, operation: Operation, plan: Plan, arrays: Arrays) -> dict[str, Texture]:
    """Upload the operands of a plan of an operation: those of its example, and others that the plan reads."""
    if operation.trial.textures is not None:
        laid = operation.trial.textures(plan, device.limits, arrays)
        return {name: device.write_texels(texels) for name, texels in laid.items()}
    aside = {name: texels for name, texels in operation.trial.aside(forms(arrays)).items() if name in plan.operands}
    names = [name for name in plan.operands if name not in aside]
    operands = {name: device.upload(array) for name, array in zip(names, arrays, strict=True)}
    return operands | {name: device.write_texels(texels) for name, texels in aside.items()}


def fetched(device: Device, operation: Operation, forms: Forms, plan: Plan, results: Textures) -> Any:
    """Read the results of a plan, as the value that the judge of its operation takes. Synchronises."""
    assert operation.trial.values is not None
    return operation.trial.values(forms, _Read(device, plan, results))


class _Read(Mapping[str, Float32]):
    """The results of a plan as arrays, each read when it is asked for."""

    def __init__(self, device: Device, plan: Plan, results: Textures) -> None:
        self._device, self._plan, self._results = device, plan, results

    def __getitem__(self, name: str) -> Float32:
        texture, storage = self._results[name], self._plan.slots[self._plan.results[name]]
        if not isinstance(storage, Storage) or storage.shape is None:
            return self._device.read(texture)
        return self._device.download(texture, storage.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)


def fresh(builder: Any, *arguments: Any, **options: Any) -> Plan:
    """Call a builder of plans past its cache, so that a first run is a first run."""
    plan: Plan = getattr(builder, "__wrapped__", builder)(*arguments, **options)
    return plan
