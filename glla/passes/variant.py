"""Variants: one way to do an operation, with its parameters."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass, field
from itertools import count, product
from threading import Lock

from glla.errors import OptionError
from glla.passes.limits import Limits, Parameters, version
from glla.passes.plan import Plan


@dataclass(frozen=True)
class Variant:
    """One way to do an operation."""

    summary: str  # what is particular to it, in a line
    source: str  # where the algorithm comes from
    needs: tuple[str, ...] = ()  # what it needs beyond plain OpenGL 3.3, for example ``"OpenGL 4.3"``; empty for most
    # defines of its shaders, or sizes of its passes, that may be chosen, by name, with the values that make sense; the
    # first is the default
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # defaults that differ where the device is no software rasteriser
    on_gpu: Mapping[str, int] = field(default_factory=dict)
    rule: str = ""  # what values must fulfil together, in words; empty if any go with any
    keeps_rule: Callable[[Mapping[str, int]], bool] = lambda values: True  # whether values, by name, do
    # of a variant that a user has registered: (plan of the variant whose shader it takes the place of, values of its
    # parameters by name) -> the plan with the user's shader
    exchange: Callable[[Plan, Mapping[str, int]], Plan] | None = None
    text: str = ""  # the source of that shader; empty for glla's own

    def lacks(self, limits: Limits) -> str:
        """Name the feature a device lacks for this variant, '' if none.

        >>> Variant("", "", needs=("OpenGL 4.3",)).lacks(Limits(opengl=330))
        'needs OpenGL 4.3, this device has 3.3'
        """
        for need in self.needs:
            if not (n := need.removeprefix("OpenGL ").replace(".", "")).isdecimal() or int(n) * 10 > limits.opengl:
                return f"needs {need}, this device has {version(limits.opengl)}"
        return ""

    def settle(self, name: str, parameters: Parameters, limits: Limits | None = None) -> dict[str, int]:
        """Value of every parameter: the one asked for, or the default.

        `name`: of the operation and the variant, for the messages. `parameters`: what is asked for. `limits`: the
        defaults are those of this device; without it, of a software rasteriser.
        Raises OptionError: no such parameter, no such value, or values that do not go together.

        >>> Variant("", "", parameters={"UNROLL": (1, 2)}).settle("product", (("UNROLL", 2),))
        {'UNROLL': 2}
        """
        values = {key: allowed[0] for key, allowed in self.parameters.items()}
        if limits is not None and not limits.software:
            values |= self.on_gpu
        for key, value in parameters:
            if key not in values:
                known = ", ".join(self.parameters) or "none"
                raise OptionError(f"{name}: has no parameter {key!r}; its parameters are: {known}")
            if value not in self.parameters[key]:
                allowed = ", ".join(map(str, self.parameters[key]))
                raise OptionError(f"{name}: {key} must be one of {allowed}, got {value!r}")
            values[key] = value
        if not self.keeps_rule(values):
            got = ", ".join(f"{key} = {value}" for key, value in values.items())
            raise OptionError(f"{name}: {self.rule}, got {got}")
        return values


def parameter_space(variant: Variant) -> Iterator[Parameters]:
    """Yield every valid combination of a variant's parameters, the defaults first.

    >>> list(parameter_space(Variant("", "", parameters={"UNROLL": (1, 2)})))
    [(('UNROLL', 1),), (('UNROLL', 2),)]
    """
    for values in product(*variant.parameters.values()):
        chosen = tuple(zip(variant.parameters, values, strict=True))
        if variant.keeps_rule(dict(chosen)):
            yield chosen


class Variants(MutableMapping[str, Variant]):
    """The variants of an operation by name: those that are written down, then those that users have registered.

    Any thread may look while another one registers: a change makes a new table, whoever goes over the old one keeps it.

    `numbers`: a number for each that was added; one that is added anew under its name gets another.

    >>> table = Variants() | {"plain": Variant("one pass", "glla")}
    >>> table.register("plain", Variant("another", "me"))
    False
    >>> table.register("mine", Variant("another", "me")), list(table)
    (True, ['plain', 'mine'])
    """

    def __init__(self) -> None:
        self._table: dict[str, Variant] = {}
        self.numbers: Mapping[str | None, int] = {}
        self._count = count()
        self._lock = Lock()

    def __or__(self, written: Mapping[str, Variant]) -> Variants:
        """Give another table, with those that are written down."""
        other = Variants()
        other._table = {**self._table, **written}
        return other

    def __ror__(self, others: Mapping[str, Variant]) -> dict[str, Variant]:
        """Return a plain table of others, and of these."""
        return {**others, **self._table}

    def register(self, name: str, variant: Variant) -> bool:
        """Add a variant; False if there is one of that name."""
        with self._lock:
            if name in self._table:
                return False
            self._set(name, variant)
            return True

    def _set(self, name: str, variant: Variant) -> None:
        self.numbers = {**self.numbers, name: next(self._count)}
        self._table = {**self._table, name: variant}

    def __setitem__(self, name: str, variant: Variant) -> None:
        with self._lock:
            self._set(name, variant)

    def __delitem__(self, name: str) -> None:
        with self._lock:
            if name not in self._table:
                raise KeyError(name)
            self._table = {key: one for key, one in self._table.items() if key != name}

    def __getitem__(self, name: str) -> Variant:
        return self._table[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def items(self) -> ItemsView[str, Variant]:
        """Return names and variants as they are now."""
        return self._table.items()

    def values(self) -> ValuesView[Variant]:
        """Return the variants as they are now."""
        return self._table.values()
