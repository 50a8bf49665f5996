"""A comparison on a terminal, a line for each record, with its conclusions; and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from glla.display.html import MOST_LINES, folded, left_out, line, table
from glla.lab import machine, plots, progress
from glla.lab.comparison import Comparison, Experiment, Summary
from glla.lab.fits import FEWEST, POOR, per_cent
from glla.lab.measurement import Measurement
from glla.lab.samples import NOISY
from glla.lab.table import digits, latex, milliseconds, quartiles, titled
from glla.passes.screen import screen
from glla.registry import announce

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 160
"""Columns that the full table wants."""

LEGEND = """\
ms: median, operands and result on the device, half of the repeats between the quartiles (! marks a noisy timing)
to end: from NumPy to NumPy; cold: first run, with plan and compilation
of fma, of write: of the fragment multiply-add and colour-write ceilings of this run; GB/s: written by all passes
error: over its bound, wrong above 1; x cpu, x usual, x thesis: times as fast as the CPU in its fastest way, as the call
that a user types, as the thesis's variant"""


NO_FIT = f"no line is fitted to the times: that takes {FEWEST} sizes or more"


def spread(record: Measurement) -> str:
    """Write the quartiles of a timing in milliseconds, with a mark if they are far apart.

    >>> from glla.lab.samples import Samples
    >>> spread(Measurement("matmul", "a", 8, timed={"ours": Samples((1e-3, 1e-3, 2e-3, 3e-3, 3e-3))}))
    '1-3!'
    """
    return f"{quartiles(record.timed.get('ours'))}{'!' if record.noisy else ''}"


def share(value: float | None) -> str:
    """Write a fraction in per cent.

    >>> share(0.1234)
    '12.3%'
    """
    return "-" if value is None else f"{100 * value:.3g}%"


def whole(value: int | None) -> str:
    """Write a count."""
    return "-" if value is None else str(value)


Column = tuple[str, Callable[[Measurement], str], bool]
COLUMNS: tuple[Column, ...] = (  # heading, cell, in the narrow table too
    ("variant", lambda r: r.variant, True),
    ("n", lambda r: str(r.size), True),
    ("ms", lambda r: milliseconds(r.seconds), True),
    ("quartiles", lambda r: spread(r), True),
    ("to end", lambda r: milliseconds(r.end_to_end_seconds), False),
    ("cold", lambda r: milliseconds(r.cold_seconds), False),
    ("GFLOP/s", lambda r: digits(r.gflops), True),
    ("of fma", lambda r: share(r.fraction_of_arithmetic), False),
    ("GB/s", lambda r: digits(r.gbytes_per_second), False),
    ("of write", lambda r: share(r.fraction_of_bandwidth), False),
    ("passes", lambda r: whole(r.passes), False),
    ("draws", lambda r: whole(r.draws), False),
    ("error", lambda r: r.status.upper() if not r.ok else digits(r.error_over_bound), True),
    ("x cpu", lambda r: digits(r.ratio_to_baseline), True),
    ("x usual", lambda r: digits(r.ratio_to_usual), True),
    ("x thesis", lambda r: digits(r.ratio_to_thesis), True),
)


def _console() -> Console:
    """Open standard output, `WIDE` at least where it is no terminal: tables must not be cut off in a file."""
    from rich.console import Console

    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, WIDE)
    return made


STYLES = {"ok": "", "skipped": "yellow"}
"""Colours of records by their status; of others it is bold red."""


def watch(experiment: Experiment, console: Console | None = None) -> None:
    """Run a comparison and print a line for each record as it comes, of few columns where the full ones do not fit.

    `experiment`: what to run; its `result` holds what there is, even when this is interrupted. `console`: by default
    standard output.
    """
    console = console or _console()
    info, result = experiment.device.info, experiment.result
    peer = experiment.baseline.name if experiment.baseline else "no baseline"
    print_ = partial(console.print, markup=False, soft_wrap=True)
    print_(f"{result.operation}: {result.formula}; {result.shape}")
    print_(f"{info.renderer}, OpenGL {info.version}, {info.backend}; beside {peer}")
    columns = [(name, cell) for name, cell, shown in COLUMNS if shown or console.width >= WIDE]
    longest = max(len("variant"), *(len(entry.label) for entry in experiment.entries))
    forms = [f"<{longest}", *(f">{max(len(name), 8)}" for name, _ in columns[1:])]

    def row(cells: Iterable[str]) -> str:
        return "  ".join(map(format, cells, forms))

    print_(row(name for name, _ in columns))
    with progress.shown(result.operation, console) as say:
        say("measuring the ceilings of the device")
        for record in experiment.run():
            print_(row(cell(record) for _, cell in columns), style=STYLES.get(record.status, "bold red"))
            say(f"{len(result)} of {experiment.total} measured, which are kept")


def laid_out(records: Iterable[Measurement], narrow: bool = False) -> tuple[list[str], list[list[str]]]:
    """Give the headings, and a row for each record: of all columns, or of those of a narrow terminal."""
    chosen = [(heading, cell) for heading, cell, shown in COLUMNS if shown or not narrow]
    return [heading for heading, _ in chosen], [[cell(record) for _, cell in chosen] for record in records]


def short(comparison: Comparison) -> str:
    """Write the columns of a narrow terminal, as many lines as fit a screen."""
    title = f"{comparison.operation}: {comparison.formula}"
    return screen(titled(title, *laid_out(comparison.records, narrow=True)).rstrip())


def save_tex(comparison: Comparison, path: Path) -> None:
    """Write the columns of a narrow terminal as a table for LaTeX."""
    rows = latex(*laid_out(comparison.records, narrow=True))
    path.write_text(f"% in a document with \\usepackage{{booktabs}}\n{rows}\n", encoding="utf-8")


