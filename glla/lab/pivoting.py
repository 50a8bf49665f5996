"""`glla study pivoting`: growth and error by the choice of pivots, on matrices where the choices differ.

The thesis eliminates two columns at once, and chooses its pivot among 2x2 blocks by their harmonic norm. That takes
fewer passes than partial pivoting; what it costs, this study shows. Each matrix is factored (`glla.plu`) and reduced
(`glla.rref`, of [A | b], b the row sums: of a regular matrix alone the echelon form is the identity, whatever went
wrong) with each norm *by itself*, and the device's own check says whether the library would let that stand or do it
again with ``partial``.

A figure to compare with is Wilkinson's: partial pivoting bounds the growth by 2^(n - 1), and his matrix attains it;
complete pivoting (LU-GPU's, `pluq`) keeps it near 1, for a search of the whole rest of the matrix at each step.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glla import linalg, testing
from glla.array.array import Array, asarray
from glla.array.convert import Float32, as_float32
from glla.errors import ShapeError
from glla.gl import DeviceLike, named_device
from glla.lab import plots
from glla.lab.extra import require
from glla.lab.study import Report, Run, Study, option
from glla.lab.table import aligned, digits
from glla.linalg.echelon import eliminated
from glla.operations import acceptance
from glla.operations.elimination import equilibrate
from glla.operations.elimination import plu as plu_kernel
from glla.operations.elimination import rref as rref_kernel
from glla.operations.elimination.plu import exchanges, permutation_matrix
from glla.operations.elimination.rref import EPSILON, SMALLEST_BLOCK_NORM
from glla.passes import Plan, resident
from glla.passes.layout import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPLETE = "complete"
STRATEGIES = {"plu": ("harmonic", "geometric", "partial", COMPLETE), "rref": ("harmonic", "geometric", "partial")}
"""Pivoting strategies that are compared, by operation."""

WILKINSON = 24
"""Order of Wilkinson's matrix: its growth, 2^23, is what float32 can hold at most without losing all digits."""

LARGEST_REAL = 512
"""Real matrices with more rows or columns are left out."""


LEGEND = """\
rref: of [A | b], b the sums of the rows of A, equilibrated
growth: plu, max |U| / max |A|; rref, the largest entry met in the columns searched / max |A| (not kept with partial)
pivot: the smallest norm of a pivot / the largest entry of its two columns (geometric: squared); below 1/128 is refused
error: residual / bound, of the elimination with that norm alone; above 1 is wrong
returned: residual / bound of what the library gives; where the norm was refused that is partial's
"""


# -- matrices ---------------------------------------------------------------------------------------------------------


def near_singular_blocks(n: int, rng: np.random.Generator) -> Float32:
    """Make a well conditioned matrix whose 2x2 blocks, the candidates for a block pivot, are all nearly singular.

    Rows 2i and 2i + 1 are b_i + c_i / 256 and b_i - c_i / 256, b_i and c_i random; a norm of any of the blocks is about
    1/256 of its entries, and multipliers are as large. Two rows of different texels make good pivots.

    >>> a = near_singular_blocks(8, np.random.default_rng(0))
    >>> blocks = a.reshape(4, 2, 4, 2).swapaxes(1, 2)
    >>> bool(np.abs(np.linalg.det(blocks)).max() < 0.05)
    True
    """
    half = (n + 1) // 2
    middle, apart = rng.standard_normal((2, half, n)) * np.array([1.0, 2.0**-8])[:, None, None]
    rows = np.stack([middle + apart, middle - apart], axis=1).reshape(2 * half, n)
    return np.asarray(rows[:n], dtype=np.float32)


