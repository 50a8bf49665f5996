"""Every way to do an operation, side by side on one device: verified, then timed.

`compare` is the whole experiment in a call. `Experiment` is the same in steps, for those who want each record as it
comes and what there is when they stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import product
from typing import Any

from glla import registry
from glla.errors import OptionError, among
from glla.gl import Device, DeviceLike, named_device
from glla.lab import ceilings, conduct, machine, mistakes, operations, peers, roofline
from glla.lab.bench import EFFORTS, Bench, Beside, Verified
from glla.lab.extra import require
from glla.lab.fits import Fit, crossover, fit, speedup
from glla.lab.measurement import Measurement, written
from glla.lab.mistakes import Mistake
from glla.lab.operations import Arrays, Contender, PlanJob
from glla.lab.peers import Peer
from glla.operations import Operation
from glla.passes import Parameters, Pass, Plan
from glla.passes.glsl import find as shaders
from glla.passes.glsl.find import Stage, resolve

Chosen = str | Contender | tuple[str | Contender, Mapping[str, int]]
"""A variant: its name, a contender, or either with values for some of its parameters."""

COMMON_VERTEX = "fullscreen.vert"
SIZES = {True: (64, 128, 256, 512), False: (256, 512, 1024, 2048, 4096)}
"""Sizes by default: of a software rasteriser, of a GPU."""

REPEATS = 7
"""Repeats of a measurement, at most, unless another number is asked for."""


@dataclass(frozen=True)
class Summary:
    """Fit, speedup and crossover of a variant."""

    variant: str  # or the baseline's label
    fit: Fit | None  # a + b n^3; None with fewer than four sizes
    speedup: float | None = None  # b_baseline / b_variant, equation 4.7 of the thesis
    # size from which on its line is below the baseline's: 0 for everywhere, None for never
    crossover: float | None = None
    rough: bool = False  # whether its line, or the baseline's, is far from a measurement, see `glla.lab.fits.POOR`


@dataclass(frozen=True)
class Source:
    """The text of a shader of a variant."""

    # whose, and its file. A shader that draws with the common vertex stage has only its fragment stage here
    variant: str
    shader: str
    # in the compiler's order, lines that stand together in a file: the file, the first line's number, and the text.
    # What is included stands where it is included
    parts: tuple[tuple[str, int, str], ...]

    @property
    def text(self) -> str:
        """All of it, as the compiler gets it."""
        return "\n".join(text for _, _, text in self.parts)


@dataclass
class Comparison:
    """The outcome of a comparison.

    Attributes
    ----------
    operation, formula, shape : str
        What was done, to what.
    records : list of Measurement
        One for each variant and size, in the order of measurement; `to_dicts` is for ``pandas.DataFrame``.
    ceilings : dict
        Of the device, measured in the same run: name to ``value``, ``unit``, ``what``, ``spread``.
    environment : dict
        Device, versions, date, command, and what else changes the figures.
    variants : dict of str to dict
        What each variant is: ``summary``, ``source``, ``needs``.
    sources : list of Source
        The shaders of each variant.
    mistakes : list of Mistake
        Where results are wrong: of each variant that has a wrong one, the smallest. See `glla.lab.mistakes`.
    peers : list of dict
        For each size who stood beside on the CPU, as `glla.lab.peers.Figure.as_dict`: ways tried, every sample.
    troubles : list of str
        What speaks against the figures: the CPU's, repeated, disagreed; other processes were at work.
    complete : bool
        Whether all that was asked for is there.
    """

    operation: str
    formula: str = ""
    shape: str = ""
    thesis: str = ""
    error: str = ""
    records: list[Measurement] = field(default_factory=list)
    ceilings: dict[str, dict[str, Any]] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    peers: list[dict[str, Any]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    complete: bool = False

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        """Show the columns that a narrow terminal shows."""
        text: str = registry.announced("text of a comparison")(self)
        return text

    def _repr_html_(self) -> str:
        """Show it in a notebook: plots where Matplotlib is there, and the table."""
        markup: str = registry.announced("html of a comparison")(self)
        return markup

    @property
    def names(self) -> list[str]:
        """The variants that there are records of."""
        return list(dict.fromkeys(record.variant for record in self.records))

    @property
    def baseline(self) -> str:
        """The baseline's label, '' for none."""
        return next((record.baseline for record in self.records if record.baseline), "")

    def of(self, variant: str) -> list[Measurement]:
        """Records of a variant that are ok, the smallest size first."""
        return sorted((r for r in self.records if r.variant == variant and r.ok), key=lambda record: record.size)

    def times(self, role: str) -> list[tuple[int, float]]:
        """Size and seconds of the CPU in the role of the peer or of the usual call, the smallest size first."""
        return sorted({r.size: r.timed[role].median for r in self.records if role in r.timed}.items())

    @property
    def usual(self) -> str:
        """The usual call, '' for none."""
        return next((record.usual for record in self.records if record.usual), "")

    def summaries(self) -> list[Summary]:
        """Fit a + b n^3 to each variant, GPU-resident, and to the baseline, which comes last."""
        times = self.times("peer")
        base = fit([size for size, _ in times], [seconds for _, seconds in times])
        found = []
        for name in self.names:
            records = self.of(name)
            ours = fit([record.size for record in records], [record.seconds or 0.0 for record in records])
            found.append(
                Summary(name, ours, speedup(ours, base), crossover(ours, base), ours.poor or base.poor)
                if ours is not None and base is not None
                else Summary(name, ours)
            )
        return [*found, Summary(self.baseline, base)] if self.baseline else found

    def best(self) -> list[Measurement]:
        """Give the fastest right record of each variant and size, where values of its parameters were swept."""
        found: dict[tuple[int, str], Measurement] = {}
        for record in self.records:
            name = record.variant.partition("[")[0]
            if record.ok and record.parameters and record.seconds is not None:
                other = found.get((record.size, name))
                if other is None or record.seconds < (other.seconds or 0.0):
                    found[record.size, name] = record
        return [found[key] for key in sorted(found, key=lambda key: (key[0], found[key].seconds or 0.0))]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Give the records as plain data."""
        return [record.as_dict() for record in self.records]


def compare(
    operation: str,
    variants: Sequence[Chosen] | str | None = None,
    sizes: Sequence[int] | None = None,
    *,
    baseline: str | None = "auto",
    repeats: int = REPEATS,
    seed: int = 2007,
    device: DeviceLike | None = None,
    quick: bool = False,
    sweep: Mapping[str, Sequence[int]] | None = None,
    progress: Callable[[Measurement], object] | None = None,
) -> Comparison:
    """Verify each variant of an operation, then time it, beside the CPU and the device's own ceilings.

    Each variant at each size is run cold, verified against its error bound (`glla.testing`), warmed up, and timed on
    random data: the median of some repeats, GPU-resident and end to end. A variant that fails, or that the device
    cannot run, is a record that says so, and does not end the comparison. Synchronises.

    Examples
    --------
    >>> result = compare("matmul", ["inner_product"], [8, 16], baseline="none", quick=True)
    >>> [(record.variant, record.size, record.status) for record in result.records]
    [('inner_product', 8, 'ok'), ('inner_product', 16, 'ok')]

    Parameters
    ----------
    operation : str
        ``"matmul"``, ``"rref"``, ``"plu"``, ...
    variants : sequence, or "all", optional
        Names, contenders, or pairs of either with a mapping of parameters. By default every variant in its usual
        pivoting; ``"all"`` adds the other pivot norms.
    sizes : sequence of int, optional
        Orders of the matrices.
    baseline : {"auto", "numpy", "scipy", "none"}
        Whose functions do the same on the CPU, in the fastest of several ways; ``auto`` tries all that are installed.
    repeats : int
        Repeats at most; fewer where they take long.
    seed : int
        Of the random matrices.
    device : Device, str or int, optional
        By default the default device of this thread. It forgets its compiled programs, for the cold start.
    quick : bool
        Measure the ceilings with less work.
    sweep : mapping of str to sequence of int, optional
        Values for parameters: every variant that has them runs with each combination; see `Comparison.best`.
    progress : callable, optional
        Called with each record as it comes.

    Returns
    -------
    Comparison
        With `records`; one line makes a data frame of them, ``pandas.DataFrame(result.to_dicts())``.

    Raises
    ------
    OptionError, MissingPackageError
        Unknown operation, variant, parameter or baseline; no size, or one below 1; a baseline that is not installed.
    """
    experiment = Experiment(
        operation,
        variants,
        sizes,
        baseline=baseline,
        repeats=repeats,
        seed=seed,
        device=device,
        quick=quick,
        sweep=sweep,
    )
    for record in experiment.run():
        if progress is not None:
            progress(record)
    return experiment.result


@dataclass(frozen=True)
class Entry:
    """A contender, and values for its parameters."""

    contender: Contender
    parameters: Parameters = ()

    @property
    def label(self) -> str:
        """Its name, with the parameters that were set."""
        return f"{self.contender.name}[{written(self.parameters)}]" if self.parameters else self.contender.name

    @property
    def plain(self) -> bool:
        """Whether each parameter has its default."""
        return all(self.contender.parameters[name][0] == value for name, value in self.parameters)


class Experiment:
    """A comparison in steps: the options are checked at once, `run` measures, `result` grows.

    The parameters are those of `compare`; `also` are contenders beside those that `variants` names, and `command` is
    kept in the result's environment.
    """

    def __init__(
        self,
        operation: str,
        variants: Sequence[Chosen] | str | None = None,
        sizes: Sequence[int] | None = None,
        *,
        baseline: str | None = "auto",
        repeats: int = REPEATS,
        seed: int = 2007,
        device: DeviceLike | None = None,
        quick: bool = False,
        sweep: Mapping[str, Sequence[int]] | None = None,
        also: Sequence[Contender] = (),
        command: str = "",
    ) -> None:
        self.operation = operations.find(operation)
        self.judge = operations.judge(operation)
        self.entries = _swept(_entries(self.operation, variants, also), sweep or {})
        self.baseline, package = _baseline(self.operation, baseline)
        self._beside = Beside(EFFORTS[False, False].peer, package, tolerant=True)
        self.repeats, self.seed, self.quick = _at_least_one("repeats", repeats), seed, quick
        self._sizes = None if sizes is None else tuple(_at_least_one("sizes", size) for size in sizes)
        if self._sizes == ():
            raise OptionError("compare: sizes must hold at least one size, got none")
        self._device = device
        self._command = command
        self._breaches: dict[str, str] = {}  # of the users' shaders, by label
        self.result = Comparison(
            operation,
            self.operation.formula,
            operations.described(self.operation),
            self.operation.thesis,
            self.judge.error,
            variants={entry.label: _about(entry.contender) for entry in self.entries},
        )

    @cached_property
    def device(self) -> Device:
        """Where it runs; made at the first need, unless it is set before."""
        return named_device("compare", self._device)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Orders of the matrices."""
        return SIZES[self.device.info.software] if self._sizes is None else tuple(sorted(set(self._sizes)))

    @property
    def total(self) -> int:
        """Records that there will be."""
        return len(self.entries) * len(self.sizes)

    def run(self) -> Iterator[Measurement]:
        """Measure; give each record as it comes, which `result` has then, too."""
        device, result = self.device, self.result
        watch = machine.Watch()
        result.environment = environment(device, self.seed, self._command)
        result.ceilings = {name: asdict(one) for name, one in ceilings.of_fragments(device, self.quick).items()}
        try:
            for size in self.sizes:
                yield from self._run_size(size)
            result.complete = True
        finally:
            result.environment["load"] = watch.load()
            busy = machine.busy(result.environment["load"])
            result.peers = [figure.as_dict() for figure in self._beside.figures.values()]
            result.troubles = [
                *(f"busy machine? {apart}" for apart in self._beside.troubles),
                *([busy] if busy else []),
            ]

    def _run_size(self, size: int) -> Iterator[Measurement]:
        """Measure all variants at a size, between two measurements of the CPU, which must agree."""
        arrays = operations.inputs(self.operation, size, self.seed)
        if self.baseline is None:
            return self._measured(size, arrays, {})
        theirs = self.baseline.given(*arrays)
        return self._beside.between(
            self.baseline, f"n = {size}", theirs, lambda figure: self._measured(size, arrays, figure.of_cpu())
        )

    def _measured(self, size: int, arrays: Arrays, base: Mapping[str, Any]) -> Iterator[Measurement]:
        thesis: float | None = None
        for entry in self.entries:
            record = self._measure(entry, size, arrays, base)
            if entry.contender.name == self.operation.thesis and entry.plain:
                thesis = record.seconds
            self.result.records.append(replace(record, thesis_seconds=thesis))
            yield self.result.records[-1]

    def _measure(self, entry: Entry, size: int, arrays: Arrays, base: Mapping[str, Any]) -> Measurement:
        """Verify and time an entry."""
        device, contender = self.device, entry.contender
        cost = {"flops": self.operation.flops(operations.forms(arrays))}
        values: dict[str, Any] = {
            "operation": self.operation.name, "variant": entry.label, "parameters": entry.parameters, "size": size,
            "cost": cost, "roof": roofline.Roof.of(self.result.ceilings), **base,
        }  # fmt: skip
        refused = contender.lacks(device.limits) or contender.refuses(entry.parameters)
        if refused:
            return Measurement(**values, status="skipped", reason=refused)

        def make() -> PlanJob:
            device.forget()  # so that the first run is one
            job = operations.prepare(device, self.operation, contender, arrays, entry.parameters)
            cost.update(_cost(job.plan))
            self._keep_sources(entry, job.plan)
            return job

        bench = Bench(device, replace(EFFORTS[device.info.software, False], most=self.repeats))
        return bench.measure(values, make, partial(self.judge.verdict, arrays), partial(self._look, entry, arrays))

    def _look(self, entry: Entry, arrays: Arrays, job: PlanJob, checked: Verified) -> Mapping[str, Any]:
        """Error of a right result; where a wrong one is wrong is kept."""
        right = checked.verdict.ok
        if not right:
            self._keep_mistake(entry, arrays, checked.found)
        unseen = self._unseen(entry, job, right)
        if unseen:
            return {"status": "wrong", "reason": unseen if right else f"{checked.verdict}; {unseen}"}
        return {"mean_error": self.judge.deviation(arrays, checked.found)} if right else {}

    def _unseen(self, entry: Entry, job: PlanJob, right: bool) -> str:
        """Faults of a user's shader that its result does not show: a broken interface, or a stopped loop."""
        if not entry.contender.text:
            return ""
        if entry.label not in self._breaches:
            breach = conduct.breach(self.device, self.operation.name, entry.contender, entry.parameters)
            self._breaches[entry.label] = breach
        reasons = [conduct.stopped(self.device, job.plan, job.operands), self._breaches[entry.label] if right else ""]
        return "; ".join(filter(None, reasons))

    def _keep_mistake(self, entry: Entry, arrays: Arrays, found: Any) -> None:
        """Remember where a result is wrong: of each variant the first, which is the smallest."""
        if entry.label in {one.variant for one in self.result.mistakes}:
            return
        judged = partial(self.judge.ratios, arrays)
        ratios, cause = judged(found), ""
        if self.operation.name in ("matmul", "syrk"):
            cause = mistakes.off_by_one(arrays, found, judged)
        if ratios is not None:
            self.result.mistakes.append(mistakes.find(entry.label, len(arrays[0]), self.judge.result, ratios, cause))

    def _keep_sources(self, entry: Entry, plan: Plan) -> None:
        if any(source.variant == entry.label for source in self.result.sources):
            return
        for name, defines in operations.shaders(plan):
            shader = resolve(name, defines)
            *others, last = shader.stages.values()
            stages = {shaders.file(name): last}
            for stage in others:  # whose file is the first that is not generated
                stages[next(file for file, _ in stage.lines if not file.startswith("("))] = stage
            stages.pop(COMMON_VERTEX, None)
            self.result.sources += [Source(entry.label, file, _parts(stage)) for file, stage in stages.items()]


