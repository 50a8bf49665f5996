"""Variants: one way to do an operation, with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from glla.errors import OptionError
from glla.passes.limits import Limits, Parameters, version


@dataclass(frozen=True)
class Variant:
    """One way to do an operation.

    Attributes
    ----------
    summary : str
        What is particular to it, in a line.
    source : str
        Where the algorithm comes from.
    needs : tuple of str
        What it needs beyond plain OpenGL 3.3, for example ``"OpenGL 4.3"``; empty for most.
    parameters : mapping of str to tuple of int
        Defines of its shaders, or sizes of its passes, that may be chosen, by name, with the values that make sense;
        the first is the default.
    on_gpu : mapping of str to int
        Defaults that differ where the device is no software rasteriser.
    rule : str
        What values must fulfil together, in words; empty if any go with any.
    keeps_rule : callable
        Whether values, by name, do.
    """

    summary: str
    source: str
    needs: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    on_gpu: Mapping[str, int] = field(default_factory=dict)
    rule: str = ""
    keeps_rule: Callable[[Mapping[str, int]], bool] = lambda values: True

    def lacks(self, limits: Limits) -> str:
        """Say what a device lacks for this variant, '' if nothing.

        Examples
        --------
        >>> Variant("", "", needs=("OpenGL 4.3",)).lacks(Limits(opengl=330))
        'needs OpenGL 4.3, this device has 3.3'
        """
        for need in self.needs:
            if int(need.removeprefix("OpenGL ").replace(".", "")) * 10 > limits.opengl:
                return f"needs {need}, this device has {version(limits.opengl)}"
        return ""

    def settle(self, name: str, parameters: Parameters, limits: Limits | None = None) -> dict[str, int]:
        """Give every parameter its value: the one asked for, or the default.

        Parameters
        ----------
        name : str
            Of the operation and the variant, for the messages.
        parameters : tuple of (str, int)
            What is asked for.
        limits : Limits, optional
            The defaults are those of this device; without it, of a software rasteriser.

        Raises
        ------
        OptionError
            No such parameter, no such value, or values that do not go together.

        Examples
        --------
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
    """Yield every combination of a variant's parameters that goes together, the defaults first.

    Examples
    --------
    >>> list(parameter_space(Variant("", "", parameters={"UNROLL": (1, 2)})))
    [(('UNROLL', 1),), (('UNROLL', 2),)]
    """
    for values in product(*variant.parameters.values()):
        chosen = tuple(zip(variant.parameters, values, strict=True))
        if variant.keeps_rule(dict(chosen)):
            yield chosen
