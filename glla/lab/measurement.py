"""A measurement: verdict, cost and samples of one variant at one size, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from glla.lab.roofline import Roof
from glla.lab.samples import Samples
from glla.passes import Parameters
from glla.testing import Verdict


@dataclass(frozen=True)
class Measurement:
    """One variant at one size. Its figures, see `FIGURES`, are attributes, too: ``one.gflops``; None if not measured.

    Attributes
    ----------
    operation, variant : str
        Which; with parameters the variant reads ``name[NAME=value]``.
    size : int
        Order n of the matrices.
    status : {"ok", "wrong", "skipped", "failed"}
        ``wrong``: the result is off by more than its bound, and is not timed. ``skipped``: the device lacks what the
        variant needs. ``failed``: an exception.
    reason : str
        Why it is not ok.
    parameters : tuple of (str, int)
        Those that were set.
    timed : mapping of str to Samples
        Seconds of each repeat by role: ``ours``, operands and results on the device; ``gpu``, the same repeats by the
        GPU's own clock, from the first command to the last; ``whole``, from NumPy to NumPy; ``peer`` and ``usual``,
        the CPU in its fastest way, and the call that a user types, both the same for all variants of a size. What runs
        from NumPy to NumPy alone has these samples as ``ours``, too.
    ways : mapping of str to str
        Of the CPU: ``baseline``, the name, ``key``, the name with the size, ``peer`` and ``usual``, the calls. See
        `glla.lab.peers`.
    cost : mapping of str to int
        ``flops`` of the operation, the same for all variants; ``passes`` of the plan, and ``draws`` among them;
        ``bytes_written`` by all passes, and ``bytes_moved``, which adds the least that they must read, see
        `glla.lab.roofline.traffic`.
    cold_seconds, thesis_seconds : float
        Of the first run: building the plan, compiling, running; and the median of the thesis's own variant.
    error, bound, mean_error : float
        Findings of the judge; infinite for a result with a NaN, or of a wrong form. Mean absolute error of an entry
        against float64, as in the thesis's figures 4.4, 4.9 and 4.12.
    roof : Roof
        Ceilings that were measured in this run.
    """

    operation: str
    variant: str
    size: int
    status: str = "ok"
    reason: str = ""
    parameters: Parameters = ()
    timed: Mapping[str, Samples] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    cost: Mapping[str, int] = field(default_factory=dict)
    cold_seconds: float | None = None
    thesis_seconds: float | None = None
    error: float | None = None
    bound: float | None = None
    mean_error: float | None = None
    roof: Roof | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in FIGURES:
            raise AttributeError(f"Measurement has no attribute {name!r}")
        return FIGURES[name](self)

    @property
    def ok(self) -> bool:
        """Whether the result was right, and timed."""
        return self.status == "ok"

    @property
    def noisy(self) -> bool:
        """Whether the repeats vary too much for their median to be trusted, see `glla.lab.samples.NOISY`."""
        return "ours" in self.timed and self.timed["ours"].noisy

    @property
    def resident(self) -> bool:
        """Whether it was timed with operands and results on the device."""
        return "ours" in self.timed and self.timed["ours"] != self.timed.get("whole")

    @property
    def intensity(self) -> float | None:
        """Arithmetic intensity, flop per byte moved."""
        return _quotient(self.cost.get("flops"), self.cost.get("bytes_moved"))

    def as_dict(self) -> dict[str, Any]:
        """All figures as plain data, the parameters and the samples as text."""
        found = {name: figure(self) for name, figure in FIGURES.items()}
        return (
            found
            | {name: " ".join(map(str, found[name])) for name in SAMPLES}
            | {"parameters": written(self.parameters)}
        )


def written(parameters: Parameters) -> str:
    """Write parameters as text.

    >>> written((("ROWS", 4), ("COLUMNS", 2)))
    'ROWS=4 COLUMNS=2'
    """
    return " ".join(f"{name}={value}" for name, value in parameters)


def judged(verdict: Verdict) -> dict[str, Any]:
    """Fields of a measurement that follow from a verdict."""
    found: dict[str, Any] = {"error": float(verdict.error), "bound": float(verdict.bound)}
    return found if verdict.ok else found | {"status": "wrong", "reason": str(verdict)}


# -- figures ----------------------------------------------------------------------------------------------------------

Figure = Callable[[Measurement], Any]


def _quotient(above: float | None, below: float | None, unit: float = 1.0) -> float | None:
    return None if above is None or not below else above / below / unit


def _cost(name: str) -> Figure:
    return lambda one: one.cost.get(name)


def _of(role: str, name: str, none: Any = None) -> Figure:
    """Figure of the samples of a role."""
    return lambda one: getattr(one.timed[role], name) if role in one.timed else none


def _ratio(role: str) -> Figure:
    """How many times as fast as another the variant is, operands on the device."""
    return lambda one: _quotient(_of(role, "median")(one), one.seconds)


def _rate(name: str) -> Figure:
    """10^9 of a cost a second."""
    return lambda one: _quotient(one.cost.get(name), one.seconds, 1e9)


def _over_bound(one: Measurement) -> float | None:
    return None if one.error is None or one.bound is None else Verdict("", one.error, one.bound).ratio


FIGURES: dict[str, Figure] = {
    **{name: attrgetter(name) for name in ("operation", "variant", "size", "status", "reason", "parameters")},
    "seconds": _of("ours", "median"),
    "lower": _of("ours", "lower"),
    "upper": _of("ours", "upper"),
    "fastest": lambda one: min(one.samples, default=None),
    "slowest": lambda one: max(one.samples, default=None),
    "repeats": lambda one: len(one.samples),
    "samples": _of("ours", "times", ()),
    "gpu_seconds": _of("gpu", "median"),
    "gpu_samples": _of("gpu", "times", ()),
    "end_to_end_seconds": _of("whole", "median"),
    "cold_seconds": attrgetter("cold_seconds"),
    "flops": _cost("flops"),
    "gflops": _rate("flops"),
    "bytes_written": _cost("bytes_written"),
    "bytes_moved": _cost("bytes_moved"),
    "gbytes_per_second": _rate("bytes_written"),
    "passes": _cost("passes"),
    "draws": _cost("draws"),
    "fraction_of_arithmetic": lambda one: one.roof and _quotient(one.gflops, one.roof.arithmetic),
    "fraction_of_bandwidth": lambda one: one.roof and _quotient(one.gbytes_per_second, one.roof.write),
    "error": attrgetter("error"),
    "bound": attrgetter("bound"),
    "error_over_bound": _over_bound,
    "mean_error": attrgetter("mean_error"),
    "baseline": lambda one: one.ways.get("baseline", ""),
    "baseline_way": lambda one: one.ways.get("peer", ""),
    "baseline_seconds": _of("peer", "median"),
    "baseline_lower": _of("peer", "lower"),
    "baseline_upper": _of("peer", "upper"),
    "ratio_to_baseline": _ratio("peer"),
    "usual": lambda one: one.ways.get("usual", ""),
    "usual_seconds": _of("usual", "median"),
    "usual_lower": _of("usual", "lower"),
    "usual_upper": _of("usual", "upper"),
    "ratio_to_usual": _ratio("usual"),
    "ratio_to_thesis": lambda one: _quotient(one.thesis_seconds, one.seconds),
}
"""Columns of a table of measurements, in their order."""

SAMPLES = ("samples", "gpu_samples")
"""Figures that hold a number for each repeat."""