def _parts(stage: Stage) -> tuple[tuple[str, int, str], ...]:
    """Cut a resolved stage where the file changes, or its lines do not follow each other."""
    parts: list[tuple[str, int, list[str]]] = []
    for (file, number), text in zip(stage.lines, stage.text.split("\n"), strict=False):
        if parts and parts[-1][0] == file and parts[-1][1] + len(parts[-1][2]) == number:
            parts[-1][2].append(text)
        else:
            parts.append((file, number, [text]))
    return tuple((file, first, "\n".join(lines)) for file, first, lines in parts)


def _cost(plan: Plan) -> dict[str, Any]:
    return {
        "bytes_written": plan.cost.nbytes,
        "bytes_moved": roofline.traffic(plan),
        "passes": plan.cost.passes,
        "draws": sum(isinstance(step, Pass) for step in plan.passes),
    }


# -- options --------------------------------------------------------------------------------------------------------


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise OptionError(f"compare: {name} must be at least 1, got {value}")
    return value


def _entries(
    operation: Operation, chosen: Sequence[Chosen] | str | None, also: Sequence[Contender] = ()
) -> list[Entry]:
    """Variants asked for, the thesis's own first: the others are compared with it."""
    known = operations.contenders(operation.name)
    if chosen is None:
        entries = [Entry(contender) for contender in known.values() if not contender.special]
    elif chosen == "all":
        entries = [Entry(contender) for contender in known.values()]
    else:
        entries = [_entry(operation, known, one) for one in ([chosen] if isinstance(chosen, str) else chosen)]
    unique = {entry.label: entry for entry in (*entries, *map(Entry, also))}
    if not unique:
        raise OptionError("compare: variants must name at least one variant, got none")
    return sorted(unique.values(), key=lambda entry: entry.label != operation.thesis)


