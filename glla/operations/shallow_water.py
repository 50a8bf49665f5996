"""Shallow water on a staggered grid: the passes of a step, by alternating directions or semi-implicit.

    u_t + u u_x + v u_y = -g z_x - gamma u + f v + wind          gamma = g sqrt(u^2 + v^2) / (C^2 H), H = h + z > 0
    v_t + u v_x + v v_y = -g z_y - gamma v - f u + wind
    z_t + (H u)_x + (H v)_y = 0

The state is one texture, a cell per texel, on the device. `glla.applications.ShallowWater` is the public class.

Sources: Brodtkorb, "A MATLAB Interface to the GPU" (2007), chapter 5, with its equations put right; Casulli,
"Semi-implicit finite difference methods for the two-dimensional shallow water equations" (1990); Casulli and Cattani,
"Stability, accuracy and efficiency of a semi-implicit method for three-dimensional shallow water flow" (1994).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glla.operations.bands.tridiagonal import VARIANTS, Systems
from glla.operations.batches.stack import Stack
from glla.passes import Draft, Plan, Storage, Uniform, iterate, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

Triple = tuple[float, float, float]
ONES: Triple = (1.0, 1.0, 1.0)

CHUNK = 16
"""Texels across and down that a fragment of a reduction reads."""

SIDES = ("west", "east", "south", "north")
"""Sides of the basin: i = 0, i = last, j = 0, j = last."""

FIELDS = ("z", "u", "v", "h")
"""Fields of a simulation, in the order of the channels of its state."""


@dataclass(frozen=True)
class Water:
    """Parameters of the plan of a simulation: everything but the fields."""

    cells: tuple[int, int]  # along x and y
    spacing: tuple[float, float] = (1.0, 1.0)  # of the cells along x and y, in m
    dt: float = 1.0  # of a step, in s
    gravity: float = 9.81  # in m/s^2
    friction: float = 0.0  # 1 / C^2, C being Chezy's coefficient, in s^2/m
    coriolis: float = 0.0  # f, in 1/s
    wind: tuple[float, float] = (0.0, 0.0)  # stress over the density of water along x and y, in m^2/s^2
    convection: bool = True  # the flow carries its velocity
    pieces: int = 1  # straight pieces of a streamline
    periodic: tuple[bool, bool] = (False, False)  # whether the ends of x, and of y, are joined
    theta: float = 0.5  # weight of the new time level, of the semi-implicit step
    tolerance: float = 1e-6  # of its conjugate gradients, relative to the right side
    most: int = 1000  # iterations of these, at most
    tide: str = ""  # side whose elevation is given; "" for none
    variant: str = "cyclic_reduction"  # of the tridiagonal systems

    @property
    def storage(self) -> Storage:
        """Texture with a texel for each cell."""
        return Storage(self.cells[1], self.cells[0])

    def shape(self, field: str) -> Shape:
        """Rows and columns of a field."""
        nx, ny = self.cells
        return (nx + (field == "u"), ny + (field == "v"))

    @property
    def defines(self) -> dict[str, int]:
        """Of every shader that looks beyond a cell."""
        return {"PERIODIC_X": int(self.periodic[0]), "PERIODIC_Y": int(self.periodic[1])}

    @property
    def side(self) -> dict[str, int]:
        """Define of shaders that look for cells of given elevation."""
        return {"TIDE": SIDES.index(self.tide) + 1 if self.tide else 0}


RECORD = Storage(1, 1)
"""Storage of the record (least depth, i, j, steps)."""


@cached_plan
def pack(water: Water) -> Plan:
    """Plan of the state of given fields: operands ``z``, ``u``, ``v``, ``h``, packed, result ``state``."""
    given = {name: matrix(water.shape(name)) for name in FIELDS}
    return single_pass("state of shallow water", "shallow_water/pack", given, {"state": water.storage})


@cached_plan
def unpack(water: Water, field: str) -> Plan:
    """Plan of a field of a state: operand ``state``, result ``field``, packed."""
    shape = water.shape(field)
    uniforms: dict[str, Uniform] = {"shape": shape, "cells": water.cells}
    defines, given = {"FIELD": FIELDS.index(field), **water.defines}, {"state": water.storage}
    name = f"{field} of shallow water"
    return single_pass(name, "shallow_water/unpack", given, {"field": matrix(shape)}, uniforms, defines)


@cached_plan
def paint(water: Water, zoom: int = 1, look: Triple = ONES, above: Triple = ONES, below: Triple = ONES) -> Plan:
    """Plan of a picture of the surface: operand ``state``, result ``colour``, `zoom` texels for a cell.

    `look`: difference of two cells that turns the light by half, elevation of full colour, depth of white ground, in m.
    `above`, `below`: colours of elevations, red, green and blue from 0 to 1.
    """
    made = {"colour": Storage(zoom * water.cells[1], zoom * water.cells[0])}
    uniforms: dict[str, Uniform] = {"zoom": zoom, "look": look, "above": above, "below": below, "cells": water.cells}
    name, given = "picture of shallow water", {"state": water.storage}
    return single_pass(name, "shallow_water/paint", given, made, uniforms, water.defines)


class _Step:
    """Adds the passes of a step to a draft."""

    def __init__(self, draft: Draft, water: Water, watched: bool = True) -> None:
        self.draft, self.water = draft, water
        self.state = draft.operand("state", water.storage)
        self.record = draft.operand("record", RECORD) if watched else ""
        self._numbers: dict[str, int] = {}

    def slot(self, name: str, storage: Storage | None = None) -> str:
        """Add a slot, whose name is made one of its own."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return self.draft.slot(name if number == 1 else f"{name} {number}", storage or self.water.storage)

    def draw(
        self,
        shader: str,
        inputs: Mapping[str, str],
        output: str,
        uniforms: Mapping[str, Uniform] | None = None,
        defines: Mapping[str, int] | None = None,
        storage: Storage | None = None,
    ) -> str:
        """Add a pass that looks beyond a cell, to a slot whose name is made one of its own; give it."""
        made, given = self.slot(output, storage), {"cells": self.water.cells, **(uniforms or {})}
        self.draft.draw(f"shallow_water/{shader}", inputs, made, given, {**self.water.defines, **(defines or {})})
        return made

    def coefficients(self, along: int, theta: bool) -> str:
        """Add the pass of the physics; give the slot of its results."""
        water = self.water
        (dx, dy), dt = water.spacing, water.dt
        d, g = water.spacing[along], water.gravity
        sign = -1.0 if along else 1.0
        uniforms: dict[str, Uniform] = {
            "along": (g * dt * dt / (2 * d * d), dt / (2 * d), g * dt / d),
            "forces": (dt * g * water.friction, sign * dt * water.coriolis, dt * water.wind[along], water.theta),
        }
        if water.convection:
            uniforms["reach"] = (dt / dx / water.pieces, dt / dy / water.pieces)
        defines = {"ALONG": along, "CONVECTION": int(water.convection), "STEPS": water.pieces, "THETA": int(theta)}
        return self.draw("coefficients", {"state": self.state}, "V" if along else "U", uniforms, defines)

    def half(self, along: int, level: str) -> None:
        """Add half a step of alternating directions: one velocity and the elevation move on."""
        water, draft = self.water, self.draft
        face = self.coefficients(along, False)
        n, lines = water.cells[along], water.cells[1 - along]
        count = lines * (2 if water.periodic[along] else 1)
        stack = Stack(count, count, 1, 0) if along else Stack(count, 1, count, 0)
        rows = not along
        storage = Storage(n, count) if along else Storage(count, n)
        inputs = {"state": self.state, "T": face} | ({"level": level} if level else {})
        rho: dict[str, Uniform] = {"rho": water.dt / (2 * water.spacing[1 - along])}
        equations = self.draw("equations", inputs, "E", rho, {"ALONG": along, **water.side}, storage)
        systems = Systems(draft, stack, n, rows=rows, guard=False)
        values = VARIANTS[water.variant].settle(water.variant, ())
        x, _, _ = systems.solve(equations, water.variant, values, f"{equations} ")
        slope: dict[str, Uniform] = {"slope": water.gravity * water.dt / water.spacing[along]}
        self.state = self.draw("advance", {"state": self.state, "T": face, "X": x}, "moved", slope, {"ALONG": along})

    def watch(self, steps: int) -> None:
        """Add the search for the shallowest cell, which joins the record; `steps` are done with it."""
        width, height = self.water.cells
        slot, first = self.state, True
        while True:
            size = (width, height)
            width, height = -(-width // CHUNK), -(-height // CHUNK)
            last = width * height == 1
            made = self.slot("record'" if last else "shallowest", Storage(height, width))
            inputs = {"A": slot} | ({"record": self.record} if last else {})
            uniforms: dict[str, Uniform] = {"chunk": CHUNK, "size": size}
            uniforms |= {"steps": float(steps)} if last else {}
            defines = {"FIRST": int(first), "LAST": int(last)}
            self.draft.draw("shallow_water/shallowest", inputs, made, uniforms, defines)
            slot, first = made, False
            if last:
                self.record = made
                return

    def plan(self) -> Plan:
        """Finish."""
        cells = self.water.cells[0] * self.water.cells[1]
        return self.draft.plan({"state'": self.state, "record'": self.record}, 100 * cells)


@cached_plan
def adi(water: Water, first: int = 0) -> Plan:
    """Plan of a step by alternating directions: x first, or y (`first` 1).

    Operands ``state``, ``record`` (least depth, i, j, steps), and with a tide ``level_1`` and ``level_2``, its
    elevations behind both halves, a texel each. Results ``state'`` and ``record'``.
    """
    draft = Draft("shallow water, alternating directions")
    step = _Step(draft, water)
    for half, along in enumerate((first, 1 - first)):
        level = draft.operand(f"level_{half + 1}", RECORD) if water.tide else ""
        with draft.scope("along y" if along else "along x"):
            step.half(along, level)
            step.watch(half)
    return step.plan()


@cached_plan
def semi_implicit(water: Water) -> Plan:
    """Plan of a semi-implicit step: operands ``state``, ``record`` and ``zero``, a texel of zeros; results as `adi`.

    With a tide also ``level``, its elevation behind the step, a texel.
    """
    draft = Draft("shallow water, semi-implicit")
    state, record = draft.operand("state", water.storage), draft.operand("record", RECORD)
    zero = draft.operand("zero", RECORD)
    level = {"level": draft.operand("level", RECORD)} if water.tide else {}
    made = draft.call("system", system(water), state=state, **level)
    solved = draft.call("gradients", gradients(water), C=made["C"], S=made["S"], K=zero, F=zero)["S'"]
    ended = draft.call("conclusion", conclusion(water), state=state, record=record, U=made["U"], V=made["V"], S=solved)
    return draft.plan(ended, 100 * water.cells[0] * water.cells[1])


@cached_plan
def system(water: Water) -> Plan:
    """Plan of the five-point system of a step: results ``U``, ``V``, ``C``, and ``S`` to begin with.

    Operands ``state``, and with a tide ``level``.
    """
    step = _Step(Draft("system of a semi-implicit step"), water, watched=False)
    u, v = step.coefficients(0, True), step.coefficients(1, True)
    c = step.draw("system", {"U": u, "V": v}, "C")
    given = {"state": step.state, "level": step.draft.operand("level", RECORD)} if water.tide else {}
    s = step.draw("begin", {"C": c, **given}, "S", {}, water.side)
    return step.draft.plan({"U": u, "V": v, "C": c, "S": s}, 0)


@cached_plan
def conclusion(water: Water) -> Plan:
    """Plan of the end of a step: velocities and elevation from the solution in ``S``; results as `adi`."""
    step = _Step(Draft("end of a semi-implicit step"), water)
    inputs = {"state": step.state} | {name: step.draft.operand(name, water.storage) for name in "UVS"}
    (dx, dy), factor = water.spacing, water.theta * water.gravity * water.dt
    step.state = step.draw("conclude", inputs, "moved", {"slopes": (factor / dx, factor / dy)})
    step.watch(1)
    return step.plan()


@cached_plan
def iteration(water: Water) -> Plan:
    """Plan of an iteration of conjugate gradients: ``S`` (x, r, p, s), ``K`` and ``F`` as ``scalars.frag`` has them."""
    draft = Draft("conjugate gradients of five points")
    operands = {name: draft.operand(name, water.storage) for name in "CS"}
    operands |= {name: draft.operand(name, RECORD) for name in "KF"}
    product = draft.slot("W", water.storage)
    inputs = {"C": operands["C"], "S": operands["S"]}
    draft.draw("shallow_water/product", inputs, product, {"cells": water.cells}, {**water.defines, **water.side})
    slot, (width, height) = product, water.cells
    while slot == product or width * height > 1:
        size = (width, height)
        width, height = -(-width // CHUNK), -(-height // CHUNK)
        made = draft.slot(f"sums of {width} x {height}", Storage(height, width))
        draft.draw("shallow_water/sum", {"A": slot}, made, {"chunk": CHUNK, "size": size})
        slot = made
    k, f, s = draft.slot("K'", RECORD), draft.slot("F'", RECORD), draft.slot("S'", water.storage)
    scalars = {"D": slot, "K": operands["K"], "F": operands["F"]}
    draft.draw("shallow_water/scalars", scalars, (k, f), {"tolerance": water.tolerance})
    draft.draw("shallow_water/update", {"S": operands["S"], "W": product, "K": k}, s)
    return draft.plan({"S'": s, "K'": k, "F'": f}, 21 * water.cells[0] * water.cells[1])


@cached_plan
def gradients(water: Water) -> Plan:
    """Loop of `iteration`, until the device says that it is solved."""
    return iterate(iteration(water), carry={"S'": "S", "K'": "K", "F'": "F"}, until="F'", most=water.most)