def uneven_pairs(n: int, rng: np.random.Generator) -> Float32:
    """Make a matrix where the harmonic and the geometric norm disagree.

    In the upper half the rows of a pair are scaled by 64 and 1/16, in the lower half by 1 and 1: the geometric mean of
    the upper pairs is larger, the harmonic mean of the lower ones.

    >>> largest = np.abs(uneven_pairs(64, np.random.default_rng(0))).max(axis=1)
    >>> bool(largest[0] > 500 * largest[1])
    True
    """
    scales = np.ones(n)
    scales[: n // 2 : 2], scales[1 : n // 2 : 2] = 64.0, 1.0 / 16.0
    return np.asarray(scales[:, None] * rng.standard_normal((n, n)), dtype=np.float32)


def matrices(size: int, seed: int = 2007) -> dict[str, Float32]:
    """Matrices on which the choices of a pivot differ, by name.

    `size`: their order. `seed`: of the random ones.

    >>> sorted({a.shape for a in matrices(8).values()})
    [(8, 8)]
    """
    rng = np.random.default_rng(seed)
    return {
        "uniform": testing.uniform(size, size, rng),
        "normal": testing.normal(size, size, rng),
        "spd": testing.spd(size, rng),
        "graded": testing.graded(size, size, rng),
        "uneven pairs": uneven_pairs(size, rng),
        "near-singular blocks": near_singular_blocks(size, rng),
        "rows e0 e2 e1 e3": testing.bad_pairs(size, size),
        "Wilkinson": testing.wilkinson_growth(size, size, order=WILKINSON),
    }


def real_matrices(folder: Path) -> dict[str, Float32]:
    """Real matrices: the MatrixMarket files (``*.mtx``, ``*.mtx.gz``) of a folder, by name.

    `folder`: files that hold no real matrix of 2 to `LARGEST_REAL` rows and columns are passed over.
    Raises OSError: the folder cannot be read. Raises MissingPackageError: SciPy is not installed.
    """
    require("pivoting", "scipy")
    from scipy.io import mminfo, mmread

    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.endswith((".mtx", ".mtx.gz")):
            continue
        rows, columns, _, _, field, _ = mminfo(path)
        if not 2 <= min(rows, columns) <= max(rows, columns) <= LARGEST_REAL or field == "complex":
            continue
        newer = {"spmatrix": False} if "spmatrix" in inspect.signature(mmread).parameters else {}  # the older one warns
        read = mmread(path, **newer)
        dense = np.asarray(read.toarray() if hasattr(read, "toarray") else read)
        found[path.name.split(".")[0]] = as_float32("pivoting", path.name, dense, True)
    return found


# -- complete pivoting ------------------------------------------------------------------------------------------------


class PLUQ(NamedTuple):
    """Result of `pluq`: A = P @ L @ U @ Q."""

    P: Float32  # (m, m): permutation matrix
    L: Float32  # (m, k): unit lower trapezoidal, k = min(m, n); no entry is above 1 in magnitude
    U: Float32  # (k, n): upper trapezoidal; no entry of a row is above that on the diagonal
    Q: Float32


def pluq(a: Any, *, device: DeviceLike | None = None) -> PLUQ:
    """PLU factorisation with complete pivoting, A = P @ L @ U @ Q.

    Arrays of float32. Synchronises.
    `a`, (m, n): real numbers; any shape and rank. `device`: or its name, see `glla.gl.named_device`. Where to compute.
    Raises ShapeError, DTypeError, NonFiniteError: `a` is not two-dimensional, not real, not finite.

    Error: norm(P L U Q - A) / (max(m, n) norm(A) u) stays below 30, u = 2^-24. Of equal candidates the first one, row
    by row, is the pivot. Cost: about 2/3 n^3 flop and n^3 / 3 comparisons; 6 to 9 passes for a column.
    Source: Galoppo, Govindaraju, Henson and Manocha 2005 (LU-GPU), full pivoting.

    >>> P, L, U, Q = pluq([[1, 2], [3, 4]])
    >>> U
    array([[ 4. ,  3. ],
           [ 0. , -0.5]], dtype=float32)
    >>> P @ L @ U @ Q
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    value = a.numpy() if isinstance(a, Array) else as_float32("pluq", "A", a, True)
    if value.ndim != 2:
        raise ShapeError(f"pluq: A must be two-dimensional, got shape {value.shape}; reshape it")
    m, n = value.shape
    if 0 in value.shape:
        return PLUQ(*(np.eye(*shape, dtype=np.float32) for shape in ((m, m), (m, 0), (0, n), (n, n))))
    matrix = a if isinstance(a, Array) else asarray(value, named_device("pluq", device))
    results = matrix.device.run(_plan(plu_kernel, matrix.value.matrix, "row_operations_full"), A=matrix.texture)
    lu = Array(matrix.device, results["LU"], matrix.shape)
    records = (matrix.device.read(results[name]) for name in ("pivots", "columns"))
    rows, columns = (exchanges(one, min(lu.shape)) for one in records)
    return PLUQ(permutation_matrix(rows, m), *testing.unpack_lu(lu.numpy()), permutation_matrix(columns, n).T)


# -- the study --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """Result of one choice of pivots for one matrix."""

    matrix: str  # its name
    rows: int  # its shape; what ``rref`` reduces has a column more
    columns: int
    operation: str  # ("plu", "rref"): what was done
    pivoting: str  # how pivots were chosen
    # largest entry over that of the matrix: of U, or of the columns that an echelon form searched (equilibrated; NaN
    # with ``partial``, whose search keeps other figures)
    growth: float
    pivot: float  # smallest pivot norm over the largest entry of its two columns; NaN where it is not judged by one
    error: float  # residual over bound of this elimination by itself; above 1 is wrong
    refused: bool  # the device found the pivots or the growth too bad, and the library does it again with ``partial``
    returned: float  # residual over bound of what the library returns
    passes: int  # render passes of this elimination


def pivoting_study(
    given: Mapping[str, Any], device: DeviceLike | None = None, progress: Callable[[str], object] = lambda name: None
) -> list[Record]:
    """Compare the choices of pivots for growth and error.

    For each matrix, operation and strategy of `STRATEGIES`. ``pandas.DataFrame(records)`` is a table of them.
    `given`: matrices by name. `device`: or its name, see `glla.gl.named_device`. Where to compute. `progress`: called
    with the name of each matrix, before it is factored.
    Raises ShapeError, DTypeError, NonFiniteError: a given matrix is not two-dimensional, empty, not real, not finite.

    >>> records = pivoting_study({"rows e0 e2 e1 e3": np.eye(4)[[0, 2, 1, 3]]})
    >>> [(r.operation, r.pivoting) for r in records if r.refused]
    [('plu', 'harmonic'), ('plu', 'geometric'), ('rref', 'harmonic'), ('rref', 'geometric')]
    >>> max(r.returned for r in records)
    0.0
    """
    target = named_device("pivoting_study", device)
    records: list[Record] = []
    for name, value in given.items():
        progress(name)
        a = as_float32("pivoting_study", name, value, True)
        if a.ndim != 2 or 0 in a.shape:
            raise ShapeError(f"pivoting_study: {name} must be two-dimensional and not empty, got shape {a.shape}")
        matrix = asarray(a, target)
        for operation, strategies in STRATEGIES.items():
            run = FIGURES[operation]
            records += [Record(name, len(a), a.shape[1], operation, one, *run(a, matrix, one)) for one in strategies]
    return records


def _plan(kernel: Any, shape: Shape, variant: str = "rank2", **options: Any) -> Plan:
    plan: Plan = kernel.plan(resident(shape), variant=variant, **options)
    return plan


Figures = tuple[float, float, float, bool, float, int]
"""Those of a record, from its growth on."""


def _plu(a: Float32, matrix: Array, pivoting: Any) -> Figures:
    """Factor with one norm, then as the library does."""
    if pivoting == COMPLETE:
        P, L, U, Q = pluq(matrix)
        error = testing.judge_plu(a @ Q.T, P, L, U).ratio
        passes = len(_plan(plu_kernel, a.shape, "row_operations_full").passes)
        return _over(np.abs(U).max(), np.abs(a).max()), math.nan, error, False, error, passes
    plan, device = _plan(plu_kernel, a.shape, pivoting=pivoting), matrix.device
    results = device.run(plan, A=matrix.texture)
    lower, upper = testing.unpack_lu(Array(device, results["LU"], a.shape).numpy())
    pivots = exchanges(device.read(results["pivots"]), min(a.shape))
    error = testing.judge_plu(a, testing.permutation_from_piv(pivots, len(a)), lower, upper).ratio
    ratio, largest = device.read(results["health"])[0, :, :2].T
    scale = np.abs(a).max()
    judged = pivoting != "partial"
    refused = judged and not acceptance.accepted(ratio.min(), largest.max(), scale, min(a.shape))
    returned = testing.judge_plu(a, *linalg.plu(a, pivoting, variant="rank2", device=device, check_finite=False))
    smallest = float(ratio.min()) if judged else math.nan
    return _over(np.abs(upper).max(), scale), smallest, error, bool(refused), returned.ratio, len(plan.passes)


def _rref(a: Float32, matrix: Array, pivoting: Any) -> Figures:
    """Reduce the equilibrated [A | b] with one norm, then [A | b] as the library does."""
    augmented, device = np.column_stack([a, a.sum(axis=1, dtype=np.float64).astype(np.float32)]), matrix.device
    upload = asarray(augmented, device)
    results = device.run(equilibrate.plan((upload.shape[0], upload.shape[1])), A=upload.texture)
    equilibrated = Array(device, results["scaled"], upload.shape)
    scaled, judged = equilibrated.numpy(), pivoting != "partial"
    limits = (SMALLEST_BLOCK_NORM, 0.0) if judged else (0.0, EPSILON)
    result, pivots, (ratio, largest, _) = eliminated(equilibrated, limits, pivoting, device)
    error = testing.judge_rref(scaled, np.asarray(result), pivots).ratio
    order = min(augmented.shape)
    refused = judged and not (len(pivots) == order and acceptance.accepted(ratio, largest, 2.0, order))
    found = linalg.rref(augmented, pivoting=pivoting, variant="rank2", device=device, check_finite=False)
    returned = testing.judge_rref(augmented, *found).ratio
    growth, smallest = (_over(largest, np.abs(scaled).max()), ratio) if judged else (math.nan, math.nan)
    passes = len(_plan(rref_kernel, augmented.shape, pivoting=pivoting).passes)
    return growth, smallest, error, bool(refused), returned, passes


FIGURES: dict[str, Callable[[Float32, Array, str], Figures]] = {"plu": _plu, "rref": _rref}


def _over(largest: Any, scale: Any) -> float:
    """Growth; that of a matrix of zeros is 1.

    >>> _over(3.0, 2.0), _over(0.0, 0.0)
    (1.5, 1.0)
    """
    return float(largest) / float(scale) if scale else 1.0


def sound(records: Iterable[Record]) -> bool:
    """Whether everything that the library returned is within its bound."""
    return all(record.returned <= 1 for record in records)


# -- what is shown ----------------------------------------------------------------------------------------------------


def text(records: Sequence[Record]) -> str:
    """Write the records as a table, with a legend and a verdict."""
    refused = sum(record.refused for record in records)
    wrong = sum(not record.error <= 1 for record in records)
    bad = sum(not record.returned <= 1 for record in records)
    verdict = f"{bad} results FAILED" if bad else "every result that was returned is within its bound"
    counted = f"{refused} of {len(records)} eliminations were refused; {wrong} were wrong"
    return "\n".join([_table(records), "", LEGEND, counted, verdict])


def _table(records: Sequence[Record]) -> str:
    head = ("matrix", "shape", "operation", "pivoting", "passes", "growth", "pivot", "error", "refused", "returned")
    rows = []
    for before, one in zip([None, *records], records, strict=False):
        is_first = before is None or one.matrix != before.matrix
        named = (one.matrix, f"{one.rows} x {one.columns}") if is_first else ("", "")
        numbers = map(digits, (one.growth, one.pivot, one.error))
        refused = "yes" if one.refused else "-"
        rows.append((*named, one.operation, one.pivoting, str(one.passes), *numbers, refused, digits(one.returned)))
    return aligned(head, rows)


MARKS = {"harmonic": "o", "geometric": "s", "partial": "^", COMPLETE: "D"}
SMALLEST_DRAWN = 1e-6


def draw(records: Sequence[Record], title: str, path: Path) -> None:
    """Write a picture: growth and error, by matrix, operation and pivoting. Hollow marks were refused."""
    title = f"{title} (hollow: refused; left edge: zero; right edge: infinite)"
    with plots.drawn(path, (14, 9), 110, title) as figure:
        axes = figure.subplots(2, 2, sharey="row")
        for row, operation in zip(axes, STRATEGIES, strict=True):
            some = [record for record in records if record.operation == operation]
            _draw_figures(row[0], some, "growth", f"{operation}: growth")
            _draw_figures(row[1], some, "error", f"{operation}: residual / bound")
            row[1].axvline(1.0, color="black", linewidth=0.8)
        axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the points, not over them


def _draw_figures(axes: Axes, records: Sequence[Record], name: str, title: str) -> None:
    """Draw one figure of the records, a line for each matrix; infinite values at the right edge."""
    names = list(dict.fromkeys(record.matrix for record in records))
    values = {record: value for record in records if not math.isnan(value := getattr(record, name))}
    edge = max(100.0, 10 * max(filter(math.isfinite, values.values()), default=0.0))
    axes.set_xscale("log")
    for number, (pivoting, mark) in enumerate(MARKS.items()):
        axes.plot([], [], mark, color=f"C{number}", label=pivoting)
        for record in (record for record in values if record.pivoting == pivoting):
            x, y = min(max(values[record], SMALLEST_DRAWN), edge), names.index(record.matrix) + 0.16 * (number - 1.5)
            axes.plot(x, y, mark, color=f"C{number}", fillstyle="none" if record.refused else "full")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_title(title)


def _run(run: Run) -> Report:
    chosen = matrices(run.options.size, run.options.seed)
    if run.options.data is not None:
        chosen |= real_matrices(run.options.data)
    records = pivoting_study(chosen, run.device, run.say)
    title = f"{run.device.info.renderer}: the choice of pivots"
    data = {"title": title, "records": [asdict(record) for record in records]}
    return Report(text(records), data, sound(records), lambda path: draw(records, title, path))


STUDY = Study(
    "pivoting",
    "growth and error with the harmonic, geometric, partial and complete pivots",
    _run,
    (option("--data", type=Path, metavar="FOLDER", help="also real matrices, MatrixMarket files up to 512"),),
    size=(64, "order of the matrices"),
    least=8,
    seed=True,
    endings=(".png",),
)