def _swept(entries: list[Entry], sweep: Mapping[str, Sequence[int]]) -> list[Entry]:
    """Let an entry run with each combination of the values of those parameters that it has."""
    for name, values in sweep.items():
        known = [entry.contender.parameters[name] for entry in entries if name in entry.contender.parameters]
        if not known:
            there = ", ".join(sorted({name for entry in entries for name in entry.contender.parameters})) or "none"
            raise OptionError(f"compare: parameters of these variants are {there}, got {name!r}")
        allowed = sorted({value for values in known for value in values})
        wrong = [value for value in values if value not in allowed]
        if wrong or not values:
            got = wrong[0] if wrong else "none"
            raise OptionError(f"compare: {name} must be one of {', '.join(map(str, allowed))}, got {got}")
    return [
        Entry(entry.contender, tuple((dict(entry.parameters) | dict(zip(names, values, strict=True))).items()))
        for entry in entries
        for names in [[name for name in sweep if name in entry.contender.parameters]]
        for values in product(*(dict.fromkeys(sweep[name]) for name in names))
    ]


def _entry(operation: Operation, known: Mapping[str, Contender], one: Chosen) -> Entry:
    which, values = one if isinstance(one, tuple) else (one, {})
    if isinstance(which, str):
        if which not in known:
            raise OptionError(f"compare: variants of {operation.name} are all, {among(known, which)}")
        which = known[which]
    unknown = [name for name in values if name not in which.parameters]
    if unknown:
        names = ", ".join(which.parameters) or "none"
        raise OptionError(f"compare: parameters of {which.name} are {names}, got {unknown[0]!r}")
    return Entry(which, tuple(values.items()))


def _baseline(operation: Operation, name: str | None) -> tuple[Peer | None, str | None]:
    """Find who does it on the CPU, and whose ways alone are tried, None for all."""
    peer = peers.peer_of(operation)
    if name in (None, "none") or (peer is None and name == "auto"):
        return None, None
    packages = sorted({way.package for way in peer.ways}) if peer else []
    if name == "auto" and peer:
        if not peer.installed():
            require("compare: the baseline", peer.usual.package)
        return peer, None
    if name not in packages:
        names = ", ".join(("auto", *packages, "none"))
        raise OptionError(f"compare: baseline of {operation.name} must be one of {names}, got {name!r}")
    require(f"compare: baseline {name}", name)
    return peer, name


def _about(contender: Contender) -> dict[str, Any]:
    return {name: getattr(contender, name) for name in ("summary", "source", "text")} | {"needs": list(contender.needs)}


# -- where and when -------------------------------------------------------------------------------------------------


def environment(device: Device, seed: int, command: str = "") -> dict[str, Any]:
    """Device, versions, date and command: all that a reader needs to repeat it."""
    found = machine.place(device.info)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "command": command, "seed": seed, "variables": found.pop("environment"), **found}
