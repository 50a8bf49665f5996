"""Shallow water: waves, tides and seiches in a basin, simulated on the device."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32, as_float32
from glla.display.colours import NEGATIVE, POSITIVE, rgb
from glla.errors import DampingWarning, DryCellError, LimitError, OptionError, ShapeError, integer, one_of
from glla.gl import DeviceLike, Download, Texture
from glla.linalg.operands import device_of
from glla.operations import shallow_water as kernel
from glla.operations.bands.tridiagonal import VARIANTS
from glla.operations.shallow_water import SIDES, Water
from glla.passes import Plan

SCHEMES = ("adi", "semi_implicit")
"""Time stepping schemes."""

SPLITTINGS = ("xy", "yx", "alternate")
"""Orders of the half steps of "adi": x first, as in the thesis, y first, or alternating."""

DAMPED_TO = 20.0
"""Courant number from which "adi" keeps 99.5 % of the amplitude of the shortest waves in a step."""


class ShallowWater:
    """A basin of shallow water whose state stays on the device.

    Waves with long steps: the gravity waves are implicit, so the step is not bound by their speed. Made for waves,
    tides and seiches; not for bores. ``time`` and ``steps`` are the seconds and steps since the beginning.

    Examples
    --------
    >>> import numpy as np
    >>> from glla.applications import ShallowWater
    >>> water = ShallowWater(np.full((32, 32), 10.0), spacing=10.0, dt=0.5)
    >>> water.set(z=np.exp(-(np.hypot(*np.ogrid[-16:16, -16:16]) ** 2) / 20))
    >>> before = water.volume()
    >>> water.step(20)
    >>> water.time, bool(abs(water.volume() / before - 1) < 1e-7)
    (10.0, True)

    Parameters
    ----------
    depth : array_like or Array, shape (nx, ny)
        Depth of the still water in each cell, in m; the first index is along x.
    spacing, dt : float or (float, float), float
        Size of the cells along x and y, in m; time step, in s.
    chezy, gravity : float
        Chezy's coefficient of friction, in m^(1/2)/s, infinite for none; acceleration, in m/s^2.
    convection, periodic : bool, (bool, bool)
        Momentum is carried along streamlines that are traced back; the ends of x, and of y, are joined, not walls.
    scheme, splitting, theta : {"adi", "semi_implicit"}, {"xy", "yx", "alternate"}, float
        Two half steps of tridiagonal systems, of x first, y first, or in turns; or one five-point system by conjugate
        gradients, for rough data: theta weighs the new time level, 0.5 (second order) to 1; 0.6 is robust.
    tide : (str, callable), optional
        A side, "west" (i = 0), "east", "south" (j = 0) or "north", and its elevation as a function of the time in s.
    coriolis, wind : float, (float, float)
        The Coriolis parameter f, in 1/s; the wind's stress over the density of water, in m^2/s^2.
    pieces, tolerance, variant, check_every : int, float, str, int
        Segments of a streamline, 1 to 8; of the conjugate gradients; of tridiagonal systems; steps between checks.
    device : Device, int or str, optional
        The device; by default that of `depth`, or the default device.

    Raises
    ------
    DryCellError
        The depth of a cell is not above zero: names it and the step, later, or when a field is read.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError
        Fields do not fit together; numbers outside their ranges; too many cells. With "adi" a Courant number of 20 or
        more is a DampingWarning: the shortest waves keep 99.5 % of their amplitude in a step.
    """

    def __init__(
        self,
        depth: Any,
        spacing: float | tuple[float, float],
        dt: float,
        *,
        chezy: float = inf,
        gravity: float = 9.81,
        convection: bool = True,
        scheme: str = "adi",
        theta: float = 0.5,
        splitting: str = "xy",
        periodic: tuple[bool, bool] = (False, False),
        tide: tuple[str, Callable[[float], float]] | None = None,
        coriolis: float = 0.0,
        wind: tuple[float, float] = (0.0, 0.0),
        pieces: int = 1,
        tolerance: float = 1e-6,
        variant: str = "cyclic_reduction",
        check_every: int = 16,
        device: DeviceLike | None = None,
    ) -> None:
        h = _field("depth", depth)
        if h.ndim != 2 or min(h.shape) < 1:
            raise ShapeError(
                f"ShallowWater: depth must be two-dimensional, a number for each cell, got shape {h.shape}"
            )
        one_of("ShallowWater: scheme", scheme, SCHEMES)
        one_of("ShallowWater: splitting", splitting, SPLITTINGS)
        one_of("ShallowWater: variant", variant, VARIANTS)
        self._level: Callable[[float], float] | None = None
        side = ""
        if tide is not None:
            side, self._level = _pair("tide", tide, "(side, function of the time in s)")
            one_of("ShallowWater: the side of tide", side, SIDES)
            if not callable(self._level):
                raise OptionError(
                    f"ShallowWater: tide must be (side, function of the time in s), got {self._level!r} for the "
                    "function; for a level that stays pass lambda time: level"
                )
        nx, ny = h.shape
        around = _pair("periodic", periodic, "(along x, along y)")
        ring = bool(around[0]), bool(around[1])
        blown = _pair("wind", wind, "(along x, along y)")
        for name, length, joined in zip("xy", h.shape, ring, strict=True):
            if joined and length < 3:
                raise ShapeError(f"ShallowWater: a periodic basin has 3 cells at least along {name}, got {length}")
        if tide is not None and ring[0 if side in ("west", "east") else 1]:
            raise OptionError(f"ShallowWater: a basin that is periodic there has no side {side!r}")
        pair = _pair("spacing", spacing if np.ndim(spacing) else (spacing, spacing), "a number, or (along x, along y)")
        self._water = Water(
            cells=(nx, ny),
            spacing=(_positive("spacing", pair[0]), _positive("spacing", pair[1])),
            dt=_positive("dt", dt),
            gravity=_positive("gravity", gravity),
            friction=0.0 if chezy == inf else 1.0 / _positive("chezy", chezy) ** 2,
            coriolis=_number("coriolis", coriolis),
            wind=(_number("wind", blown[0]), _number("wind", blown[1])),
            convection=bool(convection),
            pieces=_within("pieces", integer("ShallowWater", "pieces", pieces), 1, 8),
            periodic=ring,
            theta=_within("theta", _number("theta", theta), 0.5, 1.0),
            tolerance=_positive("tolerance", tolerance),
            tide=side,
            variant=variant,
        )
        self._every = _within("check_every", integer("ShallowWater", "check_every", check_every), 1, 10**6)
        self._scheme, self._splitting = scheme, splitting
        self._device = device_of("ShallowWater", device, depth)
        most = self._device.limits.texture_size // (2 if any(ring) else 1)
        if max(nx, ny) > most:
            raise LimitError(
                f"ShallowWater: at most {most} cells a side on this device, got {h.shape}", max(nx, ny), most
            )
        self.steps = 0
        self._looks: deque[Download] = deque()
        self._dry = ""
        self._h = h
        self._warn_of_waves()
        zeros = {name: np.zeros(self._water.shape(name), dtype=np.float32) for name in "zuv"}
        self._begin(zeros["z"], zeros["u"], zeros["v"])

    def _warn_of_waves(self) -> None:
        """Warn if "adi" hardly damps waves of two cells."""
        sides = zip(self._water.cells, self._water.spacing, strict=True)
        least = min((spacing for count, spacing in sides if count > 1), default=inf)
        courant = self._speed() * self._water.dt / least
        if self._scheme == "adi" and courant >= DAMPED_TO:
            warnings.warn(
                f"ShallowWater: the Courant number of scheme='adi' should be below {DAMPED_TO:g}, got {courant:.3g}; "
                "beyond, short waves last: take a shorter step, or scheme='semi_implicit' with theta=0.6",
                DampingWarning,
                stacklevel=3,
            )

    # -- the state ----------------------------------------------------------------------------------------------------

    def set(self, z: Any = None, u: Any = None, v: Any = None) -> None:
        """Set fields; omitted ones keep their values.

        Parameters
        ----------
        z : array_like or Array, shape (nx, ny), or number
            Elevation above the still water, in m.
        u : array_like or Array, shape (nx + 1, ny), or number
            Velocity along x on the faces, in m/s. Zero on closed walls.
        v : array_like or Array, shape (nx, ny + 1), or number
            Velocity along y, likewise.
        """
        fields = {}
        for axis, (name, given) in enumerate(zip("zuv", (z, u, v), strict=True)):
            shape = self._water.shape(name)
            if given is None:
                fields[name] = getattr(self, name).numpy()
                continue
            value = _field(name, given)
            if value.shape not in (shape, ()):
                raise ShapeError(
                    f"ShallowWater: {name} must have shape {shape}, or be a number, got shape {value.shape}"
                )
            fields[name] = np.array(np.broadcast_to(value, shape))
            if name != "z" and not self._water.periodic[axis - 1]:
                walls = np.moveaxis(fields[name], axis - 1, 0)
                if value.shape and walls[[0, -1]].any():
                    raise OptionError(
                        f"ShallowWater: {name} must be zero on the closed walls, its first and last faces"
                    )
                walls[[0, -1]] = 0.0
        self._begin(fields["z"], fields["u"], fields["v"])

    def _begin(self, z: Float32, u: Float32, v: Float32) -> None:
        depth = self._h + z
        if not (depth > 0).all():
            i, j = (int(one) for one in np.unravel_index(np.argmin(depth), depth.shape))
            raise DryCellError(
                f"ShallowWater: every cell must have water, got depth {depth[i, j]:.4g} m in cell ({i}, {j}); make the "
                "still water deeper, or the wave lower"
            )
        self._looks.clear()
        self._dry = ""
        fields = {"z": z, "u": u, "v": v, "h": self._h}
        given = {name: self._device.upload(np.ascontiguousarray(field)) for name, field in fields.items()}
        self._state = self._device.run(kernel.pack(self._water), **given)["state"]
        self._record = self._device.write_texels(np.array([[[inf, 0, 0, self.steps]]], dtype=np.float32))
        self._zero = self._device.write_texels(np.zeros((1, 1, 4), dtype=np.float32))

    @property
    def time(self) -> float:
        """Seconds since the beginning."""
        return self.steps * self._water.dt

    @property
    def z(self) -> Array:
        """Elevation, (nx, ny), in m, on the device. Synchronises, to check the depths."""
        return self._field("z")

    @property
    def u(self) -> Array:
        """Velocity along x, (nx + 1, ny), in m/s, on the device; of "adi" at half a step before `time`."""
        return self._field("u")

    @property
    def v(self) -> Array:
        """Velocity along y, (nx, ny + 1), in m/s, on the device."""
        return self._field("v")

    @property
    def h(self) -> Array:
        """Depth of the still water, (nx, ny), in m, on the device."""
        return self._field("h")

    def _field(self, name: str) -> Array:
        self._look(self._device.download_later(self._record, (2, 2)).result())
        field = self._device.run(kernel.unpack(self._water, name), state=self._state)["field"]
        return Array(self._device, field, self._water.shape(name))

    def volume(self) -> float:
        """Volume of water in the basin, in m^3, summed in float64 on the host. Synchronises."""
        dx, dy = self._water.spacing
        return float((self._h.astype(np.float64) + self.z.numpy().astype(np.float64)).sum() * dx * dy)

    def courant(self) -> float:
        """Courant number: cells that the fastest gravity wave over still water passes in a step."""
        return self._speed() * self._water.dt / min(self._water.spacing)

    def _speed(self) -> float:
        """Speed of the fastest gravity wave over still water, in m/s."""
        return sqrt(max(self._water.gravity * float(self._h.max()), 0.0))

    def paint(self, zoom: int = 1, slope: float = 0.06, crest: float = 1.0) -> Texture:
        """Draw the surface as a picture, lit from one side; the first row is that of y = 0.

        Parameters
        ----------
        zoom : int
            Texels for a cell, across and down.
        slope : float
            Difference of neighbouring cells, in m, that halves the light.
        crest : float
            Elevation, in m, above and below zero, that has its full colour, blue or orange.

        Returns
        -------
        Texture
            Red, green, blue and 1, each from 0 to 1. Does not synchronise.
        """
        look = float(slope), float(crest), float(self._h.max())
        plan = kernel.paint(self._water, zoom, look, rgb(POSITIVE), rgb(NEGATIVE))
        return self._device.run(plan, state=self._state)["colour"]

    def picture(self, zoom: int = 1, slope: float = 0.06, crest: float = 1.0) -> NDArray[np.uint8]:
        """Return `paint` as an array, (ny zoom, nx zoom, 3), x across and y upwards. Synchronises."""
        colours = self._device.read(self.paint(zoom, slope, crest))[::-1, :, :3]
        return np.asarray(np.round(255 * colours).astype(np.uint8))

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Make n steps. With "adi" does not synchronise, except for the depth record of the check before last.

        Raises
        ------
        DryCellError
            A cell fell dry; the cell and the step are named.
        """
        for _ in range(_within("n", integer("ShallowWater.step", "n", n), 0, 10**9)):
            if self._dry:
                raise DryCellError(self._dry)
            results = self._device.run(self.plan(), **self.operands())
            self._state, self._record = results["state'"], results["record'"]
            self.steps += 1
            if self.steps % self._every == 0:
                self._looks.append(self._device.download_later(self._record, (2, 2)))
                while len(self._looks) > 1:
                    self._look(self._looks.popleft().result())

    def plan(self) -> Plan:
        """Plan of the next step: ``print`` it for its passes."""
        if self._scheme == "semi_implicit":
            return kernel.semi_implicit(self._water)
        first = self.steps % 2 if self._splitting == "alternate" else int(self._splitting == "yx")
        return kernel.adi(self._water, first)

    def operands(self) -> dict[str, Texture]:
        """Textures for `plan`, by name: for `glla.Device.run`."""
        given = {"state": self._state, "record": self._record}
        if self._scheme == "semi_implicit":
            given["zero"] = self._zero
        if self._level is None:
            return given
        behind = {"level": 1.0} if self._scheme == "semi_implicit" else {"level_1": 0.5, "level_2": 1.0}
        for name, part in behind.items():
            level = float(self._level(self.time + part * self._water.dt))
            given[name] = self._device.write_texels(np.full((1, 1, 4), level, dtype=np.float32))
        return given

    def _look(self, record: NDArray[np.float32]) -> None:
        """Raise for a record with a dry cell."""
        (depth, i), (j, step) = record.tolist()
        if not depth > 0:
            words = "is not finite" if not isfinite(depth) else f"is {depth:.4g} m"
            self._dry = (
                f"ShallowWater: the depth of cell ({int(i)}, {int(j)}) {words} in step {int(step) + 1}, cells must not "
                "fall dry; take a shorter step, deeper water, or scheme='semi_implicit' with theta=0.6"
            )
            self._looks.clear()
            raise DryCellError(self._dry)

    def __repr__(self) -> str:
        (nx, ny), (dx, dy) = self._water.cells, self._water.spacing
        return f"<ShallowWater {nx} x {ny} cells of {dx:g} x {dy:g} m, {self._scheme}, t = {self.time:g} s>"


def _field(name: str, value: Any) -> Float32:
    if isinstance(value, Array):
        return value.numpy()
    return as_float32("ShallowWater", name, value)


def _pair(name: str, value: Any, words: str) -> tuple[Any, Any]:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise OptionError(f"ShallowWater: {name} must be {words}, got {value!r}")
    return value[0], value[1]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not isfinite(value):
        raise OptionError(f"ShallowWater: {name} must be a finite number, got {value!r}")
    return float(value)


def _positive(name: str, value: Any) -> float:
    number = _number(name, value)
    if not number > 0:
        raise OptionError(f"ShallowWater: {name} must be above 0, got {value!r}")
    return number


def _within(name: str, value: Any, least: Any, most: Any) -> Any:
    if not least <= value <= most:
        raise OptionError(f"ShallowWater: {name} must be from {least} to {most}, got {value!r}")
    return value