def html(comparison: Comparison) -> str:
    """Show a comparison in a notebook: the plot of the times, the others folded, the table folded beside plots."""
    renderer = comparison.environment.get("renderer", "")
    parts = [line(f"{comparison.operation}: {comparison.formula}{f', on {renderer}' if renderer else ''}")]
    drawn = _plots(comparison) if any(record.ok for record in comparison.records) else []
    parts += drawn
    records = table(*laid_out(comparison.records[:MOST_LINES]))
    records += left_out(max(0, len(comparison) - MOST_LINES), "records")
    parts.append(folded(f"{len(comparison)} records", records, unfolded=len(drawn) < 2))
    parts += [line(text) for text in (*warnings(comparison), *reasons(comparison))]
    return "".join(parts)


def _plots(comparison: Comparison) -> list[str]:
    if find_spec("matplotlib") is None:
        return [line("plots need Matplotlib: pip install 'glla[lab]'")]
    first, *others = (name for name in plots.PLOTS if name != "roofline" or comparison.ceilings)
    drawn = {name: plots.svg(comparison, plots.PLOTS[name], name) for name in (first, *others)}
    return [drawn.pop(first), *(folded(name, text) for name, text in drawn.items())]


announce("text of a comparison", short)
announce("html of a comparison", html)


def conclude(comparison: Comparison) -> None:
    """Print the legend, peers, warnings, reasons of records not ok, best variants, and fits."""
    console = _console()
    lines = [*peer_lines(comparison), *warnings(comparison), *reasons(comparison), *best(comparison), *fits(comparison)]
    for text in [LEGEND, "", *lines]:
        console.print(text, markup=False, soft_wrap=True)


def peer_lines(comparison: Comparison) -> list[str]:
    """Say how the CPU did it, a line for each size: its fastest way, and the usual call."""
    found = {record.size: record for record in comparison.records if record.baseline_way}
    lines = [
        f"  n = {size:<6d} {milliseconds(one.baseline_seconds):>8} ms  {one.baseline_way}"
        + (f"; usual call {one.usual} {milliseconds(one.usual_seconds)} ms" if one.usual else "")
        for size, one in found.items()
    ]
    place = comparison.environment.get("machine")
    where = f" on {machine.written(place)}" if place else ""
    return [f"{comparison.baseline}{where}", *lines] if lines else []


def warnings(comparison: Comparison) -> list[str]:
    """Warn of unreliable figures: timings that vary, a CPU that was busy with something else."""
    varied = sum(record.ok and record.noisy for record in comparison.records)
    count = len(comparison.records)
    noise = f"{varied} of {count} timings have quartiles more than {NOISY} times apart"
    return [f"WARNING: {text}" for text in (*comparison.troubles, *([noise] if varied else []))]


def reasons(comparison: Comparison) -> list[str]:
    """Say why records are not ok; one line for all sizes of a variant that have the same reason."""
    sizes: dict[tuple[str, str, str], list[int]] = {}
    for record in comparison.records:
        if not record.ok:
            sizes.setdefault((record.status, record.variant, record.reason), []).append(record.size)
    return [
        f"{status}: {variant}, n = {', '.join(map(str, found))}: {reason}"
        for (status, variant, reason), found in sizes.items()
    ]


def best(comparison: Comparison) -> list[str]:
    """Write the fastest values of the parameters that were swept, a line for each size and variant."""
    found = comparison.best()
    if not found:
        return []
    width = max(len(record.variant) for record in found)
    lines = [
        f"  n = {record.size:<6d} {record.variant:{width}}  {milliseconds(record.seconds):>8} ms  "
        f"{digits(record.gflops):>8} GFLOP/s"
        for record in found
    ]
    return ["the fastest values of the parameters, by size", *lines]


def fits(comparison: Comparison) -> list[str]:
    """Write the fitted lines, the speed-ups and the crossover sizes, a line each."""
    found = [summary for summary in comparison.summaries() if summary.fit is not None]
    if not found:
        return [NO_FIT] if any(record.ok for record in comparison.records) else []
    width = max(len(summary.variant) for summary in found)
    lines = []
    for one in found:
        faster = "" if one.speedup is None else f"speed-up {digits(one.speedup)}{' (rough)' * one.rough}, "
        text = f"  {one.variant:{width}}  {one.fit!s:60}  {faster}{crossing(one, comparison.baseline)}"
        lines.append(text.rstrip())
    head = "seconds as a + b n^3, by least squares, with the residual in seconds and the largest relative difference"
    beside = "; speed-up b_CPU / b_GPU, as the thesis's equation 4.7" if comparison.baseline else ""
    return [head + beside, *lines]


def crossing(summary: Summary, baseline: str) -> str:
    """Say from which size on a variant is faster than the baseline, by the fitted lines.

    >>> from glla.lab.fits import Fit
    >>> crossing(Summary("ours", Fit(0.5, 1e-9, 64, 512), 2.0, 800.4), "NumPy")
    'faster than NumPy from n = 800 on (beyond what was measured)'
    """
    if summary.fit is None or summary.variant == baseline or not baseline:
        return ""
    if summary.speedup is None:
        return "nothing to be said: a fitted time does not grow with n"
    if summary.crossover is None:
        return f"line never below that of {baseline}"
    if summary.crossover == 0:
        return f"line everywhere below that of {baseline}"
    doubts = []
    if not summary.fit.smallest <= summary.crossover <= summary.fit.largest:
        doubts.append("beyond what was measured")
    if summary.rough:
        doubts.append(f"a rough guess: a line misses a measurement by over {per_cent(POOR)}")
    doubt = f" ({'; '.join(doubts)})" if doubts else ""
    return f"faster than {baseline} from n = {summary.crossover:.0f} on{doubt}"
